//! Tokens of hosts count only at the places that their hosts are registered for. All other reports are kept apart.

use std::collections::BTreeMap;

use hub::authentication::tokens::Identity;
use hub::ingest::ReportOutcome;
use hub::management::apart;
use hub::management::hosts::{self, HostPart, ReconcilerRegistration, Registration};
use hub::store::Database;
use hub::writer::Writer;
use hub_api::endpoint::Endpoint;
use hub_api::hosts::ApartReason::{self, Clusters, Occupied, Place, Token};
use hub_api::publication::{BranchContent, DesiredPlace, DesiredTarget, Role};
use hub_api::report::{Report, Status, WorkloadName};
use hub_api::timestamp::Timestamp;
use hub_api::tokens::{Group, HostScope, Scope};

use crate::sample::{self, REPOSITORY, hash, lines};
use crate::twins::Ground;

twins![
    a_host_counts_at_the_folder_of_its_cluster_and_nowhere_else,
    clusters_with_one_name_are_distinguished_by_environment,
    a_host_counts_at_the_manifests_that_its_cluster_applies,
    a_folder_that_was_only_read_from_its_branch_has_the_name_of_its_host,
    one_reconciler_of_a_host_counts_at_a_place,
    invented_reconcilers_change_no_count,
    names_of_reconcilers_and_workloads_lead_to_no_other_place,
    a_report_does_not_take_a_reconciler_to_another_place,
    later_known_place_gets_only_its_registered_hosts,
    a_token_may_name_its_places,
    a_shared_token_counts_for_declared_clusters,
    operators_register_hosts_without_a_rule,
    reconcilers_from_before_the_upgrade_still_count,
    reports_kept_apart_are_listed_and_limited,
];

const STORED: ReportOutcome = ReportOutcome::Stored;

fn kept(reason: ApartReason) -> ReportOutcome {
    ReportOutcome::Apart(reason)
}

/// A hub with a platform: the clusters `berlin` and `shared` in dev, `chicago` and `shared` in prod, and a workload in each environment.
struct Hub {
    database: Database,
    ingest: Writer,
}

impl Hub {
    async fn start(ground: &Ground) -> Self {
        let hub = Self { database: ground.database.clone(), ingest: Writer::start(ground.database.clone()).0 };
        hub.publish("dev", 1, &[platform("dev", "berlin"), platform("dev", "shared"), manifests("dev")]).await;
        hub.publish("prod", 2, &[platform("prod", "chicago"), platform("prod", "shared"), manifests("prod")]).await;
        hub
    }

    async fn publish(&self, environment: &str, commit: i64, places: &[DesiredPlace]) {
        let content = BranchContent {
            repository: REPOSITORY.into(),
            branch: environment.into(),
            commit: hash(commit),
            committed_on: Timestamp::from_millis(commit),
            places: places.to_vec(),
            is_complete: false,
        };
        self.ingest.publish(content).await.unwrap();
    }

    /// The outcomes of reports that the owner of a token of this scope sends.
    async fn send(&self, scope: Scope, reports: Vec<Report>) -> Vec<ReportOutcome> {
        self.ingest.submit_from(&Identity::new("token", scope), reports).await.unwrap().outcomes
    }

    /// The outcome of a report of the reconciler `flux` about a place, with a token of a host.
    async fn of_host(&self, host: &str, place: (&str, &str)) -> ReportOutcome {
        self.send(Scope::host(host), vec![report(host, "flux", Some(place))]).await[0]
    }

    /// The reconcilers that are counted: host, reconciler and folder.
    async fn counted(&self) -> Vec<String> {
        let sql = "select h.name, r.name, p.path from reconciler_state s join tally t on t.id = s.tally_id \
            join reconciler r on r.id = s.reconciler_id join host h on h.id = r.host_id join place p on p.id = r.place_id \
            order by h.name, r.name";
        let rows = self.database.query::<(String, String, String)>(sql, vec![]).await.unwrap();
        rows.into_iter().map(|(host, reconciler, path)| format!("{host}/{reconciler} {path}")).collect()
    }
}

