//! Lock files that a killed git left behind: those in the cache are removed, those in repositories of users are reported.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use git::checkout::{CheckoutError, checkouts, commit as commit_files};
use git::{
    GitRepositories, LockFile, NewCommit, Push, Pushed, Repositories, RepositoryError, RepositoryUrl, Revision,
    Settings,
};
use model::git_id::GitId;
use model::progress::Progress;
use model::tree::closed;
use testkit::git_server::GitServer;

use crate::playground::{Disk, person, run, tree, url};

/// A server with repository `app`, which has one commit.
fn served() -> (Disk, GitServer) {
    let disk = Disk::new();
    disk.commit("app", "main", &[("a", "0")]);
    let server = GitServer::start(&disk.served()).unwrap();
    (disk, server)
}

/// The only copy in the cache.
fn copy(disk: &Disk) -> PathBuf {
    let mut copies = fs::read_dir(disk.cache()).unwrap().map(|entry| entry.unwrap().path());
    copies.find(|path| path.extension().is_some_and(|extension| extension == "git")).unwrap()
}

fn leave(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "").unwrap();
}

/// Leaves a file in the copy of `app`. The next run that changes the copy removes it, and gets the new commit.
fn check_in_copy((disk, server): &(Disk, GitServer), name: &str, number: usize) {
    let file = copy(disk).join(name);
    leave(&file);
    let text = number.to_string();
    let id = disk.commit("app", "main", &[("a", &text)]);
    let repositories = GitRepositories::new(disk.settings(&server.url()));
    let head = repositories.resolve(&url("app"), &Revision::branch("main")).unwrap();
    assert_eq!((head.id, repositories.tree(&head).unwrap()), (id, tree(&[("a", &text)])), "{name}");
    assert!(!file.exists(), "{name} remains");
}

#[test]
fn every_kind_of_lock_file_in_the_cache_is_removed() {
    let site = served();
    let repositories = GitRepositories::new(site.0.settings(&site.1.url()));
    repositories.resolve(&url("app"), &Revision::branch("main")).unwrap();
    let kinds = [
        "HEAD.lock",
        "config.lock",
        "gc.pid",
        "gc.pid.lock",
        "index.lock",
        "logs/HEAD.lock",
        "objects/info/alternates.lock",
        "objects/info/commit-graph.lock",
        "objects/info/commit-graphs/commit-graph-chain.lock",
        "objects/maintenance.lock",
        "objects/pack/multi-pack-index.lock",
        "objects/pack/tmp_pack_Ab12Cd",
        "objects/ab/tmp_obj_Ab12Cd",
        "packed-refs.lock",
        "packed-refs.new",
        "refs/kalypso/all/heads/main.lock",
        "refs/kalypso/heads/main.lock",
        "refs/tags/v1.lock",
        "reftable/tables.list.lock",
        "shallow.lock",
        "shallow_Ab12Cd",
        "worktrees/a/HEAD.lock",
        "worktrees/a/index.lock",
    ];
    for (number, name) in kinds.into_iter().enumerate() {
        check_in_copy(&site, name, number + 1);
    }
}

/// Resolves a commit of `main` by its id. The branch is in the copy already, so nothing is fetched.
fn resolve_pinned(repositories: &GitRepositories, id: GitId) -> GitId {
    let pinned = Revision::Commit { id, branch: Some("main".into()) };
    repositories.resolve(&url("app"), &pinned).unwrap().id
}

#[test]
fn the_lock_file_of_a_pinned_commit_is_removed() {
    let (disk, server) = served();
    let repositories = GitRepositories::new(disk.settings(&server.url()));
    let id = repositories.resolve(&url("app"), &Revision::branch("main")).unwrap().id;
    let marker = copy(&disk).join(format!("refs/kalypso/commits/{id}"));
    leave(&marker.with_extension("lock"));
    assert_eq!(resolve_pinned(&repositories, id), id);
    assert!(marker.exists() && !marker.with_extension("lock").exists());
}

#[test]
fn a_pinned_commit_is_marked_only_with_the_lock_of_the_copy() {
    let (disk, server) = served();
    let repositories = GitRepositories::new(disk.settings(&server.url()));
    let id = repositories.resolve(&url("app"), &Revision::branch("main")).unwrap().id;
    let other = fs::File::open(copy(&disk).with_extension("lock")).unwrap();
    other.lock().unwrap();
    assert_eq!(resolve_pinned(&repositories, id), id);
    let marker = copy(&disk).join(format!("refs/kalypso/commits/{id}"));
    assert!(!marker.exists());
    drop(other);
    assert_eq!(resolve_pinned(&repositories, id), id);
    assert!(marker.exists());
}

/// Pushes a commit to a repository on this machine.
fn push(settings: Settings, url: &RepositoryUrl, branch: &str) -> Result<Pushed, RepositoryError> {
    let repositories = GitRepositories::new(settings);
    let head = repositories.resolve(url, &Revision::branch(branch)).unwrap().id;
    let (tree, author) = (tree(&[("a", "1")]), person("Ann"));
    let parents = [head];
    let commit = NewCommit {
        parents: &parents,
        tree: &tree,
        open: &closed,
        message: "a change",
        author: &author,
        seconds: 1_000,
        signer: None,
    };
    repositories.push(url, &Push { branch, expected: Some(head), commit: Some(commit), progress: &Progress::default() })
}

/// A repository in place with one commit, and settings with a short time limit.
fn in_place() -> (Disk, PathBuf, Settings) {
    let disk = Disk::new();
    disk.commit("app", "main", &[("a", "0")]);
    let path = disk.served().join("app.git");
    let settings = disk.settings(&format!("{}/", disk.served().display()));
    (disk, path, Settings { time_limit: Duration::from_secs(3), ..settings })
}

