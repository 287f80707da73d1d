//! Chooses the places of a ring that get the moving revision next: in the order of their hashes, as far as the limits of the ring allow.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::object::promotion::{Amount, GateKind, Ring, Silent};

use super::domain::DomainLimits;
use super::rows::{Row, Rows};

/// The places of the moving ring, by their domains.
pub(super) struct Changing {
    /// The number of places of the ring.
    places: u64,
    /// The number of places of the ring that are changing.
    total: u64,
    /// The number of places of all rings that are changing, in each domain: the limits of a site hold for what earlier rings have not finished, too.
    in_flight: Vec<u64>,
    /// The number of places that are not released yet, in each domain.
    pending: Vec<usize>,
}

/// A place that is not released yet.
type Candidate = (u64, u32);

impl Changing {
    /// Counts the places of a ring, among those of all rings.
    pub(super) fn count(rows: &Rows<'_>, ring: usize, domains: usize, silent: Silent) -> Self {
        let new = || Self { places: 0, total: 0, in_flight: vec![0; domains], pending: vec![0; domains] };
        rows.sum(new, |changing, row| changing.count_row(row, ring, silent), Self::add)
    }

    fn count_row(&mut self, row: Row, ring: usize, silent: Silent) {
        let (is_own, domain) = (row.ring == ring, row.domain as usize);
        self.places += u64::from(is_own);
        if row.is_changing(silent) {
            self.total += u64::from(is_own);
            if let Some(count) = self.in_flight.get_mut(domain) {
                *count += 1;
            }
        }
        if is_own
            && row.is_changed
            && !row.is_moving
            && let Some(count) = self.pending.get_mut(domain)
        {
            *count += 1;
        }
    }

    fn add(&mut self, other: Self) {
        self.places += other.places;
        self.total += other.total;
        self.in_flight.iter_mut().zip(other.in_flight).for_each(|(count, other)| *count += other);
        self.pending.iter_mut().zip(other.pending).for_each(|(count, other)| *count += other);
    }

    /// How many places may change at once. None: all.
    pub(super) fn limit(&self, ring: &Ring) -> Option<u64> {
        ring.at_once.map(|amount| match amount {
            Amount::Count(count) => u64::from(count),
            // A share of a small ring is at least one place: the ring could never move otherwise.
            Amount::Share(_) => amount.of(self.places).max(1),
        })
    }

    /// The new thresholds of the domains in which more places are released.
    pub(super) fn release(
        &self,
        (index, ring): (usize, &Ring),
        domains: &[Arc<str>],
        rows: &Rows<'_>,
    ) -> BTreeMap<Arc<str>, u64> {
        let named = |thresholds: Vec<Option<u64>>| {
            let pairs = thresholds.into_iter().zip(domains);
            pairs.filter_map(|(threshold, domain)| Some((Arc::clone(domain), threshold?))).collect()
        };
        if ring.at_once.is_none() && ring.per.is_empty() {
            return named(self.pending.iter().map(|count| (*count > 0).then_some(u64::MAX)).collect());
        }
        let slots = self.limit(ring).map_or(u64::MAX, |limit| limit.saturating_sub(self.total));
        let mut limits = DomainLimits::new(&ring.per, domains, &self.in_flight);
        let quotas: Vec<usize> = (0..domains.len()).map(|domain| quota(limits.free(domain).min(slots))).collect();
        let slots = quota(slots);
        if quotas.iter().all(|quota| *quota == 0) {
            return BTreeMap::new();
        }
        let mut candidates = self.first_of_each_domain((index, rows), &quotas);
        if limits.overlap() {
            candidates.sort_unstable();
            candidates.retain(|(_, domain)| {
                let is_free = limits.free(*domain as usize) > 0;
                if is_free {
                    limits.take(*domain as usize);
                }
                is_free
            });
            candidates.truncate(slots);
        } else if slots < candidates.len() {
            candidates.select_nth_unstable(slots);
            candidates.truncate(slots);
        }
        named(highest(&candidates, domains.len()))
    }

    /// The candidates with the lowest hashes of each domain: as many as its quota.
    fn first_of_each_domain(&self, (ring, rows): (usize, &Rows<'_>), quotas: &[usize]) -> Vec<Candidate> {
        let sizes = self.pending.iter().zip(quotas).map(|(pending, quota)| if *quota == 0 { 0 } else { *pending });
        let mut ends: Vec<usize> = Vec::with_capacity(quotas.len());
        let total = sizes.fold(0, |begin, size| {
            ends.push(begin);
            begin + size
        });
        let mut hashes = vec![(0, 0); total];
        let is_open = |domain: u32| quotas.get(domain as usize).is_some_and(|quota| *quota > 0);
        let is_pending = |row: &Row| row.ring == ring && row.is_changed && !row.is_moving && is_open(row.domain);
        for candidate in rows.choose(|row| is_pending(&row).then_some((row.hash, row.domain))) {
            if let Some(end) = ends.get_mut(candidate.1 as usize)
                && let Some(slot) = hashes.get_mut(*end)
            {
                *slot = candidate;
                *end += 1;
            }
        }
        let (mut first, mut rest) = (Vec::new(), &mut *hashes);
        let mut begin = 0;
        for (end, quota) in ends.iter().zip(quotas) {
            let (domain, after) = rest.split_at_mut(end.saturating_sub(begin).min(rest.len()));
            (rest, begin) = (after, *end);
            if *quota > 0 && *quota < domain.len() {
                domain.select_nth_unstable(*quota);
            }
            first.extend(domain.iter().take(*quota));
        }
        first
    }
}

/// The highest hash in each domain.
fn highest(candidates: &[Candidate], domains: usize) -> Vec<Option<u64>> {
    let mut highest = vec![None; domains];
    for (hash, domain) in candidates {
        if let Some(threshold) = highest.get_mut(*domain as usize) {
            *threshold = (*threshold).max(Some(*hash));
        }
    }
    highest
}

fn quota(free: u64) -> usize {
    usize::try_from(free).unwrap_or(usize::MAX)
}

/// How silent reconcilers count for the places that are changing: as for the share of compliant ones.
pub(super) fn silent(ring: &Ring) -> Silent {
    let mut modes = ring.gates.iter().filter_map(|gate| match gate.kind {
        GateKind::Compliant { silent, .. } => Some(silent),
        _ => None,
    });
    modes.next_back().unwrap_or_default()
}
