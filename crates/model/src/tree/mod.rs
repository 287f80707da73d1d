//! The tree of files of a GitOps branch, present or desired.
//!
//! A [`Tree`] is a folder, as in git: files and other trees by name. Clones are cheap, and the ids of unchanged folders are computed once. A folder
//! that is not opened is [`Sealed`]: its id is known, and its content is loaded on demand. So the tree of a fleet with a million
//! assignments takes only as much memory as its changed folders.

mod blob;
mod difference;
mod files;
mod name;
mod path;
mod sealed;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

pub use self::blob::{Blob, Entry, Mode};
pub use self::difference::{ChangedChildren, Diff, FileDifference, Pair};
pub use self::files::TreeFiles;
pub use self::name::{is_utf8, name_bytes, name_text, shown};
pub use self::sealed::{Open, OpenError, Sealed, SealedBy, closed};
use crate::git_id::GitId;

/// How many folders deep a tree may be. Git has no limit, but manifests are not in deeper folders.
pub const DEPTH_MAX: usize = 128;

/// A folder: files and folders by name.
#[derive(Clone, Debug, Default)]
pub struct Tree(Arc<Inside>);

/// The children of a folder in git's order, and its id once it was computed.
#[derive(Clone, Debug, Default)]
struct Inside {
    children: Vec<(Arc<str>, Child)>,
    id: OnceLock<GitId>,
}

/// An entry of a folder. Its name is in the form of [`name_text`].
#[derive(Clone, Debug)]
pub enum Child {
    /// A file.
    File(Entry),
    /// A folder whose content is in memory.
    Tree(Tree),
    /// A folder of which only the id is in memory.
    Sealed(Sealed),
}

impl Tree {
    /// The folder with these children. If two have the same name, the last one counts.
    pub fn from_children(children: impl IntoIterator<Item = (Arc<str>, Child)>) -> Self {
        let mut children: Vec<_> = children.into_iter().collect();
        if !children.is_sorted_by(|left, right| order(left, right) == Ordering::Less) {
            children.sort_by(order);
            // After the reversal, later children come before earlier ones with the same name.
            children.reverse();
            children.dedup_by(|left, right| order(left, right) == Ordering::Equal);
            children.reverse();
        }
        Self(Arc::new(Inside { children, id: OnceLock::new() }))
    }

    /// The folder with these children and this id, so that the id is not computed.
    pub fn with_id(id: GitId, children: impl IntoIterator<Item = (Arc<str>, Child)>) -> Self {
        let mut tree = Self::from_children(children);
        Arc::make_mut(&mut tree.0).id = OnceLock::from(id);
        tree
    }

    /// The id that git gives this tree.
    pub fn id(&self) -> GitId {
        *self.0.id.get_or_init(|| GitId::of_tree(&self.encode()))
    }

    /// The tree as git stores it: mode, name and id of each child.
    pub fn encode(&self) -> Vec<u8> {
        let size = self.0.children.iter().map(|(name, _)| name.len() + 28).sum();
        let mut encoded = Vec::with_capacity(size);
        for (name, child) in &self.0.children {
            encoded.extend_from_slice(child.mode_digits().as_bytes());
            encoded.push(b' ');
            encoded.extend_from_slice(&name_bytes(name));
            encoded.push(0);
            encoded.extend_from_slice(child.id().as_bytes());
        }
        encoded
    }

    /// The children in git's order: by name, folders as if their names ended with a slash.
    pub fn children(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Child)> {
        self.0.children.iter().map(|(name, child)| (name, child))
    }

    /// The child with this name.
    pub fn child(&self, name: &str) -> Option<&Child> {
        self.position(name).and_then(|position| self.0.children.get(position)).map(|(_, child)| child)
    }

    /// The number of children.
    pub fn len(&self) -> usize {
        self.0.children.len()
    }

    /// Whether the folder is empty.
    pub fn is_empty(&self) -> bool {
        self.0.children.is_empty()
    }

