//! Steps of promotions: where changes move through environments.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use delivery::promotion::controller::error::ControllerError;
use delivery::promotion::controller::evidence::{CheckRequest, CheckResults, Evidence};
use delivery::promotion::controller::plane::Plane;
use delivery::promotion::controller::published::PublicationFacts;
use delivery::promotion::controller::{Memory, StepOutcome, StepRequest, status_of, step};
use delivery::publication::publish::Outcome;
use engine::promotion::evidence::CheckResult;
use engine::promotion::gates::Teams;
use engine::promotion::graph::Graph;
use hub_api::evidence::{PlaceEvidence, PromotionEvents};
use hub_api::promotions::PromotionStatus;
use jiff::Timestamp;
use model::object::promotion::Check;

use crate::environment::Environment;
use crate::limits::REST_FACTOR;
use crate::logged::Logged;
use crate::shared::Shared;
use crate::trigger::Reason;

/// The hub, as promotions use it.
#[derive(Clone, Default)]
pub struct PromotionHub {
    /// Knows what clusters report. None: no gate that measures the fleet holds.
    pub places: Option<Arc<dyn PlaceEvidence>>,
    /// The history of decisions. None: only the commits with the states have it.
    pub history: Option<Arc<dyn PromotionEvents>>,
}

impl fmt::Debug for PromotionHub {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PromotionHub")
    }
}

/// The checks of the configuration, as evidence.
#[derive(Debug)]
pub struct ConfiguredChecks<'a>(pub &'a checks::Checks);

impl CheckResults for ConfiguredChecks<'_> {
    fn result(&self, check: &Check, subject: CheckRequest<'_>) -> Option<CheckResult> {
        let subject = checks::CheckSubject {
            environment: subject.environment.into(),
            workload: subject.workload.map(Arc::from),
            revision: subject.revision.into(),
            ring: subject.ring.map(Arc::from),
        };
        Some(self.0.run(check, &subject))
    }
}

/// The steps of one environment's promotions.
#[derive(Default)]
pub(crate) struct PromotionSteps {
    memory: Memory,
    published: Option<PublicationFacts>,
    logged: Logged,
    /// When the next step is due. None: the environment is in no promotion.
    next: Option<Instant>,
    /// The number of steps in a row that could not be made, or could not write something.
    failures: u32,
}

impl PromotionSteps {
    /// When the next step is due, if the environment is in a promotion.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Notes the result of a publication.
    pub(crate) fn note(&mut self, published: Option<PublicationFacts>) {
        self.published = published;
    }

    /// Whether the next step needs a sync right before: rollouts compare what is compiled with what is published.
    pub(crate) fn needs_sync(&self) -> bool {
        self.published.as_ref().is_none_or(PublicationFacts::has_rings)
    }

