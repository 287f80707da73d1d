//! The protection of a branch on Azure DevOps: its [branch policies](https://learn.microsoft.com/rest/api/azure/devops/git/policy-configurations/get).
//!
//! A required branch policy lets changes in by pull requests only. Permissions of the branch can limit pushes without one; which accounts have them is not read here.
//! Policies require statuses of pull requests, and no statuses of commits.

use serde::Deserialize;

use crate::protection::{BranchProtection, PushLimit, RequiredStatuses};

/// The types of branch policies: reviewers by number and by name, linked work items, resolved comments, merge types, builds and statuses. Other policies are about the
/// content of pushes.
const BRANCH_POLICIES: [&str; 7] = [
    "fa4e907d-c16b-4a4c-9dfa-4906e5d171dd",
    "fd2167ab-b0be-447a-8ec8-39368250530e",
    "40e92b44-2fe1-4dd6-b3d8-74a9c21d0c6e",
    "c6a1889d-b943-4856-b76f-9e46bb6b0df2",
    "fa4e907d-c16b-4a4c-9dfa-4916e5d171ab",
    "0609b952-1397-4640-95ec-e00a01b2c241",
    "cbdc66da-9728-4af8-aada-9a5a32e4a226",
];

#[derive(Debug, Deserialize)]
pub(super) struct IdJson {
    pub(super) id: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PolicyJson {
    is_enabled: bool,
    is_blocking: bool,
    is_deleted: bool,
    #[serde(rename = "type")]
    kind: Option<IdJson>,
}

pub(super) fn protection(policies: &[PolicyJson]) -> BranchProtection {
    let requires_pull_requests = |policy: &PolicyJson| {
        let kind = policy.kind.as_ref().map(|kind| kind.id.to_ascii_lowercase());
        let is_of_branch = kind.is_some_and(|kind| BRANCH_POLICIES.contains(&kind.as_str()));
        is_of_branch && policy.is_enabled && policy.is_blocking && !policy.is_deleted
    };
    let is_limited = policies.iter().any(requires_pull_requests);
    let pushes = if is_limited { PushLimit::Rule } else { PushLimit::PermissionsAtMost };
    BranchProtection { pushes, required: RequiredStatuses::Unknown }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(policies: Value) -> PushLimit {
        protection(&serde_json::from_value::<Vec<_>>(policies).unwrap()).pushes
    }

    #[test]
    fn a_required_branch_policy_protects() {
        let policy = |(is_enabled, is_blocking, is_deleted): (bool, bool, bool), kind: &str| {
            json!([{
                "id": 7, "isEnabled": is_enabled, "isBlocking": is_blocking, "isDeleted": is_deleted,
                "type": { "id": kind, "displayName": "a policy" }, "settings": {},
            }])
        };
        let required = (true, true, false);
        for kind in BRANCH_POLICIES {
            assert_eq!(check(policy(required, kind)), PushLimit::Rule, "{kind}");
        }
        let [kind, ..] = BRANCH_POLICIES;
        assert_eq!(check(policy(required, &kind.to_uppercase())), PushLimit::Rule);
        for not_required in [(false, true, false), (true, false, false), (true, true, true)] {
            assert_eq!(check(policy(not_required, kind)), PushLimit::PermissionsAtMost, "{not_required:?}");
        }
        // The maximum size of files.
        let of_pushes = policy(required, "2e26e725-8201-4edd-8bf5-978563c34a80");
        assert_eq!([check(of_pushes), check(json!([]))], [PushLimit::PermissionsAtMost; 2]);
    }
}
