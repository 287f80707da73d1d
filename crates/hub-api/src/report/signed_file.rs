//! Signed files: reports of a site without a network connection, for transport on a medium.
//!
//! The first line names the signer, each further line is a report, and the last line has the number of reports. The signature of a line also covers the signature
//! of the previous line. So a line that is changed, moved, missing or from another file is detected. A file that was cut off has no last line.

use std::io::{self, BufRead, Read as _};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::limits::{REPORT_BYTES_MAX, SIGNED_END_BYTES_MAX};
use crate::report::Report;
use crate::report::generic;
use crate::timestamp::Timestamp;
use crate::token::{HmacKey, RandomError, TokenText};

/// The prefix of every signed message, so that no other signature is valid for a line.
const PURPOSE: &str = "kalypso signed reports, version 1";

/// The maximum size of a line without its report, in bytes.
const ENVELOPE_BYTES: usize = 256;

/// The reason why a signed file is not valid.
#[derive(Debug, thiserror::Error)]
pub enum SignedFileError {
    /// The file can't be read.
    #[error("it can't be read: {0}")]
    Io(#[from] io::Error),
    /// A line is not valid.
    #[error("line {line}: {reason}")]
    Damaged {
        /// The line, counted from 1.
        line: usize,
        /// The reason.
        reason: String,
    },
    /// The file was signed with another token, or its end is missing.
    #[error("it does not end as a file that was signed with this token")]
    Foreign,
    /// The system has no random numbers.
    #[error(transparent)]
    Random(#[from] RandomError),
}

/// The first line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Head {
    /// The id of the token that signs the file.
    pub token: String,
    /// A unique id of the file.
    pub id: String,
    /// The time of its creation, by the clock of its site.
    pub created_on: Timestamp,
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct End {
    reports: u64,
    /// The signature of the previous line.
    after: String,
}

/// A line of one of the three kinds, with its signature.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    #[serde(borrow)]
    head: Option<&'a RawValue>,
    #[serde(borrow)]
    report: Option<&'a RawValue>,
    #[serde(borrow)]
    end: Option<&'a RawValue>,
    signature: String,
}

/// The bytes to write in order to add reports to a file.
#[derive(Debug)]
pub struct Addition {
    /// The number of bytes at the end of the file to replace: its last line.
    pub replaced: usize,
    /// The new bytes.
    pub bytes: Vec<u8>,
    /// The number of reports of the file after it.
    pub reports: u64,
}

/// Signs reports to add them to a file. `end` contains the last [`SIGNED_END_BYTES_MAX`] bytes of the file. It is empty for a new file.
///
/// # Errors
/// If the end of the file was not signed with this token.
pub fn add(end: &[u8], token: &TokenText, reports: &[Report], now: Timestamp) -> Result<Addition, SignedFileError> {
    let mut writer = Writer { key: token.signing_key(), signature: String::new(), bytes: Vec::new() };
    let (mut count, mut replaced) = (0, 0);
    if end.is_empty() {
        let id = TokenText::random()?.id().to_owned();
        writer.line("head", &json(&Head { token: token.id().to_owned(), id, created_on: now })?);
    } else {
        let line = end.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let present = end_of(line, &writer.key).ok_or(SignedFileError::Foreign)?;
        replaced = end.len() - end.trim_ascii_end().len() + line.len();
        (count, writer.signature) = (present.reports, present.after);
    }
    for report in reports {
        writer.line("report", &generic::write(report));
        count += 1;
    }
    let after = writer.signature.clone();
    writer.line("end", &json(&End { reports: count, after })?);
    Ok(Addition { replaced, bytes: writer.bytes, reports: count })
}

struct Writer {
    key: HmacKey,
    /// The signature of the previous line.
    signature: String,
    bytes: Vec<u8>,
}

impl Writer {
    fn line(&mut self, kind: &str, payload: &str) {
        self.signature = self.key.sign(&message(&self.signature, kind, payload));
        let line = format!("{{\"{kind}\":{payload},\"signature\":\"{}\"}}\n", self.signature);
        self.bytes.extend_from_slice(line.as_bytes());
    }
}

/// The signed message of a line.
fn message(previous: &str, kind: &str, payload: &str) -> Vec<u8> {
    format!("{PURPOSE}\n{previous}\n{kind}\n{payload}").into_bytes()
}

fn json(value: &impl Serialize) -> Result<String, SignedFileError> {
    Ok(serde_json::to_string(value).map_err(io::Error::from)?)
}

/// The last line. None if it was not signed with this key.
fn end_of(line: &[u8], key: &HmacKey) -> Option<End> {
    let Line { end, signature, .. } = serde_json::from_slice(line).ok()?;
    let payload = end?.get();
    let end: End = serde_json::from_str(payload).ok()?;
    key.is_of(&message(&end.after, "end", payload), &signature).then_some(end)
}

/// A file whose first line was read, but not checked.
#[derive(Debug)]
pub struct Unchecked<R> {
    input: R,
    /// The first line.
    pub head: Head,
    message: Vec<u8>,
    signature: String,
}

impl<R: BufRead> Unchecked<R> {
    /// Reads the first line.
    ///
    /// # Errors
    /// If the file can't be read, or is not a signed file.
    pub fn open(mut input: R) -> Result<Self, SignedFileError> {
        let damaged = |reason: &str| SignedFileError::Damaged { line: 1, reason: reason.to_owned() };
        let text = read_line(&mut input, 1)?;
        let line = parse::<Line<'_>>(&text, 1)?;
        let payload = line.head.ok_or_else(|| damaged("does not name the token that signed the file"))?.get();
        let head = owned(payload, 1)?;
        Ok(Self { head, message: message("", "head", payload), signature: line.signature, input })
    }

