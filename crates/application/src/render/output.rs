//! Runs the programs, and reads what they print.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use authoring::edit::{Change, ObjectPosition, edit};
use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::source::{File, FileId, Source};
use rayon::prelude::*;
use tempfile::TempDir;

use super::source::TargetSource;
use super::{
    PreparedTarget, PreparedTargets, RenderRequest, RenderedManifests, RenderedTarget, Rendering, TargetFiles,
    TargetOutput, TargetState, failure, pinned, repeat,
};
use crate::declarations::TargetDeclarations;
use crate::files::FileSet;
use crate::manifests::{self, ManifestObject, Parsed, is_manifest};
use crate::platform_values;
use crate::programs::{HelmTemplate, ProgramError, Programs};
use crate::schemas::{TargetSchemas, Validation};
use crate::services::ChartService;
use crate::settings::{DESCRIPTOR_FILE, HelmSettings, Namespaces, PatternNames, SourceKind};
use crate::values::TargetPath;

/// The reason why nothing can be rendered.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// A program is not there.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The files for the programs can't be written.
    #[error("the files for `helm` or `kustomize` can't be written: {0}")]
    Folder(#[from] std::io::Error),
}

/// The options of `helm template` for an own chart, or for the chart of a service.
pub(super) fn helm_options(settings: &HelmSettings, service: Option<&ChartService>) -> Vec<String> {
    let HelmSettings { namespace, include_crds, skip_tests, kube_version, api_versions, .. } = settings;
    let namespace = service.and_then(|service| service.namespace.as_ref()).or(namespace.as_ref());
    let mut options = Vec::new();
    options.extend(include_crds.then(|| "--include-crds".to_owned()));
    options.extend(skip_tests.then(|| "--skip-tests".to_owned()));
    options.extend(namespace.iter().map(|namespace| format!("--namespace={namespace}")));
    options.extend(kube_version.iter().map(|version| format!("--kube-version={version}")));
    options.extend(api_versions.iter().map(|version| format!("--api-versions={version}")));
    options
}

/// The name of the release of a target.
pub(super) fn release(request: &RenderRequest<'_>, target: &TargetPath, source: &TargetSource<'_>) -> String {
    request.settings.helm.release.text(names(request, target, source))
}

fn names<'a>(request: &'a RenderRequest<'_>, target: &'a TargetPath, source: &'a TargetSource<'_>) -> PatternNames<'a> {
    PatternNames {
        workload: request.workload.name.as_str(),
        environment: &request.environment.name,
        target: target.name(),
        service: source.service.map_or("", |service| &service.name),
        commit: "",
    }
}

