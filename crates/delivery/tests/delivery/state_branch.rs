//! The branch with the states of an environment: rewritten, deleted, lost, and restored.

use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::promotion::controller::restoration::{Restoration, RestoredStates, restore};
use delivery::publication::publish::{PublishOptions, Request, publish};
use delivery::states::rollout_store::{self, StoredStates};
use engine::promotion::command::CommandKind;
use engine::promotion::state::Revision;
use git::{Person, RepositoryUrl};
use jiff::Timestamp;
use model::git_id::GitId;
use model::progress::Progress;
use testkit::chain::environment;
use testkit::company::{CONTROL_PLANE, GITOPS};

use crate::chain::name;
use crate::controller::{DIRECT, World};

const BRANCH: &str = "kalypso-rollouts/stage";

/// `stage` has published the second commit of the main branch. The publication names states with a hold of its values.
struct Held {
    world: World,
    /// The head of the branch before the hold.
    before: GitId,
    second: GitId,
}

impl Held {
    fn new() -> Self {
        let mut world = World::new(DIRECT, "");
        world.settle();
        let before = world.chain.company.head(BRANCH).unwrap();
        world.command_about(Some("values"), CommandKind::Hold, "numbers are checked").unwrap();
        let second = world.chain.company.change_value("second");
        world.settle();
        assert_eq!(world.chain.company.promoted("stage"), Some(second.to_string()));
        Self { world, before, second }
    }

    /// A process that has read nothing yet.
    fn process(&self) -> Arc<RepositoryAccess> {
        let access = &self.world.chain.access;
        let repositories = Arc::clone(&access.repositories);
        Arc::new(RepositoryAccess::with(access.settings.clone(), repositories, Progress::default()))
    }

    fn force(&self, commit: Option<GitId>) {
        self.world.chain.company.repositories.force(&control_plane(), BRANCH, commit);
    }

    /// The commit that the newest publication names.
    fn published(&self) -> GitId {
        let message = self.world.chain.company.message(GITOPS, "stage");
        let named = message.lines().find_map(|line| line.strip_prefix("Kalypso-Rollouts: "));
        GitId::from_hex(named.unwrap()).unwrap()
    }

    fn publish(&self, environment: &str) -> Result<(), String> {
        let environment = &name(environment);
        let options = PublishOptions { is_direct: true, ..PublishOptions::default() };
        let request = Request { environment, gitops_repo: None, options, hub: None, is_hub_only: false };
        let published = publish(&self.process(), &request, &|_, _| {});
        published.map(drop).map_err(|error| error.to_string())
    }

    fn restore(&self, to: RestoredStates) -> Result<String, String> {
        let author = &Person { name: "Ann".to_owned(), email: "ann@example.com".to_owned() };
        let (environment, at) = (&name("stage"), Timestamp::from_second(20_000).unwrap());
        let restoration = Restoration { environment, to, author, by: "ann", reason: "a mistake", at };
        restore(&self.process(), &restoration).map_err(|error| error.to_string())
    }

    fn states(&self) -> StoredStates {
        rollout_store::read(&self.process(), &name("stage")).unwrap()
    }

    fn is_held(&self) -> bool {
        let advances = self.states().advances.unwrap().unwrap();
        advances.sources.get("values").is_some_and(|values| values.state.hold.is_some())
    }

    /// Nothing is published, moved or decided by the states, for this reason.
    fn refuses(&self, reason: &str) {
        let heads = || ["stage", BRANCH].map(|branch| self.world.chain.company.head(branch));
        let before = (heads(), self.world.chain.company.message(GITOPS, "stage"));
        let refused = [
            self.publish("stage").unwrap_err(),
            self.world.step_with(&self.process(), "stage").unwrap_err().to_string(),
            rollout_store::read(&self.process(), &name("stage")).unwrap_err().to_string(),
        ];
        for text in refused {
            assert!(text.contains(reason) && text.contains("kalypso rollout restore -e stage"), "{text}");
        }
        let decision = self.world.command_about(None, CommandKind::Hold, "stop").unwrap_err().to_string();
        assert!(decision.contains("kalypso rollout restore -e stage"), "{decision}");
        assert_eq!((heads(), self.world.chain.company.message(GITOPS, "stage")), before);
    }
}

fn control_plane() -> RepositoryUrl {
    RepositoryUrl::from_object(CONTROL_PLANE).unwrap()
}

#[test]
fn an_earlier_history_does_not_count_and_restore_brings_the_hold_back() {
    let held = Held::new();
    assert!(held.is_held());
    held.force(Some(held.before));
    held.refuses(&format!("its head {} does not contain commit {}", held.before.short(), held.published()));
    let restored = held.restore(RestoredStates::Published).unwrap();
    assert_eq!(restored, format!("stage: the states of commit {} are restored", held.published().short()));
    assert!(held.is_held());
    held.publish("stage").unwrap();
    held.world.settle();
}

