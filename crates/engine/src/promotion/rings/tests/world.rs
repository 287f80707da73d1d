//! A small fleet for tests: what the GitOps branch has, and what its hosts do with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use model::object::promotion::{
    Amount, ChangeDelivery, Newer, OnFailure, Promotion, Require, Ring, RingMembers, Selection, Start,
};

use crate::promotion::evidence::{Authors, CheckResult, PlaceReports};
use crate::promotion::report::MoveReport;
use crate::promotion::rings::layout::layout;
use crate::promotion::rings::membership::domain_key;
use crate::promotion::rings::{Ahead, ChangedPlaces, Difference, RingPlaces, RolloutInput, RolloutStep, step};
use crate::promotion::state::{BranchPosition, Content, Decision, Revision, RolloutState};
use crate::promotion::vector::Part;

/// What the host of a place does with content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Host {
    Healthy,
    /// It fails to apply every content from this version on.
    Fails(u32),
    Silent,
    /// No host is expected.
    Missing,
}

/// The version of the content of each place.
type Contents = Vec<u32>;

#[allow(clippy::struct_excessive_bools, reason = "what examples switch on")]
pub(super) struct World {
    pub(super) now: Timestamp,
    pub(super) promotion: Promotion,
    pub(super) state: RolloutState,
    pub(super) desired: Option<Revision>,
    pub(super) part: Part,
    /// The newest values as a change of their own: for places that the move has reached, and for the others.
    pub(super) ahead: Option<(Revision, Option<Revision>)>,
    /// What a rollback returns to with the present values. None: exactly its target.
    pub(super) back: Option<Revision>,
    /// Whether it can be rendered.
    pub(super) is_rendered: bool,
    pub(super) hosts: Vec<Host>,
    pub(super) hub_error: Option<Arc<str>>,
    /// Whether the moving revision can't be rendered any more.
    pub(super) is_lost: bool,
    pub(super) is_kept: bool,
    /// A hold of the whole environment.
    pub(super) hold: Option<Decision>,
    pub(super) ring: Vec<u16>,
    pub(super) hash: Vec<u64>,
    pub(super) published: Contents,
    pub(super) checks: BTreeMap<Arc<str>, CheckResult>,
    pub(super) events: Vec<String>,
    /// The places where the moving revision can't be rendered. Empty: none.
    pub(super) failing: Vec<bool>,
    pub(super) sites: Vec<Arc<str>>,
    /// Whether the places that the move changes are new.
    pub(super) is_only_new: bool,
    applied: Vec<bool>,
    revisions: BTreeMap<Revision, Contents>,
    positions: Vec<Contents>,
}

pub(super) fn ring(name: &str) -> Ring {
    Ring {
        name: name.into(),
        members: RingMembers::Rest,
        at_once: None,
        per: Vec::new(),
        pause: std::time::Duration::ZERO,
        failures: Amount::Count(0),
        canary: None,
        enter: Vec::new(),
        prove: Vec::new(),
    }
}

pub(super) fn promotion(rings: Vec<Ring>) -> Promotion {
    Promotion {
        to: "prod".into(),
        from: Vec::new(),
        require: Require::All,
        select: Selection { platform: true, workloads: None },
        delivery: ChangeDelivery::Direct,
        start: Start::Automatic,
        newer: Newer::Wait,
        on_failure: OnFailure::Stop,
        gates: Vec::new(),
        rings,
    }
}

