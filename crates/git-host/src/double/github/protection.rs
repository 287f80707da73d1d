//! The protection of branches in GitHub's API. All rules are rulesets.

use serde_json::{Value, json};

use super::Answered;
use super::json::whole_branch;
use crate::double::http::{Request, Response};
use crate::hosts::memory::{BranchRule, Denial, RepositoryState};

/// The answer to a question about a branch.
pub(super) fn answer((state, path): (&RepositoryState, &str), request: &Request, rest: &[&str]) -> Answered {
    match rest {
        ["rules", "branches", branch] => {
            let rules = state.rules.get(*branch).map(|rule| rules(rule, path)).unwrap_or_default();
            Ok(Response::page(request, "per_page", rules))
        }
        ["branches", branch] => {
            let commit = state.head(branch).ok_or(Denial::NotFound)?;
            Ok(Response::json(200, &whole_branch(state, branch, commit)))
        }
        _ => Err(Denial::NotFound),
    }
}

fn rules(rule: &BranchRule, path: &str) -> Vec<Value> {
    let of_ruleset = |mut rule: Value| {
        rule["ruleset_source_type"] = json!("Repository");
        rule["ruleset_source"] = json!(path);
        rule["ruleset_id"] = json!(1);
        rule
    };
    let checks = rule.required_status.iter().map(|context| {
        let checks = json!([{ "context": context }]);
        let parameters = json!({ "required_status_checks": checks, "strict_required_status_checks_policy": false });
        json!({ "type": "required_status_checks", "parameters": parameters })
    });
    let update = json!({ "type": "update", "parameters": { "update_allows_fetch_and_merge": false } });
    checks.chain([update, json!({ "type": "deletion" })]).map(of_ruleset).collect()
}
