//! Reads stored states from state files.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::evidence::{Approver, Measured};
use engine::promotion::state::{
    AdvanceState, Candidate, CandidatePhase, Decision, Exercised, GateRecord, GateStatus, Interrupted, Move,
    MoveRequest, Phase, Position, ProofRecord, Proved, Rejection, Revision, RingRecord, RolledBack, RolloutState,
    Unmerged,
};
use engine::promotion::vector::Part;
use jiff::Timestamp;
use model::git_id::GitId;

use super::fields::{Fields, Item, StateFile, StateFileError};
use super::{
    API_VERSION, Advances, CONFIGURATION, PLATFORM, PROMOTION_KIND, ROLLOUT_KIND, RevisionSources, StoredRollout,
    StoredSource,
};

type Result<T> = std::result::Result<T, StateFileError>;

/// The fields of a rollout.
const ROLLOUT: &[&str] = &[
    "workload",
    "hold",
    "current",
    "interrupted",
    "waiting",
    "stable",
    "earlier",
    "rejected",
    "rolledBack",
    "targets",
    "revisions",
];

/// Reads the file of a workload's rollout.
pub(super) fn rollout(file: &StateFile<'_>, (environment, workload): (&str, &str)) -> Result<StoredRollout> {
    let root = file.root()?;
    let item = Item { file, node: &root };
    let fields = header(item, (ROLLOUT_KIND, environment), ROLLOUT)?;
    expect(fields.required("workload")?, workload)?;
    let revisions = |item: Item<'_>| {
        let entries = item.entries()?.into_iter();
        entries.map(|(digest, item)| Ok((Revision(digest), sources(item)?))).collect::<Result<BTreeMap<_, _>>>()
    };
    Ok(StoredRollout {
        state: RolloutState {
            stable: fields.maybe("stable", proved)?,
            current: fields.maybe("current", movement)?,
            interrupted: fields.maybe("interrupted", interrupted)?,
            waiting: fields.list("waiting", revision)?,
            earlier: fields.list("earlier", proved)?,
            rejected: fields.maybe("rejected", rejections)?.unwrap_or_default(),
            rolled_back: fields.maybe("rolledBack", rollback)?,
            hold: fields.maybe("hold", decision)?,
        },
        targets: fields.list("targets", |item| item.text())?.into_iter().collect(),
        revisions: fields.maybe("revisions", revisions)?.unwrap_or_default(),
    })
}

/// Reads the file of the changes on their way into the environment.
pub(super) fn advances(file: &StateFile<'_>, environment: &str) -> Result<Advances> {
    let root = file.root()?;
    let fields =
        header(Item { file, node: &root }, (PROMOTION_KIND, environment), &["platform", "releases", "sources"])?;
    let releases = |item: Item<'_>| {
        let entries = item.entries()?.into_iter();
        entries.map(|(workload, item)| Ok((workload, advance(item)?))).collect::<Result<BTreeMap<_, _>>>()
    };
    let sources = |item: Item<'_>| {
        let entries = item.entries()?.into_iter();
        entries.map(|(name, item)| Ok((name, source(item)?))).collect::<Result<BTreeMap<_, _>>>()
    };
    Ok(Advances {
        platform: fields.maybe("platform", advance)?,
        releases: fields.maybe("releases", releases)?.unwrap_or_default(),
        sources: fields.maybe("sources", sources)?.unwrap_or_default(),
    })
}

fn source(item: Item<'_>) -> Result<StoredSource> {
    let fields = item.fields(&["repo", "branch", "state"])?;
    let text = |key| Ok::<_, StateFileError>(fields.required(key)?.text()?.to_string());
    Ok(StoredSource { source: (text("repo")?, text("branch")?), state: advance(fields.required("state")?)? })
}

/// Checks the version, the kind and the environment of a file, and that it has no other fields than these and the known ones.
fn header<'a>(item: Item<'a>, (kind, environment): (&str, &str), known: &[&str]) -> Result<Fields<'a>> {
    let fields = item.fields(&[&["apiVersion", "kind", "environment"], known].concat())?;
    expect(fields.required("apiVersion")?, API_VERSION)?;
    expect(fields.required("kind")?, kind)?;
    expect(fields.required("environment")?, environment)?;
    Ok(fields)
}

fn expect(item: Item<'_>, expected: &str) -> Result<()> {
    let found = item.text()?;
    if *found == *expected {
        return Ok(());
    }
    Err(item.error(format!("`{expected}` is expected, not `{found}`")))
}

