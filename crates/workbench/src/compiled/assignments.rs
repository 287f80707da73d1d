//! The assignments of an environment, under a filter and in pages.

use std::collections::BTreeSet;
use std::sync::Arc;

use delivery::branches::branch::folder_of;
use delivery::sources::loaded::Loaded;
use engine::answers::inventory::{Assigned, AssignmentSet, Inventory};
use engine::layout::{Folder, Layout};
use hub_api::compiled::{
    AssignmentOrder, AssignmentQuery, CompiledAnswer, CompiledAssignment, CompiledAssignments, CompiledRefusal,
};
use hub_api::limits::{PAGE_DEFAULT, PAGE_MAX};
use model::diagnostic::AssignmentId;
use model::name::{DeploymentTargetName, PlaceName, PolicyName};
use model::object::SchedulingPolicy;
use model::selector::LabelSelector;
use model::similar;

use super::scope::{VisibleState, wrong};

impl VisibleState<'_> {
    /// Lists assignments.
    ///
    /// # Errors
    /// If a name of the query is unknown, or the query is wrong.
    pub fn assignments(&self, query: &AssignmentQuery) -> Result<CompiledAnswer<CompiledAssignments>, CompiledRefusal> {
        self.check_complete()?;
        let limit = limit(query.limit)?;
        let after = query.cursor.as_deref().map(cursor).transpose()?;
        let inventory = Inventory::new(self.state.prepared());
        let visible = inventory.of_targets(|target| self.has(target));
        let failing = self.failing();
        let selection = Selection {
            inventory: &inventory,
            set: self.selected(query, &inventory)?.and(&visible),
            failing: query.failing.then_some(&failing),
        };
        let mut page = match query.sort {
            AssignmentOrder::Place => selection.by_place(after.as_ref(), limit + 1),
            AssignmentOrder::Target => selection.by_target(after.as_ref(), limit + 1),
        };
        let has_more = page.len() > limit;
        page.truncate(limit);
        let next = page.last().filter(|_| has_more).map(|assigned| assigned.id().to_string());
        let answer = CompiledAssignments {
            total: selection.len(),
            all: inventory.len(&visible),
            failing: failing.len(),
            items: page.iter().map(|assigned| self.row(assigned)).collect(),
            next,
        };
        Ok(self.answer(answer, Vec::new()))
    }

    /// The assignments with errors that the caller may see.
    fn failing(&self) -> BTreeSet<AssignmentId> {
        self.state.compiled.failing().filter(|id| self.has_assignment(id)).collect()
    }

    /// The assignments that a query selects, except for `failing`.
    fn selected(&self, query: &AssignmentQuery, inventory: &Inventory<'_>) -> Result<AssignmentSet, CompiledRefusal> {
        let mut set = inventory.of_policy(&SchedulingPolicy {
            workspace: query.workspace.as_deref().unwrap_or_default().into(),
            targets: selector("targetSelector", query.target_selector.as_deref())?,
            cluster_types: selector("placeSelector", query.place_selector.as_deref())?,
        });
        if let Some(workload) = &query.workload {
            self.check_workload(workload)?;
            set = set.and(&inventory.of_workload(workload));
        }
        if let Some(target) = &query.target {
            self.check_target(target)?;
            set = set.and(&inventory.of_target(target));
        }
        for place in [&query.cluster_type, &query.place].into_iter().flatten() {
            set = set.and(&inventory.on(place).ok_or_else(|| self.unknown_place(place))?);
        }
        if let Some(place) = &query.place {
            set = set.and(&inventory.only_on(place));
        }
        if let Some(name) = &query.policy {
            let policies = &self.state.loaded.fleet.policies;
            let unknown = || {
                let similar = similar::nearest(name, policies.keys().map(PolicyName::as_str));
                self.unknown("scheduling policy", name, similar.map(|name| format!("did you mean `{name}`?")))
            };
            set = set.and(&inventory.of_policy(&policies.get(name.as_str()).ok_or_else(unknown)?.spec));
        }
        Ok(set)
    }

    fn row(&self, assigned: &Assigned<'_>) -> CompiledAssignment {
        let (id, target) = (assigned.id(), assigned.target);
        let compiled = self.state.compiled.get(&id);
        let composition = compiled.and_then(|compiled| compiled.composition());
        CompiledAssignment {
            cluster_type: assigned.place.cluster_type.name.to_string(),
            cluster: assigned.place.cluster.as_ref().map(|cluster| cluster.name.to_string()),
            target: target.name.to_string(),
            workload: target.workload().to_owned(),
            workspace: target.workspace().to_owned(),
            folder: self.folder(&id),
            config_version: composition.map(|values| values.version().to_string()),
            release: assigned.release().map(|placed| placed.release.text().to_string()),
            is_failing: compiled.is_none_or(|compiled| !compiled.is_rendered()),
            findings: self.state.findings().count_of(&id),
            policies: assigned.policies().map(ToString::to_string).collect(),
            release_pins: assigned.pins().into_iter().map(|pin| pin.name.to_string()).collect(),
            place: id.place.to_string(),
        }
    }

    /// The path of an assignment's folder in the repository of the first `GitOpsRepo`.
    pub(super) fn folder(&self, id: &AssignmentId) -> Option<String> {
        let (folder, layout) = destination(&self.state.loaded)?;
        Some(path_in((&folder, layout), id))
    }
}

