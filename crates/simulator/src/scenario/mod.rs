//! Scenarios of promotions, run in virtual time: a fleet, changes, failures and time in, a story out.
//!
//! The state machines of `engine` decide, as in the service. The repositories, the git host, the hub and the hosts are virtual. The same scenario and seed
//! give the same story on every machine.

mod contents;
mod definition;
mod fleet;
mod hosts;
mod names;
mod queue;
mod read;
mod story;
mod task;
pub mod walk;
mod world;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use engine::promotion::state::RolloutState;

pub use self::definition::Scenario;
pub use self::read::{Unreadable, read};
pub use self::story::{ExpectationResult, Story, StoryEntry};
use self::world::World;

/// A scenario to start with.
pub const EXAMPLE: &str = include_str!("example.yaml");

/// Runs a scenario. `seed` replaces the seed of the scenario, `until` the usual end: three days after the last event and the last time of an expectation.
pub fn run(scenario: Scenario, seed: Option<u64>, until: Option<Duration>) -> Story {
    let seed = seed.unwrap_or(scenario.seed);
    let mut world = World::new(Arc::new(scenario), seed);
    let until = until.unwrap_or_else(|| world.usual_end());
    world.run(until);
    world.story
}

/// Measures the decisions about rollouts in a scenario.
pub trait Probe: std::fmt::Debug {
    /// The time, in seconds.
    fn seconds(&self) -> f64;

    /// A decision about a rollout.
    fn decided(&self, decision: MeasuredDecision<'_>);
}

/// A decision about the rollout of a workload in an environment.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredDecision<'a> {
    /// The environment.
    pub environment: &'a Arc<str>,
    /// The workload.
    pub workload: &'a Arc<str>,
    /// The state that it gives.
    pub state: &'a RolloutState,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// Runs a scenario, and shows its decisions to a probe.
pub fn probed(scenario: Scenario, probe: Rc<dyn Probe>) -> Story {
    let seed = scenario.seed;
    let mut world = World::new(Arc::new(scenario), seed);
    world.probe = Some(probe);
    let until = world.usual_end();
    world.run(until);
    world.story
}

/// A time between 0 and a limit, the same for the same seed and number.
fn random_time(seed: u64, number: u32, limit: i64) -> i64 {
    let mut random = crate::random::Random::with_number(seed, u64::from(number));
    random.below(u64::try_from(limit).unwrap_or(1)) as i64
}
