//! Renames objects of a branch, with everything in the branch that names them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::earlier_names::{self, RENAMED_FROM, RENAMED_TARGETS};
use model::field_path::FieldPath;
use model::kind::Kind;
use model::object::release_pin::PROMOTED_PREFIX;

use crate::additions::PlacedObject;
use crate::branch_files::{BranchFiles, EditRefusal, FoundObject};
use crate::edit::{Change, ObjectPosition, edit};
use crate::file_edits::FileEdits;
use crate::placement::renamed_path;
pub use crate::references::NamedKind;
use crate::references::{self, Reference};
use crate::targets::{self, TARGETS};
use crate::value::NewValue;

/// The path of an object's name.
const NAME: [&str; 2] = ["metadata", "name"];

/// A renamed object.
#[derive(Clone, Debug, Default)]
pub struct Renaming {
    /// The changed files. A file that gets another name is removed and written.
    pub edits: FileEdits,
    /// The renamed object, with its new name and file.
    pub object: Vec<PlacedObject>,
    /// The objects that named it, with their files.
    pub referring: Vec<PlacedObject>,
}

/// A name that another one replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewName {
    /// What it is the name of.
    pub named: NamedKind,
    /// The name until now.
    pub old: Arc<str>,
    /// The new name.
    pub new: Arc<str>,
}

/// Gives a cluster type or a cluster another name. What names it follows: the clusters of a cluster type, and the conditions of values and schemas. A file
/// with the name of the object gets the new name. An annotation of the object has the name until now.
///
/// # Errors
/// There is no such object, the new name is taken by a cluster type or a cluster, or a file can't be edited. Nothing is renamed then.
pub fn rename(files: &BranchFiles<'_>, kind: Kind, (old, new): (&str, &str)) -> Result<Renaming, EditRefusal> {
    let object = files.find(kind, old).ok_or_else(|| files.places().refusal(vec![files.missing(kind, old)]))?;
    refuse_taken(files, [Kind::ClusterType, Kind::Cluster], new)?;
    let named = if kind == Kind::ClusterType { NamedKind::ClusterType } else { NamedKind::Cluster };
    let mut edited = Edited::new(files);
    edited.rename(object, new, &[earlier_name(object, new)])?;
    edited.follow(&[NewName { named, old: old.into(), new: new.into() }])?;
    Ok(edited.renaming)
}

/// The names that change if a workload gets another name: its own, and the whole names of its targets.
///
/// # Errors
/// There is no such workload in these files.
pub fn names_of_workload(files: &BranchFiles<'_>, (old, new): (&str, &str)) -> Result<Vec<NewName>, EditRefusal> {
    let object = targets::find(files, old)?;
    let own = NewName { named: NamedKind::Workload, old: old.into(), new: new.into() };
    let names: BTreeSet<_> = targets::names(object).into_iter().collect();
    let of_target = |name: &str| NewName {
        named: NamedKind::Target,
        old: format!("{old}-{name}").into(),
        new: format!("{new}-{name}").into(),
    };
    Ok([own].into_iter().chain(names.into_iter().map(of_target)).collect())
}

/// Gives a workload another name. What names it in these files follows, also its registration.
///
/// # Errors
/// There is no such workload, the new name is taken, or a file can't be edited. Nothing is renamed then.
pub fn rename_workload(files: &BranchFiles<'_>, (old, new): (&str, &str)) -> Result<Renaming, EditRefusal> {
    let object = targets::find(files, old)?;
    refuse_taken(files, [Kind::Workload, Kind::WorkloadRegistration], new)?;
    let names = names_of_workload(files, (old, new))?;
    let mut edited = Edited::new(files);
    edited.rename(object, new, &[earlier_name(object, new)])?;
    edited.follow(&names)?;
    Ok(edited.renaming)
}

/// Gives the deployment targets of a workload with this name another one, in all environments. What names them in these files follows.
///
/// # Errors
/// There is no such workload or target, it has a target with the new name, or a file can't be edited. Nothing is renamed then.
pub fn rename_target(
    files: &BranchFiles<'_>,
    workload: &str,
    (old, new): (&str, &str),
) -> Result<Renaming, EditRefusal> {
    let object = targets::find(files, workload)?;
    let positions = targets::positions(files, object, old)?;
    targets::refuse_taken(files, object, new)?;
    let name = |position: usize| FieldPath::from(TARGETS).index(position).key("name");
    let mut changes: Vec<_> =
        positions.into_iter().map(|position| Change::Set(name(position), NewValue::text(new))).collect();
    let path = annotation(RENAMED_TARGETS);
    let before = object.text(&["metadata", "annotations", RENAMED_TARGETS]);
    changes.push(Change::Set(path, NewValue::text(earlier_names::target_renamed(before, (old, new)))));
    let mut edited = Edited::new(files);
    edited.change(object, &changes)?;
    edited.renaming.object.push(PlacedObject { name: Arc::clone(&object.name), ..placed(object) });
    edited.follow(&[name_of_target(workload, (old, new))])?;
    Ok(edited.renaming)
}