fn sources(item: Item<'_>) -> Result<RevisionSources> {
    let fields = item.fields(&["sources", "promoted", "releases", "kept"])?;
    let source = |item: Item<'_>| {
        let fields = item.fields(&["repo", "revision", "commit"])?;
        let (repo, name) = (fields.required("repo")?.text()?, fields.required("revision")?.text()?);
        Ok(((repo.to_string(), name.to_string()), commit_id(fields.required("commit")?)?))
    };
    let sources = fields.required("sources")?.list(source)?.into_iter().collect();
    let promoted = fields.maybe("promoted", commit_id)?;
    let releases = |item: Item<'_>| {
        item.entries()?.into_iter().map(|(name, item)| Ok((name, item.text()?))).collect::<Result<BTreeMap<_, _>>>()
    };
    let releases = fields.maybe("releases", releases)?.unwrap_or_default();
    Ok(RevisionSources { sources, promoted, releases, kept: fields.list("kept", |item| item.text())? })
}

fn commit_id(item: Item<'_>) -> Result<GitId> {
    GitId::from_hex(&item.text()?).ok_or_else(|| item.error("the id of a commit is expected"))
}

fn revision(item: Item<'_>) -> Result<Revision> {
    item.text().map(Revision)
}

fn time(item: Item<'_>) -> Result<Timestamp> {
    item.parsed("a time such as `2026-11-24T09:30:00Z`")
}

fn proved(item: Item<'_>) -> Result<Proved> {
    let fields = item.fields(&["revision", "position", "proved"])?;
    Ok(Proved {
        revision: revision(fields.required("revision")?)?,
        at: Position(fields.required("position")?.text()?),
        on: time(fields.required("proved")?)?,
    })
}

fn decision(item: Item<'_>) -> Result<Decision> {
    decision_of(&item.fields(&["by", "at", "reason"])?)
}

fn rollback(item: Item<'_>) -> Result<RolledBack> {
    let fields = item.fields(&["by", "at", "reason", "withValues", "target"])?;
    Ok(RolledBack {
        decision: decision_of(&fields)?,
        with_values: fields.maybe("withValues", |item| item.boolean())?.unwrap_or_default(),
        target: fields.maybe("target", proved)?,
    })
}

fn decision_of(fields: &Fields<'_>) -> Result<Decision> {
    Ok(Decision {
        by: fields.required("by")?.text()?,
        at: time(fields.required("at")?)?,
        reason: fields.required("reason")?.text()?,
    })
}

fn approver(item: Item<'_>) -> Result<Approver> {
    let fields = item.fields(&["account", "at", "by", "gate"])?;
    Ok(Approver {
        gate: fields.optional("gate").map(|gate| gate.text()).transpose()?,
        account: fields.required("account")?.text()?,
        at: time(fields.required("at")?)?,
        by: fields.required("by")?.text()?,
    })
}

fn gate(item: Item<'_>) -> Result<GateRecord> {
    let fields = item.fields(&["name", "status", "skipped", "since", "text"])?;
    let status = match (fields.optional("status"), fields.optional("skipped")) {
        (Some(status), None) => match &*status.text()? {
            "passed" => GateStatus::Passed,
            "waiting" => GateStatus::Waiting,
            "failed" => GateStatus::Failed,
            _ => return Err(status.error("`passed`, `waiting` or `failed` is expected")),
        },
        (None, Some(skipped)) => GateStatus::Skipped(decision(skipped)?),
        _ => return Err(fields.error("either `status` or `skipped` is expected")),
    };
    Ok(GateRecord {
        name: fields.required("name")?.text()?,
        status,
        since: time(fields.required("since")?)?,
        text: fields.required("text")?.text()?,
    })
}

fn because(item: Item<'_>) -> Result<(Arc<str>, Timestamp)> {
    let fields = item.fields(&["reason", "since"])?;
    Ok((fields.required("reason")?.text()?, time(fields.required("since")?)?))
}

fn stopped(item: Item<'_>) -> Result<Phase> {
    let fields = item.fields(&["reason", "since", "withdrawn"])?;
    Ok(Phase::Stopped {
        reason: fields.required("reason")?.text()?,
        since: time(fields.required("since")?)?,
        is_withdrawn: fields.required("withdrawn")?.boolean()?,
    })
}

