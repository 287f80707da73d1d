//! Programs of other projects that tests run.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The variable that names the folder of Helm.
pub const HELM_VARIABLE: &str = "KALYPSO_HELM";

/// The folder of Helm: the one that [`HELM_VARIABLE`] names, or one of the search path.
///
/// # Errors
/// If there is none: the line that a skipped test prints.
pub fn helm_folder(named: Option<OsString>, path: &OsStr) -> Result<PathBuf, String> {
    named.map(PathBuf::from).or_else(|| on_path("helm", path)).ok_or_else(|| {
        format!("skipped: the variable {HELM_VARIABLE} does not name the folder of Helm, and no `helm` is on the path")
    })
}

/// The folder of a program on a search path. None: it is on none.
pub fn on_path(program: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path).find(|folder| folder.join(program).is_file())
}
