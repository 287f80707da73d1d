//! Rendered folders in a temporary file.
//!
//! `render --out` writes each folder after all of them are compiled. The folders of a large fleet do not fit into memory until then, and rendering them
//! again takes longer than reading them from a file.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use engine::compile::FolderStore;
use model::git_id::GitId;
use model::tree::{Child, Entry, Mode, Tree};

/// A temporary file with folders of files. It has no name, so it disappears with the process, however that ends.
#[derive(Debug)]
pub(crate) struct FolderFile(Mutex<Records>);

#[derive(Debug)]
struct Records {
    file: File,
    /// The position behind the last record, in bytes.
    end: u64,
    /// Whether a folder could not be written. No further folder is stored then.
    has_failed: bool,
    /// The offset and the length of each folder's record, in bytes.
    positions: HashMap<GitId, (u64, usize)>,
}

impl FolderFile {
    /// Creates the file on the disk of a directory.
    ///
    /// # Errors
    /// If the file can't be created.
    pub(crate) fn create(directory: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(directory)?;
        Ok(Self(Mutex::new(Records { file, end: 0, has_failed: false, positions: HashMap::new() })))
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FolderStore for FolderFile {
    fn put(&self, folder: &Tree) {
        let Some(record) = encode(folder) else { return };
        let mut records = self.records();
        if !records.has_failed && !records.positions.contains_key(&folder.id()) {
            records.has_failed = records.append(folder.id(), &record).is_err();
        }
    }

    fn get(&self, id: GitId) -> Option<Tree> {
        let record = self.records().read(id)?;
        decode(&record).filter(|folder| folder.id() == id)
    }
}

impl Records {
    fn append(&mut self, id: GitId, record: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(record)?;
        self.positions.insert(id, (self.end, record.len()));
        self.end += record.len() as u64;
        Ok(())
    }

    fn read(&mut self, id: GitId) -> Option<Vec<u8>> {
        let (offset, len) = *self.positions.get(&id)?;
        self.file.seek(SeekFrom::Start(offset)).ok()?;
        let mut record = vec![0; len];
        self.file.read_exact(&mut record).ok()?;
        Some(record)
    }
}

/// Each file is its name and its content, both after their length in bytes. None if the folder has other children than ordinary files with content.
fn encode(folder: &Tree) -> Option<Vec<u8>> {
    let mut record = Vec::new();
    for (name, child) in folder.children() {
        let entry = child.as_file().filter(|entry| entry.mode == Mode::File)?;
        for part in [name.as_bytes(), entry.blob.bytes()?] {
            record.extend(u32::try_from(part.len()).ok()?.to_le_bytes());
            record.extend(part);
        }
    }
    Some(record)
}

/// None if the record is incomplete.
fn decode(mut record: &[u8]) -> Option<Tree> {
    let mut children = Vec::new();
    while !record.is_empty() {
        let name = take(&mut record)?;
        let bytes = take(&mut record)?;
        children.push((str::from_utf8(name).ok()?.into(), Child::File(Entry::file(bytes))));
    }
    Some(Tree::from_children(children))
}

fn take<'r>(record: &mut &'r [u8]) -> Option<&'r [u8]> {
    let (len, rest) = record.split_first_chunk()?;
    let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
    let (part, rest) = rest.split_at_checked(len)?;
    *record = rest;
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> Tree {
        Tree::from_children(
            files.iter().map(|(name, text)| ((*name).into(), Child::File(Entry::file(text.as_bytes())))),
        )
    }

    #[test]
    fn stored_folders_round_trip() {
        let directory = tempfile::tempdir().unwrap();
        let store = FolderFile::create(directory.path()).unwrap();
        let folders = [folder(&[("a.yaml", "a: 1\n"), ("empty", "")]), folder(&[("b.yaml", "b: 2\n")]), folder(&[])];
        folders.iter().chain(&folders).for_each(|folder| store.put(folder));
        for folder in &folders {
            let read = store.get(folder.id()).unwrap();
            let bytes = |tree: &Tree| tree.encode();
            assert_eq!(bytes(&read), bytes(folder));
            assert!(read.children().all(|(_, child)| child.as_file().unwrap().blob.bytes().is_some()));
        }
        assert_eq!(store.get(folder(&[("c", "")]).id()), None);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn damaged_records_are_ignored() {
        let directory = tempfile::tempdir().unwrap();
        let store = FolderFile::create(directory.path()).unwrap();
        let folder = folder(&[("a.yaml", "a: 1\n")]);
        store.put(&folder);
        store.records().append(folder.id(), b"\x01\0\0\0x").unwrap();
        assert_eq!(store.get(folder.id()), None);
        store.records().file.set_len(5).unwrap();
        assert_eq!(store.get(folder.id()), None);
        assert_eq!([&[1, 0][..], &[9, 0, 0, 0, 1]].map(decode), [None, None]);
    }
}
