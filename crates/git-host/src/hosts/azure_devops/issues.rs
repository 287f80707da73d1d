//! Issues as work items of the project. Their type and its states depend on the process of the project.

use serde::Deserialize;
use serde_json::{Value, json};

use super::json::{IdentityJson, ListJson};
use super::{AzureDevOps, VERSION, html};
use crate::error::HostError;
use crate::host::Issues;
use crate::issue::{Issue, IssueChanges, IssueLabel, NewIssue};
use crate::kind::HostKind;
use crate::repository::HostRepository;
use crate::transport::Call;

/// The types for an issue, the best one first. Each process has one of them: Basic, Agile and CMMI have `Issue`, Scrum has `Impediment`.
const TYPES: [&str; 4] = ["Issue", "Impediment", "Bug", "Task"];

/// The categories of the states of a closed work item.
const CLOSED: [&str; 2] = ["Completed", "Removed"];

/// The categories of the states of an open work item, the best one first.
const OPEN: [&str; 2] = ["Proposed", "InProgress"];

/// The maximum number of work items of one request.
const BATCH_ITEMS: usize = 200;

/// The maximum number of work items that are searched.
const FOUND_MAX: u32 = 1_000;

/// The fields that are read.
const FIELDS: &str = "System.Title,System.Description,System.State,System.CreatedBy";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TypeJson {
    name: String,
    #[serde(default)]
    is_disabled: bool,
}

#[derive(Clone, Debug, Deserialize)]
struct StateJson {
    name: String,
    /// `Proposed`, `InProgress`, `Resolved`, `Completed` or `Removed`.
    #[serde(default)]
    category: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FoundJson {
    work_items: Vec<ReferenceJson>,
}

#[derive(Debug, Deserialize)]
struct ReferenceJson {
    id: u64,
}

#[derive(Debug, Deserialize)]
struct WorkItemJson {
    id: u64,
    fields: FieldsJson,
}

#[derive(Debug, Deserialize)]
struct FieldsJson {
    #[serde(rename = "System.Title")]
    title: String,
    #[serde(rename = "System.Description", default)]
    description: String,
    #[serde(rename = "System.State")]
    state: String,
    #[serde(rename = "System.CreatedBy")]
    created_by: Option<IdentityJson>,
}

/// The type of a project's work items for issues.
#[derive(Clone, Debug)]
pub(super) struct IssueType {
    name: String,
    states: Vec<StateJson>,
}

impl IssueType {
    fn is_open(&self, state: &str) -> bool {
        let category = self.states.iter().find(|found| found.name == state).map(|found| found.category.as_str());
        category.is_none_or(|category| !CLOSED.contains(&category))
    }

