//! An acknowledged report is stored exactly once, whatever fails: the hub, its database, its disk, or the client's connection.

mod batches;
pub(crate) mod disk;
mod process;
pub(crate) mod streams;

use std::collections::BTreeSet;

use hub::limits::QUEUE_REPORTS_MAX;
use hub::store::{Database, DatabaseUrl, Dialect};
use reqwest::StatusCode;
use testkit::postgres::PostgresServer;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};

use self::batches::{SIZE, batch, of_size, publish, publish_commits, stored};
use self::process::{Answer, Door};
use crate::twins::Ground;

pub(crate) use self::batches::check_consistent;
pub(crate) use self::process::{Process, SERVE, serve};

twins![
    acknowledged_reports_survive_a_kill,
    two_replicas_take_the_same_batches_at_once,
    a_storm_is_turned_away_and_nothing_acknowledged_is_lost;
    hub_recovers_from_a_database_outage,
];

/// The number of concurrent senders.
const SENDERS: usize = 4;

/// Publishes the desired state. Then only hubs have the database open.
async fn prepared(ground: &Ground) {
    publish(&ground.database).await;
    ground.database.close().await;
}

/// The batches that a new process finds.
async fn stored_reports(url: &DatabaseUrl, size: usize) -> BTreeSet<usize> {
    let database = Database::open(url).await.unwrap();
    let stored = stored(&database, size).await;
    check_consistent(&database).await;
    database.close().await;
    stored
}

async fn acknowledged_reports_survive_a_kill(ground: Ground) {
    const ROUNDS: usize = 5;
    const BATCHES: usize = 24;
    prepared(&ground).await;
    let mut acknowledged = BTreeSet::new();
    for round in 0..ROUNDS {
        let mut hub = Process::start(&ground.url);
        let (tell, mut answers) = mpsc::unbounded_channel();
        let mut senders = JoinSet::new();
        for sender in 0..SENDERS {
            let (door, tell) = (hub.door.clone(), tell.clone());
            senders.spawn(async move {
                for number in (round * BATCHES + sender..(round + 1) * BATCHES).step_by(SENDERS) {
                    if door.send(&batch(number)).await == Answer::Stored {
                        tell.send(number).unwrap();
                    }
                }
            });
        }
        drop(tell);
        for _ in 0..=round {
            acknowledged.extend(answers.recv().await);
        }
        hub.kill();
        senders.join_all().await;
        while let Some(number) = answers.recv().await {
            acknowledged.insert(number);
        }
        let found = stored_reports(&ground.url, SIZE).await;
        assert!(acknowledged.is_subset(&found), "lost: {:?}", acknowledged.difference(&found));
        assert!(acknowledged.len() < (round + 1) * BATCHES, "the kill came after all batches");
    }
    let hub = Process::start(&ground.url);
    for number in 0..ROUNDS * BATCHES {
        if !acknowledged.contains(&number) {
            hub.door.insist(&batch(number)).await;
        }
    }
    assert_eq!(stored_reports(&ground.url, SIZE).await, (0..ROUNDS * BATCHES).collect());
}

async fn two_replicas_take_the_same_batches_at_once(ground: Ground) {
    const BATCHES: usize = 40;
    publish(&ground.database).await;
    let replicas = [Process::start(&ground.url), Process::start(&ground.url)];
    let mut senders = JoinSet::new();
    for sender in 0..SENDERS {
        let door = replicas[sender % 2].door.clone();
        senders.spawn(async move {
            for step in 0..BATCHES {
                // Each sender sends all batches, in an order of its own.
                let number = (step * [1, 7, 11, 39][sender] + sender * 13) % BATCHES;
                let mut reports = batch(number);
                reports.rotate_left(sender * 9);
                assert_eq!(door.send(&reports).await, Answer::Stored, "batch {number}");
            }
        });
    }
    // Publications come at the same time.
    publish_commits(&ground.database, 5..=10).await;
    while let Some(sent) = senders.join_next().await {
        sent.unwrap();
    }
    assert_eq!(stored_reports(&ground.url, SIZE).await, (0..BATCHES).collect());
}

