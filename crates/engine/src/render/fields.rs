//! The data of an assignment that templates can read.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use gotemplate::value::{Key, MapKind, Struct, Value};
use gotemplate::{Reads, Taint, Text};
use model::digest::{Digest, DigestBuilder};

use super::Context;
use super::namespace::namespace;
use crate::compose::{CONFIG_DATA, Composition};
use crate::schedule::place::Place;
use crate::schedule::target::Target;
use model::object::deployment_target::{WORKLOAD_LABEL, WORKSPACE_LABEL};

/// The field of the data with the manifests of a target.
pub(super) const TARGET_MANIFESTS: &str = "Manifests";

/// The data of a place that templates can read.
#[derive(Debug)]
pub(crate) struct PlaceFields {
    cluster_type: Value,
    cluster_type_labels: Value,
    cluster: Value,
    cluster_labels: Value,
    pub(super) type_labels_digest: Digest,
    pub(super) cluster_labels_digest: Digest,
}

/// The data of a target that templates can read.
#[derive(Debug)]
pub(crate) struct TargetFields {
    name: Value,
    workspace: Value,
    workload: Value,
    labels: Value,
    manifests: Value,
    pub(super) labels_digest: Digest,
    pub(super) manifests_digest: Digest,
    pub(super) identity_digest: Digest,
}

/// A target's manifests with release pins applied.
#[derive(Debug)]
pub(crate) struct Pinned {
    manifests: Value,
    pub(super) digest: Digest,
}

impl PlaceFields {
    pub(crate) fn new(place: &Place) -> Self {
        let cluster = place.cluster.as_ref();
        let cluster_labels = cluster.map(|_| place.labels()).unwrap_or_default();
        let type_labels = &place.cluster_type.labels;
        Self {
            cluster_type: Value::text(place.cluster_type.name.as_str()),
            cluster_type_labels: text_map(type_labels.iter(), |_| Taint::None),
            cluster: Value::text(cluster.map_or("", |cluster| cluster.name.as_str())),
            cluster_labels: text_map(cluster_labels.iter(), |_| Taint::None),
            type_labels_digest: Digest::from_value(type_labels),
            cluster_labels_digest: Digest::from_value(&cluster_labels),
        }
    }
}

impl TargetFields {
    pub(crate) fn new(target: &Target) -> Self {
        Self {
            name: name(target.name.as_str(), target),
            workspace: Value::text(target.workspace()),
            workload: name(target.workload(), target),
            labels: text_map(target.labels.iter(), |(key, _)| label_taint(target, key)),
            manifests: text_map(target.manifests.iter(), |_| text_taint(target)),
            labels_digest: Digest::from_value(&(
                &target.labels,
                target.mapped.keys().collect::<Vec<_>>(),
                &target.of_workload,
            )),
            manifests_digest: Digest::from_value(&target.manifests),
            identity_digest: Digest::from_value(&(
                target.name.as_str(),
                target.workspace(),
                target.workload(),
                &target.origin,
            )),
        }
    }
}

impl Pinned {
    /// Applies these manifests to those of a target. None if there are none.
    pub(crate) fn with(manifests: &BTreeMap<Arc<str>, Arc<str>>, target: &Target) -> Option<Self> {
        let all = || target.manifests.clone().into_iter().chain(manifests.clone()).collect();
        (!manifests.is_empty()).then(|| Self::new(&all(), target))
    }

    /// Creates the data of a target's manifests with pins applied. A text that a pin sets to the target's own text stays a text of the target.
    pub(crate) fn new(manifests: &BTreeMap<Arc<str>, Arc<str>>, target: &Target) -> Self {
        let is_own = |(key, value): (&Arc<str>, &Arc<str>)| target.manifests.get(key) == Some(value);
        let taint = |pair| if is_own(pair) { text_taint(target) } else { Taint::None };
        let own: Vec<bool> = manifests.iter().map(is_own).collect();
        Self { manifests: text_map(manifests.iter(), taint), digest: Digest::from_value(&(manifests, own)) }
    }
}

