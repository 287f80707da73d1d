//! Attacks by another user: with prepared caches, settings, and local repositories.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use git::{Commit, GitRepositories, Repositories, RepositoryError, Revision, Settings};
use model::git_id::GitId;
use testkit::git_server::GitServer;

use crate::playground::{Disk, commit, key, run, tree, url};

const NOBODY: u32 = 65_534;

/// A server with repository `app`, which has one commit.
fn served() -> (Disk, GitServer) {
    let disk = Disk::new();
    disk.commit("app", "main", &[("a", "1")]);
    let server = GitServer::start(&disk.served()).unwrap();
    (disk, server)
}

fn resolve(settings: &Settings) -> Result<Commit, RepositoryError> {
    GitRepositories::new(settings.clone()).resolve(&url("app"), &Revision::branch("main"))
}

/// The copy in the cache.
fn copy(disk: &Disk) -> PathBuf {
    let mut entries = fs::read_dir(disk.cache()).unwrap().map(|entry| entry.unwrap().path());
    entries.find(|path| path.extension().is_some_and(|extension| extension == "git")).unwrap()
}

/// A program that creates a trace file when it runs, and the path of that file.
fn trap(disk: &Disk) -> (PathBuf, PathBuf) {
    let (program, trace) = (disk.folder.path().join("trap"), disk.folder.path().join("ran"));
    fs::write(&program, format!("#!/bin/sh\ntouch '{}'\n", trace.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (program, trace)
}

fn is_root() -> bool {
    String::from_utf8(Command::new("id").arg("-u").output().unwrap().stdout).unwrap().trim() == "0"
}

fn give_away(path: &Path) {
    std::os::unix::fs::lchown(path, Some(NOBODY), None).unwrap();
}

/// Prepares the copy in a cache. The next run must work, must run none of it, and must remove it.
#[track_caller]
fn check_planted(plant: impl Fn(&Path, &Path)) {
    let (disk, server) = served();
    let settings = disk.settings(&server.url());
    resolve(&settings).unwrap();
    let (program, trace) = trap(&disk);
    let copy = copy(&disk);
    plant(&copy, &program);
    disk.commit("app", "main", &[("a", "2")]);
    let commit = resolve(&settings).unwrap();
    let repositories = GitRepositories::new(settings);
    assert_eq!(repositories.tree(&commit).unwrap(), tree(&[("a", "2")]));
    crate::playground::commit(&repositories, &url("app"), "main", &[("a", "3")]);
    assert!(!trace.exists(), "the prepared program ran");
    assert!(is_own(&copy), "a file of another user is still in the copy");
    let config = fs::read_to_string(copy.join("config")).unwrap();
    assert!(!config.contains("trap"), "{config}");
    for gone in
        ["hooks", "objects/info/alternates", "info", "commondir", "config.worktree", "refs/replace", "worktrees"]
    {
        assert!(fs::symlink_metadata(copy.join(gone)).is_err(), "{gone} is still there");
    }
}

/// Whether a folder and its whole content belong to the owner of its parent folder.
fn is_own(folder: &Path) -> bool {
    let owner = fs::metadata(folder.parent().unwrap()).unwrap().uid();
    let is_below = |path: PathBuf| if path.is_dir() { is_own(&path) } else { path.metadata().unwrap().uid() == owner };
    folder.metadata().unwrap().uid() == owner
        && fs::read_dir(folder).unwrap().all(|entry| is_below(entry.unwrap().path()))
}

fn add(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn settings_that_start_programs_are_removed_before_git_runs() {
    check_planted(|copy, program| {
        let program = program.display();
        let elsewhere = copy.with_file_name("elsewhere");
        run(copy, &["init", "--quiet", "--bare", elsewhere.to_str().unwrap()]);
        add(&copy.join("objects/info/alternates"), &format!("{}/objects\n", elsewhere.display()));
        let config = format!(
            "[core]\n\talternateRefsCommand = {program}\n\tfsmonitor = {program}\n\tsshCommand = {program}\n\
             [credential]\n\thelper = {program}\n[remote \"origin\"]\n\tuploadpack = {program}\n"
        );
        add(&copy.join("config"), &config);
    });
    check_planted(|copy, program| {
        add(&copy.join("more"), &format!("[core]\n\tfsmonitor = {}\n", program.display()));
        add(&copy.join("config"), "[include]\n\tpath = more\n");
    });
    check_planted(|copy, program| {
        add(&copy.join("config"), "[extensions]\n\tworktreeConfig = true\n");
        add(&copy.join("config.worktree"), &format!("[core]\n\tfsmonitor = {}\n", program.display()));
    });
}

#[test]
fn hooks_and_other_object_stores_are_removed_before_git_runs() {
    check_planted(|copy, program| {
        fs::create_dir(copy.join("hooks")).unwrap();
        for hook in ["pre-push", "reference-transaction", "post-checkout", "pre-auto-gc"] {
            fs::copy(program, copy.join("hooks").join(hook)).unwrap();
        }
    });
    check_planted(|copy, _| add(&copy.join("objects/info/alternates"), "/elsewhere/objects\n"));
    check_planted(|copy, _| add(&copy.join("commondir"), "/elsewhere\n"));
    check_planted(|copy, _| add(&copy.join("info/grafts"), "nonsense\n"));
    check_planted(|copy, _| add(&copy.join("worktrees/a/gitdir"), "/elsewhere\n"));
    check_planted(|copy, _| {
        fs::remove_dir_all(copy.join("objects")).unwrap();
        let elsewhere = copy.with_file_name("objects");
        fs::create_dir_all(&elsewhere).unwrap();
        symlink(elsewhere, copy.join("objects")).unwrap();
    });
    check_planted(|copy, _| {
        let id = run(copy, &["rev-parse", "refs/kalypso/heads/main"]);
        add(&copy.join("packed-refs"), &format!("{id} refs/replace/{id}\n"));
    });
}

#[test]
fn copy_with_files_of_other_users_is_recreated() {
    if !is_root() {
        println!("skipped: only root can give files away");
        return;
    }
    check_planted(|copy, _| {
        add(&copy.join("shallow"), "");
        give_away(&copy.join("shallow"));
    });
    check_planted(give_copy_away);
}

fn give_copy_away(copy: &Path, _: &Path) {
    give_away(copy);
}

/// Unpacks all packs into loose objects: git would find the original object in a pack.
fn unpack(repository: &Path) {
    let entries = fs::read_dir(repository.join("objects/pack")).unwrap().map(|entry| entry.unwrap().path());
    for pack in entries.filter(|path| path.extension().is_some_and(|extension| extension == "pack")) {
        let away = repository.join("away");
        fs::rename(&pack, &away).unwrap();
        fs::remove_file(pack.with_extension("idx")).unwrap();
        let mut command = Command::new("git");
        command.current_dir(repository).args(["unpack-objects", "-q"]).stdin(fs::File::open(&away).unwrap());
        assert!(command.status().unwrap().success());
        fs::remove_file(away).unwrap();
    }
}

/// Stores other bytes under the id of an object, as a loose object whose name does not match its content.
fn forge(repository: &Path, kind: &str, id: &str, content: &[u8]) {
    let mut child = Command::new("git")
        .current_dir(repository)
        .args(["hash-object", "-w", "-t", kind, "--literally", "--stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(content).unwrap();
    let forged = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    unpack(repository);
    let path = |id: &str| repository.join("objects").join(&id[..2]).join(&id[2..]);
    let (from, to) = (path(forged.trim()), path(id));
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    drop(fs::remove_file(&to));
    fs::rename(from, to).unwrap();
}

/// Moves the forged object into a pack whose index lists it under the wrong id.
fn pack(repository: &Path, id: &str) {
    let mut child = Command::new("git")
        .current_dir(repository)
        .args(["pack-objects", "--quiet", "objects/pack/pack"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(format!("{id}\n").as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    fs::remove_file(repository.join("objects").join(&id[..2]).join(&id[2..])).unwrap();
    assert_eq!(run(repository, &["cat-file", "-t", id]), "tree");
}

#[test]
fn objects_with_wrong_ids_are_fetched_again() {
    for (kind, revision) in [("blob", "main:a"), ("tree", "main^{tree}"), ("commit", "main")] {
        let (disk, server) = served();
        let settings = disk.settings(&server.url());
        let commit = resolve(&settings).unwrap();
        let served = disk.served().join("app.git");
        let id = run(&served, &["rev-parse", revision]);
        let content = match kind {
            "blob" => b"forged".to_vec(),
            "tree" => [b"100644 forged\0".as_slice(), GitId::of_blob(b"1").as_bytes()].concat(),
            _ => run(&served, &["cat-file", "commit", "main"]).replace("a change", "a forged").into_bytes(),
        };
        forge(&copy(&disk), kind, &id, &content);
        let repositories = GitRepositories::new(settings.clone());
        assert_eq!(repositories.info(&commit).unwrap().message, "a change");
        assert_eq!(repositories.tree(&commit).unwrap(), tree(&[("a", "1")]));
        let read = repositories.content(&commit, GitId::of_blob(b"1"), 100).unwrap();
        assert_eq!(read, git::FileContent::Bytes(b"1".as_slice().into()), "{kind}");
        // If the server can't be reached, the forged object is not used either.
        forge(&copy(&disk), kind, &id, &content);
        drop(server);
        // The earlier instance may still have the original pack open.
        let repositories = GitRepositories::new(settings);
        let read = (repositories.content(&commit, GitId::of_blob(b"1"), 100), repositories.tree(&commit));
        assert!(read.0.is_err() || read.1.is_err() || repositories.info(&commit).is_err(), "{kind}");
    }
}

#[test]
fn local_objects_with_wrong_ids_are_an_error() {
    let disk = Disk::new();
    disk.commit("app", "main", &[("a", "1")]);
    let repositories = disk.local();
    let commit = repositories.resolve(&url("app"), &Revision::branch("main")).unwrap();
    forge(&disk.served().join("app.git"), "blob", &GitId::of_blob(b"1").to_string(), b"2");
    let read = repositories.content(&commit, GitId::of_blob(b"1"), 100);
    assert!(matches!(&read, Err(RepositoryError::Damaged { .. })), "{read:?}");
}

#[test]
fn objects_with_wrong_ids_are_not_published() {
    check_forged_push(|_, _| ());
    check_forged_push(pack);
}

fn check_forged_push(hide: fn(&Path, &str)) {
    let (disk, server) = served();
    let settings = disk.settings(&server.url());
    let repositories = GitRepositories::new(settings);
    commit(&repositories, &url("app"), "main", &[("kept/a", "1"), ("b", "1")]);
    let head = repositories.resolve(&url("app"), &Revision::branch("main")).unwrap();
    let served = disk.served().join("app.git");
    let before = run(&served, &["rev-parse", "main"]);
    // The copy contains a folder of a future commit, with forged bytes.
    let new = tree(&[("kept/a", "2")]);
    let folder = new.child("kept").unwrap().id();
    forge(
        &copy(&disk),
        "tree",
        &folder.to_string(),
        &[b"100644 a\0".as_slice(), GitId::of_blob(b"evil").as_bytes()].concat(),
    );
    hide(&copy(&disk), &folder.to_string());
    let parents = [head.id];
    let author = crate::playground::person("Ann");
    let open = &model::tree::closed;
    let change =
        git::NewCommit { parents: &parents, tree: &new, open, message: "x", author: &author, seconds: 1, signer: None };
    let progress = model::progress::Progress::default();
    let push = git::Push { branch: "main", expected: Some(head.id), commit: Some(change), progress: &progress };
    let pushed = repositories.push(&url("app"), &push);
    // The push is refused, or pushes the right content. The forged content is never published.
    match pushed {
        Ok(_) => assert_eq!(run(&served, &["show", "main:kept/a"]), "2"),
        Err(_) => assert_eq!(run(&served, &["rev-parse", "main"]), before),
    }
}

#[test]
fn only_signed_heads_are_used_from_the_cache() {
    let (disk, server) = served();
    let settings = disk.settings(&server.url());
    let first = resolve(&settings).unwrap();
    disk.commit("app", "main", &[("a", "2")]);
    let second = resolve(&settings).unwrap();
    drop(server);
    let remembered = |settings: &Settings| {
        GitRepositories::new(settings.clone()).cached(&url("app"), &Revision::branch("main")).map(|found| found.id)
    };
    assert_eq!(remembered(&settings), Some(second.id));
    assert_eq!(remembered(&Settings { key: None, ..settings.clone() }), None);
    assert_eq!(remembered(&Settings { key: Some(key("a key of somebody else")), ..settings.clone() }), None);
    // Both commits are in the copy. A reference does not prove which of them is the head.
    fs::write(copy(&disk).join("refs/kalypso/heads/main"), format!("{}\n", first.id)).unwrap();
    assert_eq!(remembered(&settings), None);
    let journal = copy(&disk).with_extension("seen");
    let text = fs::read_to_string(&journal).unwrap();
    let forged = text.lines().filter(|line| !line.starts_with(&second.id.to_string()));
    fs::write(&journal, forged.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    assert_eq!(remembered(&settings), None);
}

#[test]
fn a_cache_that_others_may_write_to_is_not_used() {
    let (disk, server) = served();
    let settings = disk.settings(&server.url());
    resolve(&settings).unwrap();
    let check = |what: &str| {
        let refused = resolve(&settings).unwrap_err();
        assert!(matches!(&refused, RepositoryError::UntrustedCache { .. }), "{what}: {refused}");
        assert!(refused.to_string().contains(what), "{refused}");
    };
    let set_mode = |mode| fs::set_permissions(disk.cache(), fs::Permissions::from_mode(mode)).unwrap();
    set_mode(0o777);
    check("other users may write");
    set_mode(0o755);
    resolve(&settings).unwrap();
    let real = disk.folder.path().join("real");
    fs::rename(disk.cache(), &real).unwrap();
    symlink(&real, disk.cache()).unwrap();
    check("symbolic link");
    fs::remove_file(disk.cache()).unwrap();
    fs::rename(&real, disk.cache()).unwrap();
    if is_root() {
        give_away(&disk.cache());
        check("belongs to user 65534");
    }
}

#[test]
fn locks_and_copies_are_private_to_the_user() {
    let (disk, server) = served();
    resolve(&disk.settings(&server.url())).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&disk.cache()), 0o700);
    assert_eq!(mode(&copy(&disk)), 0o700);
    assert_eq!(mode(&copy(&disk).with_extension("lock")), 0o600);
}

/// Pushes to a local repository after it was changed by `prepare`. Returns the error if the push is refused, and whether its hook ran.
fn push_local(prepare: impl Fn(&Path)) -> (Option<RepositoryError>, bool) {
    let disk = Disk::new();
    disk.commit("app", "main", &[("a", "1")]);
    let (program, trace) = trap(&disk);
    let repository = disk.served().join("app.git");
    fs::create_dir_all(repository.join("hooks")).unwrap();
    fs::copy(program, repository.join("hooks/post-receive")).unwrap();
    prepare(&repository);
    let repositories = disk.local();
    let head = repositories.resolve(&url("app"), &Revision::branch("main")).unwrap();
    assert_eq!(repositories.tree(&head).unwrap(), tree(&[("a", "1")]), "reading is never refused");
    let (new, author, parents) = (tree(&[("a", "2")]), crate::playground::person("Ann"), [head.id]);
    let open = &model::tree::closed;
    let change =
        git::NewCommit { parents: &parents, tree: &new, open, message: "x", author: &author, seconds: 1, signer: None };
    let progress = model::progress::Progress::default();
    let push = git::Push { branch: "main", expected: Some(head.id), commit: Some(change), progress: &progress };
    (repositories.push(&url("app"), &push).err(), trace.exists())
}

#[test]
fn own_hooks_run_in_the_destination() {
    assert_eq!(push_local(|_| ()), (None, true));
}

#[test]
fn hooks_that_others_may_change_do_not_run() {
    let set_mode = |path: PathBuf, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let check = |prepare: &dyn Fn(&Path), what: &str| {
        let (refused, ran) = push_local(prepare);
        let refused = refused.unwrap();
        assert!(matches!(&refused, RepositoryError::NotOwned { .. }), "{what}: {refused}");
        assert!(refused.to_string().contains(what) && !ran, "{refused}");
    };
    check(&|repository| set_mode(repository.to_owned(), 0o775), "app.git");
    check(&|repository| set_mode(repository.join("config"), 0o666), "config");
    check(&|repository| set_mode(repository.join("hooks"), 0o777), "hooks");
    check(&|repository| set_mode(repository.join("hooks/post-receive"), 0o777), "post-receive");
    check(&|repository| set_mode(repository.parent().unwrap().to_owned(), 0o777), "served");
    if is_root() {
        check(&|repository| give_away(repository), "belongs to user 65534");
        check(&|repository| give_away(&repository.join("config")), "config");
        check(&|repository| give_away(&repository.join("hooks/post-receive")), "post-receive");
    }
}

#[test]
fn replaced_commits_are_read_as_they_were_made() {
    let disk = Disk::new();
    let first = disk.commit("app", "main", &[("a", "1")]).to_string();
    let second = disk.commit("app", "main", &[("a", "2")]).to_string();
    run(&disk.served().join("app.git"), &["replace", &second, &first]);
    let repositories = disk.local();
    let head = repositories.resolve(&url("app"), &Revision::branch("main")).unwrap();
    assert_eq!(head.id.to_string(), second);
    assert_eq!(repositories.tree(&head).unwrap(), tree(&[("a", "2")]));
}

#[test]
fn unsupported_repository_formats_are_named() {
    let disk = Disk::new();
    let check = |name: &str, options: &[&str], words: &[&str]| {
        let path = disk.served().join(format!("{name}.git"));
        let arguments = [&["init", "--quiet", "--bare"], options, &[path.to_str().unwrap()]].concat();
        run(&disk.served(), &arguments);
        let error = disk.local().resolve(&url(name), &Revision::branch("main")).unwrap_err().to_string();
        words.iter().for_each(|word| assert!(error.contains(word), "{error}"));
    };
    check("tables", &["--ref-format=reftable"], &["references", "git -C", "refs migrate --ref-format=files"]);
    check("long", &["--object-format=sha256"], &["sha256"]);
}

#[test]
fn repositories_of_other_users_cannot_link_to_own_ones() {
    if !is_root() {
        println!("skipped: only root can give files away");
        return;
    }
    let disk = Disk::new();
    disk.commit("private", "main", &[("secret", "1")]);
    let private = disk.served().join("private.git");
    let check = |name: &str, make: &dyn Fn(&Path)| {
        let path = disk.served().join(format!("{name}.git"));
        make(&path);
        give_away(&path);
        let result = disk.local().resolve(&url(name), &Revision::branch("main"));
        assert!(matches!(&result, Err(RepositoryError::Unsupported { .. })), "{name}: {result:?}");
    };
    check("borrowing", &|path| {
        disk.commit("borrowing", "main", &[("a", "1")]);
        fs::write(path.join("objects/info/alternates"), format!("{}/objects\n", private.display())).unwrap();
    });
    check("link", &|path| symlink(&private, path).unwrap());
    check("file", &|path| {
        fs::create_dir(path).unwrap();
        fs::write(path.join(".git"), format!("gitdir: {}\n", private.display())).unwrap();
        give_away(&path.join(".git"));
    });
    check("references", &|path| {
        run(&disk.served(), &["init", "--quiet", "--bare", path.to_str().unwrap()]);
        fs::remove_dir_all(path.join("refs")).unwrap();
        symlink(private.join("refs"), path.join("refs")).unwrap();
    });
}
