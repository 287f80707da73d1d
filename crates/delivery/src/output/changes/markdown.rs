//! Plans as Markdown, for pull requests, comments and summaries of CI jobs.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use engine::plan::{ChangeKind, PlannedId};
use hub_api::promotions::Wait;
use model::count::{count, named, thousands};
use model::diagnostic::Diagnostic;
use model::excerpt;
use model::locate::Locator;

use super::places::Places;
use super::{
    ChangeGroup, ChangedAssignment, because_words, groups, owners_text, places_text, relocation_text, removed_text,
    renamed_places_text, renaming_note, sign,
};
use crate::output::planned::Planned;
use crate::sources::loaded::Loaded;

/// The command that answers a wait, with the role that it needs.
pub(crate) fn answer(command: &str, role: &str) -> String {
    format!("→ `{command}` (role `{role}`)")
}

/// What people can do about waits, as a part of a longer text. Empty: nothing.
pub(crate) fn answers(waits: &[Wait]) -> String {
    let line = |Wait { text, command, role, url, .. }: &Wait| {
        let act = match (command, url) {
            (Some(command), _) => answer(command, role.as_deref().unwrap_or_default()),
            (None, Some(url)) => format!("→ <{url}>"),
            (None, None) => return None,
        };
        Some(format!("- {act}: {}\n", code(text)))
    };
    let lines: BTreeSet<_> = waits.iter().filter_map(line).collect();
    let lines = lines.into_iter().collect::<String>();
    if lines.is_empty() { lines } else { format!("\n### What people can do\n\n{lines}") }
}

/// The numbers of groups and diagnostics that are tried, until the text is short enough.
const LISTED: [usize; 4] = [60, 20, 5, 0];
/// The maximum number of assignments that are named in a row.
const NAMES_MAX: usize = 2;
/// The maximum number of notes and advice of a diagnostic.
const NOTES_MAX: usize = 4;

/// A plan with its diagnostics.
#[derive(Clone, Copy)]
pub struct PlanText<'a> {
    /// The environment.
    pub loaded: &'a Loaded,
    /// The plan.
    pub planned: &'a Planned,
    /// The changes that are listed.
    pub changes: &'a [ChangedAssignment<'a>],
    /// All diagnostics of the environment.
    pub diagnostics: &'a [Diagnostic],
}

