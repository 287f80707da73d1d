//! What a publication would change in the GitOps branches of an environment.

mod confirmation;
mod diff;
mod not_admitted;
mod selection;
mod stats;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use delivery::output::changes::folding::{Folded, folded};
use delivery::output::changes::places::Places;
use delivery::output::changes::{ChangeGroup, groups};
use delivery::output::planned::Planned;
use delivery::publication::enforcement::NotAdmitted;
use delivery::sources::loaded::Loaded;
use engine::compile::Compiled;
use engine::hold::HeldFolder;
use engine::output::{Relocation, destination_problems};
use engine::plan::{AssignmentChange, Cause, ChangeKind, ChangeReasons, FileChange, PlannedId};
use model::diagnostic::{AssignmentId, Diagnostic};
use model::tree::OpenError;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

pub use self::confirmation::ConfirmationFields;
pub use self::diff::FileDiffs;
pub use self::not_admitted::NotAdmittedFields;
pub use self::selection::{PlanSelection, PlanView};
use self::stats::StatsFields;
use crate::change::{ComparedStates, EnvironmentChange};
use crate::diagnostics::DiagnosticReport;

/// The default maximum length of each list.
pub const LISTED_MAX: usize = 1_000;
/// From this number of changed values on, the changes of an assignment are listed only once for all assignments with the same changes.
const REPEATED_MAX: usize = 20;
/// The maximum number of changed values that are listed for one assignment.
const VALUES_MAX: usize = 1_000;
/// The maximum number of changed values that are listed for all assignments together.
const ALL_VALUES_MAX: usize = 20_000;
/// The maximum number of workloads that are listed for a group.
const WORKLOADS_MAX: usize = 100;
/// Advice: how to see entries that are not listed.
const MORE: &str = "--workload, --cluster-type and --selector select changes; --limit N lists more";

/// What the plans of an environment are about.
#[derive(Clone, Copy)]
pub struct PlannedEnvironment<'a> {
    /// The environment that is planned.
    pub loaded: &'a Loaded,
    /// Its result.
    pub compiled: &'a Compiled,
    /// The states that are compared. None: the environment is compared with what is published.
    pub change: Option<&'a EnvironmentChange>,
    /// What was not admitted into the environment, and is not in the plans.
    pub not_admitted: &'a [NotAdmitted],
}

/// The plans of an environment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentPlans {
    /// The environment.
    environment: String,
    /// What is compared, with `--commit`, `--patch` and `--working-tree`; `null` without them.
    change: Option<ComparedStates>,
    /// One for each `GitOpsRepo`; with `--commit`, `--patch` and `--working-tree` one for all.
    plans: Vec<PlanFields>,
    /// What waits for its gates: `source` (`main`, `values`, `values/NAME`, `application/NAME`, or the workload of a release), `revision`, `admitted` (what the output has instead), `waitsFor` (`people`, `clock` or `evidence`; a person must act for `people`), and the open `gates` with `name`, `since` and `text`.
    #[schema(value_type = Vec<Object>)]
    not_admitted: Vec<NotAdmittedFields>,
    stats: StatsFields,
    /// The diagnostics, as in `check -o json`; at most 1,000.
    #[schema(value_type = Object)]
    report: Value,
}

