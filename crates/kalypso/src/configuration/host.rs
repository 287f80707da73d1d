//! The section `[host]` of `kalypso.toml`: the git hosts on which pull requests are opened.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use delivery::pull_requests::{ConfiguredHost, GitHosts, LabelConfirmers};
use git_host::credential::Credential;
use git_host::pull_request::{MergeMethod, Reviewer};
use git_host::secret::{Secret, SecretSource};
use git_host::settings::{HostSettings, Patience, Waiter, usual_url};
use git_host::{HostKind, hosts};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::demo::COMPANY_URL;
use crate::exit::Failure;
use crate::{secret_file, stopping, terminal};

/// The environment variable with the token, if the section names none.
const TOKEN_VARIABLE: &str = "KALYPSO_HOST_TOKEN";

/// One `[host]`, or several `[[host]]`.
#[derive(Clone, Debug, Default)]
pub(super) struct HostTables(Vec<HostOptions>);

/// A host as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct HostOptions {
    #[serde(default, deserialize_with = "kind")]
    kind: Option<HostKind>,
    url: Option<String>,
    api_url: Option<String>,
    token_env: Option<String>,
    token_file: Option<PathBuf>,
    app_id: Option<String>,
    app_installation: Option<u64>,
    app_key_file: Option<PathBuf>,
    #[serde(default)]
    reviewers: Vec<String>,
    #[serde(default, with = "MergeMethodOption")]
    merge_method: MergeMethod,
    #[serde(default)]
    auto_merge: bool,
    #[serde(default)]
    confirm_by_label: ConfirmByLabel,
    webhook_secret_env: Option<String>,
    webhook_secret_file: Option<PathBuf>,
    /// Whether the token may be in [`TOKEN_VARIABLE`].
    #[serde(skip)]
    has_default_token: bool,
    #[serde(skip)]
    patience: Patience,
}

/// `true`, `false`, or a list of accounts.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "it must be true, false, or a list of accounts")]
enum ConfirmByLabel {
    All(bool),
    Accounts(Vec<String>),
}

impl Default for ConfirmByLabel {
    fn default() -> Self {
        Self::All(false)
    }
}

#[derive(Deserialize)]
#[serde(remote = "MergeMethod", rename_all = "kebab-case")]
enum MergeMethodOption {
    Merge,
    Squash,
    Rebase,
}

impl<'de> Deserialize<'de> for HostTables {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tables;
        impl<'de> Visitor<'de> for Tables {
            type Value = HostTables;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a table `[host]`, or several `[[host]]`")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<HostTables, A::Error> {
                Ok(HostTables(vec![HostOptions::deserialize(MapAccessDeserializer::new(map))?]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<HostTables, A::Error> {
                Ok(HostTables(Vec::deserialize(SeqAccessDeserializer::new(sequence))?))
            }
        }
        deserializer.deserialize_any(Tables)
    }
}

fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<HostKind>, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(|_| {
        let kinds = HostKind::ALL.map(HostKind::as_str);
        D::Error::custom(format!("it must be one of {}", kinds.join(", ")))
    })
}

/// A host with the secrets of its webhooks.
pub(crate) struct Host {
    /// The host, with the settings of its pull requests.
    pub(crate) settings: ConfiguredHost,
    /// The secrets of its webhooks. Without one, no webhook is accepted.
    pub(crate) webhook_secrets: Vec<SecretSource>,
}

/// The configured hosts.
pub(crate) struct Hosts(pub(crate) Vec<Host>);

impl Hosts {
    /// Whether any of them has pull requests, or is one on which Kalypso merges itself.
    pub(crate) fn for_deliveries(self) -> Option<GitHosts> {
        let hosts: Vec<_> = self.0.into_iter().map(|host| host.settings).collect();
        (!hosts.is_empty()).then(|| GitHosts::new(hosts))
    }

    /// The same hosts as the source of tokens for git.
    pub(super) fn for_git(&self) -> GitHosts {
        GitHosts::new(self.0.iter().map(|host| host.settings.clone()).collect())
    }
}

impl HostTables {
    /// Connects to the hosts; no request is sent. `control_plane` is the URL of the control plane, which is usually on the same host. The git host of the
    /// demo's company is at `demo`.
    pub(super) fn resolve(self, control_plane: &str, base: &Path, demo: Option<SocketAddr>) -> Result<Hosts, Failure> {
        let one = |(number, mut options): (usize, HostOptions)| {
            if let Some(address) = demo.filter(|_| options.url.as_deref() == Some(COMPANY_URL)) {
                options.api_url.get_or_insert_with(|| format!("http://{address}/api/v1"));
            }
            options.resolve(number + 1, control_plane, base)
        };
        self.with_default_token().map(one).collect::<Result<_, _>>().map(Hosts)
    }

