//! The step of an environment: one decision about everything that is on its way into it.
//!
//! [`step`] is pure and total, and the same for the service, for one run of the command line, and for simulations. A program gives it what it knows ([`Facts`]) and what
//! was stored ([`State`]), stores the new states of the [`StepPlan`], and then performs its writes.

mod facts;
mod moves;
mod renderer;
mod rollouts;
mod settled;
mod sources;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use model::object::Promotion;

pub use self::facts::{
    Facts, Known, ReleaseFacts, Renderer, RevisionEvidence, RolloutFacts, SourceFacts, SourceHead, WaitingSource,
};
pub use self::settled::Settled;
use super::advance::AdvanceStep;
use super::in_force::{admits, in_force};
use super::rings::RolloutStep;
use super::source::SourceStep;
use super::state::{AdvanceState, Decision, Revision, RolloutState};

/// The name of the renderer among the subjects of an environment. No workload has such a name.
pub const RENDERER: &str = "kalypso/renderer";

/// What moves into an environment by [`advance`](super::advance).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The commits of the main branch.
    Main,
    /// The releases of a workload.
    Release(Arc<str>),
    /// The version of the program that renders.
    Renderer,
}

/// The stored states of an environment.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The commits of the main branch on their way into it. A hold of the whole environment is here.
    pub main: Option<AdvanceState>,
    /// The releases of workloads, by the name of the workload.
    pub releases: BTreeMap<Arc<str>, AdvanceState>,
    /// The version of the program that renders.
    pub renderer: Option<AdvanceState>,
    /// The sources of values and applications whose commits are recorded, by name.
    pub sources: BTreeMap<Arc<str>, AdvanceState>,
    /// The workloads in its rings.
    pub rollouts: BTreeMap<Arc<str>, RolloutState>,
    /// The admitted promotion.
    pub promotion: Option<Promotion>,
}

impl State {
    /// A hold of the whole environment by a person.
    pub fn hold(&self) -> Option<&Decision> {
        self.main.as_ref()?.hold.as_ref()
    }
}

/// What a step decides with.
#[derive(Clone, Copy)]
struct StepInput<'a> {
    facts: &'a dyn Facts,
    state: &'a State,
    /// The promotion in force.
    promotion: &'a Promotion,
}

/// What a step decides.
#[derive(Debug, Default)]
pub struct StepPlan {
    /// The promotion in force, without that of a candidate. None: nothing moves into the environment.
    pub promotion: Option<Promotion>,
    /// Why no commit, release or version can move into the environment. None: they can.
    pub problem: Option<Arc<str>>,
    /// What moves into the environment.
    pub moves: Vec<PlannedMove>,
    /// The workloads that the promotion does not select any more. Their recorded releases are removed, and their objects name the release again.
    pub forgotten: Vec<Arc<str>>,
    /// The sources of values and applications. One that is recorded, and not among them, keeps its state.
    pub sources: Vec<PlannedSource>,
    /// The recorded sources that wait for nothing any more: the output follows their heads.
    pub released_sources: Vec<Arc<str>>,
    /// The workloads in the rings.
    pub rollouts: Vec<PlannedRollout>,
    /// Whether the environment is settled.
    pub settled: Settled,
    /// The commit of the main branch whose promotion is admitted now. None: the admitted promotion stays.
    pub admits: Option<Revision>,
    /// What is not known, and stops only itself.
    pub problems: Vec<String>,
}

/// What was decided about a subject.
#[derive(Debug)]
pub struct PlannedMove {
    /// The subject.
    pub subject: Subject,
    /// The state before.
    pub before: AdvanceState,
    /// The decision.
    pub step: AdvanceStep,
    /// What is to be written.
    pub write: Write,
}

impl PlannedMove {
    /// Whether another revision is admitted than before. The first one is there already.
    pub fn admits(&self) -> bool {
        self.before.admitted.is_some() && self.step.state.admitted != self.before.admitted
    }
}

/// What is to be written about a subject, in each step until it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// A revision into the environment: directly, or by a pull request that may be merged.
    Put {
        /// The revision.
        revision: Revision,
        /// Whether it is one that the environment has proved before.
        is_rollback: bool,
    },
    /// A pull request with a revision, for the reviews of people. It must not be merged yet.
    Review(Revision),
    /// No pull request is open but one with this revision, which waits for its gates with the reviews that it has.
    Withdraw {
        /// The revision.
        keep: Option<Revision>,
    },
    /// Nothing.
    Nothing,
}

/// What was decided about a source.
#[derive(Debug)]
pub struct PlannedSource {
    /// The name.
    pub name: Arc<str>,
    /// The decision. None: its head can't be read, and it keeps this state.
    pub step: Result<SourceStep, Box<AdvanceState>>,
}

impl PlannedSource {
    /// The state after the step.
    pub fn state(&self) -> &AdvanceState {
        match &self.step {
            Ok(step) => &step.state,
            Err(state) => state,
        }
    }
}

/// What was decided about a workload in the rings.
#[derive(Debug)]
pub struct PlannedRollout {
    /// The workload.
    pub workload: Arc<str>,
    /// The revision that the sources give.
    pub desired: Option<Revision>,
    /// The decision.
    pub step: RolloutStep,
}

/// Decides what happens next in an environment.
///
/// 1. Sources of values and applications: the newest commits of each wait for the gates of people and of the clock.
/// 2. The workloads in the rings. A rollout that is open keeps its workload from being settled, a failed one from proving what it has. The releases of other
///    workloads go on. Everything else waits for all workloads.
/// 3. The commits of the main branch, the releases of the workloads that the promotion selects, and the version of the program that renders, each with the gates for its
///    origin. The `Promotion` at a commit of the main branch adds its gates.
///
/// All of them are decided with the same facts. A hold of the environment stops all of them but rollbacks.
pub fn step(facts: &dyn Facts, state: &State) -> StepPlan {
    let mut plan = StepPlan { promotion: promotion(facts, state, None), ..StepPlan::default() };
    sources::plan(facts, state, &mut plan);
    plan.settled = facts.settled();
    let Some(promotion) = plan.promotion.clone() else { return plan };
    let input = StepInput { facts, state, promotion: &promotion };
    rollouts::plan(input, &mut plan);
    plan.problem = facts.problem(&promotion);
    if plan.problem.is_some() {
        return plan;
    }
    if promotion.select.platform {
        let planned = moves::of_main(input, &plan.settled);
        plan.admits = admits((&planned.before, state.promotion.is_none()), &planned.step.state).cloned();
        plan.moves.push(planned);
    }
    moves::of_releases(input, &mut plan);
    plan.moves.extend(renderer::of_renderer(input, &plan.settled));
    plan
}

/// The promotion into the environment with all gates in force, also those at the commit of a candidate.
fn promotion(facts: &dyn Facts, state: &State, candidate: Option<&Revision>) -> Option<Promotion> {
    let at_head = facts.promotion(None);
    let at_candidate = candidate.filter(|candidate| facts.line().first() != Some(*candidate));
    let at_candidate = at_candidate.and_then(|candidate| facts.promotion(Some(candidate)));
    let others: Vec<_> = at_head.iter().chain(&at_candidate).collect();
    in_force(state.promotion.as_ref(), &others)
}
