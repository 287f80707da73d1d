//! The files that targets are rendered from: one folder for all targets, or the chart of each service.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::similar;
use model::source::{FileId, Files};
use model::yaml::{self, YamlOptions};

use super::{RenderRequest, RenderSource};
use crate::files::FileSet;
use crate::services::{ChartService, Services};
use crate::settings::SourceKind;
use crate::values::{Layer, TargetPath, VALUES_FILE, ValuesTree};

/// The files that one or more targets are rendered from.
pub(super) struct TargetSource<'a> {
    /// The files. None: an error stops the targets.
    pub(super) files: Option<&'a FileSet>,
    /// The files that diagnostics can refer to, by path.
    pub(super) ids: BTreeMap<Arc<str>, FileId>,
    /// The values that the chart itself has.
    pub(super) defaults: Option<Layer>,
    /// How it is rendered.
    pub(super) kind: &'a SourceKind,
    /// The service whose chart it is. None: the chart is the application's own.
    pub(super) service: Option<&'a ChartService>,
}

/// The sources of an environment's targets.
pub(super) fn sources<'a>(
    request: &RenderRequest<'a>,
    files: &mut Files,
    problems: &mut Vec<Diagnostic>,
) -> Vec<TargetSource<'a>> {
    match request.source {
        RenderSource::Folder(set) => {
            let mut source = TargetSource::of_folder(set, &request.settings.source.kind, files);
            if *source.kind == SourceKind::Chart {
                source.defaults = source.read_defaults(problems);
            }
            let others = request.others.iter().map(|set| TargetSource::of_folder(set, &SourceKind::Files, files));
            std::iter::once(source).chain(others).collect()
        }
        RenderSource::Services(services) => {
            services.all.iter().map(|service| TargetSource::of_service(service, files)).collect()
        }
    }
}

/// The targets, each with the index of its source, by path.
pub(super) fn targets(request: &RenderRequest<'_>, tree: &ValuesTree) -> Vec<(TargetPath, usize)> {
    let mut targets: Vec<_> = match request.source {
        RenderSource::Folder(_) => {
            let others = &request.settings.others;
            let other = |path: &TargetPath| others.iter().position(|other| other.pattern(path.as_str()).is_some());
            let source = |path: &TargetPath| (path.clone(), other(path).map_or(0, |index| index + 1));
            tree.targets().iter().map(source).collect()
        }
        RenderSource::Services(services) => {
            let of_service = |(index, service): (usize, &ChartService)| {
                tree.targets_of(&service.name).into_iter().map(move |path| (path, index))
            };
            services.all.iter().enumerate().flat_map(of_service).collect()
        }
    };
    targets.sort();
    targets
}

/// Values that no service has, and an environment without any: often the wrong folder is read.
pub(super) fn stray_values(request: &RenderRequest<'_>, services: &Services, tree: &ValuesTree) -> Vec<Diagnostic> {
    if request.values.is_empty() && !services.all.is_empty() {
        let message = format!("no service has values in environment `{}`", request.environment.name);
        let found = Diagnostic::warning(Code::ValuesTree, message).at(Origin::File(request.settings_file), "");
        return vec![found.help(format!("is the folder right? An empty file `{VALUES_FILE}` there says that it is"))];
    }
    let names = || services.all.iter().map(|service| service.name.as_str());
    let stray = tree.targets().iter().filter_map(|path| {
        let service = path.as_str().split('/').next().filter(|name| names().all(|known| known != *name))?;
        let file = tree.layers(path)?.last()?.file;
        let found = Diagnostic::warning(Code::ValuesTree, format!("there is no service `{service}` for these values"));
        let help = similar::nearest(service, names()).map(|nearest| format!("did you mean `{nearest}`?"));
        let help = help.unwrap_or_else(|| "remove the folder, or add the service".to_owned());
        Some(found.at(Origin::File(file), "").help(help))
    });
    stray.collect()
}

impl<'a> TargetSource<'a> {
    fn of_folder(set: &'a FileSet, kind: &'a SourceKind, files: &mut Files) -> Self {
        let ids = set.iter().map(|(path, file)| (Arc::clone(path), files.add((**file).clone()))).collect();
        Self { files: Some(set), ids, defaults: None, kind, service: None }
    }

    /// The chart of a service. People can't edit it, so nothing in it is a problem of theirs: only its values are shown.
    fn of_service(service: &'a ChartService, files: &mut Files) -> Self {
        let set = service.chart.as_ref().map(|chart| &chart.files);
        let values = set.and_then(|set| set.get(VALUES_FILE));
        let ids = values.into_iter().map(|file| (VALUES_FILE.into(), files.add((**file).clone()))).collect();
        let kind = &SourceKind::Services;
        let mut source = Self { files: set, ids, defaults: None, kind, service: Some(service) };
        source.defaults = source.read_defaults(&mut Vec::new());
        source
    }

    /// The values of the chart. They are the first ones to be merged, so that each value knows what it replaces.
    fn read_defaults(&self, problems: &mut Vec<Diagnostic>) -> Option<Layer> {
        let file = self.files?.get(VALUES_FILE)?;
        let id = *self.ids.get(VALUES_FILE)?;
        let reading = yaml::read_bytes(&file.content, &YamlOptions::OBJECTS);
        problems.extend(reading.problems.into_iter().map(|problem| model::read::yaml_diagnostic(id, problem)));
        Some(Layer { file: id, root: reading.documents.into_iter().next().map(|document| document.root) })
    }

    /// The file whose texts stay as they are: the values of a chart that others wrote may contain `${NAME}` for a program in a container.
    pub(super) fn literal_file(&self) -> Option<FileId> {
        self.service.and_then(|_| self.ids.get(VALUES_FILE).copied())
    }
}
