//! The pages of the documentation about these files. Their examples are checked too.

use std::fs;
use std::path::{Path, PathBuf};

/// A path in the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The text of a file in the repository.
pub(crate) fn text(path: &str) -> String {
    let path = repository(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The blocks of this type on the page about the service, in order.
pub(crate) fn blocks(kind: &str) -> Vec<String> {
    blocks_of("docs/how-to/deploy-the-service.md", kind)
}

/// The blocks of this type on a page, in order, without the indentation of a list.
pub(crate) fn blocks_of(path: &str, kind: &str) -> Vec<String> {
    let page = text(path);
    let mut lines = page.lines();
    let mut blocks = Vec::new();
    while let Some(line) = lines.next() {
        let fence = line.trim_start();
        if fence.strip_prefix("```") == Some(kind) {
            let indentation = line.len() - fence.len();
            let content = lines.by_ref().take_while(|line| line.trim_start() != "```");
            blocks.push(content.map(|line| format!("{}\n", line.get(indentation..).unwrap_or_default())).collect());
        }
    }
    blocks
}
