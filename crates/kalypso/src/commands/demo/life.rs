//! Simulates the hosts: some minutes of simulated time pass in seconds, and the hub receives reports.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use delivery::output::planned::Planned;
use delivery::publication::hub_publication::{self, HubReceiver};
use delivery::publication::publish::PlaceOutcome;
use delivery::sources::loaded::Loaded;
use engine::compile::Compiled;
use git::Revision;
use hub_api::filter::Filter;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use simulator::simulation::Simulation;

use super::super::status;
use crate::demo::{self, DemoHub, hosts};
use crate::hub_client::{Hub, publication_failure};
use crate::terminal;

/// The number of steps in which the simulated time passes.
const STEPS: i64 = 40;
/// The minimum simulated time in seconds.
const SHORTEST: i64 = 10;
/// The real time that a step takes on a terminal.
const PACE: Duration = Duration::from_millis(100);

/// Simulated hosts that pull publications, and the hub that receives their reports.
pub(super) struct Life {
    pub(super) hub: DemoHub,
    asked: Hub,
    now: i64,
    /// The hosts of the environment that is published next.
    waiting: Option<(Simulation, i64)>,
    /// The hosts of each environment, with their start time.
    fleets: Vec<(Simulation, i64)>,
    /// Whether something was published or merged since the last run.
    pub(super) was_published: bool,
}

/// The result of the simulation.
pub(super) struct Lived {
    hosts: usize,
    messages: usize,
    minutes: i64,
    took: Duration,
}

impl Life {
    pub(super) fn begin(hub: DemoHub) -> anyhow::Result<Self> {
        let asked = Hub::at(&hub.url, None)?;
        Ok(Self { hub, asked, now: demo::now(), waiting: None, fleets: Vec::new(), was_published: false })
    }

    /// Prepares a publication: stores the existing publication in the hub, with hosts that have it. Returns the time of the new publication in
    /// seconds since 1970.
    pub(super) fn prepare(&mut self, loaded: &Loaded, compiled: &Compiled, planned: &Planned) -> anyhow::Result<i64> {
        hub_publication::send_branch(self.receiver(), loaded, planned).map_err(|error| publication_failure(&error))?;
        let target = &planned.target;
        let environment = loaded.fleet.environment.as_str();
        let repository = loaded.url(&target.place.repo)?;
        // No host has pulled the publications and merges since the last run.
        self.was_published |= self.hub.is_behind(&repository, &target.place.branch, target.branch.commit());
        self.hub.is_at(repository.clone(), &target.place.branch, target.branch.commit());
        let published_on = hosts::published_on(environment, (self.now, target.branch.committed_on()), self.hub.is_new);
        let source = hosts::Source {
            environment,
            repository,
            branch: &target.place.branch,
            folder: &|place, name| target.folder.join(&format!("{place}/{name}")),
            is_pulled: &|repository, branch| self.hub.is_pulled(repository, branch),
            is_live: false,
        };
        let starts_on = self.deployed_on(loaded)?.map_or(published_on, |deployed_on| deployed_on.max(published_on));
        let starts_on = starts_on.min(self.now - SHORTEST);
        let mut fleet = hosts::fleet(compiled, &source, (starts_on, self.now));
        if let Some(here) = loaded.access.as_ref().filter(|_| !self.hub.is_new) {
            fleet.read_contents_at(&*here.repositories, |repository, branch| self.hub.pulled(repository, branch))?;
            fleet.settle();
        }
        self.waiting = Some((fleet, starts_on));
        Ok(published_on)
    }

