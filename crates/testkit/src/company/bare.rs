//! Bare repositories in a folder, written by the git program.

#![expect(clippy::expect_used, reason = "repositories that git can't write are a broken test")]

use std::borrow::Cow;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use model::git_id::GitId;

use super::{BranchTexts, CompanyRepositories};
use crate::objects::HOST;

/// Runs git, which must succeed. Returns its output without white space at the end.
///
/// # Panics
/// Panics with the error of git if it fails.
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").current_dir(folder).args(arguments).output().expect("git is installed");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A file of a commit.
#[derive(Clone, Copy, Debug)]
pub struct CommittedFile<'f> {
    path: &'f str,
    /// The mode, as git writes it.
    mode: &'static str,
    content: &'f [u8],
}

impl<'f> CommittedFile<'f> {
    /// A file that is not executable.
    pub fn regular(path: &'f str, content: &'f [u8]) -> Self {
        Self { path, mode: "100644", content }
    }

    /// A symbolic link.
    pub fn link(path: &'f str, target: &'f str) -> Self {
        Self { path, mode: "120000", content: target.as_bytes() }
    }
}

/// The bare repositories `NAME.git` in a folder.
#[derive(Debug)]
pub struct BareRepositories {
    folder: PathBuf,
    /// The base of their URLs. Files that are committed name it where their text contains [`HOST`].
    pub url: String,
}

impl BareRepositories {
    /// Repositories in a folder, which is created, with URLs that begin with `url`.
    pub fn new(folder: PathBuf, url: &str) -> Self {
        fs::create_dir_all(&folder).expect("the folder is in a temporary one");
        Self { folder, url: url.to_owned() }
    }

    /// The folder of a repository. It is created if it does not exist.
    pub fn repository(&self, name: &str) -> PathBuf {
        let path = self.folder.join(format!("{name}.git"));
        if !path.exists() {
            let folder = path.to_str().expect("the path is text");
            git(&self.folder, &["init", "--quiet", "--bare", "--initial-branch=main", folder]);
        }
        path
    }

    /// Makes a commit with exactly these files on a branch. Returns its id.
    pub fn commit(&self, name: &str, branch: &str, files: &[(impl AsRef<str>, String)]) -> String {
        let files = files.iter().map(|(path, text)| CommittedFile::regular(path.as_ref(), text.as_bytes()));
        self.import(&format!("{name}@{branch}"), "deleteall\n", &files.collect::<Vec<_>>())
    }

    /// Makes a commit that changes one file of a branch, `REPOSITORY@BRANCH`. Returns its id.
    pub fn change(&self, at: &str, path: &str, text: &str) -> String {
        self.change_file(at, CommittedFile::regular(path, text.as_bytes()))
    }

    /// The same with any bytes, or with a link.
    pub fn change_file(&self, at: &str, file: CommittedFile<'_>) -> String {
        self.import(at, "", &[file])
    }

    /// Makes a commit that removes a file or folder of a branch.
    pub fn remove(&self, name: &str, branch: &str, path: &str) -> String {
        self.import(&format!("{name}@{branch}"), &format!("D {path}\n"), &[])
    }

    fn import(&self, at: &str, first: &str, files: &[CommittedFile<'_>]) -> String {
        let (name, branch) = at.split_once('@').expect("the place has a branch");
        let repository = self.repository(name);
        let from = self.head(name, branch).map_or_else(String::new, |head| format!("from {head}\n"));
        let message = "A change\n";
        let mut stream = format!(
            "commit refs/heads/{branch}\ncommitter Ann <ann@example.com> 1700000000 +0000\ndata {}\n{message}{from}{first}",
            message.len()
        )
        .into_bytes();
        for CommittedFile { path, mode, content } in files {
            let bytes = self.with_own_url(content);
            let head = format!("M {mode} inline \"{}\"\ndata {}\n", path.replace('"', "\\\""), bytes.len());
            stream.extend_from_slice(head.as_bytes());
            stream.extend_from_slice(&bytes);
            stream.push(b'\n');
        }
        let mut child = Command::new("git")
            .current_dir(&repository)
            .args(["fast-import", "--quiet", "--force"])
            .stdin(Stdio::piped())
            .spawn()
            .expect("git is installed");
        child.stdin.take().expect("it is piped").write_all(&stream).expect("git reads its input");
        assert!(child.wait().expect("git ends").success(), "git fast-import fails in {}", repository.display());
        self.head(name, branch).expect("git has written the branch")
    }

    /// A file with the own URL instead of [`HOST`].
    fn with_own_url<'f>(&self, file: &'f [u8]) -> Cow<'f, [u8]> {
        match std::str::from_utf8(file) {
            Ok(text) if self.url != HOST => Cow::Owned(text.replace(HOST, &self.url).into_bytes()),
            _ => Cow::Borrowed(file),
        }
    }

    /// The head of a branch, if it exists.
    pub fn head(&self, name: &str, branch: &str) -> Option<String> {
        let heads = git(&self.repository(name), &["for-each-ref", "--format=%(objectname) %(refname)"]);
        let wanted = format!(" refs/heads/{branch}");
        heads.lines().find_map(|line| line.strip_suffix(&wanted)).map(str::to_owned)
    }

    /// A file of a branch.
    pub fn file(&self, name: &str, branch: &str, path: &str) -> String {
        git(&self.repository(name), &["show", &format!("{branch}:{path}")])
    }

    /// The files of a branch, one per line.
    pub fn files(&self, name: &str, branch: &str) -> String {
        git(&self.repository(name), &["ls-tree", "-r", "--name-only", branch])
    }

    /// Moves a branch to the commit of another branch, like the merge of a pull request.
    pub fn merge(&self, name: &str, branch: &str, from: &str) {
        git(&self.repository(name), &["update-ref", &format!("refs/heads/{branch}"), &format!("refs/heads/{from}")]);
    }
}

impl CompanyRepositories for BareRepositories {
    fn write(&self, repository: &str, branch: &str, files: &BranchTexts) -> GitId {
        let files: Vec<_> = files.iter().map(|(path, text)| (path, text.clone())).collect();
        GitId::from_hex(&self.commit(repository, branch, &files)).expect("git prints ids")
    }
}
