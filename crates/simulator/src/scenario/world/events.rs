//! The events of a timeline, in a world.

use std::sync::Arc;
use std::time::Duration;

use super::values::Source;
use super::{World, ring_columns, seconds};
use crate::scenario::contents::Commit;
use crate::scenario::definition::{ClusterGroup, FolderScope, ScenarioEvent, Who};
use crate::scenario::task::{Ending, Task};

impl World {
    /// Something happens. `text` is its sentence.
    pub(in crate::scenario) fn happen(&mut self, event: &ScenarioEvent, text: &str) {
        if !matches!(event, ScenarioEvent::Expect(_)) && !text.is_empty() {
            self.tell(("", "event"), text);
        }
        match event {
            ScenarioEvent::Change { name, scope, author, promotion } => self.change(Commit {
                name: Arc::clone(name),
                scope: scope.clone(),
                reverts: None,
                author: author.clone(),
                promotion: promotion.clone(),
                pins: None,
            }),
            ScenarioEvent::Revert(name) => self.revert(name),
            ScenarioEvent::Release { workload, version, author } => self.release(workload, (version, author.as_ref())),
            ScenarioEvent::Install { version, scope } => self.install(version, scope),
            ScenarioEvent::DeleteStates { environment } => self.delete_states(environment),
            ScenarioEvent::RestoreStates { environment } => self.restore_states(environment),
            ScenarioEvent::Configure { environment, name, scope } => {
                let (name, scope) = (Arc::clone(name), scope.clone());
                self.configure(environment, Commit { name, scope, ..Commit::default() });
            }
            ScenarioEvent::Pin { environment, workload, version, label } => {
                let scope = FolderScope { workload: Some(Arc::clone(workload)), label: label.clone() };
                let (name, pins) = (format!("pin-{workload}-{version}").into(), Some(Arc::clone(version)));
                self.configure(environment, Commit { name, scope, pins, ..Commit::default() });
            }
            ScenarioEvent::Retarget { workload, environment, name } => self.retarget((workload, environment), name),
            ScenarioEvent::MoveByHand { environment, what } => self.move_by_hand(environment, what),
            ScenarioEvent::MergeByHand { environment, workload } => {
                if let Some(number) = self.number(environment) {
                    self.merge_by_hand(number, self.subject_called(workload.as_deref()));
                }
            }
            ScenarioEvent::Hosts { who, fault, lasts } => self.break_hosts(who, fault, lasts.map(seconds)),
            ScenarioEvent::Repair(who) => self.repair_hosts(who),
            ScenarioEvent::Grow { environment, group } => self.grow(environment, group),
            ScenarioEvent::Shrink(who) => self.shrink(who),
            ScenarioEvent::Check { name, outcome, lasts } => {
                let ending = self.system.set_check(name, *outcome);
                self.end_later(ending, *lasts);
            }
            ScenarioEvent::Down { part, lasts } => {
                let ending = self.system.take_down(*part);
                self.end_later(ending, Some(*lasts));
            }
            ScenarioEvent::KillAtEveryStep => self.system.is_killed_at_every_step = true,
            ScenarioEvent::Skew { seconds, lasts } => {
                self.system.set_skew(*seconds);
                self.end_later(Ending::Clock, *lasts);
            }
            ScenarioEvent::Decide(decided) => self.decide(decided),
            ScenarioEvent::Expect(_) => {}
        }
        self.wake();
    }

    fn end_later(&mut self, ending: Ending, lasts: Option<Duration>) {
        if let Some(lasts) = lasts {
            self.queue.add(self.now + seconds(lasts), Task::End(ending));
        }
    }

    /// Something that lasted for a while ends.
    pub(super) fn end(&mut self, ending: Ending) {
        if let Ending::Fault { environment, host, number } = ending {
            self.repair_host(environment, host, Some(number));
        } else {
            self.system.end(ending);
            self.learn_publications();
        }
        self.wake();
    }

    /// The number of an environment with this name.
    pub(in crate::scenario) fn number(&self, environment: &str) -> Option<usize> {
        self.environments.iter().position(|found| *found.name == *environment)
    }

    /// A commit on the main branch.
    fn change(&mut self, commit: Commit) {
        self.main.push(commit);
        self.read_promotions();
    }

    fn revert(&mut self, name: &Arc<str>) {
        let reverts = self.main.iter().position(|commit| commit.name == *name);
        let first = format!("revert-{name}");
        let names = std::iter::once(first.clone()).chain((2..).map(|number| format!("{first}-{number}")));
        let is_free = |name: &String| self.main.iter().all(|commit| *commit.name != **name);
        let name = names.into_iter().find(is_free).unwrap_or_default();
        let author = Some("dora".into());
        self.change(Commit { name: name.into(), reverts, author, ..Commit::default() });
    }

    fn release(&mut self, workload: &Arc<str>, (version, author): (&Arc<str>, Option<&Arc<str>>)) {
        let Some(workload) = self.workloads.iter().position(|name| name == workload) else { return };
        self.versions[workload].push(Arc::clone(version));
        self.authors[workload].push(author.cloned());
        // The next step of the controller writes it where no promotion moves releases.
    }

    fn configure(&mut self, environment: &str, commit: Commit) {
        let Some(number) = self.number(environment) else { return };
        self.add_to_source(number, Source::Values, commit);
    }

    /// A commit on the branch of an environment that its output follows.
    pub(super) fn commit(&mut self, number: usize, commit: Commit) {
        let name = Arc::clone(&commit.name);
        let environment = &mut self.environments[number];
        environment.commits.push(commit);
        environment.sources.configuration = environment.commits.len();
        self.compile(number, &name);
    }

    /// The output of an environment follows from its sources.
    pub(super) fn compile(&mut self, number: usize, name: &str) {
        let (environment, mut repository) = self.environment(number);
        environment.compile(name, &mut repository);
        self.wake();
    }

    fn grow(&mut self, environment: &str, group: &ClusterGroup) {
        let Some(number) = self.number(environment) else { return };
        let environment = &mut self.environments[number];
        environment.fleet.add(group, environment.commits.len() + 1);
        self.change_fleet(number, &format!("added-{}", group.names.at(0)));
    }

    fn shrink(&mut self, who: &Who) {
        for number in 0..self.environments.len() {
            let environment = &mut self.environments[number];
            if who.environment.as_ref().is_some_and(|name| *name != environment.name) {
                continue;
            }
            let places = environment.fleet.select(who);
            if let Some(first) = places.first() {
                let name = format!("removed-{}", environment.fleet.names[*first]);
                for place in places {
                    environment.fleet.removed[place] = environment.commits.len() as u32 + 1;
                }
                self.change_fleet(number, &name);
            }
        }
    }

    /// The list of clusters of an environment is another one.
    fn change_fleet(&mut self, number: usize, name: &str) {
        let environment = &mut self.environments[number];
        environment.fleet_commits.push(environment.commits.len() + 1);
        environment.rings = ring_columns(&environment.fleet, environment.promotion.as_ref());
        for rollout in &mut environment.workloads {
            rollout.memory.changed = None;
            rollout.reconcilers.grow(&environment.fleet);
            for place in 0..environment.fleet.len() {
                rollout.reconcilers.refresh(place, &environment.fleet);
            }
        }
        // A commit that changes no content: only the list of clusters.
        let nothing = Some(("".into(), "".into()));
        let scope = FolderScope { workload: Some("".into()), label: nothing };
        self.commit(number, Commit { name: name.into(), scope, ..Commit::default() });
    }
}
