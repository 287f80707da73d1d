//! What is pushed, refused, and lost to another program.

use std::cell::Cell;

use delivery::branches::push::Delivered;
use delivery::error::DestinationError;
use delivery::output::refusal::Refusal;
use delivery::promotion::controller::published::{OpenOutput, PublicationFacts};
use delivery::publication::publish::{End, Outcome, PublishOptions};
use delivery::reading::RACES_MAX;
use engine::output::Adoption;
use engine::plan::ChangeKind;
use engine::promotion::step::Subject;
use git::publish::ForeignCommits;
use model::diagnostic::Code;

use crate::world::{BASE, PROPOSAL, World};

const DIRECT: PublishOptions<'_> = PublishOptions {
    is_direct: true,
    confirmed: &[],
    adopt: &Adoption::Nothing,
    committed_on: Some(2_000),
    foreign: ForeignCommits::Keep,
    hosts: None,
    override_reason: None,
    overridden: None,
    waits: &[],
    problems: &[],
    lease: None,
};

/// The result at the only place, in one word and with its branch.
fn word(outcome: &Outcome) -> String {
    assert!(matches!(outcome.end, End::Complete));
    let [place] = &outcome.places[..] else { panic!("{} places", outcome.places.len()) };
    match &place.delivered {
        Some(Delivered::Pushed { branch, .. }) => format!("pushed {branch}"),
        Some(Delivered::Proposed { branch }) => format!("proposed {branch}"),
        Some(Delivered::UpToDate) => "up to date".to_owned(),
        Some(Delivered::Withdrawn { branch, is_merged }) => format!("withdrawn {branch} {is_merged}"),
        Some(Delivered::Left(error)) => format!("left {error}"),
        Some(Delivered::LostRace) => "lost".to_owned(),
        None => format!("refused {}", place.refusals.iter().map(reason).collect::<Vec<_>>().join(" ")),
    }
}

fn reason(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Diagnostic(diagnostic) => diagnostic.code.to_string(),
        Refusal::Unconfirmed { has_other_words } => format!("unconfirmed {has_other_words}"),
    }
}

#[test]
fn a_change_is_proposed_once_and_withdrawn_when_it_is_in_the_branch() {
    let world = World::new();
    assert_eq!(word(&world.publish(PublishOptions::default())), format!("pushed {PROPOSAL}"));
    assert_eq!(world.paths(BASE), ["README.md"]);
    assert_eq!(word(&world.publish(PublishOptions::default())), format!("proposed {PROPOSAL}"));
    assert_eq!(word(&world.publish(DIRECT)), format!("pushed {BASE}"));
    assert_eq!(word(&world.publish(PublishOptions::default())), format!("withdrawn {PROPOSAL} true"));
    assert_eq!(world.head(PROPOSAL), None);
}

#[test]
fn a_direct_push_keeps_the_files_of_others_and_names_the_owner() {
    let world = World::new();
    assert_eq!(word(&world.publish(DIRECT)), format!("pushed {BASE}"));
    let paths = world.paths(BASE);
    for path in ["README.md", ".kalypso/owner"] {
        assert!(paths.iter().any(|found| found == path), "{path} in {paths:?}");
    }
    assert_eq!(word(&world.publish(DIRECT)), "up to date");
}

#[test]
fn a_lost_race_reads_everything_again() {
    let (world, attempts) = (World::new(), Cell::new(0));
    let meanwhile = || {
        attempts.set(attempts.get() + 1);
        if attempts.get() == 1 {
            world.write_to(BASE, "other.txt", "Another program was faster.\n");
        }
    };
    let outcome = world.try_publish(DIRECT, None, &|_, _| meanwhile()).unwrap();
    assert_eq!((word(&outcome), attempts.get()), (format!("pushed {BASE}"), 2));
    assert!(world.paths(BASE).iter().any(|path| path == "other.txt"));
}

