//! The section `[hub]` of `kalypso.toml`, overridden by arguments and environment variables.

use std::path::{Path, PathBuf};
use std::time::Duration;

use azure::{AzureOptions, AzureSource};
use engine::layout::Folder;
use hub::authentication::oidc::{Grant, IssuerSettings, OidcClient};
use hub::management::retention::{Keep, Retention};
use hub::rules::{Rule, RuleOptions};
use hub::server::tls::Certificate;
use hub::silence::heartbeats::{Heartbeat, HeartbeatOptions};
use hub::store::DatabaseUrl;
use hub_api::tokens::{Reach, Scope};
use serde::Deserialize;
use serde::de::IgnoredAny;
use watch::{WatchSettings, WatchedBranch};

use super::GitOptions;
use super::variables::Configured;
use crate::arguments::HubDatabase;
use crate::exit::Failure;
use crate::secret_file;
use crate::times::duration;

/// The environment variable with the URL of the database, which may contain a password.
const DATABASE_VARIABLE: &str = "KALYPSO_DATABASE_URL";
/// The default address on which the hub listens.
const LISTEN: &str = "127.0.0.1:8080";
/// The default location of the database.
const DATABASE: &str = "sqlite:kalypso.db";
/// The default interval between two polls of a branch.
const WATCH_PAUSE: Duration = Duration::from_secs(30);
/// The minimum interval between two polls: Git hosts reject clients that poll too often.
const WATCH_PAUSE_MIN: Duration = Duration::from_secs(1);

