//! Everything an environment consists of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic, ObjectKey, Origin};
use crate::field_path::FieldPath;
use crate::name::{EnvironmentName, RegistrationName, WorkloadName};
use crate::object::{
    Address, AnyObject, BaseRepo, Cluster, ClusterType, ConfigMap, ConfigSchema, DeploymentTarget, Environment,
    GitOpsRepo, Kind, LabelMapping, Object, ReleasePin, SchedulingPolicy, Spec, Template, Workload,
    WorkloadRegistration,
};
use crate::read::FileObjects;
use crate::source::Files;

mod clusters;

/// Objects of one kind by name.
pub type Named<S> = BTreeMap<<S as Spec>::Name, Arc<Object<S>>>;

/// Everything an environment consists of, wherever it came from.
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
    /// `Workload`s
    pub workloads: BTreeMap<WorkloadName, RegisteredWorkload>,
    /// `LabelMapping`s
    pub label_mappings: Named<LabelMapping>,
    /// `ReleasePin`s
    pub release_pins: Named<ReleasePin>,
    /// `SchedulingPolicy`s
    pub policies: Named<SchedulingPolicy>,
    /// `Template`s
    pub templates: Named<Template>,
    /// `ConfigSchema`s
    pub config_schemas: Named<ConfigSchema>,
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
    addresses: BTreeMap<ObjectKey, Address>,
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
}

/// Who wrote a file, and so what it may hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The platform team: anything.
    Platform,
    /// The application team of this registration: its workloads, and schemas for them.
    Application(RegistrationName),
}

/// A file that was read for an environment.
#[derive(Clone, Debug)]
pub struct FleetFile {
    /// Who wrote it.
    pub role: Role,
    /// What is in it.
    pub objects: FileObjects,
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
    /// The diagnostics of the files themselves are among the result's. Files with errors contribute nothing.
    pub fn build(input: FleetInput) -> (Self, Vec<Diagnostic>) {
        let FleetInput { environment, files, contents, unavailable } = input;
        let mut builder = Builder { fleet: Self::empty(environment, files, unavailable), diagnostics: Vec::new() };
        let (mut platform, mut applications) = (Vec::new(), BTreeMap::<_, Vec<_>>::new());
        for FleetFile { role, objects } in contents {
            let is_good = objects.is_good();
            builder.diagnostics.extend(objects.diagnostics);
            let objects = if is_good { objects.objects } else { Vec::new() };
            match role {
                Role::Platform => platform.extend(objects),
                Role::Application(registration) => applications.entry(registration).or_default().extend(objects),
            }
        }
        builder.add_sorted(platform);
        builder.connect_workloads();
        for (registration, objects) in applications {
            builder.add_application(&registration, objects);
        }
        builder.report_duplicates();
        builder.diagnostics.extend(clusters::problems(&builder.fleet));
        (builder.fleet, builder.diagnostics)
    }

    fn empty(environment: EnvironmentName, files: Arc<Files>, unavailable: BTreeSet<RegistrationName>) -> Self {
        Self {
            environment,
            files,
            declaration: None,
            clusters: BTreeMap::new(),
            cluster_types: BTreeMap::new(),
            deployment_targets: BTreeMap::new(),
            workloads: BTreeMap::new(),
            label_mappings: BTreeMap::new(),
            release_pins: BTreeMap::new(),
            policies: BTreeMap::new(),
            templates: BTreeMap::new(),
            config_schemas: BTreeMap::new(),
            config_maps: BTreeMap::new(),
            gitops_repos: BTreeMap::new(),
            base_repos: BTreeMap::new(),
            registrations: BTreeMap::new(),
            duplicates: BTreeMap::new(),
            unavailable,
            addresses: BTreeMap::new(),
        }
    }

    /// Whether there is nothing that could be scheduled, or nowhere to.
    pub fn is_empty(&self) -> bool {
        self.cluster_types.is_empty()
            && self.clusters.is_empty()
            && self.policies.is_empty()
            && self.workloads.is_empty()
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
        for copy in copies {
            diagnostic = diagnostic.at(Origin::At(copy.address(), name.clone()), "and again here");
        }
        let diagnostic =
            diagnostic.note("what depends on it keeps its last good output").help("remove or rename all but one");
        Some(diagnostic.about(key))
    }

    /// The cluster type of a cluster. None, and reported, if there is no such cluster type, or if the cluster has a cluster type's name: it can't be scheduled.
    pub fn type_of(&self, cluster: &Object<Cluster>) -> Option<&Arc<Object<ClusterType>>> {
        if self.cluster_types.contains_key(cluster.name.as_str()) {
            return None;
        }
        self.cluster_types.get(&*cluster.spec.cluster_type)
    }

    /// Where an object stands.
    pub fn address(&self, object: &ObjectKey) -> Option<Address> {
        self.addresses.get(object).copied()
    }
}

/// Puts a fleet together.
struct Builder {
    fleet: Fleet,
    diagnostics: Vec<Diagnostic>,
}

impl Builder {
    /// Adds objects in an order that does not depend on that of the files.
    fn add_sorted(&mut self, mut objects: Vec<AnyObject>) {
        let files = Arc::clone(&self.fleet.files);
        let place = |object: &AnyObject| {
            let Address { file, document, item } = object.address();
            let file = files.get(file);
            (Arc::clone(&file.source), Arc::clone(&file.path), document, item)
        };
        objects.sort_by_cached_key(|object| (object.key(), place(object)));
        objects.into_iter().for_each(|object| self.add(object));
    }

