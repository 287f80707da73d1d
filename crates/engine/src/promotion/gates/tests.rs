//! Examples of each kind of gate.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::civil::{Weekday, date, time};
use jiff::{SignedDuration, Timestamp};
use model::object::promotion::{Amount, Approval, Check, Expectation, Gate, GateKind, Share, Silent, Window};

use super::{CHECK_FRESHNESS, GateInput, GateReport, UNKNOWN_MAX, evaluate};
use crate::promotion::evidence::{Approver, Authors, CheckOutcome, CheckResult, Measured};
use crate::promotion::state::{Decision, GateStatus};

/// The evidence of a test, with a good fleet of 100 reconcilers.
#[derive(Clone)]
struct Evidence {
    now: Timestamp,
    measured: Result<Measured, Arc<str>>,
    check: Option<CheckResult>,
    approvals: &'static [&'static str],
    authors: Authors,
}

impl Default for Evidence {
    fn default() -> Self {
        Self {
            now: at("2026-03-02T10:00:00Z"),
            measured: Ok(fleet(100, 0, 0)),
            check: None,
            approvals: &[],
            authors: ann(),
        }
    }
}

fn ann() -> Authors {
    Authors::one(Some("ann".into()))
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// 100 reconcilers in 10 places.
fn fleet(succeeded: u64, failed: u64, silent: u64) -> Measured {
    Measured { places: 10, unpublished: 0, expected: 100, succeeded, failed, silent, without_heartbeat: 0 }
}

fn gate(kind: GateKind) -> Gate {
    Gate::new("gate".into(), kind)
}

fn compliant(share: u16, silent: Silent) -> Gate {
    gate(GateKind::Compliant { share: Share::of_hundredths(share * 100), silent })
}

fn soak(minutes: u64) -> Gate {
    Gate::new("soak".into(), GateKind::Soak(Duration::from_mins(minutes)))
}

fn run(gates: &[Gate], evidence: &Evidence, before: Option<&GateReport>) -> GateReport {
    let checks = evidence.check.iter().map(|result| (Arc::from("gate"), result.clone())).collect();
    // `bob for managers`: for this gate only.
    let approver = |text: &&str| {
        let (account, gate) = text.split_once(" for ").map_or((*text, None), |(account, gate)| (account, Some(gate)));
        let gate = gate.map(Into::into);
        Approver { account: account.into(), at: evidence.now, by: "review".into(), gate }
    };
    let approvals: Vec<_> = evidence.approvals.iter().map(approver).collect();
    let members = BTreeSet::from(["Bob".into(), "cid".into()]);
    let input = GateInput {
        now: evidence.now,
        measured: evidence.measured.clone(),
        good_since: before.and_then(|before| before.good_since),
        checks: &checks,
        approvals: &approvals,
        authors: &evidence.authors,
        teams: &BTreeMap::from([("release".into(), members)]),
        before: before.map(|before| &*before.records).unwrap_or_default(),
    };
    evaluate(gates, &input)
}

/// The status and the text of the last gate.
fn check(gate: &Gate, evidence: &Evidence, expected: &str) {
    let report = run(std::slice::from_ref(gate), evidence, None);
    let record = report.records.last().unwrap();
    assert_eq!(format!("{:?}: {}", record.status, record.text), expected);
    assert_eq!(report.all_hold, record.status == GateStatus::Passed);
    assert_eq!(report.is_failed, record.status == GateStatus::Failed);
}

fn measured(measured: Measured) -> Evidence {
    Evidence { measured: Ok(measured), ..Evidence::default() }
}

#[test]
fn compliance_is_a_share_of_the_expected_reconcilers() {
    let wait = compliant(98, Silent::Wait);
    check(&wait, &measured(fleet(98, 2, 0)), "Passed: 98 of 100 reconcilers applied the change");
    let text = "Waiting: 97 of 100 reconcilers applied the change, 98% are needed, 1 failed, 2 are silent";
    check(&wait, &measured(fleet(97, 1, 2)), text);
}

#[test]
fn silent_reconcilers_count_as_configured_in_the_gate() {
    let evidence = measured(fleet(95, 0, 5));
    check(&compliant(100, Silent::Ignore), &evidence, "Passed: 95 of 95 reconcilers applied the change");
    let text = "95 of 100 reconcilers applied the change, 98% are needed, 5 are silent";
    check(&compliant(98, Silent::Wait), &evidence, &format!("Waiting: {text}"));
    check(&compliant(98, Silent::Fail), &evidence, &format!("Failed: {text}"));
    check(&compliant(100, Silent::Ignore), &measured(fleet(0, 0, 100)), "Waiting: all 100 reconcilers are silent");
}

/// The outcome of `compliant`, `failures` and `soak` of a list, when 3 of 100 reconcilers die after success, and when they are back.
#[test]
fn reconcilers_that_die_after_success_count_as_silent() {
    let check = |share, silent, expected: [&str; 2]| {
        let gates = [compliant(share, silent), Gate::new("few".into(), GateKind::Failures(Amount::Count(2))), soak(30)];
        let begin = run(&gates, &Evidence::default(), None);
        let after = |minutes, succeeded, before| {
            let now = Evidence::default().now + SignedDuration::from_mins(minutes);
            let report = run(&gates, &Evidence { now, ..measured(fleet(succeeded, 0, 100 - succeeded)) }, Some(before));
            let statuses: Vec<_> = report.records.iter().map(|record| format!("{:?}", record.status)).collect();
            (statuses.join(" "), report)
        };
        let (dead, report) = after(31, 97, &begin);
        let (back, _) = after(32, 100, &report);
        assert_eq!([&*dead, &*back], expected, "{share} {silent:?}");
    };
    check(100, Silent::Wait, ["Waiting Passed Waiting", "Passed Passed Waiting"]);
    check(100, Silent::Ignore, ["Passed Passed Passed", "Passed Passed Passed"]);
    check(100, Silent::Fail, ["Failed Failed Waiting", "Passed Passed Waiting"]);
    check(97, Silent::Wait, ["Passed Passed Passed", "Passed Passed Passed"]);
    check(97, Silent::Fail, ["Passed Failed Waiting", "Passed Passed Waiting"]);
}

#[test]
fn silent_reconcilers_that_failed_are_named_apart() {
    let gates = [compliant(90, Silent::Fail), gate(GateKind::Failures(Amount::Count(2)))];
    let report = run(&gates, &measured(fleet(96, 1, 3)), None);
    assert_eq!(&*report.records[1].text, "4 of 100 reconcilers failed (3 are silent), at most 2 may fail");
}

#[test]
fn gate_that_fails_on_silence_waits_for_unknown_liveness() {
    let evidence = measured(Measured { without_heartbeat: 3, ..fleet(100, 0, 0) });
    let waiting = run(&[compliant(100, Silent::Fail)], &evidence, None).records.remove(0);
    assert_eq!(waiting.status, GateStatus::Waiting);
    let text = "liveness unknown: 3 of 100 reconcilers declare no interval; set `heartbeatSeconds` in their reports";
    assert!(waiting.text.starts_with(text) && waiting.text.contains("[[hub.heartbeat]]"), "{}", waiting.text);
    // The share is reached without them.
    check(&compliant(97, Silent::Fail), &evidence, "Passed: 97 of 100 reconcilers applied the change");
    for silent in [Silent::Wait, Silent::Ignore] {
        check(&compliant(100, silent), &evidence, "Passed: 100 of 100 reconcilers applied the change");
    }
}

#[test]
fn a_fleet_that_proves_nothing_does_not_hold() {
    let nothing = Measured { places: 1, ..Measured::default() };
    for gate in [compliant(0, Silent::Ignore), gate(GateKind::Failures(Amount::Count(9)))] {
        check(&gate, &measured(nothing), "Waiting: no reconciler is expected, so nothing can prove the change");
        let unpublished = Measured { unpublished: 12, ..fleet(100, 0, 0) };
        check(&gate, &measured(unpublished), "Waiting: 12 places are not published yet");
        let unknown = Evidence { measured: Err("the hub does not answer".into()), ..Evidence::default() };
        check(&gate, &unknown, "Waiting: the state of the fleet is not known: the hub does not answer");
    }
}

#[test]
fn failures_beyond_the_amount_fail_also_before_all_is_published() {
    let gate = |amount| gate(GateKind::Failures(amount));
    let two = gate(Amount::Count(2));
    check(&two, &measured(fleet(90, 2, 0)), "Passed: 2 of 100 reconcilers failed, at most 2 may fail");
    let text = "Failed: 3 of 100 reconcilers failed, at most 2 may fail";
    check(&two, &measured(Measured { unpublished: 5, ..fleet(90, 3, 0) }), text);
    let share = gate(Amount::Share(Share::of_hundredths(250)));
    check(&share, &measured(fleet(90, 3, 0)), "Failed: 3 of 100 reconcilers failed, at most 2.5% may fail");
}

#[test]
fn a_soak_begins_when_the_fleet_is_good_and_again_after_each_interruption() {
    let gates = [compliant(100, Silent::Wait), soak(30)];
    let mut evidence = Evidence::default();
    let mut report = run(&gates, &evidence, None);
    let mut after = |minutes, fleet| {
        evidence.now += SignedDuration::from_mins(minutes);
        evidence.measured = Ok(fleet);
        report = run(&gates, &evidence, Some(&report));
        (report.all_hold, report.records[1].text.to_string())
    };
    let good = fleet(100, 0, 0);
    let begin = "good since 2026-03-02T10:00:00Z; 30m end at 2026-03-02T10:30:00Z".to_owned();
    assert_eq!(after(29, good), (false, begin.clone()));
    assert_eq!(after(1, good), (true, begin));
    assert_eq!(after(1, fleet(99, 1, 0)), (false, "30m begin when the fleet is good".to_owned()));
    assert!(!after(1, good).0 && !after(29, good).0 && after(1, good).0);
}

#[test]
fn a_soak_without_other_gates_measures_the_whole_fleet() {
    let report = run(&[soak(0)], &measured(fleet(99, 0, 1)), None);
    let names: Vec<_> = report.records.iter().map(|record| (&*record.name, record.holds())).collect();
    assert_eq!(names, [("compliant", false), ("failures", true), ("soak", false)]);
}

#[test]
fn a_soak_survives_a_short_time_without_evidence_but_does_not_hold_in_it() {
    let gates = [compliant(100, Silent::Wait), soak(5)];
    let start = Evidence::default();
    let good = run(&gates, &start, None);
    let unknown = |minutes| Evidence {
        now: start.now + SignedDuration::from_mins(minutes),
        measured: Err("the hub does not answer".into()),
        ..start.clone()
    };
    let first = run(&gates, &unknown(10), Some(&good));
    assert_eq!((first.good_since, first.all_hold), (good.good_since, false));
    let later = run(&gates, &unknown(10 + UNKNOWN_MAX.as_mins() + 1), Some(&first));
    assert_eq!(later.good_since, None);
    // The clock was set back: how long it has lasted is not known.
    assert_eq!(run(&gates, &unknown(5), Some(&first)).good_since, None);
    // Nothing was evaluated for a long time, for example because the service was down too.
    let again = |minutes| Evidence { now: start.now + SignedDuration::from_mins(minutes), ..start.clone() };
    assert_eq!(run(&gates, &again(15), Some(&first)).good_since, good.good_since);
    assert_eq!(run(&gates, &again(90), Some(&first)).good_since, Some(again(90).now));
}

#[test]
fn a_clock_that_goes_back_never_ends_a_soak() {
    let gates = [compliant(100, Silent::Wait), soak(5)];
    let start = Evidence::default();
    let before = run(&gates, &start, None);
    for now in [start.now - SignedDuration::from_hours(48), Timestamp::MIN, start.now] {
        let report = run(&gates, &Evidence { now, ..start.clone() }, Some(&before));
        assert!(!report.all_hold && report.good_since == before.good_since, "{now}");
    }
    assert!(run(&gates, &Evidence { now: Timestamp::MAX, ..start.clone() }, Some(&before)).all_hold);
}

#[test]
fn a_check_counts_while_its_result_is_recent() {
    let gate = gate(GateKind::Check(Check { name: "errors".into(), expect: Expectation::Command }));
    let result = |outcome, age: SignedDuration| Evidence {
        check: Some(CheckResult { at: Evidence::default().now - age, outcome, text: "0.2".into() }),
        ..Evidence::default()
    };
    let second = SignedDuration::from_secs(1);
    check(&gate, &Evidence::default(), "Waiting: the check has not run yet");
    check(&gate, &result(CheckOutcome::Passed, CHECK_FRESHNESS), "Passed: 0.2");
    check(&gate, &result(CheckOutcome::Failed, second), "Failed: 0.2");
    check(&gate, &result(CheckOutcome::Unknown, second), "Waiting: the check has no result: 0.2");
    let old = "Waiting: the last result, of 2026-03-02T09:49:59Z, does not count any more: 0.2";
    check(&gate, &result(CheckOutcome::Passed, CHECK_FRESHNESS + second), old);
    let future = "Waiting: the last result, of 2026-03-02T10:10:01Z, does not count any more: 0.2";
    check(&gate, &result(CheckOutcome::Passed, -CHECK_FRESHNESS - second), future);
}

#[test]
fn different_people_other_than_the_author_approve() {
    let gate = |count, team: Option<&str>| gate(GateKind::Approval(Approval { count, team: team.map(Arc::from) }));
    let by = |authors, approvals| Evidence { approvals, authors, ..Evidence::default() };
    let two = gate(2, None);
    check(&two, &by(ann(), &["Ann", "bob", "BOB"]), "Waiting: 1 of 2 approvals (bob); not counted: ann (an author)");
    check(&two, &by(ann(), &["bob", "cid"]), "Passed: 2 of 2 approvals (bob, cid)");
    let unknown = "2 of 3 approvals (bob, cid); one more, because the author of the change is not known";
    check(&two, &by(Authors::default(), &["bob", "cid"]), &format!("Waiting: {unknown}"));
    check(&two, &by(ann(), &["bob for gate", "cid for managers", "dan"]), "Passed: 2 of 2 approvals (bob, dan)");
    let team = gate(1, Some("release"));
    let other = "Waiting: 0 of 1 approval of the team `release`; not counted: dan (not in the team)";
    check(&team, &by(ann(), &["dan"]), other);
    check(&team, &by(ann(), &["bob"]), "Passed: 1 of 1 approval of the team `release` (bob)");
    let missing = "Waiting: the team `ops` is not in the configuration of the service";
    check(&gate(1, Some("ops")), &by(ann(), &["bob"]), missing);
}

#[test]
fn authors_cannot_approve_their_changes() {
    let gate = |count, team: Option<&str>| gate(GateKind::Approval(Approval { count, team: team.map(Arc::from) }));
    let by = |accounts: &[&str], has_unknown, approvals| {
        let accounts = accounts.iter().map(|account| Arc::from(*account)).collect();
        Evidence { approvals, authors: Authors { accounts, has_unknown }, ..Evidence::default() }
    };
    let one = gate(1, None);
    let authors = "Waiting: 0 of 1 approval; not counted: ann (an author), bob (an author)";
    check(&one, &by(&["ann", "Bob"], false, &["ann", "bob"]), authors);
    let other = "Passed: 1 of 1 approval (cid); not counted: ann (an author)";
    check(&one, &by(&["ann", "Bob"], false, &["ann", "cid"]), other);
    // One of the approvals may be of an author.
    let unknown = "1 of 2 approvals (bob); one more, because not all authors of the change are known";
    check(&one, &by(&["ann"], true, &["bob"]), &format!("Waiting: {unknown}"));
    let unknown = "2 of 2 approvals (bob, cid); one more, because the author of the change is not known";
    check(&one, &by(&[], true, &["bob", "cid"]), &format!("Passed: {unknown}"));
    // The team has two members.
    let too_few = "0 of 2 approvals of the team `release`; it can't be reached: 1 of the team did not write the change";
    check(&gate(2, Some("release")), &by(&["bob"], false, &[]), &format!("Waiting: {too_few}"));
    check(&gate(1, Some("release")), &by(&["bob"], false, &[]), "Waiting: 0 of 1 approval of the team `release`");
}

#[test]
fn a_skipped_gate_holds_and_stays_visible() {
    let gate = gate(GateKind::Manual);
    let evidence = Evidence::default();
    let mut before = run(std::slice::from_ref(&gate), &evidence, None);
    assert!(!before.all_hold);
    let decision = Decision { by: "bob".into(), at: evidence.now, reason: "a sale begins".into() };
    before.records[0].status = GateStatus::Skipped(decision.clone());
    let report = run(&[gate], &evidence, Some(&before));
    assert!(report.all_hold);
    assert_eq!(report.records[0].status, GateStatus::Skipped(decision));
    assert_eq!(&*report.records[0].text, "skipped by bob: a sale begins");
}

#[test]
fn since_stays_while_the_status_stays() {
    let gates = [compliant(100, Silent::Wait)];
    let mut evidence = measured(fleet(90, 0, 0));
    let first = run(&gates, &evidence, None);
    evidence.now += SignedDuration::from_mins(5);
    evidence.measured = Ok(fleet(95, 0, 0));
    let second = run(&gates, &evidence, Some(&first));
    assert_eq!(second.records[0].since, first.records[0].since);
    evidence.measured = Ok(fleet(100, 0, 0));
    assert_eq!(run(&gates, &evidence, Some(&second)).records[0].since, evidence.now);
}

/// Office hours in Berlin on weekdays, or other times.
fn window(from: i8, until: i8) -> Window {
    use Weekday::{Friday, Monday, Thursday, Tuesday, Wednesday};
    Window {
        zone: Some("Europe/Berlin".into()),
        zone_label: None,
        days: vec![Monday, Tuesday, Wednesday, Thursday, Friday],
        from: time(from, 0, 0, 0),
        until: time(until, 0, 0, 0),
        except: BTreeSet::from([date(2026, 12, 24)]),
    }
}

fn check_window(window: Window, now: &str, expected: &str) {
    check(&gate(GateKind::Window(window)), &Evidence { now: at(now), ..Evidence::default() }, expected);
}

#[test]
fn a_window_opens_and_closes_in_its_time_zone() {
    let open = "Passed: the window is open until Mon 2026-03-02 17:00 (Europe/Berlin)";
    check_window(window(9, 17), "2026-03-02T08:00:00Z", open);
    check_window(window(9, 17), "2026-03-02T15:59:59Z", open);
    let monday = "Waiting: the window opens on Mon 2026-03-02 09:00 (Europe/Berlin)";
    check_window(window(9, 17), "2026-03-02T07:59:59Z", monday);
    check_window(window(9, 17), "2026-02-27T16:00:00Z", monday);
}

#[test]
fn a_window_over_midnight_belongs_to_the_day_on_which_it_begins() {
    let friday = "Passed: the window is open until Sat 2026-03-07 06:00 (Europe/Berlin)";
    check_window(window(22, 6), "2026-03-07T04:59:59Z", friday);
    let monday = "Waiting: the window opens on Mon 2026-03-09 22:00 (Europe/Berlin)";
    check_window(window(22, 6), "2026-03-07T05:00:00Z", monday);
}

#[test]
fn no_window_begins_on_an_excepted_day() {
    let text = "Waiting: the window opens on Fri 2026-12-25 09:00 (Europe/Berlin)";
    check_window(window(9, 17), "2026-12-24T10:00:00Z", text);
    let never = Window {
        days: vec![Weekday::Thursday],
        except: (0..60).map(|week| date(2026, 12, 24) + jiff::Span::new().weeks(week)).collect(),
        ..window(9, 17)
    };
    check_window(never, "2026-12-24T10:00:00Z", "Waiting: the window does not open in the next 400 days");
}

#[test]
fn a_window_follows_changes_of_the_clock() {
    // On 2026-03-29, the clock goes from 02:00 to 03:00: 09:00 in Berlin is 07:00 in UTC from then on.
    let monday = "Passed: the window is open until Mon 2026-03-30 17:00 (Europe/Berlin)";
    check_window(window(9, 17), "2026-03-30T07:00:00Z", monday);
    let sunday = Window { days: vec![Weekday::Sunday], ..window(2, 4) };
    check_window(
        sunday.clone(),
        "2026-03-29T00:59:59Z",
        "Waiting: the window opens on Sun 2026-03-29 03:00 (Europe/Berlin)",
    );
    check_window(
        sunday,
        "2026-03-29T01:00:00Z",
        "Passed: the window is open until Sun 2026-03-29 04:00 (Europe/Berlin)",
    );
}

#[test]
fn an_unknown_time_zone_never_opens() {
    let window = Window { zone: Some("Mars/Olympus".into()), ..window(9, 17) };
    check_window(window, "2026-03-02T10:00:00Z", "Waiting: the time zone `Mars/Olympus` is not known");
}
