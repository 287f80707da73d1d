//! Access to a control plane and to the repositories that it refers to.

pub mod acknowledgement;
pub mod memo_file;
pub mod renderer;
pub mod state_anchors;

use std::cmp::Ordering;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use engine::promotion::graph::Graph;
use git::load::{BrokenFiles, ControlPlane};
use git::publications::NO_RELEASES;
use git::{GitRepositories, PublicKey, Repositories, RepositoryUrl, Revision, SigningKey, repository_key};
use model::name::EnvironmentName;
use model::progress::Progress;
use model::rollout::EnvironmentOrder;

use crate::access::acknowledgement::AcknowledgedWarning;
use crate::access::memo_file::MemoFile;
use crate::access::state_anchors::StateAnchors;
use crate::error::DestinationError;

/// Repositories that branches and loaded environments share.
pub type SharedRepositories = Arc<dyn Repositories + Send>;

/// The keys that sign the commits with the states of environments.
#[derive(Clone, Debug)]
pub struct StateKeys {
    /// The key of this program. An error: why it has none. It can't store states that must be signed then.
    pub own: Result<SigningKey, Arc<str>>,
    /// The keys whose commits count. Empty: all commits count.
    pub trusted: Arc<[PublicKey]>,
}

impl Default for StateKeys {
    fn default() -> Self {
        let reason = "neither `promotion.state-key-file` nor `promotion.state-key-env` is set in kalypso.toml";
        Self { own: Err(reason.into()), trusted: Arc::default() }
    }
}

/// The settings of a control plane and of access to repositories.
#[derive(Clone, Debug)]
pub struct ControlPlaneSettings {
    /// The control plane's repository.
    pub repo: RepositoryUrl,
    /// Its main branch.
    pub branch: String,
    /// The order of environments where no promotion leads from one to another.
    pub environment_order: EnvironmentOrder,
    /// The settings for access to repositories, and for local copies of them.
    pub git: git::Settings,
    /// The acknowledgements of the configuration file.
    pub acknowledgements: Arc<[AcknowledgedWarning]>,
    /// The keys that sign the commits with states.
    pub state_keys: StateKeys,
}

/// A control plane with access to its repositories.
pub struct RepositoryAccess {
    /// The control plane.
    pub settings: ControlPlaneSettings,
    /// The repositories.
    pub repositories: SharedRepositories,
    /// The version of Kalypso that renders: [`renderer::version`].
    pub(crate) renderer: Arc<str>,
    /// The progress of the run.
    pub progress: Progress,
    /// What the branches with the states of environments must contain.
    pub(crate) state_anchors: StateAnchors,
    /// The cache of broken files.
    broken: BrokenFiles,
    /// The number of files in this cache at the start.
    broken_before: usize,
}

impl ControlPlaneSettings {
    /// Identifies the control plane and its branch. For a local repository, the notation of its path does not matter.
    pub fn subject(&self) -> String {
        let url = self.repo.as_str();
        let real_path = fs::canonicalize(self.git.base.join(url)).ok();
        format!("{}@{}", real_path.as_deref().and_then(Path::to_str).unwrap_or(url), self.branch)
    }

    /// The file with the results of earlier runs for an environment. It is in the folder with the copies of repositories.
    pub fn memo_file(&self, environment: &EnvironmentName) -> MemoFile {
        let cache = (self.git.cache.as_path(), self.git.key.clone());
        MemoFile::new(cache, &self.subject(), environment.as_str())
    }

    /// The file with the list of broken files in the control plane's repositories.
    fn broken_file(&self) -> MemoFile {
        MemoFile::of_broken_files((&self.git.cache, self.git.key.clone()), &self.subject())
    }
}

impl RepositoryAccess {
    /// Access with git.
    pub fn new(settings: ControlPlaneSettings, progress: Progress) -> Self {
        let repositories = Arc::new(GitRepositories::new(settings.git.clone()));
        Self::with(settings, repositories, progress)
    }

    /// Access to these repositories. Reads the list of broken files of earlier runs.
    pub fn with(settings: ControlPlaneSettings, repositories: SharedRepositories, progress: Progress) -> Self {
        let broken = BrokenFiles::read(&settings.broken_file().load_bytes());
        let (renderer, state_anchors) = (renderer::version(), StateAnchors::default());
        Self { settings, repositories, renderer, progress, state_anchors, broken_before: broken.len(), broken }
    }

    /// The same access, which goes on with what an earlier one of the process has read of branches with states.
    #[must_use]
    pub fn with_state_anchors(self, anchors: &StateAnchors) -> Self {
        Self { state_anchors: anchors.clone(), ..self }
    }

    /// The same access with another version of the renderer, for tests.
    #[must_use]
    pub fn with_renderer(self, version: &str) -> Self {
        Self { renderer: version.into(), ..self }
    }

    /// Whether a branch of a repository is the main branch of the control plane.
    pub(crate) fn is_main_branch(&self, (url, branch): (&str, &str)) -> bool {
        let key = |url: &str| repository_key(&self.settings.git.rewrite, url);
        *branch == *self.settings.branch && key(url) == key(self.settings.repo.as_str())
    }

    /// Compares two environments by the order of promotion. Where no promotion leads from one environment to another, the configured order counts.
    pub fn compare(&self, graph: &Graph, (one, other): (&EnvironmentName, &EnvironmentName)) -> Ordering {
        if graph.has_steps() {
            return graph.compare(one.as_str(), other.as_str());
        }
        let order = &self.settings.environment_order;
        order.key(one.as_str()).cmp(&order.key(other.as_str()))
    }

    /// Saves the list of broken files for later runs, if it has grown.
    pub fn save_broken_files(&self) {
        if self.broken.len() > self.broken_before {
            self.settings.broken_file().save_bytes(&self.broken.write());
        }
    }

    /// Whether this machine has never seen a branch. A branch that it has seen, and that does not exist, was deleted.
    pub(crate) fn was_never_seen(&self, url: &RepositoryUrl, branch: &str) -> bool {
        let (repositories, revision) = (&*self.repositories, Revision::branch(branch));
        repositories.cached(url, &revision).is_none() && repositories.seen(url, &revision).is_empty()
    }

    /// The control plane at the head of its main branch.
    pub fn control_plane(&self) -> ControlPlane<'_> {
        let ControlPlaneSettings { repo, branch, git, .. } = &self.settings;
        ControlPlane {
            url: repo,
            branch,
            rewrite: &git.rewrite,
            promoted: None,
            releases: &NO_RELEASES,
            progress: &self.progress,
            broken: &self.broken,
        }
    }
}

/// The URL of a GitOps repository. `http` is allowed only if a rewrite rule applies to it.
///
/// # Errors
/// If the URL is not allowed.
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
