//! Plans as text: counts, then groups of equal changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use delivery::output::changes::places::Places;
use delivery::output::changes::{
    ChangeCounts, ChangeGroup, Groups, because_words, counted, groups, owner, owners_text, places_text,
    relocation_text, removed_text, renamed_places_text, renaming_note, sign,
};
use delivery::output::planned::Planned;
use delivery::sources::loaded::Loaded;
use engine::plan::{ChangeKind, FileChange, PlannedId};
use model::excerpt;
use workbench::answers::plan::PlanView;

use crate::terminal::{count, named, thousands};

/// The default maximum number of shown groups: two screens.
const GROUPS_MAX: usize = 40;
/// The maximum number of other files that are shown.
const FILES_MAX: usize = 10;
/// The column at which positions begin if the text of the change is shorter.
const WHAT_CHARS: usize = 60;
/// The maximum number of cluster types or workloads in a list of those with most changes.
const COUNTED_MAX: usize = 5;
/// The maximum number of assignments that are named.
const NAMES_MAX: usize = 2;
/// The maximum length of a line in characters.
const LINE_CHARS_MAX: usize = 120;

/// A whole plan as text.
pub(in crate::commands) fn whole(planned: &Planned, loaded: &Loaded) -> String {
    text(&PlanView::whole(planned), loaded, "")
}

/// A plan as text. `filters` are the options that select changes; empty if all are selected.
pub(super) fn text(view: &PlanView<'_>, loaded: &Loaded, filters: &str) -> String {
    Summary { view, filters }.text(loaded)
}

/// Whether a plan is so long that showing a part of it helps.
pub(super) fn is_long(view: &PlanView<'_>) -> bool {
    view.changes.len() > GROUPS_MAX
}

/// The changes of a plan that are shown, and the options that select them.
struct Summary<'a> {
    view: &'a PlanView<'a>,
    filters: &'a str,
}

