//! Everything an environment consists of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic, Origin};
use crate::field_path::FieldPath;
use crate::kind::Kind;
use crate::name::{EnvironmentName, RegistrationName, WorkloadName};
use crate::object::{
    AnyObject, BaseRepo, Cluster, ClusterType, ConfigMap, ConfigSchema, DeploymentTarget, Environment, GitOpsRepo,
    LabelMapping, Object, ReleasePin, SchedulingPolicy, Template, Workload, WorkloadRegistration,
};
use crate::object_key::ObjectKey;
use crate::read::{FileObjects, read_file};
use crate::source::{Address, File, FileId, Files};

pub mod annotated;
mod build;
mod clusters;
pub mod named;
mod ownership;
pub mod sources;

pub use named::Named;
pub use sources::Sources;

/// How many places of objects of one name are shown: a file can hold many thousands, and each that depends on them says so.
const PLACES_MAX: usize = 10;

/// Everything an environment consists of, wherever it came from.
///
/// Clones share the objects and most of what holds them.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// The environment's name.
    pub environment: EnvironmentName,
    /// The files that the objects are from.
    pub files: Arc<Files>,
    /// The `Environment` object, if one was read.
    pub declaration: Option<Arc<Object<Environment>>>,
    /// `Cluster`s, also those that can't be scheduled: [`Fleet::type_of`] tells.
    pub clusters: Named<Cluster>,
    /// `ClusterType`s
    pub cluster_types: Named<ClusterType>,
    /// `DeploymentTarget`s that were written directly.
    pub deployment_targets: Named<DeploymentTarget>,
    /// `Workload`s, each with the one that owns its name.
    pub workloads: Arc<BTreeMap<WorkloadName, RegisteredWorkload>>,
    /// `Workload`s of application repositories of which it is not clear whose they are: all that are so named, by registration.
    pub contested: Arc<BTreeMap<WorkloadName, Vec<RegisteredWorkload>>>,
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
    /// `ConfigSchema`s of application repositories. Each names its own.
    pub application_schemas: Arc<BTreeMap<RegistrationName, Named<ConfigSchema>>>,
    /// `ConfigMap`s
    pub config_maps: Named<ConfigMap>,
    /// `GitOpsRepo`s
    pub gitops_repos: Named<GitOpsRepo>,
    /// `BaseRepo`s
    pub base_repos: Named<BaseRepo>,
    /// `WorkloadRegistration`s
    pub registrations: Named<WorkloadRegistration>,
    /// The second and further copies of objects that exist more than once. The first copy is with the others of its kind.
    pub duplicates: BTreeMap<ObjectKey, Vec<AnyObject>>,
    /// Registrations whose repository could not be read: what they bring is not known.
    pub unavailable: BTreeSet<RegistrationName>,
    /// What of the platform's is written, and not understood: what is missing may be in there.
    pub unread: Arc<[Unread]>,
    /// The names of all environments that are declared, also of others. None: it is not known which ones there are.
    pub environments: BTreeSet<EnvironmentName>,
    /// What only the reader of repositories looks at.
    references: BTreeMap<ObjectKey, AnyObject>,
}

/// A workload with what its registration says about it.
#[derive(Clone, Debug)]
pub struct RegisteredWorkload {
    /// The workload.
    pub object: Arc<Object<Workload>>,
    /// The registration that brought it.
    pub registration: Option<RegistrationName>,
    /// The workspace that the registration gives it; may be empty.
    pub workspace: Arc<str>,
    /// Who wrote it.
    pub author: Author,
}

/// Who wrote a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Author {
    /// An application team: it stands in the repository of its registration.
    Application,
    /// The platform team, whose word comes first.
    Platform,
}

impl RegisteredWorkload {
    /// Whether its registration has its name: then nobody else's `Workload` can be this one.
    pub fn is_namesake(&self) -> bool {
        self.registration.as_ref().is_some_and(|registration| registration.as_str() == self.object.name.as_str())
    }
}

/// Who wrote a file, and so what it may hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The platform team: anything.
    Platform,
    /// The application team of this registration: its workloads, and schemas for them.
    Application(RegistrationName),
}

impl Role {
    /// The identity of an object that stands in a file of this author. Each application repository names its `ConfigSchema`s as it likes.
    pub fn key_of(&self, object: &AnyObject) -> ObjectKey {
        match (self, object) {
            (Self::Application(registration), AnyObject::ConfigSchema(schema)) => {
                ObjectKey { of: Some(registration.clone()), ..schema.key() }
            }
            _ => object.key(),
        }
    }
}

/// Which objects of a file count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// All.
    #[default]
    Everything,
    /// Only `Environment`s: what else stands beside them belongs to no environment.
    Environments,
    /// All but `Environment`s, which count where they are at the head of the main branch.
    AllButEnvironments,
}

impl Scope {
    /// Whether objects of a kind count.
    pub fn takes(self, kind: Kind) -> bool {
        match self {
            Self::Everything => true,
            Self::Environments => kind == Kind::Environment,
            Self::AllButEnvironments => kind != Kind::Environment,
        }
    }
}

/// Something that is written, and not understood.
#[derive(Clone, Debug)]
pub struct Unread {
    /// The file.
    pub file: FileId,
    /// The first error of it.
    pub origin: Origin,
    /// The object that it is, where that is known.
    pub object: Option<ObjectKey>,
}

