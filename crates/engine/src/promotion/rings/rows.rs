//! The places of a rollout one by one: each with its content in a state, and with its evidence.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::{RingPlaces, RolloutInput};
use crate::promotion::evidence::PlaceReports;
use crate::promotion::state::{Content, Move, MoveStage, RolloutState};

/// The number of places that one thread takes at a time.
const PART: usize = 1 << 16;

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
    /// The contents by the move that this one goes ahead of.
    interrupted: Option<Box<Self>>,
}

impl Contents {
    pub(super) fn new(state: &RolloutState, domains: &[Arc<str>]) -> Self {
        let Some(current) = &state.current else { return Self::everywhere(Content::Published) };
        let interrupted = state.interrupted.as_ref();
        let interrupted = interrupted.map(|interrupted| Box::new(Self::of_move(&interrupted.movement, domains)));
        Self { interrupted, ..Self::of_move(current, domains) }
    }

    fn of_move(current: &Move, domains: &[Arc<str>]) -> Self {
        let (moving, later) = (Content::Moving, Content::Base);
        match current.phase {
            MoveStage::RollingBack { .. } => Self::everywhere(Content::Stable),
            MoveStage::Stopped { is_withdrawn: true, .. } => {
                let held_back = Content::Stable;
                Self { moving, held_back, later, ring: current.ring, thresholds: Vec::new(), interrupted: None }
            }
            _ => Self {
                moving,
                held_back: Content::Base,
                later,
                ring: current.ring,
                thresholds: thresholds(current, domains),
                interrupted: None,
            },
        }
    }

    fn everywhere(content: Content) -> Self {
        let thresholds = Vec::new();
        Self { moving: content, held_back: content, later: content, ring: 0, thresholds, interrupted: None }
    }

    pub(super) fn content(&self, ring: usize, domain: u32, hash: u64) -> Content {
        let content = self.of_ring(ring, domain, hash);
        let interrupted = self.interrupted.as_ref();
        interrupted.map_or(content, |interrupted| content.ahead_of(interrupted.of_ring(ring, domain, hash)))
    }

    fn of_ring(&self, ring: usize, domain: u32, hash: u64) -> Content {
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

/// One place of the columns.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) ring: usize,
    pub(super) domain: u32,
    pub(super) hash: u64,
    pub(super) is_changed: bool,
    pub(super) is_failing: bool,
    /// The content that it is to have.
    content: Content,
    /// The content that it was to have at the beginning of the step, to which its state belongs.
    before: Content,
    /// Its state. A place whose content differs from the one at the beginning of the step is not published yet.
    pub(super) state: PlaceReports,
}

impl Row {
    /// Whether it has, or is to have, the moving revision.
    pub(super) fn is_moving(&self) -> bool {
        self.content.is_moving()
    }

    /// Whether the place was to have the moving revision at the beginning of the step.
    pub(super) fn was_moving(&self) -> bool {
        self.before.is_moving()
    }
}

/// The places, as they are after some decisions of a step.
pub(super) struct Rows<'r> {
    places: RingPlaces<'r>,
    changed: &'r [bool],
    states: &'r [PlaceReports],
    /// The contents at the beginning of the step, to which the evidence belongs. None: the step did not change any.
    before: Option<Contents>,
    now: Contents,
}

impl<'r> Rows<'r> {
    /// The places, with the contents at the beginning of the step and now.
    pub(super) fn new(input: &'r RolloutInput<'r>, changed: &'r [bool], (before, now): (Contents, Contents)) -> Self {
        let states: &[PlaceReports] = input.measured.as_deref().unwrap_or_default();
        let before = (before != now).then_some(before);
        Self { places: input.places, changed, states, before, now }
    }

    fn len(&self) -> usize {
        let RingPlaces { ring, domain, hash, .. } = self.places;
        [ring.len(), domain.len(), hash.len(), self.changed.len()].into_iter().min().unwrap_or_default()
    }

    /// Counts all places, and adds the counts of parts.
    pub(super) fn sum<T: Send>(
        &self,
        new: impl Fn() -> T + Sync,
        count: impl Fn(&mut T, Row) + Sync,
        add: impl Fn(T, T) -> T + Sync + Send,
    ) -> T {
        let count_part = |mut counted: T, part| {
            self.part(part).for_each(|row| count(&mut counted, row));
            counted
        };
        self.parts().fold(&new, count_part).reduce(&new, add)
    }

    /// Parts of the places, for several threads.
    fn parts(&self) -> impl ParallelIterator<Item = Range<usize>> {
        let places = self.len();
        (0..places.div_ceil(PART)).into_par_iter().map(move |number| number * PART..places.min((number + 1) * PART))
    }

    fn part(&self, range: Range<usize>) -> impl Iterator<Item = Row> + '_ {
        let RingPlaces { ring, domain, hash, failing, .. } = self.places;
        let (ring, domain, hash) = (cut(ring, &range), cut(domain, &range), cut(hash, &range));
        let columns = ring.iter().zip(domain).zip(hash).zip(cut(self.changed, &range));
        columns.zip(range).map(move |((((ring, domain), hash), is_changed), index)| {
            let (ring, mut state) = (usize::from(*ring), self.states.get(index).copied().unwrap_or_default());
            let content = self.now.content(ring, *domain, *hash);
            let before = self.before.as_ref().map_or(content, |before| before.content(ring, *domain, *hash));
            state.is_published &= !is_changed || content == before;
            let is_failing = failing.get(index).copied().unwrap_or_default();
            Row { ring, domain: *domain, hash: *hash, is_changed: *is_changed, is_failing, content, before, state }
        })
    }
}

fn cut<'c, T>(column: &'c [T], range: &Range<usize>) -> &'c [T] {
    column.get(range.clone()).unwrap_or_default()
}