    /// The hosts with their positions. The variable with the token is for a single host: one host's token must not be sent to the others.
    fn with_default_token(self) -> impl Iterator<Item = (usize, HostOptions)> {
        let is_only_one = self.0.len() == 1;
        let options = self.0.into_iter().map(move |options| HostOptions { has_default_token: is_only_one, ..options });
        options.enumerate()
    }

    /// The hosts whose credentials are there, for questions that are answered at once or never.
    pub(super) fn impatient(self, control_plane: &str, base: &Path) -> GitHosts {
        let patience = Patience { wait_max: Duration::ZERO, attempts: 1, ..Patience::default() };
        let connected = self.with_default_token().filter_map(|(number, options)| {
            let options = HostOptions { patience: patience.clone(), ..options };
            options.connect(number + 1, control_plane, base).ok()
        });
        GitHosts::new(connected.collect())
    }

    /// The hosts with a GitHub App, which makes the tokens for git. Commands that only read may run where the key of the App is not: a warning says so.
    pub(super) fn apps(self, control_plane: &str, base: &Path) -> GitHosts {
        let apps = self.0.into_iter().enumerate().filter(|(_, options)| options.app_id.is_some());
        let connected = apps.filter_map(|(number, options)| {
            let connected = options.connect(number + 1, control_plane, base);
            let warn = |failure: &Failure| terminal::warn(&format!("git gets no token of the GitHub App: {failure}"));
            connected.inspect_err(warn).ok()
        });
        GitHosts::new(connected.collect())
    }
}

impl HostOptions {
    fn resolve(self, number: usize, control_plane: &str, base: &Path) -> Result<Host, Failure> {
        let connected = self.connect(number, control_plane, base)?;
        let (wrong, kind) = (wrong(number), connected.host.kind());
        if self.auto_merge && kind != HostKind::Git {
            let advice = "`auto-merge` is for plain git servers; on this host, set `spec.autoMerge` of the GitOpsRepo";
            return Err(wrong(advice.to_owned()));
        }
        let webhook_secrets = secret("webhook-secret", (&self.webhook_secret_env, &self.webhook_secret_file), base);
        let webhook_secrets = webhook_secrets.map_err(&wrong)?.into_iter().collect();
        let reviewers = self.reviewers.iter().map(|name| reviewer(name)).collect();
        let settings = ConfiguredHost {
            reviewers,
            method: self.merge_method,
            merges_itself: self.auto_merge,
            label_confirmers: label_confirmers(self.confirm_by_label, kind).map_err(wrong)?,
            ..connected
        };
        Ok(Host { settings, webhook_secrets })
    }

    /// The host with its address and its credential; no request is sent.
    fn connect(&self, number: usize, control_plane: &str, base: &Path) -> Result<ConfiguredHost, Failure> {
        let wrong = wrong(number);
        let url = self.url.clone().or_else(|| usual_url(control_plane));
        let kind = self.kind(url.as_deref()).map_err(&wrong)?;
        let url = match (url, kind) {
            (Some(url), _) => url,
            (None, HostKind::Git) => String::new(),
            (None, _) => return Err(wrong("`url` is missing, such as https://git.example".to_owned())),
        };
        let credential = self.credential(kind, base).map_err(&wrong)?;
        let mut settings = HostSettings::new(kind, &url, credential);
        settings.api_url.clone_from(&self.api_url);
        settings.patience = Patience { wait: Waiter::new(stopping::wait), ..self.patience.clone() };
        let host = hosts::connect(&settings).map_err(|error| wrong(error.to_string()))?;
        Ok(ConfiguredHost::new(host, &url))
    }

    /// The kind as it is written, or guessed from the address.
    fn kind(&self, url: Option<&str>) -> Result<HostKind, String> {
        match (self.kind, url) {
            (Some(kind), _) => Ok(kind),
            (None, Some(url)) => HostKind::of_url(url).ok_or_else(|| {
                format!("the kind of `{url}` is not known: set `kind` to github, gitlab, gitea, azure-devops or git")
            }),
            (None, None) => Ok(HostKind::Git),
        }
    }

    fn credential(&self, kind: HostKind, base: &Path) -> Result<Credential, String> {
        if kind == HostKind::Git {
            return Ok(Credential::None);
        }
        let app = (&self.app_id, &self.app_key_file);
        let is_token_named = self.token_env.is_some() || self.token_file.is_some();
        match app {
            (Some(_), Some(_)) if is_token_named => Err("it has a token and an app: only one can be used".to_owned()),
            (Some(app_id), Some(file)) => Ok(Credential::GitHubApp {
                app_id: app_id.clone(),
                installation: self.app_installation,
                private_key: secret_file::read("app-key-file", base.join(file))?,
            }),
            (None, None) => self.token(base).map(Credential::Token),
            _ => Err("`app-id` and `app-key-file` belong together".to_owned()),
        }
    }

