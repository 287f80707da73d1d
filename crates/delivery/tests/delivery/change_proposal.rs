//! Proposals of changes of the control plane: a branch with one commit, and its pull request on a git host in memory.

use std::sync::Arc;

use delivery::pull_requests::change_proposal::{ChangeProposal, ChangeProposalError, ProposedChange, propose};
use delivery::pull_requests::{ConfiguredHost, GitHosts, Proposal};
use git::{Edits, NewCommit, Person, Push, Repositories, RepositoryUrl, Revision};
use git_host::HostKind;
use git_host::host::{PullRequests as _, Reviews as _};
use git_host::hosts::memory::MemoryHost;
use git_host::pull_request::NewPullRequest;
use model::progress::Progress;
use model::tree::{Child, Entry, closed};
use testkit::company::{CONTROL_PLANE, MemoryCompany, PAGES};

const BRANCH: &str = "add/config-x";

/// A company with a git host.
struct Hosted {
    company: MemoryCompany,
    host: MemoryHost,
    hosts: GitHosts,
}

impl Hosted {
    fn new() -> Self {
        let company = MemoryCompany::new();
        let host = company.host(HostKind::GitHub);
        let hosts = GitHosts::new(vec![ConfiguredHost::new(Arc::new(host.clone()), PAGES)]);
        Self { company, host, hosts }
    }

    fn url() -> RepositoryUrl {
        RepositoryUrl::from_object(CONTROL_PLANE).unwrap()
    }

    fn head(&self, branch: &str) -> git::Commit {
        self.company.repositories.resolve(&Self::url(), &Revision::branch(branch)).unwrap()
    }

    fn propose(&self, text: Option<&str>, title: &str) -> Result<ProposedChange, ChangeProposalError> {
        let edit = (Arc::from("configs/x.yaml"), text.map(|text| text.as_bytes().into()));
        let (base, edits) = (self.head("prod"), [edit].into_iter().collect::<Edits>());
        let author = Person { name: "Ann".to_owned(), email: "ann@example.com".to_owned() };
        let (base, edits, author) = (&base, &edits, &author);
        let proposal = ChangeProposal {
            base,
            branch: BRANCH,
            edits,
            trailers: &[],
            labels: &[],
            title,
            body: &|_| "Why.".to_owned(),
            author,
            seconds: 2_000,
        };
        propose(&*self.company.repositories, Some(&self.hosts), &proposal)
    }

    /// What happened to the pull request, and whether the branch was right already.
    fn outcome(&self, text: &str, title: &str) -> (String, bool) {
        let proposed = self.propose(Some(text), title).unwrap();
        let proposal = match proposed.pull_request.unwrap().unwrap() {
            Proposal::Opened(link) => format!("opened {}", link.number),
            Proposal::Updated(link) => format!("updated {}", link.number),
            Proposal::Unchanged(link) => format!("unchanged {}", link.number),
            other => format!("{other:?}"),
        };
        (proposal, proposed.is_known)
    }
}

#[test]
fn a_proposal_is_made_once_and_follows_its_change() {
    let hosted = Hosted::new();
    let is = |expected: &str, is_known| (expected.to_owned(), is_known);
    assert_eq!(hosted.outcome("a: b\n", "Add x"), is("opened 1", false));
    assert_eq!(hosted.outcome("a: b\n", "Add x"), is("unchanged 1", true));
    assert_eq!(hosted.outcome("a: c\n", "Add another x"), is("updated 1", false));
    let repository = "acme/control-plane";
    let [pull_request] = &hosted.host.state().repository(repository).unwrap().pull_requests()[..] else { panic!() };
    assert_eq!((pull_request.title.as_str(), pull_request.head.as_str()), ("Add another x", BRANCH));
    assert_eq!(pull_request.base, "prod");
    let commit = hosted.company.repositories.info(&hosted.head(BRANCH)).unwrap();
    assert_eq!((commit.author.name.as_str(), commit.parents), ("Ann", vec![hosted.head("prod").id]));
}

#[test]
fn a_proposal_is_moved_to_the_new_head() {
    let mut hosted = Hosted::new();
    hosted.outcome("a: b\n", "Add x");
    hosted.company.change(&[("configs/y.yaml", Some("a: b\n"))]);
    assert_eq!(hosted.outcome("a: b\n", "Add x"), ("unchanged 1".to_owned(), false));
    let commit = hosted.company.repositories.info(&hosted.head(BRANCH)).unwrap();
    assert_eq!(commit.parents, [hosted.head("prod").id]);
}

