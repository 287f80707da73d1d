//! Repositories on a git host, parsed from their URLs.

use std::fmt;
use std::ops::Range;

use crate::kind::HostKind;
use crate::limits::URL_BYTES_MAX;

/// A repository on a git host: the path by which the host's API names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostRepository {
    path: Vec<String>,
}

/// The URL is not that of a repository.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{url}` is no repository of {}: {reason}", .kind.title())]
pub struct RepositoryUrlError {
    /// The URL, without a credential.
    url: String,
    kind: HostKind,
    /// The part of the given text that is wrong, in bytes.
    pub range: Range<usize>,
    /// The reason.
    pub reason: RepositoryUrlReason,
}

/// The reason why a URL is not that of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RepositoryUrlReason {
    /// It is longer than the limit.
    #[error("it is longer than {URL_BYTES_MAX} bytes")]
    TooLong,
    /// It is not a URL with a host.
    #[error("it is no URL with a host, such as https://git.example/acme/gitops")]
    NoHost,
    /// It contains a password or token.
    #[error("it contains a password or token; use an environment variable or a file")]
    Credential,
    /// It has a query or a fragment.
    #[error("it has a query or a fragment")]
    Query,
    /// It is on another host, or not below the address of the host.
    #[error("it is not below the configured address of the host")]
    OtherHost,
    /// A part of the path is empty, `.` or `..`, or contains a control character.
    #[error("a part of its path is empty, `.` or `..`, or has a forbidden character")]
    Segment,
    /// The path has not the parts that the kind requires.
    #[error("its path is not {0}")]
    Path(&'static str),
}

/// A part of the path, with its position in the URL.
#[derive(Clone, Copy)]
struct Segment<'a> {
    text: &'a str,
    at: usize,
}

/// The parts of a URL.
struct Parts<'a> {
    /// The host with its port, in lower case.
    host: String,
    /// Where the host is in the URL, in bytes.
    host_range: Range<usize>,
    segments: Vec<Segment<'a>>,
    is_ssh: bool,
}

impl HostRepository {
    /// Parses the URL of a repository: `https://…`, `ssh://…` or `user@host:path`.
    ///
    /// `root` is the address of the host's pages. An HTTP URL must be below it. The host of an ssh URL is not compared, because it is often another one.
    ///
    /// # Errors
    /// If the URL is not that of a repository of this kind of host, or contains a credential.
    pub fn parse(kind: HostKind, url: &str, root: &str) -> Result<Self, RepositoryUrlError> {
        let error = |(range, reason): (Range<usize>, RepositoryUrlReason)| RepositoryUrlError {
            url: model::credential::without_in_url(url).into_owned(),
            kind,
            range,
            reason,
        };
        let mut parts = Parts::parse(url).map_err(error)?;
        if !parts.is_ssh {
            parts.remove_root(root, kind).map_err(error)?;
        }
        let names = parts.names().map_err(error)?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let path = path_of(kind, &parts.host, &names).map_err(|expected| {
            let from = parts.segments.first().map_or(url.len(), |segment| segment.at);
            error((from..url.len(), RepositoryUrlReason::Path(expected)))
        })?;
        Ok(Self { path })
    }

    /// The repository with a URL on the host at `root`, over any protocol and port. `usual` is the usual address of the host of the URL.
    pub(crate) fn at(kind: HostKind, url: &str, root: &str, usual: Option<&str>) -> Option<Self> {
        let mut parts = Parts::parse(url).ok()?;
        let root = format!("{root}/");
        let root_parts = Parts::parse(&root).ok()?;
        let is_usual = || usual.and_then(Location::name).is_some_and(|name| name == root_parts.name());
        if parts.name() != root_parts.name() && !is_usual() {
            return None;
        }
        if !parts.is_ssh {
            let is_equal = |(one, other): (&Segment<'_>, &Segment<'_>)| one.text.eq_ignore_ascii_case(other.text);
            let is_below = root_parts.segments.iter().zip(&parts.segments).all(is_equal);
            if !is_below || root_parts.segments.len() > parts.segments.len() {
                return None;
            }
            parts.segments.drain(..root_parts.segments.len());
        }
        parts.repository(kind)
    }

