//! Environment variables that override values of `kalypso.toml`: `KALYPSO_HUB_LISTEN` is for `hub.listen`.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::parse_error;
use crate::exit::Failure;

/// The sections with their keys. Tables in lists have no variables of their own: the variable of the list replaces all of them.
pub(super) const SECTIONS: &[(&str, &[&str])] = &[
    ("", &["acknowledge"]),
    ("control-plane", &["repo", "branch"]),
    ("git", &["rewrite", "credentials", "cache", "cache-key-file"]),
    (
        "host",
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
    ("service", &["poll", "settle", "settle-max", "resync", "confirm", "control-plane"]),
    (
        "promotion",
        &[
            "checks",
            "teams",
            "accounts",
            "status-accounts",
            "override-accounts",
            "interval",
            "state-keys",
            "state-key-env",
            "state-key-file",
        ],
    ),
    ("demo", &["git-host"]),
    (
        "hub",
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
    (
        "hub.oidc",
        &[
            "issuer",
            "audience",
            "claim",
            "read",
            "approver",
            "operator",
            "admin",
            "limited",
            "client-id",
            "client-secret-env",
            "client-secret-file",
            "scopes",
            "public-url",
        ],
    ),
    ("hub.retention", &["reports", "assignments", "revisions", "promotions", "audit"]),
    ("hub.retention.reports", KEEP),
    ("hub.retention.assignments", KEEP),
    ("hub.retention.revisions", KEEP),
    ("hub.retention.promotions", KEEP),
    ("hub.retention.audit", KEEP),
];

const KEEP: &[&str] = &["age", "count"];

/// The keys whose values are not texts, without those of [`KEEP`]. Their variables are TOML: a number, `true`, a list, or a table.
const NOT_TEXT: &[&str] = &[
    "acknowledge",
    "git.rewrite",
    "git.credentials",
    "host.app-installation",
    "host.reviewers",
    "host.auto-merge",
    "host.confirm-by-label",
    "service.confirm",
    "service.control-plane",
    "promotion.checks",
    "promotion.teams",
    "promotion.accounts",
    "promotion.status-accounts",
    "promotion.override-accounts",
    "promotion.state-keys",
    "hub.environments",
    "hub.oidc",
    "hub.oidc.read",
    "hub.oidc.approver",
    "hub.oidc.operator",
    "hub.oidc.admin",
    "hub.oidc.limited",
    "hub.oidc.scopes",
    "hub.retention",
    "hub.retention.reports",
    "hub.retention.assignments",
    "hub.retention.revisions",
    "hub.retention.promotions",
    "hub.retention.audit",
    "hub.watch-seconds",
    "hub.watch",
    "hub.azure",
    "hub.rule",
    "hub.heartbeat",
];

/// The text of the configuration file, and the variables that override it.
#[derive(Debug)]
pub(super) struct Configured {
    /// The path of the file.
    pub(super) path: PathBuf,
    /// The text of the file.
    pub(super) text: String,
    overrides: Vec<Override>,
}

/// A value of an environment variable.
#[derive(Debug)]
struct Override {
    variable: String,
    section: &'static str,
    key: &'static str,
    value: String,
}

/// The name of the variable for a key.
fn variable(section: &str, key: &str) -> String {
    let name = if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
    format!("KALYPSO_{}", name.to_ascii_uppercase().replace(['.', '-'], "_"))
}

impl Configured {
    /// A file, with the variables that are set and not empty.
    pub(super) fn new(path: &Path, text: String, find: impl Fn(&str) -> Option<String>) -> Self {
        let keys = SECTIONS.iter().flat_map(|&(section, keys)| keys.iter().map(move |&key| (section, key)));
        let one = |(section, key)| {
            let variable = variable(section, key);
            let value = find(&variable).filter(|value| !value.trim().is_empty())?;
            Some(Override { variable, section, key, value })
        };
        Self { path: path.to_owned(), text, overrides: keys.filter_map(one).collect() }
    }

    /// Reads a file, with the variables of this process.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::usage(format!("the configuration file `{}` can't be read: {error}", path.display()))
        })?;
        Ok(Self::new(path, text, |name| std::env::var(name).ok()))
    }

    /// The variables of this process, without a file. None if none is set.
    pub(super) fn without_file() -> Option<Self> {
        let path = Path::new(".").join(super::FILE_NAME);
        let found = Self::new(&path, String::new(), |name| std::env::var(name).ok());
        found.is_overridden().then_some(found)
    }

    /// The folder that relative paths start from.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Whether a variable is set.
    pub(super) fn is_overridden(&self) -> bool {
        !self.overrides.is_empty()
    }

    /// Whether a variable of a section is set.
    pub(super) fn overrides(&self, section: &str) -> bool {
        self.overrides.iter().any(|found| found.section == section)
    }

    /// The values of the file, without the variables.
    pub(super) fn parse_file<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        toml::from_str(&self.text).map_err(|error| parse_error::file(&self.path, &self.text, &error))
    }

    /// The values of the file and of the variables. Those of the variables take precedence.
    pub(super) fn parse<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        if !self.is_overridden() {
            return self.parse_file();
        }
        let mut table: Table = self.parse_file()?;
        // A variable alone makes no demo of a company.
        let is_demo = table.contains_key("demo");
        let mut overrides = self.overrides.iter().filter(|one| is_demo || one.section != "demo");
        overrides.try_for_each(|one| one.set(&mut table))?;
        let merged = toml::to_string(&table).map_err(|error| self.failure(&error.to_string()))?;
        toml::from_str(&merged).map_err(|error| match toml::from_str::<T>(&self.text) {
            // The mistake is in the file.
            Err(own) if own.message() == error.message() => parse_error::file(&self.path, &self.text, &own),
            _ => self.failure(&parse_error::without_values(error.message())),
        })
    }

    fn failure(&self, why: &str) -> Failure {
        let names: Vec<_> = self.overrides.iter().map(|found| found.variable.as_str()).collect();
        let message = format!("the configuration of `{}` and the environment is wrong: {why}", self.path.display());
        Failure::usage(message).help(format!("these variables override the file: {}", names.join(", ")))
    }
}

