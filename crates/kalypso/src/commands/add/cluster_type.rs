//! `kalypso add cluster-type`.

use std::collections::BTreeSet;
use std::sync::Arc;

use authoring::branch_files::BranchFiles;
use authoring::label_advice;
use authoring::objects::{self, ClusterTypeTemplates};
use model::kind::Kind;

use super::{NewObjects, OpenBranch, finish, labels, name};
use crate::arguments::AddClusterType;
use crate::exit::{Exit, Failure};

pub(super) fn run(options: &AddClusterType) -> anyhow::Result<Exit> {
    let (name, labels) = (name(&options.name, "cluster type")?, labels(&options.labels)?);
    let open = OpenBranch::of(&options.edit, Some(&options.environment))?;
    let files = open.files();
    let templates = templates(&files, options)?;
    let notes = label_advice::of_places(&files, &labels);
    drop(files);
    let object = objects::cluster_type(&name, &templates, labels);
    let new = NewObjects { notes, ..NewObjects::one(object, "cluster-type") };
    finish(open, new, (&options.place, &options.edit))
}

/// The templates of the command line, else those that all other cluster types have.
fn templates(files: &BranchFiles<'_>, options: &AddClusterType) -> Result<ClusterTypeTemplates, Failure> {
    let chosen = |given: &Option<String>, (field, option): (&str, &str)| match given {
        Some(given) => Ok(Arc::from(given.as_str())),
        None => usual(files, field).map_err(|known| missing(option, &known)),
    };
    Ok(ClusterTypeTemplates {
        reconciler: chosen(&options.reconciler, ("reconciler", "--reconciler"))?,
        namespace_service: chosen(&options.namespace, ("namespaceService", "--namespace"))?,
        config_type: chosen(&options.config_type, ("configType", "--config-type"))?,
    })
}

/// The template that all cluster types have in a field. Else the templates that there are.
fn usual(files: &BranchFiles<'_>, field: &str) -> Result<Arc<str>, BTreeSet<Arc<str>>> {
    let names: BTreeSet<_> =
        files.of_kind(Kind::ClusterType).filter_map(|object| object.text(&["spec", field])).cloned().collect();
    match names.first() {
        Some(name) if names.len() == 1 => Ok(Arc::clone(name)),
        _ => Err(names),
    }
}

fn missing(option: &str, known: &BTreeSet<Arc<str>>) -> Failure {
    let names: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        let message = format!("{option} is needed: the environment has no other cluster type to take it from");
        return Failure::usage(message).help("name a template of the main branch");
    }
    Failure::usage(format!("{option} is needed: the other cluster types use {}", names.join(", ")))
        .help("choose one of them, or another template")
}
