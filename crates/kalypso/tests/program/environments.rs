//! `kalypso add environment`, `remove environment` and `add template`.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::company::{Ran, git, kalypso};

/// A platform with the environments `dev` and `prod`.
struct Platform(TempDir);

impl Platform {
    fn new() -> Self {
        let platform = Self(TempDir::new().unwrap());
        fs::write(platform.0.path().join(".gitconfig"), "[user]\nname = Ann Ops\nemail = ann@acme.example\n").unwrap();
        Ran::new(kalypso(platform.0.path()).args(["init", "platform", "--environments", "dev,prod"])).ends(0);
        platform
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.0.path().join("platform").join(relative)
    }

    fn kalypso(&self, arguments: &str) -> Ran {
        let mut command = kalypso(self.0.path());
        Ran::new(command.current_dir(self.path("")).args(arguments.split_whitespace()))
    }

    fn add(&self, arguments: &str) -> Ran {
        self.kalypso(&format!("add environment {arguments}"))
    }

    /// The environments with what follows each.
    fn order(&self) -> String {
        let mut files: Vec<_> = fs::read_dir(self.path("control-plane/.environments")).unwrap().flatten().collect();
        files.sort_by_key(fs::DirEntry::file_name);
        let entry = |file: fs::DirEntry| {
            let text = fs::read_to_string(file.path()).unwrap();
            let next = text
                .lines()
                .find_map(|line| line.trim().strip_prefix("promotion.kalypso.io/next: ").map(str::to_owned));
            format!("{}>{} ", file.file_name().to_string_lossy().trim_end_matches(".yaml"), next.unwrap_or_default())
        };
        files.into_iter().map(entry).collect()
    }
}

#[test]
fn a_new_environment_is_in_the_order_and_has_its_branch() {
    let platform = Platform::new();
    platform.add("qa --after dev --commit").ends(0).says(&[
        "Added environment qa after dev",
        "environments/qa",
        "dev ENVIRONMENT",
    ]);
    assert_eq!(platform.order(), "dev>qa prod> qa>prod ");
    assert_eq!(git(&platform.path("environments/qa"), &["status", "--porcelain", "--branch"]), "## qa");
    let values = fs::read_to_string(platform.path("environments/qa/configs/qa.yaml")).unwrap();
    assert!(values.contains("ENVIRONMENT: qa") && !platform.path("environments/qa/configs/dev.yaml").exists());
    platform.kalypso("check --strict").ends(0);
    platform.kalypso("publish -e qa --direct").ends(0);
    assert_eq!(git(&platform.path("platform-gitops.git"), &["for-each-ref", "--format=%(refname:short)"]), "qa");
}

/// A repository beside the platform with values in a folder of the branch `branch`.
fn repository(platform: &Platform, name: &str, (branch, folders): (&str, &[&str])) -> PathBuf {
    let repository = platform.path(name);
    fs::create_dir(&repository).unwrap();
    git(&repository, &["init", "--quiet", &format!("--initial-branch={branch}")]);
    for folder in folders {
        fs::create_dir_all(repository.join(folder)).unwrap();
        let values = testkit::objects::config(name, "", &format!("{name}: value"));
        fs::write(repository.join(folder).join("values.yaml"), values).unwrap();
    }
    commit(&repository, "Values");
    repository
}

fn commit(repository: &std::path::Path, message: &str) {
    git(repository, &["add", "."]);
    git(repository, &["-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", message]);
}

/// Lets `dev` read a folder of a branch.
fn add_base(platform: &Platform, name: &str, (branch, path): (&str, &str)) {
    let spec = format!("repo: https://git.example/platform/{name}\nbranch: {branch}\npath: {path}");
    let base = testkit::objects::object("BaseRepo", name, &spec);
    fs::write(platform.path(&format!("environments/dev/{name}.yaml")), base).unwrap();
}

/// Acknowledges the warning about an object of `qa`.
fn acknowledge(platform: &Platform, name: &str) {
    let file = platform.path(&format!("environments/qa/{name}.yaml"));
    let text = fs::read_to_string(&file).unwrap();
    let reason = "  annotations: {kalypso.io/acknowledge.K0162: Brazil has one}\n";
    fs::write(&file, text.replace(&format!("  name: {name}\n"), &format!("  name: {name}\n{reason}"))).unwrap();
}

#[test]
fn a_new_environment_reads_its_own_branches_of_other_repositories() {
    let platform = Platform::new();
    for (name, branches) in [("germany", &["qa"][..]), ("brazil", &[])] {
        let repository = repository(&platform, name, ("dev", &["."]));
        branches.iter().for_each(|branch| drop(git(&repository, &["branch", branch])));
        add_base(&platform, name, ("dev", "."));
    }
    commit(&platform.path("environments/dev"), "Countries");
    platform.kalypso("check --strict").ends(0);
    platform.add("qa --after dev --commit").ends(0).says(&[
        "sources that are read from branch qa now: BaseRepo germany",
        "warning: BaseRepo `brazil` of qa reads branch `dev` of https://git.example/platform/brazil",
        "create it, then name it in `brazil.yaml` on branch `qa`",
    ]);
    let check = platform.kalypso("check").ends(0);
    check.says(&["K0162", "control-plane@qa:brazil.yaml:7:11", "BaseRepo `brazil` reads branch `dev`", "1 warning"]);
    acknowledge(&platform, "brazil");
    platform.kalypso("check --strict --working-tree").ends(0).says(&["1 warning is acknowledged"]);
}

