//! A version of Kalypso that renders other bytes moves through the environments like a commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::access::renderer::SUBJECT;
use delivery::states::rollout_position;
use delivery::states::rollout_store::{self, AdmissionChange, StateChange, StoredRollout};
use engine::promotion::command::CommandKind;
use engine::promotion::state::Revision;
use git::publications::RENDERER;
use git::{NewCommit, Person, Repositories as _, RepositoryUrl, trailer};
use hub_api::promotions::SubjectStatus;
use model::git_id::GitId;
use model::progress::Progress;
use model::tree::{Child, Entry};
use testkit::company::GITOPS;

use crate::chain::name;
use crate::controller::{DIRECT, World};

/// A file of a folder in `stage`.
const FILE: &str = "east/shop-stage/reconciler.yaml";
const OTHER: &str = "west/shop-stage/reconciler.yaml";
const VALUES: &str = "west/shop-stage/platform-config.yaml";
const OLD_VERSION: &str = "0.0.9-old";
const OLD_REVISION: &str = "0123456789ab";
const PEOPLE: &str = "    - name: people\n      approval: {count: 1}\n      for: [main]\n";
const OLD: &str = "# Rendered by an earlier version.\n";

/// A change of the head of the GitOps branch of `stage`, as a publication by an earlier version of Kalypso.
fn publish_old(world: &World, path: &str, text: &str) -> GitId {
    let company = &world.chain.company;
    let (url, repositories) = (RepositoryUrl::from_object(GITOPS).unwrap(), &*company.repositories);
    let head = repositories.resolve(&url, &git::Revision::branch("stage")).unwrap();
    let open = git::opener(repositories, &head);
    let mut tree = repositories.tree(&head).unwrap();
    tree.put(path, Child::File(Entry::file(text.as_bytes())), &open).unwrap();
    let message = company.message(GITOPS, "stage");
    let lines: Vec<_> = message.lines().filter(|line| !line.starts_with(RENDERER)).collect();
    let message = format!("{}\n{RENDERER}: {OLD_VERSION}\n", lines.join("\n").trim_end());
    assert_eq!(trailer::trailers(&message, RENDERER), [OLD_VERSION]);
    let author = &Person { name: "Kalypso".to_owned(), email: "kalypso@example.com".to_owned() };
    let (parents, seconds) = (&[head.id], 1_500);
    let commit = NewCommit { parents, tree: &tree, open: &open, message: &message, author, seconds, signer: None };
    repositories.commit(&url, "stage", &commit).unwrap()
}

impl World {
    fn file(&self, path: &str) -> String {
        self.chain.company.read(GITOPS, "stage", path).unwrap_or_default()
    }

    /// An earlier version has published this file of `stage`, and the environments are settled with it.
    fn after_upgrade(more: &str) -> Self {
        let world = Self::new(DIRECT, more);
        world.settle();
        let text = format!("{OLD}{}", world.file(FILE));
        publish_old(&world, FILE, &text);
        world
    }