    /// The repository with a URL, if the path of the URL contains nothing else.
    pub(crate) fn without_root(kind: HostKind, url: &str) -> Option<Self> {
        Parts::parse(url).ok()?.repository(kind)
    }

    /// The repository with a path as in the answers of an API, such as `acme/fleet`. None if a part is empty.
    pub(crate) fn from_full_name(path: &str) -> Option<Self> {
        let parts: Vec<_> = path.split('/').collect();
        (parts.len() > 1 && parts.iter().all(|part| !part.is_empty())).then(|| Self::from_path(&parts))
    }

    /// The same repository in lower case. No host tells names apart by case.
    pub(crate) fn folded(&self) -> Self {
        Self { path: self.path.iter().map(|part| part.to_lowercase()).collect() }
    }

    /// A repository from the parts of its path: owner and name, groups and name, or organization, project and name.
    pub fn from_path(path: &[&str]) -> Self {
        Self { path: path.iter().map(|&part| part.to_owned()).collect() }
    }

    /// The parts of the path.
    pub fn path(&self) -> &[String] {
        &self.path
    }

    /// All parts but the last: the owner, the groups, or organization and project.
    pub fn owner(&self) -> String {
        self.path.split_last().map_or_else(String::new, |(_, owner)| owner.join("/"))
    }

    /// The last part: the name.
    pub fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }
}

/// The host name and the path of a URL in lower case, without protocol, user, port and ending.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Location {
    host: String,
    path: Vec<String>,
}

impl Location {
    /// The location of a repository. None if the text is not a URL.
    pub(crate) fn parse(url: &str) -> Option<Self> {
        let parts = Parts::parse(url).ok()?;
        let mut path: Vec<_> = parts.names().ok()?.iter().map(|name| name.to_lowercase()).collect();
        let last = path.last_mut()?;
        *last = last.strip_suffix(".git").unwrap_or(last).to_owned();
        Some(Self { host: parts.name().to_owned(), path })
    }

    /// The host name in an address.
    pub(crate) fn name(root: &str) -> Option<String> {
        Some(Parts::parse(&format!("{root}/")).ok()?.name().to_owned())
    }

    /// The host name in lower case.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }
}

/// Whether a URL is one of ssh.
pub(crate) fn is_ssh(url: &str) -> bool {
    Parts::parse(url).is_ok_and(|parts| parts.is_ssh)
}

impl fmt::Display for HostRepository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.path.join("/"))
    }
}

type Located = (Range<usize>, RepositoryUrlReason);

