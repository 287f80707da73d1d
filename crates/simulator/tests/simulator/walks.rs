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
    // `WALK` names a seed, and `WALKS` a number of walks, to look for more.
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse::<u64>().ok());
    let (first, walks) = (number("WALK"), number("WALKS"));
    let begin = first.unwrap_or_default();
    let seeds = begin..begin + walks.unwrap_or(if first.is_some() { 1 } else { WALKS });
    for seed in seeds {
        if let Err(failure) = walk(options(seed)) {
            let story = failure.story.text();
            panic!("walk {seed}: {}: {}\n{}\n{story}", failure.rule, failure.text, failure.scenario);
        }
    }
}

#[test]
fn killed_service_gives_the_same_story() {
    for seed in 0..20 {
        let story = |is_killed| walk(WalkOptions { is_killed, has_story: true, ..options(seed) }).unwrap().story;
        assert_eq!(story(false).entries_text(), story(true).entries_text(), "walk {seed}");
    }
}
