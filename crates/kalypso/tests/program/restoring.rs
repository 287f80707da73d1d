//! Tests of `config history` and `config rollback`.

use crate::adding::Edited;
use crate::company::{HOST, git};

/// The environment's branch with three versions of a value, newest last.
fn edited() -> Edited {
    let edited = Edited::new();
    for level in ["one", "two", "three"] {
        edited.run(&format!("add config LOG_LEVEL={level} -e dev --commit")).ends(0);
    }
    edited
}

/// The versions of an assignment's configuration with their commits, newest first.
fn versions(edited: &Edited) -> Vec<(String, String)> {
    let ran = edited.run("config history west/shop-test -e dev -o json").ends(0);
    let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let text = |item: &serde_json::Value, key: &str| item[key].as_str().unwrap_or_default().to_owned();
    answer["items"].as_array().unwrap().iter().map(|item| (text(item, "version"), text(item, "commit"))).collect()
}

/// Commits all files of a working tree: later than all commits of other branches, on a day of their own.
fn commit_later(edited: &Edited, tree: &str, day: usize) {
    git(&edited.path(tree), &["add", "--all"]);
    let mut commit = std::process::Command::new("git");
    commit.current_dir(edited.path(tree)).args(["commit", "--quiet", "-m", "Values"]);
    let date = format!("2040-01-0{day}T00:00:00Z");
    assert!(commit.env("GIT_COMMITTER_DATE", date).status().unwrap().success());
}

#[test]
fn an_earlier_version_is_restored_by_a_new_commit() {
    let edited = edited();
    let before = versions(&edited);
    let head = git(&edited.path("dev"), &["rev-parse", "HEAD"]);
    assert_eq!(before[0].1, head);
    let version = &before[1].0;
    let ran = edited.run(&format!("config rollback -e dev --to {version} --of west/shop-test --commit")).ends(0);
    ran.says(&["Changed ConfigMap", "are restored", "\"three\" → \"two\""]);
    let after = versions(&edited);
    assert_eq!((&after[0].0, &after[1].0), (version, &before[0].0));
    assert_eq!(git(&edited.path("dev"), &["rev-parse", "HEAD~1"]), head);
    edited.run(&format!("config rollback -e dev --to {}", after[0].1)).ends(0).says(&["Nothing to change"]);
}

#[test]
fn history_continues_before_a_rename() {
    let edited = edited();
    let before = versions(&edited);
    edited.run("rename cluster-type west far-west -e dev --commit").ends(0);
    let history = |assignment: &str| edited.run(&format!("config history {assignment} -e dev -o json")).ends(0).out;
    let after: serde_json::Value = serde_json::from_str(&history("far-west/shop-test")).unwrap();
    let ids: Vec<_> =
        after["items"].as_array().unwrap().iter().map(|item| item["version"].as_str().unwrap_or_default()).collect();
    // The label of the cluster type is no value of the target, so a rename changes no version.
    assert_eq!(ids, before.iter().map(|(version, _)| version).collect::<Vec<_>>());
    edited.run(&format!("config rollback -e dev --to {} --of far-west/shop-test --dry-run", before[1].0)).ends(0);
    edited.run("explain west -e dev").ends(1).says(&["`west` is the earlier name of `far-west`"]);
    edited.run("describe cluster-type west").ends(1).says(&["`west` is the earlier name of `far-west`"]);
    edited.run("bootstrap west -e dev").ends(1).says(&["`west` is the earlier name of `far-west`"]);
}

#[test]
fn unknown_versions_are_refused_with_advice() {
    let edited = edited();
    edited.run("config history west/shop-tets -e dev").ends(1).says(&["did not exist", "kalypso get assignments"]);
    edited.run("config rollback -e dev --to abcdef0123456789 --of west/shop-test").ends(1).says(&["had no version"]);
    edited.run("config rollback -e dev --to HEAD~99").ends(1).says(&["HEAD~99"]);
    let help = ["name a commit of environment `dev`", "needs `--of PLACE/TARGET`", "`--repo NAME`"];
    edited.run("config rollback -e dev --to abcdef0123456789").ends(1).says(&help);
    assert_eq!(edited.status("dev"), "");
}

#[test]
fn a_version_from_another_branch_is_found_and_named() {
    let edited = edited();
    let head = git(&edited.path("dev"), &["rev-parse", "HEAD"]);
    for (value, day) in [("one", 1), ("two", 2)] {
        edited.run(&format!("add config EXTRA={value}")).ends(0);
        commit_later(&edited, "main", day);
    }
    let found = versions(&edited);
    let commits: Vec<_> = found.iter().map(|(_, commit)| commit.as_str()).collect();
    let main = |revision: &str| git(&edited.path("main"), &["rev-parse", revision]);
    assert_eq!(commits[..3], [main("HEAD"), main("HEAD~1"), head]);
    edited.run("config history west/shop-test -e dev").ends(0).says(&["BRANCH", "  main  ", "  dev  "]);
    // The environment's branch alone can't bring it back.
    let (version, before) = (&found[1].0, main("HEAD~1"));
    let refused = edited.run(&format!("config rollback -e dev --to {version} --of west/shop-test")).ends(1);
    let short = &before[..7];
    refused.says(&[
        &format!("main at {short}"),
        &format!("`kalypso config rollback --to {short}` restores those of the main branch"),
    ]);
    edited.run(&format!("config rollback --to {short} --commit")).ends(0);
    assert_eq!(&versions(&edited)[0].0, version);
}

#[test]
fn values_of_another_repository_are_restored_there() {
    let edited = Edited::with_country();
    for (vat, day) in [("16", 1), ("19", 2)] {
        let to = "--for region=west-us --working-tree country";
        edited.run(&format!("add config VAT={vat} -e dev --repo germany {to}")).ends(0);
        commit_later(&edited, "country", day);
    }
    let before = versions(&edited);
    let version = &before[1].0;
    let commit = git(&edited.path("country"), &["rev-parse", "--short=7", "HEAD~1"]);
    let of_version = format!("--to {version} --of west/shop-test");
    edited.run(&format!("config rollback -e dev {of_version}")).ends(1).says(&[
        &format!("had values of other branches than that of dev: country@main at {commit}"),
        &format!("`kalypso config rollback -e dev --repo germany --to {commit}` restores those of germany"),
    ]);
    let rollback = |rest: &str| edited.run(&format!("config rollback -e dev --working-tree country --repo {rest}"));
    rollback(&format!("gremany {of_version}")).ends(1).says(&["did you mean `germany`?"]);
    rollback("germany --to HEAD~99").ends(1).says(&["HEAD~99"]);
    let said =
        ["ConfigMap west-vat in country/values/vat.yaml", &format!("the values of commit {commit} are restored")];
    rollback(&format!("{HOST}country --to HEAD~1 --dry-run")).ends(0).says(&said);
    let ran = rollback(&format!("germany {of_version} --commit")).ends(0);
    ran.says(&said).says(&["~ 1 assignment changes", "\"19\" → \"16\""]);
    assert_eq!(&versions(&edited)[0].0, version);
    assert_eq!(edited.status("dev"), "");
}
