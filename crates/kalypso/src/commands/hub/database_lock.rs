//! The lock of an SQLite database: one hub at a time runs with it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use hub::store::DatabaseUrl;
use workbench::process_lock;

use crate::exit::Failure;

/// Refuses a second hub with the same SQLite database. The lock ends with the process. Several hubs may share PostgreSQL.
pub(super) fn take(database: &DatabaseUrl) -> Result<Option<File>, Failure> {
    let DatabaseUrl::Sqlite(path) = database else { return Ok(None) };
    let lock = lock_file(path);
    let unusable =
        |error: std::io::Error| Failure::outside(format!("the lock `{}` can't be used: {error}", lock.display()));
    let file = File::options().create(true).truncate(false).write(true).open(&lock).map_err(unusable)?;
    if process_lock::lock(&file).map_err(unusable)? {
        return Ok(Some(file));
    }
    let message = format!("another `kalypso serve` or `kalypso hub run` uses the database `{}`", path.display());
    Err(Failure::refused(message).help("stop it first: SQLite is for one replica. Several replicas need PostgreSQL"))
}

/// The file beside the database, whichever of its names is configured. SQLite has locks of its own on the database itself.
fn lock_file(database: &Path) -> PathBuf {
    let mut name = fs::canonicalize(database).unwrap_or_else(|_| database.to_owned()).into_os_string();
    name.push(".lock");
    name.into()
}
