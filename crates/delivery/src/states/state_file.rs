//! State files: Kalypso's own YAML files on branches, from and to types that derive `Serialize` and `Deserialize`.
//!
//! Each file begins with its version, its kind, and what it is about. The other fields are those of the type, by the attributes of serde, with two rules:
//!
//! - An `Option` that is `None` has no field.
//! - A field with the name `\0flatten` has no key: its content is among the fields around it. An enum there says by the names of its variants which fields it has:
//!   `stopped` is a field with the content of the variant, `status: passed` a field with this text, and a variant with an empty name has none. The attribute
//!   `flatten` of serde would lose the places of errors.

mod read;
#[cfg(test)]
mod tests;
mod write;

use std::sync::Arc;

use model::source::Positions;
use model::yaml::{Node, YamlOptions};
use serde::Serialize;
use serde::de::{DeserializeOwned, Error};
use serde_json::Map;

use self::read::{Located, Mapping};

/// The version of the format of all state files.
const API_VERSION: &str = "fleet.kalypso.io/v1alpha1";
/// How all versions of the format begin.
const API_VERSIONS: &str = "fleet.kalypso.io/v";
/// The name of a field whose content is among the fields around it. No map has it as a key: keys are names, domains and digests.
const FLATTEN: &str = "\0flatten";

/// The reason why a state file can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct StateFileError {
    /// The path of the file.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The reason.
    pub message: String,
}

/// The first fields of a file after its version, with their values: the kind, and what the file is about.
pub(crate) type Header<'h> = [(&'static str, &'h str)];

/// Reads a file of the path `path`, which must have this header.
pub(crate) fn read<T: DeserializeOwned>((path, text): (&str, &str), header: &Header<'_>) -> Result<T, StateFileError> {
    content(text, header).map_err(|Located { message, span }| {
        let at = Positions::new(text.as_bytes()).position(span.unwrap_or_default().start as usize);
        StateFileError { file: path.into(), line: at.line, column: at.column, message }
    })
}

fn content<T: DeserializeOwned>(text: &str, header: &Header<'_>) -> Result<T, Located> {
    let root = root(text)?;
    let read = || {
        let mut fields = Mapping::from_node(&root)?;
        // The version decides how everything else is read.
        for (key, expected) in [&[("apiVersion", API_VERSION)], header].concat() {
            expect(fields.take(key)?, expected)?;
        }
        T::deserialize(fields)
    };
    read().map_err(|error| error.at(root.span))
}

fn expect(node: &Node, expected: &str) -> Result<(), Located> {
    let found = read::text(node)?;
    if found == expected {
        return Ok(());
    }
    // The version that is expected is the first one.
    let newer = if found.starts_with(API_VERSIONS) { ": a newer Kalypso wrote this file" } else { "" };
    Err(Located::custom(format_args!("`{expected}` is expected, not `{found}`{newer}")).at(node.span))
}

/// The only document of a file.
fn root(text: &str) -> Result<Node, Located> {
    let mut reading = model::yaml::read(text, &YamlOptions::OBJECTS);
    if let Some(problem) = reading.problems.first() {
        return Err(Located::custom(&problem.message).at(problem.span));
    }
    match (reading.documents.pop(), reading.documents.len()) {
        (Some(document), 0) => Ok(document.root),
        (Some(document), _) => Err(Located::custom("the file has more than one document").at(document.root.span)),
        (None, _) => Err(Located::custom("the file is empty")),
    }
}

/// The text of a file with this header and content.
///
/// # Panics
/// If the type of the content has no form in a file.
#[allow(clippy::expect_used, reason = "the types decide, and the tests write each of them")]
pub(crate) fn write(header: &Header<'_>, content: &impl Serialize) -> String {
    let header = [&[("apiVersion", API_VERSION)], header].concat();
    let mut fields: Map<_, _> = header.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
    fields.insert(FLATTEN.to_owned(), serde_json::to_value(content).expect("a form in a file"));
    write::written(&fields.into())
}