/// The folder of a cluster.
fn platform(environment: &str, cluster: &str) -> DesiredPlace {
    let cluster_type = Some("edge".into());
    DesiredPlace { cluster: Some(cluster.into()), cluster_type, ..place(environment, cluster, Role::Platform) }
}

/// The manifests of the workload `cart`.
fn manifests(environment: &str) -> DesiredPlace {
    place(environment, "cart", Role::Application)
}

fn place(environment: &str, path: &str, role: Role) -> DesiredPlace {
    DesiredPlace {
        path: path.into(),
        tree: Some(hash(77)),
        role,
        environment: Some(environment.into()),
        cluster_type: None,
        cluster: None,
        earlier_names: Vec::new(),
        config_version: None,
        targets: vec![DesiredTarget {
            workspace: "acme".into(),
            application: "shop".into(),
            workload: "cart".into(),
            name: format!("{environment}-target"),
            environment: environment.into(),
            ..DesiredTarget::default()
        }],
    }
}

fn report(host: &str, reconciler: &str, place: Option<(&str, &str)>) -> Report {
    Report {
        reconciler: reconciler.into(),
        endpoint: place.map(|(environment, path)| Endpoint::new(REPOSITORY, environment, path).unwrap()),
        labels: BTreeMap::new(),
        ..sample::report(host, "dev", "cart", sample::Applied { commit: 1, at: 10 })
    }
}

async fn a_host_counts_at_the_folder_of_its_cluster_and_nowhere_else(ground: Ground) {
    let hub = Hub::start(&ground).await;
    assert_eq!(hub.of_host("berlin", ("dev", "berlin")).await, STORED);
    assert_eq!(hub.of_host("prod-chicago", ("prod", "chicago")).await, STORED);
    assert_eq!(hub.of_host("dev-mallory", ("dev", "berlin")).await, kept(Place));
    assert_eq!(hub.of_host("dev-chicago", ("prod", "chicago")).await, kept(Place));
    assert_eq!(hub.of_host("mallory", ("prod", "cart")).await, kept(Place));
    assert_eq!(hub.counted().await, ["berlin/flux berlin", "prod-chicago/flux chicago"]);
    // The name in the report is replaced by the one of the token before it arrives here.
    let others = vec![report("chicago", "flux", Some(("dev", "berlin")))];
    assert_eq!(hub.send(Scope::host("chicago"), others).await, [kept(Place)]);
}

async fn clusters_with_one_name_are_distinguished_by_environment(ground: Ground) {
    let hub = Hub::start(&ground).await;
    assert_eq!(hub.of_host("shared", ("prod", "shared")).await, kept(Clusters));
    assert_eq!(hub.of_host("dev-shared", ("dev", "shared")).await, STORED);
    assert_eq!(hub.of_host("dev-shared", ("prod", "shared")).await, kept(Place));
    let scope = || Scope::Host(HostScope { host: "shared".into(), environments: vec!["prod".into()], places: vec![] });
    assert_eq!(hub.send(scope(), vec![report("shared", "flux", Some(("dev", "shared")))]).await, [kept(Token)]);
    assert_eq!(hub.send(scope(), vec![report("shared", "flux", Some(("prod", "shared")))]).await, [STORED]);
    assert_eq!(hub.counted().await, ["dev-shared/flux shared", "shared/flux shared"]);
}