/// A name of a target as template data. Names from applications are tainted.
fn name(text: &str, target: &Target) -> Value {
    let taint = if target.is_of_application() { Taint::Name } else { Taint::None };
    Value::Text(Text::from(text).tainted(taint))
}

/// The taint of a target's texts: whether they come from an application.
fn text_taint(target: &Target) -> Taint {
    if target.is_of_application() { Taint::Raw } else { Taint::None }
}

/// The taint of a target's label. Labels from label mappings and registrations come from the platform team.
fn label_taint(target: &Target, key: &Arc<str>) -> Taint {
    match &**key {
        WORKSPACE_LABEL => Taint::None,
        WORKLOAD_LABEL => text_taint(target).min(Taint::Name),
        _ if target.mapped.contains_key(key) => Taint::None,
        _ => text_taint(target),
    }
}

type Pair<'l> = (&'l Arc<str>, &'l Arc<str>);

fn text_map<'l>(pairs: impl Iterator<Item = Pair<'l>>, taint: impl Fn(Pair<'l>) -> Taint) -> Value {
    let entry = |pair: Pair<'l>| {
        let [key, value] = [pair.0, pair.1].map(|text| Text::from(&**text).tainted(taint(pair)));
        (Key::Text(key), Value::Text(value))
    };
    Value::map(MapKind::TextToText, pairs.map(entry).collect())
}

/// A field of the data that templates read.
#[derive(Debug)]
pub(super) struct Field {
    /// Its name in templates, without the dot.
    pub(super) name: &'static str,
    pub(super) subject: Subject,
    /// Its position among the names that texts of applications may refer to, if it is one.
    reference: Option<u8>,
    value: fn(&Seen<'_>) -> Value,
    /// Adds what its value depends on; none if the name of the assignment and the environment say it.
    inputs: Option<fn(&Context<'_>, &mut DigestBuilder)>,
}

/// What a field says something about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// The environment: the same for all assignments.
    Environment,
    /// The target.
    Target,
    /// The cluster type: the same for all its clusters.
    ClusterType,
    /// The place: no other place has the same.
    Place,
    /// The values.
    Values,
}

/// What the values of fields are made of.
struct Seen<'a> {
    context: &'a Context<'a>,
    composition: &'a Composition,
    version: &'a str,
}

/// All fields, in the order in which templates print all of the data.
pub(super) static FIELDS: [Field; 13] = [
    Field {
        name: "DeploymentTargetName",
        subject: Subject::Target,
        reference: Some(3),
        value: |seen| seen.context.target_fields.name.clone(),
        inputs: None,
    },
    Field {
        name: "Namespace",
        subject: Subject::Place,
        reference: Some(5),
        value: |seen| name(&namespace(seen.context), seen.context.target),
        inputs: None,
    },
    Field {
        name: "Environment",
        subject: Subject::Environment,
        reference: Some(4),
        value: |seen| Value::text(seen.context.environment.as_str()),
        inputs: None,
    },
    Field {
        name: "Workspace",
        subject: Subject::Target,
        reference: Some(7),
        value: |seen| seen.context.target_fields.workspace.clone(),
        inputs: None,
    },
    Field {
        name: "Workload",
        subject: Subject::Target,
        reference: Some(6),
        value: |seen| seen.context.target_fields.workload.clone(),
        inputs: None,
    },
    Field {
        name: "Labels",
        subject: Subject::Target,
        reference: None,
        value: |seen| seen.context.target_fields.labels.clone(),
        inputs: Some(|context, inputs| _ = inputs.digest(context.target_fields.labels_digest)),
    },
    Field {
        name: TARGET_MANIFESTS,
        subject: Subject::Target,
        reference: None,
        value: |seen| {
            seen.context.pinned.map_or(&seen.context.target_fields.manifests, |pinned| &pinned.manifests).clone()
        },
        inputs: Some(|context, inputs| {
            let own = context.target_fields.manifests_digest;
            inputs.digest(context.pinned.map_or(own, |pinned| pinned.digest));
        }),
    },
    Field {
        name: "ClusterType",
        subject: Subject::ClusterType,
        reference: Some(1),
        value: |seen| seen.context.place_fields.cluster_type.clone(),
        inputs: Some(|context, inputs| _ = inputs.text(context.place.cluster_type.name.as_str())),
    },
    Field {
        name: CONFIG_DATA,
        subject: Subject::Values,
        reference: None,
        value: |seen| seen.composition.data.clone(),
        inputs: Some(|context, inputs| _ = inputs.digest(context.values)),
    },
    Field {
        name: "ClusterTypeLabels",
        subject: Subject::ClusterType,
        reference: None,
        value: |seen| seen.context.place_fields.cluster_type_labels.clone(),
        inputs: Some(|context, inputs| _ = inputs.digest(context.place_fields.type_labels_digest)),
    },
    Field {
        name: "Cluster",
        subject: Subject::Place,
        reference: Some(2),
        value: |seen| seen.context.place_fields.cluster.clone(),
        inputs: None,
    },
    Field {
        name: "ClusterLabels",
        subject: Subject::Place,
        reference: None,
        value: |seen| seen.context.place_fields.cluster_labels.clone(),
        inputs: Some(|context, inputs| _ = inputs.digest(context.place_fields.cluster_labels_digest)),
    },
    Field {
        name: CONFIG_VERSION,
        subject: Subject::Values,
        reference: None,
        value: |seen| Value::text(seen.version),
        inputs: Some(|context, inputs| _ = inputs.digest(context.values)),
    },
];

