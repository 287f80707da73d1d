//! The tree of values: its leaves are the targets.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::read::yaml_diagnostic;
use model::source::{FileId, Files};
use model::yaml::{self, YamlOptions};

use super::merge::Layer;
use crate::files::FileSet;

/// The name of the files with values.
pub const VALUES_FILE: &str = "values.yaml";

/// The path of a target: the folder with its values, from the root of the tree of values. It is also the folder of its manifests.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetPath(Arc<str>);

impl TargetPath {
    /// A path with `/` between its parts.
    pub fn new(path: impl Into<Arc<str>>) -> Self {
        Self(path.into())
    }

    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part of the path.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }
}

impl fmt::Display for TargetPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The values of an environment: its files, and the targets that are the leaves.
#[derive(Clone, Debug, Default)]
pub struct ValuesTree {
    /// Each file with values, by its folder. None: it can't be read.
    layers: BTreeMap<String, Option<Layer>>,
    /// The leaves.
    targets: Vec<TargetPath>,
}

impl ValuesTree {
    /// Reads the tree. Each file is read once, also if many targets have its values.
    pub fn read(set: &FileSet, files: &mut Files, problems: &mut Vec<Diagnostic>) -> Self {
        let mut layers = BTreeMap::new();
        for (path, file) in set.iter() {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            if name == VALUES_FILE {
                let id = files.add((**file).clone());
                layers.insert(folder.to_owned(), layer(id, &file.content, problems));
            } else if is_misspelled(name) {
                let id = files.add((**file).clone());
                let message = format!("`{path}` is not read: files with values are named `{VALUES_FILE}`");
                problems.push(
                    Diagnostic::warning(Code::ValuesTree, message)
                        .at(Origin::File(id), "")
                        .help(format!("rename it to `{VALUES_FILE}`")),
                );
            }
        }
        let inner: BTreeSet<_> = layers.keys().flat_map(|folder| parents(folder)).collect();
        let is_leaf = |folder: &&String| !folder.is_empty() && !inner.contains(folder.as_str());
        let targets = layers.keys().filter(is_leaf).map(|folder| TargetPath::new(folder.as_str())).collect();
        Self { layers, targets }
    }

    /// The targets, by path.
    pub fn targets(&self) -> &[TargetPath] {
        &self.targets
    }

    /// The targets of a service: the leaves at or below its folder. Without a file with values there, it is the folder itself.
    pub fn targets_of(&self, service: &str) -> Vec<TargetPath> {
        let is_below = |path: &&TargetPath| path.as_str().split('/').next() == Some(service);
        let found: Vec<_> = self.targets.iter().filter(is_below).cloned().collect();
        if found.is_empty() { vec![TargetPath::new(service)] } else { found }
    }

    /// The files with values of a target, from the root to the leaf. None: one of them can't be read.
    pub fn layers(&self, target: &TargetPath) -> Option<Vec<&Layer>> {
        let mut folders: Vec<_> = parents(target.as_str()).collect();
        folders.reverse();
        folders.push(target.as_str());
        folders.into_iter().filter_map(|folder| self.layers.get(folder)).map(Option::as_ref).collect()
    }
}

/// The folders above a folder, the nearest one first. The last one is the root, which is the empty path.
fn parents(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(parent(folder), |folder| parent(folder))
}

fn parent(folder: &str) -> Option<&str> {
    (!folder.is_empty()).then(|| folder.rsplit_once('/').map_or("", |(above, _)| above))
}

fn is_misspelled(name: &str) -> bool {
    ["values.yml", "value.yaml", "value.yml", "Values.yaml", "vaules.yaml", "valeus.yaml"].contains(&name)
}

