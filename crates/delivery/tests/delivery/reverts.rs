//! A commit that takes the files of the main branch back.

use crate::controller::{DIRECT, World};

#[test]
fn a_revert_overtakes_the_commit_that_it_takes_back() {
    let mut world = World::new(DIRECT, "");
    let first = world.chain.company.change_value("one");
    for environment in ["dev", "stage"] {
        world.report(environment, 3, 0);
    }
    world.settle();
    assert_eq!(world.status("stage").proved.unwrap().revision, first.to_string());
    let second = world.chain.company.change_value("two");
    world.report("stage", 2, 0);
    world.settle();
    assert_eq!(world.status("stage").moving.unwrap().revision, second.to_string());
    // Nothing proves the revert in `dev`, and the commit before is still open in `stage`.
    world.report("dev", 1, 0);
    let revert = world.chain.company.change_value("one");
    world.settle();
    assert_eq!(world.chain.promoted("stage").commit, Some(revert));
    let moving = world.status("stage").moving.unwrap();
    assert_eq!(moving.revision, revert.to_string());
    world.report("stage", 3, 0);
    world.settle();
    assert_eq!(world.status("stage").proved.unwrap().revision, revert.to_string());
}