fn rolling_back(item: Item<'_>) -> Result<Phase> {
    because(item).map(|(reason, since)| Phase::RollingBack { reason, since })
}

/// The fields of a move.
const MOVE: &[&str] = &[
    "revision",
    "part",
    "started",
    "base",
    "stopped",
    "rollingBack",
    "layout",
    "ring",
    "ringStarted",
    "released",
    "goodSince",
    "due",
    "gates",
    "approvals",
    "done",
];

fn movement(item: Item<'_>) -> Result<Move> {
    let fields = item.fields(MOVE)?;
    let phase = match (fields.maybe("stopped", stopped)?, fields.maybe("rollingBack", rolling_back)?) {
        (Some(_), Some(_)) => return Err(fields.error("a move is either stopped or rolled back")),
        (stopped, rolling_back) => stopped.or(rolling_back).unwrap_or(Phase::Moving),
    };
    let ring_index = fields.required("ring")?;
    Ok(Move {
        revision: revision(fields.required("revision")?)?,
        part: fields.maybe("part", part)?.unwrap_or_default(),
        started: time(fields.required("started")?)?,
        base: Position(fields.required("base")?.text()?),
        phase,
        layout: fields.maybe("layout", |item| item.text())?.unwrap_or_default(),
        ring: usize::try_from(ring_index.number()?).map_err(|_| ring_index.error("the number is too large"))?,
        ring_started: time(fields.required("ringStarted")?)?,
        released: fields.maybe("released", released)?.unwrap_or_default(),
        good_since: fields.maybe("goodSince", time)?,
        is_due: fields.maybe("due", |item| item.boolean())?.unwrap_or_default(),
        gates: fields.list("gates", gate)?,
        approvals: fields.list("approvals", approver)?,
        done: fields.list("done", ring)?,
    })
}

fn interrupted(item: Item<'_>) -> Result<Interrupted> {
    let fields = item.fields(&["move", "rest"])?;
    Ok(Interrupted { movement: movement(fields.required("move")?)?, rest: revision(fields.required("rest")?)? })
}

/// The part in which revisions differ. Earlier versions did not store it.
fn part(item: Item<'_>) -> Result<Part> {
    match &*item.text()? {
        PLATFORM => Ok(Part::Platform),
        CONFIGURATION => Ok(Part::Configuration),
        _ => Err(item.error(format!("`{PLATFORM}` or `{CONFIGURATION}` is expected"))),
    }
}

fn released(item: Item<'_>) -> Result<BTreeMap<Arc<str>, u64>> {
    let hash = |item: Item<'_>| {
        let text = item.text()?;
        let digits = Some(&*text).filter(|text| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let hash = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        hash.ok_or_else(|| item.error("16 hexadecimal digits are expected"))
    };
    item.entries()?.into_iter().map(|(domain, item)| Ok((domain, hash(item)?))).collect()
}

fn ring(item: Item<'_>) -> Result<RingRecord> {
    let fields = item.fields(&["name", "started", "ended", "measured", "gates"])?;
    Ok(RingRecord {
        name: fields.required("name")?.text()?,
        started: time(fields.required("started")?)?,
        ended: time(fields.required("ended")?)?,
        measured: fields.maybe("measured", measured)?,
        gates: fields.list("gates", gate)?,
    })
}

fn measured(item: Item<'_>) -> Result<Measured> {
    let known = ["places", "unpublished", "expected", "succeeded", "failed", "silent", "withoutHeartbeat"];
    let fields = item.fields(&known)?;
    let number = |key| fields.required(key)?.number();
    Ok(Measured {
        places: number("places")?,
        unpublished: number("unpublished")?,
        expected: number("expected")?,
        succeeded: number("succeeded")?,
        failed: number("failed")?,
        silent: number("silent")?,
        without_heartbeat: fields.maybe("withoutHeartbeat", |item| item.number())?.unwrap_or_default(),
    })
}

/// The fields of a subject on its way into an environment.
const ADVANCE: &[&str] = &[
    "at",
    "admitted",
    "hold",
    "stays",
    "current",
    "waiting",
    "proved",
    "proofs",
    "rejected",
    "requested",
    "evidence",
    "unmerged",
];

