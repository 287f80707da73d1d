//! `kalypso check`: the diagnostics of the inputs.

mod admitted;
mod protection;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use delivery::access::acknowledgement::{self, Id};
use delivery::output::compilation::reuse;
use delivery::output::held_assignments;
use delivery::promotion::expired_pins::expired_pins;
use delivery::publication::new_branches;
use delivery::reading::ReadAt;
use delivery::sources::loaded::Loaded;
use delivery::sources::shared_objects::{without_possibly_used, without_used_elsewhere};
use engine::output::{destination_problems, shared_destinations};
use engine::promotion::unguarded;
use engine::warnings::shared_manifests::shared_manifests;
use model::diagnostic::Diagnostic;
use model::name::EnvironmentName;
use workbench::checkout_paths::CheckoutPaths;
use workbench::diagnostics::{DiagnosticBatch, DiagnosticReport, Fallback};

use crate::arguments::Check;
use crate::exit::Exit;
use crate::progress::Watch;
use crate::refused_commits;
use crate::states::{self, ReadStates, StatesRequest};
use crate::{compiling, diagnostics, terminal};

pub(super) fn run(options: &Check) -> anyhow::Result<Exit> {
    let mut watch = Watch::start();
    let Check { source, state, environment, .. } = options;
    let request = StatesRequest { source, state, at: ReadAt::Heads, environment: environment.as_deref() };
    let ReadStates { environments, checkouts } = states::read(&request, &watch)?;
    let questions = protection::ask(options, &environments)?;
    let compiled: Vec<_> = environments.iter().map(|loaded| compiling::compile(loaded, watch.progress())).collect();
    let current = if options.state.is_current() { environments.as_slice() } else { &[] };
    let admitted = admitted::read(current, &watch);
    let shared = shared_destinations(environments.iter().map(|loaded| &*loaded.fleet));
    let manifests = shared_manifests(compiled.iter().map(engine::compile::Compiled::prepared));
    let now = jiff::Timestamp::now();
    let mut report =
        DiagnosticReport::new().checked_out(self::checkouts(options, checkouts)).made_with(reuse(&compiled));
    let mut of_branches = new_branches::hints(environments.iter().map(|loaded| &**loaded));
    let denied = questions.add_answers(&mut of_branches);
    let found = environments.iter().zip(&compiled).zip(&of_branches).map(|((loaded, compiled), of_branches)| {
        let found = loaded
            .diagnostics
            .iter()
            .chain(of_several(&shared, loaded))
            .chain(of_several(&manifests, loaded))
            .cloned()
            .chain(compiled.diagnostics())
            .chain(compiled.prepared().unassigned_notes())
            .chain(unguarded::without_commit(compiled.prepared()))
            .chain(held_assignments::diagnostics(loaded, compiled))
            .chain(destination_problems(&loaded.fleet))
            .chain(expired_pins(&loaded.fleet, now))
            .chain(refused_commits::diagnostics(loaded))
            .chain(of_branches.iter().cloned());
        model::diagnostic::merged(found.collect())
    });
    let found: Vec<_> = found.collect();
    let is_all = options.source.from.is_some() || options.environment.is_none();
    let found = if is_all {
        without_used_elsewhere(&environments.iter().map(|loaded| &**loaded).collect::<Vec<_>>(), found)
    } else {
        environments.iter().zip(found).map(|(loaded, found)| without_possibly_used(loaded, &found)).collect()
    };
    // A directory is never published, so there are no published files to keep.
    let fallback = if options.source.from.is_some() { Fallback::Nothing } else { Fallback::Published };
    let mut used = BTreeSet::new();
    for ((loaded, compiled), diagnostics) in environments.iter().zip(&compiled).zip(&found) {
        let batch = DiagnosticBatch { fallback, ..DiagnosticBatch::of_compiled(diagnostics, compiled) };
        used.extend(report.add_all(loaded, batch));
    }
    for (admitted, heads) in admitted.environments.iter().zip(&found) {
        let Some(admitted) = admitted else { continue };
        let found = admitted.diagnostics(heads);
        let batch = DiagnosticBatch { fallback, ..DiagnosticBatch::of_compiled(&found, &admitted.compiled) };
        used.extend(report.add_all(&admitted.loaded, batch));
    }
    if is_all && environments.iter().all(|loaded| is_known(loaded)) {
        add_idle(&mut report, (&environments, &compiled), &used);
    }
    watch.end();
    for (environment, reason) in &admitted.unknown {
        terminal::warn(&format!("it is not known what was admitted into {environment}: {reason}"));
    }
    if let Some(error) = denied {
        terminal::note(&format!("note: it is not known whether branches are protected: {error}"));
    }
    terminal::answer_styled(&diagnostics::render(&report, options.output))?;
    if environments.iter().any(|loaded| loaded.is_unreachable()) {
        return Ok(Exit::Unreachable);
    }
    Ok(Exit::Good.unless(!admitted.unknown.is_empty() || report.has_problems(options.source.strict)))
}

/// The diagnostics of an environment that were found by comparing several environments.
fn of_several<'f>(
    found: &'f BTreeMap<EnvironmentName, Vec<Diagnostic>>,
    loaded: &Loaded,
) -> impl Iterator<Item = &'f Diagnostic> {
    found.get(&loaded.fleet.environment).into_iter().flatten()
}

/// Whether all objects were read that warnings could be about.
fn is_known(loaded: &Loaded) -> bool {
    loaded.is_complete && loaded.fleet.unavailable.is_empty() && loaded.fleet.unread.is_empty()
}

/// Adds a diagnostic for each acknowledgement that matches nothing in any environment.
fn add_idle<'a>(
    report: &mut DiagnosticReport<'a>,
    (environments, compiled): (&'a [Arc<Loaded>], &[engine::compile::Compiled]),
    used: &BTreeSet<Id>,
) {
    for (position, (loaded, compiled)) in environments.iter().zip(compiled).enumerate() {
        let mut idle = acknowledgement::idle_annotations(&loaded.fleet, used);
        if position == 0 {
            idle.extend(acknowledgement::idle_entries(&loaded.acknowledgements, used));
        }
        report.add_all(loaded, DiagnosticBatch::of_compiled(&idle, compiled));
    }
}

/// The paths of files from the working directory: code hosts show annotations at such paths, and people open them.
fn checkouts(options: &Check, working_trees: Vec<CheckoutPaths>) -> Vec<CheckoutPaths> {
    let Some(directory) = &options.source.from else { return working_trees };
    let here = std::env::current_dir().unwrap_or_default();
    let folder = directory.strip_prefix(&here).unwrap_or(directory).display().to_string();
    vec![CheckoutPaths { folder, ..CheckoutPaths::default() }]
}
