//! Builds the root folder of the image by the steps of its Dockerfile, without Docker, and runs the service in it.
//!
//! What differs from `docker build`: the base system comes from Debian's registry instead of an image, and the stage that compiles runs on this machine,
//! with its toolchain.

mod build;
mod company;
mod container;
mod dockerfile;

use std::process::Command;
use std::{env, fs};

use anyhow::{Context as _, Result, ensure};

use crate::workspace;
use build::Image;
use dockerfile::Dockerfile;

const DOCKERFILE: &str = "deploy/docker/Dockerfile";

/// Builds the root folder in the target folder, and runs the service in it. Returns whether all checks passed.
///
/// # Errors
/// Returns an error if a step fails, or if this machine lacks a program or a right.
pub(crate) fn run() -> Result<bool> {
    let user = output(Command::new("id").arg("-u"))?;
    ensure!(
        env::consts::OS == "linux" && user.trim() == "0",
        "this needs Linux and root: it mounts, and changes users"
    );
    let folder = workspace::target().join("image");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).with_context(|| format!("cannot write {}", folder.display()))?;
    let text = fs::read_to_string(workspace::root().join(DOCKERFILE)).with_context(|| DOCKERFILE)?;
    let image = Image::build(&Dockerfile::parse(&text)?, &folder)?;
    println!("built {}: {} MB", image.root.display(), size_in_megabytes(&image)?);
    container::check(&image, &folder)?;
    Ok(true)
}

fn size_in_megabytes(image: &Image) -> Result<String> {
    let size = output(Command::new("du").args(["--summarize", "--block-size=1M"]).arg(&image.root))?;
    Ok(size.split_whitespace().next().unwrap_or_default().to_owned())
}

/// The output of a program that must succeed.
fn output(command: &mut Command) -> Result<String> {
    let program = command.get_program().display().to_string();
    let output = command.output().with_context(|| format!("cannot start {program}"))?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{program}: {}\n{out}{err}", output.status);
    Ok(out.into_owned())
}
