//! A random fleet: folders of the platform and of workloads in two environments, and hosts whose reconcilers report and move between them.

use std::collections::BTreeMap;

use hub::store::Database;
use hub::writer::Writer;
use hub_api::endpoint::Endpoint;
use hub_api::publication::{BranchContent, DesiredPlace, DesiredTarget, DesiredVersion, Role};
use hub_api::report::{Report, Status};
use hub_api::timestamp::Timestamp;
use simulator::random::Random;

use crate::sample::{self, Applied, hash};

pub(super) const ENVIRONMENTS: [&str; 2] = ["dev", "prod"];
/// The commits of each branch.
const COMMITS: usize = 4;
/// The milliseconds between two commits.
const COMMITTED: i64 = 100;
/// The last time of a question.
pub(super) const LAST: i64 = COMMITTED * (COMMITS as i64 + 2);
const HOSTS: usize = 15;

/// A deployment target, which is in both environments.
pub(super) struct Target {
    pub(super) workspace: &'static str,
    pub(super) workload: &'static str,
    pub(super) name: &'static str,
    pub(super) ring: Option<&'static str>,
}

const fn target(names: [&'static str; 3], ring: Option<&'static str>) -> Target {
    let [workspace, workload, name] = names;
    Target { workspace, workload, name, ring }
}

pub(super) const TARGETS: [Target; 4] = [
    target(["web", "cart", "eu"], Some("early")),
    target(["web", "portal", "eu"], None),
    target(["shop", "stock", "us"], Some("late")),
    target(["shop", "depot", "us"], Some("early")),
];

/// A folder of a branch of each environment.
pub(super) struct Folder {
    path: &'static str,
    pub(super) cluster_type: Option<&'static str>,
    cluster: Option<&'static str>,
    /// The positions of its targets.
    pub(super) targets: &'static [usize],
    /// What precedes the number of the content in its version.
    pub(super) version: Option<&'static str>,
    /// Whether its version is that of its targets.
    pub(super) is_versioned: bool,
}

impl Folder {
    pub(super) fn is_platform(&self) -> bool {
        self.cluster_type.is_some()
    }

    pub(super) fn has_config(&self) -> bool {
        self.is_platform() && !self.targets.is_empty()
    }
}

const fn platform(path: &'static str, cluster: Option<&'static str>, targets: &'static [usize]) -> Folder {
    let cluster_type = Some(if cluster.is_some() { "plant" } else { "edge" });
    Folder { path, cluster_type, cluster, targets, version: Some("2."), is_versioned: cluster.is_some() }
}

const fn application(path: &'static str, targets: &'static [usize]) -> Folder {
    Folder { path, cluster_type: None, cluster: None, targets, version: Some("1."), is_versioned: true }
}

/// The manifests of `cart` have its version, so the release of its platform folder does not count. The folders of both lines are counted together.
pub(super) const FOLDERS: [Folder; 6] = [
    platform("edge", None, &[]),
    platform("edge/cart", None, &[0]),
    platform("line-1/depot", Some("line-1"), &[3]),
    platform("line-2/depot", Some("line-2"), &[3]),
    application("cart", &[0]),
    application("both", &[1, 2]),
];

/// A report of a reconciler: when, about which folder of which environment and which commit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said {
    pub(super) at: i64,
    pub(super) environment: usize,
    pub(super) folder: usize,
    pub(super) commit: usize,
    pub(super) status: Status,
}

pub(super) struct Reconciler {
    pub(super) host: usize,
    name: &'static str,
    /// In the order of time.
    pub(super) reports: Vec<Said>,
}

pub(super) struct Fleet {
    /// The number of the content of each folder at each commit of each environment; none if it is not there.
    contents: Vec<Vec<Vec<Option<u64>>>>,
    pub(super) reconcilers: Vec<Reconciler>,
}

impl Fleet {
    pub(super) fn random(random: &mut Random) -> Self {
        let mut content = |commit: usize| (random.percent(85) || commit == 0).then(|| random.below(3));
        let mut folders = |commit: usize| FOLDERS.iter().map(|_| content(commit)).collect();
        let mut commits = || (0..COMMITS).map(&mut folders).collect();
        let contents = ENVIRONMENTS.iter().map(|_| commits()).collect();
        let mut reconcilers = Vec::new();
        for host in 0..HOSTS {
            for name in ["one", "two"] {
                if name == "one" || random.percent(40) {
                    reconcilers.push(Reconciler { host, name, reports: reports(random) });
                }
            }
        }
        Self { contents, reconcilers }
    }

    /// The content that a reconciler reported.
    pub(super) fn held(&self, said: Said) -> Option<u64> {
        self.contents[said.environment][said.commit][said.folder]
    }