    /// A value of `stage` alone.
    fn write_value(&self, value: &str) {
        let mut files = testkit::chain::environment("stage", Some(self.at("stage")));
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: own, labels: {{platform-config: \"true\"}}}}\ndata: {{OWN: {value}}}\n"
        );
        files.insert("own.yaml".to_owned(), text);
        self.chain.company.write_environment("stage", &files);
    }

    fn renderer(&self) -> Option<SubjectStatus> {
        let subjects = self.step("stage").status.unwrap().subjects;
        subjects.into_iter().find(|subject| subject.subject.as_deref() == Some(SUBJECT))
    }

    fn renderer_waits(&self) -> String {
        let moving = self.renderer().unwrap().moving.unwrap();
        moving.waiting_for.first().map(|wait| format!("{}: {}", wait.what, wait.text)).unwrap_or_default()
    }
}

#[test]
fn a_version_that_changes_bytes_waits_for_its_gates() {
    let world = World::after_upgrade(PEOPLE);
    assert!(world.file(FILE).starts_with(OLD));
    for _ in 0..3 {
        assert!(world.renderer_waits().starts_with("people: 0 of 2 approvals"), "{}", world.renderer_waits());
        assert!(world.file(FILE).starts_with(OLD));
    }
    // Values change what this version renders as before. The other folder waits for the version.
    world.write_value("next");
    world.settle();
    assert!(world.file(FILE).starts_with(OLD));
    let values = |path: &str| world.chain.company.read(GITOPS, "stage", &path.replace("reconciler", "platform-config"));
    assert!(values(OTHER).unwrap().contains("next"), "{:?}", world.chain.company.read(GITOPS, "stage", OTHER));
    assert!(!values(FILE).unwrap().contains("next"));
    let kind = || CommandKind::Approve { gate: None };
    world.command_about(Some(SUBJECT), kind(), "").unwrap();
    assert!(world.renderer_waits().starts_with("people: 1 of 2 approvals"));
    world.command_about(Some(SUBJECT), CommandKind::Skip { gate: "people".into() }, "urgent").unwrap();
    world.settle();
    assert!(!world.file(FILE).starts_with(OLD));
    let of_file = world.chain.company.read(GITOPS, "stage", &FILE.replace("reconciler", "platform-config")).unwrap();
    assert!(of_file.contains("next"));
    let status = world.renderer().unwrap();
    let version = delivery::access::renderer::version();
    assert_eq!((status.moving, status.proved.unwrap().revision), (None, version.to_string()));
    let message = world.chain.company.message(GITOPS, "stage");
    assert_eq!(trailer::trailers(&message, RENDERER), [&*version]);
}

#[test]
fn a_version_that_changes_nothing_needs_no_gate() {
    let world = World::new(DIRECT, PEOPLE);
    world.settle();
    publish_old(&world, "by-a-person.txt", "Hello.");
    world.settle();
    assert_eq!(world.renderer(), None);
    world.write_value("next");
    world.settle();
    assert!(world.file(VALUES).contains("next"));
    let message = world.chain.company.message(GITOPS, "stage");
    assert_eq!(trailer::trailers(&message, RENDERER), [&*delivery::access::renderer::version()]);
}

#[test]
fn a_version_is_proved_in_the_environments_before() {
    let world = World::after_upgrade("");
    let other = |version: &str| {
        let access = &world.chain.access;
        let (settings, repositories) = (access.settings.clone(), Arc::clone(&access.repositories));
        Arc::new(RepositoryAccess::with(settings, repositories, Progress::default()).with_renderer(version))
    };
    // Another version publishes `dev`: what it shows is nothing about this one.
    world.step_with(&other("2.0.0-other"), "dev").unwrap();
    for _ in 0..3 {
        let status = world.renderer().unwrap();
        assert_eq!((status.at.as_deref(), status.moving), (Some(OLD_VERSION), None));
    }
    world.report("dev", 2, 0);
    world.settle();
    assert!(world.renderer_waits().contains("2 of 3 reconcilers applied the change"), "{}", world.renderer_waits());
    assert!(world.file(FILE).starts_with(OLD));
    world.report("dev", 3, 0);
    world.settle();
    assert!(!world.file(FILE).starts_with(OLD));
    assert!(world.renderer().unwrap().proved.is_some());
    // An earlier program that runs by mistake changes nothing either. It may return what was proved, but here it never was.
    publish_old(&world, OTHER, "# Another program.\n");
    world.step_with(&other(OLD_VERSION), "stage").unwrap();
    assert!(!world.file(FILE).starts_with(OLD));
}

#[test]
fn people_hold_abort_and_retry_a_version() {
    let world = World::after_upgrade(PEOPLE);
    let decide = |kind, reason| world.command_about(Some(SUBJECT), kind, reason);
    world.command(CommandKind::Hold, "inventory").unwrap();
    let skip = || CommandKind::Skip { gate: "people".into() };
    assert!(world.renderer().unwrap().moving.is_none());
    world.command(CommandKind::Resume, "").unwrap();
    world.settle();
    decide(CommandKind::Abort, "the bytes are wrong").unwrap();
    world.settle();
    let status = world.renderer().unwrap();
    let version = delivery::access::renderer::version().to_string();
    assert_eq!((status.moving, status.rejected), (None, Some(version.clone())));
    assert!(world.file(FILE).starts_with(OLD));
    decide(CommandKind::Retry, "").unwrap();
    world.settle();
    decide(skip(), "they are right").unwrap();
    world.settle();
    assert_eq!(world.renderer().unwrap().proved.unwrap().revision, version);
}

const RINGS: &str = "  rings:\n    - name: first\n      names: [east]\n    - name: others\n";

impl World {
    /// An earlier version has published both folders of `stage`, which has rings.
    fn ringed_after_upgrade() -> Self {
        let world = Self::new(DIRECT, &format!("{PEOPLE}{RINGS}"));
        world.settle();
        world.end_ring();
        let text = format!("{OLD}{}", world.file(FILE));
        publish_old(&world, FILE, &text);
        let head = publish_old(&world, OTHER, &text);
        world.edit_rollout(|rollout| {
            let stable = rollout.state.stable.as_mut().unwrap();
            stable.at = rollout_position::from_heads([("stage", head)]);
            let sources = rollout.revisions.remove(&stable.revision).unwrap();
            stable.revision = Revision(OLD_REVISION.into());
            rollout.revisions.insert(stable.revision.clone(), sources);
        });
        world
    }

    /// The state of the rollout as another program left it.
    fn edit_rollout(&self, edit: impl Fn(&mut StoredRollout)) {
        let (access, stage) = (&self.chain.access, &name("stage"));
        let states = rollout_store::read(access, stage).unwrap();
        let mut rollout = states.rollouts["shop"].clone().unwrap();
        edit(&mut rollout);
        let change = StateChange {
            rollouts: BTreeMap::from([("shop".into(), Some(rollout))]),
            advances: None,
            promotion: AdmissionChange::Keep,
            message: "as an earlier version left it",
            author: &Person { name: "Kalypso".to_owned(), email: "kalypso@example.com".to_owned() },
            seconds: 1_500,
            lease: None,
        };
        rollout_store::write(access, stage, states.head.as_ref(), &change).unwrap();
    }

