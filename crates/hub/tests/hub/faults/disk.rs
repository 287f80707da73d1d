//! A disk that fills, and has room again. It is SQLite's: that of PostgreSQL is the business of its server.

use std::collections::BTreeSet;
use std::process::Command;

use libtest_mimic::Trial;
use reqwest::StatusCode;

use super::batches::{SIZE, batch};
use super::process::{Answer, Process};
use super::{look, prepared};
use crate::twins::{Ground, on_sqlite};

/// Bytes that a file may have: room for some batches.
const ROOM: u64 = 1024 * 1024;

pub(crate) fn trials() -> Vec<Trial> {
    let is_skipped = Command::new("prlimit").arg("--version").output().is_err();
    let name = "faults::disk::a_full_one_is_told_of_and_used_again";
    vec![on_sqlite(name, a_full_one_is_told_of_and_used_again).with_ignored_flag(is_skipped)]
}

async fn a_full_one_is_told_of_and_used_again(ground: Ground) {
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
    assert_eq!(look(&ground.url, SIZE).await, acknowledged);
    hub.give_room();
    for number in 0..number {
        assert_eq!(hub.door.send(&batch(number)).await, Answer::Stored);
    }
    assert_eq!(look(&ground.url, SIZE).await, (0..number).collect());
}
