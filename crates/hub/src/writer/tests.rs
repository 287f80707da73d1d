//! Tests of the stored effects of reports and publications.

use std::collections::BTreeMap;

use hub_api::endpoint::Endpoint;
use hub_api::publication::{BranchContent, DesiredPlace, Role};
use hub_api::report::{Report, Status};
use hub_api::timestamp::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::management::hosts::{self, HostPart};
use crate::store::{Database, DatabaseUrl};

const REPOSITORY: &str = "https://git.example/acme/gitops";

struct Hub {
    database: Database,
    ingest: Writer,
}

impl Hub {
    async fn new() -> Self {
        let database = Database::open(&DatabaseUrl::Memory).await.unwrap();
        let (ingest, _) = Writer::start(database.clone());
        Self { database, ingest }
    }

    /// Publishes commit number `commit` with these trees at places `a`, `b`, ….
    async fn publish(&self, commit: i64, trees: &[(&str, i64)]) {
        let place = |(path, tree): &(&str, i64)| DesiredPlace {
            path: (*path).into(),
            tree: Some(hash(*tree)),
            role: Role::Platform,
            environment: Some("prod".into()),
            cluster_type: Some("edge".into()),
            cluster: path.strip_prefix("cluster-").map(str::to_owned),
            earlier_names: Vec::new(),
            config_version: None,
            targets: Vec::new(),
        };
        let publication = BranchContent {
            repository: REPOSITORY.into(),
            branch: "prod".into(),
            commit: hash(commit),
            committed_on: Timestamp::from_millis(commit),
            places: trees.iter().map(place).collect(),
            is_complete: true,
        };
        self.ingest.publish(publication).await.unwrap();
    }

    async fn submit(&self, reports: Vec<Report>) -> Vec<ReportOutcome> {
        self.ingest.submit(reports).await.unwrap().outcomes
    }

    /// `(desired, held, is current, status): number`, for numbers other than 0.
    async fn tallies(&self) -> Vec<String> {
        let sql = "select coalesce(w.sequence, 0), coalesce(h.sequence, 0), t.is_current, t.status, sum(t.reconcilers) \
            from tally t left join gitops_commit w on w.id = t.desired_commit_id \
            left join gitops_commit h on h.id = t.held_commit_id where t.reconcilers <> 0 \
            group by 1, 2, 3, 4 order by 1, 2, 3, 4";
        let text = |(desired, held, is_current, status, count): (i64, i64, bool, i64, i64)| {
            let current = if is_current { "current" } else { "not current" };
            let status = Status::from_number(status).map_or("never reported", Status::as_str);
            format!("desired {desired} held {held}, {current}, {status}: {count}")
        };
        self.database.query(sql, Vec::new()).await.unwrap().into_iter().map(text).collect()
    }

    /// The stored tallies, and the tallies from a complete count.
    async fn counted(&self) -> (Vec<String>, Vec<String>) {
        let tallies = "select place_group_id, desired_commit_id, held_commit_id, is_current, status, is_silent, has_heartbeat, reconcilers \
            from tally where reconcilers <> 0 order by 1, 2, 3, 4, 5, 6, 7";
        let naive = "select p.place_group_id, case when w.tree is null then 0 else w.gitops_commit_id end, \
            coalesce(v.gitops_commit_id, 0), case when w.tree = v.tree then 1 else 0 end, s.status, s.is_silent, \
            case when s.silent_after is null and s.is_awaited = 0 then 0 else 1 end, count(*) \
            from reconciler_state s join reconciler r on r.id = s.reconciler_id \
            join place p on p.endpoint = r.manifests_endpoint left join place_revision w on w.id = p.desired_revision_id \
            left join place_revision v on v.id = s.held_revision_id join host o on o.id = r.host_id \
            where r.retired_on is null and o.retired_on is null group by 1, 2, 3, 4, 5, 6, 7 order by 1, 2, 3, 4, 5, 6, 7";
        (self.rows(tallies).await, self.rows(naive).await)
    }

    /// The stored list of reconcilers that need attention, and the list from a scan of all reconcilers.
    async fn attention(&self) -> (Vec<String>, Vec<String>) {
        let kept = "select tally_id, reconciler_id from attention order by 1, 2";
        let naive = "select tally_id, reconciler_id from reconciler_state where tally_id is not null \
            and (status <> 2 or is_silent <> 0 or held_revision_id is null) order by 1, 2";
        (self.rows(kept).await, self.rows(naive).await)
    }

