//! The assignments of an object that have another content than the desired one.

use std::collections::BTreeMap;

use delivery::output::rings::HeldContent;
use engine::compile::{Assignment, Compiled};
use hub_api::timestamp::Timestamp;
use model::diagnostic::AssignmentId;
use serde::Serialize;
use workbench::held_assignments::HeldAssignments;
use workbench::listing::rows::PublishedContent;
use workbench::listing::view::View;

use super::Subject;
use super::reach;
use crate::held_content;
use crate::terminal::count;

/// The published content of an assignment.
#[derive(Serialize)]
pub(super) struct RolloutFields {
    #[serde(flatten)]
    content: PublishedContent,
    assignment: String,
}

/// The assignments of an object that have another content than the desired one. None of them: all have it, or an object of this kind reaches none.
#[derive(Default)]
pub(super) struct HeldContents {
    /// One for each assignment, for programs.
    pub(super) rollouts: Vec<RolloutFields>,
    /// One for each content, with the number of assignments, for people.
    pub(super) rows: Vec<Vec<String>>,
}

/// Finds the held contents of an object's assignments.
pub(super) fn contents(
    subject: &Subject,
    (view, compiled): (&View<'_>, &Compiled),
    held: &mut HeldAssignments<'_>,
) -> HeldContents {
    let Some(set) = reach::set(&subject.listed, view) else { return HeldContents::default() };
    let ids: Vec<_> = view.inventory.assignments(&set, None).map(|assigned| assigned.id()).collect();
    let folder = |id: &AssignmentId| compiled.get(id).as_ref().and_then(Assignment::folder);
    let found = held.find(&ids, |ids| ids.iter().map(folder).collect());
    let now = Timestamp::now();
    let mut numbers: BTreeMap<_, usize> = BTreeMap::new();
    for (id, content) in &found {
        let workload = compiled.get(id).map_or("", |assignment| assignment.workload()).to_owned();
        let texts = (workload, content.to_string(), held_content::why(content, now));
        *numbers.entry(texts).or_default() += 1;
    }
    let row = |((workload, text, why), number)| vec![workload, count(number, "assignment"), text, why];
    let rollout = |(id, content): (&AssignmentId, &HeldContent)| RolloutFields {
        content: PublishedContent::new(content),
        assignment: id.to_string(),
    };
    HeldContents { rollouts: found.iter().map(rollout).collect(), rows: numbers.into_iter().map(row).collect() }
}
