//! Reconcilers in a world: they pull, apply and report, each by its faults.

use super::{World, seconds};
use crate::scenario::contents::{ContentId, NOTHING};
use crate::scenario::definition::{FaultKind, Who};
use crate::scenario::fleet::Fleet;
use crate::scenario::task::{Ending, Reconciler, Task};

impl World {
    /// The GitOps branch of an environment gets its new content.
    pub(super) fn publish(&mut self, number: usize) {
        self.environments[number].is_planned = false;
        if self.system.is_service_down() || self.environments[number].stored.is_gone() {
            return;
        }
        self.name_states(number);
        let is_missed = self.system.misses_publications();
        let environment = &mut self.environments[number];
        environment.published += 1;
        environment.is_due = false;
        let mut pulls = Vec::new();
        for (workload, rollout) in environment.workloads.iter_mut().enumerate() {
            for place in 0..environment.fleet.len() {
                if rollout.reconcilers.publish(place, &environment.fleet, is_missed) {
                    pulls.extend(environment.fleet.hosts(place).map(|host| (workload, host)));
                }
            }
        }
        for (workload, host) in pulls {
            self.plan_pull(Reconciler { environment: number as u16, workload: workload as u16, host });
        }
        self.check_always();
        self.wake();
    }

    /// The hub gets to know what is published, unless it misses that.
    pub(super) fn learn_publications(&mut self) {
        if self.system.misses_publications() {
            return;
        }
        for environment in &mut self.environments {
            for rollout in &mut environment.workloads {
                rollout.reconcilers.learn(&environment.fleet);
            }
        }
    }

    fn plan_pull(&mut self, reconciler: Reconciler) {
        let Reconciler { environment, workload, host } = reconciler;
        let rollout = &mut self.environments[usize::from(environment)].workloads[usize::from(workload)];
        if !std::mem::replace(&mut rollout.reconcilers.hosts[host as usize].is_pending, true) {
            let at = Fleet::next_pull(host, seconds(self.pace.pull), (self.seed, self.now));
            self.queue.add(at, Task::Pull(reconciler));
        }
    }

    /// A reconciler pulls: it begins to apply content that it does not have.
    pub(super) fn pull(&mut self, reconciler: Reconciler) {
        let Reconciler { environment, workload, host } = reconciler;
        let environment = &mut self.environments[usize::from(environment)];
        let reconcilers = &mut environment.workloads[usize::from(workload)].reconcilers;
        let state = &mut reconcilers.hosts[host as usize];
        state.is_pending = false;
        if environment.fleet.is_silent(host) {
            return;
        }
        let place = environment.fleet.place_of[host as usize] as usize;
        let seen = reconcilers.published[place];
        state.pulled = seen;
        let is_applied = state.applied == seen && state.reported == seen && !state.is_failed;
        let is_restless = environment.fleet.fault(host).is_some_and(|fault| match &fault.fault {
            FaultKind::Failing(None) => !state.is_failed,
            FaultKind::Flapping(_) => true,
            _ => false,
        });
        if environment.fleet.set_overdue(host, false) {
            for rollout in &mut environment.workloads {
                rollout.reconcilers.refresh(place, &environment.fleet);
            }
        }
        if !is_applied || is_restless {
            let slow = match environment.fleet.fault(host).map(|fault| &fault.fault) {
                Some(FaultKind::Slow(delay)) => seconds(*delay),
                _ => 0,
            };
            self.queue.add(self.now + seconds(self.pace.apply) + slow, Task::Report(reconciler, seen));
        }
        self.wake();
    }

