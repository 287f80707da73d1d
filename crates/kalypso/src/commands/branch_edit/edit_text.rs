//! Edits in words: what is added, what it changes, and what to do next.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use authoring::config_values::ConfigValueChange;
use authoring::file_edits::FileEdits;
use delivery::output::changes::markdown::{self, PlanText};
use model::excerpt;
use model::kind::Kind;
use workbench::answers::branch_edit::{BranchEdit, EditOutcome, EditVerb, is_shown};
use workbench::branch::{ControlPlaneBranch, EditComparison, EditResult};

use crate::commands::plan::summary;
use crate::terminal::{count, named};

/// The maximum number of files or objects that are listed.
const LISTED_MAX: usize = 10;
/// The maximum number of paths in a command.
const PATHS_MAX: usize = 3;
/// The maximum length of a value, in characters.
const VALUE_CHARS_MAX: usize = 60;

/// The first line of a commit message.
pub(super) fn title(edit: &BranchEdit) -> String {
    let verb = edit.verb.imperative();
    if edit.verb == EditVerb::Rename || edit.values.is_empty() || edit.objects.len() != 1 {
        return format!("{verb} {}", objects(edit));
    }
    let keys: Vec<_> = edit.values.iter().map(|value| value.key.to_string()).collect();
    let all = |is: fn(&ConfigValueChange) -> bool| edit.values.iter().all(is);
    let verb = match edit.verb {
        EditVerb::Change if all(|value| value.old.is_none()) => "Add",
        EditVerb::Change if all(|value| value.new.is_none()) => "Remove",
        EditVerb::Change => "Set",
        _ => verb,
    };
    format!("{verb} {} in {}", named(&keys), objects(edit))
}

/// The renamed objects, with both names: the only value of each is its name.
fn renaming(edit: &BranchEdit) -> String {
    let (objects, values) = (edit.objects.iter(), edit.values.iter());
    let parts = objects.zip(values).map(|(object, value)| {
        format!("{} {} to {}", object.kind, value.old.as_deref().unwrap_or_default(), object.name)
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// The body of a pull request: the files, and the plan for each environment.
pub(in crate::commands) struct ProposalBody<'a> {
    pub(in crate::commands) title: &'a str,
    /// The branch to merge it into.
    pub(in crate::commands) of: &'a str,
    pub(in crate::commands) files: &'a FileEdits,
    pub(in crate::commands) comparisons: &'a [EditComparison<'a>],
}

impl ProposalBody<'_> {
    /// The text, of at most `characters_max` characters.
    pub(in crate::commands) fn text(&self, characters_max: usize) -> String {
        let Self { title, of, files, comparisons } = self;
        let mut text = format!("{title} in {of}.\n\nFiles:\n");
        for (path, _) in files.iter().take(LISTED_MAX) {
            let _ = writeln!(text, "- {}", markdown::code(path));
        }
        if let Some(more) = files.iter().count().checked_sub(LISTED_MAX).filter(|more| *more > 0) {
            let _ = writeln!(text, "- and {more} more");
        }
        let rest = characters_max.saturating_sub(text.chars().count());
        for comparison in *comparisons {
            let (loaded, planned) = (comparison.loaded(), comparison.planned());
            let title = format!("\n## Plan for `{}`\n\n", loaded.fleet.environment);
            let changes: Vec<_> = planned.plan.changes.iter().collect();
            let plan = PlanText { loaded, planned, changes: &changes, diagnostics: comparison.new_warnings() };
            let plan = plan.markdown((rest / comparisons.len()).saturating_sub(title.chars().count()));
            text.push_str(&title);
            text.push_str(&plan);
        }
        text
    }
}

/// The objects of an edit: `ClusterType large`, or `75 Clusters: store-001, store-002 and 73 more`.
fn objects(edit: &BranchEdit) -> String {
    if edit.verb == EditVerb::Rename {
        return renaming(edit);
    }
    let mut by_kind: BTreeMap<Kind, Vec<String>> = BTreeMap::new();
    for object in &edit.objects {
        by_kind.entry(object.kind).or_default().push(object.name.to_string());
    }
    let words = by_kind.iter().map(|(kind, names)| match names.as_slice() {
        [name] => format!("{kind} {name}"),
        names => format!("{}: {}", count(names.len(), kind.name()), named(names)),
    });
    words.collect::<Vec<_>>().join(" and ")
}

/// The whole answer for people.
pub(super) fn text(branch: &ControlPlaneBranch, edit: &BranchEdit, outcome: &EditOutcome<'_>) -> String {
    if let EditResult::Nothing = outcome.done {
        return format!("Nothing to change: {} is so already\n", objects(edit));
    }
    let mut text = headline(branch, edit, outcome);
    for note in &edit.notes {
        let _ = writeln!(text, "  {note}");
    }
    if edit.verb != EditVerb::Rename {
        text.push_str(&values(edit, outcome.comparisons));
    }
    outcome.comparisons.iter().for_each(|comparison| text.push_str(&plan_text(comparison)));
    text.push_str(&pinned(branch, outcome));
    if outcome.comparisons.is_empty() && outcome.changes.pinned.is_empty() {
        text.push_str("\nno environment reads this branch yet\n");
    }
    text.push_str(&next(branch, edit, &outcome.done));
    text
}