/// Reads a file with values. None: it has an error.
fn layer(id: FileId, content: &[u8], problems: &mut Vec<Diagnostic>) -> Option<Layer> {
    let reading = yaml::read_bytes(content, &YamlOptions::OBJECTS);
    let is_good = reading.problems.iter().all(|problem| problem.kind.is_warning());
    problems.extend(reading.problems.into_iter().map(|problem| yaml_diagnostic(id, problem)));
    if !is_good {
        return None;
    }
    let mut documents = reading.documents.into_iter();
    let root = documents.next().map(|document| document.root);
    if let Some(second) = documents.next() {
        let origin = Origin::Span(id, second.root.span);
        let found =
            Diagnostic::error(Code::ValuesTree, "a file with values has one document, here a second one begins");
        problems.push(found.at(origin, "").help("remove the line `---` between them"));
        return None;
    }
    let is_mapping = |root: &yaml::Node| root.as_mapping().is_some();
    if let Some(root) = root.as_ref().filter(|root| !is_mapping(root)) {
        let found = Diagnostic::error(Code::ValuesTree, "a file with values is a mapping of keys to values");
        problems.push(found.at(Origin::Span(id, root.span), "").help("write `key: value`"));
        return None;
    }
    Some(Layer { file: id, root })
}

#[cfg(test)]
mod tests {
    use model::source::Source;

    use super::*;

    fn read(texts: &[(&str, &str)]) -> (ValuesTree, Vec<String>) {
        let set = FileSet::of_texts(&Arc::new(Source::directory()), texts.iter().copied());
        let (mut files, mut problems) = (Files::default(), Vec::new());
        let tree = ValuesTree::read(&set, &mut files, &mut problems);
        (tree, problems.into_iter().map(|problem| problem.message).collect())
    }

    #[test]
    fn the_leaves_are_the_targets() {
        let (tree, problems) = read(&[
            ("values.yaml", ""),
            ("eu/values.yaml", ""),
            ("eu/api/values.yaml", ""),
            ("eu/b/c/values.yaml", ""),
            ("us/values.yaml", ""),
        ]);
        let targets: Vec<_> = tree.targets().iter().map(TargetPath::as_str).collect();
        assert_eq!((targets, problems.len()), (vec!["eu/api", "eu/b/c", "us"], 0));
        let count = |path: &str| tree.layers(&TargetPath::new(path)).map(|layers| layers.len());
        assert_eq!([count("eu/api"), count("eu/b/c"), count("us")], [Some(3), Some(3), Some(2)]);
    }

    #[test]
    fn a_service_is_a_target_or_has_some() {
        let (tree, _) = read(&[("values.yaml", ""), ("db/eu/values.yaml", ""), ("db/us/values.yaml", "")]);
        let paths =
            |service: &str| tree.targets_of(service).iter().map(|path| path.as_str().to_owned()).collect::<Vec<_>>();
        assert_eq!((paths("db"), paths("d")), (vec!["db/eu".to_owned(), "db/us".to_owned()], vec!["d".to_owned()]));
        assert_eq!(tree.layers(&TargetPath::new("d")).map(|layers| layers.len()), Some(1));
    }

    #[test]
    fn a_broken_file_stops_only_the_targets_below_it() {
        let (tree, problems) =
            read(&[("eu/values.yaml", "a: 1\na: 2\n"), ("eu/api/values.yaml", ""), ("us/values.yaml", "a: 1\r\n")]);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(tree.layers(&TargetPath::new("eu/api")).is_none());
        assert!(tree.layers(&TargetPath::new("us")).is_some());
    }

    #[test]
    fn files_that_are_no_values_are_reported() {
        let (tree, problems) =
            read(&[("a/values.yaml", "- 1\n"), ("b/values.yaml", "a: 1\n---\nb: 1\n"), ("c/value.yaml", "a: 1\n")]);
        assert_eq!(tree.targets().len(), 2);
        let expected = [
            "a file with values is a mapping of keys to values",
            "a file with values has one document, here a second one begins",
            "`c/value.yaml` is not read: files with values are named `values.yaml`",
        ];
        assert_eq!(problems, expected);
    }
}
