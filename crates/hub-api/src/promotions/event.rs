//! The history of promotions: each decision of the controller and of people, with its evidence.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use utoipa::{IntoParams, ToSchema};

use crate::limits::{EVIDENCE_BYTES_MAX, MESSAGE_CHARACTERS_MAX, NAME_CHARACTERS_MAX};
use crate::timestamp::Timestamp;

/// An event of a promotion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromotionEvent {
    /// The id, made by the sender: an event with the same id is stored once.
    pub id: String,
    /// When it happened.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// The environment.
    pub environment: String,
    /// The workload. None: the commits of the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What moves: a commit, a release, or the digest of a workload's folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// What happened: `started`, `ringDone`, `waiting`, `stopped`, `rollingBack`, `rolledBack`, `completed`, `superseded`, `held`, `resumed`, `approved`, `skipped`,
    /// `promoted`, `proved`, `movedByHand`, `restored` or `confirmed`. A later version may add others.
    pub kind: String,
    /// The ring that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<String>,
    /// The event in one line for people, with its reason.
    pub text: String,
    /// Who decided. None: the controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The evidence: gates with their status, and numbers of reconcilers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub evidence: Option<Json>,
}

/// Something happened in a promotion, in lists of several kinds of events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromotionChange {
    /// The event.
    pub event: PromotionEvent,
}

/// An event can't be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` of the event `{id}` {message}")]
pub struct PromotionEventError {
    /// The id of the event.
    pub id: String,
    /// The field.
    pub field: &'static str,
    /// What is wrong with it.
    pub message: String,
}

impl PromotionEvent {
    /// Checks that names and texts are not empty and within their limits.
    ///
    /// # Errors
    /// If a field is not.
    pub fn check(&self) -> Result<(), PromotionEventError> {
        let error = |field, message: String| {
            Err(PromotionEventError { id: self.id.chars().take(NAME_CHARACTERS_MAX).collect(), field, message })
        };
        let names = [
            ("id", Some(&self.id)),
            ("environment", Some(&self.environment)),
            ("subject", self.subject.as_ref()),
            ("revision", self.revision.as_ref()),
            ("kind", Some(&self.kind)),
            ("ring", self.ring.as_ref()),
            ("by", self.by.as_ref()),
        ];
        for (field, text) in names.into_iter().filter_map(|(field, text)| Some((field, text?))) {
            if text.is_empty() || text.contains(char::is_control) {
                return error(field, "is empty, or contains control characters".to_owned());
            }
            if text.chars().count() > NAME_CHARACTERS_MAX {
                return error(field, format!("has more than {NAME_CHARACTERS_MAX} characters"));
            }
        }
        if self.text.chars().count() > MESSAGE_CHARACTERS_MAX || self.text.contains('\0') {
            return error("text", format!("has more than {MESSAGE_CHARACTERS_MAX} characters, or contains NUL"));
        }
        match &self.evidence {
            Some(evidence) if !evidence.is_object() => error("evidence", "is no object".to_owned()),
            Some(evidence) if evidence.to_string().len() > EVIDENCE_BYTES_MAX => {
                error("evidence", format!("has more than {EVIDENCE_BYTES_MAX} bytes"))
            }
            Some(evidence) if evidence.to_string().contains("\\u0000") => error("evidence", "contains NUL".to_owned()),
            _ => Ok(()),
        }
    }

    /// Its approximate size in memory, in bytes.
    pub fn bytes(&self) -> usize {
        // A value in memory takes a few times the bytes of its text.
        let evidence = self.evidence.as_ref().map_or(0, |evidence| 4 * evidence.to_string().len());
        size_of::<Self>() + self.text.len() + evidence
    }
}

/// The stored events of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromotionEventReceipt {
    /// The number of events that are new.
    pub stored: usize,
    /// The number of events that were stored already.
    pub known: usize,
}

/// A page of events, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromotionEventPage {
    /// The events.
    pub items: Vec<PromotionEvent>,
    /// The cursor of the next page. None: this is the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The filter of the history of promotions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PromotionEventFilter {
    /// Only events of this environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// Only events of this workload. Empty: only those of the platform's commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Only events of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Only events of this revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Only events at or after this time (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>, format = DateTime)]
    pub since: Option<Timestamp>,
    /// Only events before this time (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>, format = DateTime)]
    pub until: Option<Timestamp>,
    /// The `next` of the previous page. None: the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The maximum number of events. Default 100, at most 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<usize>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(change: impl FnOnce(&mut PromotionEvent)) -> Result<(), &'static str> {
        let (id, environment, kind) = ("1".to_owned(), "prod".to_owned(), "started".to_owned());
        let mut event = PromotionEvent { id, environment, kind, ..PromotionEvent::default() };
        change(&mut event);
        event.check().map_err(|error| error.field)
    }

    #[test]
    fn events_have_names_and_limits() {
        assert_eq!(check(|_| ()), Ok(()));
        assert_eq!(check(|event| event.id.clear()), Err("id"));
        assert_eq!(check(|event| event.subject = Some(String::new())), Err("subject"));
        assert_eq!(check(|event| event.kind = "a\nb".into()), Err("kind"));
        assert_eq!(check(|event| event.by = Some("x".repeat(254))), Err("by"));
        assert_eq!(check(|event| event.text = "x".repeat(4_097)), Err("text"));
        assert_eq!(check(|event| event.evidence = Some(json!([]))), Err("evidence"));
        assert_eq!(check(|event| event.evidence = Some(json!({"a": "\0"}))), Err("evidence"));
        assert_eq!(check(|event| event.evidence = Some(json!({"a": "x".repeat(16_384)}))), Err("evidence"));
    }
}
