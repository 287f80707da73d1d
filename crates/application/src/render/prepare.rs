//! Merges the values of all targets, and replaces variables.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::source::{FileId, Files};
use model::yaml::Span;
use rayon::prelude::*;

use super::inputs::InputsId;
use super::source::{self, TargetSource};
use super::{PreparedTarget, PreparedTargets, RenderRequest, RenderSource};
use crate::declarations::TargetDeclarations;
use crate::files::FileSet;
use crate::settings::SourceKind;
use crate::values::{MergedValue, TargetPath, VALUES_FILE, ValueContent, ValuesTree, json, merge, unknown_variable};
use crate::variables::{UnknownVariable, Variables, is_name, is_template};

impl<'a> PreparedTargets<'a> {
    /// Merges the values of all targets. `files` are the files that were read before, such as that of the settings.
    pub fn new(request: RenderRequest<'a>, mut files: Files) -> Self {
        let mut problems = Vec::new();
        let tree = ValuesTree::read(request.values, &mut files, &mut problems);
        let sources = source::sources(&request, &mut files, &mut problems);
        let targets = source::targets(&request, &tree);
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
        let beside = files_beside(&request, &sources, &mut files);
        let preparing =
            Preparing { request: &request, tree: &tree, sources: &sources, beside: &beside, variables: &variables };
        let targets = targets.par_iter().map(|(path, source)| preparing.target(path, *source)).collect();
        Self { request, files, sources, targets, problems, is_repeating: false }
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
    /// The files beside values, by their paths.
    beside: &'a BTreeMap<Arc<str>, FileId>,
    variables: &'a Variables,
}

impl Preparing<'_> {
    fn target(&self, path: &TargetPath, source: usize) -> PreparedTarget {
        let mut prepared = PreparedTarget {
            path: path.clone(),
            values: BTreeMap::new(),
            json: String::new(),
            source,
            own_files: None,
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
        if !source.kind.is_helm() {
            add_values(&mut variables, &prepared.values);
            let files = FilesOfTarget::new(self, path, source);
            prepared.own_files = files.and_then(|files| files.substituted(&variables, &mut prepared.problems));
        }
        if prepared.problems.is_empty() {
            prepared.inputs = InputsId::new(self.request, &prepared, source);
        }
        prepared
    }
}

/// The files beside the values of the targets that are no clusters, with the ids that diagnostics refer to.
fn files_beside(
    request: &RenderRequest<'_>,
    sources: &[TargetSource<'_>],
    files: &mut Files,
) -> BTreeMap<Arc<str>, FileId> {
    let is_needed = sources.iter().any(|source| *source.kind == SourceKind::Files);
    let beside = request.values.iter().filter(|(path, _)| is_needed && !is_values(path));
    beside.map(|(path, file)| (Arc::clone(path), files.add((**file).clone()))).collect()
}

fn is_values(path: &str) -> bool {
    path.rsplit('/').next() == Some(VALUES_FILE)
}

/// The files that a target is rendered from.
struct FilesOfTarget<'a> {
    files: Cow<'a, FileSet>,
    /// The files that diagnostics refer to.
    ids: Cow<'a, BTreeMap<Arc<str>, FileId>>,
}

impl<'a> FilesOfTarget<'a> {
    /// The files of a source, with those of the target itself. None: the source has no files.
    fn new(preparing: &Preparing<'_>, target: &TargetPath, source: &'a TargetSource<'_>) -> Option<Self> {
        let mut all = Self { files: Cow::Borrowed(source.files?), ids: Cow::Borrowed(&source.ids) };
        let below = |path: &str| Some(path.strip_prefix(target.as_str())?.strip_prefix('/')?.to_owned());
        let beside = preparing.beside.iter().filter(|_| *source.kind == SourceKind::Files);
        for (path, id) in beside {
            let (Some(name), Some(file)) = (below(path), preparing.request.values.get(path)) else { continue };
            all.files.to_mut().add(&name, Arc::clone(file));
            all.ids.to_mut().insert(name.into(), *id);
        }
        Some(all)
    }

    /// The files with variables replaced. None: all targets have the same files.
    fn substituted(self, variables: &Variables, problems: &mut Vec<Diagnostic>) -> Option<FileSet> {
        let mut changed: Option<FileSet> = None;
        for (path, file) in self.files.iter() {
            let Some(text) = std::str::from_utf8(&file.content).ok().filter(|text| is_template(text)) else { continue };
            match variables.substitute(text) {
                Ok(text) => {
                    changed.get_or_insert_with(|| self.files.as_ref().clone()).replace(path, text.into_bytes());
                }
                Err(unknown) => {
                    let id = self.ids.get(path).copied().unwrap_or_default();
                    let origin = |start: usize, name: &str| Origin::Span(id, Span::new(start, start + name.len() + 3));
                    let problem =
                        |one: UnknownVariable| unknown_variable(&one, variables).at(origin(one.start, &one.name), "");
                    problems.extend(unknown.into_iter().map(problem));
                }
            }
        }
        changed.or(match self.files {
            Cow::Borrowed(_) => None,
            Cow::Owned(files) => Some(files),
        })
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
