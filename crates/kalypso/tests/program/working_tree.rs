//! Changes of the control plane that are not committed, in the working trees where people make them; and all environments at once.

use std::fs;
use std::path::PathBuf;

use testkit::objects::{cluster_type, config, environment, gitops, pinned_base};

use crate::company::{Company, git};

const WEST: &str = "configs/west.yaml";

/// A company with clones of its control plane in `control-plane`, the main branch, and in `environments/dev`, a linked working tree.
struct Clones(Company);

impl Clones {
    fn new() -> Self {
        let clones = Self(Company::new());
        let from = clones.0.repository("control-plane");
        let root = clones.0.path(".");
        git(&root, &["clone", "--quiet", from.to_str().unwrap(), "control-plane"]);
        let clone = clones.0.path("control-plane");
        git(&clone, &["worktree", "add", "--quiet", "../environments/dev", "dev"]);
        git(&clone, &["config", "user.name", "Ann"]);
        git(&clone, &["config", "user.email", "ann@example.com"]);
        clones
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }
}

fn west(value: &str) -> String {
    config("west", "region: west-us", &format!("DATABASE: {value}"))
}

#[test]
fn changes_of_all_working_trees_are_planned_together() {
    let clones = Clones::new();
    let company = &clones.0;
    company.kalypso("plan -e dev --working-tree").ends(0).says(&["→ dev without changes in working trees"]);
    clones.write(&format!("environments/dev/{WEST}"), &west("mysql://west-2/a"));
    clones.write("control-plane/configs/all.yaml", &config("all", "", "NEW: value"));
    let plan = company.kalypso("plan -e dev --working-tree").ends(2);
    let plan =
        plan.says(&["2 assignments change", "\"mysql://west/a\" → \"mysql://west-2/a\"", "NEW  (new) \"value\""]);
    assert!(plan.out.contains("→ dev + "), "{}", plan.out);
    assert!(plan.out.contains("control-plane/configs/all.yaml, environments/dev/configs/west.yaml"), "{}", plan.out);
    let json = company.kalypso("plan --all --working-tree=environments/dev -o json").ends(2).json();
    let change = &json["environments"][0]["change"];
    assert_eq!(change["workingTrees"], serde_json::json!(["control-plane", "environments/dev"]));
    company.kalypso("render -e dev --working-tree --out rendered").ends(0);
    let rendered = fs::read_to_string(company.path("rendered/west/shop-test/platform-config.yaml")).unwrap();
    assert!(rendered.contains("mysql://west-2/a") && rendered.contains("NEW: value"), "{rendered}");
    company.kalypso("plan -e dev --commit HEAD").ends(0);
}

#[test]
fn problems_are_shown_in_the_file_that_people_edit() {
    let clones = Clones::new();
    let company = &clones.0;
    clones.write(&format!("environments/dev/{WEST}"), &format!("# New\n\n{}", west("[")));
    clones.write("environments/dev/new/broken.yaml", "a: [\n");
    let check = company.kalypso("check --working-tree").ends(1);
    let check =
        check.says(&["--> environments/dev/new/broken.yaml:1:4", "--> environments/dev/configs/west.yaml:9:13"]);
    assert!(check.out.contains("2 errors") && !check.out.contains("control-plane@dev:new"), "{}", check.out);
    let json = company.kalypso("check --working-tree -o json").ends(1).json();
    let label = &json["diagnostics"][1]["labels"][0];
    assert_eq!(
        (&label["file"], &label["path"]),
        (&"environments/dev/new/broken.yaml".into(), &"new/broken.yaml".into())
    );
    assert_eq!(label["commit"], serde_json::Value::Null);
    company
        .kalypso("check --working-tree -o github")
        .ends(1)
        .says(&["::error file=environments/dev/new/broken.yaml,line=1"]);
    company.kalypso("check").ends(0);
}

