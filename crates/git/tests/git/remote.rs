//! Remote repositories: credentials, the cache, and errors.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use git::{
    Commit, GitRepositories, HttpToken, Repositories, RepositoryError, Revision, ScopedToken, Settings, TokenSource,
};
use model::secret::{Secret, SecretSource};
use testkit::git_server::GitServer;

use crate::playground::{Disk, HOST, commit, tree, url};

const TOKEN: &str = "s3cret-t0ken";
/// `x-access-token:s3cret-t0ken`
const AUTHORIZATION: &str = "Basic eC1hY2Nlc3MtdG9rZW46czNjcmV0LXQwa2Vu";

/// A server with repository `app`, which has one commit.
fn served() -> (Disk, GitServer) {
    let disk = Disk::new();
    disk.commit("app", "main", &[("a", "1")]);
    let server = GitServer::start(&disk.served()).unwrap();
    (disk, server)
}

fn with_token(disk: &Disk, server: &GitServer, prefix: &str) -> Settings {
    let credential = ScopedToken { prefix: prefix.to_owned(), token: Secret::new(TOKEN).into() };
    Settings { credentials: vec![credential], ..disk.settings(&server.url()) }
}

fn resolve(settings: &Settings, name: &str) -> Result<Commit, RepositoryError> {
    GitRepositories::new(settings.clone()).resolve(&url(name), &Revision::branch("main"))
}

/// A git program that logs its arguments and the names of its variables, and then runs git.
fn recording(folder: &Path) -> Settings {
    let (program, log) = (folder.join("git-recording"), folder.join("log"));
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$*\" >> '{0}'\nenv | cut -d= -f1 >> '{0}'\nexec git \"$@\"\n",
        log.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    Settings { program, ..Settings::new(folder) }
}

#[test]
fn token_is_sent_to_its_repository() {
    let (disk, server) = served();
    server.require(AUTHORIZATION);
    let settings = with_token(&disk, &server, &server.url());
    assert!(resolve(&settings, "app").is_ok());
    let repositories = GitRepositories::new(settings);
    commit(&repositories, &url("app"), "main", &[("a", "2")]);
}

/// Makes a token for one URL, and counts how often.
#[derive(Debug)]
struct Source {
    url: String,
    count: AtomicUsize,
    is_broken: bool,
}

impl TokenSource for Source {
    fn token(&self, url: &str) -> Result<Option<HttpToken>, String> {
        self.count.fetch_add(1, Ordering::Relaxed);
        if self.is_broken {
            return Err("the key is not known".to_owned());
        }
        Ok((url == self.url).then(|| HttpToken::new(TOKEN)))
    }
}

fn with_source(disk: &Disk, server: &GitServer, (name, is_broken): (&str, bool)) -> (Settings, Arc<Source>) {
    let source = Arc::new(Source { url: format!("{}{name}", server.url()), count: AtomicUsize::new(0), is_broken });
    let settings = Settings { token_source: Some(Arc::clone(&source) as _), ..disk.settings(&server.url()) };
    (settings, source)
}

#[test]
fn a_repository_without_a_configured_token_gets_one_that_is_made_for_it() {
    let (disk, server) = served();
    server.require(AUTHORIZATION);
    let (settings, _) = with_source(&disk, &server, ("app", false));
    let repositories = GitRepositories::new(settings.clone());
    commit(&repositories, &url("app"), "main", &[("a", "2")]);
    let (other, source) = with_source(&disk, &server, ("application", false));
    assert!(matches!(resolve(&other, "app"), Err(RepositoryError::Unreachable { .. })));
    assert!(source.count.load(Ordering::Relaxed) > 0);
    // A configured token takes precedence.
    let (broken, source) = with_source(&disk, &server, ("app", true));
    let configured = Settings { credentials: with_token(&disk, &server, &server.url()).credentials, ..broken.clone() };
    assert!(resolve(&configured, "app").is_ok());
    assert_eq!(source.count.load(Ordering::Relaxed), 0);
    let error = resolve(&broken, "app").unwrap_err();
    assert!(
        matches!(&error, RepositoryError::Unreachable { reason, .. } if reason == "the key is not known"),
        "{error}"
    );
}

#[test]
fn a_token_that_was_replaced_is_used_at_once() {
    let (disk, server) = served();
    server.require(AUTHORIZATION);
    // The file is replaced after git got the old token.
    let token = SecretSource::sequence(&["old", TOKEN]);
    let credential = ScopedToken { prefix: server.url(), token };
    let settings = Settings { credentials: vec![credential], ..disk.settings(&server.url()) };
    resolve(&settings, "app").unwrap();
    let credential = ScopedToken { prefix: server.url(), token: SecretSource::sequence(&["old", "other"]) };
    let refused = Settings { credentials: vec![credential], ..settings };
    disk.commit("app", "main", &[("a", "2")]);
    let error = resolve(&refused, "app").unwrap_err().to_string();
    assert!(!error.contains("old") && !error.contains("other"), "{error}");
}

