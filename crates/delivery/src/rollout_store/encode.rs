//! Converts stored states to the values of state files.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::evidence::{Approver, Measured};
use engine::promotion::state::{
    AdvanceState, Candidate, CandidatePhase, Decision, Exercised, GateRecord, GateStatus, Interrupted, Move,
    MoveRequest, Phase, ProofRecord, Proved, Rejection, Revision, RingRecord, RolledBack, RolloutState, Unmerged,
};
use engine::promotion::vector::Part;
use jiff::Timestamp;

use super::text::Value;
use super::{API_VERSION, Advances, PROMOTION_KIND, ROLLOUT_KIND, RevisionSources, StoredRollout, StoredSource};

/// The file of a workload's rollout.
pub(super) fn rollout((environment, workload): (&str, &str), stored: &StoredRollout) -> String {
    let RolloutState { stable, earlier, current, interrupted, waiting, rejected, rolled_back, hold } = &stored.state;
    let revisions = stored.revisions.iter().map(|(revision, sources)| (Arc::clone(&revision.0), sources_of(sources)));
    let revisions = (!stored.revisions.is_empty()).then(|| Value::Fields(revisions.collect()));
    let targets: Vec<_> = stored.targets.iter().collect();
    let file = Value::fields([
        ("apiVersion", Some(Value::text(API_VERSION))),
        ("kind", Some(Value::text(ROLLOUT_KIND))),
        ("environment", Some(Value::text(environment))),
        ("workload", Some(Value::text(workload))),
        ("hold", hold.as_ref().map(decision)),
        ("current", current.as_ref().map(movement)),
        ("interrupted", interrupted.as_ref().map(interrupted_move)),
        ("waiting", Value::list(waiting, revision)),
        ("stable", stable.as_ref().map(proved)),
        ("earlier", Value::list(earlier, proved)),
        ("rejected", Value::list(rejected, rejection)),
        ("rolledBack", rolled_back.as_ref().map(rollback)),
        ("targets", Value::list(&targets, |target| Value::text(Arc::clone(*target)))),
        ("revisions", revisions),
    ]);
    file.written()
}

fn rollback(RolledBack { decision, with_values, target }: &RolledBack) -> Value {
    let [by, at, reason] = fields_of(decision);
    Value::fields([
        by,
        at,
        reason,
        ("withValues", with_values.then_some(Value::Bool(true))),
        ("target", target.as_ref().map(proved)),
    ])
}

/// The file of the changes on their way into the environment.
pub(super) fn advances(environment: &str, Advances { platform, releases, sources }: &Advances) -> String {
    let each = releases.iter().map(|(workload, state)| (Arc::clone(workload), advance(state)));
    let each_source = sources.iter().map(|(name, stored)| (Arc::clone(name), source(stored)));
    let file = Value::fields([
        ("apiVersion", Some(Value::text(API_VERSION))),
        ("kind", Some(Value::text(PROMOTION_KIND))),
        ("environment", Some(Value::text(environment))),
        ("platform", platform.as_ref().map(advance)),
        ("releases", (!releases.is_empty()).then(|| Value::Fields(each.collect()))),
        ("sources", (!sources.is_empty()).then(|| Value::Fields(each_source.collect()))),
    ]);
    file.written()
}

fn source(StoredSource { source: (repo, branch), state }: &StoredSource) -> Value {
    let text = |text: &String| Some(Value::text(text.as_str()));
    Value::fields([("repo", text(repo)), ("branch", text(branch)), ("state", Some(advance(state)))])
}

fn sources_of(RevisionSources { sources, promoted, releases, kept }: &RevisionSources) -> Value {
    let source = |((repo, name), commit): (&(String, String), &model::git_id::GitId)| {
        Value::fields([
            ("repo", Some(Value::text(repo.as_str()))),
            ("revision", Some(Value::text(name.as_str()))),
            ("commit", Some(Value::text(commit.to_string()))),
        ])
    };
    let release = |(name, version): (&Arc<str>, &Arc<str>)| (Arc::clone(name), Value::text(Arc::clone(version)));
    Value::fields([
        ("sources", Some(Value::List(sources.iter().map(source).collect()))),
        ("promoted", promoted.map(|commit| Value::text(commit.to_string()))),
        ("releases", (!releases.is_empty()).then(|| Value::Fields(releases.iter().map(release).collect()))),
        ("kept", Value::list(kept, |line| Value::text(Arc::clone(line)))),
    ])
}

