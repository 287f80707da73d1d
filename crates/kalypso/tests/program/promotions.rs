//! Promotions: their list, the order of environments, and gates that refuse a publication.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use git_host::status::{CommitStatus, StatusState};
use model::git_id::GitId;
use testkit::company::{CompanyRepositories as _, pinned, place_files};
use testkit::objects;

use crate::company::{Ran, git, kalypso};
use crate::serving::Hosted;

/// A platform with the environments `dev`, `qa` and `prod`, in this order.
struct Platform(TempDir);

impl Platform {
    fn new() -> Self {
        let platform = Self(TempDir::new().unwrap());
        fs::write(platform.0.path().join(".gitconfig"), "[user]\nname = Ann Ops\nemail = ann@acme.example\n").unwrap();
        Ran::new(kalypso(platform.0.path()).args(["init", "platform", "--environments", "dev,qa,prod"])).ends(0);
        platform
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.0.path().join("platform").join(relative)
    }

    fn kalypso(&self, arguments: &[&str]) -> Ran {
        let mut command = kalypso(self.0.path());
        Ran::new(command.current_dir(self.path("")).args(arguments))
    }

    fn run(&self, arguments: &str) -> Ran {
        self.kalypso(&arguments.split_whitespace().collect::<Vec<_>>())
    }

    fn commit(&self, folder: &str) -> String {
        let folder = self.path(folder);
        git(&folder, &["add", "."]);
        git(&folder, &["commit", "--quiet", "-m", "A change"]);
        git(&folder, &["rev-parse", "HEAD"])
    }

    /// Commits a promotion to the main branch. Returns the commit.
    fn promote(&self, name: &str, spec: &str) -> String {
        let text = format!(
            "apiVersion: fleet.kalypso.io/v1alpha1\nkind: Promotion\nmetadata: {{name: {name}}}\nspec: {spec}\n"
        );
        fs::write(self.path("control-plane/.environments").join(format!("{name}.yaml")), text).unwrap();
        self.commit("control-plane")
    }

    /// Writes a commit of the main branch into `prod`.
    fn pin(&self, commit: &str) {
        let file = self.path("environments/prod/base-repo.yaml");
        let text = fs::read_to_string(&file).unwrap();
        let kept = text.lines().filter(|line| !line.trim_start().starts_with("commit:"));
        let text = kept.map(|line| {
            if line.trim() == "branch: main" { format!("{line}\n  commit: {commit}\n") } else { format!("{line}\n") }
        });
        fs::write(&file, text.collect::<String>()).unwrap();
        self.commit("environments/prod");
    }
}

const TO_PROD: &str = "{from: [qa], to: prod, gates: [{name: healthy, compliant: {share: 98%}}], rings: [{name: canary, percent: 10%}, {name: rest}]}";

#[test]
fn environments_have_the_order_of_promotion() {
    let platform = Platform::new();
    platform.run("get environments -o name").ends(0).says(&["environment/dev\nenvironment/qa\nenvironment/prod"]);
    platform.promote("to-qa", "{from: [prod], to: qa}");
    platform.run("get environments -o name").says(&["environment/dev\nenvironment/prod\nenvironment/qa"]);
}

#[test]
fn promotions_are_listed_and_described() {
    let platform = Platform::new();
    platform.run("get promotions").ends(0).says(&["there are no promotions"]);
    platform.promote("to-prod", TO_PROD);
    platform.run("get promotions").ends(0).says(&["to-prod", "qa", "compliant 98%", "canary > rest"]);
    platform.run("describe promotion to-prod -e prod").ends(0).says(&["Rings", "canary", "10%", "all others"]);
    let json = platform.run("get promotions -o json").ends(0).json();
    assert_eq!(json["items"][0]["gates"][0]["condition"], "compliant 98%");
}

#[test]
fn a_wrong_graph_is_reported() {
    let platform = Platform::new();
    platform.promote("to-prod", TO_PROD);
    platform.promote("to-qa", "{from: [prod], to: qa}");
    platform.run("check -e dev").ends(1).says(&["K0152", "prod → qa → prod", ".environments/to-prod.yaml:4"]);
    platform.promote("to-qa", "{from: [devv], to: qa}");
    platform.run("check -e dev").ends(1).says(&["K0153", "did you mean `dev`?"]);
}

