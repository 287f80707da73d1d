//! Promotions of a world: commits of the main branch write and delete them.

use std::sync::Arc;

use engine::promotion::in_force::{admits, in_force};
use engine::promotion::membership;
use engine::promotion::state::{AdvanceState, Revision};
use model::object::promotion::Promotion;

use super::subject::PLATFORM;
use super::{World, ring_columns};
use crate::scenario::contents::effective;
use crate::scenario::definition::{PromotionEdit, Scenario};

impl World {
    /// The promotion into an environment at a commit of the main branch, by the number of commits up to it.
    fn promotion_at(&self, number: usize, commits: usize) -> Option<&Promotion> {
        let environment = &self.environments[number].name;
        let named = |name: &Arc<str>| {
            let mut all = self.scenario.promotions.iter();
            all.find(|(known, _)| known == name).map(|(_, promotion)| promotion)
        };
        let edits = effective(&self.main[..commits]).filter_map(|commit| commit.promotion.as_ref());
        let of_environment =
            edits.filter(|edit| named(edit.name()).is_some_and(|promotion| promotion.to == *environment));
        match of_environment.last() {
            Some(PromotionEdit::Write(name)) => named(name),
            Some(PromotionEdit::Delete(_)) => None,
            None => first_promotion(&self.scenario, environment),
        }
    }

    /// Whether a commit of the main branch writes or deletes a promotion.
    pub(super) fn has_promotion_edits(&self) -> bool {
        self.main.iter().any(|commit| commit.promotion.is_some())
    }

    /// The promotion into an environment with all gates in force, also those at the commit of a candidate.
    pub(super) fn promotion_in_force(&self, number: usize, candidate: Option<&Revision>) -> Option<Promotion> {
        let of_candidate = candidate.and_then(|candidate| self.promotion_at(number, self.commits_of(candidate)));
        let others: Vec<_> = self.promotion_at(number, self.main.len()).into_iter().chain(of_candidate).collect();
        let found = in_force(self.environments[number].admitted_promotion.as_ref(), &others)?;
        Some(Promotion { rings: membership::effective_rings(&found), ..found })
    }

    /// The number of commits of the main branch that a revision has.
    fn commits_of(&self, revision: &Revision) -> usize {
        self.main.iter().position(|commit| commit.name == revision.0).map_or(0, |position| position + 1)
    }

    /// Keeps the promotion of the commit that an environment has proved.
    pub(super) fn admit_promotion(&mut self, number: usize, before: &AdvanceState) {
        let environment = &self.environments[number];
        let is_first = environment.admitted_promotion.is_none();
        let Some(commit) = admits((before, is_first), &environment.subjects[PLATFORM].state).cloned() else { return };
        let admitted = self.promotion_at(number, self.commits_of(&commit)).cloned();
        if self.environments[number].admitted_promotion != admitted {
            self.environments[number].admitted_promotion = admitted;
            self.read_promotion(number);
        }
    }

    /// The main branch has a new head: other gates may be in force.
    pub(super) fn read_promotions(&mut self) {
        if self.has_promotion_edits() {
            (0..self.environments.len()).for_each(|number| self.read_promotion(number));
        }
    }

    fn read_promotion(&mut self, number: usize) {
        let promotion = self.promotion_in_force(number, None);
        let environment = &mut self.environments[number];
        environment.rings = ring_columns(&environment.fleet, promotion.as_ref());
        environment.promotion = promotion;
    }
}

/// The promotion that leads to an environment at the beginning.
pub(super) fn first_promotion<'s>(scenario: &'s Scenario, environment: &str) -> Option<&'s Promotion> {
    let mut all = scenario.promotions.iter().map(|(_, promotion)| promotion);
    all.find(|promotion| *promotion.to == *environment)
}
