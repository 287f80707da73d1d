//! The entry of places into a ring: its gates before the first place, its windows before each place, and its canaries before the others.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::count::count;
use model::object::promotion::{Gate, GateKind, Ring, Share, Silent, Window};

use super::domain::value;
use super::tally::RingTally;
use crate::promotion::evidence::Measured;
use crate::promotion::gates::window::{self, Opening};
use crate::promotion::gates::{self, GateInput};
use crate::promotion::state::{GateRecord, GateStatus};

/// The name of the built-in gate that the canaries of a ring applied the revision.
const CANARY: &str = "canary";

/// The places of a ring that are to get a revision.
#[derive(Clone, Copy)]
pub(super) struct Entering<'a> {
    pub(super) ring: &'a Ring,
    pub(super) counts: RingTally,
    /// How many of its places come before the others.
    pub(super) canary: Option<u32>,
    /// The keys of all domains.
    pub(super) domains: &'a [Arc<str>],
    /// The number of changed places that are not released yet, by domain.
    pub(super) pending: &'a [u32],
    /// Whether the ring has begun: only its windows count then.
    pub(super) has_begun: bool,
}

/// What may be released now.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// The gates that were evaluated.
    pub(super) records: Vec<GateRecord>,
    /// Whether no gate stops the release.
    pub(super) is_open: bool,
    /// Whether the window of each domain is closed. Empty: none is.
    pub(super) closed: Vec<bool>,
    /// The largest number of places that may be released. None: any number.
    pub(super) most: Option<u64>,
}

impl Entry {
    /// Nothing stops the release.
    pub(super) fn free() -> Self {
        Self { is_open: true, ..Self::default() }
    }

    fn add(&mut self, record: GateRecord) {
        self.is_open &= record.holds();
        self.records.push(record);
    }
}

impl Entering<'_> {
    /// Evaluates what stops the release of further places.
    pub(super) fn evaluate(&self, input: &GateInput<'_>) -> Entry {
        let mut entry = Entry::free();
        if self.counts.released >= self.counts.changed {
            // The evidence of the ring keeps the gates that held.
            let is_kept =
                |record: &&GateRecord| record.holds() && self.ring.enter.iter().any(|gate| gate.name == record.name);
            entry.records.extend(input.before.iter().filter(is_kept).cloned());
            return entry;
        }
        for gate in &self.ring.enter {
            match (&gate.kind, input.before.iter().find(|record| record.name == gate.name)) {
                (GateKind::Window(window), Some(before))
                    if window.zone_label.is_some() && matches!(before.status, GateStatus::Skipped(_)) =>
                {
                    entry.records.push(before.clone());
                }
                (GateKind::Window(window), _) if window.zone_label.is_some() => {
                    let verdict = self.close_domains(window, input.now, &mut entry);
                    entry.add(GateRecord::new(Arc::clone(&gate.name), verdict, (input.before, input.now)));
                }
                (GateKind::Window(_), _) => entry.add(one(gate, &self.ring.enter, input)),
                (_, Some(before)) if self.has_begun => entry.records.push(before.clone()),
                (_, None) if self.has_begun => {}
                _ => entry.add(one(gate, &self.ring.enter, input)),
            }
        }
        self.evaluate_canary(input, &mut entry);
        entry
    }

    /// Each place is released only while the window is open in its own time zone. Returns the verdict about all of them.
    fn close_domains(&self, window: &Window, now: Timestamp, entry: &mut Entry) -> (GateStatus, String) {
        let mut zones = Zones { window, now, found: BTreeMap::new() };
        entry.closed.resize(self.domains.len(), false);
        let domains = self.domains.iter().zip(self.pending).zip(&mut entry.closed);
        for ((domain, _), closed) in domains.filter(|((_, pending), _)| **pending > 0) {
            *closed |= !matches!(zones.opening(domain), Some(Opening::Until(_)));
        }
        zones.verdict()
    }

    /// The first places must be compliant before the others are released. Failures beyond the budget stop the move anyway.
    fn evaluate_canary(&self, input: &GateInput<'_>, entry: &mut Entry) {
        let Some(canary) = self.canary.map(u64::from) else { return };
        if self.counts.released < canary {
            entry.most = Some(canary - self.counts.released);
        }
        if self.counts.released != canary {
            return;
        }
        let own = self.ring.prove.iter().find(|gate| matches!(gate.kind, GateKind::Compliant { .. }));
        let kind =
            own.map_or(GateKind::Compliant { share: Share::ALL, silent: Silent::Wait }, |gate| gate.kind.clone());
        let all: Vec<_> = self.ring.gates().cloned().collect();
        let gate = Gate::new(gates::free_name(CANARY, &all), kind);
        let released: Measured = self.counts.released_state();
        let measured = input.measured.as_ref().map(|_| released).map_err(Arc::clone);
        entry.add(one(&gate, &self.ring.prove, &GateInput { measured, ..input.clone() }));
    }
}

/// The record of a gate of a list.
fn one(gate: &Gate, list: &[Gate], input: &GateInput<'_>) -> GateRecord {
    gates::record(gate, input, (gates::silent_in(list), None))
}

/// The openings of a window in the time zones of places, each computed once.
struct Zones<'a> {
    window: &'a Window,
    now: Timestamp,
    /// By the value of the label. None: neither the label nor the window names a known time zone.
    found: BTreeMap<&'a str, Option<(Opening, TimeZone)>>,
}

impl<'a> Zones<'a> {
    fn opening(&mut self, domain: &'a str) -> Option<Opening> {
        let label = self.window.zone_label.as_deref().unwrap_or_default();
        let name = value(domain, label).unwrap_or_default();
        let (window, now) = (self.window, self.now);
        let found = self.found.entry(name).or_insert_with(|| {
            let default = || window.zone.as_deref().and_then(window::zone);
            let zone = Some(name).filter(|name| !name.is_empty()).and_then(window::zone_of_label).or_else(default)?;
            Some((window::opening_at(window, &zone, now), zone))
        });
        found.as_ref().map(|(opening, _)| *opening)
    }

    fn verdict(&self) -> (GateStatus, String) {
        let known: Vec<_> = self.found.values().flatten().collect();
        let open = known.iter().filter(|(opening, _)| matches!(opening, Opening::Until(_))).count();
        if open > 0 {
            let zones = count(self.found.len(), "time zone");
            return (GateStatus::Passed, format!("the window is open in {open} of {zones}"));
        }
        let next = known.iter().filter_map(|(opening, zone)| match opening {
            Opening::At(at) => Some((*at, zone)),
            _ => None,
        });
        let text = match next.min_by_key(|(at, _)| *at) {
            Some((at, zone)) => window::text(Opening::At(at), zone, zone.iana_name().unwrap_or_default()),
            None if known.is_empty() => "no place that waits names a known time zone".to_owned(),
            None => window::text(Opening::Never, &TimeZone::UTC, ""),
        };
        (GateStatus::Waiting, text)
    }
}
