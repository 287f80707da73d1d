//! Stories of promotions with real parts, as `crates/simulator/stories` tells them in virtual time: values of prod wait for people, reports about earlier output
//! prove nothing, and neither hosts that died nor hosts that lie open a gate.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value as Json;
use tempfile::TempDir;
use testkit::company::common_value;
use testkit::objects;

use crate::company::{HOST, Ran, git};
use crate::hub::{good, start};
use crate::promotion_world::{self, ENVIRONMENTS, World};
use crate::reports::token;
use crate::serving::eventually;
use crate::stepping;

/// A platform whose clusters have a token each, and report only what a test says.
struct Fleet {
    world: World,
    /// The tokens of the hosts, by the names of these.
    tokens: BTreeMap<String, String>,
}

impl Fleet {
    /// `prod` has proved the first commit. The hosts reported an hour ago, and are not silent.
    fn new(promotions: &str) -> Self {
        let world = World::with(None, promotions);
        let folder = world.company.path(".");
        let host = |environment: &str| ["east", "west"].map(|cluster| format!("{environment}-{cluster}"));
        let tokens = ENVIRONMENTS.into_iter().flat_map(host);
        let tokens = tokens.map(|host| (host.clone(), token(&folder, &[&host, "--host", &host]))).collect();
        let fleet = Self { world, tokens };
        let first = fleet.world.company.head("control-plane", "main").unwrap();
        eventually("the first commit in prod", || {
            fleet.tokens.keys().for_each(|host| fleet.applies(host, "--observed-at 1h --heartbeat 2h"));
            fleet.world.proves("prod", &first).then_some(())
        });
        fleet
    }

    fn head(&self, environment: &str) -> String {
        self.world.company.head("gitops", environment).unwrap()
    }

    /// Sends reports with the token of a host.
    fn send(&self, host: &str, arguments: &str) -> Ran {
        let mut command = self.world.command(&format!("report {arguments}"), 0);
        Ran::new(command.env("KALYPSO_HUB_TOKEN", &self.tokens[host]))
    }

    /// A host reports about its folder at a commit, with these arguments.
    fn reports(&self, host: &str, commit: &str, arguments: &str) {
        let (environment, cluster) = host.split_once('-').unwrap();
        let place = format!("--repository {HOST}gitops --branch {environment} --path {cluster} --commit {commit}");
        let ran = self.send(host, &format!("--reconciler {host} {place} {arguments}"));
        ran.ends(0);
    }

    /// A host reports that it applied the head of its branch.
    fn applies(&self, host: &str, more: &str) {
        let (environment, _) = host.split_once('-').unwrap();
        self.reports(host, &self.head(environment), &format!("--status success {more}"));
    }

    /// Waits until the output of an environment has a value in a cluster.
    fn publishes(&self, (environment, cluster): (&str, &str), value: &str) {
        eventually(value, || self.world.value(environment, cluster).contains(value).then_some(()));
    }

    /// Waits until the state of an environment has a text. Returns the line.
    fn says(&self, environment: &str, text: &str) -> String {
        self.says_all(environment, &[text])
    }

    /// Waits until a line of the state of an environment has all these texts. Returns the line.
    fn says_all(&self, environment: &str, texts: &[&str]) -> String {
        let status = || self.world.run(&format!("rollout status -e {environment}")).out;
        eventually(&format!("{texts:?} in {environment}"), || {
            let has_all = |line: &&str| texts.iter().all(|text| line.contains(text));
            status().lines().find(has_all).map(str::to_owned)
        })
    }
}

/// The promotions: `prod` follows `stage`, and `stage` follows `dev`, behind these gates. `more` are further fields of the promotion into `prod`.
fn promotions(before_stage: &str, before_prod: &str, more: &str) -> String {
    let promotion = |to: &str, spec: &str| {
        format!(
            "apiVersion: fleet.kalypso.io/v1alpha1\nkind: Promotion\nmetadata: {{name: to-{to}}}\nspec:\n  to: {to}\n  delivery: direct\n{spec}---\n"
        )
    };
    let behind = |from: &str, gates: &str| format!("  from: [{from}]\n  gates: [{gates}]\n");
    let (stage, prod) = (behind("dev", before_stage), behind("stage", before_prod));
    [promotion("dev", ""), promotion("stage", &stage), promotion("prod", &format!("{prod}{more}"))].concat()
}

