//! The events of decisions: they are in the messages of the commits that store the decisions, and are sent to the history of the hub from there.
//!
//! So no event is lost if the program ends between both, and the hub knows an event that is sent again by its id.

use engine::promotion::report::MoveEvent;
use engine::promotion::state::{GateRecord, GateStatus};
use git::{Commit, Repositories, RepositoryError};
use hub_api::client::ClientError;
use hub_api::evidence::PromotionEvents;
use hub_api::promotions::PromotionEvent;
use hub_api::timestamp::Timestamp;
use model::digest::DigestBuilder;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::release::shown;
use serde_json::{Value as Json, json};

/// The key of the lines with events in the message of a commit.
const LINE: &str = "Kalypso-Event: ";
/// The number of commits whose events are sent again after a restart.
const SENT_AGAIN_MAX: usize = 20;

/// An event of a subject as the history has it. None as the subject: the commits of the platform.
pub(super) fn promotion_event(
    environment: &EnvironmentName,
    subject: Option<&str>,
    event: &MoveEvent,
    by: Option<&str>,
) -> PromotionEvent {
    let revision = event.revision.as_ref().map(|revision| revision.0.to_string());
    let kind = event.kind.name().to_owned();
    let mut id = DigestBuilder::new("promotion event");
    let subject_text = subject.unwrap_or_default();
    let at = event.at.to_string();
    for part in [environment.as_str(), subject_text, kind.as_str(), at.as_str(), &*event.text] {
        id.text(part);
    }
    let gates: Vec<_> = event.gates.iter().map(gate).collect();
    PromotionEvent {
        id: id.finish().to_string(),
        at: timestamp(event.at),
        environment: environment.to_string(),
        subject: subject.map(str::to_owned),
        revision,
        kind,
        ring: None,
        text: event.text.to_string(),
        by: by.map(str::to_owned),
        evidence: (!gates.is_empty()).then(|| json!({ "gates": gates })),
    }
}

/// A time as the hub has it.
pub(super) fn timestamp(at: jiff::Timestamp) -> Timestamp {
    Timestamp::from_millis(at.as_millisecond())
}

fn gate(record: &GateRecord) -> Json {
    let status = match &record.status {
        GateStatus::Passed => "passed",
        GateStatus::Waiting => "waiting",
        GateStatus::Failed => "failed",
        GateStatus::Skipped(_) => "skipped",
    };
    json!({ "name": *record.name, "status": status, "since": record.since.to_string(), "text": *record.text })
}

/// The message of a commit that stores decisions: a title, and the events.
pub(super) fn message(environment: &EnvironmentName, events: &[PromotionEvent]) -> String {
    let title = match events {
        [] => format!("{environment}: newer evidence"),
        [one] => format!("{environment}: {}", title(one)),
        [first, others @ ..] => format!("{environment}: {} (and {} more)", title(first), others.len()),
    };
    let lines = events.iter().filter_map(|event| Some(format!("{LINE}{}\n", serde_json::to_string(event).ok()?)));
    format!("{title}\n\n{}", lines.collect::<String>())
}

fn title(event: &PromotionEvent) -> String {
    let revision = event.revision.as_deref().unwrap_or_default();
    let subject = event.subject.as_deref().unwrap_or("main");
    let text = event.text.lines().next().unwrap_or_default();
    let parts = [subject, shown(revision), event.kind.as_str()].into_iter().filter(|part| !part.is_empty());
    format!("{}: {text}", parts.collect::<Vec<_>>().join(" "))
}

/// The events in the message of a commit. An error: a line that can't be read.
pub(crate) fn of_message(message: &str) -> impl Iterator<Item = serde_json::Result<PromotionEvent>> {
    message.lines().filter_map(|line| line.strip_prefix(LINE)).map(serde_json::from_str)
}

/// Sends the events of the commits up to a head that were not sent before. `sent` is the last commit whose events were sent.
///
/// # Errors
/// If the hub does not take them. They are sent again with the next call.
pub(super) fn send(
    repositories: &dyn Repositories,
    (head, sent): (Option<&Commit>, &mut Option<GitId>),
    sink: &dyn PromotionEvents,
) -> Result<(), SendError> {
    let Some(head) = head.filter(|head| Some(head.id) != *sent) else { return Ok(()) };
    let mut found = Vec::new();
    for commit in repositories.history(head, SENT_AGAIN_MAX)? {
        if Some(commit.id) == *sent {
            break;
        }
        found.push(repositories.info(&commit)?.message);
    }
    let events: Vec<_> = found.iter().rev().flat_map(|message| of_message(message)).filter_map(Result::ok).collect();
    if !events.is_empty() {
        sink.record(&events)?;
    }
    *sent = Some(head.id);
    Ok(())
}

/// The reason why events are not sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    /// The branch with the states can't be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// The hub does not take them.
    #[error("the history of the hub does not have all events: {0}")]
    Hub(#[from] ClientError),
}

#[cfg(test)]
mod tests {
    use engine::promotion::report::EventKind;
    use engine::promotion::state::Revision;

    use super::*;

    #[test]
    fn the_message_of_a_commit_has_its_events() {
        let at = jiff::Timestamp::UNIX_EPOCH;
        let gates =
            vec![GateRecord { name: "compliant".into(), status: GateStatus::Passed, since: at, text: "3 of 3".into() }];
        let revision = Some(Revision("41c77fe0".repeat(5).into()));
        let event = MoveEvent { at, kind: EventKind::Promoted, revision, text: "the gates hold".into(), gates };
        let name = EnvironmentName::new("prod").unwrap();
        let events =
            [promotion_event(&name, None, &event, None), promotion_event(&name, Some("shop"), &event, Some("ann"))];
        let message = message(&name, &events);
        assert!(message.starts_with("prod: main 41c77fe promoted: the gates hold (and 1 more)\n\n"), "{message}");
        assert_eq!(of_message(&message).collect::<Result<Vec<_>, _>>().unwrap(), events);
        assert!(of_message("a\n\nKalypso-Event: {\"id\": 1}\n").all(|event| event.is_err()));
        assert_ne!(events[0].id, events[1].id);
    }
}
