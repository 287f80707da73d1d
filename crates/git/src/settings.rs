//! The configuration for access to repositories: mirrors, credentials, the cache.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use model::secret::SecretSource;

use crate::key::CacheKey;
use crate::limits::TRANSFER_BYTES_MAX;
use crate::url::{Parts, RepositoryUrl, Scheme, UrlError, host_and_path};

/// The default time limit of one run of git. The first fetch of a large repository over a slow connection takes minutes.
const TIME_LIMIT: Duration = Duration::from_mins(10);

/// The configuration for access to repositories.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder for copies of remote repositories. It may be deleted at any time. Its content is used only if [`crate::trust`] allows it.
    pub cache: PathBuf,
    /// The key that signs the heads of branches in the cache. Without it, no head from the cache is used.
    pub key: Option<CacheKey>,
    /// The base folder for relative local paths.
    pub base: PathBuf,
    /// The folder in which the program runs, without symbolic links. Paths are shown from there. Empty: they are shown as they are.
    pub current_dir: PathBuf,
    /// Rewrite rules for URLs, for example for mirrors.
    pub rewrite: Vec<Rewrite>,
    /// Tokens, with the URLs that each of them is sent to.
    pub credentials: Vec<ScopedToken>,
    /// Makes tokens for the URLs without one. None: there are no others.
    pub token_source: Option<Arc<dyn TokenSource>>,
    /// The path of the git program.
    pub program: PathBuf,
    /// The command for ssh. None: git's own configuration decides.
    pub ssh_command: Option<String>,
    /// Environment variables of this process that are removed for git: those for which [`is_kept_variable`] is false.
    pub withheld: Vec<OsString>,
    /// The time limit of one run of git.
    pub time_limit: Duration,
    /// The maximum size of one transfer from a repository on disk, in bytes.
    pub transfer_bytes_max: u64,
}

/// Replaces the prefix `from` of URLs with `to`, like git's `insteadOf`. If several rules match, the one with the longest `from` applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// The prefix of the URLs in objects.
    pub from: String,
    /// The new prefix: a URL, also with `http://` or `file://`, or a local path.
    pub to: String,
}

/// A token, and the URLs that it may be sent to.
#[derive(Clone, Debug)]
pub struct ScopedToken {
    /// The token is sent to this URL and to URLs below it: same scheme, host and port, and whole path segments. The URL after rewriting is compared.
    pub prefix: String,
    /// The token. Each run of git gets the current one.
    pub token: SecretSource,
}

/// Makes tokens that end soon, so that each run of git needs a new one.
pub trait TokenSource: fmt::Debug + Send + Sync {
    /// The token for the repository at a URL, which is the one after rewriting. None if this source makes none for it.
    ///
    /// # Errors
    /// The reason why it can't be made, without any secret.
    fn token(&self, url: &str) -> Result<Option<HttpToken>, String>;
}

