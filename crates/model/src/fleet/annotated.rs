//! The objects of a fleet that have annotations.

use crate::label::Labels;
use crate::name::RegistrationName;
use crate::object::{AnyObject, Object, Spec};
use crate::object_key::ObjectKey;
use crate::source::Address;

use super::{Author, Fleet, RegisteredWorkload};

/// An object that has annotations.
#[derive(Clone, Debug)]
pub struct Annotated<'f> {
    /// The identity of the object.
    pub key: ObjectKey,
    /// The registration whose application repository contains the object. None for objects of the platform.
    pub application: Option<RegistrationName>,
    /// The address of the object.
    pub address: Address,
    /// The annotations of the object.
    pub annotations: &'f Labels,
}

impl<'f> Annotated<'f> {
    /// An object of the platform. None if it has no annotations.
    pub(super) fn from_object<S: Spec>(object: &'f Object<S>) -> Option<Self> {
        let (key, address, annotations) = (object.key(), object.address, &object.annotations);
        (!annotations.is_empty()).then_some(Self { key, application: None, address, annotations })
    }

    fn of_workload(workload: &'f RegisteredWorkload) -> Option<Self> {
        let is_application = workload.author == Author::Application;
        let application = workload.registration.clone().filter(|_| is_application);
        Self::from_object(&workload.object).map(|found| Self { application, ..found })
    }
}

impl Fleet {
    /// The objects that have annotations. If an object has several copies, only the first is included.
    pub fn annotated(&self) -> Vec<Annotated<'_>> {
        let mut found = self.plain_annotated();
        found.extend(self.declaration.iter().filter_map(|object| Annotated::from_object(object)));
        found.extend(self.workloads.values().filter_map(Annotated::of_workload));
        found.extend(self.conflicting_claims.values().flatten().filter_map(Annotated::of_workload));
        for (registration, schemas) in self.application_schemas.iter() {
            found.extend(schemas.values().filter_map(|schema| {
                let application = Some(registration.clone());
                let found = Annotated::from_object(schema)?;
                Some(Annotated { key: ObjectKey { of: application.clone(), ..found.key }, application, ..found })
            }));
        }
        found.extend(self.references.values().filter_map(|object| match object {
            AnyObject::FluxGitRepository(object) => Annotated::from_object(object),
            AnyObject::FluxKustomization(object) => Annotated::from_object(object),
            _ => None,
        }));
        found
    }
}
