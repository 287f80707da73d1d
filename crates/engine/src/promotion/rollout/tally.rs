//! Counts the places of each ring, in one pass over the columns.

use super::rows::{Row, Rows};
use crate::promotion::evidence::Measured;

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
    fn count(&mut self, row: Row, is_rollback: bool) {
        self.places += 1;
        self.unpublished += u64::from(!row.state.is_published);
        let Some(ring) = self.rings.get_mut(row.ring) else { return };
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

    fn add(&mut self, other: Self) {
        self.places += other.places;
        self.unpublished += other.unpublished;
        for (ring, other) in self.rings.iter_mut().zip(other.rings) {
            let RingTally { places, changed, released, failing, state } = other;
            ring.places += places;
            ring.changed += changed;
            ring.released += released;
            ring.failing += failing;
            ring.state.add_all(state);
        }
    }

    /// The state of all released places, or in a rollback of all changed places.
    pub(super) fn state(&self) -> Measured {
        let mut sum = Measured::default();
        self.rings.iter().for_each(|ring| sum.add_all(ring.state));
        sum
    }
}

/// Counts the places. In a rollback, no place has the moving revision, and the states of all changed places count.
pub(super) fn tally(rows: &Rows<'_>, rings: usize, is_rollback: bool) -> Tally {
    let new = || Tally { rings: vec![RingTally::default(); rings], ..Tally::default() };
    rows.sum(new, |tally, row| tally.count(row, is_rollback), Tally::add)
}
