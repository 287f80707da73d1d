//! Plans as text: counts, then groups of equal changes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use delivery::loaded::Loaded;
use engine::plan::{AssignmentChange, Cause, ChangeKind, FileChange, PlannedId, ValueChange};
use model::field_path::FieldPath;

use super::confirmation::removed_text;
use super::folding::{Folded, folded};
use super::places::{Places, because, words};
use super::places_text;
use super::selection::View;
use crate::terminal::{count, named, thousands};

/// The default maximum number of shown groups: two screens.
const GROUPS_MAX: usize = 40;
/// The maximum number of other files that are shown.
const FILES_MAX: usize = 10;
/// The column at which positions begin if the text of the change is shorter.
const WHAT_CHARS: usize = 60;
/// The maximum number of cluster types or workloads in a list of those with most changes.
const COUNTED_MAX: usize = 5;
/// The maximum number of workloads that are listed one by one if they all have the same change.
const WORKLOADS_MAX: usize = 5;
/// The maximum number of assignments for which the position of a label is compared.
const LABELS_MAX: usize = 20;
/// The maximum number of assignments that are named.
const NAMES_MAX: usize = 2;
/// The maximum number of characters of a key or value that are shown.
const VALUE_CHARS_MAX: usize = 40;
/// The maximum length of a line in characters.
const LINE_CHARS_MAX: usize = 120;

/// Assignments of one or many workloads with the same change.
struct Group {
    /// The name of the workload, or the number of workloads.
    workload: Arc<str>,
    are_many: bool,
    what: What,
}

/// A change: its kind, the path of the changed value, its text, and its cause.
type What = (ChangeKind, FieldPath, String, Option<Cause>);

type Groups<'p> = Vec<(Group, Vec<&'p PlannedId>)>;

/// The number of changes of each kind by name, largest numbers first.
type Counts<'v> = Vec<(&'v str, BTreeMap<ChangeKind, usize>)>;