#[test]
fn token_is_not_sent_to_other_repositories_or_redirects() {
    let (disk, server) = served();
    let other = GitServer::start(&disk.served()).unwrap();
    let settings = with_token(&disk, &server, &format!("{}app-not-this-one", server.url()));
    resolve(&settings, "app").unwrap();
    assert!(server.requests().iter().all(|request| request.authorization.is_none()));
    let settings = with_token(&disk, &server, &server.url());
    server.redirect(&other.url());
    other.require(AUTHORIZATION);
    let refused = resolve(&settings, "app").unwrap_err();
    assert!(!other.requests().is_empty() && other.requests().iter().all(|request| request.authorization.is_none()));
    assert!(matches!(refused, RepositoryError::Unreachable { .. }));
}

#[test]
fn an_entry_of_rewrite_that_makes_no_url_is_named() {
    let (disk, server) = served();
    let mut settings = with_token(&disk, &server, &server.url());
    settings.rewrite = vec![git::Rewrite { from: HOST.to_owned(), to: "ftp://mirror.example/".to_owned() }];
    let message = resolve(&settings, "app").unwrap_err().to_string();
    assert!(message.contains("git.rewrite") && message.contains(&format!("for `{HOST}`")), "{message}");
}

#[test]
fn a_refused_token_is_not_shown() {
    let (disk, server) = served();
    server.require("Basic other");
    let settings = with_token(&disk, &server, &server.url());
    let text = resolve(&settings, "app").unwrap_err().to_string();
    assert!(text.contains("Authentication failed"), "{text}");
    assert!(!text.contains(TOKEN) && !text.contains("czNjcmV0"), "{text}");
}

#[test]
fn a_token_is_in_no_argument() {
    let (disk, server) = served();
    server.require(AUTHORIZATION);
    let Settings { program, .. } = recording(disk.folder.path());
    let settings = Settings { program, ..with_token(&disk, &server, &server.url()) };
    let repositories = GitRepositories::new(settings);
    commit(&repositories, &url("app"), "main", &[("a", "2")]);
    let log = fs::read_to_string(disk.folder.path().join("log")).unwrap();
    assert!(log.contains("ls-remote") && log.contains("push") && log.contains("KALYPSO_GIT_TOKEN"), "{log}");
    assert!(!log.contains(TOKEN) && !log.contains("czNjcmV0"), "{log}");
}

#[test]
fn a_pinned_commit_is_never_fetched_again() {
    let (disk, server) = served();
    let settings = disk.settings(&server.url());
    let id = resolve(&settings, "app").unwrap().id;
    let pinned = Revision::Commit { id, branch: Some("main".into()) };
    for text in ["2", "3"] {
        server.forget_requests();
        let commit = GitRepositories::new(settings.clone()).resolve(&url("app"), &pinned).unwrap();
        assert_eq!(GitRepositories::new(settings.clone()).tree(&commit).unwrap(), tree(&[("a", "1")]));
        assert_eq!(server.requests(), []);
        disk.commit("app", "main", &[("a", text)]);
        resolve(&settings, "app").unwrap();
    }
}

#[test]
fn a_branch_that_did_not_move_is_not_fetched_again() {
    let (disk, server) = served();
    let settings = disk.settings(&server.url());
    resolve(&settings, "app").unwrap();
    server.forget_requests();
    resolve(&settings, "app").unwrap();
    assert_eq!(server.requests().len(), 2, "the greeting and the references");
}

#[test]
fn last_head_is_cached_while_the_server_is_unreachable() {
    let (disk, server) = served();
    let settings = disk.settings(&server.url());
    let commit = resolve(&settings, "app").unwrap();
    drop(server);
    assert!(matches!(resolve(&settings, "app"), Err(RepositoryError::Unreachable { .. })));
    let repositories = GitRepositories::new(settings);
    let remembered = repositories.cached(&url("app"), &Revision::branch("main"));
    assert_eq!(remembered.as_ref(), Some(&commit));
    assert_eq!(repositories.tree(&commit).unwrap(), tree(&[("a", "1")]));
}

#[test]
fn heads_keep_the_order_of_the_server() {
    let (disk, server) = served();
    let settings = disk.settings(&server.url());
    let first = resolve(&settings, "app").unwrap().id;
    let second = disk.commit("app", "main", &[("a", "2")]);
    let held = server.hold_next("/app/info/refs");
    let slow = std::thread::spawn({
        let settings = settings.clone();
        move || resolve(&settings, "app").unwrap().id
    });
    // The request was sent. Its response arrives only after another process has seen a newer head.
    assert!(held.is_reached());
    let third = disk.commit("app", "main", &[("a", "3")]);
    assert_eq!(resolve(&settings, "app").unwrap().id, third);
    held.release();
    assert_eq!(slow.join().unwrap(), third, "the older response is not used");
    let repositories = GitRepositories::new(settings);
    let main = Revision::branch("main");
    assert_eq!(repositories.seen(&url("app"), &main), [first, third]);
    assert_eq!(repositories.cached(&url("app"), &main).unwrap().id, third);
    assert_ne!(second, third);
}

