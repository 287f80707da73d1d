//! Faults that could block a run forever, or all later runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use git::{GitOperation, GitRepositories, Repositories, RepositoryError, Revision, Settings};
use testkit::git_server::{GARBAGE, GitServer, ServerFault};

use crate::playground::{Disk, commit, run, tree, url};

/// A server with repository `app`, which has one commit.
fn served() -> (Disk, GitServer) {
    let disk = Disk::new();
    disk.commit("app", "main", &[("a", "1")]);
    let server = GitServer::start(&disk.served()).unwrap();
    (disk, server)
}

fn packs(folder: &Path) -> usize {
    let entries = fs::read_dir(folder.join("objects/pack")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "pack")).count()
}

/// Gives a repository a hook.
#[cfg(unix)]
fn hook(repository: &Path, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;

    let path = repository.join("hooks").join(name);
    fs::create_dir_all(repository.join("hooks")).unwrap();
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The only copy in the cache.
fn copy(disk: &Disk) -> PathBuf {
    let mut copies = fs::read_dir(disk.cache()).unwrap().map(|entry| entry.unwrap().path());
    copies.find(|path| path.extension().is_some_and(|extension| extension == "git")).unwrap()
}

fn head(repositories: &GitRepositories) -> Result<git::Commit, RepositoryError> {
    repositories.resolve(&url("app"), &Revision::branch("main"))
}

#[test]
fn a_local_repository_may_get_many_packs_while_it_is_read() {
    let disk = Disk::new();
    disk.commit("app", "main", &[("a", "0")]);
    let path = disk.served().join("app.git");
    run(&path, &["config", "receive.unpackLimit", "1"]);
    run(&path, &["config", "receive.autogc", "false"]);
    let repositories = disk.local();
    for number in 1..=70 {
        let text = number.to_string();
        disk.commit("app", "main", &[("a", &text)]);
        let commit = head(&repositories).unwrap();
        assert_eq!(repositories.tree(&commit).unwrap(), tree(&[("a", &text)]), "{} packs", packs(&path));
    }
    assert!(packs(&path) > 60);
}

#[test]
#[cfg(unix)]
fn maintenance_of_a_local_repository_ends_with_the_push() {
    let disk = Disk::new();
    disk.commit("app", "main", &[("a", "0")]);
    let path = disk.served().join("app.git");
    run(&path, &["config", "gc.auto", "1"]);
    // Git estimates the number of objects from this folder. Two objects in it trigger the maintenance.
    fs::create_dir_all(path.join("objects/17")).unwrap();
    for name in ["0", "1"] {
        fs::write(path.join("objects/17").join(name.repeat(38)), "").unwrap();
    }
    let ended = disk.served().join("ended");
    hook(&path, "pre-auto-gc", &format!("sleep 1\ntouch '{}'\nexit 1", ended.display()));
    commit(&disk.local(), &url("app"), "main", &[("a", "1")]);
    assert!(ended.exists(), "the maintenance runs in the background, or was not started");
    assert!(!path.join("objects/maintenance.lock").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn a_push_that_is_stopped_lets_a_local_repository_end_in_order() {
    let disk = Disk::new();
    disk.commit("app", "main", &[("a", "0")]);
    let path = disk.served().join("app.git");
    // The hook begins after the push, and is still running when the push exceeds its time limit.
    let ended = disk.served().join("ended");
    hook(&path, "post-receive", &format!("sleep 4\ntouch '{}'", ended.display()));
    let settings = disk.settings(&format!("{}/", disk.served().display()));
    let limited = GitRepositories::new(Settings { time_limit: Duration::from_secs(2), ..settings });
    commit(&limited, &url("app"), "main", &[("a", "1")]);
    assert!(!ended.exists(), "the push did not exceed its time limit");
    let end = Instant::now() + Duration::from_secs(30);
    while !ended.exists() {
        assert!(Instant::now() < end, "a signal ended the receiving program");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_local_repository_may_be_packed_again_while_it_is_read_and_pushed_to() {
    let disk = Disk::new();
    disk.commit("app", "main", &[("a", "0")]);
    let path = disk.served().join("app.git");
    run(&path, &["config", "receive.unpackLimit", "1"]);
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::SeqCst) {
                run(&path, &["repack", "-a", "-d", "-q"]);
            }
        });
        let repositories = disk.local();
        let pushed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for number in 0..25 {
                let text = number.to_string();
                commit(&repositories, &url("app"), "main", &[("a", &text), ("b/c", &text)]);
                let found = repositories.tree(&head(&repositories).unwrap()).unwrap();
                assert_eq!(found, tree(&[("a", &text), ("b/c", &text)]));
            }
        }));
        is_done.store(true, Ordering::SeqCst);
        pushed.unwrap();
    });
}

