//! Finds the owner of each workload that application repositories contain.
//!
//! Workloads of the platform take precedence, then the workload of the registration with the workload's name. So an application repository cannot change
//! the workloads of a team that is registered under their name. If there is no such registration, or its repository does not contain the workload, the
//! owner must not depend on which repository was first: the last published output stays for all registrations that contain the workload.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Author, Fleet, PLACES_MAX, RegisteredWorkload};
use crate::diagnostic::{Code, Diagnostic, Origin};
use crate::field_path::FieldPath;
use crate::name::{RegistrationName, WorkloadName};
use crate::object::{AnyObject, Object, Workload};

/// The workloads in application repositories, by name, then by registration. A repository with copies has several.
pub(super) type Claims = BTreeMap<WorkloadName, BTreeMap<RegistrationName, Vec<Arc<Object<Workload>>>>>;

/// Assigns each workload to its owner. Workloads that belong to another owner are ignored, and reported.
pub(super) fn settle(fleet: &mut Fleet, claims: Claims) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for (name, mut claims) in claims {
        if !fleet.workloads.contains_key(&name) {
            let namesake = claims.remove_entry(name.as_str());
            let is_alone = claims.len() == 1 && !fleet.registrations.contains_key(name.as_str());
            let owner = namesake.or_else(|| if is_alone { claims.pop_first() } else { None });
            let Some((registration, copies)) = owner else {
                contest(fleet, &name, claims);
                diagnostics.extend(fleet.conflicting_claims_diagnostic(&name));
                continue;
            };
            own(fleet, &registration, copies);
        }
        let lost = claims.iter().filter_map(|(registration, copies)| taken(fleet, registration, copies));
        diagnostics.extend(lost);
    }
    diagnostics
}

/// Takes the first copy. Further copies in the same repository are ordinary duplicates.
fn own(fleet: &mut Fleet, registration: &RegistrationName, copies: Vec<Arc<Object<Workload>>>) {
    let mut copies = registered_workloads(fleet, registration, copies).into_iter();
    let Some(first) = copies.next() else { return };
    let key = first.object.key();
    Arc::make_mut(&mut fleet.workloads).insert(first.object.name.clone(), first);
    let rest: Vec<_> = copies.map(|copy| AnyObject::Workload(copy.object)).collect();
    if !rest.is_empty() {
        fleet.duplicates.entry(key).or_default().extend(rest);
    }
}

/// Records all registrations whose repositories contain the workload.
fn contest(fleet: &mut Fleet, name: &WorkloadName, claims: BTreeMap<RegistrationName, Vec<Arc<Object<Workload>>>>) {
    let all = claims
        .into_iter()
        .flat_map(|(registration, copies)| registered_workloads(fleet, &registration, copies))
        .collect();
    Arc::make_mut(&mut fleet.conflicting_claims).insert(name.clone(), all);
}

fn registered_workloads(
    fleet: &Fleet,
    registration: &RegistrationName,
    objects: Vec<Arc<Object<Workload>>>,
) -> Vec<RegisteredWorkload> {
    let registered = fleet.registrations.get(registration);
    let workspace: Arc<str> = registered.map_or_else(|| "".into(), |object| Arc::clone(&object.spec.workspace));
    let registered = |object| RegisteredWorkload {
        object,
        registration: Some(registration.clone()),
        workspace: Arc::clone(&workspace),
        author: Author::Application,
    };
    objects.into_iter().map(registered).collect()
}

/// Reports a workload (or its copies in one repository) that belongs to another owner.
fn taken(fleet: &Fleet, registration: &RegistrationName, copies: &[Arc<Object<Workload>>]) -> Option<Diagnostic> {
    let object = copies.first()?;
    let key = object.key();
    let owner = fleet.workloads.get(&object.name)?;
    let by_name = owner.registration.as_ref().filter(|_| owner.author == Author::Application);
    let whose = by_name.map_or("the control plane".to_owned(), |name| format!("registration `{name}`"));
    let message = format!("{key} of registration `{registration}` belongs to {whose}");
    let mut diagnostic = Diagnostic::error(Code::WorkloadTaken, message);
    for copy in copies.iter().take(PLACES_MAX) {
        diagnostic = diagnostic.at(Origin::At(copy.address, name_field()), "this one is ignored");
    }
    diagnostic = diagnostic.at(Origin::field(&key, name_field()), format!("{whose} brings this one, which is used"));
    if by_name.is_some() {
        diagnostic = at_namesake(fleet, diagnostic, object.name.as_str());
    }
    Some(diagnostic.help("rename the workload").about(&key))
}

impl Fleet {
    /// The diagnostic for a workload whose owner is not clear. None if it is clear.
    pub fn conflicting_claims_diagnostic(&self, name: &WorkloadName) -> Option<Diagnostic> {
        let claims = self.conflicting_claims.get(name)?;
        let registrations: BTreeSet<_> = claims.iter().filter_map(|claim| claim.registration.as_ref()).collect();
        let registrations: Vec<_> = registrations.into_iter().collect();
        let key = claims.first()?.object.key();
        let has_namesake = self.registrations.contains_key(name.as_str());
        let message = match &*registrations {
            [one] if has_namesake => {
                let is_unknown = self.unavailable.contains(name.as_str());
                let why = if is_unknown { "whose repository can't be read" } else { "which does not bring it" };
                format!("{key} of registration `{one}` has the name of registration `{name}`, {why}")
            }
            all => format!("{} bring {key}, and none of them has its name", listed(all)),
        };
        let mut diagnostic = Diagnostic::error(Code::WorkloadContested, message);
        for claim in claims.iter().take(PLACES_MAX) {
            let text = claim.registration.as_ref().map(|name| format!("brought by registration `{name}`"));
            diagnostic = diagnostic.at(Origin::At(claim.object.address, name_field()), text.unwrap_or_default());
        }
        let diagnostic = at_namesake(self, diagnostic, name.as_str())
            .note("the owner is not clear: the last published version stays, and no new one is rendered")
            .help(format!("rename the workload, or let the registration that is to bring it be called `{name}`"));
        Some(diagnostic.about(&key))
    }
}

/// Adds the place of the registration with the workload's name, if there is one.
fn at_namesake(fleet: &Fleet, diagnostic: Diagnostic, name: &str) -> Diagnostic {
    match fleet.registrations.get(name) {
        Some(registration) => {
            diagnostic.at(Origin::field(&registration.key(), name_field()), "the registration of this name owns it")
        }
        None => diagnostic,
    }
}

fn name_field() -> FieldPath {
    FieldPath::from(["metadata", "name"])
}

/// A list in text: ``registrations `a`, `b` and `c` ``.
fn listed(registrations: &[&RegistrationName]) -> String {
    let mut names: Vec<_> = registrations.iter().take(PLACES_MAX).map(|name| format!("`{name}`")).collect();
    let more = registrations.len() - names.len();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        Some((last, [])) => format!("registration {last}"),
        Some((last, rest)) => format!("registrations {} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
