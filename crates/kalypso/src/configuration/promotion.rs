//! The section `[promotion]` of `kalypso.toml`: the checks of gates, and the accounts that count.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use checks::{
    Accounts, CheckKind, CheckSettings, Checks, CommandSettings, EvidenceSources, HttpSettings, PrometheusSettings,
    RequestCredential, Runtime,
};
use delivery::access::StateKeys;
use git::{PublicKey, SigningKey};
use serde::Deserialize;
use toml::Spanned;

use super::host::secret;
use super::parse_error;
use crate::exit::Failure;
use crate::{stopping, times};

/// The shortest pause between two steps of promotions: each one asks the git host and the hub.
const INTERVAL_MIN: Duration = Duration::from_secs(1);

/// The section as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct PromotionOptions {
    #[serde(default)]
    checks: BTreeMap<String, Spanned<CheckOptions>>,
    #[serde(default)]
    teams: BTreeMap<String, Spanned<Vec<String>>>,
    #[serde(default)]
    accounts: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    status_accounts: Vec<Spanned<String>>,
    #[serde(default)]
    override_accounts: Vec<String>,
    interval: Option<String>,
    #[serde(default)]
    state_keys: BTreeMap<String, String>,
    state_key_env: Option<String>,
    state_key_file: Option<PathBuf>,
}

/// A check as it is written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct CheckOptions {
    url: Option<String>,
    prometheus: Option<String>,
    query: Option<String>,
    token_env: Option<String>,
    token_file: Option<PathBuf>,
    header: Option<String>,
    command: Option<Vec<String>>,
    directory: Option<PathBuf>,
    environment: Option<Vec<String>>,
    timeout: Option<String>,
    interval: Option<String>,
}

/// The file with the section, and the folder from which relative paths start.
struct Written<'w> {
    path: &'w Path,
    /// The text of the file. None: variables replace a part of the section, so it has no positions.
    text: Option<&'w str>,
    base: &'w Path,
}

impl PromotionOptions {
    /// The pause between two steps while something moves.
    pub(super) fn interval(&self, default: Duration) -> Result<Duration, Failure> {
        let written = self.interval.as_deref();
        let interval = written.map_or(Ok(default), |text| times::duration("promotion.interval =", text))?;
        Ok(interval.max(INTERVAL_MIN))
    }

    /// The checks, with their secrets, and the accounts. Nothing is measured. `text` is that of the configuration file, unless variables
    /// replace a part of the section.
    pub(super) fn resolve(&self, (path, text): (&Path, Option<&str>), base: &Path) -> Result<EvidenceSources, Failure> {
        let written = Written { path, text, base };
        Ok(EvidenceSources { checks: checks(&self.checks, &written)?, accounts: self.accounts(&written)? })
    }

    /// The keys that sign the commits with states. A key of this program that can't be read is an error only where it is needed: most commands write no states.
    pub(super) fn state_keys(&self, base: &Path) -> Result<StateKeys, Failure> {
        let wrong = |text: String| Err(Failure::usage(text));
        let mut trusted = Vec::new();
        for (name, text) in &self.state_keys {
            match PublicKey::parse(text) {
                Ok(key) => trusted.push(key),
                Err(error) => return wrong(format!("`promotion.state-keys.{name}` can't be used: {error}")),
            }
        }
        let named = (&self.state_key_env, &self.state_key_file);
        if trusted.is_empty() {
            return match named {
                (None, None) => Ok(StateKeys::default()),
                _ => wrong("a `promotion.state-key` is set, but `promotion.state-keys` names no key".to_owned()),
            };
        }
        let own = match secret("promotion.state-key", named, base) {
            Ok(None) => StateKeys::default().own,
            Ok(Some(text)) => own_key(text.current().reveal(), &trusted).map_err(Into::into),
            Err(reason) => Err(reason.into()),
        };
        Ok(StateKeys { own, trusted: trusted.into() })
    }

    /// The accounts that may publish past gates.
    pub(super) fn override_accounts(&self) -> BTreeSet<String> {
        let names = self.override_accounts.iter().map(|name| account(name));
        names.filter(|name| !name.is_empty()).collect()
    }

