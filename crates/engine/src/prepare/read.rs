//! Reads a fleet. After a change, reads only the differences from the previous fleet.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use model::diagnostic::Diagnostic;
use model::fleet::named::Changed;
use model::fleet::{Fleet, Named};
use model::object::{ClusterType, Object, Spec};
use model::progress::Counter;

use super::{Delta, Prepared, PreparedTarget, Reach, Settings, folder_order};
use crate::compose::container::{Container, Containers, hidden_paths};
use crate::render::{self, TargetFields, Templates};
use crate::schedule::mapping::targets;
use crate::schedule::pin::Pins;
use crate::schedule::place::Place;
use crate::schedule::target::Target;
use crate::schedule::{Candidates, Schedule};
use crate::schema::Schemas;
use crate::settings::{self, PrecedenceSetting};

impl Prepared {
    /// Reads a fleet. Data of objects that are equal in the fleet `before` is kept. Returns the differences.
    pub(super) fn read(&mut self, fleet: &Fleet, before: Option<&Fleet>, preparing: Counter<'_>) -> Delta {
        all_inputs(fleet);
        // Diagnostics about objects that exist more than once contain their places. The places may have changed.
        let has_copies = has_unclear(fleet) || before.is_some_and(has_unclear);
        let is_other_environment = before.is_none_or(|before| before.environment != fleet.environment);
        let is_new = has_copies || is_other_environment;
        let reach = if is_new { Reach::Everything } else { Reach::Listed };
        let mut delta = Delta { reach, ..Delta::default() };
        let known = before.filter(|_| !is_new);
        self.read_settings(fleet, &mut delta);
        let changed = self.changed_places(fleet, known);
        preparing.expect(changed.len());
        for name in changed {
            self.read_place(fleet, &name, &mut delta);
            preparing.advance(1);
        }
        self.read_targets(fleet, known, &mut delta);
        let policies = known.is_none_or(|before| differ(&before.policies, &fleet.policies));
        if policies
            || !delta.places.is_empty()
            || !delta.removed_places.is_empty()
            || !delta.targets.is_empty()
            || delta.schedule
        {
            self.read_policies(fleet);
            delta.schedule = true;
        }
        let containers = self.read_containers(fleet, known, &mut delta);
        let schemas = known.is_none_or(|before| schemas_differ(before, fleet));
        delta.schemas |= schemas || delta.reach == Reach::Everything;
        if delta.schemas {
            let targets = self.target_list.iter().map(|target| &**target);
            self.schemas = Schemas::compile(fleet, targets, self.settings.missing, &self.schemas);
        }
        self.sensitive_anywhere = self.schemas.sensitive_anywhere.iter().cloned().collect();
        self.sensitive_anywhere.extend(hidden_paths(&self.containers.list));
        self.read_templates(fleet, known, &mut delta);
        if known.is_none_or(|before| differ(&before.release_pins, &fleet.release_pins)) {
            let before = std::mem::replace(&mut self.pins, Pins::new(fleet));
            if before.digest() != self.pins.digest() {
                delta.reach = Reach::Everything;
            }
        }
        self.match_labels(containers || delta.schemas, &mut delta);
        delta
    }

    fn read_settings(&mut self, fleet: &Fleet, delta: &mut Delta) {
        self.setting_diagnostics.clear();
        let settings = environment_settings(fleet, &mut self.setting_diagnostics);
        if settings != self.settings {
            delta.reach = Reach::Everything;
        }
        self.settings = settings;
    }

    /// The names of the places that may differ from those of the fleet `before`.
    fn changed_places(&self, fleet: &Fleet, before: Option<&Fleet>) -> BTreeSet<Arc<str>> {
        let mut changed: BTreeSet<Arc<str>> = BTreeSet::new();
        match before {
            None => {
                changed.extend(fleet.cluster_types.keys().map(|name| Arc::clone(name.as_arc())));
                changed.extend(fleet.clusters.keys().map(|name| Arc::clone(name.as_arc())));
                changed.extend(self.places.iter().map(|(_, place)| Arc::clone(place.name_text())));
            }
            Some(before) => {
                for cluster_type in differences(&before.cluster_types, &fleet.cluster_types) {
                    // Clusters have the labels and templates of their cluster type.
                    let clusters = self.by_type.get(cluster_type.as_arc()).into_iter().flatten();
                    let clusters = clusters.filter_map(|id| self.places.get(id));
                    changed.extend(clusters.map(|place| Arc::clone(place.name_text())));
                    if before.cluster_types.contains_key(cluster_type) {
                        changed.insert(Arc::clone(cluster_type.as_arc()));
                        continue;
                    }
                    let clusters_of_new_type =
                        fleet.clusters.values().filter(|cluster| cluster.spec.cluster_type == *cluster_type.as_arc());
                    changed.extend(clusters_of_new_type.map(|cluster| Arc::clone(cluster.name.as_arc())));
                    changed.insert(Arc::clone(cluster_type.as_arc()));
                }
                changed.extend(differences(&before.clusters, &fleet.clusters).map(|name| Arc::clone(name.as_arc())));
            }
        }
        changed
    }

