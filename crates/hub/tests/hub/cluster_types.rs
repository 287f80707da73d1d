//! Cluster types of places: a publisher knows them, a reader of the branch knows only the names of folders.

use hub::desired::{DesiredUpdate, PlannedContent};
use hub::questions::{compare, deployments, environment_targets, history, rollout};
use hub::store::Database;
use hub::writer::Writer;
use hub_api::compare::Compared;
use hub_api::deployments::Deployment;
use hub_api::endpoint::Endpoint;
use hub_api::filter::Filter;
use hub_api::history::{Event, HistoryKind, HistorySelection};
use hub_api::page::Page;
use hub_api::publication::{BranchContent, DesiredPlace, DesiredTarget, DesiredVersion, ReadProgress, Role};
use hub_api::report::Report;
use hub_api::rollouts::RolloutOf;
use hub_api::timestamp::Timestamp;

use crate::faults::check_consistent;
use crate::sample::{Applied, REPOSITORY, hash, report};
use crate::twins::Ground;

twins![
    a_reader_does_not_replace_the_cluster_type_of_clusters,
    clusters_that_only_a_reader_knows_have_the_names_of_their_folders,
    a_reader_does_not_replace_the_cluster_type_of_a_folder,
    reader_replaces_cluster_types_of_its_earlier_reads,
    a_cluster_type_can_have_the_name_of_a_former_cluster,
    environments_are_compared_by_cluster_type,
    a_host_has_the_history_of_its_places,
    a_reconciler_of_an_assignment_has_the_history_of_that_folder,
    a_target_of_another_application_is_replaced,
    a_target_is_replaced_at_all_folders_of_the_branch,
    a_reader_does_not_bring_back_a_replaced_target,
    a_removed_workload_can_still_be_named,
];

const CLUSTERS: [&str; 3] = ["a", "b", "c"];

/// The folders of a cluster and of its assignment. Their content has these numbers.
fn folders(environment: &str, (cluster, content): (&str, i64)) -> [DesiredPlace; 2] {
    let place = |path: String, targets: Vec<DesiredTarget>| DesiredPlace {
        path,
        tree: Some(hash(content)),
        role: Role::Platform,
        environment: Some(environment.into()),
        cluster_type: Some("k".into()),
        cluster: Some(cluster.into()),
        earlier_names: Vec::new(),
        config_version: Some(format!("config-{content}")).filter(|_| !targets.is_empty()),
        targets,
    };
    [place(cluster.into(), Vec::new()), place(format!("{cluster}/w-web"), vec![target(environment, "shop")])]
}

fn target(environment: &str, application: &str) -> DesiredTarget {
    DesiredTarget {
        workspace: "acme".into(),
        application: application.into(),
        workload: "w".into(),
        name: "web".into(),
        environment: environment.into(),
        version: Some(DesiredVersion::named("1.0")),
        ..DesiredTarget::default()
    }
}

/// A commit of the branch of an environment that changes the folders of these clusters.
fn commit(environment: &str, number: i64, clusters: &[&str]) -> BranchContent {
    let places = clusters.iter().flat_map(|cluster| folders(environment, (cluster, 100 + number)));
    BranchContent {
        repository: REPOSITORY.into(),
        branch: environment.into(),
        commit: hash(number),
        committed_on: Timestamp::from_millis(number * 1_000),
        places: places.collect(),
        is_complete: false,
    }
}

/// The same with the names that a reader of the branch knows.
fn read(content: BranchContent) -> BranchContent {
    let folder = |place: DesiredPlace| DesiredPlace {
        cluster_type: place.path.split('/').next().map(str::to_owned),
        cluster: None,
        config_version: None,
        targets: Vec::new(),
        ..place
    };
    BranchContent { places: content.places.into_iter().map(folder).collect(), ..content }
}

/// The same for another application.
fn of_application(mut content: BranchContent, application: &str) -> BranchContent {
    for target in content.places.iter_mut().flat_map(|place| &mut place.targets) {
        target.application = application.into();
    }
    content
}

/// A hub, and the commit up to which it has read the branch `dev`.
struct Hub {
    database: Database,
    ingest: Writer,
    read: Option<String>,
}

impl Hub {
    fn new(ground: &Ground) -> Self {
        let (ingest, _writer) = Writer::start(ground.database.clone());
        Self { database: ground.database.clone(), ingest, read: None }
    }

