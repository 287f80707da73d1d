//! The fuzz target for a whole control plane: it is read, compiled and written to a branch.

use std::path::Path;
use std::sync::LazyLock;

use model::tree::Tree;

use crate::suite::{self, Case, CaseOutcome, run_with};

static SHOP: LazyLock<Option<Case>> = LazyLock::new(|| {
    let file = Path::new(suite::FOLDER).join("shop.md");
    suite::cases(&file).ok()?.into_iter().next()
});

/// The files of a case as one input: paths and contents alternate, each with a zero byte after it.
pub fn fleet_input(case: &Case) -> Vec<u8> {
    let parts = case.files().into_iter().flat_map(|(path, content)| [path.into_bytes(), content]);
    parts.flat_map(|part| part.into_iter().chain([0])).collect()
}

/// Checks that any files give a tree and diagnostics, independent of the order of the files.
pub fn fleet(input: &[u8]) {
    let Some(shop) = &*SHOP else { return };
    let parts: Vec<&[u8]> = input.split(|byte| *byte == 0).collect();
    let mut files: Vec<_> =
        parts.chunks_exact(2).map(|file| (String::from_utf8_lossy(file[0]).into_owned(), file[1].to_vec())).collect();
    files.sort();
    files.dedup_by(|later, earlier| later.0 == earlier.0);
    // An input with a path that is not allowed in a case is ignored.
    let Ok(outcome) = run_with(shop, &files) else { return };
    files.reverse();
    let reversed = run_with(shop, &files).map(compared);
    assert_eq!(Ok(compared(outcome)), reversed, "the result depends on the order of the files");
}

/// The parts of the outcome that must not depend on the order of files. Equal messages about several files keep the order in which the files were
/// read.
fn compared(outcome: CaseOutcome) -> (Vec<String>, Tree) {
    let mut lines: Vec<_> = outcome.says.lines().map(str::to_owned).collect();
    lines.sort();
    (lines, outcome.tree)
}