impl Summary<'_> {
    fn text(&self, loaded: &Loaded) -> String {
        let plan = &self.view.planned.plan;
        if plan.is_empty() {
            let unchanged = count(plan.unchanged, "assignment");
            let stay = match (plan.unchanged, plan.is_failing()) {
                (1, false) => "is up to date",
                (1, true) => "stays as it is",
                (_, false) => "are up to date",
                (_, true) => "stay as they are",
            };
            let (rings, failing) = (self.rings(), self.failing());
            return format!("  nothing changes: {unchanged} {stay}\n{rings}{failing}{}", self.unassigned());
        }
        let mut text = self.counts();
        text.push_str(&self.rings());
        text.push_str(&self.failing());
        text.push_str(&self.unassigned());
        if plan.needs_confirmation() {
            let word = self.view.planned.confirmation_word().map_or_else(String::new, |word| format!(" {word}"));
            let removed = removed_text(self.view.planned);
            let _ = writeln!(text, "\n  this removes {removed}");
            if let Some(note) = renaming_note(self.view.planned) {
                let _ = writeln!(text, "  {note}");
            }
            let _ = writeln!(text, "  publishing it directly needs --confirm{word}");
        }
        if !self.filters.is_empty() {
            let (shown, all) = (thousands(self.view.changes.len()), count(plan.changes.len(), "change"));
            let _ = writeln!(text, "\n  {shown} of {all} selected by {}", self.filters);
        }
        let groups = groups(&self.view.changes);
        if !groups.is_empty() {
            text.push('\n');
            text.push_str(&groups_text(
                &groups,
                self.view.limit.unwrap_or(GROUPS_MAX),
                &mut Places::new(self.view.planned, loaded),
            ));
            text.push_str(&self.most(&groups));
        }
        let others = self.others();
        if !others.is_empty() {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = write!(text, "{gap}{others}");
        }
        text
    }

    /// How far each rollout is.
    fn rings(&self) -> String {
        let lines = self.view.planned.rollout_lines().into_iter().flatten();
        lines.map(|line| format!("    {line}\n")).collect()
    }

    fn counts(&self) -> String {
        let mut text = String::new();
        let kinds = [
            (ChangeKind::Changed, "changes", "change"),
            (ChangeKind::Added, "is added", "are added"),
            (ChangeKind::Renamed, "is renamed", "are renamed"),
            (ChangeKind::Removed, "is removed", "are removed"),
        ];
        for (kind, one, many) in kinds {
            let changes = || self.view.planned.plan.changes.iter().filter(|(_, change)| change.kind == kind);
            let number = changes().count();
            if number == 0 {
                continue;
            }
            let what = format!("{} {}", count(number, "assignment"), if number == 1 { one } else { many });
            let places: BTreeSet<_> = changes().map(|(id, _)| &*id.place).collect();
            let (of, on) = (owners_text(changes()), places_text(self.view.planned, places));
            let _ = writeln!(text, "  {} {what:<32} {of} · {on}", sign(kind));
        }
        if self.view.planned.plan.moved > 0 {
            let verb = if self.view.planned.plan.moved == 1 { "moves" } else { "move" };
            let _ = writeln!(text, "  > {} {verb} to another path", count(self.view.planned.plan.moved, "folder"));
        }
        if let Some(relocation) = &self.view.planned.plan.relocation {
            let _ = writeln!(text, "  > {}", relocation_text(self.view.planned, relocation));
        }
        if self.view.planned.plan.unchanged > 0 {
            let stay = if self.view.planned.plan.unchanged == 1 { "stays as it is" } else { "stay as they are" };
            let _ = writeln!(text, "    {} {stay}", count(self.view.planned.plan.unchanged, "assignment"));
        }
        text
    }

    fn failing(&self) -> String {
        let plan = &self.view.planned.plan;
        let (kept, missing, still_failing) = (plan.kept.len(), plan.missing.len(), plan.still_failing.len());
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
        if still_failing > 0 {
            let (fails, them) = if still_failing == 1 { ("fails", "it") } else { ("fail", "them") };
            let number = count(still_failing, "assignment");
            let _ = writeln!(text, "  ! {number} {fails} before and after: what was published of {them} stays");
        }
        text
    }

    /// The failing assignments that are held, with their publication and their pins.
    fn held(&self) -> String {
        let mut counts: BTreeMap<(String, Vec<&str>), usize> = BTreeMap::new();
        for held in self.view.planned.plan.held.values() {
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
        let names: Vec<_> = self.view.planned.plan.unassigned.iter().map(|name| format!("`{name}`")).collect();
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

    /// The folders that are taken over, with the files that they lose.
    fn adopted(&self) -> String {
        let mut text = String::new();
        for (place, files) in &self.view.planned.plan.adopted {
            let of = |kind| files.iter().filter(move |file| file.kind == kind);
            let counts = [(ChangeKind::Removed, "removed"), (ChangeKind::Changed, "replaced")];
            let counts =
                counts.into_iter().map(|(kind, what)| (of(kind).count(), what)).filter(|(number, _)| *number > 0);
            let counts: Vec<_> = counts.map(|(number, what)| format!("{} {what}", count(number, "file"))).collect();
            let loses = if counts.is_empty() { "no file is removed".to_owned() } else { counts.join(", ") };
            let _ = writeln!(text, "  > folder of {place} is taken over: {loses}");
            let listed = of(ChangeKind::Removed).chain(of(ChangeKind::Changed));
            for file in listed.take(FILES_MAX) {
                let _ = writeln!(text, "      {} {}", sign(file.kind), file.path);
            }
            if files.len() > FILES_MAX {
                let _ = writeln!(text, "      and {}: --diff shows all", count(files.len() - FILES_MAX, "more file"));
            }
        }
        text
    }

    /// The names with most changes. Empty if the groups show all of it.
    fn most(&self, groups: &Groups<'_>) -> String {
        let mut text = String::new();
        if groups.iter().any(|(group, ids)| group.are_many() && ids.len() > NAMES_MAX) {
            text.push_str(&most("of", &counted(&self.view.changes, |(id, change)| &**owner(id, change))));
        }
        if groups.iter().any(|(_, ids)| ids.len() > NAMES_MAX) {
            text.push_str(&most("on", &counted(&self.view.changes, |(id, _)| &*id.place)));
        }
        if text.is_empty() { text } else { format!("\n{text}") }
    }

    /// The files that belong to no assignment.
    fn others(&self) -> String {
        let mut text = self.adopted();
        let is_adopted = |change: &&FileChange| {
            let mut files = self.view.planned.plan.adopted.values().flatten();
            change.kind != ChangeKind::Added && files.any(|file| file.path == change.path)
        };
        let others = self.view.planned.plan.other_files.iter().filter(|change| !is_adopted(change));
        let (markers, others): (Vec<_>, Vec<_>) = others.partition(|change| is_marker(change));
        text.extend(renamed_places_text(self.view.planned).map(|renamed| format!("  > {renamed}\n")));
        let is_renamed = |change: &&&FileChange| self.view.planned.plan.is_renamed_place(&folder(change));
        let markers: Vec<_> = markers.iter().filter(|change| !is_renamed(change)).collect();
        for kind in [ChangeKind::Added, ChangeKind::Changed, ChangeKind::Removed] {
            let mut names: Vec<_> =
                markers.iter().filter(|change| change.kind == kind).map(|change| folder(change)).collect();
            names.sort_unstable();
            if !names.is_empty() {
                let places = places_text(self.view.planned, names.iter().map(String::as_str));
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

/// The names with most changes, and the number of further names: `  on west ~ 4 - 1 · east ~ 3`. Empty if there is only one name.
fn most(preposition: &str, counts: &ChangeCounts<'_>) -> String {
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

fn groups_text(groups: &Groups<'_>, limit: usize, places: &mut Places<'_>) -> String {
    let shown = groups.get(..limit).unwrap_or(groups);
    let workload_width = shown.iter().map(|(group, _)| chars(&group.workload)).max().unwrap_or_default();
    let count_width = shown.iter().map(|(_, ids)| chars(&thousands(ids.len()))).max().unwrap_or_default();
    let what_width = shown.iter().map(|(group, _)| chars(&group.what.2)).max().unwrap_or_default().min(WHAT_CHARS);
    let mut text = String::new();
    let mut last: Option<&(ChangeGroup, Vec<&PlannedId>)> = None;
    for shown @ (group, ids) in shown {
        // A name that is equal to the name in the line before is not repeated.
        let is_said = !group.are_many() && last.is_some_and(|(last, _)| last.workload == group.workload);
        let are_named = last.is_some_and(|(_, last)| last == ids);
        last = Some(shown);
        let workload = if is_said { "" } else { &*group.workload };
        let (kind, _, what, because) = &group.what;
        let number = thousands(ids.len());
        let start = format!("  {workload:<workload_width$}  {} {number:>count_width$}  ", sign(*kind));
        let what = excerpt::first(what, LINE_CHARS_MAX - chars(&start));
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

fn chars(text: &str) -> usize {
    text.chars().count()
}
