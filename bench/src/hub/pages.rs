//! The pages of a hub with a large fleet: their time, their size, and what open pages cost.

use std::time::{Duration, Instant};
use std::{env, fs};

use anyhow::{Context as _, Result, ensure};
use browser_tests::{Browser, Viewport};
use reqwest::{Client, Response, header};

use super::client::percentile;
use super::fleet::{self, Size};
use super::server::Hub;
use super::{STARTED, client};
use crate::report::Row;

/// How often each page is read.
const REPEATS: i64 = 40;

/// The number of pages that are open at the same time.
const OPEN: usize = 500;

/// How long open pages are watched while nothing happens.
const IDLE: Duration = Duration::from_secs(20);

/// How long reports are sent while an open page receives them.
const SENT: Duration = Duration::from_secs(10);

/// The path of a page. It depends on the number of the request, so that the pages differ where possible.
type Path = fn(i64, Size) -> String;

/// The pages, each with its name.
const PAGES: [(&str, Path); 20] = [
    ("overview", |_, _| String::new()),
    ("overview, as recorded", |_, _| format!("?at={LATEST}")),
    ("environment, workloads by cluster types", |_, _| "environments/prod".to_owned()),
    ("environment, targets by states", |_, _| "environments/prod?rows=target&columns=state".to_owned()),
    ("environment, one workload", |number, _| {
        format!("environments/prod?workload=workload-{}&rows=target", number % 20)
    }),
    ("environment, workloads by regions of hosts", |_, _| "environments/prod?columns=hostLabel:region".to_owned()),
    ("environment, as recorded", |_, _| format!("environments/prod?at={LATEST}")),
    ("workload", |number, _| format!("workloads/workload-{}?workspace=team-{}", number % 20, number % 5)),
    ("cluster type", |number, _| format!("places/type-{}?environment=prod", number % 300)),
    ("targets of an environment", |_, _| "environments/prod/targets".to_owned()),
    ("hosts", |_, _| "deployments".to_owned()),
    ("hosts that failed", |_, _| "deployments?status=failed&environment=prod".to_owned()),
    ("host", |number, size| format!("hosts/host-{}", 1 + (number * 7_919) % size.hosts)),
    ("rollouts", |_, _| "rollouts".to_owned()),
    ("rollout of a commit", |number, _| format!("rollouts/{}", fleet::commit(1 + number % 4))),
    ("drift", |_, _| "drift".to_owned()),
    ("drift, as recorded", |_, _| format!("drift?at={LATEST}")),
    ("history", |_, _| "history".to_owned()),
    ("comparison of two environments", |_, _| "compare?from=stage&to=prod".to_owned()),
    ("search", |number, size| format!("search?q=host-{}", 1 + (number * 7_919) % size.hosts)),
];

/// A time after all records of counts: pages at this time show the latest one.
const LATEST: &str = "2100-01-01T00:00:00Z";

/// What was measured of a page.
struct PageFigures {
    p95_ms: f64,
    /// The largest answer, compressed, in bytes.
    bytes: usize,
    /// The largest number of elements.
    elements: usize,
}

/// Measures on an empty database.
pub(crate) async fn run(name: &str, url: &str, size: Size) -> Result<Vec<Row>> {
    fleet::fill(url, size).await?;
    let hub = Hub::start(url)?;
    // After its start, the hub first reads all hosts.
    tokio::time::sleep(STARTED).await;
    let client = Client::new();
    let mut rows = Vec::new();
    let (mut bytes, mut elements) = (0, 0);
    for (what, path) in PAGES {
        let page = measure(&client, &hub, (path, size)).await.with_context(|| what.to_owned())?;
        rows.push(Row::measured(format!("{name}, {} hosts: {what}", size.hosts), page.p95_ms, "ms").at_most(150.0));
        (bytes, elements) = (bytes.max(page.bytes), elements.max(page.elements));
    }
    rows.push(Row::measured("  the largest page, compressed", bytes as f64 / 1000.0, "kB").at_most(150.0));
    rows.push(Row::measured("  elements of the page with the most", elements as f64, "").at_most(3000.0));
    rows.extend(in_browser(&hub).await?);
    rows.extend(open(&client, &hub, size).await?);
    rows.push(Row::measured("  memory", hub.stop()?, "MiB").at_most(500.0));
    Ok(rows)
}

