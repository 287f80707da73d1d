//! Tests of the kind: what is read, and every mistake that is reported.

use std::time::Duration;

use jiff::civil::Weekday;

use super::*;
use crate::object::AnyObject;
use crate::read::read_file;
use crate::source::FileId;

fn read(spec: &str) -> Result<Promotion, Vec<String>> {
    let text = format!("apiVersion: fleet.kalypso.io/v1alpha1\nkind: Promotion\nmetadata: {{name: a}}\nspec: {spec}\n");
    let read = read_file(FileId::default(), "a.yaml", text.as_bytes());
    match read.objects.first() {
        Some(AnyObject::Promotion(found)) if read.diagnostics.is_empty() => Ok(found.spec.clone()),
        _ => Err(read
            .diagnostics
            .iter()
            .map(|found| {
                assert!(!found.help.is_empty(), "no advice: {found:?}");
                format!("{} {}", found.code, found.message)
            })
            .collect()),
    }
}

fn gate(gate: &str) -> Result<GateKind, String> {
    let spec = format!("{{to: b, gates: [{{name: x, failures: 0}}, {{name: g, {gate}}}]}}");
    read(&spec).map(|read| read.gates[1].kind.clone()).map_err(|found| found.join("; "))
}

fn rings(rings: &str) -> Result<Vec<Ring>, String> {
    read(&format!("{{to: b, rings: [{rings}]}}")).map(|read| read.rings).map_err(|found| found.join("; "))
}

#[test]
fn a_gate_may_be_for_some_origins_only() {
    let found = read("{to: b, gates: [{name: g, manual: {}, for: [values, main]}]}").unwrap();
    assert_eq!(
        found.gates[0].applies_to.iter().copied().collect::<Vec<_>>(),
        [ChangeOrigin::Main, ChangeOrigin::Values]
    );
    assert!(found.is_gate_of_commits());
    assert!(!read("{to: b, gates: [{name: g, manual: {}, for: [values]}]}").unwrap().is_gate_of_commits());
}

fn wrong_gate(written: &str, message: &str) {
    assert_eq!(gate(written), Err(format!("K0150 {message}")), "{written}");
}

fn wrong_rings(written: &str, message: &str) {
    assert_eq!(rings(written), Err(format!("K0150 {message}")), "{written}");
}

#[test]
fn gates_are_read() {
    let amount = |text: &str| text.parse::<Amount>().unwrap();
    let compliant = |silent| GateKind::Compliant { share: "98%".parse().unwrap(), silent };
    assert_eq!(gate("compliant: {share: 98%}"), Ok(compliant(Silent::Wait)));
    assert_eq!(gate("compliant: {share: 98%, silent: fail}"), Ok(compliant(Silent::Fail)));
    assert_eq!(gate("failures: 2"), Ok(GateKind::Failures(amount("2"))));
    assert_eq!(gate("failures: 0.5%"), Ok(GateKind::Failures(amount("0.5%"))));
    assert_eq!(gate("soak: 1h30m"), Ok(GateKind::Soak(Duration::from_mins(90))));
    assert_eq!(gate("manual: {}"), Ok(GateKind::Manual));
    assert_eq!(gate("approval: {}"), Ok(GateKind::Approval(Approval { count: 1, team: None })));
    let team = Approval { count: 2, team: Some("ops".into()) };
    assert_eq!(gate("approval: {count: 2, team: ops}"), Ok(GateKind::Approval(team)));
}

#[test]
fn checks_are_read() {
    let check = |expect| Ok(GateKind::Check(Check { name: "c".into(), expect }));
    assert_eq!(gate("command: {check: c}"), check(Expectation::Command));
    assert_eq!(gate("http: {check: c}"), check(Expectation::Http { status: None, json: None }));
    let json = Some(("$.a".into(), "ok".into()));
    assert_eq!(
        gate("http: {check: c, status: 204, path: $.a, equals: ok}"),
        check(Expectation::Http { status: Some(204), json })
    );
    assert_eq!(
        gate("prometheus: {check: c, min: 0.99}"),
        check(Expectation::Prometheus { min: Some("0.99".into()), max: None })
    );
}

