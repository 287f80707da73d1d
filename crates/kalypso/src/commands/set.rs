//! `kalypso set`: changes objects of the control plane and of applications.

use std::sync::Arc;

use authoring::field_changes::{ChangedObjects, ObjectChanges, PairChanges, change};
use authoring::label_advice;
use authoring::objects;
use authoring::value::NewValue;
use model::field_path::FieldPath;
use model::kind::Kind;
use model::object::scheduling_policy::{CLUSTER_TYPE_SELECTOR, TARGET_SELECTOR};

use super::add;
use super::branch_edit::pair_changes::{label_changes, notes, nothing};
use super::branch_edit::{BranchEdit, EditVerb, OpenBranch, different_names, slug};
use crate::arguments::{EditOptions, Set, SetCluster, SetClusterType, SetKind, SetPolicy};
use crate::exit::{Exit, Failure};
use crate::loading::selector;

/// The path of labels.
const LABELS: [&str; 2] = ["metadata", "labels"];

pub(super) fn run(options: &Set) -> anyhow::Result<Exit> {
    match &options.kind {
        SetKind::ClusterType(options) => cluster_type(options),
        SetKind::Cluster(options) => cluster(options),
        SetKind::Policy(options) => policy(options),
        SetKind::Target(options) => add::set_target(options),
    }
}

fn cluster_type(options: &SetClusterType) -> anyhow::Result<Exit> {
    let SetClusterType { reconciler, namespace, config_type, .. } = options;
    let templates = [("reconciler", reconciler), ("namespaceService", namespace), ("configType", config_type)];
    let mut request = Request::new((Kind::ClusterType, "cluster-type"), &options.names)?;
    request.label(&options.labels)?;
    for (field, template) in templates {
        request.set(field, template.as_deref());
    }
    request.finish((&options.environment, &options.edit), |_| Vec::new())
}

fn cluster(options: &SetCluster) -> anyhow::Result<Exit> {
    let mut request = Request::new((Kind::Cluster, "cluster"), &options.names)?;
    request.label(&options.labels)?;
    request.set("clusterType", options.cluster_type.as_deref());
    request.finish((&options.environment, &options.edit), |_| Vec::new())
}

fn policy(options: &SetPolicy) -> anyhow::Result<Exit> {
    let mut request = Request::new((Kind::SchedulingPolicy, "policy"), std::slice::from_ref(&options.name))?;
    let selectors = [("--targets", &options.targets, TARGET_SELECTOR), ("--on", &options.on, CLUSTER_TYPE_SELECTOR)];
    let mut places = None;
    for (option, text, path) in selectors {
        let Some(text) = text else { continue };
        let found = selector(option, text)?;
        request.changes.fields.push((FieldPath::from(path).key("labelSelector"), Some(objects::selector(&found))));
        request.notes.push(format!(
            "{} {}",
            option.trim_start_matches('-'),
            if text.is_empty() { "all" } else { text }
        ));
        places = Some(found).filter(|_| path == CLUSTER_TYPE_SELECTOR).or(places);
    }
    if let Some(workspace) = &options.workspace {
        let path = FieldPath::from(["spec", "deploymentTargetSelector", "workspace"]);
        request.changes.fields.push((path, (!workspace.is_empty()).then(|| NewValue::text(workspace.as_str()))));
        request.notes.push(format!("workspace {}", if workspace.is_empty() { "all" } else { workspace }));
    }
    let advice =
        |open: &OpenBranch| places.iter().flat_map(|places| label_advice::of_lists(&open.files(), places)).collect();
    request.finish((&options.environment, &options.edit), advice)
}

/// The objects to change, and how.
struct Request {
    kind: Kind,
    /// The word for the kind in the name of a proposal's branch.
    word: &'static str,
    names: Vec<Arc<str>>,
    labels: PairChanges,
    changes: ObjectChanges,
    notes: Vec<String>,
}

impl Request {
    fn new((kind, word): (Kind, &'static str), texts: &[String]) -> Result<Self, Failure> {
        let names = different_names(texts)?;
        Ok(Self {
            kind,
            word,
            names,
            labels: PairChanges::default(),
            changes: ObjectChanges::default(),
            notes: Vec::new(),
        })
    }

    fn label(&mut self, options: &[String]) -> Result<(), Failure> {
        self.labels = label_changes(options)?;
        self.notes.extend(notes(&self.labels));
        if !self.labels.is_empty() {
            self.changes.pairs.push((FieldPath::from(LABELS), self.labels.clone()));
        }
        Ok(())
    }

    /// Sets a field of the `spec`, if there is a value.
    fn set(&mut self, field: &str, value: Option<&str>) {
        let Some(value) = value else { return };
        self.changes.fields.push((FieldPath::from(["spec", field]), Some(NewValue::text(value))));
        self.notes.push(format!("{field} {value}"));
    }

    fn finish(
        self,
        (environment, options): (&str, &EditOptions),
        advice: impl FnOnce(&OpenBranch) -> Vec<String>,
    ) -> anyhow::Result<Exit> {
        let Self { kind, word, names, labels, changes, notes } = self;
        if changes.pairs.is_empty() && changes.fields.is_empty() {
            return Err(nothing().into());
        }
        let open = OpenBranch::new(options, Some(environment))?;
        let mut warnings = label_advice::of_places(&open.files(), &labels.set);
        warnings.extend(advice(&open));
        let changed = change(&open.files(), (kind, &names), &changes);
        let slug = slug(word, &names);
        let edit = changed.map(|ChangedObjects { edits, objects }| BranchEdit {
            warnings,
            notes,
            ..BranchEdit::new(EditVerb::Change, objects, edits, slug)
        });
        open.finish(edit, options)
    }
}
