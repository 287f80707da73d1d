//! The totals of environments.

use hub::desired::DesiredUpdate;
use hub::questions::{environment_targets, environments, rollout};
use hub::writer::Writer;
use hub_api::environments::EnvironmentTarget;
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::report::{Report, Status};
use hub_api::timestamp::Timestamp;
use model::rollout::Counts;

use crate::questions::fleet::{Fleet, WORKLOAD, of_application, of_folder};
use crate::twins::Ground;

twins![
    totals_are_by_role,
    environments_have_the_last_published_order,
    targets_show_desired_content_and_its_counts,
    targets_at_a_past_time_show_the_content_desired_then,
    totals_of_some_hosts_are_counted,
    totals_by_status_are_refused,
];

fn counts(counts: &Counts) -> String {
    let Counts { expected, succeeded, failed, in_progress, outdated, .. } = counts;
    format!("{succeeded} of {expected}, {failed} failed, {in_progress} in progress, {outdated} outdated")
}

async fn totals_are_by_role(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    fleet.submit(of_folder("h-1", "edge", 20, 1)).await;
    fleet.submit(Report { status: Status::Failure, ..of_application("h-1", 21, 11) }).await;
    fleet.submit(Report { status: Status::InProgress, ..of_application("h-2", 21, 11) }).await;
    fleet.submit(of_application("h-3", 21, 7)).await;
    let answer = environments(&fleet.database, &Filter::default(), None).await.unwrap();
    let prod = &answer.items[0];
    assert_eq!((prod.name.as_str(), prod.targets, prod.cluster_types), ("prod", 1, 1));
    assert_eq!(counts(&prod.platform), "1 of 1, 0 failed, 0 in progress, 0 outdated");
    assert_eq!(counts(&prod.applications), "0 of 3, 1 failed, 1 in progress, 1 outdated");
    assert_eq!(counts(&prod.counts), "1 of 4, 1 failed, 1 in progress, 1 outdated");
}

async fn environments_have_the_last_published_order(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    for environment in ["dev", "stage", "test"] {
        fleet.publish_application(environment, 12, "1.0").await;
    }
    let (ingest, _writer) = Writer::start(ground.database.clone());
    for (order, expected) in [
        (&[][..], ["dev", "prod", "stage", "test"]),
        (&["dev", "stage", "prod", "away", "dev"], ["dev", "stage", "prod", "test"]),
        (&["test", "dev"], ["test", "dev", "prod", "stage"]),
    ] {
        ingest.update_desired(DesiredUpdate::Ordered(order.iter().map(ToString::to_string).collect())).await.unwrap();
        let names = environments(&fleet.database, &Filter::default(), None).await.unwrap();
        assert_eq!(names.items.into_iter().map(|one| one.name).collect::<Vec<_>>(), expected);
        let names = rollout(&fleet.database, WORKLOAD, &Filter::default(), None).await.unwrap().environments;
        assert_eq!(names.into_iter().map(|one| one.environment).collect::<Vec<_>>(), expected);
    }
}

fn row(row: &EnvironmentTarget) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or("-".into());
    let commit = text(&row.commit);
    let (version, config, commit) = (text(&row.version), text(&row.config_version), commit.trim_start_matches('0'));
    let succeeded =
        row.counts.as_ref().map_or("?".to_owned(), |counts| format!("{} of {}", counts.succeeded, counts.expected));
    format!("{} {} {version} {config} {commit}: {succeeded}", row.role.as_str(), text(&row.cluster_type))
}

async fn targets_show_desired_content_and_its_counts(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    fleet.submit(of_folder("h-1", "edge", 20, 1)).await;
    fleet.submit(of_application("h-1", 21, 11)).await;
    fleet.publish_platform("prod", 2, "c2").await;
    let mut page = Page { limit: Some(1), cursor: None };
    let mut rows = Vec::new();
    loop {
        let answer = environment_targets(&fleet.database, &Filter::default(), &page, None).await.unwrap();
        rows.extend(answer.items.iter().map(row));
        page.cursor = answer.next;
        if page.cursor.is_none() {
            break;
        }
    }
    assert_eq!(rows, ["platform edge - c2 2: 0 of 1", "application - 1.0 - b: 1 of 1"]);
}

async fn targets_at_a_past_time_show_the_content_desired_then(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    fleet.submit(of_application("h-1", 21, 11)).await;
    fleet.publish_application("prod", 30, "2.0").await;
    for (at, expected) in [
        (5, "application - - - -: 0 of 0"),
        (20, "application - 1.0 - b: 0 of 0"),
        (25, "application - 1.0 - b: 1 of 1"),
        (30, "application - 2.0 - 1e: 0 of 1"),
    ] {
        let at = Some(Timestamp::from_millis(at));
        let answer = environment_targets(&fleet.database, &Filter::default(), &Page::default(), at).await.unwrap();
        assert_eq!(answer.items.iter().map(row).collect::<Vec<_>>(), [expected]);
    }
}

/// Two hosts of the cluster type `edge`, one of them without the version; and a host of another type with the version.
async fn of_two_types(ground: &Ground) -> Fleet {
    let fleet = Fleet::new(&ground.database).await;
    for host in ["h-1", "h-2"] {
        fleet.submit(of_folder(host, "edge", 20, 1)).await;
    }
    fleet.submit(of_application("h-1", 21, 11)).await;
    fleet.submit(Report { status: Status::Failure, ..of_application("h-2", 21, 11) }).await;
    fleet.submit(of_application("h-3", 21, 11)).await;
    fleet
}

async fn totals_of_some_hosts_are_counted(ground: Ground) {
    let fleet = of_two_types(&ground).await;
    let of = async |filter: &Filter| {
        let answer = environments(&fleet.database, filter, None).await.unwrap();
        let targets = environment_targets(&fleet.database, filter, &Page::default(), None).await.unwrap();
        let rows: Vec<_> = targets.items.iter().map(row).collect();
        (counts(&answer.items[0].applications), rows.join("; "))
    };
    let text = |text: &str| Some(text.to_owned());
    let half = "1 of 2, 1 failed, 0 in progress, 0 outdated".to_owned();
    let rows = "platform edge - c1 1: 2 of 2; application - 1.0 - b: 1 of 2".to_owned();
    let edge = Filter { cluster_type: text("edge"), ..Filter::default() };
    assert_eq!(of(&edge).await, (half.clone(), rows.clone()));
    assert_eq!(of(&Filter { environment: text("prod"), ..edge.clone() }).await, (half, rows));
    let host = Filter { host: text("h-3"), ..Filter::default() };
    let one = "1 of 1, 0 failed, 0 in progress, 0 outdated".to_owned();
    assert_eq!(of(&host).await, (one.clone(), "application - 1.0 - b: 1 of 1".to_owned()));
    let labels = Filter { selector: text("number=1,region"), ..Filter::default() };
    assert_eq!(of(&labels).await.0, one);
    assert_eq!(
        of(&Filter { selector: text("number=3"), ..edge }).await.0,
        "0 of 0, 0 failed, 0 in progress, 0 outdated"
    );
}

async fn totals_by_status_are_refused(ground: Ground) {
    let fleet = of_two_types(&ground).await;
    let filter = Filter { status: Some("failed".into()), ..Filter::default() };
    let error = environments(&fleet.database, &filter, None).await.unwrap_err().to_string();
    assert!(error.starts_with("`status`: totals are by status already"), "{error}");
}
