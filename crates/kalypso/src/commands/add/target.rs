//! `kalypso add target`, `kalypso set target` and `kalypso remove target`, in a checkout of an application.

use authoring::branch_files::Refusal;
use authoring::file_edits::FileEdits;
use authoring::targets::{self, NewTarget, TargetChange};
use serde_json::json;

use super::application::Application;
use super::application_plan;
use super::labels;
use crate::arguments::{AddTarget, ApplicationOptions, Format, RemoveTarget, SetTarget};
use crate::commands::branch_edit;
use crate::commands::branch_edit::pair_changes::{label_changes, nothing, pair_changes};
use crate::control_plane_branch::Comparison;
use crate::exit::{Exit, Failure};
use crate::progress::Watch;
use crate::{loading, terminal};

pub(super) fn run(options: &AddTarget) -> anyhow::Result<Exit> {
    let some = |pairs: authoring::objects::LabelList| (!pairs.is_empty()).then_some(pairs);
    let target = NewTarget {
        name: checked(&options.name)?.into(),
        environment: loading::environment_name(&options.environment)?,
        labels: some(labels(&options.labels)?),
        manifests: some(manifests(&options.manifests)?),
    };
    let application = Application::read(&options.application.checkout)?;
    let change = targets::add(&application.files(), &options.workload, &target);
    let what =
        What { verb: "add", workload: &options.workload, name: &options.name, environment: &options.environment };
    finish((&application, change), &what, &options.application)
}

pub(in crate::commands) fn set(options: &SetTarget) -> anyhow::Result<Exit> {
    let environment = loading::environment_name(&options.environment)?;
    let labels = label_changes(&options.labels)?;
    let manifests = pair_changes(options.manifests.iter().map(String::as_str), manifests)?;
    if labels.is_empty() && manifests.is_empty() {
        return Err(nothing().into());
    }
    let application = Application::read(&options.application.checkout)?;
    let target = (&*options.name, &environment);
    let change = targets::set(&application.files(), &options.workload, target, (labels, manifests));
    let what =
        What { verb: "set", workload: &options.workload, name: &options.name, environment: &options.environment };
    finish((&application, change), &what, &options.application)
}

pub(in crate::commands) fn remove(options: &RemoveTarget) -> anyhow::Result<Exit> {
    let environment = loading::environment_name(&options.environment)?;
    let application = Application::read(&options.application.checkout)?;
    let change = targets::remove(&application.files(), &options.workload, (&options.name, &environment));
    let what =
        What { verb: "remove", workload: &options.workload, name: &options.name, environment: &options.environment };
    finish((&application, change), &what, &options.application)
}

/// The target on the command line.
struct What<'a> {
    verb: &'static str,
    workload: &'a str,
    name: &'a str,
    environment: &'a str,
}

fn finish(
    (application, change): (&Application, Result<TargetChange, Refusal>),
    what: &What<'_>,
    options: &ApplicationOptions,
) -> anyhow::Result<Exit> {
    let mut watch = Watch::start();
    let edits = match change {
        Ok(change) => change.edits,
        Err(refusal) => return branch_edit::refuse(watch, &refusal, options.output),
    };
    if edits.is_empty() && options.output == Format::Human {
        watch.end();
        let What { workload, name, environment, .. } = what;
        terminal::answer(&format!("Nothing to change: target {name} of {workload} for {environment} is so already\n"))?;
        return Ok(Exit::Good);
    }
    let change =
        application_plan::change((what.environment, what.workload), &edits, (options.config.as_deref(), &watch))?;
    let comparison = change.as_ref().map(|change| Comparison::of(change, &watch)).transpose()?;
    watch.end();
    if let Some(comparison) = comparison.as_ref().filter(|comparison| !comparison.new_errors().is_empty()) {
        return branch_edit::refuse_errors(std::slice::from_ref(comparison), options.output);
    }
    if !options.dry_run {
        application.write(&edits)?;
    }
    show((application, &edits), (what, comparison.as_ref()), options)?;
    Ok(Exit::Good)
}

fn show(
    (application, edits): (&Application, &FileEdits),
    (what, comparison): (&What<'_>, Option<&Comparison<'_>>),
    options: &ApplicationOptions,
) -> anyhow::Result<()> {
    let What { verb, workload, name, environment } = what;
    let paths: Vec<_> = edits.iter().map(|(path, _)| application.shown(path)).collect();
    if options.output != Format::Human {
        let answer = json!({
            "action": verb,
            "workload": workload,
            "target": name,
            "environment": environment,
            "files": paths,
            "isWritten": !options.dry_run,
            "plan": comparison.map(branch_edit::plan).transpose()?,
        });
        terminal::answer(&terminal::structured(&answer, options.output))?;
        return Ok(());
    }
    let (verb, place) = match (*verb, options.dry_run) {
        ("add", false) => ("Added", "to"),
        ("add", true) => ("Would add", "to"),
        ("set", false) => ("Changed", "in"),
        ("set", true) => ("Would change", "in"),
        (_, false) => ("Removed", "from"),
        (_, true) => ("Would remove", "from"),
    };
    let mut text = format!("{verb} target {name} of {workload} for {environment} {place} {}\n", paths.join(", "));
    match comparison {
        Some(comparison) => text.push_str(&branch_edit::plan_text(comparison)),
        None => text.push_str("\nno plan: no control plane is configured here that knows the workload\n"),
    }
    text.push_str(if options.dry_run {
        "\nNothing is written: this was a dry run\n"
    } else {
        "\nIt takes effect when it is committed and pushed to the branch that is registered\n"
    });
    terminal::answer_fitted(&text, crate::paint::plan)?;
    Ok(())
}

/// The name of a target on the command line.
pub(super) fn checked(name: &str) -> Result<&str, Failure> {
    let usage = |error| Failure::usage(format!("`{name}` is not the name of a deployment target: {error}"));
    model::name::check(name).map(|()| name).map_err(usage)
}

/// Pairs on the command line with any texts as values.
pub(super) fn manifests(options: &[String]) -> Result<authoring::objects::LabelList, Failure> {
    let pair = |text: &String| {
        let usage = || Failure::usage(format!("`{text}` is not a pair: write KEY=VALUE"));
        let (key, value) = text.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(usage)?;
        Ok((key.into(), value.into()))
    };
    options.iter().map(pair).collect()
}
