//! The branch with the states of an environment. Its head counts only if it contains the commits that counted before.
//!
//! Each publication names the commit of the states that it was rendered from. A branch that was deleted, or replaced by an older or another history, does not contain
//! it. Where keys are configured, the head must be signed by one of them: who signs a commit has verified the commit before it. `head` is the only way to the states, so
//! no program can decide by another branch.

use git::limits::{EARLIER_PUBLICATIONS_REACH, STATES_REACHES};
use git::load::Snapshot;
use git::publications::{Publications, PublishedCommit};
use git::{Commit, CommitInfo, Repositories, RepositoryError, Revision, trailer};
use model::diagnostic::{Code, Diagnostic};
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::environment::RepositoryPlace;

use crate::access::{RepositoryAccess, destination_url};
use crate::sources::heads::DestinationHeads;
use crate::sources::loaded::Loaded;
use crate::untrusted_states::{StatesDefect, UntrustedStates, branch_name};

/// The trailer of a commit with which a person restored the states. Its value is the restored commit, or `baseline`.
pub(crate) const RESTORED: &str = "Kalypso-Restored";
/// The trailer of such a commit that names a commit that is lost, and that it stands for.
pub(crate) const REPLACES: &str = "Kalypso-Replaces";

/// The reason why the head of the branch can't be used.
#[derive(Debug, thiserror::Error)]
pub enum StateBranchError {
    /// The branch can't be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// The branch lacks a commit that counted before, or its head is not signed.
    #[error(transparent)]
    Untrusted(#[from] UntrustedStates),
}

/// The head of the branch with the states of an environment, if it counts. None: there are no states.
///
/// The publications are read again only if another program moved the branch since the last read.
///
/// # Errors
/// If the branch can't be read, or lacks a commit that counted before.
pub(crate) fn head(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
) -> Result<Option<Commit>, StateBranchError> {
    let head = unchecked_head(access, environment)?;
    if !access.state_anchors.is_last(environment, head.as_ref().map(|head| head.id)) {
        read_publications(access, environment);
    }
    checked(access, environment, head)
}

/// The head of the branch, before it is known whether it counts.
pub(crate) fn unchecked_head(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
) -> Result<Option<Commit>, RepositoryError> {
    match access.repositories.resolve(&access.settings.repo, &Revision::branch(&branch_name(environment))) {
        Err(RepositoryError::NoRevision { .. } | RepositoryError::Empty { .. }) => Ok(None),
        head => head.map(Some),
    }
}

/// Whether a head that was read before the heads of the GitOps branches counts. False: another program moved the branch meanwhile, and the caller reads again.
///
/// # Errors
/// If the branch can't be read, or lacks a commit that counted before.
pub(crate) fn counts(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
    (head, destinations): (Option<&Commit>, &[DestinationHeads]),
) -> Result<bool, StateBranchError> {
    for destination in destinations {
        let Ok(heads) = &destination.heads else { continue };
        note_publication(access, environment, (&destination.place, &heads.base));
    }
    Ok(checked(access, environment, head.cloned())?.as_ref() == head)
}

/// What `check` and `plan` report about the branch with the states of an environment that was read from git. Without promotions, there is none.
pub fn diagnostics(loaded: &Loaded) -> Vec<Diagnostic> {
    let declarations = &loaded.declarations;
    if declarations.promotions.is_empty() {
        return Vec::new();
    }
    match check(loaded) {
        Err(StateBranchError::Untrusted(untrusted)) => {
            vec![Diagnostic::error(Code::UntrustedStates, untrusted.to_string())]
        }
        // What can't be read is reported where the states are needed.
        _ => Vec::new(),
    }
}

/// Checks that the states of an environment that was read from git count.
///
/// # Errors
/// If the branch can't be read, or lacks a commit that counted before.
pub(crate) fn check(loaded: &Loaded) -> Result<(), StateBranchError> {
    let Some(access) = loaded.access.as_deref() else { return Ok(()) };
    let environment = &loaded.fleet.environment;
    let head = unchecked_head(access, environment)?;
    let repos = loaded.fleet.gitops_repos.values();
    publications_at(access, environment, repos.map(|object| &object.spec.place));
    checked(access, environment, head).map(drop)
}

/// Returns the head if it contains all anchors. The branch may have moved since it was read, so it is read again before it is called rewritten.
fn checked(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
    head: Option<Commit>,
) -> Result<Option<Commit>, StateBranchError> {
    let Err(first) = verify(access, environment, head.as_ref())? else { return Ok(head) };
    let now = unchecked_head(access, environment)?;
    if now == head {
        return Err(first.into());
    }
    verify(access, environment, now.as_ref())??;
    Ok(now)
}

/// Whether a head contains all anchors. If it does, it is an anchor itself from now on.
fn verify(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
    head: Option<&Commit>,
) -> Result<Result<(), UntrustedStates>, RepositoryError> {
    let id = head.map(|head| head.id);
    if let Some(head) = head
        && !is_signed(access, environment, &access.repositories.info(head)?)
    {
        let defect = StatesDefect::Unsigned { signed: newest_signed(access, environment, head)? };
        return Ok(Err(UntrustedStates { environment: environment.clone(), head: id, defect }));
    }
    let anchors = access.state_anchors.unverified(environment, id);
    for (missing, is_published) in &anchors {
        let is_met = head.map_or(Ok(false), |head| contains(&*access.repositories, head, *missing))?;
        if !is_met {
            let defect = StatesDefect::Lacks { commit: *missing, is_published: *is_published };
            return Ok(Err(UntrustedStates { environment: environment.clone(), head: id, defect }));
        }
    }
    access.state_anchors.verify(environment, id, anchors.into_iter().map(|(commit, _)| commit));
    Ok(Ok(()))
}

/// Whether a commit is signed for an environment by a key that counts. Without keys, every commit is.
fn is_signed(access: &RepositoryAccess, environment: &EnvironmentName, info: &CommitInfo) -> bool {
    let keys = &access.settings.state_keys.trusted;
    let is_own = || trailer::trailers(&info.message, trailer::ENVIRONMENT).contains(&environment.as_str());
    keys.is_empty() || (info.signature.as_ref().is_some_and(|signature| signature.is_by_one_of(keys)) && is_own())
}

/// The newest signed commit before a head.
fn newest_signed(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
    head: &Commit,
) -> Result<Option<GitId>, RepositoryError> {
    let ancestry = access.repositories.ancestry(head, STATES_REACHES[0])?;
    Ok(ancestry.into_iter().find(|(_, info)| is_signed(access, environment, info)).map(|(id, _)| id))
}

/// Whether a head contains a commit, or a person decided to go on without it.
fn contains(repositories: &dyn Repositories, head: &Commit, anchor: GitId) -> Result<bool, RepositoryError> {
    for reach in STATES_REACHES {
        if repositories.is_ancestor(anchor, head, reach)? {
            return Ok(true);
        }
    }
    is_replaced(repositories, head, anchor)
}

/// Whether the history of a head has the decision of a person to restore the states without a commit: one that names it, or that was taken after it.
fn is_replaced(repositories: &dyn Repositories, head: &Commit, anchor: GitId) -> Result<bool, RepositoryError> {
    let (named, mut at) = (anchor.to_string(), None);
    for reach in STATES_REACHES {
        let ancestry = repositories.ancestry(head, reach)?;
        let is_whole = ancestry.len() < reach;
        for (id, info) in ancestry {
            if trailer::trailers(&info.message, RESTORED).is_empty() {
                continue;
            }
            if trailer::trailers(&info.message, REPLACES).contains(&named.as_str()) {
                return Ok(true);
            }
            let at = at.get_or_insert_with(|| find(repositories, head, anchor).ok());
            if let Some(at) = at
                && !is_known_at(repositories, id, at)?
            {
                return Ok(true);
            }
        }
        if is_whole {
            break;
        }
    }
    Ok(false)
}

/// Whether a decision was taken before a commit. If the history of the commit is lost, it was not, as far as is known.
fn is_known_at(repositories: &dyn Repositories, decision: GitId, at: &Commit) -> Result<bool, RepositoryError> {
    for reach in STATES_REACHES {
        match repositories.is_ancestor(decision, at, reach) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(RepositoryError::Damaged { .. }) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// A commit of the repository of another one, by its id.
fn find(repositories: &dyn Repositories, of: &Commit, id: GitId) -> Result<Commit, RepositoryError> {
    repositories.resolve(&of.url, &Revision::Commit { id, branch: None })
}

/// Reads the newest publications of an environment, and notes the commits that they name. What can't be read adds nothing: nothing can be published there either.
pub(crate) fn read_publications(access: &RepositoryAccess, environment: &EnvironmentName) -> Vec<PublishedCommit> {
    publications_at(access, environment, destinations(access, environment).iter())
}

/// Reads the earlier publications of an environment on each of its GitOps branches, the newest of a branch first. What can't be read adds nothing.
pub(crate) fn all_publications(access: &RepositoryAccess, environment: &EnvironmentName) -> Vec<PublishedCommit> {
    let read = |place: &RepositoryPlace| {
        let head = destination_head(access, place)?;
        let reach = EARLIER_PUBLICATIONS_REACH;
        Some(Publications::read_back(&*access.repositories, (&head, reach), environment).ok()?.publications)
    };
    destinations(access, environment).iter().filter_map(read).flatten().collect()
}

/// The GitOps branches of an environment.
fn destinations(access: &RepositoryAccess, environment: &EnvironmentName) -> Vec<RepositoryPlace> {
    access.state_anchors.destinations(environment).unwrap_or_else(|| {
        let platform = Snapshot::new(&*access.repositories, access.control_plane()).platform(environment);
        platform.gitops_repos().map(|object| object.spec.place.clone()).collect()
    })
}

/// Reads the newest publications on these branches.
fn publications_at<'p>(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
    places: impl Iterator<Item = &'p RepositoryPlace>,
) -> Vec<PublishedCommit> {
    let read = |place| note_publication(access, environment, (place, &destination_head(access, place)?));
    places.filter_map(read).collect()
}

/// The head of a GitOps branch, or its last known one if the repository can't be reached.
fn destination_head(access: &RepositoryAccess, place: &RepositoryPlace) -> Option<Commit> {
    let url = destination_url(Some(access), &place.repo).ok()?;
    let revision = Revision::branch(&place.branch);
    access.repositories.resolve(&url, &revision).ok().or_else(|| access.repositories.cached(&url, &revision))
}

/// Reads the newest publication on a branch, and notes the commit of the states that it names. None: there is none, or it can't be read.
fn note_publication(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
    (place, head): (&RepositoryPlace, &Commit),
) -> Option<PublishedCommit> {
    let newest = PublishedCommit::newest(&*access.repositories, head, environment).ok()?;
    let states = newest.as_ref().and_then(|publication| publication.states);
    access.state_anchors.note(environment, place, states);
    newest
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use git::{MemoryRepositories, NewCommit, Person, RepositoryUrl};
    use model::progress::Progress;
    use model::rollout::EnvironmentOrder;
    use model::tree::{Tree, closed};
    use tempfile::TempDir;

    use super::*;
    use crate::access::{ControlPlaneSettings, StateKeys};

    struct World {
        access: RepositoryAccess,
        repositories: Arc<MemoryRepositories>,
        environment: EnvironmentName,
        _cache: TempDir,
    }

    impl World {
        fn new() -> Self {
            let cache = TempDir::new().unwrap();
            let settings = ControlPlaneSettings {
                repo: RepositoryUrl::from_object("https://git.example/control-plane").unwrap(),
                branch: "main".to_owned(),
                git: git::Settings::new(cache.path().join("cache")),
                acknowledgements: Arc::default(),
                state_keys: StateKeys::default(),
                environment_order: EnvironmentOrder::default(),
            };
            let repositories = Arc::<MemoryRepositories>::default();
            let shared = Arc::clone(&repositories);
            let access = RepositoryAccess::with(settings, shared, Progress::default());
            Self { access, repositories, environment: EnvironmentName::new("prod").unwrap(), _cache: cache }
        }

        /// Stores a commit after the head of the branch.
        fn store(&self, message: &str) -> Commit {
            let (url, branch) = (&self.access.settings.repo, branch_name(&self.environment));
            let parents: Vec<_> = self.repositories.head(url, &branch).into_iter().collect();
            let author = &Person { name: "Ann".to_owned(), email: "ann@example.com".to_owned() };
            let tree = &Tree::default();
            let commit =
                NewCommit { parents: &parents, tree, open: &closed, message, author, seconds: 1_000, signer: None };
            self.repositories.commit(url, &branch, &commit).unwrap();
            unchecked_head(&self.access, &self.environment).unwrap().unwrap()
        }

        fn force(&self, commit: Option<&Commit>) {
            let branch = branch_name(&self.environment);
            self.repositories.force(&self.access.settings.repo, &branch, commit.map(|commit| commit.id));
        }

        fn publish(&self, states: &Commit) {
            let place = RepositoryPlace { repo: "gitops".into(), branch: "prod".into(), path: ".".into() };
            self.access.state_anchors.note(&self.environment, &place, Some(states.id));
        }

        fn counts(&self, head: Option<&Commit>) -> Result<bool, String> {
            counts(&self.access, &self.environment, (head, &[])).map_err(|error| error.to_string())
        }
    }

    #[test]
    fn a_branch_that_moves_while_it_is_read_is_read_again() {
        let world = World::new();
        let (one, two) = (world.store("one"), world.store("two"));
        world.publish(&two);
        assert_eq!(world.counts(Some(&one)), Ok(false));
        assert_eq!(world.counts(Some(&two)), Ok(true));
        assert_eq!(world.counts(None), Ok(false));
    }

    #[test]
    fn a_head_without_a_published_commit_does_not_count() {
        let world = World::new();
        let (one, two) = (world.store("one"), world.store("two"));
        assert_eq!(world.counts(Some(&two)), Ok(true));
        world.force(Some(&one));
        let rewritten = world.counts(Some(&one)).unwrap_err();
        assert!(rewritten.contains("was its head before") && rewritten.contains(&format!("--to {}", two.id)));
        world.publish(&two);
        world.force(None);
        assert!(world.counts(None).unwrap_err().contains("does not exist any more"));
    }

    #[test]
    fn later_accesses_of_the_process_know_the_head_read_before() {
        let mut world = World::new();
        let (one, two) = (world.store("one"), world.store("two"));
        assert_eq!(world.counts(Some(&two)), Ok(true));
        let (settings, shared) = (world.access.settings.clone(), Arc::clone(&world.repositories));
        let later = RepositoryAccess::with(settings, shared, Progress::default());
        world.access = later.with_state_anchors(&world.access.state_anchors);
        world.force(Some(&one));
        assert!(world.counts(Some(&one)).unwrap_err().contains("was its head before"));
    }

    #[test]
    fn states_stored_by_this_process_count() {
        let world = World::new();
        let one = world.store("one");
        assert_eq!(world.counts(Some(&one)), Ok(true));
        let two = world.store("two");
        world.access.state_anchors.advance(&world.environment, Some(one.id), two.id);
        assert!(world.access.state_anchors.is_last(&world.environment, Some(two.id)));
    }

    #[test]
    fn only_a_newer_decision_of_a_person_replaces_a_commit() {
        let world = World::new();
        let restored = world.store(&format!("old\n\n{RESTORED}: baseline\n"));
        let lost = world.store("lost");
        world.publish(&lost);
        // The decision is older than the commit.
        world.force(Some(&restored));
        world.counts(Some(&restored)).unwrap_err();
        let newer = world.store(&format!("new\n\n{RESTORED}: {}\n", restored.id));
        assert_eq!(world.counts(Some(&newer)), Ok(true));
    }

    #[test]
    fn a_decision_replaces_the_lost_commits_that_it_names() {
        let world = World::new();
        let lost = world.store("lost");
        world.publish(&lost);
        world.force(None);
        world.repositories.lose(&world.access.settings.repo, lost.id);
        let other = world.store(&format!("x\n\n{RESTORED}: baseline\n"));
        world.counts(Some(&other)).unwrap_err();
        let named = world.store(&format!("x\n\n{RESTORED}: baseline\n{REPLACES}: {}\n", lost.id));
        assert_eq!(world.counts(Some(&named)), Ok(true));
    }
}
