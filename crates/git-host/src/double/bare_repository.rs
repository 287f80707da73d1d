//! A real bare repository as the branches of a host in memory.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use model::git_id::GitId;

use crate::hosts::memory::Branches;

/// The author of merges.
const AUTHOR: (&str, &str) = ("Git host", "git-host@localhost");

/// A bare repository on this machine. The `git` program reads and merges its branches.
///
/// It must be trusted: git uses its settings.
#[derive(Clone, Debug)]
pub struct BareRepository {
    path: PathBuf,
}

impl BareRepository {
    /// An existing bare repository.
    ///
    /// # Errors
    /// If there is none, or git can't be started.
    pub fn open(path: &Path) -> io::Result<Self> {
        let repository = Self { path: path.to_owned() };
        match repository.git(&["rev-parse", "--is-bare-repository"]) {
            Some(answer) if answer == "true" => Ok(repository),
            _ => Err(io::Error::new(io::ErrorKind::NotFound, format!("`{}` is no bare repository", path.display()))),
        }
    }

    /// The output of git in one line. None if it fails.
    fn git(&self, arguments: &[&str]) -> Option<String> {
        let (name, email) = AUTHOR;
        let output = Command::new("git")
            .arg("--git-dir")
            .arg(&self.path)
            .args(["-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0"])
            .args(arguments)
            .env("GIT_AUTHOR_NAME", name)
            .env("GIT_AUTHOR_EMAIL", email)
            .env("GIT_COMMITTER_NAME", name)
            .env("GIT_COMMITTER_EMAIL", email)
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_INDEX_FILE")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim_end().to_owned())
    }

    /// The tree of a merge. None if there are conflicting changes.
    fn merged_tree(&self, head: &str, base: &str) -> Option<String> {
        self.git(&["merge-tree", "--write-tree", "--no-messages", &reference(base), &reference(head)])
    }
}

/// The complete name of a branch, which git can't read as an option.
fn reference(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

impl Branches for BareRepository {
    fn head(&self, branch: &str) -> Option<GitId> {
        let commit = format!("{}^{{commit}}", reference(branch));
        GitId::from_hex(&self.git(&["rev-parse", "--verify", "--quiet", &commit])?)
    }

    fn has_commit(&self, commit: GitId) -> bool {
        self.git(&["cat-file", "-e", &format!("{commit}^{{commit}}")]).is_some()
    }

    fn is_conflicting(&self, head: &str, base: &str) -> bool {
        self.merged_tree(head, base).is_none()
    }

    fn merge(&mut self, head: &str, base: &str) -> Option<GitId> {
        let tree = self.merged_tree(head, base)?;
        let (ours, theirs) = (self.head(base)?.to_string(), self.head(head)?.to_string());
        let message = format!("Merge branch '{head}' into {base}");
        let commit = self.git(&["commit-tree", &tree, "-p", &ours, "-p", &theirs, "-m", &message])?;
        // If the branch moved meanwhile, nothing is merged.
        self.git(&["update-ref", &reference(base), &commit, &ours])?;
        GitId::from_hex(&commit)
    }
}
