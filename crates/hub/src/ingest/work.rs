//! The work of one transaction: for each reconciler, its reports and the data read from the store.

use std::collections::BTreeMap;

use super::history::ChainRow;
use super::subjects::Subject;
use super::submitted::{Group, Submitted};
use super::timeline::Timeline;
use crate::store::{DeploymentId, PlaceId};

/// The reports of one reconciler, and the data that the store has about it.
pub(super) struct Work<'a> {
    pub(super) subject: Subject,
    pub(super) reports: Group<'a>,
    pub(super) timeline: Timeline<&'a Submitted>,
    /// The rows of the timeline, if more than its last entry was read.
    pub(super) rows: BTreeMap<DeploymentId, ChainRow>,
    /// The newest of these reports that says something about now. None if all are older than a stored report, or were known.
    pub(super) newest: Option<&'a Submitted>,
    /// The folder that the reconciler applies now.
    pub(super) endpoint: Option<String>,
    /// The place where the reconciler is now.
    pub(super) place_id: Option<PlaceId>,
    /// The entries that are about other places than the reconciler's, by entry number.
    pub(super) elsewhere: BTreeMap<usize, Elsewhere>,
}

/// The place that an entry is about, if it is not the place of its reconciler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Elsewhere {
    pub(super) endpoint: String,
    pub(super) place_id: Option<PlaceId>,
}
