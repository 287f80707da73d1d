//! The recorded past does not change when reconcilers move or branches are reset, and it does not depend on the order in which reports arrive.

use hub::desired::DesiredUpdate;
use hub::ingest::ReportOutcome;
use hub::management::hosts::{self, HostPart};
use hub::questions::{deployments, environments, history, rollouts};
use hub::store::Database;
use hub::writer::Writer;
use hub_api::deployments::Deployment;
use hub_api::endpoint::Endpoint;
use hub_api::filter::Filter;
use hub_api::history::{Event, HistorySelection};
use hub_api::page::Page;
use hub_api::publication::{BranchContent, ReadProgress};
use hub_api::report::{Report, Status};
use hub_api::timestamp::Timestamp;

use crate::sample::{Applied, REPOSITORY, hash, lines, publication, report};
use crate::twins::Ground;

twins![
    reports_keep_their_place,
    a_report_without_a_place_is_of_the_place_named_before_it,
    reports_keep_places_that_are_published_later,
    of_reports_with_the_same_timestamp_the_last_to_arrive_counts,
    waiting_reconciler_keeps_its_applied_content,
    confirmation_is_kept_after_a_late_report,
    content_before_a_branch_reset_stays_known,
    a_branch_that_is_reset_names_each_assignment_once,
    a_commit_of_the_future_keeps_no_other_from_counting,
    commits_with_only_removals_are_listed,
    retired_hosts_are_only_in_answers_about_the_past,
];

/// A report of a host at that time in milliseconds. It may name the folder that the reconciler applies.
fn said(host: &str, place: Option<&str>, (commit, at): (i64, i64)) -> Report {
    let endpoint = place.and_then(|place| Endpoint::new(REPOSITORY, "dev", place).ok());
    Report { reconciler: "one".into(), endpoint, ..report(host, "dev", "cart", Applied { commit, at }) }
}

/// A hub in which commit 1 of `dev` is desired.
async fn hub(ground: &Ground) -> Writer {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    ingest.publish(publication("dev", 1)).await.unwrap();
    ingest
}

/// The deployments at that time in milliseconds.
async fn then(database: &Database, filter: &Filter, at: i64) -> Vec<Deployment> {
    let page = Page { limit: Some(100), cursor: None };
    deployments(database, filter, &page, Some(Timestamp::from_millis(at))).await.unwrap().items
}

/// The workload of a host at that time in milliseconds, if the host was at a place.
async fn workload(database: &Database, host: &str, at: i64) -> String {
    let rows = then(database, &Filter { host: Some(host.into()), ..Filter::default() }, at).await;
    let workload = |row: &Deployment| row.target.as_ref().map_or("-".to_owned(), |target| target.workload.clone());
    rows.iter().map(workload).collect::<Vec<_>>().join(" ")
}

async fn reports_keep_their_place(ground: Ground) {
    let ingest = hub(&ground).await;
    for (place, at) in [("cart", 10), ("cart", 15), ("portal", 20), ("cart", 30), ("portal", 40)] {
        ingest.submit(vec![said("berlin", Some(place), (1, at))]).await.unwrap();
    }
    ingest.submit(vec![said("berlin", Some("portal"), (1, 17))]).await.unwrap();
    let database = &ground.database;
    for (at, expected) in [(12, "cart"), (18, "portal"), (25, "portal"), (35, "cart"), (45, "portal")] {
        assert_eq!(workload(database, "berlin", at).await, expected, "{at}");
    }
    let of_cart = Filter { workload: Some("cart".into()), ..Filter::default() };
    for (at, count) in [(12, 1), (25, 0), (35, 1), (45, 0)] {
        assert_eq!(then(database, &of_cart, at).await.len(), count, "{at}");
    }
    let page = Page { limit: Some(100), cursor: None };
    let host = Filter { host: Some("berlin".into()), ..Filter::default() };
    let of_host = history(database, (&host, &HistorySelection::default()), &page).await.unwrap();
    let workload = |event: &Event| match event {
        Event::Reported(reported) => Some(reported.target.clone()?.workload),
        Event::Published(_) | Event::Promotion(_) => None,
    };
    let workloads: Vec<_> = of_host.items.iter().filter_map(workload).collect();
    assert_eq!(workloads, ["portal", "cart", "portal", "cart"]);
}

/// All orders of four items.
fn orders() -> Vec<[usize; 4]> {
    let all = (0..256).map(|number| [number & 3, number >> 2 & 3, number >> 4 & 3, number >> 6 & 3]);
    all.filter(|order| (0..4).all(|index| order.contains(&index))).collect()
}

