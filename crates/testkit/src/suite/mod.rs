//! The suite: cases written in Markdown, which people read as documentation and this module runs.
//!
//! `suite/README.md` explains how a case is written.

mod bless;
mod case;
mod expected;
pub mod index;
mod markdown;
mod run;

use std::path::{Path, PathBuf};

pub use bless::bless;
pub use case::Case;
pub(crate) use run::said;
pub use run::{Outcome, run, run_with};

/// The folder of the cases, from a crate's own folder.
pub const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../suite");

/// The Markdown files below `folder` that hold cases, by path: all but the `README.md`.
///
/// # Errors
/// If a folder can't be read.
pub fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let paths = crate::directory::files_below(folder)?.into_iter();
    let is_case =
        |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md") && !path.ends_with("README.md");
    Ok(paths.map(|path| folder.join(path)).filter(is_case).collect())
}

/// The cases of a file: one for each heading of the second level, or the whole file.
///
/// # Errors
/// A text for people, if the file or one that it refers to can't be read as a case.
pub fn cases(file: &Path) -> Result<Vec<Case>, String> {
    case::read(file, 0)
}

/// The cases of all files below `folder`.
///
/// # Errors
/// As [`files`] and [`cases`].
pub fn all(folder: &Path) -> Result<Vec<Case>, String> {
    let files = files(folder).map_err(|error| error.to_string())?;
    let cases: Vec<_> = files.iter().map(|file| cases(file)).collect::<Result<_, _>>()?;
    Ok(cases.concat())
}

/// Runs a case and compares what it gives with what it expects.
///
/// # Errors
/// What differs, for people.
pub fn check(case: &Case) -> Result<(), String> {
    let outcome = run::run(case)?;
    expected::compare(case, &outcome)
}

#[cfg(test)]
mod tests;
