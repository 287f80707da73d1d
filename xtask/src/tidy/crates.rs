//! Which crate may use which.

use super::{Finding, line_of};
use crate::workspace::{Dependency, Package, Workspace};

/// What each crate of ours may use of ours.
const MAY_USE: &[(&str, &[&str])] = &[
    ("gotemplate", &[]),
    ("model", &[]),
    ("engine", &["model", "gotemplate"]),
    ("git", &["model"]),
    ("hub-api", &["model"]),
    ("delivery", &["engine", "git", "hub-api", "model"]),
    ("hub", &["hub-api", "engine", "git", "model"]),
    ("service", &["delivery", "hub-api", "engine", "git", "model"]),
    ("operator", &["delivery", "engine", "git", "model"]),
    ("simulator", &["model", "git", "gotemplate"]),
    ("testkit", &["model", "engine", "git", "gotemplate", "simulator"]),
];

/// Those at the top: they may use any.
const TOP: &[&str] = &["kalypso", "bench", "xtask"];

/// What every crate may use in its tests besides.
const FOR_TESTS: &[&str] = &["testkit", "simulator"];

/// A crate that nothing which ships may contain, and its only user outside of tests.
const ONLY_FOR_TESTS: (&str, &str) = ("testkit", "bench");

/// Outside crates that only one of ours may see, so that their next breaking change ends there.
const ONLY_IN: &[(&str, &str)] =
    &[("gix", "git"), ("sqlx", "hub"), ("kube", "operator"), ("k8s-openapi", "operator"), ("clap", "kalypso")];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let members: Vec<&str> = workspace.packages.iter().map(|package| package.name.as_str()).collect();
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let text = workspace.text(&package.manifest_path);
        let broken = package.dependencies.iter().filter_map(|dependency| broken(package, dependency, &members));
        findings.extend(
            broken.map(|(name, message)| Finding::new(&package.manifest_path, line_of_dependency(text, name), message)),
        );
        if !TOP.contains(&package.name.as_str()) && may_use(&package.name).is_none() {
            let message = "crate law: a crate nobody knows: give it a line in the tables of xtask/src/tidy/crates.rs \
                           and ARCHITECTURE.md";
            findings.push(Finding::new(&package.manifest_path, line_of(text, "name"), message));
        }
    }
    findings
}

fn may_use(name: &str) -> Option<&'static [&'static str]> {
    MAY_USE.iter().find(|(user, _)| *user == name).map(|(_, used)| *used)
}

fn broken<'a>(package: &Package, dependency: &'a Dependency, members: &[&str]) -> Option<(&'a str, String)> {
    let (user, used) = (package.name.as_str(), dependency.name.as_str());
    let is_for_tests = dependency.kind.as_deref() == Some("dev");
    if used == ONLY_FOR_TESTS.0 && user != ONLY_FOR_TESTS.1 && !is_for_tests {
        return Some((used, format!("crate law: `{used}` is for tests: `{user}` may use it in dev-dependencies only")));
    }
    if TOP.contains(&user) {
        return None;
    }
    if dependency.source.is_some() || !members.contains(&used) {
        let (_, owner) = ONLY_IN.iter().find(|(name, owner)| *name == used && *owner != user)?;
        return Some((used, format!("crate law: only `{owner}` may use `{used}`: ask it for what you need")));
    }
    let allowed = may_use(user)?;
    // A crate uses itself in its tests to switch a feature on.
    if allowed.contains(&used) || (is_for_tests && (FOR_TESTS.contains(&used) || used == user)) {
        return None;
    }
    let list = if allowed.is_empty() { "none of ours".to_owned() } else { allowed.join(", ") };
    Some((used, format!("crate law: `{user}` may use {list}, not `{used}`: take what you need as a parameter")))
}

fn line_of_dependency(manifest: &str, name: &str) -> usize {
    let begins =
        |line: &str| line.trim_start().strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '=', '.', '"']));
    manifest.lines().position(begins).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check as check_law;

    fn check(name: &str, manifest: &str) -> Vec<String> {
        let path = format!("crates/{name}/Cargo.toml");
        check_law(super::check, &[(&path, manifest), ("crates/git/Cargo.toml", ""), ("crates/testkit/Cargo.toml", "")])
    }

    #[test]
    fn a_crate_may_use_what_the_table_says_and_the_testkit_in_tests() {
        let manifest =
            "[dependencies]\ngit.workspace = true\nserde = \"1\"\n[dev-dependencies]\ntestkit.workspace = true\n";
        assert_eq!(check("hub", manifest), Vec::<String>::new());
    }

    #[test]
    fn a_crate_may_switch_on_its_features_in_tests() {
        let manifest = "[dev-dependencies]\ngit = { workspace = true, features = [\"fuzz\"] }\n";
        assert_eq!(check("git", manifest), Vec::<String>::new());
    }

    #[test]
    fn nothing_else_of_ours() {
        assert_eq!(
            check("engine", "[package]\n[dependencies]\ngit.workspace = true\n"),
            [
                "crates/engine/Cargo.toml:3: crate law: `engine` may use model, gotemplate, not `git`: take what you need as \
              a parameter"
            ]
        );
        assert_eq!(check("model", "[dev-dependencies]\ngit.workspace = true\n").len(), 1);
        assert_eq!(check("model", "[dependencies]\ntestkit.workspace = true\n").len(), 1);
    }

    #[test]
    fn the_testkit_is_in_no_program() {
        let manifest = "[dependencies]\ntestkit.workspace = true\n";
        assert_eq!(
            check("kalypso", manifest),
            [
                "crates/kalypso/Cargo.toml:2: crate law: `testkit` is for tests: `kalypso` may use it in dev-dependencies only"
            ]
        );
        assert_eq!(check("kalypso", "[dev-dependencies]\ntestkit.workspace = true\n"), Vec::<String>::new());
        assert_eq!(check("bench", manifest), Vec::<String>::new());
    }

    #[test]
    fn some_outside_crates_have_one_user() {
        assert_eq!(check("git", "[dependencies]\ngix = \"1\"\n"), Vec::<String>::new());
        assert!(check("engine", "[dependencies]\ngix = \"1\"\n")[0].contains("only `git` may use `gix`"));
    }

    #[test]
    fn a_crate_that_is_in_no_table_is_a_finding() {
        assert!(check("stranger", "")[0].starts_with("crates/stranger/Cargo.toml:1: crate law: a crate nobody knows"));
    }
}