impl<'a> Parts<'a> {
    fn parse(url: &'a str) -> Result<Self, Located> {
        let whole = || 0..url.len();
        if url.len() > URL_BYTES_MAX {
            return Err((whole(), RepositoryUrlReason::TooLong));
        }
        if let Some(at) = url.find(['?', '#']) {
            return Err((at..url.len(), RepositoryUrlReason::Query));
        }
        let (scheme, start) = url.split_once("://").map_or(("", 0), |(scheme, _)| (scheme, scheme.len() + 3));
        let is_ssh = matches!(scheme, "" | "ssh" | "git+ssh" | "ssh+git");
        if !is_ssh && !matches!(scheme, "http" | "https") {
            return Err((whole(), RepositoryUrlReason::NoHost));
        }
        let rest = url.get(start..).unwrap_or_default();
        // `user@host:path` has no scheme.
        let end = rest.find(if scheme.is_empty() { ':' } else { '/' }).ok_or((whole(), RepositoryUrlReason::NoHost))?;
        let (authority, path) = (rest.get(..end).unwrap_or_default(), rest.get(end + 1..).unwrap_or_default());
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        if user.contains(':') {
            return Err((start..start + user.len(), RepositoryUrlReason::Credential));
        }
        let host_range = start + end - host.len()..start + end;
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '[' | ']' | ':');
        let has_user = !scheme.is_empty() || !user.is_empty();
        if host.is_empty() || !host.chars().all(is_allowed) || !has_user {
            return Err((start..start + end, RepositoryUrlReason::NoHost));
        }
        Ok(Self { host: host.to_ascii_lowercase(), host_range, segments: segments(path, start + end + 1), is_ssh })
    }

    /// The name of the host, without the port.
    fn name(&self) -> &str {
        match self.host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
            _ => &self.host,
        }
    }

    /// The repository with the path of the URL.
    fn repository(&self, kind: HostKind) -> Option<HostRepository> {
        let names = self.names().ok()?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        path_of(kind, self.name(), &names).ok().map(|path| HostRepository { path })
    }

    /// Removes the path of the host's address from the path.
    fn remove_root(&mut self, root: &str, kind: HostKind) -> Result<(), Located> {
        let range = self.host_range.clone();
        let other = || (range.clone(), RepositoryUrlReason::OtherHost);
        let root = format!("{root}/");
        let root = Parts::parse(&root).map_err(|_| other())?;
        // The organization is a part of this old host name.
        let is_old_azure = kind == HostKind::AzureDevOps && self.host.ends_with(".visualstudio.com");
        if root.host != self.host && !(is_old_azure && root.host == "dev.azure.com") {
            return Err(other());
        }
        let is_below = root.segments.iter().zip(&self.segments).all(|(one, other)| one.text == other.text);
        if root.segments.len() > self.segments.len() || !is_below {
            return Err(other());
        }
        self.segments.drain(..root.segments.len());
        Ok(())
    }

    /// The decoded parts of the path.
    fn names(&self) -> Result<Vec<String>, Located> {
        let name = |segment: &Segment<'_>| {
            let wrong = || (segment.at..segment.at + segment.text.len(), RepositoryUrlReason::Segment);
            let name = decoded(segment.text).ok_or_else(wrong)?;
            let is_forbidden = |c: char| c.is_control() || matches!(c, '/' | '\\');
            let is_wrong = name.trim().is_empty() || name == "." || name == ".." || name.contains(is_forbidden);
            if is_wrong { Err(wrong()) } else { Ok(name) }
        };
        self.segments.iter().map(name).collect()
    }
}

/// The parts of a path, without slashes at its begin and end.
fn segments(path: &str, start: usize) -> Vec<Segment<'_>> {
    let begin = path.len() - path.trim_start_matches('/').len();
    let path = path.trim_matches('/');
    let mut at = start + begin;
    let mut segments = Vec::new();
    for text in path.split('/').filter(|_| !path.is_empty()) {
        segments.push(Segment { text, at });
        at += text.len() + 1;
    }
    segments
}

/// The path of a repository in the API, or a description of the expected path.
fn path_of(kind: HostKind, host: &str, names: &[&str]) -> Result<Vec<String>, &'static str> {
    let owned = |names: &[&str]| -> Vec<String> { names.iter().map(|&name| name.to_owned()).collect() };
    if kind == HostKind::AzureDevOps {
        return azure_path(host, names).map(|names| owned(&names));
    }
    let (last, first) = names.split_last().ok_or("owner and name")?;
    let name = last.strip_suffix(".git").unwrap_or(last);
    let path = [first, &[name]].concat();
    match kind {
        _ if matches!(name, "" | "." | "..") => Err("owner and name"),
        HostKind::GitHub | HostKind::Gitea if path.len() != 2 => Err("OWNER/NAME"),
        HostKind::GitLab if path.len() < 2 => Err("GROUP/NAME, with any number of groups"),
        _ => Ok(owned(&path)),
    }
}

/// Organization, project and name. The forms of Azure DevOps differ by host.
fn azure_path<'n>(host: &'n str, names: &[&'n str]) -> Result<Vec<&'n str>, &'static str> {
    let expected = "ORGANIZATION/PROJECT/_git/NAME";
    if let ["v3", organization, project, name] = names {
        return Ok(vec![organization, project, name]);
    }
    let old = host.strip_suffix(".visualstudio.com").filter(|organization| !organization.is_empty());
    let names = match (old, names) {
        (Some(organization), ["DefaultCollection", rest @ ..] | rest) => [&[organization], rest].concat(),
        (None, names) => names.to_vec(),
    };
    match names.as_slice() {
        [organization, project, "_git", name] => Ok(vec![organization, project, name]),
        // The repository with the name of its project.
        [organization, "_git", name] => Ok(vec![organization, name, name]),
        _ => Err(expected),
    }
}

