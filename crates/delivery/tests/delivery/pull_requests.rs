//! Pull requests, issues and commit statuses on a git host in memory.

use std::sync::Arc;

use delivery::promotion::controller::command::Confirmed;
use delivery::promotion::controller::published::PublicationFacts;
use delivery::publication::publish::{Outcome, PublishOptions};
use delivery::pull_requests::{ConfiguredHost, GitHosts, LabelConfirmers, NEEDS_CONFIRMATION_LABEL, Proposal};
use delivery::sources::loaded::Loaded;
use engine::compile::Compiled;
use engine::promotion::step::Subject;
use git::RepositoryUrl;
use git::publish::ForeignCommits;
use git_host::HostKind;
use git_host::error::HostError;
use git_host::host::{Issues as _, Reviews as _};
use git_host::hosts::memory::MemoryHost;
use git_host::pull_request::{NewPullRequest, PullRequest, PullRequestState};
use git_host::status::StatusState;
use hub_api::promotions::Wait;
use jiff::Timestamp;
use model::diagnostic::Diagnostic;

use crate::world::{BASE, PAGES, PROPOSAL, World};

const REPOSITORY: &str = "acme/gitops";
const CONTROL_PLANE: &str = "acme/control-plane";

/// A world, its host, and Kalypso's settings for the host.
struct Hosted {
    world: World,
    host: MemoryHost,
    hosts: GitHosts,
}

impl Hosted {
    fn new() -> Self {
        Self::with_settings(World::new(), |_| {})
    }

    fn with_settings(world: World, change: impl FnOnce(&mut ConfiguredHost)) -> Self {
        Self::on(HostKind::GitHub, world, change)
    }

    fn on(kind: HostKind, world: World, change: impl FnOnce(&mut ConfiguredHost)) -> Self {
        let host = world.host(kind);
        let mut settings = ConfiguredHost::new(Arc::new(host.clone()), PAGES);
        change(&mut settings);
        Self { world, host, hosts: GitHosts::new(vec![settings]) }
    }

    fn options(&self) -> PublishOptions<'_> {
        PublishOptions { committed_on: Some(2_000), hosts: Some(&self.hosts), ..PublishOptions::default() }
    }

    fn publish(&self) -> Outcome {
        self.world.publish(self.options())
    }

    /// Publishes, and returns what happened to the pull request.
    fn proposal(&self) -> String {
        self.confirmed(&[])
    }

    fn confirmed(&self, words: &[String]) -> String {
        Self::described(&self.world.publish(PublishOptions { confirmed: words, ..self.options() }))
    }

    fn described(outcome: &Outcome) -> String {
        let [place] = &outcome.places[..] else { panic!("{} places", outcome.places.len()) };
        match &place.pull_request {
            None => "no host".to_owned(),
            Some(Err(error)) => format!("failed: {error}"),
            Some(Ok(outcome)) => match &outcome.proposal {
                Proposal::None => "none".to_owned(),
                Proposal::Opened(link) => format!("opened {}", link.number),
                Proposal::Updated(link) => format!("updated {}", link.number),
                Proposal::Unchanged(link) => format!("unchanged {}", link.number),
                Proposal::Merged(link) => format!("merged {}", link.number),
                Proposal::Closed(link) => format!("closed {}", link.number),
                Proposal::Declined(link) => format!("declined {}", link.number),
            },
        }
    }

    fn pull_requests(&self) -> Vec<PullRequest> {
        self.host.state().repository(REPOSITORY).unwrap().pull_requests()
    }

    fn last(&self) -> PullRequest {
        self.pull_requests().pop().unwrap()
    }

    fn close(&self) {
        let number = self.last().number;
        self.host.state().repository(REPOSITORY).unwrap().close(number).unwrap();
    }

    fn merge(&self) {
        let last = self.last();
        self.host.state().repository(REPOSITORY).unwrap().merge(last.number, last.head_commit.unwrap()).unwrap();
    }
}

