//! A step that ends at any of its writes: nothing is lost, and nothing happens twice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use delivery::access::RepositoryAccess;
use engine::promotion::command::CommandKind;
use git::{
    Commit, CommitInfo, FileContent, FolderEntry, MemoryRepositories, Push, Pushed, Repositories, RepositoryError,
    RepositoryUrl, Revision,
};
use model::git_id::GitId;
use model::progress::Progress;
use model::tree::Tree;
use testkit::company::CONTROL_PLANE;
use testkit::company::memory::put_files;

use crate::controller::{DIRECT, World};

/// Repositories that lose the answer of one push, before or after it has its effect. All later pushes fail, as if the program had ended.
struct EndingRepositories {
    inner: Arc<MemoryRepositories>,
    pushes: AtomicUsize,
    last: usize,
    has_effect: bool,
}

impl Repositories for EndingRepositories {
    fn push(&self, url: &RepositoryUrl, push: &Push<'_>) -> Result<Pushed, RepositoryError> {
        let number = self.pushes.fetch_add(1, Ordering::Relaxed);
        if number < self.last {
            return self.inner.push(url, push);
        }
        if number == self.last && self.has_effect {
            self.inner.push(url, push)?;
        }
        Err(RepositoryError::Unreachable { url: url.clone(), reason: "the program ended".to_owned() })
    }

    fn resolve(&self, url: &RepositoryUrl, revision: &Revision) -> Result<Commit, RepositoryError> {
        self.inner.resolve(url, revision)
    }

    fn references(&self, url: &RepositoryUrl) -> Result<BTreeMap<String, GitId>, RepositoryError> {
        self.inner.references(url)
    }

    fn cached(&self, url: &RepositoryUrl, revision: &Revision) -> Option<Commit> {
        self.inner.cached(url, revision)
    }

    fn seen(&self, url: &RepositoryUrl, revision: &Revision) -> Vec<GitId> {
        self.inner.seen(url, revision)
    }

    fn folder(&self, commit: &Commit, path: &str) -> Result<Option<Vec<FolderEntry>>, RepositoryError> {
        self.inner.folder(commit, path)
    }

    fn content(&self, commit: &Commit, blob: GitId, limit: u64) -> Result<FileContent, RepositoryError> {
        self.inner.content(commit, blob, limit)
    }

    fn tree(&self, commit: &Commit) -> Result<Tree, RepositoryError> {
        self.inner.tree(commit)
    }

    fn subtree(&self, commit: &Commit, tree: GitId) -> Result<Tree, RepositoryError> {
        self.inner.subtree(commit, tree)
    }

    fn info(&self, commit: &Commit) -> Result<CommitInfo, RepositoryError> {
        self.inner.info(commit)
    }

    fn history(&self, commit: &Commit, reach: usize) -> Result<Vec<Commit>, RepositoryError> {
        self.inner.history(commit, reach)
    }

    fn ancestry(&self, commit: &Commit, reach: usize) -> Result<Vec<(GitId, CommitInfo)>, RepositoryError> {
        self.inner.ancestry(commit, reach)
    }

    fn is_ancestor(&self, ancestor: GitId, commit: &Commit, reach: usize) -> Result<bool, RepositoryError> {
        self.inner.is_ancestor(ancestor, commit, reach)
    }
}

/// Moves a commit into `stage`, in a program that ends at a push. Returns whether it reached this push.
fn check(last: usize, has_effect: bool) -> bool {
    let mut world = World::new(DIRECT, "");
    world.settle();
    let second = world.chain.company.change_value("second");
    (0..3).for_each(|_| drop(world.step("dev")));
    let inner = Arc::clone(&world.chain.company.repositories);
    let ending = Arc::new(EndingRepositories { inner, pushes: AtomicUsize::new(0), last, has_effect });
    let settings = world.chain.access.settings.clone();
    let access = Arc::new(RepositoryAccess::with(settings, Arc::clone(&ending) as _, Progress::default()));
    for _ in 0..6 {
        // An error is the end of the program.
        let _ = world.step_with(&access, "stage");
    }
    world.restart();
    world.settle();
    let case = format!("push {last}, with effect: {has_effect}");
    assert_eq!(world.status("stage").proved.unwrap().revision, second.to_string(), "{case}");
    assert_eq!(world.commits_of("stage", second), 1, "{case}");
    for kind in ["promoted", "proved"] {
        assert_eq!(world.events("stage", kind, second), 1, "{kind}: {case}");
    }
    ending.pushes.load(Ordering::Relaxed) > last
}

#[test]
fn step_interrupted_at_any_write_is_completed_by_the_next_one() {
    for has_effect in [false, true] {
        let reached = (0..20).take_while(|last| check(*last, has_effect)).count();
        assert!((4..20).contains(&reached), "{reached} writes");
    }
}

/// Replaces the state of what is on its way into an environment by a text that is none.
fn break_state(world: &World, environment: &str) {
    let branch = format!("kalypso-rollouts/{environment}");
    put_files(&world.chain.company.repositories, (CONTROL_PLANE, &branch), &[("promotion.yaml", "no state\n")]);
}

#[test]
fn nothing_moves_while_it_is_unknown_if_the_environment_is_held() {
    let mut world = World::new(DIRECT, "  rings: [{name: canary, names: [east]}, {name: rest}]\n");
    world.settle();
    world.chain.company.change_value("second");
    world.report("dev", 3, 0);
    world.step("dev");
    world.step("stage");
    world.command(CommandKind::Hold, "an outage").unwrap();
    break_state(&world, "stage");
    let states = || world.chain.company.head("kalypso-rollouts/stage");
    let broken = states();
    let error = world.try_step("stage").unwrap_err().to_string();
    assert!(error.contains("promotion.yaml"), "{error}");
    assert_eq!(states(), broken);
}

#[test]
fn unreadable_earlier_environment_gives_unknown_evidence() {
    let mut world = World::new(DIRECT, "");
    world.settle();
    world.chain.company.change_value("second");
    world.report("dev", 2, 0);
    world.settle();
    world.chain.company.delete_environment("dev");
    let unreadable = "has no branch `dev`";
    assert!(world.try_step("dev").unwrap_err().to_string().contains(unreadable));
    let waits = world.waits("stage");
    assert!(waits.contains(unreadable), "{waits}");
}