/// A text with its percent escapes decoded. None if that is not UTF-8, or an escape is incomplete.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        if *first == b'%' {
            let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok())?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = behind.get(2..)?;
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: HostKind, url: &str, root: &str) -> String {
        match HostRepository::parse(kind, url, root) {
            Ok(repository) => repository.to_string(),
            Err(error) => format!("{}: {}", &url[error.range.clone()], error.reason),
        }
    }

    #[test]
    fn owner_and_name() {
        let check = |url: &str| check(HostKind::GitHub, url, "https://github.com");
        for url in [
            "https://github.com/acme/gitops",
            "https://user@GitHub.com/acme/gitops.git/",
            "git@github.com:acme/gitops.git",
            "ssh://git@ssh.github.com:443/acme/gitops.git",
        ] {
            assert_eq!(check(url), "acme/gitops", "{url}");
        }
        assert_eq!(check("https://github.com/acme"), "acme: its path is not OWNER/NAME");
        assert_eq!(
            check("https://github.com/acme/gitops/tree/main"),
            "acme/gitops/tree/main: its path is not OWNER/NAME"
        );
        assert!(check("https://github.com/acme/..").starts_with("..: a part of its path"));
        assert!(check("https://github.com/acme/%2e%2e").starts_with("%2e%2e: a part of its path"));
        for name in [".git", "..git", "...git"] {
            assert!(
                check(&format!("https://github.com/acme/{name}")).ends_with("its path is not owner and name"),
                "{name}"
            );
        }
        assert!(
            check("https://github.com.evil.example/acme/gitops")
                .starts_with("github.com.evil.example: it is not below")
        );
    }

    #[test]
    fn the_wrong_host_is_located() {
        let check = |url| check(HostKind::GitHub, url, "https://github.com");
        assert!(check("https://me@git.example///acme/gitops").starts_with("git.example: it is not below"));
        assert!(check("https://git.example/").starts_with("git.example: it is not below"));
        assert!(
            check("https://g\u{202e}it.example/acme/gitops")
                .starts_with("g\u{202e}it.example: it is no URL with a host")
        );
    }

    #[test]
    fn groups_and_hosts_below_a_path() {
        let gitlab = |url| check(HostKind::GitLab, url, "https://git.example/gitlab/");
        assert_eq!(gitlab("https://git.example/gitlab/acme/team/gitops.git"), "acme/team/gitops");
        assert_eq!(gitlab("git@git.example:acme/team/gitops.git"), "acme/team/gitops");
        assert!(gitlab("https://git.example/acme/gitops").starts_with("git.example: it is not below"));
    }

    #[test]
    fn the_forms_of_azure_devops() {
        let check = |url| check(HostKind::AzureDevOps, url, "https://dev.azure.com");
        for url in [
            "https://acme@dev.azure.com/acme/My%20fleet/_git/gitops",
            "https://acme.visualstudio.com/My%20fleet/_git/gitops",
            "https://acme.visualstudio.com/DefaultCollection/My%20fleet/_git/gitops",
            "git@ssh.dev.azure.com:v3/acme/My%20fleet/gitops",
        ] {
            assert_eq!(check(url), "acme/My fleet/gitops", "{url}");
        }
        assert_eq!(check("https://dev.azure.com/acme/_git/fleet"), "acme/fleet/fleet");
        assert!(check("https://dev.azure.com/acme/fleet").ends_with("its path is not ORGANIZATION/PROJECT/_git/NAME"));
    }

    #[test]
    fn no_credential_is_accepted_or_shown() {
        let url = "https://me:s3cret@github.com/acme/gitops";
        let error = HostRepository::parse(HostKind::GitHub, url, "https://github.com").unwrap_err();
        assert_eq!(&url[error.range.clone()], "me:s3cret");
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
}
