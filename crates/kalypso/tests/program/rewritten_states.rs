//! The branch with the states of an environment is rewritten or deleted, in a repository behind a server.

use std::fs;

use testkit::git_server::GitServer;
use testkit::objects;

use crate::company::{Company, Ran, git};

const BRANCH: &str = "refs/heads/kalypso-rollouts/dev";

/// A company with an environment `dev` that has states. Its repositories are behind a server.
pub(crate) struct WithStates {
    pub(crate) company: Company,
    pub(crate) server: GitServer,
}

impl WithStates {
    pub(crate) fn new() -> Self {
        let company = Company::new();
        let server = GitServer::start(&company.path("served")).unwrap();
        company.configure(&server.url(), "");
        let promotion = objects::object("Promotion", "to-dev", "to: dev\ndelivery: direct");
        let first = company.change("control-plane@main", ".environments/to-dev.yaml", &promotion);
        company.change("control-plane@dev", "base.yaml", &objects::pinned_base(&first));
        let world = Self { company, server };
        world.run("publish -e dev --direct", 0);
        world.run("rollout advance -e dev", 2);
        world
    }

    pub(crate) fn run(&self, arguments: &str, status: i32) -> Ran {
        self.company.kalypso(arguments).ends(status)
    }

    /// A decision with a reason, by a program that has read nothing before.
    pub(crate) fn decide(&self, arguments: &[&str], status: i32) -> Ran {
        let _ = fs::remove_dir_all(self.company.path("cache"));
        Ran::new(self.company.command().args(arguments).args(["--reason", "numbers are checked"])).ends(status)
    }

    /// Everything that needs the states says these words.
    pub(crate) fn refuses(&self, words: &[&str]) {
        self.run("publish -e dev --direct", 1).says(words);
        self.run("rollout advance -e dev", 1).says(words);
        self.run("rollout status -e dev", 0).says(words);
        self.run("check -e dev", 1).says(words).says(&["K0527"]);
        self.decide(&["hold", "-e", "dev"], 1).says(words);
    }
}

struct Rewritten {
    world: WithStates,
    /// The head of the branch before a hold of an application.
    before: String,
}

impl Rewritten {
    /// `dev` was published from states with the hold.
    fn new() -> Self {
        let world = WithStates::new();
        let before = world.company.head("control-plane", "kalypso-rollouts/dev").unwrap();
        world.decide(&["hold", "-e", "dev", "application/shop"], 0);
        world.company.change("control-plane@dev", "more.yaml", &objects::config("more", "", "MORE: one"));
        world.run("publish -e dev --direct --no-step", 0);
        let held = world.company.head("control-plane", "kalypso-rollouts/dev").unwrap();
        let message = git(&world.company.repository("gitops"), &["log", "-1", "--format=%B", "dev"]);
        assert!(message.contains(&format!("Kalypso-Rollouts: {held}")), "{message}");
        Self { world, before }
    }

    fn set(&self, arguments: &[&str]) {
        let company = &self.world.company;
        git(&company.repository("control-plane"), &[&["update-ref"], arguments].concat());
        let _ = fs::remove_dir_all(company.path("cache"));
    }

    fn refuses(&self, words: &[&str]) {
        self.world.refuses(&[words, &["kalypso rollout restore -e dev --reason TEXT"]].concat());
    }
}

#[test]
fn an_earlier_history_is_refused_until_it_is_restored() {
    let rewritten = Rewritten::new();
    let world = &rewritten.world;
    rewritten.set(&[BRANCH, &rewritten.before]);
    rewritten.refuses(&["was rewritten", "is named by the newest publication"]);
    world.decide(&["rollout", "restore", "-e", "dev"], 0).says(&["dev: the states of commit", "are restored"]);
    world.run("rollout status -e dev", 0).says(&["application/shop", "numbers are checked"]);
    world.run("check -e dev", 0);
    world.run("publish -e dev --direct", 0);
    world.decide(&["rollout", "restore", "-e", "dev"], 1).says(&["there is nothing to restore"]);
}

#[test]
fn a_deleted_branch_is_refused_until_it_is_restored() {
    let rewritten = Rewritten::new();
    let world = &rewritten.world;
    rewritten.set(&["-d", BRANCH]);
    rewritten.refuses(&["does not exist any more"]);
    world.decide(&["rollout", "restore", "-e", "dev", "--baseline"], 1).says(&["can still be read"]);
    world.decide(&["rollout", "restore", "-e", "dev", "--to", "41c77fe"], 64).says(&["is no full commit id"]);
    world.decide(&["rollout", "restore", "-e", "dev"], 0);
    world.run("publish -e dev --direct --no-step", 0);
    let message = git(&world.company.repository("control-plane"), &["log", "-1", "--format=%B", BRANCH]);
    assert!(message.contains("numbers are checked") && message.contains("\"kind\":\"restored\""), "{message}");
}

#[test]
fn lost_states_restart_from_the_published_output() {
    let rewritten = Rewritten::new();
    let world = &rewritten.world;
    rewritten.set(&["-d", BRANCH]);
    let repository = world.company.repository("control-plane");
    git(&repository, &["reflog", "expire", "--expire=now", "--all"]);
    git(&repository, &["gc", "--quiet", "--prune=now"]);
    world.decide(&["rollout", "restore", "-e", "dev"], 1).says(&["can't be read", "--baseline"]);
    world
        .decide(&["rollout", "restore", "-e", "dev", "--baseline"], 0)
        .says(&["the published output was admitted again"]);
    world.run("publish -e dev --direct", 0);
    world.company.kalypso("rollout advance -e dev");
    world.run("check -e dev", 0);
}