#[test]
fn changes_only_in_a_working_tree_are_reported() {
    let clones = Clones::new();
    let company = &clones.0;
    let all = [
        "check",
        "plan -e dev",
        "render -e dev --digest",
        "explain -e dev west/shop-test",
        "why-not -e dev shop-test east",
        "publish -e dev",
    ];
    let check = |expected: &str| {
        for command in all {
            let err = company.kalypso(command).err;
            let notes: Vec<_> = err.lines().filter(|line| line.contains("not read")).collect();
            assert_eq!(notes.join("\n"), expected, "{command}");
        }
    };
    check("");
    clones.write(&format!("environments/dev/{WEST}"), &west("mysql://west-2/a"));
    let advice = "`kalypso check --working-tree` reads them";
    let uncommitted = "1 file in environments/dev has changes that are not committed, and were not read";
    check(&format!("note: {uncommitted}: {advice}"));
    git(&company.path("environments/dev"), &["add", WEST]);
    check(&format!("note: {uncommitted}: {advice}"));
    git(&company.path("environments/dev"), &["commit", "--quiet", "-m", "Not pushed"]);
    check(&format!("note: 1 commit of `dev` in environments/dev is not pushed, and was not read: {advice}"));
    git(&company.path("environments/dev"), &["switch", "--quiet", "-c", "faster"]);
    let unmerged = "1 commit of branch `faster` in environments/dev is not merged into `dev`, and was not read";
    check(&format!("note: {unmerged}: {advice}"));
    assert!(!company.kalypso("check --working-tree").err.contains("not read"));
    git(&company.path("environments/dev"), &["push", "--quiet", "origin", "faster:dev"]);
    company.change("control-plane@dev", "configs/other.yaml", &config("other", "", "A: b"));
    check("");
}

#[test]
fn a_name_that_is_not_committed_is_explained() {
    let clones = Clones::new();
    clones.write("environments/dev/north.yaml", &cluster_type("north", "region: north"));
    let plan = clones.0.kalypso("explain -e dev north");
    plan.ends(1).says(&["1 file in environments/dev has changes that are not committed"]);
}

#[test]
fn working_trees_are_found_from_within_or_by_name() {
    let clones = Clones::new();
    let company = &clones.0;
    fs::rename(company.path("control-plane"), company.path("elsewhere")).unwrap();
    git(&company.path("elsewhere"), &["worktree", "repair", "../environments/dev"]);
    clones.write(&format!("environments/dev/{WEST}"), &west("mysql://west-2/a"));
    company.kalypso("check --working-tree").ends(64).says(&["is checked out here", "name a folder with a clone"]);
    company.kalypso("plan -e dev --working-tree elsewhere").ends(2);
    let mut inside = company.command();
    let inside =
        inside.current_dir(company.path("environments/dev/configs")).args(["plan", "-e", "dev", "--working-tree"]);
    crate::company::Ran::new(inside).ends(2).says(&["dev + west.yaml"]);
    let missing = company.kalypso("check --working-tree served").ends(64);
    missing.says(&["`served` is in no git repository"]);
    git(&company.path("served/control-plane.git"), &["worktree", "add", "--quiet", "../../of-bare", "main"]);
    let other = company.kalypso("check --working-tree served/shop.git").ends(64);
    other.says(&["is no working tree of the control plane", "one of its remotes must have this URL"]);
}

#[test]
fn branches_that_are_checked_out_nowhere_are_read_from_git() {
    let clones = Clones::new();
    let company = &clones.0;
    git(&company.path("control-plane"), &["worktree", "remove", "../environments/dev"]);
    clones.write("control-plane/configs/all.yaml", &config("all", "", "NEW: value"));
    let plan = company.kalypso("plan -e dev --working-tree").ends(2);
    plan.says(&["note: `dev` is checked out nowhere, and read from git", "2 assignments change"]);
    git(&company.path("control-plane"), &["switch", "--quiet", "--detach"]);
    company.kalypso("check --working-tree").ends(64).says(&["is checked out here"]);
}

