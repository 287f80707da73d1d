//! `kalypso render`: writes an environment's files to a folder, or prints their digest.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use delivery::branches::branch::folder_of;
use delivery::error::DestinationError;
use delivery::output::compilation::{CompiledEnvironment, KnownResults, diagnostics, reuse};
use delivery::output::planned::{Planned, targets};
use delivery::sources::loaded::Loaded;
use engine::compile::Compiled;
use engine::output::{Adoption, Destination, Output, assemble};
use model::git_id::GitId;
use model::tree::{OpenError, Sealed, Tree};
use serde_json::{Value as Json, json};
use workbench::checkout_paths::CheckoutPaths;
use workbench::diagnostics::{DiagnosticBatch, DiagnosticReport};
use workbench::source::check_complete;

use crate::arguments::{Format, Render};
use crate::diagnostics::reuse_text;
use crate::exit::Exit;
use crate::folder::{self, Write};
use crate::progress::Watch;
use crate::states::StatesRequest;
use crate::{compiling, not_admitted, reporting, states, terminal};

/// The maximum number of failing assignments in structured output. It is equal to the limit of lists in a plan.
const LISTED_MAX: usize = 1_000;

pub(super) fn run(options: &Render) -> anyhow::Result<Exit> {
    let mut watch = Watch::start();
    let Render { source, state, head, of, .. } = options;
    let request = StatesRequest { source, state, at: head.at(), environment: of.environment.as_deref() };
    let read = states::read(&request, &watch)?;
    let mut exit = Exit::Good;
    let mut answers = Vec::new();
    for loaded in &read.environments {
        check_complete(loaded)?;
        let (has_problems, answer) = one((options, &read.checkouts), loaded, watch)?;
        exit = exit.unless(has_problems);
        answers.extend(answer);
        watch = Watch::start();
    }
    watch.end();
    if options.output != Format::Human {
        let answer = if options.of.all { json!({"environments": answers}) } else { answers.pop().unwrap_or_default() };
        terminal::answer(&terminal::structured(&answer, options.output))?;
    }
    Ok(exit)
}

/// Renders one environment. Returns whether there are problems, and the answer for programs.
fn one(
    (options, checkouts): (&Render, &[CheckoutPaths]),
    loaded: &Loaded,
    mut watch: Watch,
) -> anyhow::Result<(bool, Option<Json>)> {
    let environment = loaded.fleet.environment.as_str();
    let out = options.out.as_ref().map(|out| if options.of.all { out.join(environment) } else { out.clone() });
    let compile = if out.is_some() { compiling::compile_to_open } else { compiling::compile };
    let compiled = Arc::new(compile(loaded, watch.progress()));
    let ringed = ringed(loaded, &compiled);
    let open = |sealed: &Sealed| ringed.as_ref().map_or_else(|| compiled.open(sealed), |planned| planned.open(sealed));
    let output = match &ringed {
        Some(planned) => Output { tree: planned.rendered_tree()?, ..planned.output.clone() },
        None => assemble(&compiled, &Tree::default(), &destination(loaded)?, &open)?,
    };
    let diagnostics = diagnostics(loaded, &compiled, &output);
    let mut report = DiagnosticReport::new().checked_out(checkouts.to_vec());
    report.add_problems(loaded, DiagnosticBatch::of_compiled(&diagnostics, &compiled));
    let write = Write {
        open: &open,
        environment,
        force: options.force,
        assignments: output.assignments,
        progress: watch.progress(),
    };
    let written = out.as_ref().map(|out| folder::write(out, &output.tree, &write)).transpose()?;
    watch.end();
    let rendered =
        Rendered { options, environment, out: out.as_deref(), compiled: &compiled, output: &output, written };
    let has_problems = report.has_problems(options.source.strict);
    if options.output == Format::Human {
        reporting::to_stderr(&report)?;
        not_admitted::note(loaded);
        terminal::answer(&rendered.text())?;
        return Ok((has_problems, None));
    }
    Ok((has_problems, Some(rendered.answer(&report)?)))
}

