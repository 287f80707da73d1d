//! Statuses of commits.

use std::collections::BTreeMap;

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

/// A status of a commit with the account that reported it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedStatus {
    /// The status.
    pub status: CommitStatus,
    /// The name of the account. On Azure DevOps, the id of an identity. Empty if the account does not exist any more.
    pub account: String,
}

/// The last status of each account for each context. The number of a status says which one is the last.
pub(crate) fn latest(statuses: impl IntoIterator<Item = (u64, ReportedStatus)>) -> Vec<ReportedStatus> {
    let mut latest: BTreeMap<(String, String), (u64, ReportedStatus)> = BTreeMap::new();
    for (number, reported) in statuses {
        let key = (reported.status.context.clone(), reported.account.clone());
        if latest.get(&key).is_none_or(|(known, _)| *known <= number) {
            latest.insert(key, (number, reported));
        }
    }
    latest.into_values().map(|(_, reported)| reported).collect()
}

impl CommitStatus {
    /// The description, shortened to what all hosts accept.
    pub fn short_description(&self) -> String {
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
    fn the_last_status_of_each_account_stays() {
        let reported = |account: &str, state| {
            let (context, description) = ("ci".to_owned(), String::new());
            ReportedStatus {
                status: CommitStatus { context, state, description, target_url: None },
                account: account.to_owned(),
            }
        };
        let statuses = [
            (7, reported("bot", StatusState::Success)),
            (3, reported("bot", StatusState::Failure)),
            (9, reported("mallory", StatusState::Failure)),
        ];
        let expected = [reported("bot", StatusState::Success), reported("mallory", StatusState::Failure)];
        assert_eq!(latest(statuses), expected);
    }

    #[test]
    fn a_long_text_is_shortened_by_characters() {
        assert_eq!(["äöü", "äöüß", ""].map(|text| shortened(text, 3)), ["äöü", "äö…", ""]);
    }
}
