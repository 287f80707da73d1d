//! The title of a plan: its largest changes in one line, for commits and pull requests.

use std::collections::{BTreeMap, BTreeSet};

use engine::plan::{ChangeKind, ChangeReason, PlannedId};
use model::count::{count, named};
use model::excerpt;

use super::folding::{Folded, folded};
use super::{ChangedAssignment, VALUE_CHARS_MAX, relocation_text, renamed_places_text};
use crate::output::planned::Planned;

/// The length of a title up to which further changes are named, in characters.
const CHARS: usize = 72;
/// The maximum length of the text about one change, in characters.
const SUBJECT_CHARS_MAX: usize = 60;

/// The title, without the name of the environment: `DATABASE_URL on 16 assignments and 2 more changes`. It contains no values.
pub fn title(planned: &Planned) -> String {
    let plan = &planned.plan;
    let changes: Vec<_> = plan.changes.iter().collect();
    let mut subjects = subjects(&changes);
    if let Some(relocation) = &plan.relocation {
        subjects.insert(0, relocation_text(planned, relocation));
    }
    if plan.moved > 0 {
        subjects.push(format!("{} moved", count(plan.moved, "folder")));
    }
    if subjects.is_empty() {
        let renamed = renamed_places_text(planned).map(|renamed| format!("rename of {renamed}"));
        return renamed.unwrap_or_else(|| "files of cluster types changed".to_owned());
    }
    let mut title = String::new();
    for (position, subject) in subjects.iter().enumerate() {
        let longer = if title.is_empty() { subject.clone() } else { format!("{title}, {subject}") };
        if position > 0 && longer.chars().count() > CHARS {
            return format!("{title} and {}", count(subjects.len() - position, "more change"));
        }
        title = longer;
    }
    title
}