#[test]
fn windows_are_read() {
    let Ok(GateKind::Window(window)) =
        gate("window: {zone: Europe/Berlin, days: [fri, mon, fri], from: 09:00, until: '17:30', except: [2026-12-24]}")
    else {
        panic!("no window")
    };
    assert_eq!(window.to_string(), "mon,fri 09:00-17:30 Europe/Berlin");
    assert_eq!((window.zone.as_deref(), window.days), (Some("Europe/Berlin"), vec![Weekday::Monday, Weekday::Friday]));
    assert_eq!((window.from.to_string(), window.until.to_string()), ("09:00:00".to_owned(), "17:30:00".to_owned()));
    assert_eq!(window.except.iter().map(ToString::to_string).collect::<Vec<_>>(), ["2026-12-24"]);
}

#[test]
fn a_gate_has_exactly_one_condition() {
    wrong_gate("manual: ", "the gate `g` has no condition");
    assert_eq!(read("{to: b, gates: [{name: g}]}"), Err(vec!["K0150 the gate `g` has no condition".to_owned()]));
    wrong_gate("manual: {}, soak: 1h", "the gate `g` has 2 conditions: `soak`, `manual`");
    let twice = read("{to: b, gates: [{name: g, manual: {}}, {name: g, failures: 0}]}");
    assert_eq!(twice, Err(vec!["K0150 there is another gate named `g`".to_owned()]));
    assert_eq!(gate("sok: 1h").unwrap_err(), "K0105 there is no field `sok` here");
}

#[test]
fn wrong_values_of_gates_are_reported() {
    wrong_gate("compliant: {share: '98'}", "`share` is not a share: \"98\"");
    wrong_gate("compliant: {share: 101%}", "`share` is not a share: \"101%\"");
    wrong_gate("compliant: {share: 0%}", "`share` is 0%");
    wrong_gate("failures: few", "`failures` is not a number or a share: \"few\"");
    wrong_gate("failures: -1", "`failures` is not a number or a share: \"-1\"");
    wrong_gate("soak: 12 hours", "`soak` is no duration: \"12 hours\"");
    wrong_gate("soak: 0s", "`soak` is zero");
    wrong_gate("approval: {count: 0}", "`count` can't be 0");
    wrong_gate("http: {check: c, status: 99}", "`status` can't be 99");
    wrong_gate("http: {check: c, path: $.a}", "`path` needs `equals`");
    wrong_gate("http: {check: c, equals: a}", "`equals` needs `path`");
    wrong_gate("http: {check: c, path: a, equals: a}", "`path` is no JSON path: \"a\"");
    wrong_gate("prometheus: {check: c}", "`prometheus` has no limit, so every value would pass");
    wrong_gate("prometheus: {check: c, min: 2, max: 1}", "no value is at least 2 and at most 1");
    wrong_gate("prometheus: {check: c, min: high}", "`min` is no number: \"high\"");
}

#[test]
fn wrong_values_of_windows_are_reported() {
    let wrong = |fields: &str, message| wrong_gate(&format!("window: {{{fields}}}"), message);
    wrong("zone: Central Europe, from: 09:00, until: 10:00", "`zone` is no name of a time zone: \"Central Europe\"");
    wrong("zone: UTC, from: 9:00, until: 10:00", "`from` is no time of a day: \"9:00\"");
    wrong("zone: UTC, from: 09:00, until: 24:00", "`until` is no time of a day: \"24:00\"");
    wrong("zone: UTC, from: 09:00, until: 17:60", "`until` is no time of a day: \"17:60\"");
    wrong("zone: UTC, from: 09:00, until: 10:00, except: [24.12.]", "this is no day: \"24.12.\"");
    wrong("zone: UTC, from: 09:00, until: 10:00, except: [2026-02-30]", "this is no day: \"2026-02-30\"");
    wrong("zone: UTC, from: 09:00, until: 10:00, days: []", "`days` is empty, so the window would never open");
}

