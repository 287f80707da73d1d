//! What can be down or wrong in a world: the service, the API of the git host, the hub, the clock, checks.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::evidence::{CheckOutcome, CheckResult};
use engine::promotion::gates::Teams;
use jiff::Timestamp;
use model::object::promotion::{Gate, GateKind};

use super::{World, seconds};
use crate::scenario::definition::{Scenario, SystemPart};
use crate::scenario::task::Ending;

/// The state of the system.
#[derive(Debug)]
pub(super) struct System {
    /// How many outages of each part last now.
    service: u32,
    host_api: u32,
    hub: u32,
    publications: u32,
    /// The difference of the service's clock, in seconds.
    skew: i64,
    /// Whether the service is killed before each step.
    pub(super) is_killed_at_every_step: bool,
    checks: BTreeMap<Arc<str>, (u32, Option<bool>)>,
    numbers: u32,
    check_interval: i64,
    pub(super) teams: Teams,
}

impl World {
    /// Whether no evidence can be read.
    pub(in crate::scenario) fn is_hub_down(&self) -> bool {
        self.system.is_hub_down()
    }

    /// Whether the service does nothing.
    pub(in crate::scenario) fn is_service_down(&self) -> bool {
        self.system.is_service_down()
    }

    /// The difference of the service's clock, in seconds.
    pub(in crate::scenario) fn skew(&self) -> i64 {
        self.system.skew()
    }

    /// The outcome of a check: true for passed, None if it can't be measured.
    pub(in crate::scenario) fn check_outcome(&self, name: &str) -> Option<bool> {
        self.system.outcome(name)
    }
}

impl System {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let team = |(name, members): &(Arc<str>, Vec<Arc<str>>)| (Arc::clone(name), members.iter().cloned().collect());
        Self {
            service: 0,
            host_api: 0,
            hub: 0,
            publications: 0,
            skew: 0,
            is_killed_at_every_step: false,
            checks: BTreeMap::new(),
            numbers: 0,
            check_interval: seconds(scenario.pace.check),
            teams: scenario.teams.iter().map(team).collect(),
        }
    }

    pub(super) fn is_service_down(&self) -> bool {
        self.service > 0
    }

    pub(super) fn is_host_api_down(&self) -> bool {
        self.host_api > 0
    }

    pub(super) fn is_hub_down(&self) -> bool {
        self.hub > 0
    }

    /// Whether the hub does not get to know what is published.
    pub(super) fn misses_publications(&self) -> bool {
        self.publications > 0
    }

    /// The difference of the service's clock, in seconds.
    pub(super) fn skew(&self) -> i64 {
        self.skew
    }

    pub(super) fn set_skew(&mut self, seconds: i64) {
        self.skew = seconds;
    }

    /// A part goes down. Returns what ends later.
    pub(super) fn take_down(&mut self, part: SystemPart) -> Ending {
        let (count, ending) = match part {
            SystemPart::Service => (&mut self.service, Ending::Service),
            SystemPart::HostApi => (&mut self.host_api, Ending::HostApi),
            SystemPart::Hub => (&mut self.hub, Ending::Hub),
            SystemPart::Publications => (&mut self.publications, Ending::Publications),
        };
        *count += 1;
        ending
    }

    /// An outage, a wrong clock or the outcome of a check ends.
    pub(super) fn end(&mut self, ending: Ending) {
        match ending {
            Ending::Service => self.service = self.service.saturating_sub(1),
            Ending::HostApi => self.host_api = self.host_api.saturating_sub(1),
            Ending::Hub => self.hub = self.hub.saturating_sub(1),
            Ending::Publications => self.publications = self.publications.saturating_sub(1),
            Ending::Clock => self.skew = 0,
            Ending::Check { number } => self.checks.retain(|_, (known, _)| *known != number),
            Ending::Fault { .. } => {}
        }
    }

    /// Everything works again, and all checks pass.
    pub(super) fn repair(&mut self) {
        (self.service, self.host_api, self.hub, self.publications, self.skew) = (0, 0, 0, 0, 0);
        self.checks.clear();
    }

    /// A check has another outcome. Returns what ends later.
    pub(super) fn set_check(&mut self, name: &Arc<str>, outcome: Option<bool>) -> Ending {
        self.numbers += 1;
        self.checks.insert(Arc::clone(name), (self.numbers, outcome));
        Ending::Check { number: self.numbers }
    }

    /// The outcome of a check. A check passes unless an event says otherwise.
    pub(super) fn outcome(&self, name: &str) -> Option<bool> {
        self.checks.get(name).map_or(Some(true), |(_, outcome)| *outcome)
    }

    /// The last results of the checks of gates, by the names of the gates. `now` is the time of the service's clock.
    pub(super) fn results(&self, gates: &[Gate], now: i64) -> BTreeMap<Arc<str>, CheckResult> {
        let at = now - now.rem_euclid(self.check_interval.max(1));
        let checks = gates.iter().filter_map(|gate| match &gate.kind {
            GateKind::Check(check) => Some((gate, check)),
            _ => None,
        });
        let result = |name: &str| {
            let (outcome, text) = match self.outcome(name) {
                Some(true) => (CheckOutcome::Passed, format!("`{name}` is as expected")),
                Some(false) => (CheckOutcome::Failed, format!("`{name}` is not as expected")),
                None => (CheckOutcome::Unknown, format!("`{name}` does not answer")),
            };
            CheckResult { at: Timestamp::from_second(at).unwrap_or(Timestamp::MAX), outcome, text: text.into() }
        };
        checks.map(|(gate, check)| (Arc::clone(&gate.name), result(&check.name))).collect()
    }
}
