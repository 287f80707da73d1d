//! A small company: two environments, a workload with a target in each, and hosts that pull platform and application folders.

use std::collections::BTreeMap;

use hub::store::Database;
use hub::writer::Writer;
use hub_api::endpoint::Endpoint;
use hub_api::publication::{BranchContent, DesiredPlace, DesiredTarget, DesiredVersion, Role};
use hub_api::report::{Report, Status};
use hub_api::timestamp::Timestamp;

const PLATFORM: &str = "https://git.example/acme/platform";
const APPLICATION: &str = "https://git.example/acme/checkout";
/// The name of the workload. Quotes and wildcards must be treated as ordinary characters.
pub(crate) const WORKLOAD: &str = "check'out_100%";

/// A hub: its database and its writer.
pub(crate) struct Fleet {
    pub(crate) database: Database,
    pub(crate) ingest: Writer,
}

impl Fleet {
    /// An empty hub.
    pub(crate) fn empty(database: &Database) -> Self {
        let (ingest, _) = Writer::start(database.clone());
        Self { database: database.clone(), ingest }
    }

    /// Version 1 with configuration `c1` is desired in prod since commits 1 (platform) and 11 (application).
    pub(crate) async fn new(database: &Database) -> Self {
        let fleet = Self::empty(database);
        fleet.publish_platform("prod", 1, "c1").await;
        fleet.publish_application("prod", 11, "1.0").await;
        fleet
    }

    /// Publishes a configuration for the cluster type `edge`: its folder, and the folder of the assignment in it.
    pub(crate) async fn publish_platform(&self, environment: &str, commit: i64, config: &str) {
        let place = |path: &str, config: Option<&str>, tree: i64| DesiredPlace {
            tree: Some(hash(tree)),
            config_version: config.map(str::to_owned),
            ..folder(environment, path)
        };
        let tree = 1_000 + i64::from(config.bytes().last().unwrap_or_default());
        let places = vec![place("edge", None, tree), place("edge/checkout", Some(config), tree + 500)];
        self.publish_folders(environment, commit, places).await;
    }

    /// Publishes these folders as the whole platform of an environment.
    pub(crate) async fn publish_folders(&self, environment: &str, commit: i64, places: Vec<DesiredPlace>) {
        self.publish(platform(environment, commit, places)).await;
    }

    /// Publishes a version of the workload.
    pub(crate) async fn publish_application(&self, environment: &str, commit: i64, version: &str) {
        let place = DesiredPlace {
            path: "checkout".into(),
            tree: Some(hash(2_000 + commit)),
            role: Role::Application,
            environment: Some(environment.into()),
            cluster_type: None,
            cluster: None,
            earlier_names: Vec::new(),
            config_version: None,
            targets: vec![target(environment, Some(version))],
        };
        self.publish(content((APPLICATION, environment), commit, vec![place])).await;
    }

    /// Publishes a version of another workload, in prod.
    pub(crate) async fn publish_workload(&self, workload: &str, commit: i64, version: &str) {
        let target = DesiredTarget { workload: workload.into(), ..target("prod", Some(version)) };
        let place = DesiredPlace {
            path: workload.into(),
            tree: Some(hash(2_000 + commit)),
            role: Role::Application,
            environment: Some("prod".into()),
            cluster_type: None,
            cluster: None,
            earlier_names: Vec::new(),
            config_version: None,
            targets: vec![target],
        };
        self.publish(content(("https://git.example/acme/others", workload), commit, vec![place])).await;
    }

    /// Publishes version 3.0 of a workload with a target in prod at commit 50, which have earlier names.
    pub(crate) async fn publish_renamed(&self, workload: &str, name: &str, earlier: &[(&str, &str)]) {
        let labels = earlier.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let (workload, name) = (workload.to_owned(), name.to_owned());
        let target = DesiredTarget { workload, name, labels, ..target("prod", Some("3.0")) };
        let place = DesiredPlace {
            path: "renamed".into(),
            tree: Some(hash(2_050)),
            role: Role::Application,
            environment: Some("prod".into()),
            cluster_type: None,
            cluster: None,
            earlier_names: Vec::new(),
            config_version: None,
            targets: vec![target],
        };
        self.publish(content(("https://git.example/acme/renamed", "prod"), 50, vec![place])).await;
    }

    /// Publishes a commit without the workload.
    pub(crate) async fn remove_application(&self, environment: &str, commit: i64) {
        self.publish(content((APPLICATION, environment), commit, Vec::new())).await;
    }

    async fn publish(&self, content: BranchContent) {
        self.ingest.publish(content).await.unwrap();
    }

    /// Submits a report.
    pub(crate) async fn submit(&self, report: Report) {
        self.ingest.submit(vec![report]).await.unwrap();
    }
}

/// The folders of the platform at a commit of an environment.
pub(crate) fn platform(environment: &str, commit: i64, places: Vec<DesiredPlace>) -> BranchContent {
    content((PLATFORM, environment), commit, places)
}

fn content((repository, branch): (&str, &str), commit: i64, places: Vec<DesiredPlace>) -> BranchContent {
    BranchContent {
        repository: repository.into(),
        branch: branch.into(),
        commit: hash(commit),
        committed_on: Timestamp::from_millis(commit),
        places,
        is_complete: true,
    }
}

/// A folder of the cluster type `edge`, as a template.
pub(crate) fn folder(environment: &str, path: &str) -> DesiredPlace {
    DesiredPlace {
        path: path.into(),
        tree: Some(hash(1_000)),
        role: Role::Platform,
        environment: Some(environment.into()),
        cluster_type: Some("edge".into()),
        cluster: None,
        earlier_names: Vec::new(),
        config_version: None,
        targets: vec![target(environment, None)],
    }
}

/// A report that a host applied a commit of a platform folder in prod.
pub(crate) fn of_folder(host: &str, path: &str, at: i64, commit: i64) -> Report {
    let endpoint = Endpoint::new(PLATFORM, "prod", path).ok();
    Report { reconciler: "platform".into(), endpoint, ..report(host, at, commit) }
}

/// A report that a host applied a commit of the application in prod.
pub(crate) fn of_application(host: &str, at: i64, commit: i64) -> Report {
    let endpoint = Endpoint::new(APPLICATION, "prod", "checkout").ok();
    Report { reconciler: "checkout".into(), endpoint, ..report(host, at, commit) }
}

fn target(environment: &str, version: Option<&str>) -> DesiredTarget {
    DesiredTarget {
        workspace: "store-team".into(),
        application: "store".into(),
        workload: WORKLOAD.into(),
        name: format!("checkout-{environment}"),
        environment: environment.into(),
        labels: [("purpose".to_owned(), environment.to_owned())].into(),
        source_endpoint: None,
        version: version.map(DesiredVersion::named),
    }
}

fn report(host: &str, at: i64, commit: i64) -> Report {
    let labels = |number: &str| {
        BTreeMap::from([("region".to_owned(), "west".to_owned()), ("number".to_owned(), number.to_owned())])
    };
    Report {
        host: host.into(),
        reconciler: String::new(),
        kind: "flux".into(),
        endpoint: None,
        revision: format!("prod@sha1:{}", hash(commit)),
        tree: None,
        version: None,
        workload: None,
        status: Status::Success,
        is_waiting: false,
        message: "it's done".into(),
        observed_on: Timestamp::from_millis(at),
        heartbeat: None,
        labels: labels(host.rsplit('-').next().unwrap_or_default()),
    }
}

/// A hash in which the number is recognizable.
pub(crate) fn hash(number: i64) -> String {
    format!("{number:040x}")
}
