//! Reports of a step: how far a move is, what it waits for, and what happened.

use std::sync::Arc;

use jiff::Timestamp;
use model::object::release::shown;

use super::answer::{Answer, WaitingSubject};
use super::evidence::Measured;
use super::state::{Decision, GateRecord, Rejection, Revision};

/// What a wait for a write into an environment is called: [`Waiting::what`].
pub const WRITE: &str = "write";
/// What a wait for a rollback is called.
pub const ROLLBACK: &str = "rollback";
/// What a wait for the output of the environment itself is called.
pub const SETTLE: &str = "settle";
/// What a wait for the merge of the output of earlier changes is called.
pub const MERGE: &str = "merge";

/// How far a move is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveReport {
    /// The phase.
    pub phase: ReportPhase,
    /// The revision that moves. None: no revision moves.
    pub revision: Option<Revision>,
    /// Whether a person holds the move.
    pub is_held: bool,
    /// The rings of the environment, in their order. Empty for a move between environments.
    pub rings: Vec<RingReport>,
    /// The gates, as evaluated now.
    pub gates: Vec<GateRecord>,
    /// What the move waits for, the most important reason first. Empty only at rest.
    pub waiting: Vec<Waiting>,
}

/// The phase of a move, of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportPhase {
    /// No revision moves.
    Rest,
    /// A revision moves through rings.
    Moving,
    /// A revision waits for the gates of an environment.
    Gated,
    /// A revision is being written into an environment.
    Entering,
    /// An environment proves a revision.
    Proving,
    /// A revision failed and stopped.
    Stopped,
    /// The last proved revision returns.
    RollingBack,
}

impl MoveReport {
    /// Nothing moves, and nothing waits.
    pub fn at_rest() -> Self {
        let (rings, gates, waiting) = Default::default();
        Self { phase: ReportPhase::Rest, revision: None, is_held: false, rings, gates, waiting }
    }
}

impl ReportPhase {
    /// The name in answers and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rest => "rest",
            Self::Moving => "moving",
            Self::Gated => "gated",
            Self::Entering => "entering",
            Self::Proving => "proving",
            Self::Stopped => "stopped",
            Self::RollingBack => "rollingBack",
        }
    }
}

/// How far a ring is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingReport {
    /// The name of the ring.
    pub name: Arc<str>,
    /// The number of its places.
    pub places: u64,
    /// The number of them in which the revision changes something.
    pub changed: u64,
    /// The number of changed places that have, or are to have now, the moving revision.
    pub released: u64,
    /// The state of the changed places. Places that are not released count as not published. None: not known.
    pub measured: Option<Measured>,
    /// Whether the ring is done.
    pub is_done: bool,
}

/// A reason why a move waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// What it waits for: the name of a gate, or `hold`, `stopped`, `limits`, `rollback`, `changes`, `rings`, `sources`, `rejected`, `settle`, `write`, `request`,
    /// `candidate`, `merge`.
    pub what: Arc<str>,
    /// The reason in words.
    pub text: Arc<str>,
    /// Since when.
    pub since: Timestamp,
    /// What a person can do about it. None: it ends by itself, or outside of Kalypso.
    pub answer: Option<Answer>,
}

/// A change of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveEvent {
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub kind: EventKind,
    /// The revision that it is about.
    pub revision: Option<Revision>,
    /// What happened, in words.
    pub text: Arc<str>,
    /// The gates as they were evaluated then.
    pub gates: Vec<GateRecord>,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// A move began.
    Started,
    /// A ring began.
    RingStarted,
    /// More places of a ring get the revision.
    Released,
    /// A ring is done.
    RingDone,
    /// The first reason why a move waits is another one.
    Waiting,
    /// A move stopped.
    Stopped,
    /// The proved revision returns.
    RollingBack,
    /// The proved revision is back.
    RolledBack,
    /// All rings are done.
    Completed,
    /// A newer revision replaced a move.
    Superseded,
    /// A person holds the moves.
    Held,
    /// A move goes on: after a hold, a stop, or by a retry.
    Resumed,
    /// A move ended without a proof.
    Aborted,
    /// A person approved.
    Approved,
    /// A person skipped a gate.
    Skipped,
    /// The gates before an environment hold: the revision is written into it.
    Promoted,
    /// An environment proved a revision.
    Proved,
    /// A person moved an environment past its gates.
    MovedByHand,
    /// A person restored the stored states after their branch was rewritten or deleted.
    Restored,
    /// A person confirmed removals.
    Confirmed,
    /// A person made or changed a release pin.
    Pinned,
    /// A person removed a release pin.
    Unpinned,
}

