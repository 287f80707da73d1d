//! The protection of a branch on GitHub: by rulesets, and by the older branch protection rules.
//!
//! Each account that can read the repository reads [the rules of rulesets](https://docs.github.com/rest/repos/rules#get-rules-for-a-branch), which exist also for a
//! branch that does not exist yet. Of the branch protection rules, it reads [in the branch](https://docs.github.com/rest/branches/branches#get-a-branch) only whether
//! there is one, and the statuses that it requires.

use serde::Deserialize;

use crate::protection::{BranchProtection, PushLimit, RequiredStatuses};

/// The rules that limit how the head of a branch moves. Others are about creations, deletions, or the content of commits.
const PUSH_RULES: [&str; 5] = ["update", "pull_request", "required_status_checks", "merge_queue", "non_fast_forward"];

#[derive(Debug, Deserialize)]
pub(super) struct BranchJson {
    protected: bool,
    protection: Option<ProtectionJson>,
}

#[derive(Debug, Deserialize)]
struct ProtectionJson {
    required_status_checks: Option<ChecksJson>,
}

#[derive(Debug, Deserialize)]
struct ChecksJson {
    #[serde(default)]
    contexts: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RuleJson {
    #[serde(rename = "type")]
    kind: String,
    parameters: Option<ParametersJson>,
}

#[derive(Debug, Deserialize)]
struct ParametersJson {
    #[serde(default)]
    required_status_checks: Vec<CheckJson>,
}

#[derive(Debug, Deserialize)]
struct CheckJson {
    context: String,
}

/// The protection of a branch. None for what the host does not tell: an Enterprise Server may have no rulesets, and a branch that does not exist has no answer of its own.
pub(super) fn protection(branch: Option<BranchJson>, rules: Option<Vec<RuleJson>>) -> Option<BranchProtection> {
    let is_complete = branch.is_some() && rules.is_some();
    let (branch, rules) = (branch.into_iter(), rules.unwrap_or_default());
    let (mut is_limited, mut contexts) = (false, Vec::new());
    for branch in branch {
        is_limited |= branch.protected;
        let checks = branch.protection.and_then(|protection| protection.required_status_checks);
        contexts.extend(checks.into_iter().flat_map(|checks| checks.contexts));
    }
    for rule in rules {
        is_limited |= PUSH_RULES.contains(&rule.kind.as_str());
        let checks = rule.parameters.into_iter().flat_map(|parameters| parameters.required_status_checks);
        contexts.extend(checks.map(|check| check.context));
    }
    let pushes = if is_limited { PushLimit::Rule } else { PushLimit::Nothing };
    let required = if is_complete { RequiredStatuses::Named(contexts) } else { RequiredStatuses::Unknown };
    (is_limited || is_complete).then_some(BranchProtection { pushes, required })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// What the host does not tell.
    const UNTOLD: Option<Value> = None;

    /// What limits pushes, and the required contexts.
    fn check(
        branch: impl Into<Option<Value>>,
        rules: impl Into<Option<Value>>,
    ) -> Option<(PushLimit, Option<Vec<String>>)> {
        let branch = branch.into().map(|json| serde_json::from_value(json).unwrap());
        let found = protection(branch, rules.into().map(|json| serde_json::from_value(json).unwrap()))?;
        let contexts = match found.required {
            RequiredStatuses::Named(contexts) => Some(contexts),
            _ => None,
        };
        Some((found.pushes, contexts))
    }

    fn branch(is_protected: bool, contexts: &[&str]) -> Value {
        let checks = json!({ "enforcement_level": "non_admins", "contexts": contexts, "checks": [] });
        let protection = json!({ "enabled": is_protected, "required_status_checks": checks });
        json!({ "name": "main", "commit": {}, "protected": is_protected, "protection": protection })
    }

    #[test]
    fn rulesets_and_branch_protection_rules_count() {
        assert_eq!(check(branch(false, &[]), json!([])), Some((PushLimit::Nothing, Some(vec![]))));
        let named = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        assert_eq!(check(branch(true, &["ci"]), json!([])), Some((PushLimit::Rule, named(&["ci"]))));
        let checks = json!({
            "strict_required_status_checks_policy": false,
            "required_status_checks": [{ "context": "kalypso/admission", "integration_id": 7 }],
        });
        let rules = json!([{ "type": "deletion" }, { "type": "required_status_checks", "parameters": checks }]);
        let expected = Some((PushLimit::Rule, named(&["ci", "kalypso/admission"])));
        assert_eq!(check(branch(true, &["ci"]), rules), expected);
    }

    #[test]
    fn only_rules_about_pushes_protect() {
        let of = |kind: &str| check(branch(false, &[]), json!([{ "type": kind }])).unwrap().0;
        assert_eq!(PUSH_RULES.map(of), [PushLimit::Rule; 5]);
        let others = ["creation", "deletion", "required_linear_history", "commit_message_pattern", "max_file_size"];
        assert_eq!(others.map(of), [PushLimit::Nothing; 5]);
    }

    #[test]
    fn one_unreadable_source_still_shows_existing_rules() {
        assert_eq!((check(branch(false, &[]), UNTOLD), check(UNTOLD, json!([]))), (None, None));
        let update = json!([{ "type": "update" }]);
        assert_eq!(check(UNTOLD, update), Some((PushLimit::Rule, None)));
        assert_eq!(check(branch(true, &["ci"]), UNTOLD), Some((PushLimit::Rule, None)));
        assert_eq!(check(UNTOLD, UNTOLD), None);
    }

    #[test]
    fn an_unprotected_branch_may_have_no_details() {
        let bare = json!({ "name": "main", "protected": false });
        assert_eq!(check(bare, json!([])), Some((PushLimit::Nothing, Some(vec![]))));
    }
}
