//! Endpoints: the text form of a folder in a branch of a repository.

use std::fmt;

use crate::limits::ENDPOINT_CHARACTERS_MAX;

/// A folder that reconcilers apply, as `repository/branch/path`, as in the columns `manifests_endpoint`.
///
/// The same folder always has the same text. A trailing `.git` or slash of the repository, `./` before a path, and user names and tokens in URLs are removed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    repository: String,
    branch: String,
    path: String,
}

/// The reason why an endpoint is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// A part is missing.
    #[error("the {0} is missing")]
    Missing(&'static str),
    /// A part has control characters, or is too long.
    #[error("the {0} has control characters, or more than {ENDPOINT_CHARACTERS_MAX} characters")]
    Text(&'static str),
    /// The path leads out of the repository.
    #[error("the path `{0}` leaves its repository")]
    Path(String),
}

impl Endpoint {
    /// The endpoint of the folder `path` of a branch. An empty path is the root.
    ///
    /// # Errors
    /// If a part is empty, too long, or has control characters, or if the path contains `..`.
    pub fn new(repository: &str, branch: &str, path: &str) -> Result<Self, EndpointError> {
        for (name, text) in [("repository", repository), ("branch", branch), ("path", path)] {
            if text.chars().any(char::is_control) || text.chars().count() > ENDPOINT_CHARACTERS_MAX {
                return Err(EndpointError::Text(name));
            }
        }
        let (repository, branch) = (self::repository(repository), branch.trim());
        for (name, text) in [("repository", repository.as_str()), ("branch", branch)] {
            if text.is_empty() {
                return Err(EndpointError::Missing(name));
            }
        }
        let folder = folder(path);
        if folder.split('/').any(|segment| segment == "..") {
            return Err(EndpointError::Path(path.to_owned()));
        }
        Ok(Self { repository, branch: branch.to_owned(), path: folder })
    }

    /// The repository's URL.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// The branch.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// The folder, without leading and trailing slashes. Empty for the root.
    pub fn path(&self) -> &str {
        &self.path
    }
}

/// Normalizes the URL of a repository, as in endpoints.
pub fn repository(url: &str) -> String {
    let mut url = url.to_owned();
    loop {
        let normal = with_lower_case_host(without_ending(&url));
        // After one removal, the rest may end with another part to remove.
        if normal == url {
            return url;
        }
        url = normal;
    }
}

/// Normalizes a path: removes surrounding blanks, and superfluous slashes and dots.
fn folder(path: &str) -> String {
    let mut path = path.to_owned();
    loop {
        let segments: Vec<_> = path.trim().split('/').filter(|segment| !matches!(*segment, "" | ".")).collect();
        let shorter = segments.join("/");
        if shorter == path {
            return path;
        }
        path = shorter;
    }
}

/// Removes surrounding blanks of a URL, and all `/` and `.git` at its end.
fn without_ending(url: &str) -> &str {
    let mut url = url;
    loop {
        let shorter = url.trim().trim_end_matches('/');
        let shorter = shorter.strip_suffix(".git").unwrap_or(shorter);
        if shorter.len() == url.len() {
            return url;
        }
        url = shorter;
    }
}

fn with_lower_case_host(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_ascii_lowercase();
            let separator = if path.is_empty() { "" } else { "/" };
            format!("{}://{host}{separator}{path}", scheme.to_ascii_lowercase())
        }
        None => url.to_owned(),
    }
}

/// Normalizes the text of an endpoint, as far as the end of its repository can be found. The text may contain the wildcard `%`.
pub fn usual(text: &str) -> String {
    let (start, rest) = match text.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_ascii_lowercase();
            (format!("{}://{host}/", scheme.to_ascii_lowercase()), path)
        }
        None => (if text.starts_with('/') { "/".to_owned() } else { String::new() }, text),
    };
    let mut segments: Vec<_> = rest.split('/').filter(|segment| !matches!(*segment, "" | ".")).collect();
    // The first part with a removable ending is the end of the repository.
    if let Some((repository, name)) =
        segments.iter_mut().find_map(|segment| Some((segment.strip_suffix(".git")?, segment)))
    {
        *name = repository;
    }
    format!("{start}{}", segments.join("/"))
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.repository, self.branch)?;
        if self.path.is_empty() { Ok(()) } else { write!(formatter, "/{}", self.path) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(repository: &str, path: &str) -> String {
        Endpoint::new(repository, "prod", path).map_or_else(|error| error.to_string(), |endpoint| endpoint.to_string())
    }

    #[test]
    fn the_same_folder_gives_the_same_text() {
        for repository in
            ["https://git.example/a/b", "https://me:token@GIT.example/a/b.git/", " HTTPS://git.example/a/b "]
        {
            for path in ["./chicago/checkout", "chicago//checkout/", "/chicago/./checkout"] {
                assert_eq!(check(repository, path), "https://git.example/a/b/prod/chicago/checkout");
            }
        }
        assert_eq!(check("https://git.example/a", "."), "https://git.example/a/prod");
    }

    #[test]
    fn a_repository_stays_as_it_is() {
        for url in ["s://a@:/", "h/a\n.git\n", "https://h/a.git.git", "/x/.git", "s://"] {
            assert_eq!(repository(&repository(url)), repository(url), "{url:?}");
        }
        assert_eq!(repository(&format!("a{}", ".git\n/".repeat(100_000))), "a");
    }

    #[test]
    fn a_path_stays_as_it_is() {
        for path in [" / a ", "./ / b/ ", " . /c", "/ ./. d"] {
            let once = Endpoint::new("h", "main", path).unwrap();
            assert_eq!(Endpoint::new("h", "main", once.path()), Ok(once.clone()), "{path:?}");
        }
        assert_eq!(check("h", " / / ../a"), "the path ` / / ../a` leaves its repository");
    }

    #[test]
    fn a_text_is_brought_into_the_form_of_endpoints() {
        for text in [
            "https://git.example/a/b/prod/x",
            "HTTPS://me:token@GIT.example/a/b.git/prod/./x/",
            "https://git.example/a/b.git//prod/x",
        ] {
            assert_eq!(usual(text), "https://git.example/a/b/prod/x");
        }
        assert_eq!(usual("git@git.example:a/b.git/prod/x"), "git@git.example:a/b/prod/x");
        assert_eq!(usual("/srv/a.git/prod/x%"), "/srv/a/prod/x%");
        assert_eq!(usual("https://git.example/a/b.git/prod/%"), "https://git.example/a/b/prod/%");
    }

    #[test]
    fn invalid_endpoints_are_refused() {
        assert_eq!(check(" ", "x"), "the repository is missing");
        assert_eq!(check("https://git.example/a", "a/../../b"), "the path `a/../../b` leaves its repository");
        assert!(check("https://git.example/a", "a\nb").starts_with("the path has control characters"));
        assert!(check(&"a".repeat(3000), "").starts_with("the repository has control"));
    }
}
