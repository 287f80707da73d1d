//! The issues and labels of GitHub.

use serde_json::json;

use super::{GitHub, path};
use crate::error::HostError;
use crate::host::Issues;
use crate::hosts::creation::or_existing;
use crate::hosts::json::IssueJson;
use crate::hosts::{changed, found};
use crate::issue::{Issue, IssueChanges, IssueLabel, NewIssue};
use crate::repository::HostRepository;
use crate::transport::Call;

impl Issues for GitHub {
    fn issues(&self, repository: &HostRepository, label: &str) -> Result<Vec<Issue>, HostError> {
        let account = self.account_or_none(repository)?;
        let call = Call::get(&path(repository, &["issues"])).query("state", "all").query("labels", label);
        let found: Vec<IssueJson> = self.list(repository, &call.query("sort", "created").query("direction", "asc"))?;
        Ok(found.into_iter().filter_map(|issue| issue.into_issue(&account)).collect())
    }

    fn create_issue(&self, repository: &HostRepository, new: &NewIssue) -> Result<Issue, HostError> {
        let account = self.account_or_none(repository)?;
        let body = json!({ "title": new.title, "body": new.body, "labels": new.labels });
        let answer = self.send(repository, Call::post(&path(repository, &["issues"]), body))?;
        let issue = answer.json::<IssueJson>()?.into_issue(&account);
        issue.ok_or_else(|| answer.unexpected("the new issue is a pull request"))
    }

    fn update_issue(&self, repository: &HostRepository, number: u64, changes: &IssueChanges) -> Result<(), HostError> {
        let state = changes.is_open.map(|is_open| if is_open { "open" } else { "closed" }.to_owned());
        let fields = [("title", changes.title.clone()), ("body", changes.body.clone()), ("state", state)];
        let Some(body) = changed(fields) else { return Ok(()) };
        let call = Call::patch(&path(repository, &["issues", &number.to_string()]), body);
        self.send(repository, call).map(drop)
    }

    fn ensure_label(&self, repository: &HostRepository, label: &IssueLabel) -> Result<(), HostError> {
        let find = || found(self.send(repository, Call::get(&path(repository, &["labels", &label.name]))).map(drop));
        if find()?.is_some() {
            return Ok(());
        }
        let body = json!({ "name": label.name, "color": label.color, "description": label.description });
        let call = Call::post(&path(repository, &["labels"]), body);
        or_existing(find, || self.send(repository, call.clone()).map(drop)).map(drop)
    }
}