    /// The state of an open or closed work item.
    fn state(&self, is_open: bool) -> Option<&str> {
        let categories = if is_open { OPEN } else { CLOSED };
        let state = |category: &&str| self.states.iter().find(|state| state.category == **category);
        categories.iter().find_map(state).map(|state| state.name.as_str())
    }
}

/// A call of the work items of a repository's project.
fn with_path(repository: &HostRepository, rest: &[&str], call: impl FnOnce(&[&str]) -> Call) -> Call {
    let project = repository.path().split_last().map_or(&[][..], |(_, project)| project);
    let path = project.iter().map(String::as_str).chain(["_apis", "wit"]).chain(rest.iter().copied());
    call(&path.collect::<Vec<_>>()).query("api-version", VERSION)
}

fn get(repository: &HostRepository, rest: &[&str]) -> Call {
    with_path(repository, rest, Call::get)
}

/// A change of a field.
fn set(field: &str, value: impl Into<Value>) -> Value {
    json!({ "op": "add", "path": format!("/fields/System.{field}"), "value": value.into() })
}

/// The tag of a repository. A project can have several repositories.
fn repository_tag(repository: &HostRepository) -> String {
    format!("repository {}", repository.name())
}

/// A text of the query language.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The result of a request. A token without the right to work items is as good as a project without them.
fn permitted<T>(result: Result<T, HostError>) -> Result<T, HostError> {
    match result {
        Err(error) if error.is_denied() => not_supported("issues for a token without the scope `Work Items`"),
        result => result,
    }
}

fn not_supported<T>(what: &'static str) -> Result<T, HostError> {
    Err(HostError::NotSupported { kind: HostKind::AzureDevOps, what })
}

/// Reads the type of a project's work items for issues.
pub(super) fn read_type(host: &AzureDevOps, repository: &HostRepository) -> Result<IssueType, HostError> {
    let types: ListJson<TypeJson> = permitted(host.read(&get(repository, &["workitemtypes"])))?;
    let is_of = |name: &&&str| types.value.iter().any(|found| found.name == **name && !found.is_disabled);
    let Some(name) = TYPES.iter().find(is_of) else {
        return not_supported("issues in a project without the work item types Issue, Impediment, Bug and Task");
    };
    let states: ListJson<StateJson> = permitted(host.read(&get(repository, &["workitemtypes", name, "states"])))?;
    Ok(IssueType { name: (*name).to_owned(), states: states.value })
}

impl WorkItemJson {
    fn into_issue(self, url: String, account: &str, kind: &IssueType) -> Issue {
        let author = self.fields.created_by.map_or_else(String::new, |identity| identity.id);
        Issue {
            number: self.id,
            url,
            title: self.fields.title,
            body: html::to_text(&self.fields.description),
            is_open: kind.is_open(&self.fields.state),
            is_own: !account.is_empty() && author == *account,
        }
    }
}

impl AzureDevOps {
    fn work_items(&self, repository: &HostRepository, ids: &[u64]) -> Result<Vec<WorkItemJson>, HostError> {
        let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
        let call = get(repository, &["workitems"]).query("ids", ids.join(",")).query("fields", FIELDS);
        // Work items that were deleted meanwhile are null.
        let items: ListJson<Option<WorkItemJson>> = permitted(self.read(&call.query("errorPolicy", "omit")))?;
        Ok(items.value.into_iter().flatten().collect())
    }

    /// The change of the state that opens or closes a work item. None if it is open or closed already.
    fn new_state(&self, repository: &HostRepository, number: u64, is_open: bool) -> Result<Option<Value>, HostError> {
        let kind = self.issue_type(repository)?;
        let items = self.work_items(repository, &[number])?;
        let is_same = items.first().is_some_and(|item| kind.is_open(&item.fields.state) == is_open);
        Ok(if is_same { None } else { kind.state(is_open).map(|state| set("State", state)) })
    }
}

impl Issues for AzureDevOps {
    fn issues(&self, repository: &HostRepository, label: &str) -> Result<Vec<Issue>, HostError> {
        let (account, kind) = (self.account_or_none(repository)?, self.issue_type(repository)?);
        let query = format!(
            "SELECT [System.Id] FROM WorkItems WHERE [System.TeamProject] = @project AND [System.WorkItemType] = {} \
             AND [System.Tags] CONTAINS {} AND [System.Tags] CONTAINS {} ORDER BY [System.Id] DESC",
            quoted(&kind.name),
            quoted(label),
            quoted(&repository_tag(repository)),
        );
        let call = with_path(repository, &["wiql"], |path| Call::post(path, json!({ "query": query })));
        let found: FoundJson = permitted(self.read(&call.query("$top", FOUND_MAX.to_string()).repeatable()))?;
        let mut ids: Vec<u64> = found.work_items.iter().map(|item| item.id).collect();
        ids.sort_unstable();
        let mut issues = Vec::new();
        for ids in ids.chunks(BATCH_ITEMS) {
            let items = self.work_items(repository, ids)?;
            issues.extend(items.into_iter().map(|item| {
                let url = self.page_of_work_item(repository, item.id);
                item.into_issue(url, &account, &kind)
            }));
        }
        Ok(issues)
    }

