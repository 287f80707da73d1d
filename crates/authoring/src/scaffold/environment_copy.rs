//! The branch of a new environment as a copy of another one's, and its place in the order of promotion.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::field_path::FieldPath;
use model::kind::Kind;
use model::name::EnvironmentName;
use model::object::environment::{NEXT, OUTPUT_SETTINGS};
use model::source;
use model::yaml::Node;

use super::copied_source::{CopiedSource, Exists, SourceCopier, own_folder};
use super::environment::{EnvironmentSetting, NewEnvironment};
use crate::branch_files::{BranchFiles, EditRefusal, FoundObject};
use crate::edit::{Change, edit};
use crate::file_edits::FileEdits;
use crate::removals;
use crate::value::NewValue;

/// The kinds that a copy without clusters leaves out.
const OF_CLUSTERS: [Kind; 4] = [Kind::ClusterType, Kind::Cluster, Kind::SchedulingPolicy, Kind::ReleasePin];

/// The files of a branch.
pub type BranchContents = BTreeMap<Arc<str>, Arc<[u8]>>;

/// A new environment, and the environment before it.
#[derive(Clone, Copy, Debug)]
pub struct EnvironmentCopy<'a> {
    /// The environment that is copied.
    pub from: &'a EnvironmentName,
    /// The new environment.
    pub to: &'a EnvironmentName,
    /// Whether cluster types, clusters, policies and release pins are left out.
    pub is_empty: bool,
}

/// The edits that make a copy of a branch.
#[derive(Clone, Debug, Default)]
pub struct BranchCopy {
    /// The edits of the files of the branch.
    pub edits: FileEdits,
    /// The `GitOpsRepo` objects that still name the destination of the other environment.
    pub shared_destinations: Vec<Arc<str>>,
    /// The values that name the new environment now, as `ConfigMap KEY`.
    pub values: Vec<String>,
    /// The branches and folders of other repositories that are those of the new environment now.
    pub own_sources: Vec<CopiedSource>,
    /// The branches and folders of other repositories that are still those of the other environment.
    pub shared_sources: Vec<CopiedSource>,
}