async fn a_host_counts_at_the_manifests_that_its_cluster_applies(ground: Ground) {
    let hub = Hub::start(&ground).await;
    assert_eq!(hub.of_host("berlin", ("dev", "cart")).await, STORED);
    assert_eq!(hub.of_host("berlin", ("prod", "cart")).await, kept(Place));
    // A host with another name is known at the folder of a cluster.
    hub.ingest.submit(vec![report("line-7", "platform", Some(("prod", "chicago")))]).await.unwrap();
    assert_eq!(hub.of_host("line-7", ("prod", "cart")).await, STORED);
    assert_eq!(hub.of_host("line-7", ("dev", "cart")).await, kept(Place));
    assert_eq!(hub.counted().await, ["berlin/flux cart", "line-7/flux cart", "line-7/platform chicago"]);
}

async fn a_folder_that_was_only_read_from_its_branch_has_the_name_of_its_host(ground: Ground) {
    let hub = Hub::start(&ground).await;
    // A branch does not tell clusters from cluster types.
    let read = |name: &str| DesiredPlace { cluster_type: Some(name.into()), ..place("prod", name, Role::Platform) };
    hub.publish("prod", 3, &[read("paris"), read("rome")]).await;
    assert_eq!(hub.of_host("paris", ("prod", "paris")).await, STORED);
    assert_eq!(hub.of_host("prod-rome", ("prod", "rome")).await, STORED);
    assert_eq!(hub.of_host("paris", ("prod", "rome")).await, kept(Place));
    assert_eq!(hub.counted().await, ["paris/flux paris", "prod-rome/flux rome"]);
}

async fn one_reconciler_of_a_host_counts_at_a_place(ground: Ground) {
    let hub = Hub::start(&ground).await;
    let all = |names: [&str; 3]| names.map(|name| report("berlin", name, Some(("dev", "berlin")))).to_vec();
    assert_eq!(
        hub.send(Scope::host("berlin"), all(["a", "b", "a"])).await,
        [STORED, kept(Occupied), ReportOutcome::Repeated]
    );
    assert_eq!(hub.send(Scope::host("berlin"), all(["c", "a", "b"])).await[0], kept(Occupied));
    assert_eq!(hub.counted().await, ["berlin/a berlin"]);
    hosts::retire(&hub.database, HostPart { host: "berlin", reconciler: Some("a") }, "test").await.unwrap();
    assert_eq!(hub.send(Scope::host("berlin"), all(["b", "b", "b"])).await[0], STORED);
    assert_eq!(hub.counted().await, ["berlin/b berlin"]);
}

async fn invented_reconcilers_change_no_count(ground: Ground) {
    let hub = Hub::start(&ground).await;
    hub.ingest.submit(vec![report("chicago", "flux", Some(("prod", "chicago")))]).await.unwrap();
    let state = async || {
        let reconcilers = "select r.name, h.name, r.place_id, d.status from reconciler r join host h on h.id = r.host_id \
            left join deployment d on d.reconciler_id = r.id order by r.id";
        let tallies = "select place_group_id, status, reconcilers from tally where reconcilers > 0 order by id";
        [lines(&hub.database, reconcilers).await, lines(&hub.database, tallies).await]
    };
    let before = state().await;
    let failed = |report: Report| Report { status: Status::Failure, revision: String::new(), ..report };
    let invented: Vec<_> =
        (0..400).map(|number| failed(report("mallory", &format!("r{number}"), Some(("prod", "chicago"))))).collect();
    let outcomes = hub.send(Scope::host("mallory"), invented).await;
    assert!(outcomes.iter().all(|outcome| *outcome == kept(Place)), "{outcomes:?}");
    assert_eq!(state().await, before);
}

