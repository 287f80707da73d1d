//! The fields of lists and descriptions.

use utoipa::ToSchema as _;
use workbench::listing::kind::ListedKind;
use workbench::listing::rows::{KeyRow, ObjectFields, ValueRow, schema_name};

use super::schema::Schemas;
use super::{Described, Field, owned};

/// The fields that describe the page of a list.
const PAGE: &[Described] =
    &[("more", "Whether there are more than `--limit`."), ("total", "The total number, independent of the limit.")];
/// The prefix of the fields of a row.
const ITEMS: &str = "items[].";

/// The output of `kalypso get` and `kalypso describe`, by command. The fields of lists are those of their types.
pub(super) fn lists() -> Vec<(String, Vec<Field>)> {
    let schemas = Schemas::of_lists();
    let page = |fields: [Vec<Field>; 2]| fields.into_iter().flatten().chain(owned(PAGE)).collect();
    let of_kind = |kind: ListedKind| {
        let common =
            if kind.of_objects().is_some() { schemas.fields(&ObjectFields::name(), ITEMS) } else { Vec::new() };
        (format!("get {}", kind.words().1), page([common, schemas.fields(&schema_name(kind), ITEMS)]))
    };
    let kinds = ListedKind::ALL.into_iter().filter(|kind| *kind != ListedKind::Value).map(of_kind);
    let values = [("get values", KeyRow::name()), ("get values --key", ValueRow::name())];
    let values = values.map(|(title, name)| (title.to_owned(), page([schemas.fields(&name, ITEMS), Vec::new()])));
    kinds.chain(values).chain([("describe".to_owned(), owned(DESCRIPTION))]).collect()
}

const DESCRIPTION: &[Described] = &[
    ("items[].kind", "the kind of the object"),
    ("items[].fields", "the fields of this kind, the same as `get` has for it"),
    ("items[].environment", "the environment"),
    ("items[].name", "the name"),
    ("items[].place", "where it is written"),
    ("items[].labels", "its labels"),
    ("items[].annotations", "its annotations, as in `metadata.annotations`"),
    ("items[].reaches.assignments", "how many assignments it reaches; `reaches` is `null` for kinds that reach none"),
    ("items[].reaches.clusterTypes", "on how many cluster types; the same for the others"),
    ("items[].reaches.clusters", ""),
    ("items[].reaches.targets", ""),
    ("items[].reaches.workloads", ""),
    ("items[].reaches.byWorkload[].workload", "a workload, the one with most assignments first"),
    ("items[].reaches.byWorkload[].assignments", ""),
    ("items[].reaches.byClusterType[].clusterType", "a cluster type, with its clusters"),
    ("items[].reaches.byClusterType[].assignments", ""),
    ("items[].reaches.examples[]", "the first assignments"),
    (
        "items[].rollouts[]",
        "the assignments of the object with another published content than the desired one: `assignment`, and the same as `rollout` of `explain`",
    ),
    ("items[].reachedBy[].kind", "the kind of an object that reaches some of these assignments"),
    ("items[].reachedBy[].name", "its name"),
    ("items[].reachedBy[].place", "where it is written"),
    ("items[].reachedBy[].assignments", "how many of these assignments it reaches"),
    ("items[].report", "the diagnostics that are about it, as in `check -o json`; at most 1,000"),
    ("items[].values[].key", "of a `ConfigMap`: a key that it sets"),
    ("items[].values[].value", "its value; a digest if it is sensitive"),
    ("items[].values[].place", "where it is written"),
    ("items[].deploymentTargets[].name", "of a workload: a target of it"),
    ("items[].deploymentTargets[].assignments", "on how many places it runs"),
    ("items[].mappedLabels[].label", "of a target: a label that a `LabelMapping` added"),
    ("items[].mappedLabels[].labelMapping", "that `LabelMapping`"),
    ("items[].ringPlaces[].ring", "of a promotion: a ring, also the last one that is not written"),
    ("items[].ringPlaces[].members", "its places, in words"),
    ("items[].ringPlaces[].places", "how many places it has"),
    ("items[].clusterNames[]", "of a cluster type: its clusters"),
    ("items[].clusterTypeNames[]", "of a template: the cluster types that use it"),
];
