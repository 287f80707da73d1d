//! What is deployed: a commit of the source with its version.

use application::deployment::{DeployedBranch, DeployedRelease, DescriptorPlace};
use application::project::{Project, SourceState};
use git::{Commit, Repositories, Revision};
use model::git_id::GitId;

use super::super::known::AskedVersion;
use super::super::reading::{Environment, Reading, environment};
use crate::arguments::{AppDeploy, AppRelease};
use crate::exit::Failure;

/// What is deployed: a project at a commit, and its version.
pub(super) struct Release {
    pub(super) project: Project,
    pub(super) version: String,
    /// What is known of the version. None: it was not deployed yet.
    pub(super) known: Option<DeployedRelease>,
    /// What the GitOps branch contains.
    pub(super) branch: DeployedBranch,
    /// The head of the GitOps branch. None: it does not exist.
    pub(super) head: Option<Commit>,
}

impl Release {
    /// A new version from a commit, or what is deployed now with the newest values.
    ///
    /// `newest` is the application at the commit that is deployed, or the one with the newest values.
    pub(super) fn read(
        reading: &Reading,
        newest: &Project,
        (name, options): (&str, &AppDeploy),
    ) -> anyhow::Result<Self> {
        let AppRelease { version, commit, .. } = &options.release;
        let settings = environment(newest, name)?;
        let (branch, head) = reading.deployed(newest, settings)?;
        let known = AskedVersion { project: newest, environment: settings, branch: &branch, options: &options.release }
            .known(reading)?;
        if let Some(version) = version {
            return Ok(Self { project: newest.clone(), version: version.clone(), known, branch, head });
        }
        if commit.is_some() {
            return Err(Failure::usage("--commit needs --version: the version of that commit").into());
        }
        let workload = newest.workload.name.as_str();
        let Some(known) = known else {
            let message = format!(
                "nothing of `{workload}` is deployed in `{}` yet, or its targets have different versions",
                settings.name
            );
            return Err(Failure::usage(message).help("give the version: --version 1.0.0").into());
        };
        let id = GitId::from_hex(&known.commit).ok_or_else(|| {
            Failure::refused(format!("the deployed commit `{}` is no commit", known.commit))
                .help("give the version: --version 1.0.0")
        })?;
        let state = SourceState::Commit(Revision::Commit { id, branch: None });
        let project = reading.project(&state)?.with_values_of(newest);
        Ok(Self { project, version: known.version.clone(), known: Some(known), branch, head })
    }
}

/// Refuses a commit that is older than the deployed one: two pipelines may run in any order.
pub(super) fn check_age(
    reading: &Reading,
    release: &Release,
    (environment, options): (&Environment, &AppDeploy),
) -> anyhow::Result<()> {
    let own = environment.provenance.source;
    let workload = release.project.workload.name.as_str();
    let deployed = release.branch.release(workload, &environment.settings.environment);
    let Some(id) =
        deployed.and_then(|release| GitId::from_hex(&release.commit)).filter(|id| *id != own && !options.older)
    else {
        return Ok(());
    };
    // A commit that is not there any more decides nothing.
    let Ok(deployed) = reading.commit(&id.to_string()) else { return Ok(()) };
    if !reading.repositories.is_ancestor(own, &deployed, super::super::HISTORY_MAX).unwrap_or(false) {
        return Ok(());
    }
    let message = format!(
        "commit {} is older than commit {}, which is deployed in `{}`",
        own.short(),
        id.short(),
        environment.settings.name
    );
    Err(Failure::refused(message).help("another pipeline was faster; to go back, add --older").into())
}

/// The place of the source, as descriptors name it.
pub(super) fn source(reading: &Reading, project: &Project) -> DescriptorPlace {
    let names = project.source_names();
    let repo = if names.repo.is_empty() { reading.origin().unwrap_or_default() } else { names.repo };
    DescriptorPlace { repo, branch: names.branch, path: format!("./{}", project.source_folder()) }
}
