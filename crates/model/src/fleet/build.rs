//! Puts a fleet together out of the objects of all files.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Fleet, RegisteredWorkload, Role, clusters};
use crate::diagnostic::{Code, Diagnostic, Origin};
use crate::field_path::FieldPath;
use crate::name::RegistrationName;
use crate::object::{AnyObject, Kind, Object, Workload};
use crate::source::Files;

/// Fills an empty fleet with objects by who wrote them, and says what does not fit.
pub(super) fn fleet(
    empty: Fleet,
    objects: impl IntoIterator<Item = (Role, Vec<AnyObject>)>,
) -> (Fleet, Vec<Diagnostic>) {
    let (mut platform, mut applications) = (Vec::new(), BTreeMap::<_, Vec<_>>::new());
    for (role, mut objects) in objects {
        match role {
            Role::Platform => platform.append(&mut objects),
            Role::Application(registration) => applications.entry(registration).or_default().append(&mut objects),
        }
    }
    let mut builder = Builder { fleet: empty, diagnostics: Vec::new() };
    builder.sort(&mut platform);
    platform.into_iter().for_each(|object| builder.add(object));
    builder.connect_workloads();
    for (registration, mut objects) in applications {
        builder.sort(&mut objects);
        builder.add_application(&registration, objects);
    }
    builder.report_duplicates();
    builder.diagnostics.extend(clusters::problems(&builder.fleet));
    (builder.fleet, builder.diagnostics)
}

/// Puts a fleet together.
struct Builder {
    fleet: Fleet,
    diagnostics: Vec<Diagnostic>,
}

impl Builder {
    /// Brings objects into an order that does not depend on that of the files.
    fn sort(&self, objects: &mut [AnyObject]) {
        let by_name = |one: &AnyObject, other: &AnyObject| (one.kind(), one.name()).cmp(&(other.kind(), other.name()));
        objects.sort_by(|one, other| by_name(one, other).then_with(|| by_place(&self.fleet.files, one, other)));
    }

    fn add(&mut self, object: AnyObject) {
        if let AnyObject::Environment(environment) = &object
            && environment.name != self.fleet.environment
        {
            return;
        }
        let key = object.key();
        if !object.kind().is_of_fleets() {
            self.ignore(&object);
            return;
        }
        let fleet = &mut self.fleet;
        if fleet.address(&key).is_some() {
            fleet.duplicates.entry(key).or_default().push(object);
            return;
        }
        match fleet.put(object) {
            None => {}
            Some(AnyObject::Environment(object)) => fleet.declaration = Some(object),
            Some(AnyObject::Workload(object)) => {
                let workload = RegisteredWorkload { object, registration: None, workspace: "".into() };
                Arc::make_mut(&mut fleet.workloads).insert(workload.object.name.clone(), workload);
            }
            Some(other) => drop(fleet.references.insert(key, other)),
        }
    }

    /// Finds the registrations of workloads that stand beside them, as in a plain directory: by name, or by the label that Flux leaves.
    fn connect_workloads(&mut self) {
        let prefix = format!("{}-", self.fleet.environment);
        for workload in Arc::make_mut(&mut self.fleet.workloads).values_mut() {
            let flux_name = workload.object.labels.get("kustomize.toolkit.fluxcd.io/name");
            let flux_name = flux_name.and_then(|name| name.strip_prefix(&prefix));
            let name = flux_name.unwrap_or(workload.object.name.as_str());
            if let Some(registration) = self.fleet.registrations.get(name) {
                workload.registration = Some(registration.name.clone());
                workload.workspace = Arc::clone(&registration.spec.workspace);
            }
        }
    }

    fn add_application(&mut self, registration: &RegistrationName, objects: Vec<AnyObject>) {
        let is_workload = |object: &AnyObject| object.kind() == Kind::Workload;
        let own: BTreeSet<Arc<str>> =
            objects.iter().filter(|object| is_workload(object)).map(|object| object.key().name).collect();
        let (objects, ignored): (Vec<_>, Vec<_>) = objects.into_iter().partition(|object| object.kind().is_of_fleets());
        ignored.iter().for_each(|object| self.ignore(object));
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

    /// An object that only the hub reads does nothing here.
    fn ignore(&mut self, object: &AnyObject) {
        let key = object.key();
        let origin = Origin::At(object.address(), FieldPath::from(["kind"]));
        let diagnostic = Diagnostic::warning(Code::NotAllowedHere, format!("{key} means nothing here: it is ignored"))
            .at(origin, "only the hub reads it, in GitOps repositories")
            .help("put it beside the manifests that it describes");
        self.diagnostics.push(diagnostic.about(&key));
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
        let registered = self.fleet.registrations.get(registration.as_str());
        let workspace = registered.map_or_else(|| "".into(), |object| Arc::clone(&object.spec.workspace));
        let name = object.name.clone();
        let workload = RegisteredWorkload { object, registration: Some(registration.clone()), workspace };
        Arc::make_mut(&mut self.fleet.workloads).insert(name, workload);
    }

    fn report_duplicates(&mut self) {
        let keys = self.fleet.duplicates.keys();
        self.diagnostics.extend(keys.filter_map(|key| self.fleet.duplicate_diagnostic(key)));
    }
}

fn by_place(files: &Files, one: &AnyObject, other: &AnyObject) -> Ordering {
    let place = |object: &AnyObject| {
        let address = object.address();
        (files.get(address.file), address.document, address.item)
    };
    let ((one, document, item), (other, other_document, other_item)) = (place(one), place(other));
    let of_files = (&one.source, &one.path).cmp(&(&other.source, &other.path));
    of_files.then_with(|| (document, item).cmp(&(other_document, other_item)))
}
