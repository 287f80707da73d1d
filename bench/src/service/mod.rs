//! The service `kalypso serve`, with git over HTTP and a git host on loopback: from a push to an updated branch, at rest, and reads of the API.

mod load;
mod world;

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use testkit::generator::Size;

use self::load::Load;
use self::world::World;
use crate::Options;
use crate::hub::client::percentile;
use crate::report::Row;

/// 10,000 assignments.
const LARGE: Size = Size::HUNDRED;
/// 1,000 assignments.
const SMALL: Size = Size { cluster_types: 10, targets: 100, config_maps: 20, schemas: 2 };
/// The number of environments of the service at rest.
const ENVIRONMENTS: usize = 50;
/// The number of measured pushes.
const PUSHES: usize = 9;
/// How long changes settle in these measurements.
const SETTLE: Duration = Duration::from_millis(200);
/// How long the service rests before it is measured, and how long it is measured.
const REST: Duration = Duration::from_secs(30);
const RESTING: Duration = Duration::from_mins(1);
/// The number of measured requests to the API, and of the connections that send them.
const REQUESTS: usize = 100_000;
const CONNECTIONS: usize = 16;

/// All figures of the service.
pub(crate) fn rows(options: &Options) -> Result<Vec<Row>> {
    let mut rows = pushes()?;
    rows.extend(at_rest(options.share_of(ENVIRONMENTS))?);
    Ok(rows)
}

/// Pushes changes of one value, and measures the time until the branch has them.
fn pushes() -> Result<Vec<Row>> {
    let world = World::start(&["prod".to_owned()], LARGE, SETTLE)?;
    world.merge_all()?;
    let mut times = Vec::new();
    let mut recomputed = 0;
    for number in 0..PUSHES {
        let before = world.proposed("prod");
        let value = world.push_value("prod", number)?;
        let start = Instant::now();
        world.announce("prod")?;
        while world.proposed("prod") == before {
            ensure!(start.elapsed() < Duration::from_mins(1), "the branch did not move: {}", world.log());
            thread::sleep(Duration::from_millis(1));
        }
        let took = start.elapsed();
        world.check_proposed("prod", &value)?;
        recomputed = world.wait_until_quiet("prod")?;
        times.push(took);
    }
    let own = times.iter().map(|took| took.saturating_sub(SETTLE)).collect();
    let (median, slowest) = (percentile(times.clone(), 0.5), percentile(times, 1.0));
    let name = format!("service: from a push to a branch, {} assignments", crate::report::grouped(LARGE.assignments()));
    Ok(vec![
        Row::measured(name, median, "ms").at_most(1_000.0),
        Row::measured("  the slowest", slowest, "ms").at_most(1_000.0),
        Row::measured("  without the time to settle", percentile(own, 0.5), "ms").at_most(200.0),
        Row::measured("  assignments computed again", recomputed as f64, "").exactly(LARGE.targets as f64),
        Row::measured("  memory", world.memory_mib()?, "MiB"),
    ])
}

/// Measures the service when nothing changes, and how it answers.
fn at_rest(environments: usize) -> Result<Vec<Row>> {
    let names: Vec<_> = (1..=environments).map(|number| format!("env-{number:02}")).collect();
    let start = Instant::now();
    let world = World::start(&names, SMALL, SETTLE)?;
    let first_s = start.elapsed().as_secs_f64();
    thread::sleep(REST);
    let (start, before) = (Instant::now(), world.cpu_s()?);
    thread::sleep(RESTING);
    let share = 100.0 * (world.cpu_s()? - before) / start.elapsed().as_secs_f64();
    let memory = world.memory_mib()?;
    let whole = environments == ENVIRONMENTS;
    let bounded = |row: Row, bound| if whole { row.at_most(bound) } else { row };
    let assignments = SMALL.assignments();
    let name = format!("service: {environments} environments of {} assignments", crate::report::grouped(assignments));
    let mut rows = vec![
        Row::measured(format!("{name}: start until all are proposed"), first_s, "s"),
        bounded(Row::measured("  memory at rest", memory, "MiB"), 300.0),
        bounded(Row::measured("  of a core at rest", share, "%"), 2.0),
    ];
    for (what, path) in
        [("of one environment", format!("/api/v1/syncs/{}", names[0])), ("of all", "/api/v1/syncs".to_owned())]
    {
        let Load { per_second, times } = load::run(world.address(), &path, (REQUESTS, CONNECTIONS))?;
        let name = format!("service: reads of the API, {what}");
        rows.push(Row::measured(name, per_second, "/s").at_least(5_000.0));
        rows.push(Row::measured("  99 % are answered within", percentile(times, 0.99), "ms").at_most(20.0));
    }
    Ok(rows)
}
