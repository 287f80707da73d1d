//! Counts the places of each ring, in one pass over the columns.

use std::cmp::Ordering;
use std::sync::Arc;

use model::object::promotion::Silent;

use super::{RingPlaces, RolloutInput};
use crate::promotion::evidence::{Measured, PlaceState};
use crate::promotion::state::{Content, Move, Phase, RolloutState};

/// The contents of all places in a state, with the thresholds in a column. The same rule as [`RolloutState::content`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Contents {
    /// The content of the rings before, and of released places.
    moving: Content,
    /// The content of the other places of the ring.
    held_back: Content,
    /// The content of the rings after.
    later: Content,
    ring: usize,
    /// The threshold of each domain.
    thresholds: Vec<Option<u64>>,
}

impl Contents {
    pub(super) fn of(state: &RolloutState, domains: &[Arc<str>]) -> Self {
        let Some(current) = &state.current else { return Self::everywhere(Content::Published) };
        let (moving, later) = (Content::Moving, Content::Base);
        match current.phase {
            Phase::RollingBack { .. } => Self::everywhere(Content::Stable),
            Phase::Stopped { is_withdrawn: true, .. } => {
                Self { moving, held_back: Content::Stable, later, ring: current.ring, thresholds: Vec::new() }
            }
            _ => Self {
                moving,
                held_back: Content::Base,
                later,
                ring: current.ring,
                thresholds: thresholds(current, domains),
            },
        }
    }

    fn everywhere(content: Content) -> Self {
        Self { moving: content, held_back: content, later: content, ring: 0, thresholds: Vec::new() }
    }

    pub(super) fn content(&self, ring: usize, domain: u32, hash: u64) -> Content {
        match ring.cmp(&self.ring) {
            Ordering::Less => self.moving,
            Ordering::Greater => self.later,
            Ordering::Equal => match self.thresholds.get(domain as usize) {
                Some(Some(threshold)) if hash <= *threshold => self.moving,
                _ => self.held_back,
            },
        }
    }
}

fn thresholds(current: &Move, domains: &[Arc<str>]) -> Vec<Option<u64>> {
    domains.iter().map(|domain| current.released.get(domain).copied()).collect()
}

/// The counts of all rings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// The rings, in their order.
    pub(super) rings: Vec<RingTally>,
    /// The number of all places.
    pub(super) places: u64,
    /// The number of all places whose content is not published yet.
    pub(super) unpublished: u64,
}

/// The counts of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RingTally {
    pub(super) places: u64,
    pub(super) changed: u64,
    pub(super) released: u64,
    /// Its places where the moving revision can't be rendered.
    pub(super) failing: u64,
    /// The state of its released places, or in a rollback of all its changed places.
    state: Measured,
}

impl RingTally {
    /// The state of its changed places. Those that are not released are not published.
    pub(super) fn measured(&self) -> Measured {
        let missing = self.changed - self.state.places;
        Measured { places: self.changed, unpublished: self.state.unpublished + missing, ..self.state }
    }
}

impl Tally {
    /// The state of all released places, or in a rollback of all changed places.
    pub(super) fn state(&self) -> Measured {
        self.rings.iter().fold(Measured::default(), |mut sum, ring| {
            sum.places += ring.state.places;
            sum.unpublished += ring.state.unpublished;
            sum.expected += ring.state.expected;
            sum.succeeded += ring.state.succeeded;
            sum.failed += ring.state.failed;
            sum.silent += ring.state.silent;
            sum
        })
    }
}

/// One place of the columns.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) ring: usize,
    pub(super) domain: u32,
    pub(super) hash: u64,
    pub(super) is_changed: bool,
    pub(super) is_failing: bool,
    /// Whether it has, or is to have, the moving revision.
    pub(super) is_moving: bool,
    /// Its state. A place whose content differs from the one at the beginning of the step is not published yet.
    pub(super) state: PlaceState,
}

impl Row {
    /// Whether the place is still changing: not every expected reconciler has applied the moving revision.
    pub(super) fn is_changing(&self, silent: Silent) -> bool {
        let left_out = if silent == Silent::Ignore { self.state.silent } else { 0 };
        let applied = u64::from(self.state.succeeded) + u64::from(left_out);
        self.is_changed && self.is_moving && (!self.state.is_published || applied < u64::from(self.state.expected))
    }
}

/// The places, as they are after some decisions of a step. `before` are the contents at its beginning, to which the evidence belongs.
pub(super) fn rows<'r>(
    input: &'r RolloutInput<'r>,
    changed: &'r [bool],
    before: Contents,
    now: Contents,
) -> impl Iterator<Item = Row> + use<'r> {
    let RingPlaces { ring, domain, hash, failing, .. } = input.places;
    let states: &[PlaceState] = input.measured.as_deref().unwrap_or_default();
    // Contents are compared only if the step changed some.
    let before = (before != now).then_some(before);
    let columns = ring.iter().zip(domain).zip(hash).zip(changed).enumerate();
    columns.map(move |(index, (((ring, domain), hash), is_changed))| {
        let (ring, mut state) = (usize::from(*ring), states.get(index).copied().unwrap_or_default());
        let content = now.content(ring, *domain, *hash);
        if let Some(before) = &before {
            state.is_published &= !is_changed || content == before.content(ring, *domain, *hash);
        }
        let is_moving = content == Content::Moving;
        let is_failing = failing.get(index).copied().unwrap_or_default();
        Row { ring, domain: *domain, hash: *hash, is_changed: *is_changed, is_failing, is_moving, state }
    })
}

/// Counts the places. In a rollback, no place has the moving revision, and the states of all changed places count.
pub(super) fn tally(rows: impl Iterator<Item = Row>, rings: usize, is_rollback: bool) -> Tally {
    let mut tally = Tally { rings: vec![RingTally::default(); rings], ..Tally::default() };
    for row in rows {
        tally.places += 1;
        tally.unpublished += u64::from(!row.state.is_published);
        let Some(ring) = tally.rings.get_mut(row.ring) else { continue };
        ring.places += 1;
        ring.failing += u64::from(row.is_failing);
        if row.is_changed {
            ring.changed += 1;
            ring.released += u64::from(row.is_moving);
            if row.is_moving || is_rollback {
                ring.state.add(row.state);
            }
        }
    }
    tally
}
