//! A new environment with a copy of another one's branch.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use authoring::branch_files::EditRefusal;
use authoring::file_edits::FileEdits;
use authoring::scaffold::copied_source::SourcePlace;
use authoring::scaffold::environment::{NewEnvironment, readme};
use authoring::scaffold::environment_copy::{BranchCopy, EnvironmentCopy, EnvironmentDeclarations};
use delivery::access::{RepositoryAccess, destination_url};
use delivery::sources::loaded::Loaded;
use delivery::sources::pinned_repositories::PinnedRepositories;
use engine::compile::Compiled;
use git::load::Snapshot;
use git::{Commit, Revision};
use model::diagnostic::Diagnostic;
use model::name::EnvironmentName;
use model::object::environment::RepositoryPlace;

use crate::branch::{BranchOf, ControlPlaneBranch, EditPlace, diagnostics, git_edits, plain_folder};
use crate::edited_repositories::{EditedRepositories, Next};
use crate::platform::branch_copy::{self, NewCopy};
use crate::source::unknown_environment;
use crate::{Error, Failure};

/// A new environment after another one.
pub struct EnvironmentAddition {
    /// The access to the repositories.
    pub access: Arc<RepositoryAccess>,
    /// The new environment.
    pub to: EnvironmentName,
    /// The environment whose branch is copied.
    pub from: EnvironmentName,
    /// The main branch of the control plane.
    pub main: ControlPlaneBranch,
    /// The branch that is copied.
    pub source: ControlPlaneBranch,
    /// The place of the objects of `from`.
    place: RepositoryPlace,
    /// The heads of the main branch and of `from`'s branch.
    heads: [Commit; 2],
    /// Whether the working tree is of the repository that Kalypso reads, so that nothing has to be pushed.
    pub is_local: bool,
}

/// The edits of both branches.
pub struct AdditionEdits {
    /// Those of the main branch.
    pub main: FileEdits,
    /// Those of the copied branch.
    pub copy: BranchCopy,
}

/// What was written.
pub struct AdditionResult {
    /// The working tree of the new branch.
    pub working_tree: Option<PathBuf>,
    /// The abbreviated id of the commit of the main branch.
    pub commit: Option<String>,
}

impl EnvironmentAddition {
    /// The environment `to`, which is declared on an open main branch, after `from`.
    ///
    /// # Errors
    /// If there is such an environment already, if the other one does not exist or is in another repository, or if a branch can't be read.
    pub fn new(
        access: &Arc<RepositoryAccess>,
        (to, from): (EnvironmentName, EnvironmentName),
        main: ControlPlaneBranch,
    ) -> Result<Self, Error> {
        if main.environments().names.contains(&to) {
            return Err(Failure::refused(format!("there is an environment `{to}`")).into());
        }
        let source = ControlPlaneBranch::open(access, BranchOf::Environment(&from), EditPlace::Head)?;
        if source.url() != main.url() {
            let message = format!("the objects of `{from}` are in another repository: {}", source.url());
            return Err(Failure::refused(message)
                .help("make a branch there, and declare the environment by hand")
                .into());
        }
        let resolve = |branch: &ControlPlaneBranch| {
            let resolved = access.repositories.resolve(branch.url(), &Revision::branch(&branch.name()));
            resolved.map_err(|error| Failure::outside(error.to_string()))
        };
        let heads = [resolve(&main)?, resolve(&source)?];
        let declared = main.environments().places.get(&from).cloned();
        let known = || delivery::reading::in_promotion_order(main.environments(), access);
        let place = declared.ok_or_else(|| unknown_environment(from.as_str(), &known()))?;
        let is_local = branch_copy::is_local(main.root(), main.url(), &access.settings.git);
        Ok(Self { access: Arc::clone(access), to, from, main, source, place, heads, is_local })
    }

