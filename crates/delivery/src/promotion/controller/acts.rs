//! Carries out what a step decided, write by write. Each of them is done again by the next step, if it was not done.

use engine::promotion::command::{Command, apply_to_advance};
use engine::promotion::state::{AdvanceState, Revision};
use engine::promotion::step::{PlannedMove, StepPlan, Subject, Write};
use model::object::Promotion;

use super::changes::{Change, DecidedEvents};
use super::commit_move::CommitMoveError;
use super::commit_status;
use super::context::Context;
use super::error::ControllerError;
use super::facts::StepFacts;
use super::line;
use super::platform::Acted;
use super::unwritten::{Unwritten, UnwrittenMove};
use crate::pull_requests::set_status;
use crate::states::rollout_store;

/// What was carried out.
pub(super) enum Performed {
    /// A branch moved, or a decision ended: everything is read again.
    Again {
        /// Whether the sources of the environment changed.
        has_moved: bool,
    },
    /// Nothing moved.
    Done {
        /// What could not be done beside it, and why.
        problems: Vec<String>,
        /// The writes that are not in the environment yet.
        unwritten: Unwritten,
    },
}

/// Carries out a plan. A repository or host of one workload that fails does not stop the others.
pub(super) fn perform(facts: &StepFacts<'_>, plan: &StepPlan) -> Result<Performed, ControllerError> {
    let (mut problems, mut unwritten) = (Vec::new(), Vec::new());
    let Some(promotion) = &plan.promotion else { return Ok(Performed::Done { problems, unwritten }) };
    let acts = Acts { facts, promotion };
    for planned in &plan.moves {
        let acted = match (acts.act(planned), &planned.subject) {
            (Err(ControllerError::Move(error)), Subject::Release(_)) => Acted::Problem(error.text().into()),
            (Err(ControllerError::Move(error)), _) if error.needs_person() => Acted::Problem(error.text().into()),
            (acted, _) => acted?,
        };
        match (acted, &planned.subject) {
            (Acted::Moved, _) => return Ok(Performed::Again { has_moved: true }),
            (Acted::LostRace, _) => return Ok(Performed::Again { has_moved: false }),
            (Acted::Declined(command, revision), _) => {
                acts.decline(&planned.subject, &command, &revision)?;
                return Ok(Performed::Again { has_moved: false });
            }
            (Acted::Problem(problem), subject) => unwritten.push((subject.clone(), UnwrittenMove::Refused(problem))),
            (Acted::Proposed(found), subject) => unwritten.push((subject.clone(), UnwrittenMove::Proposed(found))),
            (Acted::Nothing, _) => {}
        }
        problems.extend(acts.set_status(planned).err());
    }
    Ok(Performed::Done { problems, unwritten })
}

/// The pull requests of earlier steps, for a step that writes nothing. If the git host gives no answer about one, it is left out.
pub(super) fn proposed(facts: &StepFacts<'_>, plan: &StepPlan) -> Unwritten {
    let Some(promotion) = &plan.promotion else { return Vec::new() };
    let one = |planned: &PlannedMove| {
        let (Write::Put { revision, .. } | Write::Review(revision)) = &planned.write else { return None };
        let found = match &planned.subject {
            Subject::Main => facts.platform().proposals().proposed(revision),
            Subject::Release(workload) => facts.release(workload, promotion)?.proposed(revision),
            Subject::Renderer => None,
        };
        Some((planned.subject.clone(), UnwrittenMove::Proposed(found?)))
    };
    plan.moves.iter().filter_map(one).collect()
}

/// Carries out the moves of a plan, under the promotion in force.
struct Acts<'a, 'f> {
    facts: &'a StepFacts<'f>,
    promotion: &'a Promotion,
}

impl Acts<'_, '_> {
    fn act(&self, PlannedMove { subject, step, write, .. }: &PlannedMove) -> Result<Acted, ControllerError> {
        match subject {
            Subject::Main => self.facts.platform().act(self.promotion.delivery, (step, write)),
            Subject::Release(workload) => match self.facts.release(workload, self.promotion) {
                Some(release) => release.act((step, write)),
                None => Ok(Acted::Nothing),
            },
            Subject::Renderer => Ok(Acted::Nothing),
        }
    }

    /// Ends a move whose pull request a person closed. A person may have decided something else meanwhile, so the answer is applied to the newest state.
    fn decline(&self, subject: &Subject, command: &Command, revision: &Revision) -> Result<(), ControllerError> {
        let context = self.facts.context;
        let stored = rollout_store::read(context.access, context.environment)?;
        let Ok(advances) = stored.known_advances() else { return Ok(()) };
        let before = match subject {
            Subject::Main => advances.platform.clone(),
            Subject::Release(workload) => advances.releases.get(workload).cloned(),
            Subject::Renderer => None,
        };
        let is_about = |state: &AdvanceState| state.current.as_ref().is_some_and(|found| found.revision == *revision);
        let after = before.filter(is_about).and_then(|before| apply_to_advance(&before, command).ok());
        let Some(after) = after else { return Ok(()) };
        let mut change = Change::new(context.environment, &stored, advances);
        let event = command.event(after.last_rejected().map(|rejected| rejected.revision.clone()));
        let events = DecidedEvents::by_controller(std::slice::from_ref(&event));
        match subject {
            Subject::Release(workload) => change.set_release(workload, after, events),
            _ => change.set_platform(after, events),
        }
        if change.store(context)? {
            self.settle_declined(subject, revision)?;
        }
        Ok(())
    }

    fn settle_declined(&self, subject: &Subject, revision: &Revision) -> Result<(), ControllerError> {
        match (subject, line::commit(revision)) {
            (Subject::Release(workload), _) => match self.facts.release(workload, self.promotion) {
                Some(release) => release.settle_declined(revision),
                None => Ok(()),
            },
            (_, Some(commit)) => {
                let settled = self.facts.platform().proposals().settle_declined(commit);
                Ok(settled.map_err(CommitMoveError::from)?)
            }
            _ => Ok(()),
        }
    }

    /// Sets the status of the commit of the main branch that moves.
    fn set_status(&self, planned: &PlannedMove) -> Result<(), String> {
        let Context { access, hosts, environment, .. } = *self.facts.context;
        let stage = commit_status::stage(&planned.step.state).filter(|_| planned.subject == Subject::Main);
        let Some(((revision, stage), hosts)) = stage.zip(hosts) else { return Ok(()) };
        let Some(commit) = line::commit(revision) else { return Ok(()) };
        let status = commit_status::promotion_status(environment, stage);
        set_status(hosts, (access.settings.repo.as_str(), commit), &status).map_err(|error| error.to_string())
    }
}
