//! The differences between manifests, object by object and field by field.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use model::credential::{HIDDEN, likely};
use model::yaml::{Node, NodeValue};
use serde::Serialize;
use utoipa::ToSchema;

use crate::manifests::{ManifestObject, ObjectId};

/// The change of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectChange {
    /// The kind.
    pub kind: String,
    /// The namespace. Empty: that of the reconciler, or none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name.
    pub name: String,
    /// What happens to it.
    pub change: ObjectChangeKind,
    /// The changed fields. Empty for a new or removed object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldChange>,
}

/// What happens to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ObjectChangeKind {
    /// It is new.
    Added,
    /// Fields of it change.
    Changed,
    /// It is removed.
    Removed,
}

impl ObjectChangeKind {
    /// The sign before it: `+`, `~` or `-`.
    pub fn sign(self) -> char {
        match self {
            Self::Added => '+',
            Self::Changed => '~',
            Self::Removed => '-',
        }
    }
}

/// The change of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldChange {
    /// The path, with the names of items in lists: `spec.containers[shop].image`.
    pub path: String,
    /// The value before. None: there was none. Values that look like credentials are hidden.
    pub before: Option<String>,
    /// The value after. None: there is none.
    pub after: Option<String>,
}

/// The changes from some objects to others, by kind and name. The order of objects and of keys does not count.
pub fn difference(before: &[ManifestObject], after: &[ManifestObject]) -> Vec<ObjectChange> {
    let by_id = |objects: &'_ [ManifestObject]| {
        objects.iter().map(|object| (object.id.clone(), object.node.clone())).collect::<BTreeMap<_, _>>()
    };
    let (before, after) = (by_id(before), by_id(after));
    let ids: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    ids.into_iter().filter_map(|id| change(id, before.get(id), after.get(id))).collect()
}

fn change(id: &ObjectId, before: Option<&Node>, after: Option<&Node>) -> Option<ObjectChange> {
    let (change, fields) = match (before, after) {
        (Some(before), Some(after)) => {
            let fields = fields(id, before, after);
            (ObjectChangeKind::Changed, Some(fields).filter(|fields| !fields.is_empty())?)
        }
        (None, _) => (ObjectChangeKind::Added, Vec::new()),
        (_, None) => (ObjectChangeKind::Removed, Vec::new()),
    };
    let ObjectId { kind, namespace, name, .. } = id;
    Some(ObjectChange {
        kind: kind.to_string(),
        namespace: namespace.to_string(),
        name: name.to_string(),
        change,
        fields,
    })
}

/// A value of an object: what is compared, and what is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Leaf {
    text: String,
    is_hidden: bool,
}

/// The changed lines of a file.
fn lines(before: &Node, after: &Node) -> Vec<FieldChange> {
    let text = |node: &Node| node.as_scalar().map(|scalar| scalar.text.to_string()).unwrap_or_default();
    let (before, after) = (text(before), text(after));
    let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let changes = similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new);
    let line = |lines: &[&str], range: &Range<usize>, index: usize| {
        let line = lines.get(range.clone())?.get(index)?;
        let (key, value) = line.split_once(['=', ':']).unwrap_or(("", line));
        Some(if likely(key.trim(), value.trim()).is_some() { HIDDEN.to_owned() } else { (*line).to_owned() })
    };
    let mut fields = Vec::new();
    for change in changes.iter().filter(|change| change.tag() != similar::DiffTag::Equal) {
        let (before, after) = (change.old_range(), change.new_range());
        let first = if after.is_empty() { before.start } else { after.start };
        fields.extend((0..before.len().max(after.len())).map(|index| FieldChange {
            path: format!("line {}", first + index + 1),
            before: line(&old, &before, index),
            after: line(&new, &after, index),
        }));
    }
    if fields.is_empty() && before != after {
        let ends = |text: &str| Some(if text.ends_with('\n') { "with a line break" } else { "without one" }.to_owned());
        fields.push(FieldChange { path: "line ends".to_owned(), before: ends(&before), after: ends(&after) });
    }
    fields
}

fn fields(id: &ObjectId, before: &Node, after: &Node) -> Vec<FieldChange> {
    if id.is_file() {
        return lines(before, after);
    }
    let leaves = |node| {
        let mut leaves = BTreeMap::new();
        let is_secret = &*id.kind == "Secret" && id.group.is_empty();
        Flattening { is_secret, leaves: &mut leaves }.add(node, String::new(), "");
        leaves
    };
    let (before, after) = (leaves(before), leaves(after));
    let paths: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let changed = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
    let shown = |leaf: &Leaf| if leaf.is_hidden { HIDDEN.to_owned() } else { leaf.text.clone() };
    let field = |path: &String| FieldChange {
        path: path.clone(),
        before: before.get(path).map(shown),
        after: after.get(path).map(shown),
    };
    changed.map(field).collect()
}

/// The values of an object by their paths.
struct Flattening<'a> {
    /// Whether the object is a `Secret`.
    is_secret: bool,
    leaves: &'a mut BTreeMap<String, Leaf>,
}