    /// A hub that has read commit 1 with all clusters, and got it from its publisher. A host of each cluster reports it.
    async fn published(ground: &Ground) -> Self {
        let mut hub = Self::new(ground);
        hub.observe(read(commit("dev", 1, &CLUSTERS))).await;
        hub.publish(commit("dev", 1, &CLUSTERS)).await;
        hub.report("dev", (1, 2_000)).await;
        hub
    }

    async fn publish(&self, content: BranchContent) {
        self.ingest.publish(content).await.unwrap();
    }

    async fn observe(&mut self, content: BranchContent) {
        let progress = ReadProgress { before: self.read.clone(), is_last: true, ..ReadProgress::default() };
        self.read = Some(content.commit.clone());
        self.ingest.update_desired(DesiredUpdate::Observed(content, progress)).await.unwrap();
    }

    /// The host of each cluster reports the folder of the cluster.
    async fn report(&self, environment: &str, (commit, at): (i64, i64)) {
        let of_cluster = |cluster: &&str| Report {
            reconciler: "flux".into(),
            endpoint: Endpoint::new(REPOSITORY, environment, cluster).ok(),
            ..report(&format!("{environment}-{cluster}"), environment, "w", Applied { commit, at })
        };
        self.ingest.submit(CLUSTERS.iter().map(of_cluster).collect()).await.unwrap();
    }

    /// The rows of an environment: `cluster type: succeeded of expected`.
    async fn rows(&self, environment: &str) -> Vec<String> {
        let filter = Filter { environment: Some(environment.into()), ..Filter::default() };
        let found = environment_targets(&self.database, &filter, &Page::default(), None).await.unwrap();
        let row = |one: hub_api::environments::EnvironmentTarget| {
            let counts = one.counts.unwrap_or_default();
            format!("{}: {} of {}", one.cluster_type.unwrap_or_default(), counts.succeeded, counts.expected)
        };
        let mut rows: Vec<_> = found.items.into_iter().map(row).collect();
        rows.sort();
        check_consistent(&self.database).await;
        rows
    }

    /// The deployments of a filter.
    async fn deployments(&self, filter: Filter) -> Vec<Deployment> {
        deployments(&self.database, &filter, &Page::default(), None).await.unwrap().items
    }

    /// The hosts of a cluster type.
    async fn hosts(&self, cluster_type: &str) -> Vec<String> {
        let filter = Filter { cluster_type: Some(cluster_type.into()), ..Filter::default() };
        self.deployments(filter).await.into_iter().map(|row| row.host).collect()
    }

    /// The publications in the history of a filter: `commit: places, workloads`.
    async fn publications(&self, filter: Filter) -> Vec<String> {
        let selection = HistorySelection { kind: Some(HistoryKind::Publication), ..HistorySelection::default() };
        let found = history(&self.database, (&filter, &selection), &Page::default()).await.unwrap();
        let line = |event: Event| match event {
            Event::Published(one) => {
                let workloads = one.versions.iter().map(|version| version.target.workload.clone());
                let commit = one.commit.trim_start_matches('0');
                format!("{commit}: {}, {}", one.places, workloads.collect::<Vec<_>>().join(" "))
            }
            Event::Reported(_) | Event::Promotion(_) => "other".to_owned(),
        };
        found.items.into_iter().map(line).collect()
    }

    /// The application of the rollout with this name, or the error.
    async fn application(&self, name: &str) -> String {
        match rollout(&self.database, name, &Filter::default(), None).await.map(|found| found.what) {
            Ok(RolloutOf::Workload { application, .. } | RolloutOf::Version { application, .. }) => application,
            Ok(RolloutOf::Commit { commit, .. }) => commit,
            Err(error) => error.to_string(),
        }
    }

    /// The applications and versions of a host's deployments.
    async fn applications(&self, host: &str) -> Vec<String> {
        let rows = self.deployments(Filter { host: Some(host.into()), ..Filter::default() }).await;
        let row = |row: Deployment| {
            format!("{} {}", row.target.unwrap_or_default().application, row.version.unwrap_or_default())
        };
        rows.into_iter().map(row).collect()
    }
}

fn of_host(host: &str) -> Filter {
    Filter { host: Some(host.into()), ..Filter::default() }
}

