//! Adds new objects to a branch, in the style that is there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic};
use model::kind::Kind;

use crate::branch_files::{BranchFiles, EditRefusal, FoundObject};
use crate::documents;
use crate::file_edits::FileEdits;
use crate::new_object::{NewObject, write_all};
use crate::placement::{Conventions, Placement, folder, joined};
use crate::style::Style;

/// From this number of objects on, new objects share a file, although existing ones have files of their own.
const SHARED_FROM: usize = 10;

/// Where new objects are written.
#[derive(Clone, Copy, Debug, Default)]
pub struct AddOptions<'a> {
    /// The path of the file, from the root of the branch. None to follow the conventions of the branch.
    pub file: Option<&'a str>,
    /// The name of a new file for many objects, without its extension.
    pub shared_name: Option<&'a str>,
}

/// New objects in the files of a branch.
#[derive(Clone, Debug, Default)]
pub struct Additions {
    /// The files to write.
    pub edits: FileEdits,
    /// The objects with the paths of their files.
    pub objects: Vec<PlacedObject>,
}

/// An object with its file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlacedObject {
    /// The kind.
    pub kind: Kind,
    /// The name.
    pub name: Arc<str>,
    /// The path of the file.
    pub path: Arc<str>,
}

/// Adds objects of one kind.
///
/// # Errors
/// An object with that name exists, or a file can't be edited. Nothing is added then.
pub fn add(files: &BranchFiles<'_>, objects: &[NewObject], options: AddOptions<'_>) -> Result<Additions, EditRefusal> {
    refuse_existing(files, objects)?;
    let Some(kind) = objects.first().map(|object| object.kind) else { return Ok(Additions::default()) };
    let conventions = Conventions::new(files, kind);
    let mut by_path: BTreeMap<Arc<str>, Vec<NewObject>> = BTreeMap::new();
    for (path, object) in paths((files, &conventions), objects, options).into_iter().zip(objects) {
        by_path.entry(path).or_default().push(object.clone());
    }
    let mut additions = Additions::default();
    for (path, objects) in by_path {
        let content = written(files, &conventions, (&path, &objects))?;
        additions.edits.write(Arc::clone(&path), content);
        let placed = |object: NewObject| PlacedObject { kind, name: object.name, path: Arc::clone(&path) };
        additions.objects.extend(objects.into_iter().map(placed));
    }
    Ok(additions)
}

fn paths(
    (files, conventions): (&BranchFiles<'_>, &Conventions<'_>),
    objects: &[NewObject],
    options: AddOptions<'_>,
) -> Vec<Arc<str>> {
    if let Some(file) = options.file {
        return objects.iter().map(|_| file.into()).collect();
    }
    let placements: Vec<_> = objects.iter().map(|object| conventions.place(object)).collect();
    let is_new = |placement: &Placement| files.content(&placement.path).is_none();
    let new_files = placements.iter().filter(|placement| is_new(placement)).count();
    let is_shared = |is_default: bool| new_files >= SHARED_FROM || (is_default && new_files > 1);
    let path = |placement: Placement| match options.shared_name {
        Some(name) if is_new(&placement) && is_shared(placement.is_default) => {
            let extension = placement.path.rsplit('.').next().unwrap_or_default();
            joined(folder(&placement.path), &format!("{name}.{extension}")).into()
        }
        _ => placement.path,
    };
    placements.into_iter().map(path).collect()
}

/// The content of a file with new objects at its end.
fn written(
    files: &BranchFiles<'_>,
    conventions: &Conventions<'_>,
    (path, objects): (&Arc<str>, &[NewObject]),
) -> Result<Vec<u8>, EditRefusal> {
    let model = conventions.model(path);
    let root = model.map(|model| &model.root);
    if let Some(content) = files.content(path) {
        let text = write_all(objects, &Style::from_text(files.text(path)), root);
        return documents::append(content, &text).map_err(|error| files.not_editable(path, &error));
    }
    let style = model.map(|model: &FoundObject| Style::from_text(files.text(&model.path))).unwrap_or_default();
    Ok(write_all(objects, &style, root).into_bytes())
}

