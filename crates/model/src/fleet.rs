//! Everything an environment consists of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic, Origin};
use crate::field_path::FieldPath;
use crate::kind::Kind;
use crate::name::{EnvironmentName, RegistrationName, WorkloadName};
use crate::object::{
    AnyObject, BaseRepo, Cluster, ClusterType, ConfigMap, ConfigSchema, DeploymentTarget, Environment,
    FluxGitRepository, GitOpsRepo, LabelMapping, Object, Promotion, ReleasePin, SchedulingPolicy, Template, Workload,
    WorkloadRegistration,
};
use crate::object_key::ObjectKey;
use crate::read::{FileObjects, read_file};
use crate::source::{Address, File, FileId, Files};

pub mod annotated;
mod build;
mod clusters;
mod limit;
pub mod limits;
pub mod named;
mod ownership;
pub mod precedence;
mod refusal;
pub mod sources;

pub use limits::Limits;
pub use named::Named;
pub use sources::Sources;

/// How many places of objects with one name are listed. A file can contain thousands of such objects, and each diagnostic about an object that depends
/// on them lists these places.
const PLACES_MAX: usize = 10;

/// All objects of an environment, from all repositories.
///
/// Clones share the objects and most of the maps that contain them.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// The name of the environment.
    pub environment: EnvironmentName,
    /// The files that contain the objects.
    pub files: Arc<Files>,
    /// The `Environment` object. None if no such object was read.
    pub declaration: Option<Arc<Object<Environment>>>,
    /// `Cluster`s, also those that cannot be scheduled: see [`Fleet::type_of`].
    pub clusters: Named<Cluster>,
    /// `ClusterType`s
    pub cluster_types: Named<ClusterType>,
    /// `DeploymentTarget`s that are objects of their own, not part of a `Workload`.
    pub deployment_targets: Named<DeploymentTarget>,
    /// `Workload`s, each from the owner of its name.
    pub workloads: Arc<BTreeMap<WorkloadName, RegisteredWorkload>>,
    /// `Workload`s that several application repositories contain, if the owner is not clear: all of that name, by registration.
    pub conflicting_claims: Arc<BTreeMap<WorkloadName, Vec<RegisteredWorkload>>>,
    /// `LabelMapping`s
    pub label_mappings: Named<LabelMapping>,
    /// `ReleasePin`s
    pub release_pins: Named<ReleasePin>,
    /// `SchedulingPolicy`s
    pub policies: Named<SchedulingPolicy>,
    /// `Template`s
    pub templates: Named<Template>,
    /// `ConfigSchema`s of the platform.
    pub config_schemas: Named<ConfigSchema>,
    /// `ConfigSchema`s of application repositories. Their names are unique within one repository only.
    pub application_schemas: Arc<BTreeMap<RegistrationName, Named<ConfigSchema>>>,
    /// The names of the platform's `ConfigSchema`s in repositories that a `BaseRepo` limits. What they mark as sensitive is sensitive only where they match.
    pub limited_schemas: BTreeSet<Arc<str>>,
    /// `ConfigMap`s
    pub config_maps: Named<ConfigMap>,
    /// `GitOpsRepo`s
    pub gitops_repos: Named<GitOpsRepo>,
    /// `BaseRepo`s
    pub base_repos: Named<BaseRepo>,
    /// `WorkloadRegistration`s
    pub registrations: Named<WorkloadRegistration>,
    /// Further copies of objects that exist more than once. The first copy is with the others of its kind.
    pub duplicates: BTreeMap<ObjectKey, Vec<AnyObject>>,
    /// Registrations whose repository could not be read, so that its objects are not known.
    pub unavailable: BTreeSet<RegistrationName>,
    /// Parts of the platform's files that could not be read because of errors. They may contain objects that are missing.
    pub unread: Arc<[UnreadPart]>,
    /// The names of all declared environments, not only of this one. Empty if they are not known.
    pub environments: BTreeSet<EnvironmentName>,
    /// Objects that only the loader of repositories uses.
    pub references: BTreeMap<ObjectKey, AnyObject>,
}

