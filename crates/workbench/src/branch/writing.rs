//! Writes edits into a working tree, and commits them.

use std::io;
use std::path::Path;
use std::sync::Arc;

use git::checkout::{Checkout, CheckoutError, Committed};
use git::{Edit, Edits};

use super::ControlPlaneBranch;
use crate::Failure;
use crate::contained_files;
use crate::working_trees::WorkingBranch;

impl ControlPlaneBranch {
    /// Checks that edits can be written: the branch is in a working tree, and no operation of git waits there for an end.
    ///
    /// # Errors
    /// If not. The failure names the command that finishes the operation.
    pub fn check_writable(&self) -> Result<(), Failure> {
        self.writable().map(drop)
    }

    /// Writes edits into the working tree. Each file is written whole or not at all; an interruption leaves files with their old or their new content.
    /// Permissions stay.
    ///
    /// # Errors
    /// If [`Self::check_writable`] fails. If a file changed since it was read, or is in the way: then nothing is written. If the file system fails.
    pub fn write(&self, edits: &Edits) -> Result<(), Failure> {
        let root = self.writable()?.checkout.root();
        let mut files = Vec::new();
        for (path, edit) in edits.iter() {
            if read(root, path)? != self.read(path)? {
                let shown = self.shown(path);
                return Err(Failure::refused(format!("`{shown}` changed while it was edited")).help("try again"));
            }
            match edit {
                Edit::Content(_, bytes) => files.push((&**path, Some(&**bytes))),
                Edit::Removed => files.push((&**path, None)),
                Edit::Link(_) => return Err(Failure::refused(format!("`{path}` would be a symbolic link"))),
            }
        }
        let failed = |error: io::Error| Failure::outside(format!("`{}` can't be changed: {error}", root.display()));
        contained_files::replace_all(root, &files).map_err(failed)
    }

    /// Commits exactly the edited files with `git commit`: with the user's identity, settings and hooks. Other staged changes stay staged.
    ///
    /// # Errors
    /// If [`Self::check_writable`] fails, or if git or a hook refuses. Then the files stay edited.
    pub fn commit(&self, edits: &Edits, message: &str) -> Result<Committed, Failure> {
        let working = self.writable()?;
        let paths: Vec<_> = edits.paths().map(|path| &**path).collect();
        let committed = git::checkout::commit(&self.access.settings.git, &working.checkout, &paths, message);
        committed.map_err(|error| not_committed(&self.shown_root(), &error))
    }

    fn writable(&self) -> Result<&WorkingBranch, Failure> {
        let no_tree = || Failure::refused(format!("branch `{}` is not edited in a working tree", self.name()));
        let working = self.working().ok_or_else(no_tree)?;
        match unfinished(working, &self.access.settings.git) {
            Some(failure) => Err(failure),
            None => Ok(working),
        }
    }
}

/// The failure for files that are written, and that git does not commit. `root` is the root of the working tree for people.
pub fn not_committed(root: &Path, error: &CheckoutError) -> Failure {
    let help = format!("the files are changed, but not committed: see `git -C {} status`", root.display());
    let help = match error {
        CheckoutError::Locked { lock, .. } => format!("{help}; {}", lock.advice()),
        _ => help,
    };
    Failure::refused(error.to_string()).help(help)
}

/// The failure for an operation of git that is not finished in a working tree. None if there is none.
pub fn unfinished_operation(checkout: &Checkout, settings: &git::Settings) -> Option<Failure> {
    let root = settings.shown(checkout.root());
    let root = root.display();
    let command = checkout.operation()?.kind.command();
    let message = format!("a `git {command}` is not finished in `{root}`");
    let help = format!("finish it: `git -C {root} {command} --continue`, or end it: `git -C {root} {command} --abort`");
    Some(Failure::refused(message).help(help))
}

/// The failure for an operation of git or for conflicts that are not finished in a working tree. None if there are none.
pub fn unfinished(branch: &WorkingBranch, settings: &git::Settings) -> Option<Failure> {
    if let Some(failure) = unfinished_operation(&branch.checkout, settings) {
        return Some(failure);
    }
    let root = settings.shown(branch.checkout.root());
    let root = root.display();
    let path = branch.state.unmerged.first()?;
    let message = format!("`{path}` in `{root}` has conflicts");
    Some(Failure::refused(message).help(format!("decide them, then `git -C {root} add {path}`")))
}

/// Reads a file of a working tree. None if it does not exist.
pub(super) fn read(root: &Path, path: &str) -> Result<Option<Arc<[u8]>>, Failure> {
    let failed = |error: io::Error| Failure::refused(format!("`{path}` can't be read: {error}"));
    Ok(contained_files::read(root, path).map_err(failed)?.map(Into::into))
}