fn refuse_existing(files: &BranchFiles<'_>, objects: &[NewObject]) -> Result<(), EditRefusal> {
    let mut names = BTreeSet::new();
    let existing: BTreeMap<_, _> =
        files.objects().iter().map(|object| ((object.kind, &*object.name), object)).collect();
    let mut places = files.places();
    let mut diagnostics = Vec::new();
    for object in objects {
        let (kind, name) = (object.kind, &object.name);
        if let Some(found) = existing.get(&(kind, &**name)) {
            let message = format!("{kind} `{name}` exists already");
            let origin = places.name(files, found);
            diagnostics.push(Diagnostic::error(Code::ObjectExists, message).at(origin, "it is here").help(ADVICE));
        } else if !names.insert(name) {
            diagnostics.push(Diagnostic::error(Code::ObjectExists, format!("{kind} `{name}` would be added twice")));
        }
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(places.refusal(diagnostics)) }
}

/// What to do about an object that exists.
const ADVICE: &str = "edit the file, choose another name, or remove the object first with `kalypso remove`";

#[cfg(test)]
mod tests {
    use model::name::{ClusterName, ClusterTypeName};
    use model::source::Source;

    use super::*;
    use crate::objects;

    fn cluster(name: &str) -> NewObject {
        let (name, of) = (ClusterName::new(name).unwrap(), ClusterTypeName::new("store").unwrap());
        objects::cluster(&name, &of, vec![("region".into(), "west".into())])
    }

    fn check(existing: &[(&str, &str)], objects: &[NewObject], expected: &[&str]) -> Additions {
        let contents = existing.iter().map(|(path, text)| (Arc::from(*path), Arc::from(text.as_bytes()))).collect();
        let files = BranchFiles::new(Source::directory(), &contents, "");
        let options = AddOptions { shared_name: Some("stores"), ..AddOptions::default() };
        let additions = add(&files, objects, options).unwrap();
        let paths: Vec<_> = additions.edits.iter().map(|(path, _)| &**path).collect();
        assert_eq!(paths, expected);
        additions
    }

    #[test]
    fn many_objects_share_a_file_without_another_convention() {
        let one = cluster("a").write(&Style::default(), None);
        let many: Vec<_> = (0..SHARED_FROM).map(|number| cluster(&format!("s-{number}"))).collect();
        check(&[], &many[..1], &["clusters/s-0.yaml"]);
        check(&[], &many[..2], &["clusters/stores.yaml"]);
        check(&[("c/a.yaml", &one)], &many[..2], &["c/s-0.yaml", "c/s-1.yaml"]);
        check(&[("c/a.yaml", &one)], &many, &["c/stores.yaml"]);
    }

    #[test]
    fn an_object_is_appended_in_the_style_of_its_file() {
        let text = format!(
            "{}---\r\n{}",
            cluster("a").write(&Style::default(), None),
            cluster("b").write(&Style::default(), None)
        );
        let text = text.replace("\r\n", "\n").replace('\n', "\r\n").replace("    region: west", "    region: 'west'");
        let additions = check(&[("c.yaml", &text)], &[cluster("on")], &["c.yaml"]);
        let content = additions.edits.get("c.yaml").unwrap().content().unwrap();
        let added = std::str::from_utf8(content).unwrap().strip_prefix(&text).unwrap();
        assert!(added.starts_with("---\r\napiVersion: ") && added.contains("\r\n  name: 'on'\r\n"), "{added:?}");
    }

    #[test]
    fn an_object_that_exists_is_not_added() {
        let contents =
            BTreeMap::from([("a.yaml".into(), cluster("a").write(&Style::default(), None).into_bytes().into())]);
        let files = BranchFiles::new(Source::directory(), &contents, "");
        let refusal = add(&files, &[cluster("a"), cluster("b"), cluster("b")], AddOptions::default()).unwrap_err();
        let messages: Vec<_> = refusal.diagnostics.iter().map(|diagnostic| &*diagnostic.message).collect();
        assert_eq!(messages, ["Cluster `a` exists already", "Cluster `b` would be added twice"]);
    }
}
