//! `kalypso simulate`: a scenario of promotions in virtual time, as a story.

use std::path::Path;

use model::locate::Locator;
use serde::Serialize;
use simulator::scenario::walk::{WalkFailure, WalkOptions, walk};
use simulator::scenario::{self, ExpectationResult, Story, StoryEntry};
use utoipa::ToSchema;
use workbench::diagnostics::{DiagnosticBatch, DiagnosticReport};

use crate::arguments::{Format, Simulate};
use crate::exit::{Exit, Failure};
use crate::{reporting, terminal};

pub(super) fn run(options: &Simulate) -> anyhow::Result<Exit> {
    match &options.file {
        Some(file) => run_file(options, file),
        None if options.random => run_walks(options),
        None => {
            terminal::answer(scenario::EXAMPLE)?;
            Ok(Exit::Good)
        }
    }
}

fn run_file(options: &Simulate, file: &Path) -> anyhow::Result<Exit> {
    let content = std::fs::read(file)
        .map_err(|error| Failure::outside(format!("{} could not be read: {error}", file.display())))?;
    let scenario = match scenario::read(&file.display().to_string(), &content) {
        Ok(scenario) => scenario,
        Err(unreadable) => {
            let mut report = DiagnosticReport::new();
            let batch = DiagnosticBatch { diagnostics: &unreadable.diagnostics, ..DiagnosticBatch::default() };
            report.add(batch, &mut Locator::of_files(&unreadable.files));
            reporting::to_stderr(&report)?;
            return Err(Failure::refused("the scenario can't be read, because of these errors").into());
        }
    };
    let story = scenario::run(scenario, options.seed, options.until);
    match options.output {
        Format::Human if options.quiet => terminal::answer(&story.expectations_text())?,
        Format::Human => terminal::answer(&story.text())?,
        format => terminal::answer(&terminal::structured(&SimulatedScenario::new(&story, options.quiet), format))?,
    }
    Ok(Exit::Good.unless(!story.is_good()))
}

/// A scenario that ran.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SimulatedScenario {
    story: Vec<EntryFields>,
    expectations: Vec<ExpectationFields>,
    /// Whether all expectations were met.
    is_good: bool,
    /// The end, in seconds since the start.
    seconds: i64,
}

/// What happened.
#[derive(Serialize, ToSchema)]
struct EntryFields {
    /// When it happened, in seconds since the start.
    seconds: i64,
    /// Where: an environment with the workload; empty for an event of the timeline.
    place: String,
    /// The kind of the event: `event`, or a kind of event of a promotion, such as `ringDone`.
    kind: &'static str,
    /// What happened.
    text: String,
}

/// The result of an expectation.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ExpectationFields {
    /// The expectation as it is written.
    text: String,
    /// Its line in the scenario.
    line: usize,
    /// Whether it was met; `null` if the simulation ended before.
    is_met: Option<bool>,
    /// When that was decided, in seconds since the start.
    seconds: i64,
    /// What was found instead; empty if it was met.
    found: String,
}

impl SimulatedScenario {
    fn new(story: &Story, is_quiet: bool) -> Self {
        let entry = |entry: &StoryEntry| EntryFields {
            seconds: entry.at_s,
            place: entry.place.to_string(),
            kind: entry.kind,
            text: entry.text.to_string(),
        };
        let expectation = |result: &ExpectationResult| ExpectationFields {
            text: result.text.to_string(),
            line: result.line,
            is_met: result.is_met,
            seconds: result.at_s,
            found: result.found.to_string(),
        };
        Self {
            story: story.entries.iter().filter(|_| !is_quiet).map(entry).collect(),
            expectations: story.expectations.iter().map(expectation).collect(),
            is_good: story.is_good(),
            seconds: story.ended_s,
        }
    }
}

/// Random walks.
#[derive(Serialize, ToSchema)]
pub(crate) struct SimulatedWalks {
    /// The number of walks.
    walks: u64,
    /// The number of steps of each.
    steps: usize,
    /// How many steps of the controller they had.
    decisions: u64,
    /// The walk that broke a rule; `null` if there is none.
    failure: Option<WalkFailureFields>,
}

/// A walk that broke a rule.
#[derive(Serialize, ToSchema)]
struct WalkFailureFields {
    /// Its seed.
    seed: u64,
    /// The rule.
    rule: &'static str,
    /// What happened.
    text: String,
    /// The walk as a scenario, with as few events as the search found.
    scenario: String,
}

fn run_walks(options: &Simulate) -> anyhow::Result<Exit> {
    let first = options.seed.unwrap_or(1);
    let mut decisions = 0;
    let mut failure = None;
    for seed in first..first.saturating_add(options.walks) {
        match walk(WalkOptions { seed, steps: options.steps, is_killed: false, has_story: false }) {
            Ok(end) => decisions += end.decisions,
            Err(found) => {
                failure = Some(found);
                break;
            }
        }
    }
    match options.output {
        Format::Human => terminal::answer(&walks_text(options, decisions, failure.as_deref()))?,
        format => {
            let failure = failure.as_deref().map(|failure| WalkFailureFields {
                seed: failure.seed,
                rule: failure.rule,
                text: failure.text.clone(),
                scenario: failure.scenario.clone(),
            });
            let answer = SimulatedWalks { walks: options.walks, steps: options.steps, decisions, failure };
            terminal::answer(&terminal::structured(&answer, format))?;
        }
    }
    Ok(Exit::Good.unless(failure.is_some()))
}

fn walks_text(options: &Simulate, decisions: u64, failure: Option<&WalkFailure>) -> String {
    match failure {
        None => format!(
            "{} of {} steps broke no rule: {}\n",
            model::count::count(options.walks as usize, "walk"),
            options.steps,
            model::count::count(decisions as usize, "decision of the controller"),
        ),
        Some(failure) => {
            let WalkFailure { seed, rule, text, scenario, story, .. } = failure;
            let story = if options.quiet { String::new() } else { format!("\n{}", story.entries_text()) };
            format!("walk {seed} broke a rule: {rule}\n{text}\n\n{scenario}{story}")
        }
    }
}
