//! Publications of an environment with rings: which places change, and which keep their folders.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use delivery::branches::push::Delivered;
use delivery::publication::publish::{Outcome, PublishOptions};
use delivery::states::rollout_position;
use delivery::states::rollout_store::{
    AdmissionChange, RevisionSources, StateChange, StoredRollout, Written, read, write,
};
use engine::output::Adoption;
use engine::promotion::state::{BranchPosition, Move, MoveStage, Proved, Revision, RolloutState};
use engine::promotion::vector::Part;
use git::publish::ForeignCommits;
use git::{Person, Repositories as _};
use model::diagnostic::Code;
use model::name::EnvironmentName;
use testkit::company::CONTROL_PLANE;
use testkit::company::memory::put_files;
use testkit::generator::ENVIRONMENT;

use crate::held::held;
use crate::world::{BASE, World};

const DIRECT: PublishOptions<'_> = PublishOptions {
    override_reason: None,
    overridden: None,
    waits: &[],
    problems: &[],
    is_direct: true,
    confirmed: &[],
    adopt: &Adoption::Nothing,
    committed_on: Some(2_000),
    foreign: ForeignCommits::Keep,
    hosts: None,
    lease: None,
};

/// Both workloads, each with four targets on both cluster types.
pub(crate) const ONE: &str = "app-0000";
pub(crate) const OTHER: &str = "app-0001";

const RINGS: &str = "\
apiVersion: fleet.kalypso.io/v1alpha1
kind: Promotion
metadata: {name: to-prod}
spec:
  to: prod
  rings:
    - name: first
      names: [ct-0000]
    - name: others
";

/// A company whose environment has two rings of one cluster type each.
pub(crate) struct Ringed {
    world: World,
    environment: EnvironmentName,
}

impl Ringed {
    /// Version `v1` of all workloads is published, and the environment got its rings afterwards.
    pub(crate) fn new() -> Self {
        let mut ringed = Self { world: World::new(), environment: EnvironmentName::new(ENVIRONMENT).unwrap() };
        [ONE, OTHER].iter().for_each(|workload| ringed.release(workload, "v1"));
        ringed.world.publish(DIRECT);
        ringed.world.declare_file(".environments/to-prod.yaml", RINGS);
        ringed
    }

    /// Changes the version of a workload in the sources.
    pub(crate) fn release(&mut self, workload: &str, version: &str) {
        let path = format!("workloads/{workload}.yaml");
        let text = self.world.files()[&path].clone();
        let line = |line: &str| match line.split_once("branch: ") {
            Some((before, _)) => format!("{before}branch: {version}\n"),
            None => format!("{line}\n"),
        };
        let text: String = text.lines().map(line).collect();
        self.world.change(&[(&path, Some(&text))]);
    }

    pub(crate) fn publish(&self) -> Outcome {
        let outcome = self.world.publish(DIRECT);
        let [place] = &outcome.places[..] else { panic!("one place, not {}", outcome.places.len()) };
        assert!(place.refusals.is_empty(), "{:?}", place.refusals.len());
        outcome
    }

    /// The versions of a workload on both cluster types, in the published branch.
    fn versions(&self, workload: &str) -> [String; 2] {
        ["ct-0000", "ct-0001"].map(|place| {
            let prefix = format!("{place}/{workload}-");
            let paths = self.world.paths(BASE).into_iter().filter(|path| path.starts_with(&prefix));
            let texts: Vec<_> = paths.filter_map(|path| self.world.gitops_file(&path)).collect();
            let is_in = |version: &&str| texts.iter().any(|text| text.contains(&format!("branch: \"{version}\"")));
            ["v1", "v2", "v3"].into_iter().filter(is_in).collect::<Vec<_>>().join("+")
        })
    }

    /// The files of a workload in the published branch.
    fn files(&self, workload: &str) -> BTreeMap<String, String> {
        let paths = self.world.paths(BASE).into_iter().filter(|path| path.contains(workload));
        paths.map(|path| (path.clone(), self.world.gitops_file(&path).unwrap())).collect()
    }

    fn position(&self) -> BranchPosition {
        rollout_position::from_heads([(ENVIRONMENT, self.world.head(BASE).unwrap())])
    }

    /// The revision that the sources give a workload, with its sources.
    pub(crate) fn revision(&self, workload: &str) -> (Revision, RevisionSources) {
        let outcome = self.publish();
        let planned = &outcome.places[0].planned;
        let revision = planned.rings.as_ref().unwrap().revisions.desired(workload).unwrap();
        (revision, RevisionSources::read(&outcome.places[0].loaded, &planned.target.branch).unwrap())
    }