    fn add(&mut self, object: AnyObject) {
        if let AnyObject::Environment(environment) = &object
            && environment.name != self.fleet.environment
        {
            return;
        }
        let key = object.key();
        if self.fleet.addresses.contains_key(&key) {
            self.fleet.duplicates.entry(key).or_default().push(object);
            return;
        }
        self.fleet.addresses.insert(key, object.address());
        let fleet = &mut self.fleet;
        match object {
            AnyObject::BaseRepo(object) => insert(&mut fleet.base_repos, object),
            AnyObject::Cluster(object) => insert(&mut fleet.clusters, object),
            AnyObject::ClusterType(object) => insert(&mut fleet.cluster_types, object),
            AnyObject::ConfigMap(object) => insert(&mut fleet.config_maps, object),
            AnyObject::ConfigSchema(object) => insert(&mut fleet.config_schemas, object),
            AnyObject::DeploymentTarget(object) => insert(&mut fleet.deployment_targets, object),
            AnyObject::Environment(object) => fleet.declaration = Some(object),
            AnyObject::GitOpsRepo(object) => insert(&mut fleet.gitops_repos, object),
            AnyObject::LabelMapping(object) => insert(&mut fleet.label_mappings, object),
            AnyObject::ReleasePin(object) => insert(&mut fleet.release_pins, object),
            AnyObject::SchedulingPolicy(object) => insert(&mut fleet.policies, object),
            AnyObject::Template(object) => insert(&mut fleet.templates, object),
            AnyObject::Workload(object) => {
                let workload = RegisteredWorkload { object, registration: None, workspace: "".into() };
                fleet.workloads.insert(workload.object.name.clone(), workload);
            }
            AnyObject::WorkloadRegistration(object) => insert(&mut fleet.registrations, object),
            // The reader of repositories follows these; they say nothing about assignments.
            AnyObject::FluxGitRepository(_) | AnyObject::FluxKustomization(_) => {}
        }
    }

    /// Finds the registrations of workloads that stand beside them, as in a plain directory: by name, or by the label that Flux leaves.
    fn connect_workloads(&mut self) {
        let prefix = format!("{}-", self.fleet.environment);
        for workload in self.fleet.workloads.values_mut() {
            let flux_name = workload.object.labels.get("kustomize.toolkit.fluxcd.io/name");
            let flux_name = flux_name.and_then(|name| name.strip_prefix(&prefix));
            let name = flux_name.unwrap_or(workload.object.name.as_str());
            if let Some((name, registration)) = self.fleet.registrations.get_key_value(name) {
                workload.registration = Some(name.clone());
                workload.workspace = Arc::clone(&registration.spec.workspace);
            }
        }
    }

    fn add_application(&mut self, registration: &RegistrationName, objects: Vec<AnyObject>) {
        let is_workload = |object: &AnyObject| object.kind() == Kind::Workload;
        let own: BTreeSet<Arc<str>> =
            objects.iter().filter(|object| is_workload(object)).map(|object| object.key().name).collect();
        let (allowed, refused): (Vec<_>, Vec<_>) = objects.into_iter().partition(|object| match object {
            AnyObject::Workload(_) => true,
            AnyObject::ConfigSchema(schema) => {
                schema.labels.get("workload").is_some_and(|workload| own.contains(workload))
            }
            _ => false,
        });
        refused.iter().for_each(|object| self.refuse(registration, object));
        let mut seen = BTreeSet::new();
        for object in allowed {
            match object {
                // A second copy in the same repository is an ordinary duplicate.
                AnyObject::Workload(workload) if !seen.insert(workload.name.clone()) => {
                    self.add(AnyObject::Workload(workload));
                }
                AnyObject::Workload(workload) => self.add_workload(registration, workload),
                other => self.add(other),
            }
        }
    }

    fn refuse(&mut self, registration: &RegistrationName, object: &AnyObject) {
        let key = object.key();
        let origin = Origin::At(object.address(), FieldPath::from(["kind"]));
        let diagnostic = Diagnostic::error(Code::NotAllowedHere, format!("{key} may not come from an application repository"))
            .at(origin, format!("brought by registration `{registration}`"))
            .help("an application repository brings its `Workload`s, and `ConfigSchema`s labelled with the name of one of them");
        self.diagnostics.push(diagnostic.about(&key));
    }

    fn add_workload(&mut self, registration: &RegistrationName, object: Arc<Object<Workload>>) {
        if let Some(first) = self.fleet.workloads.get(&object.name) {
            let key = object.key();
            let owner = first
                .registration
                .as_ref()
                .map_or("the control plane".to_owned(), |name| format!("registration `{name}`"));
            let diagnostic = Diagnostic::error(
                Code::WorkloadTaken,
                format!("{key} of registration `{registration}` exists already"),
            )
            .at(Origin::At(object.address, FieldPath::from(["metadata", "name"])), "this one is ignored")
            .at(
                Origin::field(&key, FieldPath::from(["metadata", "name"])),
                format!("{owner} brings this one, which counts"),
            )
            .help("rename one of the two workloads");
            self.diagnostics.push(diagnostic.about(&key));
            return;
        }
        let registered = self.fleet.registrations.get(registration);
        let workspace = registered.map_or_else(|| "".into(), |object| Arc::clone(&object.spec.workspace));
        self.fleet.addresses.insert(object.key(), object.address);
        let name = object.name.clone();
        let workload = RegisteredWorkload { object, registration: Some(registration.clone()), workspace };
        self.fleet.workloads.insert(name, workload);
    }

    fn report_duplicates(&mut self) {
        let keys = self.fleet.duplicates.keys();
        self.diagnostics.extend(keys.filter_map(|key| self.fleet.duplicate_diagnostic(key)));
    }
}

fn insert<S: Spec>(objects: &mut Named<S>, object: Arc<Object<S>>) {
    objects.insert(object.name.clone(), object);
}
