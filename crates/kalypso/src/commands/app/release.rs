//! `kalypso app release`: the versions of an application.

use std::collections::BTreeSet;

use application::project::{Project, ProjectError, SourceState};
use application::releases::{ApplicationRelease, ReleaseDeployment, releases};
use git::Commit;
use hub_api::timestamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::reading::{Reading, environment, failure};
use crate::arguments::{AppReleaseCommand, AppReleases, Format};
use crate::exit::{Exit, Failure};
use crate::{hub_client, table, terminal};

/// The releases of an application.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplicationReleases {
    /// The workload.
    workload: String,
    /// The releases, the last deployed one first.
    releases: Vec<ReleaseFields>,
}

/// A release of an application.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReleaseFields {
    /// The version.
    version: String,
    /// Its deployments, the newest first.
    deployments: Vec<DeploymentFields>,
}

/// A deployment of a release.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DeploymentFields {
    /// The commit in the GitOps repository.
    commit: String,
    /// Its environments.
    environments: Vec<String>,
    /// The commit of the source.
    source: String,
    /// The commit of the values, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<String>,
    /// The programs that rendered, with their versions.
    tools: Vec<String>,
    /// Who made it.
    by: String,
    /// When it was made.
    #[schema(value_type = String)]
    at: Timestamp,
}

pub(super) fn run(options: &AppReleases) -> anyhow::Result<Exit> {
    match &options.command {
        AppReleaseCommand::List(options) => {
            let reading = Reading::new(&options.app)?;
            let project = reading.project(&SourceState::WorkingTree)?;
            let wanted = options.environment.as_deref().map(|name| environment(&project, name)).transpose()?;
            let mut found = read(&reading, &project)?;
            if let Some(wanted) = wanted {
                let is_wanted = |one: &ReleaseDeployment| one.environments.contains(&wanted.name);
                found.iter_mut().for_each(|release| release.deployments.retain(is_wanted));
                found.retain(|release| !release.deployments.is_empty());
            }
            answer(&project, &found, (options.output, list))
        }
        AppReleaseCommand::Show(options) => {
            let reading = Reading::new(&options.app)?;
            let project = reading.project(&SourceState::WorkingTree)?;
            let found = read(&reading, &project)?;
            let wanted = options.version.strip_prefix('v').unwrap_or(&options.version);
            let known: Vec<_> = found.iter().map(|release| release.version.clone()).collect();
            let found: Vec<_> = found.into_iter().filter(|release| release.version == wanted).collect();
            if found.is_empty() {
                let message = format!("version {wanted} of `{}` was never deployed", project.workload.name);
                let help = "`kalypso app release list` lists the versions";
                return Err(Failure::refused(message)
                    .did_you_mean(wanted, known.iter().map(String::as_str), help)
                    .into());
            }
            answer(&project, &found, (options.output, show))
        }
    }
}

/// Reads the releases from the branches of all environments.
fn read(reading: &Reading, project: &Project) -> anyhow::Result<Vec<ApplicationRelease>> {
    let mut heads: BTreeSet<Commit> = BTreeSet::new();
    for environment in &project.settings.environments {
        heads.extend(reading.head(project, environment)?);
    }
    let heads: Vec<_> = heads.into_iter().collect();
    let found = releases(&reading.repositories, &heads, project.workload.name.as_str());
    found.map_err(|error| failure(ProjectError::from(error)))
}

fn answer(
    project: &Project,
    found: &[ApplicationRelease],
    (format, text): (Format, fn(&[ApplicationRelease]) -> String),
) -> anyhow::Result<Exit> {
    if format == Format::Human {
        terminal::answer(&text(found))?;
    } else {
        let answer = ApplicationReleases {
            workload: project.workload.name.to_string(),
            releases: found.iter().map(ReleaseFields::new).collect(),
        };
        terminal::answer(&terminal::structured(&answer, format))?;
    }
    Ok(Exit::Good)
}

impl ReleaseFields {
    fn new(release: &ApplicationRelease) -> Self {
        let deployment = |one: &ReleaseDeployment| DeploymentFields {
            commit: one.commit.to_string(),
            environments: one.environments.clone(),
            source: one.source.clone(),
            values: one.values.clone(),
            tools: one.tools.clone(),
            by: one.by.clone(),
            at: time(one.seconds),
        };
        Self { version: release.version.clone(), deployments: release.deployments.iter().map(deployment).collect() }
    }
}

fn time(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds.saturating_mul(1_000))
}

fn short(commit: &str) -> String {
    commit.chars().take(7).collect()
}

fn list(found: &[ApplicationRelease]) -> String {
    if found.is_empty() {
        return "nothing was deployed yet\n".to_owned();
    }
    let now = Timestamp::now();
    let heading = ["VERSION", "SOURCE", "ENVIRONMENTS", "DEPLOYED", "BY"].map(str::to_owned);
    let row = |release: &ApplicationRelease| {
        let mut environments = Vec::new();
        for name in release.deployments.iter().rev().flat_map(|one| &one.environments) {
            if !environments.contains(name) {
                environments.push(name.clone());
            }
        }
        let newest = release.deployments.first();
        let source = newest.map_or_else(String::new, |newest| short(&newest.source));
        let when = hub_client::ago(newest.map(|newest| time(newest.seconds)), now);
        let by = newest.map_or_else(String::new, |newest| hub_client::plain(&newest.by));
        [release.version.clone(), source, environments.join(", "), when, by]
    };
    table::table(std::iter::once(heading).chain(found.iter().map(row)))
}

fn show(found: &[ApplicationRelease]) -> String {
    let now = Timestamp::now();
    let heading = ["DEPLOYED", "ENVIRONMENTS", "COMMIT", "SOURCE", "VALUES", "RENDERED BY", "BY"].map(str::to_owned);
    let row = |one: &ReleaseDeployment| {
        [
            hub_client::ago(Some(time(one.seconds)), now),
            one.environments.join(", "),
            one.commit.short(),
            short(&one.source),
            one.values.as_deref().map_or_else(|| "the same".to_owned(), short),
            one.tools.join(", "),
            hub_client::plain(&one.by),
        ]
    };
    let rows = found.iter().flat_map(|release| &release.deployments).map(row);
    table::table(std::iter::once(heading).chain(rows))
}
