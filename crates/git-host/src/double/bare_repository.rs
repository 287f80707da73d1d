//! A real repository as the branches of a host in memory.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use model::git_id::GitId;

use crate::hosts::memory::{BranchChanges, Branches, ChangedFile};

/// The author of merges.
const AUTHOR: (&str, &str) = ("Git host", "git-host@localhost");
/// The maximum size of a diff, in bytes. No person reads more.
const DIFF_BYTES_MAX: u64 = 400 << 10;
/// The maximum size of the list of changed files, in bytes.
const FILES_BYTES_MAX: u64 = 4 << 20;

/// A bare repository on this machine, or the folder `.git` of another one. The `git` program reads and merges its branches.
///
/// It must be trusted: git uses its settings.
#[derive(Clone, Debug)]
pub struct BareRepository {
    path: PathBuf,
}

impl BareRepository {
    /// An existing repository. A merge changes only its branches, never a work tree.
    ///
    /// # Errors
    /// If there is none, or git can't be started.
    pub fn open(path: &Path) -> io::Result<Self> {
        let repository = Self { path: path.to_owned() };
        match repository.git(&["rev-parse", "--git-dir"]) {
            Some(_) => Ok(repository),
            None => Err(io::Error::new(io::ErrorKind::NotFound, format!("`{}` is no repository", path.display()))),
        }
    }

    /// The output of git in one line. None if it fails.
    fn git(&self, arguments: &[&str]) -> Option<String> {
        let output = self.command(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim_end().to_owned())
    }

    /// The output of git, but not more than this number of bytes; and whether there is more. None if it fails.
    fn bounded(&self, arguments: &[&str], bytes_max: u64) -> Option<(String, bool)> {
        let mut process = self.command(arguments).stdout(Stdio::piped()).spawn().ok()?;
        let mut bytes = Vec::new();
        let read = process.stdout.take().map(|output| output.take(bytes_max + 1).read_to_end(&mut bytes));
        let is_cut = bytes.len() as u64 > bytes_max;
        if is_cut {
            // It may have ended already.
            let _ = process.kill();
        }
        let is_good = process.wait().is_ok_and(|status| status.success() || is_cut);
        bytes.truncate(usize::try_from(bytes_max).unwrap_or(usize::MAX));
        (is_good && read?.is_ok()).then(|| (String::from_utf8_lossy(&bytes).into_owned(), is_cut))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let (name, email) = AUTHOR;
        let mut command = Command::new("git");
        command
            .arg("--git-dir")
            .arg(&self.path)
            .args(["-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "core.quotePath=false"])
            .args(arguments)
            .env("GIT_AUTHOR_NAME", name)
            .env("GIT_AUTHOR_EMAIL", email)
            .env("GIT_COMMITTER_NAME", name)
            .env("GIT_COMMITTER_EMAIL", email)
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_INDEX_FILE")
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command
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

    fn names(&self) -> Vec<String> {
        let names = self.git(&["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"]).unwrap_or_default();
        names.lines().map(str::to_owned).collect()
    }

    fn changes(&self, base: &str, merged: Option<GitId>, head: GitId) -> Option<BranchChanges> {
        let from = merged.map_or_else(|| reference(base), |commit| format!("{commit}^1"));
        let range = format!("{from}...{head}");
        let diff = |format: &str, bytes_max| {
            self.bounded(&["diff", "--no-color", "--no-ext-diff", "--no-textconv", format, &range, "--"], bytes_max)
        };
        let (files, _) = diff("--numstat", FILES_BYTES_MAX)?;
        let (diff, is_cut) = diff("--patch", DIFF_BYTES_MAX)?;
        Some(BranchChanges { files: files.lines().filter_map(changed_file).collect(), diff, is_cut })
    }
}

/// A line of `git diff --numstat`: added lines, removed lines, path.
fn changed_file(line: &str) -> Option<ChangedFile> {
    let mut parts = line.splitn(3, '\t');
    let (added, removed, path) = (parts.next()?, parts.next()?, parts.next()?);
    Some(ChangedFile { path: path.to_owned(), lines: added.parse().ok().zip(removed.parse().ok()) })
}
