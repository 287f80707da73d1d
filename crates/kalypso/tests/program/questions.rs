//! Tests of commands that query a hub.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use testkit::hub_program::HubProgram;

use crate::hub::{said, start};

/// A running hub with reports.
struct Hub {
    folder: tempfile::TempDir,
    program: HubProgram,
}

impl Hub {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = start(folder.path());
        Self { folder, program }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kalypso"));
        command.args(arguments).current_dir(self.folder.path()).env("KALYPSO_HUB_URL", self.program.url());
        command.env_remove("KALYPSO_HUB_TOKEN");
        command
    }

    fn ask(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Version 2.0 of the workload `checkout` is desired in prod.
    fn publish(&self) {
        let target = r#"{"workspace": "w", "application": "a", "workload": "checkout", "name": "eu", "environment": "prod", "version": {"version": "2.0"}}"#;
        let place = format!(
            r#"{{"path": "eu", "tree": "{:040x}", "role": "application", "environment": "prod", "targets": [{target}]}}"#,
            7
        );
        let body = format!(
            r#"{{"repository": "https://git.example/a", "branch": "prod", "commit": "{:040x}", "places": [{place}]}}"#,
            1
        );
        let address = self.program.address();
        let mut stream = TcpStream::connect(address).unwrap();
        let head = format!("POST /api/v1/publications HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
        let kind = format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
        write!(stream, "{head}{kind}{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    fn report(&self, status: &str) {
        let commit = format!("{:040x}", 1);
        let place = ["--repository", "https://git.example/a", "--branch", "prod", "--path", "eu", "--commit", &commit];
        let report = ["report", "--host", "berlin", "--reconciler", "flux", "--status", status];
        let sent = self.ask(&[&report[..], &place[..]].concat());
        assert_eq!(sent.status.code(), Some(0), "{}", said(&sent));
    }
}

#[test]
fn unknown_rollouts_are_waited_for() {
    let hub = Hub::new();
    let late = hub.ask(&["rollout", "wait", "checkout@2.0", "--timeout", "0s"]);
    assert_eq!(late.status.code(), Some(3), "{}", said(&late));
    assert!(said(&late).contains("there is no workload, version or commit `checkout@2.0`"), "{}", said(&late));
    let mut waiting = hub.command(&["rollout", "wait", "checkout@2.0", "-e", "prod", "--timeout", "60s", "-o", "json"]);
    let mut waiting = waiting.stdout(Stdio::null()).spawn().unwrap();
    hub.publish();
    hub.report("success");
    assert_eq!(waiting.wait().unwrap().code(), Some(0));
}

#[test]
fn rollouts_are_found_by_workload_version_and_commit() {
    let hub = Hub::new();
    hub.publish();
    hub.report("failure");
    let commit = format!("{:040x}", 1);
    for of in ["checkout", "checkout@2.0", "2.0", "w/a/checkout", &commit] {
        let asked = hub.ask(&["rollout", "status", of]);
        assert_eq!(asked.status.code(), Some(0), "{}", said(&asked));
        assert!(said(&asked).contains("prod  ░░░░░░░░░░░░░░░░░░░░ 0 of 1   1 failed"), "{}", said(&asked));
    }
    for filter in [["--status", "failed"], ["--host", "prod-chicago-edge-02"], ["-l", "region=east"], ["--target", "x"]]
    {
        let refused = hub.ask(&["rollout", "status", filter[0], filter[1]]);
        assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
        assert!(said(&refused).contains("and none is named"), "{}", said(&refused));
    }
    let failed = hub.ask(&["rollout", "wait", "checkout"]);
    assert_eq!(failed.status.code(), Some(1), "{}", said(&failed));
    assert!(said(&failed).contains("failed: 1 reconciler failed, --failures allows 0"), "{}", said(&failed));
}

#[test]
fn query_errors_use_terms_of_the_command_line() {
    let hub = Hub::new();
    hub.publish();
    hub.report("success");
    let check = |arguments: &[&str], status, expected: &str| {
        let asked = hub.ask(arguments);
        assert_eq!(asked.status.code(), Some(status), "{}", said(&asked));
        assert!(said(&asked).contains(expected), "{}", said(&asked));
    };
    check(&["status", "--at", "lately"], 64, "`--at lately` is neither a date (2026-11-21), a timestamp");
    check(&["status", "-e", "prod", "--at", "0s"], 0, "checkout/eu");
    check(&["history", "--limit", "0"], 64, "it is a number of rows, from 1 on");
    check(&["history", "--since", "1h", "--until", "2h"], 64, "`--since` is not before `--until`");
    check(&["history", "--since", "1h", "--until", "0s"], 0, "berlin");
    check(&["history", "--until", "2000-01-01T06:00"], 0, "nothing of this kind has happened");
    check(&["status", "-l", "region=west"], 1, "there is no host with label `region`");
    let made = hub.ask(&["hub", "token", "create", "ci", "--role", "read"]);
    assert_eq!(made.status.code(), Some(0), "{}", said(&made));
    // Clients on the hub's own machine may continue without a token until the hub notices the new token.
    let closed = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        hub.ask(&["status"]).status.code() == Some(1)
    });
    assert!(closed);
    check(&["status"], 1, "put a token into the variable KALYPSO_HUB_TOKEN");
}