    /// Begins a move of a workload to what the sources give now. No place has it yet.
    pub(crate) fn begin(&self, workload: &str) -> StoredRollout {
        let (revision, sources) = self.revision(workload);
        let proved = Proved {
            revision: Revision("before".into()),
            at: self.position(),
            on: "1970-01-01T00:00:00Z".parse().unwrap(),
        };
        let current = Move {
            revision: revision.clone(),
            part: Part::Both,
            started: proved.on,
            base: proved.at.clone(),
            phase: MoveStage::Moving,
            layout: self.layout(),
            ring: 0,
            ring_started: proved.on,
            released: BTreeMap::new(),
            good_since: None,
            is_due: false,
            gates: Vec::new(),
            approvals: Vec::new(),
            authors: None,
            done: Vec::new(),
        };
        let state = RolloutState { stable: Some(proved), current: Some(current), ..RolloutState::default() };
        let targets = BTreeSet::from_iter(self.targets(workload));
        let rollout = StoredRollout { state, targets, revisions: BTreeMap::from([(revision, sources)]) };
        self.store(workload, &rollout);
        rollout
    }

    fn layout(&self) -> Arc<str> {
        engine::promotion::rings::layout::layout(
            &self.publish().places[0].planned.rings.as_ref().unwrap().membership.rings,
        )
    }

    fn targets(&self, workload: &str) -> Vec<Arc<str>> {
        let names = self.world.paths(BASE).into_iter();
        let names = names.filter_map(|path| path.split('/').nth(1).map(str::to_owned));
        names.filter(|name| name.starts_with(workload)).map(Into::into).collect()
    }

    pub(crate) fn store(&self, workload: &str, rollout: &StoredRollout) {
        let access = self.world.access();
        let before = read(&access, &self.environment).unwrap();
        let change = StateChange {
            promotion: AdmissionChange::Keep,
            rollouts: BTreeMap::from([(workload.into(), Some(rollout.clone()))]),
            advances: None,
            message: "move",
            author: &Person { name: "Kalypso".to_owned(), email: "kalypso@localhost".to_owned() },
            seconds: 2_000,
            lease: None,
        };
        let written = write(&access, &self.environment, before.head.as_ref(), &change).unwrap();
        assert!(matches!(written, Written::Moved(_)));
    }

    /// Replaces the state of a workload by a text that is none.
    fn break_state(&self, workload: &str) {
        let branch = format!("kalypso-rollouts/{}", self.environment);
        let path = format!("rollouts/{workload}.yaml");
        put_files(&self.world.repositories, (CONTROL_PLANE, &branch), &[(&path, "no state\n")]);
    }

    /// Moves a workload: changes its current move, and publishes.
    pub(crate) fn step(&self, workload: &str, rollout: &mut StoredRollout, change: impl FnOnce(&mut Move)) -> Outcome {
        change(rollout.state.current.as_mut().unwrap());
        self.store(workload, rollout);
        self.publish()
    }

    /// Changes files of the sources. None: the file is removed.
    pub(crate) fn change(&mut self, changes: &[(&str, Option<&str>)]) {
        self.world.change(changes);
    }

    pub(crate) fn file(&self, path: &str) -> String {
        self.world.files()[path].clone()
    }

    pub(crate) fn paths_of_sources(&self) -> Vec<String> {
        self.world.files().keys().cloned().collect()
    }

    /// The paths of the published branch.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.world.paths(BASE)
    }

    #[track_caller]
    pub(crate) fn check(&self, workload: &str, expected: [&str; 2]) {
        assert_eq!(self.versions(workload), expected);
    }
}

/// Releases all places of the ring that moves.
pub(crate) fn release_ring(current: &mut Move) {
    current.released.insert("".into(), u64::MAX);
}

#[test]
fn nothing_changes_without_a_move() {
    let mut ringed = Ringed::new();
    ringed.release(ONE, "v2");
    let outcome = ringed.publish();
    assert!(matches!(outcome.places[0].delivered, Some(Delivered::UpToDate)));
    ringed.check(ONE, ["v1", "v1"]);
}

