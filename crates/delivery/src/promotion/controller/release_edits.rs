//! The edits that write a release into an environment: a release pin, or the manifests of the environment before.

use std::collections::BTreeMap;
use std::sync::Arc;

use authoring::branch_files::BranchFiles;
use authoring::objects::PolicySelection;
use authoring::pins::{PinnedRelease, change_release, release_pin};
use authoring::style::Style;
use git::{Commit, Edits, EntryKind, FileContent, Repositories, RepositoryError, opener};
use model::git_id::GitId;
use model::kind::Kind;
use model::name::ReleasePinName;
use model::object::deployment_target::WORKLOAD_LABEL;
use model::object::release::Release;
use model::object::release_pin::PROMOTED_PREFIX;
use model::selector::{LabelSelector, Operator, Requirement};
use model::source::Source;
use model::tree::{Child, Sealed, Tree};

use super::release_facts::{self, ManifestsPair};
use crate::states::promoted_commit::contains;

/// The folder of the pins in the environment's folder.
const FOLDER: &str = "releases";
/// The maximum size of a file of manifests, in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// The maximum number of files of one move.
const FILES_MAX: usize = 10_000;

/// A release to pin in an environment.
pub(super) struct NewRelease<'a> {
    /// The workload.
    pub(super) workload: &'a str,
    /// The release.
    pub(super) release: &'a Release,
    /// Why.
    pub(super) reason: &'a str,
}

/// The edit that pins a release at all places of an environment, in a file of its own. `head` is the environment's branch, `folder` its path.
///
/// # Errors
/// The reason in words.
pub(super) fn pin(
    repositories: &dyn Repositories,
    (head, folder): (&Commit, &str),
    new: &NewRelease<'_>,
) -> Result<Edits, Arc<str>> {
    let name = ReleasePinName::new(format!("{PROMOTED_PREFIX}{}", new.workload)).map_err(|error| error.to_string())?;
    let below = [release_facts::plain(folder), FOLDER.to_owned()];
    let below = below.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
    let path: Arc<str> = format!("{below}/{}.yaml", new.workload).into();
    let release = PinnedRelease {
        manifests: new.release.manifests().clone().into_iter().collect(),
        reason: Some(new.reason.into()),
        expires: None,
    };
    let content = read(repositories, (head, &below), &path).map_err(|error| error.to_string())?;
    let mut contents: BTreeMap<_, _> = content.into_iter().map(|content| (Arc::clone(&path), content)).collect();
    if pin_in(&contents, &name).is_none()
        && let Some(found) = file_of_pin(repositories, (head, folder), &name)?
    {
        contents = BTreeMap::from([found]);
    }
    let path = contents.keys().next().map_or(path, Arc::clone);
    let files = BranchFiles::new(Source::directory(), &contents, "");
    let bytes: Arc<[u8]> = match change_release(&files, &name, &release) {
        Some(Ok(changed)) => match changed.edits.get(&path).and_then(|edit| edit.content()) {
            Some(bytes) => Arc::clone(bytes),
            None => return Ok(Edits::default()),
        },
        Some(Err(_)) => return Err(format!("`{path}` can't be edited safely").into()),
        None if contents.is_empty() => {
            release_pin(&name, &everywhere(new.workload), &release).write(&Style::default(), None).into_bytes().into()
        }
        None => return Err(format!("`{path}` has no {} `{name}`", Kind::ReleasePin).into()),
    };
    Ok([(path, Some(bytes))].into_iter().collect())
}

fn everywhere(workload: &str) -> PolicySelection {
    let own = Requirement { key: WORKLOAD_LABEL.into(), operator: Operator::In(vec![workload.into()]) };
    PolicySelection {
        workspace: None,
        targets: LabelSelector { requirements: vec![own] },
        places: LabelSelector::default(),
    }
}

/// The path of a file with a pin, and its content.
type PinFile = (Arc<str>, Arc<[u8]>);

