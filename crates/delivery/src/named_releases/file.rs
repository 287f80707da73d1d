//! The file of a named release.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::git_id::GitId;
use model::name::EnvironmentName;

use super::{NamedRelease, ReleasedWorkload};
use crate::rollout_store::StateFileError;
use crate::rollout_store::fields::{Item, StateFile};
use crate::rollout_store::text::Value;

/// The version of the format.
const API_VERSION: &str = "fleet.kalypso.io/v1alpha1";
/// The kind of the file. It is not a kind of objects of a fleet.
const KIND: &str = "Release";

/// The text of a release.
pub(super) fn write(release: &NamedRelease) -> String {
    let workloads = release.workloads.iter().map(|(name, workload)| (Arc::clone(name), write_workload(workload)));
    let file = Value::fields([
        ("apiVersion", Some(Value::text(API_VERSION))),
        ("kind", Some(Value::text(KIND))),
        ("name", Some(Value::text(Arc::clone(&release.name)))),
        ("created", Some(Value::text(release.created.to_string()))),
        ("by", Some(Value::text(Arc::clone(&release.by)))),
        ("environment", Some(Value::text(release.environment.as_str()))),
        ("platform", release.platform.map(|commit| Value::text(commit.to_string()))),
        ("configuration", release.configuration.map(|commit| Value::text(commit.to_string()))),
        ("workloads", Some(Value::Fields(workloads.collect()))),
    ]);
    file.written()
}

fn write_workload(workload: &ReleasedWorkload) -> Value {
    let (key, version) = workload.version.clone().unzip();
    let counts = workload.configurations.iter().map(|(version, count)| (Arc::clone(version), Value::Number(*count)));
    let configurations = (!workload.configurations.is_empty()).then(|| Value::Fields(counts.collect()));
    Value::fields([
        ("key", key.map(Value::Text)),
        ("version", version.map(Value::Text)),
        ("configurations", configurations),
    ])
}

/// Reads the file of a release.
pub(super) fn read(name: &str, (path, text): (&str, &str)) -> Result<NamedRelease, StateFileError> {
    let file = StateFile { path, text };
    let root = file.root()?;
    let item = Item { file: &file, node: &root };
    let fields = item.fields(&[
        "apiVersion",
        "kind",
        "name",
        "created",
        "by",
        "environment",
        "platform",
        "configuration",
        "workloads",
    ])?;
    for (key, expected) in [("apiVersion", API_VERSION), ("kind", KIND), ("name", name)] {
        let found = fields.required(key)?;
        if *found.text()? != *expected {
            return Err(found.error(format!("`{key}` must be `{expected}`")));
        }
    }
    let environment = fields.required("environment")?;
    let commit =
        |item: Item<'_>| GitId::from_hex(&item.text()?).ok_or_else(|| item.error("the id of a commit is expected"));
    Ok(NamedRelease {
        name: name.into(),
        created: fields.required("created")?.parsed("a timestamp")?,
        by: fields.required("by")?.text()?,
        environment: EnvironmentName::new(environment.text()?).map_err(|error| environment.error(error.to_string()))?,
        platform: fields.maybe("platform", commit)?,
        configuration: fields.maybe("configuration", commit)?,
        workloads: fields.maybe("workloads", workloads)?.unwrap_or_default(),
    })
}

fn workloads(item: Item<'_>) -> Result<BTreeMap<Arc<str>, ReleasedWorkload>, StateFileError> {
    item.entries()?.into_iter().map(|(name, item)| Ok((name, workload(item)?))).collect()
}

fn workload(item: Item<'_>) -> Result<ReleasedWorkload, StateFileError> {
    let fields = item.fields(&["key", "version", "configurations"])?;
    let version = match (fields.maybe("key", |item| item.text())?, fields.maybe("version", |item| item.text())?) {
        (Some(key), Some(version)) => Some((key, version)),
        (_, None) => None,
        (None, Some(_)) => return Err(fields.error("`version` needs a `key`")),
    };
    let counts =
        |item: Item<'_>| item.entries()?.into_iter().map(|(text, count)| Ok((text, count.number()?))).collect();
    Ok(ReleasedWorkload { version, configurations: fields.maybe("configurations", counts)?.unwrap_or_default() })
}
