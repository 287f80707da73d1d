//! The places and deployment targets that have another name now, by the annotations of their objects.
//!
//! An earlier name has no effect while an object has it. So an annotation can stay after the rename, and a wrong one changes nothing that exists.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::earlier_names::{RENAMED_FROM, RENAMED_TARGETS, of_object, of_targets};
use model::field_path::FieldPath;
use model::fleet::{Author, Fleet, RegisteredWorkload};
use model::object_key::ObjectKey;

use crate::compile::Prepared;

/// Present names, by earlier names.
pub(crate) type PresentNames = BTreeMap<Arc<str>, Arc<str>>;

/// Earlier names, each with the present name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renames {
    places: PresentNames,
    targets: PresentNames,
    workloads: PresentNames,
}

/// An object that claims an earlier name.
struct Claim {
    /// The present name of the place, or the whole name of the target.
    present: Arc<str>,
    object: ObjectKey,
    annotation: &'static str,
}

/// Why a claim has no effect, and what to do.
struct Refusal {
    message: String,
    help: String,
}

impl Refusal {
    /// Another object has the name, or claims it.
    fn by_another(message: String) -> Self {
        Self { message, help: "remove the name here, or remove or rename the other object".to_owned() }
    }
}

/// The claims to each earlier name, with the reason why one has no effect.
#[derive(Default)]
struct Claims {
    claims: BTreeMap<Arc<str>, Vec<Claim>>,
    ignored: Vec<Diagnostic>,
}

/// The present names of places, by earlier names.
pub(crate) fn renamed_places(fleet: &Fleet) -> PresentNames {
    place_claims(fleet).finish().0
}

/// Warnings of earlier names without effect.
pub(crate) fn diagnostics(prepared: &Prepared) -> Vec<Diagnostic> {
    let (_, mut found) = place_claims(prepared.fleet()).finish();
    found.extend(workload_claims(prepared.fleet()).finish().1);
    found.extend(target_claims(prepared).finish().1);
    found
}

impl Renames {
    /// The renamed places and targets of a fleet.
    pub fn new(prepared: &Prepared) -> Self {
        let workloads = workload_claims(prepared.fleet()).finish().0;
        Self { places: renamed_places(prepared.fleet()), targets: target_claims(prepared).finish().0, workloads }
    }

    /// The present names of workloads, by earlier names.
    pub fn workloads(&self) -> &BTreeMap<Arc<str>, Arc<str>> {
        &self.workloads
    }

    /// Whether nothing was renamed.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty() && self.targets.is_empty()
    }

    /// The present names of cluster types and clusters, by earlier names.
    pub fn places(&self) -> &BTreeMap<Arc<str>, Arc<str>> {
        &self.places
    }

    /// The present name of a place that had this name.
    pub fn place(&self, earlier: &str) -> Option<&Arc<str>> {
        self.places.get(earlier)
    }

    /// The present name of a deployment target that had this whole name.
    pub fn target(&self, earlier: &str) -> Option<&Arc<str>> {
        self.targets.get(earlier)
    }

    /// The names that an assignment may have had: those with an earlier name of its place, its target, or both.
    pub fn predecessors<'n>(&'n self, place: &'n str, target: &'n str) -> impl Iterator<Item = (&'n str, &'n str)> {
        let earlier = |names: &'n PresentNames, present: &'n str| {
            let of_present = names.iter().filter(move |(_, name)| ***name == *present).map(|(earlier, _)| &**earlier);
            std::iter::once(present).chain(of_present)
        };
        let all = earlier(&self.places, place)
            .flat_map(move |place| earlier(&self.targets, target).map(move |target| (place, target)));
        all.skip(1)
    }

    /// The present names of the place and the target of an assignment. None: neither has another name now.
    pub fn successor(&self, place: &Arc<str>, target: &Arc<str>) -> Option<(Arc<str>, Arc<str>)> {
        let (place_now, target_now) = (self.place(place), self.target(target));
        let is_renamed = place_now.is_some() || target_now.is_some();
        is_renamed.then(|| (Arc::clone(place_now.unwrap_or(place)), Arc::clone(target_now.unwrap_or(target))))
    }
}

impl Claims {
    fn add(&mut self, earlier: &str, claim: Claim) {
        if *earlier != *claim.present {
            self.claims.entry(earlier.into()).or_default().push(claim);
        }
    }

    /// Notes that a claim has no effect.
    fn ignore(&mut self, (object, annotation): (&ObjectKey, &str), refusal: Refusal) {
        let origin = Origin::field(object, FieldPath::from(["metadata", "annotations"]).key(annotation));
        let diagnostic = Diagnostic::warning(Code::EarlierNameIgnored, refusal.message).at(origin, "it has no effect");
        self.ignored.push(diagnostic.help(refusal.help).about(object));
    }

