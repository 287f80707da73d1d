//! Plans as structured answers.

use std::collections::BTreeSet;

use engine::plan::{Change, ChangeKind, FileChange};
use model::diagnostic::AssignmentId;
use model::tree::OpenError;
use serde_json::{Value as Json, json};

use super::Planned;
use super::diff::Diffs;
use super::places::Places;
use crate::loading::Loaded;

impl Planned<'_> {
    /// The plan for one place.
    pub(super) fn answer(&self, loaded: &Loaded, diffs: Option<&Diffs<'_>>) -> Result<Json, OpenError> {
        let mut places = Places::new(self, loaded);
        let plan = &self.plan;
        let changes = plan.changes.iter().map(|(id, change)| {
            let files = self.files(id)?;
            let texts = diffs.map(|diffs| diffs.of(id, &files));
            Ok(change_json((&id.to_string(), change), (&files, texts), &mut places))
        });
        let changes = changes.collect::<Result<Vec<_>, _>>()?;
        let other_files =
            plan.other_files.iter().map(|change| file_json(change, diffs.map(|diffs| diffs.other(change))));
        let ids = |ids: &BTreeSet<AssignmentId>| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
        Ok(json!({
            "gitopsRepo": self.target.name,
            "branch": self.target.branch.name,
            "commit": self.target.branch.commit().map(|commit| commit.to_string()),
            "tree": self.output.tree.id().to_string(),
            "counts": {
                "changed": plan.count(ChangeKind::Changed),
                "added": plan.count(ChangeKind::Added),
                "removed": plan.count(ChangeKind::Removed),
                "unchanged": plan.unchanged,
                "moved": plan.moved,
                "kept": plan.kept.len(),
                "missing": plan.missing.len(),
            },
            "needsConfirmation": plan.needs_confirmation(),
            "changes": changes,
            "otherFiles": other_files.collect::<Vec<_>>(),
            "kept": ids(&plan.kept),
            "missing": ids(&plan.missing),
        }))
    }
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
