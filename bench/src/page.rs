//! Updates the figures on the page about performance. All figures of a table are from one run.

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::report::Row;

/// A table of the page, with the figures of one run.
struct FigureTable {
    begin: &'static str,
    /// Whether the table contains the figures of this benchmark.
    has: fn(&str) -> bool,
}

/// The hub has a separate table, because it takes as long as all other benchmarks together. So has the service, which is another program at work. The answers of commands
/// have one, because each is measured as a whole process.
const TABLES: [FigureTable; 6] = [
    FigureTable {
        begin: "<!-- figures: `cargo xtask bench --page docs/performance.md` writes them -->\n",
        has: |name| {
            !is_of_hub(name)
                && !is_overload_test(name)
                && !is_of_service(name)
                && !is_of_queries(name)
                && !is_of_promotion(name)
                && !is_of_app(name)
        },
    },
    FigureTable {
        begin: "<!-- figures: `cargo xtask bench --page docs/performance.md queries` writes them -->\n",
        has: is_of_queries,
    },
    FigureTable {
        begin: "<!-- figures: `cargo xtask bench --page docs/performance.md hub hub-postgresql` writes them -->\n",
        has: is_of_hub,
    },
    FigureTable {
        begin: "<!-- figures: `cargo xtask bench --page docs/performance.md service` writes them -->\n",
        has: is_of_service,
    },
    FigureTable {
        begin: "<!-- figures: `cargo xtask bench --page docs/performance.md promotion` writes them -->\n",
        has: is_of_promotion,
    },
    FigureTable {
        begin: "<!-- figures: `cargo xtask bench --page docs/performance.md app` writes them -->\n",
        has: is_of_app,
    },
];
const END: &str = "<!-- end of the figures -->\n";

fn is_of_hub(name: &str) -> bool {
    name.starts_with("hub")
}

fn is_of_queries(name: &str) -> bool {
    name == "queries"
}

fn is_of_service(name: &str) -> bool {
    name == "service"
}

fn is_of_promotion(name: &str) -> bool {
    name == "promotion"
}

fn is_of_app(name: &str) -> bool {
    name == "app"
}

/// Benchmarks of the hub under overload. They are not on the page: reports are lost or not, and the other figures depend more on the machine than on
/// the hub.
fn is_overload_test(name: &str) -> bool {
    matches!(name, "storm" | "streams" | "web")
}

/// Whether these benchmarks fill whole tables. `all` are the names of all benchmarks.
pub(crate) fn is_whole(names: &[&str], all: &[&str]) -> bool {
    let is_named = |name: &&&str| names.contains(*name);
    TABLES.iter().all(|place| {
        let of_place = || all.iter().filter(|name| (place.has)(name));
        of_place().all(|name| is_named(&name)) || !of_place().any(|name| is_named(&name))
    })
}

/// Replaces the figures on the page. A table does not change if one of its benchmarks failed.
pub(crate) fn update(page: &Path, rows: &[Row], failed: &[&str]) -> Result<()> {
    let mut text = std::fs::read_to_string(page).with_context(|| format!("could not read {}", page.display()))?;
    for place in TABLES.iter().filter(|place| !failed.iter().any(|name| (place.has)(name))) {
        let rows: Vec<&Row> = rows.iter().filter(|row| (place.has)(row.benchmark())).collect();
        if !rows.is_empty() {
            text = replaced(&text, place.begin, &format!("{}\n{}", machine(), table(&rows)))
                .with_context(|| format!("{} has no place for figures", page.display()))?;
        }
    }
    std::fs::write(page, text).with_context(|| format!("could not write {}", page.display()))
}

/// The page with other figures. None if the page has no place for them.
fn replaced(page: &str, begin: &str, figures: &str) -> Option<String> {
    let (before, rest) = page.split_once(begin)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{begin}\n{figures}\n{END}{after}"))
}

/// One line for each figure. A figure that belongs to the one above begins with a dash.
fn table(rows: &[&Row]) -> String {
    let line = |row: &&Row| {
        let what = row.what();
        let what = what.strip_prefix("  ").map_or_else(|| what.to_owned(), |detail| format!("– {detail}"));
        format!("| {what} | {} | {} | `{}` |\n", row.figure(), row.verdict(), row.repeat())
    };
    let lines: String = rows.iter().map(line).collect();
    format!("| what | figure | should be | again |\n|---|---|---|---|\n{lines}")
}

/// The line about the run: the command, the number of threads, and the processor.
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
        let [first, _, hub, ..] = TABLES.map(|place| place.begin);
        let page = format!("# Page\n{first}old\n{END}More.\n{hub}old\n{END}");
        let new = replaced(&page, first, "new\n").unwrap();
        assert_eq!(new, format!("# Page\n{first}\nnew\n\n{END}More.\n{hub}old\n{END}"));
        assert_eq!(replaced(&new, first, "new\n").unwrap(), new);
        assert!(replaced(&page, hub, "new\n").unwrap().ends_with(&format!("{hub}\nnew\n\n{END}")));
        assert_eq!(replaced("# Page\n", first, "new\n"), None);
    }

    #[test]
    fn table_with_a_failed_benchmark_is_kept() {
        let [first, _, hub, ..] = TABLES.map(|place| place.begin);
        let directory = tempfile::tempdir().unwrap();
        let page = directory.path().join("page.md");
        std::fs::write(&page, format!("{first}old\n{END}{hub}old\n{END}")).unwrap();
        let rows = ["fleet", "hub"].map(|name| Row::measured("a", 1.0, "s").with_benchmark(name));
        update(&page, &rows, &["yaml"]).unwrap();
        let text = std::fs::read_to_string(&page).unwrap();
        assert!(text.contains(&format!("{first}old")) && !text.contains(&format!("{hub}old")), "{text}");
    }

    #[test]
    fn table_needs_all_its_benchmarks_in_one_run() {
        let check = |names: &[&str]| is_whole(names, &["fleet", "yaml", "hub", "hub-postgresql", "service"]);
        assert!(check(&["fleet", "yaml", "hub", "hub-postgresql"]) && check(&["hub", "hub-postgresql"]));
        assert!(check(&["service"]));
        assert!(!check(&["hub"]) && !check(&["yaml", "hub", "hub-postgresql"]));
    }

    #[test]
    fn each_figure_is_a_table_row() {
        let rows = [
            Row::measured("a", 0.41, "s").at_most(1.0).with_benchmark("x"),
            Row::measured("  b", 7.0, "").with_benchmark("x"),
        ];
        let lines: Vec<_> = table(&rows.iter().collect::<Vec<_>>()).lines().skip(2).map(str::to_owned).collect();
        assert_eq!(
            lines,
            ["| a | 0.41 s | at most 1 s: ok | `cargo xtask bench x` |", "| – b | 7 |  | `cargo xtask bench x` |"]
        );
    }
}