#[test]
fn a_move_changes_only_released_places_and_no_other_workload() {
    let mut ringed = Ringed::new();
    ringed.release(ONE, "v2");
    ringed.release(OTHER, "v2");
    let mut rollout = ringed.begin(ONE);
    ringed.publish();
    ringed.check(ONE, ["v1", "v1"]);
    ringed.step(ONE, &mut rollout, release_ring);
    ringed.check(ONE, ["v2", "v1"]);
    ringed.step(ONE, &mut rollout, |current| (current.ring, current.released) = (1, BTreeMap::new()));
    ringed.check(ONE, ["v2", "v1"]);
    ringed.step(ONE, &mut rollout, release_ring);
    ringed.check(ONE, ["v2", "v2"]);
    ringed.check(OTHER, ["v1", "v1"]);
    ringed.store(ONE, &StoredRollout::default());
    ringed.publish();
    ringed.check(ONE, ["v2", "v2"]);
}

#[test]
fn a_rollback_restores_every_byte() {
    let mut ringed = Ringed::new();
    let before = ringed.files(ONE);
    ringed.release(ONE, "v2");
    let mut rollout = ringed.begin(ONE);
    ringed.step(ONE, &mut rollout, |current| current.ring = 2);
    ringed.check(ONE, ["v2", "v2"]);
    let (reason, since) = ("it failed".into(), "1970-01-01T00:00:00Z".parse().unwrap());
    ringed.step(ONE, &mut rollout, |current| current.phase = MoveStage::RollingBack { reason, since });
    assert_eq!(ringed.files(ONE), before);
}

#[test]
fn a_newer_change_does_not_reach_released_places() {
    let mut ringed = Ringed::new();
    ringed.release(ONE, "v2");
    let mut rollout = ringed.begin(ONE);
    ringed.step(ONE, &mut rollout, release_ring);
    ringed.release(ONE, "v3");
    ringed.publish();
    ringed.check(ONE, ["v2", "v1"]);
    let outcome = ringed.step(ONE, &mut rollout, |current| current.ring = 2);
    ringed.check(ONE, ["v2", "v2"]);
    assert!(outcome.places[0].planned.rings.as_ref().unwrap().problems.is_empty());
}

#[test]
fn a_revision_without_its_sources_changes_nothing() {
    let mut ringed = Ringed::new();
    ringed.release(ONE, "v2");
    let mut rollout = ringed.begin(ONE);
    rollout.revisions.clear();
    ringed.release(ONE, "v3");
    let outcome = ringed.step(ONE, &mut rollout, |current| current.ring = 2);
    ringed.check(ONE, ["v1", "v1"]);
    let problems = &outcome.places[0].planned.rings.as_ref().unwrap().problems;
    let reason = "its state does not name the sources of the moving revision".to_owned();
    assert_eq!(problems, &[(Arc::from(ONE), reason)]);
}

#[test]
fn a_removed_target_waits_for_its_ring() {
    let mut ringed = Ringed::new();
    ringed.world.change(&[(&format!("workloads/{ONE}.yaml"), None)]);
    ringed.publish();
    ringed.check(ONE, ["v1", "v1"]);
    let mut rollout = ringed.begin(ONE);
    ringed.step(ONE, &mut rollout, |current| current.ring = 1);
    ringed.check(ONE, ["", "v1"]);
    ringed.check(OTHER, ["v1", "v1"]);
}

#[test]
fn a_first_publication_waits_for_its_ring() {
    let mut ringed = Ringed::new();
    let text = ringed.world.files()[&format!("workloads/{ONE}.yaml")].replace(ONE, "app-new");
    ringed.world.change(&[("workloads/app-new.yaml", Some(&text))]);
    ringed.publish();
    ringed.check("app-new", ["", ""]);
    let mut rollout = ringed.begin("app-new");
    rollout.state.stable = None;
    ringed.step("app-new", &mut rollout, |current| current.ring = 1);
    ringed.check("app-new", ["v1", ""]);
    let (reason, since) = ("it failed".into(), "1970-01-01T00:00:00Z".parse().unwrap());
    ringed.step("app-new", &mut rollout, |current| current.phase = MoveStage::RollingBack { reason, since });
    ringed.check("app-new", ["", ""]);
}