impl PreparedTargets<'_> {
    /// Renders the targets that `is_known` does not accept: those whose manifests are not known from before.
    ///
    /// # Errors
    /// If a program is missing, or a folder can't be written. Everything else is a diagnostic of its target.
    pub fn render(
        mut self,
        programs: &dyn Programs,
        is_known: &(dyn Fn(&PreparedTarget) -> bool + Sync),
    ) -> Result<Rendering, RenderError> {
        let folder = TempDir::with_prefix("kalypso-app-")?;
        let needs = |target: &PreparedTarget| target.inputs.is_some() && !is_known(target);
        let work: Vec<_> = self.targets.iter().map(needs).collect();
        let ids: Vec<_> = self
            .targets
            .iter()
            .map(|target| self.files.add(output_file(&self.request, &target.path, Arc::default())))
            .collect();
        let request = &self.request;
        let charts = self.sources.iter().map(|source| source.files.filter(|_| source.kind.is_helm()));
        let schemas = TargetSchemas::new(&request.settings.kubernetes, (request.schemas, &mut self.files), charts);
        let can_differ = self.sources.iter().map(|source| self.is_repeating && repeat::can_differ(source)).collect();
        let running = Running { prepared: &self, programs, folder: folder.path(), schemas: &schemas, can_differ };
        let needed: BTreeSet<_> =
            self.targets.iter().zip(&work).filter(|(_, needs)| **needs).map(|(target, _)| target.source).collect();
        needed.into_iter().try_for_each(|source| running.write_source(source))?;
        let render =
            |((target, needs), file): ((&PreparedTarget, &bool), &FileId)| match (target.inputs.is_some(), needs) {
                (false, _) => Ok(TargetOutput::without_manifests(TargetState::Failed)),
                (true, false) => Ok(TargetOutput::without_manifests(TargetState::Known)),
                (true, true) => running.target(target, *file),
            };
        let results: Vec<_> =
            self.targets.par_iter().zip(&work).zip(&ids).map(render).collect::<Result<_, RenderError>>()?;
        // Diagnostics refer to the manifests before images are pinned.
        let results = match self.request.images {
            Some(digests) => pinned::pin(digests, (&self.targets, &ids), results),
            None => results,
        };
        let mut problems: BTreeMap<Diagnostic, BTreeSet<&TargetPath>> = BTreeMap::new();
        let mut targets = Vec::new();
        for ((target, output), file) in self.targets.iter().zip(results).zip(ids) {
            for problem in target.problems.iter().cloned().chain(output.problems) {
                problems.entry(problem).or_default().insert(&target.path);
            }
            if let Some(content) = output.content {
                self.files.set(file, output_file(&self.request, &target.path, content));
            }
            let service = self.sources.get(target.source).and_then(|source| source.service);
            targets.push(RenderedTarget {
                path: target.path.clone(),
                version: service.and_then(|service| service.version.clone()),
                inputs: target.inputs.clone(),
                state: output.state,
            });
        }
        self.problems.extend(schemas.problems());
        let of_targets = problems.into_iter().map(|(problem, targets)| naming(problem, &targets));
        let diagnostics = std::mem::take(&mut self.problems).into_iter().chain(of_targets).collect();
        Ok(Rendering { files: self.files, targets, diagnostics: model::diagnostic::merged(diagnostics) })
    }
}

/// A diagnostic with the targets that it concerns.
fn naming(problem: Diagnostic, targets: &BTreeSet<&TargetPath>) -> Diagnostic {
    const NAMED_MAX: usize = 3;
    let names: Vec<_> = targets.iter().take(NAMED_MAX).map(|path| path.as_str()).collect();
    let more = targets.len().saturating_sub(NAMED_MAX);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let noun = if targets.len() == 1 { "target" } else { "targets" };
    problem.note(format!("of {noun} {}{more}", names.join(", ")))
}

/// The file that diagnostics of manifests refer to.
fn output_file(request: &RenderRequest<'_>, target: &TargetPath, content: Arc<[u8]>) -> File {
    let source =
        Source { label: "rendered".into(), revision: request.environment.name.as_str().into(), ..Source::directory() };
    let path = format!("{target}/{}", request.settings.output.file);
    File { source: Arc::new(source), path: path.into(), id: GitId::of_blob(&content), content }
}

/// The rendering of targets.
struct Running<'a> {
    prepared: &'a PreparedTargets<'a>,
    programs: &'a dyn Programs,
    folder: &'a Path,
    schemas: &'a TargetSchemas<'a>,
    /// The sources that are rendered twice.
    can_differ: Vec<bool>,
}

