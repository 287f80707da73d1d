//! The clusters and hosts of an environment, in columns.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::label::Labels;

use super::definition::{ClusterGroup, FaultKind, MemberSelection, Who};
use super::random_time;

/// The value of [`Fleet::removed`] of a cluster that is not removed.
pub(super) const NEVER: u32 = u32::MAX;

/// The clusters of an environment. A removed cluster keeps its number.
#[derive(Debug, Default)]
pub(super) struct Fleet {
    /// The names.
    pub(super) names: Vec<Arc<str>>,
    /// The index of the labels of each cluster in `classes`.
    pub(super) class: Vec<u32>,
    /// The different labels.
    pub(super) classes: Vec<Labels>,
    /// The number of commits of the environment's branch with which a cluster was added.
    pub(super) added: Vec<u32>,
    /// The number of commits of the environment's branch with which a cluster was removed.
    pub(super) removed: Vec<u32>,
    /// The cluster of each host. The hosts of a cluster follow one another.
    pub(super) place_of: Vec<u32>,
    /// The first host of each cluster, and the number of all hosts.
    first_host: Vec<u32>,
    /// The hosts that are not healthy.
    faults: BTreeMap<u32, CurrentFault>,
    /// Whether the next report of a host is overdue.
    overdue: Vec<bool>,
    /// Whether no host announces a heartbeat.
    pub(super) is_without_heartbeat: bool,
    numbers: u32,
}

/// A fault that a host has.
#[derive(Clone, Debug)]
pub(super) struct CurrentFault {
    /// The fault.
    pub(super) fault: FaultKind,
    /// Since when, in seconds since 1970.
    pub(super) since: i64,
    /// Its number.
    pub(super) number: u32,
}

impl Fleet {
    /// Adds clusters, as of this number of commits of the environment's branch.
    pub(super) fn add(&mut self, group: &ClusterGroup, commits: usize) {
        let classes = group.classes();
        let known = self.classes.len() as u32;
        self.classes.extend((0..classes).map(|position| group.labels_at(position)));
        for position in 0..group.names.len() {
            let place = self.names.len() as u32;
            self.names.push(group.names.at(position).into());
            self.class.push(known + (position % classes.max(1)) as u32);
            self.added.push(commits as u32);
            self.removed.push(NEVER);
            self.first_host.push(self.place_of.len() as u32);
            self.place_of.extend((0..group.hosts).map(|_| place));
        }
        self.overdue.resize(self.place_of.len(), false);
    }

    /// The number of clusters, with those that were removed.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The labels of a cluster.
    pub(super) fn labels(&self, place: usize) -> &Labels {
        &self.classes[self.class[place] as usize]
    }

    /// The hosts of a cluster.
    pub(super) fn hosts(&self, place: usize) -> std::ops::Range<u32> {
        let end = self.first_host.get(place + 1).copied().unwrap_or(self.place_of.len() as u32);
        self.first_host[place]..end
    }

    /// Whether a cluster is there now.
    pub(super) fn is_there(&self, place: usize) -> bool {
        self.removed[place] == NEVER
    }

    /// Whether a cluster is registered at this number of commits of the environment's branch.
    pub(super) fn is_registered(&self, place: usize, commits: usize) -> bool {
        (self.added[place] as usize) <= commits && commits < self.removed[place] as usize
    }

    /// The clusters that a sentence names, without removed ones.
    pub(super) fn select(&self, who: &Who) -> Vec<usize> {
        let has_label =
            |place: &usize| who.label.as_ref().is_none_or(|(key, value)| self.labels(*place).get(key) == Some(value));
        let all = (0..self.len()).filter(|place| self.is_there(*place)).filter(has_label);
        match &who.members {
            MemberSelection::Named(names) => {
                all.filter(|place| names.position(&self.names[*place]).is_some()).collect()
            }
            MemberSelection::Count(count) => all.take(*count).collect(),
            MemberSelection::Percent(percent) => {
                let all: Vec<_> = all.collect();
                let count = all.len() * percent / 100;
                all.into_iter().take(count).collect()
            }
            MemberSelection::All => all.collect(),
        }
    }

