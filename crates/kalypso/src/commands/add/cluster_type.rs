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
    let fields = [
        (&options.reconciler, "reconciler", "--reconciler"),
        (&options.namespace, "namespaceService", "--namespace"),
        (&options.config_type, "configType", "--config-type"),
    ];
    let chosen = fields.map(|(given, field, option)| match given {
        Some(given) => Ok(Arc::from(given.as_str())),
        None => usual(files, field).map_err(|known| (option, known)),
    });
    match chosen {
        [Ok(reconciler), Ok(namespace_service), Ok(config_type)] => {
            Ok(ClusterTypeTemplates { reconciler, namespace_service, config_type })
        }
        chosen => Err(missing(chosen.into_iter().filter_map(Result::err).collect())),
    }
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

/// The failure for options that are needed. Each comes with the templates that other cluster types have.
fn missing(options: Vec<(&str, BTreeSet<Arc<str>>)>) -> Failure {
    let names: Vec<_> = options.iter().map(|(option, _)| *option).collect();
    let (names, is) = (names.join(" and "), if names.len() == 1 { "is" } else { "are" });
    let choices = options
        .iter()
        .filter(|(_, known)| !known.is_empty())
        .map(|(option, known)| format!("{option} {}", known.iter().map(|name| &**name).collect::<Vec<_>>().join("|")));
    let choices: Vec<_> = choices.collect();
    if choices.is_empty() {
        let message =
            format!("{names} {is} needed: the environment has no other cluster type to take the templates from");
        return Failure::usage(message).help("name templates of the main branch");
    }
    let message = format!("{names} {is} needed: the other cluster types have different templates");
    Failure::usage(message).help(format!("they have {}", choices.join(", ")))
}