#[test]
fn one_pull_request_is_opened_updated_and_left_when_it_is_merged() {
    let mut hosted = Hosted::new();
    assert_eq!(hosted.proposal(), "opened 1");
    let opened = hosted.last();
    assert_eq!((opened.head.as_str(), opened.base.as_str()), (PROPOSAL, BASE));
    assert!(opened.labels.contains("kalypso"), "{:?}", opened.labels);
    assert!(opened.title.starts_with("prod: ") && opened.title.contains("added"), "{}", opened.title);
    assert!(opened.body.contains("added") && opened.body.contains("control-plane@prod"), "{}", opened.body);
    assert_eq!(hosted.proposal(), "unchanged 1");
    hosted.world.change_value("1");
    assert_eq!(hosted.proposal(), "updated 1");
    hosted.merge();
    assert_eq!(hosted.proposal(), "none");
    assert_eq!(hosted.world.head(PROPOSAL), None);
    hosted.world.change_value("2");
    assert_eq!(hosted.proposal(), "opened 2");
    assert!(hosted.last().title.contains(" on "), "{}", hosted.last().title);
}

#[test]
fn a_pull_request_that_is_merged_during_a_publication_is_not_opened_again() {
    let hosted = Hosted::new();
    assert_eq!(hosted.proposal(), "opened 1");
    // The branches were read before.
    let merge = |_: &Loaded, _: &Compiled| {
        if hosted.last().is_open() {
            hosted.merge();
        }
    };
    let outcome = hosted.world.try_publish(hosted.options(), None, &merge).unwrap();
    assert_eq!(Hosted::described(&outcome), "none");
    assert_eq!(hosted.proposal(), "none");
    assert_eq!(hosted.pull_requests().len(), 1);
}

#[test]
fn reverted_change_closes_its_pull_request_and_reopens_as_a_new_one() {
    let mut hosted = Hosted::new();
    assert_eq!(hosted.proposal(), "opened 1");
    hosted.merge();
    assert_eq!(hosted.proposal(), "none");
    let before = hosted.world.files().clone();
    let restore = |hosted: &mut Hosted| {
        let files: Vec<_> = before.iter().map(|(path, text)| (path.as_str(), Some(text.as_str()))).collect();
        hosted.world.change(&files);
    };
    hosted.world.change_value("1");
    assert_eq!(hosted.proposal(), "opened 2");
    restore(&mut hosted);
    assert_eq!(hosted.proposal(), "closed 2");
    assert_eq!(hosted.last().state, PullRequestState::Closed);
    assert_eq!(hosted.proposal(), "none");
    hosted.world.change_value("1");
    assert_eq!(hosted.proposal(), "opened 3");
}

#[test]
fn manually_closed_pull_request_stays_closed_until_another_change() {
    for deletes in [false, true] {
        let mut hosted = Hosted::new();
        assert_eq!(hosted.proposal(), "opened 1");
        hosted.close();
        if deletes {
            hosted.world.delete_branch(PROPOSAL);
        }
        let head = hosted.world.head(PROPOSAL);
        assert_eq!([hosted.proposal(), hosted.proposal()], ["declined 1", "declined 1"]);
        assert_eq!(hosted.world.head(PROPOSAL), head);
        hosted.world.change_value("1");
        assert_eq!(hosted.proposal(), "opened 2");
        assert_eq!(hosted.pull_requests().len(), 2);
    }
}

#[test]
fn unconfirmed_removals_do_not_block_auto_merge_of_other_changes() {
    let mut world = World::new();
    world.set_gitops_field("autoMerge: true");
    let mut hosted = Hosted::with_settings(world, |_| {});
    assert_eq!(hosted.proposal(), "merged 1");
    let path = hosted.world.files().keys().find(|path| path.starts_with("cluster-types/")).unwrap().clone();
    hosted.world.change(&[(&path, None)]);
    hosted.world.change_value("1");
    let before = hosted.world.paths(BASE);
    assert_eq!(hosted.proposal(), "merged 2");
    assert!(!hosted.last().labels.contains(NEEDS_CONFIRMATION_LABEL));
    assert_eq!(hosted.world.paths(BASE), before);
    assert_eq!([hosted.proposal(), hosted.proposal()], ["opened 3", "unchanged 3"]);
    assert!(hosted.last().labels.contains(NEEDS_CONFIRMATION_LABEL));
    let waiting = hosted.publish();
    assert!(PublicationFacts::from_outcome(&waiting).settled.check(&Subject::Main).is_err());
    // What comes while it is open goes first.
    hosted.world.change_value("2");
    assert_eq!(hosted.proposal(), "merged 3");
    assert_eq!((hosted.world.paths(BASE), hosted.proposal().as_str()), (before.clone(), "opened 4"));
    let word = waiting.places[0].planned.confirmation_word().unwrap();
    assert_eq!(hosted.confirmed(&[word]), "merged 4");
    assert!(hosted.world.paths(BASE).len() < before.len());
}

