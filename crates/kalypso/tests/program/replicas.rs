//! Several replicas of `kalypso serve`: with PostgreSQL one of them leads, with SQLite the second one refuses to start.

use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use testkit::postgres::{PostgresDatabase, PostgresServer, availability};

use crate::serving::{Hosted, Serving, WEBHOOK_SECRET, eventually};

/// Nothing is found by a poll, so that tests see what requests and takeovers do.
const SETTINGS: &str = "[service]\npoll = \"1h\"\nsettle = \"50ms\"\nresync = \"1h\"\n";

/// How long it may take until another replica has published what the killed one did not.
const FAILOVER: Duration = Duration::from_secs(15);

/// The command of a replica with a cache of its own.
fn replica(hosted: &Hosted, number: usize) -> Command {
    let file = format!("kalypso-{number}.toml");
    let text = std::fs::read_to_string(hosted.company.path("kalypso.toml")).unwrap();
    let text = text.replace("cache = \"cache\"", &format!("cache = \"cache-{number}\""));
    std::fs::write(hosted.company.path(&file), text).unwrap();
    hosted.command(&format!("serve --config {file} --listen 127.0.0.1:0"))
}

fn start(hosted: &Hosted, number: usize, database: &PostgresDatabase) -> Serving {
    Serving::start_command(replica(hosted, number).env("KALYPSO_DATABASE_URL", database.url()))
}

/// Changes a value that all assignments have.
fn change(hosted: &Hosted, value: &str) {
    let path = "configs/common.yaml";
    let text = testkit::objects::config("common", "", &format!("DATABASE: mysql://main/a\nLOG_LEVEL: {value}"));
    hosted.company.change("control-plane@dev", path, &text);
}

fn is_proposed(hosted: &Hosted, value: &str) -> Option<()> {
    hosted.company.head("gitops", "kalypso/dev")?;
    let repository = hosted.company.repository("gitops");
    let found = crate::company::git(&repository, &["grep", "-h", "LOG_LEVEL", "kalypso/dev"]);
    found.contains(value).then_some(())
}

/// The replica that leads, by its port, as a replica shows it.
fn leader(serving: &Serving) -> Option<String> {
    Some(serving.environment()["leader"].as_str()?.rsplit(':').next()?.to_owned())
}

fn port(serving: &Serving) -> Option<String> {
    serving.program.address().rsplit(':').next().map(str::to_owned)
}

#[test]
fn another_replica_takes_over_and_passes_requests_on() {
    if let Err(reason) = availability() {
        println!("skipped: {reason}");
        return;
    }
    let server = PostgresServer::start_private(&[]).unwrap();
    let database = server.create_database().unwrap();
    let hosted = Hosted::new(SETTINGS);
    let mut first = start(&hosted, 1, &database);
    let second = start(&hosted, 2, &database);
    assert_eq!((leader(&first), leader(&second)), (port(&first), port(&first)));
    eventually("the state", || (second.environment()["last"]["reason"] == "start").then_some(()));

    change(&hosted, "warn");
    assert!(second.request("POST /api/v1/sync", &[], "").starts_with("HTTP/1.1 202"));
    eventually("the sync by the leader", || is_proposed(&hosted, "warn"));
    eventually("the new state", || (second.environment()["last"]["reason"] == "api").then_some(()));
    change(&hosted, "error");
    let sent = second.push_event("control-plane", "dev", WEBHOOK_SECRET);
    assert!(sent.starts_with("HTTP/1.1 202") && sent.contains("\"dev\""), "{sent}");
    eventually("the sync by the leader", || is_proposed(&hosted, "error"));
    assert!(!second.log().contains("synced"), "{}", second.log());

    first.program.process().kill().unwrap();
    let killed = Instant::now();
    change(&hosted, "trace");
    eventually("the sync by the other replica", || is_proposed(&hosted, "trace"));
    let took = killed.elapsed();
    println!("published {took:.1?} after kill -9");
    assert!(took < FAILOVER, "{took:?}");
    first.program.process().wait().unwrap();
    assert_eq!(leader(&second), port(&second));

    let third = start(&hosted, 1, &database);
    assert_eq!(leader(&third), port(&second));
    hands_over((&hosted, second), &third);
    assert_eq!(hosted.pull_requests().len(), 1);
}

/// A replica that stops in order gives its leases up at once.
fn hands_over((hosted, mut stopped): (&Hosted, Serving), next: &Serving) {
    change(hosted, "fatal");
    let start = Instant::now();
    stopped.signal(Signal::SIGTERM);
    eventually("the sync by the next replica", || is_proposed(hosted, "fatal"));
    let took = start.elapsed();
    println!("published {took:.1?} after SIGTERM");
    assert!(took < FAILOVER / 2, "it waited for the end of the lease: {took:?}");
    assert_eq!(stopped.program.process().wait().unwrap().code(), Some(0));
    assert_eq!(leader(next), port(next));
    let metrics = next.request("GET /metrics", &[], "");
    assert!(metrics.contains("kalypso_environment_leading{environment=\"dev\"} 1"), "{metrics}");
}

#[test]
fn a_leader_without_its_database_stops_writing() {
    if let Err(reason) = availability() {
        println!("skipped: {reason}");
        return;
    }
    let server = PostgresServer::start_private(&[]).unwrap();
    let database = server.create_database().unwrap();
    let hosted = Hosted::new(&SETTINGS.replace("poll = \"1h\"", "poll = \"1s\""));
    let leader = start(&hosted, 1, &database);
    server.kill();
    leader.says("it is not known which replica leads");
    change(&hosted, "warn");
    // The poll finds the change after one second.
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(is_proposed(&hosted, "warn"), None);
    server.start().unwrap();
    eventually("the next sync", || is_proposed(&hosted, "warn"));
}

#[test]
fn a_second_replica_with_sqlite_refuses_to_start() {
    let hosted = Hosted::new(SETTINGS);
    let _first = Serving::start_command(&mut replica(&hosted, 1));
    let refused = crate::company::Ran::new(&mut replica(&hosted, 2));
    refused.ends(1).says(&["uses the database", "kalypso.db", "PostgreSQL"]);
    let refused = hosted.kalypso("hub run --config kalypso-2.toml --listen 127.0.0.1:0");
    refused.ends(1).says(&["uses the database"]);
}
