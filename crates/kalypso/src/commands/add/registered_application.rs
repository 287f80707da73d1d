//! The application of a workload, as it is registered: what edits of it do in an environment, and their proposal.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use authoring::branch_files::BranchFiles;
use authoring::file_edits::FileEdits;
use delivery::access::RepositoryAccess;
use delivery::reading::in_promotion_order;
use delivery::sources::loaded::Loaded;
use git::load::{ReadRole, Snapshot};
use git::{Commit, Revision};
use model::name::{EnvironmentName, RegistrationName, WorkloadName};
use model::source::Source;
use workbench::answers::target_edit::TargetEdit;
use workbench::branch::{NewProposal, ProposalResult, git_edits, propose};
use workbench::change::{EditedStates, EnvironmentChange};
use workbench::edited_repositories::{EditedRepositories, Next};
use workbench::source::{environment_name, unknown_environment};

use crate::configuration::Settings;
use crate::exit::Failure;
use crate::progress::Watch;

/// The application of a workload in an environment.
pub(super) struct RegisteredApplication {
    settings: Box<Settings>,
    pub(super) access: Arc<RepositoryAccess>,
    /// The environment as it is now.
    old: Arc<Loaded>,
    /// The head of the branch that is registered.
    head: Commit,
    /// The files in the registered folder of the branch. They are read for proposals only.
    files: BTreeMap<Arc<str>, Arc<[u8]>>,
}

impl RegisteredApplication {
    /// Finds the application of a target. The inner error says why it is not known: there is no configuration file here, the workload is not registered, or a fixed
    /// commit of its repository is.
    ///
    /// # Errors
    /// If there is no such environment, or if the control plane can't be read.
    pub(super) fn find(
        &TargetEdit { environment, workload, .. }: &TargetEdit<'_>,
        (config, watch): (Option<&Path>, &Watch),
    ) -> anyhow::Result<Result<Self, Failure>> {
        let found = Settings::read(config).and_then(|settings| Ok((settings.control_plane()?, settings)));
        if config.is_none() && found.is_err() {
            let failure =
                Failure::refused("the repository of the application is not known: there is no kalypso.toml here");
            return Ok(Err(failure.help("name that of the control plane with --config FILE")));
        }
        let (control_plane, settings) = found?;
        let access = Arc::new(RepositoryAccess::new(control_plane, watch.progress().clone()));
        let name = environment_name(environment)?;
        let snapshot = Snapshot::new(&*access.repositories, access.control_plane());
        let environments = snapshot.environments();
        if !environments.names.contains(&name) {
            let known = in_promotion_order(&environments, &access);
            return Err(unknown_environment(environment, &known).into());
        }
        let old = Arc::new(Loaded::new(snapshot.load(&name), None, Some(&access)));
        let files = BTreeMap::new();
        Ok(head_of(&old, workload).map(|head| Self { settings: Box::new(settings), access, old, head, files }))
    }

    /// The same with the files of the branch.
    ///
    /// # Errors
    /// If they can't be read.
    pub(super) fn with_files(self, workload: &str) -> Result<Self, Failure> {
        let path = registration_of(&self.old, workload)
            .and_then(|name| self.old.fleet.registrations.get(name.as_str()))
            .map(|object| Arc::clone(&object.spec.workload.path))
            .unwrap_or_default();
        let failed = |reason: String| Failure::outside(format!("`{}` can't be read: {reason}", self.head.url));
        let files = git::load::files(&*self.access.repositories, &self.head, &path).map_err(failed)?;
        Ok(Self { files, ..self })
    }

    /// The files with their objects.
    pub(super) fn files(&self) -> BranchFiles<'_> {
        let source = Source { label: self.head.url.label(), ..Source::directory() };
        BranchFiles::new(source, &self.files, "")
    }

    /// The environment before and after edits on top of the registered branch.
    pub(super) fn change(&self, files: &FileEdits) -> EnvironmentChange {
        let environment = &self.old.fleet.environment;
        let edits = git_edits(files);
        let settings = Arc::new(self.access.settings.git.clone());
        let next = Next::of_branch(self.head.clone(), edits.clone(), &settings);
        let edited = EditedRepositories::new(&*self.access.repositories, vec![next]);
        let read = Snapshot::new(&edited, self.access.control_plane()).load(environment);
        let new = Arc::new(Loaded::new(read, None, Some(&self.access)));
        let (branch, from) = (self.branch(), environment.to_string());
        EnvironmentChange::of_edits(EditedStates { old: Arc::clone(&self.old), new, branch: &branch, from }, &edits)
    }

    /// Proposes edits: see [`propose`].
    pub(super) fn propose(&self, text: NewProposal<'_>) -> anyhow::Result<ProposalResult> {
        let hosts = self.settings.hosts()?.for_deliveries();
        Ok(propose((&self.access, &self.head), text, hosts.as_ref())?)
    }

    /// The branch that is registered.
    pub(super) fn branch(&self) -> Arc<str> {
        self.head.revision.name()
    }

    /// The repository and the branch, for people.
    pub(super) fn description(&self) -> String {
        format!("branch `{}` of {}", self.branch(), self.head.url)
    }

    /// A file for people.
    pub(super) fn shown(&self, path: &str) -> String {
        format!("{}@{}:{path}", self.head.url.label(), self.branch())
    }
}

fn registration_of(loaded: &Loaded, workload: &str) -> Option<RegistrationName> {
    loaded.fleet.workloads.get(workload)?.registration.clone()
}

/// The commit from which a workload was read.
fn head_of(loaded: &Loaded, workload: &str) -> Result<Commit, Failure> {
    let environment: &EnvironmentName = &loaded.fleet.environment;
    if !loaded.fleet.workloads.contains_key(workload) {
        let failure = Failure::refused(format!("{environment} reads no workload `{workload}`"));
        let help = format!("`kalypso get workloads -e {environment}` lists them");
        return Err(failure.did_you_mean(workload, loaded.fleet.workloads.keys().map(WorkloadName::as_str), help));
    }
    let Some(registration) = registration_of(loaded, workload) else {
        let failure = Failure::refused(format!("workload `{workload}` is not in the repository of an application"));
        return Err(failure.help("it is an object of the control plane: edit it there"));
    };
    let is_its = |role: &ReadRole| matches!(role, ReadRole::Application(name) if *name == registration);
    let read = loaded.reads.iter().find(|read| is_its(&read.role) && !read.is_pinned);
    let fixed = || {
        let message = format!("{environment} does not follow a branch of the repository of `{workload}`");
        Failure::refused(message).help("edit a checkout of it: --checkout DIR")
    };
    let read = read.ok_or_else(fixed)?;
    Ok(Commit { url: read.url.clone(), revision: Revision::branch(&read.revision), id: read.commit })
}
