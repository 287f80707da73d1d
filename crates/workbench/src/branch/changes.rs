//! The environments that edits of a branch change, before and after.

use std::collections::BTreeMap;
use std::sync::Arc;

use delivery::access::{RepositoryAccess, destination_url};
use delivery::reading::in_promotion_order;
use delivery::sources::loaded::Loaded;
use delivery::sources::pinned_repositories::PinnedRepositories;
use git::load::{ControlPlane, DeclaredEnvironments, ReadRole, Snapshot};
use git::{Edits, Repositories, RepositoryUrl};
use model::git_id::GitId;
use model::name::EnvironmentName;

use super::ControlPlaneBranch;
use crate::change::{EditedStates, EnvironmentChange};
use crate::edited_repositories::{EditedRepositories, Next};
use crate::working_trees::WorkingBranch;

/// What edits do to the environments, in the order of promotion.
#[derive(Default)]
pub struct Changes {
    /// The environments that read the branch, before and after the edits. One of the two states may be incomplete: see [`Loaded::is_complete`].
    pub changed: Vec<EnvironmentChange>,
    /// Environments that exist only after the edits.
    pub added: Vec<Arc<Loaded>>,
    /// Environments that exist only before the edits.
    pub removed: Vec<EnvironmentName>,
    /// Environments that the edits do not change, because they use a fixed commit of the branch.
    pub pinned: Vec<(EnvironmentName, GitId)>,
}

/// What edits of a branch do to an environment.
enum Effect {
    Nothing,
    Changed(Box<EnvironmentChange>),
    /// It uses a fixed commit of the branch.
    Pinned(GitId),
}

impl ControlPlaneBranch {
    /// The environments before and after edits, on top of the uncommitted changes of all working trees. Applications have the same commits both times.
    pub fn changes(&self, edits: &Edits) -> Changes {
        let states = self.states(&[(self, edits)]);
        let (before, after) = (states.environments(&states.before), states.environments(&states.after));
        let mut changes = Changes::default();
        let removed = in_promotion_order(&before, &self.access).into_iter().filter(|name| !after.names.contains(name));
        for name in &in_promotion_order(&after, &self.access).into_iter().chain(removed).collect::<Vec<_>>() {
            match (before.places.get(name), after.places.get(name)) {
                (Some(_), None) => changes.removed.push(name.clone()),
                (None, _) => changes.added.push(Arc::new(states.load(&states.after, name))),
                (Some(old), Some(new)) if old == new && !self.may_read(name) => {}
                (Some(_), Some(_)) => match self.compare(&states, edits, name) {
                    Effect::Changed(change) => changes.changed.push(*change),
                    Effect::Pinned(commit) => changes.pinned.push((name.clone(), commit)),
                    Effect::Nothing => {}
                },
            }
        }
        changes
    }

    /// The environments before and after edits of several branches in one step. Environments that read none of the edits are left out.
    pub fn joint_changes(&self, branches: &[(&Self, &Edits)]) -> Vec<EnvironmentChange> {
        let states = self.states(branches);
        let environments = states.environments(&states.before);
        let edits = branches.iter().flat_map(|(_, edits)| edits.iter());
        let all: Edits = edits.map(|(path, edit)| (Arc::clone(path), edit.clone())).collect();
        let commits = |loaded: &Loaded| loaded.reads.iter().map(|read| read.commit).collect::<Vec<_>>();
        let mut changed = Vec::new();
        for name in in_promotion_order(&environments, &self.access) {
            let old = Arc::new(states.load(&states.before, &name));
            let new = Arc::new(states.load(&states.after_with(&old), &name));
            if commits(&old) == commits(&new) {
                continue;
            }
            let own = old.reads.iter().find(|read| read.role == ReadRole::Environment);
            let from =
                own.map_or_else(|| name.to_string(), |read| format!("{}@{}", read.revision, read.commit.short()));
            let states = EditedStates { old, new, branch: name.as_str(), from };
            changed.push(EnvironmentChange::of_edits(states, &all));
        }
        changed
    }

    /// All environments, in the order of promotion, with the uncommitted changes of all working trees.
    pub fn all_environments(&self) -> Vec<Loaded> {
        let states = self.states(&[]);
        let names = in_promotion_order(&states.environments(&states.before), &self.access);
        names.iter().map(|name| states.load(&states.before, name)).collect()
    }

    /// The environment of the branch, with the uncommitted changes of all working trees. None for the main branch.
    pub fn current(&self) -> Option<Loaded> {
        let states = self.states(&[]);
        self.environment.as_ref().map(|name| states.load(&states.before, name))
    }

    /// Whether an environment may read this branch: its own branch, or the main branch.
    fn may_read(&self, name: &EnvironmentName) -> bool {
        let Some(own) = &self.environment else { return true };
        let is_here = |place: &model::object::environment::RepositoryPlace| {
            *place.branch == *self.name()
                && destination_url(Some(&self.access), &place.repo).is_ok_and(|url| self.is_same_repository(&url))
        };
        own == name || self.environments.places.get(name).is_some_and(is_here)
    }

    fn is_same_repository(&self, url: &RepositoryUrl) -> bool {
        self.access.settings.git.is_same_repository(url, &self.head.url)
    }