    /// States that contradict the rows of their reconcilers, and references to missing rows.
    async fn wrong(&self) -> Vec<String> {
        let stale = "select s.reconciler_id from reconciler_state s join reconciler r on r.id = s.reconciler_id \
            join host h on h.id = r.host_id where s.profile is not null \
            and (s.place_id is not r.place_id or r.place_id is null or r.retired_on is not null or h.retired_on is not null)";
        let mut wrong = self.rows(stale).await;
        wrong.extend(self.rows("pragma foreign_key_check").await);
        wrong
    }

    async fn rows(&self, sql: &str) -> Vec<String> {
        let rows = self.database.rows(sql, Vec::new()).await.unwrap();
        rows.iter().map(|row| format!("{row:?}")).collect()
    }
}

/// A hash in which the number is recognizable.
fn hash(number: i64) -> String {
    format!("{number:040x}")
}

fn report(host: &str, path: &str, at: i64, commit: i64) -> Report {
    Report {
        host: host.into(),
        reconciler: format!("at-{path}"),
        kind: "flux".into(),
        endpoint: Endpoint::new(REPOSITORY, "prod", path).ok(),
        revision: format!("prod@sha1:{}", hash(commit)),
        tree: None,
        version: None,
        workload: None,
        status: Status::Success,
        is_waiting: false,
        message: String::new(),
        observed_on: Timestamp::from_millis(at),
        heartbeat: None,
        labels: BTreeMap::new(),
    }
}

#[tokio::test]
async fn a_report_is_counted_where_its_place_is_desired() {
    let hub = Hub::new().await;
    hub.publish(1, &[("a", 100)]).await;
    assert_eq!(hub.submit(vec![report("h", "a", 10, 1)]).await, [ReportOutcome::Stored]);
    assert_eq!(hub.tallies().await, ["desired 1 held 1, current, success: 1"]);
    hub.publish(2, &[("a", 200)]).await;
    assert_eq!(hub.tallies().await, ["desired 2 held 1, not current, success: 1"]);
    hub.submit(vec![report("h", "a", 20, 2)]).await;
    assert_eq!(hub.tallies().await, ["desired 2 held 2, current, success: 1"]);
}

#[tokio::test]
async fn commit_to_other_folders_changes_no_state() {
    let hub = Hub::new().await;
    hub.publish(1, &[("a", 100), ("b", 100)]).await;
    hub.submit(vec![report("h", "a", 10, 1)]).await;
    hub.publish(2, &[("a", 100), ("b", 200)]).await;
    assert_eq!(hub.tallies().await, ["desired 1 held 1, current, success: 1"]);
    hub.submit(vec![report("h", "a", 20, 2)]).await;
    assert_eq!(hub.tallies().await, ["desired 1 held 1, current, success: 1"]);
}

#[tokio::test]
async fn a_report_may_come_before_its_commit_is_known() {
    let hub = Hub::new().await;
    hub.submit(vec![report("h", "a", 10, 1)]).await;
    assert_eq!(hub.tallies().await, Vec::<String>::new());
    hub.publish(1, &[("a", 100)]).await;
    assert_eq!(hub.tallies().await, ["desired 1 held 1, current, success: 1"]);
    hub.submit(vec![report("h", "a", 20, 2)]).await;
    assert_eq!(hub.tallies().await, ["desired 1 held 0, not current, success: 1"]);
    hub.publish(2, &[("a", 200)]).await;
    assert_eq!(hub.tallies().await, ["desired 2 held 2, current, success: 1"]);
}

#[tokio::test]
async fn return_to_earlier_content_makes_its_holders_current() {
    let hub = Hub::new().await;
    hub.publish(1, &[("a", 100)]).await;
    hub.submit(vec![report("h", "a", 10, 1)]).await;
    hub.publish(2, &[("a", 200)]).await;
    hub.publish(3, &[("a", 100)]).await;
    assert_eq!(hub.tallies().await, ["desired 3 held 1, current, success: 1"]);
    let revisions = hub.rows("select tree from place_revision order by id").await;
    assert_eq!(revisions.len(), 3, "a return to earlier content is a new entry");
}

#[tokio::test]
async fn removed_places_are_not_expected() {
    let hub = Hub::new().await;
    hub.publish(1, &[("a", 100), ("b", 100)]).await;
    hub.submit(vec![report("h", "a", 10, 1)]).await;
    hub.publish(2, &[("b", 100)]).await;
    assert_eq!(hub.tallies().await, ["desired 0 held 1, not current, success: 1"]);
}

#[tokio::test]
async fn repeated_reports_count_once_and_older_ones_are_not_the_latest() {
    let hub = Hub::new().await;
    hub.publish(1, &[("a", 100)]).await;
    let late = Report { status: Status::Failure, ..report("h", "a", 10, 1) };
    let first = hub.submit(vec![report("h", "a", 20, 1), report("h", "a", 20, 1)]).await;
    assert_eq!(first, [ReportOutcome::Stored, ReportOutcome::Repeated]);
    assert_eq!(hub.submit(vec![late.clone()]).await, [ReportOutcome::Stored]);
    assert_eq!(
        hub.submit(vec![late, report("h", "a", 30, 1)]).await,
        [ReportOutcome::Repeated, ReportOutcome::Confirmed]
    );
    assert_eq!(hub.tallies().await, ["desired 1 held 1, current, success: 1"]);
    assert_eq!(hub.rows("select id from deployment").await.len(), 2);
}

