//! Tests of a hub that reads its rules again while it runs.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use testkit::hub_program::HubProgram;

use crate::hub::start;

/// A configuration with rules of these names.
fn configure(folder: &Path, names: &[&str]) {
    let rule = |name: &&str| {
        format!(
            "[[hub.rule]]\nname = \"{name}\"\ncondition = \"failed\"\nabove = 0\nformat = \"slack\"\nurl = \"http://127.0.0.1:1/\"\n"
        )
    };
    fs::write(folder.join("kalypso.toml"), names.iter().map(rule).collect::<String>()).unwrap();
}

fn get(hub: &HubProgram, path: &str) -> String {
    let mut stream = TcpStream::connect(hub.address()).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", hub.address()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Waits until an answer contains a text.
fn wait(hub: &HubProgram, path: &str, text: &str) -> String {
    let started = Instant::now();
    loop {
        let answer = get(hub, path);
        if answer.contains(text) {
            return answer;
        }
        assert!(started.elapsed() < Duration::from_mins(1), "{text} is not in {answer}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn hang_up(hub: &mut HubProgram) {
    kill(Pid::from_raw(hub.process().id().try_into().unwrap()), Signal::SIGHUP).unwrap();
}

const GOOD: &str = "kalypso_hub_configuration_last_reload_successful 1";
const BROKEN: &str = "kalypso_hub_configuration_last_reload_successful 0";

#[test]
fn rules_are_reloaded_and_a_broken_file_keeps_the_old_ones() {
    let folder = tempfile::tempdir().unwrap();
    configure(folder.path(), &["one"]);
    let mut hub = start(folder.path());
    wait(&hub, "/api/v1/rules", "\"one\"");
    configure(folder.path(), &["two"]);
    hang_up(&mut hub);
    assert!(!wait(&hub, "/api/v1/rules", "\"two\"").contains("\"one\""));
    fs::write(folder.path().join("kalypso.toml"), "[[hub.rule]]\nname = \"three\"\n").unwrap();
    hang_up(&mut hub);
    wait(&hub, "/metrics", BROKEN);
    assert!(get(&hub, "/api/v1/rules").contains("\"two\""));
    // A change of the file is detected without a signal.
    configure(folder.path(), &["four", "five"]);
    wait(&hub, "/api/v1/rules", "\"five\"");
    wait(&hub, "/metrics", GOOD);
}
