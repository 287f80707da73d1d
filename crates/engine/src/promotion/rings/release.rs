//! Chooses the places of a ring that get the moving revision next: in the order of their hashes, as far as the limits of the ring allow.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use model::object::promotion::{Amount, Ring};

use super::domain::DomainLimits;
use super::entry::Entry;
use super::rows::{Row, Rows};
use super::tally::{ReleasedPlaces, Tally};
use crate::promotion::gates;

/// A ring whose places are to be released.
pub(super) struct Releasing<'r> {
    pub(super) index: usize,
    pub(super) ring: &'r Ring,
    pub(super) domains: &'r [Arc<str>],
    /// The counts of the places as they are now.
    pub(super) tally: &'r Tally,
    pub(super) rows: &'r Rows<'r>,
    /// The highest released hash in each domain.
    pub(super) released: &'r BTreeMap<Arc<str>, u64>,
    /// What may be released.
    pub(super) entry: &'r Entry,
}

/// The places that a ring releases.
#[derive(Default)]
pub(super) struct Release {
    /// The highest released hash in each domain in which more places are released.
    pub(super) thresholds: BTreeMap<Arc<str>, u64>,
    /// The places that are released, and others.
    found: Found,
}

/// The pending places that are considered. Most of them are counted only, so that little memory is needed.
#[derive(Default)]
struct Found {
    /// The places that are certainly chosen, in each domain.
    certain: Vec<Certain>,
    /// The places of which some are chosen.
    candidates: Vec<Candidate>,
}

/// The pending places of a domain up to a hash.
#[derive(Clone, Copy, Default)]
struct Certain {
    count: u32,
    /// The places whose content is published.
    published: u32,
    /// Whether some were to have the moving revision at the beginning of the step. Then their states still count after their release.
    was_moving: bool,
    /// The highest hash.
    highest: u64,
}

/// A place that is not released yet, in the order of releases.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    hash: u64,
    domain: u32,
    is_published: bool,
    was_moving: bool,
}

/// The hashes of a domain between which the last chosen one probably is.
#[derive(Clone, Copy)]
struct Window {
    /// Places up to this hash are certainly chosen. None: no places.
    low: Option<u64>,
    /// Places above this hash are not chosen.
    high: u64,
}

impl Release {
    /// Adds the released places to the counts of the places before. False: they must be counted again.
    pub(super) fn count(&self, tally: &mut Tally, (ring, domains): (usize, &[Arc<str>])) -> bool {
        let found = &self.found;
        let thresholds: Vec<_> = domains.iter().map(|domain| self.thresholds.get(domain).copied()).collect();
        let is_released = |candidate: &&Candidate| {
            let threshold = thresholds.get(candidate.domain as usize).copied().flatten();
            threshold.is_some_and(|threshold| candidate.hash <= threshold)
        };
        let released = found.candidates.iter().filter(is_released);
        if found.certain.iter().any(|certain| certain.was_moving)
            || released.clone().any(|candidate| candidate.was_moving)
        {
            return false;
        }
        for (domain, certain) in found.certain.iter().enumerate() {
            let (count, were_published) = (certain.count, certain.published);
            tally.release(&ReleasedPlaces { ring, domain, count, were_published });
        }
        for candidate in released {
            let (domain, were_published) = (candidate.domain as usize, u32::from(candidate.is_published));
            tally.release(&ReleasedPlaces { ring, domain, count: 1, were_published });
        }
        true
    }
}

impl Found {
    fn new(domains: usize) -> Self {
        Self { certain: vec![Certain::default(); domains], candidates: Vec::new() }
    }

    fn add(mut self, other: Self) -> Self {
        for (certain, other) in self.certain.iter_mut().zip(other.certain) {
            certain.count += other.count;
            certain.published += other.published;
            certain.was_moving |= other.was_moving;
            certain.highest = certain.highest.max(other.highest);
        }
        self.candidates.extend(other.candidates);
        self
    }

    /// The number of candidates of each domain.
    fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.certain.len()];
        for candidate in &self.candidates {
            counts.get_mut(candidate.domain as usize).into_iter().for_each(|count| *count += 1);
        }
        counts
    }
}

