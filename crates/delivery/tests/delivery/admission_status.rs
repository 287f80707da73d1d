//! The status `kalypso/admission` of pull requests with the output of an environment.

use delivery::promotion::controller::published::PublicationFacts;
use delivery::publication::publish::{PlaceOutcome, PublishOptions, Request, publish};
use delivery::pull_requests::admission::ADMISSION_CONTEXT;
use delivery::states::rollout_store::StoredStates;
use engine::promotion::command::CommandKind;
use engine::promotion::state::Revision;
use engine::promotion::step::Subject;
use git_host::error::HostError;
use git_host::hosts::memory::BranchRule;
use git_host::pull_request::{PullRequest, PullRequestState};
use git_host::review::ReviewVerdict;
use git_host::status::{CommitStatus, StatusState};
use jiff::SignedDuration;
use model::diagnostic::{Code, Diagnostic};
use model::git_id::GitId;
use testkit::chain::environment;

use crate::chain::{Chain, name};
use crate::controller::{DIRECT, PULL_REQUEST, World};
use crate::sources::merge_value;

const REPOSITORY: &str = "acme/gitops";

/// `stage` has proved the first commit, and the second one is admitted: its output is in a pull request.
struct Proposed {
    world: World,
    second: GitId,
}

impl Proposed {
    fn new(more: &str) -> Self {
        let mut world = World::new(DIRECT, more);
        world.settle();
        world.proposing = Some("stage");
        let second = world.chain.company.change_value("second");
        world.settle();
        Self { world, second }
    }

    fn pull_request(&self) -> PullRequest {
        self.world.chain.host.state().repository(REPOSITORY).unwrap().pull_requests().pop().unwrap()
    }

    /// The statuses of a commit with the context.
    fn statuses(&self, commit: GitId) -> Vec<CommitStatus> {
        let all = self.world.chain.host.state().repository(REPOSITORY).unwrap().statuses(commit);
        all.into_iter().filter(|status| status.context == ADMISSION_CONTEXT).collect()
    }

    /// The status of the head of the pull request.
    fn status(&self) -> (StatusState, String) {
        let statuses = self.statuses(self.pull_request().head_commit.unwrap());
        let [status] = &statuses[..] else { panic!("{statuses:?}") };
        (status.state, status.description.clone())
    }

    /// The status after another publication and a step, and after those that follow from them.
    fn next(&self) -> (StatusState, String) {
        for _ in 0..5 {
            if !self.world.step("stage").must_publish {
                return self.status();
            }
        }
        panic!("it is published again and again")
    }

    fn merge(&self) {
        let found = self.pull_request();
        let mut state = self.world.chain.host.state();
        state.repository(REPOSITORY).unwrap().merge(found.number, found.head_commit.unwrap()).unwrap();
    }

    fn admitted(&self) -> (StatusState, String) {
        (StatusState::Success, format!("admitted: main {}", self.second.short()))
    }

    /// What a publication says, without a step.
    fn publish(&self) -> PlaceOutcome {
        self.publish_with(PublishOptions::default())
    }

    fn publish_with(&self, options: PublishOptions<'_>) -> PlaceOutcome {
        let environment = &name("stage");
        let options = PublishOptions { hosts: Some(&self.world.chain.hosts), ..options };
        let request = Request { environment, gitops_repo: None, options, hub: None, is_hub_only: false };
        publish(&self.world.chain.access, &request, &|_, _| {}).unwrap().places.remove(0)
    }

    fn codes(&self) -> Vec<String> {
        let errors = self.publish().diagnostics.into_iter().filter(Diagnostic::is_error);
        errors.map(|found| found.code.to_string()).collect()
    }

    fn proved(&self) -> String {
        self.world.status("stage").proved.unwrap().revision
    }
}

