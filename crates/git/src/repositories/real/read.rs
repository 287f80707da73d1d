//! Reads objects of a repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use gix::objs::Kind;
use model::git_id::GitId;
use model::tree::{Blob, Child, Entry, Sealed, SealedBy, Tree, name_bytes, name_text};

use crate::limits::ANCESTRY_MAX;
use crate::repositories::object::{commit_info, folder_entry, from_gix, mode, to_gix};
use crate::repositories::{CommitInfo, FileContent, FolderEntry, Revision};

/// The reason why an object can't be read.
pub(super) struct Fault(pub(super) String);

/// The result of a walk through history.
pub(super) struct Walked<T> {
    pub(super) found: T,
    /// Whether the walk ended at a commit that the repository does not contain.
    pub(super) is_cut: bool,
}

/// The reference name of a branch or tag. None if the name is not valid.
pub(super) fn reference_name(revision: &Revision) -> Option<String> {
    let name = match revision {
        Revision::Branch(name) => format!("refs/heads/{name}"),
        Revision::Tag(name) => format!("refs/tags/{name}"),
        Revision::Commit { .. } => return None,
    };
    gix::validate::reference::name(name.as_str().into()).is_ok().then_some(name)
}

/// The commit that a reference names, if it exists.
pub(super) fn reference(repository: &gix::Repository, name: &str) -> Result<Option<GitId>, Fault> {
    let found = repository.try_find_reference(name).map_err(fault)?;
    let Some(mut reference) = found else { return Ok(None) };
    let commit = reference.peel_to_commit().map_err(fault)?;
    Ok(from_gix(&commit.id))
}

/// The commit that a revision names, if it exists.
pub(super) fn resolve(repository: &gix::Repository, revision: &Revision) -> Result<Option<GitId>, Fault> {
    if let Revision::Commit { id, .. } = revision {
        let header = repository.try_find_header(to_gix(*id)).map_err(fault)?;
        return Ok(header.is_some_and(|header| header.kind() == Kind::Commit).then_some(*id));
    }
    reference_name(revision).map_or(Ok(None), |name| reference(repository, &name))
}

/// The targets of all branches and tags, by their full names.
pub(super) fn references(repository: &gix::Repository) -> Result<BTreeMap<String, GitId>, Fault> {
    let platform = repository.references().map_err(fault)?;
    let mut found = BTreeMap::new();
    for prefix in ["refs/heads/", "refs/tags/"] {
        for reference in platform.prefixed(prefix).map_err(fault)? {
            let reference = reference.map_err(|error| Fault(error.to_string()))?;
            if let Some(id) = reference.try_id().and_then(|id| from_gix(&id)) {
                found.insert(reference.name().as_bstr().to_string(), id);
            }
        }
    }
    Ok(found)
}

/// Whether the repository has a branch.
pub(super) fn has_branches(repository: &gix::Repository) -> bool {
    let Ok(references) = repository.references() else { return false };
    references.local_branches().is_ok_and(|mut branches| branches.next().is_some())
}

/// The metadata of a commit.
pub(super) fn info(repository: &gix::Repository, commit: GitId) -> Result<CommitInfo, Fault> {
    let bytes = object(repository, commit, Kind::Commit)?;
    commit_info(&bytes).ok_or_else(|| Fault(format!("commit {commit} is broken")))
}

/// The entries of a folder, sorted by name. None if the folder does not exist.
pub(super) fn folder(
    repository: &gix::Repository,
    commit: GitId,
    path: &str,
) -> Result<Option<Vec<FolderEntry>>, Fault> {
    let mut tree = info(repository, commit)?.tree;
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let bytes = object(repository, tree, Kind::Tree)?;
        let mut entries = gix::objs::TreeRefIter::from_bytes(&bytes, gix::hash::Kind::Sha1).filter_map(Result::ok);
        let name = name_bytes(part);
        let found = entries.find(|entry| *entry.filename == *name && entry.mode.is_tree());
        let Some(below) = found.and_then(|entry| from_gix(entry.oid)) else { return Ok(None) };
        tree = below;
    }
    entries(repository, tree).map(Some)
}

/// The size of an object in bytes, from its header.
pub(super) fn size(repository: &gix::Repository, id: GitId) -> Result<u64, Fault> {
    Ok(repository.find_header(to_gix(id)).map_err(fault)?.size())
}

/// The entries of a tree, sorted by name.
pub(super) fn entries(repository: &gix::Repository, tree: GitId) -> Result<Vec<FolderEntry>, Fault> {
    let bytes = object(repository, tree, Kind::Tree)?;
    let entries = gix::objs::TreeRefIter::from_bytes(&bytes, gix::hash::Kind::Sha1);
    let entries: Vec<_> = entries.map(|entry| entry.map_err(fault)).collect::<Result<_, Fault>>()?;
    let mut entries: Vec<_> = entries.iter().filter_map(folder_entry).collect();
    entries.sort();
    Ok(entries)
}

