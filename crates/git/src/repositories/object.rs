//! Between git's objects and ours.

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::objs::tree::EntryKind;
use model::git_id::GitId;
use model::tree::{Entry, Mode, Tree};

use super::{CommitInfo, Item, ItemKind, NewCommit, Person};

pub(super) fn to_gix(id: GitId) -> ObjectId {
    ObjectId::Sha1(*id.as_bytes())
}

/// None for ids of other hashes than SHA-1.
pub(super) fn from_gix(id: &gix::oid) -> Option<GitId> {
    id.as_bytes().try_into().ok().map(GitId::from_bytes)
}

/// An entry of a tree, with its name lossily.
pub(super) fn item(entry: &gix::objs::tree::EntryRef<'_>) -> Option<Item> {
    let kind = match entry.mode.kind() {
        EntryKind::Tree => ItemKind::Folder,
        EntryKind::Blob | EntryKind::BlobExecutable => ItemKind::File,
        EntryKind::Link => ItemKind::Link,
        EntryKind::Commit => ItemKind::Submodule,
    };
    Some(Item { name: entry.filename.to_str_lossy().into_owned(), kind, id: from_gix(entry.oid)? })
}

/// The mode of what is no folder.
pub(super) fn mode(kind: EntryKind) -> Option<Mode> {
    match kind {
        EntryKind::Tree => None,
        EntryKind::Blob => Some(Mode::File),
        EntryKind::BlobExecutable => Some(Mode::Executable),
        EntryKind::Link => Some(Mode::Link),
        EntryKind::Commit => Some(Mode::Submodule),
    }
}

fn entry_kind(mode: Mode) -> EntryKind {
    match mode {
        Mode::File => EntryKind::Blob,
        Mode::Executable => EntryKind::BlobExecutable,
        Mode::Link => EntryKind::Link,
        Mode::Submodule => EntryKind::Commit,
    }
}

/// The tree objects that `tree` consists of with the paths of their folders, each after those in it, the root last.
///
/// Works on a stack of open folders, because the depth of paths is the input's.
pub(super) fn tree_objects(tree: &Tree) -> Vec<(String, gix::objs::Tree)> {
    let mut done = Vec::new();
    let mut open = vec![Folder::default()];
    for (path, entry) in tree.iter() {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        while open.len() > 1 && open.last().is_some_and(|last| !is_at_or_below(folder, &last.path)) {
            close(&mut open, &mut done);
        }
        let known = open.last().map_or(0, |last| last.path.len());
        let rest = folder.get(known..).unwrap_or_default();
        let mut end = known;
        for part in rest.split('/').filter(|part| !part.is_empty()) {
            end += part.len() + usize::from(end > 0);
            let path = folder.get(..end).unwrap_or_default().to_owned();
            open.push(Folder { path, entries: Vec::new() });
        }
        if let Some(last) = open.last_mut() {
            last.entries.push(tree_entry(name, entry));
        }
    }
    while !open.is_empty() {
        close(&mut open, &mut done);
    }
    done
}

#[derive(Default)]
struct Folder {
    path: String,
    entries: Vec<gix::objs::tree::Entry>,
}

fn is_at_or_below(folder: &str, above: &str) -> bool {
    folder.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn tree_entry(name: &str, entry: &Entry) -> gix::objs::tree::Entry {
    gix::objs::tree::Entry { mode: entry_kind(entry.mode).into(), filename: name.into(), oid: to_gix(entry.blob.id()) }
}

/// Finishes the innermost folder and enters it into the one around it.
fn close(open: &mut Vec<Folder>, done: &mut Vec<(String, gix::objs::Tree)>) {
    let Some(Folder { path, mut entries }) = open.pop() else { return };
    entries.sort();
    let tree = gix::objs::Tree { entries };
    if let Some(around) = open.last_mut() {
        let name = path.rsplit('/').next().unwrap_or(&path);
        let oid = object_id(gix::objs::Kind::Tree, &encode(&tree));
        around.entries.push(gix::objs::tree::Entry { mode: EntryKind::Tree.into(), filename: name.into(), oid });
    }
    done.push((path, tree));
}

/// The encoded form of an object. Writing into memory does not fail.
pub(super) fn encode(object: &impl gix::objs::WriteTo) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = object.write_to(&mut bytes);
    bytes
}

/// The id of an encoded object.
pub(super) fn object_id(kind: gix::objs::Kind, bytes: &[u8]) -> ObjectId {
    gix::objs::compute_hash(gix::hash::Kind::Sha1, kind, bytes)
        .unwrap_or_else(|_| ObjectId::null(gix::hash::Kind::Sha1))
}

/// The id of a tree. Unlike the model's own, it needs no stack for folders inside one another.
pub(super) fn tree_id(tree: &Tree) -> ObjectId {
    let root = tree_objects(tree).pop();
    root.map_or_else(
        || ObjectId::empty_tree(gix::hash::Kind::Sha1),
        |(_, root)| object_id(gix::objs::Kind::Tree, &encode(&root)),
    )
}

/// The object of a commit to be made.
pub(super) fn commit_object(commit: &NewCommit<'_>) -> gix::objs::Commit {
    let signature = gix::actor::Signature {
        name: commit.author.name.as_str().into(),
        email: commit.author.email.as_str().into(),
        time: gix::date::Time { seconds: commit.seconds, offset: 0 },
    };
    gix::objs::Commit {
        tree: tree_id(commit.tree),
        parents: commit.parents.iter().copied().map(to_gix).collect(),
        author: signature.clone(),
        committer: signature,
        encoding: None,
        message: commit.message.into(),
        extra_headers: Vec::new(),
    }
}

/// What a commit says; none if it can't be read.
pub(super) fn commit_info(bytes: &[u8]) -> Option<CommitInfo> {
    let commit = gix::objs::CommitRef::from_bytes(bytes, gix::hash::Kind::Sha1).ok()?;
    let person = |signature: Option<gix::actor::SignatureRef<'_>>| {
        let is_shown = |c: &char| !c.is_control();
        let text = |bytes: &gix::bstr::BStr| bytes.to_str_lossy().trim().chars().filter(is_shown).collect::<String>();
        signature.map_or_else(
            || Person { name: String::new(), email: String::new() },
            |signature| Person { name: text(signature.name), email: text(signature.email) },
        )
    };
    Some(CommitInfo {
        parents: commit.parents().filter_map(|id| from_gix(&id)).collect(),
        tree: from_gix(&commit.tree())?,
        author: person(commit.author().ok()),
        committer: person(commit.committer().ok()),
        message: commit.message.to_str_lossy().into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(paths: &[&str]) {
        let mut tree = Tree::default();
        for path in paths {
            tree.write(*path, path.as_bytes());
        }
        assert_eq!(from_gix(&tree_id(&tree)), Some(tree.id()), "{paths:?}");
    }

    #[test]
    fn trees_have_the_ids_that_the_model_gives_them() {
        check(&[]);
        check(&["a-b/x", "a.txt", "a/b/c", "a/d", "a0"]);
        check(&["a/b/c/d/e", "a/b/x", "b/c/d", "z"]);
        check(&["a/b/c", "a/bc/c", "ab/c"]);
    }

    #[test]
    fn folders_inside_one_another_need_no_stack() {
        let path = format!("{}x", "a/".repeat(3_000));
        let mut tree = Tree::default();
        tree.write(path, b"".as_slice());
        assert_eq!(tree_objects(&tree).len(), 3_001);
    }
}
