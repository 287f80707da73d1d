//! The objects on the pages: each block of YAML with an object of Kalypso is read as a file, without a problem.

use std::fs;
use std::path::PathBuf;

use model::read::read_file;
use model::source::FileId;

use crate::{docs, is_page};

/// The blocks of YAML on a page, without the indentation of a list.
fn blocks(text: &str) -> Vec<String> {
    let mut lines = text.lines();
    let mut blocks = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(indentation) = line.strip_suffix("```yaml").filter(|before| before.trim().is_empty()) {
            let block = lines.by_ref().take_while(|line| line.trim() != "```");
            blocks.push(block.map(|line| format!("{}\n", line.strip_prefix(indentation).unwrap_or(line))).collect());
        }
    }
    blocks
}

/// Whether a block is a whole file with an object of Kalypso. Other blocks are parts of objects, or of other files.
fn is_file(block: &str) -> bool {
    let group = block.strip_prefix("apiVersion: ").and_then(|rest| rest.split_once('/'));
    matches!(group, Some(("scheduler.kalypso.io" | "fleet.kalypso.io" | "hub.kalypso.io", _)))
}

/// The pages, without the reference: its objects are examples of mistakes, or tested with the kinds.
fn pages() -> impl Iterator<Item = PathBuf> {
    let folders = [docs(), docs().join("how-to")];
    let files = folders.into_iter().flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    files.filter(|path| is_page(path))
}

#[test]
fn the_objects_on_the_pages_have_no_problems() {
    let mut count = 0;
    for page in pages() {
        for block in blocks(&fs::read_to_string(&page).unwrap()).into_iter().filter(|block| is_file(block)) {
            let read = read_file(FileId::default(), "object.yaml", block.as_bytes());
            let problems: Vec<_> = read.diagnostics.iter().map(|problem| &problem.message).collect();
            assert!(problems.is_empty(), "{}: {problems:?} in\n{block}", page.display());
            count += read.objects.len();
        }
    }
    assert!(count > 10, "{count}");
}

#[test]
fn a_block_with_a_wrong_object_is_found() {
    let page = "1. Text:\n\n   ```yaml\n   apiVersion: fleet.kalypso.io/v1alpha1\n   kind: Promotion\n   metadata:\n     name: to-prod\n   spec:\n     too: prod\n   ```\n";
    let blocks = blocks(page);
    assert!(is_file(&blocks[0]) && !is_file("spec: {}\n"));
    assert!(!read_file(FileId::default(), "object.yaml", blocks[0].as_bytes()).diagnostics.is_empty());
}