impl EnvironmentCopy<'_> {
    /// The edits of the files of `from`'s branch that make them those of `to`: the names of the destination and of values, the branches and folders of other
    /// repositories, and the names of files. `exists` tells whether a place in another repository is there; one that isn't stays as it is.
    ///
    /// # Errors
    /// If a file can't be edited safely.
    pub fn branch(&self, contents: &BranchContents, exists: Exists<'_>) -> Result<BranchCopy, EditRefusal> {
        let files = BranchFiles::new(source::Source::directory(), contents, "");
        let mut copy = BranchCopy::default();
        let mut changed: BranchContents = contents.clone();
        let copier = SourceCopier { names: (self.from, self.to), files: &files, exists };
        for object in files.objects() {
            for change in self.changes(object, copier, &mut copy) {
                let bytes = changed.get(&object.path).cloned().unwrap_or_default();
                let bytes =
                    edit(&bytes, object.at, &change).map_err(|error| files.not_editable(&object.path, &error))?;
                changed.insert(Arc::clone(&object.path), bytes.into());
            }
        }
        let files = BranchFiles::new(source::Source::directory(), &changed, "");
        let is_left_out = |object: &&FoundObject| self.is_empty && OF_CLUSTERS.contains(&object.kind);
        let left_out: Vec<_> = files.objects().iter().filter(is_left_out).collect();
        let removed = removals::remove(&files, &left_out)?;
        for (path, bytes) in &changed {
            let bytes = removed.get(path).map_or(Some(bytes), |edit| edit.content());
            let new_path = self.renamed(path);
            if bytes.is_none() || *new_path != **path {
                copy.edits.remove(Arc::clone(path));
            }
            if let Some(bytes) = bytes.filter(|bytes| *new_path != **path || contents.get(path) != Some(*bytes)) {
                copy.edits.write(new_path, Arc::clone(bytes));
            }
        }
        Ok(copy)
    }

    /// The path of a file whose name is that of the environment.
    fn renamed(&self, path: &str) -> String {
        let (folder, file) = path.rsplit_once('/').map_or(("", path), |(folder, file)| (folder, file));
        match file.rsplit_once('.') {
            Some((name, extension)) if name == self.from.as_str() => {
                let slash = if folder.is_empty() { "" } else { "/" };
                format!("{folder}{slash}{}.{extension}", self.to)
            }
            _ => path.to_owned(),
        }
    }

    fn changes(&self, object: &FoundObject, copier: SourceCopier<'_>, copy: &mut BranchCopy) -> Vec<Change> {
        let set = |path: FieldPath, text: &str| Change::Set(path, NewValue::text(text));
        let mut changes = Vec::new();
        match object.kind {
            Kind::GitOpsRepo => {
                let place = self.destination(object);
                if place.is_none() {
                    copy.shared_destinations.push(Arc::clone(&object.name));
                }
                changes.extend(place);
            }
            Kind::ConfigMap => {
                let entries = object.root.get("data").and_then(Node::as_mapping).unwrap_or_default();
                for (key, value) in entries {
                    let (Some(key), Some(value)) = (key.as_scalar(), value.as_scalar()) else { continue };
                    if *value.text == *self.from.as_str() {
                        copy.values.push(format!("{} {}", object.name, key.text));
                        changes.push(set(FieldPath::from(["data", &key.text]), self.to.as_str()));
                    }
                }
            }
            _ => {
                for (source, change) in copier.sources(object) {
                    let path = self.renamed(&object.path).into();
                    let sources = if change.is_some() { &mut copy.own_sources } else { &mut copy.shared_sources };
                    sources.push(CopiedSource { path, ..source });
                    changes.extend(change);
                }
                return changes;
            }
        }
        if *object.name == *self.from.as_str() {
            changes.push(set(FieldPath::from(["metadata", "name"]), self.to.as_str()));
        }
        changes
    }

    /// The changes of a `GitOpsRepo` that give it another destination. Empty if its branch and path do not name the environment.
    fn destination(&self, object: &FoundObject) -> Option<Change> {
        let (from, to) = (self.from.as_str(), self.to.as_str());
        if object.text(&["spec", "branch"]).is_some_and(|branch| **branch == *from) {
            return Some(Change::Set(FieldPath::from(["spec", "branch"]), NewValue::text(to)));
        }
        let new = own_folder((self.from, self.to), object.text(&["spec", "path"])?)?;
        Some(Change::Set(FieldPath::from(["spec", "path"]), NewValue::text(new)))
    }
}

/// The declarations of environments on `main`, by path.
#[derive(Clone, Copy, Debug)]
pub struct EnvironmentDeclarations<'a>(pub &'a BranchContents);

