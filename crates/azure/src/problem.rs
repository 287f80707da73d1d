//! Problems of a poll.

/// The reason why a resource is missing in the reports of a poll.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The id of the resource, or the subscription.
    pub subject: String,
    /// The problem.
    pub message: String,
}

impl Problem {
    /// Creates a problem of a resource.
    pub(crate) fn new(subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self { subject: subject.into(), message: message.into() }
    }
}