    fn compare(&self, states: &States<'_>, edits: &Edits, name: &EnvironmentName) -> Effect {
        let old = Arc::new(states.load(&states.before, name));
        let reads_branch = |role: &ReadRole| *role != ReadRole::Main;
        let of_branch = old.reads.iter().filter(|read| reads_branch(&read.role) && self.is_same_repository(&read.url));
        let is_followed = of_branch.clone().any(|read| !read.is_pinned && *read.revision == *self.name());
        let declares = edits.paths().any(|path| path.starts_with(git::ENVIRONMENTS));
        if old.is_complete && !is_followed && !(self.environment.is_none() && declares) {
            let pinned = of_branch.filter(|read| read.is_pinned && matches!(read.role, ReadRole::Base(_)));
            return pinned.map(|read| Effect::Pinned(read.commit)).next().unwrap_or(Effect::Nothing);
        }
        let new = Arc::new(states.load(&states.after_with(&old), name));
        let from = format!("{}@{}", self.name(), self.head.id.short());
        let uncommitted = if self.uncommitted().is_empty() { "" } else { " with uncommitted changes" };
        let states = EditedStates { old, new, branch: &self.name(), from: format!("{from}{uncommitted}") };
        Effect::Changed(Box::new(EnvironmentChange::of_edits(states, edits)))
    }

    /// The states before and after edits of these branches.
    fn states(&self, branches: &[(&Self, &Edits)]) -> States<'_> {
        let uncommitted = |branch: &WorkingBranch| (branch.head.clone(), branch.state.edits.clone());
        let mut before: Vec<_> = self.trees.branches().iter().map(uncommitted).collect();
        // The working tree of an application is known to its own branch only.
        let of_others = branches.iter().filter_map(|(branch, _)| branch.working()).map(uncommitted);
        let of_others: Vec<_> = of_others.filter(|(head, _)| before.iter().all(|(known, _)| known != head)).collect();
        before.extend(of_others);
        // A branch may have been opened twice, by two URLs of its repository.
        let is_other = |head: &git::Commit| {
            branches.iter().all(|(branch, _)| {
                let is_branch = head.revision == branch.head.revision && branch.is_same_repository(&head.url);
                head.url == branch.head.url || !is_branch
            })
        };
        let mut after: Vec<_> = before.iter().filter(|(head, _)| is_other(head)).cloned().collect();
        for (branch, edits) in branches {
            match after.iter_mut().find(|(head, _)| *head == branch.head) {
                Some((_, uncommitted)) => *uncommitted = uncommitted.followed_by(edits),
                None => after.push((branch.head.clone(), (*edits).clone())),
            }
        }
        let heads = before.iter().chain(&after).map(|(head, _)| head);
        let heads = heads.map(|head| ((head.url.as_str().to_owned(), head.revision.name().to_string()), head.id));
        States {
            access: &self.access,
            settings: self.trees.settings(),
            heads: heads.collect(),
            before: State { edits: before, applications: BTreeMap::new() },
            after: State { edits: after, applications: BTreeMap::new() },
        }
    }
}

/// The names of branches with their commits.
type Pins = BTreeMap<(String, String), GitId>;

/// The two states of the control plane.
struct States<'a> {
    access: &'a Arc<RepositoryAccess>,
    settings: &'a Arc<git::Settings>,
    /// The heads of the edited branches. They stay the same for both states.
    heads: Pins,
    before: State,
    after: State,
}

/// A state of the control plane.
#[derive(Clone)]
struct State {
    edits: Vec<(git::Commit, Edits)>,
    /// The commits of applications, where they are known already.
    applications: Pins,
}

impl States<'_> {
    fn environments(&self, state: &State) -> DeclaredEnvironments {
        self.with(state, |repositories, control_plane| Snapshot::new(repositories, control_plane).environments())
    }

    fn load(&self, state: &State, name: &EnvironmentName) -> Loaded {
        self.with(state, |repositories, control_plane| {
            let read = Snapshot::new(repositories, control_plane).load(name);
            Loaded::new(read, None, Some(self.access))
        })
    }

    /// The later state, with the commits of applications that an environment was read from before.
    fn after_with(&self, old: &Loaded) -> State {
        let is_of_application =
            |read: &&git::load::Read| matches!(read.role, ReadRole::Application(_)) && !read.is_pinned;
        let applications = old.reads.iter().filter(is_of_application);
        let pin = |read: &git::load::Read| ((read.url.as_str().to_owned(), read.revision.to_string()), read.commit);
        State { applications: applications.map(pin).collect(), ..self.after.clone() }
    }

    fn with<T>(&self, state: &State, work: impl FnOnce(&dyn Repositories, ControlPlane<'_>) -> T) -> T {
        let pins = state.applications.iter().chain(&self.heads).map(|(name, id)| (name.clone(), *id)).collect();
        let pinned = PinnedRepositories::new(&*self.access.repositories, pins);
        let edited = state.edits.iter().filter(|(_, edits)| !edits.is_empty());
        let next = edited.map(|(head, edits)| Next::of_branch(head.clone(), edits.clone(), self.settings));
        let repositories = EditedRepositories::new(&pinned, next.collect());
        work(&repositories, self.access.control_plane())
    }
}
