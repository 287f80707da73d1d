//! The state of promotions: where each subject stands in each environment, and what it waits for.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::timestamp::Timestamp;

/// An environment in the graph of promotions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromotionStatus {
    /// The environment.
    pub environment: String,
    /// The environments from which changes reach it.
    pub before: Vec<String>,
    /// The environments that changes reach from it.
    pub after: Vec<String>,
    /// When the service evaluated it last. None: not since it started.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub evaluated_on: Option<Timestamp>,
    /// Why it can't be evaluated. None if it can.
    pub problem: Option<String>,
    /// What its publication waits for. Empty: nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting_for: Vec<Wait>,
    /// What moves into it: the commits of the platform first, then workloads by name.
    pub subjects: Vec<SubjectStatus>,
}

impl PromotionStatus {
    /// What its publication and the changes into it wait for.
    pub fn waits(&self) -> impl Iterator<Item = &Wait> {
        self.waiting_for.iter().chain(self.subjects.iter().flat_map(SubjectStatus::waits))
    }
}

/// A subject in an environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubjectStatus {
    /// The workload, or the name of values or of an application. None: the commits of the platform.
    pub subject: Option<String>,
    /// What it is.
    pub kind: SubjectKind,
    /// The revision that the environment has now. None: none yet.
    pub at: Option<String>,
    /// The last revision that the environment proved. None: none yet.
    pub proved: Option<ProvedStatus>,
    /// The revision that moves now. None: nothing moves.
    pub moving: Option<MoveStatus>,
    /// Why nothing moves, if a person or an earlier failure keeps it from moving. Empty while something moves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting_for: Vec<Wait>,
    /// Newer revisions that wait, oldest first.
    pub waiting_revisions: Vec<String>,
    /// The revision that was rolled back or aborted last. It does not start again by itself.
    pub rejected: Option<String>,
    /// Why it was rolled back or aborted. Empty: not known. None: no revision was.
    #[serde(default)]
    pub rejected_because: Option<String>,
    /// A hold: nothing moves.
    pub hold: Option<PersonDecision>,
    /// The decision that admitted a revision past its gates, until the environment proves it, or its output is merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overridden: Option<OverrideStatus>,
}

impl SubjectStatus {
    /// Whether it is about the releases of a workload. Values and applications may have the same name.
    pub fn is_of_workload(&self, workload: &str) -> bool {
        let is_of_releases = matches!(self.kind, SubjectKind::Release | SubjectKind::Workload);
        is_of_releases && self.subject.as_deref() == Some(workload)
    }

    /// What its next step waits for.
    pub fn waits(&self) -> impl Iterator<Item = &Wait> {
        self.moving.iter().flat_map(|moving| &moving.waiting_for).chain(&self.waiting_for)
    }

    /// A subject that has nothing yet.
    pub fn new(subject: Option<&str>, kind: SubjectKind) -> Self {
        Self {
            subject: subject.map(str::to_owned),
            kind,
            at: None,
            proved: None,
            moving: None,
            waiting_for: Vec::new(),
            waiting_revisions: Vec::new(),
            rejected: None,
            rejected_because: None,
            hold: None,
            overridden: None,
        }
    }
}

/// What moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum SubjectKind {
    /// Commits of the control plane's main branch.
    Platform,
    /// Releases of a workload on their way into the environment.
    Release,
    /// What moves of a workload through the rings of the environment.
    Workload,
    /// Versions of the program that renders.
    Renderer,
    /// Commits of the environment's values, or of another repository of the platform.
    Values,
    /// Commits of an application's repository.
    Application,
}

/// A proved revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProvedStatus {
    /// The revision.
    pub revision: String,
    /// When it was proved.
    #[schema(value_type = String, format = DateTime)]
    pub on: Timestamp,
}

/// A revision on its way into an environment, or through its rings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoveStatus {
    /// The revision.
    pub revision: String,
    /// When its move began.
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
    /// Its phase.
    pub phase: MovePhase,
    /// When this phase began.
    #[schema(value_type = String, format = DateTime)]
    pub phase_since: Timestamp,
    /// Why it stopped or is rolled back. None in other phases.
    pub reason: Option<String>,
    /// The rings of the environment, in their order. Empty: it has none.
    pub rings: Vec<RingProgress>,
    /// The gates that decide about the next step, as they were evaluated last.
    pub gates: Vec<GateProgress>,
    /// What the next step waits for. Empty: nothing.
    pub waiting_for: Vec<Wait>,
}

/// The phase of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum MovePhase {
    /// It waits for the gates before the environment.
    Gated,
    /// The gates held, and it is being written into the environment, for example by a pull request that waits for its merge.
    Entering,
    /// It moves through the rings.
    Moving,
    /// All places have it, and the environment proves it.
    Proving,
    /// It failed and stopped.
    Stopped,
    /// The environment returns to the last proved revision.
    RollingBack,
}

/// A ring of an environment during a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RingProgress {
    /// The name.
    pub name: String,
    /// How far it is.
    pub state: RingState,
    /// Since when. None while it waits.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub since: Option<Timestamp>,
    /// The number of its places.
    pub places: u64,
    /// The number of its places that the move changes.
    pub changed: u64,
    /// The number of the changed places that are released.
    pub released: u64,
    /// The reconcilers of its released places.
    pub counts: RingCounts,
}

/// How far a ring is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum RingState {
    /// A ring before it is not done.
    Waiting,
    /// It moves now.
    Moving,
    /// All its places have the revision, and its gates held.
    Done,
    /// Its places returned to the last proved revision.
    Withdrawn,
}

/// The numbers of reconcilers of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RingCounts {
    /// Those expected to have the revision.
    pub expected: u64,
    /// Those of them that applied it, and are not silent.
    pub succeeded: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Those of them that did not fail, and whose report is overdue.
    pub silent: u64,
    /// Those in `succeeded` without a heartbeat: the hub can't detect when they stop.
    #[serde(default)]
    pub without_heartbeat: u64,
}

/// A gate as it was evaluated last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateProgress {
    /// The name.
    pub name: String,
    /// Its status.
    pub status: GateProgressStatus,
    /// Since when it has had this status.
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
    /// The evidence, or what it waits for.
    pub text: String,
    /// Who skipped it. None in other cases.
    pub skipped: Option<PersonDecision>,
}

/// The status of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum GateProgressStatus {
    /// It holds.
    Passed,
    /// It does not hold yet, or can't be evaluated.
    Waiting,
    /// It can't hold any more without a change.
    Failed,
    /// A person skipped it.
    Skipped,
}

/// What a move waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Wait {
    /// The name of a gate, or the kind, such as `hold`, `rejected`, `stopped`, `limits`, `write` or `removals`.
    pub what: String,
    /// What is missing, in one line for people.
    pub text: String,
    /// Since when. None: not known.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub since: Option<Timestamp>,
    /// The command that ends it, or takes it one step nearer to its end. Words in capital letters stand for what a person says. None: evidence or the clock ends it,
    /// or people on the git host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The role with the fewest permissions that may run the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The page on the git host where people can end it: by a merge or a review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// A revision that a person admitted past its gates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OverrideStatus {
    /// The revision.
    pub revision: String,
    /// Who decided, when and why.
    #[serde(flatten)]
    pub decision: PersonDecision,
    /// The gates that it passed.
    pub gates: Vec<String>,
    /// From then on, what is not published yet needs the gates again.
    #[schema(value_type = String, format = DateTime)]
    pub expires_on: Timestamp,
}

/// A decision of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersonDecision {
    /// Who decided.
    pub by: String,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// Why.
    pub reason: String,
}
