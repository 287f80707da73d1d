//! Loading of a control plane of typical size. It prints how long it takes.

use std::time::{Duration, Instant};

use git::load::{BrokenFiles, load};
use git::{GitRepositories, Repositories};
use model::name::EnvironmentName;
use model::progress::Progress;
use testkit::git_server::GitServer;

use crate::objects::{base, config, environment, registration, workload};
use crate::playground::{Disk, HOST, commit, control_plane, url};

/// A control plane with a hundred values, a base repository and ten applications.
fn fill(repositories: &dyn Repositories) {
    let app = |index: usize| format!("app-{index}");
    let of_apps =
        |index| (format!("apps/{index}.yaml"), registration(&app(index), &format!("{HOST}{}", app(index)), "."));
    let apps: Vec<_> = (0..10).map(of_apps).collect();
    let main = environment("dev");
    let files = apps.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let files: Vec<_> = files.chain([(".environments/dev.yaml", main.as_str())]).collect();
    let pinned = commit(repositories, &url("control-plane"), "main", &files).to_string();
    let values: Vec<_> = (0..100).map(|index| (format!("v/{index}.yaml"), config(&format!("v-{index}")))).collect();
    let base = base("control-plane", "main", &pinned);
    let files = values.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let files: Vec<_> = files.chain([("base.yaml", base.as_str())]).collect();
    commit(repositories, &url("control-plane"), "dev", &files);
    for index in 0..10 {
        commit(repositories, &url(&app(index)), "main", &[("w.yaml", &workload(&app(index)))]);
    }
}

fn disk() -> Disk {
    let disk = Disk::new();
    disk.create("control-plane");
    for index in 0..10 {
        disk.create(&format!("app-{index}"));
    }
    fill(&disk.local());
    disk
}

/// The number of files, and the time to load them.
fn read(repositories: &dyn Repositories) -> (usize, Duration) {
    let (start, url) = (Instant::now(), url("control-plane"));
    let (progress, broken) = (&Progress::default(), &BrokenFiles::default());
    let platform = control_plane(&url, (progress, broken));
    let loaded = load(repositories, platform, &EnvironmentName::new("dev").unwrap());
    assert!(loaded.is_complete && loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    (loaded.input.contents.len(), start.elapsed())
}

#[test]
fn local_repositories_are_read_without_starting_git() {
    let disk = disk();
    let settings = disk.settings(&format!("{}/", disk.served().display()));
    let repositories = GitRepositories::new(git::Settings { program: "/there/is/no/git".into(), ..settings });
    let (files, took) = read(&repositories);
    assert_eq!(files, 122);
    println!("122 files of 11 local repositories in {took:?}");
}

#[test]
fn second_read_requests_only_branch_heads() {
    let disk = disk();
    let server = GitServer::start(&disk.served()).unwrap();
    let settings = disk.settings(&server.url());
    let (files, first) = read(&GitRepositories::new(settings.clone()));
    server.forget_requests();
    let (again, second) = read(&GitRepositories::new(settings));
    assert_eq!((files, again), (122, 122));
    println!("122 files of 11 remote repositories: first in {first:?}, again in {second:?}");
    // Two requests for each branch: `main` and `dev` of the control plane, `main` of ten applications.
    assert_eq!(server.requests().len(), 24);
    assert!(server.requests().iter().all(|request| !request.target.contains("receive-pack")));
}
