//! The maximum number of event streams while reports arrive: each stream gets each change once and in order, and a slow client delays no other.

use std::collections::BTreeMap;
use std::time::Duration;

use hub::limits::EVENT_STREAMS_MAX;
use hub_api::report::Report;
use reqwest::Response;
use tokio::task::JoinSet;

use super::batches::{SIZE, batch, publish, stored};
use super::process::{Answer, Process};
use crate::twins::Ground;

twins![every_stream_gets_every_change_once_and_in_order, slow_stream_readers_delay_no_other_and_miss_nothing,];

/// The number of batches that arrive.
const BATCHES: usize = 5;
/// The longest silence of a stream that has not got all changes.
const PATIENCE: Duration = Duration::from_mins(1);

/// The changes of a stream: their ids, and how often each message was reported.
#[derive(Debug, Default, PartialEq, Eq)]
struct Received {
    ids: Vec<String>,
    messages: Vec<String>,
}

/// Reads until this number of changes has arrived.
async fn read(mut stream: Response, count: usize) -> Received {
    let (mut received, mut text) = (Received::default(), String::new());
    while received.messages.len() < count {
        let chunk = tokio::time::timeout(PATIENCE, stream.chunk())
            .await
            .unwrap_or_else(|_| panic!("the stream is silent"))
            .unwrap();
        text.push_str(std::str::from_utf8(&chunk.unwrap_or_else(|| panic!("the stream has ended"))).unwrap());
        while let Some((event, rest)) = text.split_once("\n\n") {
            let lines = event.lines().filter_map(|line| line.split_once(": "));
            let fields: BTreeMap<_, _> = lines.collect();
            if let (Some(data), Some(id)) = (fields.get("data"), fields.get("id")) {
                let change: serde_json::Value = serde_json::from_str(data).unwrap();
                let word = |name: &str| change[name].as_str().unwrap().to_owned();
                received.messages.push(format!("{} {} {}", word("message"), word("host"), word("reconciler")));
                received.ids.push((*id).to_owned());
            }
            text = rest.to_owned();
        }
    }
    received
}

async fn every_stream_gets_every_change_once_and_in_order(ground: Ground) {
    publish(&ground.database).await;
    let hub = Process::start(&ground.url);
    let mut streams = JoinSet::new();
    for _ in 0..EVENT_STREAMS_MAX {
        let stream = hub.door.follow("").await;
        streams.spawn(read(stream, BATCHES * SIZE));
    }
    let mut senders = JoinSet::new();
    for number in 0..BATCHES {
        let door = hub.door.clone();
        senders.spawn(async move { assert_eq!(door.send(&batch(number)).await, Answer::Stored) });
    }
    while let Some(sent) = senders.join_next().await {
        sent.unwrap();
    }
    assert_eq!(stored(&ground.database, SIZE).await, (0..BATCHES).collect());
    let mut all = streams.join_all().await;
    let one = all.pop().unwrap();
    let mut messages = one.messages.clone();
    messages.sort();
    messages.dedup();
    assert_eq!(messages.len(), BATCHES * SIZE, "some reports arrived twice, others not at all");
    assert!(all.iter().all(|other| *other == one), "streams differ");
    // A stream that begins in the middle gets the changes after its position.
    let middle = one.ids.len() / 3;
    let rest = read(hub.door.follow(&one.ids[middle]).await, one.ids.len() - middle - 1).await;
    assert_eq!(rest.ids, one.ids[middle + 1..]);
}

async fn slow_stream_readers_delay_no_other_and_miss_nothing(ground: Ground) {
    // Far more than the system buffers for a connection.
    const MANY: usize = 60;
    let numbered = |number: usize| {
        let padded = |report: Report| Report { message: format!("{:.<4000}", report.message), ..report };
        batch(number).into_iter().map(padded).collect::<Vec<_>>()
    };
    publish(&ground.database).await;
    let hub = Process::start(&ground.url);
    let mut slow = Vec::new();
    for _ in 0..8 {
        slow.push(hub.door.follow("").await);
    }
    let before = hub.peak_mebibytes();
    let reader = tokio::spawn(read(hub.door.follow("").await, MANY * SIZE));
    for number in 0..MANY {
        assert_eq!(hub.door.send(&numbered(number)).await, Answer::Stored);
    }
    // The other streams have not read yet, and this one is at the end.
    let received = reader.await.unwrap();
    if let (Some(before), Some(after)) = (before, hub.peak_mebibytes()) {
        assert!(after < before + 150, "{before} MiB became {after} MiB");
    }
    for stream in slow {
        assert_eq!(read(stream, received.ids.len()).await, received);
    }
}
