//! Writes trees to disk: complete, and only into folders that are empty or that Kalypso wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use model::git_id::GitId;
use model::progress::{Progress, ProgressPhase};
use model::tree::{Child, Entry, Open, Sealed, Tree, closed};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use workbench::contained_files;

use crate::exit::Failure;

/// The file that lists the written files, below the folder. It is written last: if it is missing, a run ended early.
const RECEIPT: &str = ".kalypso/render.json";

/// The list of the written files.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Receipt<F> {
    /// The version of the format of this file.
    version: u32,
    /// The environment.
    environment: String,
    /// The git id of the tree that was written.
    tree: String,
    /// The files by path.
    files: F,
}

/// Options for writing a tree.
#[derive(Clone, Copy)]
pub(crate) struct Write<'a> {
    /// Opens sealed values in the tree.
    pub(crate) open: &'a Open<'a>,
    /// The environment of the tree.
    pub(crate) environment: &'a str,
    /// Whether to write into a folder that holds other files.
    pub(crate) force: bool,
    /// The number of assignments that have a folder in the tree.
    pub(crate) assignments: usize,
    /// Counts the written folders of assignments.
    pub(crate) progress: &'a Progress,
}

/// Writes a tree into `folder`. Each file is written completely or not at all. Files of an earlier run that are not in the tree are removed. Returns
/// the files that were written, with the ids of their contents. Each folder of the tree is opened once, and only a few files are in memory at a time.
pub(crate) fn write(folder: &Path, tree: &Tree, options: &Write<'_>) -> Result<BTreeMap<String, GitId>, Failure> {
    let earlier = earlier_files(folder, options.force)?;
    let target = Target { folder, environment: options.environment, tree: tree.id() };
    let mut running = serde_json::to_vec(&target.receipt(earlier.iter().collect()));
    if let Ok(line) = &mut running {
        line.push(b'\n');
    }
    target.write(RUNNING, running)?;
    target.remove(RECEIPT)?;
    let files = target.write_files(tree, options)?;
    earlier.iter().filter(|path| !files.contains_key(*path)).try_for_each(|stale| target.remove(stale))?;
    target.write(RECEIPT, serde_json::to_vec_pretty(&target.receipt(files.keys().collect())))?;
    target.remove(RUNNING)?;
    Ok(files)
}

/// The folder that is written to.
struct Target<'a> {
    folder: &'a Path,
    environment: &'a str,
    tree: GitId,
}

impl Target<'_> {
    fn receipt<'f>(&self, files: Vec<&'f String>) -> Receipt<Vec<&'f String>> {
        Receipt { version: 1, environment: self.environment.to_owned(), tree: self.tree.to_string(), files }
    }

    /// Writes the files of a tree. The path of each file is added to the list of the run before the file is written.
    fn write_files(&self, tree: &Tree, options: &Write<'_>) -> Result<BTreeMap<String, GitId>, Failure> {
        let mut list = contained_files::append(self.folder, RUNNING).map_err(|error| self.failed(RUNNING, error))?;
        let writing = options.progress.begin(ProgressPhase::Writing);
        writing.expect(options.assignments);
        let open = |sealed: &Sealed| {
            let opened = (options.open)(sealed)?;
            // The folder of an assignment holds only files.
            writing.advance(usize::from(opened.children().all(|(_, child)| !child.is_folder())));
            Ok(opened)
        };
        let mut files = tree.files(&open).map(|file| file.map_err(|error| Failure::outside(error.to_string())));
        let mut written = BTreeMap::new();
        loop {
            let batch = files.by_ref().take(BATCH_FILES).collect::<Result<Vec<_>, _>>()?;
            if batch.is_empty() {
                return Ok(written);
            }
            let lines: String = batch.iter().map(|(path, _)| format!("{}\n", Json::from(path.as_str()))).collect();
            list.write_all(lines.as_bytes()).map_err(|error| self.failed(RUNNING, error))?;
            for (path, entry) in batch {
                if let Some(bytes) = entry.blob.bytes() {
                    self.write(&path, Ok(bytes))?;
                }
                written.insert(path, entry.blob.id());
            }
        }
    }

    fn write(&self, path: &str, bytes: serde_json::Result<impl AsRef<[u8]>>) -> Result<(), Failure> {
        let written =
            bytes.map_err(io::Error::from).and_then(|bytes| contained_files::write(self.folder, path, bytes.as_ref()));
        written.map_err(|error| self.failed(path, error))
    }

    fn remove(&self, path: &str) -> Result<(), Failure> {
        contained_files::remove(self.folder, path).map_err(|error| self.failed(path, error))
    }

    fn failed(&self, path: &str, error: io::Error) -> Failure {
        Failure::outside(format!("`{}` can't be written: {error}", self.folder.join(path).display()))
            .help("files that were written before are whole; the folder has no .kalypso/render.json, and the next run goes on")
    }
}

