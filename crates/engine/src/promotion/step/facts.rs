//! What a program knows of an environment.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use model::label::Labels;
use model::object::Promotion;
use model::object::promotion::{ChangeOrigin, Gate};

use super::{Settled, Subject};
use crate::promotion::advance::FromEnvironment;
use crate::promotion::evidence::{Approver, Authors, CheckResult, Measured, PlaceReports};
use crate::promotion::gates::Teams;
use crate::promotion::state::{AdvanceState, BranchPosition, Revision, RolloutState};
use crate::promotion::vector::Part;

/// What is not known comes with the reason in words.
pub type Known<T> = Result<T, Arc<str>>;

/// What a program knows of an environment while it decides. Answers stay the same during a step. What is expensive to find out is asked only where it counts: the state
/// of the fleet and the decisions of people only about what moves.
pub trait Facts {
    /// The current time.
    fn now(&self) -> Timestamp;

    /// The accounts of the members of each team.
    fn teams(&self) -> &Teams;

    /// The `Promotion` into the environment at a commit of the main branch. None: at its head.
    fn promotion(&self, commit: Option<&Revision>) -> Option<Promotion>;

    /// Why no commit, release or version can move into the environment. None: they can.
    fn problem(&self, promotion: &Promotion) -> Option<Arc<str>>;

    /// The commits of the main branch, newest first.
    fn line(&self) -> &[Revision];

    /// The commit of the main branch that the sources of the environment name. None: none.
    fn named(&self) -> Option<&Revision>;

    /// What the environment had published before the first step, if that is another commit than its sources name.
    fn baseline(&self) -> Option<&Revision>;

    /// The commit that the environment has proved, and whose files the head of the main branch has again.
    fn reverts_to(&self, state: &AdvanceState) -> Option<Revision>;

    /// Whether the environment has published what it has, without errors. Open rollouts do not count.
    fn settled(&self) -> Settled;

    /// Whether a change of the output waits in a pull request.
    fn is_proposed(&self) -> bool;

    /// Whether the branches that clusters pull have the output of what is admitted. False if it is not known.
    fn is_published(&self) -> bool;

    /// What an environment before shows of a subject, without the state of its places.
    fn before(&self, environment: &Arc<str>, subject: &Subject) -> FromEnvironment;

    /// The state of the places with what a subject concerns, for the output that was published, in an environment before. None: in the environment itself.
    ///
    /// # Errors
    /// Why it is not known.
    fn measured(&self, before: Option<&Arc<str>>, subject: &Subject) -> Known<Measured>;

    /// What checks and people say about a revision of a subject. Only the gates of the promotion count.
    fn evidence(&self, subject: &Subject, revision: &Revision, promotion: &Promotion) -> RevisionEvidence;

    /// The workloads with releases that the environment publishes. None: they are not known.
    fn releases(&self) -> Option<Vec<ReleaseFacts>>;

    /// The release of a workload that the sources of the environment name.
    fn named_release(&self, workload: &Arc<str>, promotion: &Promotion) -> Option<Revision>;

    /// The version of the program that renders. None: it does not count.
    fn renderer(&self) -> Option<Renderer>;

    /// The sources of values and applications that the environment was read from. None: they are not known, so nothing changes.
    fn sources(&self) -> Option<Vec<SourceFacts>>;

    /// The heads of sources that wait for gates or for the end of a hold, in their order.
    fn heads(&self, waiting: &[WaitingSource]) -> Vec<Known<SourceHead>>;

    /// The workloads in the rings of the environment. Empty: it has none, or its output is not known.
    fn rollouts(&self) -> Vec<Arc<str>>;

    /// What is known of a workload in the rings. The promotion has all its rings.
    ///
    /// # Errors
    /// Why it can't be evaluated.
    fn rollout(&self, workload: &Arc<str>, state: &RolloutState, promotion: &Promotion) -> Known<RolloutFacts<'_>>;
}

