//! `kalypso add environment`: a new environment with a copy of another one's branch.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use authoring::scaffold::copied_source::CopiedSource;
use authoring::scaffold::platform::check_environment;
use delivery::output::compilation::CompiledEnvironment;
use delivery::output::planned::{Planned, planned_targets};
use engine::output::Adoption;
use workbench::answers::new_environment::NewEnvironmentFields;
use workbench::branch::{BranchOf, EditPlace};
use workbench::diagnostics::{DiagnosticBatch, DiagnosticReport};
use workbench::environment_addition::{AdditionEdits, AdditionResult, EnvironmentAddition, new_errors};
use workbench::source::{complete, environment_name};

use crate::arguments::{AddEnvironment, Format};
use crate::commands::branch_edit::{git_command, open, refuse};
use crate::commands::plan::summary;
use crate::exit::{Exit, Failure};
use crate::progress::Watch;
use crate::{compiling, loading, paint, reporting, terminal};

pub(in crate::commands) fn add(options: &AddEnvironment) -> anyhow::Result<Exit> {
    let mut watch = Watch::start();
    let access = loading::access(options.edit.config.as_deref(), watch.progress())?;
    if options.edit.propose {
        let failure = Failure::usage("an environment can't be proposed: its branch has to exist first");
        return Err(failure
            .help("leave out --propose; push the new branch, and propose the change of main by hand")
            .into());
    }
    let (to, from) = (environment_name(&options.name)?, environment_name(&options.after)?);
    check_environment(&to).map_err(|error| Failure::usage(error.to_string()))?;
    let main = open(&access, BranchOf::Main, EditPlace::WorkingTree(options.edit.working_tree.as_deref()))?;
    if !options.edit.dry_run {
        main.check_writable()?;
    }
    let addition = EnvironmentAddition::new(&access, (to, from), main)?;
    let edits = match addition.edits(options.empty)? {
        Ok(edits) => edits,
        Err(refusal) => return refuse(watch, &refusal, options.edit.output),
    };
    let loaded = Arc::new(complete(addition.loaded(&edits))?);
    let (compiled, mut known) = compiling::begin(&loaded, watch.progress());
    let compiled = Arc::new(compiled);
    let earlier = addition.earlier();
    let new = new_errors((&earlier, &compiling::compile(&earlier, watch.progress())), (&loaded, &compiled));
    watch.end();
    if !new.is_empty() {
        let mut report = DiagnosticReport::new();
        report.add_all(&loaded, DiagnosticBatch::of_compiled(&new, &compiled));
        reporting::to_stderr(&report)?;
        return Err(Failure::refused("nothing is written, because of these errors").into());
    }
    let mut plan = String::new();
    for target in planned_targets(&loaded, None, None)? {
        let environment = CompiledEnvironment { compiled: &compiled, known: &mut known };
        let planned = Planned::new(&loaded, environment, target, &Adoption::Nothing)?;
        let summary = summary::whole(&planned, &loaded);
        let _ = write!(plan, "\n{} → {}\n\n{}\n", addition.to, planned.target.branch.name, summary.trim_end());
    }
    let message = options.edit.message.clone().unwrap_or_else(|| format!("Add environment {}", addition.to));
    let message = options.edit.commit.then_some(message.as_str());
    let done = (!options.edit.dry_run).then(|| addition.carry_out(&edits, message)).transpose()?;
    if options.edit.output == Format::Human {
        show(&addition, &edits, &plan, done.as_ref())?;
    } else {
        let answer = NewEnvironmentFields::new(&addition, &edits, compiled.len(), done.as_ref());
        terminal::answer(&terminal::structured(&answer, options.edit.output))?;
    }
    Ok(Exit::Good)
}

/// Shows the edits to people, with the plan of the new environment.
fn show(
    addition: &EnvironmentAddition,
    edits: &AdditionEdits,
    plan: &str,
    done: Option<&AdditionResult>,
) -> std::io::Result<()> {
    let EnvironmentAddition { to, from, .. } = addition;
    let verb = if done.is_some() { "Added" } else { "Would add" };
    let mut text = format!("{verb} environment {to} after {from}\n");
    let _ = writeln!(text, "  branch {to}, a copy of {}", addition.source.name());
    if let Some(path) = done.and_then(|done| done.working_tree.as_ref()) {
        let _ = writeln!(text, "  {}, its working tree", addition.access.settings.git.shown(path).display());
    }
    let _ = writeln!(text, "  {}", addition.main_files(edits).join(", "));
    if !edits.copy.values.is_empty() {
        let _ = writeln!(text, "  values that name {to} now: {}", edits.copy.values.join(", "));
    }
    let mut own_sources: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for CopiedSource { kind, name, part, text, .. } in &edits.copy.own_sources {
        own_sources.entry(format!("{} {text}", part.noun())).or_default().push(format!("{kind} {name}"));
    }
    for (place, objects) in own_sources {
        let _ = writeln!(text, "  sources that are read from {place} now: {}", objects.join(", "));
    }
    for source in &edits.copy.shared_sources {
        terminal::warn(&shared_source(addition, source));
    }
    text.push_str(plan);
    text.push_str(&next(addition, done));
    terminal::answer_fitted(&text, paint::plan)
}

/// What to do about a source that still has the branch or folder of the other environment.
fn shared_source(EnvironmentAddition { to, from, .. }: &EnvironmentAddition, source: &CopiedSource) -> String {
    let CopiedSource { kind, name, path, repo, part, text, own, is_pinned } = source;
    let noun = part.noun();
    let reads = format!("{kind} `{name}` of {to} reads {noun} `{text}` of {repo}, like {from}");
    if *is_pinned {
        return format!("{reads}, at a commit: name {noun} and commit of {to} in `{path}` on branch `{to}`");
    }
    format!("{reads}: no {noun} `{own}` exists; create it, then name it in `{path}` on branch `{to}`")
}

/// What to do next.
fn next(addition: &EnvironmentAddition, done: Option<&AdditionResult>) -> String {
    let Some(done) = done else { return "\nNothing is written: this was a dry run\n".to_owned() };
    let git = git_command(&addition.main);
    let main = addition.main.name();
    let mut text = match &done.commit {
        Some(commit) => format!("\nCommitted to {} as {commit}\n", addition.main.committed_to()),
        None => format!("\nNot committed yet: `{git} add --all && {git} commit --all`\n"),
    };
    if !addition.is_local {
        let _ = writeln!(text, "Then push both: `{git} push --set-upstream origin {} {main}`", addition.to);
    }
    let _ = writeln!(text, "`kalypso publish -e {}` creates its branch in the GitOps repository", addition.to);
    text
}
