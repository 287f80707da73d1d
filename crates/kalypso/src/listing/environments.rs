//! The environments that are listed.

use delivery::reading::ReadAt;
use delivery::sources::loaded::Loaded;
use workbench::diagnostics::{DiagnosticBatch, DiagnosticReport};

use crate::arguments::SourceOptions;
use crate::exit::Exit;
use crate::progress::Watch;
use crate::{loading, reporting, terminal};

/// Environments that were read, and the exit status of their problems.
pub(crate) struct Environments {
    pub(crate) loaded: Vec<Loaded>,
    /// The names of environments that could not be read.
    pub(crate) unread: Vec<String>,
    pub(crate) exit: Exit,
}

/// Reads one environment, or all. Says what is wrong with their files. Environments that can't be read are left out, if there are others.
pub(crate) fn read(options: &SourceOptions, name: Option<&str>, watch: &Watch) -> anyhow::Result<Environments> {
    if let Some(name) = name {
        let loaded = vec![loading::environment(options, name, ReadAt::Heads, watch)?];
        let exit = note_errors(&loaded, Exit::Good);
        return Ok(Environments { loaded, unread: Vec::new(), exit });
    }
    let (mut found, mut unread, mut exit) = (Environments::default(), Vec::new(), Exit::Good);
    for loaded in loading::environments(options, None, ReadAt::Heads, watch.progress())? {
        if loaded.is_complete {
            found.loaded.push(loaded);
            continue;
        }
        if exit != Exit::Unreachable {
            exit = if loaded.is_unreachable() { Exit::Unreachable } else { Exit::Problems };
        }
        unread.push(loaded);
    }
    report_unread(&unread)?;
    found.exit = note_errors(&found.loaded, exit);
    found.unread = unread.iter().map(|loaded| loaded.fleet.environment.to_string()).collect();
    Ok(found)
}

impl Default for Environments {
    fn default() -> Self {
        Self { loaded: Vec::new(), unread: Vec::new(), exit: Exit::Good }
    }
}

/// Prints the diagnostics of environments that can't be read.
fn report_unread(environments: &[Loaded]) -> std::io::Result<()> {
    let mut report = DiagnosticReport::new();
    for loaded in environments {
        let batch =
            DiagnosticBatch { diagnostics: &loaded.diagnostics, assignments: Some(0), ..DiagnosticBatch::default() };
        report.add_problems(loaded, batch);
    }
    reporting::to_stderr(&report)
}

/// Says which environments have errors in their files. Returns the exit status.
fn note_errors(environments: &[Loaded], exit: Exit) -> Exit {
    let mut has_errors = false;
    for loaded in environments {
        let errors = loaded.diagnostics.iter().filter(|found| found.is_error()).count();
        if errors > 0 {
            has_errors = true;
            let environment = &loaded.fleet.environment;
            let errors = terminal::count(errors, "error");
            terminal::note(&format!(
                "error: {environment} has {errors}: objects may be missing, or older than their files"
            ));
            terminal::note(&format!("  = help: kalypso check -e {environment} shows what is wrong"));
        }
    }
    if exit == Exit::Good { exit.unless(has_errors) } else { exit }
}
