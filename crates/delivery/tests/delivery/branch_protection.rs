//! The branches that decide what environments behind promotions get, and what is said about those without protection.

use std::sync::Arc;

use delivery::access::{RepositoryAccess, StateKeys};
use delivery::pull_requests::GitHosts;
use delivery::pull_requests::branch_protection::{DecidingBranch, deciding_branches};
use delivery::reading::{self, ReadAt};
use git::PublicKey;
use git_host::hosts::memory::BranchRule;
use model::progress::Progress;
use testkit::keys;
use testkit::objects::object;

use crate::chain::Chain;

/// `dev`, and `prod` behind a promotion.
struct World(Chain);

impl World {
    fn new() -> Self {
        let mut chain = Chain::new(&["dev", "prod"]);
        let promotion = object("Promotion", "to-prod", "from: [dev]\nto: prod");
        chain.company.write_main(".environments/to-prod.yaml", &promotion);
        Self(chain)
    }

    /// What is said, by what the host tells.
    fn findings(&self) -> Vec<String> {
        let branches = branches(&self.0.access, &self.0.hosts).into_iter();
        let found = branches.filter_map(|branch| {
            let protection = branch.host.protection(&branch.repository, &branch.branch).unwrap()?;
            branch.diagnostic(&protection).map(|found| found.message)
        });
        found.collect()
    }

    fn protect(&self, repository: &str, branch: &str, required_status: Option<&str>) {
        let rule = BranchRule { required_status: required_status.map(str::to_owned), required_review: false };
        self.0.host.state().repository(repository).unwrap().rules.insert(branch.to_owned(), rule);
    }
}

fn branches(access: &Arc<RepositoryAccess>, hosts: &GitHosts) -> Vec<DecidingBranch> {
    deciding_branches(&reading::from_git(access, None, ReadAt::Heads).unwrap(), hosts)
}

/// The branches with the positions of their environments.
fn names(access: &Arc<RepositoryAccess>, hosts: &GitHosts) -> Vec<String> {
    let shown = |found: DecidingBranch| format!("{} {}@{}", found.position, found.repository, found.branch);
    branches(access, hosts).into_iter().map(shown).collect()
}

#[test]
fn the_branches_of_environments_behind_a_promotion_count() {
    let world = World::new();
    let (own, states, output) =
        ("1 acme/control-plane@main", "1 acme/control-plane@kalypso-rollouts/prod", "1 acme/gitops@prod");
    assert_eq!(names(&world.0.access, &world.0.hosts), [own, states, output]);
    assert_eq!(names(&world.0.access, &GitHosts::default()), [""; 0]);
}

#[test]
fn signed_states_need_no_protection() {
    let world = World::new();
    let mut settings = world.0.access.settings.clone();
    let trusted = Arc::from([PublicKey::parse(keys::SIGNING.1).unwrap()]);
    settings.state_keys = StateKeys { trusted, ..StateKeys::default() };
    let repositories = Arc::clone(&world.0.company.repositories);
    let access = Arc::new(RepositoryAccess::with(settings, repositories, Progress::default()));
    let expected = ["1 acme/control-plane@main", "1 acme/gitops@prod"];
    assert_eq!(names(&access, &world.0.hosts), expected);
}

#[test]
fn protected_branches_are_no_longer_reported() {
    let world = World::new();
    let of_main = "the branch `main` of acme/control-plane is not protected, and declares the promotions";
    let of_output = "the branch `prod` of acme/gitops is not protected, and clusters pull it";
    // The host tells nothing of the states, which do not exist yet.
    assert_eq!(world.findings(), [of_main, of_output]);
    world.protect("acme/control-plane", "main", None);
    world.protect("acme/gitops", "prod", None);
    let of_status =
        "the branch `prod` of acme/gitops does not require the status `kalypso/admission`, and clusters pull it";
    assert_eq!(world.findings(), [of_status]);
    world.protect("acme/gitops", "prod", Some("kalypso/admission"));
    assert_eq!(world.findings(), [""; 0]);
}
