//! The sample control plane of the conformance corpora, as a directory and as git repositories.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// Copies of the sample. They are deleted when this value is dropped.
pub(crate) struct Sample {
    folder: tempfile::TempDir,
}

const URLS: &str = "https://github.com/microsoft/kalypso-";

impl Sample {
    /// Makes the copies. None if the corpora are not on this machine.
    pub(crate) fn create() -> Result<Option<Self>> {
        let Some(corpora) = std::env::var_os("KALYPSO_CONFORMANCE").map(PathBuf::from) else { return Ok(None) };
        let original = corpora.join("reference/sample");
        if !original.is_dir() {
            return Ok(None);
        }
        let sample = Self { folder: tempfile::tempdir()? };
        let control_plane = sample.path("control-plane");
        create_repository(&control_plane)?;
        for branch in ["main", "dev", "stage"] {
            commit_branch(&control_plane, branch, &original.join("control-plane").join(branch))?;
        }
        for name in ["app-src", "svc-src"] {
            create_repository(&sample.path(name))?;
            commit_branch(&sample.path(name), "main", &original.join(name))?;
        }
        for part in ["control-plane/main", "control-plane/dev", "app-src", "svc-src"] {
            copy(&original.join(part), &sample.path("directory").join(part))?;
        }
        std::fs::write(sample.path("kalypso.toml"), sample.configuration())?;
        Ok(Some(sample))
    }

    /// The arguments of the `kalypso` command that checks the directory.
    pub(crate) fn directory(&self) -> [OsString; 3] {
        ["check".into(), "--from".into(), self.path("directory").into()]
    }

    /// The arguments of the `kalypso` command that checks the repositories.
    pub(crate) fn repositories(&self) -> [OsString; 3] {
        ["check".into(), "--config".into(), self.path("kalypso.toml").into()]
    }

    fn configuration(&self) -> String {
        let names = ["control-plane", "app-src", "svc-src"];
        let rewrite =
            names.map(|name| format!("{{ from = \"{URLS}{name}\", to = \"{}\" }}", self.path(name).display()));
        let control_plane = self.path("control-plane");
        format!(
            "[control-plane]\nrepo = \"{}\"\nbranch = \"main\"\n\n[git]\nrewrite = [{}]\n",
            control_plane.display(),
            rewrite.join(", ")
        )
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn create_repository(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    git(folder, &["init", "--quiet", "--initial-branch", "empty"])
}

/// Commits the files of a folder as a branch without history. The commits that the sample pins exist only in the original repository, so these fields
/// are removed. Without a pinned commit, the head of the branch is used.
fn commit_branch(repository: &Path, branch: &str, files: &Path) -> Result<()> {
    git(repository, &["switch", "--quiet", "--orphan", branch])?;
    copy(files, repository)?;
    let pin = repository.join("base-repo.yaml");
    if let Ok(text) = std::fs::read_to_string(&pin) {
        let kept: Vec<_> = text.lines().filter(|line| !line.trim_start().starts_with("commit:")).collect();
        std::fs::write(&pin, kept.join("\n"))?;
    }
    git(repository, &["add", "--all"])?;
    let identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.invalid"];
    git(repository, &[&identity[..], &["commit", "--quiet", "--message", "The sample"]].concat())
}

fn git(folder: &Path, arguments: &[&str]) -> Result<()> {
    let status = Command::new("git").arg("-C").arg(folder).args(arguments).status().context("could not start git")?;
    ensure!(status.success(), "git {} failed", arguments.join(" "));
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| format!("could not read {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