const COMPLIANT: &str = "{name: compliant, compliant: {share: 100%}}";

/// The clusters whose values got a text, one list for each commit of the output of `prod`.
fn spread(world: &World, text: &str) -> Vec<Vec<String>> {
    let log =
        ["log", "--reverse", "--format=tformat:commit", "--name-only", &format!("-S{text}"), "prod", "--", "*.yaml"];
    let log = git(&world.company.repository("gitops"), &log);
    let cluster = |path: &str| path.split_once('/').unwrap().0.to_owned();
    let commits = log.split("commit\n").skip(1);
    commits.map(|paths| paths.lines().filter(|path| !path.is_empty()).map(cluster).collect()).collect()
}

/// A value of `prod` that two people approve. Nothing of it is published before.
fn approved_value(world: &World, (name, labels): (&str, &str)) {
    let before = world.company.head("gitops", "prod");
    let value = objects::config(name, labels, &format!("{}: now", name.to_uppercase()));
    world.company.change("control-plane@prod", &format!("{name}.yaml"), &value);
    // The author of a pushed commit is not known, so one more approval is needed.
    for (person, approvals) in ["0 of 2", "1 of 2"].into_iter().enumerate() {
        let waits = format!("waiting  managers: {approvals} approvals");
        world.until(&waits, || world.run("rollout status -e prod").out.contains(&waits));
        world.run("publish -e prod --direct --no-step").ends(1).says(&["K0526", "of values waits before `prod`"]);
        assert_eq!(world.company.head("gitops", "prod"), before);
        Ran::new(&mut world.command("approve -e prod values", person)).ends(0).says(&["approve for the gate"]);
    }
}

#[test]
fn story_04_a_value_of_prod_waits_for_people_and_reaches_its_places_ring_by_ring() {
    let managers = "{name: managers, approval: {count: 1}, for: [values]}";
    let rings = "  rings:\n    - {name: canary, labelSelector: {matchLabels: {region: east}}}\n    - {name: rest, limits: {atOnce: 2}}\n";
    let promotions = promotions(COMPLIANT, &format!("{COMPLIANT}, {managers}"), rings);
    let company = promotion_world::company(&promotions, &[]);
    for name in ["north", "south", "center"] {
        let file = format!("cluster-types/{name}.yaml");
        company.change("control-plane@prod", &file, &objects::cluster_type(name, "west"));
    }
    let world = World::start(company, None);
    let first = world.company.head("control-plane", "main").unwrap();
    world.until("the first commit in prod", || world.proves("prod", &first));
    let gets = |text: &str, places: usize| {
        let has = || spread(&world, text).concat().len() == places;
        world.until(&format!("{text} in {places} places"), has);
    };

    approved_value(&world, ("prices", ""));
    // Until its reconciler has applied the value, the canary has it alone.
    eventually("the canary", || world.value("prod", "east").contains("PRICES").then_some(()));
    assert_eq!(spread(&world, "PRICES"), [["east"]]);
    gets("PRICES", 5);
    let steps = spread(&world, "PRICES");
    assert!(steps.iter().all(|places| places.len() <= 2), "{steps:?}");

    // A value of one region changes nothing in the first ring.
    approved_value(&world, ("tax", "region: west"));
    eventually("the first place", || (!spread(&world, "TAX").is_empty()).then_some(()));
    assert_eq!(spread(&world, "TAX").concat().len(), 1);
    gets("TAX", 4);
    let steps = spread(&world, "TAX");
    assert!(steps[0].len() == 1 && steps.iter().all(|places| places.len() <= 2), "{steps:?}");
    assert!(!world.value("prod", "east").contains("TAX"));
}