/// The whole name of a target that changes.
pub fn name_of_target(workload: &str, (old, new): (&str, &str)) -> NewName {
    NewName {
        named: NamedKind::Target,
        old: format!("{workload}-{old}").into(),
        new: format!("{workload}-{new}").into(),
    }
}

/// Replaces names in a branch that does not have the renamed objects. The registration of a workload, and the pin of its promoted release, get its new name. An
/// annotation of the registration has the name until now: so the platform team confirms the name that the application claims.
///
/// # Errors
/// The new name is taken by a registration, or a file can't be edited. Nothing is changed then.
pub fn follow(files: &BranchFiles<'_>, names: &[NewName]) -> Result<Renaming, EditRefusal> {
    let mut edited = Edited::new(files);
    edited.follow(names)?;
    Ok(edited.renaming)
}

/// The files of a branch while names are replaced in them, one after another: one key can contain several.
struct Edited<'f, 'b> {
    files: &'f BranchFiles<'b>,
    /// The contents of all files now.
    contents: BTreeMap<Arc<str>, Arc<[u8]>>,
    renaming: Renaming,
}

impl<'f, 'b> Edited<'f, 'b> {
    fn new(files: &'f BranchFiles<'b>) -> Self {
        Self { files, contents: files.contents().clone(), renaming: Renaming::default() }
    }

    /// Gives an object another name, with more changes. Its file follows.
    fn rename(&mut self, object: &FoundObject, new: &str, more: &[Change]) -> Result<(), EditRefusal> {
        let name = Change::Set(FieldPath::from(NAME), NewValue::text(new));
        let changes: Vec<_> = [name].into_iter().chain(more.iter().cloned()).collect();
        self.change(object, &changes)?;
        let path = self.move_file(object, (&object.name, new));
        self.renaming.object.push(PlacedObject { kind: object.kind, name: new.into(), path });
        Ok(())
    }

    /// Changes an object.
    fn change(&mut self, object: &FoundObject, changes: &[Change]) -> Result<(), EditRefusal> {
        self.edit(&object.path, changes.iter().map(|change| (object.at, change)))
    }

    fn edit<'c>(
        &mut self,
        path: &Arc<str>,
        mut changes: impl Iterator<Item = (ObjectPosition, &'c Change)>,
    ) -> Result<(), EditRefusal> {
        let content = self.contents.get(path).map(|content| content.to_vec()).unwrap_or_default();
        let changed = changes.try_fold(content, |content, (at, change)| edit(&content, at, change));
        let content = changed.map_err(|error| self.files.not_editable(path, &error))?;
        self.contents.insert(Arc::clone(path), content.clone().into());
        self.renaming.edits.write(Arc::clone(path), content);
        Ok(())
    }

    /// Moves the file of a renamed object, if it has the old one of these names and nothing else is in it. Returns the path.
    fn move_file(&mut self, object: &FoundObject, (old, new): (&str, &str)) -> Arc<str> {
        let is_alone = self.files.objects().iter().filter(|other| other.path == object.path).count() == 1;
        let moved =
            renamed_path(&object.path, old, new).filter(|path| is_alone && !self.contents.contains_key(&**path));
        let Some(path) = moved.map(Arc::<str>::from) else { return Arc::clone(&object.path) };
        let Some(content) = self.contents.remove(&object.path) else { return Arc::clone(&object.path) };
        self.renaming.edits.remove(Arc::clone(&object.path));
        self.renaming.edits.write(Arc::clone(&path), content.to_vec());
        self.contents.insert(Arc::clone(&path), content);
        path
    }

    /// Replaces names in all objects.
    fn follow(&mut self, names: &[NewName]) -> Result<(), EditRefusal> {
        for name in names {
            self.follow_one(name)?;
        }
        self.renaming.referring.sort_by(|one, other| (one.kind, &one.name).cmp(&(other.kind, &other.name)));
        self.renaming.referring.dedup();
        Ok(())
    }

