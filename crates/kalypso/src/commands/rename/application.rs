//! `kalypso rename workload` and `kalypso rename target`: finds the workload, and replaces the name in all branches that have it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use authoring::branch_files::EditRefusal;
use authoring::renames::{self, NewName, Renaming};
use delivery::access::{RepositoryAccess, destination_url};
use delivery::sources::loaded::Loaded;
use model::fleet::{Author, RegisteredWorkload};
use model::kind::Kind;
use model::label;
use model::name::WorkloadName;
use model::object::environment::RepositoryPlace;
use model::similar;
use workbench::branch::{BranchOf, ControlPlaneBranch, EditPlace, git_edits};

use super::joint::{JointEdit, Part};
use crate::arguments::{EditOptions, RenameTarget, RenameWorkload};
use crate::commands::branch_edit::{name, objects, open, refuse};
use crate::configuration::Settings;
use crate::exit::{Exit, Failure};
use crate::loading;
use crate::progress::Watch;

pub(super) fn workload(options: &RenameWorkload) -> anyhow::Result<Exit> {
    let RenameWorkload { name: old, new_name: new, checkout, edit } = options;
    name::<WorkloadName>(new, "workload")?;
    Request { workload: old, subject: Subject::Workload, names: (old, new), checkout: checkout.as_deref(), edit }.run()
}

pub(super) fn target(options: &RenameTarget) -> anyhow::Result<Exit> {
    let RenameTarget { name: old, new_name: new, workload, checkout, edit } = options;
    model::name::check(new)
        .map_err(|error| Failure::usage(format!("`{new}` is not the name of a deployment target: {error}")))?;
    Request { workload, subject: Subject::Target, names: (old, new), checkout: checkout.as_deref(), edit }.run()
}

/// What is renamed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Workload,
    Target,
}

/// A request to rename a workload or one of its targets.
struct Request<'a> {
    workload: &'a str,
    subject: Subject,
    /// The present and the new name.
    names: (&'a str, &'a str),
    checkout: Option<&'a Path>,
    edit: &'a EditOptions,
}

/// The places that may have the name, besides the main branch.
#[derive(Clone, Copy)]
struct NamedPlaces<'a> {
    access: &'a Arc<RepositoryAccess>,
    environments: &'a [Loaded],
    /// Where an application has the workload. None: it is an object of the control plane.
    home: Option<&'a RepositoryPlace>,
}

/// A branch with the failure to find its working tree. Without one, it is read from git, and can't be written.
type Opened = (ControlPlaneBranch, Option<anyhow::Error>);

