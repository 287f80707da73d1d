//! Converts between objects of gix and types of this crate.

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::objs::tree::EntryKind as GixEntryKind;
use model::git_id::GitId;
use model::tree::{Mode, name_text};

use crate::signing::CommitSignature;

use super::{CommitInfo, EntryKind, FolderEntry, NewCommit, Person};

/// The header with the signature of a commit (`gitformat-signature`).
const SIGNATURE_HEADER: &str = "gpgsig";

pub(super) fn to_gix(id: GitId) -> ObjectId {
    ObjectId::Sha1(*id.as_bytes())
}

/// None for ids of other hash functions than SHA-1.
pub(crate) fn from_gix(id: &gix::oid) -> Option<GitId> {
    id.as_bytes().try_into().ok().map(GitId::from_bytes)
}

/// Converts an entry of a tree. None if its id is not a SHA-1 hash.
pub(super) fn folder_entry(entry: &gix::objs::tree::EntryRef<'_>) -> Option<FolderEntry> {
    let kind = match entry.mode.kind() {
        GixEntryKind::Tree => EntryKind::Folder,
        GixEntryKind::Blob | GixEntryKind::BlobExecutable => EntryKind::File,
        GixEntryKind::Link => EntryKind::Link,
        GixEntryKind::Commit => EntryKind::Submodule,
    };
    Some(FolderEntry { name: name_text(entry.filename).into_owned(), kind, id: from_gix(entry.oid)? })
}

/// The mode of a file, link or submodule. None for folders.
pub(super) fn mode(kind: GixEntryKind) -> Option<Mode> {
    match kind {
        GixEntryKind::Tree => None,
        GixEntryKind::Blob => Some(Mode::File),
        GixEntryKind::BlobExecutable => Some(Mode::Executable),
        GixEntryKind::Link => Some(Mode::Link),
        GixEntryKind::Commit => Some(Mode::Submodule),
    }
}

/// Encodes an object. Writing to memory can't fail.
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

/// The git object of a commit to create.
pub(super) fn commit_object(commit: &NewCommit<'_>) -> gix::objs::Commit {
    let signature = gix::actor::Signature {
        name: commit.author.name.as_str().into(),
        email: commit.author.email.as_str().into(),
        time: gix::date::Time { seconds: commit.seconds, offset: 0 },
    };
    let mut object = gix::objs::Commit {
        tree: to_gix(commit.tree.id()),
        parents: commit.parents.iter().copied().map(to_gix).collect(),
        author: signature.clone(),
        committer: signature,
        encoding: None,
        message: commit.message.into(),
        extra_headers: Vec::new(),
    };
    if let Some(signer) = commit.signer {
        let text = signer.sign(&encode(&object));
        object.extra_headers.push((SIGNATURE_HEADER.into(), text.trim_end().into()));
    }
    object
}

/// Parses a commit. None if it is malformed.
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
        seconds: commit.committer().ok().and_then(|signature| signature.time().ok()).map_or(0, |time| time.seconds),
        message: commit.message.to_str_lossy().into_owned(),
        signature: CommitSignature::from_commit(bytes),
    })
}