#[test]
fn admission_status_is_set_once_on_the_pull_request() {
    let proposed = Proposed::new("");
    assert_eq!(proposed.status(), proposed.admitted());
    let down = HostError::Failed { call: "x".to_owned(), status: 502, message: "it was set again".to_owned() };
    proposed.world.chain.host.fail_next("set_status", down, false);
    assert_eq!(proposed.publish().failed_statuses, []);
    proposed.world.settle();
    assert_eq!(proposed.status(), proposed.admitted());
    proposed.merge();
    proposed.world.settle();
    assert_eq!(proposed.proved(), proposed.second.to_string());
}

#[test]
fn hold_fails_the_status_until_resume() {
    let proposed = Proposed::new("");
    proposed.world.command(CommandKind::Hold, "an outage").unwrap();
    let held = (StatusState::Failure, "the environment is held by ann: an outage".to_owned());
    assert_eq!(proposed.next(), held);
    proposed.world.command(CommandKind::Resume, "").unwrap();
    assert_eq!(proposed.next(), proposed.admitted());
}

#[test]
fn status_fails_while_a_passed_gate_does_not_hold() {
    let proposed = Proposed::new("");
    proposed.world.report("dev", 2, 1);
    let (state, text) = proposed.next();
    assert_eq!(state, StatusState::Failure);
    assert!(text.starts_with("gate compliant of main"), "{text}");
    // Merged although it is red: reported, and no evidence.
    proposed.merge();
    proposed.world.settle();
    assert_eq!(proposed.codes(), ["K0531"]);
    assert_ne!(proposed.proved(), proposed.second.to_string());
    proposed.world.report("dev", 3, 0);
    proposed.world.settle();
    assert_eq!(proposed.codes(), [""; 0]);
    assert_eq!(proposed.proved(), proposed.second.to_string());
}

#[test]
fn withdrawn_approval_fails_the_status() {
    let mut world = World::new(PULL_REQUEST, "    - name: people\n      approval: {count: 1}\n");
    let second = world.chain.company.head("main").unwrap();
    world.settle();
    world.proposing = Some("stage");
    ["ann", "bob"].iter().for_each(|account| world.chain.approve(1, account));
    world.chain.merge(1);
    world.settle();
    let proposed = Proposed { world, second };
    assert_eq!(proposed.status(), proposed.admitted());
    {
        let mut state = proposed.world.chain.host.state();
        state.repository("acme/control-plane").unwrap().review("bob", 1, ReviewVerdict::Dismissed).unwrap();
    }
    let (state, text) = proposed.next();
    assert_eq!(state, StatusState::Failure);
    assert!(text.starts_with("gate people of main"), "{text}");
    proposed.world.chain.approve(1, "bob");
    assert_eq!(proposed.next(), proposed.admitted());
}

/// A person lets the second commit in past the gate of people, for an hour. `reason`: the publication says that, too.
fn overridden(reason: Option<&str>) -> Proposed {
    let mut world = World::new(DIRECT, "    - name: people\n      approval: {count: 1}\n");
    world.settle();
    world.proposing = Some("stage");
    let second = world.chain.company.change_value("second");
    world.settle();
    assert!(world.waits("stage").starts_with("people: 0 of 2 approvals"), "{}", world.waits("stage"));
    let (revision, gates) = (Revision(second.to_string().into()), vec!["people".into()]);
    let expires = world.now() + SignedDuration::from_hours(1);
    world.command(CommandKind::Override { revision, gates, expires }, "an outage").unwrap();
    let proposed = Proposed { world, second };
    proposed.publish_with(PublishOptions { overridden: reason, ..PublishOptions::default() });
    proposed
}

#[test]
fn expired_override_fails_the_status() {
    for reason in [None, Some("an outage")] {
        let proposed = overridden(reason);
        let (state, text) = proposed.next();
        assert_eq!((state, text.contains("past its gates until")), (StatusState::Success, reason.is_some()), "{text}");
        proposed.world.pass(3_600);
        let (state, text) = proposed.next();
        assert_eq!(state, StatusState::Failure);
        let second = proposed.second.short();
        let expected = match reason {
            None => format!("gate people of main {second} does not hold any more: 0 of 2 approvals"),
            Some(_) => {
                format!(
                    "the override of main {second} by ann has expired, and gate people does not hold: 0 of 2 approvals"
                )
            }
        };
        assert!(text.starts_with(&expected), "{text}");
    }
}

