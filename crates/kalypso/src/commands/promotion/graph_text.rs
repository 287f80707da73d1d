//! The graph of promotions as text: where each change stands, ring by ring, and what it waits for.

use std::fmt::Write as _;

use hub_api::promotions::{
    GateProgress, GateProgressStatus, MovePhase, MoveStatus, OverrideStatus, PersonDecision, PromotionStatus,
    RingProgress, RingState, SubjectKind, SubjectStatus, Wait,
};
use hub_api::timestamp::Timestamp;

use super::failed_hosts::FailedHosts;
use crate::hub_client::{ago, length, plain, short};
use crate::{table, terminal};

/// The width of a bar.
const BAR: u64 = 20;

/// The graph, at this time.
pub(super) fn text((graph, failed): (&[PromotionStatus], &FailedHosts), now: Timestamp) -> String {
    if graph.is_empty() {
        return "no environment has promotions\n".to_owned();
    }
    let blocks: Vec<_> = graph.iter().map(|status| environment((status, failed), now)).collect();
    blocks.join("\n")
}

fn environment((status, failed): (&PromotionStatus, &FailedHosts), now: Timestamp) -> String {
    let after = match status.before.as_slice() {
        [] => String::new(),
        before => format!("  after {}", plain(&before.join(", "))),
    };
    let mut text = format!("{}{after}\n", plain(&status.environment));
    if let Some(problem) = &status.problem {
        let _ = writeln!(text, "  can't be evaluated: {}", plain(problem));
    }
    let waits = &status.waiting_for;
    for line in waits.iter().filter_map(answer).chain(waits.iter().map(|wait| waits_for(wait, now))) {
        let _ = writeln!(text, "  {line}");
    }
    if status.subjects.is_empty() && status.problem.is_none() {
        text.push_str("  not evaluated yet\n");
    }
    let names: Vec<_> = status.subjects.iter().map(name).collect();
    let width = names.iter().map(|name| table::columns(name)).max().unwrap_or(0);
    for (subject, name) in status.subjects.iter().zip(&names) {
        let _ = writeln!(text, "  {}  {}", table::padded(name, width), summary(subject, now));
        for line in details(subject, now) {
            let _ = writeln!(text, "  {}  {line}", " ".repeat(width));
        }
        for line in failed.lines(status, subject) {
            let _ = writeln!(text, "  {}    {line}", " ".repeat(width));
        }
    }
    text
}

fn name(subject: &SubjectStatus) -> String {
    let name = subject.subject.as_deref().map_or_else(|| "main".to_owned(), plain);
    if subject.kind == SubjectKind::Release { format!("{name} release") } else { name }
}

/// The revision that an environment has, and whether it is proved.
fn summary(subject: &SubjectStatus, now: Timestamp) -> String {
    let at = plain(&short(subject.at.as_deref()));
    match &subject.proved {
        Some(proved) if Some(&proved.revision) == subject.at.as_ref() => {
            format!("{at}  proved {}", ago(Some(proved.on), now))
        }
        Some(proved) => format!("{at}  proved before: {}", plain(&short(Some(&proved.revision)))),
        None if matches!(subject.kind, SubjectKind::Values | SubjectKind::Application) => at,
        None => format!("{at}  not proved yet"),
    }
}

fn details(subject: &SubjectStatus, now: Timestamp) -> Vec<String> {
    let waits = subject.moving.as_ref().map_or(&subject.waiting_for, |moving| &moving.waiting_for);
    let mut lines: Vec<_> = waits.iter().filter_map(answer).collect();
    lines.dedup();
    if let Some(hold) = &subject.hold {
        lines.push(format!("held by {}, {}: {}", plain(&hold.by), ago(Some(hold.at), now), plain(&hold.reason)));
    }
    lines.extend(subject.overridden.as_ref().map(|found| overridden(found, now)));
    lines.extend(subject.waiting_for.iter().filter(|wait| !is_told(wait, subject)).map(|wait| waits_for(wait, now)));
    if let Some(rejected) = &subject.rejected {
        let reason = subject.rejected_because.as_deref().unwrap_or_default();
        let because = if reason.is_empty() { String::new() } else { format!(": {}", plain(reason)) };
        lines.push(format!("{} was rejected{because}", plain(&short(Some(rejected)))));
    }
    if let Some(moving) = &subject.moving {
        lines.extend(move_lines((subject, moving), now));
    }
    if !subject.waiting_revisions.is_empty() {
        let waiting: Vec<_> = subject.waiting_revisions.iter().map(|one| plain(&short(Some(one)))).collect();
        lines.push(format!("then: {}", waiting.join(", ")));
    }
    lines
}

