//! Memos on disk. Each environment of a control plane has one file, which can be deleted at any time.
//!
//! A file contains digests of inputs and ids of outputs, but no values and no text. Files with names are in a separate folder. Kalypso publishes the ids of a
//! file without computing them again. So every file is signed with a key that is not in the cache, and a file without a valid signature is ignored. A file
//! that is missing or invalid is no error: the run only takes longer.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, SystemTime};

use engine::compile::memo::Memo;
use git::{CacheKey, trust};
use sha2::{Digest as _, Sha256};

/// The folder of the files in the cache.
const FOLDER: &str = "memos";
/// The folder of the files with names, in the cache.
const NAMES_FOLDER: &str = "names";
/// The extension of the files.
const ENDING: &str = ".memo";
/// The extension of files that are not completely written.
const UNFINISHED_ENDING: &str = ".unfinished";
/// The first bytes of a file. They identify the build, because another build may compute other results.
const HEADER: &str = concat!("kalypso ", env!("CARGO_PKG_VERSION"), " ", env!("KALYPSO_CODE_DIGEST"), "\n");

/// The purpose of the signatures.
const PURPOSE: &str = "memo";
/// The length of the signature at the end of a file, in bytes.
const SIGNATURE_BYTES: usize = 32;

/// The maximum size of a file, in bytes. It is enough for thirteen million assignments. The whole file is read into memory.
const FILE_BYTES_MAX: u64 = 512 << 20;
/// The maximum size of all files together, in bytes. It is enough for two of the largest files, or some hundred usual ones.
const TOTAL_BYTES_MAX: u64 = 1 << 30;
/// The maximum number of files, so that runs in many different folders do not fill the disk with small files.
const FILES_MAX: usize = 1_000;
/// The age after which an unfinished file is deleted. Writing a file takes about a second, so an older one is left over.
const UNFINISHED_AGE: Duration = Duration::from_hours(1);

/// The file with the memo of an environment.
#[derive(Debug)]
pub struct MemoFile {
    folder: PathBuf,
    path: PathBuf,
    /// The control plane and the environment.
    subject: String,
    /// The key of the signatures. None: no file is read or written.
    key: Option<CacheKey>,
}

impl MemoFile {
    /// The file for an environment of a control plane, in a cache with its key.
    pub fn new((cache, key): (&Path, Option<CacheKey>), control_plane: &str, environment: &str) -> Self {
        let subject = format!("{control_plane}\n{environment}");
        let digest = Sha256::digest(&subject);
        let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let folder = cache.join(FOLDER);
        let path = folder.join(name + ENDING);
        Self { folder, path, subject, key }
    }

    /// The file for names that shells complete, in a cache with its key.
    pub fn of_names((cache, key): (&Path, Option<CacheKey>), control_plane: &str, of: &str) -> Self {
        let file = Self::new((cache, key), control_plane, of);
        let folder = cache.join(NAMES_FOLDER);
        let path = file.path.file_name().map(|name| folder.join(name)).unwrap_or_default();
        Self { folder, path, ..file }
    }

    /// The file for the list of broken files in a control plane's repositories, in a cache with its key.
    pub fn of_broken_files(cache: (&Path, Option<CacheKey>), control_plane: &str) -> Self {
        // The name of an environment contains no blank.
        Self::new(cache, control_plane, "broken files")
    }

    /// Reads the memo. Empty if the file can't be read, or if another build or another key wrote it.
    pub fn load(&self) -> Memo {
        Memo::read(&self.load_bytes()).unwrap_or_default()
    }

    /// Writes the memo atomically. Errors are ignored.
    pub fn save(&self, memo: &Memo) {
        self.save_bytes(&memo.write());
    }

    /// Reads the content. Empty if the file can't be read, or if another build or another key wrote it.
    pub fn load_bytes(&self) -> Vec<u8> {
        let bytes = self.read().unwrap_or_default();
        let written = bytes.strip_prefix(HEADER.as_bytes());
        let (written, signature) = written.and_then(|written| written.split_last_chunk::<SIGNATURE_BYTES>()).unzip();
        let is_ours = |written: &&[u8]| {
            let key = self.key.as_ref().zip(signature);
            key.is_some_and(|(key, signature)| key.verify(PURPOSE, &self.signed(written), signature))
        };
        written.filter(is_ours).map(<[u8]>::to_vec).unwrap_or_default()
    }

    /// Writes the content atomically. Errors are ignored.
    pub fn save_bytes(&self, bytes: &[u8]) {
        let Some(key) = &self.key else { return };
        let signature = key.sign(PURPOSE, &self.signed(bytes));
        if bytes.len() as u64 <= FILE_BYTES_MAX && self.write(&[HEADER.as_bytes(), bytes, &signature]).is_ok() {
            // Errors are ignored: the next run deletes the same files.
            let _ = prune(&self.folder, &self.path);
        }
    }

    /// The signed parts: the build, the subject and the content.
    fn signed<'a>(&'a self, written: &'a [u8]) -> [&'a [u8]; 3] {
        [HEADER.as_bytes(), self.subject.as_bytes(), written]
    }

    /// Sets the modification time to the current time. The least recently used files are deleted first.
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
        let timestamp = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut unfinished = self.path.clone().into_os_string();
        unfinished.push(format!(".{}-{}{UNFINISHED_ENDING}", process::id(), timestamp.as_nanos()));
        // Each process writes a file with a different name. The last rename wins.
        let written = write_new(Path::new(&unfinished), parts).and_then(|()| fs::rename(&unfinished, &self.path));
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written
    }
}

/// Creates a file that only its owner can read. Fails if the file exists.
fn write_new(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    parts.iter().try_for_each(|part| file.write_all(part))
}

/// Deletes unfinished files, and the least recently used files beyond the limits. Files with other names stay.
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
