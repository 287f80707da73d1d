//! Polls all sources again and again, each at its own interval.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use hub_api::report::Report;
use hub_api::sink::{ReportSink, SinkError};
use hub_api::timestamp::Timestamp;
use retry::{Jitter, RetryLimit, RetryPolicy};

use crate::limits::{PAUSE_MAX, PROBLEMS_MAX, SUBMITTED_REPORTS_MAX};
use crate::poller::{Polled, Poller};
use crate::problem::PollProblem;

/// The random variation of the interval, so that sources are not polled at the same time.
const JITTER: Jitter = Jitter { from: 0.9, to: 1.1 };

/// Polls all sources, and submits the reports. Ends when the sink is stopped. Otherwise the caller must drop the future. Problems are logged.
pub async fn run(mut pollers: Vec<Poller>, sink: Arc<dyn ReportSink>) {
    join_all(pollers.iter_mut().map(Poller::read_host_names)).await;
    join_all(pollers.into_iter().map(|poller| poll_forever(poller, &*sink))).await;
}

async fn poll_forever(mut poller: Poller, sink: &dyn ReportSink) {
    let policy = pauses(poller.interval());
    let mut failures = 0u32;
    let mut logged = BTreeSet::new();
    loop {
        let mut polled = poller.poll(Timestamp::now()).await;
        log(poller.tenant(), &polled, &mut logged);
        failures = if polled.complete == 0 { failures.saturating_add(1) } else { 0 };
        if let Err(error) = submit(sink, std::mem::take(&mut polled.reports)).await {
            tracing::error!(tenant = poller.tenant(), %error, "the reports from Azure could not be stored; the next poll reports them again");
            poller.clear();
            if matches!(error, SinkError::Stopped) {
                return;
            }
        }
        tokio::time::sleep(policy.pause(failures.saturating_add(1))).await;
    }
}

/// Submits reports in parts, and waits while the sink is busy.
async fn submit(sink: &dyn ReportSink, mut reports: Vec<Report>) -> Result<(), SinkError> {
    while !reports.is_empty() {
        let rest = reports.split_off(reports.len().min(SUBMITTED_REPORTS_MAX));
        let part = std::mem::replace(&mut reports, rest);
        loop {
            match sink.submit(part.clone()).await {
                Err(SinkError::Busy { retry_after }) => tokio::time::sleep(retry_after).await,
                Err(error) => return Err(error),
                Ok(()) => break,
            }
        }
    }
    Ok(())
}

/// The pauses between two polls. They get longer while the source can't be read.
fn pauses(interval: Duration) -> RetryPolicy {
    RetryPolicy {
        first: interval,
        factor: 2,
        longest: PAUSE_MAX.max(interval),
        jitter: JITTER,
        limit: RetryLimit::None,
    }
}

/// Logs the new problems. A lasting problem is logged once.
fn log(tenant: &str, polled: &Polled, logged: &mut BTreeSet<PollProblem>) {
    let problems: BTreeSet<PollProblem> = polled.problems.iter().cloned().collect();
    let new: Vec<_> = problems.difference(logged).collect();
    for problem in new.iter().take(PROBLEMS_MAX) {
        tracing::warn!(tenant, subject = problem.subject, "Azure: {}", problem.message);
    }
    if let Some(more) = new.len().checked_sub(PROBLEMS_MAX).filter(|more| *more > 0) {
        tracing::warn!(tenant, more, "Azure: and more problems of this kind");
    }
    let (reports, lasting) = (polled.reports.len(), problems.len());
    tracing::debug!(tenant, reports, problems = lasting, complete = polled.complete, "Azure was polled");
    *logged = problems;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_sources_are_polled_less_often() {
        let check = |failures: u32, fraction| pauses(Duration::from_mins(5)).pause_at(failures + 1, fraction).as_secs();
        assert_eq!((check(0, 0.5), check(1, 0.5), check(3, 0.5)), (300, 600, 2_400));
        assert_eq!((check(4, 0.5), check(40, 0.5)), (3_600, 3_600));
        assert_eq!((check(0, 0.0), check(0, 1.0)), (270, 330));
        assert_eq!(pauses(Duration::from_hours(24)).pause_at(10, 0.5), Duration::from_hours(24));
    }
}
