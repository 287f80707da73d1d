//! Calls Podman, with its images and containers in a folder of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::output;

/// Podman's defaults are larger. Where root may not raise the limits, as in many sandboxes, no container would start with them.
const LIMITS: &[&str] = &["--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096"];

/// The folder for what ends with the containers. Podman refuses one with more than 50 characters.
const RUN_FOLDER: &str = "/run/kalypso-image";

/// Podman with its own storage.
pub(super) struct Podman {
    folder: PathBuf,
}

impl Podman {
    /// Podman with its storage in a folder, which must exist.
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder, for other files.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A call of Podman.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("podman");
        command.arg("--root").arg(self.folder.join("storage")).args(["--runroot", RUN_FOLDER]);
        // Debian's crun refuses a machine that has both versions of cgroups.
        command.arg("--runtime=runc").args(words);
        // For the caches of `RUN --mount`.
        command.env("TMPDIR", &self.folder);
        command
    }

    /// The output of a call that must succeed.
    pub(super) fn output(&self, words: &[&str]) -> Result<String> {
        output(&mut self.command(words))
    }

    /// Builds an image from a Dockerfile, with the folder for its `COPY` instructions. Prints what the build prints.
    pub(super) fn build(&self, dockerfile: &Path, context: &Path, options: &[&str]) -> Result<()> {
        let mut command = self.command(&["build", "--layers"]);
        command.args(LIMITS).args(options).arg("--file").arg(dockerfile).arg(context);
        let status = command.status().context("cannot start podman; `apt-get install podman runc` installs it")?;
        ensure!(status.success(), "podman build: {status}");
        Ok(())
    }

    /// The output of a new container, from options, the name of its image, and arguments.
    pub(super) fn run(&self, words: &[&str]) -> Result<String> {
        self.output(&[&["run"], LIMITS, words].concat())
    }

    /// Whether there is an image with a name.
    pub(super) fn has_image(&self, name: &str) -> Result<bool> {
        let images = self.output(&["image", "ls", "--format={{.Repository}}:{{.Tag}}"])?;
        Ok(images.lines().any(|image| image == name))
    }

    /// Removes all containers and volumes, also those of an earlier run that was interrupted.
    pub(super) fn clean(&self) -> Result<()> {
        self.output(&["rm", "--all", "--force", "--time=0"])?;
        self.output(&["volume", "prune", "--force"])?;
        Ok(())
    }
}
