//! `kalypso pin` and `kalypso unpin`: hold a workload at a release, and end that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use authoring::additions::{AddOptions, add};
use authoring::branch_files::{BranchFiles, FoundObject};
use authoring::label_advice;
use authoring::objects::PolicySelection;
use authoring::pins::{ChangedPin, PinnedRelease, change_release, release_pin};
use authoring::removals::{Removals, remove_named};
use delivery::sources::loaded::Loaded;
use engine::compile::Prepared;
use engine::schedule::pin::Manifests;
use model::expiry::Expiry;
use model::kind::Kind;
use model::name::ReleasePinName;
use model::object::deployment_target::WORKLOAD_LABEL;
use model::object::release::RELEASE_KEYS;
use model::object::release_pin::PROMOTED_PREFIX;
use model::selector::{LabelSelector, Operator, Requirement};

use super::branch_edit::{BranchEdit, EditVerb, OpenBranch, name};
use crate::arguments::{Pin, Unpin};
use crate::exit::{Exit, Failure};
use crate::loading::selector;
use crate::terminal::named;

pub(super) fn pin(options: &Pin) -> anyhow::Result<Exit> {
    let (workload, version) = options
        .release
        .split_once('@')
        .filter(|(workload, version)| !workload.is_empty() && !version.is_empty())
        .ok_or_else(|| {
            Failure::usage(format!("`{}` names no release", options.release))
                .help("write WORKLOAD@VERSION: checkout@2.3.1")
        })?;
    let places = selector("--on", &options.on)?;
    let pin_name: ReleasePinName = match &options.name {
        Some(given) => name(given, "pin")?,
        None => name(&default_name(workload, &places), "pin")?,
    };
    if let Some(expires) = &options.expires {
        expires.parse::<Expiry>().map_err(|_| {
            Failure::usage(format!("--expires `{expires}` is not a day")).help("write it as 2027-01-31")
        })?;
    }
    let open = OpenBranch::new(&options.edit, Some(&options.environment))?;
    let release = PinnedRelease {
        manifests: vec![(key(&open, workload, options)?, version.into())],
        reason: options.reason.as_deref().map(Into::into),
        expires: options.expires.as_deref().map(Into::into),
    };
    let files = open.files();
    let warnings = label_advice::of_selector(&files, &places);
    let selection = PolicySelection { workspace: None, targets: of_workload(workload, &options.targets)?, places };
    let (changed, verb) = if let Some(changed) = change_release(&files, &pin_name, &release) {
        (changed, EditVerb::Change)
    } else {
        let added = add(&files, &[release_pin(&pin_name, &selection, &release)], AddOptions::default());
        (added.map(|added| ChangedPin { edits: added.edits, object: added.objects }), EditVerb::Add)
    };
    drop(files);
    let slug = format!("pin-{pin_name}");
    let edit = changed
        .map(|ChangedPin { edits, object }| BranchEdit { warnings, ..BranchEdit::new(verb, object, edits, slug) });
    open.finish(edit, &options.edit)
}

pub(super) fn unpin(options: &Unpin) -> anyhow::Result<Exit> {
    let open = OpenBranch::new(&options.edit, Some(&options.environment))?;
    let files = open.files();
    let names = pins_to_remove(&files, options)?;
    let removed = remove_named(&files, Kind::ReleasePin, &names, false);
    drop(files);
    let slug = format!("pin-{}", options.name);
    let edit = removed.map(|Removals { edits, objects }| BranchEdit::new(EditVerb::Remove, objects, edits, slug));
    open.finish(edit, &options.edit)
}

/// The pins that are removed: the one of this name, or the pins of this workload.
fn pins_to_remove(files: &BranchFiles<'_>, options: &Unpin) -> Result<Vec<Arc<str>>, Failure> {
    let of_workload = || -> Vec<Arc<str>> {
        let keys = ["spec", "deploymentTargetSelector", "labelSelector", "matchLabels", WORKLOAD_LABEL];
        let is_of = |text: Option<&Arc<str>>| text.is_some_and(|found| **found == *options.name);
        // What promotions wrote is the release that the environment has, and no pin of a person.
        let is_promoted = |pin: &&FoundObject| pin.name.starts_with(PROMOTED_PREFIX);
        let pins = files.of_kind(Kind::ReleasePin).filter(|pin| is_of(pin.text(&keys)) && !is_promoted(pin));
        pins.map(|pin| Arc::clone(&pin.name)).collect()
    };
    let named_so = files.find(Kind::ReleasePin, &options.name).map(|pin| Arc::clone(&pin.name));
    match (named_so, options.all) {
        (Some(found), false) => return Ok(vec![found]),
        (found, _) => {
            let found: BTreeSet<_> = found.into_iter().chain(of_workload()).collect();
            let names: Vec<_> = found.iter().map(ToString::to_string).collect();
            match names.len() {
                0 => {}
                1 => return Ok(found.into_iter().collect()),
                _ if options.all => return Ok(found.into_iter().collect()),
                _ => {
                    let message = format!("`{}` has several pins: {}", options.name, names.join(", "));
                    return Err(Failure::refused(message).help("name one of them, or remove all with --all"));
                }
            }
        }
    }
    let known: Vec<_> = files.of_kind(Kind::ReleasePin).map(|pin| pin.name.to_string()).collect();
    let promoted = format!("{PROMOTED_PREFIX}{}", options.name);
    let failure = Failure::refused(format!(
        "environment `{}` has no pin `{}`, and no pin of a workload of this name",
        options.environment, options.name
    ));
    if known.contains(&promoted) {
        let help = format!("`{promoted}` is the release that a promotion wrote: `kalypso unpin {promoted}` removes it");
        return Err(failure.help(help));
    }
    let has = format!("it has {}", if known.is_empty() { "no pins on its branch".to_owned() } else { named(&known) });
    Err(failure.did_you_mean(&options.name, known.iter().map(String::as_str), has))
}

