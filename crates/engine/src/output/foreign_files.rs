//! Kalypso's own files beside the folders of places. Reports foreign entries at their paths.

use model::diagnostic::{Code, Diagnostic};
use model::tree::{Child, Mode, Open, OpenError, Tree};

use super::BranchTree;
use crate::layout::own_files::{OWNER_FILE, TRACKING_FILE};

/// Reports entries at the paths of Kalypso's own files that are not plain files.
///
/// # Errors
/// If a folder on the path can't be opened.
pub(super) fn problems(branch: BranchTree<'_>) -> Result<Vec<Diagnostic>, OpenError> {
    let BranchTree { tree, destination, open } = branch;
    let tracking = destination.promoted_commit.is_some().then(|| TRACKING_FILE.to_owned());
    let mut found = Vec::new();
    for path in [Some(destination.folder.join(OWNER_FILE)), tracking].into_iter().flatten() {
        if let Some(blocking) = blocking_entry(tree, (&path, destination.folder.as_str()), open)? {
            found.push(foreign_file(&blocking, &format!("it blocks the path of Kalypso's own file `{path}`")));
        }
    }
    Ok(found)
}

/// Reports an entry in the GitOps branch that is foreign, and stays.
pub fn foreign_file(path: &str, reason: &str) -> Diagnostic {
    Diagnostic::error(Code::ForeignFile, format!("the GitOps branch has `{path}`, which is not Kalypso's"))
        .note(reason.to_owned())
        .note("it stays as it is, and nothing is published; `--adopt` does not replace it")
        .help(format!("move or remove `{path}`, or give the environment a branch or path of its own"))
}

/// Finds the entry that blocks a file's path: a parent that is not a folder, or an entry at the path that is not a plain file. Parents of the
/// output's folder are not reported here: they are reported with the output.
fn blocking_entry(tree: &Tree, (path, folder): (&str, &str), open: &Open<'_>) -> Result<Option<String>, OpenError> {
    for (end, _) in path.match_indices('/') {
        let above = path.get(..end).unwrap_or_default();
        if tree.find(above, open)?.is_some_and(|child| !child.is_folder()) {
            return Ok((!is_at_or_above(above, folder)).then(|| above.to_owned()));
        }
    }
    let is_plain =
        |child: &Child| child.as_file().is_some_and(|entry| matches!(entry.mode, Mode::File | Mode::Executable));
    Ok(tree.find(path, open)?.filter(|child| !is_plain(child)).map(|_| path.to_owned()))
}

fn is_at_or_above(path: &str, folder: &str) -> bool {
    folder.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
