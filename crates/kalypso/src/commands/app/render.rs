//! `kalypso app render`: the manifests of an environment.

use application::render::{RenderedTarget, Rendering, TargetState};
use application::values::TargetPath;
use model::count::count;
use model::progress::Progress;
use model::tree::{Tree, closed};
use serde::Serialize;
use utoipa::ToSchema;

use super::reading::{OpenedEnvironment, Reading, render_failure, report, target_named};
use crate::arguments::{AppRender, Format};
use crate::exit::{Exit, Failure};
use crate::{folder, reporting, table, terminal};

/// The rendered targets of an environment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RenderedApplication {
    /// The environment.
    environment: String,
    /// The version.
    version: String,
    /// The programs that rendered, with their versions.
    tools: Vec<String>,
    /// The targets.
    targets: Vec<RenderedTargetFields>,
}

/// A rendered target.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RenderedTargetFields {
    /// The target.
    target: String,
    /// The number of objects of each kind. None: an error stops the target.
    kinds: Option<std::collections::BTreeMap<String, usize>>,
}

pub(super) fn run(options: &AppRender) -> anyhow::Result<Exit> {
    let reading = Reading::new(&options.app)?.with_pinning(&options.pinning);
    let OpenedEnvironment { project, tools, environment } = reading.open(&options.environment, &options.release)?;
    let prepared = environment.prepared(&project);
    let wanted = options.target.as_deref().map(|name| target_named(&prepared, name, &options.environment));
    let wanted = wanted.transpose()?.map(|target| target.path.clone());
    let wanted = wanted.as_ref().map(TargetPath::as_str);
    let is_wanted = |path: &str| wanted.is_none_or(|wanted| wanted == path);
    let rendering = prepared.render(&tools.programs, &|target| !is_wanted(target.path.as_str()));
    let rendering = rendering.map_err(|error| render_failure(&error))?;
    let report = report(&rendering.files, &rendering.diagnostics);
    let exit = Exit::Good.unless(report.has_problems(options.strict));
    reporting::to_stderr(&report)?;
    if let Some(out) = &options.out {
        let files = write(out, &rendering, options)?;
        terminal::note(&format!("{} in {}", count(files, "file"), out.display()));
    }
    match (wanted, options.output) {
        (Some(wanted), Format::Human) => terminal::answer(&manifests(&rendering, wanted))?,
        (None, Format::Human) => terminal::answer(&summary(&rendering))?,
        (_, format) => {
            let answer = RenderedApplication {
                environment: options.environment.clone(),
                version: environment.provenance.version.to_string(),
                tools: environment.provenance.tools.clone(),
                targets: rendering.targets.iter().filter(|one| is_wanted(one.path.as_str())).map(fields).collect(),
            };
            terminal::answer(&terminal::structured(&answer, format))?;
        }
    }
    Ok(exit)
}

fn fields(target: &RenderedTarget) -> RenderedTargetFields {
    let kinds = match &target.state {
        TargetState::Rendered(manifests) => {
            Some(manifests.kinds().into_iter().map(|(kind, number)| (kind.to_owned(), number)).collect())
        }
        TargetState::Known | TargetState::Failed => None,
    };
    RenderedTargetFields { target: target.path.to_string(), kinds }
}

/// Writes all targets into a folder. Returns the number of files.
fn write(out: &std::path::Path, rendering: &Rendering, options: &AppRender) -> Result<usize, Failure> {
    let mut tree = Tree::default();
    for target in &rendering.targets {
        let TargetState::Rendered(manifests) = &target.state else { continue };
        for (name, content) in &manifests.files {
            tree.write(&format!("{}/{name}", target.path), std::sync::Arc::clone(content));
        }
    }
    let progress = &Progress::default();
    let write = folder::Write {
        open: &closed,
        environment: &options.environment,
        force: options.force,
        assignments: 0,
        progress,
    };
    Ok(folder::write(out, &tree, &write)?.len())
}

/// The manifests of one target.
fn manifests(rendering: &Rendering, wanted: &str) -> String {
    let found = rendering.targets.iter().find(|target| target.path.as_str() == wanted);
    let Some(TargetState::Rendered(manifests)) = found.map(|target| &target.state) else { return String::new() };
    let texts = manifests.files.values().map(|content| String::from_utf8_lossy(content).into_owned());
    texts.collect::<Vec<_>>().join("---\n")
}

fn summary(rendering: &Rendering) -> String {
    let heading = ["TARGET", "OBJECTS", "KINDS"].map(str::to_owned);
    let rows = rendering.targets.iter().map(|target| match &target.state {
        TargetState::Rendered(manifests) => {
            let kinds = manifests.kinds().into_iter().map(|(kind, number)| match number {
                1 => kind.to_owned(),
                number => format!("{number} {kind}"),
            });
            let kinds = kinds.collect::<Vec<_>>().join(", ");
            [target.path.to_string(), manifests.objects.len().to_string(), kinds]
        }
        TargetState::Known | TargetState::Failed => {
            [target.path.to_string(), "–".to_owned(), "not rendered".to_owned()]
        }
    });
    table::table(std::iter::once(heading).chain(rows))
}
