//! An environment as it was read.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use git::RepositoryUrl;
use git::load::{Read, ReadRole};
use git::publish::PublishError;
use git::published::{KeptObject, SourceName};
use model::diagnostic::Diagnostic;
use model::fleet::Fleet;

use crate::access::{RepositoryAccess, destination_url};
use crate::acknowledgement::Entry;
use crate::error::DestinationError;
use crate::heads::DestinationHeads;

/// An environment that was read.
pub struct Loaded {
    /// All objects of the environment.
    pub fleet: Arc<Fleet>,
    /// What is wrong with what was read.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether all objects of the platform are known.
    pub is_whole: bool,
    /// What was read, at which commits.
    pub reads: Vec<Read>,
    /// Objects that are kept though the history of their source does not say so.
    pub kept: BTreeSet<(SourceName, KeptObject)>,
    /// Why it is not known what was published, if a source can't be understood.
    pub unread: Option<PublishError>,
    /// The plain directory that was read, if it was one.
    pub directory: Option<String>,
    /// Warnings that the configuration acknowledges.
    pub acknowledgements: Arc<[Entry]>,
    /// The control plane that was read; none for a plain directory.
    pub access: Option<Arc<RepositoryAccess>>,
    /// The heads of the branches that output goes to, before any source was read. Empty if it was not read to be published.
    pub destinations: Vec<DestinationHeads>,
}

impl Loaded {
    /// The environment that was read from a directory, or from a control plane.
    pub fn new(read: git::load::Loaded, directory: Option<String>, access: Option<&Arc<RepositoryAccess>>) -> Self {
        let (fleet, found) = Fleet::build(read.input);
        let diagnostics = model::diagnostic::merged(read.diagnostics.into_iter().chain(found).collect());
        Self {
            fleet: Arc::new(fleet),
            diagnostics,
            is_whole: read.is_whole,
            reads: read.reads,
            kept: read.kept,
            unread: None,
            directory,
            acknowledgements: access.map(|access| Arc::clone(&access.settings.acknowledgements)).unwrap_or_default(),
            access: access.cloned(),
            destinations: Vec::new(),
        }
    }

    /// Whether objects of the platform are not known because a repository can't be reached.
    pub fn is_unreachable(&self) -> bool {
        !self.is_whole && self.diagnostics.iter().any(|diagnostic| diagnostic.code.is_outside())
    }

    /// The environment and what it was read from: `prod@77aa012 (main at 41c77fe)`.
    pub fn title(&self) -> String {
        let environment = &self.fleet.environment;
        if let Some(directory) = &self.directory {
            return format!("{environment} of {directory}");
        }
        let own = self.reads.iter().find(|read| read.role == ReadRole::Environment);
        let own = own.map_or_else(String::new, |read| format!("@{}", read.commit.short()));
        let promoted =
            self.fleet.promoted_commit().map(|commit| format!(" (main at {})", commit.get(..7).unwrap_or(commit)));
        format!("{environment}{own}{}", promoted.unwrap_or_default())
    }

    /// The URL of a GitOps repository.
    ///
    /// # Errors
    /// If it is not allowed.
    pub fn url(&self, text: &str) -> Result<RepositoryUrl, DestinationError> {
        destination_url(self.access.as_deref(), text)
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").field("title", &self.title()).field("is_whole", &self.is_whole).finish_non_exhaustive()
    }
}
