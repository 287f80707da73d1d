//! Domains: places with the same values of the labels that a ring has limits for.
//!
//! [`domain_key`](crate::promotion::rings::membership::domain_key) makes their keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::object::promotion::DomainLimit;

/// The limits of a ring for each value of each of its labels.
pub(super) struct DomainLimits {
    limits: Vec<LabelLimit>,
}

struct LabelLimit {
    /// The number of the value of each domain.
    value_of: Vec<u32>,
    /// How many more places of each value may change.
    free: Vec<u64>,
}

impl DomainLimits {
    /// The limits, with the number of places that are changing now in each domain.
    pub(super) fn new(per: &[DomainLimit], domains: &[Arc<str>], changing: &[u64]) -> Self {
        let limits = per.iter().map(|limit| LabelLimit::new(limit, domains, changing)).collect();
        Self { limits }
    }

    /// Whether a place can be blocked by places of other domains.
    pub(super) fn overlap(&self) -> bool {
        self.limits.len() > 1
    }

    /// How many more places of a domain may change. Without limits: any number.
    pub(super) fn free(&self, domain: usize) -> u64 {
        self.limits.iter().map(|limit| limit.free(domain)).min().unwrap_or(u64::MAX)
    }

    /// Counts a place of a domain as changing.
    pub(super) fn take(&mut self, domain: usize) {
        for limit in &mut self.limits {
            let free = limit.value_of.get(domain).and_then(|value| limit.free.get_mut(*value as usize));
            if let Some(free) = free {
                *free = free.saturating_sub(1);
            }
        }
    }
}

impl LabelLimit {
    fn new(limit: &DomainLimit, domains: &[Arc<str>], changing: &[u64]) -> Self {
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        let mut free: Vec<u64> = Vec::new();
        let mut value_of = Vec::with_capacity(domains.len());
        for (domain, key) in domains.iter().enumerate() {
            // The domains of another ring may not have the label: then it is not known at which value their places are.
            let Some(value) = value(key, &limit.label) else {
                value_of.push(u32::MAX);
                continue;
            };
            let next = free.len() as u32;
            let number = *numbers.entry(value).or_insert(next);
            if number == next {
                free.push(u64::from(limit.at_once));
            }
            if let Some(free) = free.get_mut(number as usize) {
                *free = free.saturating_sub(changing.get(domain).copied().unwrap_or_default());
            }
            value_of.push(number);
        }
        Self { value_of, free }
    }

    fn free(&self, domain: usize) -> u64 {
        let value = self.value_of.get(domain).copied().unwrap_or(u32::MAX);
        // The limit says nothing about places whose value is not known. With none free, they would wait for ever.
        self.free.get(value as usize).copied().unwrap_or(u64::MAX)
    }
}

/// The value of a label in the key of a domain. None: the key has no part for the label.
pub(super) fn value<'k>(key: &'k str, label: &str) -> Option<&'k str> {
    let mut parts = key.split(',').filter_map(|part| part.split_once('='));
    parts.find(|(name, _)| *name == label).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(label: &str, at_once: u32) -> DomainLimit {
        DomainLimit { label: label.into(), at_once }
    }

    #[test]
    fn each_limit_counts_the_places_of_its_value_in_all_domains() {
        let domains = ["site=a,zone=1", "site=a,zone=2", "site=b,zone=1", "site=,zone=1"].map(Arc::from);
        let mut limits = DomainLimits::new(&[limit("site", 3), limit("zone", 2)], &domains, &[1, 0, 0, 0]);
        let free = |limits: &DomainLimits| [0, 1, 2, 3].map(|domain| limits.free(domain));
        assert_eq!(free(&limits), [1, 2, 1, 1]);
        limits.take(2);
        assert_eq!(free(&limits), [0, 2, 0, 0]);
        let others = ["site=a", "zone=1", ""].map(Arc::from);
        let limits = DomainLimits::new(&[limit("site", 3)], &others, &[1, 1, 1]);
        assert_eq!([0, 1, 2].map(|domain| limits.free(domain)), [2, u64::MAX, u64::MAX]);
        assert_eq!(DomainLimits::new(&[], &domains, &[9]).free(0), u64::MAX);
    }
}