#[test]
fn story_11_reports_about_the_output_before_prove_nothing() {
    let fleet = Fleet::new(&promotions(COMPLIANT, COMPLIANT, ""));
    let before = fleet.head("stage");
    let second = fleet.world.company.change("control-plane@main", "common.yaml", &common_value("second"));
    fleet.publishes(("dev", "west"), "second");
    ["dev-east", "dev-west"].iter().for_each(|host| fleet.applies(host, ""));
    fleet.publishes(("stage", "west"), "second");
    fleet.says("prod", "compliant: 0 of 2 reconcilers applied the change, 100% are needed");
    // Two hosts repeat what they applied before. When one has the new output, the other still has not.
    ["stage-east", "stage-west"].iter().for_each(|host| fleet.reports(host, &before, "--status success"));
    fleet.applies("stage-west", "");
    fleet.says("prod", "compliant: 1 of 2 reconcilers applied the change, 100% are needed");
    fleet.says("stage", "compliant: 1 of 2 reconcilers applied the change, 100% are needed");
    assert!(!fleet.world.proves("stage", &second), "{}", fleet.world.platform("stage"));
    assert!(fleet.world.value("prod", "west").contains("first"));
    fleet.applies("stage-east", "");
    fleet.publishes(("prod", "west"), "second");
    eventually("the proof in stage", || fleet.world.proves("stage", &second).then_some(()));
}

/// `prod` waits, whether a step is made or not.
fn waits(world: &stepping::World, commit: &str, text: &str) {
    for command in ["rollout advance -e prod", "rollout status -e prod"] {
        let ran = world.run(command);
        assert!(ran.out.contains(&commit[..7]) && ran.out.contains(text), "{}{}", ran.out, ran.err);
    }
    world.run("publish -e prod --direct").ends(0).says(&["not admitted yet"]);
    assert!(world.published().contains("first"), "{}", world.published());
}

#[test]
fn story_11_a_publication_unknown_to_the_hub_proves_nothing() {
    let world = stepping::World::new("");
    let text = common_value("second");
    let second = world.company.change("control-plane@main", "common.yaml", &text);
    world.company.kalypso("publish -e dev --direct").ends(0);
    world.report("dev");
    waits(&world, &second, "compliant: 1 place is not published yet");
    world.run("publish -e dev --hub-only").ends(0).says(&["Sent 2 folders to the hub"]);
    world.run("publish -e dev --direct").ends(0);
    world.run("publish -e prod --direct").ends(0);
    assert!(world.published().contains("second"), "{}", world.published());
}

#[test]
fn story_11_a_hub_from_a_backup_of_before_the_publication_proves_nothing() {
    let mut world = stepping::World::new("");
    let backup = world.company.path("hub.ndjson");
    good(&world.company.path("."), &["backup", backup.to_str().unwrap()]);
    let second = world.change_main("second");
    let folder = TempDir::new().unwrap();
    good(folder.path(), &["restore", backup.to_str().unwrap()]);
    world.hub = start(folder.path());
    // The reports in it are about the output before.
    waits(&world, &second, "compliant: 1 place is not published yet");
    world.report("dev");
    waits(&world, &second, "compliant: 1 place is not published yet");
    world.run("publish -e dev --hub-only").ends(0).says(&["Sent 2 folders to the hub"]);
    world.run("publish -e prod --direct").ends(0);
    assert!(world.published().contains("second"), "{}", world.published());
}

/// Gates for reconcilers that are alive.
fn soak(time: &str) -> String {
    format!("{{name: alive, compliant: {{share: 100%, silent: fail}}}}, {{name: soaked, soak: {time}}}")
}

#[test]
fn story_13_a_host_that_succeeds_once_and_dies_passes_no_soak() {
    let fleet = Fleet::new(&promotions(&soak("1h"), &soak("2s"), ""));
    fleet.world.company.change("control-plane@main", "common.yaml", &common_value("second"));
    fleet.publishes(("dev", "west"), "second");
    ["dev-east", "dev-west"].iter().for_each(|host| fleet.applies(host, "--observed-at 30m --heartbeat 1h"));
    let begun = fleet.says("stage", "soaked: good since");
    // The last words of a host: the next ones are due within ten seconds.
    fleet.applies("dev-west", "--observed-at 9s --heartbeat 10s");
    fleet.says("stage", "alive: 1 of 2 reconcilers applied the change, 100% are needed, 1 are silent");
    // Its return begins the soak again.
    fleet.applies("dev-west", "--heartbeat 1h");
    let again = fleet.says("stage", "soaked: good since");
    assert!(begun < again, "{begun}\n{again}");
    assert!(fleet.world.value("stage", "west").contains("first"));
    fleet.world.run("skip -e stage --gate soaked --reason tested").ends(0);
    fleet.publishes(("stage", "west"), "second");
    // A host that died before the soak begins.
    fleet.applies("stage-west", "--observed-at 30m --heartbeat 10s");
    fleet.applies("stage-east", "--observed-at 30m --heartbeat 1h");
    fleet.says("prod", "alive: 1 of 2 reconcilers applied the change, 100% are needed, 1 are silent");
    assert!(fleet.world.value("prod", "west").contains("first"));
    fleet.applies("stage-west", "--heartbeat 1h");
    fleet.publishes(("prod", "west"), "second");
}