/// Where the output of an environment is in the branch of its first `GitOpsRepo`, by name.
pub(super) fn destination(loaded: &Loaded) -> Option<(Folder, Layout)> {
    let object = loaded.fleet.gitops_repos.values().next()?;
    Some((folder_of(object).ok()?, engine::output::layout(object)))
}

/// The path of an assignment's folder in a branch.
pub(super) fn path_in((folder, layout): (&Folder, Layout), id: &AssignmentId) -> String {
    folder.join(&format!("{}/{}", layout.path(id.place.as_str()), id.target))
}

/// The selected assignments.
struct Selection<'a, 'p> {
    inventory: &'a Inventory<'p>,
    set: AssignmentSet,
    /// Only these. None: all of the set.
    failing: Option<&'a BTreeSet<AssignmentId>>,
}

impl<'p> Selection<'_, 'p> {
    fn len(&self) -> usize {
        match self.failing {
            None => self.inventory.len(&self.set),
            Some(_) => self.all(&self.set, None).count(),
        }
    }

    /// The first assignments after a name, by place.
    fn by_place(&self, after: Option<&AssignmentId>, limit: usize) -> Vec<Assigned<'p>> {
        self.all(&self.set, after).take(limit).collect()
    }

    /// The first assignments after a name, by target.
    fn by_target(&self, after: Option<&AssignmentId>, limit: usize) -> Vec<Assigned<'p>> {
        let mut found = Vec::new();
        let targets: Vec<Arc<str>> = self.inventory.by_target(&self.set).into_keys().collect();
        let first = after.map_or(0, |after| targets.partition_point(|target| **target < *after.target.as_str()));
        for target in targets.iter().skip(first) {
            let set = self.set.and(&self.inventory.of_target(target));
            let after = after.filter(|after| after.target.as_str() == &**target);
            found.extend(self.all(&set, after).take(limit - found.len()));
            if found.len() >= limit {
                break;
            }
        }
        found
    }

    fn all<'b>(
        &'b self,
        set: &'b AssignmentSet,
        after: Option<&'b AssignmentId>,
    ) -> impl Iterator<Item = Assigned<'p>> {
        let is_selected = |assigned: &Assigned<'_>| self.failing.is_none_or(|failing| failing.contains(&assigned.id()));
        self.inventory.assignments(set, after).filter(is_selected)
    }
}

/// The number of rows of a page.
pub(super) fn limit(limit: Option<usize>) -> Result<usize, CompiledRefusal> {
    match limit.unwrap_or(PAGE_DEFAULT) {
        limit @ 1..=PAGE_MAX => Ok(limit),
        _ => Err(wrong("`limit` is out of range", &format!("it is from 1 to {PAGE_MAX}"))),
    }
}

fn cursor(text: &str) -> Result<AssignmentId, CompiledRefusal> {
    let read = || {
        let (place, target) = text.split_once('/')?;
        Some(AssignmentId { place: PlaceName::new(place).ok()?, target: DeploymentTargetName::new(target).ok()? })
    };
    read().ok_or_else(|| wrong("`cursor` can't be read", "use the `next` of the page before"))
}

fn selector(parameter: &str, text: Option<&str>) -> Result<LabelSelector, CompiledRefusal> {
    LabelSelector::parse(text.unwrap_or_default()).map_err(|error| {
        let hint = "write it as for kubectl: `region=west-us,edge!=true,size in (large,huge),!legacy`";
        wrong(&format!("`{parameter}` can't be read: {error}"), hint)
    })
}
