//! The structured output of the commands that ask a hub.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use hub_api::client::Client;
use hub_api::deployments::TargetNames;
use hub_api::drift::Drift;
use hub_api::environments::Environments;
use hub_api::events::{DesiredChange, FleetChange, ReportChange, SilenceChange};
use hub_api::filter::Filter;
use hub_api::promotions::{PromotionChange, PromotionEvent};
use hub_api::report::Status;
use hub_api::rollouts::{Rollout, RolloutVersion};
use hub_api::rules::{Condition, LastNotification, Phase, RuleState};
use hub_api::timestamp::Timestamp;
use serde_json::{Value, json};
use testkit::hub_program::HubProgram;

use crate::{check, run};

#[test]
fn hub_answers_match_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| run(folder.path(), &[&["hub"], arguments].concat());
    let group =
        ["--hosts", "chicago-*", "--reconciler-type", "flux", "--place", "https://a", "--label", "a=b", "--signing"];
    check("hub token create", &[run(&[&["token", "create", "chicago"], &group[..]].concat())]);
    run(&["token", "create", "berlin", "--host", "berlin-1"]);
    run(&["token", "create", "web", "--role", "read", "--workspace", "web-team", "--environment", "dev"]);
    check("hub token rotate", &[run(&["token", "rotate", "chicago"])]);
    check("hub token list", &[run(&["token", "list"])]);
    let add = ["hub", "host", "add", "berlin-1", "--reconciler", "checkout"];
    let added = Command::new(env!("CARGO_BIN_EXE_kalypso")).args(add).current_dir(folder.path()).status();
    assert!(added.unwrap().success());
    check("hub host list", &[run(&["host", "list"])]);
    check("hub host apart", &[apart(Hub::new().folder.path())]);
    check("hub audit", &[run(&["audit"])]);
}

#[test]
fn report_answers_match_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| run(folder.path(), arguments);
    let token = run(&["hub", "token", "create", "site", "--hosts", "berlin-*", "--signing"]);
    fs::write(folder.path().join("token"), token["token"].as_str().unwrap()).unwrap();
    let line = |host: &str| format!("{{\"host\": \"{host}\", \"reconciler\": \"a\", \"status\": \"success\"}}\n");
    fs::write(folder.path().join("in.ndjson"), line("berlin-1") + &line("paris-1")).unwrap();
    let keep = ["report", "--file", "in.ndjson", "--token-file", "token", "--out", "a.signed"];
    check("report OUT", &[run(&keep)]);
    check("hub import", &[run(&["hub", "import", "a.signed", "in.ndjson"])]);
}

/// The reports that are kept apart, after a host reported about a place of another one.
fn apart(folder: &Path) -> Value {
    let token = run(folder, &["hub", "token", "create", "site", "--host", "berlin-2", "--signing"]);
    fs::write(folder.join("token"), token["token"].as_str().unwrap()).unwrap();
    let about_another = json!({"host": "berlin-2", "reconciler": "a", "status": "failure", "message": "no space",
        "revision": hash(1), "place": {"repository": REPOSITORY, "branch": "dev", "path": "eu"}});
    fs::write(folder.join("in.ndjson"), format!("{about_another}\n")).unwrap();
    run(folder, &["report", "--file", "in.ndjson", "--token-file", "token", "--out", "a.signed"]);
    let imported = run(folder, &["hub", "import", "a.signed"]);
    assert_eq!(imported["files"][0]["imported"]["apart"], 1, "{imported}");
    run(folder, &["hub", "host", "apart"])
}

/// A running hub with a desired state and with reports of hosts.
struct Hub {
    folder: tempfile::TempDir,
    program: HubProgram,
}