impl Request<'_> {
    fn run(&self) -> anyhow::Result<Exit> {
        let (old, new) = self.names;
        label::check_value(new)
            .map_err(|reason| Failure::usage(format!("`{new}` can't be the value of a label: {reason}")))?;
        if old == new {
            return Err(Failure::usage(format!("`{new}` is the present name")).into());
        }
        let mut watch = Watch::start();
        let settings = &Settings::read(self.edit.config.as_deref())?;
        let access = loading::access_with(settings, watch.progress())?;
        let main = self.open(&access, BranchOf::Main, self.edit.working_tree.as_deref())?;
        let environments = main.0.all_environments();
        let home = self.home(&environments)?;
        let places = NamedPlaces { access: &access, environments: &environments, home: home.as_ref() };
        let branches = self.branches(main, places)?;
        let renamings = match self.renamings(&branches) {
            Ok(renamings) => renamings,
            Err(refusal) => return refuse(watch, &refusal, self.edit.output),
        };
        let mut parts = Vec::new();
        for ((branch, closed), renaming) in branches.into_iter().zip(renamings) {
            let edits = git_edits(&renaming.edits);
            if let Some(closed) = closed.filter(|_| !edits.is_empty() && !self.edit.dry_run) {
                return Err(closed);
            }
            parts.push(Part { branch, renaming, edits });
        }
        watch.end();
        let kind = if self.subject == Subject::Workload { Kind::Workload } else { Kind::DeploymentTarget };
        let main = usize::from(home.is_some());
        let (workload, names, options) = (self.workload, self.names, self.edit);
        JointEdit { kind, workload, names, parts, main, options, settings }.finish()
    }

    fn open(&self, access: &Arc<RepositoryAccess>, of: BranchOf<'_>, folder: Option<&Path>) -> anyhow::Result<Opened> {
        let at_head = || open(access, of, EditPlace::Head);
        if self.edit.propose {
            return Ok((at_head()?, None));
        }
        match open(access, of, EditPlace::WorkingTree(folder)) {
            Ok(branch) => Ok((branch, None)),
            Err(closed) => Ok((at_head()?, Some(closed))),
        }
    }

    /// Where an application has the workload. None: it is an object of the control plane.
    fn home(&self, environments: &[Loaded]) -> Result<Option<RepositoryPlace>, Failure> {
        let found = environments.iter().find_map(|loaded| {
            let workload = loaded.fleet.workloads.get(self.workload)?;
            Some((loaded, workload))
        });
        let Some((loaded, workload)) = found else { return Err(self.unknown(environments)) };
        if self.subject == Subject::Workload {
            self.refuse_taken(environments, workload)?;
        }
        let registration = workload.registration.as_ref().filter(|_| workload.author == Author::Application);
        let registered = registration.and_then(|name| loaded.fleet.registrations.get(name.as_str()));
        Ok(registered.map(|object| object.spec.workload.clone()))
    }

    fn unknown(&self, environments: &[Loaded]) -> Failure {
        let names = environments.iter().flat_map(|loaded| loaded.fleet.workloads.keys());
        let known: BTreeSet<_> = names.map(WorkloadName::as_str).collect();
        let failure = Failure::refused(format!("there is no workload `{}`", self.workload));
        match similar::nearest(self.workload, known.iter().copied()) {
            Some(nearest) => failure.help(format!("did you mean `{nearest}`?")),
            None => failure.help("`kalypso get workloads -e ENV` lists the workloads of an environment"),
        }
    }

    /// Refuses the name of another workload, and a name that is registered for another application.
    fn refuse_taken(&self, environments: &[Loaded], workload: &RegisteredWorkload) -> Result<(), Failure> {
        let (_, new) = self.names;
        for loaded in environments {
            let environment = &loaded.fleet.environment;
            if loaded.fleet.workloads.contains_key(new) || loaded.fleet.conflicting_claims.contains_key(new) {
                let message = format!("there is a workload `{new}` in environment `{environment}`");
                return Err(Failure::refused(message).help("choose another name, or rename or remove that one first"));
            }
            let is_own = workload.registration.as_ref().is_some_and(|registration| registration.as_str() == new);
            if loaded.fleet.registrations.contains_key(new) && !is_own {
                let message = format!("the name `{new}` is registered for another application");
                return Err(Failure::refused(message).help("choose another name, or remove that registration first"));
            }
        }
        Ok(())
    }

    /// The branches that may have the name: that of the application, the main branch, and those of all environments.
    fn branches(&self, main: Opened, places: NamedPlaces<'_>) -> anyhow::Result<Vec<Opened>> {
        let NamedPlaces { access, environments, home } = places;
        let mut found = Vec::new();
        if let Some(place) = home {
            let branch = (destination_url(Some(access), &place.repo)?, place.branch.to_string());
            let of = BranchOf::Application(&branch, &place.path);
            let (branch, closed) = self.open(access, of, self.checkout)?;
            let closed = closed.map(|_| self.no_checkout(&branch).into());
            found.push((branch, closed));
        }
        found.push(main);
        for loaded in environments {
            let of = BranchOf::Environment(&loaded.fleet.environment);
            let opened = self.open(access, of, self.edit.working_tree.as_deref())?;
            let is_same = |(known, _): &Opened| known.url() == opened.0.url() && known.name() == opened.0.name();
            if !found.iter().any(is_same) {
                found.push(opened);
            }
        }
        Ok(found)
    }

    fn no_checkout(&self, branch: &ControlPlaneBranch) -> Failure {
        let (name, url) = (branch.name(), branch.url());
        let message = match self.checkout {
            Some(folder) => format!("`{}` is no checkout of branch `{name}` of `{url}`", folder.display()),
            None => {
                format!("branch `{name}` of `{url}`, which has workload `{}`, is checked out nowhere", self.workload)
            }
        };
        Failure::refused(message).help("name a clone of it with --checkout DIR; --propose needs none")
    }

    /// The edits of each branch: one has the workload, and the others follow.
    fn renamings(&self, branches: &[Opened]) -> Result<Vec<Renaming>, EditRefusal> {
        let mut names: Option<Vec<NewName>> = None;
        let mut at = None;
        for (position, (branch, _)) in branches.iter().enumerate() {
            let files = objects(branch, branch.files());
            if files.find(Kind::Workload, self.workload).is_some() || position + 1 == branches.len() {
                names = Some(match self.subject {
                    Subject::Workload => renames::names_of_workload(&files, self.names)?,
                    Subject::Target => vec![renames::name_of_target(self.workload, self.names)],
                });
                at = Some(position);
                break;
            }
        }
        let names = names.unwrap_or_default();
        let of = |(position, (branch, _)): (usize, &Opened)| {
            let files = objects(branch, branch.files());
            match self.subject {
                _ if at != Some(position) => renames::follow(&files, &names),
                Subject::Workload => renames::rename_workload(&files, self.names),
                Subject::Target => renames::rename_target(&files, self.workload, self.names),
            }
        };
        branches.iter().enumerate().map(of).collect()
    }
}