    /// The place of the last ring has no reconcilers, so a person ends it.
    fn end_ring(&self) {
        self.command_about(Some("shop"), CommandKind::Skip { gate: "compliant".into() }, "no hosts").unwrap();
        self.settle();
    }

    fn settle_with_problems(&self) {
        for _ in 0..6 {
            drop((self.try_step("dev").unwrap(), self.try_step("stage").unwrap()));
        }
    }

    fn rollout(&self) -> SubjectStatus {
        let subjects = self.step("stage").status.unwrap().subjects;
        subjects.into_iter().find(|subject| subject.subject.as_deref() == Some("shop")).unwrap()
    }
}

#[test]
fn a_version_goes_through_the_rings_after_its_gates() {
    let world = World::ringed_after_upgrade();
    world.settle();
    assert!(world.renderer_waits().starts_with("people: 0 of 2 approvals"), "{}", world.renderer_waits());
    assert_eq!((world.rollout().at.as_deref(), world.rollout().moving), (Some(OLD_REVISION), None));
    world.write_value("next");
    world.settle();
    assert!([FILE, OTHER].iter().all(|path| world.file(path).starts_with(OLD)));
    assert!(!world.file(VALUES).contains("next"));
    world.report("stage", 2, 0);
    world.command_about(Some(SUBJECT), CommandKind::Skip { gate: "people".into() }, "urgent").unwrap();
    world.settle();
    assert_eq!([FILE, OTHER].map(|path| world.file(path).starts_with(OLD)), [false, true]);
    world.report("stage", 3, 0);
    world.settle();
    assert_eq!([FILE, OTHER].map(|path| world.file(path).starts_with(OLD)), [false, false]);
    world.end_ring();
    assert!(world.renderer().unwrap().proved.is_some());
    assert!(world.file(VALUES).contains("next"));
}

#[test]
fn new_renderer_version_restarts_a_running_rollout() {
    let world = World::new(DIRECT, &format!("{PEOPLE}{RINGS}"));
    world.settle();
    world.end_ring();
    world.report("stage", 2, 0);
    world.write_value("next");
    world.settle();
    let values = [VALUES, &VALUES.replace("west", "east")].map(|path| world.file(path).contains("next"));
    assert_eq!(values, [false, true]);
    let text = format!("{OLD}{}", world.file(FILE));
    publish_old(&world, FILE, &text);
    world.edit_rollout(|rollout| {
        let current = rollout.state.current.as_mut().unwrap();
        let sources = rollout.revisions.remove(&current.revision).unwrap();
        current.revision = Revision(OLD_REVISION.into());
        rollout.revisions.insert(current.revision.clone(), sources);
    });
    world.report("stage", 3, 0);
    (0..2).for_each(|_| world.settle_with_problems());
    // What moves can't be rendered by this version. All places keep what they have until it is admitted.
    assert!(world.file(FILE).starts_with(OLD) && !world.file(VALUES).contains("next"));
    let moving = world.rollout().moving.unwrap();
    assert!(moving.waiting_for.iter().any(|wait| wait.text.contains("is not admitted yet")), "{moving:?}");
    world.report("stage", 2, 0);
    world.command_about(Some(SUBJECT), CommandKind::Skip { gate: "people".into() }, "urgent").unwrap();
    world.settle_with_problems();
    assert!(!world.file(FILE).starts_with(OLD) && !world.file(VALUES).contains("next"));
    world.report("stage", 3, 0);
    world.settle();
    assert!(world.file(VALUES).contains("next"));
    world.end_ring();
    assert!(world.renderer().unwrap().proved.is_some());
}

#[test]
fn a_rollback_does_not_let_in_a_version_that_waits() {
    let world = World::new(DIRECT, &format!("{PEOPLE}{RINGS}"));
    world.settle();
    world.end_ring();
    let first = world.rollout().proved.unwrap().revision;
    world.report("stage", 2, 0);
    world.write_value("next");
    world.settle();
    world.report("stage", 3, 0);
    world.settle();
    world.end_ring();
    // Both folders are those of an earlier version, with the newest values.
    let text = format!("{OLD}{}", world.file(FILE));
    publish_old(&world, FILE, &text);
    let head = publish_old(&world, OTHER, &text);
    world.edit_rollout(|rollout| {
        let stable = rollout.state.stable.as_mut().unwrap();
        stable.at = rollout_position::from_heads([("stage", head)]);
        let sources = rollout.revisions.remove(&stable.revision).unwrap();
        stable.revision = Revision(OLD_REVISION.into());
        rollout.revisions.insert(stable.revision.clone(), sources);
    });
    let to = Some(Revision(first.as_str().into()));
    world.command_about(Some("shop"), CommandKind::Rollback { to, with_values: false }, "prices").unwrap();
    world.settle_with_problems();
    assert!([FILE, OTHER].iter().all(|path| world.file(path).starts_with(OLD)));
    let waiting = format!("{:?}", world.rollout());
    assert!(waiting.contains("has not begun") && waiting.contains("is not admitted yet"), "{waiting}");
}