impl Hub {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_kalypso"));
        command.args(["hub", "--listen", "127.0.0.1:0"]).current_dir(folder.path());
        let program = HubProgram::start(command.env_remove("KALYPSO_DATABASE_URL")).unwrap();
        let hub = Self { folder, program };
        let publications = [("dev", 1, "1.0"), ("dev", 2, "2.0"), ("prod", 3, "1.0")];
        publications.into_iter().for_each(|publication| hub.publish(publication));
        let reports = [
            report("berlin", "dev:eu", 1, "in_progress"),
            report("berlin", "dev:eu", 2, "success"),
            report("berlin", "dev:edge/checkout-eu", 2, "success"),
            report("berlin", "dev:edge", 2, "success"),
            report("paris", "dev:eu", 1, "success"),
            report("rome", "prod:eu", 3, "failure"),
            json!({"host": "oslo", "reconciler": "installer", "workload": "cart", "version": "1.0", "status": "success"}),
        ];
        let lines = reports.map(|report| format!("{report}\n")).concat();
        fs::write(hub.folder.path().join("reports.ndjson"), lines).unwrap();
        assert_eq!(hub.ask("report --file reports.ndjson")["stored"], 7);
        hub
    }

    fn publish(&self, (environment, number, version): (&str, u8, &str)) {
        let target = json!({"workspace": "w", "application": "a", "workload": "checkout", "name": "eu",
            "environment": environment, "version": {"version": version}});
        let application = json!({"path": "eu", "tree": hash(number + 10), "role": "application",
            "environment": environment, "targets": [target]});
        let platform = json!({"path": "edge/checkout-eu", "tree": hash(number + 20), "role": "platform",
            "environment": environment, "clusterType": "edge", "configVersion": hash(number), "targets": [target]});
        let other = json!({"workspace": "w", "application": "a", "workload": "portal", "name": "eu", "environment": environment});
        let beside = json!({"path": "edge/portal-eu", "tree": hash(number + 30), "role": "platform",
            "environment": environment, "clusterType": "edge", "targets": [other]});
        let around = json!({"path": "edge", "tree": hash(number + 40), "role": "platform",
            "environment": environment, "clusterType": "edge"});
        let told = json!({"repository": REPOSITORY, "branch": environment, "commit": hash(number),
            "committedOn": format!("2026-01-0{number}T00:00:00Z"), "places": [application, platform, beside, around]});
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let client = Client::new(self.program.url(), None).unwrap();
        let told = serde_json::from_value(told).unwrap();
        runtime.block_on(client.publish(&told, Duration::from_secs(10))).unwrap();
    }

    fn decide(&self) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let client = Client::new(self.program.url(), None).unwrap();
        runtime.block_on(client.record_promotion_events(&[decision()], Duration::from_secs(10))).unwrap();
    }

    fn ask(&self, question: &str) -> Value {
        let arguments: Vec<_> = question.split(' ').chain(["--hub", self.program.url()]).collect();
        run(self.folder.path(), &arguments)
    }
}

/// A decision of a person with all fields.
fn decision() -> PromotionEvent {
    let some = || Some("x".to_owned());
    PromotionEvent {
        id: "x".to_owned(),
        environment: "prod".to_owned(),
        subject: some(),
        revision: some(),
        kind: "approved".to_owned(),
        ring: some(),
        by: some(),
        evidence: Some(json!({"gates": []})),
        ..PromotionEvent::default()
    }
}

const REPOSITORY: &str = "https://git.example/a";

fn hash(number: u8) -> String {
    format!("{number:040x}")
}

/// A report about a folder, `BRANCH:PATH`, at a commit.
fn report(host: &str, folder: &str, commit: u8, status: &str) -> Value {
    let (branch, path) = folder.split_once(':').unwrap();
    let place = json!({"repository": REPOSITORY, "branch": branch, "path": path});
    json!({"host": host, "reconciler": path, "place": place, "commit": hash(commit), "status": status,
        "message": "m", "observedAt": format!("2026-02-0{commit}T00:00:00Z")})
}

/// The same answer about more reconcilers than are examined for an earlier time.
fn recorded(title: &str) -> Option<Value> {
    let recorded_on = Some(Timestamp::default());
    let answer = match title {
        "status" => serde_json::to_value(Environments { recorded_on, ..Environments::default() }),
        "rollout status WORKLOAD" | "rollout wait" => {
            serde_json::to_value(Rollout { recorded_on, ..Rollout::default() })
        }
        "drift" => serde_json::to_value(Drift { recorded_on, ..Drift::default() }),
        _ => return None,
    };
    Some(answer.unwrap())
}

