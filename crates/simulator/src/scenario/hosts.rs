//! The reconcilers of one workload in one environment, in columns: what they are to have, what they have, and what they reported.

use engine::promotion::evidence::PlaceReports;

use super::contents::{ContentId, NOTHING};
use super::fleet::Fleet;

/// The reconcilers of a workload.
#[derive(Debug, Default)]
pub(super) struct Reconcilers {
    /// The content that each place is to have by the state of the rollout.
    pub(super) target: Vec<ContentId>,
    /// The content of each place in the GitOps branch.
    pub(super) published: Vec<ContentId>,
    /// The content of each place in the newest publication that the hub knows.
    known: Vec<ContentId>,
    /// The state of each place for its target.
    pub(super) states: Vec<PlaceReports>,
    /// What each host has.
    pub(super) hosts: Vec<Host>,
}

/// What a host has of a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Host {
    /// The content that it applied last.
    pub(super) applied: ContentId,
    /// The content that it pulled last.
    pub(super) pulled: ContentId,
    /// The content that its last report is about.
    pub(super) reported: ContentId,
    /// Whether the last report is a failure.
    pub(super) is_failed: bool,
    /// Whether a pull is planned.
    pub(super) is_pending: bool,
}

impl Reconcilers {
    /// Makes room for new places and hosts.
    pub(super) fn grow(&mut self, fleet: &Fleet) {
        self.target.resize(fleet.len(), NOTHING);
        self.published.resize(fleet.len(), NOTHING);
        self.known.resize(fleet.len(), NOTHING);
        self.hosts.resize(fleet.place_of.len(), Host::default());
        for place in self.states.len()..fleet.len() {
            self.states.push(PlaceReports::default());
            self.refresh(place, fleet);
        }
    }

    /// Sets all places and hosts of a fleet to their targets, as if they had been there for a long time.
    pub(super) fn settle(&mut self, fleet: &Fleet) {
        self.published.clone_from(&self.target);
        self.known.clone_from(&self.target);
        for place in 0..fleet.len() {
            let content = self.published[place];
            for host in fleet.hosts(place) {
                self.hosts[host as usize] =
                    Host { applied: content, pulled: content, reported: content, is_failed: false, is_pending: false };
            }
            self.refresh(place, fleet);
        }
    }

    /// Sets the target of a place. True if it is another one.
    pub(super) fn set_target(&mut self, place: usize, content: ContentId, fleet: &Fleet) -> bool {
        if self.target[place] == content {
            return false;
        }
        self.target[place] = content;
        self.refresh(place, fleet);
        true
    }

    /// Publishes the target of a place. True if the branch had another content. The hub may miss it.
    pub(super) fn publish(&mut self, place: usize, fleet: &Fleet, is_missed: bool) -> bool {
        if self.published[place] == self.target[place] {
            return false;
        }
        self.published[place] = self.target[place];
        if !is_missed {
            self.known[place] = self.published[place];
        }
        self.refresh(place, fleet);
        true
    }

    /// The hub learns what is published.
    pub(super) fn learn(&mut self, fleet: &Fleet) {
        self.known.clone_from(&self.published);
        (0..fleet.len()).for_each(|place| self.refresh(place, fleet));
    }

    /// Computes the state of a place: what a hub knows of it. Before it knows the content that the place is to have, this is about the content before.
    pub(super) fn refresh(&mut self, place: usize, fleet: &Fleet) {
        let known = self.known[place];
        let is_published = self.published[place] == self.target[place] && known == self.target[place];
        let mut state = PlaceReports { is_published, ..PlaceReports::default() };
        if known != NOTHING && fleet.is_there(place) {
            for host in fleet.hosts(place) {
                state.expected += 1;
                let Host { reported, is_failed, .. } = self.hosts[host as usize];
                if reported == known && is_failed {
                    state.failed += 1;
                } else if fleet.is_overdue(host) {
                    state.silent += 1;
                } else if reported == known {
                    state.succeeded += 1;
                    state.without_heartbeat += u32::from(fleet.is_without_heartbeat);
                }
            }
        }
        self.states[place] = state;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::definition::ClusterGroup;
    use crate::scenario::names::NamePattern;

    fn fleet() -> (Fleet, Reconcilers) {
        let mut fleet = Fleet::default();
        let names = NamePattern::parse("store-[1-2]").unwrap();
        fleet.add(&ClusterGroup { names, labels: Vec::new(), hosts: 2 }, 0);
        let mut reconcilers = Reconcilers::default();
        reconcilers.grow(&fleet);
        reconcilers.target = vec![1, 1];
        reconcilers.settle(&fleet);
        (fleet, reconcilers)
    }

    #[test]
    fn reports_about_other_content_do_not_count() {
        let (mut fleet, mut reconcilers) = fleet();
        let state = |expected, succeeded, failed, silent, is_published| PlaceReports {
            expected,
            succeeded,
            failed,
            silent,
            without_heartbeat: 0,
            is_published,
        };
        assert_eq!(reconcilers.states, [state(2, 2, 0, 0, true); 2]);
        assert!(reconcilers.set_target(0, 2, &fleet));
        // The reports are about the content before.
        assert_eq!(reconcilers.states, [state(2, 2, 0, 0, false), state(2, 2, 0, 0, true)]);
        assert!(reconcilers.publish(0, &fleet, true) && !reconcilers.publish(1, &fleet, true));
        assert_eq!(reconcilers.states[0], state(2, 2, 0, 0, false));
        reconcilers.learn(&fleet);
        assert_eq!(reconcilers.states[0], state(2, 0, 0, 0, true));
        reconcilers.hosts[0] = Host { reported: 2, is_failed: true, ..Host::default() };
        reconcilers.hosts[1] = Host { reported: 2, ..Host::default() };
        fleet.set_overdue(1, true);
        reconcilers.refresh(0, &fleet);
        // It applied the content, and is silent now.
        assert_eq!(reconcilers.states[0], state(2, 0, 1, 1, true));
        fleet.set_overdue(0, true);
        reconcilers.refresh(0, &fleet);
        assert_eq!(reconcilers.states[0], state(2, 0, 1, 1, true));
        fleet.removed[0] = 1;
        reconcilers.refresh(0, &fleet);
        assert_eq!(reconcilers.states[0], state(0, 0, 0, 0, true));
        fleet.is_without_heartbeat = true;
        reconcilers.refresh(1, &fleet);
        assert_eq!(reconcilers.states[1], PlaceReports { without_heartbeat: 2, ..state(2, 2, 0, 0, true) });
    }
}
