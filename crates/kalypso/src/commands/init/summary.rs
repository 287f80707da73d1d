//! The text that `kalypso init` prints.

use std::fmt::Write as _;
use std::path::Path;

use crate::demo::trying;
use crate::platform::Made;
use crate::platform::answers::Answers;

/// What was made, and what was kept.
pub(super) fn made(folder: &Path, made: &Made, defaults: &[String]) -> String {
    let shown = trying::shown(folder);
    let mut text = match (made.new.is_empty(), made.kept.is_empty()) {
        (true, _) => format!("The platform in {shown} is complete\n"),
        (false, true) => format!("Made a platform in {shown}\n"),
        (false, false) => format!("Completed the platform in {shown}\n"),
    };
    let mut row = |name: &str, values: String| {
        if !values.is_empty() {
            let _ = writeln!(text, "  {name:<10}{values}");
        }
    };
    row("new", made.new.join(", "));
    row("kept", made.kept.join(", "));
    row("defaults", defaults.join(" "));
    for note in &made.notes {
        let _ = writeln!(text, "  note: {note}");
    }
    text
}

/// What to do next.
pub(super) fn next(folder: &Path, answers: &Answers) -> String {
    let first = answers.environments.first().map_or("ENV", String::as_str);
    let steps = [
        ("add a kind of clusters", format!("kalypso add cluster-type edge -e {first}")),
        ("add an application", "kalypso add workload hello-world --repo URL".to_owned()),
        ("assign its targets to clusters", format!("kalypso add policy hello-world -e {first}")),
        ("what would be written?", format!("kalypso plan -e {first}")),
        ("write it", format!("kalypso publish -e {first}")),
    ];
    let mut text = "\nNext:\n".to_owned();
    if let Some(enter) = trying::enter(folder) {
        let _ = writeln!(text, "{enter}");
    }
    for (purpose, command) in steps {
        let _ = writeln!(text, "    {command:<44}{purpose}");
    }
    text
}