/// Sends batches one after the other, each until it is stored. The receiver gets the stored batches, and the other answers.
fn send_for_ever(door: &Door) -> (JoinHandle<()>, mpsc::UnboundedReceiver<(usize, Answer)>) {
    let (tell, answers) = mpsc::unbounded_channel();
    let door = door.clone();
    let sender = tokio::spawn(async move {
        let mut number = 0;
        loop {
            let answer = door.send(&batch(number)).await;
            let step = usize::from(answer == Answer::Stored);
            if tell.send((number, answer)).is_err() {
                return;
            }
            number += step;
        }
    });
    (sender, answers)
}

async fn hub_recovers_from_a_database_outage() {
    let server = PostgresServer::start_private(&[]).unwrap();
    let place = server.create_database().unwrap();
    let url = DatabaseUrl::Postgres(place.url());
    let database = Database::open(&url).await.unwrap();
    publish(&database).await;
    database.close().await;
    let hub = Process::start(&url);
    let (sender, mut answers) = send_for_ever(&hub.door);
    let mut acknowledged = BTreeSet::new();
    for _ in 0..2 {
        let last = acknowledged.len() + 10;
        while acknowledged.len() < last {
            if let (number, Answer::Stored) = answers.recv().await.unwrap() {
                acknowledged.insert(number);
            }
        }
        server.kill();
        loop {
            match answers.recv().await.unwrap() {
                (number, Answer::Stored) => drop(acknowledged.insert(number)),
                (_, Answer::Refused(StatusCode::SERVICE_UNAVAILABLE, _, true)) => break,
                (number, other) => panic!("batch {number}: {other:?}"),
            }
        }
        assert_eq!(hub.door.get("/readyz").await, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(hub.door.get("/healthz").await, StatusCode::OK);
        server.start().unwrap();
        let found = stored_reports(&url, SIZE).await;
        assert!(acknowledged.is_subset(&found), "lost: {:?}", acknowledged.difference(&found));
    }
    let last = acknowledged.len() + 10;
    while acknowledged.len() < last {
        if let (number, Answer::Stored) = answers.recv().await.unwrap() {
            acknowledged.insert(number);
        }
    }
    assert_eq!(hub.door.get("/readyz").await, StatusCode::OK);
    sender.abort();
    assert!(acknowledged.is_subset(&stored_reports(&url, SIZE).await));
}

async fn a_storm_is_turned_away_and_nothing_acknowledged_is_lost(ground: Ground) {
    const REPORTS: usize = 1_000;
    const FIT: usize = QUEUE_REPORTS_MAX / REPORTS;
    const BATCHES: usize = FIT + 3;
    publish(&ground.database).await;
    let hub = Process::start(&ground.url);
    // For a while, nothing can be stored.
    let mut lock = ground.database.begin().await.unwrap();
    if lock.dialect() == Dialect::Postgres {
        lock.run("lock table reconciler_state in exclusive mode").await.unwrap();
    }
    let (tell, mut answers) = mpsc::unbounded_channel();
    for number in 0..BATCHES {
        let (door, tell) = (hub.door.clone(), tell.clone());
        tokio::spawn(async move { tell.send((number, door.send(&of_size(number, REPORTS)).await)) });
    }
    drop(tell);
    let mut turned_away = BTreeSet::new();
    while turned_away.len() < BATCHES - FIT {
        let (number, answer) = answers.recv().await.unwrap();
        let Answer::Refused(StatusCode::TOO_MANY_REQUESTS, _, true) = answer else {
            panic!("batch {number}: {answer:?}")
        };
        turned_away.insert(number);
    }
    lock.commit().await.unwrap();
    while let Some((number, answer)) = answers.recv().await {
        assert_eq!(answer, Answer::Stored, "batch {number}");
    }
    let all: BTreeSet<usize> = (0..BATCHES).collect();
    assert_eq!(stored_reports(&ground.url, REPORTS).await, &all - &turned_away);
    for number in turned_away {
        hub.door.insist(&of_size(number, REPORTS)).await;
    }
    assert_eq!(stored_reports(&ground.url, REPORTS).await, all);
    if let Some(peak) = hub.peak_mebibytes() {
        assert!(peak < 500, "{peak} MiB");
    }
}
