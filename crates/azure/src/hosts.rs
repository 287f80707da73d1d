//! What clusters are called: by their own names as long as these are unique, for all sources together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::resource::ResourceId;

/// What kind of host it is. A cluster and a custom location of one name are one host: the location is the way to the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HostKind {
    /// An Arc or AKS cluster.
    Cluster,
    /// A custom location, which Workload Orchestration deploys to.
    Location,
}

/// A host, whatever it is called.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Host {
    kind: HostKind,
    name: String,
    /// The name with its resource group and subscription.
    pub(crate) qualified: String,
}

impl Host {
    /// The host that a resource is, or belongs to.
    pub(crate) fn new(kind: HostKind, id: &ResourceId<'_>) -> Self {
        Self { kind, name: id.name().to_lowercase(), qualified: id.qualified() }
    }
}

/// The hosts of all sources. Clones share them.
///
/// Two clusters of one name, in other resource groups or subscriptions, are both called `name.group.subscription` from the moment on at which the
/// second one is seen, until the hub is started again.
#[derive(Clone, Debug, Default)]
pub struct HostNames(Arc<Mutex<Known>>);

/// The qualified names of the hosts of one name.
type Known = BTreeMap<(HostKind, String), BTreeSet<String>>;

impl HostNames {
    /// Remembers a host. Says which other ones have the same name, if that was not known before.
    pub(crate) fn learn(&self, host: &Host) -> Vec<String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = known.entry((host.kind, host.name.clone())).or_default();
        if same.insert(host.qualified.clone()) && same.len() > 1 {
            return same.iter().filter(|other| **other != host.qualified).cloned().collect();
        }
        Vec::new()
    }

    /// What a host is called.
    pub(crate) fn name(&self, host: &Host) -> String {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_alone = known.get(&(host.kind, host.name.clone())).is_none_or(|same| same.len() < 2);
        if is_alone { host.name.clone() } else { host.qualified.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(kind: HostKind, subscription: &str, name: &str) -> Host {
        let id = format!("/subscriptions/{subscription}/resourceGroups/G/providers/N/T/{name}");
        Host::new(kind, &ResourceId::parse(&id).unwrap())
    }

    #[test]
    fn names_are_qualified_where_two_have_the_same() {
        let names = HostNames::default();
        let (first, second) = (host(HostKind::Cluster, "S1", "Edge"), host(HostKind::Cluster, "S2", "edge"));
        assert_eq!(names.learn(&first), [""; 0]);
        assert_eq!(names.name(&first), "edge");
        assert_eq!(names.clone().learn(&second), ["edge.g.s1"]);
        assert_eq!((names.name(&first), names.name(&second)), ("edge.g.s1".to_owned(), "edge.g.s2".to_owned()));
        assert_eq!(names.learn(&second), [""; 0]);
    }

    #[test]
    fn a_custom_location_is_called_like_its_cluster() {
        let names = HostNames::default();
        let (cluster, location) = (host(HostKind::Cluster, "S1", "edge"), host(HostKind::Location, "S2", "edge"));
        names.learn(&cluster);
        assert_eq!(names.learn(&location), [""; 0]);
        assert_eq!((names.name(&cluster), names.name(&location)), ("edge".to_owned(), "edge".to_owned()));
    }
}
