//! `kalypso.toml`: the location of the control plane, and the access to repositories.

mod acknowledge;
mod application;
mod demo;
mod host;
mod hub;
mod parse_error;
mod promotion;
mod service;
mod variables;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::checks::EvidenceSources;
use ::service::Timing;
use anyhow::Context as _;
use delivery::access::ControlPlaneSettings;
use delivery::pull_requests::GitHosts;
use model::rollout::EnvironmentOrder;
use model::secret::{Secret, SecretSource};
use serde::Deserialize;
use toml::Spanned;

use self::acknowledge::AcknowledgeOptions;
pub(crate) use self::acknowledge::in_directory as acknowledgements_in;
pub(crate) use self::application::{ApplicationAccess, read_application};
use self::demo::DemoOptions;
pub(crate) use self::demo::{COMPANY_URL, DemoConfiguration};
use self::host::HostTables;
pub(crate) use self::host::{Host, Hosts};
use self::hub::HubOptions;
pub(crate) use self::hub::{HubConfiguration, hub_files, read_hub, read_hub_url};
use self::promotion::PromotionOptions;
use self::service::ServiceOptions;
use self::variables::Configured;
use crate::arguments::HubDatabase;
use crate::exit::Failure;
use crate::{cache, cache_key, secret_file, terminal};

/// The name of the configuration file.
pub(crate) const FILE_NAME: &str = workbench::platform::CONFIGURATION_FILE;