#[test]
fn soak_requires_a_measuring_gate() {
    let message = "K0150 `soak` is the time for which `compliant` and `failures` have held, and this list has neither";
    assert_eq!(read("{to: b, gates: [{name: g, soak: 1h}]}"), Err(vec![message.to_owned()]));
    assert!(rings("{name: a, prove: [{name: g, soak: 1h}]}").is_ok(), "a ring always measures failures");
}

#[test]
fn rings_are_read() {
    let found = rings(
        "{name: a, names: [east, west], pause: 1h}, {name: b, percent: 5%, limits: {atOnce: 10%}}, \
         {name: c, labelSelector: {matchLabels: {x: z}}, failures: 1%}, {name: d, limits: {atOnce: 50, per: [{label: site, atOnce: 2}]}}",
    );
    let [names, percent, labels, rest] = &found.unwrap()[..] else { panic!("not four rings") };
    assert_eq!(names.members, RingMembers::Names(vec!["east".into(), "west".into()]));
    assert_eq!((names.pause, names.failures, names.at_once), (Duration::from_hours(1), Amount::Count(0), None));
    assert_eq!(percent.members, RingMembers::Percent("5%".parse().unwrap()));
    assert_eq!(percent.at_once, Some("10%".parse().unwrap()));
    assert!(matches!(&labels.members, RingMembers::Labels(selector) if selector.requirements.len() == 1));
    assert_eq!(labels.failures, "1%".parse().unwrap());
    assert_eq!((&rest.members, rest.at_once), (&RingMembers::Rest, Some(Amount::Count(50))));
    assert_eq!(rest.per, [DomainLimit { label: "site".into(), at_once: 2 }]);
}

#[test]
fn a_ring_names_its_places_in_one_way() {
    wrong_rings("{name: a, percent: 5%, names: [x]}, {name: b}", "the ring `a` names its places in 2 ways");
    wrong_rings("{name: a, labelSelector: }, {name: b}", "this field has no value");
    wrong_rings("{name: a, names: []}, {name: b}", "`names` is empty, so the ring would have no place");
    wrong_rings("{name: a}, {name: b}", "the ring `a` has all places, so the rings after it would have none");
    let selector = "{name: a, labelSelector: {}}, {name: b}";
    wrong_rings(selector, "the ring `a` has all places, so the rings after it would have none");
    wrong_rings("{name: a, names: [x]}, {name: b, names: [x]}", "there is another entry of `names` for `x`");
    wrong_rings("{name: a, names: [x]}, {name: a}", "there is another ring named `a`");
}

#[test]
fn wrong_values_of_rings_are_reported() {
    wrong_rings("{name: a, percent: 5}", "`percent` is not a share: \"5\"");
    wrong_rings("{name: a, percent: 0%}, {name: b}", "`percent` is 0%");
    let sum = "{name: a, percent: 60%}, {name: b, percent: 40.01%}, {name: c}";
    wrong_rings(sum, "the rings up to here have more than 100% of the places");
    wrong_rings("{name: a, limits: {atOnce: 0}}", "`atOnce` is zero, so nothing would ever move");
    wrong_rings("{name: a, limits: {atOnce: 0%}}", "`atOnce` is zero, so nothing would ever move");
    wrong_rings("{name: a, limits: {per: [{label: site, atOnce: 0}]}}", "`atOnce` can't be 0");
    wrong_rings("{name: a, limits: {per: [{label: '', atOnce: 1}]}}", "`label` is empty");
    let twice = "{name: a, limits: {per: [{label: s, atOnce: 1}, {label: s, atOnce: 2}]}}";
    wrong_rings(twice, "there is another limit for the label `s`");
    wrong_rings("{name: a, pause: soon}", "`pause` is no duration: \"soon\"");
    wrong_rings("{name: a, failures: some}", "`failures` is not a number or a share: \"some\"");
    wrong_rings("{name: a, prove: [{name: g}]}", "the gate `g` has no condition");
}

