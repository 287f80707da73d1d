//! `kalypso rollout wait` for a commit of the control plane's main branch: it is done when environments have proved it.

use hub_api::promotions::{MovePhase, PromotionEvent, PromotionEventFilter, PromotionStatus, SubjectStatus};
use hub_api::timestamp::Timestamp;
use serde_json::json;

use super::failed_hosts::FailedHosts;
use super::graph_text;
use crate::arguments::Format;
use crate::exit::{Exit, Failure};
use crate::hub_client::{Hub, Lookup, plain};
use crate::terminal;

/// The least number of digits of a commit.
const DIGITS_MIN: usize = 7;

/// How far a commit is on its way through environments.
pub(in crate::commands) struct CommitProgress {
    graph: Vec<PromotionStatus>,
    /// The end of the wait. None: the commit is on its way.
    pub(in crate::commands) end: Option<Exit>,
    /// Why, or what it waits for, in one line.
    pub(in crate::commands) text: String,
}

/// How far a commit is in one environment.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    Proved,
    Failed(String),
    Superseded,
    Waiting(String),
}

/// How far a commit of the main branch is, in one or all environments. None: the service knows no such commit.
pub(in crate::commands) fn look(
    hub: &Hub,
    commit: &str,
    environment: Option<&str>,
) -> Result<Option<CommitProgress>, Failure> {
    let is_commit = commit.len() >= DIGITS_MIN && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_commit {
        return Ok(None);
    }
    let commit = commit.to_lowercase();
    let mut graph = hub.ask(hub.client.promotions())?;
    let known = graph.iter().filter_map(platform).find_map(|subject| whole(subject, &commit));
    let Some(commit) = known.or((commit.len() == 40).then_some(commit)) else { return Ok(None) };
    graph.retain(|one| platform(one).is_some() && environment.is_none_or(|name| name == one.environment));
    let mut stages = Vec::with_capacity(graph.len());
    for one in &graph {
        let Some(subject) = platform(one) else { continue };
        let stage = match present(subject, &commit) {
            Some(stage) => stage,
            None => past(hub, one, &commit)?,
        };
        stages.push((plain(&one.environment), stage));
    }
    let is_unknown = stages.iter().all(|(_, stage)| *stage == Stage::Waiting(UNKNOWN.to_owned()));
    if is_unknown {
        return Ok(None);
    }
    let (end, text) = verdict(&stages);
    Ok(Some(CommitProgress { graph, end, text }))
}

/// What a commit waits for that is not on its way into an environment.
const UNKNOWN: &str = "it is not on its way yet";

fn platform(status: &PromotionStatus) -> Option<&SubjectStatus> {
    status.subjects.iter().find(|subject| subject.subject.is_none())
}

/// The whole id of a commit, if an environment has it, had it, or gets it.
fn whole(subject: &SubjectStatus, digits: &str) -> Option<String> {
    let proved = subject.proved.as_ref().map(|proved| &proved.revision);
    let moving = subject.moving.as_ref().map(|moving| &moving.revision);
    let known = [subject.at.as_ref(), proved, moving, subject.rejected.as_ref()].into_iter().flatten();
    known.chain(&subject.waiting_revisions).find(|revision| revision.starts_with(digits)).cloned()
}

/// The stage of a commit that is in the status of an environment.
fn present(subject: &SubjectStatus, commit: &str) -> Option<Stage> {
    if subject.proved.as_ref().is_some_and(|proved| proved.revision == commit) {
        return Some(Stage::Proved);
    }
    if let Some(moving) = subject.moving.as_ref().filter(|moving| moving.revision == commit) {
        let wait = moving.waiting_for.first().map(|wait| format!("{}: {}", plain(&wait.what), plain(&wait.text)));
        let reason = moving.reason.as_deref().map(plain).or(wait);
        let reason = reason.unwrap_or_else(|| "its next step".to_owned());
        let is_failed = matches!(moving.phase, MovePhase::Stopped | MovePhase::RollingBack);
        return Some(if is_failed { Stage::Failed(reason) } else { Stage::Waiting(reason) });
    }
    if subject.rejected.as_deref() == Some(commit) {
        let reason = subject.rejected_because.as_deref().map(plain).filter(|reason| !reason.is_empty());
        let because = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        return Some(Stage::Failed(format!("it was rolled back, aborted or declined{because}")));
    }
    let waits = subject.waiting_revisions.iter().any(|revision| revision == commit);
    waits.then(|| Stage::Waiting("an earlier commit moves".to_owned()))
}

/// The stage of a commit by the history of an environment.
fn past(hub: &Hub, status: &PromotionStatus, commit: &str) -> Result<Stage, Failure> {
    let filter = PromotionEventFilter {
        environment: Some(status.environment.clone()),
        subject: Some(String::new()),
        revision: Some(commit.to_owned()),
        ..PromotionEventFilter::default()
    };
    let events = match hub.find(hub.client.promotion_events(&filter))? {
        Lookup::Answer(page) => page.items,
        // The environment is known to the service, and has no history yet.
        Lookup::Nothing(_) => Vec::new(),
    };
    let ended = |event: &PromotionEvent| match event.kind.as_str() {
        "proved" => Some(Stage::Proved),
        "superseded" => Some(Stage::Superseded),
        "rolledBack" | "aborted" => Some(Stage::Failed(plain(&event.text))),
        _ => None,
    };
    let unknown = || if events.is_empty() { UNKNOWN.to_owned() } else { "its next step".to_owned() };
    Ok(events.iter().find_map(ended).unwrap_or_else(|| Stage::Waiting(unknown())))
}

