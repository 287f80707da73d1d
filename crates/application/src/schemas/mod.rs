//! Validates manifests against the schemas of their kinds, where they are known.
//!
//! The schema of a kind comes from the first of these sources that has it:
//!
//! 1. custom resource definitions that the same target renders
//! 2. the folder that `schemas` in `[kubernetes]` of the configuration file names: custom resource definitions, or JSON schemas as kubeconform names them
//! 3. folders `crds` of the chart, which Helm does not render by default
//! 4. the schemas of Kubernetes' own kinds, which are part of the program (`kubernetes`)
//!
//! The comparison (`walk`) follows Kubernetes: fields that are null are not there, whole numbers are integers, and scalars have the types of Go's YAML.
//! It is not that of a library for JSON Schema, because the schemas are those of OpenAPI with rules of their own, because the places of values in the text
//! are needed, and because charts of other people contain schemas: the work, the depth and the patterns have limits, and nothing is ever fetched.
//! Not checked are rules in CEL (`x-kubernetes-validations`), and what only a cluster knows, such as defaults and admission.

mod custom;
mod field_schema;
mod folder;
mod kubernetes;
mod read;
mod report;
mod text;
mod walk;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use model::diagnostic::Diagnostic;
use model::source::{FileId, Files};
use model::yaml::Node;

use self::custom::CustomKinds;
use self::folder::SchemaFolder;
use self::read::KindSchema;
use self::walk::Walk;
use crate::files::FileSet;
use crate::limits::{MANIFEST_PROBLEMS_MAX, SCHEMA_STEPS_MAX};
use crate::manifests::{self, ManifestObject};
use crate::settings::{KubernetesSettings, is_yaml_name};

pub use self::report::unvalidated;

/// The schemas for the targets of an environment. Each is read once, when it is first needed.
pub(crate) struct TargetSchemas<'a> {
    settings: &'a KubernetesSettings,
    folder: SchemaFolder,
    /// The custom resource definitions of each chart.
    charts: Vec<ChartDefinitions<'a>>,
    /// The number of steps for one target.
    steps_max: usize,
}

/// The custom resource definitions that a chart contains.
struct ChartDefinitions<'a> {
    files: Option<&'a FileSet>,
    kinds: OnceLock<CustomKinds>,
}

/// The result of the validation of a target.
#[derive(Debug, Default)]
pub(crate) struct Validation {
    /// What does not fit.
    pub(crate) problems: Vec<Diagnostic>,
    /// The number of objects whose kinds have no known schema, by kind.
    pub(crate) unknown: BTreeMap<Arc<str>, usize>,
}

/// The schema of an object.
enum KnownSchema {
    /// There is one.
    Schema(Arc<KindSchema>),
    /// There is none, but something is wrong with the version or the kind.
    Problem(Diagnostic),
    /// There is none.
    None,
}

impl<'a> TargetSchemas<'a> {
    /// The schemas of a folder, and of the charts that targets are rendered from. `files` are the files that diagnostics refer to.
    pub(crate) fn new(
        settings: &'a KubernetesSettings,
        (folder, files): (&FileSet, &mut Files),
        charts: impl IntoIterator<Item = Option<&'a FileSet>>,
    ) -> Self {
        let folder = if settings.is_validated { SchemaFolder::new(folder, files) } else { SchemaFolder::default() };
        let charts = charts.into_iter().map(|files| ChartDefinitions { files, kinds: OnceLock::new() }).collect();
        Self { settings, folder, charts, steps_max: SCHEMA_STEPS_MAX }
    }

    /// Validates the objects of a target, which is rendered from the chart with this index.
    pub(crate) fn validate(&self, objects: &[ManifestObject], chart: usize) -> Validation {
        let mut validation = Validation::default();
        if !self.settings.is_validated {
            return validation;
        }
        let rendered = CustomKinds::new(objects);
        let mut work = self.steps_max;
        for object in objects.iter().filter(|object| !self.settings.skips(&object.id.group, &object.id.kind)) {
            match self.find(object, (&rendered, chart)) {
                KnownSchema::Schema(schema) => {
                    let found = Walk::new(&schema, report::is_secret(object), &mut work).object(&object.node);
                    validation.problems.extend(found.into_iter().map(|one| report::mismatch(object, one)));
                }
                KnownSchema::Problem(problem) => validation.problems.push(problem),
                KnownSchema::None => *validation.unknown.entry(Arc::clone(&object.id.kind)).or_default() += 1,
            }
            let too_many = validation.problems.len() > MANIFEST_PROBLEMS_MAX;
            if work == 0 || too_many {
                validation.problems.truncate(MANIFEST_PROBLEMS_MAX);
                validation.problems.push(report::incomplete(object, too_many));
                break;
            }
        }
        validation.problems.extend(rendered.problems());
        validation
    }

    /// What is wrong with the folder of schemas, as far as it was needed.
    pub(crate) fn problems(&self) -> Vec<Diagnostic> {
        self.folder.problems()
    }

    fn find(&self, object: &ManifestObject, (rendered, chart): (&CustomKinds, usize)) -> KnownSchema {
        let (group, kind) = (&*object.id.group, &*object.id.kind);
        let api_version = object.node.get("apiVersion").and_then(Node::as_scalar).map_or("", |scalar| &scalar.text);
        let version = api_version.rsplit('/').next().unwrap_or_default();
        let key = (group, version, kind);
        let own = kubernetes::schemas();
        let is_own = || !own.kinds_of(group).is_empty();
        let in_chart = || self.charts.get(chart).filter(|_| !is_own()).map(ChartDefinitions::kinds);
        let found = rendered.schema(key).or_else(|| self.folder.schema(key));
        if let Some(schema) = found.or_else(|| in_chart()?.schema(key)) {
            return KnownSchema::Schema(schema);
        }
        if let Some(known) = own.versions(group, kind).find(|known| &*known.version == version) {
            return KnownSchema::Schema(Arc::new(KindSchema::of_kubernetes(&known.definition)));
        }
        let custom = rendered.versions(group, kind).or_else(|| self.folder.kinds().versions(group, kind));
        if let Some(versions) = custom.or_else(|| in_chart()?.versions(group, kind)) {
            // The problem of a schema that can't be used is reported once.
            let is_known = versions.contains(&version);
            return if is_known {
                KnownSchema::None
            } else {
                KnownSchema::Problem(report::other_version(object, &versions))
            };
        }
        report::removed(object, api_version).map_or(KnownSchema::None, KnownSchema::Problem)
    }
}

impl ChartDefinitions<'_> {
    /// The kinds that the folders `crds` of the chart define. What is wrong there is Helm's to say.
    fn kinds(&self) -> &CustomKinds {
        self.kinds.get_or_init(|| {
            let files = self.files.into_iter().flat_map(FileSet::iter);
            let files = files.filter(|(path, _)| is_yaml_name(path) && path.split('/').any(|part| part == "crds"));
            let objects: Vec<_> =
                files.flat_map(|(_, file)| manifests::parse(&file.content, FileId::default()).objects).collect();
            CustomKinds::new(&objects)
        })
    }
}

#[cfg(test)]
mod tests;