impl Releasing<'_> {
    /// How many places may change at once. None: all.
    fn limit(&self) -> Option<u64> {
        let places = self.tally.rings.get(self.index).map_or(0, |ring| ring.places);
        self.ring.at_once.map(|amount| match amount {
            Amount::Count(count) => u64::from(count),
            // A share of a small ring is at least one place: the ring could never move otherwise.
            Amount::Share(_) => amount.limit(places).max(1),
        })
    }

    /// The places that are released now.
    pub(super) fn choose(&self) -> Release {
        let pending = &*self.pending();
        let most = self.entry.most;
        if self.ring.at_once.is_none() && self.ring.per.is_empty() && most.is_none() {
            let all = pending.iter().map(|count| (*count > 0).then_some(u64::MAX)).collect();
            return Release { thresholds: self.by_name(all), found: self.find(pending, true).0 };
        }
        let silent = gates::silent_in(&self.ring.prove);
        let changing = self.tally.rings.get(self.index).map_or(0, |ring| ring.changing.count(silent));
        let slots = self.limit().map_or(u64::MAX, |limit| limit.saturating_sub(changing));
        let slots = slots.min(most.unwrap_or(u64::MAX));
        let limits = DomainLimits::new(&self.ring.per, self.domains, &self.tally.changing(silent));
        let quota = |(domain, pending): (usize, &u32)| limits.free(domain).min(slots).min(u64::from(*pending)) as u32;
        let quotas: Vec<u32> = pending.iter().enumerate().map(quota).collect();
        if quotas.iter().all(|quota| *quota == 0) {
            return Release::default();
        }
        let is_alone = !limits.overlap() && quotas.iter().map(|quota| u64::from(*quota)).sum::<u64>() <= slots;
        let (found, counts) = self.find(&quotas, is_alone);
        let mut chosen = first_of_each_domain(&found, &counts, &quotas);
        if !is_alone {
            limit_all(&mut chosen, usize::try_from(slots).unwrap_or(usize::MAX), limits);
        }
        let highest = |certain: &Certain| (certain.count > 0).then_some(certain.highest);
        let mut thresholds: Vec<_> = found.certain.iter().map(highest).collect();
        for candidate in chosen {
            if let Some(threshold) = thresholds.get_mut(candidate.domain as usize) {
                *threshold = (*threshold).max(Some(candidate.hash));
            }
        }
        Release { thresholds: self.by_name(thresholds), found }
    }

    /// The number of places of each domain that may be released now: those of domains with a closed window wait.
    fn pending(&self) -> Cow<'_, [u32]> {
        let pending = self.tally.pending(self.index);
        let closed = &self.entry.closed;
        if closed.is_empty() {
            return pending.into();
        }
        pending.iter().zip(closed).map(|(count, is_closed)| if *is_closed { 0 } else { *count }).collect()
    }

    fn by_name(&self, thresholds: Vec<Option<u64>>) -> BTreeMap<Arc<str>, u64> {
        let pairs = thresholds.into_iter().zip(self.domains);
        pairs.filter_map(|(threshold, domain)| Some((Arc::clone(domain), threshold?))).collect()
    }

    /// The pending places with the lowest hashes of each domain, at least as many as its quota, and the number of candidates. `is_alone`: only the quota of a
    /// domain decides which of its places are chosen.
    fn find(&self, quotas: &[u32], is_alone: bool) -> (Found, Vec<u32>) {
        // Hashes are equally distributed, so nearly always this finds enough of them, and not too many.
        let mut windows = self.windows(quotas, is_alone);
        let found = self.find_in(&windows);
        let counts = found.counts();
        let mut domains = found.certain.iter().zip(&counts).zip(quotas);
        if domains.all(|((certain, count), quota)| (certain.count..=certain.count + count).contains(quota)) {
            return (found, counts);
        }
        windows.iter_mut().flatten().for_each(|window| *window = Window { low: None, high: u64::MAX });
        let found = self.find_in(&windows);
        let counts = found.counts();
        (found, counts)
    }

    /// The pending places of each domain up to the end of its window.
    fn find_in(&self, windows: &[Option<Window>]) -> Found {
        let new = || Found::new(self.domains.len());
        let find = |found: &mut Found, row: Row| {
            let is_pending = row.ring == self.index && row.is_changed && !row.is_moving();
            let window = windows.get(row.domain as usize).copied().flatten();
            let Some(window) = window.filter(|window| is_pending && row.hash <= window.high) else { return };
            let (is_published, was_moving) = (row.state.is_published, row.was_moving());
            if window.low.is_none_or(|low| low < row.hash) {
                found.candidates.push(Candidate { hash: row.hash, domain: row.domain, is_published, was_moving });
            } else if let Some(certain) = found.certain.get_mut(row.domain as usize) {
                certain.count += 1;
                certain.published += u32::from(is_published);
                certain.was_moving |= was_moving;
                certain.highest = certain.highest.max(row.hash);
            }
        };
        self.rows.sum(new, find, Found::add)
    }

    /// The window of each domain. None: the domain has no quota.
    fn windows(&self, quotas: &[u32], is_alone: bool) -> Vec<Option<Window>> {
        let domains = self.domains.iter().zip(self.tally.pending(self.index)).zip(quotas);
        let window = |((domain, pending), quota): ((&Arc<str>, &u32), &u32)| {
            let released = self.released.get(domain).copied().unwrap_or_default();
            (*quota > 0).then(|| {
                let Window { low, high } = window(released, u64::from(*quota), u64::from(*pending));
                Window { low: low.filter(|_| is_alone), high }
            })
        };
        domains.map(window).collect()
    }
}