/// The plan for one place.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanFields {
    /// Its name, or what it was compared with instead.
    gitops_repo: String,
    /// The branch that was compared with: `REPOSITORY@BRANCH`, or the folder.
    branch: String,
    /// The commit of that branch; `null` for a folder.
    commit: Option<String>,
    /// The git tree id that the branch should have.
    tree: String,
    counts: CountFields,
    /// How far the rollout of each workload is, and what stays because a version of Kalypso is not admitted yet, in words; `null` if there is neither.
    #[schema(value_type = Option<Object>)]
    rollouts: Option<Vec<String>>,
    /// Whether so much is removed that `publish --direct` needs `--confirm`.
    needs_confirmation: bool,
    /// `null` if none is needed.
    confirmation: Option<ConfirmationFields>,
    /// The rows of the text: one for all selected assignments with the same change for the same reason.
    groups: Vec<GroupFields>,
    changes: Vec<ChangeFields>,
    /// Files that belong to no assignment.
    other_files: Vec<FileFields>,
    /// The assignments that keep their last good output.
    kept: Vec<String>,
    /// The assignments that fail and are held.
    held: Vec<HeldFields>,
    /// The assignments that have no output yet.
    missing: Vec<String>,
    /// The assignments that fail before and after.
    still_failing: Vec<String>,
    /// The move of all folders to another path, because the `path` of the `GitOpsRepo` changed: `from`, `to` (both may be empty: the root), and `folders` (how many move); `null` if the path stays.
    #[schema(value_type = Option<Object>)]
    relocation: Option<RelocationFields>,
    /// The folders that `--adopt` takes over: `clusterType` (the cluster type or cluster), and `files` (its removed and replaced files, with the fields of `otherFiles`).
    #[schema(value_type = Vec<Object>)]
    adopted: Vec<AdoptedFields>,
    /// The new deployment targets that no policy assigns anywhere.
    unassigned: Vec<String>,
    /// `null` if everything is listed.
    truncated: Option<TruncatedFields>,
}

/// The numbers of assignments, folders and deployment targets.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CountFields {
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
    /// Folders of cluster types that move, because the layout of the branch changes.
    moved: usize,
    /// Assignments that fail, and keep their last good output.
    kept: usize,
    /// Assignments that fail, and are held: rendered from an earlier publication, with a release pin.
    held: usize,
    /// Assignments that fail, and have no output yet.
    missing: usize,
    /// Assignments that fail before and after, with `--commit`, `--patch` and `--working-tree`: these do not read what was published of them.
    still_failing: usize,
    /// Deployment targets that are new, and that no policy assigns anywhere.
    unassigned: usize,
    /// Assignments that change, and are selected by `--workload`, `--cluster-type` and `--selector`.
    selected: usize,
}

/// A change that is the same for many assignments.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct GroupFields {
    /// `added`, `changed`, `renamed` or `removed`.
    kind: &'static str,
    /// The workloads with this change, at most 100; of removed assignments whose workload is not known, the deployment targets.
    workloads: Vec<String>,
    /// How many workloads are not listed.
    more_workloads: usize,
    /// The changed value; `null` if it is another change.
    key: Option<String>,
    /// The change in words, as in the text: `DATABASE_URL  a → b`; long values are cut.
    change: String,
    /// Where the cause is: `control-plane@prod:configs/central.yaml:11`; `null` if it is not known. A label may have several places: then that of the first assignment.
    because: Option<String>,
    /// The label of a cluster type, cluster or target that is the cause; `null` if it is another one.
    label: Option<String>,
    /// How many assignments change so.
    assignments: usize,
    /// On how many cluster types and clusters they are.
    places: usize,
}

/// The change of an assignment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ChangeFields {
    /// `CLUSTER_TYPE/TARGET`.
    assignment: String,
    /// `added`, `changed`, `renamed` or `removed`.
    kind: &'static str,
    /// The name before, if the assignment is renamed.
    renamed_from: Option<String>,
    /// Its workload; `null` if it is not known.
    workload: Option<String>,
    values: Vec<ValueFields>,
    /// The assignment whose `values` are the same, if they are many and listed there; else `null`.
    values_same_as: Option<String>,
    /// How many changes of values are not listed here.
    more_values: usize,
    /// Other reasons, in words.
    reasons: Vec<String>,
    files: Vec<FileFields>,
}

/// The change of a value.
#[derive(Serialize, ToSchema)]
struct ValueFields {
    /// The path of a value that changes.
    key: String,
    /// The old value; `null` if it is added.
    before: Option<String>,
    /// The new value; `null` if it is removed.
    after: Option<String>,
    /// `null` for a value; for a list with more than 5 changes in it, which is one entry, how many items change.
    items: Option<ItemCounts>,
    /// Where the reason is written, `REPOSITORY@BRANCH:FILE:LINE`: the value, or the label that has changed; may be `null`.
    because: Option<String>,
    /// The label that has changed, if that is the reason.
    label: Option<String>,
}

