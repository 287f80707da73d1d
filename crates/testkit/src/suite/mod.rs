//! The suite: cases written in Markdown. They are documentation for readers, and this module runs them as tests.
//!
//! `suite/README.md` explains the form of a case.

mod bless;
mod case;
mod expected;
pub mod index;
mod limited;
mod markdown;
mod run;

use std::path::{Path, PathBuf};

pub use bless::bless;
pub use case::Case;
pub(crate) use run::said;
pub use run::{CaseOutcome, run, run_with};

/// The folder of the cases, relative to the folder of a crate.
pub const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../suite");

/// The paths of the Markdown files below `folder` that hold cases: all files except `README.md`.
///
/// # Errors
/// Returns an error if a folder cannot be read.
pub fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let paths = crate::directory::files_below(folder)?.into_iter();
    let is_case =
        |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md") && !path.ends_with("README.md");
    Ok(paths.map(|path| folder.join(path)).filter(is_case).collect())
}

/// The cases of a file: one for each heading of level two. A file without such headings is one case.
///
/// # Errors
/// Returns a readable text if the file, or a file to which it refers, cannot be read as a case.
pub fn cases(file: &Path) -> Result<Vec<Case>, String> {
    case::read(file, 0)
}

/// The cases of all files below `folder`.
///
/// # Errors
/// See [`files`] and [`cases`].
pub fn all(folder: &Path) -> Result<Vec<Case>, String> {
    let files = files(folder).map_err(|error| error.to_string())?;
    let cases: Vec<_> = files.iter().map(|file| cases(file)).collect::<Result<_, _>>()?;
    Ok(cases.concat())
}

/// Runs a case and compares its results with the expected results.
///
/// # Errors
/// Returns the differences as a readable text.
pub fn check(case: &Case) -> Result<(), String> {
    let outcome = run::run(case)?;
    expected::compare(case, &outcome)
}

#[cfg(test)]
mod tests;
