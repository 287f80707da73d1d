//! A disk that is full, and later has space again: the disk of SQLite, and the two disks of PostgreSQL, for tables and for the log.

use std::collections::BTreeSet;
use std::process::Command;

use libtest_mimic::Trial;
use reqwest::StatusCode;

use hub::store::{Database, DatabaseUrl};
use testkit::postgres::{OnSmallDisk, PostgresServer, availability_of_small_disks};

use super::batches::{SIZE, batch, publish};
use super::process::{Answer, Process};
use super::{prepared, stored_reports};
use crate::twins::{Ground, on_postgres, on_sqlite};

/// The most bytes of a file: enough for some batches.
const ROOM: u64 = 1024 * 1024;

pub(crate) fn trials() -> Vec<Trial> {
    let is_skipped = Command::new("prlimit").arg("--version").output().is_err();
    let name = "faults::disk::full_disk_is_reported_and_used_again_when_free";
    let of_sqlite = on_sqlite(name, full_disk_is_reported_and_used_again_when_free).with_ignored_flag(is_skipped);
    let is_skipped =
        availability_of_small_disks().inspect_err(|reason| eprintln!("skipped: {name}: {reason}")).is_err();
    let of_tables = on_postgres(name, async || that_of_postgres_fills(OnSmallDisk::Tables).await);
    let name = "faults::disk::a_server_that_can_not_go_on_is_waited_for";
    let of_log = on_postgres(name, async || that_of_postgres_fills(OnSmallDisk::Log).await);
    vec![of_sqlite, of_tables.with_ignored_flag(is_skipped), of_log.with_ignored_flag(is_skipped)]
}

async fn full_disk_is_reported_and_used_again_when_free(ground: Ground) {
    prepared(&ground).await;
    let hub = Process::start_with_room(&ground.url, ROOM);
    let mut acknowledged = BTreeSet::new();
    let (mut number, mut refusals) = (0, 0);
    while refusals < 5 {
        match hub.door.send(&batch(number)).await {
            Answer::Stored => drop(acknowledged.insert(number)),
            Answer::Refused(StatusCode::SERVICE_UNAVAILABLE, why, true) if why.contains("disk") => refusals += 1,
            other => panic!("batch {number}: {other:?}"),
        }
        number += 1;
    }
    assert_eq!(stored_reports(&ground.url, SIZE).await, acknowledged);
    hub.give_room();
    for number in 0..number {
        assert_eq!(hub.door.send(&batch(number)).await, Answer::Stored);
    }
    assert_eq!(stored_reports(&ground.url, SIZE).await, (0..number).collect());
}

/// The size of the server's disk in MiB: more than an empty server needs.
const DISK: u32 = 128;
/// The space in KiB that is left on it after another file was written: enough for some batches, and in the log for some of its files, of 1 MiB each.
const LEFT: usize = 3 * 1024 + 512;

async fn that_of_postgres_fills(part: OnSmallDisk) {
    let server = PostgresServer::start_on_small_disk(part, DISK).unwrap();
    let place = server.create_database().unwrap();
    let url = DatabaseUrl::Postgres(place.url());
    let database = Database::open(&url).await.unwrap();
    publish(&database).await;
    database.close().await;
    let hub = Process::start(&url);
    server.fill_disk(LEFT).unwrap();
    let (mut acknowledged, mut refused) = (BTreeSet::new(), Vec::new());
    let mut number = 0;
    while refused.len() < 2 {
        match hub.door.send(&batch(number)).await {
            Answer::Stored => drop(acknowledged.insert(number)),
            Answer::Refused(StatusCode::SERVICE_UNAVAILABLE, why, true) => refused.push(why),
            other => panic!("batch {number}: {other:?}"),
        }
        number += 1;
    }
    assert!(acknowledged.len() > 1, "the disk was full before the first batch");
    match part {
        OnSmallDisk::Tables => {
            assert!(refused.iter().all(|why| why.contains("disk")), "{refused:?}");
            assert_eq!(stored_reports(&url, SIZE).await, acknowledged);
        }
        // The server has ended by itself.
        OnSmallDisk::Log => server.kill(),
    }
    server.free_disk().unwrap();
    if part == OnSmallDisk::Log {
        server.start().unwrap();
        let found = stored_reports(&url, SIZE).await;
        assert!(acknowledged.is_subset(&found), "lost: {:?}", acknowledged.difference(&found));
    }
    for number in 0..number {
        hub.door.insist(&batch(number)).await;
    }
    assert_eq!(stored_reports(&url, SIZE).await, (0..number).collect());
}
