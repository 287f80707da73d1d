//! Steps of promotions that can't be made.

use std::time::Duration;

use git::RepositoryUrl;
use git_host::host::Issues as _;
use git_host::{HostKind, HostRepository};
use hub_api::promotions::PromotionService as _;
use service::{Service, Timing};
use testkit::company::{CONTROL_PLANE, PAGES};

use crate::world::{RARELY, World, eventually};

const PROMOTION: &str = "apiVersion: fleet.kalypso.io/v1alpha1\nkind: Promotion\nmetadata: {name: to-prod}\nspec: {to: prod, delivery: direct}\n";

#[test]
fn refused_writes_are_in_the_status_and_the_issue_until_written() {
    let world = World::new();
    world.company.declare_file(".environments/to-prod.yaml", PROMOTION);
    let protect = |reason| {
        let url = RepositoryUrl::from_object(CONTROL_PLANE).unwrap();
        world.company.repositories.protect(&url, "kalypso-rollouts/prod", reason);
    };
    protect(Some("GH013: Repository rule violations found"));
    let often = Duration::from_millis(20);
    let service = Service::start(world.settings(Timing { promotion: often, poll: often, ..RARELY }));
    let repository = HostRepository::parse(HostKind::GitHub, "https://git.example/acme/gitops", PAGES).unwrap();
    let issue = || world.host.issues(&repository, "kalypso").unwrap().pop();
    eventually("the issue", || issue().is_some_and(|issue| issue.is_open && issue.body.contains("GH013")));
    let problem = || service.status(Some("prod")).pop().and_then(|status| status.problem);
    eventually("the status", || problem().is_some_and(|problem| problem.contains("GH013")));
    protect(None);
    // Nothing builds on the main branch, so another problem may follow.
    eventually("the end of the status", || problem().is_none_or(|problem| !problem.contains("GH013")));
    eventually("the end of the issue", || issue().is_some_and(|issue| !issue.is_open || !issue.body.contains("GH013")));
}
