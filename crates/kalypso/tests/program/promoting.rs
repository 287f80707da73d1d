//! Promotions with real parts: git, the service with its hub, and reports of simulated clusters over the API.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Mutex;

use serde_json::Value as Json;
use testkit::hub_program::HubProgram;
use testkit::postgres::{PostgresServer, availability};

use crate::company::{Company, HOST, Ran};
use crate::objects;
use crate::serving::{Serving, eventually};

/// The variable with the database of the hub.
const DATABASE: &str = "KALYPSO_DATABASE_URL";

const ENVIRONMENTS: [&str; 3] = ["dev", "stage", "prod"];

/// The promotions: dev follows the main branch, stage follows dev, prod follows stage after two approvals, in two rings.
const PROMOTIONS: &str = "\
apiVersion: fleet.kalypso.io/v1alpha1
kind: Promotion
metadata: {name: to-dev}
spec: {to: dev, delivery: direct}
---
apiVersion: fleet.kalypso.io/v1alpha1
kind: Promotion
metadata: {name: to-stage}
spec:
  from: [dev]
  to: stage
  delivery: direct
  gates: [{name: compliant, compliant: {share: 100%}}]
---
apiVersion: fleet.kalypso.io/v1alpha1
kind: Promotion
metadata: {name: to-prod}
spec:
  from: [stage]
  to: prod
  delivery: direct
  gates:
    - {name: compliant, compliant: {share: 100%}}
    - {name: managers, approval: {count: 1}}
  rings:
    - {name: canary, labelSelector: {matchLabels: {region: east}}}
";

fn config(value: &str) -> String {
    objects::config("common", "", &format!("VALUE: {value}"))
}

/// A company with three environments, its running service, and clusters that report.
struct World {
    company: Company,
    serving: Serving,
    tokens: [String; 2],
    database: Option<String>,
    /// A cluster that fails to apply what it gets.
    failing: Mutex<Option<(&'static str, &'static str)>>,
}

impl World {
    /// `database` is the URL of a server of PostgreSQL. None: a file.
    fn new(database: Option<String>) -> Self {
        Self::with(database, PROMOTIONS)
    }

    fn with(database: Option<String>, promotions: &str) -> Self {
        let company = Company::empty();
        let more = "[host]\nkind = \"git\"\nurl = \"https://git.example\"\nauto-merge = true\n\
                    [service]\npoll = \"1s\"\nsettle = \"100ms\"\nresync = \"5s\"\n\
                    [promotion]\ninterval = \"1s\"\n[promotion.accounts]\nann = \"ann-smith\"\nbob = \"bob\"\n";
        company.configure(&format!("{}/", company.path("served").display()), more);
        let mut main = vec![
            (".environments/promotions.yaml", promotions.to_owned()),
            ("workloads/shop.yaml", workload()),
            ("common.yaml", config("first")),
        ];
        main.extend(objects::templates());
        main.extend([
            (".environments/dev.yaml", objects::environment("dev")),
            (".environments/stage.yaml", objects::environment("stage")),
            (".environments/prod.yaml", objects::environment("prod")),
        ]);
        let first = company.commit("control-plane", "main", &main);
        for name in ENVIRONMENTS {
            company.commit("control-plane", name, &environment(name, &first));
            company.commit("gitops", name, &[("README.md", "What clusters run.\n".to_owned())]);
        }
        let tokens = ["ann", "bob"].map(|name| {
            let mut command = company.command();
            command.args(["hub", "token", "create", name, "--role", "admin"]);
            command.envs(database.iter().map(|url| (DATABASE, url)));
            Ran::of(&mut command).ends(0).out.lines().next().unwrap().to_owned()
        });
        let serving = Self::serve(&company, database.as_ref(), "cache");
        Self { company, serving, tokens, database, failing: Mutex::default() }
    }

    /// Starts a replica of the service, with a cache of its own.
    fn serve(company: &Company, database: Option<&String>, cache: &str) -> Serving {
        let (file, folder) = (format!("{cache}.toml"), company.path("."));
        let text = fs::read_to_string(folder.join("kalypso.toml")).unwrap();
        fs::write(folder.join(&file), text.replace("cache = \"cache\"", &format!("cache = \"{cache}\""))).unwrap();
        let mut command = company.command();
        command.args(["serve", "--config", &file, "--listen", "127.0.0.1:0", "--log", "debug"]);
        Serving::of(command.envs(database.iter().map(|url| (DATABASE, url))))
    }

