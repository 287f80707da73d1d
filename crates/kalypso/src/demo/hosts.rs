//! The simulated hosts of the example company. They exist only while the demo runs.

use std::ops::RangeInclusive;

use engine::compile::{Assignment, Compiled};
use git::RepositoryUrl;
use simulator::simulation::{
    Behavior, HostOptions, HostReportFormat, OF_PLATFORM, Pull, Simulation, SimulationOptions,
};

use super::ENVIRONMENTS;

/// The seed is arbitrary. This one shows hosts in each state.
const SEED: u64 = 12;

/// The behavior of an environment's hosts: the age of the publication in minutes when the demo begins, and the numbers for failures.
struct Story {
    minutes: i64,
    /// The divisor of the simulated time that gives the maximum time of applying.
    slowest: i64,
    failing: u64,
    faltering: u64,
    silent: u64,
}

/// The hosts of the first environment have applied everything. The hosts of the last environment are still in progress.
const STORIES: [Story; ENVIRONMENTS.len()] = [
    Story { minutes: 45, slowest: 9, failing: 0, faltering: 15, silent: 0 },
    Story { minutes: 20, slowest: 6, failing: 4, faltering: 10, silent: 15 },
    Story { minutes: 8, slowest: 1, failing: 3, faltering: 6, silent: 0 },
];

/// The simulated time of a second run in seconds. Publications of the second run are in this time.
const RERUN: i64 = 120;

/// The time in seconds in which hosts apply content while a person waits for them.
const LIVE_SECONDS: RangeInclusive<i64> = 1..=4;

/// The time of an environment's publication in seconds since 1970: in the past, but after the publication before it.
pub(crate) fn published_on(environment: &str, (now, previous): (i64, Option<i64>), is_new: bool) -> i64 {
    let ago = if is_new { story(environment).minutes * 60 } else { RERUN };
    previous.map_or(now - ago, |previous| (now - ago).max(previous + 1)).min(now)
}

fn story(environment: &str) -> &'static Story {
    &STORIES[number(environment)]
}

/// The index of an environment in the order of promotion.
fn number(environment: &str) -> usize {
    ENVIRONMENTS.iter().position(|name| *name == environment).unwrap_or_default()
}

/// The branch that an environment's hosts pull, and the folders of assignments in it.
pub(crate) struct Source<'a> {
    /// The name of the environment.
    pub(crate) environment: &'a str,
    /// The repository.
    pub(crate) repository: RepositoryUrl,
    /// The branch.
    pub(crate) branch: &'a str,
    /// Returns the folder of an assignment by the names of its place and target.
    pub(crate) folder: &'a dyn Fn(&str, &str) -> String,
    /// Whether hosts pull this branch of a repository with manifests.
    pub(crate) is_pulled: &'a dyn Fn(&RepositoryUrl, &str) -> bool,
    /// Whether the hosts run beside the service. Then a person waits for them, and all of them follow, except for those that the person lets fail.
    pub(crate) is_live: bool,
}

/// The hosts of an environment from a start time to an end time. Each host has two reconcilers for each assignment of its cluster type: one for the
/// files of the platform, and one for the manifests of the application.
pub(crate) fn fleet(compiled: &Compiled, source: &Source<'_>, (starts_on, ends_on): (i64, i64)) -> Simulation {
    let mut behavior = behavior(story(source.environment), (ends_on - starts_on).max(1));
    if source.is_live {
        behavior = Behavior { lagging: 0, silent: 0, failing: 0, faltering: 0, takes: LIVE_SECONDS, ..behavior };
    }
    let seed = SEED + number(source.environment) as u64;
    Simulation::new(SimulationOptions { seed, starts_on, behavior, hosts: hosts(compiled, source) })
}

