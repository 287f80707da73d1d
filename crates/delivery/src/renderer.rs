//! A version of Kalypso that renders other bytes from the same sources.
//!
//! Where a promotion leads to an environment, such a version passes its gates like a commit of the main branch: until it is admitted, the folders that it would
//! change stay as they were published. A version that changes nothing there needs no gate.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use engine::output::PlaceFolders;
use engine::output::kept::{rendered_differently, with_published};
use engine::output::rings::RingTree;
use git::publications::Publication;
use model::count::count;
use model::diagnostic::AssignmentId;
use model::name::{DeploymentTargetName, PlaceName};
use model::tree::{OpenError, Sealed};

use crate::gitops_destination::GitOpsDestination;
use crate::loaded::Loaded;
use crate::planned::{Earlier, opened};

/// The name of the renderer among the releases of an environment. No workload has such a name.
pub const SUBJECT: &str = "kalypso/renderer";

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

/// The version of this program, if it is neither admitted into an environment with gates, nor rendered its newest publication.
pub(crate) fn undecided(loaded: &Loaded, newest: &Publication) -> Option<Arc<str>> {
    let version = &loaded.access.as_ref().filter(|_| loaded.is_guarded())?.renderer;
    let is_overridden = loaded.enforced.override_reason.is_some();
    let is_known = match loaded.admission.as_ref().and_then(|admission| admission.releases.get(SUBJECT)) {
        Some(admitted) => admitted == version,
        None => newest.renderer.as_deref() == Some(&**version),
    };
    (!is_known && !is_overridden).then(|| Arc::clone(version))
}

/// The folders of all places of an environment without rings, where this version changes some of them and is not admitted. None: it changes none.
///
/// # Errors
/// If a folder can't be opened.
pub(crate) fn kept(
    loaded: &Loaded,
    compiled: &engine::compile::Compiled,
    (newest, earlier): (&Publication, &Earlier),
    target: &GitOpsDestination,
) -> Result<Option<(Pending, RingTree)>, OpenError> {
    let Some(version) = undecided(loaded, newest) else { return Ok(None) };
    let open = |sealed: &Sealed| opened((compiled, Some(earlier), None), target, sealed);
    let published = PlaceFolders::of(&target.branch.tree_at(newest.commit)?, &target.folder, &open)?;
    let held = newest.held();
    let is_held = |place: &str, target: &str| {
        let names = PlaceName::new(place).ok().zip(DeploymentTargetName::new(target).ok());
        names.is_some_and(|(place, target)| held.contains_key(&AssignmentId { place, target }))
    };
    let folders = rendered_differently(&published, &earlier.compiled, &is_held, &open)?;
    if folders.is_empty() {
        return Ok(None);
    }
    let kept = Kept::Folders(folders.values().map(BTreeSet::len).sum());
    let pending = Pending { version, published: newest.renderer.as_deref().map(Arc::from), kept };
    Ok(Some((pending, with_published(compiled, &published, &folders, &open)?)))
}
