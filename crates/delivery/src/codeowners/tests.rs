//! Tests with the files of a hierarchy.

use std::collections::BTreeSet;

use model::fleet::{AuthorRole, FleetFile, FleetInput};
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::source::{Files, Source};

use super::*;

const CONTROL_PLANE: &str = "https://git.example/acme/control-plane";

/// A fleet of files. `REPOSITORY@BRANCH:PATH` names a file.
fn fleet(texts: &[(&str, &str)]) -> Fleet {
    let (mut files, mut contents) = (Files::default(), Vec::new());
    for (place, text) in texts {
        let (place, path) = place.split_once(':').unwrap();
        let (repository, branch) = place.split_once('@').unwrap();
        let url = format!("https://git.example/acme/{repository}.git").into();
        let source = Source { label: repository.into(), url, revision: branch.into(), commit: None, is_pinned: false };
        let (id, content) = (GitId::of_blob(text.as_bytes()), text.as_bytes().into());
        let file = files.add(File { source: Arc::new(source), path: path.into(), id, content });
        contents.push(FleetFile::read(AuthorRole::Platform, file, &files));
    }
    let environment = EnvironmentName::new("dev").unwrap();
    let input = FleetInput { environment, files: Arc::new(files), contents, unavailable: BTreeSet::new() };
    Fleet::build(input).0
}

fn object(kind: &str, name: &str, owners: &str, spec: &str) -> String {
    format!(
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}, annotations: {{access.kalypso.io/owners: '{owners}'}}}}\nspec: {spec}\n---\n"
    )
}

fn place(repository: &str, branch: &str, path: &str) -> String {
    format!("repo: 'https://git.example/acme/{repository}', branch: {branch}, path: {path}")
}

/// Compares the rules of a branch, `REPOSITORY@BRANCH`, each as `PATTERN OWNERS`, and the warnings.
fn check(texts: &[(&str, &str)], branch: &str, expected: &[&str], warnings: &[&str]) {
    let (fleet, main_owners) = (fleet(texts), ["@acme/platform".into()]);
    let (repository, branch) = branch.split_once('@').unwrap();
    let repository = format!("https://git.example/acme/{repository}");
    let main = (CONTROL_PLANE, "main");
    let question = OwnersQuestion { repository: &repository, branch, main, main_owners: &main_owners, rewrite: &[] };
    let CodeOwners { rules, warnings: found } = code_owners([&fleet], question);
    let rules: Vec<_> =
        rules.iter().map(|rule| format!("{} {}", rule.files.as_glob(), rule.owners.join(" "))).collect();
    assert_eq!(rules, expected);
    let starts = found.iter().zip(warnings).all(|(found, expected)| found.contains(expected));
    assert!(starts && found.len() == warnings.len(), "{found:?}");
}

/// The platform, a region in a folder of the main branch, and a site in a repository of its own that the region declares.
fn hierarchy() -> Vec<(&'static str, String)> {
    let environment = object(
        "Environment",
        "dev",
        "@acme/dev",
        &format!("{{controlPlane: {{{}}}}}", place("control-plane", "dev", ".")),
    );
    let region = object(
        "BaseRepo",
        "midwest",
        "@acme/midwest",
        &format!("{{{}, allow: {{names: ['midwest-*']}}}}", place("control-plane", "main", "./regions/midwest/")),
    );
    let site = object(
        "BaseRepo",
        "chicago",
        "@acme/chicago",
        &format!("{{{}, allow: {{names: ['midwest-chicago-*']}}}}", place("chicago", "main", ".")),
    );
    let app = object(
        "WorkloadRegistration",
        "shop",
        "@acme/shop",
        &format!("{{workload: {{{}}}}}", place("shop", "main", "workload")),
    );
    vec![
        ("control-plane@main:.environments/dev.yaml", environment),
        ("control-plane@main:regions/midwest.yaml", region),
        ("control-plane@main:regions/midwest/chicago.yaml", site),
        ("control-plane@main:apps/shop.yaml", app),
    ]
}

fn borrowed<'a>(files: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    files.iter().map(|(path, text)| (*path, text.as_str())).collect()
}

#[test]
fn folders_belong_to_their_owners_and_limits_to_the_level_above() {
    let files = hierarchy();
    let expected = [
        "* @acme/platform",
        "/regions/midwest/ @acme/midwest",
        "/apps/shop.yaml @acme/platform",
        "/regions/midwest.yaml @acme/platform",
        "/regions/midwest/chicago.yaml @acme/midwest",
        "/.environments/ @acme/platform",
        "CODEOWNERS @acme/platform",
    ];
    check(&borrowed(&files), "control-plane@main", &expected, &[]);
    check(&borrowed(&files), "control-plane@dev", &["* @acme/dev", "CODEOWNERS @acme/platform"], &[]);
    check(&borrowed(&files), "chicago@main", &["* @acme/chicago", "CODEOWNERS @acme/midwest"], &[]);
    check(&borrowed(&files), "shop@main", &["/workload/ @acme/shop"], &[]);
    check(&borrowed(&files), "unknown@main", &[], &[]);
}

#[test]
fn owners_below_never_own_the_main_branch() {
    let mut files = hierarchy();
    let main = object("BaseRepo", "main", "@acme/dev", &format!("{{{}}}", place("control-plane", "main", ".")));
    files.push(("control-plane@dev:main.yaml", main));
    let expected = ["* @acme/dev", "CODEOWNERS @acme/platform"];
    check(&borrowed(&files), "control-plane@dev", &expected, &["are ignored"]);
}

#[test]
fn a_team_that_can_change_its_own_limit_is_a_warning() {
    let limited =
        object("BaseRepo", "own", "@acme/own", &format!("{{{}, allow: {{names: [a]}}}}", place("own", "main", ".")));
    check(&[("own@main:limit.yaml", &limited)], "own@main", &["* @acme/own"], &["who can change the limit"]);
}

#[test]
fn patterns_of_gitea_are_regular_expressions() {
    let folder = FilePattern::Folder("a.b/c".to_owned());
    assert_eq!((folder.as_glob().as_str(), folder.as_regex().as_str()), ("/a.b/c/", "a\\\\.b/c/.*"));
    assert_eq!(FilePattern::File("a.yaml".to_owned()).as_regex(), "a\\\\.yaml");
}
