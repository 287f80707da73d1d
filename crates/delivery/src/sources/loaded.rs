//! An environment with all its objects.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use engine::promotion::graph::{self, Graph};
use engine::promotion::{rings, unguarded};
use git::RepositoryUrl;
use git::load::{Declarations, Read, ReadRole};
use git::publications::{AdmittedReleases, KeptObject, SourceBranch};
use git::publish::PublishError;
use model::diagnostic::{Code, Diagnostic};
use model::fleet::Fleet;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::environment::RepositoryPlace;

use crate::access::acknowledgement::AcknowledgedWarning;
use crate::access::{RepositoryAccess, destination_url};
use crate::error::DestinationError;
use crate::sources::heads::DestinationHeads;

/// What was admitted into an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The commit of the main branch. None: none was admitted by the controller, so the `BaseRepo` named `main` says it.
    pub main: Option<GitId>,
    /// The commits of other sources. A source that is not here is read at its head.
    pub sources: BTreeMap<SourceBranch, GitId>,
    /// The releases of workloads. A workload that is not here has the release that its objects name.
    pub releases: AdmittedReleases,
    /// The commit with the states that records all this.
    pub state: GitId,
}

/// An environment that was read.
pub struct Loaded {
    /// All objects of the environment.
    pub fleet: Arc<Fleet>,
    /// The problems in the input.
    pub diagnostics: Vec<Diagnostic>,
    /// The order of all environments of the control plane, and the gates between them.
    pub graph: Arc<Graph>,
    /// The objects of which the graph is made.
    pub declarations: Declarations,
    /// What the gates before the environment say, if it is to be published.
    pub enforced: Enforced,
    /// What was admitted into the environment, if it was read to be published. Its sources have these commits then. None: nothing is recorded.
    pub admission: Option<Admission>,
    /// Whether all files of the platform team could be read.
    pub is_complete: bool,
    /// The commits that were read.
    pub reads: Vec<Read>,
    /// Kept objects, each with its source, that the history of the source does not prove.
    pub kept: BTreeSet<(SourceBranch, KeptObject)>,
    /// The error if the publications were needed and can't be read.
    pub publications_error: Option<PublishError>,
    /// The path of the plain directory. None for an environment of a control plane.
    pub directory: Option<String>,
    /// The acknowledgements of the configuration file.
    pub acknowledgements: Arc<[AcknowledgedWarning]>,
    /// The access to the control plane. None for a plain directory.
    pub access: Option<Arc<RepositoryAccess>>,
    /// The heads of the destination branches before the sources were read. Empty if the environment was not read to publish it.
    pub destinations: Vec<DestinationHeads>,
}

/// What the gates before an environment say about its publication.
#[derive(Clone, Debug, Default)]
pub struct Enforced {
    /// Why nothing is published.
    pub refusals: Vec<Diagnostic>,
    /// What the environment's branches name and was not admitted. The output stays without it.
    pub not_admitted: Vec<Diagnostic>,
    /// The reason for which it is published nevertheless, with what was overridden.
    pub override_reason: Option<Arc<str>>,
}

impl Loaded {
    /// Builds the fleet of an environment that was read from a directory or a control plane.
    pub fn new(
        read: git::load::LoadedFiles,
        directory: Option<String>,
        access: Option<&Arc<RepositoryAccess>>,
    ) -> Self {
        let (fleet, found) = Fleet::build(read.input);
        let is_main =
            |place: &RepositoryPlace| access.is_some_and(|access| access.is_main_branch((&place.repo, &place.branch)));
        let (graph, of_graph) = graph::build(&read.declarations.environments, &read.declarations.promotions, &is_main);
        let rings = graph.object(fleet.environment.as_str());
        let of_rings = rings.map(|object| rings::checks::diagnostics(object, &fleet)).unwrap_or_default();
        let of_releases = unguarded::diagnostics(&graph, &fleet);
        let of_files = read.diagnostics.into_iter().map(|found| with_known_names(found, &graph));
        let all = of_files.chain(found).chain(of_graph);
        let diagnostics = all.chain(of_rings).chain(of_releases);
        Self {
            fleet: Arc::new(fleet),
            diagnostics: model::diagnostic::merged(diagnostics.collect()),
            graph: Arc::new(graph),
            declarations: read.declarations,
            enforced: Enforced::default(),
            admission: None,
            is_complete: read.is_complete,
            reads: read.reads,
            kept: read.kept,
            publications_error: None,
            directory,
            acknowledgements: access.map(|access| Arc::clone(&access.settings.acknowledgements)).unwrap_or_default(),
            access: access.cloned(),
            destinations: Vec::new(),
        }
    }

    /// Whether the environment is in a promotion, as far as is known: changes move into it or from it, or something was admitted into it.
    pub fn is_in_promotion(&self) -> bool {
        let is_known = self.declarations.are_known();
        !is_known || self.admission.is_some() || self.graph.is_in_promotion(self.fleet.environment.as_str())
    }

    /// Whether a `Promotion` is before the environment, or something was admitted into it.
    pub fn is_guarded(&self) -> bool {
        self.admission.is_some() || self.graph.object(self.fleet.environment.as_str()).is_some()
    }

    /// Whether files of the platform are missing because of a problem outside of the input, such as a repository that can't be reached.
    pub fn is_unreachable(&self) -> bool {
        !self.is_complete && self.diagnostics.iter().any(|diagnostic| diagnostic.code.is_outside())
    }

    /// The text of the owner file of the environment's branches. It is the same on every machine.
    pub(crate) fn owner_text(&self) -> String {
        let declaration = self.fleet.declaration.as_ref();
        let control_plane = declaration.map(|object| git::without_credential(&object.spec.control_plane.repo));
        format!("environment: {}\ncontrol-plane: {}\n", self.fleet.environment, control_plane.unwrap_or_default())
    }

    /// The environment with its sources: `prod@77aa012 (main at 41c77fe)`.
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
    /// If the URL is not allowed.
    pub fn url(&self, text: &str) -> Result<RepositoryUrl, DestinationError> {
        destination_url(self.access.as_deref(), text)
    }

    /// The name of the source of a registration in publications. None: there is no such registration, or its URL is not allowed.
    pub(crate) fn source_name(&self, registration: &str) -> Option<SourceBranch> {
        let place = &self.fleet.registrations.get(registration)?.spec.workload;
        let url = self.url(&place.repo).ok()?;
        Some((url.as_str().to_owned(), place.branch.to_string()))
    }
}

/// Adds the names of the environments, in the order of promotion, to the diagnostic about an unknown one.
fn with_known_names(diagnostic: Diagnostic, graph: &Graph) -> Diagnostic {
    if diagnostic.code != Code::EnvironmentNotFound || graph.order().is_empty() {
        return diagnostic;
    }
    diagnostic.note(there_are(graph.order()))
}

/// The names of the environments of a control plane: ``there are `dev`, `prod` ``.
pub fn there_are(environments: &[EnvironmentName]) -> String {
    let names: Vec<_> = environments.iter().map(|name| format!("`{name}`")).collect();
    format!("there are {}", names.join(", "))
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded")
            .field("title", &self.title())
            .field("is_complete", &self.is_complete)
            .finish_non_exhaustive()
    }
}
