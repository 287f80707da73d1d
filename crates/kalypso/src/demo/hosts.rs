//! The hosts of the example company: they exist only while the demo runs.

use engine::compile::{Assignment, Compiled};
use git::RepositoryUrl;
use simulator::simulation::{Behavior, Format, HostOptions, OF_PLATFORM, Pull, Simulation, SimulationOptions};

/// Any would do; this one shows some of everything.
const SEED: u64 = 12;

/// How an environment's hosts take what is published: how long ago that was when the demo begins, in minutes, and how well it goes.
struct Story {
    minutes: i64,
    /// The longest that applying takes, as a part of that time.
    slowest: i64,
    failing: u64,
    faltering: u64,
    silent: u64,
}

/// What was published first is done; what was published last is on its way.
const STORIES: [Story; 3] = [
    Story { minutes: 45, slowest: 9, failing: 0, faltering: 15, silent: 0 },
    Story { minutes: 20, slowest: 6, failing: 4, faltering: 10, silent: 15 },
    Story { minutes: 8, slowest: 1, failing: 3, faltering: 6, silent: 0 },
];

/// How often a second run looks back, in seconds: what is published then is new.
const RERUN: i64 = 120;

/// When the publication of that environment is said to have been made, in seconds since 1970: a while ago, but after the one before it.
pub(crate) fn published_on(environment: usize, (now, previous): (i64, Option<i64>), is_new: bool) -> i64 {
    let ago = if is_new { story(environment).minutes * 60 } else { RERUN };
    previous.map_or(now - ago, |previous| (now - ago).max(previous + 1)).min(now)
}

fn story(environment: usize) -> &'static Story {
    &STORIES[environment.min(STORIES.len() - 1)]
}

/// The branch that the hosts of an environment pull, and where in it the folders of cluster types are.
pub(crate) struct Source<'a> {
    /// Which environment it is, in their order.
    pub(crate) environment: usize,
    /// The repository.
    pub(crate) repository: RepositoryUrl,
    /// The branch.
    pub(crate) branch: &'a str,
    /// The folder of an assignment, by the names of its place and target.
    pub(crate) folder: &'a dyn Fn(&str, &str) -> String,
    /// Whether hosts pull that branch of a repository with manifests.
    pub(crate) is_pulled: &'a dyn Fn(&RepositoryUrl, &str) -> bool,
}

/// The hosts of an environment, which are switched on at that moment and live until another one. Each has two reconcilers for every assignment of its cluster type: for
/// what the platform says of it, and for the manifests of the application.
pub(crate) fn fleet(compiled: &Compiled, source: &Source<'_>, (starts_on, ends_on): (i64, i64)) -> Simulation {
    let behavior = behavior(story(source.environment), (ends_on - starts_on).max(1));
    let seed = SEED + source.environment as u64;
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

/// What a host of a cluster type pulls for an assignment.
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

/// How many hosts there are of a cluster type: a cloud region is one cluster, and every shop has its own.
fn count(tier: &str) -> usize {
    match tier {
        "kiosk" => 6,
        "store" => 4,
        "plant" => 2,
        _ => 1,
    }
}

/// Clusters report as their reconciler does. What runs on hosts without containers was written by several people.
fn format(reconciler: &str, number: usize) -> Format {
    const OF_SCRIPTS: [Format; 4] = [Format::Json, Format::Lines, Format::OtlpProtobuf, Format::OtlpJson];
    match reconciler {
        "flux" => Format::Flux,
        "argocd" => Format::ArgoCd,
        _ => OF_SCRIPTS[number % OF_SCRIPTS.len()],
    }
}

/// How hosts behave that live for so many seconds.
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
        // They are gone when the demo ends, which is no reason to call them silent.
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
        check(0, None, true, 10_000 - 45 * 60);
        check(2, Some(1), true, 10_000 - 8 * 60);
        check(2, Some(1), false, 10_000 - RERUN);
        check(2, Some(9_990), false, 9_991);
        check(2, Some(10_000), false, 10_000);
    }

    #[test]
    fn hosts_live_by_the_time_there_is() {
        for life in [1, 2, 60, 120, 2_700] {
            let behavior = behavior(&STORIES[2], life);
            assert!(*behavior.interval.start() > 0 && behavior.interval.start() <= behavior.interval.end());
            assert!(*behavior.takes.start() > 0 && behavior.takes.start() <= behavior.takes.end());
            assert!(behavior.short_heartbeat >= 10);
        }
    }
}
