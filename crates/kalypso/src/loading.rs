//! Where input comes from: a directory, or git repositories.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use model::diagnostic::Diagnostic;
use model::fleet::Fleet;
use model::git_id::GitId;
use model::locate::Locator;
use model::name::EnvironmentName;
use model::object::environment::RepositoryPlace;
use model::tree::{Blob, Tree};

use crate::arguments::SourceOptions;
use crate::exit::Failure;
use crate::report::{Batch, Report};

/// An environment that was read.
pub(crate) struct Loaded {
    pub(crate) fleet: Fleet,
    pub(crate) diagnostics: Vec<Diagnostic>,
    directory: Option<String>,
}

/// What a GitOps branch holds.
pub(crate) struct Branch {
    /// What it is called.
    pub(crate) name: String,
    /// Its files.
    pub(crate) tree: Tree,
}

/// Reads one environment.
pub(crate) fn environment(options: &SourceOptions, name: &str) -> anyhow::Result<Loaded> {
    let name = EnvironmentName::new(name)
        .map_err(|error| Failure::usage(format!("`{name}` is not the name of an environment: {error}")))?;
    match &options.from {
        Some(directory) => from_directory(directory, &name),
        None => anyhow::bail!("not yet"),
    }
}

/// Reads all environments, or the one of this name.
pub(crate) fn environments(options: &SourceOptions, name: Option<&str>) -> anyhow::Result<Vec<Loaded>> {
    Ok(vec![environment(options, name.unwrap_or("dev"))?])
}

fn from_directory(directory: &Path, name: &EnvironmentName) -> anyhow::Result<Loaded> {
    let (fleet, diagnostics) = testkit::directory::fleet(directory, name.as_str())?;
    Ok(Loaded { fleet, diagnostics, directory: Some(directory.display().to_string()) })
}

impl Loaded {
    /// Adds what is wrong to a report.
    pub(crate) fn report<'a>(&'a self, report: &mut Report<'a>, batch: Batch<'_>) {
        let batch = Batch { environment: Some(&self.fleet.environment), ..batch };
        report.add(batch, &mut Locator::new(&self.fleet));
    }

    /// The environment and what it was read from.
    pub(crate) fn title(&self) -> String {
        match &self.directory {
            Some(directory) => format!("{} of {directory}", self.fleet.environment),
            None => self.fleet.environment.to_string(),
        }
    }

    /// The GitOps branch at a place.
    pub(crate) fn branch(&self, place: &RepositoryPlace) -> anyhow::Result<Branch> {
        let _ = place;
        anyhow::bail!("not yet")
    }
}

impl Branch {
    pub(crate) fn of_tree(tree: Tree) -> Self {
        Self { name: String::new(), tree }
    }

    pub(crate) fn commit(&self) -> Option<GitId> {
        None
    }

    /// The content of a file of the branch.
    pub(crate) fn content(&self, id: GitId) -> Option<Arc<[u8]>> {
        self.tree.iter().find_map(|(_, entry)| match &entry.blob {
            Blob::Bytes(bytes) if GitId::of_blob(bytes) == id => Some(Arc::clone(bytes)),
            _ => None,
        })
    }

    /// The fleet that was published last on the branch, if that can be found out.
    pub(crate) fn published_from(&self, loaded: &Loaded) -> Option<Loaded> {
        let _ = loaded;
        None
    }
}

/// What is wrong with the destinations of environments among one another.
pub(crate) fn shared_destinations(environments: &[Loaded]) -> BTreeMap<EnvironmentName, Vec<Diagnostic>> {
    let _ = environments;
    BTreeMap::new()
}

/// What is to be pushed.
pub(crate) struct Delivery<'a> {
    /// The branch to propose it on; none to push to the branch itself.
    pub(crate) branch: Option<&'a str>,
    pub(crate) tree: &'a Tree,
    pub(crate) message: &'a str,
}

/// What came of it.
pub(crate) enum Delivered {
    /// It was pushed.
    Pushed { branch: String, commit: GitId },
    /// It is there already: on the proposing branch, if one is named.
    UpToDate { branch: Option<String> },
    /// The GitOps branch is as it should be, and a branch that proposed something else was removed.
    Withdrawn { branch: String },
    /// Somebody else pushed at the same moment.
    LostRace,
    /// There is a commit on the branch that is not ours.
    Foreign(Box<Diagnostic>),
}

impl Loaded {
    pub(crate) fn deliver(&self, _branch: &Branch, _delivery: &Delivery<'_>) -> anyhow::Result<Delivered> {
        anyhow::bail!("not yet")
    }

    pub(crate) fn trailers(&self) -> String {
        String::new()
    }
}