#[test]
fn query_answers_match_the_reference() {
    let hub = Hub::new();
    let check = |title, questions: &[&str]| {
        let answers = questions.iter().map(|question| hub.ask(question));
        check(title, &answers.chain(recorded(title)).collect::<Vec<_>>());
    };
    check("status", &["status"]);
    check("status -e ENV", &["status -e dev", "status --at 2026-01-02T00:00:00Z"]);
    check("deployments", &["deployments"]);
    let commit = format!("rollout status {}", hash(2));
    check("rollout status WORKLOAD", &["rollout status checkout", "rollout status checkout@2.0", &commit]);
    check("rollout status WORKLOAD --status STATUS", &["rollout status checkout --status failed"]);
    let commit = format!("rollout wait {} --timeout 0s", hash(2));
    check("rollout wait", &["rollout wait checkout", "rollout wait checkout@2.0 --timeout 0s", &commit]);
    check("rollout list", &["rollout list"]);
    hub.decide();
    check("history", &["history"]);
    check("drift", &["drift --limit 1"]);
    check("drift KIND", &["drift silent", "drift unknownPlace"]);
}

/// The values by key need a control plane, so they are written by hand.
#[test]
fn comparisons_match_the_reference() {
    let compared = Hub::new().ask("compare dev prod");
    assert_eq!(compared["values"], Value::Null);
    let from = json!([{"value": "debug", "sensitive": false, "places": 1, "examples": ["eu"]}]);
    // The reference describes the values of the other side as those of the first one.
    let values = json!([{"key": "LOG_LEVEL", "targets": ["checkout"], "from": from, "to": []}]);
    check("compare", &[compared, json!({"values": values})]);
}

/// The first event of each kind from the hub. Events that need time or errors are written by hand.
#[test]
fn events_match_the_reference() {
    let hub = Hub::new();
    let first = |status: &str| hub.ask(&format!("events --after ZXZlbnRzIDAgMCAw --limit 1{status}"));
    let some = || Some("x".to_owned());
    let wanted = DesiredChange {
        is_removed: true,
        cluster: some(),
        cluster_type: some(),
        config_version: some(),
        targets: vec![TargetNames::default()],
        versions: vec![RolloutVersion::default()],
        ..DesiredChange::default()
    };
    let previous_status = Some(Status::InProgress);
    let report = ReportChange { is_superseded: true, previous_status, cluster_type: some(), ..ReportChange::default() };
    let due = Some(Timestamp::from_millis(0));
    let silent = SilenceChange { due, environment: some(), ..SilenceChange::default() };
    let promotion = FleetChange::Promotion(PromotionChange { event: decision() });
    let rare = [FleetChange::Desired(wanted), FleetChange::Report(report), FleetChange::Silent(silent), promotion]
        .map(|change| json!(change));
    check("events", &[&[first(""), first(" --status failed")], &rare[..]].concat());
}

#[test]
fn rules_match_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let rule = "[[hub.rule]]\nname = 'a'\ncondition = 'silent'\nabove = 3\nurl = 'https://chat.example/'\n";
    fs::write(folder.path().join("kalypso.toml"), format!("{rule}secret-file = 's'\n")).unwrap();
    fs::write(folder.path().join("s"), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n").unwrap();
    let listed = run(folder.path(), &["hub", "rule", "list"]);
    check("hub rule list", &[listed, json!({"rules": [full_state()]})]);
}

/// The answer for a rule with all fields, which sent notifications and can't be evaluated.
fn full_state() -> RuleState {
    let (text, moment) = (|| "x".to_owned(), Some(Timestamp::from_millis(0)));
    let [
        environment,
        workspace,
        application,
        workload,
        target,
        cluster_type,
        host,
        status,
        selector,
        target_selector,
        problem,
    ] = std::array::from_fn(|_| Some(text()));
    RuleState {
        name: text(),
        filter: Filter {
            environment,
            workspace,
            application,
            workload,
            target,
            cluster_type,
            host,
            status,
            selector,
            target_selector,
        },
        condition: Condition::Silent,
        above: text(),
        for_seconds: 0,
        longer_than_seconds: Some(0),
        receiver: text(),
        format: text(),
        phase: Some(Phase::Ok),
        since: moment,
        evaluated_on: moment,
        matching: 0,
        expected: 0,
        problem: problem.clone(),
        notification: Some(LastNotification {
            id: text(),
            kind: text(),
            created: Timestamp::from_millis(0),
            attempts: 0,
            delivered: moment,
            given_up: moment,
            due: moment,
            problem,
        }),
    }
}
