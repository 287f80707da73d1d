//! A platform with three environments, its running service with the hub, and simulated clusters that report over the API.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Mutex;

use serde_json::Value as Json;
use testkit::company::CompanyFiles;
use testkit::hub_program::HubProgram;

use crate::company::{Company, HOST, Ran};
use crate::serving::{Serving, eventually};

/// The variable with the database of the hub.
const DATABASE: &str = "KALYPSO_DATABASE_URL";

pub(crate) const ENVIRONMENTS: [&str; 3] = ["dev", "stage", "prod"];

/// The promotions: dev follows the main branch, stage follows dev, prod follows stage after two approvals, in two rings.
pub(crate) const PROMOTIONS: &str = "\
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

/// A company with three environments, its running service, and clusters that report.
pub(crate) struct World {
    pub(crate) company: Company,
    pub(crate) serving: Serving,
    tokens: [String; 2],
    pub(crate) database: Option<String>,
    /// A cluster that fails to apply what it gets.
    pub(crate) failing: Mutex<Option<(&'static str, &'static str)>>,
}

impl World {
    /// `database` is the URL of a server of PostgreSQL. None: a file.
    pub(crate) fn new(database: Option<String>) -> Self {
        Self::with(database, PROMOTIONS)
    }

    pub(crate) fn with(database: Option<String>, promotions: &str) -> Self {
        Self::start(company(promotions, &[]), database)
    }

    /// Starts the service of a company.
    pub(crate) fn start(company: Company, database: Option<String>) -> Self {
        configure(&company);
        let tokens = ["ann", "bob"].map(|name| {
            let mut command = company.command();
            command.args(["hub", "token", "create", name, "--role", "admin"]);
            command.envs(database.iter().map(|url| (DATABASE, url)));
            Ran::new(&mut command).ends(0).out.lines().next().unwrap().to_owned()
        });
        let serving = Self::serve(&company, database.as_ref(), "cache");
        Self { company, serving, tokens, database, failing: Mutex::default() }
    }

    /// Starts a replica of the service, with a cache of its own.
    pub(crate) fn serve(company: &Company, database: Option<&String>, cache: &str) -> Serving {
        let (file, folder) = (format!("{cache}.toml"), company.path("."));
        let text = fs::read_to_string(folder.join("kalypso.toml")).unwrap();
        fs::write(folder.join(&file), text.replace("cache = \"cache\"", &format!("cache = \"{cache}\""))).unwrap();
        let mut command = company.command();
        command.args(["serve", "--config", &file, "--listen", "127.0.0.1:0", "--log", "debug"]);
        Serving::start_command(command.envs(database.iter().map(|url| (DATABASE, url))))
    }

    fn program(&self) -> &HubProgram {
        &self.serving.program
    }

    pub(crate) fn command(&self, arguments: &str, token: usize) -> Command {
        let mut command = self.company.command();
        command.env("KALYPSO_HUB_URL", self.program().url()).env("KALYPSO_HUB_TOKEN", &self.tokens[token]);
        command.args(arguments.split_whitespace());
        command
    }

    /// `kalypso rollout status --watch` for an environment.
    pub(crate) fn watch(&self, environment: &str) -> Watch {
        let mut command = self.command(&format!("rollout status -e {environment} --watch"), 0);
        let file = self.company.path("watch.txt");
        let child = command.stdout(File::create(&file).unwrap()).spawn().unwrap();
        let watch = Watch { child, file };
        watch.until(environment);
        watch
    }

    pub(crate) fn run(&self, arguments: &str) -> Ran {
        Ran::new(&mut self.command(arguments, 0))
    }

    /// Each cluster reports that it applied the head of its branch, or failed to.
    fn report(&self) {
        for environment in ENVIRONMENTS {
            let Some(commit) = self.company.head("gitops", environment) else { continue };
            for cluster in self.clusters(environment) {
                let is_failing = *self.failing.lock().unwrap() == Some((environment, &cluster));
                let status = if is_failing { "failure" } else { "success" };
                let place =
                    format!("--repository {HOST}gitops --branch {environment} --path {cluster} --commit {commit}");
                let reconciler = format!("{environment}-{cluster}");
                self.run(&format!("report --host {reconciler} --reconciler {reconciler} --status {status} {place}"));
            }
        }
    }

    /// The clusters with a folder in an environment.
    pub(crate) fn clusters(&self, environment: &str) -> BTreeSet<String> {
        let files = self.company.files("gitops", environment);
        let folders = files.lines().filter_map(|path| path.split_once('/')).map(|(folder, _)| folder);
        folders.filter(|folder| !folder.starts_with('.')).map(str::to_owned).collect()
    }

    /// The platform's commits in an environment.
    pub(crate) fn platform(&self, environment: &str) -> Json {
        let graph = self.run("rollout status -o json").ends(0).json();
        let found =
            graph["environments"].as_array().unwrap().iter().find(|one| one["environment"] == environment).cloned();
        found.unwrap_or_default()["subjects"][0].clone()
    }

    /// Clusters report until something is true.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, is_true: impl Fn() -> bool) {
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

    pub(crate) fn proves(&self, environment: &str, commit: &str) -> bool {
        self.platform(environment)["proved"]["revision"] == commit
    }

    pub(crate) fn value(&self, environment: &str, cluster: &str) -> String {
        self.company.file("gitops", environment, &format!("{cluster}/shop-{environment}/platform-config.yaml"))
    }
}

/// A running command whose output goes to a file.
pub(crate) struct Watch {
    child: Child,
    file: PathBuf,
}

impl Watch {
    /// Waits until the command has said something.
    pub(crate) fn until(&self, words: &str) {
        eventually(words, || fs::read_to_string(&self.file).unwrap().contains(words).then_some(()));
    }

    /// Ends the command, which has said all this.
    pub(crate) fn ends_with_all(mut self, words: &[&str]) {
        assert_eq!(self.child.try_wait().unwrap(), None, "it ended by itself");
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let said = fs::read_to_string(&self.file).unwrap();
        words.iter().for_each(|word| assert!(said.contains(word), "`{word}` is not in\n{said}"));
    }
}

/// The repositories of a platform with three environments. `files` are added to the main branch, or replace its files.
pub(crate) fn company(promotions: &str, files: &[(&str, String)]) -> Company {
    let all = CompanyFiles::with_places(&ENVIRONMENTS.map(|name| (name, &["east", "west"][..])));
    let all = files.iter().fold(all, |all, (path, text)| all.with(path, text.clone()));
    Company::empty().filled(&all.with(".environments/promotions.yaml", promotions))
}

/// Writes the configuration of the service, whose pauses are short.
fn configure(company: &Company) {
    let more = "[host]\nkind = \"git\"\nurl = \"https://git.example\"\nauto-merge = true\n\
                [service]\npoll = \"1s\"\nsettle = \"100ms\"\nresync = \"5s\"\n\
                [promotion]\ninterval = \"1s\"\n[promotion.accounts]\nann = \"ann-smith\"\nbob = \"bob\"\n";
    company.configure(&format!("{}/", company.path("served").display()), more);
}
