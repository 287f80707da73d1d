//! Checks values against schemas where no assignment uses both yet.
//!
//! The labels of a container fix what its values are for. So a wrong value is certain before a policy assigns it. Only values of single keys are checked: other
//! containers can give what is missing.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, FieldPart, Origin};
use model::object::deployment_target::WORKLOAD_LABEL;
use roaring::RoaringBitmap;

use crate::compose::Composition;
use crate::compose::container::{Conditions, Container, Entry};
use crate::compose::trace::follow;
use crate::invariant::require;
use crate::prepare::{NO_TARGET, Prepared};
use crate::schedule::matching::{is_met_by_assigned, is_met_by_place};
use crate::schedule::target::Target;
use crate::schema::{Finding, Schema};

/// The maximum number of warnings. One cause can give many.
const WARNINGS_MAX: usize = 200;
/// The maximum number of targets and places that are compared with the conditions of a schema.
const FIXED_MAX: u64 = 1_000;

/// Warnings about values that violate a schema, without an assignment that uses both. `used` contains the positions of containers that assignments use.
/// `is_covered` tells whether an assignment uses a container and a schema, by position and id.
pub(crate) fn wrong_values(
    prepared: &Prepared,
    used: &RoaringBitmap,
    is_covered: &dyn Fn(u32, u32) -> bool,
) -> Vec<Diagnostic> {
    let unassigned = unassigned_with_schemas(prepared);
    let mut diagnostics = Vec::new();
    for (position, container) in prepared.containers.list.iter().enumerate() {
        let position = position as u32;
        let is_used = used.contains(position);
        if diagnostics.len() >= WARNINGS_MAX {
            break;
        }
        if container.problem.is_some() || (is_used && unassigned.is_empty()) {
            continue;
        }
        let checked = Checked { prepared, container, position };
        for id in checked.schemas(is_used, &unassigned) {
            if !is_covered(position, id) {
                diagnostics.extend(checked.diagnostics(require(prepared.schemas.get(id), "a schema has no number")));
            }
        }
    }
    diagnostics
}

/// The targets that no policy assigns and that have own schemas.
fn unassigned_with_schemas(prepared: &Prepared) -> RoaringBitmap {
    let own = prepared.targets().iter().filter(|target| !target.schemas.is_empty());
    let own: RoaringBitmap = own.filter_map(|target| prepared.target_id(target.name.as_str())).collect();
    if own.is_empty() { own } else { own - prepared.assigned_targets() }
}

/// A container whose values are checked.
struct Checked<'p> {
    prepared: &'p Prepared,
    container: &'p Arc<Container>,
    position: u32,
}