fn overridden(found: &OverrideStatus, now: Timestamp) -> String {
    let OverrideStatus { revision, decision, gates, expires_on } = found;
    let gates = if gates.is_empty() { String::new() } else { format!(" past {}", plain(&gates.join(", "))) };
    let end = if *expires_on > now {
        format!("expires in {}", length(expires_on.since(now)))
    } else {
        format!("expired {}", ago(Some(*expires_on), now))
    };
    let (revision, by, reason) = (plain(&short(Some(revision))), plain(&decision.by), plain(&decision.reason));
    format!("{revision} was admitted{gates} by {by}, {end}: {reason}")
}

/// What a person can do about a wait, and who may. None: evidence or the clock ends it.
fn answer(wait: &Wait) -> Option<String> {
    let role = wait.role.as_ref().map(|role| format!("   role {}", plain(role))).unwrap_or_default();
    Some(match (&wait.command, &wait.url) {
        (Some(command), None) => format!("→ {}{role}", plain(command)),
        (Some(command), Some(url)) => format!("→ {}{role}, or a review of {}", plain(command), plain(url)),
        (None, Some(url)) => format!("→ merge {}", plain(url)),
        (None, None) => return None,
    })
}

/// Whether another line says already why something waits: that of its hold, or that of its rejected revision.
fn is_told(wait: &Wait, subject: &SubjectStatus) -> bool {
    let is_own = |hold: &PersonDecision| wait.text == format!("held by {}: {}", hold.by, hold.reason);
    let is_of_hold = wait.what == "hold" && subject.hold.as_ref().is_some_and(is_own);
    let reason = subject.rejected_because.as_deref().filter(|reason| !reason.is_empty());
    is_of_hold || (wait.what == "rejected" && reason.is_some_and(|reason| wait.text.contains(reason)))
}

fn waits_for(wait: &Wait, now: Timestamp) -> String {
    let since = wait.since.map_or_else(String::new, |since| format!("   {}", length(now.since(since))));
    format!("waits for {}: {}{since}", plain(&wait.what), plain(&wait.text))
}

fn move_lines((subject, moving): (&SubjectStatus, &MoveStatus), now: Timestamp) -> Vec<String> {
    let since = length(now.since(moving.phase_since));
    let mut first = format!("{} {} since {since}", plain(&short(Some(&moving.revision))), phase(moving.phase));
    // The wait says what the reason is now, and what ends it.
    let of_phase = match moving.phase {
        MovePhase::Stopped => Some("stopped"),
        MovePhase::RollingBack => Some("rollback"),
        _ => None,
    };
    let is_of_phase = |wait: &&Wait| Some(wait.what.as_str()) == of_phase;
    let text = moving.waiting_for.iter().find(is_of_phase).map(|wait| &wait.text).or(moving.reason.as_ref());
    if let Some(reason) = text {
        let _ = write!(first, ": {}", plain(reason));
    }
    let mut lines = vec![first];
    let width = moving.rings.iter().map(|ring| table::columns(&plain(&ring.name))).max().unwrap_or(0);
    lines.extend(moving.rings.iter().map(|one| format!("  {}", ring(one, width))));
    lines.extend(moving.gates.iter().map(|one| format!("  {}", gate(one))));
    // A gate that is listed says already what the change waits for.
    let is_listed = |wait: &&Wait| moving.gates.iter().any(|gate| gate.name == wait.what && gate.text == wait.text);
    let is_said = |wait: &&Wait| is_listed(wait) || is_told(wait, subject) || is_of_phase(wait);
    let waits = moving.waiting_for.iter().filter(|wait| !is_said(wait));
    lines.extend(waits.map(|wait| waits_for(wait, now)));
    lines
}