    /// The fault of a host. None: it is healthy.
    pub(super) fn fault(&self, host: u32) -> Option<&CurrentFault> {
        self.faults.get(&host)
    }

    /// Sets the fault of a host, and returns its number.
    pub(super) fn set_fault(&mut self, host: u32, fault: FaultKind, since: i64) -> u32 {
        self.numbers += 1;
        self.faults.insert(host, CurrentFault { fault, since, number: self.numbers });
        self.numbers
    }

    /// Ends the fault of a host: the one with this number, or any. True if there was one.
    pub(super) fn end_fault(&mut self, host: u32, number: Option<u32>) -> bool {
        let is_meant = self.faults.get(&host).is_some_and(|fault| number.is_none_or(|number| fault.number == number));
        is_meant && self.faults.remove(&host).is_some()
    }

    /// The hosts that are not healthy.
    pub(super) fn faulty_hosts(&self) -> Vec<u32> {
        self.faults.keys().copied().collect()
    }

    /// Whether a host neither pulls nor reports.
    pub(super) fn is_silent(&self, host: u32) -> bool {
        self.faults.get(&host).is_some_and(|fault| fault.fault == FaultKind::Silent)
    }

    /// Whether the next report of a host is overdue.
    pub(super) fn is_overdue(&self, host: u32) -> bool {
        self.overdue[host as usize]
    }

    /// Sets whether the next report of a host is overdue. True if that is new.
    pub(super) fn set_overdue(&mut self, host: u32, is_overdue: bool) -> bool {
        std::mem::replace(&mut self.overdue[host as usize], is_overdue) != is_overdue
    }

    /// The time of the next pull of a host after a time. Each host has its own offset in the interval.
    pub(super) fn next_pull(host: u32, interval: i64, (seed, now): (u64, i64)) -> i64 {
        let offset = random_time(seed, host, interval);
        now + 1 + (offset - now - 1).rem_euclid(interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::names::NamePattern;

    fn fleet() -> Fleet {
        let names = NamePattern::parse("store-[1-5]").unwrap();
        let labels = vec![("region".into(), vec!["west".into(), "east".into()])];
        let mut fleet = Fleet::default();
        fleet.add(&ClusterGroup { names, labels, hosts: 2 }, 0);
        fleet
    }

    #[test]
    fn sentences_select_clusters() {
        let mut fleet = fleet();
        fleet.removed[0] = 1;
        let select = |members, label: Option<(&str, &str)>| {
            let label = label.map(|(key, value)| (key.into(), value.into()));
            fleet.select(&Who { members, environment: None, label })
        };
        assert_eq!(select(MemberSelection::Count(2), None), [1, 2]);
        assert_eq!(select(MemberSelection::Percent(50), None), [1, 2]);
        assert_eq!(select(MemberSelection::All, Some(("region", "west"))), [2, 4]);
        assert_eq!(select(MemberSelection::Named(NamePattern::parse("store-[1-2]").unwrap()), None), [1]);
        assert!(fleet.is_registered(0, 0) && !fleet.is_registered(0, 1));
        assert_eq!((fleet.hosts(4), fleet.place_of[9]), (8..10, 4));
    }

    #[test]
    fn a_host_pulls_once_in_each_interval() {
        let first = Fleet::next_pull(7, 300, (1, 1_000));
        assert!((1_001..=1_300).contains(&first));
        assert_eq!(Fleet::next_pull(7, 300, (1, first)), first + 300);
        assert_eq!(Fleet::next_pull(7, 300, (1, first - 1)), first);
    }

    #[test]
    fn a_fault_ends_by_its_number() {
        let mut fleet = fleet();
        let first = fleet.set_fault(3, FaultKind::Silent, 0);
        let second = fleet.set_fault(3, FaultKind::Lying, 0);
        assert!(
            !fleet.end_fault(3, Some(first)) && fleet.end_fault(3, Some(second)) && fleet.faulty_hosts().is_empty()
        );
    }
}
