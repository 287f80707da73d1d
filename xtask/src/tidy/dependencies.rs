//! Every external crate has the reason for its use beside it: a comment above its line in a `Cargo.toml`.

use std::collections::BTreeMap;

use super::Finding;
use crate::workspace::Workspace;

/// The manifest with the dependencies of several members.
const ROOT: &str = "Cargo.toml";

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut used = BTreeMap::new();
    for package in &workspace.packages {
        let outside = package.dependencies.iter().filter(|dependency| dependency.source.is_some());
        used.extend(outside.map(|dependency| (dependency.name.as_str(), package.manifest_path.as_str())));
    }
    let manifests: Vec<_> = workspace.packages.iter().map(|package| package.manifest_path.as_str()).collect();
    let has_reason = |name: &str| manifests.iter().chain([&ROOT]).any(|path| has_reason(workspace.text(path), name));
    let without = used.into_iter().filter(|(name, _)| !has_reason(name));
    without
        .map(|(name, manifest)| {
            let message = format!("dependency law: say in a comment above `{name}` why it is needed");
            let line = workspace.text(manifest).lines().position(|line| is_of_crate(line, name));
            Finding::new(manifest, line.map_or(1, |index| index + 1), message)
        })
        .collect()
}

/// Whether a comment is directly above the line of a crate.
fn has_reason(manifest: &str, name: &str) -> bool {
    let mut lines = manifest.lines().zip(manifest.lines().skip(1));
    lines.any(|(above, line)| above.starts_with("# ") && is_of_crate(line, name))
}

fn is_of_crate(line: &str, name: &str) -> bool {
    let rest = line.strip_prefix(name).unwrap_or_default();
    rest.starts_with('.') || rest.trim_start().starts_with('=')
}

#[cfg(test)]
mod tests {
    use super::super::tests::check as check_law;

    fn check(manifest: &str, root: &str) -> Vec<String> {
        check_law(super::check, &[("crates/a/Cargo.toml", manifest), ("Cargo.toml", root)])
    }

    #[test]
    fn crates_with_a_reason_are_accepted() {
        assert_eq!(
            check("[dependencies]\nmodel.workspace = true\n# Reads.\nserde = \"1\"\n", ""),
            Vec::<String>::new()
        );
        assert_eq!(check("[dependencies]\nserde = \"1\"\n", "# Reads.\nserde = \"1\"\n"), Vec::<String>::new());
    }

    #[test]
    fn crates_without_a_reason_are_findings() {
        let found =
            check("[dependencies]\n# Reads.\nserde_json = \"1\"\nserde = \"1\"\n", "# Reads.\n\nserde = \"1\"\n");
        assert_eq!(found, ["crates/a/Cargo.toml:4: dependency law: say in a comment above `serde` why it is needed"]);
    }
}
