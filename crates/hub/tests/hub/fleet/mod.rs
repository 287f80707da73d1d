//! A simulated fleet reports in each format, in random order and twice. The answers of the hub must match the states of the hosts.

mod branches;
mod carrier;
mod truth;

use std::time::{Duration, SystemTime};

use hub_api::deployments::Deployment;
use hub_api::drift::DriftKind;
use hub_api::filter::Filter;
use hub_api::page::Page;
use model::rollout::Counts;
use simulator::simulation::{Behavior, HostOptions, HostReportFormat, Pull, Simulation, SimulationOptions};

use self::branches::{Branches, ENVIRONMENTS, PATHS};
use self::carrier::Carrier;
use self::truth::Truth;
use crate::twins::Ground;

twins![seed_1, seed_2, seed_3, seed_4];

/// The simulated time: one hour, in seconds, which ends now, because the hub's clock decides whether heartbeats are overdue.
const HOUR: i64 = 3_600;
/// The seconds between two polls of the hosts.
const STEP: i64 = 60;

async fn seed_1(ground: Ground) {
    check(ground, 1).await;
}

async fn seed_2(ground: Ground) {
    check(ground, 2).await;
}

async fn seed_3(ground: Ground) {
    check(ground, 3).await;
}

async fn seed_4(ground: Ground) {
    check(ground, 4).await;
}

async fn check(ground: Ground, seed: u64) {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() as i64;
    let mut branches = Branches::new(now - HOUR);
    let carrier = Carrier::start(&ground, branches.watched()).await;
    let mut fleet = fleet(seed, now - HOUR, &carrier).await;
    for (step, time) in (now - HOUR..=now).step_by(STEP as usize).enumerate() {
        if branches.change(step, time) {
            fleet.read_contents(&branches.repositories).unwrap();
        }
        carrier.carry(fleet.advance(time)).await;
    }
    carrier.carry(fleet.remaining_messages()).await;
    carrier.has_read(&branches.heads()).await;
    let truth = Truth::new(&fleet, &branches, now);
    let Counts { succeeded, failed, silent, outdated, .. } = truth.all();
    let Counts { succeeded_but_silent, succeeded_without_heartbeat, .. } = truth.all();
    let all =
        [succeeded, failed, silent, outdated, succeeded_but_silent, succeeded_without_heartbeat, truth.unwanted()];
    assert!(!all.contains(&0), "no reconciler in some state with this seed: {all:?}");
    ask(&carrier, &truth).await;
    carrier.stop().await;
}

/// Seven hosts for each format, in three environments; each host has a reconciler for each of two folders.
async fn fleet(seed: u64, starts_on: i64, carrier: &Carrier) -> Simulation {
    let mut hosts = Vec::new();
    for number in 0..7 * HostReportFormat::ALL.len() {
        let name = format!("höst-{number:02}_%");
        let environment = ENVIRONMENTS[number % ENVIRONMENTS.len()];
        let pull = |index: usize| Pull {
            reconciler: PATHS[index].replace('/', "."),
            repository: branches::url(),
            branch: environment.into(),
            path: PATHS[index].into(),
        };
        hosts.push(HostOptions {
            token: Some(carrier.token(&name).await),
            name,
            format: HostReportFormat::ALL[number % HostReportFormat::ALL.len()],
            pulls: vec![pull(number % PATHS.len()), pull((number + 1) % PATHS.len())],
        });
    }
    let behavior = Behavior {
        interval: 120..=240,
        failing: 10,
        relapsing: 25,
        lag: HOUR,
        silent: 25,
        late: 20,
        twice: 15,
        ..Behavior::default()
    };
    Simulation::new(SimulationOptions { seed, starts_on, behavior, hosts })
}

async fn ask(carrier: &Carrier, truth: &Truth) {
    let (client, everything) = (&carrier.client, Filter::default());
    let page = Page { cursor: None, limit: Some(1000) };
    let environments = client.environments(&everything, None).await.unwrap();
    let counts: Vec<_> = environments.items.iter().map(|one| (one.name.clone(), one.counts)).collect();
    assert_eq!(counts, truth.environments());
    for (commit, expected) in truth.rollouts() {
        let rollout = client.rollout(&commit, &everything, None).await.unwrap();
        let counts: Vec<_> = rollout.environments.iter().map(|one| (one.environment.clone(), one.counts)).collect();
        assert_eq!(counts, expected, "{commit}");
    }
    let drift = client.drift(&everything, &Page::default(), None).await.unwrap();
    let found = (drift.silent, drift.removed_place, drift.unknown_content, drift.unknown_place);
    assert_eq!(found, (truth.silent().len() as i64, truth.unwanted(), 0, 0));
    let silent = client.drift_hosts(DriftKind::Silent, &everything, &page).await.unwrap();
    assert_eq!(names(&silent.items), truth.silent());
    let all = client.deployments(&everything, &page, None).await.unwrap();
    assert_eq!(all.next, None);
    let mut rows: Vec<String> = all.items.iter().map(row).collect();
    rows.sort();
    assert_eq!(rows, truth.rows());
}

/// A row of the deployments as one line, in the format of `Truth::rows`.
fn row(row: &Deployment) -> String {
    let status = row.status.map_or("-", hub_api::report::Status::as_str);
    let state = row.state.map_or("unwanted", model::rollout::ReconcilerState::as_str);
    let failed = row.message.as_deref().filter(|_| status == "failure").unwrap_or_default();
    let commit = row.commit.as_deref().unwrap_or("-");
    let heard = row.last_report_on.unwrap_or_default().millis() / 1_000;
    format!("{}/{}: {status}, {state}, {commit}, {failed}, heard of at {heard}", row.host, row.reconciler)
}

fn names(rows: &[Deployment]) -> Vec<String> {
    let mut names: Vec<_> = rows.iter().map(|row| format!("{}/{}", row.host, row.reconciler)).collect();
    names.sort();
    names
}

/// Long enough for the slowest machine. A successful test does not wait that long.
const PATIENCE: Duration = Duration::from_mins(2);