async fn names_of_reconcilers_and_workloads_lead_to_no_other_place(ground: Ground) {
    let hub = Hub::start(&ground).await;
    let named =
        |environment: &str| report("berlin", &format!("{environment}.acme.shop.cart.{environment}-target.edge"), None);
    let with = |reconciler: &str, environment: &str| Report {
        workload: Some(WorkloadName { name: "cart".into(), environment: Some(environment.into()) }),
        ..report("berlin", reconciler, None)
    };
    let send = async |report: Report| hub.send(Scope::host("berlin"), vec![report]).await[0];
    assert_eq!(send(named("prod")).await, kept(Place));
    assert_eq!(send(with("a", "prod")).await, kept(Place));
    assert_eq!(send(with("a", "dev")).await, STORED);
    assert_eq!(send(Report { observed_on: Timestamp::from_millis(20), ..with("a", "prod") }).await, kept(Place));
    assert_eq!(send(named("dev")).await, kept(Occupied));
    assert_eq!(hub.counted().await, ["berlin/a cart"]);
}

async fn a_report_does_not_take_a_reconciler_to_another_place(ground: Ground) {
    let hub = Hub::start(&ground).await;
    let name = "prod.acme.shop.cart.late-target.edge";
    let at = |place, millis| Report { observed_on: Timestamp::from_millis(millis), ..report("berlin", name, place) };
    let send = async |report: Report| hub.send(Scope::host("berlin"), vec![report]).await[0];
    assert_eq!(send(at(Some(("dev", "berlin")), 10)).await, STORED);
    assert_eq!(send(at(Some(("prod", "chicago")), 20)).await, kept(Place));
    assert_eq!(send(at(Some(("prod", "chicago")), 5)).await, kept(Place));
    // A report with the same timestamp and without a place does not replace the one with a place.
    send(Report { status: Status::Failure, ..at(None, 10) }).await;
    let mut late = place("prod", "late", Role::Application);
    late.targets[0].name = "late-target".into();
    hub.publish("prod", 3, &[late]).await;
    assert!(!hub.counted().await.iter().any(|counted| counted.ends_with("late")), "{:?}", hub.counted().await);
    assert_eq!(send(at(None, 30)).await, STORED);
    assert!(!hub.counted().await.iter().any(|counted| counted.ends_with("late")), "{:?}", hub.counted().await);
}

async fn later_known_place_gets_only_its_registered_hosts(ground: Ground) {
    let hub = Hub::start(&ground).await;
    // Nothing counts a reconciler at a place that is not known.
    for host in ["paris", "mallory"] {
        assert_eq!(hub.of_host(host, ("prod", "paris")).await, STORED);
    }
    hub.ingest.submit(vec![report("collected", "flux", Some(("prod", "paris")))]).await.unwrap();
    assert_eq!(
        hub.send(Scope::host("paris"), vec![report("paris", "b", Some(("prod", "paris")))]).await,
        [kept(Occupied)]
    );
    hub.publish("prod", 3, &[platform("prod", "paris")]).await;
    assert_eq!(hub.counted().await, ["collected/flux paris", "paris/flux paris"]);
    assert_eq!(hub.of_host("mallory", ("prod", "paris")).await, kept(Place));
    assert_eq!(hub.counted().await, ["collected/flux paris", "paris/flux paris"]);
}

async fn a_token_may_name_its_places(ground: Ground) {
    let hub = Hub::start(&ground).await;
    let places = vec![format!("{REPOSITORY}/dev/berlin")];
    let scope = || Scope::Host(HostScope { host: "kiosk".into(), places: places.clone(), environments: vec![] });
    let send = async |place| hub.send(scope(), vec![report("kiosk", "flux", Some(place))]).await[0];
    assert_eq!(send(("dev", "berlin")).await, STORED);
    assert_eq!(send(("dev", "berlin-2")).await, kept(Token));
    assert_eq!(send(("dev", "cart")).await, kept(Token));
    assert_eq!(hub.counted().await, ["kiosk/flux berlin"]);
}