/// A workload with the data of its registration.
#[derive(Clone, Debug)]
pub struct RegisteredWorkload {
    /// The workload.
    pub object: Arc<Object<Workload>>,
    /// The registration whose repository contains it, if any.
    pub registration: Option<RegistrationName>,
    /// The workspace of the registration. May be empty.
    pub workspace: Arc<str>,
    /// The team that wrote it.
    pub author: Author,
}

/// The team that wrote a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Author {
    /// An application team: the workload is in the repository of its registration.
    Application,
    /// The platform team, whose workloads take precedence.
    Platform,
}

impl RegisteredWorkload {
    /// Whether the registration has the workload's name. Then the workload of no other registration can replace it.
    pub fn is_namesake(&self) -> bool {
        self.registration.as_ref().is_some_and(|registration| registration.as_str() == self.object.name.as_str())
    }
}

/// The team that wrote a file. It decides which kinds the file may contain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AuthorRole {
    /// The platform team: all kinds.
    Platform,
    /// The application team of this registration: its workloads, and schemas for them.
    Application(RegistrationName),
}

impl AuthorRole {
    /// The identity of an object in a file of this team. Each application repository has its own names of `ConfigSchema`s.
    pub fn key_of(&self, object: &AnyObject) -> ObjectKey {
        match (self, object) {
            (Self::Application(registration), AnyObject::ConfigSchema(schema)) => {
                ObjectKey { of: Some(registration.clone()), ..schema.key() }
            }
            _ => object.key(),
        }
    }
}

/// The objects of a file that are part of the fleet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileScope {
    /// All objects.
    #[default]
    Everything,
    /// Only `Environment`s and `Promotion`s. Other objects in the same file belong to no environment.
    Environments,
    /// All objects except `Environment`s, which are read from the head of the main branch. `Promotion`s are errors: they are read from there, too.
    AllButEnvironments,
    /// All objects except `Promotion`s, which are errors.
    AllButPromotions,
    /// All objects except `Environment`s and `Promotion`s: the file declares them, but at another commit than the head of the main branch.
    NoDeclarations,
}

impl FileScope {
    /// Whether objects of a kind are part of the fleet.
    pub fn takes(self, kind: Kind) -> bool {
        match self {
            Self::Everything => true,
            Self::Environments => matches!(kind, Kind::Environment | Kind::Promotion),
            Self::AllButEnvironments | Self::NoDeclarations => !matches!(kind, Kind::Environment | Kind::Promotion),
            Self::AllButPromotions => kind != Kind::Promotion,
        }
    }
}

/// A part of a file that could not be read because of an error.
#[derive(Clone, Debug)]
pub struct UnreadPart {
    /// The file.
    pub file: FileId,
    /// The place of its first error.
    pub origin: Origin,
    /// The identity of the object, if it is known.
    pub object: Option<ObjectKey>,
}

/// A file that was read for an environment.
#[derive(Clone, Debug)]
pub struct FleetFile {
    /// The team that wrote the file.
    pub role: AuthorRole,
    /// Which objects of the file are part of the fleet. `objects` contains only these.
    pub scope: FileScope,
    /// What the file may bring.
    pub limits: Limits,
    /// The file. Objects in it may come from an earlier version of the file.
    pub file: FileId,
    /// The content of the file.
    pub objects: FileObjects,
}

impl FleetFile {
    /// Reads a file whose objects are all part of the fleet.
    pub fn read(role: AuthorRole, file: FileId, files: &Files) -> Self {
        let File { path, content, .. } = files.get(file);
        let (scope, limits) = Default::default();
        Self { role, scope, limits, file, objects: read_file(file, path, content) }
    }

    /// The parts of the file that could not be read, if it is a file of the platform team.
    fn unread(&self) -> impl Iterator<Item = UnreadPart> {
        let errors =
            self.objects.diagnostics.iter().filter(|found| self.role == AuthorRole::Platform && found.is_error());
        errors.filter_map(|found| {
            let origin = found.labels.first()?.origin.clone();
            Some(UnreadPart { file: self.file, origin, object: found.object.clone() })
        })
    }