#[test]
fn a_topic_branch_stands_for_the_branch_that_it_began_at() {
    let clones = Clones::new();
    let company = &clones.0;
    for (folder, topic) in [("environments/dev", "faster"), ("control-plane", "more-values")] {
        git(&company.path(folder), &["switch", "--quiet", "-c", topic]);
    }
    clones.write(&format!("environments/dev/{WEST}"), &west("mysql://west-2/a"));
    git(&company.path("environments/dev"), &["commit", "--quiet", "--all", "-m", "Not merged"]);
    clones.write("control-plane/configs/all.yaml", &config("all", "", "NEW: value"));
    let plan = company.kalypso("plan -e dev --working-tree").ends(2);
    let plan = plan.says(&["2 assignments change", "mysql://west-2/a", "NEW  (new)"]);
    assert_eq!(
        plan.err,
        "note: branch `more-values` in control-plane stands for `main`, which it began at\n\
         note: branch `faster` in environments/dev stands for `dev`, which it began at\n"
    );
}

#[test]
fn outdated_clone_is_reported() {
    let clones = Clones::new();
    let company = &clones.0;
    company.change("control-plane@dev", WEST, &west("mysql://west-2/a"));
    let plan = company.kalypso("plan -e dev --working-tree").ends(2);
    plan.says(&["does not have the newest commits of `dev`: `git -C environments/dev pull`"]);
    git(&company.path("environments/dev"), &["pull", "--quiet"]);
    let plan = company.kalypso("plan -e dev --working-tree").ends(0);
    assert_eq!(plan.err, "");
    clones.write(&format!("environments/dev/{WEST}"), &west("mysql://west-3/a"));
    git(&company.path("environments/dev"), &["commit", "--quiet", "--all", "-m", "Not pushed"]);
    let plan = company.kalypso("plan -e dev --working-tree").ends(2).says(&["\"mysql://west-3/a\""]);
    assert_eq!(plan.err, "");
}

#[test]
fn pinned_environment_ignores_uncommitted_changes_of_main() {
    let clones = Clones::new();
    let company = &clones.0;
    let first = company.head("control-plane", "main").unwrap();
    company.change("control-plane@dev", "base.yaml", &pinned_base(first));
    git(&company.path("environments/dev"), &["pull", "--quiet"]);
    clones.write("control-plane/configs/all.yaml", &config("all", "", "NEW: value"));
    let plan = company.kalypso("plan -e dev --working-tree").ends(0);
    plan.says(&["nothing changes", "→ dev without changes in working trees   (main stays at"]);
}

#[test]
fn an_environment_that_is_not_committed_is_planned_against_its_branch() {
    let clones = Clones::new();
    let company = &clones.0;
    company.commit("gitops", "stage", &[("README.md", "What clusters of stage run.\n".to_owned())]);
    company.commit(
        "control-plane",
        "stage",
        &[("gitops.yaml", gitops("stage", "stage", ".")), ("cluster-types/east.yaml", cluster_type("east", "east-us"))],
    );
    clones.write("control-plane/.environments/stage.yaml", &environment("stage"));
    company.kalypso("plan -e stage").ends(1);
    company.kalypso("plan -e stage --working-tree").ends(2).says(&["gitops@stage"]);
    company.kalypso("check -e stage --working-tree").ends(0);
}

#[test]
fn other_line_endings_are_not_a_change() {
    let clones = Clones::new();
    let company = &clones.0;
    let file = company.path(&format!("environments/dev/{WEST}"));
    git(&company.path("environments/dev"), &["config", "core.autocrlf", "true"]);
    fs::write(&file, fs::read_to_string(&file).unwrap().replace('\n', "\r\n")).unwrap();
    company.kalypso("plan -e dev --working-tree").ends(0).says(&["dev without changes in working trees"]);
    clones.write(&format!("environments/dev/{WEST}"), &west("mysql://west-2/a").replace('\n', "\r\n"));
    let plan = company.kalypso("plan -e dev --working-tree").ends(2);
    plan.says(&["1 assignment changes", "\"mysql://west-2/a\"", "because configs/west.yaml:7"]);
}