impl View<'_> {
    /// The plan as text.
    pub(in crate::commands) fn summary(&self, loaded: &Loaded) -> String {
        let plan = &self.planned.plan;
        if plan.is_empty() {
            let unchanged = count(plan.unchanged, "assignment");
            let stay = match (plan.unchanged, plan.is_failing()) {
                (1, false) => "stays as it should be",
                (1, true) => "stays as it is",
                (_, false) => "stay as they should be",
                (_, true) => "stay as they are",
            };
            return format!("  nothing changes: {unchanged} {stay}\n{}{}", self.failing(), self.unassigned());
        }
        let mut text = self.counts();
        text.push_str(&self.failing());
        text.push_str(&self.unassigned());
        if plan.needs_confirmation() {
            let word = self.planned.confirmation_word().map_or_else(String::new, |word| format!(" {word}"));
            let removed = removed_text(self.planned);
            let _ = writeln!(text, "\n  this removes {removed}\n  publishing it directly needs --confirm{word}");
        }
        if !self.filters.is_empty() {
            let (shown, all) = (thousands(self.changes.len()), count(plan.changes.len(), "change"));
            let _ = writeln!(text, "\n  {shown} of {all} selected by {}", self.filters);
        }
        let groups = self.groups();
        if !groups.is_empty() {
            text.push('\n');
            text.push_str(&groups_text(
                &groups,
                self.limit.unwrap_or(GROUPS_MAX),
                &mut Places::new(self.planned, loaded),
            ));
            text.push_str(&self.most(&groups));
        }
        let others = self.others();
        if !others.is_empty() {
            let _ = write!(text, "\n{others}");
        }
        text
    }

    /// Whether the plan is so long that showing a part of it helps.
    pub(super) fn is_long(&self) -> bool {
        self.changes.len() > GROUPS_MAX
    }

    fn counts(&self) -> String {
        let mut text = String::new();
        let kinds = [
            (ChangeKind::Changed, "changes", "change"),
            (ChangeKind::Added, "is added", "are added"),
            (ChangeKind::Removed, "is removed", "are removed"),
        ];
        for (kind, one, many) in kinds {
            let changes = || self.planned.plan.changes.iter().filter(|(_, change)| change.kind == kind);
            let number = changes().count();
            if number == 0 {
                continue;
            }
            let what = format!("{} {}", count(number, "assignment"), if number == 1 { one } else { many });
            let places: BTreeSet<_> = changes().map(|(id, _)| &*id.place).collect();
            let (of, on) = (owners(changes()), places_text(self.planned, places));
            let _ = writeln!(text, "  {} {what:<32} {of} · {on}", sign(kind));
        }
        if self.planned.plan.moved > 0 {
            let verb = if self.planned.plan.moved == 1 { "moves" } else { "move" };
            let _ = writeln!(text, "  > {} {verb} to another path", count(self.planned.plan.moved, "folder"));
        }
        if self.planned.plan.unchanged > 0 {
            let stay = if self.planned.plan.unchanged == 1 { "stays as it is" } else { "stay as they are" };
            let _ = writeln!(text, "    {} {stay}", count(self.planned.plan.unchanged, "assignment"));
        }
        text
    }

    fn failing(&self) -> String {
        let (kept, missing) = (self.planned.plan.kept.len(), self.planned.plan.missing.len());
        let mut text = String::new();
        if kept > 0 {
            let keep = if kept == 1 { "keeps its" } else { "keep their" };
            let _ = writeln!(text, "  ! {} {keep} last good output, because of errors", count(kept, "assignment"));
        }
        text.push_str(&self.held());
        if missing > 0 {
            let has = if missing == 1 { "has" } else { "have" };
            let _ = writeln!(text, "  ! {} {has} no output yet, because of errors", count(missing, "assignment"));
        }
        text
    }

    /// The failing assignments that are held, with their publication and their pins.
    fn held(&self) -> String {
        let mut counts: BTreeMap<(String, Vec<&str>), usize> = BTreeMap::new();
        for held in self.planned.plan.held.values() {
            let pins = held.pins.iter().map(|pin| pin.name.as_str()).collect();
            *counts.entry((held.from.short(), pins)).or_default() += 1;
        }
        let line = |((from, pins), number): ((String, Vec<&str>), usize)| {
            let is = if number == 1 { "is" } else { "are" };
            let with = match &*pins {
                [] => "with no release pin any more".to_owned(),
                pins => format!("with release pin {}", pins.join(", ")),
            };
            format!("  ! {} {is} held from commit {from} {with}, because of errors\n", count(number, "assignment"))
        };
        counts.into_iter().map(line).collect()
    }

    fn unassigned(&self) -> String {
        let names: Vec<_> = self.planned.plan.unassigned.iter().map(|name| format!("`{name}`")).collect();
        let (what, is) = if names.len() == 1 {
            ("1 new deployment target".to_owned(), "is")
        } else {
            (format!("{} new deployment targets", thousands(names.len())), "are")
        };
        if names.is_empty() {
            return String::new();
        }
        format!("  ! {what} {is} assigned nowhere, because no policy selects any: {}\n", named(&names))
    }

    /// Groups of equal changes with their assignments: first changes of many workloads, then each workload. Workloads with most changes come first.
    fn groups(&self) -> Groups<'_> {
        let mut happening: BTreeMap<What, BTreeMap<Arc<str>, Vec<&PlannedId>>> = BTreeMap::new();
        let mut of_workload: BTreeMap<Arc<str>, usize> = BTreeMap::new();
        for (id, change) in &self.changes {
            *of_workload.entry(Arc::clone(owner(id, change))).or_default() += 1;
            for (path, what, because) in whats(change) {
                let to = happening.entry((change.kind, path, what, because)).or_default();
                to.entry(Arc::clone(owner(id, change))).or_default().push(*id);
            }
        }
        let mut groups: Vec<_> = happening.into_iter().flat_map(|(what, to)| grouped(&what, to)).collect();
        let total = |group: &Group| of_workload.get(&group.workload).copied().unwrap_or_default();
        groups.sort_by(|(left, a), (right, b)| left.rank(total(left), a.len()).cmp(&right.rank(total(right), b.len())));
        groups
    }

    /// The names with most changes. Empty if the groups show all of it.
    fn most(&self, groups: &Groups<'_>) -> String {
        let mut text = String::new();
        if groups.iter().any(|(group, _)| group.are_many) {
            text.push_str(&most("of", &self.counted(|id, change| &**owner(id, change))));
        }
        if groups.iter().any(|(_, ids)| ids.len() > NAMES_MAX) {
            text.push_str(&most("on", &self.counted(|id, _| &*id.place)));
        }
        if text.is_empty() { text } else { format!("\n{text}") }
    }

    /// The number of changes by name, largest numbers first.
    fn counted<'v>(&'v self, name: impl Fn(&'v PlannedId, &'v AssignmentChange) -> &'v str) -> Counts<'v> {
        let mut counts: BTreeMap<&str, BTreeMap<ChangeKind, usize>> = BTreeMap::new();
        for (id, change) in &self.changes {
            *counts.entry(name(id, change)).or_default().entry(change.kind).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, kinds)| Reverse(kinds.values().sum::<usize>()));
        counts
    }

    /// The files that belong to no assignment.
    fn others(&self) -> String {
        let (markers, others): (Vec<_>, Vec<_>) =
            self.planned.plan.other_files.iter().partition(|change| is_marker(change));
        let mut text = String::new();
        for kind in [ChangeKind::Added, ChangeKind::Changed, ChangeKind::Removed] {
            let mut names: Vec<_> =
                markers.iter().filter(|change| change.kind == kind).map(|change| folder(change)).collect();
            names.sort_unstable();
            if !names.is_empty() {
                let places = places_text(self.planned, names.iter().map(String::as_str));
                let _ = writeln!(text, "  {} {places}: {}", sign(kind), named(&names));
            }
        }
        for change in others.iter().take(FILES_MAX) {
            let _ = writeln!(text, "  {} {}", sign(change.kind), change.path);
        }
        if others.len() > FILES_MAX {
            let _ = writeln!(text, "    and {} more", count(others.len() - FILES_MAX, "file"));
        }
        text
    }
}

