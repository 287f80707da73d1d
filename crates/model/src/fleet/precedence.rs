//! Decides which objects of limited repositories count: those that their limits allow, and whose name no object higher in the hierarchy has.
//!
//! Without the second rule, a limited repository could stop an object of the company by bringing another one with its name: both would count as
//! duplicates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::AuthorRole;
use super::limits::{Chain, Limits};
use crate::diagnostic::{Code, Diagnostic, Origin};
use crate::field_path::FieldPath;
use crate::kind::Kind;
use crate::name::{EnvironmentName, RegistrationName};
use crate::object::AnyObject;
use crate::object_key::ObjectKey;
use crate::source::Address;

/// The objects of one file, with the author of the file and its limits.
pub type LimitedFile<'o> = (&'o AuthorRole, &'o Limits, &'o [AnyObject]);

/// The objects that do not count.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// The addresses of the objects.
    pub refused: BTreeSet<Address>,
    /// The reasons.
    pub diagnostics: Vec<Diagnostic>,
}

/// A name that only one object can have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    /// The name of a kind.
    Object(Kind, Arc<str>),
    /// The name of a cluster or cluster type: both have folders of this name.
    Place(Arc<str>),
    /// The name of a workload. A registration owns the workload with its name.
    Workload(Arc<str>),
    /// The whole name of a deployment target.
    Target(Arc<str>),
}

/// An object that its limits allow.
struct Candidate<'o> {
    role: &'o AuthorRole,
    object: &'o AnyObject,
    /// The chains that allow it.
    chains: Vec<Chain>,
    claims: Vec<Claim>,
}

/// An object that counts, with one chain by which it counts.
#[derive(Clone)]
struct Owner {
    chain: Chain,
    address: Address,
    key: ObjectKey,
}

/// Decides which objects of an environment do not count because of limits.
pub fn judge(environment: &EnvironmentName, files: &[LimitedFile<'_>]) -> Verdict {
    let mut verdict = Verdict::default();
    if files.iter().all(|(_, limits, _)| limits.is_unlimited()) {
        return verdict;
    }
    let candidates = allowed(environment, files, &mut verdict);
    let claims: BTreeSet<_> = candidates.iter().flat_map(|candidate| &candidate.claims).cloned().collect();
    let mut owners = Owners::unlimited(environment, files, &claims);
    let mut counting = BTreeSet::new();
    let mut outranking: BTreeMap<Address, Owner> = BTreeMap::new();
    for (candidate, chain) in in_order(&candidates) {
        let address = candidate.object.address();
        if let AuthorRole::Application(registration) = candidate.role
            && !owners.has_registration(registration, chain)
        {
            continue;
        }
        if let Some(owner) = owners.above(candidate, chain) {
            outranking.entry(address).or_insert_with(|| owner.clone());
            continue;
        }
        counting.insert(address);
        owners.add(candidate, chain);
    }
    for Candidate { object, .. } in candidates.iter().filter(|found| !counting.contains(&found.object.address())) {
        verdict.refused.insert(object.address());
        verdict.diagnostics.extend(outranking.get(&object.address()).map(|owner| outranked(object, owner)));
    }
    verdict
}

/// The candidates with each of their chains. What is above others comes first. A registration comes before the objects of its repository.
fn in_order<'c, 'o>(candidates: &'c [Candidate<'o>]) -> Vec<(&'c Candidate<'o>, &'c Chain)> {
    let with_chains =
        candidates.iter().flat_map(|candidate| candidate.chains.iter().map(move |chain| (candidate, chain)));
    let mut ordered: Vec<_> = with_chains.collect();
    ordered.sort_by_key(|(candidate, chain)| {
        let is_of_application = matches!(candidate.role, AuthorRole::Application(_));
        (chain.len(), is_of_application, candidate.object.address())
    });
    ordered
}

