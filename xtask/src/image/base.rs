//! Makes the images that the Dockerfile starts from, for machines that reach no registry of images.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::output;
use super::podman::Podman;
use crate::workspace;

/// The certificate authorities that this machine trusts, on Debian and Ubuntu.
const CERTIFICATES: &str = "/etc/ssl/certs";

/// Makes the base images of a Dockerfile, unless they exist.
pub(super) fn create(podman: &Podman, dockerfile: &str) -> Result<()> {
    let (debian, rust) = (argument(dockerfile, "DEBIAN")?, argument(dockerfile, "RUST")?);
    let name = format!("docker.io/library/debian:{debian}-slim");
    if !podman.has_image(&name)? {
        create_debian(podman, debian, &name)?;
    }
    let name = format!("docker.io/library/rust:{rust}-slim-{debian}");
    if !podman.has_image(&name)? {
        create_rust(podman, debian, &name)?;
    }
    Ok(())
}

/// The default value of an argument in a Dockerfile.
fn argument<'a>(dockerfile: &'a str, name: &str) -> Result<&'a str> {
    let value = dockerfile.lines().find_map(|line| line.strip_prefix("ARG ")?.strip_prefix(name)?.strip_prefix('='));
    value.with_context(|| format!("the Dockerfile has no ARG {name}"))
}

fn create_debian(podman: &Podman, suite: &str, name: &str) -> Result<()> {
    println!("making {name} from Debian's packages");
    let archive = podman.folder().join("debian.tar");
    let status = Command::new("mmdebstrap").args(["--variant=minbase", "--quiet", suite]).arg(&archive).status();
    let status = status.context("cannot start mmdebstrap; `apt-get install mmdebstrap` installs it")?;
    ensure!(status.success(), "mmdebstrap: {status}");
    output(podman.command(&["import", "--quiet"]).arg(archive).arg(name))?;
    Ok(())
}

fn create_rust(podman: &Podman, debian: &str, name: &str) -> Result<()> {
    println!("making {name} from this machine's toolchain");
    let compiler = output(Command::new("rustup").args(["which", "rustc"]).current_dir(workspace::root()))?;
    let folder = Path::new(compiler.trim()).ancestors().nth(2).context("the compiler is in no toolchain")?;
    let toolchain = folder.file_name().and_then(|name| name.to_str()).context("the toolchain has no name")?;
    let options = [
        "--pull=never",
        &format!("--tag={name}"),
        &format!("--build-arg=DEBIAN={debian}"),
        &format!("--build-arg=TOOLCHAIN={toolchain}"),
        &format!("--build-context=certificates={CERTIFICATES}"),
    ];
    podman.build(&workspace::root().join("xtask/src/image/rust.dockerfile"), folder, &options)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_dockerfile_starts_from_the_images_that_are_made() {
        let text = fs::read_to_string(workspace::root().join(crate::image::DOCKERFILE)).unwrap();
        assert!(text.contains("FROM docker.io/library/rust:${RUST}-slim-${DEBIAN} AS"));
        assert!(text.contains("FROM docker.io/library/debian:${DEBIAN}-slim\n"));
        assert!(argument(&text, "DEBIAN").is_ok() && argument(&text, "RUST").is_ok());
    }
}
