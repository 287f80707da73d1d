//! Repositories with object format SHA-256 are refused by name, over each transport.

use std::path::PathBuf;
use std::process::Command;

use git::checkout::checkouts;
use git::{GitRepositories, NewCommit, Push, Repositories, RepositoryError, RepositoryUrl, Revision, Settings};
use model::git_id::GitId;
use model::progress::Progress;
use model::tree::closed;
use testkit::git_server::GitServer;
use testkit::ssh_server::SshServer;

use crate::playground::{Disk, person, run, tree, url};
use crate::ssh;

/// Creates a bare repository `app` with object format SHA-256, and a clone. With `is_filled`, it has branch `main`.
fn repository(disk: &Disk, is_filled: bool) -> PathBuf {
    let init = ["init", "--quiet", "--object-format=sha256", "--initial-branch=main"];
    run(&disk.served(), &[&init[..], &["--bare", "app.git"]].concat());
    run(&disk.served().join("app.git"), &["config", "http.receivepack", "true"]);
    run(disk.folder.path(), &[&init[..], &["clone"]].concat());
    let clone = disk.folder.path().join("clone");
    run(&clone, &["remote", "add", "origin", disk.served().join("app.git").to_str().unwrap()]);
    if is_filled {
        let person = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"];
        run(&clone, &[&person[..], &["commit", "--quiet", "--allow-empty", "--message", "first"]].concat());
        run(&clone, &["push", "--quiet", "origin", "main"]);
    }
    clone
}

#[track_caller]
fn check_error<T: std::fmt::Debug>(result: Result<T, RepositoryError>) {
    let Err(error @ RepositoryError::ObjectFormat { .. }) = &result else { panic!("{result:?}") };
    assert!(error.to_string().contains("its object format is `sha256`"), "{error}");
}

/// Checks that each kind of access to a repository names its format.
fn check(settings: Settings, url: &RepositoryUrl) {
    let repositories = GitRepositories::new(settings);
    let id = GitId::of_blob(b"");
    check_error(repositories.resolve(url, &Revision::branch("main")));
    check_error(repositories.resolve(url, &Revision::branch("other")));
    check_error(repositories.resolve(url, &Revision::Tag("v1".into())));
    check_error(repositories.resolve(url, &Revision::Commit { id, branch: Some("main".into()) }));
    check_error(repositories.references(url));
    let (tree, author) = (tree(&[("a", "1")]), person("Ann"));
    let commit = NewCommit {
        parents: &[],
        tree: &tree,
        open: &closed,
        message: "a change",
        author: &author,
        seconds: 1_000,
        signer: None,
    };
    let push = Push { branch: "main", expected: None, commit: Some(commit), progress: &Progress::default() };
    check_error(repositories.push(url, &push));
}

#[test]
fn the_format_is_named_on_this_machine() {
    for is_filled in [true, false] {
        let disk = Disk::new();
        let clone = repository(&disk, is_filled);
        check(disk.settings(&format!("{}/", disk.served().display())), &url("app"));
        let url = RepositoryUrl::from_configuration(clone.to_str().unwrap()).unwrap();
        check(Settings::new(disk.cache()), &url);
    }
}

#[test]
fn the_format_is_named_over_http() {
    for is_filled in [true, false] {
        let disk = Disk::new();
        repository(&disk, is_filled);
        let server = GitServer::start(&disk.served()).unwrap();
        check(disk.settings(&server.url()), &url("app"));
    }
}

#[test]
fn the_format_is_named_over_ssh() {
    if let Err(reason) = SshServer::availability() {
        println!("skipped: {reason}");
        return;
    }
    for is_filled in [true, false] {
        let disk = Disk::new();
        repository(&disk, is_filled);
        let server = SshServer::start(disk.folder.path());
        check(ssh::settings(&disk, "client"), &ssh::url(&server, &disk.served().join("app.git")));
    }
}

#[test]
fn the_format_of_a_working_tree_is_named() {
    let disk = Disk::new();
    let clone = repository(&disk, true);
    run(&clone, &["worktree", "add", "--quiet", "-b", "dev", "../linked"]);
    for folder in [clone, disk.folder.path().join("linked")] {
        let settings = disk.settings(&format!("{}/", disk.served().display()));
        let error = checkouts(&settings, &url("app"), &folder).unwrap_err().to_string();
        assert!(error.contains("its object format is `sha256`"), "{error}");
    }
}

#[test]
fn a_repository_with_sha1_is_read_whatever_the_default_is() {
    let disk = Disk::new();
    let path = disk.served().join("app.git");
    let made = Command::new("git").args(["init", "--quiet", "--bare", "--object-format=sha1"]).arg(&path).status();
    assert!(made.unwrap().success());
    run(&path, &["config", "core.repositoryFormatVersion", "1"]);
    run(&path, &["config", "extensions.objectFormat", "sha1"]);
    let id = disk.commit("app", "main", &[("a", "1")]);
    assert_eq!(disk.local().resolve(&url("app"), &Revision::branch("main")).unwrap().id, id);
}