async fn a_shared_token_counts_for_declared_clusters(ground: Ground) {
    let hub = Hub::start(&ground).await;
    let shared = |places: &[&str]| {
        let places = places.iter().map(|path| format!("{REPOSITORY}/{path}")).collect();
        Scope::Group(Group { hosts: "*".into(), places, ..Group::default() })
    };
    let send = async |scope, host: &str, place| hub.send(scope, vec![report(host, "flux", Some(place))]).await[0];
    assert_eq!(send(shared(&[]), "berlin", ("dev", "berlin")).await, STORED);
    assert_eq!(send(shared(&[]), "shared", ("prod", "shared")).await, STORED);
    assert_eq!(send(shared(&[]), "invented", ("prod", "shared")).await, kept(Place));
    assert_eq!(send(shared(&[]), "berlin", ("prod", "chicago")).await, kept(Place));
    assert_eq!(send(shared(&["prod/chicago"]), "any", ("prod", "chicago")).await, STORED);
    assert_eq!(hub.counted().await, ["any/flux chicago", "berlin/flux berlin", "shared/flux shared"]);
}

async fn operators_register_hosts_without_a_rule(ground: Ground) {
    let hub = Hub::start(&ground).await;
    assert_eq!(hub.of_host("kiosk", ("prod", "chicago")).await, kept(Place));
    let place = Endpoint::new(REPOSITORY, "prod", "chicago").ok();
    let reconciler = Some(ReconcilerRegistration { name: "flux".into(), kind: "flux".into(), place });
    let registration = Registration { host: "kiosk".into(), kind: None, labels: BTreeMap::new(), reconciler };
    hosts::register(&hub.database, &registration, "test").await.unwrap();
    assert_eq!(apart::list(&hub.database, 10).await.unwrap(), []);
    assert_eq!(hub.of_host("kiosk", ("prod", "chicago")).await, STORED);
    let other = hub.send(Scope::host("kiosk"), vec![report("kiosk", "other", Some(("prod", "chicago")))]).await;
    assert_eq!((other[0], hub.counted().await), (kept(Place), vec!["kiosk/flux chicago".to_owned()]));
}

async fn reconcilers_from_before_the_upgrade_still_count(ground: Ground) {
    let hub = Hub::start(&ground).await;
    hub.ingest.submit(vec![report("kiosk", "flux", Some(("prod", "chicago")))]).await.unwrap();
    let mut transaction = hub.database.begin().await.unwrap();
    transaction.run("update reconciler set registered_by = 2").await.unwrap();
    transaction.commit().await.unwrap();
    let listed = hosts::list(&hub.database, &hosts::HostFilter { limit: 10, ..Default::default() }).await.unwrap();
    assert_eq!(listed[0].reconcilers[0].registered_by.as_str(), "upgrade");
    let failed = Report { status: Status::Failure, ..report("kiosk", "flux", Some(("prod", "chicago"))) };
    let failed = Report { observed_on: Timestamp::from_millis(20), ..failed };
    assert_eq!(hub.send(Scope::host("kiosk"), vec![failed]).await, [STORED]);
    assert_eq!(hub.of_host("kiosk", ("dev", "berlin")).await, kept(Place));
}

async fn reports_kept_apart_are_listed_and_limited(ground: Ground) {
    let hub = Hub::start(&ground).await;
    for round in 0..2 {
        let at = Timestamp::from_millis(10 + round);
        let reports = (0..1_200).map(|number| report("mallory", &format!("r{number}"), Some(("prod", "chicago"))));
        hub.send(Scope::host("mallory"), reports.map(|report| Report { observed_on: at, ..report }).collect()).await;
    }
    let listed = apart::list(&hub.database, 2_000).await.unwrap();
    assert_eq!(listed.len(), hub::limits::APART_REPORTS_MAX);
    let first = &listed[0];
    assert_eq!((first.token.as_str(), first.host.as_str(), first.reason), ("token", "mallory", Place));
    assert_eq!(first.place, format!("{REPOSITORY}/prod/chicago"));
    apart::delete_old(&hub.database, Timestamp::now().after(std::time::Duration::from_secs(1))).await.unwrap();
    assert_eq!(apart::list(&hub.database, 2_000).await.unwrap(), []);
}
