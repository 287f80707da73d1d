//! Which crate may use which: the table of ARCHITECTURE.md is the law.

use std::collections::BTreeMap;

use super::{Finding, line_of};
use crate::workspace::{Dependency, Package, Workspace};

/// The document with the table, and the heading above the table.
const DOCUMENT: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Code map";

/// What the last column of the table says of a crate that may use any other.
const ANY: &str = "all";

/// Programs for the work on the project: they may use any crate.
const TOOLS: &[&str] = &["bench", "browser-tests", "xtask"];

/// The crates that every crate may use in its tests.
const FOR_TESTS: &[&str] = &["testkit", "simulator"];

/// The crates that some crates may use in their tests, to test both sides of a seam together.
const FOR_TESTS_OF: &[(&str, &[&str])] =
    &[("azure", &["hub"]), ("watch", &["hub"]), ("hub", &["engine", "git", "watch"])];

/// The crate that no program that ships contains.
const ONLY_FOR_TESTS: &str = "testkit";

/// External crates that only one crate of the workspace may use, so that their next breaking change ends there.
const ONLY_IN: &[(&str, &str)] = &[
    ("gix", "git"),
    ("sqlx", "hub"),
    ("kube", "operator"),
    ("k8s-openapi", "operator"),
    ("clap", "kalypso"),
    ("anyhow", "kalypso"),
];

/// The crates that each crate may use. `None` stands for any.
type Table<'a> = BTreeMap<&'a str, Option<Vec<&'a str>>>;

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let members: Vec<&str> = workspace.packages.iter().map(|package| package.name.as_str()).collect();
    let document = workspace.text(DOCUMENT);
    let table = table(document);
    let mut findings = Vec::new();
    for package in &workspace.packages {
        if TOOLS.contains(&package.name.as_str()) {
            continue;
        }
        let text = workspace.text(&package.manifest_path);
        let Some(allowed) = table.get(package.name.as_str()) else {
            let message = format!("crate law: give this crate a row in the table below \"{HEADING}\" of {DOCUMENT}");
            findings.push(Finding::new(&package.manifest_path, line_of(text, "name"), message));
            continue;
        };
        let broken =
            package.dependencies.iter().filter_map(|used| broken(package, used, (allowed.as_deref(), &members)));
        findings.extend(
            broken.map(|(name, message)| Finding::new(&package.manifest_path, line_of_dependency(text, name), message)),
        );
    }
    let gone = table.keys().filter(|name| !members.contains(name));
    findings.extend(gone.map(|name| {
        let message = format!("crate law: there is no crate `{name}`: remove its row");
        Finding::new(DOCUMENT, line_of(document, &format!("| [`{name}`]")), message)
    }));
    findings
}

/// The crate of a row of the table, and the crates that it may use.
fn row(line: &str) -> Option<(&str, Option<Vec<&str>>)> {
    let name = line.strip_prefix("| [`")?.split('`').next()?;
    let last = line.trim_end().strip_suffix('|')?.rsplit('|').next()?.trim();
    Some((name, (last != ANY).then(|| last.split('`').skip(1).step_by(2).collect())))
}

/// The table below the heading: the crate in the first column, the crates that it may use in the last one.
fn table(document: &str) -> Table<'_> {
    let section =
        document.lines().skip_while(|line| *line != HEADING).skip(1).take_while(|line| !line.starts_with("## "));
    // Tables of modules follow further below, under headings of crates.
    section.take_while(|line| !line.starts_with("### ")).filter_map(row).collect()
}

