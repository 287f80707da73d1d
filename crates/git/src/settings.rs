//! What the person who runs Kalypso says about repositories: mirrors, credentials, the cache.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::key::Key;
use crate::limits::TRANSFER_BYTES_MAX;
use crate::url::{Parts, RepositoryUrl, Scheme, UrlError};

/// How long one run of git may last. A first fetch of a large repository over a slow line takes minutes.
const TIME_LIMIT: Duration = Duration::from_mins(10);

/// What the person who runs Kalypso says about repositories.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder for copies of remote repositories. It may be removed at any time. Nothing is read there unless [`crate::trust`] allows it.
    pub cache: PathBuf,
    /// What signs that a branch was at a commit. Without it, nothing in the cache says where a branch was.
    pub key: Option<Key>,
    /// The folder that relative local paths start from.
    pub base: PathBuf,
    /// Where repositories really are.
    pub rewrite: Vec<Rewrite>,
    /// Who gets which credential.
    pub credentials: Vec<Credential>,
    /// The git program.
    pub program: PathBuf,
    /// How ssh is started, if not as git's own configuration says.
    pub ssh_command: Option<String>,
    /// Variables of this program's environment that git does not get: all that [`is_kept_variable`] does not name.
    pub withheld: Vec<OsString>,
    /// How long one run of git may last.
    pub time_limit: Duration,
    /// How many bytes one transfer from a repository may take on disk.
    pub transfer_bytes_max: u64,
}

/// URLs that begin with `from` are read as if they began with `to`, like git's `insteadOf`. The longest `from` counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// What URLs begin with, as objects write them.
    pub from: String,
    /// What they begin with instead: a URL, also `http://` and `file://`, or a local path.
    pub to: String,
}

/// A token and the only URLs that it is for.
#[derive(Clone, Debug)]
pub struct Credential {
    /// The token goes to the URLs at and below this one: whole path segments of the same scheme, host and port.
    /// It is compared with where a request really goes, after rewriting.
    pub prefix: String,
    /// The token.
    pub token: Token,
}

/// Variables of git's that say how repositories are reached: with which ssh, proxy and certificates. Its programs are where the person has put git.
const KEPT_VARIABLES: &[&str] =
    &["GIT_EXEC_PATH", "GIT_HTTP_PROXY_AUTHMETHOD", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT"];

/// The same by what their names begin with.
const KEPT_PREFIXES: &[&str] = &["GIT_PROXY_SSL_", "GIT_SSL_"];

/// Secrets that are for Kalypso alone.
const OWN_SECRETS: &[&str] = &["KALYPSO_CACHE_KEY", "KALYPSO_DATABASE_URL", "KALYPSO_HUB_TOKEN"];

/// Whether git may see a variable of the environment. Of its own ones, few: the others lead it to other repositories, objects and settings. What git
/// starts, such as ssh and credential helpers, sees the same.
pub fn is_kept_variable(name: &str) -> bool {
    let is_gits = name.starts_with("GIT_") || name == "SSH_ASKPASS" || OWN_SECRETS.contains(&name);
    !is_gits || KEPT_VARIABLES.contains(&name) || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// A secret that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A token, without the line break that files and variables often end with: no token holds blanks or control characters.
    pub fn new(text: &str) -> Self {
        Self(text.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Where a repository really is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// On this machine: read in place.
    Local(PathBuf),
    /// Elsewhere: read through a copy in the cache.
    Remote {
        /// The URL that git is given.
        url: String,
        /// What it speaks.
        scheme: Scheme,
    },
}

impl Settings {
    /// Nothing is rewritten, and nobody gets a credential.
    pub fn new(cache: impl Into<PathBuf>) -> Self {
        Self {
            cache: cache.into(),
            key: None,
            base: PathBuf::new(),
            rewrite: Vec::new(),
            credentials: Vec::new(),
            program: "git".into(),
            ssh_command: None,
            withheld: Vec::new(),
            time_limit: TIME_LIMIT,
            transfer_bytes_max: TRANSFER_BYTES_MAX,
        }
    }

    /// Where a repository really is.
    pub(crate) fn locate(&self, url: &RepositoryUrl) -> Result<Location, UrlError> {
        let text = rewrite(&self.rewrite, url.as_str());
        let parts = Parts::parse(&text)?;
        Ok(match parts.scheme {
            Scheme::Local => Location::Local(self.base.join(parts.path)),
            scheme => Location::Remote { scheme, url: text },
        })
    }

    /// The credential for a URL, if one is configured: that with the longest prefix.
    pub(crate) fn credential(&self, url: &str) -> Option<&Credential> {
        let parts = Parts::parse(url).ok()?;
        let matching = self.credentials.iter().filter_map(|credential| {
            let prefix = Parts::parse_prefix(&credential.prefix).ok()?;
            let is_http = matches!(prefix.scheme, Scheme::Https | Scheme::Http);
            (is_http && parts.is_at_or_below(&prefix)).then_some((prefix.path.len(), credential))
        });
        matching.max_by_key(|(length, _)| *length).map(|(_, credential)| credential)
    }
}

/// Applies the rule with the longest matching `from`.
pub(crate) fn rewrite(rules: &[Rewrite], url: &str) -> String {
    match rule_for(rules, url) {
        Some((rule, rest)) => format!("{}{rest}", rule.to),
        None => url.to_owned(),
    }
}

/// The rule with the longest matching `from`, and what follows that.
pub(crate) fn rule_for<'r, 'u>(rules: &'r [Rewrite], url: &'u str) -> Option<(&'r Rewrite, &'u str)> {
    let matching = rules.iter().filter(|rule| !rule.from.is_empty());
    let matching = matching.filter_map(|rule| Some((rule, url.strip_prefix(&rule.from)?)));
    matching.max_by_key(|(rule, _)| rule.from.len())
}

/// The places where git looks for the repository that a path names.
pub(crate) fn candidates(path: &Path) -> [PathBuf; 2] {
    let mut with_suffix = path.as_os_str().to_owned();
    with_suffix.push(".git");
    [path.to_owned(), with_suffix.into()]
}

/// Rewrites a URL by a rule from outside: what comes of it is refused, or is no transport helper and no option of git's.
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
    use proptest::prelude::*;

    use super::*;

    fn settings(rules: &[(&str, &str)], prefixes: &[&str]) -> Settings {
        let rule = |(from, to): &(&str, &str)| Rewrite { from: (*from).to_owned(), to: (*to).to_owned() };
        let credential = |prefix: &&str| Credential { prefix: (*prefix).to_owned(), token: Token::new(prefix) };
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
        assert_eq!(settings(&[], prefixes).credential(url).map(|found| found.token.reveal()), expected, "{url}");
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
    fn a_rewrite_never_makes_a_transport_helper() {
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
    fn git_sees_how_repositories_are_reached_and_nothing_else() {
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
        assert_eq!(format!("{:?}", Token::new("secret\n")), "Token(…)");
        assert_eq!(Token::new("secret\n").reveal(), "secret");
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
