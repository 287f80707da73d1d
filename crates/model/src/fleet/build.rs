//! Builds a fleet from the objects of all files.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::ownership::{self, Claims};
use super::precedence::{self, Verdict};
use super::{Author, AuthorRole, Fleet, Limits, RegisteredWorkload, clusters};
use crate::diagnostic::{Code, Diagnostic, Origin};
use crate::field_path::FieldPath;
use crate::kind::Kind;
use crate::name::{EnvironmentName, RegistrationName};
use crate::object::deployment_target::WORKLOAD_LABEL;
use crate::object::{AnyObject, ConfigSchema, Object};
use crate::object_key::ObjectKey;
use crate::source::Files;

/// Adds objects to an empty fleet, by the team that wrote them, and reports those that do not fit.
pub(super) fn fleet(empty: Fleet, mut objects: Vec<(AuthorRole, Limits, Vec<AnyObject>)>) -> (Fleet, Vec<Diagnostic>) {
    let (mut platform, mut applications) = (Vec::new(), BTreeMap::<_, Vec<_>>::new());
    let diagnostics = apply_limits(&empty.environment, &mut objects);
    let mut limited_schemas = BTreeSet::new();
    for (role, limits, mut objects) in objects {
        match role {
            AuthorRole::Platform => {
                limited_schemas.extend(schemas(&objects).filter(|_| limits.has_base_repo()));
                platform.append(&mut objects);
            }
            AuthorRole::Application(registration) => applications.entry(registration).or_default().append(&mut objects),
        }
    }
    let mut builder = Builder { fleet: Fleet { limited_schemas, ..empty }, diagnostics };
    builder.sort(&mut platform);
    platform.into_iter().for_each(|object| builder.add(object));
    builder.connect_workloads();
    builder.add_applications(applications);
    builder.report_duplicates();
    builder.diagnostics.extend(clusters::problems(&builder.fleet));
    (builder.fleet, builder.diagnostics)
}

/// Removes the objects that do not count because of limits. Returns the reasons.
fn apply_limits(environment: &EnvironmentName, files: &mut [(AuthorRole, Limits, Vec<AnyObject>)]) -> Vec<Diagnostic> {
    let limited: Vec<_> = files.iter().map(|(role, limits, objects)| (role, limits, &**objects)).collect();
    let Verdict { refused, diagnostics } = precedence::judge(environment, &limited);
    if !refused.is_empty() {
        for (_, _, objects) in files {
            objects.retain(|object| !refused.contains(&object.address()));
        }
    }
    diagnostics
}

/// The names of the schemas among these objects.
fn schemas(objects: &[AnyObject]) -> impl Iterator<Item = Arc<str>> {
    let schemas = objects.iter().filter(|object| object.kind() == Kind::ConfigSchema);
    schemas.map(|schema| Arc::clone(schema.name()))
}

/// Builds a fleet.
struct Builder {
    fleet: Fleet,
    diagnostics: Vec<Diagnostic>,
}

impl Builder {
    /// Sorts objects, so that the result does not depend on the order of the files.
    fn sort(&self, objects: &mut [AnyObject]) {
        let by_name = |one: &AnyObject, other: &AnyObject| (one.kind(), one.name()).cmp(&(other.kind(), other.name()));
        objects.sort_by(|one, other| by_name(one, other).then_with(|| by_place(&self.fleet.files, one, other)));
    }

    fn add(&mut self, object: AnyObject) {
        if let AnyObject::Environment(environment) = &object {
            self.fleet.environments.insert(environment.name.clone());
            if environment.name != self.fleet.environment {
                return;
            }
        }
        if let AnyObject::Promotion(promotion) = &object
            && *promotion.spec.to != *self.fleet.environment.as_str()
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
                let workload =
                    RegisteredWorkload { object, registration: None, workspace: "".into(), author: Author::Platform };
                Arc::make_mut(&mut fleet.workloads).insert(workload.object.name.clone(), workload);
            }
            Some(other) => drop(fleet.references.insert(key, other)),
        }
    }

    /// Connects workloads with registrations in the same files, as in a plain directory: by name, or by the label that Flux sets.
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

    /// Adds the workloads of all applications, and the schemas for the workloads that they own.
    fn add_applications(&mut self, applications: BTreeMap<RegistrationName, Vec<AnyObject>>) {
        let (mut claims, mut schemas) = (Claims::new(), Vec::new());
        for (registration, mut objects) in applications {
            self.sort(&mut objects);
            for object in objects {
                match object {
                    AnyObject::Workload(workload) => {
                        let copies = claims.entry(workload.name.clone()).or_default();
                        copies.entry(registration.clone()).or_default().push(workload);
                    }
                    AnyObject::ConfigSchema(schema) => schemas.push((registration.clone(), schema)),
                    other if !other.kind().is_of_fleets() => self.ignore(&other),
                    other => self.refuse(&registration, &other, Vec::new()),
                }
            }
        }
        let found = ownership::settle(&mut self.fleet, claims);
        self.diagnostics.extend(found);
        schemas.into_iter().for_each(|(registration, schema)| self.add_schema(registration, schema));
    }

    /// Adds a schema of an application, if it is for one of the application's own workloads.
    fn add_schema(&mut self, registration: RegistrationName, schema: Arc<Object<ConfigSchema>>) {
        let workload = schema.labels.get(WORKLOAD_LABEL);
        let of_name = |name: &Arc<str>| {
            let conflicting_claims = self.fleet.conflicting_claims.get(&**name).into_iter().flatten();
            self.fleet.workloads.get(&**name).into_iter().chain(conflicting_claims)
        };
        let is_own = |workload: &RegisteredWorkload| {
            workload.author == Author::Application && workload.registration.as_ref() == Some(&registration)
        };
        // A workload whose owner is not clear is not rendered. Its schemas still mark its sensitive values.
        if workload.into_iter().flat_map(of_name).any(is_own) {
            self.put_schema(registration, schema);
            return;
        }
        let note =
            workload.map(|name| format!("its label `workload: {name}` names none of the registration's workloads"));
        self.refuse(&registration, &AnyObject::ConfigSchema(schema), note.into_iter().collect());
    }

    fn put_schema(&mut self, registration: RegistrationName, schema: Arc<Object<ConfigSchema>>) {
        let key = ObjectKey { of: Some(registration.clone()), ..schema.key() };
        if self.fleet.address(&key).is_some() {
            self.fleet.duplicates.entry(key).or_default().push(AnyObject::ConfigSchema(schema));
            return;
        }
        self.fleet.put_schema(registration, schema);
    }

    /// Skips an object that only the hub reads.
    fn ignore(&mut self, object: &AnyObject) {
        let key = object.key();
        let origin = Origin::At(object.address(), FieldPath::from(["kind"]));
        let diagnostic = Diagnostic::warning(Code::NotAllowedHere, format!("{key} has no effect here: it is ignored"))
            .at(origin, "only the hub reads it, in GitOps repositories")
            .help("put it beside the manifests that it describes");
        self.diagnostics.push(diagnostic.about(&key));
    }

    fn refuse(&mut self, registration: &RegistrationName, object: &AnyObject, notes: Vec<String>) {
        let key = object.key();
        let origin = Origin::At(object.address(), FieldPath::from(["kind"]));
        let mut diagnostic = Diagnostic::error(Code::NotAllowedHere, format!("{key} may not come from an application repository"))
            .at(origin, format!("brought by registration `{registration}`"))
            .help("an application repository brings its `Workload`s, and `ConfigSchema`s labelled with the name of one of them");
        diagnostic.notes = notes;
        self.diagnostics.push(diagnostic.about(&key));
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