#[test]
fn an_automatic_merge_waits_for_the_confirmation_of_removals() {
    let mut world = World::new();
    world.set_gitops_field("autoMerge: true");
    let accounts = LabelConfirmers::Accounts(vec!["Ann".to_owned()]);
    let mut hosted = Hosted::with_settings(world, |settings| settings.label_confirmers = accounts);
    assert_eq!(hosted.proposal(), "merged 1");
    assert_eq!(hosted.proposal(), "none");
    let removed: Vec<_> =
        hosted.world.files().keys().filter(|path| path.starts_with("cluster-types/")).take(1).cloned().collect();
    assert!(!removed.is_empty(), "{:?}", hosted.world.files().keys());
    let removed: Vec<_> = removed.iter().map(|path| (path.as_str(), None)).collect();
    hosted.world.change(&removed);
    assert_eq!([hosted.proposal(), hosted.proposal()], ["opened 2", "unchanged 2"]);
    assert!(hosted.last().labels.contains(NEEDS_CONFIRMATION_LABEL));
    let outcome = hosted.publish();
    let word = outcome.places[0].planned.confirmation_word().unwrap();
    assert!(hosted.last().body.contains(&word), "{}", hosted.last().body);
    assert_eq!(hosted.confirmed(&["another".to_owned()]), "unchanged 2");
    // The label with the word of these removals counts if the right person added it.
    let label = |word: &str| git_host::pull_request::PullRequestChanges {
        add_labels: [format!("kalypso-confirm-{word}")].into(),
        ..Default::default()
    };
    let set = |account: &str, label: git_host::pull_request::PullRequestChanges| {
        let mut state = hosted.host.state();
        let repository = state.repository(REPOSITORY).unwrap();
        repository.ensure_labels(&label.add_labels);
        repository.update_as(account, 2, &label).unwrap();
    };
    for (account, word) in [("ann", "00000000"), ("mallory", word.as_str())] {
        set(account, label(word));
        assert_eq!(hosted.proposal(), "unchanged 2");
    }
    set("ann", label(&word));
    // The history gets who it was, once.
    let confirmations = |outcome: &Outcome| Confirmed::by_labels(outcome, Timestamp::UNIX_EPOCH).collect::<Vec<_>>();
    let outcome = hosted.publish();
    let confirmed = Confirmed { word, by: "ann".to_owned(), at: Timestamp::UNIX_EPOCH };
    assert_eq!(confirmations(&outcome), [confirmed]);
    assert_eq!(Hosted::described(&outcome), "merged 2");
    assert_eq!(confirmations(&hosted.publish()), []);
    assert!(!hosted.last().labels.contains(NEEDS_CONFIRMATION_LABEL));
}

#[test]
fn an_automatic_merge_is_cancelled_before_removals_are_pushed() {
    for kind in [HostKind::GitHub, HostKind::Gitea] {
        let mut world = World::new();
        world.set_gitops_field("autoMerge: true");
        let mut hosted = Hosted::on(kind, world, |_| {});
        assert_eq!(hosted.proposal(), "merged 1");
        assert_eq!(hosted.proposal(), "none");
        let rule = git_host::hosts::memory::BranchRule { required_review: true, ..Default::default() };
        hosted.host.state().repository(REPOSITORY).unwrap().rules.insert(BASE.to_owned(), rule);
        let before = hosted.world.files().clone();
        hosted.world.change_value("1");
        assert_eq!(hosted.proposal(), "opened 2");
        assert!(hosted.last().is_auto_merge, "{kind}");
        // Only the removal is left of what is proposed.
        let (config, text) = before.iter().find(|(path, _)| path.starts_with("configs/")).unwrap();
        hosted.world.change(&[(config, Some(text))]);
        let path = hosted.world.files().keys().find(|path| path.starts_with("cluster-types/")).unwrap().clone();
        hosted.world.change(&[(&path, None)]);
        let head = hosted.world.head(PROPOSAL);
        let failed = HostError::Failed { call: "x".to_owned(), status: 502, message: "down".to_owned() };
        hosted.host.fail_next("cancel_auto_merge", failed, false);
        assert!(hosted.proposal().starts_with("failed"), "{kind}");
        assert_eq!(hosted.world.head(PROPOSAL), head, "{kind}: nothing is pushed that the host could merge");
        assert_eq!(hosted.proposal(), "updated 2");
        assert!(!hosted.last().is_auto_merge && hosted.last().labels.contains(NEEDS_CONFIRMATION_LABEL), "{kind}");
    }
}