async fn a_report_without_a_place_is_of_the_place_named_before_it(ground: Ground) {
    let ingest = hub(&ground).await;
    for (number, order) in orders().into_iter().enumerate() {
        let host = format!("host-{number}");
        let statuses = [Status::Success, Status::InProgress, Status::Success, Status::Failure];
        let places = [(Some("cart"), 10), (None, 20), (Some("portal"), 30), (None, 40)];
        let report = |index: usize| {
            let (place, at) = places[index];
            Report { status: statuses[index], ..said(&host, place, (1, at)) }
        };
        let reports: Vec<Report> = order.into_iter().map(report).collect();
        if number % 2 == 0 {
            ingest.submit(reports).await.unwrap();
        } else {
            for report in reports {
                ingest.submit(vec![report]).await.unwrap();
            }
        }
        for (at, expected) in [(12, "cart"), (22, "cart"), (32, "portal"), (42, "portal")] {
            assert_eq!(workload(&ground.database, &host, at).await, expected, "{order:?} at {at}");
        }
    }
    let here = lines(&ground.database, "select distinct manifests_endpoint from reconciler").await;
    assert_eq!(here.len(), 1, "{here:?}");
    let tallies = "select cast(sum(t.reconcilers) as bigint) from tally t join place_group g on g.id = t.place_group_id \
        join place p on p.place_group_id = g.id where p.path = 'portal'";
    assert_eq!(ground.database.one::<i64>(tallies, Vec::new()).await.unwrap(), 24);
}

async fn reports_keep_places_that_are_published_later(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    ingest.submit(vec![said("berlin", Some("cart"), (1, 10))]).await.unwrap();
    ingest.submit(vec![said("berlin", Some("portal"), (1, 20))]).await.unwrap();
    ingest.publish(publication("dev", 1)).await.unwrap();
    assert_eq!(workload(&ground.database, "berlin", 12).await, "cart");
    assert_eq!(workload(&ground.database, "berlin", 22).await, "portal");
}

async fn of_reports_with_the_same_timestamp_the_last_to_arrive_counts(ground: Ground) {
    let ingest = hub(&ground).await;
    let good = |host: &str| said(host, Some("cart"), (1, 10));
    let failed = |host: &str| Report { status: Status::Failure, ..good(host) };
    ingest.submit(vec![failed("a"), good("a"), failed("a")]).await.unwrap();
    for report in [failed("b"), good("b"), failed("b"), good("b")] {
        ingest.submit(vec![report]).await.unwrap();
    }
    // The same for a timestamp at which the first state was only confirmed.
    for (status, at) in [(Status::Failure, 5), (Status::Failure, 10), (Status::Success, 10), (Status::Failure, 10)] {
        ingest.submit(vec![Report { status, ..said("c", Some("cart"), (1, at)) }]).await.unwrap();
    }
    let rows = "select d.status, s.status, (select count(*) from deployment o where o.reconciler_id = r.id) \
        from reconciler r join reconciler_state s on s.reconciler_id = r.id join deployment d on d.id = s.deployment_id";
    let rows = lines(&ground.database, rows).await;
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| *row == rows[0] && row.contains("success") && row.contains('2')), "{rows:?}");
    // An older report that arrives late does not become the latest.
    let late = Report { status: Status::InProgress, ..said("a", Some("cart"), (1, 9)) };
    ingest.submit(vec![late]).await.unwrap();
    let filter = Filter { host: Some("a".into()), ..Filter::default() };
    for (at, status) in [(9, Status::InProgress), (10, Status::Success), (35, Status::Success)] {
        assert_eq!(then(&ground.database, &filter, at).await.remove(0).status, Some(status), "{at}");
    }
}

