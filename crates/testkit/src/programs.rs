//! Programs of other projects that tests run.

use std::env;
use std::path::PathBuf;

/// The variable that names the folder of Helm.
pub const HELM_VARIABLE: &str = "KALYPSO_HELM";

/// The folder of Helm: the one that the variable names, or one of the search path.
///
/// # Errors
/// If there is none: the line that a skipped test prints.
pub fn helm_folder() -> Result<PathBuf, String> {
    env::var_os(HELM_VARIABLE).map(PathBuf::from).or_else(|| on_path("helm")).ok_or_else(|| {
        format!("skipped: the variable {HELM_VARIABLE} does not name the folder of Helm, and no `helm` is on the path")
    })
}

/// The folder of a program on the search path. None: it is on none.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).find(|folder| folder.join(program).is_file())
}
