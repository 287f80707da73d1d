//! `kalypso check`: everything that is wrong.

use std::collections::BTreeSet;

use engine::output::{destination_problems, shared_destinations};

use crate::acknowledgement::{self, Id};
use crate::arguments::Check;
use crate::exit::Exit;
use crate::expiry::expired_pins;
use crate::holding;
use crate::loading::{self, Loaded};
use crate::progress::Watch;
use crate::report::{Batch, Checkout, Fallback, Report};
use crate::shared::without_doubtful;
use crate::{compiling, reporting, terminal};

pub(super) fn run(options: &Check) -> anyhow::Result<Exit> {
    let mut watch = Watch::start();
    let environments = loading::environments(&options.source, options.environment.as_deref(), watch.progress())?;
    let compiled: Vec<_> = environments.iter().map(|loaded| compiling::compile(loaded, watch.progress())).collect();
    let shared = shared_destinations(environments.iter().map(|loaded| &*loaded.fleet));
    let now = jiff::Timestamp::now();
    let mut report = Report::new().checked_out(checkout(options)).made_with(compiling::reuse(&compiled));
    let found = environments.iter().zip(&compiled).map(|(loaded, compiled)| {
        let found = loaded
            .diagnostics
            .iter()
            .chain(shared.get(&loaded.fleet.environment).into_iter().flatten())
            .cloned()
            .chain(compiled.diagnostics())
            .chain(holding::diagnostics(loaded, compiled))
            .chain(destination_problems(&loaded.fleet))
            .chain(expired_pins(&loaded.fleet, now));
        model::diagnostic::merged(found.collect())
    });
    let found: Vec<_> = found.collect();
    let is_all = options.source.from.is_some() || options.environment.is_none();
    let found = if is_all {
        crate::shared::without_elsewhere(&environments.iter().collect::<Vec<_>>(), found)
    } else {
        environments.iter().zip(found).map(|(loaded, found)| without_doubtful(loaded, &found)).collect()
    };
    // A directory is never published, so there is nothing to keep.
    let fallback = if options.source.from.is_some() { Fallback::Nothing } else { Fallback::Published };
    let mut used = BTreeSet::new();
    for ((loaded, compiled), diagnostics) in environments.iter().zip(&compiled).zip(&found) {
        used.extend(loaded.report_all(&mut report, Batch { fallback, ..reporting::batch(diagnostics, compiled) }));
    }
    if is_all && environments.iter().all(is_known) {
        add_idle(&mut report, (&environments, &compiled), &used);
    }
    watch.end();
    terminal::answer_styled(&report.render(options.output))?;
    if environments.iter().any(loading::Loaded::is_unreachable) {
        return Ok(Exit::Unreachable);
    }
    Ok(Exit::Good.unless(reporting::has_problems(&report, options.source.strict)))
}

/// Whether nothing is missing that warnings could be about.
fn is_known(loaded: &Loaded) -> bool {
    loaded.is_whole && loaded.fleet.unavailable.is_empty() && loaded.fleet.unread.is_empty()
}

/// Adds what is to be said about acknowledgements that match nothing in any environment.
fn add_idle<'a>(
    report: &mut Report<'a>,
    (environments, compiled): (&'a [Loaded], &[engine::compile::Compiled]),
    used: &BTreeSet<Id>,
) {
    for (position, (loaded, compiled)) in environments.iter().zip(compiled).enumerate() {
        let mut idle = acknowledgement::idle_annotations(loaded, used);
        if position == 0 {
            idle.extend(acknowledgement::idle_entries(&loaded.acknowledgements, used));
        }
        loaded.report_all(report, reporting::batch(&idle, compiled));
    }
}

/// Where the files of a plain directory are, seen from here: code hosts show annotations at such paths.
fn checkout(options: &Check) -> Checkout {
    let Some(directory) = &options.source.from else { return Checkout::default() };
    let here = std::env::current_dir().unwrap_or_default();
    let folder = directory.strip_prefix(&here).unwrap_or(directory).display().to_string();
    Checkout { folder, ..Checkout::default() }
}
