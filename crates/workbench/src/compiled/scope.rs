//! What the caller of a question may see of an environment.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use engine::compile::Prepared;
use engine::schedule::target::Target;
use git::load::{Read, ReadRole};
use hub_api::compiled::{AssignmentName, CompiledAnswer, CompiledRefusal, CompiledScope};
use hub_api::syncs::SyncSource;
use model::diagnostic::AssignmentId;
use model::fleet::Fleet;
use model::name::{DeploymentTargetName, PlaceName};
use model::similar;

use super::CompiledState;

/// An environment as the caller of a question may see it.
#[derive(Clone, Copy)]
pub struct VisibleState<'a> {
    pub(super) state: &'a CompiledState,
    pub(super) scope: CompiledScope<'a>,
}

/// An environment with the targets that a caller may see.
pub(super) enum OwnPrepared<'a> {
    /// It may see all of them.
    All(&'a Prepared),
    /// Only some of them.
    Own(Box<Prepared>),
}

impl Deref for OwnPrepared<'_> {
    type Target = Prepared;

    fn deref(&self) -> &Prepared {
        match self {
            Self::All(prepared) => prepared,
            Self::Own(prepared) => prepared,
        }
    }
}

impl CompiledState {
    /// The environment as a caller may see it.
    pub fn visible_in<'a>(&'a self, scope: CompiledScope<'a>) -> VisibleState<'a> {
        VisibleState { state: self, scope }
    }
}