impl PlanText<'_> {
    /// The plan as Markdown, of at most `characters_max` characters: rows are left out and counted.
    pub fn markdown(&self, characters_max: usize) -> String {
        let texts = LISTED.iter().map(|listed| self.with_rows(*listed));
        let mut shortest = String::new();
        for text in texts {
            shortest = text;
            if shortest.chars().count() <= characters_max {
                return shortest;
            }
        }
        excerpt::first(&shortest, characters_max)
    }

    fn with_rows(&self, listed: usize) -> String {
        let mut text = self.counts();
        text.push_str(&self.confirmation());
        text.push_str(&self.changes(listed));
        text.push_str(&problems(self.loaded, self.diagnostics, listed));
        text
    }

    fn counts(&self) -> String {
        let plan = &self.planned.plan;
        let mut text = String::new();
        let kinds = [
            (ChangeKind::Changed, "change"),
            (ChangeKind::Added, "added"),
            (ChangeKind::Renamed, "renamed"),
            (ChangeKind::Removed, "removed"),
        ];
        for (kind, word) in kinds {
            let changes = || plan.changes.iter().filter(|(_, change)| change.kind == kind);
            let number = changes().count();
            if number > 0 {
                let places: BTreeSet<_> = changes().map(|(id, _)| &*id.place).collect();
                let (of, on) = (owners_text(changes()), places_text(self.planned, places));
                let _ = writeln!(text, "- **{}** {word} · {of} · {on}", count(number, "assignment"));
            }
        }
        if let Some(renamed) = renamed_places_text(self.planned) {
            let _ = writeln!(text, "- {renamed} (renamed)");
        }
        if plan.moved > 0 {
            let _ = writeln!(text, "- {} at another path", count(plan.moved, "folder"));
        }
        if let Some(relocation) = &plan.relocation {
            let _ = writeln!(text, "- {}", relocation_text(self.planned, relocation));
        }
        for (place, files) in &plan.adopted {
            let removed: Vec<_> = files.iter().filter(|file| file.kind == ChangeKind::Removed).collect();
            let names: Vec<_> = removed.iter().map(|file| code(&file.path)).collect();
            let names = if names.is_empty() { String::new() } else { format!(": {}", named(&names)) };
            let (removed, replaced) = (count(removed.len(), "file"), thousands(files.len() - removed.len()));
            let _ = writeln!(
                text,
                "- :warning: folder of {} is taken over: {replaced} replaced, {removed} removed{names}",
                code(place)
            );
        }
        if !plan.other_files.is_empty() {
            let paths: Vec<_> = plan.other_files.iter().map(|change| code(&change.path)).collect();
            let _ = writeln!(text, "- {} of no assignment: {}", count(paths.len(), "file"), named(&paths));
        }
        let _ = writeln!(text, "- {} unchanged", count(plan.unchanged, "assignment"));
        for line in self.planned.rollout_lines().into_iter().flatten() {
            let _ = writeln!(text, "- {line}");
        }
        let failing = [
            (plan.kept.len(), "with errors: last good output stays"),
            (plan.held.len(), "with errors: rendered from an earlier commit"),
            (plan.missing.len(), "with errors and no output yet"),
            (plan.still_failing.len(), "with errors before and after: what was published of them stays"),
        ];
        for (number, what) in failing.into_iter().filter(|(number, _)| *number > 0) {
            let _ = writeln!(text, "- :warning: {} {what}", count(number, "assignment"));
        }
        text
    }

    fn confirmation(&self) -> String {
        if !self.planned.plan.needs_confirmation() {
            return String::new();
        }
        let word = self.planned.confirmation_word().unwrap_or_default();
        let removed = removed_text(self.planned);
        let note = renaming_note(self.planned).map(|note| format!(" ({note})")).unwrap_or_default();
        format!(
            "\n> [!WARNING]\n> This removes {removed}{note}. It is not merged automatically. Check the list, then merge it, or confirm exactly these removals: \
             {}\n",
            code(&format!("--confirm {word}"))
        )
    }

    fn changes(&self, listed: usize) -> String {
        let groups = groups(self.changes);
        if groups.is_empty() {
            return String::new();
        }
        let mut places = Places::new(self.planned, self.loaded);
        let mut text = "\n### Changes\n\n".to_owned();
        if listed > 0 {
            text.push_str("| workload | | assignments | change | reason |\n|---|---|--:|---|---|\n");
        }
        for (group, ids) in groups.iter().take(listed) {
            text.push_str(&row(group, ids, &mut places));
        }
        if let Some(more) = groups.len().checked_sub(listed).filter(|more| *more > 0) {
            let environment = &self.loaded.fleet.environment;
            let command = code(&format!("kalypso plan -e {environment}"));
            let _ = writeln!(text, "\n{} not listed here: {command} shows all.", count(more, "group"));
        }
        text
    }
}

/// A group as the row of a table.
fn row(group: &ChangeGroup, ids: &[&PlannedId], places: &mut Places<'_>) -> String {
    let (kind, _, what, because) = &group.what;
    let reason = because.as_ref().and_then(|because| because_words(because, ids, places));
    let assignments: Vec<_> = ids.iter().take(NAMES_MAX).map(ToString::to_string).collect();
    let number = match ids.len() {
        1..=NAMES_MAX => code(&assignments.join(", ")),
        number => thousands(number),
    };
    let names: Vec<_> = group.workloads.iter().map(|name| code(name)).collect();
    let workload =
        if group.are_many() { format!("{}: {}", group.workload, named(&names)) } else { code(&group.workload) };
    let reason = reason.map_or_else(String::new, |reason| code(&reason));
    format!("| {workload} | {} | {number} | {} | {reason} |\n", sign(*kind), code(what))
}

