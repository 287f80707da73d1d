//! The examples of GitLab's documentation: they agree with our description, and the client reads them.

use std::sync::Arc;

use git_host::credential::Credential;
use git_host::double::{DoubleFault, FaultAnswer, HostDouble};
use git_host::hosts::{self, memory::MemoryHost};
use git_host::issue::IssueLabel;
use git_host::protection::PushLimit;
use git_host::pull_request::{Merge, MergeRequest, PullRequestQuery, PullRequestState};
use git_host::review::ReviewApproval;
use git_host::secret::Secret;
use git_host::settings::HostSettings;
use git_host::status::{CommitStatus, StatusState};
use git_host::{GitHost, HostKind, HostRepository};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::kinds::{ALL, Published};

pub(crate) fn trials() -> [Trial; 2] {
    [
        Trial::test("gitlab_examples_agree_with_the_description", agree),
        Trial::test("gitlab_examples_are_read", are_read),
    ]
}

fn gitlab() -> &'static Published {
    ALL.iter().find(|published| published.kind == HostKind::GitLab).unwrap()
}

/// The bodies of answers in an operation, with their schemas.
fn bodies(operation: &Value) -> impl Iterator<Item = &Value> {
    let responses = operation["responses"].as_object().into_iter().flatten();
    responses.map(|(_, response)| &response["content"]["application/json"])
}

fn agree() -> Result<(), Failed> {
    let description = gitlab().read()?;
    let paths = description.json["paths"].as_object().unwrap();
    let operations = paths.iter().flat_map(|(path, operations)| {
        operations.as_object().unwrap().iter().map(move |(method, operation)| (format!("{method} {path}"), operation))
    });
    let mut count = 0;
    for (name, operation) in operations {
        for body in bodies(operation).filter(|body| !body["example"].is_null()) {
            count += 1;
            let problems = description.problems_of_value(&body["schema"], &body["example"], true);
            assert!(problems.is_empty(), "{name}: {problems:?}");
        }
    }
    assert!(count > 15, "there are only {count} examples");
    Ok(())
}

/// A host that answers with examples.
struct Examples {
    description: Value,
    double: HostDouble,
    client: Arc<dyn GitHost>,
}

impl Examples {
    fn new() -> Result<Self, Failed> {
        let double = HostDouble::start(&MemoryHost::new(HostKind::GitLab)).unwrap();
        let credential = Credential::Token(Secret::new("t0ken").into());
        let client = hosts::connect(&HostSettings::new(HostKind::GitLab, &double.url(), credential)).unwrap();
        Ok(Self { description: gitlab().read()?.json, double, client })
    }

    /// Answers the next request of an operation with the example. `target` is a part of the path and query of the request.
    fn answer(&self, (method, path): (&'static str, &str), target: &str) {
        let operation = &self.description["paths"][path][method.to_ascii_lowercase()];
        let (status, _) = operation["responses"].as_object().unwrap().iter().next().unwrap();
        let example = bodies(operation).find_map(|body| body.get("example")).unwrap();
        let answer =
            FaultAnswer::Answer { status: status.parse().unwrap(), headers: Vec::new(), body: example.to_string() };
        self.double.fail_next(DoubleFault { method, target: target.to_owned(), is_done: false, answer, times: 1 });
    }
}

fn are_read() -> Result<(), Failed> {
    let (examples, repository) = (Examples::new()?, HostRepository::from_path(&["acme", "gitops"]));
    let client = &*examples.client;
    examples.answer(("GET", "/user"), "/user");
    assert_eq!(client.account(&repository)?, "anna");
    examples.answer(("GET", "/projects/{id}"), "acme%2Fgitops");
    assert_eq!(client.default_branch(&repository)?, "main");
    examples.answer(("GET", "/projects/{id}/repository/branches/{branch}"), "/repository/branches/main");
    examples.answer(("GET", "/projects/{id}"), "acme%2Fgitops");
    let protection = client.protection(&repository, "main")?.unwrap();
    assert_eq!((protection.pushes, protection.required.require("ci")), (PushLimit::Rule, Some(false)));
    examples.answer(("GET", "/projects/{id}/labels/{label_id}"), "/labels/kalypso");
    let label = IssueLabel { name: "kalypso".to_owned(), color: "0e8a16".to_owned(), description: String::new() };
    client.ensure_label(&repository, &label)?;
    examples.answer(("GET", "/projects/{id}/issues"), "/issues?");
    let issues = client.issues(&repository, "kalypso")?;
    assert!(issues.len() == 1 && issues[0].number == 6 && issues[0].is_own && issues[0].is_open, "{issues:?}");
    merge_requests(&examples, &repository)
}

fn merge_requests(examples: &Examples, repository: &HostRepository) -> Result<(), Failed> {
    let (client, one) = (&*examples.client, "/projects/{id}/merge_requests/{merge_request_iid}");
    examples.answer(("GET", "/projects/{id}/merge_requests"), "/merge_requests?");
    let found = client.pull_requests(repository, &PullRequestQuery::default())?;
    assert!(found.len() == 1 && found[0].number == 133 && found[0].author == "anna", "{found:?}");
    let commit = found[0].head_commit.unwrap();
    assert!(found[0].state == PullRequestState::Open && !found[0].is_from_fork && found[0].labels.len() == 1);
    examples.answer(("GET", &format!("{one}/notes")), "/133/notes");
    let comments = client.comments(repository, 133)?;
    assert!(comments.len() == 1 && comments[0].is_own && comments[0].body == "a comment", "{comments:?}");
    examples.answer(("GET", "/projects/{id}/repository/commits/{sha}/statuses"), "/statuses?");
    let (context, description) = ("kalypso/dev".to_owned(), "3 assignments".to_owned());
    let target_url = Some("https://kalypso.example/dev".to_owned());
    let status = CommitStatus { context, description, target_url, state: StatusState::Success };
    // The example has this status already: nothing is sent.
    client.set_status(repository, commit, &status)?;
    examples.answer(("GET", &format!("{one}/approvals")), "/133/approvals");
    examples.answer(("GET", &format!("{one}/versions")), "/133/versions");
    let approvals = client.approvals(repository, 133)?;
    let [ReviewApproval { account, at: Some(_), commit: Some(_) }] = &approvals[..] else { panic!("{approvals:?}") };
    assert_eq!(account, "anna");
    examples.answer(("GET", "/projects/{id}/repository/commits/{sha}/statuses"), "/statuses?");
    let statuses = client.commit_statuses(repository, commit)?;
    assert!(statuses.len() == 1 && statuses[0].account == "anna" && statuses[0].status == status, "{statuses:?}");
    examples.answer(("GET", one), "/merge_requests/133");
    examples.answer(("PUT", &format!("{one}/merge")), "/133/merge");
    let merge = client.merge(repository, 133, &MergeRequest::new(commit))?;
    assert!(matches!(merge, Merge::Merged { commit: Some(merged) } if merged != commit), "{merge:?}");
    Ok(())
}