#[test]
fn missing_reports_are_stated() {
    let hub = Hub::new();
    for question in [&["status"][..], &["deployments"]] {
        let asked = hub.ask(question);
        assert!(said(&asked).contains("no reconciler has reported yet"), "{}", said(&asked));
    }
    hub.publish();
    for question in [&["status"][..], &["status", "-e", "prod"]] {
        let asked = hub.ask(question);
        assert!(said(&asked).contains("no reconciler has reported yet"), "{}", said(&asked));
    }
    let elsewhere = ["report", "--host", "berlin", "--reconciler", "other", "--status", "success"];
    assert_eq!(hub.ask(&elsewhere).status.code(), Some(0));
    let asked = said(&hub.ask(&["status"]));
    assert!(asked.contains("no reconciler of these folders has reported yet; `kalypso drift` shows"), "{asked}");
    hub.report("success");
    for question in [&["status"][..], &["status", "-e", "prod"]] {
        let asked = hub.ask(question);
        assert!(!said(&asked).contains("has reported yet"), "{}", said(&asked));
    }
}

#[test]
fn unknown_environments_and_hosts_are_errors_with_the_nearest_name() {
    let hub = Hub::new();
    hub.publish();
    hub.report("success");
    let check = |arguments: &[&str], expected: &str| {
        let asked = hub.ask(arguments);
        assert_eq!(asked.status.code(), Some(1), "{arguments:?}: {}", said(&asked));
        assert!(said(&asked).contains(expected), "{arguments:?}: {}", said(&asked));
    };
    for question in [
        "status",
        "deployments",
        "drift",
        "drift --at 1h",
        "drift silent",
        "history",
        "events",
        "rollout list",
        "rollout list --at 1h",
        "rollout status checkout",
    ] {
        let words: Vec<&str> = question.split(' ').collect();
        check(&[&words[..], &["-e", "prodd"]].concat(), "there is no environment `prodd`; did you mean `prod`?");
    }
    for question in ["status", "status -e prod", "deployments", "drift", "history", "events", "rollout status checkout"]
    {
        let words: Vec<&str> = question.split(' ').collect();
        check(&[&words[..], &["--host", "berlni"]].concat(), "there is no host `berlni`; did you mean `berlin`?");
        check(&[&words[..], &["-l", "zone=3"]].concat(), "there is no host with label `zone`");
        check(&[&words[..], &["-l", "zone"]].concat(), "the labels of a host come with its reports");
    }
    check(&["compare", "prodd", "prod"], "there is no environment `prodd`; did you mean `prod`?");
    check(&["compare", "prod", "prodd"], "there is no environment `prodd`; did you mean `prod`?");
    check(&["compare", "prod", "prod", "--map", "ue=eu"], "there is no target `ue`");
    check(&["hub", "host", "retire", "berlni"], "`berlni` is not known; did you mean `berlin`?");
}

#[test]
fn unreachable_hub_is_reported_with_advice() {
    let hub = Hub::new();
    let url = hub.program.url().to_owned();
    drop(hub);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let asked =
        Command::new(env!("CARGO_BIN_EXE_kalypso")).args(["status", "--hub", &url]).current_dir(folder).output();
    let asked = asked.unwrap();
    assert_eq!(asked.status.code(), Some(69));
    assert!(said(&asked).contains("`kalypso hub` starts one"), "{}", said(&asked));
}
