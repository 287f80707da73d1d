//! The time of promotions in virtual time: random walks, and a change that reaches a million hosts in each of three environments.

use std::fmt::Write as _;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use rayon::prelude::*;
use simulator::scenario;
use simulator::scenario::walk::{WalkOptions, walk};

use crate::Options;
use crate::report::{Row, grouped};

/// The number of random walks.
const WALKS: usize = 10_000;
/// The steps of a walk.
const STEPS: usize = 200;
/// The hosts of each environment.
const HOSTS: usize = 1_000_000;
/// The environments, in the order of promotion.
const ENVIRONMENTS: [&str; 3] = ["dev", "stage", "prod"];

/// Walks, and the large change.
pub(crate) fn rows(options: &Options) -> Result<Vec<Row>> {
    let (walks, hosts) = (options.share_of(WALKS), options.share_of(HOSTS));
    let mut rows = vec![
        Row::measured(format!("{} random walks of {STEPS} steps", grouped(walks)), walk_all(walks)?, "s")
            .at_most(120.0),
    ];
    let (seconds, longest_decision_s) = change(hosts)?;
    let what = format!("a change over 3 environments × 5 rings × {} hosts", grouped(hosts));
    rows.push(Row::measured(what, seconds, "s").at_most(60.0));
    let what = "  the longest decision for one environment".to_owned();
    rows.push(Row::measured(what, longest_decision_s * 1_000.0, "ms").at_most(50.0));
    Ok(rows)
}

fn walk_all(walks: usize) -> Result<f64> {
    let (start, broken) = (Instant::now(), AtomicU64::new(0));
    (0..walks as u64).into_par_iter().for_each(|seed| {
        if walk(WalkOptions { seed, steps: STEPS, is_killed: false, has_story: false }).is_err() {
            broken.store(seed + 1, Ordering::Relaxed);
        }
    });
    match broken.into_inner() {
        0 => Ok(start.elapsed().as_secs_f64()),
        seed => bail!("walk {} breaks a rule: kalypso simulate --random --seed {}", seed - 1, seed - 1),
    }
}

/// A change reaches all hosts of three environments with five rings each. Returns the seconds of all of it, and of the longest decision.
fn change(hosts: usize) -> Result<(f64, f64)> {
    let text = scenario_text(hosts);
    let scenario = scenario::read("bench.yaml", text.as_bytes())
        .map_err(|unreadable| anyhow::anyhow!("the scenario can't be read: {:?}", unreadable.diagnostics))?;
    let start = seconds();
    let (story, longest_decision_s) = scenario::measured(scenario, seconds);
    ensure!(story.is_good(), "{}", story.expectations_text());
    Ok((seconds() - start, longest_decision_s))
}

/// The seconds since the first call.
fn seconds() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}

fn scenario_text(hosts: usize) -> String {
    let mut text = "environments:\n".to_owned();
    for name in ENVIRONMENTS {
        let _ = write!(text, "  {name}:\n    {name}-[1-{hosts}]: {{labels: {{site: \"site-[1-1000]\"}}}}\n");
    }
    text.push_str("timeline:\n  - at 0h: change c1\nexpect:\n  - prod has c1\n  - everything rests\n");
    for (number, name) in ENVIRONMENTS.iter().enumerate() {
        let before =
            number.checked_sub(1).map(|before| format!("  from: [{}]\n", ENVIRONMENTS[before])).unwrap_or_default();
        let gates = if before.is_empty() { "" } else { "  gates: [{name: healthy, compliant: {share: 98%}}]\n" };
        let _ = write!(
            text,
            "---\napiVersion: fleet.kalypso.io/v1alpha1\nkind: Promotion\nmetadata: {{name: to-{name}}}\n\
             spec:\n  to: {name}\n{before}  delivery: direct\n{gates}  rings:\n\
             \x20   - {{name: one, percent: 1%, pause: 30m}}\n    - {{name: two, percent: 9%, pause: 30m}}\n\
             \x20   - {{name: three, percent: 20%, pause: 30m}}\n\
             \x20   - {{name: four, percent: 30%, limits: {{per: [{{label: site, atOnce: 500}}]}}}}\n\
             \x20   - {{name: five, limits: {{atOnce: 50%}}}}\n"
        );
    }
    text
}
