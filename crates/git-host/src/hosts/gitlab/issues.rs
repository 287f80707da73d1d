//! The issues and labels of GitLab.

use serde_json::json;

use super::json::IssueJson;
use super::{GitLab, Resource, joined};
use crate::error::HostError;
use crate::host::Issues;
use crate::hosts::creation::or_existing;
use crate::hosts::{changed, found};
use crate::issue::{Issue, IssueChanges, IssueLabel, NewIssue};
use crate::repository::HostRepository;

impl Issues for GitLab {
    fn issues(&self, repository: &HostRepository, label: &str) -> Result<Vec<Issue>, HostError> {
        let account = self.account_or_none(repository)?;
        let call = Resource::new(repository, &["issues"]).get().query("labels", label).query("state", "all");
        let found: Vec<IssueJson> = self.list(&call.query("order_by", "created_at").query("sort", "asc"))?;
        Ok(found.into_iter().map(|issue| issue.into_issue(&account)).collect())
    }

    fn create_issue(&self, repository: &HostRepository, new: &NewIssue) -> Result<Issue, HostError> {
        let account = self.account_or_none(repository)?;
        let body = json!({ "title": new.title, "description": new.body, "labels": joined(&new.labels) });
        self.read(&Resource::new(repository, &["issues"]).post(body)).map(|issue: IssueJson| issue.into_issue(&account))
    }

    fn update_issue(&self, repository: &HostRepository, number: u64, changes: &IssueChanges) -> Result<(), HostError> {
        let event = changes.is_open.map(|is_open| if is_open { "reopen" } else { "close" }.to_owned());
        let fields = [("title", changes.title.clone()), ("description", changes.body.clone()), ("state_event", event)];
        let Some(body) = changed(fields) else { return Ok(()) };
        self.send(&Resource::new(repository, &["issues", &number.to_string()]).put(body)).map(drop)
    }

    fn ensure_label(&self, repository: &HostRepository, label: &IssueLabel) -> Result<(), HostError> {
        let find = || found(self.send(&Resource::new(repository, &["labels", &label.name]).get()).map(drop));
        if find()?.is_some() {
            return Ok(());
        }
        let body =
            json!({ "name": label.name, "color": format!("#{}", label.color), "description": label.description });
        let call = Resource::new(repository, &["labels"]).post(body);
        or_existing(find, || self.send(&call).map(drop)).map(drop)
    }
}
