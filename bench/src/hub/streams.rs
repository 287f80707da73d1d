//! Measures streams of events while reports are sent as fast as the hub accepts them.

use std::time::{Duration, Instant};

use ::hub::questions::{self, FeedPosition};
use ::hub::store::Database;
use anyhow::{Context as _, Result, ensure};
use reqwest::{Client, Response};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::client;
use super::fleet::{self, Size};
use super::server::Hub;
use crate::report::Row;

/// The number of streams: as many as the hub allows.
const STREAMS: usize = ::hub::limits::EVENT_STREAMS_MAX;
/// How long reports are sent, with and without streams.
const COMPARED: Duration = Duration::from_secs(20);

/// How long streams can take to reach the end.
const TIMEOUT: Duration = Duration::from_mins(2);

/// Measures on an empty database.
pub(crate) async fn run(name: &str, url: &str, size: Size) -> Result<Vec<Row>> {
    fleet::fill(url, size).await?;
    let hub = Hub::start(url)?;
    let database = Database::open(&url.parse()?).await?;
    let alone = client::batches(&hub, size, COMPARED).await?;
    let of_one = |number: usize| format!("?host=host-{}", 1 + number as i64 % size.hosts);
    let hosts = measure(&hub, size, (Some(&database), of_one)).await?;
    let all = measure(&hub, size, (None, |_| String::new())).await?;
    let memory = hub.stop()?;
    database.close().await;
    let share = |rate: f64| 100.0 * rate / alone;
    Ok(vec![
        Row::measured(format!("{name}: reports in batches of 500, without subscribers"), alone, "/s"),
        Row::measured(format!("  of that, while {STREAMS} streams follow one host each"), share(hosts.rate), "%"),
        Row::measured("  changes that came twice, or not in order", hosts.wrong as f64, "").exactly(0.0),
        Row::measured("  after the last report, the last stream is at the end within", hosts.lag_s, "s"),
        Row::measured(format!("  of that, while {STREAMS} streams follow everything"), share(all.rate), "%"),
        Row::measured("  changes that came on all streams together", all.changes_per_second, "/s"),
        Row::measured("  changes that came twice, or not in order", all.wrong as f64, "").exactly(0.0),
        Row::measured("  memory", memory, "MiB").at_most(500.0),
    ])
}

/// The measurements of the streams.
struct Measured {
    rate: f64,
    wrong: usize,
    changes_per_second: f64,
    lag_s: f64,
}

/// Reads streams while reports are sent. If there is a database to read the end position from, reads the streams up to that position.
async fn measure(
    hub: &Hub,
    size: Size,
    (database, query): (Option<&Database>, impl Fn(usize) -> String),
) -> Result<Measured> {
    let client = Client::new();
    let (end, is_over) = watch::channel(None);
    let mut streams = JoinSet::new();
    for number in 0..STREAMS {
        let response = client.get(format!("{}/api/v1/events{}", hub.url, query(number))).send().await?;
        streams.spawn(Stream::new(response.error_for_status()?).read(is_over.clone()));
    }
    let start = Instant::now();
    let rate = client::batches(hub, size, COMPARED).await?;
    let seconds = start.elapsed().as_secs_f64();
    end.send(Some(match database {
        Some(database) => questions::settled(database).await?,
        None => FeedPosition::default(),
    }))?;
    let over = Instant::now();
    let (mut wrong, mut changes) = (0, 0);
    while let Some(stream) = streams.join_next().await {
        let stream = stream??;
        wrong += stream.wrong;
        changes += stream.changes;
    }
    let lag_s = over.elapsed().as_secs_f64();
    Ok(Measured { rate, wrong, changes_per_second: changes as f64 / seconds, lag_s })
}

/// A stream, and the events that it received.
struct Stream {
    response: Response,
    text: String,
    position: FeedPosition,
    changes: usize,
    /// The number of changes whose position is not after the one before.
    wrong: usize,
}

impl Stream {
    fn new(response: Response) -> Self {
        Self { response, text: String::new(), position: FeedPosition::default(), changes: 0, wrong: 0 }
    }

    /// Reads until `end` has the end position, and then up to that position.
    async fn read(mut self, mut end: watch::Receiver<Option<FeedPosition>>) -> Result<Self> {
        let mut deadline = None;
        loop {
            let end_position = *end.borrow_and_update();
            if let Some(end) = end_position {
                let deadline = *deadline.get_or_insert_with(|| Instant::now() + TIMEOUT);
                ensure!(Instant::now() < deadline, "a stream does not come to its end");
                if self.position.has_reached(&end) {
                    return Ok(self);
                }
            }
            tokio::select! {
                chunk = self.response.chunk() => self.take(&chunk?.context("a stream has ended")?)?,
                changed = end.changed(), if end_position.is_none() => changed?,
            }
        }
    }

    fn take(&mut self, chunk: &[u8]) -> Result<()> {
        self.text.push_str(std::str::from_utf8(chunk)?);
        let whole = self.text.rfind("\n\n").map_or(0, |end| end + 2);
        for event in self.text.drain(..whole).collect::<String>().split("\n\n") {
            let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
            let Some(id) = field("id: ") else { continue };
            let position: FeedPosition = id.parse()?;
            if field("data: ").is_some() {
                self.changes += 1;
                self.wrong += usize::from(position == self.position || !position.has_reached(&self.position));
            }
            self.position = position;
        }
        Ok(())
    }
}
