//! Commands: their results, their variables and their ends.
#![cfg(unix)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use checks::{CheckKind, CheckSettings, Checks, CommandSettings, Runtime};
use engine::promotion::evidence::{CheckOutcome, CheckResult};
use model::object::promotion::{Check, Expectation};

use crate::world::{LONG, checks, gate, shown, subject};

/// A time limit that a test waits for.
const SHORT: Duration = Duration::from_millis(300);

fn command() -> Check {
    gate(Expectation::Command)
}

fn settings(script: &str, directory: &Path) -> CommandSettings {
    let variables = vec![("LOAD_TOKEN".to_owned(), "s3cret-load".into())];
    let arguments = vec!["-c".to_owned(), script.to_owned()];
    CommandSettings { program: "/bin/sh".into(), arguments, directory: directory.to_owned(), variables }
}

fn run_in(directory: &Path, script: &str, timeout: Duration) -> CheckResult {
    checks(CheckKind::Command(settings(script, directory)), timeout).run(&command(), &subject("checkout"))
}

fn run(script: &str, timeout: Duration) -> CheckResult {
    run_in(Path::new("/"), script, timeout)
}

#[test]
fn exit_status_decides_and_last_line_is_the_reason() {
    assert_eq!(shown(&run("echo 1; echo '12 of 12'; echo", LONG)), (CheckOutcome::Passed, "12 of 12"));
    assert_eq!(shown(&run("echo slow >&2; exit 3", LONG)), (CheckOutcome::Failed, "exit status 3: slow"));
    assert_eq!(shown(&run("kill -SEGV $$", LONG)), (CheckOutcome::Failed, "ended by signal 11"));
    assert_eq!(shown(&run(r"printf '\033[31mred\007\n'", LONG)), (CheckOutcome::Passed, "[31mred"));
    let long = run("i=0; while [ $i -lt 2000 ]; do printf 0123456789; i=$((i+1)); done", LONG);
    assert_eq!(long.text.chars().count(), 200);
}

#[test]
fn a_command_gets_the_change_and_the_named_variables_only() {
    let folder = tempfile::tempdir().unwrap();
    let script = "pwd > out; env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= -e ^OLDPWD= | sort >> out; read line || echo closed >> out";
    assert_eq!(run_in(folder.path(), script, LONG).outcome, CheckOutcome::Passed);
    let text = std::fs::read_to_string(folder.path().join("out")).unwrap();
    let expected = "KALYPSO_ENVIRONMENT=dev\nKALYPSO_REVISION=r1\nKALYPSO_RING=canary\nKALYPSO_SUBJECT=checkout\n\
        LOAD_TOKEN=s3cret-load\nPATH=/usr/local/bin:/usr/bin:/bin\nclosed\n";
    assert_eq!(text, format!("{}\n{expected}", folder.path().canonicalize().unwrap().display()));
}

#[test]
fn the_values_of_variables_are_not_shown() {
    assert_eq!(shown(&run("echo bad $LOAD_TOKEN; exit 1", LONG)), (CheckOutcome::Failed, "exit status 1: bad …"));
}

/// Whether a process that wrote its number into a file has ended.
fn has_ended(file: &Path) -> bool {
    let number: i32 = std::fs::read_to_string(file).unwrap().trim().parse().unwrap();
    let end = Instant::now() + LONG;
    loop {
        let state = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        // A process that ended and was not collected yet is a zombie.
        if state.is_empty() || state.contains(") Z ") {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_command_and_its_children_end_with_the_time_limit() {
    let folder = tempfile::tempdir().unwrap();
    let script = "trap '' TERM; (trap '' TERM; sleep 600) & echo $! > child; echo at step 2; wait";
    let start = Instant::now();
    let result = run_in(folder.path(), script, SHORT);
    assert_eq!(shown(&result), (CheckOutcome::Unknown, "timed out after 300 ms; its last line is: at step 2"));
    assert!(start.elapsed() < LONG && has_ended(&folder.path().join("child")));
}

#[test]
fn background_processes_end_with_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let result = run_in(folder.path(), "sleep 600 & echo $! > child; echo done", LONG);
    assert_eq!(shown(&result), (CheckOutcome::Passed, "done"));
    assert!(has_ended(&folder.path().join("child")));
}

#[test]
fn a_command_ends_when_the_service_stops() {
    let runtime = Runtime { is_stopping: Arc::new(|| true), ..Runtime::default() };
    let kind = CheckKind::Command(settings("sleep 600", Path::new("/")));
    let settings = CheckSettings { timeout: Duration::from_mins(20), ..CheckSettings::new(kind) };
    let checks = Checks::new([("smoke".to_owned(), settings)], runtime).unwrap();
    assert_eq!(shown(&checks.run(&command(), &subject("a"))), (CheckOutcome::Unknown, "the service stops"));
}

#[test]
fn missing_program_gives_an_unknown_result() {
    let kind = CheckKind::Command(CommandSettings { program: "/no/such".into(), ..settings("", Path::new("/")) });
    let result = checks(kind, LONG).run(&command(), &subject("a"));
    let expected = "the command can't be started: No such file or directory (os error 2)";
    assert_eq!(shown(&result), (CheckOutcome::Unknown, expected));
}
