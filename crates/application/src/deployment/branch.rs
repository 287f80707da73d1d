//! What a branch of the GitOps repository contains.

use std::collections::BTreeMap;

use git::{Commit, FileContent, Repositories, RepositoryError, opener};
use model::source::FileId;
use model::tree::{Child, Open, OpenError, Tree};

use super::ReleaseKeys;
use super::TRACKING_FOLDER;
use super::descriptor::{self, ReadDescriptor, RecordedFiles};
use crate::files::joined;
use crate::images::PinnedImages;
use crate::limits::{DESCRIPTOR_BYTES_MAX, FOLDER_DEPTH_MAX, FOLDERS_MAX, OUTPUT_BYTES_MAX};
use crate::manifests::{ManifestObject, contents};
use crate::render::InputsId;
use crate::settings::{DESCRIPTOR_FILE, KUSTOMIZATION_FILE};
use crate::values::TargetPath;

/// A branch of the GitOps repository, as far as deployments are concerned.
#[derive(Clone, Debug, Default)]
pub struct DeployedBranch {
    /// Its files.
    pub tree: Tree,
    /// The folder that the targets are in.
    pub path: String,
    /// The targets with a descriptor, of all workloads.
    pub targets: BTreeMap<TargetPath, DeployedTarget>,
    /// The tracking files, by name, without the line break at their end.
    pub tracking: BTreeMap<String, String>,
}

/// A deployed target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeployedTarget {
    /// The workload.
    pub workload: String,
    /// The environment of the platform.
    pub environment: String,
    /// The version of the manifests.
    pub version: String,
    /// The build. Empty without one.
    pub build: String,
    /// The version of the application, if it is not that of the manifests.
    pub application_version: Option<String>,
    /// The commit of the source.
    pub commit: String,
    /// What the version consists of.
    pub keys: ReleaseKeys,
    /// The digests that the images of the manifests got.
    pub images: PinnedImages,
    /// The digest of what the manifests depend on. None: another program wrote the descriptor.
    pub inputs: Option<InputsId>,
    /// The files that were written with the descriptor.
    pub recorded: RecordedFiles,
    /// The files that are not as they were written: edited or removed by others.
    pub edited: Vec<String>,
}

/// What is deployed in an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeployedRelease {
    /// The version of the application, with its build.
    pub version: String,
    /// The commit of the source.
    pub commit: String,
    /// What the version consists of.
    pub keys: ReleaseKeys,
    /// The digests that images of its targets got.
    pub images: PinnedImages,
}

/// The reason why a branch can't be read.
#[derive(Debug, thiserror::Error)]
pub enum BranchError {
    /// The repository can't be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// A folder can't be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// There are too many folders.
    #[error(
        "the branch has more than {FOLDERS_MAX} folders; set `path` of `[gitops]` to the folder of this application"
    )]
    TooMany,
}

impl DeployedBranch {
    /// A branch that does not exist yet.
    pub fn empty(path: &str) -> Self {
        Self { path: path.to_owned(), ..Self::default() }
    }

    /// Reads a branch at a commit. Files of others are not opened.
    ///
    /// # Errors
    /// If the repository can't be read.
    pub fn read(repositories: &dyn Repositories, commit: &Commit, path: &str) -> Result<Self, BranchError> {
        let tree = repositories.tree(commit)?;
        let open = opener(repositories, commit);
        let mut branch = Self { tree, ..Self::empty(path) };
        let root = branch.tree.folder(path, &open)?;
        let mut folders: Vec<_> = root.into_iter().map(|tree| (String::new(), tree)).collect();
        let content = |id, limit| {
            Ok(match repositories.content(commit, id, limit)? {
                FileContent::Bytes(bytes) => Some(bytes),
                FileContent::TooLarge(_) => None,
            })
        };
        let mut count = 0;
        while let Some((folder, tree)) = folders.pop() {
            count += 1;
            if count > FOLDERS_MAX {
                return Err(BranchError::TooMany);
            }
            for (name, child) in tree.children() {
                match child.as_file() {
                    Some(file) if &**name == DESCRIPTOR_FILE && !folder.is_empty() => {
                        let bytes: Result<_, BranchError> = content(file.blob.id(), DESCRIPTOR_BYTES_MAX);
                        let Some(read) = bytes?.and_then(|bytes| descriptor::read(&bytes)) else { continue };
                        let target = DeployedTarget::new(read, &tree, &open)?;
                        branch.targets.insert(TargetPath::new(folder.as_str()), target);
                    }
                    Some(_) => {}
                    None if name.starts_with('.') || folder.split('/').count() > FOLDER_DEPTH_MAX => {}
                    None => folders.extend(child.opened(&open)?.map(|tree| (joined(&folder, name), tree))),
                }
            }
        }
        let tracking = branch.tree.folder(&joined(path, TRACKING_FOLDER), &open)?;
        for (name, child) in tracking.iter().flat_map(Tree::children) {
            let Some(file) = child.as_file() else { continue };
            let bytes: Result<_, BranchError> = content(file.blob.id(), DESCRIPTOR_BYTES_MAX);
            let text = bytes?.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
            branch.tracking.extend(text.map(|text| (name.to_string(), text.trim().to_owned())));
        }
        Ok(branch)
    }