impl Running<'_> {
    fn chart(&self, source: usize) -> PathBuf {
        self.folder.join(format!("chart-{source}"))
    }

    /// Writes the chart that some targets share. The chart of a service contains its dependencies.
    fn write_source(&self, index: usize) -> Result<(), RenderError> {
        let settings = self.prepared.request.settings;
        let source = self.prepared.sources.get(index);
        let Some((source, files)) = source.and_then(|source| Some((source, source.files?))) else { return Ok(()) };
        if !source.kind.is_helm() {
            return Ok(());
        }
        files.write(&self.chart(index))?;
        if source.service.is_none() && needs_download(files) {
            self.programs.helm_dependencies(&self.chart(index), settings.helm.time_limit)?;
        }
        Ok(())
    }

    fn target(&self, target: &PreparedTarget, file: FileId) -> Result<TargetOutput, RenderError> {
        let failed = TargetOutput::without_manifests(TargetState::Failed);
        let Some(source) = self.prepared.sources.get(target.source) else { return Ok(failed) };
        let output = match self.output(target, source) {
            Err(RenderError::Program(error)) if !error.is_outside() => {
                let places = (&self.prepared.files, source);
                return Ok(TargetOutput {
                    problems: vec![failure::diagnostic(&error, places, &target.values)],
                    ..failed
                });
            }
            output => output?,
        };
        let mut problems: Vec<_> = output.get(DESCRIPTOR_FILE).map(|_| reserved(file)).into_iter().collect();
        if *source.kind == SourceKind::Files {
            let output = output.into_iter().map(|(name, content)| (name, content.into()));
            return Ok(files((output.collect(), problems), file));
        }
        let mut manifests = RenderedManifests::default();
        let is_copy = *source.kind == SourceKind::Manifests;
        for (name, content) in output {
            let content = self.without_namespaces(content);
            if is_manifest(&name) {
                // A file that is copied has its own place.
                let copied = source.ids.get(&*name).filter(|_| is_copy);
                let Parsed { objects, problems: own } = manifests::parse(&content, copied.copied().unwrap_or(file));
                problems.extend(own);
                manifests.objects.extend(objects);
            }
            manifests.files.insert(name, content.into());
        }
        problems.extend(manifests::check(&manifests.objects));
        let request = &self.prepared.request;
        let Validation { problems: of_schemas, unknown } = self.schemas.validate(&manifests.objects, target.source);
        let content = manifests.files.values().next().cloned();
        let by_helm = content.as_deref().filter(|_| source.kind.is_helm()).unwrap_or_default();
        let made_up = self.made_up(target, source, &manifests.objects);
        problems.extend(of_schemas.into_iter().chain(made_up).map(|problem| with_template(problem, by_helm)));
        manifests.unvalidated = unknown;
        let declarations = TargetDeclarations::new(request.settings, request.environment, request.workload);
        let declared = (request.workload, declarations.find(&target.path));
        problems.extend(platform_values::check(&manifests.objects, &request.settings.platform_config_map, declared));
        if manifests.objects.is_empty() && problems.is_empty() {
            problems.push(nothing(file));
        }
        let is_good = !problems.iter().any(Diagnostic::is_error);
        let state = if is_good { TargetState::Rendered(manifests) } else { TargetState::Failed };
        Ok(TargetOutput { state, problems, content })
    }

    /// What differs in a second rendering.
    fn made_up(&self, target: &PreparedTarget, source: &TargetSource<'_>, first: &[ManifestObject]) -> Vec<Diagnostic> {
        if !self.can_differ.get(target.source).is_some_and(|can| *can) {
            return Vec::new();
        }
        let again = self.output(target, source).ok().and_then(|output| output.into_values().next());
        again.map_or_else(Vec::new, |again| repeat::check(first, &self.without_namespaces(again)))
    }

    /// The files that a target consists of, by name.
    fn output(
        &self,
        target: &PreparedTarget,
        source: &TargetSource<'_>,
    ) -> Result<BTreeMap<String, Vec<u8>>, RenderError> {
        let request = &self.prepared.request;
        let settings = request.settings;
        let Some(files) = target.own_files.as_ref().or(source.files) else { return Ok(BTreeMap::new()) };
        let one = |content| BTreeMap::from([(settings.output.file.clone(), content)]);
        match source.kind {
            SourceKind::Chart | SourceKind::Services => {
                let run = HelmTemplate {
                    chart: &self.chart(target.source),
                    release: &release(request, &target.path, source),
                    values: &target.json,
                    options: &helm_options(&settings.helm, source.service),
                    time_limit: settings.helm.time_limit,
                };
                Ok(one(self.programs.helm_template(&run)?))
            }
            SourceKind::Kustomize(overlay) => {
                let folder = TempDir::new_in(self.folder)?;
                files.write(folder.path())?;
                let overlay = overlay.as_ref().map(|overlay| overlay.text(names(request, &target.path, source)));
                let overlay = crate::files::normalized(overlay.as_deref().unwrap_or_default()).unwrap_or_default();
                Ok(one(self.programs.kustomize_build(&folder.path().join(overlay), settings.helm.time_limit)?))
            }
            SourceKind::Manifests => Ok(copied(files, is_manifest)),
            SourceKind::Files => Ok(copied(files, |_| true)),
        }
    }

    /// The manifests without the namespaces of their objects, if the settings say so.
    fn without_namespaces(&self, content: Vec<u8>) -> Vec<u8> {
        if self.prepared.request.settings.output.namespaces == Namespaces::Keep {
            return content;
        }
        let objects = manifests::parse(&content, FileId::default()).objects;
        let namespaced = objects.iter().filter(|object| !object.id.namespace.is_empty());
        namespaced.fold(content, |content, object| {
            let at = ObjectPosition { document: object.place.document, item: object.place.item };
            let change = Change::Remove(FieldPath::from(["metadata", "namespace"]));
            edit(&content, at, &change).unwrap_or(content)
        })
    }
}