    /// The signed message of the first line, and its signature. The caller must find the token that signed it.
    pub fn signed_head(&self) -> (&[u8], &str) {
        (&self.message, &self.signature)
    }

    /// Checks the first line with `is_signed`, which returns whether a signature of a message is valid. The reader checks the other lines.
    ///
    /// # Errors
    /// If the signature of the first line is not valid.
    pub fn check<F: Fn(&[u8], &str) -> bool>(self, is_signed: F) -> Result<SignedFileReader<R, F>, SignedFileError> {
        if !is_signed(&self.message, &self.signature) {
            return Err(unsigned(1));
        }
        Ok(SignedFileReader { input: self.input, is_signed, signature: self.signature, line: 1 })
    }
}

/// The reports of a signed file.
#[derive(Debug)]
pub struct SignedFileReader<R, F> {
    input: R,
    is_signed: F,
    /// The signature of the previous line.
    signature: String,
    /// The number of lines that were read.
    line: usize,
}

impl<R: BufRead, F: Fn(&[u8], &str) -> bool> SignedFileReader<R, F> {
    /// The next report as JSON, with its line. None at the end.
    ///
    /// # Errors
    /// If the line can't be read, is not valid, or is missing.
    pub fn next_report(&mut self) -> Result<Option<(usize, String)>, SignedFileError> {
        self.line += 1;
        let line = self.line;
        let text = read_line(&mut self.input, line)?;
        let parsed = parse::<Line<'_>>(&text, line)?;
        let (kind, payload) = match (parsed.report, parsed.end) {
            (Some(report), None) => ("report", report.get()),
            (None, Some(end)) => ("end", end.get()),
            _ => return Err(damaged(line, "is neither a report nor the end")),
        };
        if !(self.is_signed)(&message(&self.signature, kind, payload), &parsed.signature) {
            return Err(unsigned(line));
        }
        self.signature.clone_from(&parsed.signature);
        if kind == "report" {
            return Ok(Some((line, payload.to_owned())));
        }
        let end: End = owned(payload, line)?;
        if end.reports != line as u64 - 2 {
            return Err(damaged(line, "counts other reports than there are"));
        }
        if !self.input.fill_buf()?.trim_ascii().is_empty() {
            return Err(damaged(line + 1, "is behind the end"));
        }
        Ok(None)
    }
}

fn damaged(line: usize, reason: impl Into<String>) -> SignedFileError {
    SignedFileError::Damaged { line, reason: reason.into() }
}

fn unsigned(line: usize) -> SignedFileError {
    damaged(line, "does not match its signature: it was changed, moved, left out or taken from another file")
}

/// Reads a line, and removes its line end, which is required.
fn read_line(input: &mut impl BufRead, line: usize) -> Result<Vec<u8>, SignedFileError> {
    let mut bytes = Vec::new();
    let max = REPORT_BYTES_MAX + ENVELOPE_BYTES;
    input.by_ref().take(max as u64).read_until(b'\n', &mut bytes)?;
    match bytes.pop() {
        Some(b'\n') => Ok(bytes),
        None => Err(damaged(line, "is missing: the file was cut off")),
        Some(_) if bytes.len() + 1 == max => Err(damaged(line, "is too long")),
        Some(_) => Err(damaged(line, "has no end: the file was cut off")),
    }
}

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8], line: usize) -> Result<T, SignedFileError> {
    serde_json::from_slice(bytes).map_err(|error| damaged(line, format!("is not a line of a signed file: {error}")))
}

