//! The protection of a branch on Gitea and Forgejo: the fields of [the branch](https://docs.gitea.com/api/#tag/repository/operation/repoGetBranch) say which
//! rule is in effect. Each account that can read the repository reads them.

use serde::Deserialize;

use crate::protection::{BranchProtection, PushLimit, RequiredStatuses};

#[derive(Debug, Deserialize)]
pub(super) struct BranchJson {
    protected: bool,
    #[serde(default)]
    enable_status_check: bool,
    status_check_contexts: Option<Vec<String>>,
}

pub(super) fn protection(branch: BranchJson) -> BranchProtection {
    let patterns = branch.status_check_contexts.unwrap_or_default();
    let required = match (branch.protected && branch.enable_status_check, patterns.is_empty()) {
        (false, _) => RequiredStatuses::Named(Vec::new()),
        (true, true) => RequiredStatuses::All,
        (true, false) => RequiredStatuses::Matching(patterns),
    };
    BranchProtection { pushes: if branch.protected { PushLimit::Rule } else { PushLimit::Nothing }, required }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(fields: Value) -> (PushLimit, Option<bool>) {
        let found = protection(serde_json::from_value(fields).unwrap());
        (found.pushes, found.required.require("kalypso/admission"))
    }

    #[test]
    fn the_rule_in_effect_is_in_the_branch() {
        let branch = |is_protected: bool, is_checked: bool, contexts: Value| {
            check(json!({
                "name": "prod", "protected": is_protected, "required_approvals": 0, "enable_status_check": is_checked,
                "status_check_contexts": contexts, "user_can_push": true, "user_can_merge": true,
            }))
        };
        assert_eq!(branch(false, false, json!([])), (PushLimit::Nothing, Some(false)));
        assert_eq!(branch(true, false, json!(null)), (PushLimit::Rule, Some(false)));
        assert_eq!(branch(true, false, json!(["kalypso/*"])), (PushLimit::Rule, Some(false)));
        assert_eq!(branch(true, true, json!(["ci/*", "kalypso/*"])), (PushLimit::Rule, Some(true)));
        assert_eq!(branch(true, true, json!(["ci/*"])), (PushLimit::Rule, Some(false)));
        // Without a pattern, all statuses must be successes.
        assert_eq!(branch(true, true, json!([])), (PushLimit::Rule, Some(true)));
    }
}