/// Errors and warnings as Markdown, errors first. Empty if there are none. Notes are left out.
pub fn problems(loaded: &Loaded, diagnostics: &[Diagnostic], listed: usize) -> String {
    let mut sorted: Vec<_> = diagnostics.iter().filter(|diagnostic| !diagnostic.is_note()).collect();
    if sorted.is_empty() {
        return String::new();
    }
    sorted.sort_by_key(|diagnostic| !diagnostic.is_error());
    let errors = sorted.iter().filter(|diagnostic| diagnostic.is_error()).count();
    let counts = [(errors, "error"), (sorted.len() - errors, "warning")];
    let counts = counts.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| count(number, what));
    let title = counts.collect::<Vec<_>>().join(", ");
    let mut locator = Locator::new(&loaded.fleet);
    let shown: Vec<_> = sorted.iter().take(listed).map(|found| problem(found, &mut locator)).collect();
    let mut text = format!("\n### {title}\n");
    if !shown.is_empty() {
        let _ = write!(text, "\n{}", block(&shown.join("\n")));
    }
    if let Some(more) = sorted.len().checked_sub(listed).filter(|more| *more > 0) {
        let command = code(&format!("kalypso check -e {}", loaded.fleet.environment));
        let _ = writeln!(text, "\n{} not listed here: {command} lists all.", thousands(more));
    }
    text
}

/// A diagnostic as plain text.
fn problem(diagnostic: &Diagnostic, locator: &mut Locator<'_>) -> String {
    let mut text = format!("{}[{}]: {}\n", diagnostic.severity, diagnostic.code, diagnostic.message);
    let place = diagnostic.labels.iter().find_map(|label| locator.shown(&label.origin));
    if let Some(place) = place {
        let _ = writeln!(text, "  --> {place}");
    }
    if !diagnostic.assignments.is_empty() {
        let names: Vec<_> = diagnostic.assignments.iter().take(6).map(ToString::to_string).collect();
        let more = diagnostic.assignments.len() - names.len();
        let more = if more > 0 { format!(" and {} more", thousands(more)) } else { String::new() };
        let reached = count(diagnostic.assignments.len(), "assignment");
        let _ = writeln!(text, "  = {reached}: {}{more}", names.join(", "));
    }
    let notes = diagnostic.notes.iter().map(|note| ("note", note));
    let help = diagnostic.help.iter().map(|help| ("help", help));
    for (word, line) in notes.chain(help).take(NOTES_MAX) {
        let _ = writeln!(text, "  = {word}: {line}");
    }
    text
}

/// A text in a code span. In it, hosts neither notify accounts nor interpret markup. Control characters are left out.
pub fn code(text: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(text) + 1);
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    // A bar would end the cell of a table, also in a code span.
    let text = without_comments(&text).replace('|', "\\|");
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{blank}{text}{blank}{fence}")
}

/// A text in a fenced block.
pub fn block(text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    let text: String = text.chars().filter(|c| *c == '\n' || !c.is_control()).collect();
    format!("{fence}text\n{}\n{fence}\n", without_comments(text.trim_end()))
}

/// The length of the longest sequence of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

/// A text without the begin of HTML comments: a value must not contain a marker of Kalypso.
fn without_comments(text: &str) -> String {
    text.replace("<!--", "<! --")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_escape_their_code_span() {
        let check = |text, expected: &str| assert_eq!(code(text), expected);
        check("a", "`a`");
        check("`a` | @team", "`` `a` \\| @team ``");
        check("a\n<!-- kalypso -->", "`a <! -- kalypso -->`");
        check(" ", "");
    }

    #[test]
    fn texts_cannot_escape_their_code_block() {
        assert_eq!(block("a\n```\nb\u{1b}[0m\n"), "````text\na\n```\nb[0m\n````\n");
    }
}