fn owned<T: DeserializeOwned>(payload: &str, line: usize) -> Result<T, SignedFileError> {
    parse(payload.as_bytes(), line)
}

/// The body of the fuzz target: reads bytes as a signed file, and adds reports to it. The code must not panic or accept a file with invalid signatures, and must
/// be able to read the added reports.
#[cfg(feature = "fuzz")]
pub fn fuzz(input: &[u8]) {
    let Ok(token) = TokenText::random() else { return };
    let key = token.signing_key();
    let read = |file: &[u8], is_signed: &dyn Fn(&[u8], &str) -> bool| {
        let mut reader = Unchecked::open(file)?.check(is_signed)?;
        let mut reports = Vec::new();
        while let Some((_, report)) = reader.next_report()? {
            reports.push(report);
        }
        Ok::<_, SignedFileError>(reports)
    };
    // A new key can't have signed it.
    assert!(read(input, &|message, signature| key.is_of(message, signature)).is_err());
    assert!(add(input, &token, &[], Timestamp::MIN).is_err() || input.is_empty());
    let lines = read(input, &|_, _| true).unwrap_or_default();
    let reports = lines.iter().filter_map(|line| generic::read_one(line.as_bytes(), Timestamp::MAX).ok());
    let reports: Vec<_> = reports.filter_map(|report| report.check(Timestamp::MAX).ok()).collect();
    if let Ok(addition) = add(&[], &token, &reports, Timestamp::MIN) {
        let again = read(&addition.bytes, &|message, signature| key.is_of(message, signature));
        assert_eq!(again.map(|reports| reports.len()).ok(), Some(reports.len()));
    }
}

