//! Destinations of reports and of the observed desired state. They separate observing from storing.
//!
//! The hub implements both over its database. [`Client`] is a destination of reports in another process.

use std::pin::Pin;
use std::time::Duration;

use crate::client::{Client, ClientError};
use crate::limits::BATCH_REPORTS_MAX;
use crate::publication::{BranchContent, BranchRead, ReadProgress, Role};
use crate::report::{Report, generic};

/// The maximum size of the reports in one request, in bytes. The limit of the hub is four times as high.
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The maximum time for which a request to a busy or unreachable hub is repeated.
const RETRY_TIME: Duration = Duration::from_mins(1);

/// The pause after that, if the hub is busy.
const BUSY_PAUSE: Duration = Duration::from_secs(30);

/// The future of a method of a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The reason why data is not or not completely stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SinkError {
    /// The queue is full. The caller can submit the same data again.
    #[error("too many reports wait to be stored; try again in {} s", .retry_after.as_secs())]
    Busy {
        /// The pause before the next attempt.
        retry_after: Duration,
    },
    /// The data can't be stored or read.
    #[error("{0}")]
    Failed(String),
    /// The hub is being stopped.
    #[error("the hub is being stopped")]
    Stopped,
}

/// A destination of reports.
pub trait ReportSink: Send + Sync {
    /// Stores reports. They are stored when this returns without an error. After an error, the caller can submit the same reports again.
    fn submit(&self, reports: Vec<Report>) -> BoxFuture<'_, Result<(), SinkError>>;
}

/// A branch of a GitOps repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchName<'a> {
    /// The repository's URL.
    pub repository: &'a str,
    /// The branch that reconcilers pull.
    pub branch: &'a str,
}

/// A page of a sorted list of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPage<'a> {
    /// The path after which the page begins. None: the first page.
    pub after: Option<&'a str>,
    /// The maximum number of paths.
    pub count: usize,
}

/// A destination of the desired state that is observed in branches. It also stores the last read commit of each branch.
pub trait DesiredStateSink: Send + Sync {
    /// How far a branch was read. None: it was never read.
    fn read_up_to<'a>(&'a self, branch: BranchName<'a>) -> BoxFuture<'a, Result<Option<BranchRead>, SinkError>>;

    /// A page of the sorted paths of a branch with desired content of a role.
    fn desired_paths<'a>(
        &'a self,
        branch: BranchName<'a>,
        role: Role,
        page: PathPage<'a>,
    ) -> BoxFuture<'a, Result<Vec<String>, SinkError>>;

    /// Stores the content of a branch at a commit, and the progress of reading the branch.
    fn record(&self, content: BranchContent, progress: ReadProgress) -> BoxFuture<'_, Result<(), SinkError>>;
}

impl ReportSink for Client {
    fn submit(&self, reports: Vec<Report>) -> BoxFuture<'_, Result<(), SinkError>> {
        Box::pin(async move {
            for body in bodies(&reports, BODY_BYTES_MAX) {
                let receipt = self.report(body.into_bytes(), true, RETRY_TIME).await.map_err(failure)?;
                if let Some(first) = receipt.refused.first() {
                    let (count, field, message) = (receipt.refused.len(), &first.field, &first.message);
                    let text = format!("{count} of the reports are refused; the first because of {field}: {message}");
                    return Err(SinkError::Failed(text));
                }
            }
            Ok(())
        })
    }
}

/// The bodies of requests, with a report on each line.
fn bodies(reports: &[Report], bytes_max: usize) -> Vec<String> {
    let (mut bodies, mut count) = (Vec::<String>::new(), 0);
    for line in reports.iter().map(generic::write) {
        let body = bodies.last_mut().filter(|body| body.len() + line.len() < bytes_max && count < BATCH_REPORTS_MAX);
        if let Some(body) = body {
            body.push('\n');
            body.push_str(&line);
            count += 1;
        } else {
            bodies.push(line);
            count = 1;
        }
    }
    bodies
}

fn failure(error: ClientError) -> SinkError {
    match error {
        ClientError::Refused { status: 429 | 503, .. } => SinkError::Busy { retry_after: BUSY_PAUSE },
        error => SinkError::Failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::report;

    #[test]
    fn reports_are_lines_of_bounded_requests() {
        let reports = vec![report(); 5];
        let line = generic::write(&report());
        let lines = |bytes_max| bodies(&reports, bytes_max).iter().map(|body| body.lines().count()).collect::<Vec<_>>();
        assert_eq!(lines(usize::MAX), [5]);
        assert_eq!(lines(2 * line.len() + 2), [2, 2, 1]);
        assert_eq!(lines(1), [1; 5]);
        assert_eq!(bodies(&[], 1), Vec::<String>::new());
    }

    #[test]
    fn busy_hub_is_a_retryable_error() {
        let refused = |status| ClientError::Refused { status, detail: "no".into(), hint: None, refused: Vec::new() };
        assert_eq!(failure(refused(429)), SinkError::Busy { retry_after: BUSY_PAUSE });
        assert_eq!(failure(refused(403)), SinkError::Failed("no".into()));
    }
}
