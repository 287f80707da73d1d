//! `kalypso app status`: what is deployed, proposed, desired and reported, by environment.

use application::deployment::{VERSION, commit_is_of};
use application::project::{Project, ProjectError, SourceState, repository_url};
use application::settings::{EnvironmentSettings, PatternNames};
use git::{Commit, Repositories, RepositoryError, Revision, trailer};
use hub_api::client::Client;
use hub_api::environments::EnvironmentTarget;
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::publication::Role;
use model::rollout::Counts;
use serde::Serialize;
use utoipa::ToSchema;

use super::super::status::{others, succeeded};
use super::reading::{Reading, failure};
use crate::arguments::{AppStatus, Format, HubConnection};
use crate::exit::Exit;
use crate::hub_client::Hub;
use crate::{table, terminal};

/// The maximum number of targets that are read from the hub.
const TARGETS_MAX: usize = 10_000;

/// The state of an application.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplicationStatus {
    /// The workload.
    workload: String,
    /// The environments, in the order of the configuration file.
    environments: Vec<EnvironmentStatus>,
}

/// The state of an environment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct EnvironmentStatus {
    /// The environment.
    environment: String,
    /// The version in the GitOps branch. None: nothing is deployed, or the targets have different versions.
    deployed: Option<String>,
    /// The number of deployed targets.
    targets: usize,
    /// The version that a pull request or a branch proposes.
    proposed: Option<String>,
    /// The versions that the platform wants, with the states of reconcilers. None: no hub was asked.
    desired: Option<Vec<DesiredApplicationVersion>>,
}

/// A version that the platform wants in an environment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DesiredApplicationVersion {
    /// Whose files reconcilers apply: those of the application, or those of the platform for it.
    role: Role,
    /// The version. None: the files are the platform's, or no descriptor names one.
    version: Option<String>,
    /// The states of reconcilers.
    #[schema(value_type = Object)]
    counts: Counts,
}

pub(super) fn run(options: &AppStatus) -> anyhow::Result<Exit> {
    let reading = Reading::new(&options.app)?;
    let project = reading.project(&SourceState::WorkingTree)?;
    let hub =
        HubConnection { hub: options.hub.clone(), token_file: options.token_file.clone(), ..HubConnection::default() };
    let desired = Hub::configured(&hub)?.map(|hub| desired(&hub, project.workload.name.as_str())).transpose()?;
    let mut environments = Vec::new();
    for settings in &project.settings.environments {
        environments.push(of_environment((&reading, &project), settings, desired.as_deref())?);
    }
    let answer = ApplicationStatus { workload: project.workload.name.to_string(), environments };
    match options.output {
        Format::Human => terminal::answer(&text(&answer))?,
        format => terminal::answer(&terminal::structured(&answer, format))?,
    }
    Ok(Exit::Good)
}

/// What the platform wants of a workload, in all environments.
fn desired(hub: &Hub, workload: &str) -> anyhow::Result<Vec<EnvironmentTarget>> {
    let filter = Filter { workload: Some(workload.to_owned()), ..Filter::default() };
    let ask = async |client: &Client, page: &Page| client.targets(&filter, page, None).await;
    Ok(hub.list(TARGETS_MAX, ask, |page| (page.items, page.next))?.items)
}

fn of_environment(
    (reading, project): (&Reading, &Project),
    settings: &EnvironmentSettings,
    desired: Option<&[EnvironmentTarget]>,
) -> anyhow::Result<EnvironmentStatus> {
    let workload = project.workload.name.as_str();
    let (branch, head) = reading.deployed(project, settings)?;
    let desired = desired.map(|targets| {
        let mut versions: Vec<DesiredApplicationVersion> = Vec::new();
        for target in targets.iter().filter(|target| target.environment == settings.environment) {
            let counts = target.counts.unwrap_or_default();
            let is_same =
                |one: &&mut DesiredApplicationVersion| one.role == target.role && one.version == target.version;
            if let Some(known) = versions.iter_mut().find(is_same) {
                known.counts.merge(&counts);
            } else {
                let (role, version) = (target.role, target.version.clone());
                versions.push(DesiredApplicationVersion { role, version, counts });
            }
        }
        versions.sort_by_key(|one| one.role == Role::Platform);
        versions
    });
    Ok(EnvironmentStatus {
        environment: settings.name.clone(),
        deployed: branch.release(workload, &settings.environment).map(|release| release.version),
        targets: branch.of(workload, &settings.environment).count(),
        proposed: proposed((reading, project), settings, head.as_ref())?,
        desired,
    })
}

/// The version of the proposing branch, if it is not merged.
fn proposed(
    (reading, project): (&Reading, &Project),
    settings: &EnvironmentSettings,
    head: Option<&Commit>,
) -> anyhow::Result<Option<String>> {
    let gitops = &project.settings.gitops;
    let name = if project.settings.is_promoted { "all" } else { settings.name.as_str() };
    let names = PatternNames { environment: name, ..project.names(settings) };
    let branch = gitops.proposing_branch.text(names);
    let url = repository_url(&gitops.repo).map_err(failure)?;
    let found = match reading.repositories.resolve(&url, &Revision::branch(&branch)) {
        Err(RepositoryError::NoRevision { .. } | RepositoryError::Empty { .. }) => return Ok(None),
        found => found.map_err(|error| failure(ProjectError::from(error)))?,
    };
    let repositories = &reading.repositories;
    let read = |error| failure(ProjectError::from(error));
    let is_merged =
        head.map(|head| repositories.is_ancestor(found.id, head, super::HISTORY_MAX)).transpose().map_err(read)?;
    let message = repositories.info(&found).map_err(read)?.message;
    let version = trailer::trailers(&message, VERSION).pop().map(str::to_owned);
    Ok(version.filter(|_| is_merged != Some(true) && commit_is_of(&message, project.workload.name.as_str())))
}

fn text(answer: &ApplicationStatus) -> String {
    let is_known = answer.environments.iter().any(|one| one.desired.is_some());
    let mut heading = vec!["ENVIRONMENT", "DEPLOYED", "TARGETS", "PROPOSED"];
    heading.extend(is_known.then_some(["DESIRED", "RECONCILERS", ""]).into_iter().flatten());
    let mut rows = vec![heading.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    let none = || "–".to_owned();
    for one in &answer.environments {
        let mut row = vec![
            one.environment.clone(),
            one.deployed.clone().unwrap_or_else(none),
            one.targets.to_string(),
            one.proposed.clone().unwrap_or_else(none),
        ];
        let desired = one.desired.iter().flatten();
        let version = |one: &DesiredApplicationVersion| match (&one.version, one.role) {
            (Some(version), _) => version.clone(),
            (None, Role::Application) => none(),
            (None, Role::Platform) => "configuration".to_owned(),
        };
        let mut cells = desired.map(|one| [version(one), succeeded(&one.counts), others(&one.counts)]);
        if is_known {
            row.extend(cells.next().unwrap_or_else(|| [none(), none(), String::new()]));
        }
        rows.push(row);
        rows.extend(cells.map(|cells| [vec![String::new(); 4], cells.to_vec()].concat()));
    }
    table::of_rows(&rows)
}