    /// The present name by earlier name, and the diagnostics. A name that several objects claim has no effect.
    fn finish(mut self) -> (PresentNames, Vec<Diagnostic>) {
        let mut found = BTreeMap::new();
        for (earlier, claims) in std::mem::take(&mut self.claims) {
            let present: BTreeSet<_> = claims.iter().map(|claim| &claim.present).collect();
            match claims.as_slice() {
                [claim, ..] if present.len() == 1 => drop(found.insert(earlier, Arc::clone(&claim.present))),
                claims => {
                    for claim in claims {
                        let others = present.iter().filter(|present| ***present != claim.present);
                        let others = others.map(|other| format!("`{other}`")).collect::<Vec<_>>().join(" and ");
                        let message = format!("`{}` can't have been `{earlier}`: so was {others}", claim.present);
                        self.ignore((&claim.object, claim.annotation), Refusal::by_another(message));
                    }
                }
            }
        }
        (found, self.ignored)
    }
}

/// The earlier names of cluster types and clusters, which share their names.
fn place_claims(fleet: &Fleet) -> Claims {
    let mut claims = Claims::default();
    let types = fleet.cluster_types.values().map(|object| (object.key(), &object.annotations));
    let clusters = fleet.clusters.values().map(|object| (object.key(), &object.annotations));
    let taken = |name: &str| {
        let of_type = fleet.cluster_types.get(name).map(|object| object.key());
        of_type.or_else(|| fleet.clusters.get(name).map(|object| object.key()))
    };
    for (object, annotations) in
        types.chain(clusters).filter(|(_, annotations)| annotations.get(RENAMED_FROM).is_some())
    {
        for earlier in of_object(annotations) {
            match taken(earlier) {
                Some(other) if other != object => {
                    let message = format!("{object} can't have been `{earlier}`: {other} has this name");
                    claims.ignore((&object, RENAMED_FROM), Refusal::by_another(message));
                }
                _ => {
                    let (present, annotation) = (Arc::clone(&object.name), RENAMED_FROM);
                    claims.add(earlier, Claim { present, object: object.clone(), annotation });
                }
            }
        }
    }
    claims
}

/// The earlier whole names of deployment targets.
fn target_claims(prepared: &Prepared) -> Claims {
    let (fleet, mut claims) = (prepared.fleet(), Claims::default());
    for workload in fleet.workloads.values() {
        let annotations = &workload.object.annotations;
        if annotations.get(RENAMED_FROM).is_some() || annotations.get(RENAMED_TARGETS).is_some() {
            add_workload(prepared, workload, &mut claims);
        }
    }
    let objects = fleet.deployment_targets.values();
    for target in objects.filter(|target| *target.spec.environment == *fleet.environment.as_str()) {
        for earlier in of_object(&target.annotations) {
            let claim =
                Claim { present: Arc::clone(target.name.as_arc()), object: target.key(), annotation: RENAMED_FROM };
            add_target(prepared, earlier, claim, &mut claims);
        }
    }
    claims
}

/// The earlier names of workloads.
fn workload_claims(fleet: &Fleet) -> Claims {
    let mut claims = Claims::default();
    for workload in fleet.workloads.values() {
        let object = &workload.object;
        for earlier in of_object(&object.annotations) {
            if let Some(refusal) = refusal(fleet, workload, earlier) {
                claims.ignore((&object.key(), RENAMED_FROM), refusal);
            } else {
                let present = Arc::clone(object.name.as_arc());
                claims.add(earlier, Claim { present, object: object.key(), annotation: RENAMED_FROM });
            }
        }
    }
    claims
}

/// Adds the earlier whole names of the targets of a workload: those with an earlier name of the workload, of the target, or of both.
fn add_workload(prepared: &Prepared, workload: &RegisteredWorkload, claims: &mut Claims) {
    let (fleet, object) = (prepared.fleet(), &workload.object);
    let key = object.key();
    let earlier =
        of_object(&object.annotations).into_iter().filter(|earlier| refusal(fleet, workload, earlier).is_none());
    let names: Vec<_> = [object.name.as_str()].into_iter().chain(earlier).collect();
    let own = of_targets(&object.annotations);
    let targets = object.spec.deployment_targets.iter();
    for target in targets.filter(|target| *target.spec.environment == *fleet.environment.as_str()) {
        let present: Arc<str> = format!("{}-{}", object.name, target.name).into();
        let earlier = own.iter().filter(|(new, _)| **new == *target.name).map(|(_, old)| *old);
        let of_target: Vec<&str> = [&*target.name].into_iter().chain(earlier).collect();
        for name in &names {
            for of_target in &of_target {
                let annotation = if **of_target == *target.name { RENAMED_FROM } else { RENAMED_TARGETS };
                let claim = Claim { present: Arc::clone(&present), object: key.clone(), annotation };
                add_target(prepared, &format!("{name}-{of_target}"), claim, claims);
            }
        }
    }
}