/// Where the last of `quota` hashes probably is, among `pending` equally distributed ones above `released`.
fn window(released: u64, quota: u64, pending: u64) -> Window {
    if quota >= pending {
        return Window { low: Some(u64::MAX), high: u64::MAX };
    }
    // Five standard deviations and a few more are enough.
    let deviation = 5 * quota.isqrt() + 16;
    let hash = |count: u64| {
        let range = u128::from(u64::MAX - released) * u128::from(count) / u128::from(pending);
        released.saturating_add(range as u64)
    };
    let low = quota.checked_sub(deviation).map(hash);
    Window { low, high: if quota + deviation < pending { hash(quota + deviation) } else { u64::MAX } }
}

/// Keeps the candidates that limits of several domains allow.
fn limit_all(chosen: &mut Vec<Candidate>, slots: usize, mut limits: DomainLimits) {
    if limits.overlap() {
        chosen.sort_unstable();
        chosen.retain(|candidate| {
            let domain = candidate.domain as usize;
            let is_free = limits.free(domain) > 0;
            if is_free {
                limits.take(domain);
            }
            is_free
        });
    } else if slots < chosen.len() {
        chosen.select_nth_unstable(slots);
    }
    chosen.truncate(slots);
}

/// The candidates with the lowest hashes of each domain: as many as its quota allows beside its certain places. `counts` are the numbers of candidates.
fn first_of_each_domain(found: &Found, counts: &[u32], quotas: &[u32]) -> Vec<Candidate> {
    let mut ends: Vec<usize> = Vec::with_capacity(counts.len());
    let total = counts.iter().fold(0, |begin, count| {
        ends.push(begin);
        begin + *count as usize
    });
    let empty = Candidate { hash: 0, domain: 0, is_published: false, was_moving: false };
    let mut grouped = vec![empty; total];
    for candidate in &found.candidates {
        if let Some(end) = ends.get_mut(candidate.domain as usize)
            && let Some(slot) = grouped.get_mut(*end)
        {
            *slot = *candidate;
            *end += 1;
        }
    }
    let mut kept = 0;
    for (((end, count), quota), certain) in ends.iter().zip(counts).zip(quotas).zip(&found.certain) {
        let begin = end - *count as usize;
        let missing = quota.saturating_sub(certain.count) as usize;
        if let Some(domain) = grouped.get_mut(begin..*end).filter(|domain| 0 < missing && missing < domain.len()) {
            domain.select_nth_unstable(missing);
        }
        let first = begin..*end.min(&(begin + missing));
        let end = kept + first.len();
        grouped.copy_within(first, kept);
        kept = end;
    }
    grouped.truncate(kept);
    grouped
}