/// The end of the wait, and why it ends or goes on.
fn verdict(stages: &[(String, Stage)]) -> (Option<Exit>, String) {
    let told = |is_told: &dyn Fn(&Stage) -> Option<String>| {
        let parts: Vec<_> = stages
            .iter()
            .filter_map(|(environment, stage)| is_told(stage).map(|text| format!("{environment}: {text}")))
            .collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    };
    let failed = told(&|stage| if let Stage::Failed(reason) = stage { Some(reason.clone()) } else { None });
    let superseded =
        told(&|stage| (*stage == Stage::Superseded).then(|| "a newer commit replaced it before its proof".to_owned()));
    let waiting = told(&|stage| if let Stage::Waiting(reason) = stage { Some(reason.clone()) } else { None });
    match (failed, superseded, waiting) {
        (Some(failed), ..) => (Some(Exit::Problems), format!("failed: {failed}")),
        (None, Some(superseded), _) => (Some(Exit::Superseded), format!("superseded: {superseded}")),
        (None, None, Some(waiting)) => (None, waiting),
        (None, None, None) => (Some(Exit::Good), "done".to_owned()),
    }
}

impl CommitProgress {
    /// Shows the graph.
    pub(in crate::commands) fn show(&self, hub: &Hub, format: Format) -> std::io::Result<()> {
        let now = Timestamp::now();
        match format {
            Format::Human => {
                terminal::answer(&graph_text::text((&self.graph, &FailedHosts::ask(hub, &self.graph, now)), now))
            }
            format => terminal::answer(&terminal::structured(&json!({"environments": self.graph}), format)),
        }
    }
}

#[cfg(test)]
mod tests {
    use hub_api::promotions::{MoveStatus, ProvedStatus, SubjectKind, Wait};

    use super::*;

    fn subject(proved: &str, moving: Option<(&str, MovePhase)>) -> SubjectStatus {
        let moving = moving.map(|(revision, phase)| MoveStatus {
            revision: revision.to_owned(),
            since: Timestamp::from_millis(0),
            phase,
            phase_since: Timestamp::from_millis(0),
            reason: None,
            rings: Vec::new(),
            gates: Vec::new(),
            waiting_for: vec![Wait { what: "soak".to_owned(), text: "an hour".to_owned(), ..Wait::default() }],
        });
        SubjectStatus {
            at: Some(proved.to_owned()),
            proved: Some(ProvedStatus { revision: proved.to_owned(), on: Timestamp::from_millis(0) }),
            moving,
            waiting_revisions: vec!["cc".to_owned()],
            rejected: Some("dd".to_owned()),
            rejected_because: Some("1 of 3 reconcilers failed".to_owned()),
            ..SubjectStatus::new(None, SubjectKind::Platform)
        }
    }

    #[test]
    fn stage_of_a_commit_is_read_from_the_environment_status() {
        let moving = subject("aa", Some(("bb", MovePhase::Gated)));
        assert_eq!(present(&moving, "aa"), Some(Stage::Proved));
        assert_eq!(present(&moving, "bb"), Some(Stage::Waiting("soak: an hour".to_owned())));
        assert_eq!(present(&moving, "cc"), Some(Stage::Waiting("an earlier commit moves".to_owned())));
        let failed = "it was rolled back, aborted or declined: 1 of 3 reconcilers failed";
        assert_eq!(present(&moving, "dd"), Some(Stage::Failed(failed.to_owned())));
        assert_eq!(present(&moving, "ee"), None);
        let stopped = subject("aa", Some(("bb", MovePhase::Stopped)));
        assert_eq!(present(&stopped, "bb"), Some(Stage::Failed("soak: an hour".to_owned())));
        assert_eq!(whole(&moving, "b"), Some("bb".to_owned()));
    }

    #[test]
    fn a_failure_ends_the_wait_and_a_proof_in_all_environments_does() {
        let of = |stages: &[Stage]| {
            let names = ["dev", "stage", "prod"].iter().map(ToString::to_string);
            let (exit, text) = verdict(&names.zip(stages.iter().cloned()).collect::<Vec<_>>());
            format!("{exit:?} {text}")
        };
        let waiting = Stage::Waiting("soak".to_owned());
        assert_eq!(of(&[Stage::Proved, Stage::Proved, Stage::Proved]), "Some(Good) done");
        assert_eq!(of(&[Stage::Proved, waiting.clone(), waiting.clone()]), "None stage: soak; prod: soak");
        let failed = Stage::Failed("3 failed".to_owned());
        assert_eq!(of(&[Stage::Superseded, failed, waiting.clone()]), "Some(Problems) failed: stage: 3 failed");
        let superseded = "Some(Superseded) superseded: dev: a newer commit replaced it before its proof";
        assert_eq!(of(&[Stage::Superseded, waiting.clone(), waiting]), superseded);
    }
}
