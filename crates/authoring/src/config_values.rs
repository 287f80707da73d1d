//! Sets and removes values of containers.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::field_path::FieldPath;
use model::kind::Kind;
use model::name::{ConfigMapName, NameError};
use model::object::config_map::{AZURE_PREFIX, IGNORED_LABELS, PLATFORM_CONFIG, PRIORITY};
use model::yaml::Node;

use crate::additions::{AddOptions, PlacedObject, add};
use crate::branch_files::{BranchFiles, EditRefusal, FoundObject};
use crate::edit::{Change, edit};
use crate::file_edits::FileEdits;
use crate::objects::{self, LabelList};
use crate::removals;
use crate::value::NewValue;

/// The longest name that is made from labels, in bytes.
const GENERATED_NAME_BYTES_MAX: usize = 60;

/// The container of values that a command names.
#[derive(Clone, Debug, Default)]
pub struct ContainerChoice {
    /// The conditions: the container has exactly these labels, beside `platform-config`. None if only the name counts.
    pub labels: Option<LabelList>,
    /// The name of the `ConfigMap`.
    pub name: Option<ConfigMapName>,
}

/// Values to set in a container.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewValues<'v> {
    /// The keys with their values.
    pub values: &'v [(Arc<str>, Arc<str>)],
    /// The priority of the container. None: it stays as it is.
    pub priority: Option<i64>,
}

/// Values that change.
#[derive(Clone, Debug, Default)]
pub struct ValueChanges {
    /// The files to write.
    pub edits: FileEdits,
    /// The `ConfigMap`.
    pub container: Option<PlacedObject>,
    /// Whether the `ConfigMap` is new.
    pub is_new: bool,
    /// Whether the `ConfigMap` is removed with its last value.
    pub is_gone: bool,
    /// The values.
    pub values: Vec<ConfigValueChange>,
    /// The new priority of the `ConfigMap`. None if it stays.
    pub priority: Option<i64>,
}

/// A value that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigValueChange {
    /// The key in `data`.
    pub key: Arc<str>,
    /// The value before. None if there was none.
    pub old: Option<Arc<str>>,
    /// The value after. None if it is removed.
    pub new: Option<Arc<str>>,
}

/// Why values can't be set.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ConfigError {
    /// The edit is refused.
    #[error("the edit is refused")]
    Refused(EditRefusal),
    /// No name can be made from the labels.
    #[error("no name can be made from these labels: {0}")]
    Name(#[from] NameError),
    /// Several containers are possible.
    #[error("{} ConfigMaps have exactly these labels: {}", .0.len(), quoted(.0))]
    Several(Vec<Arc<str>>),
    /// No container has these labels.
    #[error("no ConfigMap has exactly these labels")]
    NoContainer,
    /// The container with this name has other labels.
    #[error("ConfigMap `{0}` exists, and has other labels")]
    OtherLabels(Arc<str>),
    /// The container has no such value.
    #[error("ConfigMap `{container}` has no value `{key}`")]
    NoValue {
        /// The container.
        container: Arc<str>,
        /// The key.
        key: Arc<str>,
        /// The nearest key.
        nearest: Option<Arc<str>>,
    },
}

impl From<EditRefusal> for ConfigError {
    fn from(refusal: EditRefusal) -> Self {
        Self::Refused(refusal)
    }
}

