//! Plans as structured output.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use delivery::changes::folding::{Folded, folded};
use delivery::changes::places::Places;
use delivery::changes::{Group, groups};
use delivery::loaded::Loaded;
use engine::hold::HeldFolder;
use engine::output::Relocation;
use engine::plan::{AssignmentChange, Cause, ChangeKind, ChangeReasons, FileChange, PlannedId};
use model::diagnostic::AssignmentId;
use model::tree::OpenError;
use serde_json::{Value as Json, json};

use super::confirmation::confirmation;
use super::diff::Diffs;
use super::selection::View;

/// The default maximum length of each list.
pub(in crate::commands) const LISTED_MAX: usize = 1_000;
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

impl View<'_> {
    /// The plan for one place, as JSON, without the lines of files.
    pub(in crate::commands) fn answer_without_lines(&self, loaded: &Loaded) -> Result<Json, OpenError> {
        self.answer(loaded, None)
    }

    /// The plan for one place, as JSON.
    pub(super) fn answer(&self, loaded: &Loaded, diffs: Option<&Diffs<'_>>) -> Result<Json, OpenError> {
        let (planned, plan) = (self.planned, &self.planned.plan);
        let mut values = ValuesJson::new(Places::new(planned, loaded));
        let limit = self.limit.unwrap_or(LISTED_MAX);
        let changes = self.changes.iter().take(limit).map(|(id, change)| {
            let files = planned.files(id)?;
            let texts = diffs.map(|diffs| diffs.of(id, &files));
            Ok(change_json((id, change), (&files, texts), &mut values))
        });
        let changes = changes.collect::<Result<Vec<_>, _>>()?;
        let other_files = plan.other_files.iter().take(limit);
        let other_files = other_files.map(|change| file_json(change, diffs.map(|diffs| diffs.other(change))));
        let ids = |ids: &BTreeSet<AssignmentId>| ids.iter().take(limit).map(ToString::to_string).collect::<Vec<_>>();
        let groups = groups(&self.changes);
        let groups_json: Vec<_> = groups.iter().take(limit).map(|(group, ids)| values.group(group, ids)).collect();
        let left_out = [
            groups.len(),
            self.changes.len(),
            plan.other_files.len(),
            plan.held.len(),
            plan.kept.len(),
            plan.missing.len(),
            plan.still_failing.len(),
            plan.adopted.len(),
        ]
        .map(|number| number.saturating_sub(limit));
        Ok(json!({
            "gitopsRepo": planned.target.name,
            "branch": planned.target.branch.name,
            "commit": planned.target.branch.commit().map(|commit| commit.to_string()),
            "tree": planned.output.tree.id().to_string(),
            "counts": {
                "changed": plan.count(ChangeKind::Changed),
                "added": plan.count(ChangeKind::Added),
                "renamed": plan.count(ChangeKind::Renamed),
                "removed": plan.count(ChangeKind::Removed),
                "unchanged": plan.unchanged,
                "moved": plan.moved,
                "kept": plan.kept.len(),
                "held": plan.held.len(),
                "missing": plan.missing.len(),
                "stillFailing": plan.still_failing.len(),
                "unassigned": plan.unassigned.len(),
                "selected": self.changes.len(),
            },
            "rollouts": planned.rollout_lines(),
            "needsConfirmation": plan.needs_confirmation(),
            "confirmation": confirmation(planned, limit),
            "groups": groups_json,
            "changes": changes,
            "otherFiles": other_files.collect::<Vec<_>>(),
            "kept": ids(&plan.kept),
            "held": plan.held.iter().take(limit).map(held_json).collect::<Vec<_>>(),
            "missing": ids(&plan.missing),
            "stillFailing": ids(&plan.still_failing),
            "relocation": plan.relocation.as_ref().map(relocation_json),
            "adopted": plan.adopted.iter().take(limit).map(adopted_json).collect::<Vec<_>>(),
            "unassigned": plan.unassigned.iter().take(limit).map(model::name::DeploymentTargetName::as_str).collect::<Vec<_>>(),
            "truncated": truncated_json(left_out),
        }))
    }
}

fn relocation_json(relocation: &Relocation) -> Json {
    let Relocation { from, to, places } = relocation;
    json!({"from": from.as_str(), "to": to.as_str(), "folders": places.len()})
}

fn adopted_json((place, files): (&Arc<str>, &Vec<FileChange>)) -> Json {
    let files: Vec<_> = files.iter().map(|file| file_json(file, None)).collect();
    json!({"clusterType": &**place, "files": files})
}

fn held_json((id, held): (&AssignmentId, &Arc<HeldFolder>)) -> Json {
    let pins: Vec<_> = held.pins.iter().map(|pin| pin.name.as_str()).collect();
    json!({"assignment": id.to_string(), "from": held.from.to_string(), "pins": pins})
}

