//! Builds the container image with Podman, and runs the service in it.

mod base;
mod podman;
mod service;

use std::process::Command;
use std::{env, fs};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use crate::workspace;
use podman::Podman;

const DOCKERFILE: &str = "deploy/docker/Dockerfile";

/// The name of the image and of the container with the service.
const NAME: &str = "kalypso";

/// How to get the images that the Dockerfile starts from.
#[derive(Args)]
pub(crate) struct Options {
    /// Make the base images from Debian's packages and this machine's toolchain, instead of pulling them. Also needs `mmdebstrap`.
    #[arg(long)]
    without_registry: bool,
}

/// Builds the image, and runs the service in it. Returns whether all checks passed.
///
/// # Errors
/// Returns an error if a step fails, or if this machine lacks a program or a right.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let user = output(Command::new("id").arg("-u"))?;
    ensure!(env::consts::OS == "linux" && user.trim() == "0", "this needs Linux and root: it enters the container");
    let folder = workspace::target().join("image");
    fs::create_dir_all(&folder).with_context(|| format!("cannot write {}", folder.display()))?;
    let podman = Podman::new(folder);
    let dockerfile = workspace::root().join(DOCKERFILE);
    let pull = if options.without_registry {
        let text = fs::read_to_string(&dockerfile).with_context(|| DOCKERFILE)?;
        base::create(&podman, &text)?;
        "--pull=never"
    } else {
        "--pull=always"
    };
    podman.build(&dockerfile, &workspace::root(), &["--tag", NAME, pull])?;
    service::check(&podman)?;
    Ok(true)
}

/// The output of a program that must succeed.
fn output(command: &mut Command) -> Result<String> {
    let program = command.get_program().display().to_string();
    let output = command.output().with_context(|| format!("cannot start {program}"))?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{program}: {}\n{out}{err}", output.status);
    Ok(out.into_owned())
}
