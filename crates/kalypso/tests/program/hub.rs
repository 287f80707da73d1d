//! The hub as its owner runs it: tokens, a report, an orderly end.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

fn kalypso(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kalypso"));
    command.args(["hub"]).args(arguments).current_dir(folder).env_remove("KALYPSO_DATABASE_URL");
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    kalypso(folder, arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Starts a hub, and waits until it says where it listens.
fn start(folder: &Path) -> (Child, String) {
    let mut hub = kalypso(folder, &["--listen", "127.0.0.1:0", "--log-format", "json"]);
    let mut hub = hub.stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(hub.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    let address = line["message"].as_str().unwrap().strip_prefix("listening on http://").unwrap().to_owned();
    (hub, address)
}

fn post(address: &str, token: &str) -> String {
    let body = r#"{"reconciler": "checkout", "status": "success", "message": "applied"}"#;
    let length = body.len();
    let head = format!(
        "POST /api/v1/reports HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nauthorization: Bearer {token}\r\n"
    );
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_host_reports_and_is_listed_and_the_hub_stops_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let created = run(folder.path(), &["token", "create", "berlin", "--host", "berlin-1"]);
    let token = String::from_utf8(created.stdout).unwrap();
    let (mut hub, address) = start(folder.path());
    let answer = post(&address, token.trim());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let process = nix::unistd::Pid::from_raw(hub.id().try_into().unwrap());
    nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(hub.wait().unwrap().code(), Some(0));
    let listed = said(&run(folder.path(), &["host", "list"]));
    assert!(listed.contains("berlin-1  checkout"), "{listed}");
    let listed = said(&run(folder.path(), &["token", "list"]));
    assert!(
        listed.contains("host berlin-1") && !listed.contains("never") && !listed.contains(token.trim()),
        "{listed}"
    );
}

#[test]
fn a_password_in_an_argument_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["--database", "postgres://hub:secret@db/hub"]);
    assert_eq!(output.status.code(), Some(64));
    assert!(said(&output).contains("KALYPSO_DATABASE_URL") && !said(&output).contains("secret"), "{}", said(&output));
}

#[test]
fn a_hub_without_tokens_listens_to_its_own_machine_only() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["run", "--listen", "0.0.0.0:0"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("kalypso hub token create"), "{}", said(&output));
}