/// Checks that a lock file of another git stops a push, that the error names it, and that it stays.
fn check_blocked(settings: Settings, at: (&RepositoryUrl, &str), file: &Path) {
    leave(file);
    let pushed = push(settings, at.0, at.1);
    let Err(error @ RepositoryError::Locked { .. }) = &pushed else { panic!("{}: {pushed:?}", file.display()) };
    let text = error.to_string();
    assert!(text.contains(&format!("lock file `{}` exists for ", file.display())), "{text}");
    assert!(file.exists(), "{} was removed", file.display());
}

#[test]
fn a_lock_file_in_a_repository_of_a_user_is_reported_and_stays() {
    for name in ["HEAD.lock", "refs/heads/main.lock"] {
        let (_disk, path, settings) = in_place();
        check_blocked(settings.clone(), (&url("app"), "main"), &path.join(name));
        fs::remove_file(path.join(name)).unwrap();
        push(settings, &url("app"), "main").unwrap();
    }
}

#[test]
fn lock_files_of_a_checked_out_branch_are_reported() {
    let (disk, ..) = in_place();
    let root = disk.folder.path().join("clone");
    run(disk.folder.path(), &["clone", "--quiet", "served/app.git", "clone"]);
    run(&root, &["config", "receive.denyCurrentBranch", "updateInstead"]);
    run(&root, &["worktree", "add", "--quiet", "-b", "dev", "../linked"]);
    let settings = Settings { time_limit: Duration::from_secs(3), ..Settings::new(disk.cache()) };
    let url = RepositoryUrl::from_configuration(root.to_str().unwrap()).unwrap();
    check_blocked(settings.clone(), (&url, "main"), &root.join(".git/index.lock"));
    check_blocked(settings, (&url, "dev"), &root.join(".git/worktrees/linked/index.lock"));
}

#[test]
fn lock_files_that_a_push_does_not_need_do_not_stop_it() {
    let (_disk, path, settings) = in_place();
    let names = [
        "config.lock",
        "gc.pid",
        "index.lock",
        "objects/info/commit-graph.lock",
        "objects/maintenance.lock",
        "objects/pack/multi-pack-index.lock",
        "objects/pack/tmp_pack_Ab12Cd",
        "refs/heads/other.lock",
        "shallow.lock",
    ];
    names.iter().for_each(|name| leave(&path.join(name)));
    assert!(matches!(push(settings, &url("app"), "main"), Ok(Pushed::Moved(_))));
    assert!(names.iter().all(|name| path.join(name).exists()));
}

/// A git that removes a file after its first push, like the git that held it.
fn program(disk: &Disk, lock: &Path) -> PathBuf {
    let path = disk.folder.path().join("git-that-unlocks");
    let script = format!(
        "#!/bin/sh\ngit \"$@\"\nstatus=$?\ncase \" $* \" in *' push '*|*' commit '*) rm -f '{}';; esac\nexit $status\n",
        lock.display()
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_push_waits_for_a_lock_file() {
    let (disk, path, settings) = in_place();
    let lock = path.join("refs/heads/main.lock");
    leave(&lock);
    let settings = Settings { program: program(&disk, &lock), time_limit: Duration::from_mins(1), ..settings };
    assert!(matches!(push(settings, &url("app"), "main"), Ok(Pushed::Moved(_))));
}

#[test]
fn a_push_waits_for_a_lock_file_on_a_server() {
    let (disk, server) = served();
    let lock = disk.served().join("app.git/refs/heads/main.lock");
    leave(&lock);
    let settings = Settings { program: program(&disk, &lock), ..disk.settings(&server.url()) };
    assert!(matches!(push(settings, &url("app"), "main"), Ok(Pushed::Moved(_))));
}

/// Commits a file in a clone while a lock file of another git is there.
fn commit_with_lock(name: &str, is_removed: bool) -> (PathBuf, Result<(), LockFile>) {
    let (disk, ..) = in_place();
    run(disk.folder.path(), &["clone", "--quiet", "served/app.git", "clone"]);
    let root = disk.folder.path().join("clone");
    run(&root, &["config", "user.name", "Ann"]);
    run(&root, &["config", "user.email", "ann@example.com"]);
    fs::write(root.join("b"), "b").unwrap();
    let lock = root.join(".git").join(name);
    leave(&lock);
    let limit = if is_removed { Duration::from_mins(1) } else { Duration::from_secs(1) };
    let settings = disk.settings(&format!("{}/", disk.served().display()));
    let checkout = checkouts(&settings, &url("app"), &root).unwrap().remove(0);
    let program = if is_removed { program(&disk, &lock) } else { settings.program.clone() };
    let settings = Settings { program, time_limit: limit, ..settings };
    let committed = match commit_files(&settings, &checkout, &["b"], "b") {
        Ok(_) => Ok(()),
        Err(CheckoutError::Locked { lock, .. }) => Err(lock),
        Err(other) => panic!("{other}"),
    };
    assert_eq!(lock.exists(), !is_removed);
    (lock, committed)
}

#[test]
fn a_commit_in_a_working_tree_reports_lock_files() {
    for name in ["index.lock", "HEAD.lock", "refs/heads/main.lock"] {
        let (path, committed) = commit_with_lock(name, false);
        assert_eq!(committed.unwrap_err().path, path.canonicalize().unwrap_or(path));
    }
}

#[test]
fn a_commit_in_a_working_tree_waits_for_a_lock_file() {
    for name in ["HEAD.lock", "refs/heads/main.lock"] {
        commit_with_lock(name, true).1.unwrap();
    }
}