/// Whether the value of a key is a text.
pub(super) fn is_text(section: &str, key: &str) -> bool {
    let name = if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
    !NOT_TEXT.contains(&name.as_str()) && key != "count"
}

impl Override {
    fn set(&self, table: &mut Table) -> Result<(), Failure> {
        let Self { variable, section, key, value } = self;
        let mut inner = table;
        for part in section.split('.').filter(|part| !part.is_empty()) {
            let next = inner.entry(part).or_insert_with(|| Value::Table(Table::new()));
            inner = next.as_table_mut().ok_or_else(|| {
                let message = format!("the variable {variable} can't be used: `{part}` is a list in the file");
                Failure::usage(message).help("change the list in the file, or unset the variable")
            })?;
        }
        let value = if is_text(section, key) { Value::String(value.clone()) } else { self.toml()? };
        inner.insert((*key).to_owned(), value);
        Ok(())
    }

    /// The value as TOML.
    fn toml(&self) -> Result<Value, Failure> {
        let mut table: Table = toml::from_str(&format!("value = {}", self.value)).map_err(|_| {
            let message = format!("the variable {} is no value of TOML", self.variable);
            Failure::usage(message)
                .help("write a list as [\"a\", \"b\"], a table as { a = \"b\" }, or a number, true or false")
        })?;
        table
            .remove("value")
            .filter(|_| table.is_empty())
            .ok_or_else(|| Failure::usage(format!("the variable {} is more than one value of TOML", self.variable)))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    struct Options {
        control_plane: ControlPlane,
        host: Option<Value>,
        hub: Option<Hub>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct ControlPlane {
        repo: String,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    struct Hub {
        watch_seconds: Option<u64>,
        environments: Option<Vec<String>>,
    }

    fn check(text: &str, variables: &[(&str, &str)]) -> Result<Options, String> {
        let find = |name: &str| variables.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned());
        let configured = Configured::new(Path::new("k.toml"), text.to_owned(), find);
        configured.parse().map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_variable_takes_precedence_and_makes_missing_sections() {
        let file = "[control-plane]\nrepo = 'a'\n";
        let read = check(file, &[("KALYPSO_CONTROL_PLANE_REPO", "b"), ("KALYPSO_HUB_WATCH_SECONDS", "5")]).unwrap();
        assert_eq!((read.control_plane.repo.as_str(), read.hub.unwrap().watch_seconds), ("b", Some(5)));
        let read = check("", &[("KALYPSO_CONTROL_PLANE_REPO", "1"), ("KALYPSO_HUB_ENVIRONMENTS", "['dev']")]).unwrap();
        assert_eq!((read.control_plane.repo.as_str(), read.hub.unwrap().environments.unwrap().len()), ("1", 1));
        assert_eq!(check(file, &[("KALYPSO_CONTROL_PLANE_REPO", " ")]).unwrap().control_plane.repo, "a");
    }

    #[test]
    fn a_mistake_is_located() {
        let set = [("KALYPSO_CONTROL_PLANE_REPO", "b")];
        let in_file = check("[control-plane]\nrepo = 'a'\n[hub]\nwatch-second = 1\n", &set).unwrap_err();
        assert!(in_file.contains("in line 4") && in_file.contains("unknown field `watch-second`"), "{in_file}");
        let several = check("[[host]]\n", &[("KALYPSO_HOST_URL", "u")]).unwrap_err();
        assert!(several.contains("KALYPSO_HOST_URL can't be used: `host` is a list"), "{several}");
        let wrong = check("", &[set[0], ("KALYPSO_HUB_WATCH_SECONDS", "s3cret")]).unwrap_err();
        assert_eq!(wrong, "the variable KALYPSO_HUB_WATCH_SECONDS is no value of TOML");
        let wrong = check("", &[set[0], ("KALYPSO_HUB_WATCH_SECONDS", "'s3cret'")]).unwrap_err();
        assert!(wrong.contains("k.toml") && wrong.contains("invalid type") && !wrong.contains("s3cret"), "{wrong}");
        assert!(
            check("", &[set[0], ("KALYPSO_HUB_WATCH_SECONDS", "1\n[x]\na = 2")]).unwrap_err().contains("more than one")
        );
    }

    #[test]
    fn every_section_has_its_keys_once() {
        let names: Vec<_> =
            SECTIONS.iter().flat_map(|(section, keys)| keys.iter().map(|key| variable(section, key))).collect();
        let different: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(different.len(), names.len());
    }
}