/// The output of an environment with rings, in which each place has the content of its ring. None if the environment has no rings, or if they are not known.
fn ringed(loaded: &Loaded, compiled: &Arc<Compiled>) -> Option<Planned> {
    let promotion = loaded.graph.promotion(loaded.fleet.environment.as_str())?;
    if promotion.rings.is_empty() {
        return None;
    }
    let environment = &loaded.fleet.environment;
    if loaded.access.is_none() {
        terminal::note(&format!(
            "{environment} has rings, but a folder does not record their progress: each place has its newest content"
        ));
        return None;
    }
    let planned = targets(loaded, None, None).and_then(|mut targets| {
        let target = targets.swap_remove(0);
        let environment = CompiledEnvironment { compiled, known: &mut KnownResults::new(None) };
        Planned::new(loaded, environment, target, &Adoption::Nothing)
    });
    match planned {
        Ok(planned) => Some(planned),
        Err(error) => {
            terminal::warn(&format!("the rings of {environment} are not applied: {error}"));
            None
        }
    }
}

/// The destination of the output: the path of the environment's `GitOpsRepo`, if there is one.
fn destination(loaded: &Loaded) -> Result<Destination, DestinationError> {
    let place = |object: &Arc<_>| Ok((folder_of(object)?, engine::output::layout(object)));
    let mut places = loaded.fleet.gitops_repos.values().map(place).collect::<Result<Vec<_>, DestinationError>>()?;
    places.dedup();
    let (folder, layout) = if places.len() == 1 { places.swap_remove(0) } else { Default::default() };
    Ok(Destination {
        folder,
        layout,
        promoted_commit: loaded.fleet.promoted_commit().cloned(),
        adopt: Adoption::Nothing,
    })
}

fn failed(compiled: &Compiled) -> Vec<String> {
    let failed = compiled.assignments().filter(|assignment| !assignment.is_rendered());
    failed.filter_map(|assignment| Some(assignment.id()?.to_string())).collect()
}

/// The result of rendering.
struct Rendered<'a> {
    options: &'a Render,
    environment: &'a str,
    /// The folder that was written to.
    out: Option<&'a Path>,
    compiled: &'a Compiled,
    output: &'a Output,
    /// The files that were written, with the ids of their contents. None without `--out`.
    written: Option<BTreeMap<String, GitId>>,
}

impl Rendered<'_> {
    fn text(&self) -> String {
        let Self { environment, out, compiled, output, written, .. } = self;
        let failed = failed(compiled);
        let mut lines = Vec::new();
        let rendered = terminal::count(compiled.len() - failed.len(), "assignment");
        match (out, written) {
            (Some(out), Some(written)) => lines.push(format!(
                "Rendered {environment}: {rendered} on {}, {} in {}",
                model::count::places(compiled.fleet().cluster_types.len(), compiled.fleet().clusters.len()),
                terminal::count(written.len(), "file"),
                out.display()
            )),
            _ => lines.push(format!("{environment}: tree {}, {rendered}", output.tree.id())),
        }
        if !failed.is_empty() {
            lines.push(format!("{} failed: {}", terminal::count(failed.len(), "assignment"), terminal::named(&failed)));
        }
        lines.push(reuse_text(reuse([*compiled])));
        lines.join("\n") + "\n"
    }

    fn answer(&self, report: &DiagnosticReport<'_>) -> Result<Json, OpenError> {
        let Self { options, environment, compiled, output, .. } = self;
        let failed: Vec<_> = failed(compiled);
        let listed = failed.get(..LISTED_MAX).unwrap_or(&failed);
        Ok(json!({
            "environment": environment,
            "tree": output.tree.id().to_string(),
            "assignments": compiled.len(),
            "recomputed": reuse([*compiled]).recomputed,
            "clusterTypes": compiled.fleet().cluster_types.len(),
            "clusters": compiled.fleet().clusters.len(),
            "failed": listed,
            "failedCount": failed.len(),
            "files": if options.digest { Json::Null } else { self.files()?.into() },
            "report": report.to_json(),
        }))
    }

    /// All files with the ids of their contents.
    fn files(&self) -> Result<Vec<Json>, OpenError> {
        let file = |path: &str, id: GitId| json!({"path": path, "id": id.to_string()});
        if let Some(written) = &self.written {
            return Ok(written.iter().map(|(path, id)| file(path, *id)).collect());
        }
        let open = |sealed: &Sealed| self.compiled.open(sealed);
        let files = self.output.tree.files(&open);
        files.map(|found| found.map(|(path, entry)| file(&path, entry.blob.id()))).collect()
    }
}
