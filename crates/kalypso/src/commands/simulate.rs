//! `kalypso simulate`: a scenario of promotions in virtual time, as a story.

use std::path::Path;

use model::locate::Locator;
use serde_json::{Value as Json, json};
use simulator::scenario::walk::{WalkFailure, WalkOptions, walk};
use simulator::scenario::{self, Story};
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
        format => terminal::answer(&terminal::structured(&json_of(&story, options.quiet), format))?,
    }
    Ok(Exit::Good.unless(!story.is_good()))
}

fn json_of(story: &Story, is_quiet: bool) -> Json {
    let entry = |entry: &scenario::StoryEntry| json!({"seconds": entry.at_s, "place": &*entry.place, "kind": entry.kind, "text": &*entry.text});
    let entries: Vec<_> = story.entries.iter().filter(|_| !is_quiet).map(entry).collect();
    let expectation = |found: &scenario::ExpectationResult| {
        json!({
            "text": &*found.text,
            "line": found.line,
            "isMet": found.is_met,
            "seconds": found.at_s,
            "found": &*found.found,
        })
    };
    let expectations: Vec<_> = story.expectations.iter().map(expectation).collect();
    json!({"story": entries, "expectations": expectations, "isGood": story.is_good(), "seconds": story.ended_s})
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
            let failure = failure.as_deref().map(|failure| {
                json!({
                    "seed": failure.seed,
                    "rule": failure.rule,
                    "text": failure.text,
                    "scenario": failure.scenario,
                })
            });
            let answer =
                json!({"walks": options.walks, "steps": options.steps, "decisions": decisions, "failure": failure});
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
