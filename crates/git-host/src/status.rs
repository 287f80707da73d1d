//! Statuses of commits.

use crate::limits::STATUS_CHARACTERS_MAX;

/// The status of a commit, as one program reports it. A later status with the same context replaces an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitStatus {
    /// The name of the status, such as `kalypso/dev`.
    pub context: String,
    /// The state.
    pub state: StatusState,
    /// A short text. It is shortened to [`STATUS_CHARACTERS_MAX`] characters.
    pub description: String,
    /// A page with details.
    pub target_url: Option<String>,
}

/// The state of a commit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StatusState {
    /// The work is not done yet.
    Pending,
    /// All is well.
    Success,
    /// The commit has errors.
    Failure,
    /// The program failed.
    Error,
}

impl CommitStatus {
    /// The description, shortened to what all hosts accept.
    pub(crate) fn short_description(&self) -> String {
        shortened(&self.description, STATUS_CHARACTERS_MAX)
    }
}

/// The first characters of a text, with an ellipsis if it is longer.
pub(crate) fn shortened(text: &str, characters: usize) -> String {
    if text.chars().nth(characters).is_none() {
        return text.to_owned();
    }
    text.chars().take(characters.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_shortened_by_characters() {
        assert_eq!(["äöü", "äöüß", ""].map(|text| shortened(text, 3)), ["äöü", "äö…", ""]);
    }
}
