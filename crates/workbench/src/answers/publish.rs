//! What a publication of an environment did.

use delivery::branches::push::Delivered;
use delivery::output::changes::{removed_text, renaming_note};
use delivery::output::compilation::{Reuse, reuse};
use delivery::output::planned::Planned;
use delivery::output::refusal::Refusal;
use delivery::publication::enforcement::NotAdmitted;
use delivery::publication::publish::{Outcome, PlaceOutcome};
use delivery::pull_requests::Proposal;
use engine::plan::ChangeKind;
use model::diagnostic::{Code, Diagnostic};
use model::name::EnvironmentName;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::plan::{ConfirmationFields, LISTED_MAX, NotAdmittedFields};
use crate::diagnostics::DiagnosticReport;

/// The publication of an environment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentPublication {
    /// The environment.
    environment: String,
    /// How many assignments there are.
    assignments: usize,
    /// Assignments that no earlier run computed.
    recomputed: usize,
    /// What waits for its gates, as in `plan -o json`.
    #[schema(value_type = Vec<Object>)]
    not_admitted: Vec<NotAdmittedFields>,
    /// One for each `GitOpsRepo`; before these, what was pushed before a step of promotions admitted more.
    published: Vec<PublicationFields>,
    /// The diagnostics, as in `check -o json`; at most 1,000.
    #[schema(value_type = Object)]
    report: Value,
}

/// The publication to one place.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublicationFields {
    /// Its name.
    gitops_repo: String,
    /// `pushed`; `proposed`, if the proposing branch contains it already; `unchanged`, if there is nothing to do; `withdrawn`, if a needless proposing branch was removed; `declined`, if a person closed the pull request; `sent`, with `--hub-only`; `refused`.
    result: &'static str,
    /// The branch that was pushed to; `null` if none was.
    branch: Option<String>,
    /// The new commit; `null` if there is none.
    commit: Option<String>,
    /// `sent`, if the hub accepted the publication; `failed`, if that was not possible; `null` without a hub, or if nothing changed for it.
    hub: Option<&'static str>,
    /// `null` without one.
    pull_request: Option<PullRequestFields>,
    /// The confirmation that is needed, or was; `null` if so little is removed that none is needed.
    confirmation: Option<ConfirmationFields>,
    counts: PublishedCounts,
}

/// The pull request of a place.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PullRequestFields {
    /// `opened`, `updated`, `unchanged`, `merged`, `closed`; `declined`, if a person closed it; `failed`.
    result: &'static str,
    /// Its number; `null` if it failed.
    number: Option<u64>,
    /// Its page; `null` if it failed.
    url: Option<String>,
    /// Whether the git host merges it by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_merge: Option<bool>,
    /// Labels, reviewers or an automatic merge that could not be set.
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<Vec<String>>,
    /// The reason, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The numbers of assignments.
#[derive(Serialize, ToSchema)]
struct PublishedCounts {
    /// Assignments that change.
    changed: usize,
    /// Assignments that are added.
    added: usize,
    /// Assignments that get another name: the folder moves.
    renamed: usize,
    /// Assignments that are removed.
    removed: usize,
    /// Assignments that stay as they are.
    unchanged: usize,
    /// Assignments that fail, and keep their last good output.
    kept: usize,
    /// Assignments that fail, and are held: rendered from an earlier publication, with a release pin.
    held: usize,
}

/// All diagnostics of a place, including the reasons why nothing was pushed, and what was not admitted.
pub fn publication_diagnostics(place: &PlaceOutcome, not_admitted: &[Diagnostic]) -> Vec<Diagnostic> {
    let refusals = place.refusals.iter().map(|refusal| match refusal {
        Refusal::Diagnostic(diagnostic) => diagnostic.clone(),
        Refusal::Unconfirmed { has_other_words } => unconfirmed(&place.planned, *has_other_words),
    });
    place.diagnostics.iter().chain(not_admitted).cloned().chain(refusals).collect()
}

