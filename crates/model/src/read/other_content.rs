//! Recognises files with something else than YAML of objects: what tools, servers and people leave at the path of a file.

use crate::diagnostic::{Code, Diagnostic, Origin};
use crate::source::FileId;
use crate::yaml::{Node, Span};

/// The begin of a pointer that Git LFS stores in place of a file.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/";
/// The begins of web pages and of XML documents, in lower case.
const PAGES: [&[u8]; 6] = [b"<!doctype", b"<html", b"<head", b"<body", b"<?xml", b"<!--"];
/// The keys of the messages with which programs and servers say that something failed.
const MESSAGE_KEYS: [&str; 12] = [
    "error",
    "errors",
    "fatal",
    "message",
    "detail",
    "details",
    "exception",
    "reason",
    "remote",
    "status",
    "warning",
    "code",
];
/// The maximum number of keys of a message.
const MESSAGE_KEYS_MAX: usize = 8;

/// The diagnostic for a file that is no YAML, whatever it was before. None: its begin is not one of these.
pub(super) fn diagnostic(file: FileId, content: &[u8]) -> Option<Diagnostic> {
    let text = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content).trim_ascii_start();
    let begins = |begin: &[u8]| text.get(..begin.len()).is_some_and(|found| found.eq_ignore_ascii_case(begin));
    let (message, help) = if begins(LFS) {
        let help = "remove the file from `.gitattributes`, and commit its content: `git lfs migrate export` does both";
        ("this is a pointer of Git LFS. The file itself is not in the repository", help)
    } else if PAGES.iter().any(|page| begins(page)) {
        ("this is a web page or XML, and not YAML", "commit the intended file; a download may have failed")
    } else {
        return None;
    };
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    let begin = content.len() - text.len();
    let span = Span::new(begin, begin + line.len());
    Some(Diagnostic::error(Code::YamlSyntax, message).at(Origin::Span(file, span), "").help(help))
}

/// Whether a file is empty, except for blanks. A file of comments is not: its author took the objects out.
pub(super) fn is_empty(content: &[u8]) -> bool {
    content.trim_ascii().is_empty()
}

/// Whether a document is a text, or seems to be the message of a program or server that failed, such as `404: Not Found`.
pub(super) fn is_message(root: &Node) -> bool {
    if let Some(scalar) = root.as_scalar() {
        return !scalar.text.is_empty();
    }
    let keys =
        root.as_mapping().unwrap_or_default().iter().map(|(key, _)| key.as_scalar().map_or("", |key| &*key.text));
    let is_status = |key: &str| key.parse::<u16>().is_ok_and(|status| (400..600).contains(&status));
    let is_key = |key: &str| MESSAGE_KEYS.iter().any(|known| known.eq_ignore_ascii_case(key)) || is_status(key);
    keys.len() <= MESSAGE_KEYS_MAX && keys.into_iter().any(is_key)
}
