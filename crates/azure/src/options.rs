//! The configuration of sources in `kalypso.toml` (`[[hub.azure]]`).

use std::path::{Path, PathBuf};
use std::time::Duration;

use hub_api::limits::{HEARTBEAT_MAX, HEARTBEAT_MIN};
use serde::Deserialize;

use crate::credential::{Credential, SecretPlace};
use crate::identity::Identity;
use crate::loopback::is_loopback;
use crate::secret::Secret;

/// The URL of Azure Resource Manager in the public cloud.
const MANAGEMENT: &str = "https://management.azure.com";
/// The URL of Microsoft Entra in the public cloud.
const LOGIN: &str = "https://login.microsoftonline.com";
/// The default time between two polls, in seconds. Clusters send their status to Azure every few minutes.
const INTERVAL_SECONDS: u64 = 300;

/// A source as written in the configuration.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AzureOptions {
    /// The tenant (directory) of the subscriptions.
    pub tenant: String,
    /// The subscriptions, which are polled one after another.
    pub subscriptions: Vec<String>,
    /// Seconds between two polls.
    #[serde(default = "interval_seconds")]
    pub interval_seconds: u64,
    /// The credential for Azure.
    pub credential: CredentialOptions,
    /// The URL of Azure Resource Manager. The default is that of the public cloud.
    #[serde(default = "management")]
    pub management: String,
    /// The URL of Microsoft Entra. The default is that of the public cloud.
    #[serde(default = "login")]
    pub login: String,
    /// Whether solutions of Workload Orchestration are also reported.
    #[serde(default = "yes")]
    pub workload_orchestration: bool,
    /// The environment of the solutions in these subscriptions.
    #[serde(default)]
    pub environment: Option<String>,
    /// Whether the names of all hosts contain the resource group and subscription. If not, only ambiguous names contain them.
    #[serde(default)]
    pub qualified_host_names: bool,
}

/// A credential as written in the configuration. It contains only the place of a secret, not the secret itself.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum CredentialOptions {
    /// The managed identity of the hub's machine.
    ManagedIdentity {
        /// The client id of a user-assigned identity.
        client_id: Option<String>,
    },
    /// An application registered in the tenant.
    ClientSecret {
        /// The id of the application.
        client_id: String,
        /// The environment variable with its secret.
        secret_env: Option<String>,
        /// The file with its secret. It is read for each new token, so that it can be replaced.
        secret_file: Option<PathBuf>,
    },
}

/// The reason why a source can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("hub.azure: {field}: {message}")]
pub struct OptionsError {
    field: &'static str,
    message: String,
}

/// A checked source.
#[derive(Clone, Debug)]
pub struct AzureSource {
    pub(crate) tenant: String,
    pub(crate) subscriptions: Vec<String>,
    pub(crate) interval: Duration,
    pub(crate) credential: Credential,
    pub(crate) management: String,
    pub(crate) workload_orchestration: bool,
    pub(crate) environment: Option<String>,
    pub(crate) qualified_host_names: bool,
}

fn interval_seconds() -> u64 {
    INTERVAL_SECONDS
}

fn management() -> String {
    MANAGEMENT.to_owned()
}

fn login() -> String {
    LOGIN.to_owned()
}

fn yes() -> bool {
    true
}

impl AzureOptions {
    /// Checks the options. Paths of files are relative to `base`. `environment` returns the value of a variable: that of the secret, and the variables that Azure
    /// sets for managed identities.
    ///
    /// # Errors
    /// If a value is missing or not valid.
    pub fn resolve(
        self,
        base: &Path,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<AzureSource, OptionsError> {
        let interval = Duration::from_secs(self.interval_seconds);
        if !(HEARTBEAT_MIN..=HEARTBEAT_MAX).contains(&interval) {
            let (min, max) = (HEARTBEAT_MIN.as_secs(), HEARTBEAT_MAX.as_secs());
            return Err(error("interval-seconds", format!("{}; {min} to {max} are possible", self.interval_seconds)));
        }
        if self.subscriptions.is_empty() {
            return Err(error("subscriptions", "the list is empty".to_owned()));
        }
        for (field, name) in [("tenant", &self.tenant)]
            .into_iter()
            .chain(self.subscriptions.iter().map(|subscription| ("subscriptions", subscription)))
        {
            check_id(field, name)?;
        }
        let management = cloud_url("management", &self.management)?;
        let login = cloud_url("login", &self.login)?;
        let credential = match self.credential {
            CredentialOptions::ManagedIdentity { client_id } => Credential::ManagedIdentity {
                identity: Identity::find(client_id, environment).map_err(|message| error("credential", message))?,
            },
            CredentialOptions::ClientSecret { client_id, secret_env, secret_file } => Credential::ClientSecret {
                token_url: format!("{login}/{}/oauth2/v2.0/token", self.tenant),
                client_id,
                secret: secret(secret_env, secret_file.map(|file| base.join(file)), environment)?,
            },
        };
        Ok(AzureSource {
            tenant: self.tenant,
            subscriptions: self.subscriptions,
            interval,
            credential,
            management,
            workload_orchestration: self.workload_orchestration,
            environment: self.environment,
            qualified_host_names: self.qualified_host_names,
        })
    }
}

fn error(field: &'static str, message: String) -> OptionsError {
    OptionsError { field, message }
}

/// Checks an id, which becomes a part of a URL.
fn check_id(field: &'static str, id: &str) -> Result<(), OptionsError> {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    if id.is_empty() || !id.bytes().all(is_good) {
        return Err(error(field, format!("`{id}` is not an id")));
    }
    Ok(())
}