#[test]
fn a_new_place_waits_for_its_ring() {
    let mut ringed = Ringed::new();
    let (path, text) = ringed.world.files().iter().find(|(path, _)| path.ends_with("ct-0001.yaml")).unwrap();
    let (path, text) = (path.replace("ct-0001", "ct-0002"), text.replace("ct-0001", "ct-0002"));
    ringed.world.change(&[(&path, Some(&text))]);
    ringed.publish();
    let is_there = |ringed: &Ringed| ringed.world.paths(BASE).iter().any(|path| path.starts_with("ct-0002/"));
    assert!(!is_there(&ringed));
    let mut rollout = ringed.begin(ONE);
    ringed.step(ONE, &mut rollout, |current| current.ring = 1);
    assert!(!is_there(&ringed));
    ringed.step(ONE, &mut rollout, |current| current.ring = 2);
    let paths = ringed.world.paths(BASE);
    assert!(paths.iter().any(|path| path.starts_with("ct-0002/app-0000-")) && is_there(&ringed));
    assert!(!paths.iter().any(|path| path.starts_with("ct-0002/app-0001-")));
}

#[test]
fn the_same_states_give_the_same_tree() {
    let mut ringed = Ringed::new();
    ringed.release(ONE, "v2");
    let mut rollout = ringed.begin(ONE);
    rollout.state.current.as_mut().unwrap().ring = 1;
    // The state is stored, and the program ends before it publishes.
    ringed.store(ONE, &rollout);
    ringed.publish();
    let once = ringed.files(ONE);
    assert!(matches!(ringed.publish().places[0].delivered, Some(Delivered::UpToDate)));
    // Another program changes a folder that a ring keeps, and one that it released.
    for path in once.keys() {
        ringed.world.write_to(BASE, path, "changed by hand\n");
    }
    ringed.publish();
    assert_eq!(ringed.files(ONE), once);
}

#[test]
fn a_commit_names_the_states_that_it_follows_from() {
    let mut ringed = Ringed::new();
    ringed.release(ONE, "v2");
    let mut rollout = ringed.begin(ONE);
    let outcome = ringed.step(ONE, &mut rollout, |current| current.ring = 1);
    let states = read(&ringed.world.access(), &ringed.environment).unwrap().head.unwrap();
    let Some(Delivered::Pushed { commit, .. }) = &outcome.places[0].delivered else { panic!("it is pushed") };
    let url = outcome.places[0].loaded.url(&outcome.places[0].planned.target.place.repo).unwrap();
    let commit = ringed.world.repositories.resolve(&url, &git::Revision::Commit { id: *commit, branch: None }).unwrap();
    let message = ringed.world.repositories.info(&commit).unwrap().message;
    assert_eq!(git::trailer::trailers(&message, git::publications::ROLLOUTS), [states.id.to_string()]);
}

#[test]
fn an_unreadable_state_holds_only_its_workload() {
    let mut ringed = Ringed::new();
    ringed.release(ONE, "v2");
    ringed.release(OTHER, "v2");
    let mut rollout = ringed.begin(OTHER);
    ringed.store(ONE, &StoredRollout::default());
    ringed.break_state(ONE);
    let outcome = ringed.step(OTHER, &mut rollout, |current| current.ring = 2);
    ringed.check(ONE, ["v1", "v1"]);
    ringed.check(OTHER, ["v2", "v2"]);
    assert!(outcome.places[0].diagnostics.iter().any(|found| found.code == Code::RolloutNotApplied));
    let problems = &outcome.places[0].planned.rings.as_ref().unwrap().problems;
    assert_eq!(problems, &[(ONE.into(), "rollouts/app-0000.yaml:1:1: fields are expected".to_owned())]);
}

/// What the controller asks about a workload: its places with their rings, where the move changes something, and the number of folders that each is to have.
fn evidence(outcome: &Outcome, workload: &str) -> Vec<(String, u16, Option<bool>, usize)> {
    let planned = &outcome.places[0].planned;
    let (rings, side) = (planned.rings.as_ref().unwrap(), planned.branch_side());
    let found = rings.places(side, workload).unwrap();
    let changed = rings.changed(side, (workload, &found.places)).unwrap();
    let expected = rings.expected(side, workload, &found.places).unwrap();
    let changed = |index: usize| changed.as_ref().map(|changed| changed[index]);
    let row =
        |index: usize| (found.places[index].to_string(), found.ring[index], changed(index), expected[index].len());
    (0..found.places.len()).map(row).collect()
}

