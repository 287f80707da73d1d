//! Signed reports in a file, for transport to the hub.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use hub_api::limits::SIGNED_END_BYTES_MAX;
use hub_api::report::Report as Said;
use hub_api::report::batch::Refused;
use hub_api::report::generic;
use hub_api::report::signed_file::{self, SignedFileError};
use hub_api::timestamp::Timestamp;
use hub_api::token::TokenText;
use serde::Serialize;
use tempfile::NamedTempFile;
use utoipa::ToSchema;

use super::batches::{Batch, batches};
use crate::arguments::{Format, Report};
use crate::exit::{Exit, Failure};
use crate::hub_client;
use crate::terminal;

/// A signed file to which reports were added.
#[derive(Serialize, ToSchema)]
pub(crate) struct ExtendedFile {
    /// The signed file, as it was named.
    #[schema(value_type = String)]
    file: PathBuf,
    /// How many reports were added to it.
    added: usize,
    /// How many it has now.
    reports: u64,
}

pub(super) fn keep(options: &Report, given: &[u8], file: &Path) -> anyhow::Result<Exit> {
    let token = hub_client::token(&options.connection)?.ok_or_else(|| {
        Failure::usage("without a token nothing can be signed")
            .help("put it into KALYPSO_HUB_TOKEN, or name its file with --token-file")
    })?;
    let token: TokenText = token
        .current()
        .reveal()
        .parse()
        .map_err(|error: hub_api::token::TokenTextError| Failure::usage(error.to_string()))?;
    if !token.signs() {
        return Err(Failure::usage("this token is not for signing: the hub would refuse the file")
            .help(
                "tokens that sign begin with `kals_`; `kalypso hub token create NAME --host HOST --signing` makes one",
            )
            .into());
    }
    let reports = parse_reports(given)?;
    let count = add(file, &token, &reports).map_err(|error| failure(file, error))?;
    if options.connection.output == Format::Human {
        let (added, all) = (terminal::count(reports.len(), "report"), terminal::thousands(usize::try_from(count)?));
        terminal::answer(&format!("{added} signed and added to `{}`, which has {all} now\n", file.display()))?;
    } else {
        let answer = ExtendedFile { file: file.to_owned(), added: reports.len(), reports: count };
        terminal::answer(&terminal::structured(&answer, options.connection.output))?;
    }
    Ok(Exit::Good)
}

/// Parses all reports of a text, or fails: only valid reports are signed.
fn parse_reports(given: &[u8]) -> Result<Vec<Said>, Failure> {
    let mut reports = Vec::new();
    for Batch { body, lines, .. } in batches(given) {
        let batch = generic::read(&body, Timestamp::now()).map_err(|error| Failure::usage(error.to_string()))?;
        let (taken, refused) = batch.into_parts();
        if let Some(Refused { position, error }) = refused.first() {
            let line = lines.as_ref().and_then(|lines| lines.get(position.index));
            let place = line.map_or_else(|| format!("report {}", position.index), |line| format!("line {line}"));
            return Err(Failure::refused(format!("{place}: {error}; nothing is signed")));
        }
        reports.extend(taken);
    }
    Ok(reports)
}

fn failure(file: &Path, error: SignedFileError) -> Failure {
    let name = file.display();
    match error {
        SignedFileError::Foreign => Failure::refused(format!("`{name}` can't be continued: {error}"))
            .help("take another name: a file is continued only with the token that began it, and only if it is whole"),
        error => Failure::outside(format!("`{name}` can't be written: {error}")),
    }
}

/// Adds reports to a file, which is replaced atomically. Returns the number of reports in it.
fn add(path: &Path, token: &TokenText, reports: &[Said]) -> Result<u64, SignedFileError> {
    let mut file = locked(path)?;
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(SIGNED_END_BYTES_MAX as u64)))?;
    let mut end = Vec::new();
    file.read_to_end(&mut end)?;
    let addition = signed_file::add(&end, token, reports, Timestamp::now())?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut new = NamedTempFile::new_in(folder)?;
    file.seek(SeekFrom::Start(0))?;
    io::copy(&mut (&file).take(length - addition.replaced as u64), &mut new)?;
    new.write_all(&addition.bytes)?;
    new.as_file().set_permissions(file.metadata()?.permissions())?;
    new.as_file().sync_all()?;
    new.persist(path).map_err(io::Error::from)?;
    Ok(addition.reports)
}

/// Opens and locks the file, so that no other process adds to it. The file is created if it is missing.
fn locked(path: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        file.lock()?;
        // The process that held the lock before may have replaced the file.
        if is_at(&file, path)? {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let own = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(present) => Ok((present.dev(), present.ino()) == (own.dev(), own.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