#[cfg(unix)]
#[test]
fn unusual_names_links_and_submodules_are_handled() {
    use std::os::unix::ffi::OsStrExt as _;
    let clones = Clones::new();
    let company = &clones.0;
    let dev = company.path("environments/dev");
    let not_text = std::ffi::OsStr::from_bytes(b"n\xffme.yaml");
    fs::write(dev.join(not_text), config("odd", "", "ODD: value")).unwrap();
    fs::write(dev.join("two words.yaml"), config("two", "", "TWO: value")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", dev.join("link.yaml")).unwrap();
    fs::create_dir(dev.join("nested")).unwrap();
    git(&dev.join("nested"), &["init", "--quiet"]);
    fs::write(dev.join("nested/inside.yaml"), "a: [").unwrap();
    let plan = company.kalypso("plan -e dev --working-tree");
    let plan = plan.ends(2).says(&["ODD  (new)", "TWO  (new)", "K0118", "link.yaml"]);
    assert!(!plan.err.contains("inside.yaml") && !plan.err.contains("root:"), "{}", plan.err);
}

#[test]
fn unfinished_merge_is_reported() {
    let clones = Clones::new();
    let company = &clones.0;
    let dev = company.path("environments/dev");
    git(&dev, &["switch", "--quiet", "-c", "other"]);
    clones.write(&format!("environments/dev/{WEST}"), &west("other"));
    git(&dev, &["commit", "--quiet", "--all", "-m", "other"]);
    git(&dev, &["switch", "--quiet", "dev"]);
    clones.write(&format!("environments/dev/{WEST}"), &west("mine"));
    git(&dev, &["commit", "--quiet", "--all", "-m", "mine"]);
    let merge = std::process::Command::new("git").current_dir(&dev).args(["merge", "other"]).output().unwrap();
    assert!(!merge.status.success());
    let check = company.kalypso("check -e dev --working-tree").ends(1);
    check.says(&["a `git merge` is not finished in `environments/dev`", "--> environments/dev/configs/west.yaml"]);
}

#[test]
fn all_environments_are_planned_and_rendered() {
    let company = Company::with_environments(&["dev", "stage"]);
    let plan = company.kalypso("plan --all").ends(2);
    let plan = plan.says(&["→ gitops@dev", "→ gitops@stage", "2 assignments are added"]);
    assert!(plan.out.find("gitops@dev") < plan.out.find("gitops@stage"), "{}", plan.out);
    let json = company.kalypso("plan --all -o json").ends(2).json();
    assert_eq!(json["environments"][1]["environment"], "stage");
    company.kalypso("render --all --out rendered").ends(0).says(&["Rendered dev", "Rendered stage", "rendered/stage"]);
    assert!(company.path("rendered/dev/west/shop-test/platform-config.yaml").is_file());
    let json = company.kalypso("render --all --digest -o json").ends(0).json();
    assert_eq!(json["environments"].as_array().unwrap().len(), 2);
    company.kalypso("plan").ends(64).says(&["--env <ENV>"]);
    company.kalypso("plan --all -e dev").ends(64);
    company.remove("control-plane", "stage", "gitops.yaml");
    company.kalypso("plan --all").ends(69).says(&["→ gitops@dev", "stage could not be planned"]);
}

#[test]
fn a_change_of_main_is_checked_for_all_environments() {
    let company = Company::with_environments(&["dev", "stage"]);
    company.change("control-plane@main", "templates/default.yaml", "a: [");
    let broken = company.head("control-plane", "main").unwrap();
    company.kalypso("check").ends(1);
    company.kalypso("check --commit main~1").ends(0);
    company.kalypso("check --commit main").ends(1).says(&["templates/default.yaml", "1 error"]);
    company.kalypso(&format!("check -e stage --commit {broken}")).ends(1);
    company.kalypso("check --commit dev").ends(1).says(&["`dev` is no commit of `main`"]);
    fs::write(company.path("it.patch"), "--- a/templates/default.yaml\n+++ b/templates/default.yaml\n@@ -1 +1,2 @@\n-a: [\n\\ No newline at end of file\n+# Nothing\n+---\n").unwrap();
    let check = company.kalypso("check --patch it.patch");
    assert!(!check.out.contains("K0101"), "{}", check.out);
    company.kalypso("render --all --commit main~1 --digest").ends(0);
}