#[test]
fn the_controller_gets_the_places_of_a_workload() {
    let mut ringed = Ringed::new();
    ringed.release(ONE, "v2");
    let row = |place: &str, ring, changed| (place.to_owned(), ring, changed, 4);
    assert_eq!(evidence(&ringed.publish(), ONE), [row("ct-0000", 0, None), row("ct-0001", 1, None)]);
    let mut rollout = ringed.begin(ONE);
    let outcome = ringed.step(ONE, &mut rollout, |current| current.ring = 1);
    let both = [row("ct-0000", 0, Some(true)), row("ct-0001", 1, Some(true))];
    assert_eq!(evidence(&outcome, ONE), both);
    let ids = |outcome: &Outcome, place: &str| {
        let planned = &outcome.places[0].planned;
        let places = [Arc::from(place)];
        planned.rings.as_ref().unwrap().expected(planned.branch_side(), ONE, &places).unwrap().remove(0)
    };
    // The first ring has the new folders, the other one those of the base.
    assert_ne!(ids(&outcome, "ct-0000"), ids(&outcome, "ct-0001"));
    let published: BTreeSet<_> = ids(&ringed.publish(), "ct-0000").into_values().collect();
    assert_eq!(published, ids(&outcome, "ct-0000").into_values().collect());
}

#[test]
fn removed_workload_has_the_places_of_the_branch() {
    let mut ringed = Ringed::new();
    ringed.world.change(&[(&format!("workloads/{ONE}.yaml"), None)]);
    let mut rollout = ringed.begin(ONE);
    let outcome = ringed.step(ONE, &mut rollout, |current| current.ring = 1);
    let row = |place: &str, ring, folders| (place.to_owned(), ring, Some(true), folders);
    assert_eq!(evidence(&outcome, ONE), [row("ct-0000", 0, 0), row("ct-0001", 1, 4)]);
}

#[test]
fn other_rings_release_nothing_by_the_state_of_a_move() {
    let mut ringed = Ringed::new();
    ringed.release(ONE, "v2");
    let mut rollout = ringed.begin(ONE);
    ringed.step(ONE, &mut rollout, release_ring);
    ringed.check(ONE, ["v2", "v1"]);
    let others = RINGS.replace("ct-0000", "ct-0001");
    ringed.world.declare_file(".environments/to-prod.yaml", &others);
    let outcome = ringed.publish();
    ringed.check(ONE, ["v2", "v1"]);
    assert_eq!(evidence(&outcome, ONE).iter().filter(|(_, _, changed, _)| changed.is_some()).count(), 0);
    let why = "the rings changed, and the rollout begins again";
    let other = ("ct-0001".to_owned(), "v2 desired, other content published in ring first".to_owned(), why.to_owned());
    assert_eq!(held(&ringed, ONE), BTreeSet::from([other]));
    ringed.step(ONE, &mut rollout, |current| {
        current.phase = MoveStage::RollingBack { reason: "".into(), since: current.started };
    });
    ringed.check(ONE, ["v1", "v1"]);
}

#[test]
fn a_wrong_promotion_does_not_release_all_places() {
    let mut ringed = Ringed::new();
    ringed.release(ONE, "v2");
    let mut rollout = ringed.begin(ONE);
    ringed.step(ONE, &mut rollout, release_ring);
    let another =
        "---\napiVersion: fleet.kalypso.io/v1alpha1\nkind: Promotion\nmetadata: {name: another}\nspec: {to: prod}\n";
    for wrong in [RINGS.replace("to: prod", "to: prdo"), format!("{RINGS}{another}"), format!("{RINGS}  rings: 1\n")] {
        ringed.world.declare_file(".environments/to-prod.yaml", &wrong);
        ringed.publish();
        ringed.check(ONE, ["v2", "v1"]);
    }
}

#[test]
fn unproved_content_of_an_earlier_move_counts_as_changed() {
    let mut ringed = Ringed::new();
    ringed.release(ONE, "v2");
    let mut rollout = ringed.begin(ONE);
    ringed.step(ONE, &mut rollout, release_ring);
    // Another move begins where the first ring has the unproved revision.
    let base = ringed.position();
    let outcome = ringed.step(ONE, &mut rollout, |current| {
        (current.base, current.released) = (base, BTreeMap::new());
    });
    let row = |place: &str, ring| (place.to_owned(), ring, Some(true), 4);
    assert_eq!(evidence(&outcome, ONE), [row("ct-0000", 0), row("ct-0001", 1)]);
    // Without a stable revision, nothing is proved.
    rollout.state.stable = None;
    ringed.store(ONE, &rollout);
    assert_eq!(evidence(&ringed.publish(), ONE), [row("ct-0000", 0), row("ct-0001", 1)]);
}