impl EnvironmentDeclarations<'_> {
    /// Declares a new environment after `previous`, which it takes its place in the order of promotion from.
    ///
    /// # Errors
    /// If `previous` is not declared, or a file can't be edited safely.
    pub fn with(&self, new: NewEnvironment<'_>, previous: &EnvironmentName) -> Result<FileEdits, EditRefusal> {
        let files = self.files();
        let Some(object) = files.find(Kind::Environment, previous.as_str()) else {
            return Err(files.places().refusal(vec![files.missing(Kind::Environment, previous.as_str())]));
        };
        let next = next_of(object).and_then(|next| EnvironmentName::new(next).ok());
        let change = Change::Set(next_path(), NewValue::text(new.name.as_str()));
        let mut edits = FileEdits::default();
        edit_object(&files, object, &change, &mut edits)?;
        let declaration = new.declaration(&settings_of(object), next.as_ref());
        edits.write(declaration.path, declaration.text.into_bytes());
        Ok(edits)
    }

    /// Removes the declaration of an environment. The environment before it is followed by the one after it.
    ///
    /// # Errors
    /// If the environment is not declared, or a file can't be edited safely.
    pub fn without(&self, name: &EnvironmentName) -> Result<FileEdits, EditRefusal> {
        let files = self.files();
        let Some(object) = files.find(Kind::Environment, name.as_str()) else {
            return Err(files.places().refusal(vec![files.missing(Kind::Environment, name.as_str())]));
        };
        let mut edits = FileEdits::default();
        let mut changed = self.0.clone();
        for before in files.of_kind(Kind::Environment).filter(|other| next_of(other) == Some(name.as_str().into())) {
            let change = match next_of(object) {
                Some(next) => Change::Set(next_path(), NewValue::text(next)),
                None => Change::Remove(next_path()),
            };
            edit_object(&files, before, &change, &mut edits)?;
            if let Some(bytes) = edits.get(&before.path).and_then(|edit| edit.content()) {
                changed.insert(Arc::clone(&before.path), Arc::clone(bytes));
            }
        }
        let files = BranchFiles::new(source::Source::directory(), &changed, "");
        if let Some(object) = files.find(Kind::Environment, name.as_str()) {
            for (path, edit) in removals::remove(&files, &[object])?.iter() {
                match edit.content() {
                    Some(bytes) => edits.write(Arc::clone(path), Arc::clone(bytes)),
                    None => edits.remove(Arc::clone(path)),
                }
            }
        }
        Ok(edits)
    }

    fn files(&self) -> BranchFiles<'_> {
        BranchFiles::new(source::Source::directory(), self.0, "")
    }
}

fn edit_object(
    files: &BranchFiles<'_>,
    object: &FoundObject,
    change: &Change,
    edits: &mut FileEdits,
) -> Result<(), EditRefusal> {
    let known = edits.get(&object.path).and_then(|edit| edit.content()).cloned();
    let bytes = known.or_else(|| files.content(&object.path).cloned()).unwrap_or_default();
    let bytes = edit(&bytes, object.at, change).map_err(|error| files.not_editable(&object.path, &error))?;
    edits.write(Arc::clone(&object.path), bytes);
    Ok(())
}

fn next_path() -> FieldPath {
    FieldPath::from(["metadata", "annotations", NEXT])
}

/// The settings of an environment, which a copy keeps.
fn settings_of(object: &FoundObject) -> Vec<EnvironmentSetting> {
    let annotations = object.root.get("metadata").and_then(|metadata| metadata.get("annotations"));
    let entries = annotations.and_then(Node::as_mapping).unwrap_or_default().iter();
    let setting = |(key, value): &(Node, Node)| {
        let (key, value) = (Arc::clone(&key.as_scalar()?.text), Arc::clone(&value.as_scalar()?.text));
        OUTPUT_SETTINGS.contains(&&*key).then_some(EnvironmentSetting { comment: "", key, value })
    };
    entries.filter_map(setting).collect()
}

fn next_of(object: &FoundObject) -> Option<Arc<str>> {
    object.text(&["metadata", "annotations", NEXT]).cloned()
}

#[cfg(test)]
mod tests {
    use super::super::copied_source::SourcePlace;
    use super::super::file::NewFile;
    use super::super::platform::Platform;
    use super::*;

    const URL: &str = "https://git.example/acme/cp";

    fn name(text: &str) -> EnvironmentName {
        EnvironmentName::new(text).unwrap()
    }

    fn contents(files: Vec<NewFile>) -> BranchContents {
        files.into_iter().map(|file| (Arc::from(file.path), Arc::from(file.text.into_bytes()))).collect()
    }

    fn platform(names: &[&str]) -> Platform {
        let environments = names.iter().map(|text| name(text)).collect();
        let (control_plane, gitops) = (URL.to_owned(), "https://git.example/acme/g".to_owned());
        Platform { environments, reconcilers: Vec::new(), control_plane, gitops }
    }

