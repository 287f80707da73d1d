//! Random walks: no rule is broken, and a service that is killed at every step does the same as one that is not.

use simulator::scenario::walk::{WalkOptions, walk};

/// Walks in every test run. `cargo xtask bench promotion` makes many more.
const WALKS: u64 = 60;
/// Steps of a walk.
const STEPS: usize = 200;

fn options(seed: u64) -> WalkOptions {
    WalkOptions { seed, steps: STEPS, is_killed: false, has_story: false }
}

#[test]
fn no_walk_breaks_a_rule() {
    let first = std::env::var("WALK").ok().and_then(|seed| seed.parse().ok());
    let seeds = first.map_or(0..WALKS, |seed: u64| seed..seed + 1);
    for seed in seeds {
        if let Err(failure) = walk(options(seed)) {
            let story = failure.story.text();
            panic!("walk {seed}: {}: {}\n{}\n{story}", failure.rule, failure.text, failure.scenario);
        }
    }
}

#[test]
fn a_killed_service_does_the_same() {
    for seed in 0..20 {
        let story = |is_killed| walk(WalkOptions { is_killed, has_story: true, ..options(seed) }).unwrap().story;
        assert_eq!(story(false).entries_text(), story(true).entries_text(), "walk {seed}");
    }
}