#[test]
fn the_fields_of_a_promotion_are_read() {
    let spec = "{to: b, from: [a], require: any, start: manual, newer: supersede, delivery: direct, \
         onFailure: rollBackEnvironment, select: {platform: false, workloadSelector: {}}}";
    let found = read(spec).unwrap();
    assert_eq!((&*found.to, &*found.from, found.require), ("b", &["a".into()][..], Require::Any));
    assert_eq!((found.start, found.newer, found.delivery), (Start::Manual, Newer::Supersede, ChangeDelivery::Direct));
    assert_eq!(found.on_failure, OnFailure::RollBackEnvironment);
    assert_eq!(found.select, Selection { platform: false, workloads: Some(LabelSelector::default()) });
    let default = read("{to: b}").unwrap();
    assert_eq!(default.select, Selection { platform: true, workloads: None });
    assert!(default.from.is_empty() && default.gates.is_empty() && default.rings.is_empty());
}

#[test]
fn wrong_fields_of_a_promotion_are_reported() {
    let wrong = |spec, message: &str| assert_eq!(read(spec), Err(vec![message.to_owned()]), "{spec}");
    wrong("{from: [a]}", "K0106 `to` is missing");
    wrong("{to: b, from: [a, a]}", "K0150 there is another entry of `from` for `a`");
    wrong("{to: b, require: most}", "K0107 `require` can't be \"most\"");
    wrong("{to: b, form: [a]}", "K0105 there is no field `form` here");
    let nothing = "K0150 `select` selects nothing, so no change would ever move";
    wrong("{to: b, select: {platform: false}}", nothing);
}

#[test]
fn a_ring_has_gates_before_and_after_its_places() {
    let window = r#"window: {zoneLabel: zone, from: "01:00", until: "05:00"}"#;
    let found = rings(&format!(
        "{{name: r, canary: 2, enter: [{{name: night, {window}}}], prove: [{{name: ok, failures: 1}}]}}"
    ));
    let ring = found.unwrap().remove(0);
    assert_eq!(ring.canary, Some(2));
    assert_eq!(ring.zone_label().map(|label| &**label), Some("zone"));
    assert_eq!(ring.gates().map(|gate| &*gate.name).collect::<Vec<_>>(), ["night", "ok"]);
    assert_eq!(ring.prove[0].applies_to.len(), ChangeOrigin::ALL.len());
}

#[test]
fn the_earlier_name_of_prove_is_read_with_a_note() {
    let read = |fields: &str| {
        let text = format!(
            "apiVersion: fleet.kalypso.io/v1alpha1\nkind: Promotion\nmetadata: {{name: a}}\nspec: {{to: b, rings: [{{name: r, {fields}}}]}}\n"
        );
        read_file(FileId::default(), "a.yaml", text.as_bytes())
    };
    let found = read("gates: [{name: ok, failures: 1}]");
    let [AnyObject::Promotion(object)] = &found.objects[..] else { panic!("{:?}", found.diagnostics) };
    assert_eq!(object.spec.rings[0].prove[0].kind, GateKind::Failures(Amount::Count(1)));
    let [note] = &found.diagnostics[..] else { panic!("{:?}", found.diagnostics) };
    assert_eq!((note.severity, note.code), (crate::diagnostic::Severity::Note, Code::GatesOfRing));
    wrong_rings("{name: r, gates: [], prove: []}", "the ring `r` has `gates` and `prove`, which are the same");
}

#[test]
fn gates_in_the_wrong_list_are_reported() {
    wrong_rings(
        "{name: r, enter: [{name: ok, soak: 1h}]}",
        "`soak` can't be in `enter`: no place of the ring has the change then",
    );
    wrong_rings(
        r#"{name: r, prove: [{name: w, window: {zoneLabel: z, from: "01:00", until: "05:00"}}]}"#,
        "`zoneLabel` is only for `enter` of a ring",
    );
    wrong_rings(
        "{name: r, enter: [{name: g, manual: {}}], prove: [{name: g, failures: 1}]}",
        "there is another gate named `g`",
    );
    wrong_rings(
        "{name: r, enter: [{name: g, manual: {}, for: [values]}]}",
        "`for` has no meaning in a ring: its gates are for every change",
    );
    wrong_gate(r#"window: {from: "01:00", until: "05:00"}"#, "the window has no time zone");
    wrong_gate("failures: 1, for: [main]", "`for` has no meaning for `failures`, which measures every change");
    wrong_gate("manual: {}, for: []", "`for` is empty, so the gate would have no effect");
}