/// The field that is the version of the configuration.
pub(super) const CONFIG_VERSION: &str = "ConfigVersion";

/// The names that texts of applications may refer to, as in `{{ .ClusterType }}`.
pub(super) static REFERENCES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut references: Vec<_> = FIELDS.iter().filter_map(|field| Some((field.reference?, field.name))).collect();
    references.sort_unstable();
    references.into_iter().map(|(_, name)| name).collect()
});

/// The data of an assignment's templates.
pub(super) fn data(context: &Context<'_>, composition: &Composition, version: &str) -> Value {
    let seen = Seen { context, composition, version };
    let fields = FIELDS.iter().map(|field| (field.name, (field.value)(&seen))).collect();
    Value::Struct(Arc::new(Struct { type_name: "Assignment", fields }))
}

/// Whether a template can read values, or what is made of them.
pub(super) fn reads_values(reads: &Reads) -> bool {
    FIELDS.iter().any(|field| field.subject == Subject::Values && reads.field(field.name))
}

/// Adds what those fields depend on that are read.
pub(super) fn add_inputs(context: &Context<'_>, inputs: &mut DigestBuilder, reads: impl Fn(&str) -> bool) {
    for field in &FIELDS {
        if let Some(add) = field.inputs.filter(|_| reads(field.name)) {
            add(context, inputs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page that describes the fields.
    const PAGE: &str = include_str!("../../../../docs/how-to/write-templates.md");

    #[test]
    fn the_page_has_all_fields_and_no_others() {
        let table = PAGE.split("## ").find(|section| section.starts_with("Data\n")).unwrap();
        let rows = table.lines().filter_map(|line| line.strip_prefix("| `."));
        let names = rows.flat_map(|row| row.split(" | ").next().unwrap().trim_end_matches('`').split("`, `."));
        let (mut written, mut known): (Vec<_>, Vec<_>) =
            (names.collect(), FIELDS.iter().map(|field| field.name).collect());
        written.sort_unstable();
        known.sort_unstable();
        assert_eq!(written, known);
    }

    #[test]
    fn the_page_has_all_references() {
        let references = REFERENCES.iter().map(|name| format!("`{{{{ .{name} }}}}`")).collect::<Vec<_>>().join(", ");
        assert!(PAGE.split_whitespace().collect::<Vec<_>>().join(" ").contains(&references), "{references}");
    }
}