impl World {
    /// Rings with these numbers of places, all with version 1, which is stable.
    pub(super) fn new(rings: Vec<Ring>, sizes: &[usize]) -> Self {
        let ring: Vec<u16> =
            sizes.iter().enumerate().flat_map(|(ring, size)| std::iter::repeat_n(ring as u16, *size)).collect();
        let places = ring.len();
        let mut world = Self {
            now: "2026-03-02T10:00:00Z".parse().unwrap(),
            promotion: promotion(rings),
            state: RolloutState::default(),
            desired: None,
            part: Part::Both,
            ahead: None,
            back: None,
            is_rendered: true,
            hosts: vec![Host::Healthy; places],
            hub_error: None,
            is_lost: false,
            is_kept: false,
            hold: None,
            hash: (0..places as u64).map(|place| place.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect(),
            published: vec![1; places],
            checks: BTreeMap::new(),
            events: Vec::new(),
            failing: Vec::new(),
            is_only_new: false,
            sites: (0..places).map(|place| format!("s{}", place % 3).into()).collect(),
            applied: vec![true; places],
            revisions: BTreeMap::new(),
            positions: vec![vec![1; places]],
            ring,
        };
        world.change(1);
        world.step();
        world.step();
        world.events.clear();
        assert_eq!(world.stable(), "v1");
        world
    }

    /// A revision that changes all places.
    pub(super) fn change(&mut self, version: u32) {
        self.change_to(version, vec![version; self.hosts.len()]);
    }

    pub(super) fn change_to(&mut self, version: u32, contents: Contents) {
        let revision = Revision(format!("v{version}").into());
        self.revisions.insert(revision.clone(), contents);
        self.desired = Some(revision);
    }

    pub(super) fn add_place(&mut self, ring: u16, hash: u64) {
        self.ring.push(ring);
        self.hash.push(hash);
        self.hosts.push(Host::Healthy);
        self.sites.push("s0".into());
        self.applied.push(true);
        self.published.push(0);
        let contents = self.revisions.values_mut().chain(&mut self.positions);
        contents.for_each(|contents| contents.push(0));
    }

    pub(super) fn content(&self, place: usize) -> Content {
        self.state.content(self.ring[place].into(), &self.domain(place), self.hash[place])
    }

    fn released(&self, place: usize) -> Content {
        self.state.released_content(self.ring[place].into(), &self.domain(place), self.hash[place])
    }

    /// The version that a place is to have.
    fn version(&self, place: usize) -> u32 {
        let current = self.state.current.as_ref();
        let is_of = self.state.is_of(&layout(&self.promotion.rings));
        match if is_of { self.content(place) } else { Content::Published } {
            Content::Published => self.published[place],
            Content::Base => {
                let position = current.unwrap().base.0.parse::<usize>().unwrap();
                self.positions[position][place]
            }
            Content::Stable => self.revisions[&self.state.stable.as_ref().unwrap().revision][place],
            Content::Moving => self.revisions[&current.unwrap().revision][place],
            Content::Rest => self.revisions[&self.state.interrupted.as_ref().unwrap().rest][place],
        }
    }

    pub(super) fn domain(&self, place: usize) -> String {
        let ring = self.promotion.rings.get(usize::from(self.ring[place]));
        ring.map(|ring| domain_key(ring, |_| Some(&self.sites[place]))).unwrap_or_default()
    }

    /// Whether the move changes a place.
    pub(super) fn changes(&self, place: usize) -> bool {
        self.state.difference().is_some_and(|Difference { base, revision, .. }| {
            let interrupted = self.state.interrupted.as_ref();
            let moving = match (interrupted, self.released(place)) {
                (Some(interrupted), Content::Rest) => self.revisions[&interrupted.rest][place],
                _ => self.revisions[revision][place],
            };
            let stable = self.state.stable.as_ref().map(|stable| self.revisions[&stable.revision][place]);
            self.positions[base.0.parse::<usize>().unwrap()][place] != moving
                || stable.is_some_and(|stable| interrupted.is_none() && stable != moving)
        })
    }

    pub(super) fn has_succeeded(&self, place: usize) -> bool {
        let state = self.measure()[place];
        state.is_published && state.succeeded >= state.expected
    }

    /// The number of failed reconcilers of places that have the moving revision.
    pub(super) fn failed(&self) -> u64 {
        let is_moving = |place: usize| self.content(place).is_moving() && self.changes(place);
        let states =
            self.measure().into_iter().enumerate().filter(|(place, state)| state.is_published && is_moving(*place));
        states.map(|(_, state)| u64::from(state.failed)).sum()
    }

    /// The failure budget of the ring that moves.
    pub(super) fn budget(&self) -> u64 {
        let ring = self.state.current.as_ref().and_then(|current| self.promotion.rings.get(current.ring));
        ring.map_or(u64::MAX, |ring| ring.failures.limit(0))
    }

    fn measure(&self) -> Vec<PlaceReports> {
        let of = |place: usize| {
            let (desired, applied) = (self.version(place), self.applied[place]);
            let host = self.hosts[place];
            let is_failed = matches!(host, Host::Fails(version) if self.published[place] >= version);
            PlaceReports {
                expected: u32::from(host != Host::Missing),
                succeeded: u32::from(applied && !is_failed && host != Host::Silent && host != Host::Missing),
                failed: u32::from(is_failed),
                silent: u32::from(host == Host::Silent),
                without_heartbeat: 0,
                is_published: self.published[place] == desired,
            }
        };
        (0..self.hosts.len()).map(of).collect()
    }

    /// One step, without its effects.
    pub(super) fn dry_step(&self) -> RolloutStep {
        let keys: Vec<_> = (0..self.hosts.len()).map(|place| self.domain(place)).collect();
        let domains: Vec<Arc<str>> = BTreeSet::from_iter(&keys).into_iter().map(|key| key.as_str().into()).collect();
        let domain: Vec<_> =
            keys.iter().map(|key| domains.iter().position(|domain| **domain == **key).unwrap() as u32).collect();
        let measured = self.measure();
        let places = 0..self.hosts.len();
        let changed = self.state.difference().map(|_| places.map(|place| self.changes(place)).collect::<Vec<_>>());
        let difference = self.state.difference();
        let is_only_new = self.is_only_new;
        let changed = difference.zip(changed.as_ref()).map(|(of, places)| ChangedPlaces { of, places, is_only_new });
        let target = self.state.rolled_back.as_ref().and_then(|found| found.target.as_ref());
        let back = target.map(|target| self.back.clone().unwrap_or_else(|| target.revision.clone()));
        let position = BranchPosition((self.positions.len() - 1).to_string().into());
        let input = RolloutInput {
            now: self.now,
            promotion: &self.promotion,
            hold: self.hold.as_ref(),
            desired: self.desired.as_ref(),
            part: self.part,
            is_lost: self.is_lost,
            is_kept: self.is_kept,
            ahead: self.ahead.as_ref().map(|(revision, rest)| Ok(Ahead { revision, rest: rest.as_ref() })),
            back: back.as_ref().map(|back| if self.is_rendered { Ok(back) } else { Err("its values are wrong") }),
            position: &position,
            places: RingPlaces {
                ring: &self.ring,
                domain: &domain,
                hash: &self.hash,
                domains: &domains,
                failing: &self.failing,
            },
            measured: self.hub_error.clone().map_or(Ok(&measured), Err),
            changed,
            checks: &self.checks,
            approvals: &[],
            authors: &Authors::one(Some("ann".into())),
            evidence_of: self.state.current.as_ref().map(|current| (&current.revision, current.ring)),
            teams: &BTreeMap::new(),
        };
        step(&input, &self.state)
    }

    /// One step of the machine. Hosts apply nothing yet.
    pub(super) fn step(&mut self) -> MoveReport {
        let step = self.dry_step();
        self.events.extend(step.events.iter().map(|event| format!("{}: {}", event.kind.name(), event.text)));
        self.state = step.state;
        step.report
    }

    /// Publishes the contents, and all hosts apply them.
    pub(super) fn publish(&mut self) {
        let contents: Vec<_> = (0..self.hosts.len()).map(|place| self.version(place)).collect();
        if contents != self.published {
            self.published.clone_from(&contents);
            self.positions.push(contents);
        }
    }

    /// Steps, publishes and waits a minute, until nothing changes any more.
    pub(super) fn settle(&mut self) -> MoveReport {
        for _ in 0..500 {
            let (before, published) = (self.state.clone(), self.published.clone());
            let report = self.step();
            self.publish();
            if self.state == before && self.published == published {
                return report;
            }
            self.wait(1);
        }
        panic!("the rollout does not come to rest: {:?}", self.state);
    }

    pub(super) fn wait(&mut self, minutes: i64) {
        self.now += SignedDuration::from_mins(minutes);
    }

    pub(super) fn stable(&self) -> String {
        self.state.stable.as_ref().map(|stable| stable.revision.0.to_string()).unwrap_or_default()
    }

    /// The published versions, ring by ring.
    pub(super) fn versions(&self) -> String {
        let mut text = String::new();
        for place in 0..self.hosts.len() {
            if place > 0 && self.ring[place] != self.ring[place - 1] {
                text.push('|');
            }
            text += &self.published[place].to_string();
        }
        text
    }

    /// The kinds of the events since the last call.
    pub(super) fn kinds(&mut self) -> String {
        let kinds: Vec<_> =
            self.events.drain(..).map(|event| event.split(':').next().unwrap_or_default().to_owned()).collect();
        kinds.join(" ")
    }
}
