//! Views are kept, replaced, listed and removed by person.

use hub::management::views::{ViewError, ViewOwner, keep, list, remove};
use hub::store::Database;
use hub_api::limits::VIEWS_MAX;
use hub_api::views::{KeptView, ViewContent};

use crate::twins::Ground;

twins![
    a_view_is_replaced_by_one_of_the_same_name,
    favourites_come_first,
    people_have_views_of_their_own,
    a_person_has_a_limited_number_of_views,
    invalid_names_and_addresses_are_refused,
];

fn person(issuer: &str, name: &str) -> ViewOwner {
    ViewOwner { issuer: issuer.into(), name: name.into() }
}

async fn kept(database: &Database, person: &ViewOwner, view: KeptView) {
    let KeptView { name, address, favourite } = view;
    keep(database, person, (&name, &ViewContent { address, favourite })).await.unwrap();
}

fn view(name: &str, address: &str) -> KeptView {
    KeptView { name: name.into(), address: address.into(), favourite: false }
}

fn favourite(name: &str, address: &str) -> KeptView {
    KeptView { favourite: true, ..view(name, address) }
}

/// The views of a person, as `name address`, with a star before favourites.
async fn check(database: &Database, person: &ViewOwner) -> Vec<String> {
    let line = |KeptView { name, address, favourite }| format!("{}{name} {address}", if favourite { "*" } else { "" });
    list(database, person).await.unwrap().into_iter().map(line).collect()
}

async fn a_view_is_replaced_by_one_of_the_same_name(ground: Ground) {
    let (database, ann) = (&ground.database, person("", "ann"));
    kept(database, &ann, view("Fälle \"1\"", "/drift")).await;
    kept(database, &ann, favourite("Fälle \"1\"", "/drift?at=2026-11-01T00:00:00Z")).await;
    assert_eq!(check(database, &ann).await, ["*Fälle \"1\" /drift?at=2026-11-01T00:00:00Z"]);
    remove(database, &ann, "Fälle \"1\"").await.unwrap();
    assert!(check(database, &ann).await.is_empty());
    assert!(matches!(remove(database, &ann, "Fälle \"1\"").await, Err(ViewError::Unknown(_))));
}

async fn favourites_come_first(ground: Ground) {
    let (database, ann) = (&ground.database, person("", "ann"));
    for one in [view("c", "/c"), favourite("b", "/b"), view("B", "/B"), favourite("a", "/a")] {
        kept(database, &ann, one).await;
    }
    assert_eq!(check(database, &ann).await, ["*a /a", "*b /b", "B /B", "c /c"]);
}

async fn people_have_views_of_their_own(ground: Ground) {
    let database = &ground.database;
    let people = [person("", "ann"), person("", "bob"), person("https://login.example", "ann")];
    for (number, person) in people.iter().enumerate() {
        kept(database, person, view("same", &format!("/{number}"))).await;
    }
    remove(database, &people[0], "same").await.unwrap();
    assert!(check(database, &people[0]).await.is_empty());
    assert_eq!(check(database, &people[1]).await, ["same /1"]);
    assert_eq!(check(database, &people[2]).await, ["same /2"]);
}

async fn a_person_has_a_limited_number_of_views(ground: Ground) {
    let (database, ann) = (&ground.database, person("", "ann"));
    for number in 0..VIEWS_MAX {
        kept(database, &ann, view(&number.to_string(), "/")).await;
    }
    let content = ViewContent { address: "/drift".into(), favourite: false };
    assert!(matches!(keep(database, &ann, ("one more", &content)).await, Err(ViewError::TooMany)));
    // One of them can still be replaced.
    keep(database, &ann, ("7", &content)).await.unwrap();
    kept(database, &person("", "bob"), view("one more", "/")).await;
    assert_eq!(check(database, &ann).await.len(), VIEWS_MAX);
}

async fn invalid_names_and_addresses_are_refused(ground: Ground) {
    let (database, ann) = (&ground.database, person("", "ann"));
    for (name, address) in [("", "/"), ("a\0", "/"), ("a", "//evil.example"), ("a", "/api/v1/tokens")] {
        let content = ViewContent { address: address.into(), favourite: false };
        assert!(matches!(keep(database, &ann, (name, &content)).await, Err(ViewError::Wrong(..))), "{name} {address}");
    }
    assert!(check(database, &ann).await.is_empty());
}
