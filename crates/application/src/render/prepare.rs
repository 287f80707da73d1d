//! Merges the values of all targets, and replaces variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::source::{FileId, Files};
use model::yaml::{self, Span, YamlOptions};
use rayon::prelude::*;

use super::inputs::InputsId;
use super::{PreparedTarget, PreparedTargets, RenderRequest};
use crate::declarations::TargetDeclarations;
use crate::files::FileSet;
use crate::settings::SourceKind;
use crate::values::{
    Layer, MergedValue, TargetPath, VALUES_FILE, ValueContent, ValuesTree, json, merge, unknown_variable,
};
use crate::variables::{Variables, is_name, is_template};

impl<'a> PreparedTargets<'a> {
    /// Merges the values of all targets. `files` are the files that were read before, such as that of the settings.
    pub fn new(request: RenderRequest<'a>, mut files: Files) -> Self {
        let mut problems = Vec::new();
        let tree = ValuesTree::read(request.values, &mut files, &mut problems);
        let source_files: BTreeMap<_, _> =
            request.source.iter().map(|(path, file)| (Arc::clone(path), files.add((**file).clone()))).collect();
        if tree.targets().is_empty() {
            problems.push(no_targets(&request));
        }
        let defaults = defaults(&request, &source_files, &mut problems);
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
        problems.extend(TargetDeclarations::new(settings, environment, request.workload).check(tree.targets()));
        let preparing = Preparing {
            request: &request,
            tree: &tree,
            defaults: defaults.as_ref(),
            variables: &variables,
            source_files: &source_files,
        };
        let targets = tree.targets().par_iter().map(|path| preparing.target(path)).collect();
        Self { request, files, source_files, targets, problems }
    }
}

fn no_targets(request: &RenderRequest<'_>) -> Diagnostic {
    let RenderRequest { environment, settings_file, .. } = request;
    let message = format!("environment `{}` has no targets: no folder contains `{VALUES_FILE}`", environment.name);
    Diagnostic::error(Code::ValuesTree, message)
        .at(Origin::File(*settings_file), "")
        .help(format!("make a folder for each target with a file `{VALUES_FILE}`, which may be empty"))
}

/// The values that the chart itself has. They are the first ones to be merged, so that variables in them are replaced.
fn defaults(
    request: &RenderRequest<'_>,
    files: &BTreeMap<Arc<str>, FileId>,
    problems: &mut Vec<Diagnostic>,
) -> Option<Layer> {
    let file = request.source.get(VALUES_FILE).filter(|_| request.settings.source.kind == SourceKind::Chart)?;
    let id = *files.get(VALUES_FILE)?;
    let reading = yaml::read_bytes(&file.content, &YamlOptions::OBJECTS);
    problems.extend(reading.problems.into_iter().map(|problem| model::read::yaml_diagnostic(id, problem)));
    Some(Layer { file: id, root: reading.documents.into_iter().next().map(|document| document.root) })
}

/// What all targets have in common.
struct Preparing<'a> {
    request: &'a RenderRequest<'a>,
    tree: &'a ValuesTree,
    defaults: Option<&'a Layer>,
    variables: &'a Variables,
    source_files: &'a BTreeMap<Arc<str>, FileId>,
}

impl Preparing<'_> {
    fn target(&self, path: &TargetPath) -> PreparedTarget {
        let mut prepared = PreparedTarget {
            path: path.clone(),
            values: BTreeMap::new(),
            json: String::new(),
            source: None,
            inputs: None,
            problems: Vec::new(),
        };
        // The error of the file is reported once, not for each target.
        let Some(layers) = self.tree.layers(path) else { return prepared };
        let mut variables = self.variables.clone();
        variables.set("TARGET", path.name());
        prepared.values = merge(self.defaults.into_iter().chain(layers));
        prepared.values.values_mut().for_each(|value| value.substitute(&variables, &mut prepared.problems));
        match json(&prepared.values) {
            Ok(json) => prepared.json = json.to_string(),
            Err(problem) => prepared.problems.push(*problem),
        }
        if self.request.settings.source.kind != SourceKind::Chart {
            add_values(&mut variables, &prepared.values);
            prepared.source = self.source(&variables, &mut prepared.problems);
        }
        if prepared.problems.is_empty() {
            let source = prepared.source.as_ref().unwrap_or(self.request.source);
            prepared.inputs = Some(InputsId::new(self.request, path.as_str(), source, &prepared.json));
        }
        prepared
    }

    /// The files of the source with variables replaced. None if no file has variables.
    fn source(&self, variables: &Variables, problems: &mut Vec<Diagnostic>) -> Option<FileSet> {
        let mut source: Option<FileSet> = None;
        for (path, file) in self.request.source.iter() {
            let Some(text) = std::str::from_utf8(&file.content).ok().filter(|text| is_template(text)) else { continue };
            match variables.substitute(text) {
                Ok(text) => source.get_or_insert_with(|| self.request.source.clone()).replace(path, text.into_bytes()),
                Err(unknown) => {
                    let id = self.source_files.get(path).copied().unwrap_or_default();
                    let origin = |start: usize, name: &str| Origin::Span(id, Span::new(start, start + name.len() + 3));
                    problems.extend(
                        unknown
                            .into_iter()
                            .map(|one| unknown_variable(&one, variables).at(origin(one.start, &one.name), "")),
                    );
                }
            }
        }
        source
    }
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
