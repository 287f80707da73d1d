//! The published contents of an object's assignments, as rows.

use std::collections::BTreeMap;

use delivery::output::rings::HeldContent;
use engine::compile::Compiled;
use hub_api::timestamp::Timestamp;
use model::diagnostic::AssignmentId;

use crate::held_content;
use crate::terminal::count;

/// One row for each content that is not the desired one, with the number of assignments.
pub(super) fn rows(published: &BTreeMap<AssignmentId, HeldContent>, compiled: &Compiled) -> Vec<Vec<String>> {
    let now = Timestamp::now();
    let mut numbers: BTreeMap<_, usize> = BTreeMap::new();
    for (id, content) in published {
        let workload = compiled.get(id).map_or("", |assignment| assignment.workload()).to_owned();
        let texts = (workload, content.to_string(), held_content::why(content, now));
        *numbers.entry(texts).or_default() += 1;
    }
    let row = |((workload, text, why), number)| vec![workload, count(number, "assignment"), text, why];
    numbers.into_iter().map(row).collect()
}