/// A file that was read for an environment.
#[derive(Clone, Debug)]
pub struct FleetFile {
    /// Who wrote it.
    pub role: Role,
    /// Which of its objects count: those that are in `objects`.
    pub scope: Scope,
    /// The file. What counts for it may be from an earlier version of it.
    pub file: FileId,
    /// What is in it.
    pub objects: FileObjects,
}

impl FleetFile {
    /// Reads a file, all of which counts.
    pub fn read(role: Role, file: FileId, files: &Files) -> Self {
        let File { path, content, .. } = files.get(file);
        Self { role, scope: Scope::Everything, file, objects: read_file(file, path, content) }
    }

    /// What in it is not understood, if it is the platform's.
    fn unread(&self) -> impl Iterator<Item = Unread> {
        let errors = self.objects.diagnostics.iter().filter(|found| self.role == Role::Platform && found.is_error());
        errors.filter_map(|found| {
            let origin = found.labels.first()?.origin.clone();
            Some(Unread { file: self.file, origin, object: found.object.clone() })
        })
    }

    /// Leaves only the objects that count.
    pub fn keep(&mut self, scope: Scope) {
        self.scope = scope;
        self.objects.objects.retain(|object| scope.takes(object.kind()));
    }
}

/// What a fleet is made of.
#[derive(Clone, Debug)]
pub struct FleetInput {
    /// The environment's name.
    pub environment: EnvironmentName,
    /// The files.
    pub files: Arc<Files>,
    /// What is in the files. The order does not matter.
    pub contents: Vec<FleetFile>,
    /// Registrations whose repository could not be read.
    pub unavailable: BTreeSet<RegistrationName>,
}

impl Fleet {
    /// Puts the objects of all files together, and says what does not fit.
    ///
    /// The diagnostics of the files themselves are among the result's. Objects with errors contribute nothing.
    pub fn build(input: FleetInput) -> (Self, Vec<Diagnostic>) {
        let FleetInput { environment, files, contents, unavailable } = input;
        let mut diagnostics = Vec::new();
        let unread = contents.iter().flat_map(FleetFile::unread).collect();
        let objects = contents.into_iter().map(|FleetFile { role, mut objects, .. }| {
            diagnostics.append(&mut objects.diagnostics);
            (role, objects.objects)
        });
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
            contested: Arc::default(),
            label_mappings: Named::default(),
            release_pins: Named::default(),
            policies: Named::default(),
            templates: Named::default(),
            config_schemas: Named::default(),
            application_schemas: Arc::default(),
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

    /// Whether there is nothing that could be scheduled, or nowhere to.
    pub fn is_empty(&self) -> bool {
        self.cluster_types.is_empty()
            && self.clusters.is_empty()
            && self.policies.is_empty()
            && self.workloads.is_empty()
            && self.contested.is_empty()
            && self.deployment_targets.is_empty()
    }

    /// The commit of the control plane's main branch that is promoted to this environment: what the `BaseRepo` named `main` says.
    pub fn promoted_commit(&self) -> Option<&Arc<str>> {
        self.base_repos.get("main")?.spec.commit.as_ref()
    }

    /// What to say about an object that exists more than once; none if it does not.
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

    /// The cluster type of a cluster. None, and reported, if there is no such cluster type, or if the cluster has a cluster type's name: it can't be scheduled.
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

    /// Where an object stands.
    pub fn address(&self, object: &ObjectKey) -> Option<Address> {
        let ObjectKey { kind, name, of } = object;
        if let Some(registration) = of {
            return self.application_schemas.get(registration)?.get(name).map(|schema| schema.address);
        }
        match kind {
            Kind::Workload => {
                let first = || self.contested.get(&**name).and_then(|claims| claims.first());
                self.workloads.get(&**name).or_else(first).map(|workload| workload.object.address)
            }
            Kind::Environment => {
                self.declaration.as_ref().filter(|found| *found.name.as_str() == **name).map(|found| found.address)
            }
            _ => self.plain_address(object).or_else(|| self.references.get(object).map(AnyObject::address)),
        }
    }
}

/// Kinds of which nothing is to be known but the objects themselves.
macro_rules! plain_kinds {
    ($($kind:ident: $objects:ident,)+) => {
        impl Fleet {
            fn plain_address(&self, object: &ObjectKey) -> Option<Address> {
                match object.kind {
                    $(Kind::$kind => self.$objects.get(&object.name).map(|object| object.address),)+
                    _ => None,
                }
            }

            /// Puts an object to the others of its kind. Gives it back if it is of another sort of kind.
            fn put(&mut self, object: AnyObject) -> Option<AnyObject> {
                match object {
                    $(AnyObject::$kind(object) => drop(self.$objects.insert(object)),)+
                    other => return Some(other),
                }
                None
            }

            /// The objects of these kinds that have annotations, with their keys.
            fn plain_annotated(&self) -> Vec<annotated::Annotated<'_>> {
                let mut found = Vec::new();
                $(found.extend(self.$objects.values().filter_map(|object| annotated::Annotated::of(object)));)+
                found
            }

            fn take(&mut self, object: &ObjectKey) {
                match object.kind {
                    $(Kind::$kind => drop(self.$objects.remove(&object.name)),)+
                    _ => {}
                }
            }
        }

        /// Whether nothing is to be known of objects of this kind but themselves.
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
}

#[cfg(test)]
mod tests;
