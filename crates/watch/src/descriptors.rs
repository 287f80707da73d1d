//! The deployment descriptors in a branch.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::plan::FolderChanges;
use git::{Commit, FileContent, Repositories, RepositoryError};
use hub_api::endpoint::Endpoint;
use hub_api::publication::{DesiredTarget, DesiredVersion};
use hub_api::watches::WatchProblem;
use memchr::memmem;
use model::diagnostic::{Diagnostic, Origin};
use model::git_id::GitId;
use model::kind::Kind;
use model::object::{AnyObject, DeploymentDescriptor};
use model::source::{FileId, Positions};
use model::tree::{Mode, OpenError};

use crate::BranchKey;
use crate::limits::{DESCRIPTOR_BYTES_MAX, DESCRIPTOR_FILES_MAX, DESCRIPTORS_MAX};

/// The descriptors of one branch.
#[derive(Clone, Default)]
pub(crate) struct BranchDescriptors {
    /// The descriptors.
    pub(crate) descriptors: Vec<Arc<DescribedManifests>>,
    /// Whether the list is complete: all files of the branch could be read.
    pub(crate) is_complete: bool,
}

/// A folder of manifests, as a descriptor describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DescribedManifests {
    /// The branch with the manifests.
    pub(crate) manifests: BranchKey,
    /// The folder of the manifests.
    pub(crate) path: String,
    /// The deployment target of the manifests.
    pub(crate) target: DesiredTarget,
    /// The file with the descriptor.
    pub(crate) file: String,
}

impl DescribedManifests {
    /// The names that identify its target.
    pub(crate) fn key(&self) -> [&str; 5] {
        let DesiredTarget { environment, workspace, application, workload, name, .. } = &self.target;
        [environment, workspace, application, workload, name]
    }

    /// Whether both name the same manifests and version.
    pub(crate) fn has_same_content(&self, other: &Self) -> bool {
        (&self.manifests, &self.path, &self.target.version) == (&other.manifests, &other.path, &other.target.version)
    }
}

/// The files with descriptors of a branch, at a commit.
#[derive(Default)]
pub(crate) struct DescriptorFiles {
    /// The last commit that was read. None: nothing was read.
    pub(crate) commit: Option<GitId>,
    by_path: BTreeMap<String, DescriptorFile>,
    is_cut: bool,
}

/// A file with descriptors.
#[derive(Default)]
struct DescriptorFile {
    /// The descriptors of its newest good version.
    descriptors: Vec<Arc<DescribedManifests>>,
    /// The problems of its newest version.
    problems: Vec<WatchProblem>,
    /// Whether no good version is known.
    is_unknown: bool,
}

/// The reason why files can't be read.
pub(crate) enum ReadError {
    /// The repository can't be read.
    Repository(RepositoryError),
    /// A folder can't be opened.
    Open(OpenError),
}

impl From<RepositoryError> for ReadError {
    fn from(error: RepositoryError) -> Self {
        Self::Repository(error)
    }
}

impl From<OpenError> for ReadError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl DescriptorFiles {
    /// Reads the files outside of folders of places that differ between two trees of a branch. The state before is empty to read all files.
    pub(crate) fn read(
        &mut self,
        repositories: &dyn Repositories,
        commit: &Commit,
        changes: &FolderChanges,
    ) -> Result<(), ReadError> {
        // After an error, the next call must read all files again.
        self.commit = None;
        let open = git::opener(repositories, commit);
        for (count, difference) in changes.before.diff(&changes.after, &open).enumerate() {
            let difference = difference?;
            if count >= DESCRIPTOR_FILES_MAX {
                self.is_cut = true;
                break;
            }
            if !model::read::is_read(&difference.path) {
                continue;
            }
            match difference.after.filter(|entry| matches!(entry.mode, Mode::File | Mode::Executable)) {
                Some(entry) => {
                    let content = repositories.content(commit, entry.blob.id(), DESCRIPTOR_BYTES_MAX)?;
                    self.read_file(difference.path, content);
                }
                None => drop(self.by_path.remove(&difference.path)),
            }
        }
        self.commit = Some(commit.id);
        Ok(())
    }

