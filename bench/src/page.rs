//! The figures on the page about performance: those of one run, and nothing written by hand.

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::report::Row;

const BEGIN: &str = "<!-- figures: `cargo xtask bench --page docs/performance.md` writes them -->\n";
const END: &str = "<!-- end of the figures -->\n";

/// Puts the figures where the page has the figures of an earlier run.
pub(crate) fn update(page: &Path, rows: &[Row]) -> Result<()> {
    let text = std::fs::read_to_string(page).with_context(|| format!("could not read {}", page.display()))?;
    let text = replaced(&text, &format!("{}\n{}", machine(), table(rows)))
        .with_context(|| format!("{} has no place for figures", page.display()))?;
    std::fs::write(page, text).with_context(|| format!("could not write {}", page.display()))
}

/// The page with other figures. None if it has no place for them.
fn replaced(page: &str, figures: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{figures}\n{END}{after}"))
}

/// A line a figure; what belongs to the figure above it begins with a dash.
fn table(rows: &[Row]) -> String {
    let line = |row: &Row| {
        let what = row.what();
        let what = what.strip_prefix("  ").map_or_else(|| what.to_owned(), |detail| format!("– {detail}"));
        format!("| {what} | {} | {} | `{}` |\n", row.figure(), row.verdict(), row.repeat())
    };
    let lines: String = rows.iter().map(line).collect();
    format!("| what | figure | should be | again |\n|---|---|---|---|\n{lines}")
}

/// Where the figures were measured.
fn machine() -> String {
    let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = information.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("a processor that does not say its name", |(_, name)| name.trim());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    format!("One run of `cargo xtask bench` on {threads} threads of {model}.\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_figures_are_replaced() {
        let page = format!("# Page\n{BEGIN}old\n{END}More.\n");
        let new = replaced(&page, "new\n").unwrap();
        assert_eq!(new, format!("# Page\n{BEGIN}\nnew\n\n{END}More.\n"));
        assert_eq!(replaced(&new, "new\n").unwrap(), new);
        assert_eq!(replaced("# Page\n", "new\n"), None);
    }

    #[test]
    fn a_figure_is_a_line() {
        let rows = [Row::measured("a", 0.41, "s").at_most(1.0).of("x"), Row::measured("  b", 7.0, "").of("x")];
        let lines: Vec<_> = table(&rows).lines().skip(2).map(str::to_owned).collect();
        assert_eq!(
            lines,
            ["| a | 0.41 s | at most 1 s: ok | `cargo xtask bench x` |", "| – b | 7 |  | `cargo xtask bench x` |"]
        );
    }
}