impl Checked<'_> {
    /// The ids of the schemas that the values are for, by the labels of the container.
    fn schemas(&self, is_used: bool, unassigned: &RoaringBitmap) -> BTreeSet<u32> {
        let targets = self.fixed_targets();
        let of_targets = |targets: &RoaringBitmap| -> BTreeSet<u32> {
            let targets = targets.iter().take(FIXED_MAX as usize).map(|id| self.target(id));
            targets.flat_map(|target| self.prepared.schemas.ids_of_target(target).collect::<Vec<_>>()).collect()
        };
        // The schemas that all assignments with a container have are checked with these assignments.
        if is_used {
            return targets.map(|targets| of_targets(&(targets & unassigned))).unwrap_or_default();
        }
        let mut found = targets.as_ref().map(of_targets).unwrap_or_default();
        let places = self.fixed_places();
        let labelled = self.prepared.schemas.labelled.iter().enumerate();
        let implied =
            labelled.filter(|(_, labelled)| self.implies(&labelled.conditions, (places.as_ref(), targets.as_ref())));
        found.extend(implied.map(|(id, _)| id as u32));
        found
    }

    /// Whether all assignments with the container meet these conditions, too.
    fn implies(
        &self,
        conditions: &Conditions,
        (places, targets): (Option<&RoaringBitmap>, Option<&RoaringBitmap>),
    ) -> bool {
        let is_few = |ids: &&RoaringBitmap| !ids.is_empty() && ids.len() <= FIXED_MAX;
        conditions.iter().all(|condition| {
            let (key, value) = condition;
            self.container.conditions.iter().any(|own| own == condition)
                || targets
                    .filter(is_few)
                    .is_some_and(|ids| ids.iter().all(|id| is_met_by_assigned(key, value, self.target(id))))
                || places.filter(is_few).is_some_and(|ids| {
                    ids.iter().all(|id| self.prepared.place(id).is_some_and(|place| is_met_by_place(key, value, place)))
                })
        })
    }

    /// The targets that can get the values. None if the labels do not fix them.
    fn fixed_targets(&self) -> Option<RoaringBitmap> {
        let Prepared { target_index, place_index, .. } = self.prepared;
        let of_targets = |(key, value): &(Arc<str>, Arc<str>)| match &**key {
            "deployment-target" => Some(self.prepared.target_id(value).into_iter().collect()),
            WORKLOAD_LABEL => Some(target_index.with(key, value)),
            "cluster-type" | "cluster" => None,
            _ if place_index.has(key, value) || !target_index.has(key, value) => None,
            _ => Some(target_index.with(key, value)),
        };
        self.container.conditions.iter().filter_map(of_targets).reduce(|one, other| one & other)
    }

    /// The places that can get the values. None if the labels do not fix them.
    fn fixed_places(&self) -> Option<RoaringBitmap> {
        let Prepared { target_index, place_index, .. } = self.prepared;
        let of_places = |(key, value): &(Arc<str>, Arc<str>)| match &**key {
            "cluster-type" => Some(self.prepared.places_of_type(value)),
            "cluster" => Some(self.prepared.place_id(value).into_iter().collect()),
            "deployment-target" | WORKLOAD_LABEL => None,
            _ if target_index.has(key, value) || !place_index.has(key, value) => None,
            _ => Some(place_index.with(key, value)),
        };
        self.container.conditions.iter().filter_map(of_places).reduce(|one, other| one & other)
    }

    fn target(&self, id: u32) -> &Target {
        &require(self.prepared.target(id), NO_TARGET).target
    }

    fn diagnostics(&self, schema: &Schema) -> Vec<Diagnostic> {
        let sensitive = &self.prepared.sensitive_anywhere;
        let mut diagnostics = Vec::new();
        for entry in self.container.entries.iter().filter(|entry| !entry_has_template(entry)) {
            let alone = Composition::of_key(&[entry]);
            let found = schema.certain_findings(&entry.key, &alone, sensitive);
            if !found.is_empty() && !self.is_overridden(entry) {
                diagnostics.extend(found.into_iter().map(|finding| self.diagnostic(entry, finding)));
            }
        }
        diagnostics
    }

    /// Whether every assignment with this value gets another one for its key.
    fn is_overridden(&self, entry: &Entry) -> bool {
        let later = self.prepared.containers.list.iter().skip(self.position as usize + 1);
        later
            .filter(|later| self.container.conditions.has_all(&later.conditions))
            .any(|later| later.entries.iter().any(|other| other.key == entry.key))
    }

    fn diagnostic(&self, entry: &Entry, finding: Finding) -> Diagnostic {
        let Finding { path, message, schema, schema_path, .. } = finding;
        let below: model::field_path::FieldPath = path.steps().iter().skip(1).cloned().collect();
        let is_inside = !below.steps().is_empty() && follow(&entry.value.value, below.steps()).is_some();
        let part = if is_inside { FieldPart::Inside(below) } else { FieldPart::Value };
        let schema_origin = Origin::part(&schema.object, schema.path.clone(), FieldPart::KeyInside(schema_path));
        Diagnostic::warning(Code::WrongForLater, format!("{message}, and no assignment uses it yet"))
            .at(self.container.origin(entry, part), "this value")
            .at(schema_origin, format!("required by {}", schema.object))
            .note("as soon as a policy makes an assignment that gets this value, the assignment fails")
            .about(&self.container.key())
    }
}

/// Whether the value is a template, whose result is not known.
fn entry_has_template(entry: &Entry) -> bool {
    matches!(&entry.value.value, gotemplate::value::Value::Text(text) if text.to_str().contains("{{"))
}

#[cfg(test)]
mod tests {
    use model::diagnostic::Diagnostic;

    use crate::compile::Compiled;

