//! `kalypso hub backup`: writes all data of the hub to a file.

use std::io::{BufWriter, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use hub::store::DatabaseUrl;
use hub::store::backup::{self, BackupError};
use tempfile::NamedTempFile;

use super::{STANDARD_STREAM, with_database};
use crate::arguments::HubBackup;
use crate::configuration;
use crate::exit::{Exit, Failure};
use crate::terminal;

pub(super) fn run(options: &HubBackup) -> anyhow::Result<Exit> {
    if options.file == Path::new(STANDARD_STREAM) {
        let mut out = BufWriter::new(std::io::stdout().lock());
        written(options, &mut out)?;
        return Ok(Exit::Good);
    }
    let name = options.file.display();
    if is_database(options)? {
        let reason = format!("`{name}` is the database itself, which the backup would replace");
        return Err(Failure::refused(reason).help("take another name").into());
    }
    if !options.force && options.file.exists() {
        return Err(exists(options).into());
    }
    let unwritable = |error: std::io::Error| Failure::outside(format!("`{name}` can't be written: {error}"));
    let folder = options.file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Only the owner may read the file, because it contains the digests of tokens.
    let mut file = NamedTempFile::new_in(folder).map_err(unwritable)?;
    let rows = written(options, &mut BufWriter::new(&mut file))?;
    file.as_file().sync_all().map_err(unwritable)?;
    let kept = if options.force { file.persist(&options.file) } else { file.persist_noclobber(&options.file) };
    kept.map_err(|error| match error.error.kind() {
        std::io::ErrorKind::AlreadyExists => exists(options),
        _ => unwritable(error.error),
    })?;
    terminal::note(&format!(
        "{} in `{name}`. It contains digests of tokens, with which reports can be signed: protect it like the database of the hub.",
        rows_text(rows)
    ));
    Ok(Exit::Good)
}

/// Whether the file is the database that is backed up, or a file that SQLite creates beside it.
fn is_database(options: &HubBackup) -> anyhow::Result<bool> {
    let DatabaseUrl::Sqlite(database) = configuration::read_hub(&options.database)?.database else { return Ok(false) };
    let beside = |ending: &str| {
        let mut name = database.clone().into_os_string();
        name.push(ending);
        PathBuf::from(name)
    };
    let own = ["", "-wal", "-shm", "-journal"].map(beside);
    Ok(own.iter().any(|own| is_same(own, &options.file)))
}

/// Whether two paths refer to the same file.
fn is_same(one: &Path, other: &Path) -> bool {
    let id = |path: &Path| path.metadata().map(|metadata| (metadata.dev(), metadata.ino())).ok();
    id(one).is_some_and(|one| id(other) == Some(one))
}

/// The number of rows as text.
pub(super) fn rows_text(rows: u64) -> String {
    terminal::count(usize::try_from(rows).unwrap_or(usize::MAX), "row")
}

/// Converts an error of a backup to an error of the command.
pub(super) fn failure(error: BackupError) -> anyhow::Error {
    match error {
        BackupError::File(error) => anyhow::Error::new(error).context("the file of the backup"),
        BackupError::Database(_) => Failure::outside(error.to_string()).into(),
        _ => Failure::refused(error.to_string()).into(),
    }
}

fn written(options: &HubBackup, out: &mut impl Write) -> anyhow::Result<u64> {
    with_database(&options.database, async |database| backup::back_up(database, out).await.map_err(failure))
}

fn exists(options: &HubBackup) -> Failure {
    Failure::refused(format!("`{}` exists already", options.file.display())).help("take another name, or --force")
}