fn phase(phase: MovePhase) -> &'static str {
    match phase {
        MovePhase::Gated => "waits before the environment",
        MovePhase::Entering => "enters the environment",
        MovePhase::Moving => "moves",
        MovePhase::Proving => "proves itself",
        MovePhase::Stopped => "stopped",
        MovePhase::RollingBack => "is rolled back",
    }
}

fn ring(ring: &RingProgress, width: usize) -> String {
    let name = table::padded(&plain(&ring.name), width);
    if ring.state == RingState::Waiting {
        return format!("{name}  {} not yet", bar(0, 1));
    }
    let (expected, succeeded) = (ring.counts.expected, ring.counts.succeeded);
    let number = |number: u64| terminal::thousands(usize::try_from(number).unwrap_or(usize::MAX));
    let mut parts = vec![format!("{} of {} places released", number(ring.released), number(ring.changed))];
    if expected > 0 {
        parts.push(format!("{} of {} applied", number(succeeded), number(expected)));
    }
    let others = [
        (ring.counts.failed, "failed"),
        (ring.counts.silent, "silent"),
        (ring.counts.without_heartbeat, "without a heartbeat"),
    ];
    parts.extend(
        others.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{} {word}", number(*count))),
    );
    let state = match ring.state {
        RingState::Done if ring.changed == 0 => return format!("{name}  {} nothing changes", bar(1, 1)),
        RingState::Done => return format!("{name}  {} done", bar(1, 1)),
        RingState::Withdrawn => "withdrawn   ",
        RingState::Moving | RingState::Waiting => "",
    };
    // A place without reconcilers is reached when it is released.
    let (part, whole) = if expected > 0 { (succeeded, expected) } else { (ring.released, ring.changed) };
    format!("{name}  {} {state}{}", bar(part, whole), parts.join(" · "))
}

fn bar(part: u64, whole: u64) -> String {
    let full = part.saturating_mul(BAR).checked_div(whole).unwrap_or(0);
    (0..BAR).map(|position| if position < full { '█' } else { '░' }).collect()
}

fn gate(gate: &GateProgress) -> String {
    let word = match gate.status {
        GateProgressStatus::Passed => "passed",
        GateProgressStatus::Waiting => "waiting",
        GateProgressStatus::Failed => "failed",
        GateProgressStatus::Skipped => "skipped",
    };
    format!("{word:<7}  {}: {}", plain(&gate.name), plain(&gate.text))
}

#[cfg(test)]
mod tests {
    use hub_api::promotions::{ProvedStatus, RingCounts};

    use super::*;

