//! Promotions of a world: commits of the main branch write and delete them.

use std::sync::Arc;

use engine::promotion::in_force::in_force;
use engine::promotion::rings::membership;
use engine::promotion::state::Revision;
use model::object::promotion::Promotion;

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
    fn has_promotion_edits(&self) -> bool {
        self.main.iter().any(|commit| commit.promotion.is_some())
    }

    /// The promotion into an environment with all gates in force, without those of a candidate.
    fn promotion_in_force(&self, number: usize) -> Option<Promotion> {
        let others: Vec<_> = self.promotion_of(number, None).into_iter().collect();
        let found = in_force(self.environments[number].admitted_promotion.as_ref(), &others)?;
        Some(Promotion { rings: membership::effective_rings(&found), ..found })
    }

    /// The number of commits of the main branch that a revision has.
    fn commits_of(&self, revision: &Revision) -> usize {
        self.main.iter().position(|commit| commit.name == revision.0).map_or(0, |position| position + 1)
    }

    /// The promotion into an environment at a commit of the main branch, or at its head.
    pub(super) fn promotion_of(&self, number: usize, commit: Option<&Revision>) -> Option<&Promotion> {
        self.promotion_at(number, commit.map_or(self.main.len(), |commit| self.commits_of(commit)))
    }

    /// Keeps the promotion of a commit that is admitted now.
    pub(super) fn admit_promotion(&mut self, number: usize, commit: Option<&Revision>) {
        let Some(commit) = commit else { return };
        let admitted = self.promotion_of(number, Some(commit)).cloned();
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

    pub(super) fn read_promotion(&mut self, number: usize) {
        let promotion = self.promotion_in_force(number);
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