    /// Removes the objects that are not in `scope`. Reports `Promotion`s that have no effect in their file.
    pub fn keep(&mut self, scope: FileScope) {
        self.scope = scope;
        if matches!(scope, FileScope::AllButEnvironments | FileScope::AllButPromotions) {
            let misplaced = self.objects.objects.iter().filter(|object| object.kind() == Kind::Promotion);
            self.objects.diagnostics.extend(misplaced.map(misplaced_promotion));
        }
        self.objects.objects.retain(|object| scope.takes(object.kind()));
    }
}

fn misplaced_promotion(object: &AnyObject) -> Diagnostic {
    let key = object.key();
    let origin = Origin::At(object.address(), FieldPath::from(["kind"]));
    Diagnostic::error(Code::MisplacedPromotion, format!("{key} has no effect in this file"))
        .at(origin, "not read here")
        .note("promotions are read at the head of the control plane's main branch only, so that no change can loosen its own gates")
        .help(format!("move it to `.environments/{}.yaml` on the main branch of the control plane", key.name))
        .about(&key)
}

/// The input of [`Fleet::build`].
#[derive(Clone, Debug)]
pub struct FleetInput {
    /// The environment's name.
    pub environment: EnvironmentName,
    /// The files.
    pub files: Arc<Files>,
    /// The content of the files. The order has no effect.
    pub contents: Vec<FleetFile>,
    /// Registrations whose repository could not be read.
    pub unavailable: BTreeSet<RegistrationName>,
}

/// A branch or a folder of another repository that an object adds to an environment.
#[derive(Clone, Debug)]
pub struct SourceName<'f> {
    /// The object.
    pub key: ObjectKey,
    /// The URL of the repository, as in the object.
    pub repo: &'f Arc<str>,
    /// Whether the object names a branch or a folder.
    pub part: SourcePart,
    /// The branch, or the path of the folder. Empty if the object names none.
    pub text: &'f Arc<str>,
    /// The field that names it.
    pub path: FieldPath,
}

/// A part of the place that an object adds to an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourcePart {
    /// The branch of a repository.
    Branch,
    /// A folder of the branch.
    Folder,
}

impl SourcePart {
    /// The word for people.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::Folder => "folder",
        }
    }
}

impl Fleet {
    /// Builds a fleet from the objects of all files, and reports objects that do not fit together.
    ///
    /// The diagnostics include those of the files. Objects with errors are left out.
    pub fn build(input: FleetInput) -> (Self, Vec<Diagnostic>) {
        let FleetInput { environment, files, contents, unavailable } = input;
        let mut diagnostics = Vec::new();
        let unread = contents.iter().flat_map(FleetFile::unread).collect();
        let objects = contents.into_iter().map(|FleetFile { role, limits, mut objects, .. }| {
            diagnostics.append(&mut objects.diagnostics);
            (role, limits, objects.objects)
        });
        let objects = objects.collect();
        let (fleet, found) = build::fleet(Self::empty(environment, files, unavailable), objects);
        diagnostics.extend(found);
        (Self { unread, ..fleet }, diagnostics)
    }

    fn empty(environment: EnvironmentName, files: Arc<Files>, unavailable: BTreeSet<RegistrationName>) -> Self {
        Self {
            environment,
            files,
            declaration: None,
            clusters: Named::default(),
            cluster_types: Named::default(),
            deployment_targets: Named::default(),
            workloads: Arc::default(),
            conflicting_claims: Arc::default(),
            label_mappings: Named::default(),
            release_pins: Named::default(),
            policies: Named::default(),
            templates: Named::default(),
            config_schemas: Named::default(),
            application_schemas: Arc::default(),
            limited_schemas: BTreeSet::new(),
            config_maps: Named::default(),
            gitops_repos: Named::default(),
            base_repos: Named::default(),
            registrations: Named::default(),
            duplicates: BTreeMap::new(),
            unavailable,
            unread: Arc::default(),
            environments: BTreeSet::new(),
            references: BTreeMap::new(),
        }
    }