impl Group {
    /// The sort key of a group, from the number of its workload's changes and the number of its assignments.
    fn rank(&self, total: usize, size: usize) -> impl Ord {
        let workload = if self.are_many { "" } else { &*self.workload };
        (Reverse(self.are_many), Reverse(total), workload, Reverse(size), &self.what)
    }
}

/// The name under which a change is listed: its workload, or its target if the workload is not known.
fn owner<'v>(id: &'v PlannedId, change: &'v AssignmentChange) -> &'v Arc<str> {
    if change.workload.is_empty() { &id.target } else { &change.workload }
}

/// The number of workloads with changes: `2 workloads`. It is `1 deployment target` if the workload is not known.
fn owners<'v>(changes: impl Iterator<Item = (&'v PlannedId, &'v AssignmentChange)>) -> String {
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

/// The groups of assignments with the same change: one for each workload, or one for many workloads.
fn grouped<'p>(what: &What, to: BTreeMap<Arc<str>, Vec<&'p PlannedId>>) -> Groups<'p> {
    let are_many = to.len() > WORKLOADS_MAX;
    let group = |workload| Group { workload, are_many, what: what.clone() };
    if are_many {
        let name = count(to.len(), "workload").into();
        return vec![(group(name), to.into_values().flatten().collect())];
    }
    to.into_iter().map(|(workload, ids)| (group(workload), ids)).collect()
}

/// The names with most changes, and the number of further names: `  on west ~ 4 - 1 · east ~ 3`. Empty if there is only one name.
fn most(preposition: &str, counts: &Counts<'_>) -> String {
    if counts.len() < 2 {
        return String::new();
    }
    let kinds = |kinds: &BTreeMap<ChangeKind, usize>| {
        let each = kinds.iter().map(|(kind, number)| format!("{} {}", sign(*kind), thousands(*number)));
        each.collect::<Vec<_>>().join(" ")
    };
    let named = counts.iter().take(COUNTED_MAX).map(|(name, found)| format!("{name} {}", kinds(found)));
    let mut parts: Vec<_> = named.collect();
    if let Some(more) = counts.len().checked_sub(COUNTED_MAX).filter(|more| *more > 0) {
        parts.push(format!("{} more", thousands(more)));
    }
    format!("  {preposition} {}\n", parts.join(" · "))
}

/// Whether the file marks the folder of a cluster type.
fn is_marker(change: &FileChange) -> bool {
    change.path.ends_with("/README.md")
}

