//! Tests of the hub's operation: tokens, a report, and an orderly stop.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use testkit::hub_program::HubProgram;

fn kalypso(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kalypso"));
    command.args(["hub"]).args(arguments).current_dir(folder).env_remove("KALYPSO_DATABASE_URL");
    command
}

pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    kalypso(folder, arguments).output().unwrap()
}

pub(crate) fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Starts a hub on a free port.
pub(crate) fn start(folder: &Path) -> HubProgram {
    HubProgram::start(&mut kalypso(folder, &["--listen", "127.0.0.1:0", "--log-format", "json"])).unwrap()
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
    let mut hub = start(folder.path());
    let answer = post(hub.address(), token.trim());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let process = nix::unistd::Pid::from_raw(hub.process().id().try_into().unwrap());
    nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(hub.process().wait().unwrap().code(), Some(0));
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

/// The output of a command that must succeed.
pub(crate) fn good(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", said(&output));
    said(&output)
}

#[test]
fn a_backup_is_restored_into_another_database() {
    let folder = tempfile::tempdir().unwrap();
    good(folder.path(), &["host", "add", "berlin-1", "--label", "site=berlin"]);
    good(folder.path(), &["backup", "hub.ndjson"]);
    let again = run(folder.path(), &["backup", "hub.ndjson"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(said(&again).contains("--force"), "{}", said(&again));
    good(folder.path(), &["backup", "hub.ndjson", "--force"]);
    good(folder.path(), &["restore", "hub.ndjson", "--database", "sqlite:other.db"]);
    let listed = good(folder.path(), &["host", "list", "--database", "sqlite:other.db", "-o", "json"]);
    assert!(listed.contains("berlin-1") && listed.contains("site"), "{listed}");
    let full = run(folder.path(), &["restore", "hub.ndjson"]);
    assert_eq!(full.status.code(), Some(1), "{}", said(&full));
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().starts_with(".tmp")), "{names:?}");
}

#[test]
fn a_backup_never_replaces_the_database_and_only_its_owner_reads_that() {
    let folder = tempfile::tempdir().unwrap();
    good(folder.path(), &["host", "add", "berlin-1"]);
    std::fs::hard_link(folder.path().join("kalypso.db"), folder.path().join("link.db")).unwrap();
    for file in ["kalypso.db", "./kalypso.db", "kalypso.db-wal", "link.db"] {
        if !folder.path().join(file).exists() {
            continue;
        }
        let refused = run(folder.path(), &["backup", file, "--force"]);
        assert_eq!(refused.status.code(), Some(1), "{file}");
        assert!(said(&refused).contains("is the database itself"), "{}", said(&refused));
    }
    assert!(good(folder.path(), &["host", "list", "-o", "json"]).contains("berlin-1"));
    good(folder.path(), &["backup", "hub.ndjson"]);
    good(folder.path(), &["restore", "hub.ndjson", "--database", "sqlite:other.db"]);
    for file in ["kalypso.db", "other.db"] {
        let mode = std::fs::metadata(folder.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[test]
fn a_database_that_others_can_read_is_warned_about() {
    let folder = tempfile::tempdir().unwrap();
    good(folder.path(), &["host", "add", "berlin-1"]);
    let file = folder.path().join("kalypso.db");
    // Without a token it may not listen on this address: it ends after it has checked the database.
    let warned = || said(&run(folder.path(), &["--listen", "0.0.0.0:0"]));
    assert!(!warned().contains("chmod"), "{}", warned());
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(warned().contains("`chmod 600 ./kalypso.db`"), "{}", warned());
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
}

#[test]
fn a_backup_that_was_cut_off_restores_nothing() {
    let folder = tempfile::tempdir().unwrap();
    good(folder.path(), &["host", "add", "berlin-1"]);
    let whole = run(folder.path(), &["backup", "-"]).stdout;
    std::fs::write(folder.path().join("half.ndjson"), &whole[..whole.len() - 10]).unwrap();
    let output = run(folder.path(), &["restore", "half.ndjson", "--database", "sqlite:other.db"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let listed = good(folder.path(), &["host", "list", "--database", "sqlite:other.db"]);
    assert!(!listed.contains("berlin-1"), "{listed}");
}

#[test]
fn tables_are_exported_as_csv_and_ndjson() {
    let folder = tempfile::tempdir().unwrap();
    good(folder.path(), &["host", "add", "=berlin"]);
    let csv = good(folder.path(), &["export", "host"]);
    assert!(csv.starts_with("id,") && csv.contains(",'=berlin,"), "{csv}");
    let ndjson = good(folder.path(), &["export", "host", "--format", "ndjson", "--since", "1h"]);
    assert!(ndjson.contains(r#""name":"=berlin""#), "{ndjson}");
    assert_eq!(good(folder.path(), &["export", "host", "--format", "ndjson", "--until", "2020-01-01"]), "");
    let wrong = run(folder.path(), &["export", "token"]);
    assert_eq!(wrong.status.code(), Some(64));
    assert!(said(&wrong).contains("deployment_assignment"), "{}", said(&wrong));
    assert_eq!(run(folder.path(), &["grant-read", "grafana"]).status.code(), Some(1));
}
