//! `publish` makes a step of promotions, and `plan`, `render`, `explain` and `check` read what was admitted.

use std::collections::BTreeSet;

use testkit::company::{CompanyFiles, common_value};
use testkit::hub_program::HubProgram;
use testkit::objects::{self, pinned_base};

use crate::company::{Company, HOST, Ran, git};
use crate::hub::start;
use crate::reports::token;

const BASE: &str = "base.yaml";
const OWN: &str = "own.yaml";
/// A gate of `prod` that asks a person about values.
const PERSON: &str = "- {name: person, manual: {}, for: [values]}";

/// A company with a hub. `dev` follows the main branch, and `prod` follows `dev`. Both are published, and their clusters have applied it.
pub(crate) struct World {
    pub(crate) company: Company,
    pub(crate) hub: HubProgram,
    token: String,
    /// A token that may only publish.
    publisher: String,
}

impl World {
    /// `gates`: the gates of `prod` beside `compliant`, one in each line.
    pub(crate) fn new(gates: &str) -> Self {
        let gates = format!("gates:\n  - {{name: compliant, compliant: {{share: 100%}}}}\n  {gates}");
        let promotion = format!("from: [dev]\nto: prod\ndelivery: direct\n{gates}");
        let promotion = objects::object("Promotion", "to-prod", &promotion);
        let files = CompanyFiles::with_places(&["dev", "prod"].map(|name| (name, &["east"][..]))).following("dev");
        let company = Company::empty().filled(&files.with(".environments/to-prod.yaml", promotion));
        let [token, publisher] =
            ["admin", "publish"].map(|role| self::token(&company.path("."), &[role, "--role", role]));
        let world = Self { hub: start(&company.path(".")), company, token, publisher };
        for name in ["dev", "prod"] {
            world.run(&format!("publish -e {name} --direct")).ends(0);
            world.report(name);
        }
        world.run("publish --all --direct").ends(0);
        world
    }

    pub(crate) fn run(&self, arguments: &str) -> Ran {
        self.run_with(&self.token, arguments)
    }

    fn run_with(&self, token: &str, arguments: &str) -> Ran {
        let mut command = self.company.command();
        command.env("KALYPSO_HUB_URL", self.hub.url()).env("KALYPSO_HUB_TOKEN", token);
        Ran::new(command.args(arguments.split_whitespace()))
    }

    /// The cluster of an environment reports that it applied the head of its branch.
    pub(crate) fn report(&self, environment: &str) {
        let commit = self.company.head("gitops", environment).unwrap();
        let place = format!("--repository {HOST}gitops --branch {environment} --path east --commit {commit}");
        let host = format!("{environment}-east");
        self.run(&format!("report --host {host} --reconciler {host} --status success {place}")).ends(0);
    }

    /// A commit of the main branch that `dev` has. Its cluster has not reported yet.
    pub(crate) fn change_main(&self, text: &str) -> String {
        let commit = self.company.change("control-plane@main", "common.yaml", &common_value(text));
        self.run("publish -e dev --direct").ends(0);
        commit
    }

    /// A value of `prod`.
    pub(crate) fn change_value(&self, text: &str) {
        let config = objects::config("own", "", &format!("OWN: {text}"));
        self.company.change("control-plane@prod", OWN, &config);
    }

    /// The values of the cluster in `prod`, as they are published.
    pub(crate) fn published(&self) -> String {
        self.company.file("gitops", "prod", "east/shop-prod/platform-config.yaml")
    }
}

#[test]
fn publish_alone_lets_a_proved_commit_in_and_without_a_step_it_does_not() {
    let world = World::new("");
    let second = world.change_main("second");
    let waits = format!("commit {} of main waits before `prod`", &second[..7]);
    world.run("publish -e prod --direct").ends(0).says(&["not admitted yet", &waits, "gate `compliant` waits since"]);
    world.report("dev");
    world.run("publish -e prod --direct --no-step").ends(0).says(&["Nothing to do", &waits]);
    assert!(world.published().contains("first"), "{}", world.published());
    world.run("publish -e prod --direct").ends(0).says(&["Published prod to prod"]);
    assert!(world.published().contains("second"), "{}", world.published());
    world.run("publish -e prod --direct").ends(0).says(&["Nothing to do"]);
}

