//! The conformance corpora: each case has input files and the exact output that Kalypso must produce for them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use engine::compile::{Assignment, Compiled};
use engine::output::{Destination, assemble};
use libtest_mimic::Trial;
use model::diagnostic::{Code, Diagnostic};

use model::tree::{Blob, FileDifference, Open, OpenError, Sealed, Tree};

/// Returns the tests that `make` creates for the folder of the corpora. Without a folder, returns one ignored test whose name gives the reason.
pub fn trials(folder: Option<PathBuf>, make: impl FnOnce(PathBuf) -> Vec<Trial>) -> Vec<Trial> {
    const SKIPPED: &str = "skipped: conformance corpora not present";
    folder.map_or_else(|| vec![Trial::test(SKIPPED, || Ok(())).with_ignored_flag(true)], make)
}

/// Compiles the fleet of a case and compares the result with the expected output. The error lists the differences.
///
/// # Errors
/// Returns a readable text if the output differs or if a file cannot be read.
pub fn check_fleet(case: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(case.join("case.json")).map_err(|error| error.to_string())?;
    let json: serde_json::Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let environment = json["environment"].as_str().unwrap_or_default();
    let (fleet, read) = crate::directory::fleet(&case.join("input"), environment).map_err(|error| error.to_string())?;
    let compiled = Compiled::new(&fleet.into());
    let open = |sealed: &Sealed| compiled.open(sealed);
    let output = assemble(&compiled, &Tree::default(), &Destination::default(), &open);
    let output = output.map_err(|error| error.to_string())?;
    let expected = crate::directory::tree(&case.join("expected")).map_err(|error| error.to_string())?;
    let mut differences = differences(&expected, &output.tree, &open);
    let diagnostics: Vec<_> = read.into_iter().chain(compiled.diagnostics()).chain(output.diagnostics).collect();
    let outcomes = outcomes(&compiled, &diagnostics);
    let expected: BTreeSet<String> = match std::fs::read_to_string(case.join("expected-errors.txt")) {
        Ok(text) => text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect(),
        Err(_) => compiled.assignments().filter_map(|assignment| Some(format!("ok {}", assignment.id()?))).collect(),
    };
    differences.extend(expected.difference(&outcomes).map(|line| format!("missing: {line}")));
    differences.extend(outcomes.difference(&expected).map(|line| format!("unexpected: {line}")));
    if differences.is_empty() { Ok(()) } else { Err(differences.join("\n")) }
}

/// The differences between two trees, one line for each file.
pub fn differences(expected: &Tree, found: &Tree, open: &Open<'_>) -> Vec<String> {
    let line = |difference: Result<FileDifference, OpenError>| match difference {
        Ok(FileDifference { path, before: Some(before), after: Some(after) }) => {
            let (expected, found) = (shown(&before.blob), shown(&after.blob));
            format!("{path} differs:\nexpected {expected:?}\nfound    {found:?}")
        }
        Ok(FileDifference { path, before: Some(_), after: None }) => format!("{path} is missing"),
        Ok(FileDifference { path, .. }) => format!("{path} is too much"),
        Err(error) => error.to_string(),
    };
    expected.diff(found, open).map(line).collect()
}

fn shown(blob: &Blob) -> String {
    blob.bytes().map_or_else(|| blob.id().to_string(), |bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// The outcome of each assignment and of each broken policy, in the notation of the corpus.
fn outcomes(compiled: &Compiled, diagnostics: &[Diagnostic]) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    let good = compiled.assignments().filter(Assignment::is_rendered);
    lines.extend(good.filter_map(|assignment| Some(format!("ok {}", assignment.id()?))));
    for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.is_error()) {
        let class = match diagnostic.code {
            Code::MissingValue | Code::WrongValue | Code::InvalidSchema => "schema",
            Code::MissingTemplate => "template-missing",
            Code::TemplateSyntax | Code::TemplateFailed | Code::TemplateLimit => "template",
            Code::InvalidSelector => "selector",
            _ => diagnostic.code.id(),
        };
        lines.extend(diagnostic.assignments.iter().map(|id| format!("fail {id} {class}")));
        if let (Some(object), true) = (&diagnostic.object, diagnostic.assignments.is_empty()) {
            lines.insert(format!(
                "fail {}/{} {class}",
                object.kind.name().trim_start_matches("Scheduling").to_lowercase(),
                object.name
            ));
        }
    }
    lines
}
