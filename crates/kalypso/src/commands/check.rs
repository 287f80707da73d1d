//! `kalypso check`: everything that is wrong.

use engine::output::{destination_problems, shared_destinations};

use crate::arguments::Check;
use crate::exit::Exit;
use crate::expiry::expired_pins;
use crate::holding;
use crate::loading;
use crate::progress::Watch;
use crate::report::{Batch, Checkout, Fallback, Report};
use crate::{compiling, reporting, terminal};

pub(super) fn run(options: &Check) -> anyhow::Result<Exit> {
    let mut watch = Watch::start();
    let environments = loading::environments(&options.source, options.environment.as_deref(), watch.progress())?;
    let compiled: Vec<_> = environments.iter().map(|loaded| compiling::compile(loaded, watch.progress())).collect();
    let shared = shared_destinations(environments.iter().map(|loaded| &*loaded.fleet));
    let now = jiff::Timestamp::now();
    let mut report = Report::new().checked_out(checkout(options)).made_with(compiling::reuse(&compiled));
    for (loaded, compiled) in environments.iter().zip(&compiled) {
        let found = loaded
            .diagnostics
            .iter()
            .chain(shared.get(&loaded.fleet.environment).into_iter().flatten())
            .cloned()
            .chain(compiled.diagnostics())
            .chain(holding::diagnostics(loaded, compiled))
            .chain(destination_problems(&loaded.fleet))
            .chain(expired_pins(&loaded.fleet, now));
        let diagnostics = model::diagnostic::merged(found.collect());
        // A directory is published by nobody, so there is nothing to keep.
        let fallback = if options.source.from.is_some() { Fallback::Nothing } else { Fallback::LastGood(None) };
        loaded.report(&mut report, Batch { fallback, ..reporting::batch(&diagnostics, compiled) });
    }
    watch.end();
    terminal::answer_styled(&report.render(options.output))?;
    if environments.iter().any(loading::Loaded::is_unreachable) {
        return Ok(Exit::Unreachable);
    }
    Ok(Exit::Good.unless(reporting::has_problems(&report, options.source.strict)))
}

/// Where the files of a plain directory are, seen from here: code hosts show annotations at such paths.
fn checkout(options: &Check) -> Checkout {
    let Some(directory) = &options.source.from else { return Checkout::default() };
    let here = std::env::current_dir().unwrap_or_default();
    let folder = directory.strip_prefix(&here).unwrap_or(directory).display().to_string();
    Checkout { folder, ..Checkout::default() }
}
