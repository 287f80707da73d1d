//! Memos on disk: a file for each environment of a control plane, which can be removed at any time.
//!
//! A file holds digests of inputs and ids of outputs, no value and no text. Whatever is wrong with it, it is as if it were not there: it
//! only ever saves work. Nothing here fails, because nobody has to know.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, SystemTime};

use engine::memo::Memo;
use sha2::{Digest as _, Sha256};

/// The folder of the cache that the files are in.
const FOLDER: &str = "memos";
/// What the names of the files end with.
const ENDING: &str = ".memo";
/// What their names end with before they are whole.
const UNFINISHED_ENDING: &str = ".unfinished";
/// What a file begins with: it is of no use to any other build whose results may be others.
const HEADER: &str = concat!("kalypso ", env!("CARGO_PKG_VERSION"), " ", env!("KALYPSO_CODE_DIGEST"), "\n");

/// The largest file: thirteen million assignments. It is read into memory as a whole.
const FILE_BYTES_MAX: u64 = 512 << 20;
/// All files together. Two of the largest, or some hundred usual ones.
const TOTAL_BYTES_MAX: u64 = 1 << 30;
/// How many files there are: whoever runs the program in new folders all day does not fill a disk with small ones.
const FILES_MAX: usize = 1_000;
/// What was not finished by then never will be: a whole file is written in a second.
const UNFINISHED_AGE: Duration = Duration::from_hours(1);

/// Where the memo of an environment is.
#[derive(Debug)]
pub(crate) struct MemoFile {
    folder: PathBuf,
    path: PathBuf,
}

impl MemoFile {
    /// The file, in a cache, for an environment of a control plane.
    pub(crate) fn of(cache: &Path, control_plane: &str, environment: &str) -> Self {
        let digest = Sha256::digest(format!("{control_plane}\n{environment}"));
        let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let folder = cache.join(FOLDER);
        let path = folder.join(name + ENDING);
        Self { folder, path }
    }

    /// What is known; nothing, if it can't be read or is not as this build has written it.
    pub(crate) fn load(&self) -> Memo {
        let bytes = self.read().unwrap_or_default();
        let written = bytes.strip_prefix(HEADER.as_bytes());
        written.and_then(|written| Memo::read(written).ok()).unwrap_or_default()
    }

    /// Writes what is known, whole or not at all.
    pub(crate) fn save(&self, memo: &Memo) {
        let bytes = memo.write();
        if bytes.len() as u64 <= FILE_BYTES_MAX && self.write(&bytes).is_ok() {
            // What is too much now is found by the next one as well.
            let _ = prune(&self.folder, &self.path);
        }
    }

    /// Notes that the file was of use: of all, the ones that were not for the longest time are removed first.
    pub(crate) fn touch(&self) {
        let touched = File::options().append(true).open(&self.path);
        let _ = touched.and_then(|file| file.set_modified(SystemTime::now()));
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        check_ours(&self.folder, Metadata::is_dir)?;
        let metadata = check_ours(&self.path, Metadata::is_file)?;
        if metadata.len() > FILE_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut bytes = Vec::with_capacity(metadata.len() as usize);
        File::open(&self.path)?.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        make_folder(&self.folder)?;
        check_ours(&self.folder, Metadata::is_dir)?;
        let moment = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut unfinished = self.path.clone().into_os_string();
        unfinished.push(format!(".{}-{}{UNFINISHED_ENDING}", process::id(), moment.as_nanos()));
        // Other processes write files of other names; whoever is last has the file.
        let written = write_new(Path::new(&unfinished), bytes).and_then(|()| fs::rename(&unfinished, &self.path));
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written
    }
}

/// Writes a file that is not there yet, for its owner's eyes only.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(HEADER.as_bytes())?;
    file.write_all(bytes)
}

fn make_folder(folder: &Path) -> io::Result<()> {
    if let Some(cache) = folder.parent() {
        fs::create_dir_all(cache)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Makes sure that something is of this kind, no symbolic link, and that nobody else can have put it there or changed it: a memo decides
/// what is published.
fn check_ours(path: &Path, is_kind: fn(&Metadata) -> bool) -> io::Result<Metadata> {
    let metadata = fs::symlink_metadata(path)?;
    if is_kind(&metadata) && is_private(&metadata) { Ok(metadata) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

#[cfg(unix)]
fn is_private(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    metadata.uid() == nix::unistd::geteuid().as_raw() && metadata.mode() & WRITABLE_BY_OTHERS == 0
}

/// The user's cache folder is the user's own.
#[cfg(not(unix))]
fn is_private(_metadata: &Metadata) -> bool {
    true
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
