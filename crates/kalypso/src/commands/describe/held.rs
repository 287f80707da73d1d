//! The assignments of an object that have another content than the desired one.

use std::collections::BTreeMap;

use engine::compile::{Assignment, Compiled};
use hub_api::timestamp::Timestamp;
use model::diagnostic::AssignmentId;
use workbench::listing::view::View;

use super::Subject;
use super::details::Detail;
use super::reach;
use crate::held_content::{self, HeldAssignments};
use crate::terminal::count;

/// The held contents of an object's assignments, with the number of assignments of each. None: all have the desired content, or an object of this kind reaches none.
pub(super) fn detail(
    subject: &Subject,
    (view, compiled): (&View<'_>, &Compiled),
    held: &mut HeldAssignments<'_>,
) -> Option<Detail> {
    let set = reach::set(&subject.listed, view)?;
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
    let rows: Vec<_> = numbers.into_iter().map(row).collect();
    let json = found.iter().map(|(id, content)| {
        let mut json = held_content::json(content);
        json["assignment"] = id.to_string().into();
        json
    });
    let json = json.collect::<Vec<_>>().into();
    (!rows.is_empty()).then_some(Detail { field: "rollouts", title: "Published", rows, json })
}
