//! Secrets in files. A secret store, such as that of Kubernetes or Vault, may replace the file at any time, so each use reads it again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use model::secret::{Secret, SecretSource};

use crate::terminal;

/// A secret in a file that is read now.
///
/// # Errors
/// If the file can't be read, or is empty. Later, the last good value is used then.
pub(crate) fn read(key: &str, path: PathBuf) -> Result<SecretSource, String> {
    read_part(key, path, |text| text)
}

/// As [`read`], with a function that returns the part of the text with the secret.
pub(crate) fn read_part(key: &str, path: PathBuf, part: fn(&str) -> &str) -> Result<SecretSource, String> {
    let first = secret_in(&path, part).map_err(|reason| format!("`{key}`: {reason}"))?;
    let file = SecretFile { key: key.to_owned(), path, part, state: Mutex::new(State { last: first, is_lost: false }) };
    Ok(SecretSource::new(move || file.current()))
}

struct SecretFile {
    key: String,
    path: PathBuf,
    part: fn(&str) -> &str,
    state: Mutex<State>,
}

struct State {
    last: Secret,
    /// Whether the file could not be read at the last use.
    is_lost: bool,
}

impl SecretFile {
    /// The secret in the file. While the file is missing or empty, such as during its replacement, it is the last good one. A warning says so once.
    fn current(&self) -> Secret {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match secret_in(&self.path, self.part) {
            Ok(secret) => *state = State { last: secret, is_lost: false },
            Err(reason) => {
                if !state.is_lost {
                    warn(&format!("`{}`: {reason}; the last good value is used", self.key));
                }
                state.is_lost = true;
            }
        }
        state.last.clone()
    }
}

fn secret_in(path: &Path, part: fn(&str) -> &str) -> Result<Secret, String> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| format!("the file `{shown}` can't be read: {error}"))?;
    let secret = Secret::new(part(&text));
    if secret.reveal().is_empty() { Err(format!("the file `{shown}` is empty")) } else { Ok(secret) }
}

/// A warning in the log of a service, or on the screen.
fn warn(text: &str) {
    if tracing::dispatcher::has_been_set() { tracing::warn!("{text}") } else { terminal::warn(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_line(text: &str) -> &str {
        text.lines().next().unwrap_or_default()
    }

    #[test]
    fn replaced_file_is_read_again_and_missing_file_keeps_its_value() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, "one\nsecond line\n").unwrap();
        let source = read_part("token-file", path.clone(), first_line).unwrap();
        let current = || source.current().reveal().to_owned();
        assert_eq!(current(), "one");
        fs::write(folder.path().join("new"), "two\n").unwrap();
        fs::rename(folder.path().join("new"), &path).unwrap();
        assert_eq!(current(), "two");
        fs::write(&path, " \n").unwrap();
        assert_eq!(current(), "two");
        fs::remove_file(&path).unwrap();
        assert_eq!(current(), "two");
        fs::write(&path, "three").unwrap();
        assert_eq!(current(), "three");
    }

    #[test]
    fn a_file_that_was_never_good_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let error = || read("token-file", path.clone()).map(drop).unwrap_err();
        assert!(error().starts_with("`token-file`: the file `"), "{}", error());
        fs::write(&path, "\n").unwrap();
        assert!(error().ends_with("is empty"), "{}", error());
    }
}