/// The configuration file as it is written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Options {
    control_plane: ControlPlaneOptions,
    #[serde(default)]
    git: GitOptions,
    #[serde(default)]
    acknowledge: Vec<Spanned<AcknowledgeOptions>>,
    #[serde(default)]
    host: HostTables,
    #[serde(default)]
    service: ServiceOptions,
    #[serde(default)]
    promotion: PromotionOptions,
    demo: Option<DemoOptions>,
    #[serde(default)]
    hub: HubOptions,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct ControlPlaneOptions {
    repo: String,
    #[serde(default = "main_branch")]
    branch: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct GitOptions {
    #[serde(default)]
    rewrite: Vec<RewriteOptions>,
    #[serde(default)]
    credentials: Vec<CredentialOptions>,
    cache: Option<PathBuf>,
    cache_key_file: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct RewriteOptions {
    from: String,
    to: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct CredentialOptions {
    prefix: String,
    token_env: Option<String>,
    token_file: Option<PathBuf>,
}

fn main_branch() -> String {
    "main".to_owned()
}

/// The configuration file with the variables that override it. A command reads it once.
#[derive(Debug)]
pub(crate) struct Settings {
    options: Options,
    configured: Configured,
}

impl Settings {
    /// Reads the given file, or the nearest file in the current directory and its parents. Without a file, the variables have to be enough.
    pub(crate) fn read(named: Option<&Path>) -> anyhow::Result<Self> {
        let configured = match path(named)? {
            Some(path) => Configured::read(&path)?,
            None => Configured::without_file().filter(|found| found.overrides("control-plane")).ok_or_else(no_file)?,
        };
        Ok(Self::new(configured)?)
    }

    fn new(configured: Configured) -> Result<Self, Failure> {
        let mut options: Options = configured.parse()?;
        if configured.is_overridden()
            && let Ok(own) = configured.parse_file::<Options>()
        {
            // Their positions are those in the file.
            if !configured.overrides("") {
                options.acknowledge = own.acknowledge;
            }
            if !configured.overrides("promotion") {
                options.promotion = own.promotion;
            }
        }
        Ok(Self { options, configured })
    }

    /// The control plane, and the access to repositories.
    pub(crate) fn control_plane(&self) -> anyhow::Result<ControlPlaneSettings> {
        let apps = self.options.host.clone().apps(self.control_plane_url(), self.base());
        self.control_plane_with((!apps.is_empty()).then(|| Arc::new(apps) as _))
    }

    fn control_plane_with(&self, tokens: Option<Arc<dyn git::TokenSource>>) -> anyhow::Result<ControlPlaneSettings> {
        let Options { control_plane, git, promotion, acknowledge, .. } = &self.options;
        let Configured { path, text, .. } = &self.configured;
        let repo = git::RepositoryUrl::from_configuration(&control_plane.repo)
            .map_err(|error| Failure::usage(format!("`control-plane.repo` can't be used: {error}")))?;
        Ok(ControlPlaneSettings {
            acknowledgements: acknowledge::entries(acknowledge, (path, text))?.into(),
            repo,
            branch: control_plane.branch.clone(),
            environment_order: EnvironmentOrder::new(self.environments()),
            state_keys: promotion.state_keys(self.base())?,
            git: git::Settings { token_source: tokens, ..git_settings(git, self.base())? },
        })
    }

    /// The git hosts for pull requests, with their secrets. Empty if none is configured.
    pub(crate) fn hosts(&self) -> Result<Hosts, Failure> {
        let demo = self.demo()?.map(|demo| demo.git_host);
        self.options.host.clone().resolve(self.control_plane_url(), self.base(), demo)
    }

    /// The git hosts that can be asked without patience: those with a credential that can be read. None is an error. The git host of the demo has no rules.
    pub(crate) fn hosts_to_ask(&self) -> GitHosts {
        let hosts = if self.options.demo.is_some() { HostTables::default() } else { self.options.host.clone() };
        hosts.impatient(self.control_plane_url(), self.base())
    }

    /// The accounts that may publish past gates.
    pub(crate) fn override_accounts(&self) -> BTreeSet<String> {
        self.options.promotion.override_accounts()
    }

    /// The settings of the demo. None if the file is not that of a demo.
    pub(crate) fn demo(&self) -> Result<Option<DemoConfiguration>, Failure> {
        self.options.demo.as_ref().map(|demo| demo.resolve(self.base())).transpose()
    }

    /// The environments in their order. Empty if the order is not configured.
    pub(crate) fn environments(&self) -> &[String] {
        &self.options.hub.environments
    }

    /// The URL of the hub. None if it is not set.
    pub(crate) fn hub_url(&self) -> Option<&str> {
        self.options.hub.url.as_deref()
    }

    /// The settings of the hub.
    pub(crate) fn hub(self, arguments: &HubDatabase) -> anyhow::Result<HubConfiguration> {
        hub::resolve((self.options.hub, &self.options.git), self.configured.folder(), arguments)
    }

    /// The settings of the service, with their secrets. The git host of the demo is at `demo`, or else at its configured address.
    pub(crate) fn service(&self, demo: Option<SocketAddr>) -> anyhow::Result<ServiceConfiguration> {
        let Options { service, promotion, .. } = &self.options;
        let timing = service.resolve()?;
        let timing = Timing { promotion: promotion.interval(timing.promotion)?, ..timing };
        let text = Some(self.configured.text.as_str()).filter(|_| !self.configured.overrides("promotion"));
        let evidence = promotion.resolve((&self.configured.path, text), self.base())?;
        let demo = demo.or(self.demo()?.map(|demo| demo.git_host));
        let hosts = self.options.host.clone().resolve(self.control_plane_url(), self.base(), demo)?;
        let control_plane = self.control_plane_with(Some(Arc::new(hosts.for_git())))?;
        let other_control_planes = service.other_control_planes(&control_plane)?;
        let confirmers = service.confirm.clone();
        Ok(ServiceConfiguration { control_plane, other_control_planes, hosts, timing, confirmers, evidence })
    }

    /// The folder that relative paths start from.
    fn base(&self) -> &Path {
        self.configured.folder()
    }

    /// The URL of the control plane as it is written.
    fn control_plane_url(&self) -> &str {
        &self.options.control_plane.repo
    }
}

/// The settings of the service.
pub(crate) struct ServiceConfiguration {
    /// The control plane, and the access to repositories.
    pub(crate) control_plane: ControlPlaneSettings,
    /// The other control planes by name.
    pub(crate) other_control_planes: BTreeMap<String, ControlPlaneSettings>,
    /// The git hosts.
    pub(crate) hosts: Hosts,
    /// How long the service waits.
    pub(crate) timing: Timing,
    /// Who may confirm removals over the API. None: all administrators.
    pub(crate) confirmers: Option<Vec<String>>,
    /// The checks of gates, and the accounts that count for promotion.
    pub(crate) evidence: EvidenceSources,
}

/// The settings for repositories without a configuration file: no URL is rewritten, and no credential is sent.
pub(crate) fn git_without_file() -> anyhow::Result<git::Settings> {
    git_settings(&GitOptions::default(), Path::new(""))
}

fn no_file() -> Failure {
    let start = std::env::current_dir().unwrap_or_default();
    let message = format!("there is no {FILE_NAME} in {} or above it", start.display());
    Failure::usage(message)
        .help("name one with --config FILE, or read a plain directory with --from DIR; `kalypso demo` makes an example")
}

/// Whether a configuration file is named, or exists here or in a directory above.
pub(crate) fn is_there(named: Option<&Path>) -> bool {
    named.is_some() || !matches!(find_in_ancestors(), Ok(None))
}

/// The path of the given file, or of the nearest one, if there is one.
fn path(named: Option<&Path>) -> anyhow::Result<Option<PathBuf>> {
    named.map_or_else(find_in_ancestors, |path| Ok(Some(path.to_owned())))
}

/// The nearest configuration file in the current directory and its parents.
fn find_in_ancestors() -> anyhow::Result<Option<PathBuf>> {
    let start = std::env::current_dir().context("the current directory can't be read")?;
    let found = start.ancestors().map(|folder| folder.join(FILE_NAME)).find(|path| path.is_file());
    // The file decides to which hosts credentials are sent. So a file of another user in a parent directory is not accepted.
    let is_planted = |path: &PathBuf| path.parent() != Some(start.as_path()) && git::trust::has_foreign_owner(path);
    match found {
        Some(path) if is_planted(&path) => {
            let message = format!("the configuration file `{}` belongs to another user", path.display());
            Err(Failure::usage(message).help("if it is the right one, name it with --config FILE").into())
        }
        found => Ok(found),
    }
}

/// The settings for a checkout on this machine without a configuration file. They lead to no repository elsewhere.
pub(crate) fn settings_of_git() -> git::Settings {
    git::Settings { withheld: withheld_variables(), current_dir: current_dir(), ..git::Settings::new("") }
}

/// The variables of this process that git does not get.
fn withheld_variables() -> Vec<OsString> {
    let names = std::env::vars_os().map(|(name, _)| name);
    names.filter(|name| !name.to_str().is_none_or(git::is_kept_variable)).collect()
}

/// The current folder, without symbolic links. Empty if it can't be read.
fn current_dir() -> PathBuf {
    std::env::current_dir().and_then(std::fs::canonicalize).unwrap_or_default()
}

/// The settings for access to repositories.
fn git_settings(options: &GitOptions, base: &Path) -> anyhow::Result<git::Settings> {
    let cache = match &options.cache {
        Some(cache) => cache::trusted(base.join(cache))?,
        None => default_cache()?,
    };
    let key = cache_key::for_cache(&cache, options.cache_key_file.as_ref().map(|file| base.join(file)).as_deref())?;
    let ssh_command = std::env::var("GIT_SSH_COMMAND").ok().filter(|command| !command.is_empty());
    let (withheld, current_dir) = (withheld_variables(), current_dir());
    let mut git = git::Settings { key, withheld, current_dir, ssh_command, ..git::Settings::new(cache) };
    base.clone_into(&mut git.base);
    let rewrite = |rule: &RewriteOptions| git::Rewrite { from: rule.from.clone(), to: rule.to.clone() };
    git.rewrite = options.rewrite.iter().map(rewrite).collect();
    for credential in &options.credentials {
        git.credentials.extend(credential.resolve(base)?);
    }
    Ok(git)
}

impl CredentialOptions {
    /// The credential. None, with a warning, if its token is not there: the repository may be readable without it. If it is not, reading it fails with an error.
    fn resolve(&self, base: &Path) -> Result<Option<git::ScopedToken>, Failure> {
        let Self { prefix, token_env, token_file } = self;
        let token = match (token_env, token_file) {
            (Some(variable), None) => match std::env::var(variable) {
                Ok(token) => Ok(Secret::new(&token).into()),
                Err(_) if is_variable(variable) => Err(format!("the variable {variable} is not set")),
                Err(_) => Err("the variable that `token-env` should name is not set".to_owned()),
            },
            (None, Some(file)) => secret_file::read("token-file", base.join(file)),
            _ => {
                let message = format!("`git.credentials`: the entry for {prefix} needs `token-env` or `token-file`");
                return Err(Failure::usage(message));
            }
        };
        let warn = |reason: &String| terminal::warn(&format!("there is no token for {prefix}: {reason}"));
        let token: Option<SecretSource> = token.inspect_err(warn).ok();
        Ok(token.map(|token| git::ScopedToken { prefix: prefix.clone(), token }))
    }
}

/// Whether a word looks like the name of a variable. A token that is written here by mistake must not appear in a log.
fn is_variable(word: &str) -> bool {
    !word.starts_with(|c: char| c.is_ascii_digit())
        && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The folder for copies of repositories and memos: `KALYPSO_CACHE_DIR`, or the user's cache directory. If this folder is not trusted, it is a
/// temporary folder.
pub(crate) fn default_cache() -> anyhow::Result<PathBuf> {
    use etcetera::BaseStrategy as _;
    if let Some(folder) = std::env::var_os("KALYPSO_CACHE_DIR").filter(|folder| !folder.is_empty()) {
        return cache::trusted(folder.into());
    }
    let strategy = etcetera::choose_base_strategy();
    let strategy = strategy
        .map_err(|_| Failure::usage("there is no home directory for the cache").help("set KALYPSO_CACHE_DIR"))?;
    cache::trusted(strategy.cache_dir().join("kalypso"))
}

#[cfg(test)]
mod tests {
    use super::variables::SECTIONS;
    use super::*;

    const PAGE: &str = include_str!("../../../docs/reference/configuration.md");

    fn check(example: &str) -> ControlPlaneSettings {
        let configured = Configured::new(Path::new("base/kalypso.toml"), example.to_owned(), |_| None);
        Settings::new(configured).unwrap_or_else(|error| panic!("{example}\n{error}")).control_plane().unwrap()
    }

    #[test]
    fn every_example_of_the_reference_is_right() {
        let examples = PAGE.split("\n```toml\n").skip(1).filter_map(|rest| rest.split("\n```\n").next());
        let read = examples
            .map(check)
            .map(|configuration| configuration.git.credentials.len() + configuration.git.rewrite.len());
        // Variables with tokens are not set in tests: only rewrite rules are left.
        assert_eq!(read.collect::<Vec<_>>(), [0, 1, 0, 2, 0, 0, 0]);
    }

    #[test]
    fn every_key_is_in_the_reference_and_has_a_variable() {
        let in_list = [
            ("acknowledge", ["code", "object", "path", "reason", "until"].as_slice()),
            ("service.control-plane", &["name", "repo", "branch"]),
            ("hub.watch", &["repo", "branch", "path", "environment"]),
            ("hub.heartbeat", &["every", "reconciler-type", "environment", "cluster-type", "selector"]),
            (
                "hub.rule",
                &[
                    "name",
                    "environment",
                    "workspace",
                    "application",
                    "workload",
                    "target",
                    "cluster-type",
                    "selector",
                    "target-selector",
                    "condition",
                    "longer-than",
                    "above",
                    "for",
                    "format",
                    "url",
                    "url-file",
                    "url-env",
                    "secret-file",
                    "secret-env",
                    "severity",
                ],
            ),
        ];
        let alone = SECTIONS.iter().filter(|(section, _)| !section.is_empty());
        let alone = alone.map(|(section, keys)| (format!("[{section}]"), *section, *keys));
        let in_list = in_list.map(|(section, keys)| (format!("[[{section}]]"), section, keys));
        let named = [(
            "promotion.checks.NAME",
            [
                "url",
                "prometheus",
                "query",
                "token-env",
                "token-file",
                "header",
                "command",
                "directory",
                "environment",
                "timeout",
                "interval",
            ]
            .as_slice(),
        )];
        let named = named.map(|(section, keys)| (format!("[{section}]"), section, keys));
        for (header, section, keys) in alone.chain(in_list).chain(named) {
            let control_plane = if section == "control-plane" { "" } else { "[control-plane]\nrepo = 'r'\n" };
            let text = format!("{control_plane}{header}\nunknown = 1\n");
            let error = toml::from_str::<Options>(&text).unwrap_err().to_string();
            let known: Vec<_> = error.split('`').skip(3).step_by(2).collect();
            assert_eq!(known, keys, "{error}");
            // What is kept is described once for all kinds of history.
            let is_listed = |key: &&str| PAGE.contains(&format!("`{section}.{key}`"));
            let missing = keys.iter().find(|key| !is_listed(key) && !section.starts_with("hub.retention."));
            assert_eq!(missing, None, "{section}");
        }
    }

    #[test]
    fn variables_have_the_form_of_their_keys() {
        for (section, keys) in SECTIONS {
            for key in *keys {
                // A list fits no text, and a text fits nothing else.
                let wrong = if variables::is_text(section, key) { "[[]]" } else { "'x'" };
                let name = if section.is_empty() { (*key).to_owned() } else { format!("{section}.{key}") };
                let text = format!("{name} = {wrong}");
                let error = toml::from_str::<Options>(&text).unwrap_err().to_string();
                assert!(
                    ["invalid type", "expected string", "wanted string", "it must be"]
                        .iter()
                        .any(|word| error.contains(word)),
                    "{text}: {error}"
                );
            }
        }
    }
}
