//! The results of all steps, as a table at the end.

use std::fmt;
use std::time::Duration;

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The step passed. The text, if there is one, says what was not included.
    Passed(String),
    /// The step ran and failed.
    Failed,
    /// The step was skipped, for this reason.
    Skipped(String),
}

/// The results of all steps so far.
#[derive(Default)]
pub(crate) struct Summary {
    rows: Vec<(String, Outcome, Duration)>,
}

impl Summary {
    pub(crate) fn add(&mut self, name: impl Into<String>, outcome: Outcome, duration: Duration) {
        self.rows.push((name.into(), outcome, duration));
    }

    /// Whether no step failed.
    pub(crate) fn is_good(&self) -> bool {
        self.rows.iter().all(|(_, outcome, _)| *outcome != Outcome::Failed)
    }
}

impl From<bool> for Outcome {
    /// `Passed` for `true`, `Failed` for `false`.
    fn from(passed: bool) -> Self {
        if passed { Self::Passed(String::new()) } else { Self::Failed }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, outcome, duration) in &self.rows {
            let seconds = duration.as_secs_f32();
            writeln!(f, "  {name:<10} {seconds:>7.1} s  {outcome}")?;
        }
        let count = |matches: fn(&Outcome) -> bool| self.rows.iter().filter(|(_, outcome, _)| matches(outcome)).count();
        let passed = count(|outcome| matches!(outcome, Outcome::Passed(_)));
        let failed = count(|outcome| *outcome == Outcome::Failed);
        let skipped = count(|outcome| matches!(outcome, Outcome::Skipped(_)));
        write!(f, "  {passed} passed, {failed} failed, {skipped} skipped")
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed(note) if note.is_empty() => f.write_str("passed"),
            Self::Passed(note) => write!(f, "passed ({note})"),
            Self::Failed => f.write_str("FAILED"),
            Self::Skipped(reason) => write!(f, "skipped: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_steps_are_not_counted_as_passed() {
        let mut summary = Summary::default();
        summary.add("format", true.into(), Duration::from_millis(1234));
        summary.add("deny", Outcome::Skipped("no cargo-deny".to_owned()), Duration::ZERO);
        assert!(summary.is_good());
        let text = "  format         1.2 s  passed\n  deny           0.0 s  skipped: no cargo-deny\n  1 passed, 0 failed, 1 skipped";
        assert_eq!(summary.to_string(), text);
    }

    #[test]
    fn one_failure_fails_the_summary() {
        let mut summary = Summary::default();
        summary.add("format", false.into(), Duration::ZERO);
        summary.add("clippy", true.into(), Duration::ZERO);
        assert!(!summary.is_good());
    }
}
