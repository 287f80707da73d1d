//! Every call of the client, and some that the host refuses.

use git_host::credential::Credential;
use git_host::double::{AppDouble, Exchange, HostDouble};
use git_host::hosts::memory::{BranchRule, Denial, MemoryBranches, MemoryHost};
use git_host::hosts::{self};
use git_host::issue::{IssueLabel, NewIssue};
use git_host::marker::Marker;
use git_host::new_repository::{NewRepository, RepositoryCreation};
use git_host::protection::PushLimit;
use git_host::pull_request::{
    MergeRequest, NewPullRequest, PullRequestChanges, PullRequestQuery, PullRequestState, PullRequestStates, Reviewer,
};
use git_host::review::ReviewVerdict;
use git_host::secret::Secret;
use git_host::settings::HostSettings;
use git_host::status::{CommitStatus, StatusState};
use git_host::sticky::Sticky;
use git_host::{GitHost, HostKind, HostRepository};

/// The key of the tests of apps.
const KEY: &str = include_str!("../github_app/key.pem");

/// The token of the hosts without apps.
const TOKEN: &str = "t0ken-of-kalypso";

/// All requests of the scenario for a kind of host, with their answers.
pub(crate) fn exchanges(kind: HostKind) -> Vec<Exchange> {
    let (host, branches) = (MemoryHost::new(kind), MemoryBranches::new());
    branches.push("kalypso/dev");
    branches.push("kalypso/prod");
    let path: &[&str] = if kind == HostKind::AzureDevOps { &["acme", "fleet", "gitops"] } else { &["acme", "gitops"] };
    let repository = HostRepository::from_path(path);
    host.add_repository(&repository.to_string(), Box::new(branches));
    let rule = BranchRule { required_status: Some("kalypso/dev".to_owned()), required_review: false };
    host.state().repository(&repository.to_string()).unwrap().rules.insert("main".to_owned(), rule);
    let double = HostDouble::start(&host).unwrap();
    double.accept_token(TOKEN, "kalypso-bot");
    double.accept_app(AppDouble { slug: "kalypso".to_owned(), installation: 42, token_seconds: 3_600 });
    let credential = match kind {
        HostKind::GitHub => {
            Credential::GitHubApp { app_id: "1".to_owned(), installation: None, private_key: Secret::new(KEY).into() }
        }
        _ => Credential::Token(Secret::new(TOKEN).into()),
    };
    let client = hosts::connect(&HostSettings::new(kind, &double.url(), credential)).unwrap();
    create(&host, kind, &double, path);
    write(&*client, &repository);
    pull_request(&*client, &repository);
    evidence(&host, &*client, &repository);
    protection(&*client, &repository);
    refusals(&*client, &repository);
    double.exchanges()
}

/// Creates repositories of the owner, and of the account, with a token: an app can't.
fn create(host: &MemoryHost, kind: HostKind, double: &HostDouble, path: &[&str]) {
    double.accept_token(TOKEN, "kalypso-bot");
    let credential = Credential::Token(Secret::new(TOKEN).into());
    let client = hosts::connect(&HostSettings::new(kind, &double.url(), credential)).unwrap();
    let new = NewRepository { is_private: true, description: "What clusters pull".to_owned() };
    let mut path = path.to_vec();
    path.pop();
    path.push("control-plane");
    let of_owner = HostRepository::from_path(&path);
    assert_eq!(client.create_repository(&of_owner, &new), Ok(RepositoryCreation::Created));
    assert_eq!(client.create_repository(&of_owner, &new), Ok(RepositoryCreation::Existed));
    if matches!(kind, HostKind::GitHub | HostKind::Gitea) {
        let own = HostRepository::from_path(&["kalypso-bot", "control-plane"]);
        assert_eq!(client.create_repository(&own, &new), Ok(RepositoryCreation::Created));
    }
    path.pop();
    path.push("another");
    host.state().creation_denial = Some(Denial::Forbidden);
    client.create_repository(&HostRepository::from_path(&path), &new).unwrap_err();
    host.state().creation_denial = None;
}

fn new(head: &str) -> NewPullRequest {
    NewPullRequest {
        head: head.to_owned(),
        base: "main".to_owned(),
        title: "dev".to_owned(),
        body: "plan".to_owned(),
        labels: ["kalypso".to_owned(), "needs confirmation".to_owned()].into(),
        reviewers: vec![Reviewer::User("anna".to_owned()), Reviewer::Team("platform".to_owned())],
    }
}

