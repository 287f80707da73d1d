//! Publishing of trees to branches, without loss of foreign commits.

use git::publish::{
    BranchChange, DestinationBranch, DestinationState, PublishError, PushOutcome, current_state, publish, withdraw,
};
use git::{GitRepositories, NewCommit, Push, Pushed, Repositories, Revision, trailer};
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::progress::Progress;
use model::tree::{Child, Entry, Tree, closed};

use crate::playground::{Disk, commit, in_each_implementation, memory, person, run, tree, url};

const BRANCH: &str = "kalypso/dev";

/// Runs a test on all implementations, each with a repository `gitops` whose branch `dev` has a foreign file.
fn check(test: impl Fn(&dyn Repositories)) {
    let begin = |repositories: &dyn Repositories| {
        commit(repositories, &url("gitops"), "dev", &[("docs/x", "1")]);
        test(repositories);
    };
    in_each_implementation(begin);
}

fn with_destination<T>(branch: Option<&str>, act: impl FnOnce(&DestinationBranch<'_>) -> T) -> T {
    let (url, environment) = (url("gitops"), EnvironmentName::new("dev").unwrap());
    act(&DestinationBranch { url: &url, base: "dev", branch, environment: &environment })
}

fn read_state(repositories: &dyn Repositories, branch: Option<&str>) -> Result<DestinationState, PublishError> {
    with_destination(branch, |destination| current_state(repositories, destination))
}

fn put(repositories: &dyn Repositories, branch: Option<&str>, state: &DestinationState, text: &str) -> PushOutcome {
    let mut tree = state.base_tree.clone();
    let file = Child::File(Entry::file(text.as_bytes()));
    tree.put("large/app/x.yaml", file, &git::opener(repositories, &state.base)).unwrap();
    put_tree(repositories, branch, state, &tree)
}

fn put_tree(
    repositories: &dyn Repositories,
    branch: Option<&str>,
    state: &DestinationState,
    tree: &Tree,
) -> PushOutcome {
    let (trailers, progress) = (&[("Kalypso-Source", "x")], &Progress::default());
    let change = BranchChange { tree, open: &closed, message: "Publish dev", trailers, seconds: 7, progress };
    with_destination(branch, |destination| publish(repositories, destination, state, &change).unwrap())
}

fn head(repositories: &dyn Repositories, branch: &str) -> git::Commit {
    repositories.resolve(&url("gitops"), &Revision::branch(branch)).unwrap()
}

fn pushed(published: &PushOutcome) -> GitId {
    match published {
        PushOutcome::Pushed(id) => *id,
        other => panic!("{other:?}"),
    }
}

#[test]
fn our_branch_is_one_commit_on_the_base() {
    check(|repositories| {
        let state = read_state(repositories, Some(BRANCH)).unwrap();
        let id = pushed(&put(repositories, Some(BRANCH), &state, "1"));
        let branch = head(repositories, BRANCH);
        let info = repositories.info(&branch).unwrap();
        assert_eq!((branch.id, info.parents), (id, vec![head(repositories, "dev").id]));
        assert_eq!(trailer::trailers(&info.message, trailer::ENVIRONMENT), ["dev"]);
        assert_eq!(repositories.tree(&branch).unwrap(), tree(&[("docs/x", "1"), ("large/app/x.yaml", "1")]));
        // Again, after the base branch moved.
        commit(repositories, &url("gitops"), "dev", &[("docs/x", "2")]);
        let state = read_state(repositories, Some(BRANCH)).unwrap();
        assert!(state.branch.is_some());
        pushed(&put(repositories, Some(BRANCH), &state, "2"));
        let info = repositories.info(&head(repositories, BRANCH)).unwrap();
        assert_eq!(info.parents, [head(repositories, "dev").id]);
    });
}

#[test]
fn nothing_is_pushed_where_nothing_changes() {
    check(|repositories| {
        let state = read_state(repositories, Some(BRANCH)).unwrap();
        let unchanged = put_tree(repositories, Some(BRANCH), &state, &state.base_tree);
        assert_eq!(unchanged, PushOutcome::Unchanged(state.base.id));
        let id = pushed(&put(repositories, Some(BRANCH), &state, "1"));
        let state = read_state(repositories, Some(BRANCH)).unwrap();
        assert_eq!(put(repositories, Some(BRANCH), &state, "1"), PushOutcome::Unchanged(id));
    });
}

#[test]
fn a_lost_race_changes_nothing() {
    check(|repositories| {
        let state = read_state(repositories, Some(BRANCH)).unwrap();
        let id = pushed(&put(repositories, Some(BRANCH), &state, "1"));
        assert_eq!(put(repositories, Some(BRANCH), &state, "2"), PushOutcome::LostRace);
        assert_eq!(head(repositories, BRANCH).id, id);
        let state = read_state(repositories, None).unwrap();
        commit(repositories, &url("gitops"), "dev", &[("docs/x", "2")]);
        assert_eq!(put(repositories, None, &state, "1"), PushOutcome::LostRace);
    });
}

#[test]
fn a_persons_commit_is_kept() {
    check(|repositories| {
        let state = read_state(repositories, Some(BRANCH)).unwrap();
        pushed(&put(repositories, Some(BRANCH), &state, "1"));
        let theirs = commit(repositories, &url("gitops"), BRANCH, &[("docs/x", "mine")]);
        let Err(PublishError::Foreign { commit, author, .. }) = read_state(repositories, Some(BRANCH)) else {
            panic!()
        };
        assert_eq!((commit, author.to_string().as_str()), (theirs, "Ann <ann@example.com>"));
    });
}

#[test]
fn branch_at_the_base_commit_is_reused() {
    check(|repositories| {
        let state = read_state(repositories, Some(BRANCH)).unwrap();
        let id = pushed(&put(repositories, Some(BRANCH), &state, "1"));
        // The pull request is merged with a fast-forward.
        let state = read_state(repositories, None).unwrap();
        assert_ne!(state.base.id, id);
        pushed(&put(repositories, None, &state, "other"));
        assert!(read_state(repositories, Some(BRANCH)).unwrap().branch.is_some());
    });
}

#[test]
fn publishing_directly_adds_to_the_base() {
    check(|repositories| {
        let state = read_state(repositories, None).unwrap();
        let id = pushed(&put(repositories, None, &state, "1"));
        let info = repositories.info(&head(repositories, "dev")).unwrap();
        assert_eq!((head(repositories, "dev").id, info.parents), (id, vec![state.base.id]));
    });
}

#[test]
fn our_branch_can_be_withdrawn() {
    check(|repositories| {
        let state = read_state(repositories, Some(BRANCH)).unwrap();
        pushed(&put(repositories, Some(BRANCH), &state, "1"));
        let state = read_state(repositories, Some(BRANCH)).unwrap();
        let gone = with_destination(Some(BRANCH), |destination| {
            withdraw(repositories, destination, &state, &Progress::default())
        });
        assert_eq!(gone, Ok(PushOutcome::Unchanged(state.base.id)));
        assert!(read_state(repositories, Some(BRANCH)).unwrap().branch.is_none());
    });
}

#[test]
fn missing_base_branch_is_reported_with_the_command() {
    let repositories = memory("gitops");
    let help = |repositories: &dyn Repositories| read_state(repositories, None).unwrap_err().diagnostic().help.join("");
    assert!(help(&repositories).contains("`kalypso publish` creates the branch"));
    commit(&repositories, &url("gitops"), "main", &[("a", "1")]);
    assert!(help(&repositories).contains("`git push origin COMMIT:refs/heads/dev`"));
}

#[test]
fn a_branch_that_is_checked_out_is_pushed_where_git_may_update_the_files() {
    let disk = Disk::new();
    disk.commit("gitops", "dev", &[("a", "1")]);
    run(&disk.served(), &["clone", "--quiet", "--branch", "dev", "gitops.git", "work"]);
    let (work, settings) = (disk.served().join("work"), disk.settings(&format!("{}/", disk.served().display())));
    let repositories = GitRepositories::new(settings);
    let push = || {
        let before = repositories.resolve(&url("work"), &Revision::branch("dev")).unwrap();
        let (parents, tree) = ([before.id], &tree(&[("a", "2")]));
        let (author, progress) = (&person("Ann"), &Progress::default());
        let commit =
            NewCommit { parents: &parents, tree, open: &closed, message: "2", author, seconds: 7, signer: None };
        let push = Push { branch: "dev", expected: Some(before.id), commit: Some(commit), progress };
        repositories.push(&url("work"), &push).map_err(|error| error.to_string())
    };
    let refused = push().unwrap_err();
    assert!(
        refused.ends_with("receive.denyCurrentBranch updateInstead` there: git then updates the working tree, too")
    );
    run(&work, &["config", "receive.denyCurrentBranch", "updateInstead"]);
    std::fs::write(work.join("a"), "mine").unwrap();
    let refused = push().unwrap_err();
    assert!(refused.contains("Working directory has unstaged changes"), "{refused}");
    run(&work, &["checkout", "--quiet", "a"]);
    assert!(matches!(push(), Ok(Pushed::Moved(_))));
    assert_eq!(std::fs::read_to_string(work.join("a")).unwrap(), "2");
}