#[test]
fn foreign_commits_and_pull_requests_are_kept() {
    let hosted = Hosted::new();
    hosted.world.write_to(BASE, "docs.md", "A text.\n");
    assert_eq!(hosted.proposal(), "opened 1");
    hosted.world.write_to(PROPOSAL, "mine.md", "A text.\n");
    let head = hosted.world.head(PROPOSAL);
    let failed = failed(&hosted.publish());
    assert!(failed[0].contains("which Kalypso did not create"), "{failed:?}");
    assert_eq!(hosted.world.head(PROPOSAL), head);
    assert!(hosted.last().is_open());
}

/// The comments of the first pull request.
fn comments(hosted: &Hosted) -> Vec<String> {
    let repository = hosted.hosts.find("https://git.example/acme/gitops").unwrap().1;
    let comments = hosted.host.comments(&repository, 1).unwrap();
    comments.into_iter().map(|comment| comment.body).collect()
}

#[test]
fn foreign_commit_is_reported_as_a_comment_and_stops_auto_merge() {
    let mut world = World::new();
    world.set_gitops_field("autoMerge: true");
    let mut hosted = Hosted::with_settings(world, |_| {});
    let rule = git_host::hosts::memory::BranchRule { required_review: true, ..Default::default() };
    hosted.host.state().repository(REPOSITORY).unwrap().rules.insert(BASE.to_owned(), rule);
    assert_eq!(hosted.proposal(), "opened 1");
    assert!(hosted.last().is_auto_merge && comments(&hosted).is_empty());
    hosted.world.write_to(PROPOSAL, "mine.md", "A text.\n");
    hosted.world.change_value("1");
    for _ in 0..2 {
        assert_eq!(failed(&hosted.publish()).len(), 1);
        let [comment] = &comments(&hosted)[..] else { panic!("{:?}", comments(&hosted)) };
        assert!(comment.contains("Ann") && comment.contains("delete `kalypso/prod`"), "{comment}");
        assert!(!hosted.last().is_auto_merge);
    }
    let forced = PublishOptions { foreign: ForeignCommits::Replace, ..hosted.options() };
    assert_eq!(failed(&hosted.world.publish(forced)), [""; 0]);
    assert!(comments(&hosted)[0].starts_with("Kalypso updates this pull request again."), "{:?}", comments(&hosted));
}

#[test]
fn foreign_commit_is_a_warning_if_there_is_nothing_to_publish() {
    let mut hosted = Hosted::new();
    assert_eq!(hosted.proposal(), "opened 1");
    hosted.merge();
    let before = hosted.world.files().clone();
    hosted.world.change_value("1");
    assert_eq!(hosted.proposal(), "opened 2");
    hosted.world.write_to(PROPOSAL, "mine.md", "A text.\n");
    let theirs = hosted.world.head(PROPOSAL);
    let files: Vec<_> = before.iter().map(|(path, text)| (path.as_str(), Some(text.as_str()))).collect();
    hosted.world.change(&files);
    let outcome = hosted.publish();
    assert_eq!((failed(&outcome), outcome.places[0].description()), (vec![], "clusters is up to date".to_owned()));
    let warnings = outcome.places[0].diagnostics.iter().filter(|found| found.code.id() == "K0506");
    assert_eq!(warnings.map(Diagnostic::is_error).collect::<Vec<_>>(), [false]);
    assert_eq!((hosted.world.head(PROPOSAL), hosted.last().is_open()), (theirs, true));
    assert_eq!(PublicationFacts::from_outcome(&outcome).settled.check(&Subject::Main), Ok(()));
}

#[test]
fn branch_with_a_foreign_commit_is_rebuilt_after_its_merge() {
    for is_squashed in [true, false] {
        let mut hosted = Hosted::new();
        assert_eq!(hosted.proposal(), "opened 1");
        let first = hosted.world.head(BASE);
        hosted.world.write_to(PROPOSAL, "mine.md", "A text.\n");
        hosted.world.change_value("1");
        assert_eq!(failed(&hosted.publish()).len(), 1);
        if is_squashed {
            hosted.world.squash(PROPOSAL, BASE);
        } else {
            // The host knows the merge, also if the target branch is set back to the commit before.
            hosted.merge();
            let url = RepositoryUrl::from_object("https://git.example/acme/gitops").unwrap();
            hosted.world.repositories.force(&url, BASE, first);
        }
        assert_eq!(hosted.proposal(), if is_squashed { "updated 1" } else { "opened 3" });
        assert_eq!(hosted.world.paths(PROPOSAL).contains(&"mine.md".to_owned()), is_squashed);
    }
}

