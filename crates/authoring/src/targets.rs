//! Adds and removes deployment targets of workloads.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::kind::Kind;
use model::name::{EnvironmentName, WorkloadName};
use model::yaml::{Node, NodeValue};

use crate::additions::PlacedObject;
use crate::branch_files::{BranchFiles, EditRefusal, FoundObject};
use crate::edit::{Change, edit};
use crate::field_changes::{ChangedObjects, ObjectChanges, PairChanges, change_object};
use crate::file_edits::FileEdits;
use crate::new_object::NewObject;
use crate::objects::LabelList;
use crate::value::{MappingEntry, NewValue};

/// The path of the list of targets.
pub(crate) const TARGETS: [&str; 2] = ["spec", "deploymentTargets"];

/// A deployment target to add.
#[derive(Clone, Debug)]
pub struct NewTarget {
    /// The name, without that of the workload.
    pub name: Arc<str>,
    /// The environment.
    pub environment: EnvironmentName,
    /// The labels. None to take those of the target with the same name in another environment.
    pub labels: Option<LabelList>,
    /// The place of its manifests: usually `repo`, `branch` and `path`. None to take those of the target with the same name in another environment, with
    /// this environment's name instead of the other's.
    pub manifests: Option<LabelList>,
}

/// Which target of a workload.
#[derive(Clone, Copy, Debug)]
pub struct TargetKey<'a> {
    /// The name of the workload.
    pub workload: &'a str,
    /// The name of the target, without that of the workload.
    pub target: &'a str,
    /// The environment of the target.
    pub environment: &'a EnvironmentName,
}

/// Targets that change.
#[derive(Clone, Debug, Default)]
pub struct TargetChange {
    /// The files to write.
    pub edits: FileEdits,
    /// The workload, or the object of the target.
    pub object: Option<PlacedObject>,
}

/// A workload with targets, for the file with which an application begins.
pub fn workload(name: &WorkloadName, targets: &[NewTarget], labels: LabelList) -> NewObject {
    let targets = targets.iter().map(|target| value(target, None)).collect();
    let spec = NewValue::mapping([(TARGETS[1], NewValue::List(targets))]);
    NewObject::new(Kind::Workload, Arc::clone(name.as_arc()), spec).labelled(labels)
}

/// Adds a target to a workload.
///
/// # Errors
/// There is no such workload, it has this target, or the file can't be edited.
pub fn add(files: &BranchFiles<'_>, workload: &str, target: &NewTarget) -> Result<TargetChange, EditRefusal> {
    let found = find(files, workload)?;
    let known = targets(found);
    if let Some(existing) = known.iter().find(|known| known.is(&target.name, &target.environment)) {
        let mut places = files.places();
        let message = format!(
            "workload `{workload}` has target `{}` in environment `{}` already",
            target.name, target.environment
        );
        let origin = Origin::Span(places.file(files, &found.path), existing.node.span);
        return Err(places.refusal(vec![
            Diagnostic::error(Code::ObjectExists, message).at(origin, "it is here").help(format!(
                "edit the file, or remove it first: `kalypso remove target {workload} {} -e {}`",
                target.name, target.environment
            )),
        ]));
    }
    let same_name = known.iter().rfind(|known| known.name == &*target.name);
    changed(files, found, &Change::Append(FieldPath::from(TARGETS), value(target, same_name)))
}

/// Removes a target from a workload.
///
/// # Errors
/// There is no such workload or target, or the file can't be edited.
pub fn remove(files: &BranchFiles<'_>, key: TargetKey<'_>) -> Result<TargetChange, EditRefusal> {
    let found = find(files, key.workload)?;
    let position = position(files, found, key)?;
    changed(files, found, &Change::Remove(FieldPath::from(TARGETS).index(position)))
}

/// Changes labels and manifests of a target. What is so already changes nothing.
///
/// # Errors
/// There is no such workload or target, it does not have a key to remove, or the file can't be edited.
pub fn set(
    files: &BranchFiles<'_>,
    key: TargetKey<'_>,
    labels: PairChanges,
    manifests: PairChanges,
) -> Result<TargetChange, EditRefusal> {
    let found = find(files, key.workload)?;
    let position = position(files, found, key)?;
    let at = |key: &str| FieldPath::from(TARGETS).index(position).key(key);
    let pairs = vec![(at("labels"), labels), (at("manifests"), manifests)];
    let (changes, mut changed) = (ObjectChanges { pairs, fields: Vec::new() }, ChangedObjects::default());
    change_object(files, (found, &changes), &mut changed)?;
    Ok(TargetChange { edits: changed.edits, object: changed.objects.into_iter().next() })
}

