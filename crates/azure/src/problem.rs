//! Problems of a poll.

/// The reason why a resource is missing in the reports of a poll.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PollProblem {
    /// The id of the resource, or the subscription.
    pub subject: String,
    /// The problem.
    pub message: String,
}

impl PollProblem {
    /// Creates a problem of a resource.
    pub(crate) fn new(subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self { subject: subject.into(), message: message.into() }
    }
}
