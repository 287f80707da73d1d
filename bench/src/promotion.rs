//! The time of promotions in virtual time: random walks, and a change that reaches a million hosts in each of three environments.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use delivery::states::rollout_store::{StoredRollout, file_text};
use model::count::count;
use rayon::prelude::*;
use serde_json::{Value as Json, json};
use simulator::scenario::walk::{WalkOptions, walk};
use simulator::scenario::{self, MeasuredDecision, Probe};
use tempfile::NamedTempFile;

use crate::Options;
use crate::process;
use crate::report::{Row, grouped};

/// The number of random walks.
const WALKS: usize = 10_000;
/// The steps of a walk.
const STEPS: usize = 200;
/// The hosts of each environment.
const HOSTS: usize = 1_000_000;
/// The environments, in the order of promotion.
const ENVIRONMENTS: [&str; 3] = ["dev", "stage", "prod"];

/// A fleet of each environment: the hosts of all workloads together are [`HOSTS`].
struct Shape {
    workloads: usize,
    sites: usize,
}

/// Hosts with one workload at few sites, with many workloads, and at many sites: a ring knows how far each site is.
const SHAPES: [Shape; 3] = [
    Shape { workloads: 1, sites: 1_000 },
    Shape { workloads: 50, sites: 1_000 },
    Shape { workloads: 1, sites: 10_000 },
];

/// Walks, and the large change.
pub(crate) fn rows(options: &Options) -> Result<Vec<Row>> {
    let (walks, hosts) = (options.share_of(WALKS), options.share_of(HOSTS));
    let mut rows = vec![
        Row::measured(format!("{} random walks of {STEPS} steps", grouped(walks)), walk_all(walks)?, "s")
            .at_most(120.0),
    ];
    for shape in &SHAPES {
        rows.extend(change(shape, hosts)?);
    }
    Ok(rows)
}

/// A change that reaches all hosts of three environments with five rings each, in a process of its own.
fn change(shape: &Shape, hosts: usize) -> Result<Vec<Row>> {
    let mut file = NamedTempFile::with_suffix(".yaml")?;
    file.write_all(scenario_text(shape, hosts).as_bytes())?;
    let arguments = ["--scenario".into(), file.path().into()];
    let usage = process::fastest(std::env::current_exe()?.as_os_str(), &arguments, 1)?;
    ensure!(usage.status == Some(0), "the simulating process failed: {}", usage.last_line);
    let figures: Json = serde_json::from_str(&usage.last_line)?;
    let number = |key: &str| figures[key].as_f64().unwrap_or(f64::NAN);
    let Shape { workloads, sites } = shape;
    let (hosts, workloads, sites) = (grouped(hosts), count(*workloads, "workload"), count(*sites, "site"));
    let what = format!("a change over 3 environments × 5 rings × {hosts} hosts: {workloads}, {sites}");
    Ok(vec![
        Row::measured(what, number("seconds"), "s").at_most(60.0),
        Row::measured("  the longest decision for one workload", number("longest_ms"), "ms").at_most(50.0),
        Row::measured("  the largest state of one workload", number("state_kib"), "KiB").at_most(1024.0),
        Row::measured("  the states of all workloads, at most", number("states_kib"), "KiB").at_most(16.0 * 1024.0),
        Row::measured("  the peak of memory, with all hosts", usage.memory_mib, "MiB"),
    ])
}

/// Simulates a scenario, and prints what its decisions took and stored.
pub(crate) fn simulate_and_exit(file: &Path) -> Result<()> {
    let scenario = scenario::read("bench.yaml", &std::fs::read(file)?)
        .map_err(|unreadable| anyhow::anyhow!("the scenario can't be read: {:?}", unreadable.diagnostics))?;
    let (probe, start) = (Rc::new(Decisions::default()), seconds());
    let story = scenario::probed(scenario, Rc::clone(&probe) as Rc<dyn Probe>);
    ensure!(story.is_good(), "{}", story.expectations_text());
    let sizes = probe.bytes.borrow();
    let kib = |bytes: usize| bytes as f64 / 1024.0;
    println!(
        "{}",
        json!({
            "seconds": seconds() - start,
            "longest_ms": probe.longest_s.get() * 1_000.0,
            "state_kib": kib(sizes.values().copied().max().unwrap_or_default()),
            "states_kib": kib(sizes.values().sum()),
        })
    );
    Ok(())
}

/// An environment and a workload.
type Subject = (Arc<str>, Arc<str>);

/// What decisions take, and what they store.
#[derive(Debug, Default)]
struct Decisions {
    longest_s: Cell<f64>,
    /// The largest state of each workload in each environment.
    bytes: RefCell<BTreeMap<Subject, usize>>,
}

impl Probe for Decisions {
    fn seconds(&self) -> f64 {
        seconds()
    }

    fn decided(&self, decision: MeasuredDecision<'_>) {
        let MeasuredDecision { environment, workload, state, seconds } = decision;
        self.longest_s.set(self.longest_s.get().max(seconds));
        let stored = StoredRollout { state: state.clone(), ..StoredRollout::default() };
        let bytes = file_text(environment, workload, &stored).len();
        let mut known = self.bytes.borrow_mut();
        let largest = known.entry((Arc::clone(environment), Arc::clone(workload))).or_default();
        *largest = bytes.max(*largest);
    }
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

/// The seconds since the first call.
fn seconds() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}

fn scenario_text(shape: &Shape, hosts: usize) -> String {
    let Shape { workloads, sites } = shape;
    let hosts = hosts / workloads;
    let mut text = "environments:\n".to_owned();
    for name in ENVIRONMENTS {
        let _ = write!(text, "  {name}:\n    {name}-[1-{hosts}]: {{labels: {{site: \"site-[1-{sites}]\"}}}}\n");
    }
    let names: Vec<_> = (1..=*workloads).map(|number| format!("shop-{number}")).collect();
    let _ = writeln!(
        text,
        "workloads: {{{}}}",
        names.iter().map(|name| format!("{name}: {{release: 1.0.0}}")).collect::<Vec<_>>().join(", ")
    );
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