    fn follow_one(&mut self, NewName { named, old, new }: &NewName) -> Result<(), EditRefusal> {
        let contents = self.contents.clone();
        let files = self.files.with_contents(&contents);
        let mut changes: BTreeMap<&Arc<str>, Vec<(ObjectPosition, Change)>> = BTreeMap::new();
        for reference in references::all(&files, *named, old) {
            let change = reference.renamed(new).ok_or_else(|| no_key(&files, &reference, new))?;
            changes.entry(&reference.object.path).or_default().push((reference.object.at, change));
            self.renaming.referring.push(placed(reference.object));
        }
        for (path, changes) in changes {
            self.edit(path, changes.iter().map(|(at, change)| (*at, change)))?;
        }
        if *named != NamedKind::Workload {
            return Ok(());
        }
        // The names of these objects are that of the workload.
        let promoted = |name: &str| format!("{PROMOTED_PREFIX}{name}");
        if let Some(registration) = files.find(Kind::WorkloadRegistration, old) {
            refuse_taken(&files, [Kind::WorkloadRegistration], new)?;
            self.rename(registration, new, &[earlier_name(registration, new)])?;
        }
        if let Some(pin) = files.find(Kind::ReleasePin, &promoted(old))
            && files.find(Kind::ReleasePin, &promoted(new)).is_none()
        {
            self.change(pin, &[Change::Set(FieldPath::from(NAME), NewValue::text(promoted(new)))])?;
            // A promotion writes a file with the name of the workload.
            let path = match self.move_file(pin, (old, new)) {
                path if path == pin.path => self.move_file(pin, (&pin.name, &promoted(new))),
                path => path,
            };
            self.renaming.object.push(PlacedObject { kind: pin.kind, name: promoted(new).into(), path });
        }
        Ok(())
    }
}

/// The change of the annotation that has the earlier names of an object.
fn earlier_name(object: &FoundObject, new: &str) -> Change {
    let before = object.text(&["metadata", "annotations", RENAMED_FROM]);
    Change::Set(annotation(RENAMED_FROM), NewValue::text(earlier_names::renamed(before, (&object.name, new))))
}

fn annotation(key: &str) -> FieldPath {
    FieldPath::from(["metadata", "annotations"]).key(key)
}

/// The refusal of a name that a key can't contain.
fn no_key(files: &BranchFiles<'_>, reference: &Reference<'_>, name: &str) -> EditRefusal {
    let mut places = files.places();
    let origin = Origin::Span(places.file(files, &reference.object.path), reference.node.span);
    let message = format!("a key of ConfigMap `{}` names it, and can't contain `{name}`", reference.object.name);
    let diagnostic = Diagnostic::error(Code::NotEditable, message).at(origin, "this key");
    places.refusal(vec![diagnostic.help("dots separate the labels of such keys: choose a name without dots")])
}

fn placed(object: &FoundObject) -> PlacedObject {
    PlacedObject { kind: object.kind, name: Arc::clone(&object.name), path: Arc::clone(&object.path) }
}

/// Refuses a name that an object of these kinds has. Cluster types and clusters share their names, because each has a folder of its name.
fn refuse_taken(files: &BranchFiles<'_>, kinds: impl IntoIterator<Item = Kind>, name: &str) -> Result<(), EditRefusal> {
    let taken = kinds.into_iter().find_map(|kind| files.find(kind, name));
    let Some(taken) = taken else { return Ok(()) };
    let mut places = files.places();
    let origin = places.name(files, taken);
    let message = format!("{} `{name}` exists already", taken.kind);
    let diagnostic = Diagnostic::error(Code::ObjectExists, message).at(origin, "it is here");
    Err(places.refusal(vec![diagnostic.help("choose another name, or rename or remove that one first")]))
}

#[cfg(test)]
mod tests {
    use model::source::Source;

    use super::*;

