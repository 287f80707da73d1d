//! Working trees of real repositories: they are found, and read as git itself would commit them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use git::checkout::{Checkout, OperationKind, WorkingState, checkouts, commit, distance, identity, working_state};
use git::{Commit, Edit, Repositories, Revision};
use proptest::prelude::*;

use crate::playground::{Disk, url};

/// A clone of a control plane with the branches `main` and `dev`.
struct Clone {
    disk: Disk,
    root: PathBuf,
}

impl Clone {
    fn new() -> Self {
        let disk = Disk::new();
        disk.commit("control-plane", "main", &[("a.yaml", "a: 1\n"), ("b/c.yaml", "c: 1\n"), ("README.md", "Read\n")]);
        disk.commit("control-plane", "dev", &[("dev.yaml", "a: 1\n")]);
        let root = disk.folder.path().join("clone");
        let from = disk.served().join("control-plane.git");
        git_in(disk.folder.path(), &["clone", "--quiet", from.to_str().unwrap(), "clone"]);
        let clone = Self { disk, root };
        for (name, value) in [("user.name", "Ann"), ("user.email", "ann@example.com")] {
            clone.git(&["config", name, value]);
        }
        clone
    }

    fn git(&self, arguments: &[&str]) -> String {
        git_in(&self.root, arguments)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn settings(&self) -> git::Settings {
        self.disk.settings(&format!("{}/", self.disk.served().display()))
    }

    fn find(&self, folder: &Path) -> Vec<Checkout> {
        checkouts(&self.settings(), &url("control-plane"), folder).unwrap()
    }

    /// The state of the main working tree, compared with the head of `main`.
    fn state(&self) -> WorkingState {
        let repositories = self.disk.local();
        let head = repositories.resolve(&url("control-plane"), &Revision::branch("main")).unwrap();
        let checkout = self.find(&self.root).remove(0);
        working_state(&self.settings(), &checkout, (&repositories, &head)).unwrap()
    }

    #[track_caller]
    fn check_changed(&self, expected: &[&str]) {
        let changed: Vec<_> = self.state().changed.iter().map(ToString::to_string).collect();
        assert_eq!(changed, expected);
    }
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command
}

fn git_in(folder: &Path, arguments: &[&str]) -> String {
    let output = command(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn branches(checkouts: &[Checkout]) -> Vec<Option<&str>> {
    checkouts.iter().map(Checkout::branch).collect()
}

#[test]
fn all_working_trees_of_a_repository_are_found_from_each_of_them() {
    let clone = Clone::new();
    clone.git(&["worktree", "add", "--quiet", "../two words", "dev"]);
    let linked = clone.disk.folder.path().join("two words");
    for folder in [&clone.root, &linked] {
        assert_eq!(branches(&clone.find(folder)), [Some("main"), Some("dev")]);
    }
    let bare = clone.disk.served().join("control-plane.git");
    assert_eq!(clone.find(&bare), []);
    git_in(&bare, &["worktree", "add", "--quiet", "../../of-bare", "dev"]);
    assert_eq!(branches(&clone.find(&bare)), [Some("dev")]);
    fs::remove_dir_all(&linked).unwrap();
    assert_eq!(branches(&clone.find(&clone.root)), [Some("main")]);
}

#[test]
fn checkouts_of_other_repositories_are_not_found() {
    let clone = Clone::new();
    clone.disk.commit("other", "main", &[("a.yaml", "a: 1\n")]);
    assert_eq!(checkouts(&clone.settings(), &url("other"), &clone.root).unwrap(), []);
    clone.git(&["remote", "set-url", "origin", "git@git.example:acme/other.git"]);
    assert_eq!(clone.find(&clone.root), []);
    assert_eq!(checkouts(&clone.settings(), &url("other"), &clone.root).unwrap().len(), 1);
    assert!(checkouts(&clone.settings(), &url("other"), clone.disk.folder.path()).is_err());
}

#[test]
fn a_head_may_have_no_branch_or_a_deleted_one() {
    let clone = Clone::new();
    clone.git(&["switch", "--quiet", "--detach"]);
    assert_eq!(branches(&clone.find(&clone.root)), [None]);
    clone.git(&["switch", "--quiet", "-c", "gone"]);
    clone.git(&["update-ref", "-d", "refs/heads/gone"]);
    let found = clone.find(&clone.root);
    assert_eq!((found[0].branch(), found[0].commit()), (Some("gone"), None));
}

#[test]
fn files_that_git_would_not_commit_do_not_count() {
    let clone = Clone::new();
    clone.check_changed(&[]);
    clone.write(".gitignore", "ignored.yaml\n");
    clone.write("ignored.yaml", "a: 1\n");
    clone.write("notes.txt", "a: 1\n");
    clone.git(&["init", "--quiet", "nested"]);
    clone.write("nested/inside.yaml", "a: 1\n");
    clone.check_changed(&[]);
    clone.git(&["sparse-checkout", "set", "--no-cone", "/a.yaml"]);
    assert!(!clone.root.join("b/c.yaml").exists());
    clone.check_changed(&[]);
}

#[test]
fn commits_that_were_not_pushed_count() {
    let clone = Clone::new();
    clone.write("a.yaml", "a: 2\n");
    clone.git(&["commit", "--quiet", "--all", "-m", "A change"]);
    clone.check_changed(&["a.yaml"]);
    clone.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    clone.disk.commit("control-plane", "main", &[("a.yaml", "a: 3\n")]);
    clone.check_changed(&["a.yaml", "b/c.yaml"]);
}

#[test]
fn a_topic_branch_is_nearest_to_the_branch_that_it_left() {
    let clone = Clone::new();
    let distances = |branches: &[&str]| {
        let checkout = clone.find(&clone.root).remove(0);
        let of = |name: &&str| {
            let head = model::git_id::GitId::from_hex(&clone.git(&["rev-parse", name])).unwrap();
            distance(&clone.settings(), &checkout, (name, head)).map(|found| (found.ahead, found.behind))
        };
        branches.iter().map(of).collect::<Vec<_>>()
    };
    clone.git(&["switch", "--quiet", "-c", "stage"]);
    clone.git(&["commit", "--quiet", "--allow-empty", "-m", "Of stage"]);
    clone.git(&["switch", "--quiet", "-c", "topic", "main"]);
    clone.git(&["commit", "--quiet", "--allow-empty", "-m", "Of the topic"]);
    assert_eq!(distances(&["main", "stage", "origin/dev"]), [Some((1, 0)), Some((1, 1)), None]);
    clone.git(&["switch", "--quiet", "-c", "other-topic", "stage"]);
    assert_eq!(distances(&["main", "stage"]), [Some((1, 0)), Some((0, 0))]);
}

#[test]
fn configured_programs_of_the_repository_are_not_run() {
    let clone = Clone::new();
    let program = clone.root.join("evil");
    clone.write("evil", &format!("#!/bin/sh\ntouch {}\n", clone.root.join("was-run").display()));
    Command::new("chmod").arg("+x").arg(&program).status().unwrap();
    for name in ["core.fsmonitor", "filter.evil.clean", "filter.evil.process", "diff.evil.textconv", "core.pager"] {
        clone.git(&["config", name, program.to_str().unwrap()]);
    }
    clone.write(".gitattributes", "*.yaml filter=evil diff=evil\n");
    clone.write("a.yaml", "a: 2\n");
    clone.check_changed(&["a.yaml"]);
    assert!(!clone.root.join("was-run").exists());
}

#[cfg(unix)]
#[test]
fn a_link_is_a_link_and_nothing_is_read_through_it() {
    let clone = Clone::new();
    clone.write("outside/c.yaml", "c: secret\n");
    fs::rename(clone.root.join("outside"), clone.disk.folder.path().join("outside")).unwrap();
    fs::remove_dir_all(clone.root.join("b")).unwrap();
    std::os::unix::fs::symlink("../outside", clone.root.join("b")).unwrap();
    fs::remove_file(clone.root.join("a.yaml")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", clone.root.join("a.yaml")).unwrap();
    let state = clone.state();
    let edit = |path: &str| state.edits.iter().find(|(found, _)| &***found == path).map(|(_, edit)| edit.clone());
    assert!(matches!(edit("a.yaml"), Some(Edit::Link(_))));
    assert_eq!(edit("b/c.yaml"), Some(Edit::Removed));
}

#[test]
fn operations_that_are_not_finished_are_seen() {
    let check = |arguments: &[&str], kind: OperationKind| {
        let clone = Clone::new();
        clone.git(&["switch", "--quiet", "-c", "other"]);
        clone.write("a.yaml", "a: other\n");
        clone.git(&["commit", "--quiet", "--all", "-m", "Other"]);
        clone.git(&["switch", "--quiet", "main"]);
        clone.write("a.yaml", "a: mine\n");
        clone.git(&["commit", "--quiet", "--all", "-m", "Mine"]);
        assert_eq!(clone.find(&clone.root)[0].operation(), None);
        assert!(!command(&clone.root).args(arguments).output().unwrap().status.success());
        let found = clone.find(&clone.root);
        assert_eq!(found[0].operation().map(|operation| operation.kind), Some(kind));
        assert_eq!(found[0].branch(), Some("main"));
        assert_eq!(clone.state().unmerged, [Arc::from("a.yaml")]);
    };
    check(&["merge", "other"], OperationKind::Merge);
    check(&["cherry-pick", "other"], OperationKind::CherryPick);
    check(&["revert", "--no-edit", "HEAD~1"], OperationKind::Revert);
    check(&["rebase", "other"], OperationKind::Rebase);
}

#[test]
fn commits_have_the_user_as_author() {
    let clone = Clone::new();
    let settings = clone.settings();
    let person = identity(&settings, &clone.root).unwrap();
    assert_eq!((person.name.as_str(), person.email.as_str()), ("Ann", "ann@example.com"));
    clone.write("a.yaml", "a: 2\n");
    clone.write("*.yaml", "a: 2\n");
    clone.write("b/c.yaml", "c: 2\n");
    let checkout = clone.find(&clone.root).remove(0);
    let committed = commit(&settings, &checkout, &["*.yaml"], "A change\n\nWhy.").unwrap();
    assert_eq!(clone.git(&["show", "--format=%an %s", "--name-only"]), "Ann A change\n\n*.yaml");
    assert_eq!(clone.git(&["rev-parse", "HEAD"]), committed.id.to_string());
    assert!(commit(&settings, &checkout, &["*.yaml"], "Nothing").is_err());
}

/// What a person does to a file of the working tree.
#[derive(Clone, Debug)]
enum Step {
    Write(&'static str, String),
    Remove(&'static str),
    Stage,
    Commit,
}

const PATHS: [&str; 6] = ["a.yaml", "b/c.yaml", "b/d e.yml", "new/f.yaml", "b.yaml/g.yaml", "notes.txt"];

fn step() -> impl Strategy<Value = Step> {
    let path = || prop::sample::select(&PATHS[..]);
    prop_oneof![
        4 => (path(), "[ab]: [0-9]\n{1,2}").prop_map(|(path, text)| Step::Write(path, text)),
        2 => path().prop_map(Step::Remove),
        1 => Just(Step::Stage),
        1 => Just(Step::Commit),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// The state is what `git add --all` and a commit would make of the working tree.
    #[test]
    fn state_equals_the_commit_that_git_would_make(steps in prop::collection::vec(step(), 1..12)) {
        let clone = Clone::new();
        for step in steps {
            match step {
                Step::Write(path, text) => clone.write(path, &text),
                Step::Remove(path) => drop(fs::remove_file(clone.root.join(path))),
                Step::Stage => drop(clone.git(&["add", "--all"])),
                Step::Commit => drop(clone.git(&["commit", "--quiet", "--allow-empty", "--all", "-m", "A change"])),
            }
        }
        let repositories = clone.disk.local();
        let head = repositories.resolve(&url("control-plane"), &Revision::branch("main")).unwrap();
        let state = clone.state();
        clone.git(&["add", "--all"]);
        clone.git(&["commit", "--quiet", "--allow-empty", "-m", "All"]);
        clone.git(&["push", "--quiet", "origin", "main"]);
        let after = repositories.resolve(&url("control-plane"), &Revision::branch("main")).unwrap();
        for path in PATHS.iter().filter(|path| !path.ends_with("txt")) {
            let now = text(&repositories, &after, path);
            let edited = match state.edits.get(path) {
                Some(edit) => edit.map(|bytes| bytes.to_vec()),
                None => text(&repositories, &head, path),
            };
            prop_assert_eq!(edited, now, "{}", path);
        }
    }
}

fn text(repositories: &dyn Repositories, commit: &Commit, path: &str) -> Option<Vec<u8>> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let entries = repositories.folder(commit, folder).unwrap()?;
    let entry = entries.into_iter().find(|entry| entry.name == name && entry.kind == git::EntryKind::File)?;
    match repositories.content(commit, entry.id, 1_000).unwrap() {
        git::FileContent::Bytes(bytes) => Some(bytes.to_vec()),
        git::FileContent::TooLarge(_) => None,
    }
}