/// Adds an earlier whole name of a target, unless a target has it.
fn add_target(prepared: &Prepared, earlier: &str, claim: Claim, claims: &mut Claims) {
    if *earlier != *claim.present && prepared.target_id(earlier).is_some() {
        let message = format!("target `{}` can't have been `{earlier}`: there is a target of this name", claim.present);
        claims.ignore((&claim.object, claim.annotation), Refusal::by_another(message));
    } else {
        claims.add(earlier, claim);
    }
}

/// Why a workload can't have had a name: another one has it, it is registered for another application, or the platform team does not confirm it. An application
/// must not take over the folders of another one, so its registration has the name, or lists it as its own earlier name.
fn refusal(fleet: &Fleet, workload: &RegisteredWorkload, earlier: &str) -> Option<Refusal> {
    let name = &workload.object.name;
    if earlier == name.as_str() {
        return None;
    }
    let cant = format!("workload `{name}` can't have been `{earlier}`");
    let other = |reason: &str| Some(Refusal::by_another(format!("{cant}: {reason}")));
    if fleet.workloads.contains_key(earlier) || fleet.conflicting_claims.contains_key(earlier) {
        return other("there is a workload of this name");
    }
    let registration = workload.registration.as_ref().filter(|_| workload.author == Author::Application)?.as_str();
    if registration == earlier {
        return None;
    }
    if fleet.registrations.contains_key(earlier) {
        return other("the name is registered for another application");
    }
    let object = fleet.registrations.get(registration);
    let is_confirmed = object.is_some_and(|object| of_object(&object.annotations).contains(&earlier));
    (!is_confirmed).then(|| Refusal {
        message: format!("{cant}: its registration does not list this name"),
        help: format!("write the annotation `{RENAMED_FROM}: {earlier}` on WorkloadRegistration `{registration}`, or remove the name here"),
    })
}

#[cfg(test)]
mod tests {
    use testkit::directory::fleet_of;

    use super::*;

    /// Whether a workload `pos` of an application can have been `till`, with this metadata of its registration and these other objects.
    #[track_caller]
    fn check(registration: &str, others: &str, expected: Result<(), &str>) {
        let (name, _) = registration.trim_start_matches("name: ").split_once([',', '}']).unwrap();
        let text = format!(
            "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata: {{name: pos, annotations: {{names.kalypso.io/renamed-from: till}}}}\nspec: {{deploymentTargets: []}}\n---\napiVersion: scheduler.kalypso.io/v1alpha1\nkind: WorkloadRegistration\nmetadata: {{{registration}\nspec: {{workload: {{repo: https://git.example/a, branch: main, path: .}}, workspace: a}}\n{others}"
        );
        let (mut fleet, _) = fleet_of(vec![("a.yaml".to_owned(), text.into_bytes())], "prod").unwrap();
        let workload = Arc::make_mut(&mut fleet.workloads).get_mut("pos").unwrap();
        workload.author = Author::Application;
        workload.registration = Some(name.try_into().unwrap());
        let (found, ignored) = workload_claims(&fleet).finish();
        let messages: Vec<_> = ignored.iter().map(|ignored| &*ignored.message).collect();
        let refusals = expected.err().map(|reason| format!("workload `pos` can't have been `till`: {reason}"));
        assert_eq!(messages, refusals.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(found.contains_key("till"), expected.is_ok());
    }

    #[test]
    fn the_platform_team_confirms_the_earlier_name_of_a_workload() {
        check("name: till}", "", Ok(()));
        check("name: pos, annotations: {names.kalypso.io/renamed-from: \"x, till\"}}", "", Ok(()));
        check("name: pos}", "", Err("its registration does not list this name"));
        check("name: other}", "", Err("its registration does not list this name"));
        let till = "---\napiVersion: scheduler.kalypso.io/v1alpha1\nkind: WorkloadRegistration\nmetadata: {name: till}\nspec: {workload: {repo: https://git.example/b, branch: main, path: .}, workspace: b}\n";
        let registered = Err("the name is registered for another application");
        check("name: pos, annotations: {names.kalypso.io/renamed-from: till}}", till, registered);
    }
}
