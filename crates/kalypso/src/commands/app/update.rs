//! `kalypso app update`: newer versions of the charts of services.

use std::fmt::Write as _;

use application::files::FileSet;
use application::project::{Project, SourceState};
use application::render::Rendering;
use application::services::{ServiceUpdate, Services, UpdateRequest, UpdateVersion};
use application::settings::{FILE_NAME, SourceKind};
use application::version::ApplicationVersion;
use model::code::Code;
use model::count::count;
use serde::Serialize;
use utoipa::ToSchema;
use workbench::diagnostics::DiagnosticReport;

use super::diff::{TargetDifference, changes, counts, differences, rendered};
use super::reading::{AskedEnvironment, Environment, Reading, Tools, add, failure, program_failure};
use crate::arguments::{AppRelease, AppUpdate, Format};
use crate::exit::{Exit, Failure};
use crate::{reporting, table, terminal};

/// Newer versions of services.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServiceUpdates {
    /// The services. Those with an error are left out.
    services: Vec<ServiceUpdateFields>,
    /// What changes in the manifests of each environment. Empty if no version changes.
    environments: Vec<EnvironmentDifference>,
    /// Whether the files were written.
    written: bool,
}

/// The versions of a service.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ServiceUpdateFields {
    /// The service.
    service: String,
    /// The repository of its chart.
    repository: String,
    /// The name of its chart.
    chart: String,
    /// The version in its file.
    version: String,
    /// The newest version in the repository. None: the repository was not asked.
    newest: Option<String>,
    /// The change of its file. None: it stays.
    change: Option<ServiceChange>,
}

/// The change of the file of a service.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ServiceChange {
    /// The version.
    version: String,
    /// The digest of the chart's archive.
    digest: String,
}

/// What changes in an environment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct EnvironmentDifference {
    /// The environment.
    environment: String,
    /// The targets with changes.
    targets: Vec<TargetDifference>,
    /// The number of targets without changes.
    unchanged: usize,
}

pub(super) fn run(options: &AppUpdate) -> anyhow::Result<Exit> {
    let reading = Reading::new(&options.app)?;
    let project = reading.project(&SourceState::WorkingTree)?;
    if project.settings.source.kind != SourceKind::Services {
        let message = format!("`[source]` of {FILE_NAME} names no services");
        return Err(Failure::usage(message).help("name their folder: `services = \"services\"`").into());
    }
    let tools = Tools::new(&reading, &project)?;
    let source = project.source(&reading.repositories).map_err(failure)?;
    let mut files = project.files.clone();
    let services = Services::read(&source, &mut files);
    check_names(&services, &options.names)?;
    let request = UpdateRequest {
        files: &source,
        names: &options.names,
        version: version(options)?,
        programs: &tools.programs,
        store: &tools.charts,
    };
    let (updates, mut problems) = services.updates(&request).map_err(|error| program_failure(&error))?;
    problems.extend(services.problems.iter().filter(|problem| problem.code != Code::ServiceNotPinned).cloned());
    let (environments, renderings) =
        Updating { reading: &reading, project: &project, tools: &tools }.environments(&source, &updates)?;
    let mut report = DiagnosticReport::new();
    add(&mut report, &files, &problems);
    renderings.iter().for_each(|rendering| add(&mut report, &rendering.files, &rendering.diagnostics));
    reporting::to_stderr(&report)?;
    let written = (options.write || options.pin) && updates.iter().any(|update| update.edit.is_some());
    if written {
        for update in &updates {
            update.edit.iter().try_for_each(|edit| reading.write(&project, &update.path, &edit.content))?;
        }
    }
    let answer = ServiceUpdates { services: updates.into_iter().map(fields).collect(), environments, written };
    match options.output {
        Format::Human => terminal::answer(&human(&answer))?,
        format => terminal::answer(&terminal::structured(&answer, format))?,
    }
    Ok(Exit::Good.unless(report.has_problems(false)))
}