#[test]
fn promotions_can_push_to_the_branches_of_a_new_platform() {
    let platform = Platform::new();
    git(&platform.path("."), &["clone", "--quiet", "--branch", "qa", "control-plane", "clone"]);
    fs::write(platform.path("clone/configs/qa.yaml"), "# from the clone\n").unwrap();
    platform.commit("clone");
    git(&platform.path("clone"), &["push", "--quiet", "origin", "qa"]);
    assert_eq!(fs::read_to_string(platform.path("environments/qa/configs/qa.yaml")).unwrap(), "# from the clone\n");
}

#[test]
fn step_with_unreadable_promotions_fails() {
    let platform = Platform::new();
    let rings = "rings: [{name: canary, percent: 10%}, {name: rest}]";
    platform.promote("to-prod", &format!("{{from: [qa], to: prod, gates: [{{name: soaked, soak: 1h}}], {rings}}}"));
    platform.promote("to-qa", "{from: [dev], to: qa}");
    platform.run("rollout advance -e qa").ends(1).says(&["can't be evaluated: the promotions can't be read: [K0150]"]);
}

#[test]
fn unreadable_environment_does_not_stop_the_others() {
    let platform = Platform::new();
    platform.pin(&platform.promote("to-prod", "{from: [qa], to: prod}"));
    git(&platform.path("control-plane"), &["update-ref", "-d", "refs/heads/qa"]);
    for command in ["rollout advance", "rollout status"] {
        let graph = platform.run(&format!("{command} -o json")).json();
        let [qa, prod] = &graph["environments"].as_array().unwrap()[..] else { panic!("{graph}") };
        assert!(qa["problem"].as_str().unwrap().contains("has no branch `qa`"), "{graph}");
        assert_eq!([&prod["environment"], &prod["subjects"][0]["kind"]], ["prod", "platform"], "{graph}");
    }
    platform.run("rollout advance").ends(1).says(&["can't be evaluated", "prod  after qa"]);
}

#[test]
fn unreachable_repository_fails_the_step() {
    let platform = Platform::new();
    platform.promote("to-qa", "{from: [dev], to: qa}");
    for (repository, said) in [("platform-gitops.git", "nothing is published to"), ("control-plane", "can't be read")] {
        let (here, gone) = (platform.path(repository), platform.path("gone"));
        fs::rename(&here, &gone).unwrap();
        for command in ["rollout advance", "rollout status"] {
            platform.run(command).ends(69).says(&[said, repository.trim_end_matches(".git")]);
        }
        fs::rename(&gone, &here).unwrap();
    }
}

