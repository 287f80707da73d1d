//! Random walks: faults, changes and decisions at random, with rules that hold in every step.
//!
//! A walk is made from its seed alone. A walk that breaks a rule is shown as a scenario, as short as the search finds one.

mod generate;
mod rules;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use self::generate::Setting;
use self::rules::{Broken, RuleChecker};
use super::definition::{DecisionEvent, DecisionKind, Happening, ScenarioEvent, VALUES};
use super::read::{self, Names};
use super::story::Story;
use super::world::resting::AnsweredWait;
use super::world::{SubjectKey, World};

/// How often people and time are given a chance after the last step, until everything rests.
const ROUNDS_MAX: usize = 600;
/// The time of one such round, in seconds.
const ROUND_S: i64 = 2 * 3_600;
/// The time in which a decision ends what waits for it, in seconds.
const ANSWER_S: i64 = 600;

/// A walk that broke a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkFailure {
    /// The seed.
    pub seed: u64,
    /// The rule.
    pub rule: &'static str,
    /// What happened.
    pub text: String,
    /// The number of steps that are left in the scenario.
    pub steps: usize,
    /// The scenario.
    pub scenario: String,
    /// Its story.
    pub story: Story,
}

/// The end of a walk that broke no rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkEnd {
    /// The number of steps of the controller.
    pub decisions: u64,
    /// The story, if it was asked for.
    pub story: Story,
}

/// How a walk is made.
#[derive(Clone, Copy, Debug)]
pub struct WalkOptions {
    /// The seed.
    pub seed: u64,
    /// The number of steps.
    pub steps: usize,
    /// Whether the service is killed before each step of the controller.
    pub is_killed: bool,
    /// Whether a story is written.
    pub has_story: bool,
}

/// Walks. The walk that breaks a rule is made shorter, and then returned.
///
/// # Errors
/// A rule is broken.
pub fn walk(options: WalkOptions) -> Result<WalkEnd, Box<WalkFailure>> {
    let setting = generate::setting(options.seed);
    let all: BTreeSet<usize> = (0..options.steps).collect();
    match attempt(options, &setting, &all) {
        Ok(world) => Ok(WalkEnd { decisions: world.decisions, story: world.story }),
        Err((broken, last)) => Err(Box::new(shortened(options, &setting, (broken, last)))),
    }
}

/// Leaves out steps, as long as the same rule is broken.
fn shortened(options: WalkOptions, setting: &Setting, (broken, last): (Broken, usize)) -> WalkFailure {
    let mut kept: BTreeSet<usize> =
        (0..=last).filter(|step| generate::event(options.seed, *step, setting).0.is_some()).collect();
    let (mut found, mut size) = (broken, kept.len().div_ceil(2));
    while size > 0 {
        let steps: Vec<_> = kept.iter().copied().collect();
        for part in steps.chunks(size) {
            let rest: BTreeSet<_> = kept.iter().copied().filter(|step| !part.contains(step)).collect();
            match attempt(options, setting, &rest) {
                Err((broken, _)) if broken.rule == found.rule => (found, kept) = (broken, rest),
                _ => {}
            }
        }
        size /= 2;
    }
    let story = match Walker::new(WalkOptions { has_story: true, ..options }, setting) {
        Some(mut walker) => {
            let _ = walker.all(&kept);
            walker.world.story
        }
        None => Story::default(),
    };
    let scenario = written(options, setting, &kept);
    WalkFailure { seed: options.seed, rule: found.rule, text: found.text, steps: kept.len(), scenario, story }
}

/// The walk as a scenario that can be run again. Events about what is not there have no effect, and a scenario can't contain them.
fn written(options: WalkOptions, setting: &Setting, kept: &BTreeSet<usize>) -> String {
    let timeline = match setting.scenario() {
        Some(mut scenario) => {
            scenario.timeline = timeline(options, setting, kept, &Names::from_scenario(&scenario));
            read::remove_unknown(&mut scenario);
            scenario.timeline
        }
        None => Vec::new(),
    };
    let mut text = format!("# Walk {} in {} steps.\n{}timeline:\n", options.seed, options.steps, setting.header);
    for happening in timeline {
        let _ = writeln!(text, "  - at {}: {}", model::duration::text(happening.at), happening.text);
    }
    text + &setting.promotions
}

/// The events of the kept steps.
fn timeline(options: WalkOptions, setting: &Setting, kept: &BTreeSet<usize>, names: &Names) -> Vec<Happening> {
    let mut at = 0;
    let mut timeline = Vec::new();
    for step in 0..options.steps {
        let (event, pause) = generate::event(options.seed, step, setting);
        if let Some(text) = event.filter(|_| kept.contains(&step))
            && let Ok(event) = read::event(&text, names)
        {
            timeline.push(Happening { at: Duration::from_secs(at), event, text: text.into(), line: 0 });
        }
        at += pause.unsigned_abs();
    }
    timeline
}