#[test]
fn a_branch_that_always_moves_ends_the_publication() {
    for options in [DIRECT, PublishOptions::default()] {
        let (world, attempts) = (World::new(), Cell::new(0));
        let meanwhile = || {
            attempts.set(attempts.get() + 1);
            world.write_to(BASE, "other.txt", &format!("Change {}.\n", attempts.get()));
        };
        let outcome = world.try_publish(options, None, &|_, _| meanwhile()).unwrap();
        assert!(matches!(outcome.end, End::LostRaces) && outcome.places.is_empty());
        assert_eq!(attempts.get(), RACES_MAX);
        assert_eq!((world.paths(BASE), world.head(PROPOSAL)), (vec!["README.md".into(), "other.txt".into()], None));
    }
}

#[test]
fn a_branch_of_another_owner_is_refused() {
    for (owner, code) in [
        ("environment: dev\ncontrol-plane: https://git.example/other\n", Code::OwnedByAnother),
        ("Keep out.\n", Code::ForeignFile),
    ] {
        let world = World::new();
        world.write_to(BASE, ".kalypso/owner", owner);
        let head = world.head(BASE);
        assert_eq!(word(&world.publish(DIRECT)), format!("refused {code}"));
        assert_eq!(world.head(BASE), head);
    }
}

#[test]
fn removed_workload_needs_the_confirmation_word_of_its_plan() {
    let mut world = World::new();
    world.publish(DIRECT);
    world.change(&[("workloads/app-0001.yaml", None)]);
    let refused = world.publish(DIRECT);
    assert_eq!(word(&refused), "refused unconfirmed false");
    let other = ["another-word".to_owned()];
    assert_eq!(word(&world.publish(PublishOptions { confirmed: &other, ..DIRECT })), "refused unconfirmed true");
    let confirmed = [refused.places[0].planned.confirmation_word().unwrap()];
    assert_eq!(word(&world.publish(PublishOptions { confirmed: &confirmed, ..DIRECT })), format!("pushed {BASE}"));
}

#[test]
fn unconfirmed_removal_keeps_only_the_removed_folders() {
    let mut world = World::new();
    world.publish(DIRECT);
    let before = world.paths(BASE);
    world.change(&[("workloads/app-0001.yaml", None)]);
    world.change_value("next");
    let changed = world.publish(DIRECT);
    assert_eq!(word(&changed), format!("pushed {BASE}"));
    let place = &changed.places[0];
    assert!(matches!(&place.refusals[..], [Refusal::Unconfirmed { has_other_words: false }]));
    assert_eq!((world.paths(BASE), place.planned.plan.count(ChangeKind::Removed)), (before.clone(), 0));
    // All assignments are counted, also those that stay for now.
    assert_eq!(place.planned.plan.before(), place.planned.whole_plan().before());
    let removed = place.planned.whole_plan().removals();
    let is_removed = |path: &&String| removed.iter().any(|folder| path.starts_with(&format!("{folder}/")));
    let (gone, kept): (Vec<_>, Vec<_>) = before.iter().partition(is_removed);
    let has_value = |path: &str| world.gitops_file(path).unwrap().contains("ADDED_next");
    assert!(kept.iter().any(|path| has_value(path)) && !gone.iter().any(|path| has_value(path)));
    // The environment proves nothing yet: the removals were not tried.
    let waits = Err("its removals wait for a confirmation".into());
    assert_eq!(PublicationFacts::from_outcome(&changed).settled.check(&Subject::Main), waits);
    let word_of = |open: &OpenOutput| match open {
        OpenOutput::Removals { word, .. } => word.clone(),
        OpenOutput::Proposed { link, .. } => link.url.clone(),
    };
    let words: Vec<_> = PublicationFacts::from_outcome(&changed).open.iter().map(word_of).collect();
    assert_eq!(words, [place.planned.confirmation_word().unwrap()]);
    let again = world.publish(DIRECT);
    assert_eq!(
        (word(&again).as_str(), PublicationFacts::from_outcome(&again).settled.check(&Subject::Main)),
        ("refused unconfirmed false", waits)
    );
    let confirmed = [again.places[0].planned.confirmation_word().unwrap()];
    assert_eq!(confirmed[0], place.planned.confirmation_word().unwrap());
    assert_eq!(word(&world.publish(PublishOptions { confirmed: &confirmed, ..DIRECT })), format!("pushed {BASE}"));
    assert!(gone.iter().all(|path| world.gitops_file(path).is_none()));
}