/// The numbers of entries that are not listed. Null if all are listed.
fn truncated_json(left_out: [usize; 8]) -> Json {
    let [groups, changes, other_files, held, kept, missing, still_failing, adopted] = left_out;
    if left_out.iter().sum::<usize>() == 0 {
        return Json::Null;
    }
    json!({
        "groups": groups,
        "changes": changes,
        "otherFiles": other_files,
        "held": held,
        "kept": kept,
        "missing": missing,
        "stillFailing": still_failing,
        "adopted": adopted,
        "help": MORE,
    })
}

/// Changed values for output. Changes that many assignments share are listed once, and their number is limited.
struct ValuesJson<'a> {
    places: Places<'a>,
    /// The assignment at which these values are listed.
    listed: BTreeMap<*const ChangeReasons, String>,
    left: usize,
}

impl<'a> ValuesJson<'a> {
    fn new(places: Places<'a>) -> Self {
        Self { places, listed: BTreeMap::new(), left: ALL_VALUES_MAX }
    }

    /// The changed values of an assignment, the assignment at which the same values are listed, and the number of values that are not listed.
    fn of(&mut self, id: &PlannedId, reasons: &Arc<ChangeReasons>) -> (Vec<Json>, Option<String>, usize) {
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

    fn value(&mut self, id: &PlannedId, value: &Folded<'_>) -> Json {
        let (because, mut json) = match value {
            Folded::One(value) => {
                let json =
                    json!({"key": value.path.to_string(), "before": value.before, "after": value.after, "items": null});
                (value.cause.as_ref(), json)
            }
            Folded::List(list) => {
                let items = json!({"added": list.added, "changed": list.changed, "removed": list.removed});
                (list.because, json!({"key": list.path.to_string(), "before": null, "after": null, "items": items}))
            }
        };
        json["because"] = because.and_then(|because| self.places.whole(id, because)).into();
        json["label"] = because.and_then(label).into();
        json
    }

    /// A change with its cause, and the workloads and assignments that it is the same for.
    fn group(&mut self, group: &Group, ids: &[&PlannedId]) -> Json {
        let (kind, path, change, because) = &group.what;
        let names = if group.are_many() { &*group.workloads } else { std::slice::from_ref(&group.workload) };
        let places: BTreeSet<_> = ids.iter().map(|id| &id.place).collect();
        let key = path.to_string();
        let at = ids.first().zip(because.as_ref()).and_then(|(id, because)| self.places.whole(id, because));
        json!({
            "kind": kind_word(*kind),
            "workloads": names.iter().take(WORKLOADS_MAX).map(|name| &**name).collect::<Vec<_>>(),
            "moreWorkloads": names.len().saturating_sub(WORKLOADS_MAX),
            "key": Some(key).filter(|key| !key.is_empty()),
            "change": change,
            "because": at,
            "label": because.as_ref().and_then(label),
            "assignments": ids.len(),
            "places": places.len(),
        })
    }
}

/// The key of the label that is a cause. None for other causes.
fn label(because: &Cause) -> Option<String> {
    match because {
        Cause::Label(_, key) => Some(key.to_string()),
        _ => None,
    }
}

fn change_json(
    (id, change): (&PlannedId, &AssignmentChange),
    (files, diffs): (&[FileChange], Option<Vec<String>>),
    values: &mut ValuesJson<'_>,
) -> Json {
    let (listed, same_as, more) = change.reasons.as_ref().map(|reasons| values.of(id, reasons)).unwrap_or_default();
    let reasons = change.reasons.iter().flat_map(|reasons| &reasons.others);
    let reasons: Vec<_> = reasons.map(|reason| values.places.reason(id, reason)).collect();
    let mut diffs = diffs.unwrap_or_default().into_iter();
    json!({
        "assignment": id.to_string(),
        "kind": kind_word(change.kind),
        "renamedFrom": change.renamed_from.as_ref().map(ToString::to_string),
        "workload": Some(&*change.workload).filter(|name| !name.is_empty()),
        "values": listed,
        "valuesSameAs": same_as,
        "moreValues": more,
        "reasons": reasons,
        "files": files.iter().map(|file| file_json(file, diffs.next())).collect::<Vec<_>>(),
    })
}

fn file_json(change: &FileChange, diff: Option<String>) -> Json {
    let id = |blob: &Option<model::tree::Blob>| blob.as_ref().map(|blob| blob.id().to_string());
    let (before, after) = (id(&change.before), id(&change.after));
    let mut json = json!({"path": &*change.path, "kind": kind_word(change.kind), "before": before, "after": after});
    if let Some(diff) = diff {
        json["diff"] = diff.into();
    }
    json
}

fn kind_word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "added",
        ChangeKind::Changed => "changed",
        ChangeKind::Renamed => "renamed",
        ChangeKind::Removed => "removed",
    }
}