/// The file of an environment that has a pin: people may move it.
fn file_of_pin(
    repositories: &dyn Repositories,
    (head, folder): (&Commit, &str),
    name: &ReleasePinName,
) -> Result<Option<PinFile>, Arc<str>> {
    let mut contents = git::load::files(repositories, head, folder)?;
    // Parsing all files of a large environment would take long.
    contents.retain(|_, content| contains(content, name.as_str().as_bytes()));
    Ok(pin_in(&contents, name).and_then(|path| contents.remove_entry(&path)))
}

/// The path of the file with a pin.
fn pin_in(contents: &BTreeMap<Arc<str>, Arc<[u8]>>, name: &ReleasePinName) -> Option<Arc<str>> {
    let files = BranchFiles::new(Source::directory(), contents, "");
    files.find(Kind::ReleasePin, name.as_str()).map(|found| Arc::clone(&found.path))
}

/// The content of a file in a folder. None if it does not exist.
fn read(
    repositories: &dyn Repositories,
    (head, folder): (&Commit, &str),
    path: &str,
) -> Result<Option<Arc<[u8]>>, RepositoryError> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let entries = repositories.folder(head, folder)?.unwrap_or_default();
    let Some(entry) = entries.iter().find(|entry| entry.name == name && entry.kind == EntryKind::File) else {
        return Ok(None);
    };
    Ok(match repositories.content(head, entry.id, FILE_BYTES_MAX)? {
        FileContent::Bytes(bytes) => Some(bytes),
        FileContent::TooLarge(_) => None,
    })
}

/// The edits that give targets the manifests of a commit of the environment before. `source` is that commit, `head` the branch that is edited.
///
/// # Errors
/// The reason in words.
pub(super) fn manifests(
    repositories: &dyn Repositories,
    (source, head): (&Commit, &Commit),
    pairs: &[ManifestsPair<'_>],
) -> Result<Edits, Arc<str>> {
    let mut edits: BTreeMap<Arc<str>, Option<Arc<[u8]>>> = BTreeMap::new();
    for pair in pairs {
        let missing = || Arc::from(format!("`{}` has no folder `{}`", source.id.short(), pair.from.path));
        let before = release_facts::folder(repositories, source, &pair.from.path).ok_or_else(missing)?;
        let new = files(repositories, source, &before)?;
        let old = match release_facts::folder(repositories, head, &pair.to.path) {
            Some(old) => files(repositories, head, &old)?,
            None => BTreeMap::new(),
        };
        let to = release_facts::plain(&pair.to.path);
        let path = |name: &str| Arc::from(if to.is_empty() { name.to_owned() } else { format!("{to}/{name}") });
        for name in old.keys().filter(|name| !new.contains_key(*name)) {
            edits.insert(path(name), None);
        }
        for (name, id) in new.iter().filter(|(name, id)| old.get(*name) != Some(id)) {
            match repositories.content(source, *id, FILE_BYTES_MAX).map_err(|error| error.to_string())? {
                FileContent::Bytes(bytes) => drop(edits.insert(path(name), Some(bytes))),
                FileContent::TooLarge(size) => {
                    return Err(format!("`{name}` has {size} bytes, which is too much").into());
                }
            }
        }
    }
    Ok(edits.into_iter().collect())
}

/// The files of a folder by their paths in it.
fn files(repositories: &dyn Repositories, commit: &Commit, folder: &Tree) -> Result<BTreeMap<String, GitId>, Arc<str>> {
    let open = |sealed: &Sealed| opener(repositories, commit)(sealed);
    let (mut files, mut rest) = (BTreeMap::new(), vec![(String::new(), folder.clone())]);
    while let Some((prefix, tree)) = rest.pop() {
        for (name, child) in tree.children() {
            let path = format!("{prefix}{name}");
            match child {
                Child::File(entry) => drop(files.insert(path, entry.blob.id())),
                _ => {
                    if let Some(inner) = child.opened(&open).map_err(|error| error.to_string())? {
                        rest.push((format!("{path}/"), inner));
                    }
                }
            }
        }
        if files.len() > FILES_MAX {
            return Err(format!("there are more than {FILES_MAX} files").into());
        }
    }
    Ok(files)
}
