//! Changes of the control plane: between two commits, and of a patch that is not committed.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use testkit::objects::{config, environment, pinned_base, registration, workload};

use crate::company::{Company, Ran, git};

const WEST: &str = "configs/west.yaml";

fn west(value: &str) -> String {
    config("west", "region: west-us", &format!("DATABASE: {value}"))
}

/// A clone of the control plane with a branch checked out.
fn clone(company: &Company, branch: &str) -> std::path::PathBuf {
    let folder = company.path("clone");
    let from = company.repository("control-plane");
    git(
        &company.path("."),
        &["clone", "--quiet", "--branch", branch, from.to_str().unwrap(), folder.to_str().unwrap()],
    );
    folder
}

/// A change of a file on a branch, in the format of `git diff`. Without a text, the file is removed.
fn patch(company: &Company, branch: &str, path: &str, text: Option<&str>) -> String {
    let folder = clone(company, branch);
    match text {
        Some(text) => {
            fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
            fs::write(folder.join(path), text).unwrap();
        }
        None => fs::remove_file(folder.join(path)).unwrap(),
    }
    git(&folder, &["add", "--all"]);
    let patch = git(&folder, &["diff", "--cached"]) + "\n";
    fs::remove_dir_all(folder).unwrap();
    fs::write(company.path("it.patch"), &patch).unwrap();
    patch
}

/// A company whose environment uses a given promoted commit of main.
fn promoted() -> (Company, String) {
    let company = Company::new();
    let first = company.head("control-plane", "main").unwrap();
    company.change("control-plane@dev", "base.yaml", &pinned_base(&first));
    (company, first)
}

#[test]
fn two_commits_of_the_environment_are_compared() {
    let company = Company::new();
    let first = company.head("control-plane", "dev").unwrap();
    company.change("control-plane@dev", WEST, &west("mysql://west-2/a"));
    company.change("control-plane@dev", WEST, &west("mysql://west-3/a"));
    let main = company.head("control-plane", "main").unwrap();
    let plan = company.kalypso("plan -e dev --commit HEAD~1..HEAD").ends(2);
    let plan = plan.says(&[
        "1 assignment changes",
        "\"mysql://west-2/a\" → \"mysql://west-3/a\"",
        "1 of 2 assignments recomputed",
        "because configs/west.yaml:7",
    ]);
    let head = company.head("control-plane", "dev").unwrap();
    assert!(plan.out.contains(&format!("→ dev@{}   (main stays at {})\n", &head[..7], &main[..7])), "{}", plan.out);
    company
        .kalypso(&format!("plan -e dev --commit {first}"))
        .ends(2)
        .says(&["\"mysql://west-3/a\" → \"mysql://west/a\""]);
    let same = company.kalypso(&format!("plan -e dev --commit {}..dev", &head[..8])).ends(0);
    same.says(&["nothing changes: 2 assignments are up to date"]);
    let json = company.kalypso("plan -e dev --commit HEAD~2..HEAD~1 -o json").ends(2).json();
    assert_eq!(json["change"]["branch"], "dev");
    assert_eq!(json["change"]["from"], first.as_str());
    assert_eq!(json["plans"][0]["changes"][0]["values"][0]["after"], "\"mysql://west-2/a\"");
}

#[test]
fn commits_of_main_are_compared_as_a_promotion() {
    let (company, first) = promoted();
    company.change("control-plane@main", "configs/all.yaml", &config("all", "", "NEW: value"));
    let head = company.head("control-plane", "main").unwrap();
    company.kalypso("publish -e dev --direct").ends(0);
    company.kalypso("plan -e dev").ends(0);
    let plan = company.kalypso("plan -e dev --commit main").ends(2);
    let plan =
        plan.says(&["2 assignments change", "NEW  (new) \"value\"", "because control-plane@main:configs/all.yaml:7"]);
    let title = format!("main@{} → main@{}   (dev stays at", &first[..7], &head[..7]);
    assert!(plan.out.starts_with(&title) && plan.out.contains("Promoted_Commit_Id"), "{}", plan.out);
    company.kalypso("plan -e dev --commit main..main~1").ends(2).says(&["\"value\" (gone)"]);
}

#[test]
fn commits_of_different_branches_are_not_compared() {
    let company = Company::new();
    company
        .kalypso("plan -e dev --commit main..dev")
        .ends(1)
        .says(&["are on different branches", "name two commits of `dev`"]);
    company
        .kalypso("plan -e dev --commit nowhere")
        .ends(1)
        .says(&["`nowhere` is no commit of `dev` or `main`", "help"]);
    company.kalypso("plan --from . -e dev --commit HEAD").ends(64);
}

