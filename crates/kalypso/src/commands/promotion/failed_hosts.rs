//! The hosts that failed, where changes wait for them.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::client::Client;
use hub_api::deployments::Deployment;
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::promotions::{GateProgressStatus, MovePhase, PromotionStatus, SubjectKind, SubjectStatus};
use hub_api::timestamp::Timestamp;
use model::rollout::ReconcilerState;

use crate::commands::deployments::taken;
use crate::hub_client::{Hub, length, plain};

/// The number of hosts that are named for one place.
const NAMED_MAX: usize = 3;

/// An environment, and the workload whose reconcilers count there. None: all of them.
type Place = (String, Option<String>);

/// The hosts that failed, as lines of text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FailedHosts(BTreeMap<Place, Vec<String>>);

impl FailedHosts {
    /// Asks the hub for the hosts that failed at the places where changes of a graph wait for them. What it does not know has no lines.
    pub(super) fn ask(hub: &Hub, graph: &[PromotionStatus], now: Timestamp) -> Self {
        let all = graph.iter().flat_map(|status| status.subjects.iter().flat_map(|subject| places(status, subject)));
        let all: BTreeSet<Place> = all.collect();
        Self(all.into_iter().map(|place| (place.clone(), lines(hub, &place, now).unwrap_or_default())).collect())
    }

    /// The lines for a subject of an environment.
    pub(super) fn lines(&self, status: &PromotionStatus, subject: &SubjectStatus) -> impl Iterator<Item = &str> {
        let places = places(status, subject);
        let lines = places.into_iter().filter_map(|place| self.0.get(&place));
        lines.flatten().map(String::as_str)
    }
}

/// Where failed reconcilers keep a subject from moving: in the environments before while it waits to enter, and then in the environment itself.
fn places(status: &PromotionStatus, subject: &SubjectStatus) -> Vec<Place> {
    let Some(moving) = &subject.moving else { return Vec::new() };
    let is_failed = moving.gates.iter().any(|gate| gate.status == GateProgressStatus::Failed);
    if !is_failed && moving.rings.iter().all(|ring| ring.counts.failed == 0) {
        return Vec::new();
    }
    let is_of_workload = matches!(subject.kind, SubjectKind::Workload | SubjectKind::Release);
    let workload = subject.subject.clone().filter(|_| is_of_workload);
    let own = std::slice::from_ref(&status.environment);
    let is_before = matches!(moving.phase, MovePhase::Gated | MovePhase::Entering) && is_of_environments(subject.kind);
    let environments = if is_before { &status.before } else { own };
    environments.iter().map(|environment| (environment.clone(), workload.clone())).collect()
}

/// Whether the gates before an environment measure the environments before it.
fn is_of_environments(kind: SubjectKind) -> bool {
    matches!(kind, SubjectKind::Platform | SubjectKind::Release | SubjectKind::Renderer)
}

fn lines(hub: &Hub, (environment, workload): &Place, now: Timestamp) -> Option<Vec<String>> {
    let filter = Filter {
        environment: Some(environment.clone()),
        workload: workload.clone(),
        status: Some(ReconcilerState::Failed.as_str().to_owned()),
        ..Filter::default()
    };
    let ask = async |client: &Client, page: &Page| client.deployments(&filter, page, None).await;
    let found = hub.list(NAMED_MAX, ask, taken).ok()?;
    let mut lines: Vec<_> = found.items.iter().map(|row| line(row, environment, now)).collect();
    lines.dedup();
    if found.is_more {
        let of_workload = workload.as_ref().map_or_else(String::new, |workload| format!(" --workload {workload}"));
        lines.push(plain(&format!("more: kalypso deployments -e {environment}{of_workload} --status failed")));
    }
    Some(lines)
}

fn line(row: &Deployment, environment: &str, now: Timestamp) -> String {
    let since = row.since.map_or_else(String::new, |since| format!(" since {}", length(now.since(since))));
    let message = row.message.as_deref().map(plain).filter(|message| !message.is_empty());
    let message = message.map_or_else(String::new, |message| format!(": {message}"));
    format!("host {} of {} failed{since}{message}", plain(&row.host), plain(environment))
}

#[cfg(test)]
mod tests {
    use hub_api::promotions::{GateProgress, MoveStatus};

    use super::*;

    fn check(kind: SubjectKind, (phase, gate): (MovePhase, GateProgressStatus)) -> Vec<Place> {
        let at = Timestamp::from_millis(0);
        let gates =
            vec![GateProgress { name: "failures".into(), status: gate, since: at, text: String::new(), skipped: None }];
        let moving = MoveStatus {
            revision: "r".into(),
            since: at,
            phase,
            phase_since: at,
            reason: None,
            rings: Vec::new(),
            gates,
            waiting_for: Vec::new(),
        };
        let subject = SubjectStatus { moving: Some(moving), ..SubjectStatus::new(Some("checkout"), kind) };
        let status = PromotionStatus {
            environment: "prod".into(),
            before: vec!["stage".into()],
            after: Vec::new(),
            evaluated_on: None,
            problem: None,
            waiting_for: Vec::new(),
            subjects: Vec::new(),
        };
        places(&status, &subject)
    }

    #[test]
    fn hosts_count_where_gates_measure_them() {
        let of =
            |environment: &str, workload: Option<&str>| vec![(environment.to_owned(), workload.map(str::to_owned))];
        let failed = GateProgressStatus::Failed;
        assert_eq!(check(SubjectKind::Platform, (MovePhase::Gated, failed)), of("stage", None));
        assert_eq!(check(SubjectKind::Platform, (MovePhase::Stopped, failed)), of("prod", None));
        assert_eq!(check(SubjectKind::Release, (MovePhase::Gated, failed)), of("stage", Some("checkout")));
        assert_eq!(check(SubjectKind::Workload, (MovePhase::Stopped, failed)), of("prod", Some("checkout")));
        assert_eq!(check(SubjectKind::Workload, (MovePhase::Moving, GateProgressStatus::Waiting)), []);
    }

    #[test]
    fn a_host_is_named_with_its_message() {
        let row = Deployment {
            host: "clinic-017".into(),
            since: Some(Timestamp::from_millis(0)),
            message: Some("image pull back-off\nsecond line".into()),
            ..Deployment::default()
        };
        let now = Timestamp::from_millis(660_000);
        assert_eq!(line(&row, "prod", now), "host clinic-017 of prod failed since 11 min: image pull back-off");
        assert_eq!(
            line(&Deployment { since: None, message: None, ..row }, "prod", now),
            "host clinic-017 of prod failed"
        );
    }
}
