//! Counts the places of each ring and domain, in one pass over the columns.

use model::object::promotion::Silent;

use super::rows::{Row, Rows};
use crate::promotion::evidence::{Measured, PlaceReports};

/// The counts of all rings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// The rings, in their order.
    pub(super) rings: Vec<RingTally>,
    /// The number of all places.
    pub(super) places: u64,
    /// The number of all places whose content is not published yet.
    pub(super) unpublished: u64,
    /// The places of all rings that are changing, by domain: the limits of a site hold for what earlier rings have not finished, too.
    changing: Vec<Changing>,
    /// The number of changed places that are not released yet, by ring and then by domain.
    pending: Vec<u32>,
}

/// The counts of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RingTally {
    pub(super) places: u64,
    pub(super) changed: u64,
    pub(super) released: u64,
    /// Its places where the moving revision can't be rendered.
    pub(super) failing: u64,
    /// Its places that are changing.
    pub(super) changing: Changing,
    /// The state of its released places, or in a rollback of all its changed places.
    state: Measured,
}

impl RingTally {
    /// The state of its released places.
    pub(super) fn released_state(&self) -> Measured {
        self.state
    }

    /// The state of its changed places. Places that are not released are not published.
    pub(super) fn measured(&self) -> Measured {
        let missing = self.changed - self.state.places;
        Measured { places: self.changed, unpublished: self.state.unpublished + missing, ..self.state }
    }
}

/// The number of places that are changing: not every expected reconciler has applied the moving revision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Changing {
    /// All of them.
    all: u64,
    /// The number of them that wait only for silent reconcilers.
    silent: u64,
}

impl Changing {
    /// The number of places, with silent reconcilers counted as a gate says.
    pub(super) fn count(self, silent: Silent) -> u64 {
        if silent == Silent::Ignore { self.all - self.silent } else { self.all }
    }

    fn from_row(row: &Row) -> Self {
        let PlaceReports { expected, succeeded, silent, is_published, .. } = row.state;
        let is_changing = row.is_changed && row.is_moving() && (!is_published || succeeded < expected);
        let is_silent = is_published && u64::from(succeeded) + u64::from(silent) >= u64::from(expected);
        Self { all: u64::from(is_changing), silent: u64::from(is_changing && is_silent) }
    }

    fn add(&mut self, other: Self) {
        self.all += other.all;
        self.silent += other.silent;
    }
}

/// Pending places of a domain of a ring that are released.
pub(super) struct ReleasedPlaces {
    pub(super) ring: usize,
    pub(super) domain: usize,
    pub(super) count: u32,
    /// The number of them whose content was published.
    pub(super) were_published: u32,
}

impl Tally {
    fn new(rings: usize, domains: usize) -> Self {
        Self {
            rings: vec![RingTally::default(); rings],
            changing: vec![Changing::default(); domains],
            pending: vec![0; rings * domains],
            ..Self::default()
        }
    }

    fn count(&mut self, row: &Row, is_rollback: bool) {
        self.places += 1;
        self.unpublished += u64::from(!row.state.is_published);
        let Some(ring) = self.rings.get_mut(row.ring) else { return };
        ring.places += 1;
        ring.failing += u64::from(row.is_failing);
        if !row.is_changed {
            return;
        }
        ring.changed += 1;
        ring.released += u64::from(row.is_moving());
        if row.is_moving() || is_rollback {
            ring.state.add(row.state);
        }
        let changing = Changing::from_row(row);
        ring.changing.add(changing);
        let domain = row.domain as usize;
        if let Some(count) = self.changing.get_mut(domain) {
            count.add(changing);
            let pending = self.pending.get_mut(row.ring * self.changing.len() + domain);
            pending.into_iter().for_each(|count| *count += u32::from(!row.is_moving()));
        }
    }

    fn add(mut self, other: Self) -> Self {
        self.places += other.places;
        self.unpublished += other.unpublished;
        for (ring, other) in self.rings.iter_mut().zip(other.rings) {
            let RingTally { places, changed, released, failing, changing, state } = other;
            ring.places += places;
            ring.changed += changed;
            ring.released += released;
            ring.failing += failing;
            ring.changing.add(changing);
            ring.state.add_all(state);
        }
        self.changing.iter_mut().zip(other.changing).for_each(|(count, other)| count.add(other));
        self.pending.iter_mut().zip(other.pending).for_each(|(count, other)| *count += other);
        self
    }

    /// Counts pending places as released, and not published yet.
    pub(super) fn release(&mut self, places: &ReleasedPlaces) {
        let ReleasedPlaces { ring, domain, count, were_published } = *places;
        let changing = Changing { all: u64::from(count), silent: 0 };
        let pending = self.pending.get_mut(ring * self.changing.len() + domain);
        pending.into_iter().for_each(|pending| *pending -= count);
        self.changing.get_mut(domain).into_iter().for_each(|count| count.add(changing));
        self.unpublished += u64::from(were_published);
        if let Some(ring) = self.rings.get_mut(ring) {
            ring.released += u64::from(count);
            ring.changing.add(changing);
            ring.state.add_all(Measured {
                places: u64::from(count),
                unpublished: u64::from(count),
                ..Measured::default()
            });
        }
    }

    /// The number of places of all rings that are changing, in each domain.
    pub(super) fn changing(&self, silent: Silent) -> Vec<u64> {
        self.changing.iter().map(|changing| changing.count(silent)).collect()
    }

    /// The number of changed places of a ring that are not released yet, in each domain.
    pub(super) fn pending(&self, ring: usize) -> &[u32] {
        let begin = ring * self.changing.len();
        self.pending.get(begin..begin + self.changing.len()).unwrap_or_default()
    }

    /// The state of all released places, or in a rollback of all changed places.
    pub(super) fn state(&self) -> Measured {
        let mut sum = Measured::default();
        self.rings.iter().for_each(|ring| sum.add_all(ring.state));
        sum
    }
}

/// Counts the places. In a rollback, no place has the moving revision, and the states of all changed places count.
pub(super) fn tally(rows: &Rows<'_>, (rings, domains): (usize, usize), is_rollback: bool) -> Tally {
    rows.sum(|| Tally::new(rings, domains), |tally, row| tally.count(&row, is_rollback), Tally::add)
}