/// Labels, issues, and what is known about a repository.
fn write(client: &dyn GitHost, repository: &HostRepository) {
    client.account(repository).unwrap();
    client.default_branch(repository).unwrap();
    let label =
        IssueLabel { name: "kalypso".to_owned(), color: "0e8a16".to_owned(), description: "Kalypso".to_owned() };
    client.ensure_label(repository, &label).unwrap();
    client.ensure_label(repository, &label).unwrap();
    let sticky = Sticky { host: client, repository, marker: &Marker::new("kalypso issue dev").unwrap() };
    for body in ["line 3", "line 4"] {
        let labels = ["kalypso".to_owned()].into();
        let issue = NewIssue { title: "dev fails".to_owned(), body: body.to_owned(), labels };
        sticky.put_issue(&issue).unwrap();
    }
    sticky.close_issue("kalypso").unwrap();
}

/// The life of a pull request.
fn pull_request(client: &dyn GitHost, repository: &HostRepository) {
    let opened = client.open(repository, &new("kalypso/dev")).unwrap();
    assert!(opened.is_new && opened.incomplete.is_empty(), "{opened:?}");
    assert!(!client.open(repository, &new("kalypso/dev")).unwrap().is_new);
    let (number, commit) = (opened.pull_request.number, opened.pull_request.head_commit.unwrap());
    let changes = PullRequestChanges {
        title: Some("dev: 4".to_owned()),
        body: Some("new plan".to_owned()),
        add_labels: ["promoted".to_owned()].into(),
        remove_labels: ["needs confirmation".to_owned(), "absent".to_owned()].into(),
    };
    client.update(repository, number, &changes).unwrap();
    // Azure DevOps does not say who added a label.
    let knows_authors = client.kind() != HostKind::AzureDevOps;
    assert!(!knows_authors || client.label_author(repository, number, "promoted").unwrap().is_some());
    let sticky = Sticky { host: client, repository, marker: &Marker::new("kalypso plan dev").unwrap() };
    for body in ["first", "second"] {
        sticky.put_comment(number, body).unwrap();
    }
    let request = MergeRequest::new(commit);
    client.set_auto_merge(repository, number, &request).unwrap();
    client.pull_requests(repository, &PullRequestQuery::default()).unwrap();
    client.cancel_auto_merge(repository, number).unwrap();
    client.merge(repository, number, &request).unwrap();
    let states = [StatusState::Pending, StatusState::Error, StatusState::Failure, StatusState::Success];
    for (state, url) in states.into_iter().zip([None, None, None, Some("https://kalypso.example/dev".to_owned())]) {
        let (context, description) = ("kalypso/dev".to_owned(), "3 assignments".to_owned());
        client.set_status(repository, commit, &CommitStatus { context, state, description, target_url: url }).unwrap();
    }
    client.merge(repository, number, &request).unwrap();
    let query = PullRequestQuery { states: PullRequestStates::All, ..PullRequestQuery::between("kalypso/dev", "main") };
    assert_eq!(client.pull_requests(repository, &query).unwrap().len(), 1);
    let second = client.open(repository, &new("kalypso/prod")).unwrap().pull_request;
    client.close(repository, second.number).unwrap();
}

/// What the host knows of a change: reviews, statuses, and the pull request of a commit.
fn evidence(host: &MemoryHost, client: &dyn GitHost, repository: &HostRepository) {
    let query = PullRequestQuery { states: PullRequestStates::All, ..PullRequestQuery::between("kalypso/dev", "main") };
    let merged = client.pull_requests(repository, &query).unwrap().remove(0);
    let verdicts = [
        ("anna", ReviewVerdict::Approved),
        ("bo", ReviewVerdict::ChangesRequested),
        ("cy", ReviewVerdict::Commented),
        ("di", ReviewVerdict::Dismissed),
    ];
    for (account, verdict) in verdicts {
        host.state().repository(&repository.to_string()).unwrap().review(account, merged.number, verdict).unwrap();
    }
    let approvals = client.approvals(repository, merged.number).unwrap();
    assert!(approvals.len() == 1 && approvals[0].account == "anna", "{approvals:?}");
    assert!(!client.commit_statuses(repository, merged.head_commit.unwrap()).unwrap().is_empty());
    let PullRequestState::Merged { commit: Some(commit) } = merged.state else { panic!("{merged:?}") };
    let found = client.merged_pull_request(repository, commit, "main").unwrap();
    assert_eq!(found.map(|found| found.number), Some(merged.number));
}

/// A branch with a rule, and one without.
fn protection(client: &dyn GitHost, repository: &HostRepository) {
    let protected = client.protection(repository, "main").unwrap().unwrap();
    assert_eq!(protected.pushes, PushLimit::Rule);
    assert_ne!(protected.required.require("kalypso/dev"), Some(false));
    client.protection(repository, "missing").unwrap();
}

fn refusals(client: &dyn GitHost, repository: &HostRepository) {
    client.open(repository, &new("missing")).unwrap_err();
    client.pull_request(repository, 99).unwrap_err();
    client.create_comment(repository, 99, "text").unwrap_err();
}
