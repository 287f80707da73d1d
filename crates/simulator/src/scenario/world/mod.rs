//! The world of a scenario: repositories, a fleet, a hub, a git host and the controller, in virtual time.

mod claims;
mod controller;
mod decisions;
mod environment;
mod events;
mod facts;
mod lost_states;
mod moves;
mod promotions;
mod proposals;
mod reconciling;
mod renderer;
pub(super) mod resting;
mod subject;
mod subjects;
mod system;
mod values;

use std::sync::Arc;
use std::time::Duration;

use engine::promotion::rings::membership::{self, Membership};
use jiff::Timestamp;
use model::object::promotion::Promotion;

use self::claims::Watched;
pub(super) use self::environment::{ChangedPlaces, Environment, Rollout};
use self::environment::{Repository, RingColumns};
pub(super) use self::subject::SubjectKey;
use self::subject::Values;
use self::system::System;
pub(super) use self::values::AUTHOR as VALUES_AUTHOR;
use super::Probe;
use super::contents::{Commit, Contents, Renderers, Sources};
use super::definition::{EnvironmentDefinition, Pace, Scenario};
use super::fleet::Fleet;
use super::queue::Queue;
use super::read::all_expectations;
use super::story::{Story, StoryEntry};
use super::task::Task;

/// How long a simulation goes on after its last event.
const AFTER_LAST: Duration = Duration::from_hours(72);

/// A world.
#[derive(Debug)]
pub(super) struct World {
    /// The current time, in seconds since 1970.
    pub(super) now: i64,
    start: i64,
    seed: u64,
    pace: Pace,
    scenario: Arc<Scenario>,
    queue: Queue<Task>,
    pub(super) story: Story,
    contents: Contents,
    /// The commits of the control plane's main branch.
    main: Vec<Commit>,
    renderers: Renderers,
    /// The names of the workloads.
    pub(in crate::scenario) workloads: Vec<Arc<str>>,
    /// The versions of the releases of each workload.
    versions: Vec<Vec<Arc<str>>>,
    /// The workloads and the numbers of releases that only a person wrote into an environment: no team released them.
    by_hand: std::collections::BTreeSet<(usize, usize)>,
    /// The authors of the releases of each workload.
    authors: Vec<Vec<Option<Arc<str>>>>,
    pub(in crate::scenario) environments: Vec<Environment>,
    system: System,
    watched: Vec<Watched>,
    /// Whether a step of the controller is planned.
    is_awake: bool,
    /// The number of pull requests that were opened.
    proposals: u32,
    /// Whether no story is written.
    pub(in crate::scenario) is_quiet: bool,
    /// Measures decisions.
    pub(in crate::scenario) probe: Option<std::rc::Rc<dyn Probe>>,
    /// The number of steps of the controller.
    pub(in crate::scenario) decisions: u64,
}

impl World {
    /// The world at the beginning of a scenario. All environments have the first releases, proved for a long time.
    pub(super) fn new(scenario: Arc<Scenario>, seed: u64) -> Self {
        let start = scenario.start.as_second();
        let first = |release: &Option<Arc<str>>| release.iter().cloned().collect::<Vec<_>>();
        let versions: Vec<_> = scenario.workloads.iter().map(|workload| first(&workload.release)).collect();
        let environments = scenario.environments.iter();
        let environments = environments.map(|definition| environment(definition, &scenario, &versions)).collect();
        let mut world = Self {
            now: start,
            start,
            seed,
            pace: scenario.pace,
            queue: Queue::default(),
            story: Story::default(),
            contents: Contents::default(),
            main: Vec::new(),
            renderers: Renderers::default(),
            workloads: scenario.workloads.iter().map(|workload| Arc::clone(&workload.name)).collect(),
            authors: versions.iter().map(|versions| versions.iter().map(|_| None).collect()).collect(),
            versions,
            by_hand: std::collections::BTreeSet::new(),
            environments,
            system: System::new(&scenario),
            watched: all_expectations(&scenario).into_iter().map(Watched::new).collect(),
            is_awake: false,
            proposals: 0,
            is_quiet: false,
            probe: None,
            decisions: 0,
            scenario,
        };
        world.settle();
        for (number, happening) in Arc::clone(&world.scenario).timeline.iter().enumerate() {
            world.queue.add(start + seconds(happening.at), Task::Happen(number as u32));
        }
        world
    }

    fn settle(&mut self) {
        let now = self.timestamp();
        for number in 0..self.environments.len() {
            let (environment, mut repository) = self.environment(number);
            environment.settle(now, &mut repository);
            self.settle_subjects(number);
            self.name_states(number);
        }
    }

    /// An environment with the repositories that it is rendered from.
    fn environment(&mut self, number: usize) -> (&mut Environment, Repository<'_>) {
        let repository = Repository {
            main: &self.main,
            renderers: &self.renderers,
            versions: &self.versions,
            workloads: &self.scenario.workloads,
            contents: &mut self.contents,
        };
        (&mut self.environments[number], repository)
    }

    /// The true time.
    pub(super) fn timestamp(&self) -> Timestamp {
        Timestamp::from_second(self.now).unwrap_or(Timestamp::MAX)
    }

    /// The time since the start, in seconds.
    pub(super) fn elapsed(&self) -> i64 {
        self.now - self.start
    }

