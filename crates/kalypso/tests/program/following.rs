//! Tests of the hub's notifications about changes and about states that last too long.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

use crate::hub::{run, said, start};

/// The cursor before the first event.
const BEGINNING: &str = "ZXZlbnRzIDAgMCAw";

fn kalypso(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kalypso")).args(arguments).current_dir(folder).output().unwrap()
}

#[test]
fn changes_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let hub = start(folder.path());
    let url = hub.url();
    let report = ["report", "--hub", url, "--host", "berlin-1", "--reconciler", "checkout", "--status", "failure"];
    let reported = kalypso(folder.path(), &[&report[..], &["--message", "no disk"]].concat());
    assert!(reported.status.success(), "{}", said(&reported));
    let follow = |more: &[&str]| {
        let events = ["events", "--hub", url, "--after", BEGINNING, "--limit", "1"];
        kalypso(folder.path(), &[&events[..], more].concat())
    };
    let human = follow(&["--status", "failed"]);
    assert!(said(&human).contains("failed       berlin-1              -  checkout  no disk"), "{}", said(&human));
    let json = follow(&["-o", "json"]);
    let event: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&event["kind"], &event["message"]), (&"report".into(), &"no disk".into()));
    assert!(event["id"].is_string());
    assert_eq!(follow(&["-e", "prot"]).status.code(), Some(1));
}

#[test]
fn rules_are_listed_and_tried() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook?key=hush", listener.local_addr().unwrap());
    let rule = "[[hub.rule]]\nname = 'stage-failing'\nenvironment = 'stage'\ncondition = 'failed'\nabove = '5 %'\nsecret-file = 's'\n";
    std::fs::write(folder.path().join("kalypso.toml"), format!("{rule}url = '{url}'\n")).unwrap();
    std::fs::write(folder.path().join("s"), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n").unwrap();
    let listed = said(&run(folder.path(), &["rule", "list"]));
    assert!(listed.contains("stage-failing  not evaluated yet") && listed.contains("above 5 %"), "{listed}");
    let receiver = std::thread::spawn(move || {
        for status in ["204 No Content", "500 Internal Server Error"] {
            let (mut stream, _) = listener.accept().unwrap();
            let head = BufReader::new(&stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
            assert!(head.collect::<Vec<_>>().join("\n").contains("webhook-signature: v1,"));
            write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
        }
    });
    assert_eq!(said(&run(folder.path(), &["rule", "test", "stage-failing"])), "127.0.0.1 took it\n");
    let refused = run(folder.path(), &["rule", "test", "stage-failing"]);
    assert_eq!(refused.status.code(), Some(69));
    assert!(
        said(&refused).contains("127.0.0.1 answered 500") && !said(&refused).contains("hush"),
        "{}",
        said(&refused)
    );
    receiver.join().unwrap();
    let unknown = run(folder.path(), &["rule", "test", "prod"]);
    assert!(said(&unknown).contains("there is no rule `prod`") && said(&unknown).contains("stage-failing"));
}
