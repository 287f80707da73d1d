//! The changes of a plan in groups, as texts show them: equal changes of many assignments are one group.

pub mod folding;
pub mod markdown;
pub mod places;
pub mod title;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use engine::layout::Folder;
use engine::output::Relocation;
use engine::plan::{AssignmentChange, Cause, ChangeKind, PlannedId, ValueChange};
use model::count::{self, count, named, thousands};
use model::excerpt;
use model::field_path::FieldPath;

use self::folding::{Folded, folded};
use self::places::{Places, because, words};
use crate::output::planned::Planned;

/// The maximum number of assignments for which the position of a label is compared.
const LABELS_MAX: usize = 20;
/// The maximum number of characters of a key or value that are shown.
const VALUE_CHARS_MAX: usize = 40;

/// A changed assignment.
pub type ChangedAssignment<'p> = (&'p PlannedId, &'p AssignmentChange);

/// Assignments of one or many workloads with the same change.
pub struct ChangeGroup {
    /// The name of the workload, or the number of workloads.
    pub workload: Arc<str>,
    /// The names of the workloads, if there are many. Otherwise empty.
    pub workloads: Vec<Arc<str>>,
    /// What changes.
    pub what: What,
}

/// A change: its kind, the path of the changed value, its text, and its cause.
pub type What = (ChangeKind, FieldPath, String, Option<Cause>);

/// Groups with their assignments.
pub type Groups<'p> = Vec<(ChangeGroup, Vec<&'p PlannedId>)>;

/// The number of changes of each kind by name, largest numbers first.
pub type ChangeCounts<'v> = Vec<(&'v str, BTreeMap<ChangeKind, usize>)>;

/// Groups of equal changes with their assignments: first changes of many workloads, then those of one workload. Workloads with most changes come first.
pub fn groups<'p>(changes: &[ChangedAssignment<'p>]) -> Groups<'p> {
    let mut happening: BTreeMap<What, Vec<ChangedAssignment<'p>>> = BTreeMap::new();
    let mut of_workload: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    for changed @ (id, change) in changes {
        *of_workload.entry(Arc::clone(owner(id, change))).or_default() += 1;
        for (path, what, because) in whats(change) {
            happening.entry((change.kind, path, what, because)).or_default().push(*changed);
        }
    }
    let grouped = |(what, changed): (What, Vec<ChangedAssignment<'p>>)| {
        (ChangeGroup::new(what, &changed), changed.into_iter().map(|(id, _)| id).collect::<Vec<_>>())
    };
    let mut groups: Vec<_> = happening.into_iter().map(grouped).collect();
    let total = |group: &ChangeGroup| of_workload.get(&group.workload).copied().unwrap_or_default();
    groups.sort_by(|(left, a), (right, b)| left.rank(total(left), a.len()).cmp(&right.rank(total(right), b.len())));
    groups
}

/// The number of changes by name, largest numbers first.
pub fn counted<'p>(
    changes: &[ChangedAssignment<'p>],
    name: impl Fn(ChangedAssignment<'p>) -> &'p str,
) -> ChangeCounts<'p> {
    let mut counts: BTreeMap<&str, BTreeMap<ChangeKind, usize>> = BTreeMap::new();
    for (id, change) in changes {
        *counts.entry(name((id, change))).or_default().entry(change.kind).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, kinds)| Reverse(kinds.values().sum::<usize>()));
    counts
}

impl ChangeGroup {
    fn new(what: What, changed: &[ChangedAssignment<'_>]) -> Self {
        let names: BTreeSet<_> = changed.iter().map(|(id, change)| Arc::clone(owner(id, change))).collect();
        let mut workloads: Vec<_> = names.into_iter().collect();
        let workload = match workloads.len() {
            1 => workloads.pop().unwrap_or_default(),
            _ => owners_text(changed.iter().copied()).into(),
        };
        Self { workload, workloads, what }
    }

    /// Whether it has many workloads.
    pub fn are_many(&self) -> bool {
        !self.workloads.is_empty()
    }

    /// The sort key of a group, from the number of its workload's changes and the number of its assignments.
    fn rank(&self, total: usize, size: usize) -> impl Ord {
        let workload = if self.are_many() { "" } else { &*self.workload };
        (Reverse(self.are_many()), Reverse(total), workload, Reverse(size), &self.what)
    }
}

/// The number of workloads with changes: `2 workloads`. It is `1 deployment target` if the workload is not known.
pub fn owners_text<'v>(changes: impl IntoIterator<Item = ChangedAssignment<'v>>) -> String {
    let (mut workloads, mut targets) = (BTreeSet::new(), BTreeSet::new());
    for (id, change) in changes {
        if change.workload.is_empty() {
            targets.insert(&id.target)
        } else {
            workloads.insert(&change.workload)
        };
    }
    let counts = [(workloads.len(), "workload"), (targets.len(), "deployment target")];
    let counts = counts.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| count(number, what));
    counts.collect::<Vec<_>>().join(" and ")
}

/// The name under which a change is listed: its workload, or its target if the workload is not known.
pub fn owner<'v>(id: &'v PlannedId, change: &'v AssignmentChange) -> &'v Arc<str> {
    if change.workload.is_empty() { &id.target } else { &change.workload }
}

/// The changes of an assignment with their causes: one for each value, or one for the whole assignment.
fn whats(change: &AssignmentChange) -> Vec<(FieldPath, String, Option<Cause>)> {
    let nothing = FieldPath::default;
    let Some(reasons) = &change.reasons else { return vec![(nothing(), "(values not compared)".to_owned(), None)] };
    let value = |folded: Folded<'_>| match folded {
        Folded::One(value) => (value.path.clone(), value_words(value), value.cause.clone()),
        Folded::List(list) => {
            let words = format!("{}  {}", excerpt::first(&list.path.to_string(), VALUE_CHARS_MAX), list.words());
            (list.path.clone(), words, list.because.cloned())
        }
    };
    let mut whats: Vec<_> = folded(&reasons.values).into_iter().map(value).collect();
    whats.extend(reasons.others.iter().map(|reason| (nothing(), words(reason), because(reason))));
    if whats.is_empty() {
        whats.push((nothing(), String::new(), None));
    }
    whats
}