/// Checks a URL to which a token may be sent, and removes a slash at its end.
fn cloud_url(field: &'static str, url: &str) -> Result<String, OptionsError> {
    let is_safe = reqwest::Url::parse(url)
        .is_ok_and(|url| url.scheme() == "https" || url.scheme() == "http" && is_loopback(&url));
    if is_safe {
        Ok(url.trim_end_matches('/').to_owned())
    } else {
        Err(error(field, format!("`{url}` has to be an https:// URL (http:// only on this machine)")))
    }
}

fn secret(
    variable: Option<String>,
    file: Option<PathBuf>,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<SecretPlace, OptionsError> {
    match (variable, file) {
        (Some(variable), None) => match environment(&variable).filter(|secret| !secret.trim().is_empty()) {
            Some(secret) => Ok(SecretPlace::Given(Secret::new(secret))),
            None => Err(error("credential.secret-env", format!("the variable `{variable}` is not set"))),
        },
        (None, Some(file)) => Ok(SecretPlace::File(file)),
        _ => Err(error("credential", "name either secret-env or secret-file".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: &str = r#""tenant": "t", "subscriptions": ["s"]"#;

    /// The checked source or the error, with the variable `KALYPSO_SECRET`.
    fn check(options: &str) -> String {
        let options = serde_json::from_str::<AzureOptions>(&format!("{{{options}}}"));
        let environment = |name: &str| (name == "KALYPSO_SECRET").then(|| "hush".to_owned());
        match options.map(|options| options.resolve(Path::new("base"), environment)) {
            Ok(Ok(source)) => format!("{source:?}"),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn secrets_are_named_and_never_shown() {
        let source = check(&format!(
            r#"{IDS}, "credential": {{"kind": "client-secret", "client-id": "c", "secret-env": "KALYPSO_SECRET"}}"#
        ));
        assert!(source.contains("https://login.microsoftonline.com/t/oauth2/v2.0/token"), "{source}");
        assert!(!source.contains("hush"), "{source}");
        let missing =
            check(&format!(r#"{IDS}, "credential": {{"kind": "client-secret", "client-id": "c", "secret-env": "X"}}"#));
        assert_eq!(missing, "hub.azure: credential.secret-env: the variable `X` is not set");
        let file = check(&format!(
            r#"{IDS}, "credential": {{"kind": "client-secret", "client-id": "c", "secret-file": "s"}}"#
        ));
        assert!(file.contains(r#"File("base/s")"#), "{file}");
        let neither = check(&format!(r#"{IDS}, "credential": {{"kind": "client-secret", "client-id": "c"}}"#));
        assert_eq!(neither, "hub.azure: credential: name either secret-env or secret-file");
        let written =
            check(&format!(r#"{IDS}, "credential": {{"kind": "client-secret", "client-id": "c", "secret": "hush"}}"#));
        assert!(written.starts_with("unknown field `secret`"), "{written}");
    }

    #[test]
    fn other_clouds_have_other_urls_and_require_tls() {
        let credential = r#""credential": {"kind": "managed-identity"}"#;
        let government =
            check(&format!(r#"{IDS}, {credential}, "management": "https://management.usgovcloudapi.net/""#));
        assert!(government.contains(r#""https://management.usgovcloudapi.net""#), "{government}");
        for url in
            ["http://management.azure.com", "ftp://localhost", "management.azure.com", "http://localhost.evil.example"]
        {
            let refused = check(&format!(r#"{IDS}, {credential}, "management": "{url}""#));
            assert!(refused.contains("has to be an https:// URL"), "{url}: {refused}");
        }
        assert!(check(&format!(r#"{IDS}, {credential}, "login": "http://[::1]:8080""#)).starts_with("AzureSource"));
    }

    #[test]
    fn invalid_options_are_refused() {
        let credential = r#""credential": {"kind": "managed-identity"}"#;
        assert_eq!(
            check(&format!(r#"{IDS}, {credential}, "interval-seconds": 1"#)),
            "hub.azure: interval-seconds: 1; 10 to 2678400 are possible"
        );
        assert_eq!(
            check(&format!(r#""tenant": "a/b", "subscriptions": ["s"], {credential}"#)),
            "hub.azure: tenant: `a/b` is not an id"
        );
        assert_eq!(
            check(&format!(r#""tenant": "t", "subscriptions": [], {credential}"#)),
            "hub.azure: subscriptions: the list is empty"
        );
    }
}