#[test]
fn a_pull_request_that_a_person_opened_keeps_its_title_and_text() {
    let mut hosted = Hosted::new();
    hosted.world.publish(PublishOptions { hosts: None, ..hosted.options() });
    let (head, base) = (PROPOSAL.to_owned(), BASE.to_owned());
    let (title, body) = ("Release of Friday".to_owned(), "The list of Eve.".to_owned());
    let new = NewPullRequest { head, base, title, body, ..NewPullRequest::default() };
    hosted.host.state().repository(REPOSITORY).unwrap().open("eve", &new).unwrap();
    for (outcome, plan) in [("updated 1", "added"), ("unchanged 1", "added"), ("updated 1", "ADDED_1")] {
        if plan == "ADDED_1" {
            hosted.world.change_value("1");
        }
        assert_eq!(hosted.proposal(), outcome);
        assert_eq!((hosted.last().title, hosted.last().body), (new.title.clone(), new.body.clone()));
        let [comment] = &comments(&hosted)[..] else { panic!("{:?}", comments(&hosted)) };
        assert!(comment.contains("`eve` opened this pull request") && comment.contains("assignments"), "{comment}");
    }
    let outcome = hosted.publish();
    let said = &outcome.places[0].pull_request.as_ref().unwrap().as_ref().unwrap().incomplete;
    assert_eq!(*said, ["eve opened it: its title and text stay, and the plan is in a comment"]);
    hosted.merge();
    assert_eq!(hosted.proposal(), "none");
}

#[test]
fn failed_host_calls_are_completed_by_the_next_run() {
    let failed = |status| HostError::Failed { call: "x".to_owned(), status, message: "down".to_owned() };
    for call in ["pull_requests", "open", "update", "set_auto_merge", "set_status", "create_issue"] {
        for is_done in [false, true] {
            let mut world = World::new();
            world.set_gitops_field("autoMerge: true");
            let hosted = Hosted::with_settings(world, |_| {});
            hosted.host.state().repository(REPOSITORY).unwrap().rules.insert(
                BASE.to_owned(),
                git_host::hosts::memory::BranchRule { required_review: true, ..Default::default() },
            );
            hosted.host.fail_next(call, failed(502), is_done);
            let _ = hosted.world.try_publish(hosted.options(), None, &|_, _| {});
            let _ = hosted.publish();
            assert_eq!(hosted.proposal(), "unchanged 1", "{call} {is_done}");
            assert_eq!(hosted.pull_requests().len(), 1, "{call} {is_done}");
            assert!(hosted.last().is_auto_merge, "{call} {is_done}");
            let commit = hosted.world.environment_head();
            let statuses = hosted.host.state().repository(CONTROL_PLANE).unwrap().statuses(commit);
            assert_eq!(statuses.len(), 1, "{call} {is_done}");
        }
    }
}

