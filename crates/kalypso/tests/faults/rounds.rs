//! Rounds with faults, and the text about them.

use std::env;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::chance::Chance;
use crate::site::{ENVIRONMENTS, Site};
use crate::way::Way;

/// The number of runs that are started and killed in one round.
const SERIES: u64 = 2;
/// After this number of rounds, the result is compared with a clean run.
const THOROUGH_EVERY: u64 = 12;

/// Runs rounds with one transport until the given number of runs was killed.
///
/// `KALYPSO_FAULTS_SEED` is the seed. `KALYPSO_FAULTS_KILLS` or `KALYPSO_FAULTS_ROUNDS` is the number of kills or rounds. `cargo xtask faults` sets
/// them.
pub(crate) fn run((name, kills): (&str, u64), way: fn(&Path) -> Way) {
    let (seed, wanted) = (number("KALYPSO_FAULTS_SEED").unwrap_or(1), number("KALYPSO_FAULTS_KILLS").unwrap_or(kills));
    let start = Instant::now();
    let mut site = Site::new(way);
    let mut tally = Tally::default();
    let rounds = number("KALYPSO_FAULTS_ROUNDS");
    while rounds.map_or(tally.kills < wanted, |rounds| tally.rounds < rounds) {
        tally.rounds += 1;
        // Each round has its own random numbers, so that it can be repeated alone.
        let mut chance = Chance::new(seed ^ tally.rounds << 20);
        let story = format!("round {} of seed {seed} on {name}", tally.rounds);
        let again = format!("--seed {seed} --rounds {} --only {name}", tally.rounds);
        told(story, &again, |story| play(&mut site, &mut tally, (&mut chance, story)))
            .unwrap_or_else(|panic| resume_unwind(panic));
        assert!(rounds.is_some() || tally.rounds < 2 * wanted + 20, "too many runs end before they are killed");
    }
    site.check_thoroughly();
    let Tally { rounds, kills, ended } = tally;
    println!(
        "{name}: {rounds} rounds, {kills} runs killed, {ended} ended before; a plain run took {:.1} s at most; {} s in all, seed {seed}",
        site.slowest.as_secs_f64(),
        start.elapsed().as_secs()
    );
}

/// Plays a round. If it fails, its story is printed, and how to repeat it.
pub(crate) fn told(mut story: String, again: &str, play: impl FnOnce(&mut String)) -> thread::Result<()> {
    let played = catch_unwind(AssertUnwindSafe(|| play(&mut story)));
    if played.is_err() {
        println!("failed: {story}\nagain: cargo xtask faults {again}");
    }
    played
}

/// The number that a variable of the process has.
pub(crate) fn number(name: &str) -> Option<u64> {
    env::var(name).ok()?.parse().ok()
}

/// The counts of events until now.
#[derive(Default)]
struct Tally {
    rounds: u64,
    kills: u64,
    ended: u64,
}

fn play(site: &mut Site, tally: &mut Tally, (chance, story): (&mut Chance, &mut String)) {
    site.change();
    if chance.once_in(4) {
        site.change_application();
    }
    if chance.once_in(3) {
        let _ = write!(story, ", {}", site.way.spoil(chance));
    }
    for _ in 0..SERIES {
        let count = 1 + chance.below(3);
        // The runs publish the same environment or different ones.
        let environments: Vec<_> = (0..count).map(|_| chance.one_of(&ENVIRONMENTS)).collect();
        let mut runs: Vec<_> = environments.iter().map(|environment| site.start(environment)).collect();
        let _ = write!(story, ", publish {}", environments.join(" and "));
        if chance.once_in(6) {
            let environment = chance.one_of(&ENVIRONMENTS);
            let _ = write!(story, ", a note in {environment}");
            site.note(environment);
        }
        // Early kills are as important as late ones.
        let delay = chance.below(site.typical.as_millis() as u64 + 1);
        thread::sleep(Duration::from_millis(delay));
        let _ = write!(story, ", killed after {delay} ms");
        for run in &mut runs {
            let has_ended = run.try_wait().unwrap().is_some();
            *(if has_ended { &mut tally.ended } else { &mut tally.kills }) += 1;
            run.kill().unwrap();
            run.wait().unwrap();
        }
    }
    site.recover();
    if tally.rounds.is_multiple_of(THOROUGH_EVERY) {
        site.check_thoroughly();
    }
}