    fn read_file(&mut self, path: String, content: FileContent) {
        let content = match content {
            FileContent::Bytes(content) if memmem::find(&content, b"DeploymentDescriptor").is_some() => content,
            // Large files are bundles of manifests. Descriptors are small.
            _ => {
                self.by_path.remove(&path);
                return;
            }
        };
        let read = model::read::read_kind(FileId::default(), &content, Kind::DeploymentDescriptor);
        let problem = |diagnostic: &Diagnostic| problem(&path, &content, diagnostic);
        let mut problems: Vec<_> = read.diagnostics.iter().map(problem).collect();
        let mut descriptors = Vec::new();
        let mut is_good = read.is_good();
        for object in &read.objects {
            let AnyObject::DeploymentDescriptor(object) = object else { continue };
            match described_manifests(&object.spec, &path) {
                Ok(described) => descriptors.push(Arc::new(described)),
                Err(problem) => {
                    problems.push(problem);
                    is_good = false;
                }
            }
        }
        let file = self
            .by_path
            .entry(path)
            .or_insert_with(|| DescriptorFile { is_unknown: true, ..DescriptorFile::default() });
        file.problems = problems;
        if is_good {
            file.descriptors = descriptors;
            file.is_unknown = false;
        }
    }

    /// The descriptors of the branch, for the registry.
    pub(crate) fn descriptors(&self) -> BranchDescriptors {
        let descriptors = self.by_path.values().flat_map(|file| &file.descriptors).take(DESCRIPTORS_MAX).cloned();
        let descriptors: Vec<_> = descriptors.collect();
        let is_cut = self.is_cut || descriptors.len() == DESCRIPTORS_MAX;
        BranchDescriptors { descriptors, is_complete: !is_cut && !self.by_path.values().any(|file| file.is_unknown) }
    }

    /// The problems of the files.
    pub(crate) fn problems(&self) -> Vec<WatchProblem> {
        let mut problems: Vec<_> = self.by_path.values().flat_map(|file| &file.problems).cloned().collect();
        if self.is_cut || self.descriptors().descriptors.len() == DESCRIPTORS_MAX {
            problems.push(WatchProblem {
                file: None,
                line: None,
                message: format!(
                    "the branch has more than {DESCRIPTOR_FILES_MAX} YAML files or {DESCRIPTORS_MAX} descriptors: the rest is not read"
                ),
                hint: Some("use several branches".to_owned()),
            });
        }
        problems
    }
}

/// Converts a diagnostic to a problem. The line number is computed here, because the file may change later.
fn problem(path: &str, content: &[u8], diagnostic: &Diagnostic) -> WatchProblem {
    let span = diagnostic.labels.iter().find_map(|label| match &label.origin {
        Origin::Span(_, span) => Some(span.start),
        _ => None,
    });
    WatchProblem {
        file: Some(path.to_owned()),
        line: span.map(|start| Positions::new(content).position(start as usize).line),
        message: format!("{}: {}", diagnostic.code, diagnostic.message),
        hint: diagnostic.help.first().cloned(),
    }
}

fn described_manifests(descriptor: &DeploymentDescriptor, file: &str) -> Result<DescribedManifests, WatchProblem> {
    let wrong = |what: &str, error: &dyn std::fmt::Display| WatchProblem {
        file: Some(file.to_owned()),
        line: None,
        message: format!("the {what} of target `{}`: {error}", descriptor.target),
        hint: None,
    };
    let place = &descriptor.manifests;
    let endpoint =
        Endpoint::new(&place.repo, &place.branch, &place.path).map_err(|error| wrong("manifests", &error))?;
    let source = &descriptor.source;
    let source = Endpoint::new(&source.repo, &source.branch, &source.path).map_err(|error| wrong("source", &error))?;
    let optional = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let version = DesiredVersion {
        build: optional(&descriptor.build),
        commit: optional(&descriptor.commit),
        ..DesiredVersion::named(descriptor.version.to_string())
    };
    let target = DesiredTarget {
        workspace: descriptor.workspace.to_string(),
        application: descriptor.application.to_string(),
        workload: descriptor.workload.to_string(),
        name: descriptor.target.to_string(),
        environment: descriptor.environment.to_string(),
        labels: BTreeMap::new(),
        source_endpoint: Some(source.to_string()),
        version: Some(version),
    };
    target.check().map_err(|error| wrong("description", &error))?;
    Ok(DescribedManifests {
        manifests: BranchKey { repository: endpoint.repository().to_owned(), branch: endpoint.branch().to_owned() },
        path: endpoint.path().to_owned(),
        target,
        file: file.to_owned(),
    })
}

/// The body of the fuzz target: checks the parser for files with descriptors.
#[cfg(feature = "fuzz")]
pub(crate) fn fuzz(content: &[u8]) {
    let read = model::read::read_kind(FileId::default(), content, Kind::DeploymentDescriptor);
    for diagnostic in &read.diagnostics {
        assert!(!problem("file.yaml", content, diagnostic).message.is_empty());
    }
    for object in &read.objects {
        let AnyObject::DeploymentDescriptor(object) = object else { continue };
        match described_manifests(&object.spec, "file.yaml") {
            Ok(described) => assert_eq!(described.target.check(), Ok(())),
            Err(problem) => assert!(!problem.message.is_empty()),
        }
    }
}