#[test]
fn failures_are_in_one_issue_and_in_the_commit_status() {
    let mut hosted = Hosted::new();
    let status = |hosted: &Hosted| {
        let commit = hosted.world.environment_head();
        let statuses = hosted.host.state().repository(CONTROL_PLANE).unwrap().statuses(commit);
        let [status] = &statuses[..] else { panic!("{statuses:?}") };
        (status.context.clone(), status.state, status.description.clone())
    };
    let issues = |hosted: &Hosted| {
        let repository = hosted.hosts.find("https://git.example/acme/gitops").unwrap().1;
        let issues = hosted.host.issues(&repository, "kalypso").unwrap();
        issues.into_iter().map(|issue| (issue.title, issue.is_open, issue.body)).collect::<Vec<_>>()
    };
    assert_eq!(hosted.proposal(), "opened 1");
    let pending = "proposed in pull request 1".to_owned();
    assert_eq!(status(&hosted), ("kalypso/prod".to_owned(), StatusState::Pending, pending));
    assert_eq!(issues(&hosted), []);
    hosted.world.change(&[("broken.yaml", Some("kind: ["))]);
    hosted.publish();
    let found = issues(&hosted);
    let [(title, true, body)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(title, "prod: 1 error");
    assert!(body.contains("broken.yaml") && !body.contains("people"), "{body}");
    let approve = "kalypso approve -e prod --gate people";
    let approval = Wait {
        text: "0 of 2 approvals".to_owned(),
        command: Some(approve.to_owned()),
        role: Some("approver".to_owned()),
        ..Wait::default()
    };
    let url = Some("https://git.example/7".to_owned());
    let merge = Wait { text: "not merged".to_owned(), url, ..Wait::default() };
    let soak = Wait { text: "an hour".to_owned(), ..Wait::default() };
    hosted.world.publish(PublishOptions { waits: &[soak, merge, approval], ..hosted.options() });
    let (_, _, body) = issues(&hosted).remove(0);
    let list = format!(
        "\n### What people can do\n\n- → <https://git.example/7>: `not merged`\n- → `{approve}` (role `approver`): `0 of 2 approvals`\n"
    );
    assert!(body.contains(&list) && !body.contains("an hour"), "{body}");
    assert_eq!(status(&hosted).1, StatusState::Failure);
    hosted.world.change(&[("broken.yaml", None)]);
    let refused = ["`dev` refuses the push: GH006".to_owned()];
    hosted.world.publish(PublishOptions { problems: &refused, ..hosted.options() });
    let (title, is_open, body) = issues(&hosted).remove(0);
    assert!(is_open && title == "prod: 1 error" && body.contains("GH006") && !body.contains("broken"), "{body}");
    hosted.publish();
    assert!(!issues(&hosted)[0].1);
    hosted.merge();
    hosted.publish();
    assert_eq!(status(&hosted).1, StatusState::Success);
}

/// A second `GitOpsRepo`, for a branch that does not exist.
const SECOND: &str = "{apiVersion: scheduler.kalypso.io/v1alpha1, kind: GitOpsRepo, metadata: {name: second}, \
    spec: {repo: https://git.example/acme/gitops, branch: second, path: .}}\n";

fn failed(outcome: &Outcome) -> Vec<String> {
    outcome.failures.iter().map(|failure| format!("{}: {}", failure.gitops_repo, failure.error)).collect()
}

#[test]
fn a_persons_commit_is_reported_and_does_not_affect_other_destinations() {
    let mut hosted = Hosted::new();
    hosted.world.change(&[("second.yaml", Some(SECOND))]);
    assert_eq!(failed(&hosted.publish()), [""; 0]);
    hosted.world.write_to("kalypso/prod--prod", "notes.md", "Look at this.\n");
    let theirs = hosted.world.head("kalypso/prod--prod");
    hosted.world.change_value("1");
    let outcome = hosted.publish();
    let [failure] = &failed(&outcome)[..] else { panic!("{:?}", failed(&outcome)) };
    assert!(failure.starts_with("prod: [K0506]") && failure.contains("Ann"), "{failure}");
    assert_eq!((hosted.world.head("kalypso/prod--prod"), outcome.places.len()), (theirs, 1));
    assert!(hosted.last().title.contains("added"), "{}", hosted.last().title);
    let repository = hosted.hosts.find("https://git.example/acme/gitops").unwrap().1;
    let issues = hosted.host.issues(&repository, "kalypso").unwrap();
    assert!(issues[0].is_open && issues[0].body.contains("K0506"), "{}", issues[0].body);
    let forced = PublishOptions { foreign: ForeignCommits::Replace, ..hosted.options() };
    assert_eq!(failed(&hosted.world.publish(forced)), [""; 0]);
    assert!(!hosted.host.issues(&repository, "kalypso").unwrap()[0].is_open);
}

#[test]
fn a_branch_that_clusters_pull_is_created_once() {
    let mut hosted = Hosted::new();
    hosted.world.change(&[("second.yaml", Some(SECOND))]);
    let outcome = hosted.publish();
    assert_eq!((failed(&outcome), outcome.places.len()), (Vec::new(), 2));
    assert_eq!((hosted.world.paths("second"), hosted.pull_requests().len()), (Vec::<String>::new(), 2));
    // Clusters that pull the branch would remove everything if it came back without files.
    hosted.world.delete_branch("second");
    let [failure] = &failed(&hosted.publish())[..] else { panic!() };
    assert!(failure.starts_with("second: ") && failure.contains("has no branch `second`"), "{failure}");
    assert_eq!(hosted.world.head("second"), None);
}

#[test]
fn a_branch_that_pull_requests_were_merged_into_is_not_created_again() {
    let mut hosted = Hosted::new();
    hosted.proposal();
    hosted.merge();
    hosted.world.repositories.forget_requests();
    hosted.world.delete_branch(BASE);
    hosted.world.change_value("1");
    assert!(failed(&hosted.publish())[0].contains("has no branch"), "{:?}", failed(&hosted.publish()));
}
