//! The result of a sync, as the API shows it.

use std::time::Duration;

use delivery::output::changes::markdown::PlanText;
use delivery::output::compilation::{Reuse, reuse};
use delivery::output::refusal::Refusal;
use delivery::publication::publish::{DestinationFailure, End, Outcome, PlaceOutcome, PublicationFailure};
use delivery::pull_requests::Proposal;
use delivery::sources::loaded::Loaded;
use engine::plan::ChangeKind;
use hub_api::syncs::{SyncDestination, SyncPlan, SyncProblem, SyncPullRequest, SyncResult, SyncSource};
use hub_api::timestamp::Timestamp;
use model::diagnostic::Diagnostic;
use model::locate::Locator;

use crate::limits::{PLAN_CHARACTERS_MAX, PROBLEM_ASSIGNMENTS_MAX, PROBLEMS_MAX};
use crate::trigger::Reason;

/// Why a sync failed.
#[derive(Clone, Debug)]
pub(crate) struct Failure(String);

/// The result of a sync.
#[derive(Clone, Debug)]
pub(crate) struct SyncReport {
    pub(crate) result: SyncResult,
    pub(crate) plans: Vec<SyncPlan>,
    pub(crate) problems: Vec<SyncProblem>,
    /// What is not complete, although the sync succeeded.
    pub(crate) warnings: Vec<String>,
    /// Whether the same sync may succeed soon.
    pub(crate) is_retried: bool,
}

impl Failure {
    pub(crate) fn from_error(error: &PublicationFailure) -> Self {
        Self(error.to_string())
    }

    pub(crate) fn bug() -> Self {
        Self(
            "a bug of Kalypso: the sync ended early, and the log shows where; other environments are not affected"
                .to_owned(),
        )
    }
}

impl SyncReport {
    pub(crate) fn new(
        outcome: &Result<Outcome, Failure>,
        (started_on, took, reason): (Timestamp, Duration, Reason),
    ) -> Self {
        let result = SyncResult {
            started_on,
            took_ms: took.as_millis() as u64,
            reason: reason.to_string(),
            error: None,
            assignments: 0,
            recomputed: 0,
            errors: 0,
            warnings: 0,
            sources: Vec::new(),
            destinations: Vec::new(),
        };
        let mut report =
            Self { result, plans: Vec::new(), problems: Vec::new(), warnings: Vec::new(), is_retried: false };
        match outcome {
            Err(Failure(error)) => {
                report.result.error = Some(error.clone());
                report.is_retried = true;
            }
            Ok(outcome) => report.add(outcome),
        }
        report
    }

    /// The report with the plans and problems of an earlier one, if it has none because it failed early.
    pub(crate) fn with_plans_of(mut self, earlier: Option<Self>) -> Self {
        if let Some(earlier) = earlier {
            (self.plans, self.problems) = (earlier.plans, earlier.problems);
            let Self { result: SyncResult { sources, destinations, assignments, .. }, .. } = earlier;
            self.result = SyncResult { sources, destinations, assignments, ..self.result };
        }
        self
    }

    fn add(&mut self, outcome: &Outcome) {
        if let Some(place) = outcome.places.last() {
            self.add_environment(&place.loaded, &place.diagnostics);
            let Reuse { recomputed, assignments } = reuse([&*place.planned.compiled]);
            (self.result.recomputed, self.result.assignments) = (recomputed, assignments);
        }
        outcome.places.iter().for_each(|place| self.add_place(place));
        for DestinationFailure { gitops_repo, error } in &outcome.failures {
            self.fail(&format!("nothing is published to {gitops_repo}: {error}"), true);
        }
        match &outcome.end {
            End::Complete => {}
            End::LostRaces => self.fail("the GitOps branch moved again and again while this was pushed", true),
            End::Incomplete(loaded) => {
                self.add_environment(loaded, &loaded.diagnostics);
                let first = loaded.diagnostics.iter().find(|diagnostic| diagnostic.is_error());
                let first = first.map_or_else(String::new, |found| format!(": [{}] {}", found.code, found.message));
                self.fail(&format!("not all sources can be read, so nothing is published{first}"), true);
            }
        }
        if let Some(report) = &outcome.report {
            if let Some(Err(error)) = &report.issue {
                self.warnings.push(format!("the issue with the errors can't be written: {error}"));
            }
            let failed = report.failed_statuses.iter();
            self.warnings.extend(failed.map(|error| format!("the status of a commit can't be set: {error}")));
        }
    }