    /// The content that was desired in its folder, at a time or now.
    pub(super) fn desired(&self, said: Said, at: Option<i64>) -> Option<u64> {
        let commits = at.map_or(COMMITS, |at| (at / COMMITTED) as usize).min(COMMITS);
        self.contents[said.environment][commits.checked_sub(1)?][said.folder]
    }

    pub(super) async fn play(&self, database: &Database) {
        let (ingest, writer) = Writer::start(database.clone());
        for environment in 0..ENVIRONMENTS.len() {
            for commit in 0..COMMITS {
                for is_platform in [true, false] {
                    ingest.publish(self.publication((environment, commit), is_platform)).await.unwrap();
                }
            }
        }
        let reports = self.reconcilers.iter().flat_map(|one| one.reports.iter().map(|said| report(one, *said)));
        ingest.submit(reports.collect()).await.unwrap();
        drop(ingest);
        writer.await.unwrap();
    }

    fn publication(&self, (environment, commit): (usize, usize), is_platform: bool) -> BranchContent {
        let folders = FOLDERS.iter().enumerate().filter(|(_, folder)| folder.is_platform() == is_platform);
        let place = |(index, folder): (usize, &Folder)| {
            let content = self.contents[environment][commit][index]?;
            let version = folder.version.map(|version| DesiredVersion::named(format!("{version}{content}")));
            let targets = folder.targets.iter().map(|target| DesiredTarget {
                version: version.clone(),
                ..desired_target(&TARGETS[*target], environment)
            });
            Some(DesiredPlace {
                path: folder.path.into(),
                tree: Some(hash(9_000 + content as i64 * 100 + index as i64)),
                role: if is_platform { Role::Platform } else { Role::Application },
                environment: Some(ENVIRONMENTS[environment].into()),
                cluster_type: folder.cluster_type.map(Into::into),
                cluster: folder.cluster.map(Into::into),
                earlier_names: Vec::new(),
                config_version: folder.has_config().then(|| format!("c{content}")),
                targets: targets.collect(),
            })
        };
        BranchContent {
            repository: repository(is_platform).into(),
            branch: ENVIRONMENTS[environment].into(),
            commit: hash(number((environment, commit), is_platform)),
            committed_on: Timestamp::from_millis((commit as i64 + 1) * COMMITTED),
            places: folders.filter_map(place).collect(),
            is_complete: true,
        }
    }
}

/// The number of a commit, which is different in each branch.
fn number((environment, commit): (usize, usize), is_platform: bool) -> i64 {
    1 + (commit * 4 + environment * 2) as i64 + i64::from(is_platform)
}

fn repository(is_platform: bool) -> &'static str {
    if is_platform { "https://git.example/acme/platform" } else { "https://git.example/acme/apps" }
}

fn desired_target(target: &Target, environment: usize) -> DesiredTarget {
    let labels = target.ring.map(|ring| ("ring".to_owned(), ring.to_owned()));
    DesiredTarget {
        workspace: target.workspace.into(),
        application: "app".into(),
        workload: target.workload.into(),
        name: target.name.into(),
        environment: ENVIRONMENTS[environment].into(),
        labels: labels.into_iter().collect(),
        ..DesiredTarget::default()
    }
}

/// The reports of a reconciler. Sometimes it moves to another folder.
fn reports(random: &mut Random) -> Vec<Said> {
    let mut reports = Vec::new();
    let place = |random: &mut Random| (random.below(2) as usize, random.below(FOLDERS.len() as u64) as usize);
    let (mut environment, mut folder) = place(random);
    let mut at = random.within(&(1..=250));
    while at < LAST {
        let status = [Status::Success, Status::Success, Status::Failure, Status::InProgress][random.below(4) as usize];
        let commit = random.below(COMMITS as u64) as usize;
        reports.push(Said { at, environment, folder, commit, status });
        if random.percent(15) {
            (environment, folder) = place(random);
        }
        at += random.within(&(20..=400));
    }
    reports
}

pub(super) fn host_name(host: usize) -> String {
    format!("host-{host}")
}

/// The label of a host. Each third host has none.
pub(super) fn region(host: usize) -> Option<&'static str> {
    [Some("north"), Some("south"), None][host % 3]
}

fn report(reconciler: &Reconciler, said: Said) -> Report {
    let folder = &FOLDERS[said.folder];
    let commit = number((said.environment, said.commit), folder.is_platform());
    let repository = repository(folder.is_platform());
    let labels = region(reconciler.host).map(|region| ("region".to_owned(), region.to_owned()));
    Report {
        host: host_name(reconciler.host),
        reconciler: reconciler.name.into(),
        endpoint: Endpoint::new(repository, ENVIRONMENTS[said.environment], folder.path).ok(),
        status: said.status,
        labels: labels.into_iter().collect::<BTreeMap<_, _>>(),
        ..sample::report("", ENVIRONMENTS[said.environment], "", Applied { commit, at: said.at })
    }
}