fn folder(change: &FileChange) -> String {
    change.path.rsplit('/').nth(1).unwrap_or_default().to_owned()
}

/// The changes of an assignment with their causes: one for each value, or one for the whole assignment.
fn whats(change: &AssignmentChange) -> Vec<(FieldPath, String, Option<Cause>)> {
    let nothing = FieldPath::default;
    let Some(reasons) = &change.reasons else { return vec![(nothing(), "(values not compared)".to_owned(), None)] };
    let value = |folded: Folded<'_>| match folded {
        Folded::One(value) => (value.path.clone(), value_words(value), value.cause.clone()),
        Folded::List(list) => {
            let words = format!("{}  {}", cut(&list.path.to_string(), VALUE_CHARS_MAX), list.words());
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
    let key = cut(&value.path.to_string(), VALUE_CHARS_MAX);
    let shown = |text: &str| cut(text, VALUE_CHARS_MAX);
    match (&value.before, &value.after) {
        (Some(before), Some(after)) => format!("{key}  {} → {}", shown(before), shown(after)),
        (None, Some(after)) => format!("{key}  (new) {}", shown(after)),
        (Some(before), None) => format!("{key}  {} (gone)", shown(before)),
        (None, None) => key,
    }
}

fn groups_text(groups: &Groups<'_>, limit: usize, places: &mut Places<'_>) -> String {
    let shown = groups.get(..limit).unwrap_or(groups);
    let workload_width = shown.iter().map(|(group, _)| chars(&group.workload)).max().unwrap_or_default();
    let count_width = shown.iter().map(|(_, ids)| chars(&thousands(ids.len()))).max().unwrap_or_default();
    let what_width = shown.iter().map(|(group, _)| chars(&group.what.2)).max().unwrap_or_default().min(WHAT_CHARS);
    let mut text = String::new();
    let mut last: Option<&(Group, Vec<&PlannedId>)> = None;
    for shown @ (group, ids) in shown {
        // A name that is equal to the name in the line before is not repeated.
        let is_said = !group.are_many && last.is_some_and(|(last, _)| last.workload == group.workload);
        let are_named = last.is_some_and(|(_, last)| last == ids);
        last = Some(shown);
        let workload = if is_said { "" } else { &*group.workload };
        let (kind, _, what, because) = &group.what;
        let number = thousands(ids.len());
        let start = format!("  {workload:<workload_width$}  {} {number:>count_width$}  ", sign(*kind));
        let what = cut(what, LINE_CHARS_MAX - chars(&start));
        let because = because.as_ref().and_then(|because| because_words(because, ids, places));
        // If there are too many assignments to name, only their number is shown.
        let names = ids.iter().take(NAMES_MAX).map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let on = (ids.len() <= NAMES_MAX && !are_named).then(|| format!("on {names}"));
        let indent = " ".repeat(chars(&start));
        let mut line = format!("{start}{what:<what_width$}");
        for part in [because, on].into_iter().flatten() {
            if chars(&line) + 3 + chars(&part) > LINE_CHARS_MAX {
                let _ = writeln!(text, "{}", line.trim_end());
                line = format!("{indent}{part}");
            } else {
                let _ = write!(line, "   {part}");
            }
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if groups.len() > shown.len() {
        let more = groups.len() - shown.len();
        let _ = writeln!(text, "  and {}: --limit {} shows all", count(more, "more group"), groups.len());
    }
    text
}

/// The position of a cause. A label may have a position for each cluster type: then one of them is shown.
fn because_words(because: &Cause, ids: &[&PlannedId], places: &mut Places<'_>) -> Option<String> {
    let first = places.short(ids.first()?, because)?;
    let Cause::Label(_, key) = because else { return Some(format!("because {first}")) };
    let looked_at = ids.iter().take(LABELS_MAX);
    let all: BTreeSet<_> = looked_at.filter_map(|id| places.short(id, because)).collect();
    let more = if all.len() > 1 { " and others" } else { "" };
    Some(format!("because label {key}: {first}{more}"))
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn sign(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "+",
        ChangeKind::Changed => "~",
        ChangeKind::Removed => "-",
    }
}

fn cut(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    text.chars().take(chars_max - 1).chain(['…']).collect()
}