/// The file that exists while a folder is written. It begins with the receipt of the earlier runs. After it, each line is the path of a file that
/// this run writes. So the file lists all files that may exist if the run ends early.
const RUNNING: &str = ".kalypso/running";

/// The number of files that are in memory at a time while they are written.
const BATCH_FILES: usize = 64;

/// Returns the files of an earlier run. Fails if the folder holds other files.
fn earlier_files(folder: &Path, force: bool) -> Result<BTreeSet<String>, Failure> {
    let unreadable = |error: io::Error| Failure::outside(format!("`{}` can't be read: {error}", folder.display()));
    let mut files = BTreeSet::new();
    let mut is_ours = force;
    for list in [RECEIPT, RUNNING] {
        let Some(text) = contained_files::read(folder, list).map_err(unreadable)? else { continue };
        let mut text = serde_json::Deserializer::from_slice(&text);
        if let Ok(receipt) = Receipt::<Vec<String>>::deserialize(&mut text) {
            is_ours = true;
            let behind = text.into_iter::<String>().map_while(Result::ok);
            files.extend(receipt.files.into_iter().chain(behind).filter(|path| contained_files::is_inside(path)));
        }
    }
    let is_empty = contained_files::is_unused(folder).map_err(unreadable)?;
    if is_empty || is_ours {
        return Ok(files);
    }
    let message = format!("`{}` is not empty, and was not written by `render`", folder.display());
    Err(Failure::usage(message).help("use an empty folder, or --force to write into this one"))
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use model::tree::{OpenError, SealedBy};

    use super::*;

    fn inside(name: &str) -> Tree {
        Tree::from_children([(name.into(), Child::File(Entry::file(name.as_bytes())))])
    }

    /// Two folders with ids: folder 0 holds `a.yaml`, folder 1 holds `b.yaml`.
    fn tree() -> Tree {
        let sealed = |(key, name): (u64, &str)| Sealed { id: inside(name).id(), by: SealedBy::Generator(key) };
        let child = |key, name| Child::Sealed(sealed((key, name)));
        Tree::from_children([("east".into(), child(0, "a.yaml")), ("west".into(), child(1, "b.yaml"))])
    }

    fn opened(sealed: &Sealed) -> Result<Tree, OpenError> {
        match sealed.by {
            SealedBy::Generator(0) => Ok(inside("a.yaml")),
            SealedBy::Generator(1) => Ok(inside("b.yaml")),
            _ => closed(sealed),
        }
    }

    fn options<'a>(open: &'a Open<'a>, progress: &'a Progress) -> Write<'a> {
        Write { open, environment: "dev", force: false, assignments: 2, progress }
    }

    #[test]
    fn each_folder_is_opened_once() {
        let (folder, opens) = (tempfile::tempdir().unwrap(), AtomicUsize::new(0));
        let open = |sealed: &Sealed| {
            opens.fetch_add(1, Ordering::Relaxed);
            opened(sealed)
        };
        let progress = Progress::watched();
        let written = write(folder.path(), &tree(), &options(&open, &progress)).unwrap();
        let counted = progress.seen().map(|seen| (seen.phase, seen.done, seen.total));
        assert_eq!(counted, Some((ProgressPhase::Writing, 2, 2)));
        assert_eq!(written.keys().collect::<Vec<_>>(), ["east/a.yaml", "west/b.yaml"]);
        assert_eq!(
            read(folder.path()).unwrap(),
            Tree::from_children([
                ("east".into(), Child::Tree(inside("a.yaml"))),
                ("west".into(), Child::Tree(inside("b.yaml"))),
            ])
        );
        assert_eq!(opens.into_inner(), 2);
    }

    #[test]
    fn files_of_an_unfinished_run_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let running = |behind: &str| {
            let receipt = r#"{"version":1,"environment":"dev","tree":"","files":["old.yaml"]}"#;
            fs::create_dir_all(folder.path().join(".kalypso")).unwrap();
            fs::write(folder.path().join(RUNNING), format!("{receipt}\n{behind}")).unwrap();
            earlier_files(folder.path(), false).unwrap().into_iter().collect::<Vec<_>>()
        };
        assert_eq!(running(""), ["old.yaml"]);
        assert_eq!(running("\"east/a.yaml\"\n\"../b\"\n\"west/\\u0062.ya"), ["east/a.yaml", "old.yaml"]);
        fs::write(folder.path().join("old.yaml"), "old").unwrap();
        write(folder.path(), &tree(), &options(&opened, &Progress::default())).unwrap();
        assert!(!folder.path().join("old.yaml").exists() && !folder.path().join(RUNNING).exists());
    }
}
