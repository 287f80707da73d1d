//! The admitted releases of workloads: they stand in the place of the release pins that promotions write.
//!
//! A pin that a promotion, or a person in its name, writes into the branch of an environment is a request. It changes no output before its release is admitted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use model::fleet::{AuthorRole, FleetFile};
use model::git_id::GitId;
use model::kind::Kind;
use model::name::{EnvironmentName, RegistrationName};
use model::object::AnyObject;
use model::object::deployment_target::WORKLOAD_LABEL;
use model::object::release::Release;
use model::object::release_pin::PROMOTED_PREFIX;
use model::source::{File, Files, Source};

use crate::publications::AdmittedReleases;

/// The `manifests` of targets and pins.
type Manifests = BTreeMap<Arc<str>, Arc<str>>;

/// The path of the file that stands for the admitted releases in messages.
const PATH: &str = "admitted-releases.yaml";

/// Replaces the pins that promotions wrote for these workloads. A workload whose releases move by pull requests to its manifests has no such pin.
pub(super) fn admit(
    (contents, files): (&mut Vec<FleetFile>, &mut Files),
    (environment, releases): (&EnvironmentName, &AdmittedReleases),
) {
    let by_pull_request = by_pull_request(contents);
    let mut manifests: BTreeMap<Arc<str>, Vec<Manifests>> = BTreeMap::new();
    for file in contents.iter() {
        if matches!(&file.role, AuthorRole::Application(name) if by_pull_request.contains(name)) {
            continue;
        }
        for object in &file.objects.objects {
            let AnyObject::Workload(workload) = object else { continue };
            let targets = workload.spec.deployment_targets.iter();
            let own = targets.filter(|target| *target.spec.environment == *environment.as_str());
            if releases.contains_key(workload.name.as_arc()) {
                let found = manifests.entry(Arc::clone(workload.name.as_arc())).or_default();
                found.extend(own.map(|target| target.spec.manifests.clone()));
            }
        }
    }
    let mut admitted = BTreeMap::new();
    for (workload, targets) in manifests {
        let release = releases.get(&workload).and_then(|text| Release::admitted(text, &targets));
        admitted.extend(release.map(|release| (workload, release)));
    }
    if admitted.is_empty() {
        return;
    }
    for file in contents.iter_mut() {
        let is_replaced = |object: &AnyObject| promoted(object).is_some_and(|workload| admitted.contains_key(workload));
        if file.objects.objects.iter().any(is_replaced) {
            file.objects.objects.retain(|object| !is_replaced(object));
        }
    }
    let pins: Vec<_> = admitted.iter().map(|(workload, release)| pin(workload, release)).collect();
    let content: Arc<[u8]> = pins.join("---\n").into_bytes().into();
    let id = GitId::of_blob(&content);
    let file = files.add(File { source: Arc::new(Source::directory()), path: PATH.into(), id, content });
    contents.push(FleetFile::read(AuthorRole::Platform, file, files));
}

/// The registrations of workloads whose releases move by pull requests to their manifests.
fn by_pull_request(contents: &[FleetFile]) -> BTreeSet<RegistrationName> {
    let objects = contents.iter().flat_map(|file| &file.objects.objects);
    let names = objects.filter_map(|object| match object {
        AnyObject::WorkloadRegistration(object) if object.moves_by_pull_request() => Some(object.name.clone()),
        _ => None,
    });
    names.collect()
}

/// The workload of a pin that a promotion wrote.
pub(super) fn promoted(object: &AnyObject) -> Option<&str> {
    match object {
        AnyObject::ReleasePin(pin) => pin.promoted_workload(),
        _ => None,
    }
}

fn pin(workload: &str, release: &Release) -> String {
    let kind = Kind::ReleasePin;
    let (name, workload) = (quoted(&format!("{PROMOTED_PREFIX}{workload}")), quoted(workload));
    let label = quoted(WORKLOAD_LABEL);
    let manifests = release.manifests().iter().map(|(key, version)| format!("{}: {}", quoted(key), quoted(version)));
    let manifests = manifests.collect::<Vec<_>>().join(", ");
    format!(
        "apiVersion: {}\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n  \
         deploymentTargetSelector: {{labelSelector: {{matchLabels: {{{label}: {workload}}}}}}}\n  \
         clusterTypeSelector: {{labelSelector: {{}}}}\n  manifests: {{{manifests}}}\n  \
         reason: It is the release of the environment.\n",
        kind.api_version()
    )
}

/// A text in double quotes, as YAML reads it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            character if character.is_control() => drop(write!(quoted, "\\U{:08x}", u32::from(character))),
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
