//! Links to files at the git host.

use hub_api::compiled::SourcePosition;

use crate::address::encoded;
use crate::text::visible;

/// A position in a file, with the address of its page at the git host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceLink {
    /// `control-plane@prod:configs/west.yaml:9`.
    pub(crate) text: String,
    /// The page of the line. None: the git host is not known, or the file is in no commit.
    pub(crate) to: Option<String>,
}

/// A file at a commit of a repository.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceFile<'a> {
    pub(crate) repository: &'a str,
    pub(crate) commit: &'a str,
    pub(crate) path: &'a str,
    /// From 1. 0: the whole file.
    pub(crate) line: usize,
}

impl SourceLink {
    /// The link of a position.
    pub(crate) fn new(position: &SourcePosition) -> Self {
        let SourcePosition { repository, revision, commit, path, line, .. } = position;
        let name = repository.rsplit(['/', ':']).next().unwrap_or_default().trim_end_matches(".git");
        let line_text = if *line == 0 { String::new() } else { format!(":{line}") };
        let text = if repository.is_empty() {
            format!("{path}{line_text}")
        } else {
            format!("{name}@{revision}:{path}{line_text}")
        };
        let to = commit.as_deref().and_then(|commit| file_url(SourceFile { repository, commit, path, line: *line }));
        Self { text: visible(&text), to }
    }
}

/// The address of a file at its git host, by the name of the host as `git_host::HostKind` knows it. None: the host is not known.
pub(crate) fn file_url(file: SourceFile<'_>) -> Option<String> {
    let SourceFile { repository, commit, path, line } = file;
    if commit.is_empty() || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let (scheme, host, repository) = parts(repository)?;
    let name = host.split(':').next().unwrap_or_default();
    let is_at = |domain: &str| name == domain || name.ends_with(&format!(".{domain}"));
    let is_named = |word: &str| name.starts_with(&format!("{word}."));
    let path = path.split('/').map(encoded).collect::<Vec<_>>().join("/");
    let mark = |prefix: &str| if line == 0 { String::new() } else { format!("{prefix}{line}") };
    let base = format!("{scheme}://{host}/{repository}");
    if is_at("github.com") || is_at("ghe.com") || is_named("github") {
        Some(format!("{base}/blob/{commit}/{path}{}", mark("#L")))
    } else if is_at("gitlab.com") || is_named("gitlab") {
        Some(format!("{base}/-/blob/{commit}/{path}{}", mark("#L")))
    } else if is_at("codeberg.org") || is_at("gitea.com") || is_named("gitea") || is_named("forgejo") {
        Some(format!("{base}/src/commit/{commit}/{path}{}", mark("#L")))
    } else if is_at("dev.azure.com") || is_at("visualstudio.com") {
        let base = azure(&host, &repository).unwrap_or(base);
        let end = if line == 0 { String::new() } else { format!("&line={line}&lineEnd={}", line + 1) };
        let columns = if line == 0 { "" } else { "&lineStartColumn=1&lineEndColumn=1" };
        Some(format!("{base}?path=/{path}&version=GC{commit}{end}{columns}"))
    } else {
        None
    }
}

/// The scheme, the host and the path of a repository's URL, without a user and without `.git`.
fn parts(url: &str) -> Option<(&'static str, String, String)> {
    let (scheme, rest) = match url.split_once("://") {
        Some(("https", rest)) => ("https", rest),
        Some(("http", rest)) => ("http", rest),
        Some(("ssh", rest)) => ("ssh", rest),
        Some(_) => return None,
        None => ("scp", url),
    };
    let (host, path) = if scheme == "scp" { rest.split_once(':')? } else { rest.split_once('/')? };
    let host = host.rsplit('@').next()?.to_lowercase();
    // The port of ssh is not the port of the pages.
    let host = if scheme == "ssh" { host.split(':').next()?.to_owned() } else { host };
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b".-:".contains(&byte);
    if host.is_empty() || !host.bytes().all(is_host) {
        return None;
    }
    let decoded = |segment: &str| percent_encoding::percent_decode_str(segment).decode_utf8_lossy().into_owned();
    let path = path.trim_matches('/').trim_end_matches(".git");
    let path = path.split('/').map(|segment| encoded(&decoded(segment))).collect::<Vec<_>>().join("/");
    Some((if scheme == "http" { "http" } else { "https" }, host, path))
}

/// The page of a repository of Azure DevOps whose URL is one for ssh: `ssh.dev.azure.com/v3/ORGANIZATION/PROJECT/REPOSITORY`.
fn azure(host: &str, repository: &str) -> Option<String> {
    let mut segments = repository.strip_prefix("v3/")?.split('/');
    let (organization, project, name) = (segments.next()?, segments.next()?, segments.next()?);
    host.starts_with("ssh.").then(|| format!("https://dev.azure.com/{organization}/{project}/_git/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(repository: &str, expected: Option<&str>) {
        let found = file_url(SourceFile { repository, commit: "c0ffee", path: "configs/a b.yaml", line: 9 });
        assert_eq!(found.as_deref(), expected, "{repository}");
    }

    #[test]
    fn each_git_host_has_its_form() {
        let github = Some("https://github.com/acme/control-plane/blob/c0ffee/configs/a%20b.yaml#L9");
        check("https://github.com/acme/control-plane", github);
        check("https://me:secret@github.com/acme/control-plane.git", github);
        check("git@github.com:acme/control-plane.git", github);
        check("ssh://git@github.com:22/acme/control-plane", github);
        check(
            "https://gitlab.acme.example/a/b/c",
            Some("https://gitlab.acme.example/a/b/c/-/blob/c0ffee/configs/a%20b.yaml#L9"),
        );
        check(
            "http://gitea.local:3000/a/b",
            Some("http://gitea.local:3000/a/b/src/commit/c0ffee/configs/a%20b.yaml#L9"),
        );
        let azure = "https://dev.azure.com/acme/My%20fleet/_git/gitops?path=/configs/a%20b.yaml&version=GCc0ffee\
             &line=9&lineEnd=10&lineStartColumn=1&lineEndColumn=1";
        check("https://acme@dev.azure.com/acme/My%20fleet/_git/gitops", Some(azure));
        check("git@ssh.dev.azure.com:v3/acme/My%20fleet/gitops", Some(azure));
    }

    #[test]
    fn other_repositories_have_no_link() {
        for repository in [
            "",
            "/srv/git/a",
            "https://git.example/acme/a",
            "javascript://github.com/%0aalert(1)",
            "https://github.com\"><script>/a",
        ] {
            check(repository, None);
        }
        let hostile = SourceFile { repository: "https://github.com/a/b", commit: "x\"y", path: "a", line: 1 };
        assert_eq!(file_url(hostile), None);
    }

    #[test]
    fn a_position_names_its_repository_and_line() {
        let position = |repository: &str, line| SourcePosition {
            repository: repository.to_owned(),
            revision: "prod".to_owned(),
            commit: None,
            path: "a\u{202e}.yaml".to_owned(),
            line,
            column: 1,
        };
        let text = |repository, line| SourceLink::new(&position(repository, line)).text;
        assert_eq!(text("https://git.example/acme/control-plane.git", 9), "control-plane@prod:a\\u{202e}.yaml:9");
        assert_eq!(text("", 0), "a\\u{202e}.yaml");
    }
}