/// A walk with some of its steps.
fn attempt(options: WalkOptions, setting: &Setting, kept: &BTreeSet<usize>) -> Result<World, (Broken, usize)> {
    let Some(mut walker) = Walker::new(options, setting) else {
        return Err((Broken { rule: "a random scenario can be read", text: setting.text() }, 0));
    };
    walker.all(kept)?;
    Ok(walker.world)
}

/// A walk on its way.
struct Walker<'s> {
    options: WalkOptions,
    setting: &'s Setting,
    names: Names,
    world: World,
    checker: RuleChecker,
}

impl<'s> Walker<'s> {
    fn new(options: WalkOptions, setting: &'s Setting) -> Option<Self> {
        let scenario = setting.scenario()?;
        let names = Names::from_scenario(&scenario);
        let mut world = World::new(Arc::new(scenario), options.seed);
        world.is_quiet = !options.has_story;
        if options.is_killed {
            world.happen(&ScenarioEvent::KillAtEveryStep, "");
        }
        let checker = RuleChecker::new(&world);
        Some(Self { options, setting, names, world, checker })
    }

    /// All kept steps, and the end. The error has the number of the last step.
    fn all(&mut self, kept: &BTreeSet<usize>) -> Result<(), (Broken, usize)> {
        for step in 0..self.options.steps {
            let (event, pause) = generate::event(self.options.seed, step, self.setting);
            if let Some(text) = event.filter(|_| kept.contains(&step)) {
                self.happen(&text);
            }
            self.pass(pause).map_err(|broken| (broken, step))?;
        }
        self.come_to_rest().map_err(|broken| (broken, self.options.steps))
    }

    /// Something happens.
    fn happen(&mut self, text: &str) {
        let Ok(event) = read::event(text, &self.names) else { return };
        if let ScenarioEvent::Decide(decided) = &event
            && let Some(number) = self.world.number(&decided.environment)
        {
            let DecisionEvent { subject, by, decision, .. } = decided;
            if subject.as_ref().is_some_and(|name| **name == *VALUES) {
                self.checker.note_values(&self.world, number, decided);
            }
            let subject = self.world.subject_called(subject.as_deref());
            let about = SubjectKey { environment: number, subject };
            match decision {
                DecisionKind::Skip(gate, _) => self.checker.note_skip(&self.world, about, gate),
                DecisionKind::Override => self.checker.note_override(&self.world, about),
                DecisionKind::Approve => self.checker.note_approval(&self.world, about, by),
                _ => {}
            }
        }
        self.world.happen(&event, text);
    }

    /// Time passes, and each step of the controller is checked.
    fn pass(&mut self, seconds: i64) -> Result<(), Broken> {
        let until = self.world.now + seconds;
        while self.world.advance_to_step(until) {
            // Without the service, nothing is measured and nothing decided.
            let is_watched = !self.world.is_service_down();
            if is_watched {
                self.checker.before(&self.world);
            }
            self.world.perform_next(until);
            if is_watched {
                self.checker.after(&self.world)?;
            }
        }
        self.world.now = until;
        Ok(())
    }

    /// All faults end, and people decide what waits for them: everything comes to rest.
    fn come_to_rest(&mut self) -> Result<(), Broken> {
        self.world.repair_everything();
        let mut open = Vec::new();
        for _ in 0..ROUNDS_MAX {
            self.pass(ROUND_S)?;
            open = self.world.open_moves();
            if open.is_empty() {
                return Ok(());
            }
            self.answer_waits()?;
        }
        let text = open.join("; ");
        Err(Broken { rule: "everything comes to rest when the faults are over", text })
    }

    /// People do what the reasons of waits name. Each wait ends by that, or has another reason.
    fn answer_waits(&mut self) -> Result<(), Broken> {
        for wait in self.world.answered_waits() {
            // The answer to another one may have ended it.
            if !self.world.still_waits(&wait) {
                continue;
            }
            for text in &wait.events {
                self.happen(text);
            }
            self.pass(ANSWER_S)?;
            if self.world.still_waits(&wait) {
                let AnsweredWait { about, waiting, events, .. } = wait;
                let text = format!("{about} waits for {}: {} after {}", waiting.what, waiting.text, events.join(", "));
                return Err(Broken { rule: "what a reason tells people to do ends the wait", text });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;

    #[test]
    fn a_walk_can_be_run_again_as_a_scenario() {
        for seed in 0..40 {
            let options = WalkOptions { seed, steps: 150, is_killed: false, has_story: false };
            let text = written(options, &generate::setting(seed), &(0..150).collect());
            let scenario = scenario::read("walk.yaml", text.as_bytes());
            let scenario = scenario.unwrap_or_else(|unreadable| panic!("{seed}: {:?}\n{text}", unreadable.diagnostics));
            assert!(scenario.timeline.len() > 40, "{seed}: {text}");
        }
    }
}
