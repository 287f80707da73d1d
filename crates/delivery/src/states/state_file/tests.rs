//! State files: a type describes its form in both directions, and each error has its place.

use serde::{Deserialize, Serialize};

use super::*;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Door {
    name: String,
    #[serde(rename = "\0flatten")]
    state: DoorState,
    keys: Option<u64>,
    sides: Vec<Side>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum DoorState {
    #[serde(rename = "")]
    Shut,
    #[serde(rename = "status: open")]
    Open,
    #[serde(rename = "status: ajar")]
    Ajar,
    Locked {
        by: String,
    },
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Side {
    #[serde(rename = "\0flatten")]
    color: Option<Color>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Color {
    color: String,
    is_bright: bool,
}

const HEADER: &str = "apiVersion: fleet.kalypso.io/v1alpha1\nkind: Door\n";

fn parsed(text: &str) -> Result<Door, String> {
    read(("f", text), &[("kind", "Door")]).map_err(|error| error.to_string())
}

#[track_caller]
fn check(state: DoorState, keys: Option<u64>, expected: &str) {
    let red = Side { color: Some(Color { color: "red".to_owned(), is_bright: true }) };
    let door = Door { name: "yes".to_owned(), state, keys, sides: vec![red, Side::default()] };
    let text = write(&[("kind", "Door")], &door);
    let sides = "sides:\n  - color: red\n    is_bright: true\n  - {}\n";
    assert_eq!(text, format!("{HEADER}name: \"yes\"\n{expected}{sides}"));
    assert_eq!(parsed(&text), Ok(door));
}

#[test]
fn a_type_describes_its_file() {
    check(DoorState::Shut, None, "");
    check(DoorState::Ajar, Some(2), "status: ajar\nkeys: 2\n");
    check(DoorState::Locked { by: "Ann".to_owned() }, None, "locked:\n  by: Ann\n");
    assert_eq!(
        parsed(&format!("{HEADER}name: a\nsides: []\n")),
        Ok(Door { name: "a".to_owned(), state: DoorState::Shut, keys: None, sides: vec![] })
    );
}

#[track_caller]
fn check_error(fields: &str, expected: &str) {
    assert_eq!(parsed(&format!("{HEADER}name: a\n{fields}")), Err(format!("f:{expected}")));
}

#[test]
fn errors_have_a_line_and_a_column() {
    check_error("", "1:1: field `sides` is missing");
    check_error("lock: 1\n", "4:1: unknown field `lock`");
    check_error("\"\\0flatten\": {}\n", "4:1: unknown field `\0flatten`");
    check_error("status: wide\n", "4:9: `open` or `ajar` is expected");
    check_error("locked: {}\n", "4:9: field `by` is missing");
    check_error("locked: {by: Ann, at: x}\n", "4:19: unknown field `at`");
    check_error("locked: {by: Ann}\nstatus: open\n", "1:1: `status` or `locked` is expected, not more than one");
    check_error("sides: [{color: red}]\n", "4:9: field `is_bright` is missing");
    check_error("sides: {}\n", "4:8: a list is expected");
    check_error("keys:\n", "4:6: a number is expected that is not negative");
    check_error("sides:\n  - color: red\n    is_bright: maybe\n", "6:16: `true` or `false` is expected");
}

#[test]
fn the_version_and_the_kind_come_first() {
    let check = |text: &str, expected: &str| assert_eq!(parsed(text), Err(format!("f:{expected}")));
    let other = |version: &str| format!("kind: Gate\nmore: 1\napiVersion: {version}\n");
    let expected = "`fleet.kalypso.io/v1alpha1` is expected, not";
    check(
        &other("fleet.kalypso.io/v1"),
        &format!("3:13: {expected} `fleet.kalypso.io/v1`: a newer Kalypso wrote this file"),
    );
    check(&other("v1"), &format!("3:13: {expected} `v1`"));
    check(&other("fleet.kalypso.io/v1alpha1"), "1:7: `Door` is expected, not `Gate`");
    check("- 1\n", "1:1: fields are expected");
    check("", "1:1: the file is empty");
    check("a: 1\n---\na: 1\n", "3:1: the file has more than one document");
}
