//! Imports the reports of a signed file that was copied from another site.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use hub_api::report::signed_file::{Head, SignedFileError, SignedFileReader, Unchecked};
use hub_api::report::{Report, ReportError, generic};
use hub_api::timestamp::Timestamp;
use serde::Serialize;

use crate::authentication::tokens::{self, Identity, Invalid, KnownToken};
use crate::ingest::ReportOutcome;
use crate::limits::{IMPORT_REFUSALS_MAX, IMPORT_REPORTS};
use crate::store::{Database, DatabaseError};
use crate::writer::{SubmitError, Writer};

/// A reader of the reports of a local file.
type FileReader<F> = SignedFileReader<BufReader<File>, F>;

/// The result of an import.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// The name of the token that signed the file.
    pub token: String,
    /// The time when the file was begun, by the clock of its site.
    pub created_on: Timestamp,
    /// The number of reports in the file.
    pub reports: usize,
    /// The number of reports that are new in the history.
    pub stored: usize,
    /// The number of reports that have the content of a stored report, at another timestamp.
    pub confirmed: usize,
    /// The number of reports that were stored before.
    pub repeated: usize,
    /// The number of reports that are kept apart, because their hosts are not registered for their places. Nothing counts them.
    pub apart: usize,
    /// The number of rejected reports.
    pub refused: usize,
    /// The first of the rejected reports, with the reasons.
    pub refusals: Vec<ImportRefusal>,
}

/// A rejected report.
#[derive(Clone, Debug, Serialize)]
pub struct ImportRefusal {
    /// The line of the report, counted from 1.
    pub line: usize,
    /// The reason.
    #[serde(flatten)]
    pub error: ReportError,
}

/// The file was not imported, or the import was interrupted.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file is damaged, or differs from the signed content.
    #[error(transparent)]
    File(#[from] SignedFileError),
    /// No token has the id in the file.
    #[error("it was signed with the token {0}, which is not a token of this hub")]
    UnknownToken(String),
    /// The token does not allow signatures.
    #[error("it was signed with the token `{0}`, which was created without `--signing`")]
    Purpose(String),
    /// The token is not valid any more.
    #[error("it was signed with the token `{name}`: {reason}")]
    Token {
        /// The name of the token.
        name: String,
        /// The reason.
        reason: Invalid,
    },
    /// The reports cannot be stored.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// The database cannot be read.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// Checks a whole file, and stores the reports that its token may submit. A repeated import changes nothing.
///
/// # Errors
/// The file differs from the signed content, or its token is not valid: then nothing is stored. The database cannot store the reports: then a part may
/// be stored, and a repeated import stores the rest.
pub async fn import(
    database: &Database,
    ingest: &Writer,
    path: &Path,
    now: Timestamp,
) -> Result<Imported, ImportError> {
    let head = open(path)?.head;
    let token = tokens::find(database, &head.token).await?;
    let token = token.ok_or_else(|| ImportError::UnknownToken(head.token.clone()))?;
    if !token.token.signs {
        return Err(ImportError::Purpose(token.token.name));
    }
    let reports = count(reader(path, &token, now)?)?;
    let identity = Identity::new(token.token.name.clone(), token.token.scope.clone());
    let mut import =
        Import { ingest, identity, now, waiting: Vec::new(), imported: Imported { reports, ..begun(&token, &head) } };
    let mut reader = reader(path, &token, now)?;
    while let Some((line, json)) = reader.next_report()? {
        import.take(line, &json).await?;
    }
    import.flush().await?;
    tokens::touch(database, vec![(head.token, now)]).await?;
    Ok(import.imported)
}

fn begun(token: &KnownToken, head: &Head) -> Imported {
    Imported { token: token.token.name.clone(), created_on: head.created_on, ..Imported::default() }
}

fn open(path: &Path) -> Result<Unchecked<BufReader<File>>, SignedFileError> {
    Unchecked::open(BufReader::new(File::open(path)?))
}

/// Checks all signatures of a file. Returns the number of reports.
fn count(mut reader: FileReader<impl Fn(&[u8], &str) -> bool>) -> Result<usize, SignedFileError> {
    let mut count = 0;
    while reader.next_report()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// A reader of a file that checks each signature with the token. Fails if the token is not valid.
fn reader(
    path: &Path,
    token: &KnownToken,
    now: Timestamp,
) -> Result<FileReader<impl Fn(&[u8], &str) -> bool>, ImportError> {
    let unchecked = open(path)?;
    let (message, signature) = unchecked.signed_head();
    match token.recognize_signature(message, signature, now) {
        Err(reason) if reason != Invalid::Secret => Err(ImportError::Token { name: token.token.name.clone(), reason }),
        _ => Ok(unchecked.check(move |message, signature| token.recognize_signature(message, signature, now).is_ok())?),
    }
}

/// The progress of an import.
struct Import<'a> {
    ingest: &'a Writer,
    identity: Identity,
    now: Timestamp,
    waiting: Vec<Report>,
    imported: Imported,
}

impl Import<'_> {
    async fn take(&mut self, line: usize, json: &str) -> Result<(), SubmitError> {
        let report = generic::read_one(json.as_bytes(), self.now);
        let report = report.and_then(|report| tokens::claim(&self.identity, report)?.check(self.now));
        match report {
            Ok(report) => self.waiting.push(report),
            Err(error) => {
                self.imported.refused += 1;
                if self.imported.refusals.len() < IMPORT_REFUSALS_MAX {
                    self.imported.refusals.push(ImportRefusal { line, error });
                }
            }
        }
        if self.waiting.len() < IMPORT_REPORTS { Ok(()) } else { self.flush().await }
    }

    async fn flush(&mut self) -> Result<(), SubmitError> {
        let reports = std::mem::take(&mut self.waiting);
        if reports.is_empty() {
            return Ok(());
        }
        for outcome in self.ingest.submit_from(&self.identity, reports).await?.outcomes {
            *match outcome {
                ReportOutcome::Stored => &mut self.imported.stored,
                ReportOutcome::Confirmed => &mut self.imported.confirmed,
                ReportOutcome::Repeated => &mut self.imported.repeated,
                ReportOutcome::Apart(_) => &mut self.imported.apart,
            } += 1;
        }
        Ok(())
    }
}