    fn read_place(&mut self, fleet: &Fleet, name: &Arc<str>, delta: &mut Delta) {
        let place = Place::find(fleet, name);
        if place.is_none() && self.place_ids.get(name).is_none() {
            return;
        }
        let id = self.place_ids.get_or_insert(name);
        let old = self.places.remove(id);
        if let (Some(old), Some(place)) = (&old, &place)
            && old.is_same(place)
        {
            self.places.set(id, place.clone());
            return;
        }
        if let Some(old) = &old {
            self.place_index.remove(id, old.labels_iter());
            if let Some(of_type) = self.by_type.get_mut(old.cluster_type.name.as_arc()) {
                of_type.remove(id);
            }
            delta.removed_places.insert(id);
        }
        if let Some(place) = place {
            self.place_index.insert(id, place.labels_iter());
            if place.cluster.is_some() {
                self.by_type.entry(Arc::clone(place.cluster_type.name.as_arc())).or_default().insert(id);
            }
            self.places.set(id, place);
            delta.removed_places.remove(id);
            delta.places.insert(id);
        }
    }

    fn read_targets(&mut self, fleet: &Fleet, before: Option<&Fleet>, delta: &mut Delta) {
        let is_same = before.is_some_and(|before| {
            !differ(&before.deployment_targets, &fleet.deployment_targets)
                && !differ(&before.label_mappings, &fleet.label_mappings)
                && before.unavailable == fleet.unavailable
                && before.environments == fleet.environments
                && before.workloads.len() == fleet.workloads.len()
                && before.workloads.iter().zip(fleet.workloads.iter()).all(|((_, one), (_, other))| {
                    one.object.digest == other.object.digest
                        && one.registration == other.registration
                        && one.workspace == other.workspace
                        && one.author == other.author
                })
        });
        if is_same {
            return;
        }
        let (list, diagnostics) = targets(fleet);
        self.target_diagnostics = diagnostics;
        let mut removed: BTreeSet<u32> = self.targets.iter().map(|(id, _)| id).collect();
        self.target_list = list.into_iter().map(Arc::new).collect();
        let mut in_order: Vec<_> = self.target_list.iter().map(Arc::clone).collect();
        in_order.sort_by(|one, other| folder_order(one.name.as_str()).cmp(folder_order(other.name.as_str())));
        for (rank, target) in in_order.into_iter().enumerate() {
            let id = self.read_target(rank as u32, target, delta);
            removed.remove(&id);
        }
        for id in removed {
            if let Some(old) = self.targets.remove(id) {
                self.target_index.remove(id, old.target.labels.iter());
                delta.schemas |= !old.target.schemas.is_empty();
            }
            delta.schedule = true;
        }
    }

    /// Reads a target with its position among all targets. Returns its id.
    fn read_target(&mut self, rank: u32, target: Arc<Target>, delta: &mut Delta) -> u32 {
        let id = self.target_ids.get_or_insert(target.name.as_arc());
        if let Some(known) = self.targets.get_mut(id)
            && known.target.is_same(&target)
        {
            if known.target.problem != target.problem {
                delta.targets.insert(id);
            }
            (known.rank, known.target) = (rank, target);
            return id;
        }
        let old = self.targets.remove(id);
        if let Some(old) = &old {
            self.target_index.remove(id, old.target.labels.iter());
        }
        delta.schemas |= old.map_or(!target.schemas.is_empty(), |old| old.target.schemas != target.schemas);
        self.target_index.insert(id, target.labels.iter());
        self.targets.set(id, PreparedTarget { fields: TargetFields::new(&target), target, rank });
        delta.targets.insert(id);
        id
    }

    fn read_policies(&mut self, fleet: &Fleet) {
        let rank = |target| self.targets.get(target).map_or(0, |target| target.rank);
        let candidates = Candidates { fleet, places: &self.place_index, targets: &self.target_index, rank: &rank };
        self.schedule = Schedule::new(&candidates, &self.schedule);
    }

