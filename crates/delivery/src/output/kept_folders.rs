//! The published folders that this version of Kalypso renders differently, and what they wait for.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::output::PlaceFolders;
use engine::output::kept::{rendered_differently, with_published};
use engine::output::rings::RingTree;
use git::publications::PublishedCommit;
use model::diagnostic::AssignmentId;
use model::name::{DeploymentTargetName, PlaceName};
use model::tree::{Open, OpenError};

use crate::access::renderer::{Kept, Pending, SUBJECT};
use crate::output::compilation::PublishedEnvironment;
use crate::output::gitops_destination::BranchSide;
use crate::sources::loaded::Loaded;

/// The version of this program, if it is neither admitted into an environment with gates, nor rendered its newest publication.
pub(crate) fn undecided(loaded: &Loaded, newest: &PublishedCommit) -> Option<Arc<str>> {
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
    BranchSide { compiled, target }: BranchSide<'_>,
    PublishedEnvironment { publication: newest, compiled: rendered }: PublishedEnvironment<'_>,
    open: &Open<'_>,
) -> Result<Option<(Pending, RingTree)>, OpenError> {
    let Some(version) = undecided(loaded, newest) else { return Ok(None) };
    let published = PlaceFolders::read(&target.branch.tree_at(newest.commit)?, &target.folder, open)?;
    let held = newest.held();
    let is_held = |place: &str, target: &str| {
        let names = PlaceName::new(place).ok().zip(DeploymentTargetName::new(target).ok());
        names.is_some_and(|(place, target)| held.contains_key(&AssignmentId { place, target }))
    };
    let folders = rendered_differently(&published, rendered, &is_held, open)?;
    if folders.is_empty() {
        return Ok(None);
    }
    let kept = Kept::Folders(folders.values().map(BTreeSet::len).sum());
    let pending = Pending { version, published: newest.renderer.as_deref().map(Arc::from), kept };
    Ok(Some((pending, with_published(compiled, &published, &folders, open)?)))
}
