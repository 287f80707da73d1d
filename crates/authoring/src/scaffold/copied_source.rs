//! The branches and folders of other repositories in the copy of an environment.

use std::sync::Arc;

use model::field_path::FieldPath;
use model::fleet::SourcePart;
use model::kind::Kind;
use model::name::EnvironmentName;

use crate::branch_files::{BranchFiles, FoundObject};
use crate::edit::Change;
use crate::value::NewValue;

/// A place in another repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePlace<'a> {
    /// The URL of the repository, as in the object.
    pub repo: &'a str,
    /// The branch.
    pub branch: &'a str,
    /// The path of a folder of the branch. None: only the branch.
    pub folder: Option<&'a str>,
}

/// Tells whether a place in another repository exists.
pub type Exists<'a> = &'a dyn Fn(&SourcePlace<'_>) -> bool;

/// A branch or a folder of another repository that is named after an environment, with the object that adds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedSource {
    /// The kind.
    pub kind: Kind,
    /// The name of the object.
    pub name: Arc<str>,
    /// The file with the object, as it is named for the new environment.
    pub path: Arc<str>,
    /// The URL of the repository, as in the object.
    pub repo: Arc<str>,
    /// Whether it is a branch or a folder.
    pub part: SourcePart,
    /// The branch or the path of the folder, as in the copy.
    pub text: Arc<str>,
    /// The branch or the path of the folder of the new environment.
    pub own: Arc<str>,
    /// Whether the object names a commit, so that its branch or path can't be replaced alone.
    pub is_pinned: bool,
}

/// The names of the environment that is copied and of the new one.
type Names<'a> = (&'a EnvironmentName, &'a EnvironmentName);

/// The place that an object adds to an environment.
struct Place {
    repo: Arc<str>,
    branch: Arc<str>,
    folder: Arc<str>,
    /// The fields of the object that name the branch and the folder. None: another object names it.
    fields: [Option<FieldPath>; 2],
    is_pinned: bool,
}

/// What decides which branches and folders of other repositories a copy names.
#[derive(Clone, Copy)]
pub(super) struct SourceCopier<'a> {
    pub(super) names: Names<'a>,
    /// The files of the branch that is copied.
    pub(super) files: &'a BranchFiles<'a>,
    pub(super) exists: Exists<'a>,
}

impl SourceCopier<'_> {
    /// The branch and the folder that an object names after the copied environment, each with its change. No change: the place of the new environment does not exist, or
    /// the object names a commit.
    pub(super) fn sources(&self, object: &FoundObject) -> Vec<(CopiedSource, Option<Change>)> {
        let Some(place) = self.place(object) else { return Vec::new() };
        let (from, to) = self.names;
        let own_branch = (*place.branch == *from.as_str()).then(|| to.to_string());
        let own = [own_branch, own_folder(self.names, &place.folder)];
        let [own_branch, own_folder] = [0, 1].map(|part| own[part].as_deref().filter(|_| place.fields[part].is_some()));
        let is_there = |branch: Option<&str>, folder: Option<&str>| {
            let (repo, branch) = (&*place.repo, branch.unwrap_or(&place.branch));
            !place.is_pinned && (self.exists)(&SourcePlace { repo, branch, folder })
        };
        // Both parts at once, or else the one that exists.
        let possible = [(own_branch, own_folder), (own_branch, None), (None, own_folder)];
        let mut possible = possible.into_iter().filter(|(branch, folder)| branch.is_some() || folder.is_some());
        let (new_branch, new_folder) =
            possible.find(|(branch, folder)| is_there(*branch, *folder)).unwrap_or((None, None));
        let parts = [
            (SourcePart::Branch, &place.branch, own_branch, new_branch),
            (SourcePart::Folder, &place.folder, own_folder, new_folder),
        ];
        let found = parts.into_iter().zip(&place.fields).filter_map(|((part, old, own, new), field)| {
            let own: Arc<str> = own?.into();
            let change = new.map(|new| Change::Set(field.clone().unwrap_or_default(), NewValue::text(new)));
            let source = CopiedSource {
                kind: object.kind,
                name: Arc::clone(&object.name),
                path: Arc::clone(&object.path),
                repo: Arc::clone(&place.repo),
                part,
                text: new.map_or_else(|| Arc::clone(old), Arc::from),
                own,
                is_pinned: place.is_pinned,
            };
            Some((source, change))
        });
        found.collect()
    }

    /// None: the object adds no place, or the place is incomplete.
    fn place(&self, object: &FoundObject) -> Option<Place> {
        let text = |object: &FoundObject, path: &[&str]| object.text(path).cloned();
        match object.kind {
            Kind::BaseRepo => Some(Place {
                repo: text(object, &["spec", "repo"])?,
                branch: text(object, &["spec", "branch"]).unwrap_or_default(),
                folder: text(object, &["spec", "path"]).unwrap_or_default(),
                fields: [Some(FieldPath::from(["spec", "branch"])), Some(FieldPath::from(["spec", "path"]))],
                is_pinned: is_set(object, &["spec", "commit"]),
            }),
            Kind::FluxGitRepository => Some(Place {
                repo: text(object, &["spec", "url"])?,
                branch: text(object, &["spec", "ref", "branch"])?,
                folder: Arc::default(),
                fields: [Some(FieldPath::from(["spec", "ref", "branch"])), None],
                is_pinned: is_set(object, &["spec", "ref", "commit"]),
            }),
            Kind::FluxKustomization => {
                let repository = text(object, &["spec", "sourceRef", "name"])?;
                let repository = self.files.find(Kind::FluxGitRepository, &repository)?;
                // The branch is the one that the copy of the repository's object names.
                let of_repository = self.sources(repository);
                let new = of_repository.into_iter().find(|(_, change)| change.is_some()).map(|(source, _)| source.text);
                Some(Place {
                    repo: text(repository, &["spec", "url"])?,
                    branch: new.or_else(|| text(repository, &["spec", "ref", "branch"])).unwrap_or_default(),
                    folder: text(object, &["spec", "path"])?,
                    fields: [None, Some(FieldPath::from(["spec", "path"]))],
                    is_pinned: is_set(repository, &["spec", "ref", "commit"])
                        || is_set(repository, &["spec", "ref", "tag"]),
                })
            }
            _ => None,
        }
    }
}

/// The path with the name of the new environment in place of that of the other one. None if no folder on it is named after the other one.
pub(super) fn own_folder((from, to): Names<'_>, path: &str) -> Option<String> {
    let parts: Vec<_> = path.split('/').map(|part| if part == from.as_str() { to.as_str() } else { part }).collect();
    let new = parts.join("/");
    (new != path).then_some(new)
}

fn is_set(object: &FoundObject, path: &[&str]) -> bool {
    object.text(path).is_some_and(|text| !text.is_empty())
}
