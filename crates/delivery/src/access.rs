//! How a control plane and the repositories that it names are read.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use git::load::{BrokenFiles, ControlPlane};
use git::{GitRepositories, Repositories, RepositoryUrl};
use model::name::EnvironmentName;
use model::progress::Progress;

use crate::acknowledgement::Entry;
use crate::error::DestinationError;
use crate::memo_file::MemoFile;

/// Repositories that branches and loaded environments share.
pub type SharedRepositories = Arc<dyn Repositories + Send>;

/// A control plane, and how repositories are reached.
#[derive(Clone, Debug)]
pub struct ControlPlaneSettings {
    /// The control plane's repository.
    pub repo: RepositoryUrl,
    /// Its main branch.
    pub branch: String,
    /// How repositories are reached, and where copies of them are.
    pub git: git::Settings,
    /// Warnings that do not count.
    pub acknowledgements: Arc<[Entry]>,
}

/// A control plane with the repositories that it is read from.
pub struct RepositoryAccess {
    /// The control plane.
    pub settings: ControlPlaneSettings,
    /// The repositories.
    pub repositories: SharedRepositories,
    /// Where work is counted.
    pub progress: Progress,
    /// Which files are known to be broken.
    broken: BrokenFiles,
    /// How many of them were known before.
    broken_before: usize,
}

impl ControlPlaneSettings {
    /// The control plane and its branch, by one name whatever its repository is called in this folder.
    pub fn subject(&self) -> String {
        let url = self.repo.as_str();
        let here = fs::canonicalize(self.git.base.join(url)).ok();
        format!("{}@{}", here.as_deref().and_then(Path::to_str).unwrap_or(url), self.branch)
    }

    /// The file with the results of earlier runs on an environment: beside the copies of repositories.
    pub fn memo_file(&self, environment: &EnvironmentName) -> MemoFile {
        let cache = (self.git.cache.as_path(), self.git.key.clone());
        MemoFile::of(cache, &self.subject(), environment.as_str())
    }

    /// The file with which files of the control plane's repositories are broken.
    fn broken_file(&self) -> MemoFile {
        MemoFile::of_broken_files((&self.git.cache, self.git.key.clone()), &self.subject())
    }
}

impl RepositoryAccess {
    /// The repositories as git reaches them.
    pub fn new(settings: ControlPlaneSettings, progress: Progress) -> Self {
        let repositories = Arc::new(GitRepositories::new(settings.git.clone()));
        Self::with(settings, repositories, progress)
    }

    /// These repositories, with what earlier runs have found broken there.
    pub fn with(settings: ControlPlaneSettings, repositories: SharedRepositories, progress: Progress) -> Self {
        let broken = BrokenFiles::read(&settings.broken_file().load_bytes());
        Self { settings, repositories, progress, broken_before: broken.len(), broken }
    }

    /// Saves for later runs which files are broken.
    pub fn save_broken_files(&self) {
        if self.broken.len() > self.broken_before {
            self.settings.broken_file().save_bytes(&self.broken.write());
        }
    }

    /// The control plane at the head of its main branch.
    pub fn control_plane(&self) -> ControlPlane<'_> {
        let ControlPlaneSettings { repo, branch, git, .. } = &self.settings;
        ControlPlane {
            url: repo,
            branch,
            rewrite: &git.rewrite,
            promoted: None,
            progress: &self.progress,
            broken: &self.broken,
        }
    }
}

/// The URL of a GitOps repository. `http` is allowed only if the settings rewrite it.
///
/// # Errors
/// If it is not allowed.
pub fn destination_url(access: Option<&RepositoryAccess>, text: &str) -> Result<RepositoryUrl, DestinationError> {
    let is_rewritten = access.is_some_and(|access| {
        let rules = &access.settings.git.rewrite;
        rules.iter().any(|rule| !rule.from.is_empty() && text.starts_with(&rule.from))
    });
    let parse = if is_rewritten && text.starts_with("http://") {
        RepositoryUrl::from_configuration
    } else {
        RepositoryUrl::from_object
    };
    parse(text).map_err(|error| DestinationError::Url { repository: git::without_credential(text), error })
}