fn revision(Revision(text): &Revision) -> Value {
    Value::text(Arc::clone(text))
}

fn time(at: Timestamp) -> Value {
    Value::text(at.to_string())
}

fn proved(Proved { revision: of, at, on }: &Proved) -> Value {
    let position = Value::text(Arc::clone(&at.0));
    Value::fields([("revision", Some(revision(of))), ("position", Some(position)), ("proved", Some(time(*on)))])
}

fn decision(decision: &Decision) -> Value {
    Value::fields(fields_of(decision))
}

fn fields_of(Decision { by, at, reason }: &Decision) -> [(&'static str, Option<Value>); 3] {
    let (by, reason) = (Value::text(Arc::clone(by)), Value::text(Arc::clone(reason)));
    [("by", Some(by)), ("at", Some(time(*at))), ("reason", Some(reason))]
}

fn approver(Approver { account, at, by, gate }: &Approver) -> Value {
    let (account, by) = (Value::text(Arc::clone(account)), Value::text(Arc::clone(by)));
    let gate = gate.as_ref().map(|gate| Value::text(Arc::clone(gate)));
    Value::fields([("account", Some(account)), ("at", Some(time(*at))), ("by", Some(by)), ("gate", gate)])
}

fn gate(GateRecord { name, status, since, text }: &GateRecord) -> Value {
    let (word, skipped) = match status {
        GateStatus::Passed => (Some("passed"), None),
        GateStatus::Waiting => (Some("waiting"), None),
        GateStatus::Failed => (Some("failed"), None),
        GateStatus::Skipped(by) => (None, Some(decision(by))),
    };
    Value::fields([
        ("name", Some(Value::text(Arc::clone(name)))),
        ("status", word.map(Value::text)),
        ("skipped", skipped),
        ("since", Some(time(*since))),
        ("text", Some(Value::text(Arc::clone(text)))),
    ])
}

/// A reason with its time, and an optional flag.
fn because(reason: &Arc<str>, since: Timestamp, is_withdrawn: Option<bool>) -> Value {
    Value::fields([
        ("reason", Some(Value::text(Arc::clone(reason)))),
        ("since", Some(time(since))),
        ("withdrawn", is_withdrawn.map(Value::Bool)),
    ])
}

fn movement(current: &Move) -> Value {
    let (stopped, rolling_back) = match &current.phase {
        Phase::Moving => (None, None),
        Phase::Stopped { reason, since, is_withdrawn } => (Some(because(reason, *since, Some(*is_withdrawn))), None),
        Phase::RollingBack { reason, since } => (None, Some(because(reason, *since, None))),
    };
    Value::fields([
        ("revision", Some(revision(&current.revision))),
        ("part", part_name(current.part)),
        ("started", Some(time(current.started))),
        ("base", Some(Value::text(Arc::clone(&current.base.0)))),
        ("stopped", stopped),
        ("rollingBack", rolling_back),
        ("layout", (!current.layout.is_empty()).then(|| Value::text(Arc::clone(&current.layout)))),
        ("ring", Some(Value::Number(current.ring as u64))),
        ("ringStarted", Some(time(current.ring_started))),
        ("released", released(&current.released)),
        ("goodSince", current.good_since.map(time)),
        ("due", current.is_due.then_some(Value::Bool(true))),
        ("gates", Value::list(&current.gates, gate)),
        ("approvals", Value::list(&current.approvals, approver)),
        ("done", Value::list(&current.done, ring)),
    ])
}

fn interrupted_move(Interrupted { movement: of, rest }: &Interrupted) -> Value {
    Value::fields([("move", Some(movement(of))), ("rest", Some(revision(rest)))])
}

fn part_name(part: Part) -> Option<Value> {
    match part {
        Part::Platform => Some(Value::text(super::PLATFORM)),
        Part::Configuration => Some(Value::text(super::CONFIGURATION)),
        Part::Both => None,
    }
}

fn released(released: &BTreeMap<Arc<str>, u64>) -> Option<Value> {
    let entry = |(domain, hash): (&Arc<str>, &u64)| (Arc::clone(domain), Value::text(format!("{hash:016x}")));
    (!released.is_empty()).then(|| Value::Fields(released.iter().map(entry).collect()))
}

fn ring(RingRecord { name, started, ended, measured: counts, gates }: &RingRecord) -> Value {
    Value::fields([
        ("name", Some(Value::text(Arc::clone(name)))),
        ("started", Some(time(*started))),
        ("ended", Some(time(*ended))),
        ("measured", counts.as_ref().map(measured)),
        ("gates", Value::list(gates, gate)),
    ])
}

fn measured(measured: &Measured) -> Value {
    let Measured { places, unpublished, expected, succeeded, failed, silent, without_heartbeat } = measured;
    let number = |number: &u64| Some(Value::Number(*number));
    Value::fields([
        ("places", number(places)),
        ("unpublished", number(unpublished)),
        ("expected", number(expected)),
        ("succeeded", number(succeeded)),
        ("failed", number(failed)),
        ("silent", number(silent)),
        // Earlier versions do not know this field.
        ("withoutHeartbeat", number(without_heartbeat).filter(|_| *without_heartbeat > 0)),
    ])
}

fn advance(state: &AdvanceState) -> Value {
    let request = |MoveRequest { revision: of, decision: by, is_retry }: &MoveRequest| {
        let retry = is_retry.then_some(Value::Bool(true));
        Value::fields([("revision", Some(revision(of))), ("decision", Some(decision(by))), ("retry", retry)])
    };
    Value::fields([
        ("at", state.at.as_ref().map(revision)),
        ("admitted", state.admitted.as_ref().map(revision)),
        ("hold", state.hold.as_ref().map(decision)),
        ("stays", state.stays.as_ref().map(decision)),
        ("current", state.current.as_ref().map(candidate)),
        ("waiting", Value::list(&state.waiting, revision)),
        ("proved", state.proved.as_ref().map(proved)),
        ("proofs", Value::list(&state.proofs, proof)),
        ("rejected", Value::list(&state.rejected, rejection)),
        ("requested", state.requested.as_ref().map(request)),
        ("evidence", Value::list(&state.evidence, exercised)),
        ("unmerged", Value::list(&state.unmerged, unmerged)),
    ])
}

fn unmerged(Unmerged { change, from }: &Unmerged) -> Value {
    Value::fields([("change", Some(candidate(change))), ("from", from.as_ref().map(revision))])
}

fn proof(ProofRecord { revision: of, on, measured: counts }: &ProofRecord) -> Value {
    Value::fields([
        ("revision", Some(revision(of))),
        ("proved", Some(time(*on))),
        ("measured", counts.as_ref().map(measured)),
    ])
}

fn exercised(Exercised { environment, revision: of, since }: &Exercised) -> Value {
    let environment = Value::text(Arc::clone(environment));
    Value::fields([("environment", Some(environment)), ("revision", Some(revision(of))), ("since", Some(time(*since)))])
}

fn rejection(Rejection { revision: of, reason, part }: &Rejection) -> Value {
    let reason = Value::text(Arc::clone(reason));
    Value::fields([("revision", Some(revision(of))), ("reason", Some(reason)), ("part", part_name(*part))])
}

fn candidate(candidate: &Candidate) -> Value {
    let Candidate { revision: of, since, phase, has_failed, good_since, steady_since, gates, entry, approvals } =
        candidate;
    let since_only = |since: &Timestamp| Value::fields([("since", Some(time(*since)))]);
    let (name, value) = match phase {
        CandidatePhase::Gated => ("gated", None),
        CandidatePhase::Entering { since } => ("entering", Some(since_only(since))),
        CandidatePhase::Proving { since } => ("proving", Some(since_only(since))),
        CandidatePhase::Stopped { reason, since } => ("stopped", Some(because(reason, *since, None))),
        CandidatePhase::RollingBack { reason, since } => ("rollingBack", Some(because(reason, *since, None))),
    };
    Value::fields([
        ("revision", Some(revision(of))),
        ("since", Some(time(*since))),
        (name, value),
        ("failed", has_failed.then_some(Value::Bool(true))),
        ("goodSince", good_since.map(time)),
        ("steadySince", steady_since.map(time)),
        ("gates", Value::list(gates, gate)),
        ("entry", Value::list(entry, gate)),
        ("approvals", Value::list(approvals, approver)),
    ])
}
