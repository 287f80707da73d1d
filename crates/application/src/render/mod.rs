//! Renders the targets of an environment: values to manifests.
//!
//! [`PreparedTargets`] is pure: it merges the values of each target, and computes the digest of everything that its manifests depend on. [`PreparedTargets::render`] runs the
//! programs, in parallel, only for the targets that need it. An error stops only its own target.

mod failure;
mod inputs;
mod output;
mod pinned;
mod prepare;
mod repeat;
mod source;

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::Diagnostic;
use model::object::{Object, Workload};
use model::source::{FileId, Files};

use self::source::TargetSource;
use crate::files::FileSet;
use crate::images::{ImageDigests, PinnedImages};
use crate::manifests::ManifestObject;
use crate::services::Services;
use crate::settings::{ApplicationSettings, EnvironmentSettings};
use crate::values::{MergedValue, TargetPath};
use crate::variables::Variables;
use crate::version::ApplicationVersion;

pub use self::inputs::InputsId;
pub use self::output::RenderError;

/// What is rendered.
#[derive(Clone, Copy)]
pub struct RenderRequest<'a> {
    /// The settings.
    pub settings: &'a ApplicationSettings,
    /// The file with the settings.
    pub settings_file: FileId,
    /// The environment.
    pub environment: &'a EnvironmentSettings,
    /// The workload.
    pub workload: &'a Object<Workload>,
    /// What the targets are rendered from.
    pub source: RenderSource<'a>,
    /// The files of the other sources, in the order of the settings.
    pub others: &'a [FileSet],
    /// The files of the folder with schemas.
    pub schemas: &'a FileSet,
    /// The files with values.
    pub values: &'a FileSet,
    /// The variables that are the same for all targets, without those of the configuration file.
    pub variables: &'a Variables,
    /// The version of the program that renders.
    pub program_version: &'a str,
    /// The digests that images get. None: images stay as they are.
    pub images: Option<&'a ImageDigests>,
}

/// What the targets of an environment are rendered from.
#[derive(Clone, Copy)]
pub enum RenderSource<'a> {
    /// The files of one folder, for all targets that have no other source.
    Folder(&'a FileSet),
    /// The charts of services: each service is one target, or has some.
    Services(&'a Services),
}

/// The targets of an environment, ready to be rendered.
pub struct PreparedTargets<'a> {
    request: RenderRequest<'a>,
    /// The files that diagnostics refer to.
    files: Files,
    /// What the targets are rendered from.
    sources: Vec<TargetSource<'a>>,
    targets: Vec<PreparedTarget>,
    /// The problems that concern no single target.
    problems: Vec<Diagnostic>,
    /// Whether charts that can make something up are rendered twice.
    is_repeating: bool,
}

/// A target that is ready to be rendered.
#[derive(Clone, Debug)]
pub struct PreparedTarget {
    /// Its path.
    pub path: TargetPath,
    /// Its values. Empty if they can't be read.
    pub values: BTreeMap<Arc<str>, MergedValue>,
    /// Its values as JSON.
    json: String,
    /// What it is rendered from: an index of the sources.
    source: usize,
    /// The files of the source as this target has them: with its variables, and its own files. None: as all targets have them.
    own_files: Option<FileSet>,
    /// The digest of everything that its manifests depend on. None: an error stops it.
    pub inputs: Option<InputsId>,
    /// What is wrong with it.
    problems: Vec<Diagnostic>,
}

/// The rendered targets of an environment.
pub struct Rendering {
    /// The files that diagnostics refer to.
    pub files: Files,
    /// The targets, by path.
    pub targets: Vec<RenderedTarget>,
    /// All diagnostics. Those that are the same for several targets are one.
    pub diagnostics: Vec<Diagnostic>,
}

/// A rendered target.
#[derive(Clone, Debug)]
pub struct RenderedTarget {
    /// Its path.
    pub path: TargetPath,
    /// Its own version: that of the chart of a service. None: it has the version of the application.
    pub version: Option<ApplicationVersion>,
    /// The digest of everything that its manifests depend on. None: an error stops it.
    pub inputs: Option<InputsId>,
    /// Its manifests.
    pub state: TargetState,
}

/// Whether a target was rendered.
#[derive(Clone, Debug)]
pub enum TargetState {
    /// It was rendered.
    Rendered(RenderedManifests),
    /// It was not rendered, because its manifests are known.
    Known,
    /// An error stopped it.
    Failed,
}

/// The result for one target.
struct TargetOutput {
    state: TargetState,
    problems: Vec<Diagnostic>,
    /// The file that diagnostics refer to, also if an error stops the target. None: there are no manifests.
    content: Option<Arc<[u8]>>,
}

impl TargetOutput {
    fn without_manifests(state: TargetState) -> Self {
        Self { state, problems: Vec::new(), content: None }
    }
}

/// The files of a target, by their paths in its folder.
pub type TargetFiles = BTreeMap<String, Arc<[u8]>>;

/// The manifests of a target.
#[derive(Clone, Debug, Default)]
pub struct RenderedManifests {
    /// The files.
    pub files: TargetFiles,
    /// The objects in them.
    pub objects: Vec<ManifestObject>,
    /// Whether they are for hosts that are no clusters: any files, which no `kustomization.yaml` names.
    pub are_files: bool,
    /// The number of objects that were not validated, because their kinds have no known schema, by kind.
    pub unvalidated: BTreeMap<Arc<str>, usize>,
    /// The digests that their images got.
    pub pinned: PinnedImages,
}

impl RenderedManifests {
    /// The number of objects of each kind, by kind.
    pub fn kinds(&self) -> BTreeMap<&str, usize> {
        let mut kinds = BTreeMap::new();
        for object in &self.objects {
            *kinds.entry(&*object.id.kind).or_default() += 1;
        }
        kinds
    }
}

impl PreparedTarget {
    /// What is wrong with it.
    pub fn problems(&self) -> &[Diagnostic] {
        &self.problems
    }
}

impl PreparedTargets<'_> {
    /// The targets, by path.
    pub fn targets(&self) -> &[PreparedTarget] {
        &self.targets
    }

    /// The files that values and diagnostics refer to.
    pub fn files(&self) -> &Files {
        &self.files
    }
}

#[cfg(test)]
mod tests;
