//! Reads of the service's API: requests per second, and how long they take.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};

use super::program::{Connection, Service};
use crate::hub::percentile;
use crate::report::Row;

/// The number of connections, each with a thread.
const CONNECTIONS: usize = 8;
/// The number of requests of each kind.
const REQUESTS: usize = 50_000;
/// A slow service gets fewer requests.
const LONGEST: Duration = Duration::from_mins(1);

/// Reads the list of the environments, and single environments.
pub(super) fn rows(service: &Service, names: &[String]) -> Result<Vec<Row>> {
    let list = |_| "/api/v1/syncs".to_owned();
    let one = |number: usize| format!("/api/v1/syncs/{}", names[number % names.len()]);
    let mut rows = measure(service, ("GET /api/v1/syncs", &list), names)?;
    rows.extend(measure(service, ("GET /api/v1/syncs/ENVIRONMENT", &one), names)?);
    Ok(rows)
}

/// The path of the request with a number.
type Path<'p> = &'p (dyn Fn(usize) -> String + Sync);

fn measure(service: &Service, (what, path): (&str, Path<'_>), names: &[String]) -> Result<Vec<Row>> {
    let (start, is_list) = (Instant::now(), path(0) == path(1));
    let reader = Reader { service, path, names, start };
    let times = thread::scope(|scope| {
        let threads: Vec<_> = (0..CONNECTIONS).map(|first| scope.spawn(move || reader.read(first))).collect();
        let ended = |thread: thread::ScopedJoinHandle<'_, Result<_>>| {
            thread.join().map_err(|_| anyhow!("a thread of the benchmark ended early"))?
        };
        threads.into_iter().map(ended).collect::<Result<Vec<_>>>()
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let bytes = service.connect()?.get(&path(0))?.body.len();
    let times = times.concat();
    let what = if is_list { format!("{what}, {} environments", names.len()) } else { what.to_owned() };
    Ok(vec![
        Row::measured(format!("{what}: requests"), times.len() as f64 / seconds, "/s").at_least(5_000.0),
        Row::measured("  half are answered within", percentile(times.clone(), 0.5), "ms"),
        Row::measured("  99 % are answered within", percentile(times, 0.99), "ms").at_most(20.0),
        Row::measured("  an answer has", bytes as f64, "bytes"),
    ])
}

/// Sends requests of one kind.
#[derive(Clone, Copy)]
struct Reader<'a> {
    service: &'a Service,
    path: Path<'a>,
    /// The names of the environments.
    names: &'a [String],
    start: Instant,
}

impl Reader<'_> {
    /// Sends every eighth request on one connection, and checks each answer. Returns how long each took.
    fn read(self, first: usize) -> Result<Vec<Duration>> {
        let Self { service, path, names, start } = self;
        let mut connection: Connection = service.connect()?;
        let mut times = Vec::with_capacity(REQUESTS / CONNECTIONS);
        for number in (first..REQUESTS).step_by(CONNECTIONS) {
            if start.elapsed() > LONGEST {
                break;
            }
            let path = path(number);
            let sent = Instant::now();
            let answer = connection.get(&path)?;
            times.push(sent.elapsed());
            // The list begins with the first environment, and the answer about one environment with its own name.
            let name = path.strip_prefix("/api/v1/syncs/").unwrap_or(&names[0]);
            let beginning = format!("{{\"environment\":\"{name}\"");
            let text = String::from_utf8_lossy(answer.body.get(..beginning.len() + 1).unwrap_or_default());
            ensure!(
                answer.status == 200 && text.contains(&beginning),
                "{path} is answered with {}: {text}",
                answer.status
            );
        }
        Ok(times)
    }
}
