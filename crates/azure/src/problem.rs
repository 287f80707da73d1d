//! What is missing in the reports of a poll.

/// Something is missing in the reports of a poll, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The id of the resource, or the subscription.
    pub subject: String,
    /// What is wrong.
    pub message: String,
}

impl Problem {
    /// That is wrong with a resource.
    pub(crate) fn new(subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self { subject: subject.into(), message: message.into() }
    }
}
