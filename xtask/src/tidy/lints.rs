//! Every member uses the lints of the workspace, `forbid(unsafe_code)` among them.

use super::{Finding, line_of};
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let manifests = workspace.packages.iter().map(|package| package.manifest_path.as_str());
    let texts = manifests.filter_map(|path| Some((path, workspace.files.get(path)?.as_str())));
    let without = texts.filter(|(_, text)| !takes_lints(text));
    let message = "lint law: every member takes the workspace's lints: write `workspace = true` under `[lints]`";
    without.map(|(path, text)| Finding::new(path, line_of(text, "[lints"), message)).collect()
}

fn takes_lints(manifest: &str) -> bool {
    let workspace = |manifest: toml::Table| manifest.get("lints")?.get("workspace")?.as_bool();
    manifest.parse().ok().and_then(workspace) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check as check_law;

    fn check(manifest: &str) -> Vec<String> {
        check_law(super::check, &[("crates/a/Cargo.toml", manifest)])
    }

    #[test]
    fn the_lints_of_the_workspace_are_good() {
        assert_eq!(check("[lints]\nworkspace = true\n"), Vec::<String>::new());
    }

    #[test]
    fn missing_or_other_lints_are_a_finding() {
        assert_eq!(check("[package]\n").len(), 1);
        assert!(
            check("[package]\n[lints.rust]\nunsafe_code = \"allow\"\n")[0]
                .starts_with("crates/a/Cargo.toml:2: lint law")
        );
    }
}
