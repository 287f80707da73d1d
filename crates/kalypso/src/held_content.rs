//! What is published at places where it is not what is desired, in answers for people.

use delivery::output::rings::HeldContent;
use hub_api::timestamp::Timestamp;

use crate::hub_client::length;

/// `2.4.0 desired, 2.3.0 published in ring clinics since 2 h: the rollout is in ring pilots`.
pub(crate) fn text(content: &HeldContent, now: Timestamp) -> String {
    format!("{content}{} {}", if content.since.is_some() { "" } else { ":" }, why(content, now))
}

/// `since 2 h: the rollout is in ring pilots`.
pub(crate) fn why(content: &HeldContent, now: Timestamp) -> String {
    let since = since(content, now).map(|since| format!("since {since}: "));
    format!("{}{}", since.unwrap_or_default(), content.reason)
}

/// How long the place has the content. None if that is not known.
pub(crate) fn since(content: &HeldContent, now: Timestamp) -> Option<String> {
    let since = Timestamp::from_millis(content.since?.as_millisecond());
    Some(length(now.since(since)))
}