#[test]
fn a_merge_of_the_base_branch_by_a_person_is_replaced() {
    let mut hosted = Hosted::new();
    hosted.outcome("a: b\n", "Add x");
    let ours = hosted.head(BRANCH);
    hosted.company.change(&[("configs/y.yaml", Some("a: b\n"))]);
    let (base, repositories) = (hosted.head("prod"), &*hosted.company.repositories);
    let mut tree = repositories.tree(&base).unwrap();
    let file = Child::File(Entry::file(*b"a: b\n"));
    tree.put("configs/x.yaml", file, &git::opener(repositories, &base)).unwrap();
    let author = &Person { name: "Bob".to_owned(), email: "bob@example.com".to_owned() };
    let parents = &[ours.id, base.id];
    let commit = NewCommit { parents, tree: &tree, open: &closed, message: "Update", author, seconds: 0, signer: None };
    let progress = &Progress::default();
    let push = Push { branch: BRANCH, expected: Some(ours.id), commit: Some(commit), progress };
    repositories.push(&Hosted::url(), &push).unwrap();
    assert_eq!(hosted.outcome("a: b\n", "Add x"), ("unchanged 1".to_owned(), false));
    assert_eq!(repositories.info(&hosted.head(BRANCH)).unwrap().parents, [base.id]);
    assert!(hosted.outcome("a: b\n", "Add x").1);
}

#[test]
fn branch_with_foreign_commits_is_not_replaced() {
    let hosted = Hosted::new();
    hosted.propose(Some("a: b\n"), "Add x").unwrap();
    let ours = hosted.head(BRANCH);
    let repositories = &*hosted.company.repositories;
    let message = &repositories.info(&ours).unwrap().message;
    let mut tree = repositories.tree(&ours).unwrap();
    tree.write("mine.yaml", &b"a: b\n"[..]);
    let author = &Person { name: "Bob".to_owned(), email: "bob@example.com".to_owned() };
    // An amended commit has the trailer of the first one.
    let commit = NewCommit {
        parents: &[hosted.head("prod").id],
        tree: &tree,
        open: &closed,
        message,
        author,
        seconds: 0,
        signer: None,
    };
    let progress = &Progress::default();
    let push = Push { branch: BRANCH, expected: Some(ours.id), commit: Some(commit), progress };
    repositories.push(&Hosted::url(), &push).unwrap();
    let error = hosted.propose(Some("a: c\n"), "Add x").unwrap_err();
    assert!(matches!(&error, ChangeProposalError::Foreign { author, .. } if author.name == "Bob"), "{error}");
}

#[test]
fn nothing_is_proposed_where_nothing_changes() {
    let hosted = Hosted::new();
    assert!(
        matches!(hosted.propose(None, "Remove x"), Err(ChangeProposalError::Nothing(branch)) if &*branch == "prod")
    );
    assert!(hosted.host.state().repository("acme/control-plane").unwrap().pull_requests().is_empty());
}

#[test]
fn the_title_and_text_of_a_person_stay() {
    let hosted = Hosted::new();
    let proposal = hosted.propose(Some("a"), "First").unwrap();
    assert!(matches!(proposal.pull_request, Some(Ok(Proposal::Opened(_)))));
    let repository = hosted.hosts.find(CONTROL_PLANE).unwrap().1;
    let shown = |number: u64| {
        let found = hosted.host.pull_request(&repository, number).unwrap();
        let comments = hosted.host.comments(&repository, number).unwrap();
        (found.title, found.body, comments.into_iter().map(|comment| comment.body).collect::<Vec<_>>())
    };
    // The hidden line says that it is Kalypso's, also to another account.
    assert!(shown(1).1.contains("<!-- kalypso proposal -->"), "{}", shown(1).1);
    hosted.host.close(&repository, 1).unwrap();
    let new = NewPullRequest {
        head: BRANCH.to_owned(),
        base: "prod".to_owned(),
        title: "Of Eve".to_owned(),
        body: "Her text.".to_owned(),
        ..NewPullRequest::default()
    };
    hosted.host.state().repository("acme/control-plane").unwrap().open("eve", &new).unwrap();
    for (title, outcome) in [("First", "updated 2"), ("First", "unchanged 2"), ("Second", "updated 2")] {
        assert_eq!(hosted.outcome("a", title).0, outcome, "{title}");
        let (shown_title, body, comments) = shown(2);
        assert_eq!((shown_title.as_str(), body.as_str(), comments.len()), ("Of Eve", "Her text.", 1));
        assert!(comments[0].starts_with(&format!("## {title}\n")) && comments[0].contains("Why."), "{comments:?}");
    }
}