async fn waiting_reconciler_keeps_its_applied_content(ground: Ground) {
    let ingest = hub(&ground).await;
    let same = BranchContent { places: publication("dev", 1).places, ..publication("dev", 2) };
    ingest.publish(same).await.unwrap();
    ingest.publish(publication("dev", 3)).await.unwrap();
    let report = |status, (commit, at)| Report { status, ..said("berlin", Some("cart"), (commit, at)) };
    let waits =
        |commit, at| Report { is_waiting: true, message: "waits".into(), ..report(Status::InProgress, (commit, at)) };
    let nameless = |at| Report { revision: String::new(), version: None, endpoint: None, ..waits(1, at) };
    let elsewhere = |at| Report { endpoint: said("berlin", Some("portal"), (1, at)).endpoint, ..waits(1, at) };
    let outcome = async |report: Report| ingest.submit(vec![report]).await.unwrap().outcomes[0];
    assert_eq!(outcome(waits(1, 5)).await, ReportOutcome::Stored, "nothing is applied yet");
    assert_eq!(outcome(report(Status::Success, (1, 10))).await, ReportOutcome::Stored);
    assert_eq!(outcome(waits(1, 12)).await, ReportOutcome::Confirmed);
    assert_eq!(outcome(nameless(13)).await, ReportOutcome::Confirmed);
    assert_eq!(outcome(waits(2, 14)).await, ReportOutcome::Confirmed, "the commit has the same folder");
    assert_eq!(outcome(waits(3, 20)).await, ReportOutcome::Stored);
    assert_eq!(outcome(waits(1, 16)).await, ReportOutcome::Confirmed, "a late report");
    assert_eq!(outcome(report(Status::Failure, (3, 30))).await, ReportOutcome::Stored);
    assert_eq!(outcome(waits(3, 31)).await, ReportOutcome::Stored, "the content is not applied");
    let together = ingest.submit(vec![waits(3, 41), report(Status::Success, (3, 40)), elsewhere(42)]).await.unwrap();
    assert_eq!(together.outcomes, [ReportOutcome::Confirmed, ReportOutcome::Stored, ReportOutcome::Stored]);
}

async fn confirmation_is_kept_after_a_late_report(ground: Ground) {
    let ingest = hub(&ground).await;
    let report = |status, at| Report { status, ..said("berlin", Some("cart"), (1, at)) };
    for (status, at) in [(Status::Success, 12), (Status::Success, 20), (Status::Failure, 30), (Status::InProgress, 15)]
    {
        ingest.submit(vec![report(status, at)]).await.unwrap();
    }
    ingest.submit(vec![report(Status::Success, 10)]).await.unwrap();
    let filter = Filter { host: Some("berlin".into()), ..Filter::default() };
    for (at, status, since) in
        [(13, Status::Success, 10), (17, Status::InProgress, 15), (25, Status::Success, 20), (35, Status::Failure, 30)]
    {
        let row = then(&ground.database, &filter, at).await.remove(0);
        assert_eq!((row.status, row.since), (Some(status), Some(Timestamp::from_millis(since))), "{at}");
    }
}

/// An observation of the branch: it is at that commit.
async fn see(ingest: &Writer, before: Option<i64>, publication: BranchContent) {
    let seen = ReadProgress { before: before.map(hash), is_last: true, ..ReadProgress::default() };
    ingest.update_desired(DesiredUpdate::Observed(publication, seen)).await.unwrap();
}

async fn reset(ground: &Ground) -> Writer {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    see(&ingest, None, publication("dev", 1)).await;
    see(&ingest, Some(1), publication("dev", 2)).await;
    ingest
        .submit(vec![
            report("berlin", "dev", "cart", Applied { commit: 1, at: 10 }),
            report("chicago", "dev", "cart", Applied { commit: 2, at: 20 }),
        ])
        .await
        .unwrap();
    see(&ingest, Some(2), publication("dev", 1)).await;
    ingest
}

async fn content_before_a_branch_reset_stays_known(ground: Ground) {
    let ingest = reset(&ground).await;
    let database = &ground.database;
    let desired = async |at| {
        let rows = then(database, &Filter { host: Some("berlin".into()), ..Filter::default() }, at).await;
        rows.first().and_then(|row| row.desired_commit.clone()).unwrap_or_default()
    };
    assert_eq!(desired(30).await, hash(2));
    assert_eq!(desired(Timestamp::now().millis() + 1).await, hash(1));
    let page = Page { limit: Some(100), cursor: None };
    let listed = rollouts(database, &Filter::default(), &page, None).await.unwrap();
    let listed: Vec<_> = listed.items.iter().map(|one| (one.commit.clone(), one.places)).collect();
    assert_eq!(listed, [(hash(1), 2), (hash(2), 2), (hash(1), 2)]);
    let current = "select cast(sum(reconcilers) as bigint) from tally where is_current = 1";
    assert_eq!(database.one::<i64>(current, Vec::new()).await.unwrap(), 1);
    ingest
        .submit(vec![report("chicago", "dev", "cart", Applied { commit: 1, at: Timestamp::now().millis() })])
        .await
        .unwrap();
    assert_eq!(database.one::<i64>(current, Vec::new()).await.unwrap(), 2);
}

