//! Files of a tree.

use std::sync::Arc;

use crate::git_id::GitId;

/// The content of a file. Content that stays as it is in the target repository can be given by its id alone.
#[derive(Clone, Debug)]
pub struct Blob {
    id: GitId,
    bytes: Option<Arc<[u8]>>,
}

impl Blob {
    /// Content in memory.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self { id: GitId::of_blob(&bytes), bytes: Some(bytes) }
    }

    /// Content that the target repository already contains.
    pub fn existing(id: GitId) -> Self {
        Self { id, bytes: None }
    }

    /// The git id of the content.
    pub fn id(&self) -> GitId {
        self.id
    }

    /// The content, if it is in memory.
    pub fn bytes(&self) -> Option<&Arc<[u8]>> {
        self.bytes.as_ref()
    }
}

/// Two blobs are equal if their ids are.
impl PartialEq for Blob {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Blob {}

/// A file's kind in a git tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// An ordinary file. Kalypso only writes these.
    #[default]
    File,
    /// An executable file.
    Executable,
    /// A symbolic link.
    Link,
    /// A submodule.
    Submodule,
}

impl Mode {
    /// The mode as git writes it.
    pub(super) fn digits(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
            Self::Submodule => "160000",
        }
    }
}

/// A file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The mode of the file.
    pub mode: Mode,
    /// The content of the file.
    pub blob: Blob,
}

impl Entry {
    /// An ordinary file with these bytes.
    pub fn file(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { mode: Mode::File, blob: Blob::new(bytes) }
    }
}