fn check_names(services: &Services, names: &[String]) -> Result<(), Failure> {
    let known = || services.all.iter().map(|service| service.name.as_str());
    match names.iter().find(|name| known().all(|known| known != *name)) {
        Some(name) => {
            let message = format!("there is no service `{name}`");
            Err(Failure::usage(message).did_you_mean(name, known(), "leave the name out to see all services"))
        }
        None => Ok(()),
    }
}

fn version(options: &AppUpdate) -> Result<UpdateVersion<'_>, Failure> {
    match &options.to {
        Some(version) => match version.parse::<ApplicationVersion>() {
            Ok(_) => Ok(UpdateVersion::Exact(version)),
            Err(error) => Err(Failure::usage(error.to_string()).help("write three numbers, such as 25.8.0")),
        },
        None if options.pin => Ok(UpdateVersion::Current),
        None => Ok(UpdateVersion::Newest),
    }
}

struct Updating<'a> {
    reading: &'a Reading,
    project: &'a Project,
    tools: &'a Tools,
}

impl Updating<'_> {
    /// What the updates change in each environment, with what is rendered after them.
    fn environments(
        &self,
        source: &FileSet,
        updates: &[ServiceUpdate],
    ) -> anyhow::Result<(Vec<EnvironmentDifference>, Vec<Rendering>)> {
        let mut changed = source.clone();
        let mut has_new_version = false;
        for update in updates {
            let Some(edit) = &update.edit else { continue };
            changed.replace(&update.path, edit.content.clone());
            has_new_version |= edit.version != update.current.version;
        }
        let (mut environments, mut renderings) = (Vec::new(), Vec::new());
        // A digest alone changes no manifests.
        for settings in self.project.settings.environments.iter().filter(|_| has_new_version) {
            let asked = AskedEnvironment {
                name: &settings.name,
                release: &AppRelease::default(),
                known: None,
                tools: self.tools,
            };
            let before = Environment::read(self.reading, self.project, asked)?;
            let after = before.with_source(self.project, changed.clone(), self.tools)?;
            let (mut after, before) =
                rendered(before.prepared(self.project), after.prepared(self.project), self.tools)?;
            let (targets, unchanged) = differences(&before, &after.targets);
            environments.push(EnvironmentDifference { environment: settings.name.clone(), targets, unchanged });
            after.diagnostics.retain(|problem| problem.code != Code::ServiceNotPinned);
            renderings.push(after);
        }
        Ok((environments, renderings))
    }
}

fn fields(update: ServiceUpdate) -> ServiceUpdateFields {
    let ServiceUpdate { name, current, newest, edit, .. } = update;
    ServiceUpdateFields {
        service: name,
        repository: current.repository,
        chart: current.chart,
        version: current.version,
        newest,
        change: edit.map(|edit| ServiceChange { version: edit.version, digest: edit.digest.to_string() }),
    }
}

fn human(answer: &ServiceUpdates) -> String {
    let heading = ["SERVICE", "CHART", "VERSION", "NEWEST", "CHANGE"].map(str::to_owned);
    let rows = answer.services.iter().map(|service| {
        let change = service.change.as_ref().map_or_else(
            || "–".to_owned(),
            |change| if change.version == service.version { "digest".to_owned() } else { change.version.clone() },
        );
        let newest = service.newest.clone().unwrap_or_else(|| "–".to_owned());
        [service.service.clone(), service.chart.clone(), service.version.clone(), newest, change]
    });
    let mut text = table::table(std::iter::once(heading).chain(rows));
    for EnvironmentDifference { environment, targets, unchanged } in &answer.environments {
        let _ = write!(text, "\n{environment}: {}\n{}", counts(targets.len(), *unchanged), changes(targets));
    }
    let changed = answer.services.iter().filter(|service| service.change.is_some()).count();
    let _ = match (changed, answer.written) {
        (0, _) => Ok(()),
        (_, true) => writeln!(text, "\n{} written", count(changed, "file")),
        (_, false) => writeln!(text, "\n--write changes {}", count(changed, "file")),
    };
    text
}