    fn program(&self) -> &HubProgram {
        &self.serving.program
    }

    fn command(&self, arguments: &str, token: usize) -> Command {
        let mut command = self.company.command();
        command.env("KALYPSO_HUB_URL", self.program().url()).env("KALYPSO_HUB_TOKEN", &self.tokens[token]);
        command.args(arguments.split_whitespace());
        command
    }

    /// `kalypso rollout status --watch` for an environment.
    fn watch(&self, environment: &str) -> Watch {
        let mut command = self.command(&format!("rollout status -e {environment} --watch"), 0);
        let file = self.company.path("watch.txt");
        let child = command.stdout(File::create(&file).unwrap()).spawn().unwrap();
        let watch = Watch { child, file };
        watch.until(environment);
        watch
    }

    fn run(&self, arguments: &str) -> Ran {
        Ran::of(&mut self.command(arguments, 0))
    }

    /// Each cluster reports that it applied the head of its branch, or failed to.
    fn report(&self) {
        for environment in ENVIRONMENTS {
            let Some(commit) = self.company.head("gitops", environment) else { continue };
            for cluster in ["east", "west"] {
                let is_failing = *self.failing.lock().unwrap() == Some((environment, cluster));
                let status = if is_failing { "failure" } else { "success" };
                let place =
                    format!("--repository {HOST}gitops --branch {environment} --path {cluster} --commit {commit}");
                let reconciler = format!("{environment}-{cluster}");
                self.run(&format!("report --host {reconciler} --reconciler {reconciler} --status {status} {place}"));
            }
        }
    }

    /// The platform's commits in an environment.
    fn platform(&self, environment: &str) -> Json {
        let graph = self.run("rollout status -o json").ends(0).json();
        let found =
            graph["environments"].as_array().unwrap().iter().find(|one| one["environment"] == environment).cloned();
        found.unwrap_or_default()["subjects"][0].clone()
    }

    /// Clusters report until something is true.
    #[track_caller]
    fn until(&self, what: &str, is_true: impl Fn() -> bool) {
        for _ in 0..60 {
            self.report();
            if is_true() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        let status = self.run("rollout status");
        panic!("{what} did not happen\n{}\n{}", status.out, self.serving.log());
    }

    fn proves(&self, environment: &str, commit: &str) -> bool {
        self.platform(environment)["proved"]["revision"] == commit
    }

    fn value(&self, environment: &str, cluster: &str) -> String {
        self.company.file("gitops", environment, &format!("{cluster}/shop-{environment}/platform-config.yaml"))
    }
}

/// A running command whose output goes to a file.
struct Watch {
    child: Child,
    file: PathBuf,
}

impl Watch {
    /// Waits until the command has said something.
    fn until(&self, words: &str) {
        eventually(words, || fs::read_to_string(&self.file).unwrap().contains(words).then_some(()));
    }