impl EventKind {
    /// The name in answers, files and the history of the hub.
    pub fn name(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::RingStarted => "ringStarted",
            Self::Released => "released",
            Self::RingDone => "ringDone",
            Self::Waiting => "waiting",
            Self::Stopped => "stopped",
            Self::RollingBack => "rollingBack",
            Self::RolledBack => "rolledBack",
            Self::Completed => "completed",
            Self::Superseded => "superseded",
            Self::Held => "held",
            Self::Resumed => "resumed",
            Self::Aborted => "aborted",
            Self::Approved => "approved",
            Self::Skipped => "skipped",
            Self::Promoted => "promoted",
            Self::Proved => "proved",
            Self::MovedByHand => "movedByHand",
            Self::Restored => "restored",
            Self::Confirmed => "confirmed",
            Self::Pinned => "pinned",
            Self::Unpinned => "unpinned",
        }
    }
}

impl MoveReport {
    /// The text of an event that a move waits for this gate. None if it does not.
    pub(super) fn text_of_gate(&self, name: &str) -> Option<String> {
        let waiting = self.waiting.iter().find(|waiting| *waiting.what == *name)?;
        Some(format!("{name}: {}", waiting.text))
    }
}

impl Waiting {
    /// The command of the answer: [`Answer::command`]. None: no command ends this wait.
    pub fn command(&self, about: WaitingSubject<'_>) -> Option<String> {
        Some(self.answer?.command(about, &self.what))
    }

    /// The holds by people, as reasons: of the subject itself, and of the environment.
    pub(super) fn for_holds<'h>(
        own: Option<&'h Decision>,
        environment: Option<&'h Decision>,
    ) -> impl Iterator<Item = Self> + use<'h> {
        let own = own.map(|hold| (hold, Answer::Resume));
        let environment = environment.map(|hold| (hold, Answer::ResumeEnvironment));
        own.into_iter().chain(environment).map(|(hold, answer)| {
            reason("hold", format!("held by {}: {}", hold.by, hold.reason), hold.at).answered(answer)
        })
    }

    /// A rejected revision, as a reason. Earlier versions did not store why and when.
    pub(super) fn for_rejection(rejection: &Rejection, now: Timestamp) -> Self {
        let Rejection { revision, reason: why, at, .. } = rejection;
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        let text = format!("`{}` was rejected{why}; a newer revision moves", shown(&revision.0));
        reason("rejected", text, at.unwrap_or(now)).answered(Answer::Retry)
    }

    /// The gates that do not hold, as reasons. `answer`: what a person can do about one of them.
    pub(super) fn for_gates(
        records: &[GateRecord],
        answer: impl Fn(&GateRecord) -> Option<Answer>,
    ) -> impl Iterator<Item = Self> {
        records.iter().filter(|record| !record.holds()).map(move |record| Self {
            what: Arc::clone(&record.name),
            text: Arc::clone(&record.text),
            since: record.since,
            answer: answer(record),
        })
    }

    /// The same reason, with what a person can do about it.
    pub(super) fn answered(self, answer: Answer) -> Self {
        Self { answer: Some(answer), ..self }
    }
}

/// A reason why a move waits, which ends by itself or outside of Kalypso.
pub(super) fn reason(what: &str, text: String, since: Timestamp) -> Waiting {
    Waiting { what: what.into(), text: text.into(), since, answer: None }
}
