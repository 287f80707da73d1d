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
use model::tree::{Sealed, Tree};
use serde_json::json;
use workbench::answers::render::{RenderedEnvironment, failed_assignments};
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
        let answer = if options.of.all { json!({"environments": answers}) } else { json!(answers.pop()) };
        terminal::answer(&terminal::structured(&answer, options.output))?;
    }
    Ok(exit)
}

/// Renders one environment. Returns whether there are problems, and the answer for programs.
fn one(
    (options, checkouts): (&Render, &[CheckoutPaths]),
    loaded: &Loaded,
    mut watch: Watch,
) -> anyhow::Result<(bool, Option<RenderedEnvironment>)> {
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
    let has_problems = report.has_problems(options.source.strict);
    if options.output == Format::Human {
        reporting::to_stderr(&report)?;
        not_admitted::note(loaded);
        let written = out.as_deref().zip(written.as_ref().map(BTreeMap::len));
        terminal::answer(&text(&compiled, &output, written))?;
        return Ok((has_problems, None));
    }
    Ok((has_problems, Some(RenderedEnvironment::new(&compiled, &output, written.as_ref(), &report))))
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

/// The result for people. `written`: the folder, and the number of files in it.
fn text(compiled: &Compiled, output: &Output, written: Option<(&Path, usize)>) -> String {
    let environment = &compiled.fleet().environment;
    let failed = failed_assignments(compiled);
    let rendered = terminal::count(compiled.len() - failed.len(), "assignment");
    let mut lines = vec![match written {
        Some((out, files)) => format!(
            "Rendered {environment}: {rendered} on {}, {} in {}",
            model::count::places(compiled.fleet().cluster_types.len(), compiled.fleet().clusters.len()),
            terminal::count(files, "file"),
            out.display()
        ),
        None => format!("{environment}: tree {}, {rendered}", output.tree.id()),
    }];
    if !failed.is_empty() {
        lines.push(format!("{} failed: {}", terminal::count(failed.len(), "assignment"), terminal::named(&failed)));
    }
    lines.push(reuse_text(reuse([compiled])));
    lines.join("\n") + "\n"
}