fn quoted(names: &[Arc<str>]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Sets values in the container that a command names, or in a new one if there is none. What is equal already changes nothing.
///
/// # Errors
/// Several containers are possible, or the file can't be edited.
pub fn set(
    files: &BranchFiles<'_>,
    choice: &ContainerChoice,
    new: NewValues<'_>,
    options: AddOptions<'_>,
) -> Result<ValueChanges, ConfigError> {
    let found = match find(files, choice, new.values.iter().map(|(key, _)| &**key)) {
        Err(ConfigError::NoContainer) => return create(files, choice, new, options),
        found => found?,
    };
    let data = |key: &str| found.root.get("data").and_then(|data| data.get(key)).and_then(Node::as_scalar);
    let change = |(key, value): &(Arc<str>, Arc<str>)| {
        let old = data(key).map(|scalar| Arc::clone(&scalar.text));
        ConfigValueChange { key: Arc::clone(key), old, new: Some(Arc::clone(value)) }
    };
    let changes: Vec<_> = new.values.iter().map(change).filter(|change| change.old != change.new).collect();
    let priority = new.priority.filter(|priority| priority_of(found) != Some(*priority));
    let set_priority = priority.map(|priority| {
        let path = FieldPath::from(["metadata", "annotations", PRIORITY]);
        Change::Set(path, NewValue::text(priority.to_string()))
    });
    let set_values = changes.iter().map(|change| {
        let path = FieldPath::from(["data"]).key(Arc::clone(&change.key));
        Change::Set(path, NewValue::Text(change.new.clone().unwrap_or_default()))
    });
    let edits = edited(files, found, set_priority.into_iter().chain(set_values))?;
    Ok(ValueChanges { edits, container: Some(placed(found)), values: changes, priority, ..ValueChanges::default() })
}

/// Removes values from the container that a command names. A container without values is removed.
///
/// # Errors
/// There is no such container or value, several containers are possible, or the file can't be edited.
pub fn remove(
    files: &BranchFiles<'_>,
    choice: &ContainerChoice,
    keys: &[Arc<str>],
) -> Result<ValueChanges, ConfigError> {
    let found = find(files, choice, keys.iter().map(|key| &**key))?;
    let data = found.root.get("data").and_then(Node::as_mapping).unwrap_or_default();
    let known: BTreeMap<_, _> =
        data.iter().filter_map(|(key, value)| Some((&*key.as_scalar()?.text, &value.as_scalar()?.text))).collect();
    let mut values = Vec::new();
    for key in keys {
        let Some(old) = known.get(&**key) else {
            let nearest = model::similar::nearest(key, known.keys().copied()).map(Arc::from);
            return Err(ConfigError::NoValue { container: Arc::clone(&found.name), key: Arc::clone(key), nearest });
        };
        values.push(ConfigValueChange { key: Arc::clone(key), old: Some(Arc::clone(old)), new: None });
    }
    let is_gone = values.len() == data.len();
    let edits = if is_gone {
        removals::remove(files, &[found])?
    } else {
        let removed = |key: &Arc<str>| Change::Remove(FieldPath::from(["data"]).key(Arc::clone(key)));
        edited(files, found, keys.iter().map(removed))?
    };
    Ok(ValueChanges { edits, container: Some(placed(found)), is_gone, values, ..ValueChanges::default() })
}

/// The container that a command names.
fn find<'f, 'k>(
    files: &'f BranchFiles<'_>,
    choice: &ContainerChoice,
    keys: impl Iterator<Item = &'k str>,
) -> Result<&'f FoundObject, ConfigError> {
    let has_labels = |object: &FoundObject| {
        choice.labels.as_ref().is_none_or(|labels| conditions(object) == labels.iter().cloned().collect())
    };
    if let Some(name) = &choice.name {
        return match files.find(Kind::ConfigMap, name.as_str()) {
            Some(found) if has_labels(found) => Ok(found),
            Some(found) => Err(ConfigError::OtherLabels(Arc::clone(&found.name))),
            None => Err(ConfigError::NoContainer),
        };
    }
    let is_container = |object: &&FoundObject| {
        let is_marked = object.labels().get(PLATFORM_CONFIG).is_some_and(|mark| &**mark == "true");
        is_marked && !object.name.starts_with(AZURE_PREFIX)
    };
    let found: Vec<_> =
        files.of_kind(Kind::ConfigMap).filter(is_container).filter(|object| has_labels(object)).collect();
    let keys: Vec<_> = keys.collect();
    let has_keys = |object: &&&FoundObject| {
        let data = object.root.get("data");
        data.is_some_and(|data| keys.iter().all(|key| data.get(key).is_some()))
    };
    match found.as_slice() {
        [] => Err(ConfigError::NoContainer),
        [found] => Ok(found),
        several => match several.iter().filter(has_keys).collect::<Vec<_>>().as_slice() {
            [found] => Ok(found),
            _ => Err(ConfigError::Several(several.iter().map(|object| Arc::clone(&object.name)).collect())),
        },
    }
}

fn conditions(object: &FoundObject) -> BTreeMap<Arc<str>, Arc<str>> {
    let mut labels = object.labels();
    labels.retain(|key, _| !IGNORED_LABELS.contains(&&**key));
    labels
}

/// The priority of a container. None: the annotation is not an integer.
fn priority_of(object: &FoundObject) -> Option<i64> {
    object.text(&["metadata", "annotations", PRIORITY]).map_or(Some(0), |text| text.trim().parse().ok())
}

