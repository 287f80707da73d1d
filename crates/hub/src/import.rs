//! Takes over the reports of a signed file that somebody carried here.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use hub_api::report::signed_file::{Head, Reader, SignedFileError, Unchecked};
use hub_api::report::{Report, ReportError, generic};
use hub_api::timestamp::Timestamp;
use serde::Serialize;

use crate::ingest::Outcome;
use crate::limits::{IMPORT_REFUSALS_MAX, IMPORT_REPORTS};
use crate::store::{Database, DatabaseError};
use crate::tokens::{self, Identity, Invalid, KnownToken};
use crate::writer::{SubmitError, Writer};

/// The reports of a file on this machine.
type FileReader<F> = Reader<BufReader<File>, F>;

/// What became of the reports of a file.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// The name of the token that signed it.
    pub token: String,
    /// When it was begun, by the clock of its site.
    pub created_on: Timestamp,
    /// Reports in it.
    pub reports: usize,
    /// Those that are in the history now.
    pub stored: usize,
    /// Those that said what was so already, a little later.
    pub confirmed: usize,
    /// Those that had arrived before.
    pub repeated: usize,
    /// Those that were not taken.
    pub refused: usize,
    /// The first of these.
    pub refusals: Vec<Refusal>,
}

/// A report that was not taken.
#[derive(Clone, Debug, Serialize)]
pub struct Refusal {
    /// Its line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    #[serde(flatten)]
    pub error: ReportError,
}

/// Nothing of a file is taken over.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It is not what was signed.
    #[error(transparent)]
    File(#[from] SignedFileError),
    /// No token has that id.
    #[error("it was signed with the token {0}, which this hub does not know")]
    UnknownToken(String),
    /// The token is not for signing.
    #[error("it was signed with the token `{0}`, whose signatures do not count: it was made without `--signing`")]
    Purpose(String),
    /// The token is good no more.
    #[error("it was signed with the token `{name}`: {reason}")]
    Token {
        /// Its name.
        name: String,
        /// Why it does not count.
        reason: Invalid,
    },
    /// The reports can't be stored.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// The database can't be read.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// Checks a whole file, and stores what its token may report. Doing it again changes nothing.
///
/// # Errors
/// It is not what was signed, or not by a token that is good; then nothing of it is stored. The database can't store it: then some of it may be stored, and
/// doing it again stores the rest.
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
    let identity = Identity { name: token.token.name.clone(), scope: token.token.scope.clone() };
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

/// How many reports there are, if all of it is what was signed.
fn count(mut reader: FileReader<impl Fn(&[u8], &str) -> bool>) -> Result<usize, SignedFileError> {
    let mut count = 0;
    while reader.next_report()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// The reports of a file, if that token signed it and is good.
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

/// How far taking over is.
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
                    self.imported.refusals.push(Refusal { line, error });
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
        for outcome in self.ingest.submit(reports).await?.outcomes {
            *match outcome {
                Outcome::Stored => &mut self.imported.stored,
                Outcome::Confirmed => &mut self.imported.confirmed,
                Outcome::Repeated => &mut self.imported.repeated,
            } += 1;
        }
        Ok(())
    }
}