impl Fleet {
    /// The host `dev-east` reports with its token about all folders of an environment: as itself and with many other reconcilers, as the hosts of these folders,
    /// and as hosts that do not exist. None of it is stored.
    fn lies(&self, environment: &str, status: &str) {
        let commit = self.head(environment);
        let line = |host: &str, reconciler: &str, path: &str| {
            format!(
                "{{\"host\":\"{host}\",\"reconciler\":\"{reconciler}\",\"status\":\"{status}\",\"revision\":\"{commit}\",\
                 \"place\":{{\"repository\":\"{HOST}gitops\",\"branch\":\"{environment}\",\"path\":\"{path}\"}}}}\n"
            )
        };
        let about = |cluster: &str| {
            let host = format!("{environment}-{cluster}");
            let many = (0..50).map(|number| line("dev-east", &format!("flux-{number}"), cluster));
            let hosts = (0..50).map(|number| line(&format!("{environment}-{number}"), "flux", cluster));
            let others = [(&*host, "flux"), (&*host, &*host), ("dev-east", "dev-east")];
            // That one is its own.
            let others = others.into_iter().filter(|(_, name)| (*name, &*host) != ("dev-east", "dev-east"));
            many.chain(hosts).chain(others.map(|(host, name)| line(host, name, cluster))).collect::<String>()
        };
        let lines = ["east", "west"].map(about).concat();
        fs::write(self.world.company.path("lies.ndjson"), &lines).unwrap();
        let answer = self.send("dev-east", "--file lies.ndjson -o json").ends(1).json();
        let apart = answer["apart"].as_array().map_or(0, Vec::len);
        let counts = [&answer["stored"], &answer["confirmed"], &answer["repeated"]].map(Json::as_u64);
        assert_eq!((apart, counts), (lines.lines().count(), [Some(0); 3]));
    }
}

#[test]
fn story_13_the_token_of_one_host_is_not_valid_for_another() {
    let most = "{name: most, compliant: {share: 60%}}, {name: failures, failures: 0}";
    let rings = "  onFailure: rollBackEnvironment\n  rings:\n    - {name: canary, labelSelector: {matchLabels: {region: east}}}\n    - {name: rest}\n";
    let fleet = Fleet::new(&promotions(most, most, rings));
    let second = fleet.world.company.change("control-plane@main", "common.yaml", &common_value("second"));
    fleet.publishes(("dev", "west"), "second");
    fleet.applies("dev-west", "");
    // Invented reconcilers do not outvote the one that is missing, also when its own report shows that all of this was read.
    fleet.lies("dev", "success");
    fleet.reports("dev-east", &fleet.head("dev"), "--status failure");
    // The gate of `stage` says it, or the move of `dev` that stopped by it.
    fleet.says_all("stage", &["1 of 2 reconcilers", "failed"]);
    assert!(fleet.world.value("stage", "west").contains("first"));
    fleet.applies("dev-east", "");
    fleet.publishes(("stage", "west"), "second");
    ["stage-east", "stage-west"].iter().for_each(|host| fleet.applies(host, ""));
    // One failure in a ring would roll `prod` back.
    fleet.publishes(("prod", "east"), "second");
    fleet.lies("prod", "failure");
    fleet.applies("prod-east", "");
    fleet.publishes(("prod", "west"), "second");
    fleet.lies("prod", "failure");
    fleet.applies("prod-west", "");
    eventually("the proof in prod", || fleet.world.proves("prod", &second).then_some(()));
    assert!(fleet.world.value("prod", "east").contains("second"));
    let log = git(&fleet.world.company.repository("control-plane"), &["log", "--format=%B", "kalypso-rollouts/prod"]);
    let kinds = ["stopped", "rollingBack", "rolledBack"].map(|kind| format!("\"kind\":\"{kind}\""));
    assert!(log.contains("\"kind\":\"proved\"") && !kinds.iter().any(|kind| log.contains(kind)));
}