fn create(
    files: &BranchFiles<'_>,
    choice: &ContainerChoice,
    NewValues { values, priority }: NewValues<'_>,
    options: AddOptions<'_>,
) -> Result<ValueChanges, ConfigError> {
    let labels = choice.labels.clone().unwrap_or_default();
    let name = choice.name.clone().map_or_else(|| free_name(files, &labels), Ok)?;
    let mut object = objects::config_map(&name, labels, values);
    object.annotations.extend(priority.map(|priority| (PRIORITY.into(), priority.to_string().into())));
    let additions = add(files, &[object], options)?;
    let value = |(key, value): &(Arc<str>, Arc<str>)| ConfigValueChange {
        key: Arc::clone(key),
        old: None,
        new: Some(Arc::clone(value)),
    };
    let (edits, container) = (additions.edits, additions.objects.into_iter().next());
    let values = values.iter().map(value).collect();
    Ok(ValueChanges { edits, container, is_new: true, values, priority, ..ValueChanges::default() })
}

/// A name from the labels that no `ConfigMap` has yet: `west-us` for `region: west-us`, `restricted` for `restricted: true`.
fn free_name(files: &BranchFiles<'_>, labels: &LabelList) -> Result<ConfigMapName, NameError> {
    let plain = |text: &str| {
        let plain = text.to_ascii_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        plain.trim_matches('-').to_owned()
    };
    // Some values say nothing without their key.
    let word = |(key, value): &(Arc<str>, Arc<str>)| match &**value {
        "true" => plain(key),
        "false" => plain(&format!("{key}-false")),
        value if value.bytes().all(|byte| byte.is_ascii_digit()) => plain(&format!("{key}-{value}")),
        value => plain(value),
    };
    let words: Vec<_> = labels.iter().map(word).filter(|word| !word.is_empty()).collect();
    let mut first = if words.is_empty() { "platform-config".to_owned() } else { words.join("-") };
    first.truncate(GENERATED_NAME_BYTES_MAX);
    let first = first.trim_end_matches('-');
    let mut names = std::iter::once(first.to_owned()).chain((2_u32..).map(|number| format!("{first}-{number}")));
    ConfigMapName::new(names.find(|name| files.find(Kind::ConfigMap, name).is_none()).unwrap_or_default())
}

fn edited(
    files: &BranchFiles<'_>,
    object: &FoundObject,
    changes: impl Iterator<Item = Change>,
) -> Result<FileEdits, EditRefusal> {
    let mut edits = FileEdits::default();
    let Some(content) = files.content(&object.path) else { return Ok(edits) };
    let mut bytes = content.to_vec();
    for change in changes {
        bytes = edit(&bytes, object.at, &change).map_err(|error| files.not_editable(&object.path, &error))?;
    }
    if *bytes != **content {
        edits.write(Arc::clone(&object.path), bytes);
    }
    Ok(edits)
}

fn placed(object: &FoundObject) -> PlacedObject {
    PlacedObject { kind: object.kind, name: Arc::clone(&object.name), path: Arc::clone(&object.path) }
}

#[cfg(test)]
mod tests {
    use model::source::Source;

    use super::*;

    const WEST: &str = "# West.\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: west\n  labels: {platform-config: \"true\", region: west}\ndata:\n  A: one # why\n  # Two lines.\n  B: |\n    x\n    y\n";

    fn choice(labels: &[(&str, &str)]) -> ContainerChoice {
        let labels = labels.iter().map(|(key, value)| (Arc::from(*key), Arc::from(*value)));
        ContainerChoice { labels: Some(labels.collect()), name: None }
    }

