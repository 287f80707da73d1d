//! What a name is and which names are known, as advice for people who named something that does not exist.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use model::count::named;
use model::selector::{LabelSelector, Operator, Requirement};
use model::similar;

use crate::compile::renames::Renames;
use crate::prepare::Prepared;

/// What a name means in an environment. People often take the name of one kind for that of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameMeaning {
    /// A cluster type.
    ClusterType,
    /// A cluster.
    Cluster,
    /// A deployment target of a workload. The workload is empty if a `DeploymentTarget` object names none.
    Target(Arc<str>),
    /// A workload, with the names of its deployment targets in the environment.
    Workload(Vec<String>),
    /// The earlier name of a place, a deployment target or a workload that has this name now.
    Earlier(Arc<str>),
}

impl fmt::Display for NameMeaning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClusterType => write!(formatter, "a cluster type"),
            Self::Cluster => write!(formatter, "a cluster"),
            Self::Target(workload) if workload.is_empty() => write!(formatter, "a deployment target"),
            Self::Target(workload) => write!(formatter, "a deployment target of workload `{workload}`"),
            Self::Workload(targets) if targets.is_empty() => {
                write!(formatter, "a workload without deployment targets here")
            }
            Self::Earlier(present) => write!(formatter, "the earlier name of `{present}`"),
            Self::Workload(targets) => write!(formatter, "a workload with the deployment targets {}", named(targets)),
        }
    }
}

impl Prepared {
    /// What a name means. None: nothing has this name.
    pub fn meaning(&self, name: &str) -> Option<NameMeaning> {
        if let Some(place) = self.place_id(name).and_then(|id| self.place(id)) {
            return Some(if place.cluster.is_some() { NameMeaning::Cluster } else { NameMeaning::ClusterType });
        }
        if let Some(target) = self.targets().iter().find(|target| *target.name.as_str() == *name) {
            return Some(NameMeaning::Target(target.workload().into()));
        }
        let targets = self.targets().iter().filter(|target| target.workload() == name);
        let targets = targets.map(|target| format!("`{}`", target.name)).collect();
        let workload = self.meanings(name).is_workload.then_some(NameMeaning::Workload(targets));
        workload.or_else(|| self.present_name(name).map(NameMeaning::Earlier))
    }

    /// The present name of what had this name earlier.
    pub(crate) fn present_name(&self, earlier: &str) -> Option<Arc<str>> {
        let renames = Renames::new(self);
        let present = renames.place(earlier).or_else(|| renames.target(earlier));
        present.or_else(|| renames.workloads().get(earlier)).cloned()
    }

    /// The first label that a selector requires by mistake, with advice: no place and no target has its key, or one that has another value is similar.
    pub fn unknown_label(&self, selector: &LabelSelector) -> Option<(String, Option<String>)> {
        selector.requirements.iter().find_map(|requirement| self.unknown_requirement(requirement))
    }

    fn unknown_requirement(&self, Requirement { key, operator }: &Requirement) -> Option<(String, Option<String>)> {
        let (places, targets) = (&self.place_index, &self.target_index);
        let known: BTreeSet<&str> = places.values(key).chain(targets.values(key)).collect();
        let did_you_mean = |nearest: &str| format!("did you mean `{nearest}`?");
        if known.is_empty() && matches!(operator, Operator::In(_) | Operator::Exists) {
            let keys: BTreeSet<&str> = places.keys().chain(targets.keys()).collect();
            return Some((key.to_string(), similar::nearest(key, keys).map(did_you_mean)));
        }
        let Operator::In(values) = operator else { return None };
        if values.iter().any(|value| known.contains(&**value)) {
            return None;
        }
        // Other values of a known label are no mistake.
        let similar = |value: &Arc<str>| Some((Arc::clone(value), similar::nearest(value, known.iter().copied())?));
        let (value, nearest) = values.iter().find_map(similar)?;
        Some((format!("{key}={value}"), Some(did_you_mean(&format!("{key}={nearest}")))))
    }
}
