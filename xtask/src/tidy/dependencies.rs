//! Every external crate is listed in ARCHITECTURE.md, with the reason for its use.

use std::collections::BTreeMap;

use super::Finding;
use crate::workspace::Workspace;

const DOCUMENT: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Dependencies";

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let rows = rows(workspace.text(DOCUMENT));
    let mut used = BTreeMap::new();
    for package in &workspace.packages {
        let outside = package.dependencies.iter().filter(|dependency| dependency.source.is_some());
        used.extend(outside.map(|dependency| (dependency.name.as_str(), package.manifest_path.as_str())));
    }
    let unnamed = used.iter().filter(|(name, _)| !rows.contains_key(**name)).map(|(name, manifest)| {
        let message = format!(
            "dependency law: `{name}` is not in the table under \"{HEADING}\" of {DOCUMENT}: say there why it is needed"
        );
        Finding::new(*manifest, super::line_of(workspace.text(manifest), name), message)
    });
    let unused = rows.iter().filter(|(name, _)| !used.contains_key(**name)).map(|(name, line)| {
        Finding::new(DOCUMENT, *line, format!("dependency law: nothing uses `{name}`: remove it from the table"))
    });
    unnamed.chain(unused).collect()
}

/// The crates in the first column of the table, with their lines. A row can contain several crates.
fn rows(document: &str) -> BTreeMap<&str, usize> {
    let mut rows = BTreeMap::new();
    let section = document.lines().enumerate().skip_while(|(_, line)| *line != HEADING).skip(1);
    for (index, line) in section.take_while(|(_, line)| !line.starts_with("## ")) {
        let first_column = line.strip_prefix("| ").and_then(|row| row.split(" | ").next()).unwrap_or_default();
        rows.extend(first_column.split('`').skip(1).step_by(2).map(|name| (name, index + 1)));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::tests::check as check_law;

    fn check(architecture: &str) -> Vec<String> {
        let manifest = "[dependencies]\nmodel.workspace = true\nserde = \"1\"\n";
        check_law(super::check, &[("crates/a/Cargo.toml", manifest), ("ARCHITECTURE.md", architecture)])
    }

    #[test]
    fn crates_with_a_reason_are_accepted() {
        assert_eq!(check("## Dependencies\n\n| crate | why |\n|---|---|\n| `serde` | reads |\n"), Vec::<String>::new());
    }

    #[test]
    fn a_crate_without_a_row_is_a_finding() {
        assert!(check("## Dependencies\n")[0].starts_with("crates/a/Cargo.toml:3: dependency law: `serde` is not in"));
        assert_eq!(check("| `serde` | in another table |\n## Dependencies\n").len(), 1);
    }

    #[test]
    fn a_row_without_a_crate_is_a_finding() {
        assert!(
            check("## Dependencies\n| `serde`, `old` | reads |\n")[0]
                .contains("ARCHITECTURE.md:2: dependency law: nothing uses `old`")
        );
    }
}