async fn a_reader_does_not_replace_the_cluster_type_of_clusters(ground: Ground) {
    let mut hub = Hub::published(&ground).await;
    assert_eq!(hub.rows("dev").await, ["k: 3 of 3"]);
    hub.publish(commit("dev", 2, &["b"])).await;
    hub.observe(read(commit("dev", 2, &["b"]))).await;
    hub.report("dev", (2, 3_000)).await;
    assert_eq!(hub.rows("dev").await, ["k: 3 of 3"]);
    let mut removed = read(commit("dev", 3, &["c"]));
    removed.places.iter_mut().for_each(|place| place.tree = None);
    hub.observe(removed).await;
    assert_eq!(hub.hosts("k").await, ["dev-a", "dev-b", "dev-c"]);
}

async fn clusters_that_only_a_reader_knows_have_the_names_of_their_folders(ground: Ground) {
    let mut hub = Hub::new(&ground);
    hub.observe(read(commit("dev", 1, &CLUSTERS))).await;
    hub.report("dev", (1, 2_000)).await;
    assert_eq!(hub.rows("dev").await, ["a: 1 of 1", "b: 1 of 1", "c: 1 of 1"]);
    assert_eq!(hub.hosts("b").await, ["dev-b"]);
}

async fn a_reader_does_not_replace_the_cluster_type_of_a_folder(ground: Ground) {
    let mut hub = Hub::new(&ground);
    let mut published = commit("dev", 1, &["a"]);
    published.places.iter_mut().for_each(|place| place.cluster = None);
    hub.publish(published).await;
    hub.observe(read(commit("dev", 1, &["a"]))).await;
    hub.report("dev", (1, 2_000)).await;
    assert_eq!(hub.hosts("k").await, ["dev-a"]);
}

async fn reader_replaces_cluster_types_of_its_earlier_reads(ground: Ground) {
    let mut hub = Hub::new(&ground);
    let in_folder = |cluster_type: &str, number| {
        let mut content = read(commit("dev", number, &["a"]));
        for place in &mut content.places {
            place.path = format!("fleet/{}", place.path);
            place.cluster_type = Some(cluster_type.into());
        }
        content
    };
    // Before the folder of the output was configured, `fleet` was read as a place.
    hub.observe(in_folder("fleet", 1)).await;
    hub.observe(in_folder("a", 2)).await;
    let types = "select distinct cluster_type from place_group";
    assert_eq!(hub.database.query::<String>(types, Vec::new()).await.unwrap(), ["a"]);
}

async fn a_cluster_type_can_have_the_name_of_a_former_cluster(ground: Ground) {
    let mut hub = Hub::published(&ground).await;
    let mut content = commit("dev", 2, &["b"]);
    for place in &mut content.places {
        (place.cluster, place.cluster_type) = (None, Some("b".into()));
    }
    hub.publish(content).await;
    hub.observe(read(commit("dev", 2, &["b"]))).await;
    hub.report("dev", (2, 3_000)).await;
    assert_eq!(hub.rows("dev").await, ["b: 1 of 1", "k: 2 of 2"]);
}

async fn environments_are_compared_by_cluster_type(ground: Ground) {
    let mut hub = Hub::published(&ground).await;
    hub.publish(commit("prod", 1, &CLUSTERS)).await;
    hub.observe(read(commit("dev", 2, &["b"]))).await;
    let compared = Compared { from: "dev".into(), to: "prod".into(), ..Compared::default() };
    let found = compare(&hub.database, &compared, &Filter::default(), &Page::default()).await.unwrap();
    let rows: Vec<_> = found.items.iter().map(|row| (row.config_differs.len(), row.config_same)).collect();
    assert_eq!(rows, [(0, 1)]);
}

async fn a_host_has_the_history_of_its_places(ground: Ground) {
    let mut hub = Hub::published(&ground).await;
    hub.publish(commit("dev", 2, &["b"])).await;
    hub.observe(read(commit("dev", 2, &["b"]))).await;
    hub.publish(commit("dev", 3, &["a", "c"])).await;
    assert_eq!(hub.publications(of_host("dev-a")).await, ["3: 1, w", "1: 1, w"]);
    assert_eq!(hub.publications(of_host("dev-b")).await, ["2: 1, w", "1: 1, w"]);
    let of_type = Filter { cluster_type: Some("k".into()), ..Filter::default() };
    assert_eq!(hub.publications(of_type).await, ["3: 4, w", "2: 2, w", "1: 6, w"]);
}