    /// Whether the fleet has no workloads to schedule, or no places to schedule them to.
    pub fn is_empty(&self) -> bool {
        self.cluster_types.is_empty()
            && self.clusters.is_empty()
            && self.policies.is_empty()
            && self.workloads.is_empty()
            && self.conflicting_claims.is_empty()
            && self.deployment_targets.is_empty()
    }

    /// The commit of the control plane's main branch that is promoted to this environment: `spec.commit` of the `BaseRepo` named `main`.
    pub fn promoted_commit(&self) -> Option<&Arc<str>> {
        self.base_repos.get("main")?.spec.commit.as_ref()
    }

    /// The branches and folders of other repositories that objects add to the environment.
    pub fn source_names(&self) -> impl Iterator<Item = SourceName<'_>> {
        let of_base_repos = self.base_repos.values().flat_map(|object| {
            let place = &object.spec.place;
            let parts = [(SourcePart::Branch, &place.branch, "branch"), (SourcePart::Folder, &place.path, "path")];
            parts.map(|(part, text, field)| {
                let (key, path) = (object.key(), FieldPath::from(["spec", field]));
                SourceName { key, repo: &place.repo, part, text, path }
            })
        });
        let of_flux = self.references.values().filter_map(|object| match object {
            AnyObject::FluxKustomization(object) => Some(object),
            _ => None,
        });
        let mut repositories = BTreeSet::new();
        let of_flux = of_flux.flat_map(move |object| {
            let repository = self.flux_repository(&object.spec.repository);
            let is_new = repositories.insert(&object.spec.repository);
            let branch = repository.filter(|_| is_new).map(|repository| SourceName {
                key: repository.key(),
                repo: &repository.spec.url,
                part: SourcePart::Branch,
                text: &repository.spec.branch,
                path: FieldPath::from(["spec", "ref", "branch"]),
            });
            let folder = repository.map(|repository| SourceName {
                key: object.key(),
                repo: &repository.spec.url,
                part: SourcePart::Folder,
                text: &object.spec.path,
                path: FieldPath::from(["spec", "path"]),
            });
            branch.into_iter().chain(folder)
        });
        of_base_repos.chain(of_flux)
    }

    fn flux_repository(&self, name: &str) -> Option<&Arc<Object<FluxGitRepository>>> {
        self.references.values().find_map(|object| match object {
            AnyObject::FluxGitRepository(found) if *found.name.as_str() == *name => Some(found),
            _ => None,
        })
    }

    /// The promotion that leads to the environment. If there are several, the first one by name.
    pub fn promotion(&self) -> Option<&Arc<Object<Promotion>>> {
        self.references.values().find_map(|object| match object {
            AnyObject::Promotion(promotion) => Some(promotion),
            _ => None,
        })
    }

    /// The diagnostic for an object that exists more than once. None if it exists once.
    pub fn duplicate_diagnostic(&self, key: &ObjectKey) -> Option<Diagnostic> {
        let copies = self.duplicates.get(key)?;
        let name = FieldPath::from(["metadata", "name"]);
        let mut diagnostic =
            Diagnostic::error(Code::DuplicateObject, format!("{key} exists {} times", copies.len() + 1))
                .at(Origin::field(key, name.clone()), "once here");
        for copy in copies.iter().take(PLACES_MAX) {
            diagnostic = diagnostic.at(Origin::At(copy.address(), name.clone()), "and again here");
        }
        let diagnostic =
            diagnostic.note("what was published of what depends on it stays").help("remove or rename all but one");
        Some(diagnostic.about(key))
    }

    /// The cluster type of a cluster. None if the cluster type does not exist, or if the cluster has the name of a cluster type. Then the cluster
    /// cannot be scheduled, and there is a diagnostic.
    pub fn type_of(&self, cluster: &Object<Cluster>) -> Option<&Arc<Object<ClusterType>>> {
        if self.cluster_types.contains_key(cluster.name.as_str()) {
            return None;
        }
        self.cluster_types.get(&*cluster.spec.cluster_type)
    }

    /// All `ConfigSchema`s with their keys: those of the platform, then those of applications, then further copies.
    pub fn all_config_schemas(&self) -> impl Iterator<Item = (ObjectKey, &Arc<Object<ConfigSchema>>)> {
        let of_platform = self.config_schemas.values().map(|object| (object.key(), object));
        let of_applications = self.application_schemas.iter().flat_map(|(registration, schemas)| {
            let key = |object: &Arc<Object<_>>| ObjectKey { of: Some(registration.clone()), ..object.key() };
            schemas.values().map(move |object| (key(object), object))
        });
        let copies = self.duplicates.iter().flat_map(|(key, copies)| copies.iter().map(move |copy| (key, copy)));
        let copies = copies.filter_map(|(key, copy)| match copy {
            AnyObject::ConfigSchema(object) => Some((key.clone(), object)),
            _ => None,
        });
        of_platform.chain(of_applications).chain(copies)
    }

    fn put_schema(&mut self, registration: RegistrationName, schema: Arc<Object<ConfigSchema>>) {
        Arc::make_mut(&mut self.application_schemas).entry(registration).or_default().insert(schema);
    }

    /// The address of an object. None if it is not in the fleet.
    pub fn address(&self, object: &ObjectKey) -> Option<Address> {
        let ObjectKey { kind, name, of } = object;
        if let Some(registration) = of {
            return self.application_schemas.get(registration)?.get(name).map(|schema| schema.address);
        }
        match kind {
            Kind::Workload => {
                let first = || self.conflicting_claims.get(&**name).and_then(|claims| claims.first());
                self.workloads.get(&**name).or_else(first).map(|workload| workload.object.address)
            }
            Kind::Environment => {
                self.declaration.as_ref().filter(|found| *found.name.as_str() == **name).map(|found| found.address)
            }
            _ => self.plain_address(object).or_else(|| self.references.get(object).map(AnyObject::address)),
        }
    }
}

