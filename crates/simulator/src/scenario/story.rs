//! The story of a simulation: what happened, why moves wait, who decided, and which expectations were met.

use std::fmt::Write as _;
use std::sync::Arc;

/// The story of a simulation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// What happened, in the order of time.
    pub entries: Vec<StoryEntry>,
    /// The expectations, in the order of the scenario.
    pub expectations: Vec<ExpectationResult>,
    /// The time of the end, in seconds since the start.
    pub ended_s: i64,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryEntry {
    /// The time, in seconds since the start.
    pub at_s: i64,
    /// Where: an environment with the subject, or a part of the system.
    pub place: Arc<str>,
    /// The kind: `event`, or the kind of a change of a move.
    pub kind: &'static str,
    /// What happened.
    pub text: Arc<str>,
}

/// The result of an expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectationResult {
    /// The expectation as it is written.
    pub text: Arc<str>,
    /// The line in the scenario, from 1.
    pub line: usize,
    /// Whether it was met. None: the simulation ended before.
    pub is_met: Option<bool>,
    /// When it was decided, in seconds since the start.
    pub at_s: i64,
    /// What was found instead. Empty if the expectation was met.
    pub found: Arc<str>,
}

impl Story {
    /// Whether all expectations were met.
    pub fn is_good(&self) -> bool {
        self.expectations.iter().all(|expectation| expectation.is_met == Some(true))
    }

    /// The entries as text, a line for each.
    pub fn entries_text(&self) -> String {
        let width = self.entries.iter().map(|entry| entry.place.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        // The column of the texts, and four more.
        let indent = 11 + 2 + width + 2 + 4;
        let mut last = None;
        for StoryEntry { at_s, place, text: happened, .. } in &self.entries {
            let time = if last == Some(*at_s) { String::new() } else { elapsed(*at_s) };
            last = Some(*at_s);
            let indented = happened.replace('\n', &format!("\n{:indent$}", ""));
            let _ = writeln!(text, "{time:>11}  {place:width$}  {indented}");
        }
        text
    }

    /// The expectations as text, a line for each.
    pub fn expectations_text(&self) -> String {
        let mut text = String::new();
        for ExpectationResult { text: expected, line, is_met, at_s, found } in &self.expectations {
            let verdict = match is_met {
                Some(true) => "ok",
                Some(false) => "FAILED",
                None => "open",
            };
            let _ = write!(text, "{:>11}  {verdict:6}  {expected}", elapsed(*at_s));
            if *is_met != Some(true) {
                let _ = write!(text, " (line {line})");
                if !found.is_empty() {
                    let _ = write!(text, ": {found}");
                }
            }
            text.push('\n');
        }
        text
    }

    /// The whole story as text.
    pub fn text(&self) -> String {
        let expectations = self.expectations_text();
        if expectations.is_empty() {
            return self.entries_text();
        }
        format!("{}\nExpectations\n{expectations}", self.entries_text())
    }
}

/// Writes a time since the start: `1d 02:05`, `02:05:30`.
fn elapsed(seconds: i64) -> String {
    let (days, hours, minutes, rest) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    let day = if days > 0 { format!("{days}d ") } else { String::new() };
    let second = if rest > 0 { format!(":{rest:02}") } else { String::new() };
    format!("{day}{hours:02}:{minutes:02}{second}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_has_a_line_for_each_entry_and_each_expectation() {
        let entry =
            |at_s, place: &str, text: &str| StoryEntry { at_s, place: place.into(), kind: "", text: text.into() };
        let entries = vec![
            entry(0, "main", "change c1"),
            entry(0, "prod", "begins"),
            entry(93_930, "prod", "all rings are done"),
        ];
        let result = |is_met, found: &str| ExpectationResult {
            text: "prod has c1".into(),
            line: 9,
            is_met,
            at_s: 60,
            found: found.into(),
        };
        let expectations = vec![result(Some(true), ""), result(Some(false), "2 of 3 clusters have c1")];
        let story = Story { entries, expectations, ended_s: 0 };
        assert!(!story.is_good());
        assert_eq!(
            story.text().lines().collect::<Vec<_>>(),
            [
                "      00:00  main  change c1",
                "             prod  begins",
                "1d 02:05:30  prod  all rings are done",
                "",
                "Expectations",
                "      00:01  ok      prod has c1",
                "      00:01  FAILED  prod has c1 (line 9): 2 of 3 clusters have c1",
            ]
        );
    }
}