    fn accounts(&self, written: &Written<'_>) -> Result<Accounts, Failure> {
        let mut accounts = Accounts::default();
        for (team, members) in &self.teams {
            let wrong = |reason: &str| written.wrong(members.span().start, &format!("the team `{team}` {reason}"));
            let named: BTreeSet<String> = members.get_ref().iter().map(|name| account(name)).collect();
            if named.is_empty() {
                return Err(wrong("has no members: its approval could never be given"));
            }
            if named.contains("") {
                return Err(wrong("has a member without a name"));
            }
            accounts.teams.insert(team.clone(), named);
        }
        for (identity, name) in &self.accounts {
            let named = account(name.get_ref());
            if named.is_empty() || identity.trim().is_empty() {
                let reason = "`promotion.accounts` has an entry without a name: write \"TOKEN NAME\" = \"account\"";
                return Err(written.wrong(name.span().start, reason));
            }
            accounts.identities.insert(identity.clone(), named);
        }
        for name in &self.status_accounts {
            let named = account(name.get_ref());
            if named.is_empty() {
                return Err(written.wrong(name.span().start, "`promotion.status-accounts` has an entry without a name"));
            }
            accounts.status_reporters.insert(named);
        }
        Ok(accounts)
    }
}

/// The key of this program. Its commits must count.
fn own_key(text: &str, trusted: &[PublicKey]) -> Result<SigningKey, String> {
    let key = SigningKey::parse(text).map_err(|error| format!("`promotion.state-key` can't be used: {error}"))?;
    let public = key.public();
    if trusted.contains(&public) {
        return Ok(key);
    }
    Err(format!("its public key is not in `promotion.state-keys`. Add it: NAME = \"{public}\""))
}

/// The name of an account, which may be written with `@`.
fn account(name: &str) -> String {
    name.trim().trim_start_matches('@').to_owned()
}

fn checks(options: &BTreeMap<String, Spanned<CheckOptions>>, written: &Written<'_>) -> Result<Checks, Failure> {
    let wrong = |name: &str, reason: &str| {
        let start = options.get(name).map_or(0, |options| options.span().start);
        written.wrong(start, &format!("the check `{name}`: {reason}"))
    };
    let mut settings = BTreeMap::new();
    for (name, options) in options {
        let resolved = options.get_ref().resolve(written.base).map_err(|reason| wrong(name, &reason))?;
        settings.insert(name.clone(), resolved);
    }
    let is_stopping = Arc::new(|| !stopping::wait(Duration::ZERO));
    Checks::new(settings, Runtime { is_stopping, ..Runtime::default() })
        .map_err(|(name, error)| wrong(&name, &error.to_string()))
}

impl CheckOptions {
    fn resolve(&self, base: &Path) -> Result<CheckSettings, String> {
        let kind = match (&self.url, &self.prometheus, &self.command) {
            (Some(url), None, None) => {
                only_for("`prometheus`", &[("query", self.query.is_some())])?;
                CheckKind::Http(HttpSettings { url: url.clone(), credential: self.credential(base)? })
            }
            (None, Some(url), None) => {
                let query = self.query.clone().ok_or("`query` is missing")?;
                let (url, credential) = (url.clone(), self.credential(base)?);
                CheckKind::Prometheus(PrometheusSettings { url, credential, query })
            }
            (None, None, Some(command)) => CheckKind::Command(self.command(command, base)?),
            _ => return Err("it has one of `url`, `prometheus` and `command`".to_owned()),
        };
        if !matches!(kind, CheckKind::Command(_)) {
            let used = [("directory", self.directory.is_some()), ("environment", self.environment.is_some())];
            only_for("`command`", &used)?;
        }
        let duration = |key: &str, written: &Option<String>, default: Duration| {
            let parsed = written.as_deref().map(|text| times::duration(&format!("{key} ="), text));
            parsed.transpose().map_err(|failure| failure.message).map(|duration| duration.unwrap_or(default))
        };
        let default = CheckSettings::new(kind);
        let timeout = duration("timeout", &self.timeout, default.timeout)?;
        let interval = duration("interval", &self.interval, default.interval)?;
        Ok(CheckSettings { timeout, interval, ..default })
    }

    fn credential(&self, base: &Path) -> Result<Option<RequestCredential>, String> {
        let found = secret("token", (&self.token_env, &self.token_file), base)?;
        if found.is_none() && self.header.is_some() {
            return Err("`header` needs a token: name it with `token-env` or `token-file`".to_owned());
        }
        Ok(found.map(|found| RequestCredential { header: self.header.clone(), secret: found }))
    }