    /// Does something with a branch that has these files, all with containers.
    fn with_files<T>(texts: &[&str], work: impl FnOnce(&BranchFiles<'_>) -> T) -> T {
        let file = |(position, text): (usize, &&str)| (format!("c/{position}.yaml").into(), Arc::from(text.as_bytes()));
        let contents = texts.iter().enumerate().map(file).collect();
        work(&BranchFiles::new(Source::directory(), &contents, ""))
    }

    fn set_one(
        texts: &[&str],
        choice: &ContainerChoice,
        (key, value): (&str, &str),
    ) -> Result<ValueChanges, ConfigError> {
        set_with(texts, choice, NewValues { values: &[(key.into(), value.into())], priority: None })
    }

    fn set_with(texts: &[&str], choice: &ContainerChoice, new: NewValues<'_>) -> Result<ValueChanges, ConfigError> {
        with_files(texts, |files| set(files, choice, new, AddOptions::default()))
    }

    fn check(changes: &ValueChanges, path: &str, expected: Option<&str>) {
        let content = changes.edits.get(path).unwrap().content();
        assert_eq!(content.map(|content| String::from_utf8_lossy(content).into_owned()).as_deref(), expected);
    }

    #[test]
    fn a_new_container_is_named_after_its_labels() {
        let check = |labels: &[(&str, &str)], expected: &str| {
            let changes = set_one(&[WEST], &choice(labels), ("A", "b")).unwrap();
            assert_eq!(changes.container.as_ref().map(|placed| &*placed.name), Some(expected));
        };
        check(&[("region", "East US")], "east-us");
        check(&[("restricted", "true")], "restricted");
        check(&[("edge", "false"), ("size", "3")], "edge-false-size-3");
        check(&[("city", "west")], "west-2");
        check(&[], "platform-config");
    }

    #[test]
    fn a_value_is_set_in_the_container_with_exactly_the_labels() {
        let west = choice(&[("region", "west")]);
        let changes = set_one(&[WEST], &west, ("A", "012")).unwrap();
        check(&changes, "c/0.yaml", Some(&WEST.replace("A: one #", "A: \"012\" #")));
        let change = ConfigValueChange { key: "A".into(), old: Some("one".into()), new: Some("012".into()) };
        assert_eq!((changes.is_new, changes.values), (false, vec![change]));
        check(&set_one(&[WEST], &west, ("B", "z")).unwrap(), "c/0.yaml", Some(&WEST.replace("|\n    x\n    y", "z")));
        check(
            &set_one(&[WEST], &west, ("C", "1\n2\n")).unwrap(),
            "c/0.yaml",
            Some(&format!("{WEST}  C: |\n    1\n    2\n")),
        );
        assert!(set_one(&[WEST], &west, ("A", "one")).unwrap().edits.is_empty());
    }

    #[test]
    fn other_labels_get_a_new_container() {
        let changes = set_one(&[WEST], &choice(&[("region", "west"), ("tier", "Big_1")]), ("A", "1")).unwrap();
        let container = changes.container.unwrap();
        assert_eq!((changes.is_new, &*container.name, &*container.path), (true, "west-big-1", "c/west-big-1.yaml"));
        let general = set_one(&[WEST], &choice(&[]), ("A", "1")).unwrap().container.unwrap();
        assert_eq!(&*general.name, "platform-config");
    }

    #[test]
    fn a_priority_is_written_beside_the_values() {
        let west = choice(&[("region", "west")]);
        let values = [("A".into(), "one".into())];
        let set = |text: &str, choice: &ContainerChoice, priority: i64| {
            set_with(&[text], choice, NewValues { values: &values, priority: Some(priority) }).unwrap()
        };
        let changes = set(WEST, &west, 10);
        let labels = "labels: {platform-config: \"true\", region: west}\n";
        let with_priority =
            WEST.replace(labels, &format!("{labels}  annotations:\n    config.kalypso.io/priority: \"10\"\n"));
        check(&changes, "c/0.yaml", Some(&with_priority));
        assert_eq!((changes.priority, changes.values.len()), (Some(10), 0));
        check(&set(&with_priority, &west, -2), "c/0.yaml", Some(&with_priority.replace("10", "-2")));
        assert!(set(&with_priority, &west, 10).edits.is_empty());
        assert!(set(WEST, &west, 0).edits.is_empty());
        let new = set(WEST, &choice(&[("region", "east")]), 3).edits;
        let content = new.get("c/east.yaml").unwrap().content().unwrap().to_vec();
        assert!(
            String::from_utf8(content).unwrap().contains("  annotations:\n    config.kalypso.io/priority: \"3\"\n")
        );
    }

    #[test]
    fn container_with_the_value_is_chosen_from_several() {
        let (west, other) =
            (choice(&[("region", "west")]), WEST.replace("name: west", "name: other").replace("B:", "D:"));
        let chosen = set_one(&[WEST, &other], &west, ("D", "1")).unwrap();
        assert_eq!(chosen.container.map(|container| container.name), Some("other".into()));
        let error = set_one(&[WEST, &other], &west, ("A", "1")).unwrap_err();
        assert_eq!(error.to_string(), "2 ConfigMaps have exactly these labels: `west`, `other`");
    }

    #[test]
    fn container_is_removed_with_its_last_value() {
        let west = choice(&[("region", "west")]);
        let removed = |keys: &[&str]| {
            let keys: Vec<_> = keys.iter().map(|key| Arc::from(*key)).collect();
            with_files(&[WEST], |files| remove(files, &west, &keys))
        };
        check(
            &removed(&["B"]).unwrap(),
            "c/0.yaml",
            Some(WEST.split_once("\n  # Two").map(|(kept, _)| format!("{kept}\n")).as_deref().unwrap()),
        );
        check(&removed(&["A", "B"]).unwrap(), "c/0.yaml", None);
        assert!(matches!(removed(&["C"]), Err(ConfigError::NoValue { .. })));
    }
}