impl VisibleState<'_> {
    /// Whether the caller may see all workspaces.
    pub(super) fn is_everything(&self) -> bool {
        self.scope.reach.workspaces.is_empty()
    }

    /// Whether the caller may see a target.
    pub(super) fn has(&self, target: &Target) -> bool {
        self.scope.reach.has_workspace(target.workspace())
    }

    /// Whether the caller may see an assignment.
    pub(super) fn has_assignment(&self, id: &AssignmentId) -> bool {
        let target = || self.state.compiled.get(id)?.target();
        self.is_everything() || target().is_some_and(|target| self.has(target))
    }

    /// The assignment with a name, if the caller may see it.
    ///
    /// # Errors
    /// If there is none, or the caller may not see it: both are the same.
    pub(super) fn assignment(&self, name: &AssignmentName) -> Result<AssignmentId, CompiledRefusal> {
        let unknown = || self.unknown("assignment", &name.to_string(), self.hint_for(name));
        let place = PlaceName::new(name.place.as_str()).map_err(|_| unknown())?;
        let target = DeploymentTargetName::new(name.target.as_str()).map_err(|_| unknown())?;
        let id = AssignmentId { place, target };
        let assignment = self.state.compiled.get(&id).ok_or_else(unknown)?;
        if assignment.target().is_some_and(|target| self.has(target)) { Ok(id) } else { Err(unknown()) }
    }

    /// Whether the caller may see what an assignment was in an earlier state of the environment: its target may have belonged to another workspace. If the
    /// earlier state is not known, only a caller without a limit to workspaces may see it.
    pub(super) fn has_at(&self, id: &AssignmentId, earlier: Option<&Prepared>) -> bool {
        let targets = earlier.into_iter().flat_map(|earlier| earlier.targets().iter());
        let mut own = targets.filter(|target| target.name == id.target);
        self.is_everything() || (earlier.is_some() && own.all(|target| self.has(target)))
    }

    /// The refusal for what can't be read.
    pub(super) fn unreadable(&self, error: &dyn std::fmt::Display) -> CompiledRefusal {
        let reason = model::credential::without(&error.to_string()).into_owned();
        CompiledRefusal::Unreadable { environment: self.scope.environment.to_owned(), reason }
    }

    /// Checks that the caller may see a target.
    ///
    /// # Errors
    /// If not, or if there is none: both are the same.
    pub(super) fn check_target(&self, target: &str) -> Result<(), CompiledRefusal> {
        let visible = || self.state.prepared().targets().iter().filter(|known| self.has(known));
        if visible().any(|known| known.name.as_str() == target) {
            return Ok(());
        }
        let similar = similar::nearest(target, visible().map(|known| known.name.as_str()));
        Err(self.unknown("deployment target", target, similar.map(|name| format!("did you mean `{name}`?"))))
    }

    /// Checks that the caller may see a workload of the environment.
    ///
    /// # Errors
    /// If not, or if there is none: both are the same.
    pub(super) fn check_workload(&self, workload: &str) -> Result<(), CompiledRefusal> {
        let known = self.workloads();
        if known.contains(workload) {
            return Ok(());
        }
        let similar = similar::nearest(workload, known.iter().copied());
        Err(self.unknown("workload", workload, similar.map(|name| format!("did you mean `{name}`?"))))
    }

    /// The workloads that the caller may see.
    fn workloads(&self) -> BTreeSet<&str> {
        let targets = self.state.prepared().targets().iter().filter(|target| self.has(target));
        targets.map(|target| target.workload()).collect()
    }

    /// The refusal of a cluster type or cluster that the environment does not have.
    pub(super) fn unknown_place(&self, place: &str) -> CompiledRefusal {
        let places = self.state.compiled.places();
        let similar = similar::nearest(place, places.iter().map(PlaceName::as_str));
        let hint = similar.map(|name| format!("did you mean `{name}`?"));
        self.unknown("cluster type or cluster", place, hint)
    }

    /// The environment with the targets that the caller may see only, so that nothing counts or names others.
    pub(super) fn own_prepared(&self) -> OwnPrepared<'_> {
        let prepared = self.state.prepared();
        if self.is_everything() {
            return OwnPrepared::All(prepared);
        }
        let fleet = prepared.fleet();
        let mut own = Fleet::clone(fleet);
        let workloads =
            fleet.workloads.iter().filter(|(_, workload)| self.scope.reach.has_workspace(&workload.workspace));
        own.workloads = Arc::new(workloads.map(|(name, workload)| (name.clone(), workload.clone())).collect());
        own.conflicting_claims = Arc::default();
        for target in prepared.targets().iter().filter(|target| !self.has(target)) {
            own.deployment_targets.remove(target.name.as_str());
        }
        OwnPrepared::Own(Box::new(Prepared::new(&Arc::new(own))))
    }

    /// What to do about an unknown assignment.
    fn hint_for(&self, AssignmentName { place, target }: &AssignmentName) -> Option<String> {
        let (prepared, compiled) = (self.state.prepared(), &self.state.compiled);
        if !compiled.has_place(place) {
            let places = compiled.places();
            let similar = similar::nearest(place, places.iter().map(PlaceName::as_str));
            return similar.map(|name| format!("did you mean the cluster type or cluster `{name}`?"));
        }
        let visible = || prepared.targets().iter().filter(|target| self.has(target));
        if !visible().any(|known| known.name.as_str() == target) {
            let similar = similar::nearest(target, visible().map(|target| target.name.as_str()));
            return similar.map(|name| format!("did you mean the deployment target `{name}`?"));
        }
        Some(format!(
            "GET /api/v1/environments/{}/why-not?place={place}&target={target} says why it does not exist",
            self.scope.environment
        ))
    }

    /// The refusal of a name that the caller does not see.
    pub(super) fn unknown(&self, what: &'static str, name: &str, hint: Option<String>) -> CompiledRefusal {
        let environment = self.scope.environment.to_owned();
        CompiledRefusal::Unknown { environment, what, name: name.to_owned(), hint }
    }

    /// Checks that all objects of the platform were read. Without that, an assignment may be missing, or have other values.
    ///
    /// # Errors
    /// If not, with the first reason.
    pub(super) fn check_complete(&self) -> Result<(), CompiledRefusal> {
        let loaded = &self.state.loaded;
        if loaded.is_complete {
            return Ok(());
        }
        let first = loaded.diagnostics.iter().find(|diagnostic| diagnostic.is_error());
        let reason = first.map_or_else(
            || "not all of its objects were read".to_owned(),
            |found| format!("[{}] {}", found.code, model::credential::without(&found.message)),
        );
        Err(CompiledRefusal::Unreadable { environment: self.scope.environment.to_owned(), reason })
    }

    /// An answer with the commits that it was computed from.
    pub(super) fn answer<T>(&self, answer: T, notes: Vec<String>) -> CompiledAnswer<T> {
        let loaded = &self.state.loaded;
        let visible = loaded.reads.iter().filter(|read| self.has_source(&loaded.fleet, read));
        let mut sources: Vec<_> = visible.map(source).collect();
        sources.sort_by(|one, other| (&one.repository, &one.revision).cmp(&(&other.repository, &other.revision)));
        sources.dedup();
        CompiledAnswer { environment: self.scope.environment.to_owned(), sources, notes, answer }
    }

    /// Whether the caller may see a source: those of the platform, and those of applications of the workspaces.
    fn has_source(&self, fleet: &Fleet, read: &Read) -> bool {
        let has = |workspace: Option<&str>| workspace.is_some_and(|name| self.scope.reach.has_workspace(name));
        match &read.role {
            _ if self.is_everything() => true,
            ReadRole::Main | ReadRole::Environment | ReadRole::Base(_) | ReadRole::Flux(_) => true,
            ReadRole::Application(registration) => {
                let object = fleet.registrations.get(registration.as_str());
                has(object.map(|object| &*object.spec.workspace))
            }
            ReadRole::Manifests(workload) => has(fleet.workloads.get(&**workload).map(|workload| &*workload.workspace)),
        }
    }
}

/// The refusal of a query that is not possible in this form.
pub(super) fn wrong(reason: &str, hint: &str) -> CompiledRefusal {
    CompiledRefusal::Wrong { reason: reason.to_owned(), hint: Some(hint.to_owned()) }
}

/// A commit of a source, as answers show it.
pub(super) fn source(read: &Read) -> SyncSource {
    SyncSource {
        repository: read.url.as_str().to_owned(),
        revision: read.revision.to_string(),
        commit: read.commit.to_string(),
    }
}