    /// Sets a child. Returns the previous child with this name.
    pub fn set(&mut self, name: impl Into<Arc<str>>, child: Child) -> Option<Child> {
        let name = name.into();
        let before = self.take(&name);
        let new = (name, child);
        let children = &mut self.changed().children;
        let position = children.partition_point(|other| order(other, &new) == Ordering::Less);
        children.insert(position, new);
        before
    }

    /// Removes a child, and returns it.
    pub fn take(&mut self, name: &str) -> Option<Child> {
        let position = self.position(name)?;
        Some(self.changed().children.remove(position).1)
    }

    /// Sets and removes many children at once. If two edits have the same name, the last one counts.
    pub fn edit(&mut self, edits: impl IntoIterator<Item = (Arc<str>, Option<Child>)>) {
        let edits: BTreeMap<_, _> = edits.into_iter().collect();
        if edits.is_empty() {
            return;
        }
        let stays = |(name, _): &(&Arc<str>, &Child)| !edits.contains_key(*name);
        let staying = self.children().filter(stays).map(|(name, child)| (Arc::clone(name), child.clone()));
        let staying: Vec<_> = staying.collect();
        let put = edits.into_iter().filter_map(|(name, child)| Some((name, child?)));
        *self = Self::from_children(staying.into_iter().chain(put));
    }

    fn position(&self, name: &str) -> Option<usize> {
        let find = |is_folder| {
            let found = |(other, child): &(Arc<str>, Child)| order_of((other, child.is_folder()), (name, is_folder));
            self.0.children.binary_search_by(found).ok()
        };
        find(true).or_else(|| find(false))
    }

    /// The content, for a change. The known id is dropped.
    fn changed(&mut self) -> &mut Inside {
        let inside = Arc::make_mut(&mut self.0);
        inside.id.take();
        inside
    }
}

/// Two trees are equal if their ids are.
impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.id() == other.id()
    }
}

impl Eq for Tree {}

impl Child {
    /// The id of the blob or tree.
    pub fn id(&self) -> GitId {
        match self {
            Self::File(entry) => entry.blob.id(),
            Self::Tree(tree) => tree.id(),
            Self::Sealed(sealed) => sealed.id,
        }
    }

    /// Whether it is a folder.
    pub fn is_folder(&self) -> bool {
        !matches!(self, Self::File(_))
    }

    /// The file, if the child is one.
    pub fn as_file(&self) -> Option<&Entry> {
        match self {
            Self::File(entry) => Some(entry),
            Self::Tree(_) | Self::Sealed(_) => None,
        }
    }

    /// The content of the folder. None for a file.
    ///
    /// # Errors
    /// The folder can't be opened.
    pub fn opened(&self, open: &Open<'_>) -> Result<Option<Tree>, OpenError> {
        match self {
            Self::File(_) => Ok(None),
            Self::Tree(tree) => Ok(Some(tree.clone())),
            Self::Sealed(sealed) => sealed.opened(open).map(Some),
        }
    }

    /// The mode as git writes it.
    fn mode_digits(&self) -> &'static str {
        match self {
            Self::File(entry) => entry.mode.digits(),
            Self::Tree(_) | Self::Sealed(_) => "40000",
        }
    }
}

/// Two children are equal if their ids and modes are.
impl PartialEq for Child {
    fn eq(&self, other: &Self) -> bool {
        self.mode_digits() == other.mode_digits() && self.id() == other.id()
    }
}

impl Eq for Child {}

fn order(left: &(Arc<str>, Child), right: &(Arc<str>, Child)) -> Ordering {
    order_of((&left.0, left.1.is_folder()), (&right.0, right.1.is_folder()))
}

/// Compares names as git does: folders as if their names ended with a slash. So a walk through a tree gives whole paths in order.
fn order_of((left, left_is_folder): (&str, bool), (right, right_is_folder): (&str, bool)) -> Ordering {
    let (left, right) = (name_bytes(left), name_bytes(right));
    let common = left.len().min(right.len());
    let next = |name: &[u8], is_folder: bool| name.get(common).copied().or(is_folder.then_some(b'/'));
    let prefixes = left.get(..common).cmp(&right.get(..common));
    prefixes.then_with(|| next(&left, left_is_folder).cmp(&next(&right, right_is_folder)))
}
