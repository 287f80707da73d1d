//! Counts the places of each ring, in one pass over the columns.

use std::cmp::Ordering;
use std::sync::Arc;

use model::object::promotion::Silent;

use super::RolloutInput;
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
    /// The state of all changed places that have, or are to have, the moving revision.
    pub(super) moving: Measured,
    /// The state of all changed places.
    pub(super) changed: Measured,
    /// The state of all places.
    pub(super) all: Measured,
}

/// The counts of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RingTally {
    pub(super) places: u64,
    pub(super) changed: u64,
    pub(super) released: u64,
    /// The state of its changed places. Those that are not released are not published.
    pub(super) measured: Measured,
}

/// One place of the columns.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) ring: usize,
    pub(super) domain: u32,
    pub(super) hash: u64,
    pub(super) is_changed: bool,
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
    let places = &input.places;
    let states: &[PlaceState] = input.measured.as_deref().unwrap_or_default();
    let columns = places.ring.iter().zip(places.domain).zip(places.hash).zip(changed);
    let states = states.iter().copied().chain(std::iter::repeat(PlaceState::default()));
    columns.zip(states).map(move |((((ring, domain), hash), is_changed), mut state)| {
        let ring = usize::from(*ring);
        let content = now.content(ring, *domain, *hash);
        state.is_published &= !is_changed || content == before.content(ring, *domain, *hash);
        let is_moving = content == Content::Moving;
        Row { ring, domain: *domain, hash: *hash, is_changed: *is_changed, is_moving, state }
    })
}

/// Counts the places.
pub(super) fn tally(rows: impl Iterator<Item = Row>, rings: usize) -> Tally {
    let mut tally = Tally { rings: vec![RingTally::default(); rings], ..Tally::default() };
    let unpublished = PlaceState::default();
    for row in rows {
        tally.all.add(row.state);
        let Some(ring) = tally.rings.get_mut(row.ring) else { continue };
        ring.places += 1;
        if !row.is_changed {
            continue;
        }
        ring.changed += 1;
        ring.released += u64::from(row.is_moving);
        ring.measured.add(if row.is_moving { row.state } else { unpublished });
        tally.changed.add(row.state);
        if row.is_moving {
            tally.moving.add(row.state);
        }
    }
    tally
}
