//! Trees on disk: written whole, into folders of our own only.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use model::progress::{Phase, Progress};
use model::tree::{Child, Entry, Open, OpenError, Tree, closed};
use serde::{Deserialize, Serialize};

use crate::exit::Failure;

/// The file that says what was written, under the folder. It is written last: where it is missing, a run ended early.
const RECEIPT: &str = ".kalypso/render.json";

/// What was written.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Receipt {
    /// The version of this file's form.
    pub(crate) version: u32,
    /// The environment.
    pub(crate) environment: String,
    /// The git id of the tree that was written.
    pub(crate) tree: String,
    /// The files by path.
    pub(crate) files: BTreeSet<String>,
}

/// How a tree is written.
#[derive(Clone, Copy)]
pub(crate) struct Write<'a> {
    /// Opens what is sealed in it.
    pub(crate) open: &'a Open<'a>,
    /// The environment that it is of.
    pub(crate) environment: &'a str,
    /// Write among what others have put there.
    pub(crate) force: bool,
    /// Where files are counted.
    pub(crate) progress: &'a Progress,
}

/// Writes a tree into `folder`, each file whole, and removes what an earlier run wrote and is not in the tree. One folder of it is in memory at a time.
pub(crate) fn write(folder: &Path, tree: &Tree, options: &Write<'_>) -> Result<(), Failure> {
    let Write { open, environment, force, progress } = *options;
    let earlier = earlier_files(folder, force)?;
    let failed = |path: &Path, error: io::Error| {
        Failure::outside(format!("`{}` can't be written: {error}", path.display()))
            .help("files that were written before are whole; the folder has no .kalypso/render.json, and the next run goes on")
    };
    let receipt_path = folder.join(RECEIPT);
    let fail_receipt = |error: io::Error| failed(&receipt_path, error);
    let unopened = |error: OpenError| Failure::outside(error.to_string());
    let written = || tree.files(open).map(|file| file.map_err(unopened));
    let files = written().map(|file| Ok(file?.0)).collect::<Result<BTreeSet<_>, Failure>>()?;
    let receipt = |files| {
        let receipt = Receipt { version: 1, environment: environment.to_owned(), tree: tree.id().to_string(), files };
        serde_json::to_vec_pretty(&receipt).map_err(|error| fail_receipt(error.into()))
    };
    let touched = receipt(earlier.union(&files).cloned().collect())?;
    write_file(&folder.join(RUNNING), &touched).map_err(fail_receipt)?;
    remove_if_there(&receipt_path).map_err(fail_receipt)?;
    let writing = progress.begin(Phase::Writing);
    writing.expect(files.len());
    for file in written() {
        let (path, entry) = file?;
        let Some(bytes) = entry.blob.bytes() else { continue };
        let target = folder.join(path);
        write_file(&target, bytes).map_err(|error| failed(&target, error))?;
        writing.advance(1);
    }
    for stale in earlier.difference(&files) {
        let target = folder.join(stale);
        let removed = remove_if_there(&unfinished(&target)).and_then(|()| remove_if_there(&target));
        removed.map_err(|error| failed(&target, error))?;
        remove_empty_parents(folder, &target);
    }
    write_file(&receipt_path, &receipt(files)?).map_err(fail_receipt)?;
    remove_if_there(&folder.join(RUNNING)).map_err(fail_receipt)
}

/// The file that is there while a folder is written: it lists all that may be there if the run ends early.
const RUNNING: &str = ".kalypso/running";

/// The files of an earlier run. Refuses a folder that holds something else.
fn earlier_files(folder: &Path, force: bool) -> Result<BTreeSet<String>, Failure> {
    let unreadable = |error: io::Error| Failure::outside(format!("`{}` can't be read: {error}", folder.display()));
    let mut files = BTreeSet::new();
    let mut is_ours = force;
    for list in [RECEIPT, RUNNING] {
        let text = match fs::read(folder.join(list)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unreadable(error)),
        };
        if let Ok(receipt) = serde_json::from_slice::<Receipt>(&text) {
            is_ours = true;
            files.extend(receipt.files.into_iter().filter(|path| is_inside(path)));
        }
    }
    let is_empty = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => return Err(unreadable(error)),
    };
    if is_empty || is_ours {
        return Ok(files);
    }
    let message = format!("`{}` is not empty, and was not written by `render`", folder.display());
    Err(Failure::usage(message).help("take an empty folder, or --force to write among what is there"))
}

/// Whether a path of a receipt, which somebody may have edited, stays in its folder.
fn is_inside(path: &str) -> bool {
    !path.is_empty() && !Path::new(path).is_absolute() && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Writes a file so that it is there whole or not at all.
fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let parent = path.parent().ok_or_else(|| io::Error::other("it is not a file"))?;
    fs::create_dir_all(parent)?;
    if fs::read(path).is_ok_and(|present| present == bytes) {
        return Ok(());
    }
    let new = unfinished(path);
    let written = fs::write(&new, bytes).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

/// Where a file is written before it takes its place.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".kalypso-new-");
    name.push(path.file_name().unwrap_or_default());
    path.with_file_name(name)
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes the folders that became empty with a file's removal.
fn remove_empty_parents(folder: &Path, file: &Path) {
    for parent in file.ancestors().skip(1).take_while(|parent| *parent != folder) {
        if fs::remove_dir(parent).is_err() {
            return;
        }
    }
}

/// Reads the files of a folder as a tree, without Kalypso's own receipt.
pub(crate) fn read(folder: &Path) -> Result<Tree, Failure> {
    let mut tree = Tree::default();
    let mut folders = vec![String::new()];
    let failed = |error: io::Error| Failure::outside(format!("`{}` can't be read: {error}", folder.display()));
    while let Some(relative) = folders.pop() {
        for entry in fs::read_dir(folder.join(&relative)).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if relative.is_empty() { name } else { format!("{relative}/{name}") };
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() && !matches!(&*path, ".kalypso" | ".git") {
                folders.push(path);
            } else if kind.is_file() {
                let file = Child::File(Entry::file(fs::read(entry.path()).map_err(failed)?));
                tree.put(&path, file, &closed).map_err(|error| Failure::usage(error.to_string()))?;
            }
        }
    }
    Ok(tree)
}
