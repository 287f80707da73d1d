//! The rename of a workload or a deployment target in all branches that name it: in one step, or in one proposal for each branch.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use authoring::additions::PlacedObject;
use authoring::branch_files::EditRefusal;
use authoring::renames::{self, NewName, Renaming};
use delivery::access::{RepositoryAccess, destination_url};
use delivery::output::changes::markdown;
use delivery::pull_requests::GitHosts;
use delivery::sources::loaded::Loaded;
use git::Edits;
use model::fleet::{Author, RegisteredWorkload};
use model::kind::Kind;
use model::name::WorkloadName;
use model::object::environment::RepositoryPlace;
use model::{excerpt, label};

use crate::branch::{BranchOf, ControlPlaneBranch, EditPlace, EditResult, NewProposal, git_edits};
use crate::change::EnvironmentChange;
use crate::{Error, Failure};

/// The maximum number of files that people see in a list.
pub const LISTED_MAX: usize = 20;

/// What is renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renamed {
    /// A workload.
    Workload,
    /// A deployment target of a workload.
    Target,
}

/// A request to rename a workload or one of its targets.
#[derive(Clone, Copy)]
pub struct RenameRequest<'a> {
    /// The control plane.
    pub access: &'a Arc<RepositoryAccess>,
    /// Gets the topic branches that are edited instead of others.
    pub note: &'a dyn Fn(&str),
    /// The workload.
    pub workload: &'a str,
    /// What is renamed.
    pub what: Renamed,
    /// The present and the new name.
    pub names: (&'a str, &'a str),
    /// A working tree of the application's repository.
    pub checkout: Option<&'a Path>,
    /// A folder in a working tree of the control plane.
    pub working_tree: Option<&'a Path>,
    /// Whether the heads of the branches are edited, and no working trees.
    pub is_proposed: bool,
    /// Whether nothing is to be written.
    pub is_dry_run: bool,
}

/// A rename that can be carried out.
pub struct JointRename<'a> {
    request: RenameRequest<'a>,
    /// The branches that change.
    pub branches: Vec<RenamedBranch>,
    /// The environments that change.
    pub changes: Vec<EnvironmentChange>,
}

/// A branch that changes.
pub struct RenamedBranch {
    /// The branch.
    pub branch: ControlPlaneBranch,
    /// The objects that change.
    renaming: Renaming,
    /// The edits of its files.
    pub edits: Edits,
}

/// A branch with the failure to find its working tree. Without one, it is read from git, and can't be written.
type Opened = (ControlPlaneBranch, Option<Error>);