#[test]
fn plan_matches_publish_while_a_commit_waits() {
    let world = World::new("");
    let second = world.change_main("second");
    world.run("publish -e prod --direct").ends(0);
    world.change_value("new");
    let plan = world.run("plan -e prod -o json").ends(2).json();
    let waits = &plan["notAdmitted"][0];
    assert_eq!([&waits["source"], &waits["revision"], &waits["waitsFor"]], ["main", second.as_str(), "evidence"]);
    assert_eq!(waits["gates"][0]["name"], "compliant", "{waits}");
    let changes = plan["plans"][0]["changes"].as_array().unwrap().iter();
    let values: Vec<_> = changes.clone().flat_map(|change| change["values"].as_array().unwrap()).collect();
    assert_eq!(values.iter().map(|value| &value["key"]).collect::<Vec<_>>(), ["OWN"]);
    let planned: BTreeSet<_> = changes.map(|change| change["assignment"].as_str().unwrap().to_owned()).collect();
    let before = world.company.head("gitops", "prod").unwrap();
    world.run("publish -e prod --direct").ends(0).says(&["OWN"]);
    let log = git(&world.company.repository("gitops"), &["diff", "--name-only", &before, "prod"]);
    let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let written: BTreeSet<_> = log.lines().filter(|path| !path.starts_with('.')).filter_map(folder).collect();
    assert_eq!(written, planned);
    let waits = format!("commit {} of main waits", &second[..7]);
    world.run("plan -e prod").ends(0).says(&["nothing changes", &waits]);
    world.run("plan -e prod -o markdown").ends(0).says(&["### Not admitted yet", &waits]);
    world.run("plan -e prod --head").ends(2).says(&["\"first\" → \"second\""]);
}

#[test]
fn render_and_explain_use_the_admitted_commit_or_the_head_on_request() {
    let world = World::new("");
    world.change_main("second");
    world.run("publish -e prod --direct").ends(0);
    let value = "explain -e prod east/shop-prod VALUE";
    world.run(value).ends(0).says(&["VALUE = \"first\"", "so it is not in this: `--head` shows it"]);
    world.run(&format!("{value} --head")).ends(0).says(&["VALUE = \"second\""]);
    let tree = |arguments: &str| world.run(arguments).ends(0).json()["tree"].clone();
    let [admitted, head] = ["", "--head"].map(|head| tree(&format!("render -e prod --digest -o json {head}")));
    assert_ne!(admitted, head);
    world.report("dev");
    world.run("publish -e prod --direct").ends(0);
    assert_eq!(tree("render -e prod --digest -o json"), head);
}

#[test]
fn a_publication_ends_with_1_where_a_person_must_act() {
    let world = World::new(PERSON);
    world.change_value("new");
    let words = ["K0526", "of values waits before `prod`", "by Ann", "kalypso skip -e prod values --gate person"];
    world.run("publish -e prod --direct").ends(1).says(&words);
    world.run("plan -e prod").ends(1).says(&words);
    assert!(!world.published().contains("OWN"), "{}", world.published());
    world.run("skip -e prod values --gate person --reason seen").ends(0);
    world.run("publish -e prod --direct").ends(0).says(&["Published prod to prod"]);
    assert!(world.published().contains("OWN: new"), "{}", world.published());
}

#[test]
fn a_commit_that_a_person_wrote_is_named_with_the_edit() {
    let world = World::new("");
    let second = world.change_main("second");
    let edit = world.company.change("control-plane@prod", BASE, &pinned_base(&second));
    let edited = format!("`base.yaml` of branch `prod` was edited in {} by Ann", &edit[..7]);
    let words = ["K0522", "came into `prod` past its gates", &edited, "the output stays at commit"];
    world.run("publish -e prod --direct").ends(1).says(&words);
    world.run("plan -e prod").ends(1).says(&words);
    assert!(world.published().contains("first"), "{}", world.published());
}