async fn a_reconciler_of_an_assignment_has_the_history_of_that_folder(ground: Ground) {
    let hub = Hub::published(&ground).await;
    let endpoint = Endpoint::new(REPOSITORY, "dev", "b/w-web").ok();
    hub.ingest
        .submit(vec![Report { endpoint, ..report("of-w", "dev", "w", Applied { commit: 1, at: 2_000 }) }])
        .await
        .unwrap();
    let mut changed = commit("dev", 2, &["b", "c"]);
    let other = DesiredTarget { workload: "other".into(), ..target("dev", "shop") };
    let place = &changed.places[1];
    changed.places.push(DesiredPlace { path: "b/other-web".into(), targets: vec![other.clone()], ..place.clone() });
    hub.publish(changed).await;
    let mut of_other = commit("dev", 3, &["b"]);
    of_other.places[1] =
        DesiredPlace { path: "b/other-web".into(), targets: vec![other], ..of_other.places[1].clone() };
    hub.publish(of_other).await;
    assert_eq!(hub.publications(of_host("of-w")).await, ["2: 1, w", "1: 1, w"]);
    assert_eq!(hub.publications(of_host("dev-b")).await, ["3: 1, other", "2: 1, other w", "1: 1, w"]);
}

async fn a_target_of_another_application_is_replaced(ground: Ground) {
    let mut hub = Hub::published(&ground).await;
    hub.publish(of_application(commit("dev", 2, &["b"]), "store")).await;
    hub.observe(read(commit("dev", 2, &["b"]))).await;
    hub.report("dev", (2, 3_000)).await;
    for name in ["w", "w@1.0"] {
        assert_eq!(hub.application(name).await, "store", "{name}");
    }
    for host in ["dev-a", "dev-b"] {
        assert_eq!(hub.applications(host).await, ["store 1.0"], "{host}");
    }
    hub.publish(of_application(commit("prod", 1, &CLUSTERS), "store")).await;
    let compared = Compared { from: "dev".into(), to: "prod".into(), ..Compared::default() };
    let found = compare(&hub.database, &compared, &Filter::default(), &Page::default()).await.unwrap();
    let rows = found.items.iter().map(|row| (row.application.as_str(), row.from.is_some(), row.to.is_some()));
    assert_eq!(rows.collect::<Vec<_>>(), [("store", true, true)]);
    // What was published before is in the history, under the present application.
    assert_eq!(hub.publications(of_host("dev-a")).await, ["1: 1, w"]);
}

async fn a_target_is_replaced_at_all_folders_of_the_branch(ground: Ground) {
    let hub = Hub::published(&ground).await;
    let mut of_type = commit("dev", 2, &["d"]);
    of_type.places.iter_mut().for_each(|place| place.cluster = None);
    hub.publish(of_application(of_type, "store")).await;
    hub.publish(commit("prod", 1, &["a"])).await;
    assert_eq!(hub.applications("dev-a").await, ["store 1.0"]);
    // Content is desired of both: in dev and in prod.
    assert_eq!(hub.application("w").await, "`w` is ambiguous: `acme/shop/w`, `acme/store/w`");
}

async fn a_reader_does_not_bring_back_a_replaced_target(ground: Ground) {
    let mut hub = Hub::published(&ground).await;
    let planned = commit("dev", 2, &["b"]);
    let plan = PlannedContent {
        repository: planned.repository.clone(),
        branch: planned.branch.clone(),
        places: planned.places.clone(),
    };
    hub.ingest.update_desired(DesiredUpdate::Planned(plan)).await.unwrap();
    hub.publish(of_application(planned.clone(), "store")).await;
    hub.observe(read(planned)).await;
    hub.report("dev", (2, 3_000)).await;
    assert_eq!(hub.application("w@1.0").await, "store");
    assert_eq!(hub.applications("dev-b").await, ["store 1.0"]);
    let released = rollout(&hub.database, "w@1.0", &Filter::default(), None).await.unwrap();
    assert_eq!((released.counts.succeeded, released.counts.expected), (3, 3));
}

async fn a_removed_workload_can_still_be_named(ground: Ground) {
    let hub = Hub::published(&ground).await;
    let mut removed = commit("dev", 2, &CLUSTERS);
    removed.places.iter_mut().for_each(|place| place.tree = None);
    hub.publish(removed).await;
    assert_eq!(hub.application("w").await, "shop");
    let compared = Compared { from: "dev".into(), to: "dev".into(), ..Compared::default() };
    let found = compare(&hub.database, &compared, &Filter::default(), &Page::default()).await.unwrap();
    assert!(found.items.is_empty());
}