    /// Reads the containers. Returns whether their order or their conditions changed.
    fn read_containers(&mut self, fleet: &Fleet, before: Option<&Fleet>, delta: &mut Delta) -> bool {
        let has_same_order = self.containers.order == self.settings.precedence;
        if has_same_order && before.is_some_and(|before| !differ(&before.config_maps, &fleet.config_maps)) {
            return false;
        }
        let old = std::mem::take(&mut self.containers);
        self.containers = Containers::new(fleet, &old, &self.settings.precedence);
        let pairs = || old.list.iter().zip(&self.containers.list);
        let is_in_place =
            old.list.len() == self.containers.list.len() && pairs().all(|(old, new)| old.has_same_position(new));
        if !is_in_place {
            return true;
        }
        let differs = |(old, new): &(&Arc<Container>, &Arc<Container>)| {
            !Arc::ptr_eq(old, new) && (old.digest != new.digest || old.problem != new.problem)
        };
        let changed = pairs().enumerate().filter(|(_, pair)| differs(pair));
        delta.containers = changed.map(|(position, _)| position as u32).collect();
        false
    }

    fn read_templates(&mut self, fleet: &Fleet, before: Option<&Fleet>, delta: &mut Delta) {
        let is_same = before.is_some_and(|before| {
            !differ(&before.templates, &fleet.templates) && !differ(&before.cluster_types, &fleet.cluster_types)
        });
        if is_same {
            return;
        }
        self.templates = render::parse(fleet, &self.templates);
        let find = |object: &Arc<Object<ClusterType>>| {
            (Arc::clone(object.name.as_arc()), Templates::find(&self.templates, object).map(Arc::new))
        };
        let found: HashMap<_, _> = fleet.cluster_types.values().map(find).collect();
        let before = std::mem::replace(&mut self.by_cluster_type, found);
        for name in fleet.cluster_types.values().map(|object| object.name.as_arc()) {
            let is_same = match (before.get(name), self.by_cluster_type.get(name)) {
                (Some(Ok(old)), Some(Ok(new))) => old.is_same(new),
                (Some(Err(old)), Some(Err(new))) => old == new,
                _ => false,
            };
            if !is_same {
                delta.templates.insert(Arc::clone(name));
            }
        }
    }
}

/// Names every part of a fleet with what its changes affect. A part that is missing here is an error of the compiler, so that [`Prepared::read`] forgets none.
fn all_inputs(fleet: &Fleet) {
    #[rustfmt::skip]
    let Fleet {
        // Everything.
        environment: _, duplicates: _, conflicting_claims: _,
        // The settings, and with them everything.
        declaration: _, base_repos: _,
        // Places.
        cluster_types: _, clusters: _,
        // Targets.
        workloads: _, deployment_targets: _, label_mappings: _, unavailable: _, environments: _,
        // Policies, values, schemas, templates, and release pins, with what they match.
        policies: _, config_maps: _, config_schemas: _, application_schemas: _, limited_schemas: _, templates: _, release_pins: _,
        // Nothing that is prepared: the loader, diagnostics and publication use them.
        files: _, registrations: _, gitops_repos: _, unread: _, references: _,
    } = fleet;
}

/// The names of objects that exist on one side only, or differ between the sides.
fn differences<'m, S: Spec>(before: &'m Named<S>, after: &'m Named<S>) -> impl Iterator<Item = &'m S::Name> {
    let name = |(old, new): Changed<'m, S>| new.or(old).map(|object| &object.name);
    after.changes(before).into_iter().filter_map(name)
}

/// Whether several objects have the same name, so that it is undefined which one applies.
fn has_unclear(fleet: &Fleet) -> bool {
    !fleet.duplicates.is_empty() || !fleet.conflicting_claims.is_empty()
}

fn schemas_differ(before: &Fleet, after: &Fleet) -> bool {
    let (old, new) = (&before.application_schemas, &after.application_schemas);
    differ(&before.config_schemas, &after.config_schemas)
        || before.limited_schemas != after.limited_schemas
        || !Arc::ptr_eq(old, new)
            && (old.len() != new.len()
                || old.iter().zip(&**new).any(|((one, old), (other, new))| one != other || differ(old, new)))
}

fn differ<S: Spec>(before: &Named<S>, after: &Named<S>) -> bool {
    !after.changes(before).is_empty()
}

fn environment_settings(fleet: &Fleet, diagnostics: &mut Vec<Diagnostic>) -> Settings {
    let of_environment = fleet.declaration.iter().map(|object| (object.key(), &object.annotations));
    let of_base_repos = fleet.base_repos.values().map(|object| (object.key(), &object.annotations));
    let precedence = PrecedenceSetting::from_objects(of_environment.chain(of_base_repos));
    diagnostics.extend(precedence.problem.clone());
    let Some(declaration) = &fleet.declaration else { return Settings { precedence, ..Settings::default() } };
    let key = declaration.key();
    let missing = settings::missing_values(&key, &declaration.annotations);
    let long = settings::long_names(&key, &declaration.annotations);
    let missing = missing.map_err(|diagnostic| diagnostics.push(diagnostic)).unwrap_or_default().unwrap_or_default();
    let long_names = long.map_err(|diagnostic| diagnostics.push(diagnostic)).unwrap_or_default().unwrap_or_default();
    Settings { missing, long_names, precedence }
}