fn advance(item: Item<'_>) -> Result<AdvanceState> {
    let fields = item.fields(ADVANCE)?;
    let state = AdvanceState {
        at: fields.maybe("at", revision)?,
        admitted: fields.maybe("admitted", revision)?,
        proved: fields.maybe("proved", proved)?,
        proofs: fields.list("proofs", proof)?,
        current: fields.maybe("current", candidate)?,
        waiting: fields.list("waiting", revision)?,
        rejected: fields.maybe("rejected", rejections)?.unwrap_or_default(),
        hold: fields.maybe("hold", decision)?,
        stays: fields.maybe("stays", decision)?,
        requested: fields.maybe("requested", request)?,
        evidence: fields.list("evidence", exercised)?,
        unmerged: fields.list("unmerged", unmerged)?,
    };
    Ok(state.with_admitted())
}

fn unmerged(item: Item<'_>) -> Result<Unmerged> {
    let fields = item.fields(&["change", "from"])?;
    Ok(Unmerged { change: candidate(fields.required("change")?)?, from: fields.maybe("from", revision)? })
}

fn request(item: Item<'_>) -> Result<MoveRequest> {
    let fields = item.fields(&["revision", "decision", "retry"])?;
    Ok(MoveRequest {
        revision: revision(fields.required("revision")?)?,
        decision: decision(fields.required("decision")?)?,
        is_retry: fields.maybe("retry", |item| item.boolean())?.unwrap_or_default(),
    })
}

fn proof(item: Item<'_>) -> Result<ProofRecord> {
    let fields = item.fields(&["revision", "proved", "measured"])?;
    Ok(ProofRecord {
        revision: revision(fields.required("revision")?)?,
        on: time(fields.required("proved")?)?,
        measured: fields.maybe("measured", measured)?,
    })
}

fn exercised(item: Item<'_>) -> Result<Exercised> {
    let fields = item.fields(&["environment", "revision", "since"])?;
    Ok(Exercised {
        environment: fields.required("environment")?.text()?,
        revision: revision(fields.required("revision")?)?,
        since: time(fields.required("since")?)?,
    })
}

/// The rejected revisions. Earlier versions stored only the last one.
fn rejections(item: Item<'_>) -> Result<Vec<Rejection>> {
    if item.node.as_sequence().is_some() { item.list(rejection) } else { Ok(vec![rejection(item)?]) }
}

/// A rejected revision. Earlier versions stored it without the reason.
fn rejection(item: Item<'_>) -> Result<Rejection> {
    if let Ok(revision) = revision(item) {
        return Ok(Rejection { revision, reason: "".into(), part: Part::Both });
    }
    let fields = item.fields(&["revision", "reason", "part"])?;
    let part = fields.maybe("part", part)?.unwrap_or_default();
    let (of, reason) = (revision(fields.required("revision")?)?, fields.required("reason")?.text()?);
    Ok(Rejection { revision: of, reason, part })
}

/// The fields of a candidate.
const CANDIDATE: &[&str] = &[
    "revision",
    "since",
    "entering",
    "failed",
    "proving",
    "stopped",
    "rollingBack",
    "goodSince",
    "steadySince",
    "gates",
    "entry",
    "approvals",
];

fn candidate(item: Item<'_>) -> Result<Candidate> {
    let fields = item.fields(CANDIDATE)?;
    let since = |item: Item<'_>| time(item.fields(&["since"])?.required("since")?);
    let mut phases = [
        fields.maybe("entering", since)?.map(|since| CandidatePhase::Entering { since }),
        fields.maybe("proving", since)?.map(|since| CandidatePhase::Proving { since }),
        fields.maybe("stopped", because)?.map(|(reason, since)| CandidatePhase::Stopped { reason, since }),
        fields.maybe("rollingBack", because)?.map(|(reason, since)| CandidatePhase::RollingBack { reason, since }),
    ]
    .into_iter()
    .flatten();
    let phase = phases.next().unwrap_or(CandidatePhase::Gated);
    if phases.next().is_some() {
        return Err(fields.error("a candidate has one of `entering`, `proving`, `stopped` and `rollingBack`"));
    }
    Ok(Candidate {
        revision: revision(fields.required("revision")?)?,
        since: time(fields.required("since")?)?,
        phase,
        has_failed: fields.maybe("failed", |item| item.boolean())?.unwrap_or_default(),
        good_since: fields.maybe("goodSince", time)?,
        steady_since: fields.maybe("steadySince", time)?,
        gates: fields.list("gates", gate)?,
        entry: fields.list("entry", gate)?,
        approvals: fields.list("approvals", approver)?,
    })
}
