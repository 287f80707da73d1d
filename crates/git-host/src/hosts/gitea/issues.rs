//! The issues and labels of Gitea and Forgejo.

use std::collections::BTreeSet;

use serde_json::json;

use super::json::LabelJson;
use super::{Gitea, get, patch, post};
use crate::error::HostError;
use crate::host::Issues;
use crate::hosts::changed;
use crate::hosts::creation::{Creation, or_existing};
use crate::hosts::json::IssueJson;
use crate::issue::{Issue, IssueChanges, IssueLabel, NewIssue};
use crate::repository::HostRepository;

impl Gitea {
    pub(super) fn labels(&self, repository: &HostRepository) -> Result<Vec<LabelJson>, HostError> {
        self.list(&get(repository, &["labels"]))
    }

    /// The ids of labels. Missing ones are created: Gitea does not create them by itself.
    pub(super) fn label_ids(
        &self,
        repository: &HostRepository,
        names: &BTreeSet<String>,
    ) -> Result<Vec<u64>, HostError> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let existing = self.labels(repository)?;
        let id = |name: &String| match existing.iter().find(|label| label.name == *name) {
            Some(label) => Ok(label.id),
            None => self.create_label(repository, &IssueLabel::undescribed(name)),
        };
        names.iter().map(id).collect()
    }

    fn create_label(&self, repository: &HostRepository, label: &IssueLabel) -> Result<u64, HostError> {
        let body =
            json!({ "name": label.name, "color": format!("#{}", label.color), "description": label.description });
        let call = post(repository, &["labels"], body);
        let find = || Ok(self.labels(repository)?.into_iter().find(|found| found.name == label.name));
        match or_existing(find, || self.read(&call))? {
            Creation::New(LabelJson { id, .. }) | Creation::Existing(LabelJson { id, .. }) => Ok(id),
        }
    }
}

impl Issues for Gitea {
    fn issues(&self, repository: &HostRepository, label: &str) -> Result<Vec<Issue>, HostError> {
        let account = self.account_or_none(repository)?;
        let call = get(repository, &["issues"]).query("type", "issues").query("state", "all").query("labels", label);
        let found: Vec<IssueJson> = self.list(&call)?;
        let mut issues: Vec<Issue> = found.into_iter().filter_map(|issue| issue.into_issue(&account)).collect();
        issues.sort_by_key(|issue| issue.number);
        Ok(issues)
    }

    fn create_issue(&self, repository: &HostRepository, new: &NewIssue) -> Result<Issue, HostError> {
        let account = self.account_or_none(repository)?;
        let labels = self.label_ids(repository, &new.labels)?;
        let body = json!({ "title": new.title, "body": new.body, "labels": labels });
        let answer = self.send(&post(repository, &["issues"], body))?;
        let issue = answer.json::<IssueJson>()?.into_issue(&account);
        issue.ok_or_else(|| answer.unexpected("the new issue is a pull request"))
    }

    fn update_issue(&self, repository: &HostRepository, number: u64, changes: &IssueChanges) -> Result<(), HostError> {
        let state = changes.is_open.map(|is_open| if is_open { "open" } else { "closed" }.to_owned());
        let fields = [("title", changes.title.clone()), ("body", changes.body.clone()), ("state", state)];
        let Some(body) = changed(fields) else { return Ok(()) };
        self.send(&patch(repository, &["issues", &number.to_string()], body)).map(drop)
    }

    fn ensure_label(&self, repository: &HostRepository, label: &IssueLabel) -> Result<(), HostError> {
        if self.labels(repository)?.iter().any(|existing| existing.name == label.name) {
            return Ok(());
        }
        self.create_label(repository, label).map(drop)
    }
}
