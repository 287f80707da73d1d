//! Rules of versions of the program that renders: what a version changes reaches no folder before the environment has let it in.

use std::collections::BTreeSet;

use super::entering::Entering;
use super::{Checked, RolloutKey, RuleChecker, broken};
use crate::scenario::contents::{ContentId, NOTHING, WorkloadFolder};
use crate::scenario::world::{Environment, SubjectKey, World};

/// What the checker knows of the versions in an environment.
#[derive(Default)]
pub(super) struct RendererRecord {
    /// The version that renders, as the number of versions up to it.
    has: usize,
    /// The versions that rendered its output until now.
    admitted: BTreeSet<usize>,
    /// What each place had at the last look, by workload.
    published: Vec<Vec<ContentId>>,
}

impl RendererRecord {
    pub(super) fn new(environment: &Environment) -> Self {
        let has = environment.sources.renderer;
        Self { has, admitted: [has].into(), published: published(environment) }
    }
}

fn published(environment: &Environment) -> Vec<Vec<ContentId>> {
    environment.workloads.iter().map(|rollout| rollout.reconcilers.published.clone()).collect()
}

impl RuleChecker {
    /// An environment renders with another version when its gates held, when people skipped them, or when no folder that it has changes by that. All folders have what one of the
    /// versions renders that rendered its output until now.
    pub(super) fn check_renderer(&mut self, world: &World, number: usize) -> Checked {
        let environment = &world.environments[number];
        let has = environment.sources.renderer;
        let Some(record) = self.renderers.get(&number) else { return Ok(()) };
        if let Some(promotion) = environment.promotion.as_ref().filter(|_| record.has != has)
            && record.changes(world, number, has)
        {
            let key = SubjectKey { environment: number, subject: world.renderer_subject() };
            let revision = world.renderer_of(number);
            if let Some(record) = self.subjects.get(&key).filter(|record| !record.proved.contains(&revision)) {
                Entering { checker: self, world, key, promotion, revision: &revision, record }.check_gates()?;
            }
        }
        let Some(record) = self.renderers.get_mut(&number) else { return Ok(()) };
        record.has = has;
        record.admitted.insert(has);
        for (workload, rollout) in environment.workloads.iter().enumerate() {
            let before = self.rollouts.get(&RolloutKey { environment: number, workload });
            let before = before.map_or(&[][..], |record| &record.target);
            let targets = rollout.reconcilers.target.iter().enumerate();
            let new = targets.filter(|(place, target)| **target != NOTHING && before.get(*place) != Some(*target));
            for (place, target) in new {
                let versions = world.versions_in(*target);
                let labels = environment.fleet.labels(place);
                let folder = WorkloadFolder { workload: &world.workloads[workload], labels };
                let is_of = |admitted: &usize| world.versions_at(folder, *admitted) == versions;
                if !record.admitted.iter().any(is_of) {
                    let name = format!("{} {}", world.workloads[workload], environment.fleet.names[place]);
                    let text = format!("{name}: {versions:?}, admitted {:?}", record.admitted);
                    return broken("no folder has what a version renders that is not admitted", text);
                }
            }
        }
        record.published = published(environment);
        Ok(())
    }
}

impl RendererRecord {
    /// Whether a version renders a folder that the environment had at the last look, and has now, differently.
    fn changes(&self, world: &World, number: usize, version: usize) -> bool {
        let environment = &world.environments[number];
        let all = environment.workloads.iter().zip(&self.published).enumerate();
        let mut places = all.flat_map(|(workload, (rollout, before))| {
            let places = before.iter().zip(&rollout.reconcilers.published).enumerate();
            let there = places.filter(|(_, (before, now))| **before != NOTHING && **now != NOTHING);
            there.map(move |(place, _)| (workload, place))
        });
        places.any(|(workload, place)| {
            let labels = environment.fleet.labels(place);
            let folder = WorkloadFolder { workload: &world.workloads[workload], labels };
            world.versions_at(folder, self.has) != world.versions_at(folder, version)
        })
    }
}