/// The objects of limited files that their limits allow. The others are refused.
fn allowed<'o>(environment: &EnvironmentName, files: &[LimitedFile<'o>], verdict: &mut Verdict) -> Vec<Candidate<'o>> {
    let mut candidates = Vec::new();
    for (role, limits, objects) in files.iter().copied().filter(|(_, limits, _)| !limits.is_unlimited()) {
        for object in objects {
            if let Some(granted) = limits.granted(role, object) {
                let (chains, claims) = (granted.chains(), claims(environment, role, object));
                candidates.push(Candidate { role, object, chains, claims });
            } else {
                verdict.refused.insert(object.address());
                verdict.diagnostics.extend(limits.refusals(role, object));
            }
        }
    }
    candidates
}

/// The objects that own names.
#[derive(Default)]
struct Owners {
    by_claim: BTreeMap<Claim, Vec<Owner>>,
    registrations: BTreeMap<RegistrationName, Vec<Chain>>,
}

impl Owners {
    /// The objects without limits that have one of these names.
    fn unlimited(environment: &EnvironmentName, files: &[LimitedFile<'_>], contested: &BTreeSet<Claim>) -> Self {
        let mut owners = Self::default();
        for (role, _, objects) in files.iter().copied().filter(|(_, limits, _)| limits.is_unlimited()) {
            for object in objects {
                let mut claims = claims(environment, role, object);
                claims.retain(|claim| contested.contains(claim));
                owners.add(&Candidate { role, object, chains: Vec::new(), claims }, &Chain::default());
            }
        }
        owners
    }

    /// Adds an object that counts by a chain.
    fn add(&mut self, candidate: &Candidate<'_>, chain: &Chain) {
        let Candidate { role, object, claims, .. } = candidate;
        if let (AuthorRole::Platform, AnyObject::WorkloadRegistration(registration)) = (role, object) {
            self.registrations.entry(registration.name.clone()).or_default().push(chain.clone());
        }
        for claim in claims {
            let owner = Owner { chain: chain.clone(), address: object.address(), key: object.key() };
            self.by_claim.entry(claim.clone()).or_default().push(owner);
        }
    }

    /// Whether a registration counts by a chain.
    fn has_registration(&self, name: &RegistrationName, chain: &Chain) -> bool {
        let chains = self.registrations.get(name).into_iter().flatten();
        chains.into_iter().any(|known| known.is_within(chain))
    }

    /// The first owner of one of the candidate's names that is above it.
    fn above(&self, candidate: &Candidate<'_>, chain: &Chain) -> Option<&Owner> {
        let owners = candidate.claims.iter().filter_map(|claim| self.by_claim.get(claim)).flatten();
        owners.into_iter().find(|owner| owner.chain.is_above(chain))
    }
}

fn claims(environment: &EnvironmentName, role: &AuthorRole, object: &AnyObject) -> Vec<Claim> {
    let name = || Arc::clone(object.name());
    match object {
        AnyObject::Cluster(_) | AnyObject::ClusterType(_) => vec![Claim::Place(name())],
        AnyObject::WorkloadRegistration(_) => vec![Claim::Workload(name())],
        AnyObject::DeploymentTarget(_) => vec![Claim::Target(name())],
        AnyObject::Workload(workload) => {
            let targets = workload.spec.deployment_targets.iter();
            let here = targets.filter(|target| *target.spec.environment == *environment.as_str());
            let whole = here.map(|target| Claim::Target(format!("{}-{}", workload.name, target.name).into()));
            [Claim::Workload(name())].into_iter().chain(whole).collect()
        }
        // Each application repository has its own names of other objects.
        _ if *role != AuthorRole::Platform => Vec::new(),
        _ => vec![Claim::Object(object.kind(), name())],
    }
}

fn outranked(object: &AnyObject, owner: &Owner) -> Diagnostic {
    let (key, name) = (object.key(), FieldPath::from(["metadata", "name"]));
    let message = if owner.key == key {
        format!("{key} also comes from a repository above, whose object counts")
    } else {
        format!("{key} has a name that {} of a repository above has", owner.key)
    };
    Diagnostic::error(Code::NameOfAbove, message)
        .at(Origin::At(object.address(), name.clone()), "this object does not count")
        .at(Origin::At(owner.address, name), "this one does")
        .help("rename it, or remove it")
        .because(format!("{}", owner.key))
        .about(&key)
}