/// How many items of a list change.
#[derive(Serialize, ToSchema)]
struct ItemCounts {
    /// How many items are added.
    added: usize,
    /// How many change.
    changed: usize,
    /// How many are removed.
    removed: usize,
}

/// The change of a file.
#[derive(Serialize, ToSchema)]
struct FileFields {
    /// A file that changes.
    path: String,
    /// `added`, `changed` or `removed`.
    kind: &'static str,
    /// Its git blob id before; `null` if it is added.
    before: Option<String>,
    /// Its git blob id after; `null` if it is removed.
    after: Option<String>,
    /// The difference, with `--diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

/// A failing assignment that is held.
#[derive(Serialize, ToSchema)]
struct HeldFields {
    /// The assignment.
    assignment: String,
    /// The publication from whose commits it is rendered.
    from: String,
    /// The release pins that are applied; empty if no pin holds it any more.
    pins: Vec<String>,
}

#[derive(Serialize)]
struct RelocationFields {
    from: String,
    to: String,
    folders: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AdoptedFields {
    cluster_type: String,
    files: Vec<FileFields>,
}

/// The numbers of entries that are not listed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TruncatedFields {
    /// How many groups are not listed; the same for the other lists.
    groups: usize,
    changes: usize,
    other_files: usize,
    held: usize,
    kept: usize,
    missing: usize,
    still_failing: usize,
    adopted: usize,
    /// How to see them.
    help: &'static str,
}

/// All diagnostics of a plan, including the reasons that prevent a publication. `gates` are what the gates before the environment refuse.
pub fn plan_diagnostics(loaded: &Loaded, planned: &Planned, gates: &[Diagnostic]) -> Vec<Diagnostic> {
    let mut diagnostics = planned.diagnostics(loaded);
    diagnostics.extend(gates.iter().cloned());
    diagnostics.extend(destination_problems(&loaded.fleet));
    diagnostics
}

impl EnvironmentPlans {
    /// The plans of an environment: one for each view. `with_diffs`: also the lines of files.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn new(
        of: PlannedEnvironment<'_>,
        views: &[PlanView<'_>],
        with_diffs: bool,
        report: &DiagnosticReport<'_>,
    ) -> Result<Self, OpenError> {
        let diffs = |planned| with_diffs.then(|| FileDiffs::new(planned));
        let plans = views.iter().map(|view| PlanFields::new(view, of.loaded, diffs(view.planned).as_ref()));
        Ok(Self {
            environment: of.loaded.fleet.environment.to_string(),
            change: of.change.map(EnvironmentChange::compared).cloned(),
            plans: plans.collect::<Result<_, _>>()?,
            not_admitted: NotAdmittedFields::all(of.not_admitted),
            stats: StatsFields::new(of.compiled),
            report: report.to_json(),
        })
    }
}

impl PlanFields {
    /// The plan for one place. Without `diffs`, it has no lines of files.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn new(view: &PlanView<'_>, loaded: &Loaded, diffs: Option<&FileDiffs<'_>>) -> Result<Self, OpenError> {
        let (planned, plan) = (view.planned, &view.planned.plan);
        let mut values = ListedValues::new(Places::new(planned, loaded));
        let limit = view.limit.unwrap_or(LISTED_MAX);
        let changes = view.changes.iter().take(limit).map(|(id, change)| {
            let files = planned.files(id)?;
            let mut texts = diffs.map(|diffs| diffs.files(id, &files)).unwrap_or_default().into_iter();
            let files = files.iter().map(|file| FileFields::new(file, texts.next())).collect();
            Ok(values.change((id, change), files))
        });
        let changes = changes.collect::<Result<Vec<_>, _>>()?;
        let other_files = plan.other_files.iter().take(limit);
        let other_files = other_files.map(|change| FileFields::new(change, diffs.map(|diffs| diffs.other(change))));
        let groups = groups(&view.changes);
        Ok(Self {
            gitops_repo: planned.target.name.clone(),
            branch: planned.target.branch.name.clone(),
            commit: planned.target.branch.commit().map(|commit| commit.to_string()),
            tree: planned.output.tree.id().to_string(),
            counts: CountFields::new(view),
            rollouts: planned.rollout_lines(),
            needs_confirmation: plan.needs_confirmation(),
            confirmation: ConfirmationFields::new(planned, limit),
            groups: groups.iter().take(limit).map(|(group, ids)| values.group(group, ids)).collect(),
            changes,
            other_files: other_files.collect(),
            kept: texts(plan.kept.iter().take(limit)),
            held: plan.held.iter().take(limit).map(HeldFields::new).collect(),
            missing: texts(plan.missing.iter().take(limit)),
            still_failing: texts(plan.still_failing.iter().take(limit)),
            relocation: plan.relocation.as_ref().map(RelocationFields::new),
            adopted: plan.adopted.iter().take(limit).map(AdoptedFields::new).collect(),
            unassigned: texts(plan.unassigned.iter().take(limit)),
            truncated: TruncatedFields::new(view, groups.len(), limit),
        })
    }
}

