//! The credentials for registries, from Docker's `config.json`.
//!
//! Only texts in `auths` are used, as `docker login` writes them without a helper. Helpers (`credsStore`, `credHelpers`) are programs, which are not run.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose};
use model::secret::Secret;
use serde::Deserialize;

use crate::limits::CREDENTIALS_BYTES_MAX;

/// Base64 with or without padding: programs that write the file differ.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Docker Hub, as references name it.
const DOCKER_HUB: &str = "docker.io";

/// Its names in files with credentials.
const DOCKER_HUB_NAMES: [&str; 3] = [DOCKER_HUB, "index.docker.io", "registry-1.docker.io"];

/// The credentials for registries.
#[derive(Clone, Debug, Default)]
pub struct RegistryCredentials {
    logins: BTreeMap<String, RegistryLogin>,
    /// The program for the credentials of all other registries.
    store: Option<String>,
    /// The programs for single registries.
    helpers: BTreeMap<String, String>,
}

/// The credential for one registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RegistryLogin {
    /// A user with a password.
    Password(String, Secret),
    /// A token that the registry's server for tokens accepts, instead of a password.
    Identity(Secret),
}

/// The file as it is written. Unknown fields are those of other programs.
#[derive(Deserialize)]
struct ConfigFile {
    #[serde(default)]
    auths: BTreeMap<String, AuthEntry>,
    #[serde(default, rename = "credsStore")]
    store: Option<String>,
    #[serde(default, rename = "credHelpers")]
    helpers: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
struct AuthEntry {
    /// The user, a colon and the password, in Base64.
    #[serde(default)]
    auth: String,
    #[serde(default)]
    username: String,
    #[serde(default)]
    password: String,
    #[serde(default, rename = "identitytoken")]
    identity_token: String,
}

impl RegistryCredentials {
    /// Reads a `config.json`. If there is none, there are no credentials.
    ///
    /// # Errors
    /// A reason without any content of the file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            file => file.map_err(|error| format!("`{shown}` can't be read: {error}"))?,
        };
        let mut content = Vec::new();
        file.take(CREDENTIALS_BYTES_MAX + 1)
            .read_to_end(&mut content)
            .map_err(|error| format!("`{shown}` can't be read: {error}"))?;
        if content.len() as u64 > CREDENTIALS_BYTES_MAX {
            return Err(format!("`{shown}` has more than {} MiB", CREDENTIALS_BYTES_MAX >> 20));
        }
        Self::parse(&content).map_err(|reason| format!("`{shown}` {reason}"))
    }

    /// Parses the content of a `config.json`. The message of the parser could quote a password.
    fn parse(content: &[u8]) -> Result<Self, String> {
        let file: ConfigFile = serde_json::from_slice(content)
            .map_err(|error| format!("is not a file of Docker: line {}, column {}", error.line(), error.column()))?;
        let mut credentials = Self { store: file.store.filter(|name| !name.is_empty()), ..Self::default() };
        credentials.helpers = file.helpers.into_iter().map(|(name, helper)| (host(&name), helper)).collect();
        for (name, entry) in file.auths {
            let login = entry.login().map_err(|()| format!("has a wrong `auth` of `{}`", host(&name)))?;
            if let Some(login) = login {
                credentials.logins.insert(host(&name), login);
            }
        }
        Ok(credentials)
    }

    /// The credential for a registry.
    pub(super) fn login(&self, registry: &str) -> Option<&RegistryLogin> {
        self.logins.get(&host(registry))
    }

    /// The program that keeps the credential for a registry.
    pub(super) fn helper(&self, registry: &str) -> Option<&str> {
        self.helpers.get(&host(registry)).or(self.store.as_ref()).map(String::as_str)
    }
}

