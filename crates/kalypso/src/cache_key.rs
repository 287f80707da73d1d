//! The key that signs what is believed of the cache. It is never in the cache.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use git::{Key, trust};

use crate::exit::Failure;

/// The variable with a secret that several machines or runs share.
const SECRET: &str = "KALYPSO_CACHE_KEY";
/// The variable with the name of a file that holds it.
const SECRET_FILE: &str = "KALYPSO_CACHE_KEY_FILE";
/// The file in the user's folder for state.
const OWN_FILE: &str = "cache-key";
/// Bytes of a file that are read.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// The key for a cache: of the secret that is given, in a variable or file, else this user's own, which is made if there is none. None if it can't be
/// kept: then nothing is believed, and nothing signed.
pub(crate) fn of(cache: &Path, file: Option<&Path>) -> anyhow::Result<Option<Key>> {
    // An empty variable is what CI systems make of a secret that a run may not see.
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(secret) = variable(SECRET) {
        return secret_of(SECRET, secret.as_encoded_bytes()).map(Some);
    }
    match variable(SECRET_FILE).map(PathBuf::from).as_deref().or(file) {
        Some(file) => of_file(cache, file).map(Some),
        None => Ok(own(cache)),
    }
}

fn secret_of(what: &str, secret: &[u8]) -> anyhow::Result<Key> {
    Ok(Key::derive(secret).map_err(|error| Failure::usage(format!("{what} is no key for the cache: {error}")))?)
}

fn of_file(cache: &Path, file: &Path) -> anyhow::Result<Key> {
    if is_in(cache, file) {
        let message = format!("the key of the cache, `{}`, is in the cache itself", file.display());
        return Err(Failure::usage(message).help("keep it where whoever may write the cache can't read it").into());
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

/// This user's own key, on this machine.
fn own(cache: &Path) -> Option<Key> {
    use etcetera::BaseStrategy as _;
    let strategy = etcetera::choose_base_strategy().ok()?;
    let folder = strategy.state_dir().unwrap_or_else(|| strategy.data_dir()).join("kalypso");
    if is_in(cache, &folder) {
        return None;
    }
    own_in(&folder)
}

/// The key that is kept in a folder, which nobody else may read.
fn own_in(folder: &Path) -> Option<Key> {
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
        // Another process may have been quicker. What others could read, or what is no key, is replaced.
        if kept(&path).is_none() {
            there.file.persist(&path).ok()?;
        }
    }
    kept(&path)
}

fn kept(path: &Path) -> Option<Key> {
    let metadata = trust::check_file(path).ok()?;
    if !is_secret(&metadata) {
        return None;
    }
    Key::derive(&read(path).ok()?).ok()
}

#[cfg(unix)]
fn is_secret(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    const FOR_OTHERS: u32 = 0o077;
    metadata.mode() & FOR_OTHERS == 0
}

/// Folders of a user are closed to others by the system.
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
    fn a_key_in_the_cache_is_none() {
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