    /// The targets of a workload in an environment.
    pub fn of<'a>(
        &'a self,
        workload: &'a str,
        environment: &'a str,
    ) -> impl Iterator<Item = (&'a TargetPath, &'a DeployedTarget)> {
        self.targets.iter().filter(move |(_, target)| target.workload == workload && target.environment == environment)
    }
}

impl DeployedTarget {
    fn new(read: ReadDescriptor, folder: &Tree, open: &Open<'_>) -> Result<Self, OpenError> {
        let ReadDescriptor { spec, inputs, application_version, keys, images, files } = read;
        let mut edited = Vec::new();
        for (name, id) in &files.0 {
            if folder.find(name, open)?.map(|child| Child::id(&child)) != Some(*id) {
                edited.push(name.clone());
            }
        }
        Ok(Self {
            workload: spec.workload.to_string(),
            environment: spec.environment.to_string(),
            version: spec.version.to_string(),
            build: spec.build.to_string(),
            application_version,
            commit: spec.commit.to_string(),
            keys,
            images,
            inputs,
            recorded: files,
            edited,
        })
    }

    fn release(&self) -> DeployedRelease {
        DeployedRelease {
            version: self.release_version(),
            commit: self.commit.clone(),
            keys: self.keys.clone(),
            images: self.images.clone(),
        }
    }

    /// The version of the application, with its build.
    pub fn release_version(&self) -> String {
        self.application_version.clone().unwrap_or_else(|| self.whole_version())
    }

    /// The version of the manifests with its build.
    pub fn whole_version(&self) -> String {
        if self.build.is_empty() { self.version.clone() } else { format!("{}+{}", self.version, self.build) }
    }
}

impl DeployedRelease {
    /// Whether another target has the same release.
    fn is_same(&self, other: &Self) -> bool {
        (&self.version, &self.commit, &self.keys) == (&other.version, &other.commit, &other.keys)
    }

    /// Adds the digests of another target. Those that are known stay.
    fn add_images(&mut self, images: PinnedImages) {
        for (reference, digest) in images.0 {
            self.images.0.entry(reference).or_insert(digest);
        }
    }
}

impl DeployedBranch {
    /// What is deployed. None: nothing is deployed, or the targets have different versions and no tracking file decides.
    pub fn release(&self, workload: &str, environment: &str) -> Option<DeployedRelease> {
        let mut releases: Vec<DeployedRelease> = Vec::new();
        for release in self.of(workload, environment).map(|(_, target)| target.release()) {
            match releases.iter_mut().find(|known| known.is_same(&release)) {
                Some(known) => known.add_images(release.images),
                None => releases.push(release),
            }
        }
        match releases.len() {
            1 => releases.pop(),
            _ => self.tracked(&releases),
        }
    }

    /// What is deployed of a version, whatever other targets have. None: no target has it.
    pub fn release_of(&self, version: &str, workload: &str, environment: &str) -> Option<DeployedRelease> {
        let targets = self.of(workload, environment).map(|(_, target)| target.release());
        targets.filter(|release| release.version == version).reduce(|mut known, release| {
            known.add_images(release.images);
            known
        })
    }

    /// The release that the tracking files name. Those of targets, `releases`, know more than these files.
    fn tracked(&self, releases: &[DeployedRelease]) -> Option<DeployedRelease> {
        let file = |name: &str| self.tracking.get(name).cloned();
        let (version, commit) = (file("Version")?, file("Promoted_Commit_Id")?);
        let known = releases.iter().find(|release| release.version == version && release.commit == commit);
        Some(known.cloned().unwrap_or_else(|| {
            let keys = ReleaseKeys { image_tag: file("Image_tag"), ..ReleaseKeys::default() };
            DeployedRelease { version, commit, keys, images: PinnedImages::default() }
        }))
    }

    /// The objects in the manifests of a target, as they are in the branch now.
    ///
    /// # Errors
    /// If the repository can't be read.
    pub fn objects(
        &self,
        repositories: &dyn Repositories,
        commit: &Commit,
        target: &TargetPath,
    ) -> Result<Vec<ManifestObject>, BranchError> {
        let open = opener(repositories, commit);
        let recorded = self.targets.get(target).into_iter().flat_map(|target| target.recorded.0.keys());
        let mut objects = Vec::new();
        for name in recorded.filter(|name| *name != KUSTOMIZATION_FILE) {
            let path = joined(&joined(&self.path, target.as_str()), name);
            let Some(file) = self.tree.file(&path, &open)? else { continue };
            if let FileContent::Bytes(content) = repositories.content(commit, file.blob.id(), OUTPUT_BYTES_MAX)? {
                objects.extend(contents(name, &content, FileId::default()));
            }
        }
        Ok(objects)
    }
}