    /// Ends the command, which has said all this.
    fn ends_with_all(mut self, words: &[&str]) {
        assert_eq!(self.child.try_wait().unwrap(), None, "it ended by itself");
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let said = fs::read_to_string(&self.file).unwrap();
        words.iter().for_each(|word| assert!(said.contains(word), "`{word}` is not in\n{said}"));
    }
}

fn workload() -> String {
    let target = |name: &str| {
        format!(
            "  - name: {name}\n    labels: {{purpose: shop}}\n    environment: {name}\n    manifests: {{repo: {HOST}shop-deploy, branch: {name}, path: .}}\n"
        )
    };
    objects::object("Workload", "shop", &format!("deploymentTargets:\n{}", ENVIRONMENTS.map(target).concat()))
}

fn environment(name: &str, commit: &str) -> Vec<(&'static str, String)> {
    let base = format!("repo: {HOST}control-plane\nbranch: main\npath: .\ncommit: {commit}");
    vec![
        ("base.yaml", objects::object("BaseRepo", "main", &base)),
        ("gitops.yaml", objects::gitops(name, name, ".")),
        ("cluster-types/east.yaml", objects::cluster_type("east", "east")),
        ("cluster-types/west.yaml", objects::cluster_type("west", "west")),
        ("policy.yaml", objects::policy("shop", "shop")),
    ]
}

#[test]
fn a_commit_moves_through_three_environments_and_rings_unattended() {
    let world = World::new(None);
    let first = world.company.head("control-plane", "main").unwrap();
    world.until("the first commit in prod", || world.proves("prod", &first));
    *world.failing.lock().unwrap() = Some(("stage", "east"));
    let second = world.company.change("control-plane@main", "common.yaml", &config("second"));
    world.until("the stop in stage", || world.platform("stage")["moving"]["phase"] == "stopped");
    assert!(world.platform("dev")["at"] == *second && world.platform("prod")["at"] == *first);
    world.run(&format!("rollout wait {} -e stage", &second[..7])).ends(1).says(&["failed: stage:", "of 2 reconcilers"]);
    *world.failing.lock().unwrap() = None;
    world.until("the proof in stage", || world.proves("stage", &second));
    world.until("the wait for approvals", || world.run("rollout status -e prod").out.contains("waiting  managers:"));
    world.run(&format!("rollout wait {second} -e stage")).ends(0).says(&["done"]);
    world.run(&format!("rollout wait {second} -e prod --timeout 0s")).ends(3).says(&["prod: managers: 0 of 2"]);
    let watch = world.watch("prod");
    // The author of a pushed commit is not known, so one more approval is needed.
    for person in 0..2 {
        Ran::of(&mut world.command("approve -e prod", person)).ends(0).says(&["approve by"]);
    }
    eventually("the canary", || world.value("prod", "east").contains("second").then_some(()));
    assert!(!world.value("prod", "west").contains("second"), "{}", world.value("prod", "west"));
    world.run("rollout status shop -e prod").ends(0).says(&["On its way:", "canary", "1 of 1 places released"]);
    world.until("the proof in prod", || world.proves("prod", &second));
    world.run(&format!("rollout wait {}", &second[..12])).ends(0).says(&["done"]);
    // An earlier commit is known from the history.
    world.run(&format!("rollout wait {first} -e prod")).ends(0).says(&["done"]);
    assert!(world.value("prod", "west").contains("second"));
    // It shows the state at its start, and each change.
    let proved = format!("main  {}  proved", &second[..7]);
    watch.until(&proved);
    watch.ends_with_all(&["waiting  managers: 0 of 2 approvals", &proved]);
}

#[test]
fn an_urgent_value_passes_a_commit_that_is_half_way_and_does_not_take_it_along() {
    let manual = "region: east}}, prove: [{name: released, manual: {}}]}";
    let promotions = PROMOTIONS.replace("region: east}}}", manual).replace("count: 1}}", "count: 1}, for: [main]}");
    let world = World::with(None, &promotions);
    let first = world.company.head("control-plane", "main").unwrap();
    world.until("the first commit in prod", || {
        world.run("skip -e prod shop --gate released --reason test");
        world.proves("prod", &first)
    });
    let second = world.company.change("control-plane@main", "common.yaml", &config("second"));
    world.until("the wait for approvals", || world.run("rollout status -e prod").out.contains("waiting  managers:"));
    for person in 0..2 {
        Ran::of(&mut world.command("approve -e prod", person)).ends(0);
    }
    let value = |cluster: &str| world.value("prod", cluster);
    world.until("the canary", || value("east").contains("second"));
    assert!(!value("west").contains("second"));
    let urgent = objects::config("urgent", "", "URGENT: now");
    world.company.change("control-plane@prod", "urgent.yaml", &urgent);
    world.until("the value in the canary", || value("east").contains("URGENT"));
    assert!(!value("west").contains("URGENT"));
    world.run("rollout status shop -e prod").ends(0).says(&["ahead: the newest values go ahead"]);
    world.run("skip -e prod shop --gate released --reason urgent").ends(0);
    world.until("the value in all rings", || value("west").contains("URGENT"));
    assert!(!value("west").contains("second") && value("east").contains("second"), "{}", value("west"));
    world.until("the commit in the canary again", || {
        world.run("rollout status shop -e prod").out.contains("waiting  released:")
    });
    assert!(!value("west").contains("second"));
    world.run("skip -e prod shop --gate released --reason tested").ends(0);
    world.until("the proof in prod", || world.proves("prod", &second));
    assert!(
        ["east", "west"].iter().all(|cluster| value(cluster).contains("second") && value(cluster).contains("URGENT"))
    );
}

#[test]
fn a_rollback_keeps_the_values_or_restores_them() {
    let world = World::with(None, &PROMOTIONS.replace("    - {name: managers, approval: {count: 1}}\n", ""));
    let first = world.company.head("control-plane", "main").unwrap();
    world.until("the first commit in prod", || world.proves("prod", &first));
    let second = world.company.change("control-plane@main", "common.yaml", &config("second"));
    world.until("the second commit in prod", || world.proves("prod", &second));
    let value = |name: &str| {
        let text = objects::config(name, "", &format!("{}: now", name.to_uppercase()));
        world.company.change("control-plane@prod", &format!("{name}.yaml"), &text);
    };
    let has = |words: &[&str], others: &[&str]| {
        let [east, west] = ["east", "west"].map(|cluster| world.value("prod", cluster));
        [east, west]
            .iter()
            .all(|text| words.iter().all(|word| text.contains(word)) && !others.iter().any(|word| text.contains(word)))
    };
    let is_at_rest = || {
        let status = world.run("rollout status -e prod").out;
        status.lines().any(|line| line.trim().starts_with("shop") && line.ends_with("ago"))
    };
    value("urgent");
    world.until("the value in all rings", || has(&["second", "URGENT"], &[]) && is_at_rest());
    world.run("rollback -e prod shop --reason slow").ends(0);
    world.until("the first commit with the value", || has(&["first", "URGENT"], &[]));
    // Values go on while the commit waits for a person.
    value("later");
    world.until("a newer value on the first commit", || has(&["first", "URGENT", "LATER"], &[]));
    world.run("retry -e prod shop").ends(0);
    world.until("the second commit with all values", || has(&["second", "URGENT", "LATER"], &[]) && is_at_rest());
    world.run("rollback -e prod --with-values --reason wrong").ends(0);
    world.until("what prod had with the first commit", || has(&["first"], &["URGENT", "LATER"]));
    value("newest");
    world.until("the newest value waits", || world.run("rollout status -e prod").out.contains("ann-smith: wrong"));
    assert!(has(&["first"], &["URGENT", "LATER", "NEWEST"]));
    world.run("retry -e prod").ends(0);
    world.until("all again", || has(&["second", "URGENT", "LATER", "NEWEST"], &[]));
}

#[test]
fn another_replica_completes_the_promotions_of_a_killed_one() {
    if let Err(reason) = availability() {
        println!("skipped: {reason}");
        return;
    }
    let server = PostgresServer::start_private(&[]).unwrap();
    let database = server.create_database().unwrap();
    let mut world = World::new(Some(database.url()));
    let first = world.company.head("control-plane", "main").unwrap();
    world.until("the first commit in prod", || world.proves("prod", &first));
    let other = World::serve(&world.company, world.database.as_ref(), "other");
    // The other replica leads nothing, and knows where the changes stand.
    let url = other.program.url();
    eventually("the state of the leader", || {
        let mut ask = world.command("rollout status -e prod -o json", 0);
        let graph = Ran::of(ask.env("KALYPSO_HUB_URL", url)).ends(0).json();
        (graph["environments"][0]["subjects"][0]["proved"]["revision"] == *first).then_some(())
    });
    let second = world.company.change("control-plane@main", "common.yaml", &config("second"));
    world.until("the move into stage", || world.platform("stage")["at"] == *second);
    let mut killed = std::mem::replace(&mut world.serving, other);
    killed.program.process().kill().unwrap();
    killed.program.process().wait().unwrap();
    world.until("the wait for approvals", || world.run("rollout status -e prod").out.contains("waiting  managers:"));
    for person in 0..2 {
        Ran::of(&mut world.command("approve -e prod", person)).ends(0);
    }
    world.until("the proof in prod", || world.proves("prod", &second));
    assert!(world.value("prod", "east").contains("second") && world.value("prod", "west").contains("second"));
    // No step was done twice: each environment's branch got the commit once.
    let log = crate::company::git(&world.company.repository("control-plane"), &["log", "--format=%s", "prod"]);
    assert_eq!(log.lines().filter(|line| line.contains(&second[..7])).count(), 1, "{log}");
}