    const TYPE: &str = "# The small ones.\napiVersion: scheduler.kalypso.io/v1alpha1\nkind: ClusterType\nmetadata: {name: small}\nspec: {}\n";
    const CLUSTER: &str = "apiVersion: fleet.kalypso.io/v1alpha1\nkind: Cluster\nmetadata: {name: a}\nspec: {clusterType: small}  # why\n";
    const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: NAME\n  labels: {platform-config: \"true\", LABEL}\ndata: {DATA}\n";

    fn config(name: &str, label: &str, data: &str) -> String {
        CONFIG.replace("NAME", name).replace("LABEL", label).replace("DATA", data)
    }

    /// The paths and contents after an object is renamed to `new`: None if a file is removed.
    fn check(existing: &[(&str, &str)], (kind, old): (Kind, &str), expected: &[(&str, Option<&str>)]) {
        let renaming = with(existing, |files| rename(files, kind, (old, "new"))).unwrap();
        let text = |content: &Arc<[u8]>| String::from_utf8(content.to_vec()).unwrap();
        let found: Vec<_> =
            renaming.edits.iter().map(|(path, edit)| (path.to_string(), edit.content().map(text))).collect();
        let expected: Vec<_> =
            expected.iter().map(|(path, text)| ((*path).to_owned(), text.map(str::to_owned))).collect();
        assert_eq!(found, expected);
    }

    fn with<T>(existing: &[(&str, &str)], call: impl FnOnce(&BranchFiles<'_>) -> T) -> T {
        let contents = existing.iter().map(|(path, text)| (Arc::from(*path), Arc::from(text.as_bytes()))).collect();
        call(&BranchFiles::new(Source::directory(), &contents, ""))
    }

    #[test]
    fn clusters_and_conditions_follow_their_cluster_type() {
        let map = config("east", "cluster-type: small", "A: '1'");
        let azure =
            config("azure-app-config", "x: y", "region.west.cluster-type.small.A: '1', cluster-type.tiny.A: '2'");
        let schema = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ConfigSchema\nmetadata:\n  name: s\n  labels:\n    cluster-type: small # only these\nspec: {schema: '{}'}\n";
        let existing: &[(&str, &str)] =
            &[("a.yaml", &azure), ("c.yaml", CLUSTER), ("m.yaml", &map), ("s.yaml", schema), ("t/small.yaml", TYPE)];
        check(
            existing,
            (Kind::ClusterType, "small"),
            &[
                ("a.yaml", Some(&azure.replace("cluster-type.small.A", "cluster-type.new.A"))),
                ("c.yaml", Some(&CLUSTER.replace("small", "new"))),
                ("m.yaml", Some(&map.replace("small", "new"))),
                ("s.yaml", Some(&schema.replace("small", "new"))),
                (
                    "t/new.yaml",
                    Some(
                        &TYPE.replace(
                            "{name: small}",
                            "{name: new, annotations: {names.kalypso.io/renamed-from: small}}",
                        ),
                    ),
                ),
                ("t/small.yaml", None),
            ],
        );
    }

    const WORKLOAD: &str = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata:\n  name: shop # ours\nspec:\n  deploymentTargets:\n    - {name: eu, environment: dev}\n    - {name: eu, environment: prod}\n    - {name: us, environment: prod}\n";

    /// The texts of files after names are replaced, by path.
    fn texts(renaming: &Renaming) -> BTreeMap<String, Option<String>> {
        let text = |content: &Arc<[u8]>| String::from_utf8(content.to_vec()).unwrap();
        renaming.edits.iter().map(|(path, edit)| (path.to_string(), edit.content().map(text))).collect()
    }

    #[test]
    fn a_workload_keeps_its_earlier_name_in_an_annotation() {
        let renaming = with(&[("shop.yaml", WORKLOAD)], |files| rename_workload(files, ("shop", "store"))).unwrap();
        let expected = WORKLOAD.replace(
            "name: shop # ours\n",
            "name: store # ours\n  annotations:\n    names.kalypso.io/renamed-from: shop\n",
        );
        assert_eq!(
            texts(&renaming),
            BTreeMap::from([("shop.yaml".into(), None), ("store.yaml".into(), Some(expected))])
        );
    }

    #[test]
    fn a_target_has_its_new_name_in_all_environments() {
        let rename = |names| with(&[("w.yaml", WORKLOAD)], |files| rename_target(files, "shop", names));
        let expected = WORKLOAD.replace("name: eu", "name: europe").replace(
            "name: shop # ours\n",
            "name: shop # ours\n  annotations:\n    names.kalypso.io/renamed-targets: europe=eu\n",
        );
        let renaming = rename(("eu", "europe")).unwrap();
        assert_eq!(texts(&renaming), BTreeMap::from([("w.yaml".into(), Some(expected))]));
        let message = |names| rename(names).unwrap_err().diagnostics[0].message.clone();
        assert_eq!(message(("eu", "us")), "workload `shop` has a target `us` already");
        assert_eq!(message(("ue", "x")), "workload `shop` has no target `ue`");
    }

    #[test]
    fn selectors_conditions_registrations_and_promoted_pins_follow_a_workload() {
        let policy = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: SchedulingPolicy\nmetadata: {name: shop}\nspec:\n  deploymentTargetSelector:\n    labelSelector:\n      matchLabels: {workload: shop}\n      matchExpressions:\n        - {key: workload, operator: In, values: [till, shop]}\n        - {key: purpose, operator: In, values: [shop]}\n";
        let pin = "apiVersion: fleet.kalypso.io/v1alpha1\nkind: ReleasePin\nmetadata: {name: promoted-shop}\nspec:\n  deploymentTargetSelector: {labelSelector: {matchLabels: {workload: shop}}}\n";
        let map = config("east", "deployment-target: shop-eu, workload: shop", "A: '1'");
        let azure = config("azure-app-config", "x: y", "workload.shop.deployment-target.shop-eu.A: '1'");
        let registration =
            "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: WorkloadRegistration\nmetadata: {name: shop}\nspec: {}\n";
        let names = with(&[("w.yaml", WORKLOAD)], |files| names_of_workload(files, ("shop", "store"))).unwrap();
        assert_eq!(names.len(), 3);
        let existing: &[(&str, &str)] = &[
            ("a.yaml", &azure),
            ("m.yaml", &map),
            ("p.yaml", policy),
            ("releases/shop.yaml", pin),
            ("r/shop.yaml", registration),
        ];
        let renaming = with(existing, |files| follow(files, &names)).unwrap();
        let expected = BTreeMap::from([
            ("a.yaml", Some(azure.replace("shop", "store"))),
            ("m.yaml", Some(map.replace("shop", "store"))),
            (
                "p.yaml",
                Some(policy.replace("{workload: shop}", "{workload: store}").replace("[till, shop]", "[till, store]")),
            ),
            ("releases/shop.yaml", None),
            ("releases/store.yaml", Some(pin.replace("shop", "store"))),
            ("r/shop.yaml", None),
            (
                "r/store.yaml",
                Some(
                    registration
                        .replace("{name: shop}", "{name: store, annotations: {names.kalypso.io/renamed-from: shop}}"),
                ),
            ),
        ]);
        let expected = expected.into_iter().map(|(path, text)| (path.to_owned(), text)).collect();
        assert_eq!(texts(&renaming), expected);
        assert_eq!(renaming.object.len(), 2);
    }

    #[test]
    fn texts_that_only_look_like_the_name_stay() {
        let map = config("a", "cluster-type: a, cluster: a", "A: a");
        let other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, labels: {cluster: a}}\ndata: {A: b}\n";
        check(
            &[("a.yaml", CLUSTER), ("b.yaml", &format!("{map}---\n{other}")), ("new.yaml", other)],
            (Kind::Cluster, "a"),
            &[
                (
                    "a.yaml",
                    Some(&CLUSTER.replace("{name: a}", "{name: new, annotations: {names.kalypso.io/renamed-from: a}}")),
                ),
                ("b.yaml", Some(&format!("{}---\n{other}", map.replace("cluster: a", "cluster: new")))),
            ],
        );
    }

    #[test]
    fn a_name_that_is_missing_or_taken_is_refused() {
        let existing: &[(&str, &str)] = &[("c.yaml", CLUSTER), ("t.yaml", TYPE)];
        let refused = |kind, names| {
            let refusal = with(existing, |files| rename(files, kind, names)).unwrap_err();
            let first = refusal.diagnostics.first().unwrap();
            (first.code, first.message.clone())
        };
        assert_eq!(
            refused(Kind::Cluster, ("a", "small")),
            (Code::ObjectExists, "ClusterType `small` exists already".to_owned())
        );
        assert_eq!(refused(Kind::Cluster, ("b", "c")).0, Code::ObjectNotInBranch);
        assert_eq!(refused(Kind::ClusterType, ("small", "small")).0, Code::ObjectExists);
    }

    #[test]
    fn a_name_with_dots_is_refused_where_a_key_contains_it() {
        let azure = config("azure-app-config", "x: y", "cluster.a.A: '1'");
        let new = |existing: &[(&str, &str)]| with(existing, |files| rename(files, Kind::Cluster, ("a", "a.b")));
        let refusal = new(&[("c.yaml", CLUSTER), ("m.yaml", &azure)]).unwrap_err();
        assert_eq!(
            refusal.diagnostics[0].message,
            "a key of ConfigMap `azure-app-config` names it, and can't contain `a.b`"
        );
        assert!(new(&[("c.yaml", CLUSTER)]).is_ok());
    }
}
