//! Differences between two environments.

use hub::questions::compare;
use hub_api::compare::{Compared, ComparedSide};
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::timestamp::Timestamp;

use crate::questions::fleet::{Fleet, of_application};
use crate::twins::Ground;

twins![
    names_that_differ_correspond_by_a_mapping,
    equal_targets_are_left_out_on_request,
    invalid_mappings_are_refused,
    an_environment_is_compared_at_two_times
];

fn side(side: Option<&ComparedSide>) -> String {
    let Some(side) = side else { return "-".to_owned() };
    let holding =
        side.holding.iter().map(|held| format!("{}×{}", held.reconcilers, held.version.as_deref().unwrap_or("?")));
    let version = side.version.as_deref().unwrap_or("-");
    format!("{} {version} has {}", side.target, holding.collect::<Vec<_>>().join(" "))
}

async fn check(fleet: &Fleet, compared: Compared) -> Vec<String> {
    rows(fleet, &Compared { from: "stage".into(), to: "prod".into(), ..compared }).await
}

async fn rows(fleet: &Fleet, compared: &Compared) -> Vec<String> {
    let answer = compare(&fleet.database, compared, &Filter::default(), &Page::default()).await;
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return vec![error.to_string()],
    };
    let config = |row: &hub_api::compare::ComparedTarget| {
        let configs = row.config_differs.iter().map(|config| {
            let text = |version: &Option<String>| version.clone().unwrap_or("-".into());
            format!("{} {}→{}", config.cluster_type, text(&config.from), text(&config.to))
        });
        format!("{} same, {}", row.config_same, configs.collect::<Vec<_>>().join(" "))
    };
    let row = |row: &hub_api::compare::ComparedTarget| {
        format!("{} | {} | {}", side(row.from.as_ref()), side(row.to.as_ref()), config(row))
    };
    answer.items.iter().map(row).collect()
}

async fn both(ground: &Ground, version: &str, config: &str) -> Fleet {
    let fleet = Fleet::new(&ground.database).await;
    fleet.submit(of_application("h-1", 21, 11)).await;
    fleet.publish_application("stage", 12, version).await;
    fleet.publish_platform("stage", 2, config).await;
    fleet
}

async fn names_that_differ_correspond_by_a_mapping(ground: Ground) {
    let fleet = both(&ground, "2.0", "c2").await;
    let apart =
        ["- | checkout-prod 1.0 has 1×1.0 | 0 same, edge -→c1", "checkout-stage 2.0 has  | - | 0 same, edge c2→-"];
    assert_eq!(check(&fleet, Compared::default()).await, apart);
    let map = Some("checkout-stage=checkout-prod".into());
    let together = ["checkout-stage 2.0 has  | checkout-prod 1.0 has 1×1.0 | 0 same, edge c2→c1"];
    assert_eq!(check(&fleet, Compared { map, ..Compared::default() }).await, together);
}

async fn equal_targets_are_left_out_on_request(ground: Ground) {
    let fleet = both(&ground, "1.0", "c1").await;
    let map = Some("checkout-stage=checkout-prod".to_owned());
    let same = ["checkout-stage 1.0 has  | checkout-prod 1.0 has 1×1.0 | 1 same, "];
    assert_eq!(check(&fleet, Compared { map: map.clone(), ..Compared::default() }).await, same);
    assert!(check(&fleet, Compared { map, differing: true, ..Compared::default() }).await.is_empty());
}

async fn invalid_mappings_are_refused(ground: Ground) {
    let fleet = both(&ground, "1.0", "c1").await;
    for (map, name, near) in [
        ("checkout-stag=checkout-prod", "checkout-stag", "checkout-stage"),
        ("checkout-stage=checkout-prd", "checkout-prd", "checkout-prod"),
    ] {
        let said = check(&fleet, Compared { map: Some(map.into()), ..Compared::default() }).await;
        assert_eq!(said, [format!("there is no target `{name}`; did you mean `{near}`?")]);
    }
    let said = check(&fleet, Compared { map: Some("a=b,c".into()), ..Compared::default() }).await;
    assert_eq!(said, ["`map`: `c` is not `NAME=NAME` or `WORKLOAD/NAME=NAME`"]);
}

async fn an_environment_is_compared_at_two_times(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    fleet.submit(of_application("h-1", 21, 11)).await;
    fleet.publish_application("prod", 30, "2.0").await;
    fleet.publish_platform("prod", 31, "c2").await;
    fleet.submit(of_application("h-1", 41, 30)).await;
    let at = |from_at: i64, to_at: Option<i64>| Compared {
        from: "prod".into(),
        to: "prod".into(),
        from_at: Some(Timestamp::from_millis(from_at)),
        to_at: to_at.map(Timestamp::from_millis),
        ..Compared::default()
    };
    let first = "checkout-prod 1.0 has 1×1.0";
    let last = "checkout-prod 2.0 has 1×2.0";
    for (compared, expected) in [
        (at(25, None), format!("{first} | {last} | 0 same, edge c1→c2")),
        (at(25, Some(35)), format!("{first} | checkout-prod 2.0 has 1×1.0 | 0 same, edge c1→c2")),
        (at(25, Some(25)), format!("{first} | {first} | 1 same, ")),
        // The platform came first.
        (at(5, None), format!("checkout-prod - has  | {last} | 0 same, edge c1→c2")),
        (at(0, None), format!("- | {last} | 0 same, edge -→c2")),
    ] {
        assert_eq!(rows(&fleet, &compared).await, [expected], "{compared:?}");
    }
}
