//! Subjects of a world: commits of the main branch and releases on their way into environments.

use std::sync::Arc;

use super::World;
use super::moves::SeenMove;
use crate::scenario::definition::PersonDecision;

impl World {
    /// Steps of all subjects into an environment. True: one needs another step later.
    pub(super) fn step_subjects(&mut self, number: usize) -> bool {
        let main = self.main.len();
        if self.environments[number].sources.main < main {
            self.environments[number].sources.main = main;
            let name = Arc::clone(&self.main[main - 1].name);
            self.compile(number, &name);
        }
        false
    }

    pub(super) fn enter_release(&mut self, workload: usize) {
        for number in 0..self.environments.len() {
            let release = self.versions[workload].len();
            self.environments[number].sources.releases[workload] = release;
            let name = Arc::clone(&self.versions[workload][release - 1]);
            self.compile(number, &name);
        }
    }

    pub(super) fn merge(&mut self, _environment: usize, _subject: usize, _number: u32) {}

    pub(super) fn move_by_hand(&mut self, _environment: &str, _commit: &str) {}

    pub(super) fn decide(
        &mut self,
        _about: (&Arc<str>, Option<&Arc<str>>),
        _by: (&Arc<str>, &Arc<str>),
        _decision: &PersonDecision,
    ) {
    }

    pub(super) fn subject_moves(&self, _number: usize, _workload: Option<&str>) -> Vec<SeenMove> {
        Vec::new()
    }
}
