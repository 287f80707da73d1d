//! `kalypso add cluster-type`.

use std::collections::BTreeSet;
use std::sync::Arc;

use authoring::branch_files::BranchFiles;
use authoring::label_advice;
use authoring::objects::{self, ClusterTypeTemplates};
use delivery::sources::loaded::Loaded;
use model::kind::Kind;
use model::object::Template;

use super::{NewObjects, OpenBranch, finish, labels, name};
use crate::arguments::AddClusterType;
use crate::exit::{Exit, Failure};

pub(super) fn run(options: &AddClusterType) -> anyhow::Result<Exit> {
    let (name, labels) = (name(&options.name, "cluster type")?, labels(&options.labels)?);
    let open = OpenBranch::new(&options.edit, Some(&options.environment))?;
    let files = open.files();
    let templates = templates((&open, &files), options)?;
    let mut warnings = label_advice::of_places(&files, &labels);
    if let Some(mixed) = open.branch.current().and_then(|loaded| Mixed::find(&loaded, &templates)) {
        let is_chosen = options.reconciler.is_some() && options.namespace.is_some() && options.config_type.is_some();
        if !is_chosen {
            return Err(mixed.failure().into());
        }
        warnings.push(mixed.message());
    }
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

/// Options with the templates that each can name.
type Choices = Vec<(&'static str, Vec<Arc<str>>)>;

/// Templates of a cluster type of which some make Kubernetes objects, and others do not: a host without containers can't use a `Namespace`.
struct Mixed {
    /// The options with their templates that make Kubernetes objects.
    of_kubernetes: Vec<(&'static str, Arc<str>)>,
    /// The others.
    others: Vec<(&'static str, Arc<str>)>,
    /// For each option, the templates of its type of either sort.
    choices: [Choices; 2],
}

impl Mixed {
    /// None if all templates are of one sort, or if one of them is not known.
    fn find(loaded: &Loaded, templates: &ClusterTypeTemplates) -> Option<Self> {
        let ClusterTypeTemplates { reconciler, namespace_service, config_type } = templates;
        let chosen = [(RECONCILER, reconciler), (NAMESPACE, namespace_service), (CONFIG, config_type)];
        let templates = &loaded.fleet.templates;
        let is_known = chosen.iter().all(|(_, name)| templates.contains_key(&***name));
        let is_of_kubernetes = |name: &str| templates.get(name).is_some_and(|template| makes_objects(&template.spec));
        let (of_kubernetes, others): (Vec<_>, Vec<_>) = chosen
            .iter()
            .map(|(field, name)| (field.option, Arc::clone(*name)))
            .partition(|(_, name)| is_of_kubernetes(name));
        let choices = [true, false].map(|wanted| {
            let of = |field: &TemplateField| {
                let names = of_type(loaded, field).into_iter().filter(|name| is_of_kubernetes(name) == wanted);
                (field.option, names.collect())
            };
            [RECONCILER, NAMESPACE, CONFIG].iter().map(of).collect()
        });
        (is_known && !of_kubernetes.is_empty() && !others.is_empty()).then_some(Self { of_kubernetes, others, choices })
    }

    fn message(&self) -> String {
        let named = |list: &[(&str, Arc<str>)]| {
            list.iter().map(|(_, name)| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
        };
        let (these, others) = (named(&self.of_kubernetes), named(&self.others));
        let (word, make) = if self.of_kubernetes.len() == 1 { ("template", "makes") } else { ("templates", "make") };
        let do_not = if self.others.len() == 1 { "does not" } else { "do not" };
        format!("{word} {these} {make} Kubernetes objects, and {others} {do_not}: one cluster can't use both")
    }

    fn failure(&self) -> Failure {
        let [of_kubernetes, others] = &self.choices;
        let line = |choices: &[(&str, Vec<Arc<str>>)]| {
            let option = |(option, names): &(&str, Vec<Arc<str>>)| {
                format!("{option} {}", if names.is_empty() { "TEMPLATE".to_owned() } else { names.join("|") })
            };
            choices.iter().map(option).collect::<Vec<_>>().join(" ")
        };
        let help = format!(
            "for a cluster: {}; for a host without containers: {}; `kalypso add template --list` has more; to mix them on purpose, name all three",
            line(of_kubernetes),
            line(others)
        );
        Failure::usage(self.message()).help(help)
    }
}

/// Whether a template makes Kubernetes objects.
fn makes_objects(template: &Template) -> bool {
    template.manifests.iter().any(|text| text.contains("apiVersion") && text.contains("kind"))
}