fn headline(branch: &ControlPlaneBranch, edit: &BranchEdit, outcome: &EditOutcome<'_>) -> String {
    let verb = past(edit.verb, &outcome.done);
    let place = if edit.verb == EditVerb::Remove { "from" } else { "in" };
    let paths: BTreeSet<_> = edit.files.iter().map(|(path, _)| path).collect();
    let shown: Vec<_> = paths.iter().take(LISTED_MAX).map(|path| branch.shown(path)).collect();
    match shown.as_slice() {
        [path] => format!("{verb} {} {place} {path}\n", objects(edit)),
        paths_shown => {
            let more = paths.len() - paths_shown.len();
            let more = if more == 0 { String::new() } else { format!("  … and {more} more\n") };
            let lines = paths_shown.iter().map(|path| format!("  {path}\n")).collect::<String>();
            format!("{verb} {} {place} {}\n{lines}{more}", objects(edit), count(paths.len(), "file"))
        }
    }
}

/// The words of a shell that run git in the working tree of a branch.
pub(in crate::commands) fn git_command(branch: &ControlPlaneBranch) -> String {
    let root = branch.shown_root();
    if root.as_os_str() == "." { "git".to_owned() } else { format!("git -C {}", root.display()) }
}

/// What was done, or what would be: `Added`, `Would add`.
pub(in crate::commands) fn past(verb: EditVerb, done: &EditResult) -> String {
    match (verb, done) {
        (_, EditResult::Shown) => format!("Would {}", verb.word()),
        (EditVerb::Add, _) => "Added".to_owned(),
        _ => format!("{}d", verb.imperative()),
    }
}

/// The plan for one environment.
pub(in crate::commands) fn plan_text(comparison: &EditComparison<'_>) -> String {
    let summary = summary::whole(comparison.planned(), comparison.loaded());
    let (title, environment) = (comparison.change().title(), &comparison.loaded().fleet.environment);
    // An edit of the main branch changes several environments.
    let of = if title.starts_with(&format!("{environment}@")) { String::new() } else { format!("{environment}: ") };
    format!("\n{of}{title}\n\n{}\n", summary.trim_end())
}

/// The values that change. A value is shown only if it is known that no schema marks it as sensitive.
fn values(edit: &BranchEdit, comparisons: &[EditComparison<'_>]) -> String {
    let width = edit.values.iter().map(|value| value.key.chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for value in &edit.values {
        let shown = if is_shown(value, comparisons) { transition(value) } else { "(not shown)".to_owned() };
        let _ = writeln!(text, "  {:width$}  {shown}", value.key);
    }
    text
}

fn transition(value: &ConfigValueChange) -> String {
    let line = |text: &str| text.replace('\n', "⏎");
    let short = |text: &str| excerpt::first(&line(text), VALUE_CHARS_MAX);
    match (&value.old, &value.new) {
        (None, Some(new)) => format!("(new) {}", short(new)),
        (Some(old), Some(new)) => {
            let (old, new) = excerpt::differing(&line(old), &line(new), VALUE_CHARS_MAX);
            format!("{old} → {new}")
        }
        (Some(old), None) => format!("{} → (removed)", short(old)),
        (None, None) => String::new(),
    }
}

/// The environments that use a fixed commit of the branch.
fn pinned(branch: &ControlPlaneBranch, outcome: &EditOutcome<'_>) -> String {
    let pinned = &outcome.changes.pinned;
    if pinned.is_empty() {
        return String::new();
    }
    let shown = pinned.iter().map(|(name, commit)| format!("{name} ({})", commit.short())).collect::<Vec<_>>();
    let (are, them, they) = if pinned.len() == 1 { ("is", "it", "it is") } else { ("are", "them", "they are") };
    format!(
        "\n{} {are} built on a fixed commit of {}: the change reaches {them} when {they} promoted\n",
        shown.join(", "),
        branch.name()
    )
}

fn next(branch: &ControlPlaneBranch, edit: &BranchEdit, done: &EditResult) -> String {
    match done {
        EditResult::Nothing => String::new(),
        EditResult::Shown => "\nNothing is written: this was a dry run\n".to_owned(),
        EditResult::Proposed(proposed) => format!("\n{}", proposed.text()),
        EditResult::Committed(committed) => {
            format!("\nCommitted to {} as {}\n{}", branch.committed_to(), committed.id.short(), committed.messages)
        }
        EditResult::Written => {
            let git = git_command(branch);
            let paths: Vec<_> = edit.files.iter().map(|(path, _)| &**path).collect();
            let paths = if paths.len() > PATHS_MAX { "--all".to_owned() } else { paths.join(" ") };
            format!("\nNot committed yet: `{git} add {paths} && {git} commit`\n")
        }
    }
}