#[test]
fn admitted_content_is_published_without_new_decisions() {
    let world = World::new("");
    world.change_value("new");
    let ran = world.run_with(&world.publisher, "publish -e prod --direct").ends(0);
    ran.says(&["nothing was decided about promotions", "Published prod to prod"]);
    assert!(world.published().contains("OWN: new"), "{}", world.published());
}

#[test]
fn an_override_makes_no_step() {
    let world = World::new(PERSON);
    let states = || world.company.head("control-plane", "kalypso-rollouts/prod");
    world.change_value("new");
    world.run("publish -e prod --direct").ends(1);
    world.run("publish -e prod --direct --override incident").ends(0).says(&["Published prod to prod"]);
    let admitted = states();
    world.run("publish -e prod --direct --gitops-repo prod").ends(0);
    assert_eq!(states(), admitted);
}

#[test]
fn an_override_needs_an_administrator_of_the_hub_and_is_recorded() {
    let world = World::new(PERSON);
    let states = || world.company.head("control-plane", "kalypso-rollouts/prod");
    world.change_value("new");
    world.run("publish -e prod --direct").ends(1);
    let before = states();
    let refused = world.run_with(&world.publisher, "publish -e prod --direct --override incident").ends(1);
    refused.says(&["the hub's token `publish` may not override gates: that needs the role admin"]);
    assert_eq!((states(), world.published().contains("OWN: new")), (before, false));
    // Without `--direct`, it waits for a merge.
    world.run("publish -e prod --override incident --override-expires 2h").ends(0);
    let words = ["override", "past person until", "by admin: incident"];
    let log = git(&world.company.repository("control-plane"), &["log", "-1", "--format=%B", "kalypso-rollouts/prod"]);
    assert!(words.iter().all(|word| log.contains(word)), "{log}");
    let trailer = git(&world.company.repository("gitops"), &["log", "-1", "--format=%B", "kalypso/prod"]);
    assert!(trailer.contains("Kalypso-Override: incident (by admin until 2"), "{trailer}");
    world.run("rollout status -e prod").ends(0).says(&["was admitted past person by admin, expires in"]);
    let graph = world.run("rollout status -e prod -o json").ends(0).json();
    let subjects = graph["environments"][0]["subjects"].as_array().unwrap();
    let overridden = subjects.iter().find_map(|subject| subject.get("overridden")).unwrap();
    assert_eq!((&overridden["by"], &overridden["gates"][0]), (&"admin".into(), &"person".into()));
}

#[test]
fn check_reports_problems_of_head_and_admitted_commit_once() {
    let world = World::new(PERSON);
    let wrong = objects::policy("extra", "shop").replace("deploymentTargetSelector", "deploymentTargetSelektor");
    let errors = || {
        let report = world.run("check -e prod -o json").json();
        let all = report["diagnostics"].as_array().unwrap().iter();
        all.filter(|found| found.to_string().contains("Selektor")).map(ToString::to_string).collect::<Vec<_>>()
    };
    world.company.change("control-plane@prod", "extra.yaml", &wrong);
    world.run("publish -e prod --direct").ends(1);
    assert_eq!(errors().len(), 1, "only the head has it: {:#?}", errors());
    world.run("skip -e prod values --gate person --reason seen").ends(0);
    world.run("publish -e prod --direct");
    world.company.change("control-plane@prod", "more.yaml", &objects::config("more", "", "MORE: a"));
    world.run("publish -e prod --direct");
    assert_eq!(errors().len(), 1, "both have it: {:#?}", errors());
    world.company.remove("control-plane", "prod", "extra.yaml");
    world.run("publish -e prod --direct").ends(1);
    let left = errors();
    assert_eq!(left.len(), 1, "only the admitted commit has it: {left:#?}");
    assert!(left[0].contains("this is in what was admitted"), "{left:#?}");
}

#[test]
fn a_plan_of_a_proposed_change_names_the_gates_that_it_waits_for() {
    let world = World::new(PERSON);
    let before = world.company.head("control-plane", "prod").unwrap();
    world.change_value("new");
    let plan = world.run(&format!("plan -e prod --commit {before}..prod")).ends(2);
    plan.says(&["OWN", "After its merge, this waits for the gates before `prod`: `person`"]);
}