/// What checks and people say about a revision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RevisionEvidence {
    /// The last results of checks, by the name of the gate.
    pub checks: BTreeMap<Arc<str>, CheckResult>,
    /// Approvals from the git host. Those in the state count too.
    pub approvals: Vec<Approver>,
    /// Who wrote the change.
    pub authors: Authors,
}

/// A workload with a release.
#[derive(Clone, Debug)]
pub struct ReleaseFacts {
    /// The workload.
    pub workload: Arc<str>,
    /// The labels of its registration. None: the platform team wrote the workload, and its releases do not move.
    pub labels: Option<Labels>,
}

/// The version of the program that renders.
#[derive(Clone, Debug)]
pub struct Renderer {
    /// The version.
    pub version: Revision,
    /// What rendered the published folders that this version renders differently. None: it renders all of them the same.
    pub changes: Option<Revision>,
    /// Whether it is known of all folders what the version changes.
    pub is_known: bool,
}

/// A source of values or of an application.
#[derive(Clone, Debug)]
pub struct SourceFacts {
    /// The name.
    pub name: Arc<str>,
    /// What its changes count as.
    pub origin: ChangeOrigin,
    /// The commit that was read.
    pub commit: Revision,
}

/// A source whose newer commits wait for gates, or for the end of a hold.
#[derive(Clone, Debug)]
pub struct WaitingSource {
    /// The source.
    pub source: SourceFacts,
    /// The gates that are for it.
    pub gates: Vec<Gate>,
    /// Its state.
    pub state: AdvanceState,
}

/// The newest commit of a source.
#[derive(Clone, Debug)]
pub struct SourceHead {
    /// The commit.
    pub revision: Revision,
    /// Whether it changes something for the environment, compared with the admitted one.
    pub is_change: bool,
    /// What people say about it.
    pub evidence: RevisionEvidence,
    /// What people say about the candidate of the state, if it is another commit that has approvals, and that the newest one contains.
    pub candidate: Option<RevisionEvidence>,
    /// What people say now about each admitted change that is not on the branches that clusters pull. None: all are.
    pub unmerged: Option<Vec<RevisionEvidence>>,
}

/// What is known of a workload in the rings of an environment. The columns have an entry for each place that has the workload, in the same order.
#[derive(Clone, Debug)]
pub struct RolloutFacts<'a> {
    /// The revision that the sources give now. None: they have errors, so no move starts.
    pub desired: Option<Revision>,
    /// The part in which it differs from the stable revision.
    pub part: Part,
    /// Whether the moving revision can't be rendered any more.
    pub is_lost: bool,
    /// Whether the installed version of the program that renders changes what places have, and is not admitted: no move starts.
    pub is_kept: bool,
    /// The newest values as a change of their own, for the places that the move has reached and for the others, or why they can't be one. None: there are none.
    pub ahead: Option<Known<(Revision, Option<Revision>)>>,
    /// The revision to which a rollback by a person returns, or why it can't be rendered. None: no rollback begins.
    pub back: Option<Known<Revision>>,
    /// The current heads of the GitOps branches.
    pub position: BranchPosition,
    /// The ring of each place.
    pub ring: Cow<'a, [u16]>,
    /// The index of the domain of each place in `domains`.
    pub domain: Cow<'a, [u32]>,
    /// The hash that orders the places of a ring.
    pub hash: Cow<'a, [u64]>,
    /// The keys of all domains.
    pub domains: Cow<'a, [Arc<str>]>,
    /// Whether the moving revision has an assignment with errors at each place. Empty: nowhere.
    pub failing: Vec<bool>,
    /// The state of each place, for the content that it is to have by the stored state.
    pub measured: Known<Cow<'a, [PlaceReports]>>,
    /// Whether the move changes each place. None: not known yet.
    pub changed: Option<Cow<'a, [bool]>>,
    /// Whether all places that change are new.
    pub is_only_new: bool,
    /// What checks and people say about the revision in its ring.
    pub evidence: RevisionEvidence,
}