/// Variables of git that configure the connection (ssh, proxy, certificates), and the folder of git's own programs.
const KEPT_VARIABLES: &[&str] =
    &["GIT_EXEC_PATH", "GIT_HTTP_PROXY_AUTHMETHOD", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT"];

/// Prefixes of such variables.
const KEPT_PREFIXES: &[&str] = &["GIT_PROXY_SSL_", "GIT_SSL_"];

/// Secrets that only Kalypso itself may read.
const OWN_SECRETS: &[&str] = &["KALYPSO_CACHE_KEY", "KALYPSO_DATABASE_URL", "KALYPSO_HUB_TOKEN"];

/// Whether git gets this environment variable. Most of git's own variables are removed, because they lead git to other repositories, objects and
/// settings. Programs that git starts, such as ssh and credential helpers, get the same variables.
pub fn is_kept_variable(name: &str) -> bool {
    let is_gits = name.starts_with("GIT_") || name == "SSH_ASKPASS" || OWN_SECRETS.contains(&name);
    !is_gits || KEPT_VARIABLES.contains(&name) || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// A secret that is never shown: `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpToken(String);

impl HttpToken {
    /// Creates a token from a text. Blanks and control characters are removed, such as the line break at the end of a file: they are never part of a
    /// token.
    pub fn new(text: &str) -> Self {
        Self(text.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for HttpToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HttpToken(…)")
    }
}

/// The address of a repository after rewriting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// A path on this machine. Git reads the repository in place.
    Local(PathBuf),
    /// A remote repository. Git reads it through a copy in the cache.
    Remote {
        /// The URL that git gets.
        url: String,
        /// The protocol.
        scheme: Scheme,
    },
}

impl Settings {
    /// A path for people: from the current folder, if it is below it.
    pub fn shown(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.current_dir) {
            Ok(below) if below.as_os_str().is_empty() => PathBuf::from("."),
            // A joined empty path leaves a slash at the end.
            Ok(below) => below.components().collect(),
            Err(_) => path.to_owned(),
        }
    }

    /// Settings without rewrite rules, without credentials, and with the default limits.
    pub fn new(cache: impl Into<PathBuf>) -> Self {
        Self {
            cache: cache.into(),
            key: None,
            base: PathBuf::new(),
            current_dir: PathBuf::new(),
            rewrite: Vec::new(),
            credentials: Vec::new(),
            token_source: None,
            program: "git".into(),
            ssh_command: None,
            withheld: Vec::new(),
            time_limit: TIME_LIMIT,
            transfer_bytes_max: TRANSFER_BYTES_MAX,
        }
    }

    /// The address of a repository after rewriting.
    pub(crate) fn locate(&self, url: &RepositoryUrl) -> Result<Location, UrlError> {
        let text = rewrite(&self.rewrite, url.as_str());
        let parts = Parts::parse(&text)?;
        Ok(match parts.scheme {
            Scheme::Local => Location::Local(self.base.join(parts.path)),
            scheme => Location::Remote { scheme, url: text },
        })
    }

    /// Whether two URLs lead to the same repository, for example because a rewrite rule leads one of them to the local path of the other.
    pub fn is_same_repository(&self, one: &RepositoryUrl, other: &RepositoryUrl) -> bool {
        let real = |path: &Path| candidates(path).into_iter().find_map(|path| path.canonicalize().ok());
        let is_same = |one: Location, other: Location| match (one, other) {
            (Location::Local(one), Location::Local(other)) => {
                one == other || real(&one).is_some_and(|one| Some(one) == real(&other))
            }
            (Location::Remote { url: one, .. }, Location::Remote { url: other, .. }) => {
                one == other || host_and_path(&one).is_some_and(|one| Some(one) == host_and_path(&other))
            }
            _ => false,
        };
        let both = || Some((self.locate(one).ok()?, self.locate(other).ok()?));
        one == other || both().is_some_and(|(one, other)| is_same(one, other))
    }

    /// The credential for a URL. If several match, the one with the longest prefix. None if none is configured.
    pub(crate) fn credential(&self, url: &str) -> Option<&ScopedToken> {
        let parts = Parts::parse(url).ok()?;
        let matching = self.credentials.iter().filter_map(|credential| {
            let prefix = Parts::parse_prefix(&credential.prefix).ok()?;
            let is_http = matches!(prefix.scheme, Scheme::Https | Scheme::Http);
            (is_http && parts.is_at_or_below(&prefix)).then_some((prefix.path.len(), credential))
        });
        matching.max_by_key(|(length, _)| *length).map(|(_, credential)| credential)
    }
}

/// Applies the rewrite rule with the longest matching `from`.
pub fn rewrite(rules: &[Rewrite], url: &str) -> String {
    match rule_for(rules, url) {
        Some((rule, rest)) => format!("{}{rest}", rule.to),
        None => url.to_owned(),
    }
}

/// Identifies a repository by host and path, after rewriting. The notation of the URL does not matter.
pub fn repository_key(rules: &[Rewrite], url: &str) -> String {
    let real = rewrite(rules, url);
    let key = crate::url::host_and_path(&real).unwrap_or(real);
    key.trim_start_matches("./").to_owned()
}

/// The rule with the longest matching `from`, and the rest of the URL after it.
pub(crate) fn rule_for<'r, 'u>(rules: &'r [Rewrite], url: &'u str) -> Option<(&'r Rewrite, &'u str)> {
    let matching = rules.iter().filter(|rule| !rule.from.is_empty());
    let matching = matching.filter_map(|rule| Some((rule, url.strip_prefix(&rule.from)?)));
    matching.max_by_key(|(rule, _)| rule.from.len())
}

/// The paths that git tries for the path of a repository.
pub(crate) fn candidates(path: &Path) -> [PathBuf; 2] {
    let mut with_suffix = path.as_os_str().to_owned();
    with_suffix.push(".git");
    [path.to_owned(), with_suffix.into()]
}

/// Fuzz target: rewrites a URL with any rule. The result must be refused, or must be neither a transport helper nor an option of git.
#[cfg(feature = "fuzz")]
pub fn fuzz_rewrite(from: &str, url: &str) {
    let Ok(url) = RepositoryUrl::from_object(url) else { return };
    let rule = Rewrite { from: from.to_owned(), to: "https://mirror.example/".to_owned() };
    let rewritten = rewrite(&[rule], url.as_str());
    if let Ok(parts) = Parts::parse(&rewritten) {
        assert!(!parts.url().as_str().starts_with('-'), "{rewritten:?}");
    }
}

#[cfg(test)]
mod tests {
    use model::secret::Secret;
    use proptest::prelude::*;

    use super::*;

    fn settings(rules: &[(&str, &str)], prefixes: &[&str]) -> Settings {
        let rule = |(from, to): &(&str, &str)| Rewrite { from: (*from).to_owned(), to: (*to).to_owned() };
        let credential =
            |prefix: &&str| ScopedToken { prefix: (*prefix).to_owned(), token: Secret::new(prefix).into() };
        Settings {
            rewrite: rules.iter().map(rule).collect(),
            credentials: prefixes.iter().map(credential).collect(),
            ..Settings::new("")
        }
    }

    fn check_location(rules: &[(&str, &str)], url: &str, expected: &str) {
        let location = settings(rules, &[]).locate(&RepositoryUrl::from_configuration(url).unwrap());
        let text = match location.unwrap() {
            Location::Local(path) => path.display().to_string(),
            Location::Remote { url, .. } => url,
        };
        assert_eq!(text, expected);
    }

    fn check_token(prefixes: &[&str], url: &str, expected: Option<&str>) {
        let settings = settings(&[], prefixes);
        let found = settings.credential(url).map(|found| found.token.current().reveal().to_owned());
        assert_eq!(found.as_deref(), expected, "{url}");
    }

    #[test]
    fn one_repository_may_have_several_urls() {
        let check = |one: &str, other: &str| {
            let url = |text| RepositoryUrl::from_configuration(text).unwrap();
            settings(&[("https://a.example/", "/srv/")], &[]).is_same_repository(&url(one), &url(other))
        };
        assert!(check("https://a.example/app", "/srv/app"));
        assert!(check("https://b.example/app.git", "git@b.example:app"));
        assert!(!check("https://b.example/app", "https://b.example/other"));
        assert!(!check("https://b.example/app", "/srv/app"));
    }

    #[test]
    fn the_longest_rewrite_counts() {
        let rules = [("https://a.example/", "/srv/"), ("https://a.example/x/", "http://127.0.0.1:1/"), ("", "/never")];
        check_location(&rules, "https://a.example/app", "/srv/app");
        check_location(&rules, "https://a.example/x/app", "http://127.0.0.1:1/app");
        check_location(&rules, "https://b.example/app", "https://b.example/app");
        check_location(&rules, "file:///srv/app", "/srv/app");
    }

    #[test]
    fn rewrites_to_transport_helpers_are_refused() {
        let settings = settings(&[("https://a.example/", "ext::sh ")], &[]);
        assert!(settings.locate(&RepositoryUrl::from_object("https://a.example/app").unwrap()).is_err());
    }

    #[test]
    fn a_token_goes_only_where_its_prefix_matches() {
        let prefix = "https://git.example/acme";
        for url in ["https://git.example/acme/app", "https://GIT.example:443/acme/app.git", "https://git.example/acme"]
        {
            check_token(&[prefix], url, Some(prefix));
        }
        for url in [
            "https://git.example/acme-evil/app",
            "https://git.example.evil.example/acme/app",
            "https://git.example:8443/acme/app",
            "http://git.example/acme/app",
            "ssh://git.example/acme/app",
            "https://evil.example/https://git.example/acme/app",
            "https://git.example/Acme/app",
        ] {
            check_token(&[prefix], url, None);
        }
    }

    #[test]
    fn the_longest_prefix_counts() {
        let prefixes = ["https://git.example", "https://git.example/acme/"];
        check_token(&prefixes, "https://git.example/acme/app", Some(prefixes[1]));
        check_token(&prefixes, "https://git.example/other/app", Some(prefixes[0]));
        check_token(
            &["https://git.example/acme/app"],
            "https://git.example/acme/app.git",
            Some("https://git.example/acme/app"),
        );
    }

    #[test]
    fn variables_that_change_git_are_not_passed_on() {
        for name in ["PATH", "HOME", "https_proxy", "SSH_AUTH_SOCK", "GIT_SSL_CAINFO", "GIT_SSH_VARIANT", "ACME_TOKEN"]
        {
            assert!(is_kept_variable(name), "{name}");
        }
        for name in [
            "GIT_DIR",
            "GIT_CONFIG_COUNT",
            "GIT_CONFIG_PARAMETERS",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES",
            "GIT_ALLOW_PROTOCOL",
            "GIT_PROXY_COMMAND",
            "GIT_ASKPASS",
            "GIT_EXTERNAL_DIFF",
            "SSH_ASKPASS",
            "KALYPSO_CACHE_KEY",
        ] {
            assert!(!is_kept_variable(name), "{name}");
        }
    }

    #[test]
    fn a_token_is_not_shown() {
        assert_eq!(format!("{:?}", HttpToken::new("secret\n")), "HttpToken(…)");
        assert_eq!(HttpToken::new("secret\n").reveal(), "secret");
    }

    proptest! {
        #[test]
        fn without_a_matching_rule_a_url_stays_as_it_is(url in "[a-c:/]{0,12}", from in "[x-z]{1,4}") {
            prop_assert_eq!(rewrite(&[Rewrite { from, to: "t".to_owned() }], &url), url);
        }

        #[test]
        fn the_order_of_rules_does_not_matter(url in "[ab]{0,6}", one in "[ab]{1,2}", two in "[ab]{3,4}") {
            let rule = |from: &str| Rewrite { from: from.to_owned(), to: format!("<{from}>") };
            prop_assert_eq!(rewrite(&[rule(&one), rule(&two)], &url), rewrite(&[rule(&two), rule(&one)], &url));
        }
    }
}
