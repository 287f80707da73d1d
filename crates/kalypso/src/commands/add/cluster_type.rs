//! `kalypso add cluster-type`.

use std::collections::BTreeSet;
use std::sync::Arc;

use authoring::branch_files::BranchFiles;
use authoring::label_advice;
use authoring::objects::{self, ClusterTypeTemplates};
use delivery::loaded::Loaded;
use model::kind::Kind;

use super::{NewObjects, OpenBranch, finish, labels, name};
use crate::arguments::AddClusterType;
use crate::exit::{Exit, Failure};

pub(super) fn run(options: &AddClusterType) -> anyhow::Result<Exit> {
    let (name, labels) = (name(&options.name, "cluster type")?, labels(&options.labels)?);
    let open = OpenBranch::of(&options.edit, Some(&options.environment))?;
    let files = open.files();
    let templates = templates((&open, &files), options)?;
    let warnings = label_advice::of_places(&files, &labels);
    drop(files);
    let object = objects::cluster_type(&name, &templates, labels);
    let new = NewObjects { warnings, ..NewObjects::one(object, "cluster-type") };
    finish(open, new, (&options.place, &options.edit))
}

/// A field of a cluster type that names a template.
struct TemplateField {
    /// The field.
    name: &'static str,
    /// The option that sets it.
    option: &'static str,
    /// The `type` of its templates.
    of_type: &'static str,
}

const RECONCILER: TemplateField = TemplateField { name: "reconciler", option: "--reconciler", of_type: "reconciler" };
const NAMESPACE: TemplateField =
    TemplateField { name: "namespaceService", option: "--namespace", of_type: "namespace" };
const CONFIG: TemplateField = TemplateField { name: "configType", option: "--config-type", of_type: "config" };

/// The templates of the command line. The default is the template that all other cluster types use or, for the first cluster type, the only template of its type.
fn templates(
    (open, files): (&OpenBranch, &BranchFiles<'_>),
    options: &AddClusterType,
) -> Result<ClusterTypeTemplates, Failure> {
    let fields = [(RECONCILER, &options.reconciler), (NAMESPACE, &options.namespace), (CONFIG, &options.config_type)];
    let is_first = files.of_kind(Kind::ClusterType).next().is_none();
    let is_complete = fields.iter().all(|(_, given)| given.is_some());
    let current = if is_first && !is_complete { open.branch.current() } else { None };
    let chosen = fields.map(|(field, given)| {
        if let Some(given) = given {
            return Ok(Arc::from(given.as_str()));
        }
        let known = current.as_ref().map_or_else(|| used(files, &field), |loaded| of_type(loaded, &field));
        only(&known).ok_or((field.option, known))
    });
    match chosen {
        [Ok(reconciler), Ok(namespace_service), Ok(config_type)] => {
            Ok(ClusterTypeTemplates { reconciler, namespace_service, config_type })
        }
        chosen => Err(missing(is_first, chosen.into_iter().filter_map(Result::err).collect())),
    }
}

/// The templates that cluster types have in a field.
fn used(files: &BranchFiles<'_>, field: &TemplateField) -> BTreeSet<Arc<str>> {
    let objects = files.of_kind(Kind::ClusterType);
    objects.filter_map(|object| object.text(&["spec", field.name])).cloned().collect()
}

/// The templates of the type that a field needs.
fn of_type(loaded: &Loaded, field: &TemplateField) -> BTreeSet<Arc<str>> {
    let templates = loaded.fleet.templates.values().filter(|template| *template.spec.kind == *field.of_type);
    templates.map(|template| Arc::clone(template.name.as_arc())).collect()
}

fn only(names: &BTreeSet<Arc<str>>) -> Option<Arc<str>> {
    names.first().filter(|_| names.len() == 1).cloned()
}

/// The failure for options that are needed. Each comes with the templates that could be meant.
fn missing(is_first: bool, options: Vec<(&str, BTreeSet<Arc<str>>)>) -> Failure {
    let names: Vec<_> = options.iter().map(|(option, _)| *option).collect();
    let (names, is) = (names.join(" and "), if names.len() == 1 { "is" } else { "are" });
    let choices = options
        .iter()
        .filter(|(_, known)| !known.is_empty())
        .map(|(option, known)| format!("{option} {}", known.iter().map(|name| &**name).collect::<Vec<_>>().join("|")));
    let choices: Vec<_> = choices.collect();
    if choices.is_empty() {
        let message = format!("{names} {is} needed: the environment has no such templates");
        return Failure::usage(message).help("add one to the main branch: kalypso add template --list");
    }
    let why = if is_first { "there are several templates" } else { "the other cluster types have different templates" };
    Failure::usage(format!("{names} {is} needed: {why}")).help(format!("choose {}", choices.join(", ")))
}