/// What a fleet does with the objects of each kind: those of most kinds are put into a field and need no further processing. A kind that is missing here is an error
/// of the compiler.
macro_rules! plain_kinds {
    ($($kind:ident: $objects:ident,)+ ; $($other:ident),+) => {
        impl Fleet {
            fn plain_address(&self, object: &ObjectKey) -> Option<Address> {
                match object.kind {
                    $(Kind::$kind => self.$objects.get(&object.name).map(|object| object.address),)+
                    _ => None,
                }
            }

            /// Adds an object of one of these kinds. Returns objects of other kinds.
            fn put(&mut self, object: AnyObject) -> Option<AnyObject> {
                match object {
                    $(AnyObject::$kind(object) => drop(self.$objects.insert(object)),)+
                    other @ ($(AnyObject::$other(_))|+) => return Some(other),
                }
                None
            }

            /// The objects of these kinds that have annotations, with their keys.
            fn plain_annotated(&self) -> Vec<annotated::Annotated<'_>> {
                let mut found = Vec::new();
                $(found.extend(self.$objects.values().filter_map(|object| annotated::Annotated::from_object(object)));)+
                found
            }

            fn take(&mut self, object: &ObjectKey) {
                match object.kind {
                    $(Kind::$kind => drop(self.$objects.remove(&object.name)),)+
                    _ => {}
                }
            }
        }

        /// Whether objects of this kind need no further processing when a fleet is built.
        fn is_plain(kind: Kind) -> bool {
            matches!(kind, $(Kind::$kind)|+)
        }
    };
}

plain_kinds! {
    BaseRepo: base_repos,
    Cluster: clusters,
    ClusterType: cluster_types,
    ConfigMap: config_maps,
    ConfigSchema: config_schemas,
    DeploymentTarget: deployment_targets,
    GitOpsRepo: gitops_repos,
    LabelMapping: label_mappings,
    ReleasePin: release_pins,
    SchedulingPolicy: policies,
    Template: templates,
    WorkloadRegistration: registrations,
    // The builder decides: one declaration, workloads with their registrations, what the loader follows, and what is not for fleets.
    ; Environment, Workload, FluxGitRepository, FluxKustomization, Promotion, DeploymentDescriptor
}

#[cfg(test)]
mod tests;
