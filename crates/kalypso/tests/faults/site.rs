//! A company with two environments and two applications, and its invariants between two rounds.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use testkit::company::CompanyFiles;
use testkit::objects;

use crate::company::{Company, Ran, folder_text, git};
use crate::way::Way;

pub(crate) const ENVIRONMENTS: [&str; 2] = ["dev", "prod"];
/// The time limit of a plain run after a fault, in wall-clock time.
const RECOVERY_LIMIT: Duration = Duration::from_secs(30);
/// The time limit of the first runs, before any fault. It is long enough for slow machines.
const FIRST_LIMIT: Duration = Duration::from_mins(5);
/// On a slow machine, the time limit is this multiple of the time of a run without faults.
const RECOVERY_FACTOR: u32 = 4;
/// The time limit for child processes of a killed run, and for git's maintenance in the background.
const ORPHANS_LIMIT: Duration = Duration::from_secs(10);

pub(crate) struct Site {
    company: Company,
    pub(crate) way: Way,
    /// The current values of the applications and environments.
    state: u64,
    notes: BTreeSet<String>,
    heads: [String; 2],
    /// The times of the last plain runs, and the longest time of all.
    pub(crate) typical: Duration,
    pub(crate) slowest: Duration,
    /// The time limit of a plain run.
    limit: Duration,
}

impl Site {
    pub(crate) fn new(way: fn(&Path) -> Way) -> Self {
        let company = Company::empty().filled(&CompanyFiles::with_applications(&ENVIRONMENTS, &["shop", "cart"]));
        let folder = company.path("");
        let way = way(&folder);
        company.configure(&way.url(&company.path("served")), "");
        let heads = ENVIRONMENTS.map(|environment| company.head("gitops", environment).unwrap());
        git(&folder, &["clone", "--quiet", "served/gitops.git", "person"]);
        let (notes, zero) = (BTreeSet::new(), Duration::ZERO);
        let mut site = Self { company, way, state: 0, notes, heads, typical: zero, slowest: zero, limit: FIRST_LIMIT };
        // The first run fetches all repositories.
        for _ in 0..2 {
            site.change();
            site.recover();
        }
        site.limit = RECOVERY_LIMIT.max(site.slowest * RECOVERY_FACTOR);
        site
    }

    /// Changes a value of both environments.
    pub(crate) fn change(&mut self) {
        self.state += 1;
        for environment in ENVIRONMENTS {
            let values = format!("DATABASE: mysql://main/a\nROUND: round-{}", self.state);
            let at = format!("control-plane@{environment}");
            self.company.change(&at, "configs/common.yaml", &objects::config("common", "", &values));
        }
    }

    /// Changes an application.
    pub(crate) fn change_application(&mut self) {
        let text = format!("{}# {}\n", objects::workload_in("cart", &ENVIRONMENTS), self.state);
        self.company.change("cart@main", "cart.yaml", &text);
    }

    /// Starts a run of `publish`.
    pub(crate) fn start(&self, environment: &str) -> Child {
        let log = |name: &str| fs::File::options().append(true).create(true).open(self.company.path(name)).unwrap();
        let mut command = self.company.command();
        command.args(["publish", "-e", environment, "--direct"]).stdout(log("out.log")).stderr(log("err.log"));
        command.spawn().unwrap()
    }

