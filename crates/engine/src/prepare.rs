//! Prepares a fleet once for all assignments: parses values, schemas and templates, expands targets, and builds indexes.

mod classes;
pub(crate) mod ids;
mod read;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Diagnostic};
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::name::{DeploymentTargetName, PlaceName};
use model::progress::{Progress, ProgressPhase};
use roaring::RoaringBitmap;

use crate::compose::container::{Container, Containers, hidden_paths};
use crate::invariant::require;
use crate::prepare::ids::{ById, Ids};
use crate::render::{ParsedTemplates, Pinned, TargetFields, Templates, read_manifests_keys, with_unread};
use crate::schedule::Schedule;
use crate::schedule::index::LabelIndex;
use crate::schedule::pin::{Manifests, Pin, Pins};
use crate::schedule::place::Place;
use crate::schedule::target::Target;
use crate::schema::{Schema, Schemas};
use crate::settings::{LongNames, MissingValues, PrecedenceSetting};
use classes::Matching;

/// What is broken if a target that is numbered is gone.
pub(crate) const NO_TARGET: &str = "the target of an assignment is not in the fleet";

/// A fleet with everything in it prepared: values and schemas read, templates parsed, targets expanded, policies applied, labels in an
/// index. It can go on to a changed fleet, and does anew only what the change is about.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) fleet: Arc<Fleet>,
    place_ids: Ids,
    places: ById<Place>,
    pub(crate) place_index: LabelIndex,
    by_type: HashMap<Arc<str>, RoaringBitmap>,
    target_ids: Ids,
    targets: ById<PreparedTarget>,
    target_list: Vec<Arc<Target>>,
    pub(crate) target_index: LabelIndex,
    pub(crate) schedule: Schedule,
    pub(crate) containers: Containers,
    pub(crate) schemas: Schemas,
    /// The paths that any schema marks as sensitive, and those of credentials in clear in any container.
    pub(crate) sensitive_anywhere: BTreeSet<FieldPath>,
    templates: ParsedTemplates,
    by_cluster_type: HashMap<Arc<str>, Result<Arc<Templates>, Vec<Diagnostic>>>,
    pub(crate) pins: Pins,
    pub(crate) settings: Settings,
    matching: Matching,
    target_diagnostics: Vec<Diagnostic>,
    setting_diagnostics: Vec<Diagnostic>,
}

/// A target with data that is computed once for all its assignments.
#[derive(Debug)]
pub(crate) struct PreparedTarget {
    pub(crate) target: Arc<Target>,
    pub(crate) fields: TargetFields,
    /// The position of the target among all targets, in the order of their folders.
    pub(crate) rank: u32,
}

/// The settings of an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    missing: MissingValues,
    pub(crate) long_names: LongNames,
    pub(crate) precedence: PrecedenceSetting,
}

/// The differences between two fleets that can affect assignments.
#[derive(Debug, Default)]
pub(crate) struct Delta {
    /// Places that are new or changed.
    pub(crate) places: RoaringBitmap,
    /// Places that were removed.
    pub(crate) removed_places: RoaringBitmap,
    /// Targets that are new or changed.
    pub(crate) targets: RoaringBitmap,
    /// Whether assignments of targets to places may differ.
    pub(crate) schedule: bool,
    /// The positions of containers with unchanged conditions and changed values.
    pub(crate) containers: Vec<u32>,
    /// Whether schemas, or the settings for them, changed.
    pub(crate) schemas: bool,
    /// Cluster types whose templates changed.
    pub(crate) templates: BTreeSet<Arc<str>>,
    /// Which other assignments the change may affect.
    pub(crate) reach: Reach,
}

/// The assignments that a change may affect beyond those listed in [`Delta`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// No other assignments.
    #[default]
    Listed,
    /// Any assignment may match other containers or schemas.
    Matching,
    /// Any assignment may change in any way, because of settings or of objects that exist more than once.
    Everything,
}

impl Prepared {
    /// Prepares a fleet.
    pub fn new(fleet: &Arc<Fleet>) -> Self {
        Self::with_progress(fleet, &Progress::default())
    }

    /// Prepares a fleet, and reports progress.
    pub fn with_progress(fleet: &Arc<Fleet>, progress: &Progress) -> Self {
        let mut prepared = Self::empty(Arc::clone(fleet));
        prepared.read(fleet, None, progress.begin(ProgressPhase::Preparing));
        prepared
    }