    /// Makes a step.
    pub(crate) fn step(&mut self, shared: &Shared, environment: &Environment, output: Option<&Outcome>) {
        let started = Instant::now();
        let outcome = self.try_step(shared, environment, output);
        let interval = shared.settings.timing.promotion;
        let is_good = matches!(&outcome, Ok(outcome) if outcome.refused.is_empty());
        self.failures = if is_good { 0 } else { self.failures.saturating_add(1) };
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                for error in self.logged.replace([error.to_string()]) {
                    tracing::warn!(environment = environment.shown, error, "no step of promotions");
                }
                if Self::show_problem(shared, environment, &error) {
                    self.next = Some(Instant::now() + self.retry_pause(shared));
                }
                return;
            }
        };
        for warning in self.logged.replace(outcome.warnings.iter().chain(&outcome.refused).cloned()) {
            tracing::warn!(environment = environment.shown, "{warning}");
        }
        let pause = match outcome.is_moving {
            _ if self.failures > 0 => self.retry_pause(shared),
            true => interval,
            false => interval.saturating_mul(REST_FACTOR),
        };
        self.next = outcome.status.is_some().then(|| Instant::now() + pause);
        tracing::debug!(
            environment = environment.shown,
            is_moving = outcome.is_moving,
            took_ms = started.elapsed().as_millis() as u64,
            "a step of promotions"
        );
        Self::show(shared, environment, outcome);
    }

    /// The pause after failed steps. It grows up to the interval of polls, so that a step succeeds soon after the cause is gone.
    fn retry_pause(&self, shared: &Shared) -> Duration {
        let timing = shared.settings.timing;
        let factor = 1_u32.checked_shl(self.failures.saturating_sub(1)).unwrap_or(u32::MAX);
        timing.promotion.saturating_mul(factor).min(timing.poll.max(timing.promotion))
    }

    /// Notes what keeps promotions from being carried out. The issue of the environment gets it with a sync.
    fn note_problems(environment: &Environment, problems: Vec<String>) {
        let before = std::mem::replace(&mut environment.lock().promotion_problems, problems.clone());
        // The words of a refusal may have a time or a commit that is always another one.
        let fixed = |problem: &String| problem.chars().filter(|c| !c.is_ascii_hexdigit()).collect::<String>();
        if !before.iter().map(fixed).eq(problems.iter().map(fixed)) {
            environment.trigger.request(Reason::Promotion);
        }
    }

    /// Shows why no step was made, beside where changes stood before. False if the environment is in no promotion. If the promotions can't be read, it
    /// counts as in one.
    fn show_problem(shared: &Shared, environment: &Environment, error: &ControllerError) -> bool {
        let mut known = environment.lock().promotion.clone();
        if known.is_none() {
            let access = shared.access();
            let status = |graph: &Graph| status_of(graph, &environment.name, Timestamp::now());
            known = match Plane::read(&access) {
                Ok(plane) => plane.is_part(&environment.name).then(|| status(&plane.graph)),
                Err(_) => Some(status(&Graph::default())),
            };
        }
        let Some(status) = known else { return false };
        environment.lock().promotion = Some(PromotionStatus { problem: Some(error.to_string()), ..status });
        Self::note_problems(environment, vec![error.to_string()]);
        true
    }

    /// Shows where changes stand, and asks for what follows: a sync of this environment, and steps of those after it.
    fn show(shared: &Shared, environment: &Environment, outcome: StepOutcome) {
        if let Some(status) = &outcome.status {
            shared.metrics.promotion(&environment.shown, status);
        }
        let problem = outcome.status.iter().find_map(|status| status.problem.clone());
        Self::note_problems(environment, problem.into_iter().chain(outcome.refused).collect());
        let before = std::mem::replace(&mut environment.lock().promotion, outcome.status.clone());
        if outcome.must_publish {
            environment.trigger.request(Reason::Promotion);
        }
        let at = |status: &Option<PromotionStatus>| status.as_ref().map(|status| status.subjects.clone());
        if at(&before) != at(&outcome.status) {
            for after in outcome.status.iter().flat_map(|status| &status.after) {
                if let Some(after) = shared.find(after).filter(|after| after.lease.is_held()) {
                    after.trigger.step();
                }
            }
        }
    }

    fn try_step(
        &mut self,
        shared: &Shared,
        environment: &Environment,
        output: Option<&Outcome>,
    ) -> Result<StepOutcome, ControllerError> {
        let settings = &shared.settings;
        let (teams, checks) = (teams(&settings.evidence), ConfiguredChecks(&settings.evidence.checks));
        let evidence = Evidence {
            hub: settings.promotion.places.as_deref(),
            status_accounts: &settings.evidence.accounts.status_reporters,
            checks: Some(&checks),
            teams: &teams,
        };
        let request = StepRequest {
            environment: &environment.name,
            hosts: (!shared.hosts.is_empty()).then_some(&shared.hosts),
            evidence,
            history: settings.promotion.history.as_deref(),
            lease: Some(&environment.lease.writes),
            published: self.published.as_ref(),
            output,
            is_read_only: false,
            now: Timestamp::now(),
        };
        step(&shared.access(), &request, &mut self.memory)
    }
}

/// The accounts of the members of each team.
pub fn teams(evidence: &checks::EvidenceSources) -> Teams {
    let teams = evidence.accounts.teams.iter();
    teams
        .map(|(team, members)| (team.as_str().into(), members.iter().map(|name| name.as_str().into()).collect()))
        .collect()
}
