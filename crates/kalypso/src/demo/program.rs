//! Runs the Git program with the same settings on each machine.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::exit::Failure;

/// The author and the time of a commit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signature {
    /// The name.
    pub(super) name: &'static str,
    /// The address.
    pub(super) email: &'static str,
    /// Seconds since 1970. The time is fixed, so that commits have the same ids on each machine.
    pub(super) seconds: i64,
}

/// Fails with advice if Git is not installed.
pub(super) fn check() -> Result<(), Failure> {
    let answer = Command::new("git").arg("--version").stdin(Stdio::null()).output();
    match answer {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            Err(Failure::outside(format!("git does not work: {}", String::from_utf8_lossy(&output.stderr).trim())))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Failure::outside("the program `git` is not installed, and Kalypso needs it").help(
                "install it (`apt-get install git`, `dnf install git`, `apk add git`, `brew install git`) or see https://git-scm.com/downloads",
            ))
        }
        Err(error) => Err(Failure::outside(format!("the program `git` can't be started: {error}"))),
    }
}

/// Runs Git in a folder, and returns its output without the line break at the end.
pub(super) fn git(folder: &Path, arguments: &[&str]) -> Result<String, Failure> {
    feed(folder, arguments, &[], None)
}

/// Runs Git in a folder with an input. The author of commits is that of the signature.
pub(super) fn feed(
    folder: &Path,
    arguments: &[&str],
    input: &[u8],
    signature: Option<Signature>,
) -> Result<String, Failure> {
    let failed = |why: &str| {
        let what = arguments.first().copied().unwrap_or_default();
        Failure::outside(format!("`git {what}` failed in `{}`: {why}", folder.display()))
    };
    let mut command = command(folder, signature);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(&error.to_string()))?;
    if let Some(mut stdin) = child.stdin.take() {
        // The inputs are smaller than the buffer of a pipe. If Git does not read its input, its own error is reported.
        let _ = stdin.write_all(input);
    }
    let output = child.wait_with_output().map_err(|error| failed(&error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Git without the configuration of the user and the machine, and without the variables of a Git process that runs Kalypso.
fn command(folder: &Path, signature: Option<Signature>) -> Command {
    let mut command = Command::new("git");
    let is_foreign = |name: &OsStr| name.to_string_lossy().starts_with("GIT_") && name != "GIT_EXEC_PATH";
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_foreign(name)) {
        command.env_remove(name);
    }
    command.current_dir(folder);
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_TERMINAL_PROMPT", "0");
    // For versions of Git that do not support the variable for the global configuration.
    command.env("HOME", "/nonexistent").env("XDG_CONFIG_HOME", "/nonexistent").env("LC_ALL", "C");
    // The formats of new repositories, whatever the default of this version of Git is.
    command.env("GIT_DEFAULT_HASH", "sha1").env("GIT_DEFAULT_REF_FORMAT", "files");
    if let Some(Signature { name, email, seconds }) = signature {
        let date = format!("{seconds} +0000");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), name).env(format!("GIT_{who}_EMAIL"), email);
            command.env(format!("GIT_{who}_DATE"), &date);
        }
    }
    command.args(["-c", "init.defaultBranch=main", "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false"]);
    command.args(["-c", "core.autocrlf=false", "-c", "gc.auto=0"]);
    command
}
