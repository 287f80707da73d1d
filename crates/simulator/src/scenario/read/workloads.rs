//! Reads the workloads of a scenario with their releases.

use std::sync::Arc;

use model::diagnostic::Code;
use model::label::Labels;
use model::object::release::RELEASE_KEYS;
use model::yaml::Node;

use super::fields::{Reader, listed, text};
use super::tokens::{Expected, Words};
use crate::scenario::definition::{LabelPair, WorkloadDefinition};

/// The workloads of a scenario that names none.
pub(super) fn default_workloads() -> Vec<WorkloadDefinition> {
    let release = Some("1.0.0".into());
    vec![WorkloadDefinition { name: "shop".into(), labels: Labels::default(), release, keys: Vec::new() }]
}

pub(super) fn workloads(node: &Node, reader: &mut Reader<'_>) -> Vec<WorkloadDefinition> {
    reader.mapping(node, "`workloads`").iter().map(|(name, value)| workload(text(name), value, reader)).collect()
}

fn workload(name: Arc<str>, value: &Node, reader: &mut Reader<'_>) -> WorkloadDefinition {
    let mut workload = WorkloadDefinition { name, labels: Labels::default(), release: None, keys: Vec::new() };
    if value.as_mapping().is_none() {
        workload.release = Some(reader.text(value, "the release of a workload"));
        return workload;
    }
    for (key, value) in reader.fields(value, "a workload", &["release", "labels", "keys"]) {
        match &*text(key) {
            "release" => workload.release = Some(reader.text(value, "`release`")),
            "labels" => {
                let labels = reader.mapping(value, "`labels`").iter();
                workload.labels = labels.map(|(key, value)| (text(key), text(value))).collect();
            }
            "keys" => {
                let entries = reader.mapping(value, "`keys`").iter();
                workload.keys = entries.filter_map(|(name, label)| key_of_target((name, label), reader)).collect();
            }
            _ => {}
        }
    }
    match workload.release.take().map(|release| release_of(&workload, &release)) {
        Some(Err(expected)) => reader.error(Code::WrongType, value.span, expected),
        release => workload.release = release.and_then(Result::ok),
    }
    workload
}

/// A key by which a target names its release, with the label of its clusters: `version: os=debian`.
fn key_of_target((name, label): (&Node, &Node), reader: &mut Reader<'_>) -> Option<(Arc<str>, LabelPair)> {
    let key = text(name);
    if !RELEASE_KEYS.contains(&&*key) {
        let message = format!("`{key}` names no release: write one of {}", listed(&RELEASE_KEYS));
        reader.error(Code::UnknownField, name.span, message);
        return None;
    }
    match Words::new(&text(label)).label() {
        Ok(label) => Some((key, label)),
        Err(expected) => {
            reader.error(Code::WrongType, label.span, expected);
            None
        }
    }
}

/// A release of a workload. If its targets name their releases by keys, it has a version for each key.
pub(super) fn release_of(workload: &WorkloadDefinition, written: &str) -> Result<Arc<str>, Expected> {
    if workload.keys.is_empty() {
        return Ok(written.into());
    }
    let versions: Vec<_> = workload.keys.iter().map(|(key, _)| format!("{key}=VERSION")).collect();
    let found = workload.parse_release(written).map(|release| release.text());
    found.ok_or_else(|| {
        let name = &workload.name;
        format!("`{written}` is no release of `{name}`, whose targets need `{}`", versions.join(","))
    })
}
