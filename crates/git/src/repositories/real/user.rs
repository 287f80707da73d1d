//! Runs git in a working tree of the user.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::environment::FOREIGN_VARIABLES;
use crate::limits::{LISTING_BYTES_MAX, MESSAGE_BYTES_MAX};
use crate::settings::Settings;

/// The settings for commands that only read. Git starts no program of the repository.
const CONFIGURATION: &[&str] = &["core.fsmonitor=false", "core.hooksPath=/dev/null", "core.untrackedCache=false"];

/// Runs a command of git that only reads the index and the names of files. Returns its output. The user's settings apply, such as the files that git
/// ignores, and the folders that it trusts.
///
/// # Errors
/// The message of git, or the reason why it has none.
pub(crate) fn in_checkout(settings: &Settings, root: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let mut command = subprocess::guarded(&settings.program, false, None);
    let is_of_configuration = |name: &str| name.starts_with("GIT_CONFIG");
    let withheld = settings.withheld.iter().filter(|name| !name.to_str().is_some_and(is_of_configuration));
    for name in FOREIGN_VARIABLES.iter().map(OsStr::new).chain(withheld.map(AsRef::as_ref)) {
        command.env_remove(name);
    }
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    command.arg("-C").arg(root);
    for setting in CONFIGURATION {
        command.args(["-c", setting]);
    }
    command.args(arguments);
    let running = subprocess::start(command, None, (LISTING_BYTES_MAX, MESSAGE_BYTES_MAX));
    let running = running.map_err(|error| format!("git can't be started: {error}"))?;
    let finished = running.finish(Instant::now() + settings.time_limit);
    let finished = finished.ok_or_else(|| format!("git did not end within {:?}", settings.time_limit))?;
    if !finished.status.success() {
        return Err(String::from_utf8_lossy(&finished.messages).trim().to_owned());
    }
    if finished.output.len() as u64 >= LISTING_BYTES_MAX {
        return Err("there are too many files".to_owned());
    }
    Ok(finished.output)
}

/// A command of git as the user would run it in a working tree, with the user's settings, identity and hooks. Only the variables that would lead it to
/// another repository are removed, and Kalypso's own secrets.
pub(crate) fn own(settings: &Settings, root: &Path) -> Command {
    let mut command = Command::new(&settings.program);
    let is_secret = |name: &str| name.starts_with("KALYPSO_");
    let secrets = settings.withheld.iter().filter(|name| name.to_str().is_some_and(is_secret));
    for name in FOREIGN_VARIABLES.iter().map(OsStr::new).chain(secrets.map(AsRef::as_ref)) {
        command.env_remove(name);
    }
    command.arg("-C").arg(root);
    command
}