#[test]
fn deleted_state_branch_is_refused_until_restored() {
    let held = Held::new();
    held.force(None);
    held.refuses("does not exist any more");
    held.restore(RestoredStates::Published).unwrap();
    assert!(held.is_held());
    let message = held.world.chain.company.message(CONTROL_PLANE, BRANCH);
    assert!(message.contains("restored by ann: a mistake"), "{message}");
    held.publish("stage").unwrap();
}

#[test]
fn a_forged_history_does_not_count() {
    let held = Held::new();
    let other = held.world.chain.company.head("kalypso-rollouts/dev").unwrap();
    held.force(Some(other));
    held.refuses("was rewritten");
    let refused = held.restore(RestoredStates::Commit(other)).unwrap_err();
    assert_eq!(refused, format!("commit {other} has no states of stage"));
}

#[test]
fn a_process_that_has_read_a_decision_does_not_forget_it() {
    let held = Held::new();
    let before = held.world.chain.company.head(BRANCH).unwrap();
    held.world.command_about(None, CommandKind::Hold, "inventory days").unwrap();
    let hold = held.world.chain.company.head(BRANCH).unwrap();
    held.force(Some(before));
    let refused = held.world.try_step("stage").unwrap_err().to_string();
    assert!(refused.contains(&format!("`kalypso rollout restore -e stage --to {hold} --reason TEXT`")), "{refused}");
    held.restore(RestoredStates::Commit(hold)).unwrap();
    assert!(held.world.status("stage").hold.is_some());
}

#[test]
fn lost_states_do_not_stop_other_environments() {
    let mut held = Held::new();
    held.force(None);
    let third = held.world.chain.company.change_value("third");
    for _ in 0..3 {
        held.world.step("dev");
        held.world.try_step("stage").unwrap_err();
    }
    assert_eq!(held.world.chain.company.promoted("dev"), Some(third.to_string()));
    // The states of the environment before are no evidence if they do not count.
    held.restore(RestoredStates::Published).unwrap();
    held.world.chain.company.repositories.force(&control_plane(), "kalypso-rollouts/dev", None);
    held.world.step("stage");
    assert_eq!(held.world.chain.company.promoted("stage"), Some(held.second.to_string()));
    assert!(held.publish("dev").unwrap_err().contains("kalypso rollout restore -e dev"));
}

#[test]
fn verified_states_are_not_verified_again() {
    let held = Held::new();
    let gitops = RepositoryUrl::from_object(GITOPS).unwrap();
    let repositories = &held.world.chain.company.repositories;
    let access = held.process();
    rollout_store::read(&access, &name("stage")).unwrap();
    let before = repositories.requests(&gitops);
    rollout_store::read(&access, &name("stage")).unwrap();
    assert_eq!(repositories.requests(&gitops), before);
}

#[test]
fn intact_state_branch_has_nothing_to_restore() {
    let held = Held::new();
    let nothing = format!("the branch `{BRANCH}` contains all that was published: there is nothing to restore");
    for to in [RestoredStates::Published, RestoredStates::Baseline] {
        assert_eq!(held.restore(to), Err(nothing.clone()));
    }
    // An earlier commit is restored on top of what is there.
    let before = held.world.chain.company.head(BRANCH).unwrap();
    held.restore(RestoredStates::Commit(held.before)).unwrap();
    assert!(!held.is_held());
    let head = held.states().head.unwrap();
    assert!(held.world.chain.access.repositories.is_ancestor(before, &head, 10).unwrap());
    held.world.settle();
}

#[test]
fn lost_states_restart_from_the_published_output() {
    let mut held = Held::new();
    let published = held.published();
    held.force(None);
    let still_there = held.restore(RestoredStates::Baseline).unwrap_err();
    assert!(
        still_there.starts_with(&format!("commit {published}, which the newest publication names")),
        "{still_there}"
    );
    held.world.chain.company.repositories.lose(&control_plane(), published);
    let lost = held.restore(RestoredStates::Published).unwrap_err();
    assert!(lost.starts_with(&format!("commit {published} of the states of stage can't be read")), "{lost}");
    // A repository that can't be reached has lost nothing.
    held.world.chain.company.repositories.set_broken(&control_plane(), Some("it is down"));
    assert!(held.restore(RestoredStates::Baseline).unwrap_err().contains("it is down"));
    held.world.chain.company.repositories.set_broken(&control_plane(), None);
    // What a person writes meanwhile is not admitted with it.
    let third = held.world.chain.company.change_value("third");
    held.world.report("dev", 0, 0);
    held.world.chain.company.write_environment("stage", &environment("stage", Some(third)));
    held.restore(RestoredStates::Baseline).unwrap();
    held.publish("stage").unwrap();
    held.world.settle();
    assert_eq!(held.world.status("stage").moving.unwrap().revision, third.to_string());
    let platform = held.states().advances.unwrap().unwrap().platform.unwrap();
    assert_eq!(platform.admitted, Some(Revision(held.second.to_string().into())));
    // The publication still names the lost commit.
    assert_eq!(held.published(), published);
    held.publish("stage").unwrap();
}