/// The diagnostic for a plan that is not published because its confirmation is missing.
fn unconfirmed(planned: &Planned, has_other_words: bool) -> Diagnostic {
    let message = format!("this would remove {}", removed_text(planned));
    let mut diagnostic = Diagnostic::error(Code::NeedsConfirmation, message);
    if planned.has_waiting_removals() {
        diagnostic = diagnostic.note("these folders stay; everything else is published");
    }
    diagnostic = renaming_note(planned).into_iter().fold(diagnostic, Diagnostic::note);
    if has_other_words {
        diagnostic = diagnostic.note("the word of `--confirm` belongs to other removals");
    }
    let word = planned.confirmation_word().unwrap_or_default();
    diagnostic.help(format!("look at `kalypso plan`; to confirm the removals, add `--confirm {word}`"))
}

impl EnvironmentPublication {
    /// The answer about the last attempt of a publication, from which the reuse of earlier results is taken.
    pub fn new(
        (environment, outcome): (&EnvironmentName, &Outcome),
        not_admitted: &[NotAdmitted],
        report: &DiagnosticReport<'_>,
    ) -> Self {
        let places = &outcome.places;
        let Reuse { recomputed, assignments } = reuse(places.last().map(|place| &*place.planned.compiled));
        Self {
            environment: environment.to_string(),
            assignments,
            recomputed,
            not_admitted: NotAdmittedFields::all(not_admitted),
            published: places.iter().map(PublicationFields::new).collect(),
            report: report.to_json(),
        }
    }

    /// The answer with what was pushed before the last attempt.
    #[must_use]
    pub fn after(mut self, earlier: impl IntoIterator<Item = PublicationFields>) -> Self {
        self.published.splice(..0, earlier);
        self
    }
}

impl PublicationFields {
    /// What was done for one place.
    pub fn new(place: &PlaceOutcome) -> Self {
        let (result, branch, commit) = match &place.delivered {
            Some(Delivered::Pushed { branch, commit, .. }) => ("pushed", Some(branch), Some(commit.to_string())),
            Some(Delivered::Proposed { branch }) => ("proposed", Some(branch), None),
            Some(Delivered::UpToDate | Delivered::Left(_)) => ("unchanged", None, None),
            Some(Delivered::Withdrawn { branch, .. }) => ("withdrawn", Some(branch), None),
            None if place.hub.is_some() => ("sent", None, None),
            None if matches!(place.pull_request, Some(Ok(_))) => ("declined", None, None),
            Some(Delivered::LostRace) | None => ("refused", None, None),
        };
        Self {
            gitops_repo: place.planned.target.name.clone(),
            result,
            branch: branch.map(ToString::to_string),
            commit,
            hub: place.hub.as_ref().map(|result| if result.is_ok() { "sent" } else { "failed" }),
            pull_request: PullRequestFields::new(place),
            confirmation: ConfirmationFields::new(&place.planned, LISTED_MAX),
            counts: PublishedCounts::new(&place.planned),
        }
    }
}

impl PullRequestFields {
    /// None if the place has none.
    fn new(place: &PlaceOutcome) -> Option<Self> {
        let outcome = match place.pull_request.as_ref()? {
            Err(error) => return Some(Self { result: "failed", error: Some(error.to_string()), ..Self::default() }),
            Ok(outcome) => outcome,
        };
        let (result, link) = match &outcome.proposal {
            Proposal::None => return None,
            Proposal::Opened(link) => ("opened", link),
            Proposal::Updated(link) => ("updated", link),
            Proposal::Unchanged(link) => ("unchanged", link),
            Proposal::Merged(link) => ("merged", link),
            Proposal::Closed(link) => ("closed", link),
            Proposal::Declined(link) => ("declined", link),
        };
        Some(Self {
            result,
            number: Some(link.number),
            url: Some(link.url.clone()),
            auto_merge: Some(outcome.is_auto_merge),
            incomplete: Some(outcome.incomplete.clone()),
            error: None,
        })
    }
}

impl PublishedCounts {
    fn new(Planned { plan, .. }: &Planned) -> Self {
        Self {
            changed: plan.count(ChangeKind::Changed),
            added: plan.count(ChangeKind::Added),
            renamed: plan.count(ChangeKind::Renamed),
            removed: plan.count(ChangeKind::Removed),
            unchanged: plan.unchanged,
            kept: plan.kept.len(),
            held: plan.held.len(),
        }
    }
}