/// The section as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct HubOptions {
    listen: Option<String>,
    database: Option<String>,
    pub(super) url: Option<String>,
    #[serde(default)]
    pub(super) environments: Vec<String>,
    database_url_file: Option<PathBuf>,
    tls_certificate: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    oidc: Option<OidcOptions>,
    #[serde(default)]
    retention: RetentionOptions,
    watch_seconds: Option<u64>,
    #[serde(default)]
    watch: Vec<WatchOptions>,
    #[serde(default)]
    azure: Vec<AzureOptions>,
    #[serde(default)]
    rule: Vec<RuleOptions>,
    #[serde(default)]
    heartbeat: Vec<HeartbeatOptions>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct WatchOptions {
    repo: String,
    branch: String,
    #[serde(default)]
    path: String,
    environment: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct RetentionOptions {
    #[serde(default)]
    reports: KeepOptions,
    #[serde(default)]
    assignments: KeepOptions,
    #[serde(default)]
    revisions: KeepOptions,
    #[serde(default)]
    promotions: KeepOptions,
    #[serde(default)]
    audit: KeepOptions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct KeepOptions {
    age: Option<String>,
    count: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct OidcOptions {
    issuer: String,
    audience: String,
    #[serde(default = "roles_claim")]
    claim: String,
    #[serde(default)]
    read: Vec<String>,
    #[serde(default)]
    approver: Vec<String>,
    #[serde(default)]
    operator: Vec<String>,
    #[serde(default)]
    admin: Vec<String>,
    #[serde(default)]
    limited: Vec<LimitedOptions>,
    client_id: Option<String>,
    client_secret_env: Option<String>,
    client_secret_file: Option<PathBuf>,
    #[serde(default)]
    scopes: Vec<String>,
    public_url: Option<String>,
}

/// The permissions of a value of the claim, in some environments and workspaces.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct LimitedOptions {
    value: String,
    role: LimitedRole,
    #[serde(default)]
    environments: Vec<String>,
    #[serde(default)]
    workspaces: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LimitedRole {
    Reader,
    Approver,
    Operator,
}

impl LimitedRole {
    fn scope(self, reach: Reach) -> Scope {
        match self {
            Self::Reader => Scope::Read(reach),
            Self::Approver => Scope::Approver(reach),
            Self::Operator => Scope::Operator(reach),
        }
    }
}

impl OidcOptions {
    /// The permissions, those without limits and with most permissions first.
    fn grants(&mut self) -> Vec<Grant> {
        let all = |values: &mut Vec<String>, scope: Scope| {
            let values = std::mem::take(values).into_iter();
            values.map(|value| Grant { value, scope: scope.clone() }).collect::<Vec<_>>()
        };
        let mut grants = all(&mut self.admin, Scope::Admin);
        grants.extend(all(&mut self.operator, Scope::Operator(Reach::ALL)));
        grants.extend(all(&mut self.approver, Scope::Approver(Reach::ALL)));
        grants.extend(all(&mut self.read, Scope::Read(Reach::ALL)));
        grants.extend(std::mem::take(&mut self.limited).into_iter().map(|limited| {
            let LimitedOptions { value, role, environments, workspaces } = limited;
            Grant { value, scope: role.scope(Reach { workspaces, environments }) }
        }));
        grants
    }

    /// The hub as a client of the issuer. None: people can't sign in with a browser there.
    fn client(&mut self, base: &Path) -> Result<Option<OidcClient>, Failure> {
        let secret = (&self.client_secret_env, &self.client_secret_file);
        let secret = super::host::secret("hub.oidc.client-secret", secret, base).map_err(Failure::usage)?;
        match (self.client_id.take(), &self.public_url) {
            (Some(id), Some(public_url)) => {
                let wrong = |error| Failure::usage(format!("`hub.oidc.public-url` can't be used: {error}"));
                let public_url = public_url.parse().map_err(wrong)?;
                Ok(Some(OidcClient { id, secret, scopes: std::mem::take(&mut self.scopes), public_url }))
            }
            (None, None) if secret.is_none() && self.scopes.is_empty() => Ok(None),
            _ => Err(Failure::usage(
                "`hub.oidc.client-id` and `hub.oidc.public-url` belong together, and `hub.oidc.client-secret-…` and `hub.oidc.scopes` to them",
            )),
        }
    }

    fn resolve(mut self, base: &Path) -> Result<IssuerSettings, Failure> {
        let (grants, client) = (self.grants(), self.client(base)?);
        let Self { issuer, audience, claim, .. } = self;
        Ok(IssuerSettings { issuer, audience, claim, grants, client })
    }
}

fn roles_claim() -> String {
    "roles".to_owned()
}

/// The configuration file as the hub reads it. The other sections are not read, and may be missing.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "known, so that a wrong name is an error")]
    control_plane: Option<IgnoredAny>,
    #[serde(default)]
    git: GitOptions,
    #[expect(dead_code, reason = "known, so that a wrong name is an error")]
    acknowledge: Option<IgnoredAny>,
    #[expect(dead_code, reason = "known, so that a wrong name is an error")]
    host: Option<IgnoredAny>,
    #[expect(dead_code, reason = "known, so that a wrong name is an error")]
    service: Option<IgnoredAny>,
    #[expect(dead_code, reason = "known, so that a wrong name is an error")]
    promotion: Option<IgnoredAny>,
    #[expect(dead_code, reason = "known, so that a wrong name is an error")]
    demo: Option<IgnoredAny>,
    #[serde(default)]
    hub: HubOptions,
}

/// The settings of the section.
#[derive(Debug)]
pub(crate) struct HubConfiguration {
    /// The address to listen on.
    pub(crate) listen: String,
    /// The database.
    pub(crate) database: DatabaseUrl,
    /// The certificate for TLS.
    pub(crate) certificate: Option<Certificate>,
    /// The external identity providers.
    pub(crate) issuer: Option<IssuerSettings>,
    /// The branches that are read.
    pub(crate) watch: Option<WatchSettings>,
    /// The sources that are polled in Azure.
    pub(crate) azure: Vec<AzureSource>,
    /// The retention of the history.
    pub(crate) retention: Retention,
    /// The notification rules.
    pub(crate) rules: Vec<Rule>,
    /// The heartbeats that are demanded from reconcilers.
    pub(crate) heartbeats: Vec<Heartbeat>,
    /// The environments in their order. Empty if the order is not configured.
    pub(crate) environments: Vec<String>,
}

/// The URL of the hub in the given configuration file, or in the nearest one. None if it is not set.
pub(crate) fn read_hub_url(named: Option<&Path>) -> anyhow::Result<Option<String>> {
    Ok(read_file(named)?.and_then(|(file, _)| file.hub.url))
}

/// Reads the section of the given configuration file, or of the nearest one, if there is a file.
pub(crate) fn read_hub(arguments: &HubDatabase) -> anyhow::Result<HubConfiguration> {
    let (File { git, hub, .. }, path) = read_file(arguments.config.as_deref())?.unwrap_or_default();
    resolve((hub, &git), path.parent().unwrap_or(Path::new(".")), arguments)
}

/// The files that [`read_hub`] reads for the rules: the configuration file, if there is one, and the files with the secrets of rules.
pub(crate) fn hub_files(arguments: &HubDatabase) -> Vec<PathBuf> {
    let Ok(Some(path)) = super::path(arguments.config.as_deref()) else { return Vec::new() };
    let base = path.parent().unwrap_or(Path::new("."));
    let read = read_file(Some(&path)).ok().flatten();
    let rules = read.map(|(file, _)| file.hub.rule).unwrap_or_default();
    let secrets = rules.into_iter().flat_map(|rule| [rule.url_file, rule.secret_file]).flatten();
    let secrets: Vec<_> = secrets.map(|file| base.join(file)).collect();
    std::iter::once(path).chain(secrets).collect()
}

fn read_file(named: Option<&Path>) -> anyhow::Result<Option<(File, PathBuf)>> {
    let configured = match super::path(named)? {
        Some(path) => Some(Configured::read(&path)?),
        None => Configured::without_file(),
    };
    let Some(configured) = configured else { return Ok(None) };
    Ok(Some((configured.parse()?, configured.path)))
}

/// The settings of the section, with those for access to repositories.
pub(super) fn resolve(
    (mut options, git): (HubOptions, &GitOptions),
    base: &Path,
    arguments: &HubDatabase,
) -> anyhow::Result<HubConfiguration> {
    let watch = watch(&mut options, git, base)?;
    let database = database(&options, base, arguments)?;
    let retention = retention(&options.retention)?;
    let certificate = match (options.tls_certificate, options.tls_key) {
        (Some(certificate), Some(key)) => {
            Some(Certificate { certificate: base.join(certificate), key: base.join(key) })
        }
        (None, None) => None,
        _ => return Err(Failure::usage("`hub.tls-certificate` and `hub.tls-key` belong together").into()),
    };
    let issuer = options.oidc.map(|oidc| oidc.resolve(base)).transpose()?;
    let listen = options.listen.unwrap_or_else(|| LISTEN.to_owned());
    let environment = |name: &str| std::env::var(name).ok();
    let sources = options.azure.into_iter().map(|azure| azure.resolve(base, environment));
    let azure = sources.collect::<Result<_, _>>().map_err(|error| Failure::usage(error.to_string()))?;
    let rules = RuleOptions::resolve_all(options.rule, base, environment);
    let rules = rules.map_err(|error| Failure::usage(error.to_string()))?;
    let heartbeats = HeartbeatOptions::resolve_all(options.heartbeat);
    let heartbeats = heartbeats.map_err(|error| Failure::usage(error.to_string()))?;
    let environments = options.environments;
    Ok(HubConfiguration {
        listen,
        database,
        certificate,
        issuer,
        watch,
        azure,
        retention,
        rules,
        heartbeats,
        environments,
    })
}

/// The settings of the branches that are read. None if there are no branches.
fn watch(options: &mut HubOptions, git: &GitOptions, base: &Path) -> anyhow::Result<Option<WatchSettings>> {
    let pause = options.watch_seconds.map_or(WATCH_PAUSE, Duration::from_secs);
    if options.watch.is_empty() {
        return Ok(None);
    }
    let branches =
        std::mem::take(&mut options.watch).into_iter().map(|WatchOptions { repo, branch, path, environment }| {
            let url = git::RepositoryUrl::from_configuration(&repo)
                .map_err(|error| Failure::usage(format!("`hub.watch.repo` can't be used: {error}")))?;
            let folder = Folder::parse(&path)
                .ok_or_else(|| Failure::usage(format!("`hub.watch.path`, `{path}`, leads out of the repository")))?;
            Ok(WatchedBranch { url, branch, folder, environment })
        });
    let branches = branches.collect::<Result<_, Failure>>()?;
    Ok(Some(WatchSettings { branches, pause: pause.max(WATCH_PAUSE_MIN), git: super::git_settings(git, base)? }))
}

fn retention(options: &RetentionOptions) -> Result<Retention, Failure> {
    let keep = |of: &str, KeepOptions { age, count }: &KeepOptions| {
        if *count == Some(0) {
            return Err(Failure::usage(format!(
                "`hub.retention.{of}.count` is 0: the latest is always kept, so 1 is the least"
            )));
        }
        let age = age.as_deref().map(|age| duration(&format!("hub.retention.{of}.age ="), age)).transpose()?;
        Ok(Keep { age, count: *count })
    };
    Ok(Retention {
        reports: keep("reports", &options.reports)?,
        assignments: keep("assignments", &options.assignments)?,
        revisions: keep("revisions", &options.revisions)?,
        promotions: keep("promotions", &options.promotions)?,
        audit: keep("audit", &options.audit)?,
    })
}

/// The database: of the argument, else of the environment variable, else of the file with the URL, else of the section.
fn database(options: &HubOptions, base: &Path, arguments: &HubDatabase) -> anyhow::Result<DatabaseUrl> {
    if let Some(text) = &arguments.database {
        refuse_password("--database", text)?;
        return parse("--database", text, Path::new("."));
    }
    if let Some(text) = std::env::var(DATABASE_VARIABLE).ok().filter(|text| !text.is_empty()) {
        return parse(DATABASE_VARIABLE, &text, Path::new("."));
    }
    if let Some(file) = &options.database_url_file {
        let url = secret_file::read("hub.database-url-file", base.join(file)).map_err(Failure::usage)?;
        return Ok(match parse("hub.database-url-file", url.current().reveal(), base)? {
            DatabaseUrl::Postgres(_) => DatabaseUrl::ReplaceablePostgres(url),
            other => other,
        });
    }
    match &options.database {
        Some(text) => {
            refuse_password("hub.database", text)?;
            parse("hub.database", text, base)
        }
        None => parse("hub.database", DATABASE, Path::new(".")),
    }
}

/// Rejects a password in a URL, because all users of the machine can read arguments, and configuration files are committed.
fn refuse_password(name: &str, text: &str) -> Result<(), Failure> {
    let (address, query) = text.split_once('?').unwrap_or((text, ""));
    let user = address.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@')).map_or("", |(user, _)| user);
    if !user.contains(':') && !query.split('&').any(|pair| pair.starts_with("password=")) {
        return Ok(());
    }
    let help = format!(
        "put the whole URL into the variable {DATABASE_VARIABLE}, or into a file that `hub.database-url-file` names"
    );
    Err(Failure::usage(format!("`{name}` has a password in it, which others could read")).help(help))
}

fn parse(name: &str, text: &str, base: &Path) -> anyhow::Result<DatabaseUrl> {
    // The text may contain a password, so the message does not repeat it.
    let url: DatabaseUrl = text.parse().map_err(|error| Failure::usage(format!("`{name}` can't be used: {error}")))?;
    Ok(match url {
        DatabaseUrl::Sqlite(file) => DatabaseUrl::Sqlite(base.join(file)),
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hub_reads_every_example_of_the_reference() {
        let page = include_str!("../../../../docs/reference/configuration.md");
        let examples = page.split("\n```toml\n").skip(1).filter_map(|rest| rest.split("\n```\n").next());
        let read = examples.map(|example| toml::from_str::<File>(example).map_err(|error| error.to_string()));
        assert!(read.collect::<Result<Vec<_>, _>>().unwrap().len() > 5);
    }

    fn check(section: &str) -> Result<HubConfiguration, String> {
        let File { git, hub, .. } = toml::from_str(section).map_err(|error| error.to_string())?;
        resolve((hub, &git), Path::new("base"), &HubDatabase::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn hub_settings_have_defaults() {
        let read = check("").unwrap();
        assert_eq!((read.listen.as_str(), read.database), (LISTEN, DatabaseUrl::Sqlite("./kalypso.db".into())));
    }

    #[test]
    fn values_of_an_identity_provider_give_roles() {
        let oidc =
            "[hub.oidc]\nissuer = 'https://login.example'\naudience = 'hub'\nread = ['all']\noperator = ['ops']\n";
        let limited = "[[hub.oidc.limited]]\nvalue = 'on-call'\nrole = 'operator'\nenvironments = ['prod']\n";
        let grants = check(&format!("{oidc}{limited}")).unwrap().issuer.unwrap().grants;
        let prod = Reach { environments: vec!["prod".to_owned()], ..Reach::ALL };
        let expected = [
            ("ops", Scope::Operator(Reach::ALL)),
            ("all", Scope::Read(Reach::ALL)),
            ("on-call", Scope::Operator(prod)),
        ];
        assert_eq!(grants, expected.map(|(value, scope)| Grant { value: value.to_owned(), scope }));
        let wrong = check(&format!("{oidc}{}", limited.replace("'operator'", "'admin'"))).unwrap_err();
        assert!(wrong.contains("unknown variant `admin`, expected one of `reader`, `approver`, `operator`"), "{wrong}");
    }

    #[test]
    fn people_sign_in_if_the_hub_is_a_client_with_an_address() {
        let check = |client: &str| {
            let oidc = format!("[hub.oidc]\nissuer = 'https://login.example'\naudience = 'hub'\n{client}");
            check(&oidc).map(|read| read.issuer.unwrap().client)
        };
        assert_eq!(check("").unwrap(), None);
        let client = "client-id = 'kalypso'\npublic-url = 'https://hub.example'\nscopes = ['groups']";
        let public_url = "https://hub.example".parse().unwrap();
        let expected = OidcClient { id: "kalypso".into(), secret: None, scopes: vec!["groups".into()], public_url };
        assert_eq!(check(client).unwrap(), Some(expected));
        let missing = check(&format!("{client}\nclient-secret-env = 'KALYPSO_NO_SUCH_VARIABLE'")).unwrap_err();
        assert!(missing.contains("the variable KALYPSO_NO_SUCH_VARIABLE is not set"), "{missing}");
        let unsafe_url = check(&client.replace("https", "http")).unwrap_err();
        assert!(unsafe_url.contains("`hub.oidc.public-url` can't be used"), "{unsafe_url}");
        for half in ["client-id = 'kalypso'", "public-url = 'https://hub.example'", "scopes = ['groups']"] {
            assert!(check(half).unwrap_err().contains("belong together"), "{half}");
        }
        assert!(check(&format!("{client}\nclient-secret = 'hush'")).unwrap_err().contains("unknown field"));
    }

    #[test]
    fn paths_start_from_the_folder_of_the_file() {
        let read = check("[hub]\ndatabase = 'sqlite:a.db'\ntls-certificate = 'a.crt'\ntls-key = '/b.key'").unwrap();
        assert_eq!(read.database, DatabaseUrl::Sqlite("base/a.db".into()));
        assert_eq!(read.certificate, Some(Certificate { certificate: "base/a.crt".into(), key: "/b.key".into() }));
    }

    #[test]
    fn a_password_is_refused_with_advice_and_not_repeated() {
        for url in ["postgres://hub:secret@db/hub", "postgres://db/hub?user=hub&password=secret"] {
            let arguments = HubDatabase { database: Some(url.to_owned()), config: None };
            let options = (HubOptions::default(), &GitOptions::default());
            let error = resolve(options, Path::new("."), &arguments).unwrap_err();
            let failure = error.downcast_ref::<Failure>().unwrap();
            assert!(failure.message.contains("--database") && !failure.message.contains("secret"), "{failure}");
            assert!(failure.help.as_ref().unwrap().contains(DATABASE_VARIABLE));
            assert!(check(&format!("[hub]\ndatabase = '{url}'")).unwrap_err().contains("has a password"));
        }
    }

    #[test]
    fn watched_branches_use_the_git_settings() {
        let git = "[git]\nrewrite = [{ from = 'https://a/', to = '/b/' }]\n[hub]\nwatch-seconds = 60\n";
        let watch = "[[hub.watch]]\nrepo = 'https://a/gitops'\nbranch = 'dev'\npath = './clusters'\n";
        let read = check(&format!("{git}{watch}")).unwrap().watch.unwrap();
        assert_eq!((read.pause.as_secs(), read.git.rewrite.len(), read.branches.len()), (60, 1, 1));
        assert_eq!(read.branches[0].folder.as_str(), "clusters");
        let wrong = check(&watch.replace("./clusters", "../x")).unwrap_err();
        assert!(wrong.contains("leads out of the repository"), "{wrong}");
    }

    #[test]
    fn sources_in_azure_name_their_secrets() {
        let source = |secret: &str| {
            let credential = format!("credential = {{ kind = 'client-secret', client-id = 'c', {secret} }}");
            check(&format!("[[hub.azure]]\ntenant = 't'\nsubscriptions = ['s']\n{credential}"))
        };
        assert_eq!(source("secret-file = 'a'").unwrap().azure.len(), 1);
        let missing = source("secret-env = 'KALYPSO_NO_SUCH_VARIABLE'").unwrap_err();
        assert!(missing.contains("the variable `KALYPSO_NO_SUCH_VARIABLE` is not set"), "{missing}");
        assert!(source("secret = 'hush'").unwrap_err().contains("unknown field `secret`"));
    }

    #[test]
    fn rules_name_their_secrets() {
        let rule = |secret: &str| {
            let rule = "[[hub.rule]]\nname = 'stage-failing'\nenvironment = 'stage'\ncondition = 'failed'\nabove = '5 %'\nfor = '10m'";
            check(&format!("{rule}\nurl = 'https://chat.example/hook'\n{secret}"))
        };
        let missing = rule("secret-env = 'KALYPSO_NO_SUCH_VARIABLE'").unwrap_err();
        assert_eq!(missing, "hub.rule `stage-failing`: secret-env: the variable `KALYPSO_NO_SUCH_VARIABLE` is not set");
        assert!(rule("secret = 'hush'").unwrap_err().contains("unknown field `secret`"));
        assert!(rule("above = 'many'").is_err());
    }

    #[test]
    fn heartbeats_are_demanded_of_some() {
        let section =
            "[[hub.heartbeat]]\nevery = '2h'\nreconciler-type = 'argocd'\nselector = 'site in (berlin, rome)'";
        assert_eq!(check(section).unwrap().heartbeats[0].every, Duration::from_hours(2));
        assert!(check("[[hub.heartbeat]]\nreconciler-type = 'argocd'").unwrap_err().contains("every"));
        assert!(check("[[hub.heartbeat]]\nevery = '1s'").unwrap_err().contains("hub.heartbeat number 1: every"));
    }

    #[test]
    fn history_is_kept_for_ever_unless_it_is_bounded() {
        assert_eq!(check("").unwrap().retention, Retention::default());
        let read = check("[hub.retention]\nreports = { age = '400d', count = 10 }\nrevisions = { count = 5 }").unwrap();
        let reports = Keep { age: Some(std::time::Duration::from_hours(24 * 400)), count: Some(10) };
        let revisions = Keep { age: None, count: Some(5) };
        assert_eq!(read.retention, Retention { reports, revisions, ..Retention::default() });
        assert!(
            check("[hub.retention]\nreports = { age = '400' }")
                .unwrap_err()
                .contains("hub.retention.reports.age = 400")
        );
        assert!(check("[hub.retention]\nreports = { count = 0 }").unwrap_err().contains("1 is the least"));
        assert!(check("[hub.retention]\nlogs = {}").unwrap_err().contains("unknown field `logs`"));
    }

    #[test]
    fn half_a_certificate_and_wrong_names_are_refused() {
        assert!(check("[hub]\ntls-key = 'a'").unwrap_err().contains("belong together"));
        assert!(check("[hub]\nlisen = 'a'").unwrap_err().contains("unknown field `lisen`"));
        assert!(check("[hup]\nlisten = 'a'").unwrap_err().contains("unknown field `hup`"));
    }
}
