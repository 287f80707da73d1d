//! Decisions of people about promotions.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::tokens::Act;

/// A decision about one subject in an environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromotionCommand {
    /// The workload. None: the commits of the platform; for `approve`, the only change that waits for approvals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What to do.
    pub command: PromotionAction,
    /// The revision. None: the one that moves now. `promote` needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The proved revision to which `rollback` returns, or its first digits. None: the one before the present revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Whether `rollback` also restores the values that were there. Otherwise, values and applications stay as they are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_values: bool,
    /// The gate, for `skip` and `approve`. None, for `approve`: the only one that waits for approvals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    /// Why. `hold`, `abort`, `skip` and `rollback` need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a person decides about a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PromotionAction {
    /// Nothing moves until `resume`.
    Hold,
    /// Ends a hold.
    Resume,
    /// Ends the move of a revision. Places keep what they have.
    Abort,
    /// Starts a move again that stopped, was rolled back or was aborted.
    Retry,
    /// Counts a gate as passed.
    Skip,
    /// Approves the revision.
    Approve,
    /// Returns to the last proved revision.
    Rollback,
    /// Moves a revision into the environment.
    Promote,
}

impl PromotionAction {
    /// All actions.
    pub const ALL: [Self; 8] =
        [Self::Hold, Self::Resume, Self::Abort, Self::Retry, Self::Skip, Self::Approve, Self::Rollback, Self::Promote];

    /// The text in requests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hold => "hold",
            Self::Resume => "resume",
            Self::Abort => "abort",
            Self::Retry => "retry",
            Self::Skip => "skip",
            Self::Approve => "approve",
            Self::Rollback => "rollback",
            Self::Promote => "promote",
        }
    }

    /// What it is for permissions.
    pub fn act(self) -> Act {
        match self {
            Self::Approve => Act::Approve,
            Self::Skip => Act::Administer,
            Self::Hold | Self::Resume | Self::Abort | Self::Retry | Self::Rollback | Self::Promote => Act::Operate,
        }
    }

    /// Whether a decision needs a reason.
    pub fn needs_reason(self) -> bool {
        matches!(self, Self::Hold | Self::Abort | Self::Skip | Self::Rollback)
    }
}

impl PromotionCommand {
    /// The field that is missing; none if the command is complete.
    pub fn missing(&self) -> Option<&'static str> {
        let is_empty = |text: &Option<String>| text.as_ref().is_none_or(|text| text.trim().is_empty());
        match self.command {
            PromotionAction::Promote if is_empty(&self.revision) => Some("revision"),
            PromotionAction::Skip if is_empty(&self.gate) => Some("gate"),
            action if action.needs_reason() && is_empty(&self.reason) => Some("reason"),
            _ => None,
        }
    }
}

/// A decision that is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromotionReceipt {
    /// The environment.
    pub environment: String,
    /// The workload. None: the commits of the platform.
    pub subject: Option<String>,
    /// The revision that the decision is about. None: whichever moves.
    pub revision: Option<String>,
    /// What happened, in one line for people.
    pub text: String,
}

/// The reason why a decision is not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromotionRefusal {
    /// The service has no environment of this name.
    #[error("there is no environment `{0}`")]
    UnknownEnvironment(String),
    /// Nothing of this name moves into the environment.
    #[error("`{subject}` does not move into {environment}")]
    UnknownSubject {
        /// The environment.
        environment: String,
        /// The workload.
        subject: String,
    },
    /// The decision does not fit the state, for example `resume` without a hold.
    #[error("{0}")]
    NotPossible(String),
    /// The caller may not decide it, for example as the author of the change.
    #[error("{0}")]
    NotAllowed(String),
    /// The decision can't be stored now. It may be repeated.
    #[error("{0}")]
    Unavailable(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Option<&'static str> {
        serde_json::from_str::<PromotionCommand>(text).unwrap().missing()
    }

    #[test]
    fn actions_have_the_text_of_requests() {
        assert!(PromotionAction::ALL.iter().all(|action| serde_json::to_value(action).unwrap() == action.as_str()));
    }

    #[test]
    fn commands_require_the_fields_of_their_action() {
        assert_eq!(check(r#"{"command": "hold"}"#), Some("reason"));
        assert_eq!(check(r#"{"command": "hold", "reason": " "}"#), Some("reason"));
        assert_eq!(check(r#"{"command": "skip", "reason": "r"}"#), Some("gate"));
        assert_eq!(check(r#"{"command": "promote"}"#), Some("revision"));
        assert_eq!(check(r#"{"command": "promote", "revision": "1"}"#), None);
        for alone in ["resume", "retry", "approve"] {
            assert_eq!(check(&format!(r#"{{"command": "{alone}"}}"#)), None, "{alone}");
        }
        assert!(serde_json::from_str::<PromotionCommand>(r#"{"command": "hold", "reasons": "r"}"#).is_err());
    }
}