/// The changes as texts: removals first, then renames, then the changes of most assignments.
fn subjects(changes: &[ChangedAssignment<'_>]) -> Vec<String> {
    let of = |kind| changes.iter().copied().filter(move |(_, change)| change.kind == kind).collect::<Vec<_>>();
    let whole =
        |kind, word| Some(of(kind)).filter(|of| !of.is_empty()).map(|of| format!("{} {word}", assignments(&of)));
    let mut subjects: Vec<_> = whole(ChangeKind::Removed, "removed").into_iter().collect();
    subjects.extend(whole(ChangeKind::Renamed, "renamed"));
    subjects.extend(changed(&of(ChangeKind::Changed)));
    subjects.extend(whole(ChangeKind::Added, "added"));
    subjects
}

/// What changes in assignments, with their number. Keys that change in the same assignments are one change.
fn changed(changes: &[ChangedAssignment<'_>]) -> Vec<String> {
    let mut by_subject: BTreeMap<String, BTreeSet<&PlannedId>> = BTreeMap::new();
    for (id, change) in changes {
        let reasons = change.reasons.as_deref();
        let keys = reasons.iter().flat_map(|reasons| folded(&reasons.values)).map(|value| match value {
            Folded::One(value) => value.path.to_string(),
            Folded::List(list) => list.path.to_string(),
        });
        let others = reasons.iter().flat_map(|reasons| &reasons.others).map(subject);
        for subject in keys.chain(others) {
            by_subject.entry(visible(&subject)).or_default().insert(id);
        }
        if reasons.is_none() {
            by_subject.entry("output".to_owned()).or_default().insert(id);
        }
    }
    let mut by_assignments: BTreeMap<BTreeSet<&PlannedId>, Vec<String>> = BTreeMap::new();
    for (subject, ids) in by_subject {
        by_assignments.entry(ids).or_default().push(subject);
    }
    let mut sorted: Vec<_> = by_assignments.into_iter().collect();
    sorted.sort_by_key(|(ids, _)| std::cmp::Reverse(ids.len()));
    let text = |(ids, subjects): (BTreeSet<&PlannedId>, Vec<String>)| {
        let of: Vec<_> = changes.iter().copied().filter(|(id, _)| ids.contains(id)).collect();
        format!("{} on {}", excerpt::first(&named(&subjects), SUBJECT_CHARS_MAX), assignments(&of))
    };
    sorted.into_iter().map(text).collect()
}

/// The number of assignments, with their workload if they have only one.
fn assignments(changes: &[ChangedAssignment<'_>]) -> String {
    let names: BTreeSet<_> = changes.iter().map(|(id, change)| super::owner(id, change)).collect();
    let number = count(changes.len(), "assignment");
    match names.first() {
        Some(only) if names.len() == 1 => format!("{number} of {only}"),
        _ => number,
    }
}

/// What another reason than values is about.
fn subject(reason: &ChangeReason) -> String {
    match reason {
        ChangeReason::Template(name, _) | ChangeReason::OtherTemplate(name, _) => format!("template {name}"),
        ChangeReason::Manifests(keys, _) => keys.join(", "),
        ChangeReason::Pin(name, _) => format!("release pin {name}"),
        ChangeReason::Held(_, pins) => match pins.first() {
            Some((name, _)) => format!("release pin {name}"),
            None => "held output".to_owned(),
        },
        ChangeReason::Label(super::Cause::Label(_, key)) => format!("label {key}"),
        ChangeReason::Label(_) => "a label".to_owned(),
        ChangeReason::AssignedBy(_)
        | ChangeReason::Renamed(..)
        | ChangeReason::ClusterTypeRemoved
        | ChangeReason::ClusterRemoved
        | ChangeReason::TargetRemoved(_)
        | ChangeReason::NotAssigned(_)
        | ChangeReason::Unknown => "output".to_owned(),
    }
}

/// A name from a repository in one line: it must not end the first line of a commit message.
fn visible(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    excerpt::first(&text, VALUE_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::plan::{AssignmentChange, ChangeReasons, ValueChange};
    use model::field_path::FieldPath;

    use super::*;

    fn check(changes: &[(&str, ChangeKind, &str, &[&str])], expected: &[&str]) {
        let value = |key: &&str| ValueChange { path: FieldPath::from([*key]), before: None, after: None, cause: None };
        let all = changes.iter().map(|(place, kind, workload, keys)| {
            let id = PlannedId { place: (*place).into(), target: format!("{workload}-eu").into() };
            let reasons = ChangeReasons { values: keys.iter().map(value).collect(), others: Vec::new() };
            let (workload, reasons) = ((*workload).into(), Some(Arc::new(reasons)));
            (id, AssignmentChange { kind: *kind, workload, renamed_from: None, before: None, after: None, reasons })
        });
        let all: BTreeMap<_, _> = all.collect();
        assert_eq!(subjects(&all.iter().collect::<Vec<_>>()), expected);
    }

    #[test]
    fn titles_summarize_the_change() {
        use ChangeKind::{Added, Changed, Removed, Renamed};
        check(&[("a", Changed, "shop", &["URL"])], &["URL on 1 assignment of shop"]);
        check(
            &[("a", Changed, "shop", &["URL", "LEVEL"]), ("a", Changed, "till", &["URL", "LEVEL"])],
            &["LEVEL, URL on 2 assignments"],
        );
        check(
            &[
                ("a", Changed, "shop", &["LEVEL"]),
                ("b", Changed, "shop", &["URL\nKalypso-Source: x"]),
                ("c", Changed, "shop", &["LEVEL"]),
            ],
            &["LEVEL on 2 assignments of shop", "URL Kalypso-Source: x on 1 assignment of shop"],
        );
        check(
            &[("a", Renamed, "shop", &["URL"]), ("b", Removed, "till", &[])],
            &["1 assignment of till removed", "1 assignment of shop renamed"],
        );
        check(
            &[("a", Added, "shop", &[]), ("b", Added, "till", &[]), ("c", Removed, "shop", &[])],
            &["1 assignment of shop removed", "2 assignments added"],
        );
    }
}