fn hosts(compiled: &Compiled, source: &Source<'_>) -> Vec<HostOptions> {
    let mut hosts = Vec::new();
    for (name, cluster_type) in compiled.fleet().cluster_types.iter() {
        let assignments = compiled.assignments_on(name.as_str()).filter(Assignment::is_rendered);
        let pulls: Vec<_> = assignments.flat_map(|assignment| pulls(&assignment, name.as_str(), source)).collect();
        let tier = cluster_type.labels.get("tier").map(|tier| &**tier).unwrap_or_default();
        hosts.extend((1..=count(tier)).map(|number| HostOptions {
            name: format!("{}-{name}-{number:02}", compiled.environment()),
            format: format(cluster_type.spec.reconciler.as_ref(), number),
            token: None,
            pulls: pulls.clone(),
        }));
    }
    hosts
}

/// The sources that a host of a cluster type pulls for an assignment.
fn pulls(assignment: &Assignment<'_>, cluster_type: &str, source: &Source<'_>) -> Vec<Pull> {
    let Some(target) = assignment.target() else { return Vec::new() };
    let platform = Pull {
        reconciler: format!("{}{OF_PLATFORM}", target.name),
        repository: source.repository.clone(),
        branch: source.branch.to_owned(),
        path: (source.folder)(cluster_type, target.name.as_str()),
    };
    let manifests = |key: &str| target.manifests.get(key).map(|text| &**text);
    let application = || {
        let (branch, path) = (manifests("branch")?, manifests("path")?);
        let repository = RepositoryUrl::from_object(manifests("repo")?).ok()?;
        (source.is_pulled)(&repository, branch).then(|| Pull {
            reconciler: target.name.to_string(),
            repository,
            branch: branch.to_owned(),
            path: path.trim_start_matches("./").to_owned(),
        })
    };
    let application = application();
    std::iter::once(platform).chain(application).collect()
}

/// The number of hosts of a cluster type: a cloud region has one cluster, and each shop has its own.
fn count(tier: &str) -> usize {
    match tier {
        "kiosk" => 6,
        "store" => 4,
        "plant" => 2,
        _ => 1,
    }
}

/// The format of reports. Clusters use the format of their reconciler. Hosts without containers use various formats.
fn format(reconciler: &str, number: usize) -> HostReportFormat {
    const OF_SCRIPTS: [HostReportFormat; 4] =
        [HostReportFormat::Json, HostReportFormat::Lines, HostReportFormat::OtlpProtobuf, HostReportFormat::OtlpJson];
    match reconciler {
        "flux" => HostReportFormat::Flux,
        "argocd" => HostReportFormat::ArgoCd,
        _ => OF_SCRIPTS[number % OF_SCRIPTS.len()],
    }
}

/// The behavior of hosts over this simulated time in seconds.
fn behavior(story: &Story, life: i64) -> Behavior {
    let interval = (life / 10).max(1)..=(life / 5).max(2);
    let takes = (life / 20).max(1)..=(life / story.slowest).max(2);
    Behavior {
        silent_after: life / 10..=life / 4,
        short_heartbeat: (interval.end() + life / 4).max(10),
        interval,
        takes,
        failing: story.failing,
        faltering: story.faltering,
        silent: story.silent,
        lagging: 4,
        lag: i64::MAX / 2,
        prompt: 0,
        // The hosts stop when the demo ends. They must not be shown as silent.
        heartbeat: 24 * 3_600,
        ..Behavior::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publications_are_made_in_their_order_and_never_later_than_now() {
        let check = |environment, previous, is_new, expected| {
            assert_eq!(published_on(environment, (10_000, previous), is_new), expected);
        };
        check("dev", None, true, 10_000 - 45 * 60);
        check("prod", Some(1), true, 10_000 - 8 * 60);
        check("prod", Some(1), false, 10_000 - RERUN);
        check("prod", Some(9_990), false, 9_991);
        check("prod", Some(10_000), false, 10_000);
    }

    #[test]
    fn host_behavior_fits_the_available_time() {
        for life in [1, 2, 60, 120, 2_700] {
            let behavior = behavior(&STORIES[2], life);
            assert!(*behavior.interval.start() > 0 && behavior.interval.start() <= behavior.interval.end());
            assert!(*behavior.takes.start() > 0 && behavior.takes.start() <= behavior.takes.end());
            assert!(behavior.short_heartbeat >= 10);
        }
    }
}
