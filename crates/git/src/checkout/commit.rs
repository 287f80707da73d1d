//! Commits single files of a working tree, as the user would do it: with the user's identity, settings and hooks.

use std::path::Path;
use std::process::Stdio;

use model::git_id::GitId;
use model::tree::name_bytes;

use super::listing::os_path;
use super::{Checkout, CheckoutError};
use crate::limits::LOCK_FILE_LIMIT;
use crate::lock_file::{self, LockFile};
use crate::repositories::{Person, own};
use crate::settings::Settings;

/// A new commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its id.
    pub id: GitId,
    /// The output of hooks. It is text of other programs.
    pub messages: String,
}

/// Commits exactly these files with their current content. Other staged changes stay staged. Deleted files are committed as deletions.
///
/// # Errors
/// If git or a hook refuses. Then the files stay as they are. Git refuses repositories of other users.
pub fn commit(
    settings: &Settings,
    checkout: &Checkout,
    paths: &[&str],
    message: &str,
) -> Result<Committed, CheckoutError> {
    let root = checkout.root();
    let git = |arguments: &[&str], paths: &[&str]| run(settings, root, (arguments, paths));
    let known = git(&["ls-files", "-z", "--cached"], paths)?.output;
    let is_new = |path: &&str| !known.split(|byte| *byte == 0).any(|name| name == &*name_bytes(path));
    let new: Vec<_> = paths.iter().copied().filter(is_new).collect();
    if !new.is_empty() {
        git(&["add", "--intent-to-add"], &new)?;
    }
    let committed = git(&["commit", "--quiet", "--only", "-m", message], paths);
    if committed.is_err() && !new.is_empty() {
        // The index gets its earlier content. If that fails, the new files only stay announced in it.
        let _ = git(&["reset", "--quiet"], &new);
    }
    let messages = committed?.messages;
    let head = String::from_utf8_lossy(&git(&["rev-parse", "HEAD"], &[])?.output).trim().to_owned();
    let no_id = || CheckoutError::Git { path: root.to_owned(), command: "rev-parse".to_owned(), message: head.clone() };
    Ok(Committed { id: GitId::from_hex(&head).ok_or_else(no_id)?, messages })
}

/// The name and the email address of the user, as git's settings and variables say for a folder. None if they do not say it.
pub fn identity(settings: &Settings, folder: &Path) -> Option<Person> {
    let arguments = ["-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT"];
    let output = own(settings, folder).args(arguments).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let (person, _) = text.rsplit_once('>')?;
    let (name, email) = person.split_once(" <")?;
    Some(Person { name: name.to_owned(), email: email.to_owned() })
}

/// The output of git.
struct Output {
    output: Vec<u8>,
    messages: String,
}

/// Runs git. A lock file of another git is waited for.
fn run(settings: &Settings, root: &Path, command: (&[&str], &[&str])) -> Result<Output, CheckoutError> {
    let run = || run_once(settings, root, command);
    lock_file::retry(settings.time_limit.min(LOCK_FILE_LIMIT), run, |result| match result {
        Err(CheckoutError::Locked { lock, .. }) => Some(lock),
        _ => None,
    })
}

fn run_once(settings: &Settings, root: &Path, (arguments, paths): (&[&str], &[&str])) -> Result<Output, CheckoutError> {
    let command = arguments.first().copied().unwrap_or_default().to_owned();
    let failed = |message: String| CheckoutError::Git { path: root.to_owned(), command: command.clone(), message };
    let mut git = own(settings, root);
    git.arg("--literal-pathspecs").args(arguments);
    if !paths.is_empty() {
        git.arg("--").args(paths.iter().map(|path| os_path(&name_bytes(path))));
    }
    let finished = git.stdin(Stdio::null()).output().map_err(|error| failed(error.to_string()))?;
    let messages = String::from_utf8_lossy(&finished.stderr).trim().to_owned();
    if !finished.status.success() {
        if let Some(lock) = LockFile::named_in(&messages) {
            return Err(CheckoutError::Locked { path: root.to_owned(), command, lock });
        }
        let output = String::from_utf8_lossy(&finished.stdout).trim().to_owned();
        return Err(failed(if messages.is_empty() { output } else { messages }));
    }
    Ok(Output { output: finished.stdout, messages })
}
