//! Tests of reports: sent to a hub, or signed and imported from a file.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::thread::JoinHandle;

use crate::hub::{good, run as hub, said, start};

const REPORT: [&str; 6] = ["--reconciler", "checkout", "--status", "success", "--commit", "v1"];

fn report(folder: &Path, (url, token): (&str, &str), arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kalypso"));
    command.arg("report").args(arguments).current_dir(folder);
    command.env("KALYPSO_HUB_URL", url).env("KALYPSO_HUB_TOKEN", token).output().unwrap()
}

/// Creates a token with these arguments.
pub(crate) fn token(folder: &Path, arguments: &[&str]) -> String {
    let output = hub(folder, &[&["token", "create"], arguments].concat());
    String::from_utf8(output.stdout).unwrap().lines().next().unwrap().to_owned()
}

/// A server that sends these answers, one on each connection, and returns the requests that it received.
fn scripted(answers: &'static [&'static str]) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (
        url,
        std::thread::spawn(move || {
            answers.iter().map(|answer| exchange(&listener.accept().unwrap().0, answer)).collect()
        }),
    )
}

fn exchange(mut stream: &TcpStream, answer: &str) -> String {
    let (mut reader, mut length) = (BufReader::new(stream), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let (head, content) = answer.split_once('|').unwrap();
    let size = content.len();
    write!(stream, "HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {size}\r\n\r\n{content}").unwrap();
    String::from_utf8(body).unwrap()
}

fn check(output: &Output, status: i32, text: &str) {
    assert_eq!(output.status.code(), Some(status), "{}", said(output));
    assert!(said(output).contains(text), "{text}: {}", said(output));
}

#[test]
fn a_report_is_sent_and_known_when_it_is_sent_again() {
    let folder = tempfile::tempdir().unwrap();
    let token = token(folder.path(), &["berlin", "--host", "berlin-1"]);
    let running = start(folder.path());
    let arguments = [&REPORT[..], &["--observed-at", "2026-11-01T00:00:00Z", "--heartbeat", "1h"]].concat();
    check(&report(folder.path(), (running.url(), &token), &arguments), 0, "1 report stored");
    check(&report(folder.path(), (running.url(), &token), &arguments), 0, "1 report repeated");
    check(&hub(folder.path(), &["host", "list"]), 0, "berlin-1  checkout");
}

#[test]
fn refused_lines_are_reported_by_number() {
    let folder = tempfile::tempdir().unwrap();
    let token = token(folder.path(), &["site", "--hosts", "berlin-*"]);
    let running = start(folder.path());
    let line = |host: usize| format!("{{\"host\":\"berlin-{host}\",\"reconciler\":\"a\",\"status\":\"success\"}}\n\n");
    let lines: String =
        (0..1_001).map(line).chain(["{\"host\":\"paris\",\"reconciler\":\"a\",\"status\":\"ok\"}".into()]).collect();
    fs::write(folder.path().join("reports.ndjson"), lines).unwrap();
    let output = report(folder.path(), (running.url(), &token), &["--file", "reports.ndjson", "-o", "json"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["stored"], 1_001);
    assert_eq!((&answer["refused"][0]["line"], &answer["refused"][0]["field"]), (&2_003.into(), &"host".into()));
}

#[test]
fn forbidden_or_invalid_reports_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let reader = token(folder.path(), &["grafana", "--role", "read"]);
    let running = start(folder.path());
    check(&report(folder.path(), (running.url(), &reader), &REPORT), 1, "not for reporting");
    check(&report(folder.path(), (running.url(), "kal_x"), &REPORT), 1, "error: ");
    let wrong = ["--reconciler", "a", "--status", "sucess"];
    check(&report(folder.path(), (running.url(), &reader), &wrong), 64, "did you mean `success`?");
}

#[test]
fn busy_hub_is_retried_after_its_delay() {
    let folder = tempfile::tempdir().unwrap();
    let (url, hub) =
        scripted(&["429 Too Many Requests\r\nretry-after: 1|{\"detail\":\"busy\"}", "200 OK|{\"stored\":1}"]);
    check(&report(folder.path(), (&url, ""), &REPORT), 0, "1 report stored");
    let sent = hub.join().unwrap();
    assert!(sent[0] == sent[1] && sent[0].contains("checkout"), "{sent:?}");
    let (url, hub) = scripted(&["429 Too Many Requests\r\nretry-after: 60|{\"detail\":\"too much waits\"}"]);
    check(&report(folder.path(), (&url, ""), &[&REPORT[..], &["--retry-for", "5s"]].concat()), 69, "too much waits");
    assert_eq!(hub.join().unwrap().len(), 1);
}

#[test]
fn a_hub_that_is_away_ends_it_with_69() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let arguments = [&REPORT[..], &["--retry-for", "0s"]].concat();
    check(&report(folder.path(), (&format!("http://{nobody}"), ""), &arguments), 69, "can't be reached");
}