    fn token(&self, base: &Path) -> Result<SecretSource, String> {
        if let Some(token) = secret("token", (&self.token_env, &self.token_file), base)? {
            return Ok(token);
        }
        if !self.has_default_token {
            return Err("with several hosts, each names its token with `token-env` or `token-file`".to_owned());
        }
        let token = std::env::var(TOKEN_VARIABLE).ok().filter(|token| !token.trim().is_empty());
        token.map(|token| Secret::new(&token).into()).ok_or_else(|| {
            format!(
                "there is no token: set the variable {TOKEN_VARIABLE}, or name one with `token-env` or `token-file`"
            )
        })
    }
}

/// The failure for a host, which is counted from 1.
fn wrong(number: usize) -> impl Fn(String) -> Failure {
    move |message| Failure::usage(format!("host number {number}: {message}"))
}

fn label_confirmers(option: ConfirmByLabel, kind: HostKind) -> Result<LabelConfirmers, String> {
    match option {
        ConfirmByLabel::All(false) => Ok(LabelConfirmers::Nobody),
        ConfirmByLabel::All(true) => Ok(LabelConfirmers::Anyone),
        ConfirmByLabel::Accounts(_) if kind == HostKind::AzureDevOps => {
            Err("Azure DevOps does not report who set a label: `confirm-by-label` can only be true or false".to_owned())
        }
        ConfirmByLabel::Accounts(names) => {
            Ok(LabelConfirmers::Accounts(names.iter().map(|name| name.trim_start_matches('@').to_owned()).collect()))
        }
    }
}

/// A secret from a variable or a file. None if neither is named.
pub(super) fn secret(
    key: &str,
    (variable, file): (&Option<String>, &Option<PathBuf>),
    base: &Path,
) -> Result<Option<SecretSource>, String> {
    match (variable, file) {
        (Some(_), Some(_)) => Err(format!("`{key}-env` and `{key}-file` are both set: only one can be used")),
        (Some(variable), None) if !super::is_variable(variable) => {
            Err(format!("`{key}-env` is not the name of a variable, such as {TOKEN_VARIABLE}"))
        }
        (Some(variable), None) => match std::env::var(variable) {
            Ok(text) if !text.trim().is_empty() => Ok(Some(Secret::new(&text).into())),
            _ => Err(format!("`{key}-env`: the variable {variable} is not set")),
        },
        (None, Some(file)) => secret_file::read(&format!("{key}-file"), base.join(file)).map(Some),
        (None, None) => Ok(None),
    }
}

/// An account, or a team after `team:`.
fn reviewer(name: &str) -> Reviewer {
    match name.strip_prefix("team:") {
        Some(team) => Reviewer::Team(team.to_owned()),
        None => Reviewer::User(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct File {
        host: HostTables,
    }

    fn check(text: &str) -> Result<Vec<String>, String> {
        let file: File = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        let hosts = file.host.resolve("https://github.com/acme/control-plane", Path::new(""), None);
        let hosts = hosts.map_err(|failure| failure.to_string())?;
        Ok(hosts.0.iter().map(|host| format!("{} {}", host.settings.host.kind(), host.settings.url)).collect())
    }

    #[test]
    fn the_host_of_the_control_plane_is_the_default() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "s3cret\n").unwrap();
        let file = file.display();
        assert_eq!(check(&format!("[host]\ntoken-file = '{file}'")).unwrap(), ["github https://github.com"]);
        let several = format!(
            "[[host]]\ntoken-file = '{file}'\n[[host]]\nkind = 'gitea'\nurl = 'https://git.example/'\ntoken-file = '{file}'"
        );
        assert_eq!(check(&several).unwrap(), ["github https://github.com", "gitea https://git.example"]);
        assert_eq!(check("[host]\nkind = 'git'\nauto-merge = true").unwrap(), ["git https://github.com"]);
    }

    #[test]
    fn a_token_is_named_and_never_written() {
        let wrong = |text| check(text).unwrap_err();
        assert!(wrong("[host]\ntoken = 's3cret'").contains("unknown field `token`"));
        let message = wrong("[host]\ntoken-env = 'ghp_0123456789'");
        assert!(message.contains("is not the name of a variable") && !message.contains("0123"), "{message}");
        let message = wrong("[host]\ntoken-env = 'KALYPSO_NO_SUCH_VARIABLE'");
        assert_eq!(message, "host number 1: `token-env`: the variable KALYPSO_NO_SUCH_VARIABLE is not set");
        assert!(wrong("[host]\napp-id = '1'").contains("belong together"));
        assert!(wrong("[host]\nkind = 'svn'").contains("must be one of github, gitlab"));
        assert!(wrong("[[host]]\n[[host]]\nkind = 'gitea'").contains("each names its token"));
        let by_label = "[host]\nurl = 'https://dev.azure.com/acme'\nconfirm-by-label = ['ann']\ntoken-env = 'PATH'";
        assert!(wrong(by_label).contains("does not report who set a label"));
        assert!(wrong("[host]\nconfirm-by-label = 'ann'").contains("true, false, or a list of accounts"));
        assert!(wrong("[host]\nurl = 'https://code.example'").contains("is not known: set `kind`"));
    }
}