    const PLACES: &str = "\
{apiVersion: scheduler.kalypso.io/v1alpha1, kind: ClusterType, metadata: {name: large, labels: {size: large}}, spec: {reconciler: r, namespaceService: r, configType: r}}
---
{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Template, metadata: {name: r}, spec: {type: config, manifests: ['a: 1']}}
---
{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Workload, metadata: {name: shop}, spec: {deploymentTargets: [{name: eu, environment: prod, labels: {purpose: sale}, manifests: {repo: r}}], configSchemas: ['{\"required\": [\"HOST\"], \"properties\": {\"PORT\": {\"type\": \"integer\"}, \"DB\": {\"type\": \"object\", \"required\": [\"host\"], \"properties\": {\"port\": {\"type\": \"integer\"}}}}}']}}
---
{apiVersion: scheduler.kalypso.io/v1alpha1, kind: ConfigSchema, metadata: {name: sizes, labels: {size: large}}, spec: {schema: '{\"properties\": {\"NODES\": {\"minimum\": 3}}}'}}
";
    const POLICY: &str = "{apiVersion: scheduler.kalypso.io/v1alpha1, kind: SchedulingPolicy, metadata: {name: all}, spec: {deploymentTargetSelector: {labelSelector: {}}, clusterTypeSelector: {labelSelector: {}}}}";

    fn config(name: &str, labels: &str, data: &str) -> String {
        format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, labels: {{platform-config: 'true', {labels}}}}}, data: {{{data}}}}}"
        )
    }

    /// Compares the codes and messages about values.
    fn check(files: &[&str], expected: &[&str]) {
        let files = std::iter::once(&PLACES).chain(files).enumerate();
        let files = files.map(|(index, text)| (format!("{index}.yaml"), text.as_bytes().to_vec()));
        let (fleet, found) = testkit::directory::fleet_of(files.collect(), "prod").unwrap();
        assert_eq!(found, []);
        let is_about_values = |found: &Diagnostic| matches!(found.code.id(), "K0312" | "K0316");
        let found = Compiled::new(&std::sync::Arc::new(fleet)).diagnostics().into_iter().filter(is_about_values);
        let found: Vec<_> = found.map(|found| format!("{} {}", found.code, found.message)).collect();
        assert_eq!(found, expected.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    }

    const WRONG_PORT: &str = "K0316 `PORT` must be an integer, here it is \"54x2\", and no assignment uses it yet";

    #[test]
    fn labels_fix_the_workload_or_the_target() {
        check(&[&config("a", "workload: shop", "PORT: 54x2")], &[WRONG_PORT]);
        check(&[&config("a", "deployment-target: shop-eu", "PORT: 54x2")], &[WRONG_PORT]);
        check(&[&config("a", "purpose: sale", "PORT: 54x2")], &[WRONG_PORT]);
        check(&[&config("a", "workload: shop", "PORT: '5432'")], &[]);
        check(&[&config("a", "size: large", "PORT: 54x2")], &[]);
        check(&[&config("azure-app-config-a", "x: z", "workload.shop.PORT: 54x2")], &[WRONG_PORT]);
    }

    #[test]
    fn labels_fix_the_cluster_type() {
        let nodes = "K0316 `NODES` must be at least 3, here it is 1, and no assignment uses it yet";
        check(&[&config("a", "size: large", "NODES: '1'")], &[nodes]);
        check(&[&config("a", "cluster-type: large", "NODES: '1'")], &[nodes]);
        check(&[&config("a", "workload: shop", "NODES: '1'")], &[]);
    }

    #[test]
    fn an_assignment_reports_the_value_itself() {
        let error = "K0312 `PORT` must be an integer, here it is \"54x2\"";
        check(&[POLICY, &config("a", "workload: shop", "PORT: 54x2, HOST: h")], &[error]);
    }

    #[test]
    fn completable_or_overridable_values_are_not_reported() {
        check(&[&config("a", "workload: shop", "DB: '{port: 1}'")], &[]);
        let port = "K0316 `DB.port` must be an integer, here it is \"x\", and no assignment uses it yet";
        check(&[&config("a", "workload: shop", "DB: '{port: x}'")], &[port]);
        let later = config("b", "workload: shop", "PORT: '1'");
        check(&[&config("a", "workload: shop", "PORT: 54x2"), &later], &[]);
    }
}
