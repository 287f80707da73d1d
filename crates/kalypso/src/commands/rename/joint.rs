//! `kalypso rename workload` and `kalypso rename target`, in all branches that have the name.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use model::name::WorkloadName;
use workbench::answers::rename::RenameFields;
use workbench::branch::{EditComparison, EditResult};
use workbench::diagnostics::DiagnosticReport;
use workbench::joint_rename::{JointRename, LISTED_MAX, RenameRequest, Renamed, RenamedBranch, check_new_name};

use crate::arguments::{EditOptions, Format, RenameTarget, RenameWorkload};
use crate::commands::branch_edit::{git_command, name, plan_text, refuse, refuse_errors};
use crate::configuration::Settings;
use crate::exit::{Exit, Failure};
use crate::progress::Watch;
use crate::terminal::{count, named};
use crate::{compiling, loading, paint, reporting, terminal};

/// What is renamed, as on the command line.
struct Subject<'a> {
    what: Renamed,
    workload: &'a str,
    names: (&'a str, &'a str),
    checkout: Option<&'a Path>,
}

pub(super) fn workload(options: &RenameWorkload) -> anyhow::Result<Exit> {
    let RenameWorkload { name: old, new_name: new, checkout, edit } = options;
    name::<WorkloadName>(new, "workload")?;
    run(Subject { what: Renamed::Workload, workload: old, names: (old, new), checkout: checkout.as_deref() }, edit)
}

pub(super) fn target(options: &RenameTarget) -> anyhow::Result<Exit> {
    let RenameTarget { name: old, new_name: new, workload, checkout, edit } = options;
    model::name::check(new)
        .map_err(|error| Failure::usage(format!("`{new}` is not the name of a deployment target: {error}")))?;
    run(Subject { what: Renamed::Target, workload, names: (old, new), checkout: checkout.as_deref() }, edit)
}

/// Shows the plans, and carries the rename out if it adds no errors.
fn run(subject: Subject<'_>, options: &EditOptions) -> anyhow::Result<Exit> {
    let Subject { what, workload, names, checkout } = subject;
    check_new_name(names)?;
    let mut watch = Watch::start();
    let settings = Settings::read(options.config.as_deref())?;
    let access = &loading::access_with(&settings, watch.progress())?;
    let EditOptions { propose: is_proposed, dry_run: is_dry_run, .. } = *options;
    let (note, working_tree) = (&terminal::note, options.working_tree.as_deref());
    let request =
        RenameRequest { access, note, workload, what, names, checkout, working_tree, is_proposed, is_dry_run };
    let rename = match JointRename::new(request)? {
        Ok(rename) => rename,
        Err(refusal) => return refuse(watch, &refusal, options.output),
    };
    let comparisons = rename.changes.iter().map(|change| compiling::compare(change, &watch));
    let comparisons = comparisons.collect::<anyhow::Result<Vec<_>>>()?;
    watch.end();
    if comparisons.iter().any(|comparison| !comparison.new_errors().is_empty()) {
        return refuse_errors(&comparisons, options.output);
    }
    let title = options.message.clone().unwrap_or_else(|| format!("Rename {}", rename.text()));
    let done = if options.dry_run {
        Vec::new()
    } else if options.propose {
        let plans: Vec<_> = comparisons.iter().map(plan_text).collect();
        rename.propose(&title, &plans, settings.hosts()?.for_deliveries().as_ref())?
    } else {
        rename.write(options.commit.then_some(title.as_str()))?
    };
    if options.output == Format::Human {
        show(&rename, &comparisons, (&done, options.dry_run))?;
    } else {
        let answer = RenameFields::new(&rename, &comparisons, &done)?;
        terminal::answer(&terminal::structured(&answer, options.output))?;
    }
    Ok(Exit::Good)
}

fn show(
    rename: &JointRename<'_>,
    comparisons: &[EditComparison<'_>],
    (done, is_dry_run): (&[EditResult], bool),
) -> anyhow::Result<()> {
    let mut report = DiagnosticReport::new();
    comparisons.iter().for_each(|comparison| report.add_new_warnings(comparison));
    reporting::to_stderr(&report)?;
    let mut text = headline(rename, is_dry_run);
    let shown = comparisons.iter().filter(|comparison| !comparison.planned().plan.is_empty());
    shown.for_each(|comparison| text.push_str(&plan_text(comparison)));
    if is_dry_run {
        text.push_str("\nNothing is written: this was a dry run\n");
    } else {
        text.push_str(&next(rename, done));
    }
    terminal::answer_fitted(&text, paint::plan)?;
    Ok(())
}

fn headline(rename: &JointRename<'_>, is_dry_run: bool) -> String {
    let verb = if is_dry_run { "Would rename" } else { "Renamed" };
    let paths = |part: &RenamedBranch| part.edits.paths().map(|path| shown(part, path)).collect::<Vec<_>>();
    let paths: Vec<_> = rename.branches.iter().flat_map(paths).collect();
    let number = rename.branches.len();
    let of = if number > 1 { format!(" of {number} branches") } else { String::new() };
    let mut text = format!("{verb} {} in {}{of}\n", rename.text(), count(paths.len(), "file"));
    for path in paths.iter().take(LISTED_MAX) {
        let _ = writeln!(text, "  {path}");
    }
    if let Some(more) = paths.len().checked_sub(LISTED_MAX).filter(|more| *more > 0) {
        let _ = writeln!(text, "  … and {more} more");
    }
    let referring: Vec<_> =
        rename.referring().into_iter().map(|object| format!("{} {}", object.kind, object.name)).collect();
    if !referring.is_empty() {
        let _ = writeln!(text, "  {} that named it: {}", count(referring.len(), "object"), named(&referring));
    }
    text
}

fn next(rename: &JointRename<'_>, done: &[EditResult]) -> String {
    let mut text = String::new();
    for (part, done) in rename.branches.iter().zip(done) {
        match done {
            EditResult::Proposed(proposed) => {
                let _ = write!(text, "\n{}", proposed.text());
            }
            EditResult::Committed(committed) => {
                let (name, id) = (part.branch.committed_to(), committed.id.short());
                let _ =
                    write!(text, "\nCommitted to {name} as {id}{}\n{}", repository(rename, part), committed.messages);
            }
            EditResult::Nothing | EditResult::Shown | EditResult::Written => {
                let git = git_command(&part.branch);
                let _ = write!(text, "\nNot committed yet: `{git} add --all && {git} commit`\n");
            }
        }
    }
    if rename.branches.len() > 1 {
        text.push_str(
            "\nBring all of them to their branches together: until then, policies and targets name different things\n",
        );
    }
    text
}

/// The repository of a branch, if there are several.
fn repository(rename: &JointRename<'_>, part: &RenamedBranch) -> String {
    let urls: BTreeSet<_> = rename.branches.iter().map(|part| part.branch.url().as_str()).collect();
    if urls.len() > 1 { format!(" in {}", part.branch.url()) } else { String::new() }
}

/// The path of a file for people: that of the working tree, or with the repository and the branch.
fn shown(RenamedBranch { branch, .. }: &RenamedBranch, path: &str) -> String {
    let shown = branch.shown(path);
    if branch.root().is_some() {
        return shown;
    }
    format!("{}@{shown}", branch.url().label())
}
