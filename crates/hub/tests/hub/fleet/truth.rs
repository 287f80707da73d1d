//! The expected answers, computed without the hub from all messages of the hosts and all commits of the branches.

use std::collections::BTreeMap;

use model::git_id::GitId;
use model::rollout::{Counts, Liveness, ReconcilerState};
use simulator::simulation::{SentReport, SentStatus, Simulation};

use super::branches::{Branches, ENVIRONMENTS};

/// The expected state of one reconciler.
#[derive(Debug)]
struct Fact {
    host: String,
    report: SentReport,
    /// The held content: the commit since which it was desired, and its tree.
    held: (GitId, GitId),
    /// The desired content, in the same form.
    desired: Option<(GitId, GitId)>,
    is_silent: bool,
}

/// The expected state of all reconcilers.
#[derive(Debug)]
pub(super) struct Truth {
    facts: Vec<Fact>,
    /// Each commit, with its environment and the folders that it changed.
    commits: Vec<(&'static str, GitId, Vec<&'static str>)>,
}

impl Truth {
    pub(super) fn new(fleet: &Simulation, branches: &Branches, now: i64) -> Self {
        let fact = |((host, _), report): ((&str, &str), &SentReport)| {
            let commits = &branches.commits[report.pull.branch.as_str()];
            let since = |until: usize| {
                let tree = |index: usize| commits[index].1.get(report.pull.path.as_str()).copied();
                let first = (1..=until).rev().find(|index| tree(*index) != tree(index - 1)).unwrap_or(0);
                tree(until).map(|tree| (commits[first].0, tree))
            };
            let reported = commits.iter().position(|(id, _)| *id == report.content.commit).unwrap();
            Fact {
                host: host.to_owned(),
                report: report.clone(),
                held: since(reported).unwrap(),
                desired: since(commits.len() - 1),
                is_silent: report.heartbeat.is_some_and(|heartbeat| report.at + heartbeat + heartbeat / 2 < now),
            }
        };
        let facts = fleet.last_reports(now).into_iter().map(fact).collect();
        let mut changed = Vec::new();
        for (environment, commits) in &branches.commits {
            let mut before = &BTreeMap::new();
            for (id, after) in commits {
                let paths = after.iter().filter(|(path, tree)| before.get(*path) != Some(*tree));
                changed.push((*environment, *id, paths.map(|(path, _)| *path).collect()));
                before = after;
            }
        }
        Self { facts, commits: changed }
    }

    /// The number of reconcilers by state. Each number must be at least one, or the test would prove little.
    pub(super) fn all(&self) -> Counts {
        count(self.facts.iter().filter_map(|fact| Some((fact.state()?, fact.liveness()))))
    }

    pub(super) fn environments(&self) -> Vec<(String, Counts)> {
        let counts = |environment: &&str| {
            let here = self.facts.iter().filter(|fact| fact.report.pull.branch == *environment);
            ((*environment).to_owned(), count(here.filter_map(|fact| Some((fact.state()?, fact.liveness())))))
        };
        ENVIRONMENTS.iter().map(counts).collect()
    }

    /// For each commit, the number of reconcilers by state. Commits that changed no pulled folder are omitted: they are not rolled out.
    pub(super) fn rollouts(&self) -> Vec<(String, Vec<(String, Counts)>)> {
        let rollout = |(environment, commit, paths): &(&str, GitId, Vec<&str>)| {
            let concerned = |fact: &&Fact| {
                fact.report.pull.branch == *environment && paths.contains(&fact.report.pull.path.as_str())
            };
            let stands = |fact: &Fact| Some((fact.state_with(*commit)?, fact.liveness()));
            let counts = count(self.facts.iter().filter(concerned).filter_map(stands));
            let environments = (counts.expected > 0).then(|| ((*environment).to_owned(), counts));
            (commit.to_string(), environments.into_iter().collect())
        };
        self.commits.iter().filter(|(_, _, paths)| !paths.is_empty()).map(rollout).collect()
    }

    pub(super) fn silent(&self) -> Vec<String> {
        let silent = self.facts.iter().filter(|fact| fact.is_silent);
        let mut names: Vec<_> = silent.map(|fact| format!("{}/{}", fact.host, fact.report.pull.reconciler)).collect();
        names.sort();
        names
    }

    pub(super) fn unwanted(&self) -> i64 {
        self.facts.iter().filter(|fact| fact.desired.is_none()).count() as i64
    }

    pub(super) fn rows(&self) -> Vec<String> {
        let row = |fact: &Fact| {
            let SentReport { pull, status, message, at, .. } = &fact.report;
            let state = fact.state().map_or("unwanted", ReconcilerState::as_str);
            let (status, held) = (status.as_str(), fact.held.0);
            format!("{}/{}: {status}, {state}, {held}, {message}, heard of at {at}", fact.host, pull.reconciler)
        };
        let mut rows: Vec<_> = self.facts.iter().map(row).collect();
        rows.sort();
        rows
    }
}

impl Fact {
    /// The state of the reconciler with its desired content.
    fn state(&self) -> Option<ReconcilerState> {
        let (_, desired) = self.desired?;
        Some(self.stands(self.held.1 == desired))
    }

    /// The state of the reconciler with the content of a commit.
    fn state_with(&self, commit: GitId) -> Option<ReconcilerState> {
        let (since, desired) = self.desired?;
        Some(self.stands(self.held.0 == commit || self.held.1 == desired && since == commit))
    }

    fn liveness(&self) -> Liveness {
        match self.report.heartbeat {
            None => Liveness::Unknown,
            Some(_) if self.is_silent => Liveness::Silent,
            Some(_) => Liveness::Alive,
        }
    }

    fn stands(&self, holds: bool) -> ReconcilerState {
        match self.report.status {
            SentStatus::Success if holds => ReconcilerState::Succeeded,
            SentStatus::Failure if holds => ReconcilerState::Failed,
            _ if self.is_silent => ReconcilerState::Silent,
            SentStatus::InProgress if holds => ReconcilerState::InProgress,
            _ => ReconcilerState::Outdated,
        }
    }
}

fn count(states: impl Iterator<Item = (ReconcilerState, Liveness)>) -> Counts {
    let mut counts = Counts::default();
    for (state, liveness) in states {
        counts.expected += 1;
        let part = match state {
            ReconcilerState::Succeeded => &mut counts.succeeded,
            ReconcilerState::Failed => &mut counts.failed,
            ReconcilerState::InProgress => &mut counts.in_progress,
            ReconcilerState::Silent => &mut counts.silent,
            ReconcilerState::Outdated => &mut counts.outdated,
            ReconcilerState::NeverReported => &mut counts.never_reported,
        };
        *part += 1;
        let has_succeeded = state == ReconcilerState::Succeeded;
        counts.succeeded_but_silent += i64::from(has_succeeded && liveness == Liveness::Silent);
        counts.succeeded_without_heartbeat += i64::from(has_succeeded && liveness == Liveness::Unknown);
    }
    counts
}