impl CountFields {
    fn new(view: &PlanView<'_>) -> Self {
        let plan = &view.planned.plan;
        Self {
            changed: plan.count(ChangeKind::Changed),
            added: plan.count(ChangeKind::Added),
            renamed: plan.count(ChangeKind::Renamed),
            removed: plan.count(ChangeKind::Removed),
            unchanged: plan.unchanged,
            moved: plan.moved,
            kept: plan.kept.len(),
            held: plan.held.len(),
            missing: plan.missing.len(),
            still_failing: plan.still_failing.len(),
            unassigned: plan.unassigned.len(),
            selected: view.changes.len(),
        }
    }
}

impl TruncatedFields {
    /// None if all entries are listed.
    fn new(view: &PlanView<'_>, groups: usize, limit: usize) -> Option<Self> {
        let plan = &view.planned.plan;
        let left_out = |number: usize| number.saturating_sub(limit);
        let truncated = Self {
            groups: left_out(groups),
            changes: left_out(view.changes.len()),
            other_files: left_out(plan.other_files.len()),
            held: left_out(plan.held.len()),
            kept: left_out(plan.kept.len()),
            missing: left_out(plan.missing.len()),
            still_failing: left_out(plan.still_failing.len()),
            adopted: left_out(plan.adopted.len()),
            help: MORE,
        };
        (!truncated.is_empty()).then_some(truncated)
    }

    fn is_empty(&self) -> bool {
        let Self { groups, changes, other_files, held, kept, missing, still_failing, adopted, .. } = *self;
        groups + changes + other_files + held + kept + missing + still_failing + adopted == 0
    }
}

impl RelocationFields {
    fn new(Relocation { from, to, places }: &Relocation) -> Self {
        Self { from: from.as_str().to_owned(), to: to.as_str().to_owned(), folders: places.len() }
    }
}

impl AdoptedFields {
    fn new((place, files): (&Arc<str>, &Vec<FileChange>)) -> Self {
        let files = files.iter().map(|file| FileFields::new(file, None)).collect();
        Self { cluster_type: place.to_string(), files }
    }
}

impl HeldFields {
    fn new((id, held): (&AssignmentId, &Arc<HeldFolder>)) -> Self {
        let pins = held.pins.iter().map(|pin| pin.name.to_string()).collect();
        Self { assignment: id.to_string(), from: held.from.to_string(), pins }
    }
}

/// The changed values that are listed. Changes that many assignments share are listed once, and their number is limited.
struct ListedValues<'a> {
    places: Places<'a>,
    /// The assignment at which these values are listed.
    listed: BTreeMap<*const ChangeReasons, String>,
    left: usize,
}

impl<'a> ListedValues<'a> {
    fn new(places: Places<'a>) -> Self {
        Self { places, listed: BTreeMap::new(), left: ALL_VALUES_MAX }
    }