/// Whether a chart has a lock file with dependencies that are not in it.
fn needs_download(chart: &FileSet) -> bool {
    let is_vendored = chart.iter().any(|(path, _)| path.starts_with("charts/"));
    chart.get("Chart.lock").is_some() && !is_vendored
}

/// Files with the paths that they have. Those that are not selected are left out.
fn copied(source: &FileSet, is_selected: fn(&str) -> bool) -> BTreeMap<String, Vec<u8>> {
    let selected = source.iter().filter(|(path, _)| is_selected(path));
    selected.map(|(path, file)| (path.to_string(), file.content.to_vec())).collect()
}

/// The output of a target that is no cluster.
fn files((files, mut problems): (TargetFiles, Vec<Diagnostic>), file: FileId) -> TargetOutput {
    if files.is_empty() {
        problems.push(nothing(file));
    }
    if problems.iter().any(Diagnostic::is_error) {
        return TargetOutput { problems, ..TargetOutput::without_manifests(TargetState::Failed) };
    }
    let objects = files.iter().flat_map(|(name, content)| manifests::contents(name, content, file)).collect();
    let manifests = RenderedManifests { files, objects, are_files: true, ..RenderedManifests::default() };
    TargetOutput { problems, ..TargetOutput::without_manifests(TargetState::Rendered(manifests)) }
}

fn reserved(file: FileId) -> Diagnostic {
    let message = format!("a deployment writes `{DESCRIPTOR_FILE}` itself, so the source can't have this file");
    Diagnostic::error(Code::RenderFailed, message).at(Origin::File(file), "").help("give the file another name")
}

/// A diagnostic with the template that its place comes from: Helm names it in a comment before each object.
fn with_template(problem: Diagnostic, content: &[u8]) -> Diagnostic {
    let Some(Origin::Span(_, span)) = problem.labels.first().map(|label| &label.origin) else { return problem };
    let before = content.get(..span.start as usize).and_then(|before| std::str::from_utf8(before).ok());
    let document = before.and_then(|before| before.rsplit("\n---\n").next()).unwrap_or_default();
    match document.lines().find_map(|line| line.strip_prefix("# Source: ")) {
        Some(template) => problem.note(format!("the template is {template}")),
        None => problem,
    }
}

fn nothing(file: FileId) -> Diagnostic {
    Diagnostic::warning(Code::RenderFailed, "nothing is rendered: the output has no object").at(Origin::File(file), "")
}
