//! `kalypso.toml`: the location of the control plane, and the access to repositories.

mod acknowledge;
mod demo;
mod host;
mod hub;
mod service;
mod wrong;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::service::Timing;
use anyhow::Context as _;
use delivery::access::ControlPlaneSettings;
use serde::Deserialize;
use toml::Spanned;

use self::acknowledge::AcknowledgeOptions;
pub(crate) use self::acknowledge::in_directory as acknowledgements_in;
use self::demo::DemoOptions;
pub(crate) use self::demo::{COMPANY_URL, DemoConfiguration};
use self::host::HostTables;
pub(crate) use self::host::{Host, Hosts};
use self::hub::HubOptions;
pub(crate) use self::hub::{hub_file, read_environments, read_hub, read_hub_url};
use self::service::ServiceOptions;
use crate::exit::Failure;
use crate::{cache, cache_key, terminal};

/// The name of the configuration file.
pub(crate) const FILE_NAME: &str = "kalypso.toml";

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
    demo: Option<DemoOptions>,
    #[serde(default)]
    #[expect(dead_code, reason = "read by `kalypso hub`; checked for its form by all commands")]
    hub: Option<HubOptions>,
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
    token_env: String,
}

fn main_branch() -> String {
    "main".to_owned()
}

/// Reads the configuration file: the given file, or the nearest file in the current directory and its parents.
pub(crate) fn read(named: Option<&Path>) -> anyhow::Result<ControlPlaneSettings> {
    let (options, path, text) = read_options(named)?;
    let acknowledgements = acknowledge::entries(&options.acknowledge, (&path, &text))?;
    let configuration = resolve(options, path.parent().unwrap_or(Path::new(".")))?;
    Ok(ControlPlaneSettings { acknowledgements: acknowledgements.into(), ..configuration })
}

/// Reads the git hosts for pull requests, with their secrets. Empty if none is configured.
pub(crate) fn read_hosts(named: Option<&Path>) -> anyhow::Result<Hosts> {
    let (options, path, _) = read_options(named)?;
    let base = path.parent().unwrap_or(Path::new("."));
    let demo = options.demo(base)?.map(|demo| demo.git_host);
    Ok(options.host.resolve(&options.control_plane.repo, base, demo)?)
}

/// Reads the settings of the demo. None if the file is not that of a demo.
pub(crate) fn read_demo(named: Option<&Path>) -> anyhow::Result<Option<DemoConfiguration>> {
    let (options, path, _) = read_options(named)?;
    Ok(options.demo(path.parent().unwrap_or(Path::new(".")))?)
}

/// Reads the settings of the service, with their secrets. The git host of the demo is at `demo`, or else at its configured address.
pub(crate) fn read_service(named: Option<&Path>, demo: Option<SocketAddr>) -> anyhow::Result<ServiceConfiguration> {
    let (options, path, text) = read_options(named)?;
    let acknowledgements = acknowledge::entries(&options.acknowledge, (&path, &text))?;
    let base = path.parent().unwrap_or(Path::new("."));
    let timing = options.service.resolve(|name| std::env::var(name).ok())?;
    let demo = demo.or(options.demo(base)?.map(|demo| demo.git_host));
    let (mut options, host) = (options, HostTables::default());
    let hosts = std::mem::replace(&mut options.host, host).resolve(&options.control_plane.repo, base, demo)?;
    let control_plane = ControlPlaneSettings { acknowledgements: acknowledgements.into(), ..resolve(options, base)? };
    Ok(ServiceConfiguration { control_plane, hosts, timing })
}

impl Options {
    fn demo(&self, base: &Path) -> Result<Option<DemoConfiguration>, Failure> {
        self.demo.as_ref().map(|demo| demo.resolve(base, demo::variable())).transpose()
    }
}

/// The settings of the service.
pub(crate) struct ServiceConfiguration {
    /// The control plane, and the access to repositories.
    pub(crate) control_plane: ControlPlaneSettings,
    /// The git hosts.
    pub(crate) hosts: Hosts,
    /// How long the service waits.
    pub(crate) timing: Timing,
}

fn read_options(named: Option<&Path>) -> anyhow::Result<(Options, PathBuf, String)> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => find()?,
    };
    let text = fs::read_to_string(&path).map_err(|error| {
        Failure::usage(format!("the configuration file `{}` can't be read: {error}", path.display()))
    })?;
    let options: Options = toml::from_str(&text).map_err(|error| wrong::file(&path, &text, &error))?;
    Ok((options, path, text))
}

/// The settings for repositories without a configuration file: no URL is rewritten, and no credential is sent.
pub(crate) fn git_without_file() -> anyhow::Result<git::Settings> {
    git_settings(GitOptions::default(), Path::new(""))
}