#[test]
fn a_new_environment_reads_its_own_folders_of_other_repositories() {
    let platform = Platform::new();
    for (name, folders) in [("germany", &["dev", "qa"][..]), ("brazil", &["dev"])] {
        repository(&platform, name, ("main", folders));
        add_base(&platform, name, ("main", "./dev"));
    }
    commit(&platform.path("environments/dev"), "Countries");
    platform.kalypso("check --strict").ends(0);
    platform.add("qa --after dev --commit").ends(0).says(&[
        "sources that are read from folder ./qa now: BaseRepo germany",
        "warning: BaseRepo `brazil` of qa reads folder `./dev` of https://git.example/platform/brazil, like dev: no folder `./qa` exists",
        "create it, then name it in `brazil.yaml` on branch `qa`",
    ]);
    let germany = fs::read_to_string(platform.path("environments/qa/germany.yaml")).unwrap();
    assert!(germany.contains("branch: main\n  path: ./qa"), "{germany}");
    let check = platform.kalypso("check").ends(0);
    check.says(&[
        "K0162",
        "control-plane@qa:brazil.yaml:8:9",
        "BaseRepo `brazil` reads folder `./dev`",
        "and `dev` is another environment",
        "1 warning",
    ]);
    acknowledge(&platform, "brazil");
    platform.kalypso("check --strict --working-tree").ends(0).says(&["1 warning is acknowledged"]);
}

#[test]
fn topic_branch_that_stands_for_main_is_named() {
    let platform = Platform::new();
    git(&platform.path("control-plane"), &["switch", "--quiet", "--create", "topic"]);
    let ran = platform.add("qa --after dev --dry-run").ends(0);
    ran.says(&["note: branch `topic` in control-plane stands for `main`, which it began at"]);
}

#[test]
fn patch_from_standard_input_is_planned_for_all_environments() {
    let platform = Platform::new();
    let patch = "diff --git a/x.yaml b/x.yaml\nnew file mode 100644\n--- /dev/null\n+++ b/x.yaml\n@@ -0,0 +1,4 @@\n\
        +apiVersion: v1\n+kind: ConfigMap\n+metadata: {name: x, labels: {platform-config: \"true\"}}\n+data: {X: \"1\"}\n";
    fs::write(platform.path("x.patch"), patch).unwrap();
    let mut command = kalypso(platform.0.path());
    command.current_dir(platform.path("")).stdin(fs::File::open(platform.path("x.patch")).unwrap());
    let plans = Ran::new(command.args(["plan", "--all", "--patch", "-", "-o", "json"])).ends(0).json();
    let changes: Vec<_> =
        plans["environments"].as_array().unwrap().iter().map(|plan| &plan["change"]["files"]).collect();
    assert_eq!(changes, [&serde_json::json!(["x.yaml"]), &serde_json::json!(["x.yaml"])]);
}

#[test]
fn a_dry_run_writes_nothing() {
    let platform = Platform::new();
    platform.add("qa --after dev --dry-run").ends(0).says(&["Would add environment qa", "a new branch", "dry run"]);
    assert_eq!(platform.order(), "dev>prod prod> ");
    assert_eq!(git(&platform.path("control-plane"), &["for-each-ref", "--format=%(refname:short)"]), "dev\nmain\nprod");
}

#[test]
fn an_interrupted_run_is_completed() {
    let platform = Platform::new();
    platform.add("qa --after dev").ends(0);
    let control_plane = platform.path("control-plane");
    git(&control_plane, &["checkout", "--quiet", "."]);
    git(&control_plane, &["clean", "--quiet", "--force", ".environments"]);
    git(&control_plane, &["worktree", "remove", "--force", "../environments/qa"]);
    platform.add("qa --after dev --commit").ends(0);
    assert_eq!(platform.order(), "dev>qa prod> qa>prod ");
    platform.kalypso("check").ends(0);
}

#[test]
fn invalid_environments_are_refused() {
    let platform = Platform::new();
    let check = |arguments: &str, status: i32, words: &[&str]| {
        platform.add(arguments).ends(status).says(words);
        assert_eq!(platform.order(), "dev>prod prod> ", "{arguments}");
    };
    check("prod --after dev", 1, &["there is an environment `prod`"]);
    check("qa --after devv", 1, &["there is no environment `devv`", "did you mean `dev`"]);
    check("main --after dev", 64, &["no environment can be named `main`"]);
    check("QA --after dev", 64, &["is not the name of an environment"]);
    check("qa --after dev --propose", 64, &["can't be proposed"]);
    git(&platform.path("control-plane"), &["branch", "qa", "prod"]);
    check("qa --after dev", 1, &["there is a branch `qa` with other files", "branch -D qa"]);
}

#[test]
fn a_removed_environment_leaves_its_branches() {
    let platform = Platform::new();
    platform.add("qa --after dev --commit").ends(0);
    let ran = platform.kalypso("remove environment qa --commit").ends(0);
    ran.says(&["Removed Environment qa", "no longer published: 0 assignments", "stays: branch qa"]);
    assert_eq!(platform.order(), "dev>prod prod> ");
    assert!(git(&platform.path("control-plane"), &["branch", "--list", "qa"]).contains("qa"));
    platform.kalypso("remove environment qa").ends(1).says(&["qa"]);
}

#[test]
fn a_template_is_added_once() {
    let platform = Platform::new();
    platform.kalypso("add template --list").ends(0).says(&["argocd", "reconciler", "Argo CD"]);
    let packs = platform.kalypso("add template --list -o json").ends(0).json();
    assert_eq!(packs["packs"][0]["name"], "flux");
    platform.kalypso("add template argocd --commit").ends(0).says(&["templates/argocd.yaml", "reconciler: argocd"]);
    platform.kalypso("add template argocd").ends(1).says(&["there is a template `argocd`", "--as NAME"]);
    platform.kalypso("add template argocd --as argocd-edge --commit").ends(0);
    platform.kalypso("add template argcd").ends(64).says(&["did you mean `argocd`"]);
    platform.kalypso("check --strict").ends(0);
}