/// A folder with a hub's database and a signed file of two reports, and the token that signed it.
fn carried(arguments: &[&str]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let token = token(folder.path(), arguments);
    for (status, time) in [("in_progress", "2026-11-01T00:00:00Z"), ("success", "2026-11-01T00:05:00Z")] {
        let arguments = ["--reconciler", "checkout", "--status", status, "--observed-at", time, "--out", "a.signed"];
        check(&report(folder.path(), ("http://127.0.0.1:1", &token), &arguments), 0, "signed and added");
    }
    (folder, token)
}

#[test]
fn signed_file_is_imported_once_with_its_timestamps() {
    let (folder, _) = carried(&["berlin", "--host", "berlin-1", "--signing"]);
    check(&hub(folder.path(), &["import", "a.signed"]), 0, "2 reports, signed by `berlin`");
    let deployments = good(folder.path(), &["export", "deployment", "--format", "ndjson"]);
    assert!(
        deployments.contains("2026-11-01T00:00:00.000Z") && deployments.contains("2026-11-01T00:05:00.000Z"),
        "{deployments}"
    );
    check(&hub(folder.path(), &["import", "a.signed"]), 0, "0 stored, 0 confirmed, 2 repeated, 0 refused");
    assert_eq!(good(folder.path(), &["export", "deployment", "--format", "ndjson"]), deployments);
}

#[test]
fn changed_truncated_or_foreign_signed_files_are_refused() {
    let (folder, token) = carried(&["berlin", "--host", "berlin-1", "--signing"]);
    let file = folder.path().join("a.signed");
    let whole = fs::read_to_string(&file).unwrap();
    let lines: Vec<_> = whole.lines().collect();
    for (wrong, text) in [
        (whole.replace("in_progress", "failure"), "line 2: does not match its signature"),
        (whole[..whole.len() - 40].to_owned(), "cut off"),
        (format!("{}\n", lines[..3].join("\n")), "cut off"),
        (format!("{}\n", [lines[0], lines[2], lines[1], lines[3]].join("\n")), "line 2: does not match its signature"),
    ] {
        fs::write(&file, wrong).unwrap();
        check(&hub(folder.path(), &["import", "a.signed"]), 1, text);
    }
    fs::write(&file, &whole).unwrap();
    check(
        &hub(folder.path(), &["import", "a.signed", "--database", "sqlite:other.db"]),
        1,
        "is not a token of this hub",
    );
    let other = self::token(folder.path(), &["another", "--host", "paris-1", "--signing"]);
    let arguments = [&REPORT[..], &["--out", "a.signed"]].concat();
    check(&report(folder.path(), ("", &other), &arguments), 1, "take another name");
    good(folder.path(), &["token", "revoke", "berlin"]);
    check(&hub(folder.path(), &["import", "a.signed"]), 1, "revoked");
    assert_eq!(good(folder.path(), &["export", "deployment", "--format", "ndjson"]), "");
    assert!(!whole.contains(&token));
}

#[test]
fn forbidden_reports_are_refused_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let token = token(folder.path(), &["site", "--hosts", "berlin-*", "--signing"]);
    let line = |host: &str| format!("{{\"host\":\"{host}\",\"reconciler\":\"a\",\"status\":\"success\"}}\n");
    fs::write(folder.path().join("in.ndjson"), line("berlin-1") + &line("paris-\\u001b[2J")).unwrap();
    check(&report(folder.path(), ("", &token), &["--file", "in.ndjson", "--out", "a.signed"]), 0, "2 reports signed");
    check(
        &hub(folder.path(), &["import", "a.signed"]),
        1,
        "1 stored, 0 confirmed, 0 repeated, 1 refused\n  line 3: host: `paris-[2J`",
    );
    let unsigned = self::token(folder.path(), &["plain", "--host", "rome-1"]);
    // The error is printed immediately, not when the file is imported. If the token's text is modified to hide this, the import fails.
    let arguments = [&REPORT[..], &["--out", "b.signed"]].concat();
    check(&report(folder.path(), ("", &unsigned), &arguments), 64, "this token is not for signing");
    assert!(!folder.path().join("b.signed").exists());
    check(&report(folder.path(), ("", &unsigned.replace("kal_", "kals_")), &arguments), 0, "signed");
    check(&hub(folder.path(), &["import", "b.signed"]), 1, "created without `--signing`");
}

#[test]
fn many_may_add_to_a_file_at_once() {
    let (folder, token) = carried(&["berlin", "--host", "berlin-1", "--signing"]);
    std::thread::scope(|scope| {
        for name in ["a", "b", "c", "d"] {
            let (folder, token) = (folder.path(), &token);
            let arguments = ["--reconciler", name, "--status", "success", "--out", "a.signed"];
            scope.spawn(move || check(&report(folder, ("", token), &arguments), 0, "signed"));
        }
    });
    check(&hub(folder.path(), &["import", "a.signed"]), 0, "6 reports");
}
