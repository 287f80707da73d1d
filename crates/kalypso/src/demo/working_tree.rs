//! Repositories with files: made, written and committed with the git program.

use std::fs;
use std::path::Path;

use super::company::CompanyFile;
use super::program::{Signature, feed, git};
use crate::exit::Failure;

/// Creates an empty repository in which the user can commit, independent of the user's Git configuration.
pub(super) fn init(folder: &Path) -> Result<(), Failure> {
    create_folder(folder)?;
    git(folder, &["init", "--quiet", "--template="])?;
    git(folder, &["symbolic-ref", "HEAD", "refs/heads/main"])?;
    let settings = [
        ("user.name", "You"),
        ("user.email", "you@acme.example"),
        ("commit.gpgSign", "false"),
        ("core.hooksPath", "/dev/null"),
        ("core.autocrlf", "false"),
        ("core.safecrlf", "false"),
        // A promotion can push to a branch that the user looks at.
        ("receive.denyCurrentBranch", "updateInstead"),
    ];
    for (name, value) in settings {
        git(folder, &["config", name, value])?;
    }
    // Only `sed -i.bak` works both on Linux and on macOS.
    let exclude = CompanyFile { path: ".git/info/exclude".to_owned(), content: b"*.bak\n".to_vec() };
    write(folder, &[exclude])
}

/// Commits all files, as the person of a signature.
pub(super) fn commit(folder: &Path, message: &str, signature: Signature) -> Result<(), Failure> {
    git(folder, &["add", "--all"])?;
    feed(folder, &["commit", "--quiet", "--cleanup=verbatim", "--file=-"], message.as_bytes(), Some(signature))
        .map(drop)
}

/// Writes files into a folder.
pub(super) fn write(folder: &Path, files: &[CompanyFile]) -> Result<(), Failure> {
    for file in files {
        let path = folder.join(&file.path);
        create_folder(path.parent().unwrap_or(folder))?;
        fs::write(&path, &file.content)
            .map_err(|error| Failure::outside(format!("`{}` can't be written: {error}", path.display())))?;
    }
    Ok(())
}

/// Makes a folder, and those above it.
pub(super) fn create_folder(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder)
        .map_err(|error| Failure::outside(format!("the folder `{}` can't be made: {error}", folder.display())))
}
