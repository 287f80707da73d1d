//! The work of one transaction: the reports of each reconciler, and what is known of it.

use std::collections::BTreeMap;

use super::history::ChainRow;
use super::subjects::Subject;
use super::submitted::{Group, Submitted};
use super::timeline::Timeline;
use crate::store::{DeploymentId, PlaceId};

/// The reports of one reconciler, and what is known of it.
pub(super) struct Work<'a> {
    pub(super) subject: Subject,
    pub(super) reports: Group<'a>,
    pub(super) timeline: Timeline<&'a Submitted>,
    /// The rows of the timeline, where more of it was read than its last entry.
    pub(super) rows: BTreeMap<DeploymentId, ChainRow>,
    /// The newest report, if it is newer than all that is known.
    pub(super) newest: Option<&'a Submitted>,
    /// The folder that the reconciler applies now.
    pub(super) endpoint: Option<String>,
    /// Where the reconciler is now.
    pub(super) place_id: Option<PlaceId>,
    /// The entries that are about other places, by their numbers.
    pub(super) elsewhere: BTreeMap<usize, Elsewhere>,
}

/// The place that an entry is about, where that is not where its reconciler is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Elsewhere {
    pub(super) endpoint: String,
    pub(super) place_id: Option<PlaceId>,
}
