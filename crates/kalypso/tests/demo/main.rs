//! Tests of `kalypso demo`, as new users run it on different machines.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]

mod approving;
mod promoting;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The variable with the address of the demo's git host.
const GIT_HOST: &str = "KALYPSO_DEMO_GIT_HOST";

/// A Git configuration that changes the way commits are made.
const HOSTILE: &str = "\
[user]
	useConfigOnly = true
[commit]
	gpgSign = true
[gpg]
	program = false
[core]
	hooksPath = /hooks-that-are-not-there
	autocrlf = true
[init]
	defaultBranch = trunk
	defaultObjectFormat = sha256
	templateDir = /nowhere
[safe]
	bareRepository = explicit
";

/// A machine with a hostile Git configuration and without a network.
pub(crate) struct Machine {
    folder: TempDir,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".gitconfig"), HOSTILE).unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).env("HOME", self.folder.path()).env_remove("XDG_CONFIG_HOME");
        // On a busy machine, a step may take so long that progress is shown.
        command.env("KALYPSO_PROGRESS", "never");
        for variable in ["http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env(variable, "http://127.0.0.1:9");
        }
        command
    }

    fn demo(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(env!("CARGO_BIN_EXE_kalypso"));
        command.arg("demo").args(arguments).env("GIT_DIR", "/nowhere").env("GIT_AUTHOR_NAME", "Somebody else");
        command.output().unwrap()
    }

    /// Returns the output of a run that must succeed.
    pub(crate) fn made(&self, arguments: &[&str]) -> String {
        let output = self.demo(arguments);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the error of a run that must end with the status for invalid usage.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.demo(arguments);
        assert_eq!(output.status.code(), Some(64), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

/// `kalypso serve` in the folder of the demo, on free ports.
pub(crate) struct Serving {
    process: Child,
    pub(crate) hub: String,
    git_host: String,
}

impl Serving {
    pub(crate) fn start(machine: &Machine, folder: &str) -> Self {
        let mut command = machine.command(env!("CARGO_BIN_EXE_kalypso"));
        command.current_dir(machine.path(folder)).args(["serve", "--listen", "127.0.0.1:0"]);
        let mut process = command.env(GIT_HOST, "127.0.0.1:0").stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
        let mut after = |words: &str| lines.find_map(|line| Some(line.split_once(words)?.1.to_owned())).unwrap();
        let (hub, git_host) = (after("listening on "), after("pull requests of the demo are at http://"));
        // The output must be read until the end. Otherwise the pipe fills.
        thread::spawn(move || lines.for_each(drop));
        Self { process, hub, git_host }
    }

    /// The answer of the git host to a browser that is on one of its pages.
    fn browse(&self, line: &str, form: &str) -> String {
        self.browse_as("paula", line, form)
    }

    /// The same, as another account of the git host.
    pub(crate) fn browse_as(&self, account: &str, line: &str, form: &str) -> String {
        let (host, length) = (&self.git_host, form.len());
        let mut stream = TcpStream::connect(host).unwrap();
        let headers = format!(
            "host: {host}\r\norigin: http://{host}\r\ncookie: account={account}\r\ncontent-length: {length}\r\n"
        );
        write!(stream, "{line} HTTP/1.1\r\n{headers}\r\n{form}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits until something is there.
fn eventually<T>(what: &str, find: impl Fn() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_mins(2), "{what} did not happen");
        thread::sleep(Duration::from_millis(50));
    }
}

/// The body of the answer to a request.
pub(crate) fn get(url: &str, path: &str) -> String {
    let host = url.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nhost: {host}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// The branches of a repository with their commits.
pub(crate) fn branches(repository: &Path, format: &str) -> String {
    let output = Command::new("git").arg("-C").arg(repository).args(["for-each-ref", "--format", format]).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

#[test]
fn everything_is_compiled_and_published_once() {
    let machine = Machine::new();
    let first = machine.made(&[]);
    assert!(first.starts_with("Made a small company in ./kalypso-demo (8 git repositories, no network needed)\n"));
    let compiled = "Compiled        dev 31 · stage 22 · prod 48 assignments in ";
    assert!(first.contains(compiled), "{first}");
    assert!(first.contains("Published       3 branches of ./kalypso-demo/platform-gitops.git"), "{first}");

    assert!(first.contains("Hosts           76 simulated ones pulled it"), "{first}");
    assert!(first.contains("dev    ████████████████████  150 of 150\n"), "{first}");

    let second = machine.made(&[]);
    assert!(!second.contains("Hosts  ") && second.contains("150 of 150\n"), "{second}");
    assert!(second.starts_with("Nothing changed in ./kalypso-demo\n"), "{second}");
    assert!(second.contains(compiled) && second.contains("Published       nothing: 3 branches of"), "{second}");
}

#[test]
fn hub_answers_match_the_reports_of_the_hosts() {
    let printed = Machine::new().made(&[]);
    let answer = |question: &str| {
        let (_, answer) = printed.split_once(&format!("\n$ {question}\n")).unwrap_or_else(|| panic!("{printed}"));
        answer.split("\n\n").next().unwrap().to_owned()
    };
    let rollout = answer("kalypso rollout status checkout");
    for said in [
        "dev    1.5.0  ████████████████████ 17 of 17",
        "prod   1.4.2  ",
        "stage  1.4.2  ",
        "in progress",
        "failed",
        "silent, last report",
    ] {
        assert!(rollout.contains(said), "{said}: {rollout}");
    }
    assert!(
        answer("kalypso deployments -e stage --workload checkout --status failed,silent")
            .contains("health check failed after 2m0s")
    );
    let compared = answer("kalypso compare dev prod --workload checkout --differing");
    // The widths of columns do not matter.
    let words = compared.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("~ checkout/us absent 1.4.2 on ") && words.contains("1.5.0 on 2 of 2 1.4.2 on "),
        "{compared}"
    );
    assert!(answer("kalypso drift").contains("promised to report and did not"));
    assert!(answer("kalypso history --host prod-chicago-edge-02 --limit 5").contains("succeeded"));
}

#[test]
fn hosts_pull_publications_between_two_runs() {
    let machine = Machine::new();
    machine.made(&[]);
    let script = "cd kalypso-demo && git -C control-plane switch --quiet prod &&
        sed -i.bak 's/max: 40/max: 60/' control-plane/configs/central.yaml &&
        git -C control-plane -c user.name=me -c user.email=me@acme.example -c commit.gpgSign=false commit --quiet -am more &&
        \"$KALYPSO\" publish -e prod --direct";
    let mut command = machine.command("sh");
    let output = command.env("KALYPSO", env!("CARGO_BIN_EXE_kalypso")).args(["-c", script]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let second = machine.made(&[]);
    assert!(second.starts_with("Hosts pull what was published in ./kalypso-demo since the last run\n"), "{second}");
    assert!(
        second.contains("Hosts           ") && second.contains("Published       nothing: 3 branches of"),
        "{second}"
    );
    let third = machine.made(&[]);
    assert!(third.starts_with("Nothing changed in ./kalypso-demo\n") && !third.contains("Hosts  "), "{third}");
}

#[test]
fn unfilled_hub_is_filled_again() {
    let machine = Machine::new();
    machine.made(&[]);
    fs::remove_file(machine.path("kalypso-demo/.kalypso/hub-filled")).unwrap();
    let again = machine.made(&[]);
    assert!(again.starts_with("Nothing changed") && again.contains("76 simulated ones pulled it"), "{again}");
}

#[test]
fn only_repositories_are_created_without_the_hub() {
    let machine = Machine::new();
    let printed = machine.made(&["--no-hub"]);
    assert!(!printed.contains("Hosts  ") && !printed.contains("$ kalypso"), "{printed}");
    assert!(!machine.path("kalypso-demo/.kalypso/hub.db").exists());
}

#[test]
fn every_machine_has_the_same_commits() {
    let (machine, other) = (Machine::new(), Machine::new());
    machine.made(&["--no-hub"]);
    fs::remove_file(other.path(".gitconfig")).unwrap();
    other.made(&["somewhere else", "--no-hub"]);
    for repository in ["control-plane", "checkout", "line-monitor", "platform-services"] {
        let at = |root: PathBuf| branches(&root.join(repository), "%(refname) %(objectname)");
        let (one, two) = (at(machine.path("kalypso-demo")), at(other.path("somewhere else")));
        assert!(one.contains("refs/heads/main ") && one == two, "{repository}: {one}{two}");
    }
    // Publications are made at different times, so only their contents are compared.
    let trees = |root: PathBuf| branches(&root.join("platform-gitops.git"), "%(refname) %(tree)");
    assert_eq!(trees(machine.path("kalypso-demo")), trees(other.path("somewhere else")));
}

#[test]
fn printed_example_commands_work() {
    let machine = Machine::new();
    let printed = machine.made(&["it's here"]);
    let (_, trying) = printed.split_once("Try this").unwrap();
    let commands = trying.lines().filter_map(|line| line.strip_prefix("    "));
    let (serve, commands): (Vec<_>, Vec<_>) = commands.partition(|command| *command == "kalypso serve");
    assert_eq!(serve.len(), 1, "{trying}");
    let serving = Serving::start(&machine, "it's here");
    let script: String = commands.iter().map(|command| format!("{command}\necho \"status $?\"\n")).collect();
    let output = machine.command("sh").env("KALYPSO_HUB_URL", &serving.hub).arg("-c").arg(&script).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let statuses: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("status ")).collect();
    // A plan with changes ends with exit status 2.
    let expected = |command: &&str| if command.starts_with("kalypso plan") { "2" } else { "0" };
    assert_eq!(statuses, commands.iter().map(expected).collect::<Vec<_>>(), "{output:?}");
    for said in ["150 of 150", "prod-chicago-edge-02  prod", "DATABASE_URL = ", "~ 16 assignments change"] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn merges_in_the_browser_reach_the_hosts() {
    let machine = Machine::new();
    machine.made(&[]);
    let serving = Serving::start(&machine, "kalypso-demo");
    let script =
        "git switch --quiet prod && sed -i.bak 's/max: 40/max: 60/' configs/central.yaml && git commit -qam More";
    let mut commit = machine.command("sh");
    let committed = commit.current_dir(machine.path("kalypso-demo/control-plane")).args(["-c", script]).output();
    assert!(committed.as_ref().unwrap().status.success(), "{committed:?}");
    let page = |serving: &Serving| serving.browse("GET /acme/platform-gitops/pulls/1", "");
    let head = eventually("the pull request", || {
        let page = page(&serving);
        Some(page.split_once("name=\"head\" value=\"")?.1[..40].to_owned())
    });
    assert!(serving.browse("GET /", "").contains("database.pool.max on 16 assignments</a>"));
    let beside = machine.demo(&[]);
    let said = String::from_utf8_lossy(&beside.stderr);
    assert!(beside.status.code() == Some(1) && said.contains("runs in ./kalypso-demo, and proposes what"), "{said}");

    // After a restart, it is the same pull request.
    drop(serving);
    let serving = Serving::start(&machine, "kalypso-demo");
    assert!(page(&serving).contains(&head), "{}", page(&serving));
    let merged = serving.browse("POST /acme/platform-gitops/pulls/1/merge", &format!("head={head}"));
    assert!(merged.starts_with("HTTP/1.1 303"), "{merged}");
    let gitops = machine.path("kalypso-demo/platform-gitops.git");
    let commit = branches(&gitops, "%(refname:short) %(objectname:short=7)");
    let commit = commit.lines().find_map(|line| line.strip_prefix("prod ")).unwrap().to_owned();
    eventually("the removal of the merged branch", || {
        (!branches(&gitops, "%(refname)").contains("kalypso/prod")).then_some(())
    });
    eventually("the reports of a host", || {
        let mut ask = machine.command(env!("CARGO_BIN_EXE_kalypso"));
        ask.args(["deployments", "--host", "prod-chicago-edge-02"]).env("KALYPSO_HUB_URL", &serving.hub);
        let answer = String::from_utf8(ask.output().unwrap().stdout).unwrap();
        let is_followed = |line: &str| line.contains(&commit) && line.contains("succeeded");
        answer.lines().any(is_followed).then_some(())
    });
    assert!(page(&serving).contains("merged</span>"));
}

#[test]
fn without_the_git_host_a_branch_is_proposed_and_its_address_can_be_changed() {
    let machine = Machine::new();
    machine.made(&["--no-hub"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let (taken_address, free) = (taken.local_addr().unwrap().to_string(), "127.0.0.1:1".to_owned());
    let run = |arguments: &str, address: &String| {
        let mut command = machine.command(env!("CARGO_BIN_EXE_kalypso"));
        command.current_dir(machine.path("kalypso-demo")).args(arguments.split(' ')).env(GIT_HOST, address);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, said) = run("publish -e prod", &free);
    assert!(status == Some(0) && said.contains("(`kalypso serve` starts it)"), "{said}");
    let (status, said) = run("publish -e prod --pull-request", &free);
    assert!(status == Some(69) && said.contains("start it with `kalypso serve`"), "{said}");
    let (status, said) = run("serve --listen 127.0.0.1:0", &taken_address);
    assert!(status == Some(69) && said.contains("set another port in `demo.git-host`"), "{said}");
}

#[test]
fn a_committed_change_is_published_by_the_next_run() {
    let machine = Machine::new();
    machine.made(&[]);
    let control_plane = machine.path("kalypso-demo/control-plane");
    let script = "git switch --quiet stage && echo '  EXTRA: x' >> configs/line-monitor.yaml && git commit -qam Extra";
    let committed = machine.command("sh").current_dir(control_plane).args(["-c", script]).output().unwrap();
    assert!(committed.status.success(), "{committed:?}");
    let again = machine.made(&[]);
    assert!(again.starts_with("Published what had changed in ./kalypso-demo\n"), "{again}");
    assert!(again.contains("Published       1 branch of ./kalypso-demo/platform-gitops.git, directly: stage "));
    assert!(again.contains("Hosts           17 simulated ones pulled it"), "{again}");
}

#[test]
fn a_version_that_is_promoted_is_pulled_by_the_next_run() {
    let machine = Machine::new();
    machine.made(&[]);
    let mut promote = machine.command(env!("CARGO_BIN_EXE_kalypso"));
    promote.current_dir(machine.path("kalypso-demo/checkout"));
    let promoted = promote.args(["app", "deploy", "-e", "prod", "--version", "1.5.0"]).output();
    assert!(promoted.as_ref().unwrap().status.success(), "{promoted:?}");
    let again = machine.made(&[]);
    assert!(again.starts_with("Manifests in ./kalypso-demo have changed\n"), "{again}");
    assert!(
        again.contains("Published       nothing: 3 branches") && again.contains("Hosts           39 simulated"),
        "{again}"
    );
    let (_, rollout) = again.split_once("$ kalypso rollout status checkout\n").unwrap();
    let prod = rollout.lines().find(|line| line.starts_with("  prod   1.5.0  ")).unwrap_or_else(|| panic!("{again}"));
    assert!(!prod.contains("  0 of") && prod.contains(" of 33 "), "{prod}");
    assert!(machine.made(&[]).starts_with("Nothing changed in ./kalypso-demo\n"));
}

#[test]
fn folder_with_other_files_is_refused() {
    let machine = Machine::new();
    fs::create_dir(machine.path("work")).unwrap();
    fs::write(machine.path("work/README.md"), "mine").unwrap();
    assert!(machine.refused(&["work"]).contains("was not made by `demo`"));
    assert!(machine.refused(&["work", "--force"]).contains("is in the way"));
    assert!(machine.refused(&["work/README.md"]).contains("is a file"));
    assert_eq!(fs::read_dir(machine.path("work")).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(machine.path("work/README.md")).unwrap(), "mine");
}

#[test]
fn killed_run_is_started_again() {
    let machine = Machine::new();
    machine.made(&[]);
    // The state after an interruption: the mark, no receipt, and incomplete repositories.
    fs::write(machine.path("kalypso-demo/.kalypso/demo-running"), "").unwrap();
    fs::remove_file(machine.path("kalypso-demo/.kalypso/demo.json")).unwrap();
    fs::remove_file(machine.path("kalypso-demo/control-plane/.git/HEAD")).unwrap();
    assert!(machine.made(&[]).starts_with("An earlier run ended early: made the company in ./kalypso-demo anew"));
    assert!(machine.made(&[]).starts_with("Nothing changed"));
}

#[test]
fn missing_git_is_reported_with_install_advice() {
    let machine = Machine::new();
    let mut command = machine.command(env!("CARGO_BIN_EXE_kalypso"));
    let output = command.arg("demo").env("PATH", machine.folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(69));
    assert!(String::from_utf8_lossy(&output.stderr).contains("apt-get install git"), "{output:?}");
    assert!(!machine.path("kalypso-demo").exists());
}