/// The content of a blob, if it does not exceed the limit.
pub(super) fn content(repository: &gix::Repository, blob: GitId, limit: u64) -> Result<FileContent, Fault> {
    let header = repository.find_header(to_gix(blob)).map_err(fault)?;
    if header.size() > limit {
        return Ok(FileContent::TooLarge(header.size()));
    }
    Ok(FileContent::Bytes(object(repository, blob, Kind::Blob)?.into()))
}

/// The root folder of a commit.
pub(super) fn tree(repository: &gix::Repository, commit: GitId) -> Result<Tree, Fault> {
    subtree(repository, info(repository, commit)?.tree)
}

/// A folder by its tree id. The folders in it are sealed.
pub(super) fn subtree(repository: &gix::Repository, tree: GitId) -> Result<Tree, Fault> {
    let bytes = object(repository, tree, Kind::Tree)?;
    let mut children: Vec<(Arc<str>, Child)> = Vec::new();
    for entry in gix::objs::TreeRefIter::from_bytes(&bytes, gix::hash::Kind::Sha1) {
        let entry = entry.map_err(fault)?;
        let name = name_text(entry.filename);
        let Some(id) = from_gix(entry.oid) else { continue };
        let child = match mode(entry.mode.kind()) {
            None => Child::Sealed(Sealed { id, by: SealedBy::Repository }),
            Some(mode) => Child::File(Entry { mode, blob: Blob::existing(id) }),
        };
        children.push((Arc::from(&*name), child));
    }
    Ok(Tree::with_id(tree, children))
}

/// A commit and its ancestors along the first parents.
pub(super) fn history(repository: &gix::Repository, from: GitId, reach: usize) -> Result<Walked<Vec<GitId>>, Fault> {
    let mut found = vec![from];
    let mut parent = info(repository, from)?.parents.first().copied();
    while let Some(id) = parent.filter(|_| found.len() < reach) {
        if !has(repository, id) {
            return Ok(Walked { found, is_cut: true });
        }
        found.push(id);
        parent = info(repository, id)?.parents.first().copied();
    }
    Ok(Walked { found, is_cut: false })
}

/// A commit and its ancestors along all parents, at most `reach` generations away.
pub(super) fn ancestry(
    repository: &gix::Repository,
    from: GitId,
    reach: usize,
) -> Result<Walked<BTreeMap<GitId, CommitInfo>>, Fault> {
    let (mut found, mut is_cut) = (BTreeMap::from([(from, info(repository, from)?)]), false);
    let mut generation = vec![from];
    for _ in 1..reach {
        let parents = generation.iter().filter_map(|id| found.get(id)).flat_map(|info| &info.parents);
        let mut parents: Vec<_> = parents.filter(|id| !found.contains_key(id)).copied().collect();
        parents.sort_unstable();
        parents.dedup();
        parents.truncate(ANCESTRY_MAX.saturating_sub(found.len()));
        for id in &parents {
            if has(repository, *id) {
                found.insert(*id, info(repository, *id)?);
            } else {
                is_cut = true;
            }
        }
        generation = parents;
    }
    Ok(Walked { found, is_cut })
}

/// Whether `ancestor` is `of` or one of its ancestors, within `reach` generations.
pub(super) fn is_ancestor(
    repository: &gix::Repository,
    ancestor: GitId,
    of: GitId,
    reach: usize,
) -> Result<Walked<bool>, Fault> {
    let (mut seen, mut generation, mut is_cut) = (BTreeSet::new(), vec![of], false);
    for _ in 0..reach {
        if generation.contains(&ancestor) {
            return Ok(Walked { found: true, is_cut });
        }
        let mut parents = Vec::new();
        for id in generation.drain(..).filter(|id| seen.insert(*id)) {
            if has(repository, id) {
                parents.extend(info(repository, id)?.parents);
            } else {
                is_cut = true;
            }
        }
        generation = parents;
    }
    Ok(Walked { found: false, is_cut })
}

fn has(repository: &gix::Repository, id: GitId) -> bool {
    repository.has_object(to_gix(id))
}

/// The content of an object. Its id is checked, because another user may have prepared the repository or restored the cache.
fn object(repository: &gix::Repository, id: GitId, kind: Kind) -> Result<Vec<u8>, Fault> {
    let object = repository.try_find_object(to_gix(id)).map_err(fault)?;
    match object {
        Some(object) if object.kind == kind => {
            let data = object.detach().data;
            let found = GitId::of_object(&kind.to_string(), &data);
            if found == id { Ok(data) } else { Err(Fault(format!("what is called {kind} {id} is {found}"))) }
        }
        Some(object) => Err(Fault(format!("{id} is a {}, not a {kind}", object.kind))),
        None => Err(Fault(format!("{kind} {id} is missing"))),
    }
}

fn fault(error: impl fmt::Display) -> Fault {
    Fault(error.to_string())
}
