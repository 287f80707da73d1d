//! The history of renamed cluster types and clusters.

use hub::desired::{DesiredUpdate, PlannedContent};
use hub::questions::{EarlierNames, Question, QuestionError, history};
use hub_api::filter::Filter;
use hub_api::history::{HistoryKind, HistorySelection};
use hub_api::page::Page;
use hub_api::publication::{BranchContent, DesiredPlace, ReadProgress};
use hub_api::tokens::Reach;

use crate::questions::fleet::{Fleet, folder, of_folder, platform};
use crate::questions::history::{check, line};
use crate::twins::Ground;

twins![
    a_renamed_cluster_type_has_the_history_of_its_earlier_name,
    a_renamed_cluster_has_the_history_of_the_host_with_its_earlier_name,
    the_hub_forgets_names_that_the_publisher_no_longer_sends,
    a_poller_of_the_branch_keeps_the_names,
    a_merged_proposal_brings_its_names,
    a_place_of_another_environment_keeps_its_name,
    a_cluster_of_another_environment_keeps_its_name,
    a_reach_limits_the_earlier_names,
    a_removed_place_has_no_earlier_names,
    an_unknown_name_stays_an_error,
];

/// The folder of the cluster type `altona`.
fn altona(environment: &str, earlier: &[&str]) -> DesiredPlace {
    let earlier_names = earlier.iter().map(ToString::to_string).collect();
    DesiredPlace { cluster_type: Some("altona".into()), earlier_names, ..folder(environment, "altona") }
}

/// The folder of a cluster of the type `edge`.
fn cluster(name: &str, earlier: &[&str]) -> DesiredPlace {
    let earlier_names = earlier.iter().map(ToString::to_string).collect();
    DesiredPlace { cluster: Some(name.into()), earlier_names, ..folder("prod", name) }
}

fn of_type(name: &str, environment: Option<&str>) -> Filter {
    Filter { cluster_type: Some(name.into()), environment: environment.map(str::to_owned), ..Filter::default() }
}

fn of_host(name: &str) -> Filter {
    Filter { host: Some(name.into()), ..Filter::default() }
}

/// A hub in which `edge` was published in prod at commit 1, and renamed to `altona` at commit 50. `h-1` still applies the folder under the earlier name.
async fn renamed(ground: &Ground) -> Fleet {
    let fleet = Fleet::empty(&ground.database);
    fleet.publish_folders("prod", 1, vec![folder("prod", "edge")]).await;
    fleet.submit(of_folder("h-1", "edge", 20, 1)).await;
    fleet.publish_folders("prod", 50, vec![altona("prod", &["edge"])]).await;
    fleet
}

const OF_EDGE: [&str; 3] = ["h-1 platform - success", "32 published ", "1 published "];

async fn a_renamed_cluster_type_has_the_history_of_its_earlier_name(ground: Ground) {
    let fleet = renamed(&ground).await;
    fleet.submit(of_folder("h-2", "altona", 60, 50)).await;
    let both: Vec<_> = ["h-2 platform - success"].into_iter().chain(OF_EDGE).collect();
    for limit in [1, 100] {
        assert_eq!(check(&fleet, &of_type("altona", None), limit).await, both, "{limit}");
        assert_eq!(check(&fleet, &of_type("altona", Some("prod")), limit).await, both, "{limit}");
        // The earlier name alone has what happened under it.
        assert_eq!(check(&fleet, &of_type("edge", None), limit).await, OF_EDGE, "{limit}");
    }
}

async fn a_renamed_cluster_has_the_history_of_the_host_with_its_earlier_name(ground: Ground) {
    let fleet = Fleet::empty(&ground.database);
    fleet.publish_folders("prod", 1, vec![cluster("line-7", &[]), cluster("line-8", &[])]).await;
    fleet.submit(of_folder("line-7", "line-7", 20, 1)).await;
    fleet.submit(of_folder("line-8", "line-8", 21, 1)).await;
    fleet.publish_folders("prod", 50, vec![cluster("hall-7", &["line-7"]), cluster("line-8", &[])]).await;
    fleet.submit(of_folder("hall-7", "hall-7", 60, 50)).await;
    let expected = ["hall-7 platform - success", "32 published ", "line-7 platform - success", "1 published "];
    for limit in [1, 100] {
        assert_eq!(check(&fleet, &of_host("hall-7"), limit).await, expected, "{limit}");
        assert_eq!(check(&fleet, &of_host("line-7"), limit).await, expected[1..], "{limit}");
    }
}

/// Whether the history of `altona` has the commit at which `edge` was published.
async fn is_earlier_known(fleet: &Fleet) -> bool {
    check(fleet, &of_type("altona", None), 100).await.contains(&"1 published ".to_owned())
}

async fn the_hub_forgets_names_that_the_publisher_no_longer_sends(ground: Ground) {
    let fleet = renamed(&ground).await;
    assert!(is_earlier_known(&fleet).await);
    fleet.publish_folders("prod", 51, vec![altona("prod", &[])]).await;
    assert!(!is_earlier_known(&fleet).await);
    fleet.publish_folders("prod", 52, vec![altona("prod", &["other", "edge"])]).await;
    assert!(is_earlier_known(&fleet).await);
}