/// The position of a target in the list of its workload.
fn position(files: &BranchFiles<'_>, found: &FoundObject, key: TargetKey<'_>) -> Result<usize, EditRefusal> {
    let TargetKey { workload, target, environment } = key;
    let known = targets(found);
    known.iter().position(|known| known.is(target, environment)).ok_or_else(|| {
        let message = format!("workload `{workload}` has no target `{target}` in environment `{environment}`");
        let mut places = files.places();
        let origin = places.name(files, found);
        let diagnostic = Diagnostic::error(Code::ObjectNotInBranch, message).at(origin, "the workload is here");
        let here: BTreeSet<_> =
            known.iter().filter(|known| known.environment == environment.as_str()).map(|known| known.name).collect();
        let help = match model::similar::nearest(target, here.iter().copied()) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None if here.is_empty() => "it has no target there".to_owned(),
            None => format!("it has {}", here.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
        };
        places.refusal(vec![diagnostic.help(help)])
    })
}

fn changed(files: &BranchFiles<'_>, workload: &FoundObject, change: &Change) -> Result<TargetChange, EditRefusal> {
    let mut edits = FileEdits::default();
    if let Some(content) = files.content(&workload.path) {
        let bytes = edit(content, workload.at, change).map_err(|error| files.not_editable(&workload.path, &error))?;
        edits.write(Arc::clone(&workload.path), bytes);
    }
    let (name, path) = (Arc::clone(&workload.name), Arc::clone(&workload.path));
    Ok(TargetChange { edits, object: Some(PlacedObject { kind: Kind::Workload, name, path }) })
}

pub(crate) fn find<'f>(files: &'f BranchFiles<'_>, workload: &str) -> Result<&'f FoundObject, EditRefusal> {
    let missing = || files.places().refusal(vec![files.missing(Kind::Workload, workload)]);
    files.find(Kind::Workload, workload).ok_or_else(missing)
}

/// The names of the targets of a workload, in all environments.
pub(crate) fn names(workload: &FoundObject) -> Vec<&str> {
    targets(workload).into_iter().map(|target| target.name).collect()
}

/// The positions of the targets with a name, one for each environment.
pub(crate) fn positions(
    files: &BranchFiles<'_>,
    workload: &FoundObject,
    name: &str,
) -> Result<Vec<usize>, EditRefusal> {
    let known = names(workload);
    let found: Vec<_> = (0..known.len()).filter(|position| known.get(*position) == Some(&name)).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let mut places = files.places();
    let origin = places.name(files, workload);
    let message = format!("workload `{}` has no target `{name}`", workload.name);
    let diagnostic = Diagnostic::error(Code::ObjectNotInBranch, message).at(origin, "the workload is here");
    let all: BTreeSet<_> = known.into_iter().collect();
    let help = match model::similar::nearest(name, all.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if all.is_empty() => "it has no target".to_owned(),
        None => format!("it has {}", all.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
    };
    Err(places.refusal(vec![diagnostic.help(help)]))
}

/// Refuses the name of a target that a workload has.
pub(crate) fn refuse_taken(files: &BranchFiles<'_>, workload: &FoundObject, name: &str) -> Result<(), EditRefusal> {
    let known = targets(workload);
    let Some(taken) = known.iter().find(|known| known.name == name) else { return Ok(()) };
    let mut places = files.places();
    let origin = Origin::Span(places.file(files, &workload.path), taken.node.span);
    let message = format!("workload `{}` has a target `{name}` already", workload.name);
    let diagnostic = Diagnostic::error(Code::ObjectExists, message).at(origin, "it is here");
    Err(places.refusal(vec![diagnostic.help("choose another name, or rename or remove that one first")]))
}

/// A target of a workload.
struct KnownTarget<'f> {
    name: &'f str,
    environment: &'f str,
    node: &'f Node,
}

impl KnownTarget<'_> {
    fn is(&self, name: &str, environment: &EnvironmentName) -> bool {
        self.name == name && self.environment == environment.as_str()
    }
}

fn targets(workload: &FoundObject) -> Vec<KnownTarget<'_>> {
    let list = TARGETS.iter().try_fold(&workload.root, |node, key| node.get(key)).and_then(Node::as_sequence);
    list.unwrap_or_default()
        .iter()
        .map(|node| KnownTarget { name: text_of(node, "name"), environment: text_of(node, "environment"), node })
        .collect()
}

fn text_of<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::as_scalar).map(|scalar| &*scalar.text).unwrap_or_default()
}

/// The target as an item of the list. What it does not say is as in `same_name`, with the name of the environment instead of the other's.
fn value(target: &NewTarget, same_name: Option<&KnownTarget<'_>>) -> NewValue {
    let copied = |key: &str| {
        let other = same_name?;
        copy(other.node.get(key)?, (other.environment, target.environment.as_str()))
    };
    let labels = target.labels.as_deref().map(texts).or_else(|| copied("labels"));
    let manifests = target.manifests.as_deref().map(texts).or_else(|| copied("manifests"));
    let mut entries: Vec<MappingEntry> = vec![("name".into(), NewValue::Text(Arc::clone(&target.name)))];
    entries.extend(
        labels.filter(|labels| *labels != NewValue::Mapping(Vec::new())).map(|labels| ("labels".into(), labels)),
    );
    entries.push(("environment".into(), NewValue::text(target.environment.as_str())));
    entries.push(("manifests".into(), manifests.unwrap_or(NewValue::Mapping(Vec::new()))));
    NewValue::Mapping(entries)
}