// `add` must be able to read the last line of a file, which has two signatures.
const _: () = assert!(SIGNED_END_BYTES_MAX >= 2 * ENVELOPE_BYTES);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::report;

    const NOW: Timestamp = Timestamp::MIN;

    fn named(names: &[&str]) -> Vec<Report> {
        names.iter().map(|name| Report { reconciler: (*name).to_owned(), ..report() }).collect()
    }

    fn extended(file: &mut Vec<u8>, token: &TokenText, names: &[&str]) -> Result<u64, SignedFileError> {
        let end = file.len().saturating_sub(SIGNED_END_BYTES_MAX);
        let addition = add(&file[end..], token, &named(names), NOW)?;
        file.truncate(file.len() - addition.replaced);
        file.extend(addition.bytes);
        Ok(addition.reports)
    }

    fn read(file: &[u8], token: &TokenText) -> Result<Vec<String>, SignedFileError> {
        let key = token.signing_key();
        let mut reader = Unchecked::open(file)?.check(|message, signature| key.is_of(message, signature))?;
        let mut names = Vec::new();
        while let Some((_, json)) = reader.next_report()? {
            names.push(generic::read_one(json.as_bytes(), NOW).unwrap().reconciler);
        }
        Ok(names)
    }

    fn file(names: &[&str]) -> (Vec<u8>, TokenText) {
        let (token, mut file) = (TokenText::random().unwrap(), Vec::new());
        extended(&mut file, &token, names).unwrap();
        (file, token)
    }

    /// The error of the lines after a change.
    fn check(change: impl FnOnce(&mut Vec<String>)) -> String {
        let (file, token) = file(&["a", "b", "c"]);
        let mut lines: Vec<_> = String::from_utf8(file).unwrap().lines().map(|line| format!("{line}\n")).collect();
        change(&mut lines);
        read(lines.concat().as_bytes(), &token).map_or_else(|error| error.to_string(), |names| names.join(" "))
    }

    #[test]
    fn reports_are_appended_to_the_file() {
        let (mut file, token) = file(&["a"]);
        assert_eq!(extended(&mut file, &token, &["b", "c"]).unwrap(), 3);
        assert_eq!(extended(&mut file, &token, &[]).unwrap(), 3);
        assert_eq!(read(&file, &token).unwrap(), ["a", "b", "c"]);
        assert_eq!(Unchecked::open(file.as_slice()).unwrap().head.token, token.id());
    }

    #[test]
    fn every_change_is_noticed() {
        assert_eq!(check(|_| ()), "a b c");
        let unsigned = |line| unsigned(line).to_string();
        assert_eq!(check(|lines| lines[2] = lines[2].replace("applied", "applies")), unsigned(3));
        assert_eq!(check(|lines| lines[0] = lines[0].replace("1970", "1971")), unsigned(1));
        assert_eq!(check(|lines| lines[4] = lines[4].replace(":3,", ":2,")), unsigned(5));
        assert_eq!(check(|lines| lines.swap(1, 2)), unsigned(2));
        assert_eq!(check(|lines| drop(lines.remove(2))), unsigned(3));
        assert_eq!(check(|lines| lines.insert(2, lines[1].clone())), unsigned(3));
        assert_eq!(check(|lines| lines.push(lines[1].clone())), "line 6: is behind the end");
    }

    #[test]
    fn every_truncation_is_detected() {
        let (file, token) = file(&["a", "b"]);
        for length in 0..file.len() {
            let error = read(&file[..length], &token).unwrap_err().to_string();
            assert!(error.contains("cut off"), "{length}: {error}");
        }
    }

    #[test]
    fn lines_of_another_file_are_noticed() {
        let (token, mut other) = (TokenText::random().unwrap(), Vec::new());
        extended(&mut other, &token, &["a", "b"]).unwrap();
        let mut file = Vec::new();
        extended(&mut file, &token, &["a", "b"]).unwrap();
        let head = file.iter().position(|byte| *byte == b'\n').unwrap();
        let rest = other.iter().position(|byte| *byte == b'\n').unwrap();
        assert!(read(&[&file[..head], &other[rest..]].concat(), &token).is_err());
    }

    #[test]
    fn another_token_neither_reads_nor_continues_it() {
        let (mut file, _) = file(&["a"]);
        let other = TokenText::random().unwrap();
        assert_eq!(read(&file, &other).unwrap_err().to_string(), unsigned(1).to_string());
        assert!(matches!(extended(&mut file, &other, &["b"]), Err(SignedFileError::Foreign)));
        assert!(matches!(extended(&mut b"hello\n".to_vec(), &other, &["b"]), Err(SignedFileError::Foreign)));
    }

    #[test]
    fn signature_of_the_report_alone_is_invalid_for_a_line() {
        let (file, token) = file(&["a"]);
        let text = String::from_utf8(file).unwrap();
        let payload = text
            .lines()
            .nth(1)
            .unwrap()
            .trim_start_matches("{\"report\":")
            .split(",\"signature\"")
            .next()
            .unwrap()
            .to_owned();
        let forged =
            format!("{{\"report\":{payload},\"signature\":\"{}\"}}", token.signing_key().sign(payload.as_bytes()));
        let forged = text.replacen(text.lines().nth(1).unwrap(), &forged, 1);
        assert_eq!(read(forged.as_bytes(), &token).unwrap_err().to_string(), unsigned(2).to_string());
    }
}