#[test]
fn stable_revision_with_a_lost_commit_is_rendered_from_its_sources() {
    let mut ringed = Ringed::new();
    let (proved, sources) = ringed.revision(ONE);
    ringed.release(ONE, "v2");
    let mut rollout = ringed.begin(ONE);
    ringed.step(ONE, &mut rollout, release_ring);
    let at = BranchPosition(format!("{ENVIRONMENT}={}", "1".repeat(40)).into());
    rollout.state.stable = Some(Proved { revision: proved.clone(), at, ..rollout.state.stable.unwrap() });
    let outcome = ringed.step(ONE, &mut rollout, |current| {
        current.phase = MoveStage::RollingBack { reason: "".into(), since: current.started };
    });
    let unknown = |outcome: &Outcome| outcome.places[0].planned.rings.as_ref().unwrap().unknown(ONE).map(str::to_owned);
    ringed.check(ONE, ["v2", "v1"]);
    assert!(unknown(&outcome).is_some());
    rollout.revisions.insert(proved, sources);
    ringed.store(ONE, &rollout);
    assert_eq!(unknown(&ringed.publish()), None);
    ringed.check(ONE, ["v1", "v1"]);
}

#[test]
fn lines_show_the_progress_of_a_rollout() {
    let mut ringed = Ringed::new();
    ringed.release(ONE, "v2");
    let lines = |outcome: &Outcome| outcome.places[0].planned.rings.as_ref().unwrap().lines().join("\n");
    let waits = "app-0001: its places keep what they have until its first rollout begins";
    let first = lines(&ringed.publish());
    assert_eq!(first, format!("{}\n{waits}", waits.replace(OTHER, ONE)));
    let mut rollout = ringed.begin(ONE);
    let outcome = ringed.step(ONE, &mut rollout, release_ring);
    let moves = "app-0000: ring 1 of 2 (first): 1 of 2 places get the moving revision, 1 keep what they have";
    assert_eq!(lines(&outcome), format!("{moves}\n{waits}"));
}

#[test]
fn an_unproved_revision_must_be_proved_by_the_next_move() {
    let mut ringed = Ringed::new();
    ringed.release(ONE, "v2");
    let mut rollout = ringed.begin(ONE);
    let changed = |outcome: &Outcome| evidence(outcome, ONE).into_iter().map(|row| row.2).collect::<Vec<_>>();
    ringed.step(ONE, &mut rollout, |current| current.ring = 1);
    // A move with the same folders in the first ring begins where this one was.
    let base = ringed.position();
    let outcome = ringed.step(ONE, &mut rollout, |current| (current.base, current.ring) = (base, 0));
    assert_eq!(changed(&outcome), [Some(true), Some(true)]);
}

#[test]
fn a_place_that_lost_the_workload_counts_until_the_end_of_the_move() {
    let mut ringed = Ringed::new();
    ringed.world.change(&[(&format!("workloads/{ONE}.yaml"), None)]);
    let mut rollout = ringed.begin(ONE);
    let changed = |outcome: &Outcome| evidence(outcome, ONE).into_iter().map(|row| row.2).collect::<Vec<_>>();
    ringed.step(ONE, &mut rollout, |current| current.ring = 1);
    assert_eq!(changed(&ringed.publish()), [Some(true), Some(true)]);
}

#[test]
fn unselected_place_loses_the_workload_with_its_ring() {
    let mut ringed = Ringed::new();
    let (path, text) = ringed.world.files().iter().find(|(path, _)| path.ends_with("ct-0001.yaml")).unwrap();
    let (path, text) = (path.clone(), text.replace("region:", "district:"));
    ringed.world.change(&[(&path, Some(&text))]);
    let mut rollout = ringed.begin(ONE);
    ringed.publish();
    ringed.check(ONE, ["v1", "v1"]);
    let row = |place: &str, ring, changed, folders| (place.to_owned(), ring, Some(changed), folders);
    let first = row("ct-0000", 0, false, 4);
    let outcome = ringed.step(ONE, &mut rollout, |current| current.ring = 1);
    assert_eq!(evidence(&outcome, ONE), [row("ct-0001", 1, true, 4), first.clone()]);
    let outcome = ringed.step(ONE, &mut rollout, release_ring);
    assert_eq!(evidence(&outcome, ONE), [row("ct-0001", 1, true, 0), first]);
    ringed.check(ONE, ["v1", ""]);
    ringed.check(OTHER, ["v1", "v1"]);
    let (reason, since) = ("it failed".into(), "1970-01-01T00:00:00Z".parse().unwrap());
    ringed.step(ONE, &mut rollout, |current| current.phase = MoveStage::RollingBack { reason, since });
    ringed.check(ONE, ["v1", "v1"]);
}