#[test]
fn push_completes_a_folder_object_without_its_files() {
    let disk = Disk::new();
    disk.commit("app", "main", &[("a", "0")]);
    let new = tree(&[("a", "1"), ("b/c", "2")]);
    // The state after a push that was killed while git moved its objects into place.
    let list = disk.folder.path().join("list");
    let lines = new.children().map(|(name, child)| {
        let kind = if child.is_folder() { "040000 tree" } else { "100644 blob" };
        format!("{kind} {}\t{name}\n", child.id())
    });
    fs::write(&list, lines.collect::<String>()).unwrap();
    let mut mktree = Command::new("git");
    mktree.current_dir(disk.served().join("app.git")).args(["mktree", "--missing"]);
    let made = mktree.stdin(fs::File::open(&list).unwrap()).output().unwrap();
    assert_eq!(String::from_utf8(made.stdout).unwrap().trim(), new.id().to_string());
    let repositories = disk.local();
    commit(&repositories, &url("app"), "main", &[("a", "1"), ("b/c", "2")]);
    assert_eq!(repositories.tree(&head(&repositories).unwrap()).unwrap(), new);
    run(&disk.served().join("app.git"), &["fsck", "--strict"]);
}

#[test]
fn a_copy_that_is_only_pushed_to_stays_small() {
    let (disk, server) = served();
    let repositories = GitRepositories::new(disk.settings(&server.url()));
    for number in 0..45 {
        commit(&repositories, &url("app"), "main", &[("a", &number.to_string())]);
        assert!(packs(&copy(&disk)) <= 22, "after {number} pushes");
    }
    let again = GitRepositories::new(disk.settings(&server.url()));
    assert_eq!(again.tree(&head(&again).unwrap()).unwrap(), tree(&[("a", "44")]));
}

#[test]
fn a_copy_that_can_not_be_put_in_order_works_all_the_same() {
    let (disk, server) = served();
    // A git that can't repack.
    let program = disk.folder.path().join("git-without-repack");
    fs::write(&program, "#!/bin/sh\ncase \" $* \" in *' repack '*) exit 1;; esac\nexec git \"$@\"\n").unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let repositories = GitRepositories::new(Settings { program, ..disk.settings(&server.url()) });
    for number in 0..24 {
        commit(&repositories, &url("app"), "main", &[("a", &number.to_string())]);
    }
    assert_eq!(repositories.tree(&head(&repositories).unwrap()).unwrap(), tree(&[("a", "23")]));
}

#[test]
fn login_page_is_not_an_empty_repository() {
    let (disk, server) = served();
    let settings = disk.settings(&server.url());
    for part in ["info/refs", ""] {
        server.set_fault(Some((part, ServerFault::Page)));
        let found = head(&GitRepositories::new(settings.clone()));
        assert!(matches!(found, Err(RepositoryError::NotGit { .. })), "{found:?}");
    }
    server.set_fault(None);
    let repositories = GitRepositories::new(settings);
    head(&repositories).unwrap();
    let missing = repositories.resolve(&url("app"), &Revision::branch("other"));
    assert!(matches!(missing, Err(RepositoryError::NoRevision { .. })), "{missing:?}");
    disk.create("empty");
    let empty = repositories.resolve(&url("empty"), &Revision::branch("main"));
    assert!(matches!(empty, Err(RepositoryError::Empty { .. })), "{empty:?}");
}

