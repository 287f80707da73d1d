//! The folder of the cache: the one that is named, or a new one where that can't be trusted.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use git::trust::{self, Distrust};
use model::diagnostic::Code;
use tempfile::TempDir;

use crate::exit::Failure;
use crate::terminal;

/// What is used for this run instead of a cache that is not trusted.
static TEMPORARY: Mutex<Option<TempDir>> = Mutex::new(None);

/// The folder to use for the one that is named. What can't be made is no matter of trust: who needs it says so.
pub(crate) fn trusted(folder: PathBuf) -> anyhow::Result<PathBuf> {
    match trust::check_folder(&folder) {
        Ok(_) | Err(Distrust::Unusable { .. }) => Ok(folder),
        Err(distrust) => temporary(&folder, &distrust),
    }
}

/// An empty folder, the same one for the whole run. The first one who needs it says why.
fn temporary(folder: &Path, distrust: &Distrust) -> anyhow::Result<PathBuf> {
    let mut temporary = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(temporary) = &*temporary {
        return Ok(temporary.path().to_owned());
    }
    let made = tempfile::Builder::new().prefix("kalypso-").tempdir();
    let made = made.map_err(|error| {
        Failure::outside(format!(
            "[{}] the cache is not used: {distrust}; and there is no other: {error}",
            Code::UntrustedCache
        ))
        .help(git::UNTRUSTED_CACHE_HELP)
    })?;
    terminal::warn(&format!(
        "[{}] the cache `{}` is not used in this run: {distrust}\n  = help: {}",
        Code::UntrustedCache,
        folder.display(),
        git::UNTRUSTED_CACHE_HELP
    ));
    let path = made.path().to_owned();
    *temporary = Some(made);
    Ok(path)
}

/// Removes what was used in this run only.
pub(crate) fn remove_temporary() {
    // Dropping it removes it.
    drop(TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).take());
}