async fn a_branch_that_is_reset_names_each_assignment_once(ground: Ground) {
    let ingest = reset(&ground).await;
    let twice = "select deployment_target_id from deployment_assignment \
        group by deployment_target_id, workload_version_id, gitops_commit_id having count(*) > 1";
    assert_eq!(lines(&ground.database, twice).await, Vec::<String>::new());
    let latest = "select v.version from deployment_assignment a join workload_version v on v.id = a.workload_version_id \
        where a.id = (select max(id) from deployment_assignment)";
    assert_eq!(ground.database.query::<String>(latest, Vec::new()).await.unwrap()[0], "1.1");
    see(&ingest, Some(1), publication("dev", 2)).await;
    assert_eq!(ground.database.query::<String>(latest, Vec::new()).await.unwrap()[0], "1.2");
    assert_eq!(lines(&ground.database, twice).await, Vec::<String>::new());
}

async fn a_commit_of_the_future_keeps_no_other_from_counting(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    let day = 24 * 3_600_000;
    let made = |commit, at| BranchContent { committed_on: Timestamp::from_millis(at), ..publication("dev", commit) };
    let now = Timestamp::now().millis();
    let refused = DesiredUpdate::Published(made(1, now + day)).check().unwrap_err().to_string();
    assert!(refused.starts_with("`committedOn` is ") && refused.contains("in the future"), "{refused}");
    assert_eq!(DesiredUpdate::Published(made(1, now + 60_000)).check(), Ok(()));
    see(&ingest, None, made(1, now + day)).await;
    assert_eq!(ingest.publish(made(2, Timestamp::now().millis())).await.unwrap().changed, 2);
}

async fn commits_with_only_removals_are_listed(ground: Ground) {
    let ingest = hub(&ground).await;
    let targets = async || {
        let environments = environments(&ground.database, &Filter::default(), None).await.unwrap();
        environments.items.iter().map(|one| one.targets).collect::<Vec<_>>()
    };
    assert_eq!(targets().await, [2]);
    let nothing = BranchContent { places: Vec::new(), ..publication("dev", 2) };
    assert_eq!(ingest.publish(nothing).await.unwrap().removed, 2);
    let page = Page { limit: Some(100), cursor: None };
    let happened = history(&ground.database, (&Filter::default(), &HistorySelection::default()), &page).await.unwrap();
    let published = |event: &Event| match event {
        Event::Published(published) => Some((published.commit.clone(), published.places, published.removed)),
        Event::Reported(_) | Event::Promotion(_) => None,
    };
    let published: Vec<_> = happened.items.iter().filter_map(published).collect();
    assert_eq!(published, [(hash(2), 0, 2), (hash(1), 2, 0)]);
    let listed = rollouts(&ground.database, &Filter::default(), &page, None).await.unwrap();
    let listed: Vec<_> = listed.items.iter().map(|one| (one.commit.clone(), one.places, one.removed)).collect();
    assert_eq!(listed, published);
    assert_eq!(targets().await, [0]);
}

async fn retired_hosts_are_only_in_answers_about_the_past(ground: Ground) {
    let ingest = hub(&ground).await;
    for host in ["berlin", "chicago"] {
        ingest.submit(vec![report(host, "dev", "cart", Applied { commit: 1, at: 10 })]).await.unwrap();
        ingest.submit(vec![report(host, "dev", "portal", Applied { commit: 1, at: 10 })]).await.unwrap();
    }
    hosts::retire(&ground.database, HostPart { host: "berlin", reconciler: None }, "test").await.unwrap();
    let reconciler = Some("dev.acme.shop.cart.functional-test.edge");
    hosts::retire(&ground.database, HostPart { host: "chicago", reconciler }, "test").await.unwrap();
    let page = Page { limit: Some(100), cursor: None };
    for host in [None, Some("chicago".to_owned())] {
        let filter = Filter { host, ..Filter::default() };
        let now = deployments(&ground.database, &filter, &page, None).await.unwrap().items;
        assert_eq!(now.iter().map(|row| row.host.as_str()).collect::<Vec<_>>(), ["chicago"]);
    }
    assert_eq!(then(&ground.database, &Filter::default(), 20).await.len(), 4);
    let later = Timestamp::now().millis() + 1_000;
    assert_eq!(then(&ground.database, &Filter::default(), later).await.len(), 1);
}
