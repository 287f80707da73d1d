//! The hosts live: the last minutes go by in seconds, and the hub fills up.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use delivery::hub_publication::{self, Receiver};
use delivery::loaded::Loaded;
use delivery::planned::Planned;
use delivery::publish::PlaceOutcome;
use engine::compile::Compiled;
use git::Revision;
use hub_api::filter::Filter;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use simulator::simulation::Simulation;

use super::super::status;
use crate::demo::{self, DemoHub, hosts};
use crate::hub_client::{Hub, publication_failure};
use crate::terminal;

/// Steps in which time goes by.
const STEPS: i64 = 40;
/// The least that hosts live, in seconds.
const SHORTEST: i64 = 10;
/// How long one takes where somebody watches.
const PACE: Duration = Duration::from_millis(100);

/// Hosts that pull what is published, and the hub that hears of it.
pub(super) struct Life {
    pub(super) hub: DemoHub,
    asked: Hub,
    now: i64,
    /// The hosts of the environment that is being published.
    waiting: Option<(Simulation, i64)>,
    /// Each with when it begins.
    fleets: Vec<(Simulation, i64)>,
    /// Whether something was published or merged since the last run.
    pub(super) was_published: bool,
}

/// What happened.
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

    /// Before something is published: the hub is told what is there, and hosts that it knows have it. Says when the publication is to have been made, in seconds
    /// since 1970.
    pub(super) fn prepare(
        &mut self,
        environment: usize,
        (loaded, compiled): (&Loaded, &Compiled),
        planned: &Planned,
    ) -> anyhow::Result<i64> {
        hub_publication::send_branch(self.receiver(), loaded, planned).map_err(|error| publication_failure(&error))?;
        let target = &planned.target;
        let repository = loaded.url(&target.place.repo)?;
        // What somebody published or merged since the last run has reached no host yet.
        self.was_published |= self.hub.is_behind(&repository, &target.place.branch, target.branch.commit());
        self.hub.is_at(repository.clone(), &target.place.branch, target.branch.commit());
        let published_on = hosts::published_on(environment, (self.now, target.branch.committed_on()), self.hub.is_new);
        let source = hosts::Source {
            environment,
            repository,
            branch: &target.place.branch,
            folder: &|place, name| target.folder.join(&format!("{place}/{name}")),
            is_pulled: &|repository, branch| self.hub.is_pulled(repository, branch),
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

    fn receiver(&self) -> Receiver<'_> {
        Receiver { hub: &self.asked, environments: &[] }
    }

    /// When something was last deployed or published of which the hosts have not heard, in seconds since 1970.
    fn deployed_on(&self, loaded: &Loaded) -> anyhow::Result<Option<i64>> {
        let Some(here) = loaded.access.as_ref().filter(|_| !self.hub.is_new) else { return Ok(None) };
        let mut deployed_on = None;
        for (repository, branch) in self.hub.moved() {
            let commit = here.repositories.resolve(repository, &Revision::branch(branch))?;
            deployed_on = deployed_on.max(Some(here.repositories.info(&commit)?.seconds));
        }
        Ok(deployed_on)
    }

    /// The hub is told what was published, and the hosts pull it. If nothing was, they have nothing to do.
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

    /// Whether hosts that had pulled everything have something new to pull.
    pub(super) fn has_news(&self) -> bool {
        !self.hub.is_new && !self.fleets.is_empty()
    }

    /// Lets time go by until now. None if there is nobody for whom it could.
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
                screen
                    .show(&status::environments(&self.asked.ask(self.asked.client.environments(&Filter::default()))?));
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
    /// What of it is told, with the names of the lines.
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

/// A line for each environment, where somebody looks at a terminal. Nothing of it is left afterwards: the answers say it again.
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
            // A terminal that can't be written to has other sorrows.
            let _ = screen.clear();
        }
    }
}
