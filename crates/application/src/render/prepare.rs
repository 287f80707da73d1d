//! Merges the values of all targets, and replaces variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::source::Files;
use model::yaml::Span;
use rayon::prelude::*;

use super::inputs::InputsId;
use super::source::{self, TargetSource};
use super::{PreparedTarget, PreparedTargets, RenderRequest, RenderSource};
use crate::declarations::TargetDeclarations;
use crate::files::FileSet;
use crate::values::{MergedValue, TargetPath, VALUES_FILE, ValueContent, ValuesTree, json, merge, unknown_variable};
use crate::variables::{UnknownVariable, Variables, is_name, is_template};

impl<'a> PreparedTargets<'a> {
    /// Merges the values of all targets. `files` are the files that were read before, such as that of the settings.
    pub fn new(request: RenderRequest<'a>, mut files: Files) -> Self {
        let mut problems = Vec::new();
        let tree = ValuesTree::read(request.values, &mut files, &mut problems);
        let sources = source::sources(&request, &mut files, &mut problems);
        let targets = source::targets(request.source, &tree);
        match request.source {
            RenderSource::Folder(_) if targets.is_empty() => problems.push(no_targets(&request)),
            RenderSource::Folder(_) => {}
            RenderSource::Services(services) => {
                problems.extend(services.problems.iter().cloned());
                problems.extend(source::stray_values(&request, services, &tree));
            }
        }
        let mut variables = request.variables.clone();
        variables.set("ENVIRONMENT", request.environment.name.as_str());
        let RenderRequest { settings, settings_file, environment, .. } = request;
        let own: BTreeMap<_, _> = settings.variables.iter().chain(&environment.variables).collect();
        if let Err(unknown) = variables.add_all(own.iter().map(|(name, text)| (name.as_str(), text.text.as_str()))) {
            problems.extend(unknown.into_iter().map(|(name, unknown)| {
                let span = own.iter().find(|(own, _)| own.as_str() == name).map_or(Span::at(0), |(_, text)| text.span);
                unknown_variable(&unknown, &variables).at(Origin::Span(settings_file, span), "")
            }));
        }
        let paths: Vec<_> = targets.iter().map(|(path, _)| path.clone()).collect();
        problems.extend(TargetDeclarations::new(settings, environment, request.workload).check(&paths));
        let preparing = Preparing { request: &request, tree: &tree, sources: &sources, variables: &variables };
        let targets = targets.par_iter().map(|(path, source)| preparing.target(path, *source)).collect();
        Self { request, files, sources, targets, problems }
    }
}

fn no_targets(request: &RenderRequest<'_>) -> Diagnostic {
    let RenderRequest { environment, settings_file, .. } = request;
    let message = format!("environment `{}` has no targets: no folder contains `{VALUES_FILE}`", environment.name);
    Diagnostic::error(Code::ValuesTree, message)
        .at(Origin::File(*settings_file), "")
        .help(format!("make a folder for each target with a file `{VALUES_FILE}`, which may be empty"))
}

/// What all targets have in common.
struct Preparing<'a> {
    request: &'a RenderRequest<'a>,
    tree: &'a ValuesTree,
    sources: &'a [TargetSource<'a>],
    variables: &'a Variables,
}

impl Preparing<'_> {
    fn target(&self, path: &TargetPath, source: usize) -> PreparedTarget {
        let mut prepared = PreparedTarget {
            path: path.clone(),
            values: BTreeMap::new(),
            json: String::new(),
            source,
            substituted: None,
            inputs: None,
            problems: Vec::new(),
        };
        // The error of the file is reported once, not for each target.
        let (Some(layers), Some(source)) = (self.tree.layers(path), self.sources.get(source)) else { return prepared };
        let mut variables = self.variables.clone();
        variables.set("TARGET", path.name());
        prepared.values = merge(source.defaults.iter().chain(layers));
        let literal = source.literal_file();
        prepared.values.values_mut().for_each(|value| value.substitute(&variables, literal, &mut prepared.problems));
        match json(&prepared.values) {
            Ok(json) => prepared.json = json.to_string(),
            Err(problem) => prepared.problems.push(*problem),
        }
        if !self.request.settings.source.kind.is_helm() {
            add_values(&mut variables, &prepared.values);
            prepared.substituted = substituted(source, &variables, &mut prepared.problems);
        }
        if prepared.problems.is_empty() {
            prepared.inputs = InputsId::new(self.request, &prepared, source);
        }
        prepared
    }
}

/// The files of a source with variables replaced. None if no file has variables.
fn substituted(source: &TargetSource<'_>, variables: &Variables, problems: &mut Vec<Diagnostic>) -> Option<FileSet> {
    let files = source.files?;
    let mut changed: Option<FileSet> = None;
    for (path, file) in files.iter() {
        let Some(text) = std::str::from_utf8(&file.content).ok().filter(|text| is_template(text)) else { continue };
        match variables.substitute(text) {
            Ok(text) => changed.get_or_insert_with(|| files.clone()).replace(path, text.into_bytes()),
            Err(unknown) => {
                let id = source.ids.get(path).copied().unwrap_or_default();
                let origin = |start: usize, name: &str| Origin::Span(id, Span::new(start, start + name.len() + 3));
                let problem =
                    |one: UnknownVariable| unknown_variable(&one, variables).at(origin(one.start, &one.name), "");
                problems.extend(unknown.into_iter().map(problem));
            }
        }
    }
    changed
}

/// Makes the values at the top variables, for sources that are no charts.
fn add_values(variables: &mut Variables, values: &BTreeMap<Arc<str>, MergedValue>) {
    for (name, value) in values {
        if let ValueContent::Scalar(scalar) = &value.content
            && is_name(name)
            && variables.get(name).is_none()
            && !scalar.text.contains('\n')
        {
            variables.set(name, &*scalar.text);
        }
    }
}