fn broken<'a>(
    package: &Package,
    dependency: &'a Dependency,
    (allowed, members): (Option<&[&str]>, &[&str]),
) -> Option<(&'a str, String)> {
    let (user, used) = (package.name.as_str(), dependency.name.as_str());
    if dependency.source.is_some() || !members.contains(&used) {
        let (_, owner) = ONLY_IN.iter().find(|(name, owner)| *name == used && *owner != user)?;
        return Some((used, format!("crate law: only `{owner}` may use `{used}`: ask it for what you need")));
    }
    let is_for_tests = dependency.kind.as_deref() == Some("dev");
    if used == ONLY_FOR_TESTS && !is_for_tests {
        return Some((used, format!("crate law: `{used}` is for tests: `{user}` may use it in dev-dependencies only")));
    }
    let allowed = allowed?;
    if allowed.contains(&used) || (is_for_tests && is_allowed_in_tests(user, used)) {
        return None;
    }
    let list = if allowed.is_empty() { "none of ours".to_owned() } else { allowed.join(", ") };
    Some((used, format!("crate law: `{user}` may use {list}, not `{used}`: take what you need as a parameter")))
}

/// Whether a crate may use another one in its tests. A crate uses itself to switch a feature on.
fn is_allowed_in_tests(user: &str, used: &str) -> bool {
    let is_of_both_sides = FOR_TESTS_OF.iter().any(|(name, more)| *name == user && more.contains(&used));
    used == user || FOR_TESTS.contains(&used) || is_of_both_sides
}

fn line_of_dependency(manifest: &str, name: &str) -> usize {
    let begins =
        |line: &str| line.trim_start().strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '=', '.', '"']));
    manifest.lines().position(begins).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check as check_law;

    const ARCHITECTURE: &str = "# Architecture\n\n## Code map\n\n| crate | in one sentence | may use |\n|---|---|---|\n\
        | [`engine`](crates/engine) | Decides. | `model`, `gotemplate` |\n| [`git`](crates/git) | Moves. | `model` |\n\
        | [`hub`](crates/hub) | Stores. | `git` |\n| [`kalypso`](crates/kalypso) | Speaks. | all |\n\
        | [`model`](crates/model) | Values. | none of ours |\n| [`testkit`](crates/testkit) | Tests. | `model` |\n\n\
        ### `git`\n\n| [`url`](x) | another table | x |\n";

    fn check(name: &str, manifest: &str) -> Vec<String> {
        let path = format!("crates/{name}/Cargo.toml");
        let others = ["engine", "git", "hub", "kalypso", "model", "testkit"].into_iter().filter(|other| *other != name);
        let others: Vec<_> = others.map(|other| format!("crates/{other}/Cargo.toml")).collect();
        let mut files = vec![("ARCHITECTURE.md", ARCHITECTURE), (path.as_str(), manifest)];
        files.extend(others.iter().map(|other| (other.as_str(), "")));
        check_law(super::check, &files)
    }

    #[test]
    fn crates_may_use_allowed_crates_and_the_testkit_in_tests() {
        let manifest =
            "[dependencies]\ngit.workspace = true\nserde = \"1\"\n[dev-dependencies]\ntestkit.workspace = true\n";
        assert_eq!(check("hub", manifest), Vec::<String>::new());
        assert_eq!(check("kalypso", "[dependencies]\nhub.workspace = true\n"), Vec::<String>::new());
    }

    #[test]
    fn a_crate_may_switch_on_its_features_in_tests() {
        let manifest = "[dev-dependencies]\ngit = { workspace = true, features = [\"fuzz\"] }\n";
        assert_eq!(check("git", manifest), Vec::<String>::new());
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
    fn other_workspace_crates_are_findings() {
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
    fn some_external_crates_may_be_used_by_one_crate_only() {
        assert_eq!(check("git", "[dependencies]\ngix = \"1\"\n"), Vec::<String>::new());
        assert!(check("engine", "[dependencies]\ngix = \"1\"\n")[0].contains("only `git` may use `gix`"));
        assert!(check("engine", "[dependencies]\nanyhow = \"1\"\n")[0].contains("only `kalypso` may use `anyhow`"));
    }

    #[test]
    fn crates_and_rows_must_match() {
        assert!(check("stranger", "")[0].starts_with("crates/stranger/Cargo.toml:1: crate law: give this crate a row"));
        let gone = check_law(super::check, &[("ARCHITECTURE.md", "## Code map\n| [`old`](x) | Gone. | all |\n")]);
        assert_eq!(gone, ["ARCHITECTURE.md:2: crate law: there is no crate `old`: remove its row"]);
    }
}
