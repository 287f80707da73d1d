//! `kalypso app check`: renders everything, and lists what is wrong.

use std::collections::BTreeMap;
use std::sync::Arc;

use application::render::{Rendering, TargetState};
use application::schemas;
use workbench::diagnostics::DiagnosticReport;

use super::reading::add;
use super::reading::{AskedEnvironment, Environment, Reading, Tools, environment, render_failure};
use crate::arguments::AppCheck;
use crate::exit::Exit;
use crate::{diagnostics, terminal};

pub(super) fn run(options: &AppCheck) -> anyhow::Result<Exit> {
    let reading = Reading::new(&options.app)?;
    let project = reading.project(&reading.state(options.release.commit.as_deref())?)?;
    let tools = Tools::new(&reading, &project)?;
    let names: Vec<_> = match &options.environment {
        Some(name) => vec![environment(&project, name)?.name.clone()],
        None => project.settings.environments.iter().map(|one| one.name.clone()).collect(),
    };
    let mut renderings = Vec::new();
    for name in &names {
        let environment = Environment::read(
            &reading,
            &project,
            AskedEnvironment { name, release: &options.release, known: None, tools: &tools },
        )?;
        let rendering = environment.prepared(&project).repeating().render(&tools.programs, &|_| false);
        renderings.push(rendering.map_err(|error| render_failure(&error))?);
    }
    let stray = match options.environment {
        Some(_) => Vec::new(),
        None => project.stray_patterns(renderings.iter().flat_map(|rendering| &rendering.targets)),
    };
    let mut unvalidated: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    for target in renderings.iter().flat_map(|rendering| &rendering.targets) {
        let TargetState::Rendered(manifests) = &target.state else { continue };
        manifests.unvalidated.iter().for_each(|(kind, number)| *unvalidated.entry(kind.clone()).or_default() += number);
    }
    let note: Vec<_> = schemas::unvalidated(&unvalidated, project.settings_file).into_iter().collect();
    let mut all = DiagnosticReport::new();
    add(&mut all, &project.files, &stray);
    add(&mut all, &project.files, &note);
    for Rendering { files, diagnostics, .. } in &renderings {
        add(&mut all, files, diagnostics);
    }
    terminal::answer_styled(&diagnostics::render(&all, options.output))?;
    Ok(Exit::Good.unless(all.has_problems(options.strict)))
}