fn find() -> anyhow::Result<PathBuf> {
    let missing = || {
        let start = std::env::current_dir().unwrap_or_default();
        let message = format!("there is no {FILE_NAME} in {} or above it", start.display());
        Failure::usage(message).help(
            "name one with --config FILE, or read a plain directory with --from DIR; `kalypso demo` makes an example",
        )
    };
    Ok(find_in_ancestors()?.ok_or_else(missing)?)
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

fn resolve(options: Options, base: &Path) -> anyhow::Result<ControlPlaneSettings> {
    let repo = git::RepositoryUrl::from_configuration(&options.control_plane.repo)
        .map_err(|error| Failure::usage(format!("`control-plane.repo` can't be used: {error}")))?;
    let (branch, git) = (options.control_plane.branch, git_settings(options.git, base)?);
    Ok(ControlPlaneSettings { repo, branch, git, acknowledgements: Arc::default() })
}

/// The settings for access to repositories.
fn git_settings(options: GitOptions, base: &Path) -> anyhow::Result<git::Settings> {
    let cache = match options.cache {
        Some(cache) => cache::trusted(base.join(cache))?,
        None => default_cache()?,
    };
    let key = cache_key::of(&cache, options.cache_key_file.map(|file| base.join(file)).as_deref())?;
    let withheld =
        std::env::vars_os().map(|(name, _)| name).filter(|name| !name.to_str().is_none_or(git::is_kept_variable));
    let ssh_command = std::env::var("GIT_SSH_COMMAND").ok().filter(|command| !command.is_empty());
    let mut git = git::Settings { key, withheld: withheld.collect(), ssh_command, ..git::Settings::new(cache) };
    base.clone_into(&mut git.base);
    git.rewrite = options.rewrite.into_iter().map(|rule| git::Rewrite { from: rule.from, to: rule.to }).collect();
    for CredentialOptions { prefix, token_env } in options.credentials {
        if let Ok(token) = std::env::var(&token_env) {
            git.credentials.push(git::Credential { prefix, token: git::Token::new(&token) });
        } else {
            // The repository may be readable without the token. If it is not, reading it fails with an error.
            let name = if is_variable(&token_env) { token_env.as_str() } else { "that `token-env` should name" };
            terminal::warn(&format!("the variable {name}, which holds the token for {prefix}, is not set"));
        }
    }
    Ok(git)
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
    use super::*;

    const PAGE: &str = include_str!("../../../docs/reference/configuration.md");

    fn check(example: &str) -> ControlPlaneSettings {
        let options: Options = toml::from_str(example).unwrap_or_else(|error| panic!("{example}\n{error}"));
        resolve(options, Path::new("base")).unwrap()
    }

    #[test]
    fn every_example_of_the_reference_is_right() {
        let examples = PAGE.split("\n```toml\n").skip(1).filter_map(|rest| rest.split("\n```\n").next());
        let read = examples
            .map(check)
            .map(|configuration| configuration.git.credentials.len() + configuration.git.rewrite.len());
        // Variables with tokens are not set in tests: only rewrite rules are left.
        assert_eq!(read.collect::<Vec<_>>(), [0, 1, 0, 2, 0]);
    }

    /// Each section with an unknown key, and its keys.
    const SECTIONS: &[(&str, &[&str])] = &[
        ("[control-plane]\nrepo = 'r'\nx = 1\n", &["repo", "branch"]),
        ("[control-plane]\nrepo = 'r'\n[git]\nx = 1\n", &["rewrite", "credentials", "cache", "cache-key-file"]),
        (
            "[control-plane]\nrepo = 'r'\n[host]\nx = 1\n",
            &[
                "kind",
                "url",
                "api-url",
                "token-env",
                "token-file",
                "app-id",
                "app-installation",
                "app-key-file",
                "reviewers",
                "merge-method",
                "auto-merge",
                "confirm-by-label",
                "webhook-secret-env",
                "webhook-secret-file",
            ],
        ),
        ("[control-plane]\nrepo = 'r'\n[service]\nx = 1\n", &["poll", "settle", "settle-max", "resync"]),
        ("[control-plane]\nrepo = 'r'\n[demo]\nx = 1\n", &["git-host"]),
        ("[control-plane]\nrepo = 'r'\n[[acknowledge]]\nx = 1\n", &["code", "object", "path", "reason", "until"]),
        (
            "[control-plane]\nrepo = 'r'\n[hub]\nx = 1\n",
            &[
                "listen",
                "database",
                "url",
                "environments",
                "database-url-file",
                "tls-certificate",
                "tls-key",
                "oidc",
                "retention",
                "watch-seconds",
                "watch",
                "azure",
                "rule",
                "heartbeat",
            ],
        ),
        ("[control-plane]\nrepo = 'r'\n[hub.oidc]\nx = 1\n", &["issuer", "audience", "claim", "read", "admin"]),
        ("[control-plane]\nrepo = 'r'\n[[hub.watch]]\nx = 1\n", &["repo", "branch", "path", "environment"]),
        (
            "[control-plane]\nrepo = 'r'\n[[hub.heartbeat]]\nx = 1\n",
            &["every", "reconciler-type", "environment", "cluster-type", "selector"],
        ),
        (
            "[control-plane]\nrepo = 'r'\n[[hub.rule]]\nx = 1\n",
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
        ("[control-plane]\nrepo = 'r'\n[hub.retention]\nx = 1\n", &["reports", "assignments", "revisions", "audit"]),
    ];

    #[test]
    fn every_key_is_in_the_reference() {
        for (text, keys) in SECTIONS {
            let error = toml::from_str::<Options>(text).unwrap_err().to_string();
            let known: Vec<_> = error.split('`').skip(3).step_by(2).collect();
            assert_eq!(known, *keys, "{error}");
            let section = text.rsplit('[').next().and_then(|rest| rest.split(']').next()).unwrap();
            keys.iter().for_each(|key| assert!(PAGE.contains(&format!("`{section}.{key}`")), "{section}.{key}"));
        }
    }
}