    fn command(&self, command: &[String], base: &Path) -> Result<CommandSettings, String> {
        let is_token_named = self.token_env.is_some() || self.token_file.is_some() || self.header.is_some();
        let message = "a command gets its secrets by variables: list their names in `environment`";
        if is_token_named {
            return Err(message.to_owned());
        }
        only_for("`prometheus`", &[("query", self.query.is_some())])?;
        let (program, arguments) = command.split_first().ok_or("`command` is empty")?;
        let variables = self.environment.iter().flatten().map(|name| variable(name)).collect::<Result<_, _>>()?;
        let directory = self.directory.as_ref().map_or_else(|| base.to_owned(), |folder| base.join(folder));
        let directory =
            std::path::absolute(&directory).map_err(|error| format!("`directory` can't be used: {error}"))?;
        Ok(CommandSettings { program: program.into(), arguments: arguments.to_vec(), directory, variables })
    }
}

/// Refuses keys of another kind of check.
fn only_for(kind: &str, used: &[(&str, bool)]) -> Result<(), String> {
    match used.iter().find(|(_, is_used)| *is_used) {
        Some((key, _)) => Err(format!("`{key}` is only for a check with {kind}")),
        None => Ok(()),
    }
}

/// A variable of this process for a command.
fn variable(name: &str) -> Result<(String, OsString), String> {
    if !super::is_variable(name) {
        return Err("`environment` lists names of variables, such as LOAD_TEST_TOKEN".to_owned());
    }
    let value = std::env::var_os(name).ok_or_else(|| format!("`environment`: the variable {name} is not set"))?;
    Ok((name.to_owned(), value))
}