#[test]
fn a_patch_of_the_environment_is_planned_without_a_commit() {
    let company = Company::new();
    let head = company.head("control-plane", "dev").unwrap();
    let text = patch(&company, "dev", WEST, Some(&west("mysql://west-2/a")));
    let plan = company.kalypso("plan -e dev --patch it.patch").ends(2);
    let plan = plan.says(&[
        "1 assignment changes",
        "\"mysql://west/a\" → \"mysql://west-2/a\"",
        "because configs/west.yaml:7",
    ]);
    let title = format!("dev@{0} → dev@{0} + it.patch ({WEST})   (main stays at ", &head[..7]);
    assert!(plan.out.starts_with(&title), "{}", plan.out);
    assert_eq!(company.head("control-plane", "dev").unwrap(), head);
    let mut child = company.command();
    let mut child = child
        .args(["plan", "-e", "dev", "--patch", "-", "-o", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        json["change"],
        serde_json::json!({"branch": "dev", "from": head, "to": null, "patch": "-", "files": [WEST]})
    );
}

#[test]
fn a_patch_may_add_and_remove_files() {
    let company = Company::new();
    patch(&company, "dev", "more/new.yaml", Some(&config("new", "", "NEW: value")));
    company.kalypso("plan -e dev --patch it.patch").ends(2).says(&["2 assignments change", "because more/new.yaml:7"]);
    patch(&company, "dev", "cluster-types/east.yaml", None);
    company.kalypso("plan -e dev --patch it.patch").ends(2).says(&["1 assignment is removed", "1 cluster type: east"]);
}

#[test]
fn patch_of_main_is_planned_as_a_promotion() {
    let (company, first) = promoted();
    patch(&company, "main", "workloads/shop.yaml", Some(&registration("shop", "https://git.example/acme/bank")));
    company.commit("bank", "main", &[("bank.yaml", workload("bank"))]);
    let plan = company.kalypso("plan -e dev --patch it.patch").ends(2).says(&["2 assignments are removed"]);
    assert!(plan.out.starts_with(&format!("main@{} → ", &first[..7])), "{}", plan.out);
    // The declaration of an environment is read at the head of main, independent of the promoted commit.
    company.change("control-plane@main", "configs/other.yaml", &config("other", "", "A: b"));
    let declared = environment("dev").replace("path: .", "path: configs");
    patch(&company, "main", ".environments/dev.yaml", Some(&declared));
    company.kalypso("plan -e dev --patch it.patch").ends(2).says(&["2 assignments are removed"]);
}

#[test]
fn a_patch_that_breaks_a_file_leaves_its_earlier_version() {
    let company = Company::new();
    patch(&company, "dev", WEST, Some("a: ["));
    let plan = company.kalypso("plan -e dev --patch it.patch").ends(1);
    plan.says(&["configs/west.yaml", "is used instead", "nothing changes: 2 assignments are up to date"]);
}

#[test]
fn mismatching_patch_is_reported_with_its_line() {
    let company = Company::new();
    patch(&company, "dev", WEST, Some(&west("mysql://west-2/a")));
    company.change("control-plane@dev", WEST, &west("mysql://elsewhere/a"));
    let plan = company.kalypso("plan -e dev --patch it.patch").ends(1);
    plan.says(&["it.patch can't be applied: hunk 1 (line 5 of the patch) does not fit `configs/west.yaml`: line 7 is"]);
    fs::write(company.path("it.patch"), "no patch").unwrap();
    company.kalypso("plan -e dev --patch it.patch").ends(1).says(&["it holds no change of a file"]);
    company.kalypso("plan -e dev --patch nowhere.patch").ends(64).says(&["`nowhere.patch` can't be read"]);
}

#[test]
fn a_patch_of_a_plain_directory_needs_no_git() {
    let company = Company::new();
    let folder = company.write_plain("plain");
    patch(&company, "dev", WEST, Some(&west("mysql://west-2/a")));
    let before = crate::company::folder_text(&folder);
    let plan: Ran = company.kalypso("plan --from plain -e dev --patch it.patch").ends(2);
    plan.says(&["dev of plain → dev of plain + it.patch", "1 assignment changes", "\"mysql://west-2/a\""]);
    assert_eq!(crate::company::folder_text(&folder), before);
}
