//! Polls all sources for ever, each in its own rhythm.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use hub_api::timestamp::Timestamp;

use super::client::fraction;
use super::poller::{Polled, Poller, Problem};
use crate::ingest::{Ingest, SubmitError};
use crate::limits::{AZURE_PAUSE_MAX, AZURE_PROBLEMS_MAX, TRANSACTION_REPORTS_MAX};

/// How much earlier or later than the interval a poll may be, so that sources do not stay in step.
const JITTER: f64 = 0.1;

/// Polls, and stores what comes of it. Never ends: whoever wants it to drops it. What it says of its work goes to the log.
pub async fn run(mut pollers: Vec<Poller>, ingest: Ingest) {
    join_all(pollers.iter_mut().map(Poller::learn)).await;
    join_all(pollers.into_iter().map(|poller| follow(poller, ingest.clone()))).await;
}

async fn follow(mut poller: Poller, ingest: Ingest) {
    let mut failures = 0;
    let mut known = BTreeSet::new();
    loop {
        let mut polled = poller.poll(Timestamp::now()).await;
        log(poller.tenant(), &polled, &mut known);
        failures = if polled.complete == 0 { failures + 1 } else { 0 };
        if let Err(error) = submit(&ingest, std::mem::take(&mut polled.reports)).await {
            tracing::error!(tenant = poller.tenant(), %error, "what Azure said could not be stored; the next poll says it again");
            poller.forget();
            if matches!(error, SubmitError::Stopped) {
                return;
            }
        }
        tokio::time::sleep(pause(poller.interval(), failures, fraction())).await;
    }
}

/// Stores reports, a transaction at a time, and waits for its turn.
async fn submit(ingest: &Ingest, mut reports: Vec<hub_api::report::Report>) -> Result<(), SubmitError> {
    while !reports.is_empty() {
        let rest = reports.split_off(reports.len().min(TRANSACTION_REPORTS_MAX));
        let part = std::mem::replace(&mut reports, rest);
        loop {
            match ingest.submit(part.clone()).await {
                Err(SubmitError::Busy { retry_after }) => tokio::time::sleep(retry_after).await,
                Err(error) => return Err(error),
                Ok(_) => break,
            }
        }
    }
    Ok(())
}

/// The time until the next poll: longer and longer while nothing can be had.
fn pause(interval: Duration, failures: u32, fraction: f64) -> Duration {
    let longest = AZURE_PAUSE_MAX.max(interval);
    let pause = interval.saturating_mul(1 << failures.min(10)).min(longest);
    pause.mul_f64(1.0 + JITTER * (2.0 * fraction - 1.0))
}

/// Says what is new: a problem that lasts is said once.
fn log(tenant: &str, polled: &Polled, known: &mut BTreeSet<Problem>) {
    let problems: BTreeSet<Problem> = polled.problems.iter().cloned().collect();
    let news: Vec<_> = problems.difference(known).collect();
    for problem in news.iter().take(AZURE_PROBLEMS_MAX) {
        tracing::warn!(tenant, subject = problem.subject, "Azure: {}", problem.message);
    }
    if let Some(more) = news.len().checked_sub(AZURE_PROBLEMS_MAX).filter(|more| *more > 0) {
        tracing::warn!(tenant, more, "Azure: and more problems of this kind");
    }
    let (reports, lasting) = (polled.reports.len(), problems.len());
    tracing::debug!(tenant, reports, problems = lasting, complete = polled.complete, "Azure was asked");
    *known = problems;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_fails_is_asked_less_often() {
        let check = |failures, fraction| pause(Duration::from_mins(5), failures, fraction).as_secs();
        assert_eq!((check(0, 0.5), check(1, 0.5), check(3, 0.5)), (300, 600, 2_400));
        assert_eq!((check(4, 0.5), check(40, 0.5)), (3_600, 3_600));
        assert_eq!((check(0, 0.0), check(0, 1.0)), (270, 330));
        assert_eq!(pause(Duration::from_hours(24), 9, 0.5), Duration::from_hours(24));
    }
}