impl Written<'_> {
    /// The failure for a position in the file.
    fn wrong(&self, start: usize, reason: &str) -> Failure {
        let Some(text) = self.text else {
            let path = self.path.display();
            return Failure::usage(format!("the configuration of `{path}` and the environment is wrong: {reason}"));
        };
        parse_error::in_line(self.path, &parse_error::line((self.path, text), start), reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct File {
        promotion: PromotionOptions,
    }

    fn read(text: &str) -> Result<EvidenceSources, String> {
        let file: File = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        let resolved = file.promotion.resolve((Path::new("a/kalypso.toml"), Some(text)), Path::new("/srv/a"));
        resolved.map_err(|failure| failure.message)
    }

    /// A check with these keys is wrong, for this reason.
    fn wrong(check: &str, expected: &str) {
        let message = read(&format!("[promotion]\n[promotion.checks.smoke]\n{check}\n")).unwrap_err();
        let expected = format!(
            "the configuration file `a/kalypso.toml` is wrong\n  in line 2 of kalypso.toml: the check `smoke`: {expected}"
        );
        assert_eq!(message, expected);
    }

    #[test]
    fn checks_of_each_kind_are_read() {
        let sources = read(
            "[promotion.checks.smoke]\nurl = 'https://smoke.example/{environment}'\ntoken-env = 'PATH'\nheader = 'X-Api-Key'\n\
             [promotion.checks.errors]\nprometheus = 'https://prom.example'\nquery = 'up{env=\"{environment}\"}'\n\
             [promotion.checks.load]\ncommand = ['/bin/true', '--quick']\nenvironment = ['PATH']\ntimeout = '20m'\ninterval = '1h'\n",
        );
        assert_eq!(sources.unwrap().checks.names().collect::<Vec<_>>(), ["errors", "load", "smoke"]);
    }

    #[test]
    fn a_command_runs_in_the_folder_of_the_file() {
        let options: CheckOptions = toml::from_str("command = ['/bin/true']\ntimeout = '1m'").unwrap();
        let settings = options.resolve(Path::new("/srv/a")).unwrap();
        let CheckKind::Command(command) = settings.kind else { panic!("{settings:?}") };
        assert_eq!((command.directory.as_path(), settings.timeout), (Path::new("/srv/a"), Duration::from_mins(1)));
        assert_eq!((command.variables, settings.interval), (Vec::new(), Duration::from_secs(30)));
    }

    #[test]
    fn a_check_has_one_kind() {
        let one = "it has one of `url`, `prometheus` and `command`";
        wrong("", one);
        wrong("url = 'https://a.example'\ncommand = ['/bin/true']", one);
        wrong("url = 'https://a.example'\nquery = 'up'", "`query` is only for a check with `prometheus`");
        wrong("prometheus = 'https://a.example'", "`query` is missing");
        wrong("url = 'https://a.example'\ndirectory = '/'", "`directory` is only for a check with `command`");
        wrong("command = []", "`command` is empty");
        let message = "a command gets its secrets by variables: list their names in `environment`";
        wrong("command = ['/bin/true']\ntoken-env = 'PATH'", message);
    }

    #[test]
    fn a_mistake_is_located_and_no_secret_is_repeated() {
        wrong(
            "url = 'https://a:s3cret@a.example'",
            "`url` has a user or a password: name a token with `token-env` or `token-file`",
        );
        let header = "`header` needs a token: name it with `token-env` or `token-file`";
        wrong("url = 'https://a.example'\nheader = 's3cret'", header);
        let unset = "`token-env`: the variable KALYPSO_NO_SUCH_VARIABLE is not set";
        wrong("url = 'https://a.example'\ntoken-env = 'KALYPSO_NO_SUCH_VARIABLE'", unset);
        let plain = "`url` begins with http://, so the token would be readable on the way: use https://";
        wrong("url = 'http://a.example'\ntoken-env = 'PATH'", plain);
        let program = "`command` begins with the absolute path of a program, such as /usr/local/bin/load-test";
        wrong("command = ['load-test']", program);
        let names = "`environment` lists names of variables, such as LOAD_TEST_TOKEN";
        wrong("command = ['/bin/true']\nenvironment = ['s3cret=1']", names);
        wrong("url = 'https://a.example'\ntimeout = '2m'", "`timeout` is zero, or more than 60s");
        wrong(
            "url = 'https://a.example'\ninterval = '30'",
            "`interval = 30` is no length of time: those are like 90d, 12h or 30m",
        );
        assert!(read("[promotion.checks.smoke]\ntoken = 's3cret'").unwrap_err().contains("unknown field `token`"));
    }

    #[test]
    fn accounts_are_read() {
        let sources = read(
            "[promotion]\nstatus-accounts = ['ci-bot']\n[promotion.teams]\nmanagers = ['ana', '@bo']\n\
             [promotion.accounts]\n'ana-token' = '@ana'\n",
        );
        let accounts = sources.unwrap().accounts;
        assert_eq!(accounts.teams["managers"].iter().collect::<Vec<_>>(), ["ana", "bo"]);
        assert_eq!(accounts.of_identity("ana-token"), Some("ana"));
        assert!(accounts.status_reporters.contains("ci-bot"));
    }

    #[test]
    fn accounts_without_a_name_are_refused() {
        let wrong = |text: &str, expected: &str| {
            let message = read(&format!("[promotion]\n{text}\n")).unwrap_err();
            assert!(message.contains(expected), "{message}");
        };
        wrong("teams.a = []", "in line 2 of kalypso.toml: the team `a` has no members");
        wrong("teams.a = ['@']", "in line 2 of kalypso.toml: the team `a` has a member without a name");
        wrong("\naccounts.'x' = ' '", "in line 3 of kalypso.toml: `promotion.accounts` has an entry without a name");
        wrong("status-accounts = ['']", "in line 2 of kalypso.toml: `promotion.status-accounts` has an entry without");
    }

    #[test]
    fn without_positions_the_file_and_the_variables_are_named() {
        let file: File = toml::from_str("[promotion.teams]\na = []").unwrap();
        let failure = file.promotion.resolve((Path::new("a/kalypso.toml"), None), Path::new("/srv/a")).unwrap_err();
        let expected =
            "the configuration of `a/kalypso.toml` and the environment is wrong: the team `a` has no members";
        assert!(failure.message.starts_with(expected), "{}", failure.message);
    }

    #[test]
    fn invalid_state_keys_are_named_with_the_reason() {
        let read = |text: &str| {
            let file: File = toml::from_str(&format!("[promotion]\n{text}\n")).unwrap();
            file.promotion.state_keys(Path::new("/srv/a")).map_err(|failure| failure.message)
        };
        assert!(read("").unwrap().trusted.is_empty());
        let (key, wrong) = (testkit::keys::SIGNING.1.trim(), read("state-keys.a = 'x'").unwrap_err());
        assert!(wrong.starts_with("`promotion.state-keys.a` can't be used: it is no public Ed25519 key"), "{wrong}");
        let unnamed = read("state-key-file = 'key'").unwrap_err();
        assert!(unnamed.contains("`promotion.state-keys` names no key"), "{unnamed}");
        let reads = read(&format!("state-keys.a = '{key}'")).unwrap();
        assert_eq!(reads.trusted.len(), 1);
        assert!(reads.own.unwrap_err().starts_with("neither"));
        let gone = read(&format!("state-key-file = 'key'\nstate-keys.a = '{key}'")).unwrap().own.unwrap_err();
        assert!(gone.contains("the file `/srv/a/key` can't be read"), "{gone}");
    }
}
