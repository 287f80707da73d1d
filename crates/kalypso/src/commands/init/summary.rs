//! The text that `kalypso init` prints.

use std::fmt::Write as _;
use std::path::Path;

use authoring::scaffold::{Pack, PackRole};
use workbench::platform::Made;
use workbench::platform::answers::Answers;

use crate::demo::trying;

/// What was made, what was kept, and the options that were not given.
pub(super) fn made(folder: &Path, made: &Made, (title, not_given): (&str, &[String])) -> String {
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
    row(title, not_given.join(" "));
    for note in &made.notes {
        let _ = writeln!(text, "  note: {note}");
    }
    text
}

/// What to do next.
pub(super) fn next(folder: &Path, answers: &Answers) -> String {
    let first = answers.environments.first().map_or("ENV", String::as_str);
    let mut steps = Vec::new();
    if let Some(pack) = answers.reconcilers.first().and_then(|name| Pack::find(name)) {
        let option = |pack: &Pack| match pack.role {
            PackRole::Reconciler => format!("--reconciler {}", pack.template),
            PackRole::Namespace => format!("--namespace {}", pack.template),
            PackRole::Config => format!("--config-type {}", pack.template),
        };
        let templates: Vec<_> = pack.with_others().into_iter().map(option).collect();
        steps.push((
            "a kind of clusters",
            format!("kalypso add cluster-type edge -e {first} {} --commit", templates.join(" ")),
        ));
        steps.push(("an application", "kalypso add workload hello --repo URL --workspace TEAM --commit".to_owned()));
        steps.push((
            "its targets on all clusters",
            format!("kalypso add policy hello -e {first} --targets '' --on '' --commit"),
        ));
    }
    steps.push(("what would be written?", format!("kalypso plan -e {first}")));
    steps.push(("write it", format!("kalypso publish -e {first}")));
    let mut text = "\nNext:\n".to_owned();
    if let Some(enter) = trying::enter(folder) {
        let _ = writeln!(text, "{enter}");
    }
    for (purpose, command) in steps {
        let _ = writeln!(text, "  {purpose}\n    {command}");
    }
    text
}