    const MINUTE: i64 = 60_000;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_millis(minutes * MINUTE)
    }

    fn subject(name: Option<&str>, moving: Option<MoveStatus>) -> SubjectStatus {
        let kind = if name.is_some() { SubjectKind::Workload } else { SubjectKind::Platform };
        SubjectStatus {
            at: Some("41c77fe0".repeat(5)),
            proved: Some(ProvedStatus { revision: "41c77fe0".repeat(5), on: at(0) }),
            moving,
            ..SubjectStatus::new(name, kind)
        }
    }

    fn wait(what: &str, text: &str) -> Wait {
        Wait { what: what.to_owned(), text: text.to_owned(), role: Some("operator".to_owned()), ..Wait::default() }
    }

    fn rested(waiting_for: Vec<Wait>) -> SubjectStatus {
        SubjectStatus { waiting_for, ..subject(None, None) }
    }

    fn ring(name: &str, state: RingState, (released, changed): (u64, u64)) -> RingProgress {
        let counts = RingCounts::default();
        RingProgress { name: name.to_owned(), state, since: None, places: changed, changed, released, counts }
    }

    #[test]
    fn graph_shows_the_waits_of_each_change() {
        let gate = |name: &str, status, text: &str| GateProgress {
            name: name.to_owned(),
            status,
            since: at(60),
            text: text.to_owned(),
            skipped: None,
        };
        let counts = RingCounts { expected: 100, succeeded: 73, failed: 2, silent: 0, without_heartbeat: 3 };
        let moving = MoveStatus {
            revision: "77aa0120".repeat(5),
            since: at(60),
            phase: MovePhase::Moving,
            phase_since: at(60),
            reason: None,
            rings: vec![
                ring("canary", RingState::Done, (12, 12)),
                RingProgress { counts, ..ring("shops", RingState::Moving, (100, 400)) },
                ring("rest", RingState::Waiting, (0, 9)),
            ],
            gates: vec![gate(
                "failures",
                GateProgressStatus::Failed,
                "2 of 100 reconcilers failed, at most 1 may fail",
            )],
            waiting_for: vec![Wait {
                what: "failures".into(),
                text: "too many failed".into(),
                since: Some(at(110)),
                ..Wait::default()
            }],
        };
        let status = |name: &str, before: &[&str], subjects| PromotionStatus {
            environment: name.to_owned(),
            before: before.iter().map(|name| (*name).to_owned()).collect(),
            after: Vec::new(),
            evaluated_on: Some(at(120)),
            problem: None,
            waiting_for: Vec::new(),
            subjects,
        };
        let graph = [
            status("dev", &[], vec![subject(None, None)]),
            status("prod", &["dev"], vec![subject(None, None), subject(Some("checkout"), Some(moving))]),
        ];
        insta::assert_snapshot!(text((&graph, &FailedHosts::default()), at(120)), @r"
        dev
          main  41c77fe  proved 2 h ago

        prod  after dev
          main      41c77fe  proved 2 h ago
          checkout  41c77fe  proved 2 h ago
                    77aa012 moves since 60 min
                      canary  ████████████████████ done
                      shops   ██████████████░░░░░░ 100 of 400 places released · 73 of 100 applied · 2 failed · 3 without a heartbeat
                      rest    ░░░░░░░░░░░░░░░░░░░░ not yet
                      failed   failures: 2 of 100 reconcilers failed, at most 1 may fail
                    waits for failures: too many failed   10 min
        ");
    }

    #[test]
    fn possible_actions_come_first() {
        let held = Wait { command: Some("kalypso resume -e prod".into()), ..wait("hold", "held by ann: inventory") };
        let removals =
            Wait { command: Some("kalypso confirm prod 7f3a".into()), ..wait("removals", "the removal of 2 of 9") };
        let merge = Wait { url: Some("https://git.example/pulls/7".into()), ..wait("merge", "pull request 7") };
        let status = PromotionStatus {
            environment: "prod".to_owned(),
            before: Vec::new(),
            after: Vec::new(),
            evaluated_on: None,
            problem: None,
            waiting_for: vec![removals, merge],
            subjects: vec![
                rested(vec![held]),
                SubjectStatus { kind: SubjectKind::Release, ..subject(Some("shop"), None) },
                subject(Some("shop"), None),
            ],
        };
        insta::assert_snapshot!(text((&[status], &FailedHosts::default()), at(120)), @r"
        prod
          → kalypso confirm prod 7f3a   role operator
          → merge https://git.example/pulls/7
          waits for removals: the removal of 2 of 9
          waits for merge: pull request 7
          main          41c77fe  proved 2 h ago
                        → kalypso resume -e prod   role operator
                        waits for hold: held by ann: inventory
          shop release  41c77fe  proved 2 h ago
          shop          41c77fe  proved 2 h ago
        ");
    }

    #[test]
    fn a_rejected_revision_has_its_reason() {
        let rejected = |reason: &str| {
            let (rejected, rejected_because) = (Some("77aa0120".repeat(5)), Some(reason.to_owned()));
            details(&SubjectStatus { rejected, rejected_because, ..subject(None, None) }, at(0))
        };
        assert_eq!(rejected("rollback by ann: slow"), ["77aa012 was rejected: rollback by ann: slow"]);
        assert_eq!(rejected(""), ["77aa012 was rejected"]);
    }
}