/// Pushes while the server has a fault. The push must end, and afterwards everything must work.
fn check_push(part: &str, fault: ServerFault) -> Result<git::Pushed, RepositoryError> {
    let (disk, server) = served();
    let settings = disk.settings(&server.url());
    let repositories = GitRepositories::new(settings.clone());
    let before = head(&repositories).unwrap();
    let limited = GitRepositories::new(Settings { time_limit: Duration::from_secs(4), ..settings });
    let (new, author) = (tree(&[("a", "2")]), crate::playground::person("Ann"));
    let new = git::NewCommit {
        parents: &[before.id],
        tree: &new,
        open: &model::tree::closed,
        message: "a change",
        author: &author,
        seconds: 1_000,
        signer: None,
    };
    let progress = model::progress::Progress::default();
    let push = git::Push { branch: "main", expected: Some(before.id), commit: Some(new), progress: &progress };
    let start = Instant::now();
    server.set_fault(Some((part, fault)));
    let pushed = limited.push(&url("app"), &push);
    assert!(start.elapsed() < Duration::from_secs(25), "{fault:?}: {:?}", start.elapsed());
    server.set_fault(None);
    commit(&repositories, &url("app"), "main", &[("a", "3")]);
    pushed
}

#[test]
fn push_with_an_invalid_answer_is_decided_by_the_head() {
    for which in 0..GARBAGE.len() {
        let pushed = check_push("/git-receive-pack", ServerFault::Garbage(which));
        // The server accepted the push before its invalid response. The head of the branch decides.
        assert!(matches!(pushed, Ok(git::Pushed::Moved(_))), "{which}: {pushed:?}");
    }
}

#[test]
fn unanswered_push_times_out_with_a_reason() {
    let pushed = check_push("/git-receive-pack", ServerFault::Silence);
    assert!(matches!(pushed, Err(RepositoryError::TimedOut { wait: GitOperation::Push, .. })), "{pushed:?}");
    assert!(pushed.unwrap_err().to_string().contains("the push took more than 4 seconds"));
}

#[test]
fn push_with_a_lost_answer_counts() {
    for fault in [ServerFault::Cut(0), ServerFault::Cut(150), ServerFault::Stall(150), ServerFault::Drip] {
        let pushed = check_push("/git-receive-pack", fault);
        assert!(matches!(pushed, Ok(git::Pushed::Moved(_))), "{fault:?}: {pushed:?}");
    }
    for fault in [ServerFault::Deaf(10), ServerFault::Status(500), ServerFault::Status(503), ServerFault::Page] {
        let pushed = check_push("/git-receive-pack", fault);
        assert!(matches!(pushed, Err(RepositoryError::Refused { .. })), "{fault:?}: {pushed:?}");
    }
}

#[test]
fn lock_timeout_names_the_process_that_uses_the_copy() {
    let (disk, server) = served();
    let settings = disk.settings(&server.url());
    head(&GitRepositories::new(settings.clone())).unwrap();
    let lock = fs::File::open(copy(&disk).with_extension("lock")).unwrap();
    lock.lock().unwrap();
    disk.commit("app", "main", &[("a", "2")]);
    let limited = GitRepositories::new(Settings { time_limit: Duration::from_secs(2), ..settings.clone() });
    let waited = head(&limited).unwrap_err();
    let text = format!("is in use by another run (process {})", std::process::id());
    assert!(matches!(&waited, RepositoryError::InUse { .. }) && waited.to_string().contains(&text), "{waited}");
    drop(lock);
    head(&GitRepositories::new(settings)).unwrap();
}

#[test]
fn a_transfer_that_is_too_large_is_cut_and_can_be_tried_again() {
    let disk = Disk::new();
    // Bytes that can't be compressed.
    let noise: String =
        (0..60_000_u64).map(|number| format!("{}", model::git_id::GitId::of_blob(&number.to_be_bytes()))).collect();
    disk.commit("app", "main", &[("a", &noise)]);
    let server = GitServer::start(&disk.served()).unwrap();
    let settings = disk.settings(&server.url());
    let small = GitRepositories::new(Settings { transfer_bytes_max: 256 << 10, ..settings.clone() });
    let refused = small.resolve(&url("app"), &Revision::branch("main")).unwrap_err();
    assert!(matches!(refused, RepositoryError::TransferTooLarge { limit: 262_144, .. }), "{refused}");
    GitRepositories::new(settings).resolve(&url("app"), &Revision::branch("main")).unwrap();
    let left = fs::read_dir(copy(&disk).join("objects/pack")).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().contains("tmp_")).collect();
    assert!(left.is_empty(), "{left:?}");
}
