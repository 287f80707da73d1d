//! The key that signs cache entries. It is never stored in the cache.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use git::{CacheKey, trust};

use crate::exit::Failure;

/// The environment variable with a secret that several machines or runs share.
const SECRET: &str = "KALYPSO_CACHE_KEY";
/// The environment variable with the path of a file that holds this secret.
const SECRET_FILE: &str = "KALYPSO_CACHE_KEY_FILE";
/// The file with the user's own key, in the user's state directory.
const OWN_FILE: &str = "cache-key";
/// The number of bytes of a key file that are read.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// Returns the key for a cache. It is derived from the secret in a variable or a file. Without a secret it is this user's own key, which is created
/// if it does not exist. None if the own key can't be stored: then cache entries are neither signed nor accepted.
pub(crate) fn for_cache(cache: &Path, file: Option<&Path>) -> anyhow::Result<Option<CacheKey>> {
    // CI systems set an empty variable for a secret that a run may not read.
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(secret) = variable(SECRET) {
        return secret_of(SECRET, secret.as_encoded_bytes()).map(Some);
    }
    match variable(SECRET_FILE).map(PathBuf::from).as_deref().or(file) {
        Some(file) => of_file(cache, file).map(Some),
        None => Ok(own(cache)),
    }
}

fn secret_of(what: &str, secret: &[u8]) -> anyhow::Result<CacheKey> {
    Ok(CacheKey::derive(secret).map_err(|error| Failure::usage(format!("{what} is no key for the cache: {error}")))?)
}

fn of_file(cache: &Path, file: &Path) -> anyhow::Result<CacheKey> {
    if is_in(cache, file) {
        let message = format!("the key of the cache, `{}`, is in the cache itself", file.display());
        return Err(Failure::usage(message)
            .help("store it where users with write access to the cache can't read it")
            .into());
    }
    let unreadable =
        |error| Failure::usage(format!("the key of the cache can't be read: `{}`: {error}", file.display()));
    secret_of(&format!("`{}`", file.display()), &read(file).map_err(unreadable)?)
}

fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    fs::File::open(file)?.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_in(cache: &Path, file: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or(path.to_owned());
    real(file).starts_with(real(cache))
}

/// This user's own key on this machine. None if it can't be stored.
fn own(cache: &Path) -> Option<CacheKey> {
    use etcetera::BaseStrategy as _;
    let strategy = etcetera::choose_base_strategy().ok()?;
    let folder = strategy.state_dir().unwrap_or_else(|| strategy.data_dir()).join("kalypso");
    if is_in(cache, &folder) {
        return None;
    }
    own_in(&folder)
}

/// The key that is stored in a folder. Other users can't read this folder.
fn own_in(folder: &Path) -> Option<CacheKey> {
    let folder = trust::prepare_folder(folder).ok()?;
    let path = folder.join(OWN_FILE);
    if let Some(key) = kept(&path) {
        return Some(key);
    }
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).ok()?;
    let text: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut file = tempfile::NamedTempFile::new_in(&folder).ok()?;
    writeln!(file, "{text}").ok()?;
    file.as_file().sync_all().ok()?;
    if let Err(there) = file.persist_noclobber(&path) {
        // Another process may have created the key in the meantime. A key that other users could read, or a file without a valid key, is replaced.
        if kept(&path).is_none() {
            there.file.persist(&path).ok()?;
        }
    }
    kept(&path)
}

fn kept(path: &Path) -> Option<CacheKey> {
    let metadata = trust::check_file(path).ok()?;
    if !is_secret(&metadata) {
        return None;
    }
    CacheKey::derive(&read(path).ok()?).ok()
}

#[cfg(unix)]
fn is_secret(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    const FOR_OTHERS: u32 = 0o077;
    metadata.mode() & FOR_OTHERS == 0
}

/// The system denies other users access to a user's folders.
#[cfg(not(unix))]
fn is_secret(_metadata: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_key_is_made_once() {
        let folder = TempDir::new().unwrap();
        let state = folder.path().join("state/kalypso");
        let keys: Vec<_> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..8).map(|_| scope.spawn(|| own_in(&state))).collect();
            running.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
        assert_eq!(own_in(&state).as_ref(), Some(&keys[0]));
        assert_eq!(fs::read_dir(&state).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_could_read_is_replaced() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = TempDir::new().unwrap();
        let first = own_in(folder.path()).unwrap();
        let path = folder.path().join(OWN_FILE);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let second = own_in(folder.path()).unwrap();
        assert_ne!(first, second);
        assert_eq!(own_in(folder.path()), Some(second));
    }

    #[test]
    fn key_files_in_the_cache_are_refused() {
        let folder = TempDir::new().unwrap();
        let (cache, file) = (folder.path().join("cache"), folder.path().join("cache/key"));
        fs::create_dir(&cache).unwrap();
        fs::write(&file, "0123456789abcdef").unwrap();
        assert!(of_file(&cache, &file).is_err());
        assert!(of_file(&folder.path().join("other"), &file).is_ok());
        fs::write(&file, "short").unwrap();
        assert!(of_file(&folder.path().join("other"), &file).is_err());
    }
}
