//! Trees on disk: written whole, into folders of our own only.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use model::progress::{Phase, Progress};
use model::tree::{Child, Entry, Open, OpenError, Tree, closed};
use serde::{Deserialize, Serialize};

use crate::beneath;
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
    let fail = |path: &str, error: io::Error| failed(&folder.join(path), error);
    let unopened = |error: OpenError| Failure::outside(error.to_string());
    let written = || tree.files(open).map(|file| file.map_err(unopened));
    let files = written().map(|file| Ok(file?.0)).collect::<Result<BTreeSet<_>, Failure>>()?;
    let receipt = |files| {
        let receipt = Receipt { version: 1, environment: environment.to_owned(), tree: tree.id().to_string(), files };
        serde_json::to_vec_pretty(&receipt).map_err(|error| fail(RECEIPT, error.into()))
    };
    let write = |path: &str, bytes: &[u8]| beneath::write(folder, path, bytes).map_err(|error| fail(path, error));
    let remove = |path: &str| beneath::remove(folder, path).map_err(|error| fail(path, error));
    write(RUNNING, &receipt(earlier.union(&files).cloned().collect())?)?;
    remove(RECEIPT)?;
    let writing = progress.begin(Phase::Writing);
    writing.expect(files.len());
    for file in written() {
        let (path, entry) = file?;
        let Some(bytes) = entry.blob.bytes() else { continue };
        write(&path, bytes)?;
        writing.advance(1);
    }
    earlier.difference(&files).try_for_each(|stale| remove(stale))?;
    write(RECEIPT, &receipt(files)?)?;
    remove(RUNNING)
}

/// The file that is there while a folder is written: it lists all that may be there if the run ends early.
const RUNNING: &str = ".kalypso/running";

/// The files of an earlier run. Refuses a folder that holds something else.
fn earlier_files(folder: &Path, force: bool) -> Result<BTreeSet<String>, Failure> {
    let unreadable = |error: io::Error| Failure::outside(format!("`{}` can't be read: {error}", folder.display()));
    let mut files = BTreeSet::new();
    let mut is_ours = force;
    for list in [RECEIPT, RUNNING] {
        let Some(text) = beneath::read(folder, list).map_err(unreadable)? else { continue };
        if let Ok(receipt) = serde_json::from_slice::<Receipt>(&text) {
            is_ours = true;
            files.extend(receipt.files.into_iter().filter(|path| beneath::is_inside(path)));
        }
    }
    let is_empty = beneath::is_unused(folder).map_err(unreadable)?;
    if is_empty || is_ours {
        return Ok(files);
    }
    let message = format!("`{}` is not empty, and was not written by `render`", folder.display());
    Err(Failure::usage(message).help("take an empty folder, or --force to write among what is there"))
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