fn value_words(value: &ValueChange) -> String {
    let key = excerpt::first(&value.path.to_string(), VALUE_CHARS_MAX);
    let shown = |text: &str| excerpt::first(text, VALUE_CHARS_MAX);
    match (&value.before, &value.after) {
        (Some(before), Some(after)) => {
            let (before, after) = excerpt::differing(before, after, VALUE_CHARS_MAX);
            format!("{key}  {before} → {after}")
        }
        (None, Some(after)) => format!("{key}  (new) {}", shown(after)),
        (Some(before), None) => format!("{key}  {} (gone)", shown(before)),
        (None, None) => key,
    }
}

/// The position of a cause. A label may have a position for each cluster type: then one of them is shown.
pub fn because_words(because: &Cause, ids: &[&PlannedId], places: &mut Places<'_>) -> Option<String> {
    let first = places.short(ids.first()?, because)?;
    let Cause::Label(_, key) = because else { return Some(format!("because {first}")) };
    let looked_at = ids.iter().take(LABELS_MAX);
    let all: BTreeSet<_> = looked_at.filter_map(|id| places.short(id, because)).collect();
    let more = if all.len() > 1 { " and others" } else { "" };
    Some(format!("because label {key}: {first}{more}"))
}

/// The sign of a kind of change: `+`, `~`, `>` or `-`.
pub fn sign(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "+",
        ChangeKind::Changed => "~",
        ChangeKind::Renamed => ">",
        ChangeKind::Removed => "-",
    }
}

/// The number of places: `12 cluster types and 3 clusters`. A place that is in no fleet any more counts as a cluster type.
pub fn places_text<'n>(planned: &Planned, names: impl IntoIterator<Item = &'n str>) -> String {
    let (clusters, cluster_types): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| planned.is_cluster(name));
    count::places(cluster_types.len(), clusters.len())
}

/// The cluster types and clusters whose folders get other names: `2 clusters: bonn → bonn-2, nice → nice-2`. None if no folder does.
pub fn renamed_places_text(planned: &Planned) -> Option<String> {
    let renamed = &planned.plan.renamed_places;
    let names: Vec<_> = renamed.iter().map(|(earlier, present)| format!("{earlier} → {present}")).collect();
    let places = places_text(planned, renamed.values().map(|name| &**name));
    (!names.is_empty()).then(|| format!("{places}: {}", named(&names)))
}

/// What clusters lose when assignments get other names. None if no assignment does.
pub fn renaming_note(planned: &Planned) -> Option<&'static str> {
    let is_renamed = planned.whole_plan().count(ChangeKind::Renamed) > 0;
    is_renamed
        .then_some("a reconciler that prunes removes what has the earlier names: namespaces, and the volumes in them")
}

/// The move of an output to another path: ``9 cluster types move from `a` to `b` ``.
pub fn relocation_text(planned: &Planned, Relocation { from, to, places }: &Relocation) -> String {
    let name = |path: &'_ String| path.rsplit('/').next().unwrap_or_default().to_owned();
    let names: Vec<_> = places.iter().map(name).collect();
    let verb = if names.len() == 1 { "moves" } else { "move" };
    let places = places_text(planned, names.iter().map(String::as_str));
    format!("{places} {verb} from {} to {}", folder_text(from), folder_text(to))
}

/// A folder of the branch: `` `clusters` ``, or `the root`.
fn folder_text(folder: &Folder) -> String {
    if folder.as_str().is_empty() { "the root".to_owned() } else { format!("`{}`", folder.as_str()) }
}

/// The removed assignments: ``12 of 40 assignments, all of workload `shop` ``.
pub fn removed_text(planned: &Planned) -> String {
    let plan = planned.whole_plan();
    if let Some(relocation) = &plan.relocation {
        let (number, from) = (count(relocation.places.len(), "folder"), folder_text(&relocation.from));
        let others = match plan.count(ChangeKind::Removed) {
            0 => String::new(),
            removed => format!(", and {}", count(removed, "assignment")),
        };
        return format!("{number} from {from}, which clusters pull until they are pointed to the new path{others}");
    }
    let (removed, renamed) = (plan.count(ChangeKind::Removed), plan.count(ChangeKind::Renamed));
    let before = count(plan.before(), "assignment");
    let earlier = format!("{} of {before} under their earlier names", thousands(renamed));
    let mut text = match (removed, renamed) {
        (_, 0) => format!("{} of {before}", thousands(removed)),
        (0, _) => earlier,
        _ => format!("{} of {before}, and {earlier}", thousands(removed)),
    };
    let gone = &plan.removed_workloads;
    for (what, names) in [("workload", &gone.workloads), ("target", &gone.targets)] {
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        match &names[..] {
            [] => {}
            [name] => {
                let _ = write!(text, ", all of {what} {name}");
            }
            names => {
                let _ = write!(text, ", all of {}: {}", count(names.len(), what), named(names));
            }
        }
    }
    let gone = || plan.removed_places.iter().chain(&plan.left_places);
    let places: Vec<_> = gone().map(|name| format!("`{name}`")).collect();
    if !places.is_empty() {
        let kinds = places_text(planned, gone().map(|name| &**name));
        let _ = write!(text, ", and {kinds}: {}", named(&places));
    }
    text
}
