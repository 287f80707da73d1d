//! The figures, as a table for people or as JSON.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

/// A figure, or why there is none.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    benchmark: &'static str,
    what: String,
    outcome: Outcome,
}

#[derive(Clone, Debug)]
enum Outcome {
    Measured { figure: f64, unit: &'static str, at_most: Option<f64> },
    Skipped(String),
}

impl Row {
    /// A figure that has no bound.
    pub(crate) fn measured(what: impl Into<String>, figure: f64, unit: &'static str) -> Self {
        Self { benchmark: "", what: what.into(), outcome: Outcome::Measured { figure, unit, at_most: None } }
    }

    /// Something that could not be measured.
    pub(crate) fn skipped(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { benchmark: "", what: what.into(), outcome: Outcome::Skipped(why.into()) }
    }

    /// The largest figure that is good.
    pub(crate) fn at_most(mut self, bound: f64) -> Self {
        if let Outcome::Measured { at_most, .. } = &mut self.outcome {
            *at_most = Some(bound);
        }
        self
    }

    pub(crate) fn of(mut self, benchmark: &'static str) -> Self {
        self.benchmark = benchmark;
        self
    }

    fn repeat(&self) -> String {
        format!("cargo xtask bench {}", self.benchmark)
    }

    fn verdict(&self) -> String {
        match &self.outcome {
            Outcome::Measured { figure, unit, at_most: Some(bound) } => {
                let word = if figure <= bound { "ok" } else { "MISSED" };
                format!("at most {} {unit}: {word}", shown(*bound))
            }
            Outcome::Measured { at_most: None, .. } => String::new(),
            Outcome::Skipped(why) => format!("skipped: {why}"),
        }
    }

    fn figure(&self) -> String {
        match &self.outcome {
            Outcome::Measured { figure, unit, .. } => format!("{} {unit}", shown(*figure)),
            Outcome::Skipped(_) => "–".to_owned(),
        }
    }
}

/// Three digits that count.
fn shown(figure: f64) -> String {
    match figure.abs() {
        size if size >= 100.0 || figure.fract() == 0.0 => format!("{figure:.0}"),
        size if size >= 10.0 => format!("{figure:.1}"),
        size if size >= 0.1 => format!("{figure:.2}"),
        _ => format!("{figure:.4}"),
    }
}

/// A line a figure, in columns.
pub(crate) fn table(rows: &[Row]) -> String {
    let cells: Vec<_> = rows.iter().map(|row| [row.what.clone(), row.figure(), row.verdict(), row.repeat()]).collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths = [width(0), width(1), width(2)];
    let mut text = String::new();
    for [what, figure, verdict, repeat] in &cells {
        let _ = writeln!(text, "{what:<0$}  {figure:>1$}  {verdict:<2$}  {repeat}", widths[0], widths[1], widths[2]);
    }
    text
}

/// The figures as a JSON list.
pub(crate) fn json(rows: &[Row]) -> Json {
    let row = |row: &Row| {
        let mut json = json!({ "benchmark": row.benchmark, "what": row.what, "repeat": row.repeat() });
        match &row.outcome {
            Outcome::Measured { figure, unit, at_most } => {
                json["figure"] = json!(figure);
                json["unit"] = json!(unit);
                if let Some(bound) = at_most {
                    json["at_most"] = json!(bound);
                    json["ok"] = json!(figure <= bound);
                }
            }
            Outcome::Skipped(why) => json["skipped"] = json!(why),
        }
        json
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(row: Row, figure: &str, verdict: &str) {
        assert_eq!((row.figure().as_str(), row.verdict().as_str()), (figure, verdict));
    }

    #[test]
    fn a_figure_is_held_against_its_bound() {
        check(Row::measured("a", 0.41, "s").at_most(1.0), "0.41 s", "at most 1 s: ok");
        check(Row::measured("a", 1.25, "s").at_most(1.0), "1.25 s", "at most 1 s: MISSED");
        check(Row::measured("a", 1234.5, "MB/s"), "1234 MB/s", "");
    }

    #[test]
    fn what_was_not_measured_says_why() {
        check(Row::skipped("a", "no sample"), "–", "skipped: no sample");
        assert_eq!(json(&[Row::skipped("a", "no sample").of("b")])[0]["skipped"], "no sample");
    }
}