    fn change(&mut self, (id, change): (&PlannedId, &AssignmentChange), files: Vec<FileFields>) -> ChangeFields {
        let (values, values_same_as, more_values) =
            change.reasons.as_ref().map(|reasons| self.values(id, reasons)).unwrap_or_default();
        let reasons = change.reasons.iter().flat_map(|reasons| &reasons.others);
        ChangeFields {
            assignment: id.to_string(),
            kind: kind_word(change.kind),
            renamed_from: change.renamed_from.as_ref().map(ToString::to_string),
            workload: Some(change.workload.to_string()).filter(|name| !name.is_empty()),
            values,
            values_same_as,
            more_values,
            reasons: reasons.map(|reason| self.places.reason(id, reason)).collect(),
            files,
        }
    }

    /// The changed values of an assignment, the assignment at which the same values are listed, and the number of values that are not listed.
    fn values(&mut self, id: &PlannedId, reasons: &Arc<ChangeReasons>) -> (Vec<ValueFields>, Option<String>, usize) {
        let all = folded(&reasons.values);
        let known = self.listed.get(&Arc::as_ptr(reasons)).filter(|_| all.len() > REPEATED_MAX).cloned();
        let listed = if known.is_some() { 0 } else { all.len().min(VALUES_MAX).min(self.left) };
        self.left -= listed;
        if listed == all.len() {
            self.listed.entry(Arc::as_ptr(reasons)).or_insert_with(|| id.to_string());
        }
        let values = all.iter().take(listed).map(|value| self.value(id, value)).collect();
        (values, known, all.len() - listed)
    }

    fn value(&mut self, id: &PlannedId, value: &Folded<'_>) -> ValueFields {
        let (path, cause) = match value {
            Folded::One(value) => (&value.path, value.cause.as_ref()),
            Folded::List(list) => (&list.path, list.because),
        };
        let (before, after, items) = match value {
            Folded::One(value) => (value.before.clone(), value.after.clone(), None),
            Folded::List(list) => {
                (None, None, Some(ItemCounts { added: list.added, changed: list.changed, removed: list.removed }))
            }
        };
        let because = cause.and_then(|cause| self.places.whole(id, cause));
        ValueFields { key: path.to_string(), before, after, items, because, label: cause.and_then(label) }
    }

    /// A change with its cause, and the workloads and assignments that it is the same for.
    fn group(&mut self, group: &ChangeGroup, ids: &[&PlannedId]) -> GroupFields {
        let (kind, path, change, cause) = &group.what;
        let names = if group.are_many() { &*group.workloads } else { std::slice::from_ref(&group.workload) };
        let places: BTreeSet<_> = ids.iter().map(|id| &id.place).collect();
        GroupFields {
            kind: kind_word(*kind),
            workloads: texts(names.iter().take(WORKLOADS_MAX)),
            more_workloads: names.len().saturating_sub(WORKLOADS_MAX),
            key: Some(path.to_string()).filter(|key| !key.is_empty()),
            change: change.clone(),
            because: ids.first().zip(cause.as_ref()).and_then(|(id, cause)| self.places.whole(id, cause)),
            label: cause.as_ref().and_then(label),
            assignments: ids.len(),
            places: places.len(),
        }
    }
}

/// The key of the label that is a cause. None for other causes.
fn label(because: &Cause) -> Option<String> {
    match because {
        Cause::Label(_, key) => Some(key.to_string()),
        _ => None,
    }
}

impl FileFields {
    fn new(change: &FileChange, diff: Option<String>) -> Self {
        let [before, after] =
            [&change.before, &change.after].map(|blob| blob.as_ref().map(|blob| blob.id().to_string()));
        Self { path: change.path.to_string(), kind: kind_word(change.kind), before, after, diff }
    }
}

fn texts(items: impl Iterator<Item = impl ToString>) -> Vec<String> {
    items.map(|item| item.to_string()).collect()
}

fn kind_word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "added",
        ChangeKind::Changed => "changed",
        ChangeKind::Renamed => "renamed",
        ChangeKind::Removed => "removed",
    }
}
