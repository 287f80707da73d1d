//! A version of Kalypso that renders other bytes from the same sources.
//!
//! Where a promotion leads to an environment, such a version passes its gates like a commit of the main branch: until it is admitted, the folders that it would
//! change stay as they were published. A version that changes nothing there needs no gate.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

pub use engine::promotion::step::RENDERER as SUBJECT;
use model::count::count;

/// The version of this program: the number of its release, and the first digits of the digest of the code that results depend on.
pub fn version() -> Arc<str> {
    /// The number of digits.
    const DIGITS: usize = 12;
    let digest = env!("KALYPSO_CODE_DIGEST");
    format!("{}-{}", env!("CARGO_PKG_VERSION"), digest.get(..DIGITS).unwrap_or(digest)).into()
}

/// A version that is not admitted into an environment, and changes its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The version.
    pub version: Arc<str>,
    /// The version that rendered what is published. None: it is not known.
    pub published: Option<Arc<str>>,
    /// What stays as it is.
    pub kept: Kept,
}

/// What stays as it was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// This number of folders.
    Folders(usize),
    /// In an environment with rings, all folders of these workloads.
    Workloads(BTreeSet<Arc<str>>),
}

/// Writes `kalypso/renderer 0.2.0-1f2e3d4c5b6a is not admitted yet, and changes 12 folders`.
impl fmt::Display for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SUBJECT} {} is not admitted yet, and changes ", self.version)?;
        match &self.kept {
            Kept::Folders(number) => f.write_str(&count(*number, "folder")),
            Kept::Workloads(names) => write!(f, "folders of {}", names.iter().cloned().collect::<Vec<_>>().join(", ")),
        }
    }
}
