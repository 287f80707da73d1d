//! The protection of a branch on GitLab.
//!
//! [The branch](https://docs.gitlab.com/api/branches/#get-single-repository-branch) says whether a protected branch or wildcard is for it, to each account that can read
//! the repository. GitLab requires no single status: [the project](https://docs.gitlab.com/api/projects/#get-a-single-project) says whether pipelines must succeed, and a
//! status is a job of the pipeline.

use serde::Deserialize;

use crate::protection::{BranchProtection, PushLimit, RequiredStatuses};

#[derive(Debug, Deserialize)]
pub(super) struct BranchJson {
    protected: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct ProjectJson {
    /// Not shown to all accounts.
    only_allow_merge_if_pipeline_succeeds: Option<bool>,
}

pub(super) fn protection(branch: &BranchJson, project: Option<&ProjectJson>) -> BranchProtection {
    let required = match project.and_then(|project| project.only_allow_merge_if_pipeline_succeeds) {
        Some(true) => RequiredStatuses::All,
        Some(false) => RequiredStatuses::Named(Vec::new()),
        None => RequiredStatuses::Unknown,
    };
    BranchProtection { pushes: if branch.protected { PushLimit::Rule } else { PushLimit::Nothing }, required }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(is_protected: bool, project: Option<Value>) -> (PushLimit, Option<bool>) {
        let branch = json!({ "name": "prod", "protected": is_protected, "developers_can_push": false });
        let project: Option<ProjectJson> = project.map(|json| serde_json::from_value(json).unwrap());
        let found = protection(&serde_json::from_value(branch).unwrap(), project.as_ref());
        (found.pushes, found.required.require("kalypso/admission"))
    }

    #[test]
    fn the_project_requires_statuses() {
        let pipelines = |must_succeed: bool| Some(json!({ "only_allow_merge_if_pipeline_succeeds": must_succeed }));
        assert_eq!(check(true, pipelines(true)), (PushLimit::Rule, Some(true)));
        assert_eq!(check(false, pipelines(false)), (PushLimit::Nothing, Some(false)));
        assert_eq!(check(true, Some(json!({ "id": 5 }))), (PushLimit::Rule, None));
        assert_eq!(check(true, None), (PushLimit::Rule, None));
    }
}
