//! Folders of Kalypso on the GitOps branch that people change by hand.

use delivery::publication::publish::{Outcome, PublishOptions};
use model::diagnostic::Severity;

use crate::world::{BASE, PROPOSAL, World};

fn publish(world: &World) -> Outcome {
    world.publish(PublishOptions { is_direct: true, ..PublishOptions::default() })
}

/// The severities and texts of what a publication says about edits by hand.
fn edits(outcome: &Outcome) -> Vec<(Severity, String, String)> {
    let found = outcome.places[0].diagnostics.iter().filter(|found| found.code.id() == "K0530");
    found.map(|found| (found.severity, found.message.clone(), found.notes[0].clone())).collect()
}

fn first_path(world: &World) -> String {
    world.paths(BASE).into_iter().find(|path| path.contains("/app-")).unwrap()
}

#[test]
fn an_edit_is_reported_with_its_author_and_taken_back() {
    let world = World::new();
    assert_eq!(edits(&publish(&world)), []);
    let (path, before) = (first_path(&world), world.gitops_file(&first_path(&world)).unwrap());
    let folder = path.rsplit_once('/').unwrap().0.to_owned();
    world.write_to(BASE, "notes/ours.md", "Of other people.\n");
    assert_eq!(edits(&publish(&world)), []);
    world.write_to(BASE, &path, "by: hand\n");
    let edit = world.head(BASE).unwrap();
    world.write_to(BASE, "notes/ours.md", "Of other people, again.\n");
    let message =
        format!("commit {} of Ann <ann@example.com> changed 1 path of `prod` outside of a publication", edit.short());
    assert_eq!(edits(&publish(&world)), [(Severity::Warning, message, format!("it changed `{folder}`"))]);
    assert_eq!(world.gitops_file(&path).unwrap(), before);
    assert_eq!(world.gitops_file("notes/ours.md").unwrap(), "Of other people, again.\n");
    assert_eq!(edits(&publish(&world)), []);
}

#[test]
fn squashed_publication_is_not_a_hand_edit() {
    let mut world = World::new();
    publish(&world);
    world.change_value("1");
    world.publish(PublishOptions::default());
    // A person squashes the proposed commit onto the branch.
    world.squash(PROPOSAL, BASE);
    world.change_value("2");
    assert_eq!(edits(&publish(&world)), []);
}
