//! Memos on disk: a file for each environment of a control plane, which can be removed at any time.
//!
//! A file holds digests of inputs and ids of outputs, no value and no text; files of names, in a folder of their own, hold names. It is signed with a key that is not in the cache: the ids that it
//! holds are published without being computed again, so only what this program wrote itself is believed. Whatever is wrong with a file, it is as if it were
//! not there: it only ever saves work. Nothing here fails: a run without the file only takes longer.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, SystemTime};

use engine::memo::Memo;
use git::{Key, trust};
use sha2::{Digest as _, Sha256};

/// The folder of the cache that the files are in.
const FOLDER: &str = "memos";
/// The folder of files with names.
const NAMES_FOLDER: &str = "names";
/// What the names of the files end with.
const ENDING: &str = ".memo";
/// What their names end with before they are whole.
const UNFINISHED_ENDING: &str = ".unfinished";
/// What a file begins with: it is of no use to any other build whose results may be others.
const HEADER: &str = concat!("kalypso ", env!("CARGO_PKG_VERSION"), " ", env!("KALYPSO_CODE_DIGEST"), "\n");

/// What a signature of a file is for.
const PURPOSE: &str = "memo";
/// Bytes of a signature, which a file ends with.
const SIGNATURE_BYTES: usize = 32;

/// The largest file: thirteen million assignments. It is read into memory as a whole.
const FILE_BYTES_MAX: u64 = 512 << 20;
/// All files together. Two of the largest, or some hundred usual ones.
const TOTAL_BYTES_MAX: u64 = 1 << 30;
/// How many files there are: runs in ever new folders do not fill a disk with small files.
const FILES_MAX: usize = 1_000;
/// What was not finished by then never will be: a whole file is written in a second.
const UNFINISHED_AGE: Duration = Duration::from_hours(1);

/// Where the memo of an environment is.
#[derive(Debug)]
pub struct MemoFile {
    folder: PathBuf,
    path: PathBuf,
    /// What it is about.
    subject: String,
    /// Without a key, nothing is believed.
    key: Option<Key>,
}

impl MemoFile {
    /// The file, in a cache with its key, for an environment of a control plane.
    pub fn of((cache, key): (&Path, Option<Key>), control_plane: &str, environment: &str) -> Self {
        let subject = format!("{control_plane}\n{environment}");
        let digest = Sha256::digest(&subject);
        let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let folder = cache.join(FOLDER);
        let path = folder.join(name + ENDING);
        Self { folder, path, subject, key }
    }

    /// The file, in a cache with its key, for names that shells complete.
    pub fn of_names((cache, key): (&Path, Option<Key>), control_plane: &str, of: &str) -> Self {
        let file = Self::of((cache, key), control_plane, of);
        let folder = cache.join(NAMES_FOLDER);
        let path = file.path.file_name().map(|name| folder.join(name)).unwrap_or_default();
        Self { folder, path, ..file }
    }

    /// The file, in a cache with its key, for what of a control plane's repositories is broken.
    pub fn of_broken_files(cache: (&Path, Option<Key>), control_plane: &str) -> Self {
        // No environment has a name of two words.
        Self::of(cache, control_plane, "broken files")
    }

    /// What is known; nothing, if it can't be read or is not as this build has written it.
    pub fn load(&self) -> Memo {
        Memo::read(&self.load_bytes()).unwrap_or_default()
    }

    /// Writes what is known, whole or not at all.
    pub fn save(&self, memo: &Memo) {
        self.save_bytes(&memo.write());
    }

    /// What the file holds; nothing, if it can't be read or is not as this build has written it.
    pub fn load_bytes(&self) -> Vec<u8> {
        let bytes = self.read().unwrap_or_default();
        let written = bytes.strip_prefix(HEADER.as_bytes());
        let (written, signature) = written.and_then(|written| written.split_last_chunk::<SIGNATURE_BYTES>()).unzip();
        let is_ours = |written: &&[u8]| {
            let key = self.key.as_ref().zip(signature);
            key.is_some_and(|(key, signature)| key.has_signed(PURPOSE, &self.signed(written), signature))
        };
        written.filter(is_ours).map(<[u8]>::to_vec).unwrap_or_default()
    }

    /// Writes the file, whole or not at all.
    pub fn save_bytes(&self, bytes: &[u8]) {
        let Some(key) = &self.key else { return };
        let signature = key.sign(PURPOSE, &self.signed(bytes));
        if bytes.len() as u64 <= FILE_BYTES_MAX && self.write(&[HEADER.as_bytes(), bytes, &signature]).is_ok() {
            // What is too much now is found by the next one as well.
            let _ = prune(&self.folder, &self.path);
        }
    }

    /// What a signature covers: which code found out what about what.
    fn signed<'a>(&'a self, written: &'a [u8]) -> [&'a [u8]; 3] {
        [HEADER.as_bytes(), self.subject.as_bytes(), written]
    }

    /// Notes that the file was of use: of all, the ones that were not for the longest time are removed first.
    pub fn touch(&self) {
        if trust::check_file(&self.path).is_err() {
            return;
        }
        let touched = File::options().append(true).open(&self.path);
        let _ = touched.and_then(|file| file.set_modified(SystemTime::now()));
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        trust::check_folder(&self.folder).map_err(io::Error::other)?;
        let metadata = trust::check_file(&self.path).map_err(io::Error::other)?;
        if metadata.len() > FILE_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut bytes = Vec::with_capacity(metadata.len() as usize);
        File::open(&self.path)?.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn write(&self, parts: &[&[u8]]) -> io::Result<()> {
        trust::prepare_folder(&self.folder).map_err(io::Error::other)?;
        let moment = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut unfinished = self.path.clone().into_os_string();
        unfinished.push(format!(".{}-{}{UNFINISHED_ENDING}", process::id(), moment.as_nanos()));
        // Other processes write files of other names; the last one stays.
        let written = write_new(Path::new(&unfinished), parts).and_then(|()| fs::rename(&unfinished, &self.path));
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written
    }
}

/// Writes a file that is not there yet, for its owner's eyes only.
fn write_new(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    parts.iter().try_for_each(|part| file.write_all(part))
}

/// Removes what is too much: the files that were of no use for the longest time, and what was never finished. Files of other names stay.
fn prune(folder: &Path, newest: &Path) -> io::Result<()> {
    let now = SystemTime::now();
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        let (name, used) = (path.to_string_lossy(), metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH));
        if !metadata.is_file() || path == newest {
            continue;
        }
        if name.ends_with(ENDING) {
            files.push((used, metadata.len(), path));
        } else if name.ends_with(UNFINISHED_ENDING) && now.duration_since(used).is_ok_and(|age| age > UNFINISHED_AGE) {
            fs::remove_file(&path)?;
        }
    }
    files.sort();
    let (mut count, mut bytes) = (1, fs::symlink_metadata(newest)?.len());
    for (_, length, path) in files.into_iter().rev() {
        (count, bytes) = (count + 1, bytes + length);
        if count > FILES_MAX || bytes > TOTAL_BYTES_MAX {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
