//! Plans as structured answers.

use std::collections::{BTreeMap, BTreeSet};

use engine::plan::{Change, ChangeKind, FileChange};
use model::diagnostic::AssignmentId;
use model::tree::OpenError;
use serde_json::{Value as Json, json};

use super::diff::Diffs;
use super::places::Places;
use super::selection::View;
use crate::loading::Loaded;

/// How many of anything are listed, unless somebody wants more or fewer.
pub(in crate::commands) const LISTED_MAX: usize = 1_000;
/// How to see what is not listed.
const MORE: &str = "--workload, --cluster-type and --selector select changes; --limit N lists more";

impl View<'_> {
    /// The plan for one place.
    pub(super) fn answer(&self, loaded: &Loaded, diffs: Option<&Diffs<'_>>) -> Result<Json, OpenError> {
        let (planned, plan) = (self.planned, &self.planned.plan);
        let mut places = Places::new(planned, loaded);
        let limit = self.limit.unwrap_or(LISTED_MAX);
        let changes = self.changes.iter().take(limit).map(|(id, change)| {
            let files = planned.files(id)?;
            let texts = diffs.map(|diffs| diffs.of(id, &files));
            Ok(change_json((&id.to_string(), change), (&files, texts), &mut places))
        });
        let changes = changes.collect::<Result<Vec<_>, _>>()?;
        let other_files = plan.other_files.iter().take(limit);
        let other_files = other_files.map(|change| file_json(change, diffs.map(|diffs| diffs.other(change))));
        let ids = |ids: &BTreeSet<AssignmentId>| ids.iter().take(limit).map(ToString::to_string).collect::<Vec<_>>();
        let groups = self.group_counts();
        let left_out = [groups.len(), self.changes.len(), plan.other_files.len(), plan.kept.len(), plan.missing.len()]
            .map(|number| number.saturating_sub(limit));
        Ok(json!({
            "gitopsRepo": planned.target.name,
            "branch": planned.target.branch.name,
            "commit": planned.target.branch.commit().map(|commit| commit.to_string()),
            "tree": planned.output.tree.id().to_string(),
            "counts": {
                "changed": plan.count(ChangeKind::Changed),
                "added": plan.count(ChangeKind::Added),
                "removed": plan.count(ChangeKind::Removed),
                "unchanged": plan.unchanged,
                "moved": plan.moved,
                "kept": plan.kept.len(),
                "missing": plan.missing.len(),
                "selected": self.changes.len(),
            },
            "needsConfirmation": plan.needs_confirmation(),
            "confirmation": planned.confirmation(limit),
            "groups": groups.iter().take(limit).map(group_json).collect::<Vec<_>>(),
            "changes": changes,
            "otherFiles": other_files.collect::<Vec<_>>(),
            "kept": ids(&plan.kept),
            "missing": ids(&plan.missing),
            "truncated": truncated_json(left_out),
        }))
    }

    /// How many changes of each kind a workload has on a cluster type, those with most first.
    fn group_counts(&self) -> Vec<(Group<'_>, usize)> {
        let mut counts: BTreeMap<Group<'_>, usize> = BTreeMap::new();
        for (id, change) in &self.changes {
            *counts.entry((&*change.workload, &*id.place, change.kind)).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }
}

/// A workload, a cluster type, and what happens.
type Group<'a> = (&'a str, &'a str, ChangeKind);

fn group_json(((workload, cluster_type, kind), assignments): &(Group<'_>, usize)) -> Json {
    json!({"workload": workload, "clusterType": cluster_type, "kind": kind_word(*kind), "assignments": assignments})
}

/// What is not listed; null if everything is.
fn truncated_json([groups, changes, other_files, kept, missing]: [usize; 5]) -> Json {
    if groups + changes + other_files + kept + missing == 0 {
        return Json::Null;
    }
    json!({"groups": groups, "changes": changes, "otherFiles": other_files, "kept": kept, "missing": missing, "help": MORE})
}

fn change_json(
    (id, change): (&str, &Change),
    (files, diffs): (&[FileChange], Option<Vec<String>>),
    places: &mut Places<'_>,
) -> Json {
    let values = change.why.iter().flat_map(|why| &why.values).map(|value| {
        json!({
            "key": value.path.to_string(),
            "before": value.before,
            "after": value.after,
            "because": value.because.as_ref().and_then(|because| places.whole(because)),
        })
    });
    let values: Vec<_> = values.collect();
    let reasons: Vec<_> = change.why.iter().flat_map(|why| &why.reasons).map(|reason| places.reason(reason)).collect();
    let mut diffs = diffs.unwrap_or_default().into_iter();
    json!({
        "assignment": id,
        "kind": kind_word(change.kind),
        "workload": &*change.workload,
        "values": values,
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
        ChangeKind::Removed => "removed",
    }
}