/// Under both names, a folder would run twice. So nothing is published, also no other change.
#[test]
fn unconfirmed_rename_of_a_place_blocks_all_changes() {
    let mut world = World::new();
    world.publish(DIRECT);
    let before = world.paths(BASE);
    let path = world.files().keys().find(|path| path.ends_with("ct-0000.yaml")).cloned().unwrap();
    let text = world.files()[&path].replace("ct-0000", "ct-0009");
    let annotated = "name: ct-0009\n  annotations: {names.kalypso.io/renamed-from: ct-0000}\n";
    let text = text.replacen("name: ct-0009\n", annotated, 1);
    world.change(&[(&path, None), (&path.replace("ct-0000", "ct-0009"), Some(&text))]);
    world.change_value("next");
    let refused = world.publish(DIRECT);
    assert_eq!((word(&refused).as_str(), world.paths(BASE)), ("refused unconfirmed false", before));
    let renamed = delivery::output::changes::renamed_places_text(&refused.places[0].planned);
    assert_eq!(renamed.as_deref(), Some("1 cluster type: ct-0000 → ct-0009"));
    let plan = &refused.places[0].planned.plan;
    assert!(plan.count(ChangeKind::Renamed) > 0 && plan.count(ChangeKind::Removed) == 0);
    let confirmed = [refused.places[0].planned.confirmation_word().unwrap()];
    assert_eq!(word(&world.publish(PublishOptions { confirmed: &confirmed, ..DIRECT })), format!("pushed {BASE}"));
    let has = |place: &str| world.paths(BASE).iter().any(|path| path.starts_with(&format!("{place}/")));
    assert_eq!([has("ct-0000"), has("ct-0009")], [false, true]);
}

#[test]
fn changed_layout_removes_nothing_without_a_confirmation() {
    let mut world = World::new();
    world.publish(DIRECT);
    let before = world.paths(BASE);
    let spread = world.files()["gitops-repo.yaml"]
        .replace("name: prod\n", "name: prod\n  annotations: {output.kalypso.io/fan-out: 'true'}\n");
    assert!(spread.contains("annotations"), "{spread}");
    world.change(&[("workloads/app-0001.yaml", None), ("gitops-repo.yaml", Some(&spread))]);
    let outcome = world.publish(DIRECT);
    let removed = outcome.places[0].planned.whole_plan().count(ChangeKind::Removed);
    let targets = |paths: &[String]| paths.iter().filter(|path| path.ends_with("/platform-config.yaml")).count();
    assert!(removed > 0 && targets(&before) > 0, "{before:?}");
    assert_eq!(targets(&world.paths(BASE)), targets(&before), "{}", word(&outcome));
}

#[test]
fn proposed_removals_need_no_confirmation() {
    let mut world = World::new();
    world.publish(DIRECT);
    world.change(&[("workloads/app-0001.yaml", None)]);
    assert_eq!(word(&world.publish(PublishOptions::default())), format!("pushed {PROPOSAL}"));
}

#[test]
fn plan_compares_with_the_published_output() {
    let mut world = World::new();
    world.publish(DIRECT);
    world.change_value("1");
    let outcome = world.publish(DIRECT);
    let planned = &outcome.places[0].planned;
    assert_eq!((planned.plan.changes.len(), planned.earlier.is_some()), (16, true));
}

#[test]
fn an_environment_that_can_not_be_read_is_not_published() {
    let world = World::new();
    world.break_control_plane();
    let outcome = world.publish(DIRECT);
    let End::Incomplete(loaded) = &outcome.end else { panic!("{} places", outcome.places.len()) };
    assert!(loaded.is_unreachable() && outcome.places.is_empty(), "{:?}", loaded.diagnostics);
}

#[test]
fn a_gitops_repository_that_is_down_is_an_error() {
    let world = World::new();
    world.break_gitops();
    let outcome = world.publish(DIRECT);
    let [failure] = &outcome.failures[..] else { panic!("{:?}", outcome.failures) };
    assert!(matches!(failure.error, DestinationError::Publish(_)) && outcome.places.is_empty());
}
