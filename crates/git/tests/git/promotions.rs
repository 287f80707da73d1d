//! Promotions are read at the head of the control plane's main branch, and nowhere else.

use git::MemoryRepositories;
use git::load::{Declarations, LoadedFiles};

use crate::load::{check, fill, load_dev, read_folder};
use crate::objects::{base, config, environment};
use crate::playground::{Disk, memory};

fn promotion(spec: &str) -> String {
    format!(
        "apiVersion: fleet.kalypso.io/v1alpha1\nkind: Promotion\nmetadata: {{name: to-prod}}\nspec: {{to: {spec}}}\n"
    )
}

/// The declarations, in one line: the targets of promotions, broken ones, and whether all are known.
fn shown(declarations: &Declarations) -> String {
    let targets = declarations.promotions.iter().map(|promotion| format!("to {}", promotion.spec.to));
    let broken = declarations.broken.iter().map(|name| format!("{name} is broken"));
    let known = if declarations.are_known() { "known" } else { "not known" };
    targets.chain(broken).chain([known.to_owned()]).collect::<Vec<_>>().join(", ")
}

/// Commits these promotions to the main branch one after another, and loads the environment after each.
fn after_commits(texts: &[&str]) -> (MemoryRepositories, LoadedFiles) {
    let repositories = memory("control-plane");
    fill(&repositories, &[("control-plane", "dev", &[("a.yaml", &config("a"))])]);
    let dev = environment("dev");
    for text in texts {
        let main = [(".environments/dev.yaml", dev.as_str()), (".environments/to-prod.yaml", text)];
        fill(&repositories, &[("control-plane", "main", &main)]);
    }
    let loaded = load_dev(&repositories);
    (repositories, loaded)
}

fn check_commits(texts: &[&str], expected: &str) {
    assert_eq!(shown(&after_commits(texts).1.declarations), expected);
}

#[test]
fn promotions_are_read_at_the_head_of_the_main_branch() {
    check_commits(&[&promotion("prod"), &promotion("stage")], "to stage, known");
    let (_, loaded) = after_commits(&[&promotion("prod")]);
    assert_eq!(loaded.declarations.environments.iter().map(|found| found.name.as_str()).collect::<Vec<_>>(), ["dev"]);
}

#[test]
fn a_broken_promotion_keeps_its_last_good_version() {
    check_commits(&[&promotion("prod"), &promotion("prod, rings: 7")], "to prod, known");
    check_commits(&[&promotion("prod"), "x: ["], "to prod, known");
}

#[test]
fn a_broken_promotion_without_an_earlier_version_does_not_count_as_none() {
    check_commits(&[&promotion("prod, rings: 7")], "to-prod is broken, not known");
}

#[test]
fn without_the_main_branch_promotions_are_not_known() {
    let repositories = memory("control-plane");
    assert_eq!(shown(&load_dev(&repositories).declarations), "not known");
}

#[test]
fn a_promotion_elsewhere_is_an_error() {
    let text = promotion("prod");
    check(&[("control-plane", "dev", &[("a.yaml", &config("a")), ("p.yaml", &text)])], "a, K0151");
    check(&[("control-plane", "dev", &[("a.yaml", &config("a")), (".environments/p.yaml", &text)])], "a, K0151");
    let templates = base("templates", "main", "");
    check(
        &[
            ("templates", "main", &[(".environments/p.yaml", &text)]),
            ("control-plane", "dev", &[("b.yaml", &templates)]),
        ],
        "templates, K0151",
    );
}

#[test]
fn promotions_count_at_the_head_of_the_main_branch_only() {
    let (dev, promotion) = (environment("dev"), promotion("prod"));
    let main = base("control-plane", "main", "");
    let files = [(".environments/dev.yaml", dev.as_str()), (".environments/p.yaml", &promotion)];
    check(
        &[("control-plane", "main", &files), ("control-plane", "dev", &[("b.yaml", &main), ("c.yaml", &config("c"))])],
        "c, control-plane, to-prod",
    );
    let misplaced = [(".environments/dev.yaml", dev.as_str()), ("p.yaml", &promotion)];
    check(
        &[("control-plane", "main", &misplaced), ("control-plane", "dev", &[("b.yaml", &main)])],
        "control-plane, K0151",
    );
}

#[test]
fn the_promotions_of_a_directory_count() {
    let disk = Disk::new();
    let folder = disk.served();
    std::fs::write(folder.join("a.yaml"), config("a")).unwrap();
    std::fs::write(folder.join("p.yaml"), promotion("prod")).unwrap();
    assert_eq!(shown(&read_folder(&folder, &[]).unwrap().declarations), "to prod, known");
}