    /// Adds an entry to the story.
    fn tell(&mut self, (place, kind): (&str, &'static str), text: impl Into<Arc<str>>) {
        if !self.is_quiet {
            let at_s = self.elapsed();
            self.story.entries.push(StoryEntry { at_s, place: place.into(), kind, text: text.into() });
        }
    }

    /// When the simulation ends: some days after the last event and the last time of an expectation, or earlier when nothing happens any more.
    pub(super) fn usual_end(&self) -> Duration {
        let events = self.scenario.timeline.iter().map(|happening| happening.at);
        let last = events.chain(self.watched.iter().filter_map(Watched::deadline)).max();
        last.unwrap_or_default() + AFTER_LAST
    }

    /// Simulates until this time since the start, and ends the story.
    pub(super) fn run(&mut self, until: Duration) {
        let until = self.start + seconds(until);
        self.advance(until);
        self.end_story();
    }

    /// Simulates until this time, in seconds since 1970, or until nothing happens any more.
    pub(super) fn advance(&mut self, until: i64) {
        loop {
            let deadline = self.next_deadline().filter(|deadline| *deadline <= until);
            let next = self.queue.next_time().filter(|next| *next <= until);
            match (deadline, next) {
                (Some(deadline), next) if next.is_none_or(|next| deadline < next) => {
                    self.now = deadline;
                    self.check_deadlines();
                }
                (_, Some(_)) => self.perform_next(until),
                _ => break,
            }
        }
    }

    /// Performs the tasks before the next step of the controller. False: there is no step until this time.
    pub(in crate::scenario) fn advance_to_step(&mut self, until: i64) -> bool {
        loop {
            match self.queue.next(until) {
                Some(Task::Step) => return true,
                Some(_) => self.perform_next(until),
                None => return false,
            }
        }
    }

    /// Performs the next task until this time.
    pub(in crate::scenario) fn perform_next(&mut self, until: i64) {
        let Some((at, task)) = self.queue.take_until(until) else { return };
        self.now = self.now.max(at);
        match task {
            Task::Happen(number) => {
                let scenario = Arc::clone(&self.scenario);
                if let Some(happening) = scenario.timeline.get(number as usize) {
                    self.happen(&happening.event, &happening.text);
                }
            }
            Task::End(ending) => self.end(ending),
            Task::Pull(reconciler) => self.pull(reconciler),
            Task::Report(reconciler, content) => self.report(reconciler, content),
            Task::Overdue { environment, host } => self.overdue(usize::from(environment), host),
            Task::Publish { environment } => self.publish(usize::from(environment)),
            Task::Merge { environment, subject, number } => {
                self.merge(usize::from(environment), usize::from(subject), number);
            }
            Task::Step => self.step(),
        }
    }

    /// Plans a step of the controller, if none is planned.
    fn wake(&mut self) {
        if !std::mem::replace(&mut self.is_awake, true) {
            let step = seconds(self.pace.step);
            self.queue.add(self.now + step - (self.now - self.start).rem_euclid(step), Task::Step);
        }
    }
}

fn environment(definition: &EnvironmentDefinition, scenario: &Scenario, versions: &[Vec<Arc<str>>]) -> Environment {
    let admitted_promotion = promotions::first_promotion(scenario, &definition.name).cloned();
    let with_rest =
        |promotion: &Promotion| Promotion { rings: membership::effective_rings(promotion), ..promotion.clone() };
    let promotion = admitted_promotion.as_ref().map(with_rest);
    let mut fleet = Fleet::default();
    fleet.is_without_heartbeat = scenario.pace.heartbeat.is_none();
    for group in &definition.clusters {
        fleet.add(group, 0);
    }
    let releases = versions.iter().map(Vec::len).collect();
    let mut environment = Environment {
        name: Arc::clone(&definition.name),
        rings: ring_columns(&fleet, promotion.as_ref()),
        promotion,
        admitted_promotion,
        fleet,
        commits: Vec::new(),
        fleet_commits: Vec::new(),
        sources: Sources { main: 0, configuration: 0, renderer: 0, releases },
        workloads: scenario.workloads.iter().map(|_| Rollout::default()).collect(),
        subjects: Vec::new(),
        renderer: subject::Renderer::default(),
        stored: lost_states::StoredStates::default(),
        values: Values::default(),
        applications: scenario.workloads.iter().map(|_| Values::default()).collect(),
        published: 0,
        is_due: false,
        is_planned: false,
    };
    for rollout in &mut environment.workloads {
        rollout.reconcilers.grow(&environment.fleet);
    }
    environment
}

/// The rings of the places of a fleet. Removed clusters are in the last ring.
fn ring_columns(fleet: &Fleet, promotion: Option<&Promotion>) -> RingColumns {
    let mut order: Vec<usize> = (0..fleet.len()).filter(|place| fleet.is_there(*place)).collect();
    order.sort_by(|one, other| fleet.names[*one].cmp(&fleet.names[*other]));
    let names = order.iter().map(|place| Arc::clone(&fleet.names[*place])).collect();
    let label = |position: usize, key: &str| fleet.labels(*order.get(position)?).get(key);
    let Some(found) = promotion.and_then(|promotion| Membership::of_places(names, label, promotion)) else {
        return RingColumns::default();
    };
    let places = fleet.len();
    let (ring, domain, hash) = (vec![0; places], vec![0; places], vec![0; places]);
    let mut columns = RingColumns { ring, domain, hash, domains: found.domains.clone() };
    for (position, place) in order.into_iter().enumerate() {
        columns.ring[place] = found.ring[position];
        columns.domain[place] = found.domain[position];
        columns.hash[place] = found.hash[position];
    }
    for place in (0..places).filter(|place| !fleet.is_there(*place)) {
        let location = found.locate(&fleet.names[place]);
        let known = columns.domains.iter().position(|domain| *domain == location.domain);
        columns.ring[place] = location.ring as u16;
        columns.domain[place] = known.unwrap_or(columns.domains.len()) as u32;
        columns.hash[place] = location.hash;
        columns.domains.extend(known.is_none().then_some(location.domain));
    }
    columns
}

/// A duration in whole seconds.
fn seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX / 4)
}