/// An observation of the branch, which contains no names.
fn observation(commit: i64) -> DesiredUpdate {
    let seen = ReadProgress { is_last: true, ..ReadProgress::default() };
    DesiredUpdate::Observed(platform("prod", commit, vec![altona("prod", &[])]), seen)
}

async fn a_poller_of_the_branch_keeps_the_names(ground: Ground) {
    let fleet = renamed(&ground).await;
    fleet.ingest.update_desired(observation(51)).await.unwrap();
    assert!(is_earlier_known(&fleet).await);
}

async fn a_merged_proposal_brings_its_names(ground: Ground) {
    let fleet = Fleet::empty(&ground.database);
    fleet.publish_folders("prod", 1, vec![folder("prod", "edge")]).await;
    let BranchContent { repository, branch, places, .. } = platform("prod", 50, vec![altona("prod", &["edge"])]);
    let plan = PlannedContent { repository, branch, places };
    fleet.ingest.update_desired(DesiredUpdate::Planned(plan)).await.unwrap();
    fleet.ingest.update_desired(observation(50)).await.unwrap();
    assert!(is_earlier_known(&fleet).await);
    // A publication of the same folder replaces the names of the plan.
    fleet.publish_folders("prod", 51, vec![altona("prod", &[])]).await;
    assert!(!is_earlier_known(&fleet).await);
}

async fn a_place_of_another_environment_keeps_its_name(ground: Ground) {
    let fleet = renamed(&ground).await;
    let line = DesiredPlace { cluster: Some("line-1".into()), ..folder("stage", "line-1") };
    fleet.publish_folders("stage", 40, vec![line]).await;
    assert_eq!(check(&fleet, &of_type("altona", None), 100).await, ["32 published "]);
    assert_eq!(check(&fleet, &of_type("altona", Some("prod")), 100).await, OF_EDGE);
    // Renamed there too, but a ring keeps the folder under the earlier name.
    fleet.publish_folders("stage", 41, vec![altona("stage", &["edge"]), folder("stage", "edge")]).await;
    let expected = [OF_EDGE[0], OF_EDGE[1], "29 published ", "28 published ", OF_EDGE[2]];
    assert_eq!(check(&fleet, &of_type("altona", None), 100).await, expected);
}

async fn a_cluster_of_another_environment_keeps_its_name(ground: Ground) {
    let fleet = Fleet::empty(&ground.database);
    fleet.publish_folders("prod", 1, vec![cluster("line-7", &[])]).await;
    fleet.submit(of_folder("line-7", "line-7", 20, 1)).await;
    fleet.publish_folders("prod", 50, vec![cluster("hall-7", &["line-7"])]).await;
    fleet.submit(of_folder("hall-7", "hall-7", 60, 50)).await;
    let other = DesiredPlace { environment: Some("stage".into()), ..cluster("line-7", &[]) };
    fleet.publish_folders("stage", 40, vec![other]).await;
    let (all, earlier) = (of_host("hall-7"), "line-7 platform - success".to_owned());
    let of_prod = Filter { environment: Some("prod".into()), ..all.clone() };
    assert!(!check(&fleet, &all, 100).await.contains(&earlier));
    assert!(check(&fleet, &of_prod, 100).await.contains(&earlier));
}

async fn a_reach_limits_the_earlier_names(ground: Ground) {
    let fleet = renamed(&ground).await;
    fleet.publish_folders("stage", 40, vec![folder("stage", "edge")]).await;
    fleet.publish_folders("stage", 51, vec![altona("stage", &[]), folder("stage", "edge")]).await;
    let (filter, kind) = (of_type("altona", None), Some(HistoryKind::Publication));
    let selection = HistorySelection { kind, ..HistorySelection::default() };
    for (environment, expected) in [("prod", &OF_EDGE[1..]), ("stage", &["33 published "])] {
        let reach = Reach { environments: vec![environment.into()], ..Reach::ALL };
        let question = Question { filter: &filter, reach: &reach, earlier: EarlierNames::NONE };
        let found = history(&fleet.database, (question, &selection), &Page::default()).await.unwrap();
        assert_eq!(found.items.iter().map(line).collect::<Vec<_>>(), expected, "{environment}");
    }
}

async fn a_removed_place_has_no_earlier_names(ground: Ground) {
    let fleet = renamed(&ground).await;
    fleet.publish_folders("prod", 51, vec![folder("prod", "edge")]).await;
    assert_eq!(check(&fleet, &of_type("altona", None), 100).await, ["33 published ", "32 published "]);
}

async fn an_unknown_name_stays_an_error(ground: Ground) {
    let fleet = renamed(&ground).await;
    for (filter, nearest) in [(of_type("altonna", None), "altona"), (of_host("h-11"), "h-1")] {
        let found = history(&fleet.database, (&filter, &HistorySelection::default()), &Page::default()).await;
        let Err(QuestionError::Unknown { similar, .. }) = found else { panic!("{found:?}") };
        assert_eq!(similar, [nearest]);
    }
}