impl Flattening<'_> {
    /// Adds the values below a node. `key` is the nearest key above.
    fn add(&mut self, node: &Node, path: String, key: &str) {
        match &node.value {
            NodeValue::Scalar(scalar) => {
                let is_data = self.is_secret && (path.starts_with("data.") || path.starts_with("stringData."));
                let is_hidden = is_data || likely(key, &scalar.text).is_some();
                self.leaves.insert(path, Leaf { text: scalar.text.to_string(), is_hidden });
            }
            NodeValue::Sequence(items) if items.is_empty() => {
                self.leaves.insert(path, Leaf { text: "[]".to_owned(), is_hidden: false });
            }
            NodeValue::Mapping(entries) if entries.is_empty() => {
                self.leaves.insert(path, Leaf { text: "{}".to_owned(), is_hidden: false });
            }
            NodeValue::Sequence(items) => {
                let names = names(items);
                for (index, item) in items.iter().enumerate() {
                    let name =
                        names.as_ref().and_then(|names| names.get(index).cloned()).unwrap_or_else(|| index.to_string());
                    self.add(item, format!("{path}[{name}]"), key);
                }
            }
            NodeValue::Mapping(entries) => {
                // The name of an environment variable is the key of its value.
                let name = node.get("name").and_then(Node::as_scalar).map(|name| &*name.text);
                for (key, value) in entries.iter() {
                    let Some(key) = key.as_scalar() else { continue };
                    let below = if path.is_empty() { key.text.to_string() } else { format!("{path}.{}", key.text) };
                    let key = name.filter(|_| &*key.text == "value").unwrap_or(&key.text);
                    self.add(value, below, key);
                }
            }
        }
    }
}

/// The names of the items of a list. None if one has none, or if two have the same one.
fn names(items: &[Node]) -> Option<Vec<String>> {
    let name = |item: &Node| Some(item.get("name")?.as_scalar()?.text.to_string());
    let names: Vec<_> = items.iter().map(name).collect::<Option<_>>()?;
    let different: BTreeSet<_> = names.iter().collect();
    (different.len() == names.len()).then_some(names)
}

#[cfg(test)]
mod tests {
    use model::source::FileId;

    use super::*;
    use crate::manifests::{contents, parse};

    fn check(before: &str, after: &str, expected: &[&str]) {
        let objects = |text: &str| parse(text.as_bytes(), FileId::default()).objects;
        check_objects((&objects(before), &objects(after)), expected);
    }

    fn check_objects((before, after): (&[ManifestObject], &[ManifestObject]), expected: &[&str]) {
        let found = difference(before, after);
        let field = |field: &FieldChange| {
            let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "–".to_owned());
            format!(" {} {} → {}", field.path, text(&field.before), text(&field.after))
        };
        let lines = found.iter().map(|change| {
            let fields: String = change.fields.iter().map(field).collect();
            format!("{} {} {}{fields}", change.change.sign(), change.kind, change.name)
        });
        assert_eq!(lines.collect::<Vec<_>>(), expected);
    }

    const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - {name: x, image: 'x:1'}\n  - {name: y, image: 'y:1'}\n";

    #[test]
    fn fields_are_compared_by_the_names_of_items() {
        let swapped = "kind: Pod\napiVersion: v1\nmetadata: {name: a}\nspec:\n  containers:\n  - {name: y, image: 'y:2'}\n  - {image: 'x:1', name: x}\n";
        check(POD, swapped, &["~ Pod a spec.containers[y].image y:1 → y:2"]);
        check(POD, POD, &[]);
    }

    #[test]
    fn files_are_compared_line_by_line() {
        let check = |before: &str, after: &str, expected: &[&str]| {
            let files = |text: &str| contents("app.conf", text.as_bytes(), FileId::default());
            check_objects((&files(before), &files(after)), expected);
        };
        check("a=1\nb=2\nc=3\n", "a=1\nb=4\nc=3\n", &["~ File app.conf line 2 b=2 → b=4"]);
        check("a\nb\n", "new\na\nb\n", &["~ File app.conf line 1 – → new"]);
        check("a\nold\nb\n", "a\nb\n", &["~ File app.conf line 2 old → –"]);
        check("a\n", "a", &["~ File app.conf line ends with a line break → without one"]);
        check("DB_PASSWORD=Tr0ub4dor\n", "DB_PASSWORD=Tr0ub4dor&3\n", &["~ File app.conf line 1 … → …"]);
        check("a\n", "a\n", &[]);
    }

    #[test]
    fn objects_come_and_go() {
        let other = POD.replace("name: a", "name: b");
        check(POD, &other, &["- Pod a", "+ Pod b"]);
        check("", POD, &["+ Pod a"]);
    }

    #[test]
    fn values_that_look_like_secrets_are_hidden() {
        let secret =
            |value: &str| format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\ndata: {{user: {value}}}\n");
        check(&secret("Ym9i"), &secret("YW5u"), &["~ Secret a data.user … → …"]);
        let pod = |value: &str| {
            format!(
                "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec: {{env: [{{name: DB_PASSWORD, value: {value}}}]}}\n"
            )
        };
        check(&pod("hunter2"), &pod("hunter3"), &["~ Pod a spec.env[DB_PASSWORD].value … → …"]);
    }
}