#[test]
fn reading_an_older_commit_does_not_change_the_cached_head() {
    let (disk, server) = served();
    let first = disk.commit("app", "main", &[("a", "2")]);
    let second = disk.commit("app", "main", &[("a", "3")]);
    let repositories = GitRepositories::new(disk.settings(&server.url()));
    let head = repositories.resolve(&url("app"), &Revision::branch("main")).unwrap();
    let older = Commit { id: first, ..head };
    assert_eq!(repositories.tree(&older).unwrap(), tree(&[("a", "2")]));
    assert_eq!(repositories.cached(&url("app"), &Revision::branch("main")).unwrap().id, second);
}

#[test]
fn silent_server_times_out() {
    let (disk, server) = served();
    server.set_silent(true);
    let settings = Settings { time_limit: Duration::from_millis(300), ..disk.settings(&server.url()) };
    let given_up = resolve(&settings, "app").unwrap_err();
    assert!(matches!(given_up, RepositoryError::TimedOut { .. }), "{given_up}");
    server.set_silent(false);
    resolve(&disk.settings(&server.url()), "app").unwrap();
}

/// Damages the copy in the cache, and then checks that everything works.
fn check_healing(damage: impl Fn(&Path)) {
    let (disk, server) = served();
    let settings = disk.settings(&server.url());
    resolve(&settings, "app").unwrap();
    let copies = fs::read_dir(disk.cache()).unwrap().map(|entry| entry.unwrap().path());
    let copy = copies.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "git")).unwrap();
    damage(&copy);
    let commit = resolve(&settings, "app").unwrap();
    assert_eq!(GitRepositories::new(settings.clone()).tree(&commit).unwrap(), tree(&[("a", "1")]));
    disk.commit("app", "main", &[("a", "2")]);
    resolve(&settings, "app").unwrap();
}

#[test]
fn damaged_copy_is_recreated() {
    check_healing(|copy| fs::remove_dir_all(copy.join("objects")).unwrap());
    check_healing(|copy| fs::remove_file(copy.join("HEAD")).unwrap());
    check_healing(|copy| fs::write(copy.join("config"), "[nonsense").unwrap());
    check_healing(|copy| fs::remove_dir_all(copy.join("refs")).unwrap());
    check_healing(|copy| {
        fs::remove_dir_all(copy).unwrap();
        fs::write(copy, "").unwrap();
    });
    check_healing(|copy| {
        for entry in walk(&copy.join("objects")) {
            fs::set_permissions(&entry, fs::Permissions::from_mode(0o644)).unwrap();
            fs::write(entry, "nonsense").unwrap();
        }
    });
}

#[test]
fn leftovers_of_a_killed_fetch_do_not_break_the_copy() {
    check_healing(|copy| {
        fs::write(copy.join("shallow.lock"), "").unwrap();
        fs::create_dir_all(copy.join("refs/kalypso/heads")).unwrap();
        fs::write(copy.join("refs/kalypso/heads/main.lock"), "").unwrap();
        fs::write(copy.join("objects/pack/tmp_pack_123"), "half").unwrap();
        fs::create_dir_all(copy.with_extension("new")).unwrap();
    });
}

#[test]
fn fetch_may_be_killed_at_any_time() {
    let (disk, server) = served();
    let large: Vec<_> = (0..200).map(|index| (format!("{index}.yaml"), "x".repeat(index * 50))).collect();
    let large: Vec<_> = large.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    for delay in [0, 1, 3, 5, 8, 12, 20, 40] {
        disk.commit("app", "main", &[&large[..], &[("delay", &delay.to_string())]].concat());
        let killed = Settings { time_limit: Duration::from_millis(delay), ..disk.settings(&server.url()) };
        // The result depends on the machine. Only the next run counts.
        drop(resolve(&killed, "app"));
        let settings = disk.settings(&server.url());
        let commit = resolve(&settings, "app").unwrap();
        assert_eq!(GitRepositories::new(settings).tree(&commit).unwrap().len(), 201);
    }
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn two_processes_may_fetch_at_once() {
    let (disk, server) = served();
    let settings = disk.settings(&server.url());
    let results = std::thread::scope(|scope| {
        let running: Vec<_> =
            (0..4).map(|_| scope.spawn(|| resolve(&settings, "app").map(|commit| commit.id))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(results.iter().all(|result| result.is_ok() && *result == results[0]), "{results:?}");
}

#[test]
fn no_hook_runs() {
    let (disk, server) = served();
    let settings = disk.settings(&server.url());
    resolve(&settings, "app").unwrap();
    let trace = disk.folder.path().join("ran");
    for copy in fs::read_dir(disk.cache()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        fs::create_dir(copy.join("hooks")).unwrap();
        for hook in ["pre-push", "reference-transaction", "post-checkout"] {
            let path = copy.join("hooks").join(hook);
            fs::write(&path, format!("#!/bin/sh\ntouch '{}'\n", trace.display())).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    commit(&GitRepositories::new(settings), &url("app"), "main", &[("a", "2")]);
    assert!(!trace.exists());
}