#[test]
fn gate_refuses_unproved_commits_and_overrides_are_recorded() {
    let platform = Platform::new();
    let first =
        platform.promote("to-prod", "{from: [qa], to: prod, gates: [{name: healthy, compliant: {share: 98%}}]}");
    platform.pin(&first);
    platform.run("publish -e prod --direct").ends(0);
    fs::write(platform.path("control-plane/new.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new, labels: {platform-config: \"true\"}}\ndata: {NEW: \"1\"}\n").unwrap();
    let next = platform.commit("control-plane");
    platform.pin(&next);
    let words = ["K0522", "came into `prod` past its gates", "kalypso promote"];
    platform.run("check -e prod").ends(1).says(&words);
    platform.run("plan -e prod").ends(1).says(&["K0522", "the controller has not let it in"]);
    platform.run("publish -e prod --direct").ends(1).says(&["K0522", "edited", "--override"]);
    platform.kalypso(&["publish", "-e", "prod", "--direct", "--override", " "]).ends(64).says(&["needs a reason"]);
    let reason = ["publish", "-e", "prod", "--direct", "--override", "the hub is down"];
    let unproved = "nothing proves that Ann Ops <ann@acme.example> overrides";
    platform.kalypso(&reason).ends(0).says(&["past ", "the hub is down", unproved]);
    let message = git(&platform.path("platform-gitops.git"), &["log", "-1", "--format=%B", "prod"]);
    assert!(message.contains("Kalypso-Override: the hub is down"), "{message}");
    platform.run("check -e prod").ends(0).says(&["K0525", "past its gates: the hub is down"]);
}

/// A git host on which an account reports that `dev` has proved a commit.
struct Reporting {
    hosted: Hosted,
    commit: String,
}

impl Reporting {
    /// `prod` has a newer commit of the main branch than the published one.
    fn new() -> Self {
        let hosted =
            Hosted::new("[promotion]\nstatus-accounts = [\"ci-bot\"]\noverride-accounts = [\"Kalypso-Bot\"]\n");
        let company = &hosted.company;
        let gates = "from: [dev]\nto: prod\ngates: [{name: compliant, compliant: {share: 100%}}]";
        let promotion = objects::object("Promotion", "to-prod", gates);
        company.change("control-plane@main", ".environments/prod.yaml", &objects::environment("prod"));
        let first = company.change("control-plane@main", ".environments/to-prod.yaml", &promotion);
        company.write("control-plane", "prod", &pinned(place_files("prod", &["east"]), &first));
        company.commit("gitops", "prod", &[("README.md", "What clusters of prod run.\n".to_owned())]);
        let reason = ["publish", "-e", "prod", "--direct", "--override", "the first publication"];
        Ran::new(hosted.command("").args(reason)).ends(0);
        let commit = company.change("control-plane@main", "more.yaml", &objects::config("more", "", "MORE: one"));
        company.change("control-plane@prod", "base.yaml", &objects::pinned_base(&commit));
        Ran::new(&mut hosted.command("publish -e dev --direct")).ends(0);
        Self { hosted, commit }
    }

    fn report(&self, account: &str, state: StatusState) {
        let status = CommitStatus {
            context: "dev environment".to_owned(),
            state,
            description: "as its clusters say".to_owned(),
            target_url: None,
        };
        let commit = GitId::from_hex(&self.commit).unwrap();
        let mut state = self.hosted.memory();
        state.repository("acme/control-plane").unwrap().set_status_as(account, commit, status).unwrap();
    }
}

#[test]
fn statuses_of_configured_accounts_prove_a_commit() {
    let world = Reporting::new();
    world.hosted.kalypso("check -e prod").ends(1).says(&["K0523", "no step of promotions was made for it yet"]);
    let waits = |words: &[&str]| world.hosted.kalypso("publish -e prod --direct").ends(1).says(words);
    waits(&["K0522", "no trusted account reported a status `dev environment`"]);
    world.report("somebody", StatusState::Success);
    waits(&["K0522", "no trusted account"]);
    world.report("ci-bot", StatusState::Failure);
    waits(&["K0522", "gate `compliant` waits"]);
    let status = world.hosted.kalypso("rollout status -e prod").out;
    assert!(status.contains("`ci-bot` reported `dev environment`: as its clusters say"), "{status}");
    world.report("ci-bot", StatusState::Success);
    world.hosted.kalypso("publish -e prod --direct").ends(0);
    world.hosted.kalypso("check -e prod").ends(0);
}

#[test]
fn an_override_needs_a_listed_account_of_the_git_host() {
    let world = Reporting::new();
    let publish = ["publish", "-e", "prod", "--direct", "--override", "an outage"];
    let run = |accounts: &str| {
        let mut command = world.hosted.command("");
        Ran::new(command.args(publish).env("KALYPSO_PROMOTION_OVERRIDE_ACCOUNTS", accounts))
    };
    let published = || world.hosted.company.head("gitops", "prod");
    let before = published();
    run("[\"olga\"]").ends(1).says(&[
        "the account `kalypso-bot` of the GitHub credential may not override gates",
        "list it: `promotion.override-accounts = [\"kalypso-bot\"]`",
    ]);
    assert_eq!(published(), before);
    run("[\"kalypso-bot\"]").ends(0).says(&["an outage (by kalypso-bot until"]);
    assert_ne!(published(), before);
}