impl AuthEntry {
    /// The credential. None: a helper has it.
    fn login(self) -> Result<Option<RegistryLogin>, ()> {
        if !self.identity_token.is_empty() {
            return Ok(Some(RegistryLogin::Identity(Secret::new(&self.identity_token))));
        }
        let (user, password) = if self.auth.is_empty() {
            (self.username, self.password)
        } else {
            let text = BASE64.decode(self.auth.trim()).map_err(|_| ())?;
            let text = String::from_utf8(text).map_err(|_| ())?;
            let (user, password) = text.split_once(':').ok_or(())?;
            (user.to_owned(), password.trim_end_matches('\0').to_owned())
        };
        Ok((!user.is_empty()).then(|| RegistryLogin::Password(user, Secret::new(&password))))
    }
}

/// The header with which a user and a password are sent.
pub(super) fn basic(user: &str, password: &Secret) -> String {
    format!("Basic {}", general_purpose::STANDARD.encode(format!("{user}:{}", password.reveal())))
}

/// The host of a registry, with its port. Files name Docker Hub by an address: `https://index.docker.io/v1/`.
fn host(name: &str) -> String {
    let name = name.split_once("://").map_or(name, |(_, name)| name);
    let host = name.split('/').next().unwrap_or_default();
    let host = if DOCKER_HUB_NAMES.contains(&host) { DOCKER_HUB } else { host };
    host.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, registry: &str, expected: Option<(&str, &str)>) {
        let credentials = RegistryCredentials::parse(file.as_bytes()).unwrap();
        let login = expected.map(|(user, password)| RegistryLogin::Password(user.to_owned(), Secret::new(password)));
        assert_eq!(credentials.login(registry), login.as_ref(), "{file}");
    }

    #[test]
    fn each_registry_has_its_own_credential() {
        let file = r#"{"auths": {"r.io": {"auth": "YW5uOnM6MQ=="}, "https://r.io:5000/v2/": {"username": "bob", "password": "s2"}}}"#;
        check(file, "r.io", Some(("ann", "s:1")));
        check(file, "r.io:5000", Some(("bob", "s2")));
        check(file, "r.io:5001", None);
        check(file, "evil.r.io", None);
    }

    #[test]
    fn docker_hub_has_several_names() {
        let file = r#"{"auths": {"https://index.docker.io/v1/": {"auth": "YW5uOnM"}}, "HttpHeaders": {}}"#;
        check(file, "docker.io", Some(("ann", "s")));
        check(file, "docker.io.evil", None);
    }

    #[test]
    fn helpers_are_named() {
        let file = br#"{"auths": {"r.io": {}}, "credsStore": "desktop", "credHelpers": {"gcr.io": "gcloud"}}"#;
        let credentials = RegistryCredentials::parse(file).unwrap();
        assert_eq!(credentials.login("r.io"), None);
        assert_eq!((credentials.helper("r.io"), credentials.helper("gcr.io")), (Some("desktop"), Some("gcloud")));
    }

    #[test]
    fn an_identity_token_is_no_password() {
        let file = br#"{"auths": {"r.io": {"auth": "MDAwMDo=", "identitytoken": "t0ken"}}}"#;
        let credentials = RegistryCredentials::parse(file).unwrap();
        assert_eq!(credentials.login("r.io"), Some(&RegistryLogin::Identity(Secret::new("t0ken"))));
    }

    #[test]
    fn errors_and_debug_output_show_no_secret() {
        let error = RegistryCredentials::parse(br#"{"auths": {"r.io": "s3cret"}}"#).unwrap_err();
        assert_eq!(error, "is not a file of Docker: line 1, column 27");
        let error = RegistryCredentials::parse(br#"{"auths": {"r.io": {"auth": "s3cret!"}}}"#).unwrap_err();
        assert_eq!(error, "has a wrong `auth` of `r.io`");
        let file = br#"{"auths": {"r.io": {"username": "a", "password": "s3cret"}}}"#;
        assert!(!format!("{:?}", RegistryCredentials::parse(file)).contains("s3cret"));
    }

    #[test]
    fn without_a_file_there_are_no_credentials() {
        let folder = tempfile::tempdir().unwrap();
        let credentials = RegistryCredentials::read(&folder.path().join("config.json")).unwrap();
        assert!(credentials.logins.is_empty());
    }
}
