//! The stories of `stories/`: each scenario gives exactly the story beside it, and meets its expectations.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use model::locate::Locator;
use simulator::scenario;

/// The least number of stories.
const STORIES_MIN: usize = 30;

fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("stories");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "yaml")).collect();
    files.sort();
    files
}

fn read(path: &Path) -> scenario::Scenario {
    let name = path.file_name().unwrap().to_string_lossy();
    scenario::read(&name, &std::fs::read(path).unwrap()).unwrap_or_else(|unreadable| {
        let mut locator = Locator::of_files(&unreadable.files);
        let mut text = String::new();
        for diagnostic in &unreadable.diagnostics {
            let place = diagnostic.labels.first().and_then(|label| locator.shown(&label.origin)).unwrap_or_default();
            writeln!(text, "{place}: {} ({})", diagnostic.message, diagnostic.help.join("; ")).unwrap();
        }
        panic!("{text}")
    })
}

#[test]
fn every_scenario_gives_its_story() {
    let is_blessing = std::env::var_os("KALYPSO_BLESS").is_some();
    let mut wrong = Vec::new();
    for path in scenarios() {
        let story = scenario::run(read(&path), None, None);
        let (expected, text) = (path.with_extension("story"), story.text());
        if is_blessing {
            std::fs::write(&expected, &text).unwrap();
        }
        if std::fs::read_to_string(&expected).unwrap_or_default() != text {
            wrong.push(format!("{} has another story:\n{text}", path.display()));
        }
        if !story.is_good() || story.expectations.is_empty() {
            wrong.push(format!("{}:\n{}", path.display(), story.expectations_text()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_scenario_begins_with_a_summary() {
    let scenarios = scenarios();
    assert!(scenarios.len() >= STORIES_MIN, "{} stories", scenarios.len());
    for path in scenarios {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# ") && text.lines().next().unwrap().ends_with('.'), "{}", path.display());
    }
}