#[test]
fn commit_merged_before_the_override_expires_stays() {
    let proposed = overridden(Some("an outage"));
    proposed.world.settle();
    proposed.merge();
    proposed.world.settle();
    proposed.world.pass(3_600);
    proposed.world.settle();
    assert_eq!((proposed.proved(), proposed.codes()), (proposed.second.to_string(), Vec::new()));
}

#[test]
fn the_gates_of_values_hold_until_their_pull_request_is_merged() {
    let mut world = World::new(DIRECT, "    - {name: two-eyes, approval: {count: 1}, for: [values]}\n");
    world.settle();
    world.proposing = Some("stage");
    let second = world.chain.company.head("main").unwrap();
    let number = merge_value(&world, "first", &["bob"]);
    world.settle();
    let proposed = Proposed { world, second };
    let review = |verdict| {
        let mut state = proposed.world.chain.host.state();
        state.repository("acme/control-plane").unwrap().review("bob", number, verdict).unwrap();
    };
    assert_eq!(proposed.status(), proposed.admitted());
    review(ReviewVerdict::Dismissed);
    let red = (StatusState::Failure, "gate two-eyes of values does not hold any more: 0 of 1 approval".to_owned());
    let without_commit = |(state, text): (StatusState, String)| {
        let words: Vec<_> =
            text.split(' ').enumerate().filter(|(index, _)| *index != 4).map(|(_, word)| word).collect();
        (state, words.join(" "))
    };
    assert_eq!(without_commit(proposed.next()), red);
    // Another value that waits, or is approved itself, frees nothing.
    let next = merge_value(&proposed.world, "second", &[]);
    assert_eq!(without_commit(proposed.next()), red);
    proposed.world.chain.approve(next, "bob");
    assert_eq!(without_commit(proposed.next()), red);
    review(ReviewVerdict::Approved);
    assert_eq!(proposed.next(), proposed.admitted());
    // After the merge, reviews are not asked for again.
    proposed.merge();
    proposed.world.settle();
    review(ReviewVerdict::Dismissed);
    proposed.world.settle();
    assert_eq!(proposed.codes(), [""; 0]);
}

#[test]
fn auto_merge_is_off_while_the_status_fails() {
    let mut world = World::new(DIRECT, "");
    world.settle();
    let mut files = environment("stage", world.chain.promoted("stage").commit);
    let merges = format!("{}  autoMerge: true\n", files["gitops.yaml"]);
    files.insert("gitops.yaml".to_owned(), merges);
    world.chain.company.write_environment("stage", &files);
    world.settle();
    let rule = BranchRule { required_review: true, ..BranchRule::default() };
    world.chain.host.state().repository(REPOSITORY).unwrap().rules.insert("stage".to_owned(), rule);
    world.proposing = Some("stage");
    let second = world.chain.company.change_value("second");
    world.settle();
    let proposed = Proposed { world, second };
    assert!(proposed.pull_request().is_auto_merge);
    proposed.world.command(CommandKind::Hold, "an outage").unwrap();
    assert_eq!(proposed.next().0, StatusState::Failure);
    assert!(!proposed.pull_request().is_auto_merge);
    proposed.world.command(CommandKind::Resume, "").unwrap();
    assert_eq!(proposed.next(), proposed.admitted());
    assert!(proposed.pull_request().is_auto_merge);
}

