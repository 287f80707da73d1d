//! The figures, as a table or as JSON.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

/// The bytes of one MiB.
pub(crate) const MIB: f64 = 1024.0 * 1024.0;

/// A figure with its bound, or the reason why it could not be measured.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    benchmark: &'static str,
    what: String,
    unit: &'static str,
    figure: Result<f64, String>,
    bound: Option<Bound>,
}

#[derive(Clone, Copy, Debug)]
enum Bound {
    AtMost(f64),
    AtLeast(f64),
    Exactly(f64),
}

impl Bound {
    fn words(self) -> (&'static str, f64) {
        match self {
            Self::AtMost(bound) => ("at most", bound),
            Self::AtLeast(bound) => ("at least", bound),
            Self::Exactly(bound) => ("exactly", bound),
        }
    }

    fn is_met(self, figure: f64) -> bool {
        match self {
            Self::AtMost(bound) => figure <= bound,
            Self::AtLeast(bound) => figure >= bound,
            Self::Exactly(bound) => (figure - bound).abs() < 0.5,
        }
    }
}

impl Row {
    /// A figure without a bound.
    pub(crate) fn measured(what: impl Into<String>, figure: f64, unit: &'static str) -> Self {
        Self { benchmark: "", what: what.into(), unit, figure: Ok(figure), bound: None }
    }

    /// A figure that could not be measured.
    pub(crate) fn skipped(what: impl Into<String>, unit: &'static str, why: impl Into<String>) -> Self {
        Self { benchmark: "", what: what.into(), unit, figure: Err(why.into()), bound: None }
    }

    /// Sets the largest acceptable figure.
    pub(crate) fn at_most(self, bound: f64) -> Self {
        Self { bound: Some(Bound::AtMost(bound)), ..self }
    }

    /// Sets the smallest acceptable figure.
    pub(crate) fn at_least(self, bound: f64) -> Self {
        Self { bound: Some(Bound::AtLeast(bound)), ..self }
    }

    /// Sets the only acceptable count.
    pub(crate) fn exactly(self, count: f64) -> Self {
        Self { bound: Some(Bound::Exactly(count)), ..self }
    }

    /// The same row without a bound.
    pub(crate) fn without_bound(self) -> Self {
        Self { bound: None, ..self }
    }

    pub(crate) fn with_benchmark(mut self, benchmark: &'static str) -> Self {
        self.benchmark = benchmark;
        self
    }

    /// The name of the figure. If the figure belongs to the row above, the name begins with two spaces.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// The name of the benchmark that measured the figure.
    pub(crate) fn benchmark(&self) -> &'static str {
        self.benchmark
    }

    /// The command that repeats the measurement.
    pub(crate) fn repeat(&self) -> String {
        format!("cargo xtask bench {}", self.benchmark)
    }

    /// The bound and whether the figure meets it, or the reason why there is no figure.
    pub(crate) fn verdict(&self) -> String {
        let bound = self.bound.map(|bound| {
            let (words, limit) = bound.words();
            (bound, format!("{words} {}", with_unit(limit, self.unit)))
        });
        match (&self.figure, bound) {
            (Ok(figure), Some((bound, words))) => {
                format!("{words}: {}", if bound.is_met(*figure) { "ok" } else { "MISSED" })
            }
            (Ok(_), None) => String::new(),
            (Err(why), Some((_, words))) => format!("{words}; skipped: {why}"),
            (Err(why), None) => format!("skipped: {why}"),
        }
    }

    /// The figure with its unit.
    pub(crate) fn figure(&self) -> String {
        self.figure.as_ref().map_or_else(|_| "–".to_owned(), |figure| with_unit(*figure, self.unit))
    }
}

fn with_unit(figure: f64, unit: &str) -> String {
    format!("{} {unit}", shown(figure)).trim_end().to_owned()
}

/// A count with separators: `1,000,000`.
pub(crate) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let is_start = |position: usize| position > 0 && (digits.len() - position).is_multiple_of(3);
    let digit = |(position, digit): (usize, char)| is_start(position).then_some(',').into_iter().chain([digit]);
    digits.chars().enumerate().flat_map(digit).collect()
}

/// The figure with three significant digits.
fn shown(figure: f64) -> String {
    match figure.abs() {
        size if (size >= 100.0 || figure.fract() == 0.0) && figure >= 0.0 => grouped(figure.round() as usize),
        size if size >= 100.0 => format!("{figure:.0}"),
        size if size >= 10.0 => format!("{figure:.1}"),
        size if size >= 0.1 => format!("{figure:.2}"),
        _ => format!("{figure:.4}"),
    }
}

/// One line for each figure, in columns.
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
        let mut json =
            json!({ "benchmark": row.benchmark, "what": row.what, "repeat": row.repeat(), "unit": row.unit });
        match &row.figure {
            Ok(figure) => json["figure"] = json!(figure),
            Err(why) => json["skipped"] = json!(why),
        }
        if let Some(bound) = row.bound {
            let (words, limit) = bound.words();
            json[words.replace(' ', "_")] = json!(limit);
            if let Ok(figure) = row.figure {
                json["ok"] = json!(bound.is_met(figure));
            }
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
    fn figures_are_compared_with_their_bounds() {
        check(Row::measured("a", 0.41, "s").at_most(1.0), "0.41 s", "at most 1 s: ok");
        check(Row::measured("a", 1.25, "s").at_most(1.0), "1.25 s", "at most 1 s: MISSED");
        check(Row::measured("a", 1234.4, "MB/s"), "1,234 MB/s", "");
        check(Row::measured("a", 999.0, "").exactly(1_000.0), "999", "exactly 1,000: MISSED");
        check(Row::measured("a", 2.0, "s").at_most(1.0).without_bound(), "2 s", "");
    }

    #[test]
    fn skipped_figures_show_the_reason() {
        check(Row::skipped("a", "s", "no sample"), "–", "skipped: no sample");
        check(Row::skipped("a", "s", "no sample").at_most(2.0), "–", "at most 2 s; skipped: no sample");
        assert_eq!(json(&[Row::skipped("a", "s", "no sample").with_benchmark("b")])[0]["skipped"], "no sample");
    }
}
