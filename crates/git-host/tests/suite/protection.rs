//! What a host tells about the protection of branches.

use git_host::HostKind;
use git_host::double::{DoubleFault, FaultAnswer};
use git_host::hosts::memory::BranchRule;
use git_host::protection::{BranchProtection, PushLimit};

use crate::world::World;

/// A name with a slash, as all branches of Kalypso have.
const BRANCH: &str = "kalypso/dev";
const CONTEXT: &str = "kalypso/admission";

fn protect(world: &World, branch: &str, required_status: Option<&str>) {
    let rule = BranchRule { required_status: required_status.map(str::to_owned), required_review: false };
    world.state.state().repository(&world.path()).unwrap().rules.insert(branch.to_owned(), rule);
}

fn protection(world: &World, branch: &str) -> Option<BranchProtection> {
    world.client.protection(&world.repository, branch).unwrap()
}

fn pushes(world: &World, branch: &str) -> PushLimit {
    protection(world, branch).unwrap().pushes
}

/// What limits pushes to a branch without a rule.
fn unprotected(world: &World) -> PushLimit {
    if world.kind() == HostKind::AzureDevOps { PushLimit::PermissionsAtMost } else { PushLimit::Nothing }
}

pub(crate) fn a_branch_without_a_rule_is_not_protected(world: &World) {
    assert_eq!([pushes(world, "main"), pushes(world, BRANCH)], [unprotected(world); 2]);
}

pub(crate) fn a_rule_protects_its_branch_only(world: &World) {
    protect(world, BRANCH, None);
    assert_eq!([pushes(world, BRANCH), pushes(world, "main")], [PushLimit::Rule, unprotected(world)]);
}

pub(crate) fn a_required_status_is_known_where_statuses_of_commits_can_be_required(world: &World) {
    let can_require = world.kind() != HostKind::AzureDevOps;
    let is_required = || protection(world, BRANCH).unwrap().required.require(CONTEXT);
    protect(world, BRANCH, None);
    assert_eq!(is_required(), can_require.then_some(false));
    protect(world, BRANCH, Some(CONTEXT));
    assert_eq!(is_required(), can_require.then_some(true));
    protect(world, BRANCH, Some("ci/test"));
    // GitLab requires all statuses.
    assert_eq!(is_required(), can_require.then_some(world.kind() == HostKind::GitLab));
}

pub(crate) fn missing_branch_is_protected_only_by_visible_rules(world: &World) {
    let of_missing = || protection(world, "kalypso-rollouts/dev").map(|found| found.pushes);
    let has_branches = world.kind() == HostKind::AzureDevOps;
    assert_eq!(of_missing(), has_branches.then_some(PushLimit::PermissionsAtMost));
    protect(world, "kalypso-rollouts/dev", None);
    let tells_rules = matches!(world.kind(), HostKind::GitHub | HostKind::AzureDevOps);
    assert_eq!(of_missing(), tells_rules.then_some(PushLimit::Rule));
}

pub(crate) fn unreadable_protection_is_unknown(world: &World) {
    let Some(double) = &world.double else { return };
    let fail = |status| {
        let answer = FaultAnswer::Answer { status, headers: Vec::new(), body: r#"{"message": "no"}"#.to_owned() };
        double.fail_next(DoubleFault { method: "GET", target: String::new(), is_done: false, answer, times: 1 });
        world.client.protection(&world.repository, "main")
    };
    assert_eq!([fail(403), fail(404)], [Ok(None), Ok(None)]);
    assert!(fail(401).unwrap_err().is_denied());
    assert_eq!(pushes(world, "main"), unprotected(world));
}
