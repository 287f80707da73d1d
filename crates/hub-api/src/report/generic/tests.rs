//! Tests of the generic report.

use proptest::prelude::*;

use super::*;
use crate::report::Status;
use crate::report::example::report;

const NOW: Timestamp = Timestamp::MIN;

/// What comes of a body: names of reconcilers, or what is wrong.
fn check(body: &str) -> Vec<String> {
    check_bytes(body.as_bytes())
}

fn check_bytes(body: &[u8]) -> Vec<String> {
    match read(body, NOW) {
        Err(error) => vec![error.to_string()],
        Ok(batch) => {
            let (taken, refused) = batch.into_parts();
            let taken = taken.into_iter().map(|report| report.reconciler);
            let refused = refused.into_iter().map(|refused| match refused.position.line {
                Some(line) => format!("line {line}: {}", refused.error),
                None => format!("{}: {}", refused.position.index, refused.error),
            });
            taken.chain(refused).collect()
        }
    }
}

/// What is wrong with an object that has a reconciler and a status, and this.
fn check_fields(fields: &str) -> String {
    check(&format!(r#"{{"reconciler": "a", "status": "success", {fields}}}"#)).join("\n")
}

#[test]
fn every_field_is_read() {
    let body = include_str!("../../../tests/payloads/report.json");
    let read = read_one(body.as_bytes(), NOW).unwrap();
    let expected = Report {
        kind: "ansible".into(),
        tree: Some("5".repeat(40)),
        version: Some("1.4.2".into()),
        workload: Some(WorkloadName { name: "shop/checkout".into(), environment: Some("prod".into()) }),
        status: Status::InProgress,
        is_waiting: false,
        message: "3 of 5 tasks".into(),
        observed_on: "2026-11-21T13:44:01Z".parse().unwrap(),
        heartbeat: Some(Duration::from_mins(5)),
        labels: [("region".to_owned(), "us-east".to_owned())].into(),
        ..report()
    };
    assert_eq!(read, expected);
    assert_eq!(read_one(write(&read).as_bytes(), NOW), Ok(expected));
}

#[test]
fn minimal_reports_are_accepted() {
    let read = read_one(br#"{"reconciler": "a", "commit": "v1.2", "status": "ok", "version": "", "place": null}"#, NOW);
    let read = read.unwrap();
    assert_eq!((read.host.as_str(), read.kind.as_str(), read.revision.as_str()), ("", "generic", "v1.2"));
    assert_eq!((read.endpoint, read.version, read.observed_on), (None, None, NOW));
}

#[test]
fn objects_lists_and_lines_are_accepted() {
    let a = r#"{"reconciler": "a", "status": "success"}"#;
    let b = r#"{"reconciler": "b", "status": "failed"}"#;
    assert_eq!(check(a), ["a"]);
    assert_eq!(check(&format!("\u{feff}{}", a.replace(',', ",\n"))), ["a"]);
    assert_eq!(check(&format!(" [{a}, {b}] ")), ["a", "b"]);
    assert_eq!(check(&format!("{a}\r\n\n{b}\n")), ["a", "b"]);
    assert_eq!(check("[]"), Vec::<String>::new());
    assert_eq!(check(" \n"), ["the body is empty"]);
}

#[test]
fn invalid_report_does_not_refuse_the_others() {
    let a = r#"{"reconciler": "a", "status": "success"}"#;
    let list = format!("[{a}, 5, {a}]");
    assert_eq!(check(&list), ["a", "a", "1: report: is a number, and should be an object"]);
    let lines = format!("{{\"reconciler\"\n\n{a}\n{{\"status\": \"sucess\"}}\n");
    assert_eq!(
        check(&lines),
        [
            "a",
            "line 1: report: is no JSON: EOF while parsing an object at line 1 column 13",
            "line 4: status: `sucess` is no status: did you mean `success`?"
        ]
    );
    let mut bytes = format!("{a}\n").into_bytes();
    bytes.extend(b"{\"reconciler\": \"\xff\"}");
    assert_eq!(check_bytes(&bytes).first().map(String::as_str), Some("a"));
}

#[test]
fn invalid_json_is_one_error() {
    assert_eq!(check("{\n  \"a\": 1,\n}"), ["the body is no JSON: key must be a string at line 3 column 1"]);
    assert_eq!(check("[{}"), ["the body is no JSON: EOF while parsing a list at line 1 column 3"]);
    assert_eq!(check("status=success"), ["0: report: is no JSON: expected value at line 1 column 1"]);
}

#[test]
fn invalid_fields_are_reported_with_their_path() {
    assert_eq!(check_fields(r#""observed_at": "now""#), "0: observed_at: is unknown: did you mean `observedAt`?");
    assert_eq!(
        check_fields(r#""place": {"repo": "x"}"#),
        "0: place.repo: is unknown; there are repository, branch, path"
    );
    assert_eq!(check_fields(r#""place": {"branch": "x"}"#), "0: place: the repository is missing");
    assert_eq!(
        check_fields(r#""environment": "prod""#),
        "0: workload: is missing: an environment alone names no workload"
    );
    assert_eq!(check_fields(r#""version": 1.2"#), "0: version: is a number, and should be a text, in quotes");
    assert_eq!(
        check_fields(r#""labels": {"rank": 3}"#),
        "0: labels.rank: is a number, and should be a text, in quotes"
    );
    assert_eq!(
        check_fields(r#""heartbeatSeconds": -1"#),
        "0: heartbeatSeconds: is a number, and should be a whole number, not negative and without quotes"
    );
    assert_eq!(
        check_fields(r#""observedAt": "soon""#),
        "0: observedAt: `soon` is no time as RFC 3339 writes it, such as 2026-11-21T13:44:01Z"
    );
    assert_eq!(
        check_fields(r#""revision": "main@sha1:a", "commit": "b""#),
        "0: commit: is another one than `revision` has: one of the two is enough"
    );
    assert_eq!(check(r#"{"reconciler": "a"}"#), ["0: status: is missing: `success`, `failure` or `in_progress`"]);
}

#[test]
fn statuses_have_several_spellings() {
    for word in ["success", "Succeeded", "OK"] {
        assert_eq!(fields::status("status", Some(word)), Ok(Status::Success));
    }
    for word in ["failure", "failed", "Error", "cancelled"] {
        assert_eq!(fields::status("status", Some(word)), Ok(Status::Failure));
    }
    for word in ["in_progress", "in-progress", "inProgress", "Running"] {
        assert_eq!(fields::status("status", Some(word)), Ok(Status::InProgress));
    }
    let waiting = read_one(br#"{"host": "h", "reconciler": "r", "status": "Waiting"}"#, NOW).unwrap();
    assert_eq!((waiting.status, waiting.is_waiting), (Status::InProgress, true));
    assert_eq!(read_one(write(&waiting).as_bytes(), NOW), Ok(waiting));
}

#[test]
fn deep_and_huge_reports_are_refused() {
    let deep = format!(r#"{{"labels": {}{}}}"#, "[".repeat(20_000), "]".repeat(20_000));
    assert_eq!(check(&deep), ["0: report: is no JSON: recursion limit exceeded at line 1 column 138"]);
    assert!(matches!(read("[".repeat(20_000).as_bytes(), NOW), Err(BodyError::Syntax { .. })));
    let huge = check_fields(&format!(r#""message": "{}""#, "x".repeat(REPORT_BYTES_MAX)));
    assert_eq!(huge, "0: report: has 65591 bytes; at most 65536 are possible");
    let many = format!("[{}0]", "0,".repeat(BATCH_REPORTS_MAX));
    assert_eq!(read(many.as_bytes(), NOW), Err(BodyError::TooMany(BATCH_REPORTS_MAX + 1)));
    let lines = "{}\n".repeat(BATCH_REPORTS_MAX + 2);
    assert_eq!(read(lines.as_bytes(), NOW), Err(BodyError::TooMany(BATCH_REPORTS_MAX + 2)));
}

proptest! {
    #[test]
    fn reports_round_trip(
        names in ["\\PC{1,20}", "\\PC{1,20}", "\\PC{0,20}", "\\PC{0,20}"],
        message in any::<String>(),
        millis in 0i64..253_370_764_799_999,
        seconds in proptest::option::of(any::<u64>()),
    ) {
        let [host, reconciler, revision, label] = names;
        let written = Report {
            host, reconciler, revision, message,
            labels: [(label.clone(), label)].into(),
            observed_on: Timestamp::from_millis(millis),
            heartbeat: seconds.map(Duration::from_secs),
            ..report()
        };
        prop_assert_eq!(read_one(write(&written).as_bytes(), NOW), Ok(written));
    }
}
