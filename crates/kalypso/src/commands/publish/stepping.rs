//! The step of promotions that a publication makes.

use std::cell::RefCell;
use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::branches::push::Delivered;
use delivery::promotion::controller::StepOutcome;
use delivery::publication::publish::{Outcome, PlaceOutcome};
use hub_api::promotions::{MovePhase, SubjectStatus};
use model::name::EnvironmentName;
use model::object::release;
use workbench::answers::publish::PublicationFields;

use super::Run;
use crate::arguments::Publish;
use crate::hub_client;
use crate::promotion_steps::{SteppedPublication, Steps};

/// A publication with its steps.
pub(super) struct Publication {
    /// The last publication.
    pub(super) outcome: Outcome,
    /// What was pushed before the last publication, as text and for programs: a step admitted more afterwards.
    pub(super) earlier: Vec<(String, PublicationFields)>,
    /// Why nothing was decided, what stopped, and what could not be done beside a step.
    pub(super) warnings: Vec<String>,
    /// Whether a move stopped, or can't be evaluated, so that a person must act.
    pub(super) needs_person: bool,
}

impl Publication {
    fn without_step(outcome: Outcome, warnings: Vec<String>) -> Self {
        Self { outcome, earlier: Vec::new(), warnings, needs_person: false }
    }
}

/// Publishes an environment. If it is in a promotion, a step decides what is admitted, and this is published, too.
pub(super) fn publish(
    run: &Run<'_>,
    (access, environment): (&Arc<RepositoryAccess>, &EnvironmentName),
    publish: &dyn Fn() -> anyhow::Result<Outcome>,
) -> anyhow::Result<Publication> {
    let options = run.options;
    if !makes_step(options) {
        return Ok(Publication::without_step(publish()?, Vec::new()));
    }
    let sources = match run.settings.service(None) {
        Ok(read) => read.evidence,
        Err(error) => {
            let outcome = publish()?;
            let is_decided = outcome.places.iter().all(|place| !place.loaded.is_in_promotion());
            let warnings = if is_decided { Vec::new() } else { vec![undecided(&error)] };
            return Ok(Publication::without_step(outcome, warnings));
        }
    };
    let pushed = RefCell::new(Vec::new());
    let publish = || {
        let outcome = publish()?;
        pushed.borrow_mut().push(pushes(&outcome, options));
        Ok(outcome)
    };
    // Annotations alone describe the order. Without evidence, a commit of the main branch would wait for nothing that anybody asked for.
    let may_begin_by_annotations = run.hub.is_some();
    let (hosts, hub) = (run.hosts, run.hub);
    let steps = Steps { access, hosts, sources: &sources, hub, needs_hub: true, may_begin_by_annotations };
    let SteppedPublication { output, step, warnings } = steps.publish(environment, &publish)?;
    let mut earlier = pushed.into_inner();
    // The last publication is shown as a whole.
    earlier.pop();
    let earlier = earlier.into_iter().flatten().collect();
    let publication = Publication { earlier, ..Publication::without_step(output, warnings) };
    Ok(match step {
        Ok(step) => publication.with_step(step),
        Err(error) => {
            let warnings = [publication.warnings.as_slice(), &[undecided(&error)]].concat();
            Publication { warnings, ..publication }
        }
    })
}

/// Whether a publication makes a step. An override decides by itself. A step needs the results of all destinations.
fn makes_step(options: &Publish) -> bool {
    let is_whole = options.gitops_repo.is_none() && !options.publication_hub.hub_only;
    is_whole && !options.no_step && options.overriding.override_reason.is_none()
}

fn undecided(error: &anyhow::Error) -> String {
    format!("nothing was decided about promotions, so only what was admitted before is published: {error:#}")
}

/// The pushes of a publication, as text and for programs.
fn pushes(outcome: &Outcome, options: &Publish) -> Vec<(String, PublicationFields)> {
    let is_pushed = |place: &&PlaceOutcome| matches!(place.delivered, Some(Delivered::Pushed { .. }));
    let places = outcome.places.iter().filter(is_pushed);
    places.map(|place| (super::text(place, options) + "\n", PublicationFields::new(place))).collect()
}

impl Publication {
    fn with_step(mut self, step: Option<StepOutcome>) -> Self {
        let Some(StepOutcome { status, is_stopped, refused, warnings, .. }) = step else { return self };
        self.needs_person = is_stopped || !refused.is_empty();
        self.warnings.extend(warnings);
        self.warnings.extend(refused);
        if let Some(status) = status {
            self.needs_person |= status.problem.is_some();
            self.warnings.extend(status.problem.iter().map(|problem| format!("nothing moves: {problem}")));
            self.warnings.extend(status.subjects.iter().filter_map(stopped));
        }
        self.warnings.sort_unstable();
        self.warnings.dedup();
        self
    }
}

/// The text of a move that stopped, and why.
fn stopped(subject: &SubjectStatus) -> Option<String> {
    let is_stopped = |phase| matches!(phase, MovePhase::Stopped | MovePhase::RollingBack);
    let moving = subject.moving.as_ref().filter(|moving| is_stopped(moving.phase))?;
    let name = subject.subject.as_deref().unwrap_or("main");
    let revision = release::shown(&moving.revision);
    let reason = moving.reason.as_deref().map_or_else(String::new, |reason| format!(": {}", hub_client::plain(reason)));
    Some(format!("{name} {revision} stopped{reason}"))
}
