//! A storm of webhooks: the memory of the service stays bounded, what it refuses is counted, and it works right afterwards.

use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use git_host::HostKind;
use git_host::double::events::RepositoryWebhooks;
use git_host::secret::Secret;
use testkit::objects;

use super::hosted::{Hosted, eventually};
use crate::company::HOST;

/// How long the storm lasts without other settings.
const SECONDS: u64 = 5;
/// The number of senders. More than the service receives at once, so that it has to refuse some.
const SENDERS: usize = 96;
/// How much memory the storm may cost, in bytes.
const GROWTH_MAX: u64 = 100 * 1024 * 1024;
/// The size of a webhook with many commits, in bytes.
const LARGE: usize = 200_000;
/// How long a sender waits for an answer.
const READ_TIMEOUT: Duration = Duration::from_secs(20);

/// What the senders counted.
#[derive(Default)]
struct Counts {
    accepted: AtomicU64,
    refused: AtomicU64,
    unsigned: AtomicU64,
    failed: AtomicU64,
}

/// Sends webhooks as fast as possible, from many connections. `KALYPSO_FAULTS_STORM` is the number of seconds.
pub(crate) fn storm() {
    let seconds = env::var("KALYPSO_FAULTS_STORM").ok().and_then(|text| text.parse().ok()).unwrap_or(SECONDS);
    let mut hosted = Hosted::new(HostKind::GitHub, "poll = \"1h\"\nsettle = \"200ms\"\nresync = \"1h\"\n");
    hosted.start();
    hosted.is_ready();
    let serving = hosted.serving.as_ref().unwrap();
    let (before, mut peak) = (serving.memory(), 0);
    let (counts, is_over) = (Counts::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        for number in 0..SENDERS {
            let (counts, is_over, address) = (&counts, &is_over, serving.address.as_str());
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    // A connection that the service ends is made again.
                    drop(send((counts, is_over), address, number));
                }
            });
        }
        let end = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < end {
            peak = peak.max(serving.memory());
            thread::sleep(Duration::from_millis(50));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let (accepted, refused) = (count(&counts.accepted), count(&counts.refused));
    println!(
        "storm: {accepted} webhooks accepted, {refused} refused as too many, {} with a wrong signature in {seconds} s; memory {} MiB before, {} MiB at most",
        count(&counts.unsigned),
        before >> 20,
        peak >> 20
    );
    assert!(peak < before + GROWTH_MAX, "the memory grew from {before} to {peak} bytes");
    assert!(accepted > 0 && refused > 0 && count(&counts.unsigned) > 0, "the storm is too weak");
    assert_eq!(count(&counts.failed), 0, "some webhooks have another answer");
    check_metrics(&hosted, (accepted, refused, count(&counts.unsigned)));
    check_works(&hosted);
}

/// Checks that each webhook was counted. A connection that ended early may have been counted without an answer.
fn check_metrics(hosted: &Hosted, (accepted, refused, unsigned): (u64, u64, u64)) {
    let (_, metrics) = hosted.ask("GET /metrics", &[], "").unwrap();
    let value = |name: &str, labels: &[&str]| {
        let is_meant = |line: &&str| line.starts_with(name) && labels.iter().all(|label| line.contains(label));
        let values = metrics.lines().filter(is_meant).filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        values.sum::<f64>() as u64
    };
    let of_kind = |result: &str| value("kalypso_webhooks_total", &["kind=\"github\"", result]);
    // Some are about a repository that no environment reads.
    let counted = of_kind("success") + of_kind("unmatched");
    assert!(counted >= accepted, "{accepted} were accepted:\n{metrics}");
    assert!(of_kind("failure") >= unsigned, "{unsigned} had a wrong signature:\n{metrics}");
    let busy: u64 = ["429", "503"]
        .iter()
        .map(|status| value("kalypso_hub_requests_total", &["webhooks", &format!("\"{status}\"")]))
        .sum();
    assert!(busy >= refused, "{refused} were refused, {busy} are counted:\n{metrics}");
}

/// Checks that the next change is published.
fn check_works(hosted: &Hosted) {
    let values = "DATABASE: mysql://main/a\nROUND: after-the-storm";
    hosted.company.change("control-plane@dev", "configs/common.yaml", &objects::config("common", "", values));
    let start = Instant::now();
    assert_eq!(hosted.announce("control-plane@dev", true), Some(202));
    eventually("the change after the storm", || hosted.proposes("dev", "after-the-storm").then_some(()));
    println!("storm: the next change was published after {:.1} s", start.elapsed().as_secs_f64());
}

/// Sends webhooks on one connection until the storm is over, or the connection ends.
fn send((counts, is_over): (&Counts, &AtomicBool), address: &str, number: usize) -> std::io::Result<()> {
    // Some webhooks have a wrong signature, and some are large. Repositories that the service does not know are accepted, and change nothing.
    let secret = Secret::new(if number.is_multiple_of(4) { "wrong" } else { super::hosted::WEBHOOK_SECRET });
    let name = if number.is_multiple_of(2) { "control-plane".to_owned() } else { "x".repeat(LARGE) };
    let url = format!("{HOST}{name}.git");
    let sent = RepositoryWebhooks { kind: HostKind::GitHub, secret: &secret, url: &url }.push("dev", None);
    let headers: String = sent.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "POST /webhooks/github HTTP/1.1\r\nhost: {address}\r\n{headers}content-length: {}\r\n\r\n",
        sent.body.len()
    );
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    let mut answers = BufReader::new(stream.try_clone()?);
    while !is_over.load(Ordering::Relaxed) {
        stream.write_all(head.as_bytes())?;
        // The body arrives later than the head, as over a slow network.
        thread::yield_now();
        stream.write_all(sent.body.as_bytes())?;
        let counter = match status(&mut answers)? {
            202 => &counts.accepted,
            401 => &counts.unsigned,
            429 | 503 => &counts.refused,
            _ => &counts.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// Reads an answer. Returns its status.
fn status(answers: &mut BufReader<TcpStream>) -> std::io::Result<u16> {
    let (mut line, mut length) = (String::new(), 0);
    answers.read_line(&mut line)?;
    let status = line.split_whitespace().nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| std::io::Error::other("no answer"))?;
    loop {
        line.clear();
        answers.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    std::io::copy(&mut answers.take(length), &mut std::io::sink())?;
    Ok(status)
}