    fn add_environment(&mut self, loaded: &Loaded, diagnostics: &[Diagnostic]) {
        let mut sorted: Vec<_> = diagnostics.iter().filter(|diagnostic| !diagnostic.is_note()).collect();
        self.result.errors = sorted.iter().filter(|diagnostic| diagnostic.is_error()).count();
        self.result.warnings = sorted.len() - self.result.errors;
        let source = |read: &git::load::Read| SyncSource {
            repository: read.url.as_str().to_owned(),
            revision: read.revision.to_string(),
            commit: read.commit.to_string(),
        };
        self.result.sources = loaded.reads.iter().map(source).collect();
        sorted.sort_by_key(|diagnostic| !diagnostic.is_error());
        let mut locator = Locator::new(&loaded.fleet);
        self.problems = sorted.into_iter().take(PROBLEMS_MAX).map(|found| problem(found, &mut locator)).collect();
    }

    fn add_place(&mut self, place: &PlaceOutcome) {
        let planned = &place.planned;
        self.result.destinations.push(destination(place));
        let changes: Vec<_> = planned.plan.changes.iter().collect();
        let plan = PlanText { loaded: &place.loaded, planned, changes: &changes, diagnostics: &[] };
        let markdown = plan.markdown(PLAN_CHARACTERS_MAX);
        self.plans.push(SyncPlan { gitops_repo: planned.target.name.clone(), markdown });
        for refusal in &place.refusals {
            let branch = &planned.target.branch.name;
            let error = match refusal {
                Refusal::Diagnostic(found) => {
                    format!("nothing is published to {branch}: [{}] {}", found.code, found.message)
                }
                Refusal::Unconfirmed { .. } => {
                    let word = planned.confirmation_word().unwrap_or_default();
                    format!("removals from {branch} need a confirmation, and everything else is published: {word}")
                }
            };
            self.fail(&error, false);
        }
        if let Some(Err(error)) = &place.pull_request {
            self.fail(&format!("the pull request for {}: {error}", planned.target.branch.name), true);
        }
        if let Some(Err(error)) = &place.hub {
            self.warnings.push(format!("the hub did not get the publication: {error}"));
            self.is_retried = true;
        }
    }

    fn fail(&mut self, error: &str, is_retried: bool) {
        self.is_retried |= is_retried;
        self.result.error.get_or_insert_with(|| error.to_owned());
    }
}

fn destination(place: &PlaceOutcome) -> SyncDestination {
    let (planned, plan) = (&place.planned, &place.planned.plan);
    let proposal = place.pull_request.as_ref().and_then(|result| result.as_ref().ok());
    let link = proposal.and_then(|outcome| match &outcome.proposal {
        Proposal::None => None,
        Proposal::Opened(link)
        | Proposal::Updated(link)
        | Proposal::Unchanged(link)
        | Proposal::Merged(link)
        | Proposal::Closed(link)
        | Proposal::Declined(link) => Some(link),
    });
    SyncDestination {
        gitops_repo: planned.target.name.clone(),
        repository: planned.target.place.repo.to_string(),
        branch: planned.target.place.branch.to_string(),
        description: place.description(),
        is_proposed: place.is_proposed(),
        pull_request: link.map(|link| SyncPullRequest { number: link.number, url: link.url.clone() }),
        changed: plan.count(ChangeKind::Changed),
        added: plan.count(ChangeKind::Added),
        renamed: plan.count(ChangeKind::Renamed),
        removed: plan.count(ChangeKind::Removed),
        unchanged: plan.unchanged,
        failing: plan.kept.len() + plan.held.len() + plan.missing.len(),
        confirmation: planned.confirmation_word(),
        incomplete: proposal.map(|outcome| outcome.incomplete.clone()).unwrap_or_default(),
    }
}

fn problem(diagnostic: &Diagnostic, locator: &mut Locator<'_>) -> SyncProblem {
    let named = diagnostic.assignments.iter().take(PROBLEM_ASSIGNMENTS_MAX);
    SyncProblem {
        code: diagnostic.code.to_string(),
        is_error: diagnostic.is_error(),
        message: diagnostic.message.clone(),
        place: diagnostic.labels.iter().find_map(|label| locator.shown(&label.origin)),
        assignments: named.map(ToString::to_string).collect(),
        help: diagnostic.help.clone(),
    }
}