fn texts(pairs: &[(Arc<str>, Arc<str>)]) -> NewValue {
    NewValue::texts(pairs.iter().map(|(key, value)| (key, value)))
}

/// A mapping of texts, with one name instead of another where a text, or a part of a path, is this name. None if it has another shape.
fn copy(node: &Node, (from, to): (&str, &str)) -> Option<NewValue> {
    let NodeValue::Mapping(entries) = &node.value else { return None };
    let replaced =
        |text: &str| text.split('/').map(|part| if part == from { to } else { part }).collect::<Vec<_>>().join("/");
    let entry = |(key, value): &(Node, Node)| {
        Some((Arc::clone(&key.as_scalar()?.text), NewValue::text(replaced(&value.as_scalar()?.text))))
    };
    entries.iter().map(entry).collect::<Option<_>>().map(NewValue::Mapping)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::source::Source;

    use super::*;

    const WORKLOAD: &str = "# Ours.\napiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata: {name: shop}\nspec:\n  deploymentTargets:\n    - name: eu # Europe\n      labels: {market: eu}\n      environment: stage\n      manifests: {repo: \"https://g/x\", branch: stage, path: ./stage/eu}\n";

    fn target(name: &str, environment: &str) -> NewTarget {
        let environment = EnvironmentName::new(environment).unwrap();
        NewTarget { name: name.into(), environment, labels: None, manifests: None }
    }

    fn with_files<T>(work: impl FnOnce(&BranchFiles<'_>) -> T) -> T {
        let contents = BTreeMap::from([("w.yaml".into(), WORKLOAD.as_bytes().into())]);
        work(&BranchFiles::new(Source::directory(), &contents, ""))
    }

    #[test]
    fn target_copies_its_namesake_of_another_environment() {
        let change = with_files(|files| add(files, "shop", &target("eu", "prod")).unwrap());
        let content = change.edits.get("w.yaml").unwrap().content().unwrap().to_vec();
        let added = String::from_utf8(content).unwrap().strip_prefix(WORKLOAD.trim_end()).unwrap().to_owned();
        let expected = "\n    - name: eu\n      labels:\n        market: eu\n      environment: prod\n      manifests:\n        repo: https://g/x\n        branch: prod\n        path: ./prod/eu\n";
        assert_eq!(added, expected);
    }

    #[test]
    fn a_target_gets_other_labels_and_manifests_and_keeps_its_bytes() {
        let stage = EnvironmentName::new("stage").unwrap();
        let pairs = |set: &[(&str, &str)], remove: &[&str]| PairChanges {
            set: set.iter().map(|(key, value)| (Arc::from(*key), Arc::from(*value))).collect(),
            remove: remove.iter().map(|key| Arc::from(*key)).collect(),
        };
        let key = TargetKey { workload: "shop", target: "eu", environment: &stage };
        let (labels, manifests) = (pairs(&[("market", "de")], &[]), pairs(&[("tag", "2.4")], &["path"]));
        let change = with_files(|files| set(files, key, labels, manifests).unwrap());
        let content = change.edits.get("w.yaml").unwrap().content().unwrap().to_vec();
        let expected = WORKLOAD
            .replace("market: eu", "market: de")
            .replace("branch: stage, path: ./stage/eu", "branch: stage, tag: \"2.4\"");
        assert_eq!(String::from_utf8(content).unwrap(), expected);
        let missing = with_files(|files| set(files, key, pairs(&[], &["x"]), pairs(&[], &[]))).unwrap_err();
        assert_eq!(missing.diagnostics[0].message, "Workload `shop` has no `x` to remove");
    }

    #[test]
    fn a_target_that_exists_is_not_added_and_one_that_does_not_is_not_removed() {
        let (prod, stage) = (EnvironmentName::new("prod").unwrap(), EnvironmentName::new("stage").unwrap());
        let messages = with_files(|files| {
            let exists = add(files, "shop", &target("eu", "stage")).unwrap_err();
            let key = |target, environment| TargetKey { workload: "shop", target, environment };
            let missing = remove(files, key("eu", &prod)).unwrap_err();
            let nearest = remove(files, key("ue", &stage)).unwrap_err();
            [exists, missing, nearest]
                .map(|refusal| format!("{}; {}", refusal.diagnostics[0].message, refusal.diagnostics[0].help[0]))
        });
        assert_eq!(
            messages[0],
            "workload `shop` has target `eu` in environment `stage` already; edit the file, or remove it first: `kalypso remove target shop eu -e stage`"
        );
        assert_eq!(messages[1], "workload `shop` has no target `eu` in environment `prod`; it has no target there");
        assert_eq!(messages[2], "workload `shop` has no target `ue` in environment `stage`; did you mean `eu`?");
    }
}