    /// The edits of both branches, or why a file can't be edited. `is_empty`: cluster types, clusters, policies and release pins are left out.
    ///
    /// # Errors
    /// If a file can't be read, or if the copy would write to the same place as the other environment.
    pub fn edits(&self, is_empty: bool) -> Result<Result<AdditionEdits, EditRefusal>, Failure> {
        let Self { to, from, place, .. } = self;
        let new = NewEnvironment { name: to, control_plane: &place.repo, gitops: "", path: &place.path };
        let main = match EnvironmentDeclarations(&self.main.declarations()?).with(new, from) {
            Ok(main) => main,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let copy = EnvironmentCopy { from, to, is_empty };
        let mut copy = match copy.branch(self.source.files(), &|place| self.exists(place)) {
            Ok(copy) => copy,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if let Some(name) = copy.shared_destinations.first() {
            let message = format!("GitOpsRepo `{name}` of {from} names neither branch nor path after its environment");
            let help = format!(
                "the copy would write to the same place: name its branch `{from}`, or put `{from}` into its path"
            );
            return Err(Failure::refused(message).help(help));
        }
        let description = readme(from);
        let is_ours = self.source.read(&description.path)?.is_some_and(|bytes| *bytes == *description.text.as_bytes());
        if is_ours {
            copy.edits.write(description.path, readme(to).text.into_bytes());
        }
        Ok(Ok(AdditionEdits { main, copy }))
    }

    /// Whether a place in another repository exists. The control plane will have the branch of the new environment, with the folders of the copied one.
    fn exists(&self, place: &SourcePlace<'_>) -> bool {
        let Ok(url) = destination_url(Some(&self.access), place.repo) else { return false };
        let is_control_plane = self.access.settings.git.is_same_repository(&url, self.main.url());
        let is_new = is_control_plane && place.branch == self.to.as_str();
        let branch = if is_new { self.source.name() } else { place.branch.into() };
        let repositories = &self.access.repositories;
        let Ok(commit) = repositories.resolve(&url, &Revision::branch(&branch)) else { return false };
        let folder = place.folder.map(plain_folder).filter(|folder| !folder.is_empty());
        folder.is_none_or(|folder| matches!(repositories.folder(&commit, &folder), Ok(Some(_))))
    }

    /// The new environment, although nothing is written yet.
    pub fn loaded(&self, edits: &AdditionEdits) -> Loaded {
        let access = &self.access;
        let [main, from] = &self.heads;
        let own = Commit { revision: Revision::branch(self.to.as_str()), ..from.clone() };
        let name = |commit: &Commit| (commit.url.as_str().to_owned(), commit.revision.name().to_string());
        let pins = BTreeMap::from([(name(main), main.id), (name(&own), own.id)]);
        let pinned = PinnedRepositories::new(&*access.repositories, pins);
        let next = [(main.clone(), &edits.main), (own, &edits.copy.edits)];
        let settings = Arc::new(access.settings.git.clone());
        let next = next.map(|(commit, files)| Next::of_branch(commit, git_edits(files), &settings));
        let edited = EditedRepositories::new(&pinned, next.into());
        let read = Snapshot::new(&edited, access.control_plane()).load(&self.to);
        Loaded::new(read, None, Some(access))
    }

    /// The environment that is copied.
    pub fn earlier(&self) -> Loaded {
        let read = Snapshot::new(&*self.access.repositories, self.access.control_plane()).load(&self.from);
        Loaded::new(read, None, Some(&self.access))
    }

    /// Makes the branch and its working tree, then writes the declaration. In this order, an interruption leaves a branch that nothing reads, and the
    /// next run uses it. With a message, the edits of the main branch are committed.
    ///
    /// # Errors
    /// If the main branch is not edited in a working tree, or if git refuses.
    pub fn carry_out(&self, edits: &AdditionEdits, message: Option<&str>) -> Result<AdditionResult, Failure> {
        let root = self.main.root().ok_or_else(|| Failure::refused("main is not edited in a working tree"))?;
        let copy = NewCopy {
            from: (&self.source.name(), self.heads[1].id),
            to: self.to.as_str(),
            message: &format!("The environment {}, from {}\n", self.to, self.from),
            edits: &edits.copy.edits,
            variables: &self.access.settings.git.withheld,
        };
        let working_tree = branch_copy::make(root, &copy)?;
        let main = git_edits(&edits.main);
        self.main.write(&main)?;
        let commit = message.map(|message| self.main.commit(&main, message)).transpose()?;
        Ok(AdditionResult { working_tree, commit: commit.map(|committed| committed.id.short()) })
    }

    /// The edited files of the main branch, for people.
    pub fn main_files(&self, edits: &AdditionEdits) -> Vec<String> {
        edits.main.iter().map(|(path, _)| self.main.shown(path)).collect()
    }
}

/// The errors of a new environment that the copied one does not have.
pub fn new_errors(before: (&Loaded, &Compiled), after: (&Loaded, &Compiled)) -> Vec<Diagnostic> {
    let before = diagnostics(before.0, before.1);
    let is_known = |error: &Diagnostic| {
        let mut known = before.iter().filter(|other| other.is_error());
        known.any(|other| (other.code, &other.object) == (error.code, &error.object))
    };
    let errors = diagnostics(after.0, after.1).into_iter().filter(Diagnostic::is_error);
    errors.filter(|error| !is_known(error)).collect()
}