    /// Pushes a file as another user, unless another push comes first.
    pub(crate) fn note(&mut self, environment: &str) {
        let (folder, name) = (self.company.path("person"), format!("notes/{}-{environment}.txt", self.state));
        let person = |arguments: &[&str]| {
            let mut command = Command::new("git");
            let command =
                command.current_dir(&folder).args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]);
            command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
        };
        let remote = format!("refs/remotes/origin/{environment}");
        if !(person(&["fetch", "--quiet", "origin"]) && person(&["checkout", "--quiet", "--detach", &remote])) {
            return;
        }
        fs::create_dir_all(folder.join("notes")).unwrap();
        fs::write(folder.join(&name), "mine\n").unwrap();
        let committed = person(&["add", "notes"]) && person(&["commit", "--quiet", "-m", "A note"]);
        if committed && person(&["push", "--quiet", "origin", &format!("HEAD:refs/heads/{environment}")]) {
            self.notes.insert(format!("{environment}:{name}"));
        }
    }

    /// Checks the state after the faults: a plain run of each environment publishes it within the time limit.
    pub(crate) fn recover(&mut self) {
        self.way.restore();
        self.await_orphans();
        let start = Instant::now();
        let mut runs = ENVIRONMENTS.map(|environment| self.start(environment));
        while let Some(run) = runs.iter_mut().find_map(|run| run.try_wait().unwrap().is_none().then_some(run)) {
            if start.elapsed() > self.limit {
                drop(run.kill());
                panic!("a plain run exceeds its time limit:\n{}", self.log());
            }
            thread::sleep(Duration::from_millis(5));
        }
        self.typical = start.elapsed();
        self.slowest = self.slowest.max(self.typical);
        for mut run in runs {
            let status = run.wait().unwrap();
            assert!(status.success(), "a plain run fails with {status}:\n{}", self.log());
        }
        self.check();
    }

    /// The last output of the runs.
    fn log(&self) -> String {
        let lines = fs::read_to_string(self.company.path("err.log")).unwrap_or_default();
        let lines: Vec<_> = lines.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }

    fn check(&mut self) {
        assert!(!self.log().contains("panicked") && !self.log().contains("mistake in Kalypso"), "{}", self.log());
        let repository = self.company.repository("gitops");
        for (at, environment) in ENVIRONMENTS.into_iter().enumerate() {
            let wanted = format!("round-{}", self.state);
            for cluster_type in ["east", "west"] {
                for workload in ["shop", "cart"] {
                    let path = format!("{cluster_type}/{workload}-{environment}/platform-config.yaml");
                    let text = self.company.file("gitops", environment, &path);
                    assert!(text.contains(&wanted), "{environment}:{path} is not of {wanted}:\n{text}");
                }
            }
            let head = git(&repository, &["rev-parse", environment]);
            check_history(&repository, &self.heads[at], &head);
            self.heads[at] = head;
        }
        for note in &self.notes {
            git(&repository, &["cat-file", "-e", note]);
        }
        self.await_orphans();
        let copies = copies(&self.company.path("cache"));
        await_unlocked(copies.chain([repository]));
    }

    /// Checks that the published files are equal to those of a clean run, and that `git fsck` finds no error in any repository.
    pub(crate) fn check_thoroughly(&self) {
        let repository = self.company.repository("gitops");
        for environment in ENVIRONMENTS {
            let out = self.company.path(&format!("out-{environment}"));
            drop(fs::remove_dir_all(&out));
            let mut command = self.company.command();
            command.env("KALYPSO_CACHE_DIR", self.company.path("clean")).args(["render", "-e", environment, "--out"]);
            Ran::new(command.arg(&out)).ends(0);
            let published = self.company.path(&format!("published-{environment}"));
            drop(fs::remove_dir_all(&published));
            fs::create_dir(&published).unwrap();
            let index = format!("--work-tree={}", published.display());
            git(&repository, &[&index, "checkout", "--quiet", "--force", environment, "--", "east", "west"]);
            for folder in ["east", "west"] {
                assert_eq!(folder_text(&published.join(folder)), folder_text(&out.join(folder)), "{environment}");
            }
        }
        drop(fs::remove_dir_all(self.company.path("clean")));
        for repository in copies(&self.company.path("cache")).chain([repository]) {
            let said = Command::new("git").current_dir(&repository).args(["fsck", "--no-dangling"]).output().unwrap();
            assert!(said.status.success(), "{}: {}", repository.display(), String::from_utf8_lossy(&said.stderr));
        }
    }

    /// Waits until all child processes of killed runs have ended.
    pub(crate) fn await_orphans(&self) {
        await_orphans(&self.company);
    }
}

/// Waits until all child processes of killed runs in the folder of a company have ended. Its hub goes on.
pub(crate) fn await_orphans(company: &Company) {
    let end = Instant::now() + ORPHANS_LIMIT;
    let mark = format!("HOME={}", company.path("").display().to_string().trim_end_matches('/'));
    loop {
        let living: Vec<_> = processes_with(&mark).into_iter().filter(|line| !line.contains(" hub ")).collect();
        if living.is_empty() {
            return;
        }
        assert!(Instant::now() < end, "these processes still run: {living:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Checks every commit since the last check: it changes a file, its parent is the commit before it, and it is Kalypso's or a user's note.
pub(crate) fn check_history(repository: &Path, before: &str, head: &str) {
    git(repository, &["merge-base", "--is-ancestor", before, head]);
    let range = format!("{before}..{head}");
    let commits = git(repository, &["log", "--format=%H|%P|%T|%ce|%(trailers:key=Kalypso-Environment)", &range]);
    for commit in commits.lines().filter(|line| line.contains('|')) {
        let parts: Vec<_> = commit.split('|').collect();
        let [id, parents, tree, email, trailer] = parts[..] else { panic!("{commit}") };
        assert!(!parents.contains(' '), "{id} has several parents");
        assert_ne!(tree, git(repository, &["rev-parse", &format!("{parents}^{{tree}}")]), "{id} changes nothing");
        let is_ours = email == "kalypso@kalypso.invalid" && trailer.starts_with("Kalypso-Environment: ");
        assert!(is_ours || email == "ann@example.com", "{id} is nobody's: {commit}");
    }
}

/// The processes with this environment variable, without zombies.
pub(crate) fn processes_with(variable: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let of = |path: PathBuf| {
        let environment = fs::read(path.join("environ")).ok()?;
        let has_it = environment.split(|byte| *byte == 0).any(|one| one == variable.as_bytes());
        has_it.then(|| String::from_utf8_lossy(&fs::read(path.join("cmdline")).unwrap_or_default()).replace('\0', " "))
    };
    entries.flatten().filter_map(|entry| of(entry.path())).filter(|line| !line.is_empty()).collect()
}

/// The copies in a cache.
fn copies(cache: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(cache).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "git"))
}

/// Waits until no repository has a lock file. After the push of a user or of a git server, git checks whether the repository needs maintenance: in the
/// background, with a lock, and beyond the end of the push. The lock of a process that was killed stays, and fails the test.
pub(crate) fn await_unlocked(repositories: impl Iterator<Item = PathBuf>) {
    let end = Instant::now() + ORPHANS_LIMIT;
    for repository in repositories {
        loop {
            let locks = locks(&repository);
            if locks.is_empty() {
                break;
            }
            assert!(Instant::now() < end, "lock files remain: {locks:?}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The lock files in a repository.
fn locks(repository: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![repository.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "lock") {
                found.push(path);
            }
        }
    }
    found
}
