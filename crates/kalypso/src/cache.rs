//! The cache folder: the configured folder, or a temporary folder if the configured folder is not trusted.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use git::trust::{self, Distrust};
use model::diagnostic::Code;
use tempfile::TempDir;

use crate::exit::Failure;
use crate::terminal;

/// The temporary folder that replaces an untrusted cache in this run.
static TEMPORARY: Mutex<Option<TempDir>> = Mutex::new(None);

/// Returns the folder, or a temporary folder if it is not trusted. A folder that can't be created is returned too: the first access reports the
/// error.
pub(crate) fn trusted(folder: PathBuf) -> anyhow::Result<PathBuf> {
    match trust::check_folder(&folder) {
        Ok(_) | Err(Distrust::Unusable { .. }) => Ok(folder),
        Err(distrust) => temporary(&folder, &distrust),
    }
}

/// Returns an empty folder, which is the same for the whole run. The first call prints the reason.
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

/// Removes the temporary folder of this run.
pub(crate) fn remove_temporary() {
    // Dropping the value removes the folder.
    drop(TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).take());
}