impl<'a> JointRename<'a> {
    /// Finds the branches that have the name, and renames in each. The inner error says why a branch can't be edited.
    ///
    /// # Errors
    /// If the new name can't be used, if there is no such workload, or if a branch can't be read or is in no working tree.
    pub fn new(request: RenameRequest<'a>) -> Result<Result<Self, EditRefusal>, Error> {
        let main = request.open(BranchOf::Main, request.working_tree)?;
        let environments = main.0.all_environments();
        let home = request.home(&environments)?;
        let opened = request.branches(main, &environments, home.as_ref())?;
        let renamings = match request.renamings(&opened) {
            Ok(renamings) => renamings,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let mut branches = Vec::new();
        for ((branch, closed), renaming) in opened.into_iter().zip(renamings) {
            let edits = git_edits(&renaming.edits);
            if let Some(closed) = closed.filter(|_| !edits.is_empty() && !request.is_dry_run) {
                return Err(closed);
            }
            branches.push(RenamedBranch { branch, renaming, edits });
        }
        let all: Vec<_> = branches.iter().map(|part| (&part.branch, &part.edits)).collect();
        // The main branch knows the working trees of the control plane.
        let main = branches.get(usize::from(home.is_some()));
        let changes = main.map(|main| main.branch.joint_changes(&all)).unwrap_or_default();
        branches.retain(|part| !part.edits.is_empty());
        Ok(Ok(Self { request, branches, changes }))
    }

    /// Writes the edits. With a message, they are committed. All branches are checked before the first one is written.
    ///
    /// # Errors
    /// If a branch can't be written, or if git refuses.
    pub fn write(&self, message: Option<&str>) -> Result<Vec<EditResult>, Failure> {
        self.branches.iter().try_for_each(|part| part.branch.check_writable())?;
        self.branches.iter().try_for_each(|part| part.branch.write(&part.edits))?;
        let commit = |part: &RenamedBranch| match message {
            Some(message) => Ok(EditResult::Committed(part.branch.commit(&part.edits, message)?)),
            None => Ok(EditResult::Written),
        };
        self.branches.iter().map(commit).collect()
    }

    /// Proposes the edits of each branch. `plans` are those of the environments, as text.
    ///
    /// # Errors
    /// As in [`propose`](crate::branch::propose).
    pub fn propose(&self, title: &str, plans: &[String], hosts: Option<&GitHosts>) -> Result<Vec<EditResult>, Failure> {
        let propose = |part: &RenamedBranch| {
            let (old, new) = self.request.names;
            let environment = part.branch.environment().map(|name| format!("{name}-")).unwrap_or_default();
            let word = if self.request.what == Renamed::Workload { "workload" } else { "target" };
            let branch = format!("rename/{environment}{word}-{old}-to-{new}");
            let body = |characters_max: usize| excerpt::first(&self.body(part, title, plans), characters_max);
            let text = NewProposal { edits: &part.edits, branch: &branch, title, body: &body };
            Ok(EditResult::Proposed(part.branch.propose(text, hosts)?))
        };
        self.branches.iter().map(propose).collect()
    }

    fn body(&self, part: &RenamedBranch, title: &str, plans: &[String]) -> String {
        let mut text = format!("{title} in {}.\n\nFiles:\n", part.branch.description());
        for path in part.edits.paths().take(LISTED_MAX) {
            let _ = writeln!(text, "- {}", markdown::code(path));
        }
        if self.branches.len() > 1 {
            text.push_str("\nMerge together with the same rename in:\n");
            for other in self.branches.iter().filter(|other| !std::ptr::eq(*other, part)) {
                let _ = writeln!(text, "- {}", other.branch.description());
            }
        }
        for plan in plans {
            let _ = write!(text, "\n{}", markdown::block(plan.trim_matches('\n')));
        }
        text
    }

    /// The kind of the renamed object, its present and its new name.
    pub fn renamed(&self) -> (Kind, (&str, &str)) {
        let kind = if self.request.what == Renamed::Workload { Kind::Workload } else { Kind::DeploymentTarget };
        (kind, self.request.names)
    }

    /// The rename in words: `Workload shop to store`, or `target eu of Workload shop to europe`.
    pub fn text(&self) -> String {
        let (old, new) = self.request.names;
        match self.request.what {
            Renamed::Workload => format!("Workload {old} to {new}"),
            Renamed::Target => format!("target {old} of Workload {} to {new}", self.request.workload),
        }
    }

    /// The objects that named it. Renamed objects themselves are not among them.
    pub fn referring(&self) -> Vec<&PlacedObject> {
        let mut found: Vec<_> = self.branches.iter().flat_map(|part| &part.renaming.referring).collect();
        found.sort_by(|one, other| (one.kind, &one.name).cmp(&(other.kind, &other.name)));
        found.dedup_by(|one, other| (one.kind, &one.name) == (other.kind, &other.name));
        found
    }
}

/// Checks a new name of a workload or a target.
///
/// # Errors
/// If it can't be the value of a label, or if it is the present name.
pub fn check_new_name((old, new): (&str, &str)) -> Result<(), Failure> {
    label::check_value(new)
        .map_err(|reason| Failure::usage(format!("`{new}` can't be the value of a label: {reason}")))?;
    if old == new { Err(Failure::usage(format!("`{new}` is the present name"))) } else { Ok(()) }
}

impl RenameRequest<'_> {
    fn open(&self, of: BranchOf<'_>, folder: Option<&Path>) -> Result<Opened, Error> {
        let Self { access, note, .. } = self;
        let at_head = || ControlPlaneBranch::open(access, of, EditPlace::Head);
        if self.is_proposed {
            return Ok((at_head()?, None));
        }
        match ControlPlaneBranch::open(access, of, EditPlace::WorkingTree(folder)) {
            Ok(branch) => {
                branch.topic_note().iter().for_each(|text| note(text));
                Ok((branch, None))
            }
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
        if self.what == Renamed::Workload {
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
        let help = "`kalypso get workloads -e ENV` lists the workloads of an environment";
        failure.did_you_mean(self.workload, known, help)
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
    fn branches(
        &self,
        main: Opened,
        environments: &[Loaded],
        home: Option<&RepositoryPlace>,
    ) -> Result<Vec<Opened>, Error> {
        let mut found = Vec::new();
        if let Some(place) = home {
            let branch = (destination_url(Some(self.access), &place.repo)?, place.branch.to_string());
            let of = BranchOf::Application(&branch, &place.path);
            let (branch, closed) = self.open(of, self.checkout)?;
            let closed = closed.map(|_| self.no_checkout(&branch).into());
            found.push((branch, closed));
        }
        found.push(main);
        for loaded in environments {
            let of = BranchOf::Environment(&loaded.fleet.environment);
            let opened = self.open(of, self.working_tree)?;
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
            let files = branch.objects(branch.files());
            if files.find(Kind::Workload, self.workload).is_some() || position + 1 == branches.len() {
                names = Some(match self.what {
                    Renamed::Workload => renames::names_of_workload(&files, self.names)?,
                    Renamed::Target => vec![renames::name_of_target(self.workload, self.names)],
                });
                at = Some(position);
                break;
            }
        }
        let names = names.unwrap_or_default();
        let of = |(position, (branch, _)): (usize, &Opened)| {
            let files = branch.objects(branch.files());
            match self.what {
                _ if at != Some(position) => renames::follow(&files, &names),
                Renamed::Workload => renames::rename_workload(&files, self.names),
                Renamed::Target => renames::rename_target(&files, self.workload, self.names),
            }
        };
        branches.iter().enumerate().map(of).collect()
    }
}
