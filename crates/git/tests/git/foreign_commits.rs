//! Proposing branches with commits of people, and branches that moved below a proposed change.

use git::publish::{
    BranchChange, DestinationBranch, DestinationState, PublishError, PushOutcome, check_commits, current_state, heads,
    publish,
};
use git::{NewCommit, Push, Pushed, Repositories, Revision};
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::progress::Progress;
use model::tree::{Tree, closed};

use crate::playground::{commit, in_each_implementation, person, tree, url};

const BASE: &str = "dev";
const PROPOSAL: &str = "kalypso/dev";
/// The files of the base branch at the beginning, and the proposed files.
const OLD: &[(&str, &str)] = &[("app/a", "1"), ("app/b", "1"), ("docs", "1")];
const NEW: &[(&str, &str)] = &[("app/a", "2"), ("app/b", "2"), ("docs", "1")];

/// Branches in one of the implementations, with a proposed change.
struct Branches<'a> {
    repositories: &'a dyn Repositories,
    environment: EnvironmentName,
}

/// Runs a test on all implementations.
fn check(test: impl Fn(&Branches<'_>)) {
    let begin = |repositories: &dyn Repositories| {
        commit(repositories, &url("gitops"), BASE, OLD);
        let branches = Branches { repositories, environment: EnvironmentName::new("dev").unwrap() };
        branches.propose(NEW);
        test(&branches);
    };
    in_each_implementation(begin);
}

impl Branches<'_> {
    fn with<T>(&self, act: impl FnOnce(&DestinationBranch<'_>) -> T) -> T {
        let url = url("gitops");
        act(&DestinationBranch { url: &url, base: BASE, branch: Some(PROPOSAL), environment: &self.environment })
    }

    /// Proposes these files as a publication does, and returns the commit. None: nothing was pushed.
    fn propose(&self, files: &[(&str, &str)]) -> Option<GitId> {
        let state: DestinationState = self.with(|found| current_state(self.repositories, found)).unwrap();
        let (tree, progress) = (&tree(files), &Progress::default());
        let change = BranchChange { tree, open: &closed, message: "Publish", trailers: &[], seconds: 7, progress };
        match self.with(|found| publish(self.repositories, found, &state, &change)).unwrap() {
            PushOutcome::Pushed(id) => Some(id),
            PushOutcome::Unchanged(_) => None,
            PushOutcome::LostRace => panic!("no race"),
        }
    }

    /// The commit of a person that must stay. None: there is none.
    fn foreign(&self) -> Option<GitId> {
        let heads = self.with(|found| heads(self.repositories, found)).unwrap();
        match self.with(|found| check_commits(self.repositories, found, &heads)) {
            Err(PublishError::Foreign { commit, .. }) => Some(commit),
            checked => checked.map(|()| None).unwrap(),
        }
    }

    fn head(&self, branch: &str) -> GitId {
        self.repositories.resolve(&url("gitops"), &Revision::branch(branch)).unwrap().id
    }

    fn parents(&self, branch: &str) -> Vec<GitId> {
        let head = self.repositories.resolve(&url("gitops"), &Revision::branch(branch)).unwrap();
        self.repositories.info(&head).unwrap().parents
    }

    /// Commits files as a person, on the head of a branch.
    fn edit(&self, branch: &str, files: &[(&str, &str)]) -> GitId {
        self.push(branch, &[self.head(branch)], &tree(files))
    }

    /// Merges the base branch into the proposing branch as a person, with these files as the result.
    fn update(&self, files: &[(&str, &str)]) -> GitId {
        self.push(PROPOSAL, &[self.head(PROPOSAL), self.head(BASE)], &tree(files))
    }

    fn push(&self, branch: &str, parents: &[GitId], tree: &Tree) -> GitId {
        let (author, message) = (&person("Ann"), "A change");
        let commit = NewCommit { parents, tree, open: &closed, message, author, seconds: 9, signer: None };
        let (expected, progress) = (Some(self.head(branch)), &Progress::default());
        match self.repositories.push(&url("gitops"), &Push { branch, expected, commit: Some(commit), progress }) {
            Ok(Pushed::Moved(id)) => id,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_proposal_is_built_again_when_the_base_branch_moves() {
    check(|branches| {
        assert_eq!(branches.propose(NEW), None);
        // The files that are proposed stay the same.
        for hotfix in [&[("app/a", "hot"), ("app/b", "1"), ("docs", "1")][..], &[("app/b", "1"), ("docs", "1")], OLD] {
            let base = branches.edit(BASE, hotfix);
            assert!(branches.propose(NEW).is_some(), "{hotfix:?}");
            assert_eq!(branches.parents(PROPOSAL), [base]);
            assert_eq!(branches.propose(NEW), None);
        }
    });
}

#[test]
fn a_change_is_proposed_again_when_its_merge_is_reverted() {
    check(|branches| {
        let merged = branches.push(BASE, &[branches.head(BASE), branches.head(PROPOSAL)], &tree(NEW));
        let reverted = branches.push(BASE, &[merged], &tree(OLD));
        assert!(branches.propose(NEW).is_some());
        assert_eq!(branches.parents(PROPOSAL), [reverted]);
    });
}

#[test]
fn merges_of_the_base_branch_without_changes_of_their_own_may_be_replaced() {
    check(|branches| {
        branches.edit(BASE, &[("app/a", "1"), ("app/b", "1"), ("docs", "2")]);
        branches.update(&[("app/a", "2"), ("app/b", "2"), ("docs", "2")]);
        branches.edit(BASE, &[("app/a", "1"), ("app/b", "1"), ("docs", "3"), ("new", "1")]);
        branches.update(&[("app/a", "2"), ("app/b", "2"), ("docs", "3"), ("new", "1")]);
        assert_eq!(branches.foreign(), None);
        assert!(branches.propose(&[("app/a", "3"), ("docs", "3"), ("new", "1")]).is_some());
        assert_eq!(branches.parents(PROPOSAL), [branches.head(BASE)]);
    });
}

#[test]
fn merges_with_changes_of_their_own_stay() {
    check(|branches| {
        let proposed = branches.head(PROPOSAL);
        branches.edit(BASE, &[("app/a", "hot"), ("app/b", "1"), ("docs", "2")]);
        // A person writes a file, resolves a conflict, or leaves out what the base branch changed.
        for files in [
            [("app/a", "2"), ("app/b", "mine"), ("docs", "2")],
            [("app/a", "hot"), ("app/b", "2"), ("docs", "2")],
            [("app/a", "2"), ("app/b", "2"), ("docs", "mine")],
        ] {
            let merge = branches.push(PROPOSAL, &[proposed, branches.head(BASE)], &tree(&files));
            assert_eq!(branches.foreign(), Some(merge), "{files:?}");
        }
    });
}

#[test]
fn commits_that_were_squashed_into_the_base_branch_may_be_replaced() {
    check(|branches| {
        let mine = [("app/a", "mine"), ("app/b", "2"), ("docs", "1"), ("notes", "mine")];
        let theirs = branches.edit(PROPOSAL, &mine);
        assert_eq!(branches.foreign(), Some(theirs));
        // Half of it is no merge.
        branches.edit(BASE, &[("app/a", "1"), ("app/b", "2"), ("docs", "1"), ("notes", "mine")]);
        assert_eq!(branches.foreign(), Some(theirs));
        branches.edit(BASE, &[("app/a", "mine"), ("app/b", "2"), ("docs", "2"), ("notes", "mine"), ("x", "1")]);
        assert_eq!(branches.foreign(), None);
    });
}

#[test]
fn a_commit_that_takes_back_the_proposal_stays() {
    check(|branches| {
        let theirs = branches.edit(PROPOSAL, OLD);
        assert_eq!(branches.foreign(), Some(theirs));
        branches.edit(BASE, &[("app/a", "1"), ("app/b", "1"), ("docs", "2")]);
        assert_eq!(branches.foreign(), Some(theirs));
    });
}

#[test]
fn branch_with_an_unknown_base_is_kept() {
    check(|branches| {
        let theirs = branches.push(PROPOSAL, &[], &tree(OLD));
        assert_eq!(branches.foreign(), Some(theirs));
    });
}