#[tokio::test]
async fn confirmed_report_resumes_after_several_late_reports() {
    let hub = Hub::new().await;
    hub.publish(1, &[("a", 100)]).await;
    let said = |at, message: &str| Report { message: message.into(), ..report("h", "a", at, 1) };
    hub.submit(vec![said(10, "first"), said(20, "first")]).await;
    let late = Report { status: Status::Failure, ..said(12, "second") };
    assert_eq!(hub.submit(vec![late, said(15, "third")]).await, [ReportOutcome::Stored, ReportOutcome::Stored]);
    let sql = "select status_message || ' ' || status || ' ' || created_on from deployment order by created_on";
    let rows: Vec<String> = hub.database.query(sql, Vec::new()).await.unwrap();
    assert_eq!(rows, ["first success 10", "second failure 12", "third success 15", "first success 20"]);
    assert_eq!(hub.tallies().await, ["desired 1 held 1, current, success: 1"]);
}

#[tokio::test]
async fn commits_are_named_by_the_last_change_of_the_place() {
    let hub = Hub::new().await;
    hub.publish(1, &[("a", 100), ("b", 1)]).await;
    hub.publish(2, &[("a", 100), ("b", 2)]).await;
    hub.submit(vec![report("h", "a", 10, 2), report("h", "b", 10, 3)]).await;
    hub.publish(3, &[("a", 100), ("b", 2)]).await;
    let sql = "select gitops_commit_id from deployment order by id";
    let commits: Vec<String> = hub.database.query(sql, Vec::new()).await.unwrap();
    assert_eq!(commits, [hash(1), hash(2)]);
}

#[derive(Clone, Debug)]
enum Step {
    Publish(Vec<(usize, i64)>),
    Report { host: u8, place: usize, at: i64, commit: i64, fails: bool },
    Retire { host: u8, reconciler: Option<usize>, is_restored: bool },
}

const PLACES: [&str; 4] = ["a", "b", "cluster-1", "cluster-2"];

fn step() -> impl Strategy<Value = Step> {
    let publish = prop::collection::vec((0usize..4, 1i64..3), 0..5).prop_map(Step::Publish);
    let report = (0u8..3, 0usize..4, 0i64..8, 1i64..8, any::<bool>());
    let report = report.prop_map(|(host, place, at, commit, fails)| Step::Report { host, place, at, commit, fails });
    let retire = (0u8..3, prop::option::of(0usize..2), any::<bool>());
    let retire = retire.prop_map(|(host, reconciler, is_restored)| Step::Retire { host, reconciler, is_restored });
    prop_oneof![2 => publish, 8 => report, 1 => retire]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn incremental_counts_equal_a_full_recount(steps in prop::collection::vec(step(), 1..30)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let ((tallies, naive), (attention, all), wrong) = runtime.block_on(async {
            let hub = Hub::new().await;
            let mut commit = 0;
            for step in steps {
                match step {
                    Step::Publish(trees) => {
                        commit += 1;
                        let trees: BTreeMap<_, _> = trees.into_iter().map(|(place, tree)| (PLACES[place], tree)).collect();
                        hub.publish(commit, &trees.into_iter().collect::<Vec<_>>()).await;
                    }
                    Step::Report { host, place, at, commit, fails } => {
                        let status = if fails { Status::Failure } else { Status::Success };
                        let report = Report { status, ..report(&format!("h{host}"), PLACES[place], at, commit) };
                        hub.submit(vec![Report { reconciler: format!("r{}", place % 2), ..report }]).await;
                    }
                    Step::Retire { host, reconciler, is_restored } => {
                        let (host, reconciler) = (format!("h{host}"), reconciler.map(|number| format!("r{number}")));
                        let part = HostPart { host: &host, reconciler: reconciler.as_deref() };
                        // A reconciler that is not registered yet cannot be retired.
                        let _ = if is_restored {
                            hosts::restore(&hub.database, part, "test").await
                        } else {
                            hosts::retire(&hub.database, part, "test").await
                        };
                    }
                }
            }
            (hub.counted().await, hub.attention().await, hub.wrong().await)
        });
        prop_assert_eq!(tallies, naive);
        prop_assert_eq!(attention, all);
        prop_assert_eq!(wrong, Vec::<String>::new());
    }
}