    /// A reconciler has applied content, or failed to, and reports.
    pub(super) fn report(&mut self, reconciler: Reconciler, content: ContentId) {
        let Reconciler { environment: number, workload, host } = reconciler;
        let environment = &mut self.environments[usize::from(number)];
        if environment.fleet.is_silent(host) {
            return;
        }
        let place = environment.fleet.place_of[host as usize] as usize;
        let reconcilers = &mut environment.workloads[usize::from(workload)].reconcilers;
        let state = &mut reconcilers.hosts[host as usize];
        if state.pulled != content {
            return;
        }
        let fault = environment.fleet.fault(host);
        let has = |what: &str| {
            let folder = self.contents.get(content);
            folder
                .is_some_and(|folder| *folder.release == *what || folder.changes.iter().any(|change| **change == *what))
        };
        let mut again = None;
        match fault.map(|fault| (&fault.fault, fault.since)) {
            Some((FaultKind::Failing(what), _)) if content != NOTHING && what.as_ref().is_none_or(|what| has(what)) => {
                (state.reported, state.is_failed) = (content, true);
            }
            Some((FaultKind::Lying, _)) => (state.reported, state.is_failed) = (state.applied, false),
            Some((FaultKind::Flapping(period), since)) => {
                let turn = (self.now - since) / seconds(*period).max(1);
                (state.applied, state.reported, state.is_failed) = (content, content, turn % 2 == 1);
                again = (!std::mem::replace(&mut state.is_pending, true)).then(|| self.now + seconds(*period).max(1));
            }
            _ => (state.applied, state.reported, state.is_failed) = (content, content, false),
        }
        reconcilers.refresh(place, &environment.fleet);
        if let Some(at) = again {
            self.queue.add(at, Task::Pull(reconciler));
        }
        self.wake();
    }

    /// The next report of a host is overdue, if it is still silent.
    pub(super) fn overdue(&mut self, number: usize, host: u32) {
        let environment = &mut self.environments[number];
        if environment.fleet.is_silent(host) && environment.fleet.set_overdue(host, true) {
            let place = environment.fleet.place_of[host as usize] as usize;
            for rollout in &mut environment.workloads {
                rollout.reconcilers.refresh(place, &environment.fleet);
            }
            self.wake();
        }
    }

    /// The hosts of clusters get a fault.
    pub(super) fn break_hosts(&mut self, who: &Who, fault: &FaultKind, lasts: Option<i64>) {
        let hosts = self.hosts(who);
        for (environment, host) in hosts {
            let number = self.environments[usize::from(environment)].fleet.set_fault(host, fault.clone(), self.now);
            if let Some(lasts) = lasts {
                self.queue.add(self.now + lasts, Task::End(Ending::Fault { environment, host, number }));
            }
            match fault {
                FaultKind::Silent => {
                    if let Some(heartbeat) = self.pace.heartbeat {
                        self.queue.add(self.now + seconds(heartbeat), Task::Overdue { environment, host });
                    }
                }
                // These show without new content.
                FaultKind::Failing(_) | FaultKind::Flapping(_) => self.reapply(environment, host),
                FaultKind::Lying | FaultKind::Slow(_) => {}
            }
        }
    }

    /// The hosts of clusters are healthy again.
    pub(super) fn repair_hosts(&mut self, who: &Who) {
        for (environment, host) in self.hosts(who) {
            self.repair_host(environment, host, None);
        }
    }

    /// All hosts are healthy again.
    pub(super) fn repair_all(&mut self) {
        for environment in 0..self.environments.len() {
            for host in self.environments[environment].fleet.faulty_hosts() {
                self.repair_host(environment as u16, host, None);
            }
        }
    }

    /// The fault of a host ends: the one with this number, or any.
    pub(super) fn repair_host(&mut self, environment: u16, host: u32, number: Option<u32>) {
        if self.environments[usize::from(environment)].fleet.end_fault(host, number) {
            self.reapply(environment, host);
        }
    }

    /// All reconcilers of a host pull and report again.
    fn reapply(&mut self, environment: u16, host: u32) {
        for workload in 0..self.workloads.len() {
            let rollout = &mut self.environments[usize::from(environment)].workloads[workload];
            let is_idle = rollout.reconcilers.published.iter().all(|content| *content == NOTHING);
            if !is_idle {
                self.plan_pull(Reconciler { environment, workload: workload as u16, host });
            }
        }
    }

    fn hosts(&self, who: &Who) -> Vec<(u16, u32)> {
        let environments = self.environments.iter().enumerate();
        let meant = environments.filter(|(_, found)| who.environment.as_ref().is_none_or(|name| *name == found.name));
        meant
            .flat_map(|(number, found)| {
                found
                    .fleet
                    .select(who)
                    .into_iter()
                    .flat_map(move |place| found.fleet.hosts(place))
                    .map(move |host| (number as u16, host))
            })
            .collect()
    }
}