    fn create_issue(&self, repository: &HostRepository, new: &NewIssue) -> Result<Issue, HostError> {
        let (account, kind) = (self.account_or_none(repository)?, self.issue_type(repository)?);
        let tags: Vec<String> = new.labels.iter().cloned().chain([repository_tag(repository)]).collect();
        let changes = [
            set("Title", new.title.as_str()),
            set("Description", html::from_text(&new.body)),
            set("Tags", tags.join("; ")),
        ];
        let rest = ["workitems", &format!("${}", kind.name)];
        let call = with_path(repository, &rest, |path| Call::post(path, json!(changes)));
        let item: WorkItemJson = permitted(self.read(&call.header("content-type", "application/json-patch+json")))?;
        let url = self.page_of_work_item(repository, item.id);
        Ok(item.into_issue(url, &account, &kind))
    }

    /// Its state changes only if it is opened or closed: an open work item keeps its state.
    fn update_issue(&self, repository: &HostRepository, number: u64, changes: &IssueChanges) -> Result<(), HostError> {
        let title = changes.title.as_deref().map(|title| set("Title", title));
        let description = changes.body.as_deref().map(|body| set("Description", html::from_text(body)));
        let state = match changes.is_open {
            Some(is_open) => self.new_state(repository, number, is_open)?,
            None => None,
        };
        let changes: Vec<Value> = [title, description, state].into_iter().flatten().collect();
        if changes.is_empty() {
            return Ok(());
        }
        let rest = ["workitems", &number.to_string()];
        let call = with_path(repository, &rest, |path| Call::patch(path, json!(changes)));
        permitted(self.send(&call.header("content-type", "application/json-patch+json"))).map(drop)
    }

    /// Does nothing: a label of a pull request exists by its use.
    fn ensure_label(&self, _: &HostRepository, _: &IssueLabel) -> Result<(), HostError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(states: &str) -> IssueType {
        let state = |text: &str| {
            let (name, category) = text.split_once(':').unwrap();
            StateJson { name: name.to_owned(), category: category.to_owned() }
        };
        IssueType { name: "Issue".to_owned(), states: states.split(' ').map(state).collect() }
    }

    #[test]
    fn each_process_has_a_state_to_open_and_to_close() {
        let check = |states: &str, (open, closed): (&str, &str)| {
            let kind = kind(states);
            assert_eq!((kind.state(true), kind.state(false)), (Some(open), Some(closed)));
            assert!(kind.is_open(open) && !kind.is_open(closed) && kind.is_open("Unknown"));
        };
        check("ToDo:Proposed Doing:InProgress Done:Completed", ("ToDo", "Done"));
        check("Active:InProgress Closed:Completed", ("Active", "Closed"));
        check("Removed:Removed New:Proposed Resolved:Resolved Closed:Completed", ("New", "Closed"));
        assert!(kind("Active:InProgress Resolved:Resolved").is_open("Resolved"));
        assert_eq!(kind("Active:InProgress").state(false), None);
    }

    #[test]
    fn a_documented_work_item_is_read() {
        // An example of the documentation of Azure DevOps, shortened.
        let json = r#"{"id": 299, "rev": 7, "fields": {"System.AreaPath": "Fabrikam", "System.WorkItemType": "Task", "System.State": "To Do",
            "System.CreatedBy": {"displayName": "Jamal Hartnett", "id": "d291b0c4-a05c-4ea6-8df1-4b41d5f39eff", "uniqueName": "x@hotmail.com"},
            "System.Title": "JavaScript implementation", "System.Description": "Follow the code samples", "System.Tags": "a; b"}}"#;
        let item: WorkItemJson = serde_json::from_str(json).unwrap();
        assert_eq!((item.id, item.fields.state.as_str()), (299, "To Do"));
        assert_eq!(item.fields.created_by.unwrap().id, "d291b0c4-a05c-4ea6-8df1-4b41d5f39eff");
    }
}