/// Selects the targets of a workload, with more labels.
fn of_workload(workload: &str, more: &str) -> Result<LabelSelector, Failure> {
    let mut selector = selector("--targets", more)?;
    let own = Requirement { key: WORKLOAD_LABEL.into(), operator: Operator::In(vec![workload.into()]) };
    selector.requirements.insert(0, own);
    Ok(selector)
}

/// The name of a pin: the workload, and the values of the selector.
fn default_name(workload: &str, places: &LabelSelector) -> String {
    let values = places.requirements.iter().flat_map(|requirement| match &requirement.operator {
        Operator::In(values) => values.clone(),
        Operator::NotIn(values) => [Arc::from("not")].into_iter().chain(values.iter().cloned()).collect(),
        Operator::Exists => vec![Arc::clone(&requirement.key)],
        Operator::DoesNotExist => vec![Arc::from("not"), Arc::clone(&requirement.key)],
    });
    let parts: Vec<_> = [Arc::from(workload)].into_iter().chain(values).collect();
    let text = parts.join("-").to_lowercase();
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.chars().map(|c| if is_allowed(c) { c } else { '-' }).collect()
}

/// The key of `manifests` that names the release of a workload.
fn key(open: &OpenBranch, workload: &str, options: &Pin) -> anyhow::Result<Arc<str>> {
    let Some(loaded) = open.branch.current() else { return Err(Failure::usage("name an environment").into()) };
    let manifests = manifests(&loaded, workload)?;
    let keys: BTreeSet<_> = manifests.iter().flat_map(BTreeMap::keys).map(|key| &**key).collect();
    if let Some(given) = &options.key {
        if keys.contains(given.as_str()) {
            return Ok(given.as_str().into());
        }
        let known: Vec<_> = keys.iter().map(ToString::to_string).collect();
        let message = format!("no target of `{workload}` has the key `{given}` in `manifests`");
        return Err(Failure::refused(message).help(format!("they have {}", named(&known))).into());
    }
    let found = RELEASE_KEYS.into_iter().find(|key| keys.contains(key)).map(Arc::from);
    let none = || {
        let known: Vec<_> = keys.iter().map(ToString::to_string).collect();
        let failure =
            Failure::refused(format!("it is not known which key of `manifests` names the release of `{workload}`"));
        failure.help(format!("name it with --key: {}", named(&known)))
    };
    found.ok_or_else(|| none().into())
}

/// The `manifests` of the targets of a workload.
fn manifests(loaded: &Loaded, workload: &str) -> Result<Vec<Manifests>, Failure> {
    let prepared = Prepared::new(&loaded.fleet);
    let of = prepared.targets().iter().filter(|target| target.workload() == workload);
    let found: Vec<_> = of.map(|target| target.manifests.clone()).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let environment = &loaded.fleet.environment;
    let workloads: BTreeSet<_> = prepared.targets().iter().map(|target| target.workload().to_owned()).collect();
    let failure =
        Failure::refused(format!("workload `{workload}` has no deployment target in environment `{environment}`"));
    if let Some(meaning) = prepared.meaning(workload) {
        return Err(failure.help(format!("`{workload}` is {meaning}")));
    }
    let help = format!("`kalypso get workloads -e {environment}` lists the workloads");
    Err(failure.did_you_mean(workload, workloads.iter().map(String::as_str), help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_pin_name_contains_workload_and_places() {
        let name = |on: &str| default_name("checkout", &LabelSelector::parse(on).unwrap());
        assert_eq!(name(""), "checkout");
        assert_eq!(name("region=central-us"), "checkout-central-us");
        assert_eq!(name("region in (West_1,east),!edge"), "checkout-west-1-east-not-edge");
    }
}
