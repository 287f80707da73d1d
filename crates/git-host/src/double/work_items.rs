//! The work items of Azure DevOps, as far as issues need them. Those of a repository have its tag.

use serde_json::{Value, json};

use super::http::{Request, Response};
use crate::hosts::azure_devops::html;
use crate::hosts::memory::{Denial, HostState, RepositoryState};
use crate::issue::{Issue, IssueChanges, NewIssue};

/// The states of the type `Issue` in the process Agile, with their categories.
const STATES: [(&str, &str); 2] = [("Active", "InProgress"), ("Closed", "Completed")];

/// A request for the work items of a project.
pub(super) struct Route<'r> {
    pub(super) state: &'r mut HostState,
    pub(super) account: &'r str,
    pub(super) request: &'r Request,
    /// The path of the project.
    pub(super) project: &'r str,
}

impl Route<'_> {
    pub(super) fn answer(mut self, rest: &[&str]) -> Result<Response, Denial> {
        let request = self.request;
        match (request.method.as_str(), rest) {
            ("GET", ["workitemtypes"]) => {
                let kind = |name: &str| {
                    let reference = format!("Microsoft.VSTS.WorkItemTypes.{name}");
                    json!({ "name": name, "referenceName": reference, "isDisabled": false, "url": request.target })
                };
                let kinds = ["Epic", "Issue"].map(kind);
                Ok(list(&kinds))
            }
            ("GET", ["workitemtypes", "Issue", "states"]) => Ok(list(
                &STATES.map(|(name, category)| json!({ "name": name, "category": category, "color": "007acc" })),
            )),
            ("POST", ["wiql"]) => self.find(),
            ("GET", ["workitems"]) => {
                let ids = request.parameter("ids").unwrap_or_default().split(',');
                let mut item = |id: &str| self.work_item(id.parse().ok()?);
                Ok(list(&ids.map(|id| item(id).unwrap_or_default()).collect::<Vec<_>>()))
            }
            ("POST", ["workitems", "$Issue"]) => self.create(),
            ("PATCH", ["workitems", id]) => {
                let id = id.parse().map_err(|_| Denial::NotFound)?;
                self.update(id)?;
                let item = self.work_item(id).ok_or(Denial::NotFound)?;
                Ok(Response::json(200, &item))
            }
            _ => Err(Denial::NotFound),
        }
    }

    fn find(&mut self) -> Result<Response, Denial> {
        let query = self.request.text("query").unwrap_or_default();
        let parts = query.split("[System.Tags] CONTAINS '").skip(1).filter_map(|part| part.split('\'').next());
        let (path, labels) = self.tagged(&parts.collect::<Vec<_>>())?;
        let is_limited =
            query.contains("[System.WorkItemType] = 'Issue'") && query.contains("[System.TeamProject] = @project");
        let label = labels.first().filter(|_| is_limited).ok_or_else(|| Denial::Invalid(query.clone()))?;
        let found = self.state.repository(&path)?.issues(label, "");
        let found: Vec<Value> =
            found.iter().rev().map(|issue| json!({ "id": issue.number, "url": issue.url })).collect();
        Ok(Response::json(200, &json!({ "queryType": "flat", "queryResultType": "workItem", "workItems": found })))
    }

    fn create(&mut self) -> Result<Response, Denial> {
        let request = self.request;
        check_type(request)?;
        let tags = field(request, "Tags").unwrap_or_default();
        let (path, labels) = self.tagged(&tags.split("; ").collect::<Vec<_>>())?;
        let repository = self.state.repository(&path)?;
        repository.ensure_labels(&labels);
        let body = html::to_text(&field(request, "Description").unwrap_or_default());
        let title = field(request, "Title").ok_or_else(|| Denial::Invalid("TF401320: Title".to_owned()))?;
        let number = repository
            .create_issue(self.account, &NewIssue { title, body, labels: labels.into_iter().collect() })?
            .number;
        let item = self.work_item(number).ok_or(Denial::NotFound)?;
        Ok(Response::json(200, &item))
    }

    fn update(&mut self, id: u64) -> Result<(), Denial> {
        let request = self.request;
        check_type(request)?;
        let is_open = match field(request, "State").as_deref() {
            None => None,
            Some("Active") => Some(true),
            Some("Closed") => Some(false),
            Some(other) => return Err(Denial::Invalid(format!("TF401320: state {other}"))),
        };
        let body = field(request, "Description").map(|description| html::to_text(&description));
        let changes = IssueChanges { title: field(request, "Title"), body, is_open };
        for path in self.paths() {
            let repository = self.state.repository(&path)?;
            if issue(repository, id).is_some() {
                return repository.update_issue(id, &changes).map(drop);
            }
        }
        Err(Denial::NotFound)
    }

    fn work_item(&mut self, id: u64) -> Option<Value> {
        let found = self.paths().into_iter().find_map(|path| issue(self.state.repository(&path).ok()?, id));
        let (issue, author) = found?;
        let [open, closed] = STATES.map(|(name, _)| name);
        Some(json!({
            "id": id, "rev": 1, "url": issue.url,
            "fields": {
                "System.Title": issue.title, "System.Description": html::from_text(&issue.body),
                "System.State": if issue.is_open { open } else { closed }, "System.WorkItemType": "Issue",
                "System.CreatedBy": super::azure_devops::identity(&author),
                "System.ChangedBy": super::azure_devops::identity(self.account),
            },
        }))
    }

    /// The repository with the tag in a list of tags, and the other tags.
    fn tagged(&self, tags: &[&str]) -> Result<(String, Vec<String>), Denial> {
        let tag = |path: &String| format!("repository {}", path.rsplit('/').next().unwrap_or_default());
        let path = self.paths().into_iter().find(|path| tags.contains(&tag(path).as_str()));
        let path = path.ok_or_else(|| Denial::Invalid(format!("no tag of a repository: {tags:?}")))?;
        let others = tags.iter().filter(|found| **found != tag(&path)).map(|found| (*found).to_owned()).collect();
        Ok((path, others))
    }

    /// The paths of the repositories of the project.
    fn paths(&self) -> Vec<String> {
        let begin = format!("{}/", self.project);
        self.state.paths().filter(|path| path.starts_with(&begin)).map(str::to_owned).collect()
    }
}

fn list(items: &[Value]) -> Response {
    Response::json(200, &json!({ "count": items.len(), "value": items }))
}

/// The value that a change of a field has in the body.
fn field(request: &Request, name: &str) -> Option<String> {
    let json = request.json();
    let path = format!("/fields/System.{name}");
    let change = json.as_array()?.iter().find(|change| change["path"] == *path && change["op"] == "add")?;
    change["value"].as_str().map(str::to_owned)
}

fn check_type(request: &Request) -> Result<(), Denial> {
    let is_patch = request.header("content-type") == Some("application/json-patch+json");
    if is_patch {
        Ok(())
    } else {
        Err(Denial::Invalid("the content type is not application/json-patch+json".to_owned()))
    }
}

/// An issue, with its author.
fn issue(repository: &RepositoryState, id: u64) -> Option<(Issue, String)> {
    let row = repository.issues.iter().find(|row| row.shown.number == id)?;
    Some((row.shown.clone(), row.author.clone()))
}