    /// The files after edits.
    fn applied(mut contents: BranchContents, edits: &FileEdits) -> BranchContents {
        for (path, edit) in edits.iter() {
            match edit.content() {
                Some(bytes) => contents.insert(Arc::clone(path), Arc::clone(bytes)),
                None => contents.remove(path),
            };
        }
        contents
    }

    /// The lines of YAML files without comments and without lines that are equal before and after.
    fn meaning(contents: &BranchContents) -> String {
        let yaml = contents.iter().filter(|(path, _)| model::read::is_read(path));
        let text = |(path, bytes): (&Arc<str>, &Arc<[u8]>)| format!("{path}\n{}", String::from_utf8_lossy(bytes));
        let text: String = yaml.map(text).collect();
        text.lines().filter(|line| !line.trim_start().starts_with('#')).flat_map(|line| [line, "\n"]).collect()
    }

    #[test]
    fn the_copy_of_a_new_branch_is_the_branch_of_the_new_environment() {
        let platform = platform(&["dev", "qa"]);
        let from = contents(platform.environment_branch(&name("dev")));
        let (dev, qa) = (name("dev"), name("qa"));
        let copy = EnvironmentCopy { from: &dev, to: &qa, is_empty: false }
            .branch(&from, &|_: &SourcePlace<'_>| false)
            .unwrap();
        let expected = contents(platform.environment_branch(&qa));
        assert_eq!(meaning(&applied(from, &copy.edits)), meaning(&expected));
        assert_eq!((copy.values, copy.shared_destinations.len()), (vec!["dev ENVIRONMENT".to_owned()], 0));
    }

    #[test]
    fn an_empty_copy_has_no_clusters() {
        let cluster = Kind::ClusterType.example().to_owned() + "---\n" + Kind::ConfigMap.example();
        let from = contents(vec![NewFile::new("all.yaml", cluster)]);
        let (dev, qa) = (name("dev"), name("qa"));
        let copy = EnvironmentCopy { from: &dev, to: &qa, is_empty: true }
            .branch(&from, &|_: &SourcePlace<'_>| false)
            .unwrap();
        let text = meaning(&applied(from, &copy.edits));
        assert!(text.contains("kind: ConfigMap") && !text.contains("ClusterType"), "{text}");
    }

    #[test]
    fn destination_without_the_environment_name_is_reported() {
        let spec = |branch: &str, path: &str| {
            format!(
                "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: GitOpsRepo\nmetadata: {{name: g}}\nspec: {{repo: {URL}, branch: {branch}, path: {path}}}\n"
            )
        };
        let (dev, qa) = (name("dev"), name("qa"));
        let check = |branch: &str, path: &str, expected: Option<(&str, &str)>| {
            let from = contents(vec![NewFile::new("g.yaml", spec(branch, path))]);
            let copy = EnvironmentCopy { from: &dev, to: &qa, is_empty: false }
                .branch(&from, &|_: &SourcePlace<'_>| false)
                .unwrap();
            let new = expected.map(|(branch, path)| contents(vec![NewFile::new("g.yaml", spec(branch, path))]));
            assert_eq!(copy.shared_destinations.is_empty(), expected.is_some());
            assert_eq!(applied(from.clone(), &copy.edits), new.unwrap_or(from));
        };
        check("dev", ".", Some(("qa", ".")));
        check("main", "envs/dev", Some(("main", "envs/qa")));
        check("main", ".", None);
    }

    #[test]
    fn source_uses_existing_branch_and_folder_of_the_new_environment() {
        let base = |branch: &str, path: &str, commit: &str| {
            format!(
                "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: BaseRepo\nmetadata: {{name: b}}\nspec: {{repo: {URL}, branch: {branch}, path: {path}{commit}}}\n"
            )
        };
        let flux = |branch: &str, path: &str| {
            format!(
                "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: f}}\nspec: {{url: {URL}, ref: {{branch: {branch}}}}}\n\
                 ---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: k}}\nspec: {{path: {path}, sourceRef: {{kind: GitRepository, name: f}}}}\n"
            )
        };
        let (dev, qa) = (name("dev"), name("qa"));
        let check = |(text, existing): (String, &[(&str, &str)]), expected: String, sources: (usize, usize)| {
            let from = contents(vec![NewFile::new("s.yaml", text)]);
            let copy = EnvironmentCopy { from: &dev, to: &qa, is_empty: false };
            let is_there = |place: &SourcePlace<'_>| {
                place.repo == URL
                    && existing.iter().any(|(branch, folder)| {
                        *branch == place.branch && place.folder.is_none_or(|path| path == *folder)
                    })
            };
            let copy = copy.branch(&from, &is_there).unwrap();
            assert_eq!((copy.own_sources.len(), copy.shared_sources.len()), sources, "{expected}");
            assert_eq!(applied(from, &copy.edits), contents(vec![NewFile::new("s.yaml", expected)]));
        };
        check((base("dev", ".", ""), &[("qa", ".")]), base("qa", ".", ""), (1, 0));
        check((base("dev", ".", ""), &[]), base("dev", ".", ""), (0, 1));
        check((base("main", ".", ""), &[("qa", ".")]), base("main", ".", ""), (0, 0));
        check((base("dev", ".", ", commit: abc"), &[("qa", ".")]), base("dev", ".", ", commit: abc"), (0, 1));
        check((base("main", "./dev", ""), &[("main", "./qa")]), base("main", "./qa", ""), (1, 0));
        check((base("main", "a/dev/b", ""), &[("main", "a/qa/b")]), base("main", "a/qa/b", ""), (1, 0));
        check((base("main", "./dev", ""), &[("main", ".")]), base("main", "./dev", ""), (0, 1));
        check(
            (base("main", "./dev", ", commit: abc"), &[("main", "./qa")]),
            base("main", "./dev", ", commit: abc"),
            (0, 1),
        );
        check((base("dev", "./dev", ""), &[("qa", "./qa")]), base("qa", "./qa", ""), (2, 0));
        check((base("dev", "./dev", ""), &[("qa", "./dev")]), base("qa", "./dev", ""), (1, 1));
        check((base("dev", "./dev", ""), &[("dev", "./qa")]), base("dev", "./qa", ""), (1, 1));
        check((flux("dev", "."), &[("qa", ".")]), flux("qa", "."), (1, 0));
        check((flux("main", "dev"), &[("main", "qa")]), flux("main", "qa"), (1, 0));
        check((flux("dev", "dev"), &[("qa", "qa")]), flux("qa", "qa"), (2, 0));
        check((flux("main", "dev"), &[]), flux("main", "dev"), (0, 1));
    }

    #[test]
    fn an_environment_is_put_into_the_order_and_taken_out_again() {
        let main = |names: &[&str]| {
            let files = platform(names).main_branch();
            contents(files.into_iter().filter(|file| file.path.starts_with(".environments/")).collect())
        };
        let (before, qa) = (main(&["dev", "prod"]), name("qa"));
        let new = NewEnvironment { name: &qa, control_plane: URL, gitops: "", path: "." };
        let with =
            |after: &str| applied(before.clone(), &EnvironmentDeclarations(&before).with(new, &name(after)).unwrap());
        assert_eq!(meaning(&with("dev")), meaning(&main(&["dev", "qa", "prod"])));
        assert_eq!(meaning(&with("prod")), meaning(&main(&["dev", "prod", "qa"])));
        let middle = with("dev");
        let without = applied(middle.clone(), &EnvironmentDeclarations(&middle).without(&qa).unwrap());
        assert_eq!(without, before);
        assert!(EnvironmentDeclarations(&before).with(new, &name("stage")).is_err());
        assert!(EnvironmentDeclarations(&before).without(&qa).is_err());
    }
}