#[test]
fn an_edit_by_hand_behind_a_gate_is_an_error_and_no_evidence() {
    let proposed = Proposed::new("");
    proposed.merge();
    proposed.world.settle();
    assert_eq!(proposed.codes(), [""; 0]);
    let files = [("README.md".to_owned(), "Everything else is gone.\n".to_owned())].into();
    let edit = proposed.world.chain.company.write("https://git.example/acme/gitops", "stage", &files);
    let environment = &name("stage");
    let options = PublishOptions { hosts: Some(&proposed.world.chain.hosts), ..PublishOptions::default() };
    let request = Request { environment, gitops_repo: None, options, hub: None, is_hub_only: false };
    let outcome = publish(&proposed.world.chain.access, &request, &|_, _| {}).unwrap();
    let found = outcome.places[0].diagnostics.iter().find(|found| found.code == Code::EditedByHand).unwrap();
    assert!(found.is_error() && found.message.contains(&edit.short()), "{}", found.message);
    let reason = PublicationFacts::from_outcome(&outcome).settled.check(&Subject::Main).unwrap_err();
    assert!(reason.contains("K0530"), "{reason}");
    // The publication proposes what was admitted.
    assert_eq!(proposed.status(), proposed.admitted());
    proposed.merge();
    assert_eq!(proposed.codes(), [""; 0]);
}

#[test]
fn abort_fails_the_status_and_rollback_closes_the_pull_request() {
    let proposed = Proposed::new("");
    proposed.world.command(CommandKind::Abort, "wrong").unwrap();
    let aborted = format!("main {} is rejected: abort by ann: wrong", proposed.second.short());
    assert_eq!(proposed.next(), (StatusState::Failure, aborted));
    proposed.world.command(CommandKind::Rollback { to: None, with_values: false }, "wrong").unwrap();
    proposed.world.step("stage");
    assert_eq!(proposed.pull_request().state, PullRequestState::Closed);
}

#[test]
fn foreign_commit_on_the_branch_fails_the_status() {
    let proposed = Proposed::new("");
    let branch = "kalypso/stage";
    let files = [("east/mine.yaml".to_owned(), "by: hand\n".to_owned())].into();
    let theirs = proposed.world.chain.company.write("https://git.example/acme/gitops", branch, &files);
    let (state, text) = proposed.next();
    let expected = format!("commit {} of Ann is not admitted: Kalypso did not create it", theirs.short());
    assert_eq!((proposed.pull_request().head_commit, state, text), (Some(theirs), StatusState::Failure, expected));
}

#[test]
fn refused_publication_fails_the_status() {
    let mut chain = Chain::new(&["dev", "stage"]);
    let promotion = "{apiVersion: fleet.kalypso.io/v1alpha1, kind: Promotion, metadata: {name: to-stage}, spec: {from: [dev], to: stage}}";
    let first = chain.company.write_main(".environments/to-stage.yaml", promotion);
    chain.company.write_environment("stage", &environment("stage", Some(first)));
    let publish = |chain: &Chain| {
        let environment = &name("stage");
        let options = PublishOptions { hosts: Some(&chain.hosts), ..PublishOptions::default() };
        let request = Request { environment, gitops_repo: None, options, hub: None, is_hub_only: false };
        let place = publish(&chain.access, &request, &|_, _| {}).unwrap().places.remove(0);
        place.proposed.unwrap().status(&StoredStates::default())
    };
    assert_eq!(publish(&chain).description, format!("admitted: main {}", first.short()));
    // Its branch is merged, and names a commit that no environment has proved.
    let head = chain.host.state().repository(REPOSITORY).unwrap().pull_requests()[0].head_commit.unwrap();
    chain.host.state().repository(REPOSITORY).unwrap().merge(1, head).unwrap();
    chain.company.write("https://git.example/acme/gitops", "kalypso/stage", &environment("stage", None));
    let second = chain.company.change_value("second");
    chain.company.write_environment("stage", &environment("stage", Some(second)));
    let status = publish(&chain);
    assert_eq!(status.state, StatusState::Failure);
    assert!(status.description.starts_with("nothing is published: [K0523]"), "{}", status.description);
}

#[test]
fn no_status_is_set_without_a_promotion() {
    let mut world = World::new(DIRECT, "");
    world.chain.company.remove_main(".environments/to-stage.yaml");
    world.proposing = Some("stage");
    let proposed = Proposed { second: world.chain.company.change_value("second"), world };
    proposed.publish();
    assert_eq!(proposed.statuses(proposed.pull_request().head_commit.unwrap()), []);
}