    /// The prepared fleet.
    pub fn fleet(&self) -> &Arc<Fleet> {
        &self.fleet
    }

    /// The deployment targets of the environment, by name.
    pub fn targets(&self) -> &[Arc<Target>] {
        &self.target_list
    }

    /// The names of the targets that are assigned to a place.
    pub fn targets_on(&self, place: &str) -> Vec<&DeploymentTargetName> {
        let Some(place) = self.place_ids.get(place).filter(|place| self.places.get(*place).is_some()) else {
            return Vec::new();
        };
        let assigned = self.schedule.targets_on(place).iter();
        assigned.map(|target| &require(self.targets.get(*target), NO_TARGET).target.name).collect()
    }

    /// Updates to another fleet of the same environment. Returns the differences.
    pub(crate) fn update(&mut self, fleet: &Arc<Fleet>, progress: &Progress) -> Delta {
        let before = std::mem::replace(&mut self.fleet, Arc::clone(fleet));
        self.read(fleet, Some(&before), progress.begin(ProgressPhase::Preparing))
    }

    /// Diagnostics about deployment targets. They are preliminary: files that could not be read may contain objects that they report as missing.
    pub(crate) fn target_diagnostics(&self) -> &[Diagnostic] {
        &self.target_diagnostics
    }

    /// Diagnostics about objects other than deployment targets, independent of assignments.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut diagnostics = self.containers.diagnostics.clone();
        diagnostics.extend(self.setting_diagnostics.iter().cloned());
        // Broken containers and schemas are reported even if they affect no assignment. If they do, both reports are merged.
        diagnostics.extend(self.containers.list.iter().filter_map(|container| container.problem.clone()));
        diagnostics.extend(self.schemas.problems());
        diagnostics.extend(self.templates.values().filter_map(|template| template.problem()));
        // A checkout of one branch contains cluster types without the templates, which are on another branch.
        if !self.templates.is_empty() {
            let by_name: BTreeMap<_, _> = self.by_cluster_type.iter().collect();
            diagnostics.extend(by_name.into_keys().flat_map(|name| self.template_problems(name)));
        }
        diagnostics
    }

    /// The sensitive paths of an assignment with these schemas and containers.
    pub(crate) fn sensitive_of<'s>(
        &'s self,
        schemas: impl IntoIterator<Item = &'s Schema>,
        containers: &[Arc<Container>],
    ) -> BTreeSet<FieldPath> {
        let mut paths = self.schemas.sensitive(schemas);
        paths.extend(hidden_paths(containers));
        paths
    }

    pub(crate) fn place_id(&self, name: &str) -> Option<u32> {
        self.place_ids.get(name).filter(|id| self.places.get(*id).is_some())
    }

    pub(crate) fn target_id(&self, name: &str) -> Option<u32> {
        self.target_ids.get(name).filter(|id| self.targets.get(*id).is_some())
    }

    /// The name of the assignment of a place and a target, including removed ones.
    pub(crate) fn assignment_id(&self, place: u32, target: u32) -> Option<AssignmentId> {
        let place = PlaceName::new(Arc::clone(self.place_ids.name(place)?)).ok()?;
        let target = DeploymentTargetName::new(Arc::clone(self.target_ids.name(target)?)).ok()?;
        Some(AssignmentId { place, target })
    }

    /// The name of a place, also if it was removed.
    pub(crate) fn place_name(&self, id: u32) -> Option<&Arc<str>> {
        self.place_ids.name(id)
    }

    pub(crate) fn place(&self, id: u32) -> Option<&Place> {
        self.places.get(id)
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = (u32, &Place)> {
        self.places.iter()
    }

    /// The targets that have a label with a value.
    pub(crate) fn targets_with(&self, key: &str, value: &str) -> impl Iterator<Item = &Target> {
        let ids = self.target_index.with(key, value).into_iter();
        ids.map(|id| &*require(self.targets.get(id), NO_TARGET).target)
    }

    /// The targets to which the schemas of an application apply, by the condition that such a schema has.
    pub(crate) fn targets_of_application(&self, condition: &str) -> RoaringBitmap {
        let has =
            |target: &Target| target.application.as_ref().is_some_and(|found| *found.as_condition() == *condition);
        self.targets.iter().filter(|(_, prepared)| has(&prepared.target)).map(|(id, _)| id).collect()
    }

    /// The places of a cluster type: the cluster type itself, and its clusters.
    pub(crate) fn places_of_type(&self, name: &str) -> RoaringBitmap {
        let mut places = self.by_type.get(name).cloned().unwrap_or_default();
        places.extend(self.fleet.cluster_types.get(name).and_then(|_| self.place_id(name)));
        places
    }

    /// The places that are clusters.
    pub(crate) fn all_clusters(&self) -> RoaringBitmap {
        self.by_type.values().fold(RoaringBitmap::new(), |all, clusters| all | clusters)
    }

    pub(crate) fn targets_by_id(&self) -> impl Iterator<Item = (u32, &Target)> {
        self.targets.iter().map(|(id, target)| (id, &*target.target))
    }

    pub(crate) fn target(&self, id: u32) -> Option<&PreparedTarget> {
        self.targets.get(id)
    }

    /// The keys of `manifests` that templates read. None: one may read any key.
    pub(crate) fn read_manifests_keys(&self) -> Option<BTreeSet<&str>> {
        read_manifests_keys(&self.templates)
    }

    /// The templates of a place.
    ///
    /// # Errors
    /// Diagnostics if a template is missing or can't be used.
    pub(crate) fn templates(&self, place: &Place) -> Result<&Arc<Templates>, &[Diagnostic]> {
        let found = self.by_cluster_type.get(place.cluster_type.name.as_arc());
        match require(found, "the cluster type of a place has no templates and no reason for that") {
            Ok(templates) => Ok(templates),
            Err(problems) => Err(problems),
        }
    }

    /// Reports why the templates of a cluster type can't be used. The diagnostics name unread files that may contain a missing template.
    pub(crate) fn template_problems(&self, cluster_type: &Arc<str>) -> Vec<Diagnostic> {
        let Some(Err(problems)) = self.by_cluster_type.get(cluster_type) else { return Vec::new() };
        let Some(object) = self.fleet.cluster_types.get(&**cluster_type) else { return problems.clone() };
        problems.iter().map(|found| with_unread(&self.fleet, object, found.clone())).collect()
    }

    /// The manifests of a target at a place with the release pins applied. None if no pin holds the target there.
    pub(crate) fn pinned(&self, place: &Place, target: &PreparedTarget) -> Result<Option<Pinned>, Vec<Diagnostic>> {
        let manifests = self.pins.apply(|key| place.label(key), &target.target)?;
        Ok(manifests.map(|manifests| Pinned::new(&manifests, &target.target)))
    }

    /// Whether there is any release pin.
    pub(crate) fn has_pins(&self) -> bool {
        !self.fleet.release_pins.is_empty()
    }

    /// The release pins that hold an assignment, and the manifests that they set.
    ///
    /// # Errors
    /// If two pins set one key differently, or if a pin exists more than once.
    pub(crate) fn pins_of(&self, id: &AssignmentId) -> Result<(Vec<&Pin>, Manifests), Vec<Diagnostic>> {
        let place = self.place_id(id.place.as_str()).and_then(|place| self.place(place));
        let target = self.target_id(id.target.as_str()).and_then(|target| self.target(target));
        let (Some(place), Some(target)) = (place, target) else { return Ok(Default::default()) };
        self.pins.holding_manifests(|key| place.label(key), &target.target)
    }

    fn empty(fleet: Arc<Fleet>) -> Self {
        Self {
            fleet,
            place_ids: Ids::default(),
            places: ById::default(),
            place_index: LabelIndex::default(),
            by_type: HashMap::new(),
            target_ids: Ids::default(),
            targets: ById::default(),
            target_list: Vec::new(),
            sensitive_anywhere: BTreeSet::new(),
            target_index: LabelIndex::default(),
            schedule: Schedule::default(),
            containers: Containers::default(),
            schemas: Schemas::default(),
            templates: BTreeMap::new(),
            by_cluster_type: HashMap::new(),
            pins: Pins::default(),
            settings: Settings::default(),
            matching: Matching::default(),
            target_diagnostics: Vec::new(),
            setting_diagnostics: Vec::new(),
        }
    }
}

/// The sort key of a folder's name in a git tree: git sorts folders as if their names ended with a slash.
pub(crate) fn folder_order(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().chain([b'/'])
}