async fn measure(client: &Client, hub: &Hub, (path, size): (Path, Size)) -> Result<PageFigures> {
    let mut times = Vec::new();
    let (mut bytes, mut elements) = (0, 0);
    for number in 0..REPEATS {
        let url = format!("{}/{}", hub.url, path(number, size));
        let start = Instant::now();
        let html = get(client, &url, None).await?.bytes().await?;
        times.push(start.elapsed());
        // What browsers get is compressed.
        if number % 8 == 0 {
            bytes = bytes.max(get(client, &url, Some("gzip")).await?.bytes().await?.len());
            elements =
                elements.max(html.windows(2).filter(|pair| pair[0] == b'<' && pair[1].is_ascii_lowercase()).count());
        }
    }
    Ok(PageFigures { p95_ms: percentile(times, 0.95), bytes, elements })
}

async fn get(client: &Client, url: &str, encoding: Option<&str>) -> Result<Response> {
    let request = client.get(url).header(header::ACCEPT, "text/html");
    let request = encoding.into_iter().fold(request, |request, one| request.header(header::ACCEPT_ENCODING, one));
    let response = request.send().await?;
    let status = response.status();
    ensure!(status.is_success(), "{url}: {status} {}", response.text().await?);
    Ok(response)
}

/// What a person with a browser waits for.
async fn in_browser(hub: &Hub) -> Result<Vec<Row>> {
    let path = env::var_os("PATH").unwrap_or_default();
    if let Err(reason) = browser_tests::availability(&path) {
        return Ok(vec![Row::skipped("  a page in Chromium", "ms", reason)]);
    }
    let browser = Browser::start(&path).await?;
    browser.resize(Viewport::LAPTOP).await?;
    let (mut interactive, mut pressed) = (Vec::new(), Vec::new());
    for path in ["", "environments/prod", "deployments", "history"] {
        for _ in 0..5 {
            browser.driver.goto(format!("{}/{path}", hub.url)).await?;
            browser.wait_for("document.querySelector('#live').textContent !== ''").await?;
            interactive
                .push(milliseconds(&browser, "performance.getEntriesByType('navigation')[0].domComplete").await?);
            pressed.push(milliseconds(&browser, PRESS).await?);
        }
    }
    let script = "performance.getEntriesByType('resource').filter(one => one.name.endsWith('.js'))\
        .reduce((sum, one) => sum + one.encodedBodySize, 0)";
    let scripts = browser.value(script).await?.as_f64().unwrap_or_default();
    Ok(vec![
        Row::measured("  a page in Chromium is complete within", percentile(interactive, 0.95), "ms").at_most(1000.0),
        Row::measured("  a key press is answered within", percentile(pressed, 0.95), "ms").at_most(100.0),
        Row::measured("  scripts, compressed", scripts / 1000.0, "kB").at_most(25.0),
    ])
}

/// The time from a key press to the focus on the next row.
const PRESS: &str = "(() => { const start = performance.now(); \
    document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'j', bubbles: true})); \
    document.activeElement.getBoundingClientRect(); return performance.now() - start; })()";

async fn milliseconds(browser: &Browser, expression: &str) -> Result<Duration> {
    let found = browser.value(expression).await?.as_f64().context("the browser measures nothing")?;
    Ok(Duration::from_secs_f64(found / 1000.0))
}

/// What open pages cost while nothing happens, and when one learns of a change.
async fn open(client: &Client, hub: &Hub, size: Size) -> Result<Vec<Row>> {
    let mut streams = Vec::new();
    let url = format!("{}/api/v1/events", hub.url);
    for _ in 0..OPEN {
        streams.push(client.get(&url).send().await?.error_for_status()?);
    }
    let before = processor_time(hub)?;
    tokio::time::sleep(IDLE).await;
    let computed = processor_time(hub)?.saturating_sub(before);
    let share = 100.0 * computed.as_secs_f64() / IDLE.as_secs_f64();
    let mut first = streams.remove(0);
    let sending = async {
        let start = Instant::now();
        client::batches(hub, size, SENT).await?;
        anyhow::Ok(start)
    };
    let receiving = async {
        let mut text = String::new();
        while !text.contains("data:") {
            text.push_str(&String::from_utf8_lossy(&first.chunk().await?.context("a stream has ended")?));
        }
        anyhow::Ok(Instant::now())
    };
    let (sent, received) = tokio::try_join!(sending, receiving)?;
    let lag = received.saturating_duration_since(sent).as_secs_f64();
    Ok(vec![
        Row::measured(format!("  {OPEN} open pages while nothing happens"), share, "% of a core").at_most(10.0),
        Row::measured("  an open page learns of a change within", lag, "s").at_most(1.0),
    ])
}

/// The time that the hub's process has computed.
fn processor_time(hub: &Hub) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", hub.process_id()))?;
    let (_, fields) = stat.rsplit_once(')').context("no process")?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    // Linux counts in hundredths of a second for programs, whatever its clock.
    Ok(Duration::from_millis(ticks * 10))
}