    fn receiver(&self) -> HubReceiver<'_> {
        HubReceiver { hub: &self.asked, environments: &[] }
    }

    /// The time of the last deployment or publication that the hosts have not pulled, in seconds since 1970.
    fn deployed_on(&self, loaded: &Loaded) -> anyhow::Result<Option<i64>> {
        let Some(here) = loaded.access.as_ref().filter(|_| !self.hub.is_new) else { return Ok(None) };
        let mut deployed_on = None;
        for (repository, branch) in self.hub.moved() {
            let commit = here.repositories.resolve(repository, &Revision::branch(branch))?;
            deployed_on = deployed_on.max(Some(here.repositories.info(&commit)?.seconds));
        }
        Ok(deployed_on)
    }

    /// Sends the publication to the hub, and lets the hosts pull it. Does nothing if there was no publication.
    pub(super) fn publish(&mut self, loaded: &Loaded, outcome: &PlaceOutcome) -> anyhow::Result<()> {
        let delivered = outcome.delivered.as_ref();
        let of = |delivered| hub_publication::send_changes(self.receiver(), loaded, (&outcome.planned, delivered));
        if let Some(result) = delivered.and_then(of) {
            result.map_err(|error| publication_failure(&error))?;
        }
        if let Some((place, commit)) = outcome.pushed() {
            self.hub.is_at(loaded.url(&place.repo)?, &place.branch, Some(commit));
        }
        let Some((mut fleet, starts_on)) = self.waiting.take() else { return Ok(()) };
        read_contents(&mut fleet, loaded)?;
        if self.hub.is_new || fleet.is_outdated() {
            self.fleets.push((fleet, starts_on));
        }
        Ok(())
    }

    /// Whether hosts that were up to date have something new to pull.
    pub(super) fn has_news(&self) -> bool {
        !self.hub.is_new && !self.fleets.is_empty()
    }

    /// Simulates the hosts until the current time. None if there are no hosts.
    pub(super) fn live(&mut self) -> anyhow::Result<Option<Lived>> {
        let Some(first) = self.fleets.iter().map(|(_, starts_on)| *starts_on).min() else { return Ok(None) };
        let started = Instant::now();
        let mut messages = 0;
        let mut screen = Screen::new();
        for step in 1..=STEPS {
            let frame = Instant::now();
            let moment = first + (self.now - first) * step / STEPS;
            for (fleet, _) in &mut self.fleets {
                let sent = fleet.advance(moment);
                messages += sent.len();
                self.hub.deliver(sent)?;
            }
            if screen.is_seen() {
                screen.show(&status::environments(
                    &self.asked.ask(self.asked.client.environments(&Filter::default(), None))?,
                ));
                std::thread::sleep(PACE.saturating_sub(frame.elapsed()));
            }
        }
        screen.clear();
        let hosts = self.fleets.iter().map(|(fleet, _)| fleet.hosts().count()).sum();
        let minutes = (self.now - first + 59) / 60;
        Ok(Some(Lived { hosts, messages, minutes, took: started.elapsed() }))
    }
}

/// Reads the current contents of the environment for its hosts.
fn read_contents(fleet: &mut Simulation, loaded: &Loaded) -> anyhow::Result<()> {
    if let Some(here) = &loaded.access {
        fleet.read_contents(&*here.repositories)?;
    }
    Ok(())
}

impl Lived {
    /// The results as rows with their names.
    pub(super) fn rows(&self) -> [(&'static str, String); 2] {
        let (hosts, minutes) = (terminal::thousands(self.hosts), usize::try_from(self.minutes).unwrap_or(0));
        let took = format!("{} in {:.1} s", terminal::count(minutes, "minute"), self.took.as_secs_f64());
        let messages = terminal::count(self.messages, "message");
        [
            ("Hosts", format!("{hosts} simulated ones pulled it: {took}")),
            ("Hub", format!("{messages} in the formats of Flux, Argo CD, OpenTelemetry and of scripts")),
        ]
    }
}

/// One line for each environment on a terminal. The lines are removed at the end, because the answers contain the same data.
struct Screen {
    lines: Option<(MultiProgress, Vec<ProgressBar>)>,
}

impl Screen {
    fn new() -> Self {
        let is_seen = std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
        Self { lines: is_seen.then(|| (MultiProgress::new(), Vec::new())) }
    }

    fn is_seen(&self) -> bool {
        self.lines.is_some()
    }

    fn show(&mut self, text: &str) {
        let Some((screen, lines)) = &mut self.lines else { return };
        for (number, text) in text.lines().enumerate() {
            if lines.len() == number {
                let style = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
                lines.push(screen.add(ProgressBar::new_spinner().with_style(style)));
            }
            if let Some(line) = lines.get(number) {
                line.set_message(text.to_owned());
                line.tick();
            }
        }
    }

    fn clear(&mut self) {
        if let Some((screen, lines)) = self.lines.take() {
            lines.iter().for_each(ProgressBar::finish_and_clear);
            // An error of the terminal does not matter here.
            let _ = screen.clear();
        }
    }
}
