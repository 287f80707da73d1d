//! The conditions of a list: names, labels, places, workloads and policies.

use std::collections::BTreeSet;

use engine::answers::inventory::AssignmentSet;
use engine::compile::Prepared;
use model::name::{ClusterName, ClusterTypeName, PolicyName};
use model::selector::LabelSelector;
use model::similar;

use super::kind::ListedKind;
use super::view::View;
use crate::Failure;

/// The conditions of a list, as a person writes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterOptions {
    /// Only objects with these labels, in the syntax of `kubectl -l`.
    pub selector: Option<String>,
    /// Only objects on this cluster type (and its clusters), or on this cluster.
    pub cluster_type: Option<String>,
    /// Only objects of this workload, or of this deployment target.
    pub of: Option<String>,
    /// Only what this scheduling policy assigns.
    pub policy: Option<String>,
}

/// The conditions of a list.
#[derive(Clone, Debug)]
pub struct ListConditions {
    options: FilterOptions,
    selector: LabelSelector,
}

impl ListConditions {
    /// Reads the options.
    ///
    /// # Errors
    /// If the label selector is not valid, or if a condition is not for this kind.
    pub fn new(options: FilterOptions, kind: ListedKind) -> Result<Self, Failure> {
        let unreadable = |error| {
            Failure::usage(format!("--selector can't be read: {error}"))
                .help("write it as for kubectl: `region=west-us,edge!=true,size in (large,huge),!legacy`")
        };
        let selector = LabelSelector::parse(options.selector.as_deref().unwrap_or_default()).map_err(unreadable)?;
        let filter = Self { options, selector };
        let FilterOptions { cluster_type, of, policy, .. } = &filter.options;
        let given = [("--on", cluster_type), ("--of", of), ("--policy", policy)];
        let first = given.into_iter().find(|(_, value)| value.is_some()).map(|(name, _)| name);
        match first {
            Some(name) if !is_of_assignments(kind) => {
                let message = format!("`{name}` does not apply to {}", kind.words().1);
                Err(Failure::usage(message)
                    .help("it selects assignments, values, workloads, targets, cluster-types and clusters"))
            }
            _ => Ok(filter),
        }
    }

    /// The selector of labels.
    pub fn selector(&self) -> &LabelSelector {
        &self.selector
    }

    /// Whether only objects with certain assignments are listed.
    pub fn is_by_assignments(&self) -> bool {
        self.options.cluster_type.is_some() || self.options.of.is_some() || self.options.policy.is_some()
    }

    /// The selected assignments of an environment, without the label selector. None if a name does not exist there.
    pub fn assignments(&self, view: &View<'_>) -> Option<AssignmentSet> {
        let inventory = &view.inventory;
        let mut set = inventory.all();
        if let Some(place) = &self.options.cluster_type {
            set = set.and(&inventory.on(place)?);
        }
        if let Some(name) = &self.options.of {
            set = set.and(&inventory.of_workload_or_target(name)?);
        }
        if let Some(name) = &self.options.policy {
            set = set.and(&inventory.of_policy(&view.fleet().policies.get(name.as_str())?.spec));
        }
        Some(set)
    }

    /// The error for a name that no environment has.
    pub fn unknown(&self, views: &[View<'_>]) -> Option<Failure> {
        let places = |view: &View<'_>, name: &str| view.inventory.on(name).is_some();
        let workloads = |view: &View<'_>, name: &str| view.inventory.of_workload_or_target(name).is_some();
        let policies = |view: &View<'_>, name: &str| view.fleet().policies.contains_key(name);
        let missing = |name: &Option<String>, has: &dyn Fn(&View<'_>, &str) -> bool| {
            name.clone().filter(|name| !views.iter().any(|view| has(view, name)))
        };
        if let Some(name) = missing(&self.options.cluster_type, &places) {
            return Some(unknown("cluster type or cluster", &name, views, &place_names));
        }
        if let Some(name) = missing(&self.options.of, &workloads) {
            return Some(unknown("workload or deployment target", &name, views, &target_names));
        }
        let name = missing(&self.options.policy, &policies)?;
        Some(unknown("scheduling policy", &name, views, &policy_names))
    }
}

/// Whether assignments decide whether an object of a kind is listed.
pub fn is_of_assignments(kind: ListedKind) -> bool {
    matches!(
        kind,
        ListedKind::Assignment
            | ListedKind::Value
            | ListedKind::Workload
            | ListedKind::Target
            | ListedKind::ClusterType
            | ListedKind::Cluster
    )
}

fn place_names(view: &View<'_>) -> Vec<String> {
    let fleet = view.fleet();
    let types = fleet.cluster_types.keys().map(ClusterTypeName::to_string);
    types.chain(fleet.clusters.keys().map(ClusterName::to_string)).collect()
}

fn target_names(view: &View<'_>) -> Vec<String> {
    let targets = view.inventory.prepared().targets();
    let names = targets.iter().map(|target| target.name.to_string());
    names.chain(targets.iter().map(|target| target.workload().to_owned())).collect()
}

fn policy_names(view: &View<'_>) -> Vec<String> {
    view.fleet().policies.keys().map(PolicyName::to_string).collect()
}

/// The error for a name that does not exist, with the most similar one that does.
pub fn unknown(what: &str, name: &str, views: &[View<'_>], names: &dyn Fn(&View<'_>) -> Vec<String>) -> Failure {
    let known: BTreeSet<String> = views.iter().flat_map(names).filter(|name| !name.is_empty()).collect();
    let failure = Failure::refused(format!("{} no {what} `{name}`", environments(views)));
    match advice(name, &known, views.iter().map(|view| view.inventory.prepared())) {
        Some(advice) => failure.help(advice),
        None => failure,
    }
}

/// Advice on a name that does not exist: what it means instead, or the most similar name.
pub fn advice<'p>(
    name: &str,
    known: &BTreeSet<String>,
    mut environments: impl Iterator<Item = &'p Prepared>,
) -> Option<String> {
    let meaning = environments.find_map(|prepared| prepared.meaning(name));
    let instead = meaning.map(|meaning| format!("`{name}` is {meaning}"));
    instead.or_else(|| nearest(name, known.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?")))
}

/// The error for a label that a selector requires, and that nothing has in any environment.
pub fn unknown_label(selector: &LabelSelector, views: &[View<'_>]) -> Option<Failure> {
    let mut found = views.iter().map(|view| view.inventory.prepared().unknown_label(selector));
    let first = found.next()??;
    found.all(|other| other.is_some()).then(|| label_failure(first))
}

/// The error for a label that nothing has, with advice.
pub fn label_failure((label, advice): (String, Option<String>)) -> Failure {
    let failure = Failure::refused(format!("no cluster type, cluster and deployment target has the label `{label}`"));
    advice.into_iter().fold(failure, Failure::help)
}

/// The most similar known name, or a name that contains this text.
pub fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str> + Clone) -> Option<&'k str> {
    similar::nearest(name, known.clone()).or_else(|| known.clone().find(|known| known.contains(name)))
}

/// The environments as the subject of a sentence: `prod has`.
pub fn environments(views: &[View<'_>]) -> String {
    match views {
        [one] => format!("{} has", one.environment()),
        _ => "there is".to_owned(),
    }
}
