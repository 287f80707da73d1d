//! Renders every template of the conformance corpus and compares the output with Go's output, byte for byte.
//!
//! The environment variable `KALYPSO_CONFORMANCE` is the path of the folder that contains `conformance/`.

mod decode;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gotemplate::{RenderLimits, Template};
use libtest_mimic::{Arguments, Failed, Trial};

/// Cases that intentionally differ from Go. The test fails if one of them does not differ.
const EXCEPTIONS: &[&str] = &[
    // Passwords and ciphers belong in a vault: see `docs/reference/template-functions.md`.
    "p-sprig-crypto-004",
    "p-sprig-crypto-005",
    "p-sprig-crypto-006",
    "p-sprig-crypto-007",
    "p-sprig-crypto-008",
];

#[derive(Default)]
struct Group {
    passed: usize,
    failures: Vec<String>,
}

fn main() {
    let folder = std::env::var_os("KALYPSO_CONFORMANCE").map(PathBuf::from);
    let trials = testkit::corpus::trials(folder, |folder| {
        let same = folder.clone();
        vec![
            Trial::test("templates_render_as_in_go", move || templates_render_as_in_go(&folder)),
            Trial::test("fields_that_are_not_read_do_not_matter", move || unread_fields_do_not_matter(&same)),
        ]
    });
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn templates_render_as_in_go(folder: &Path) -> Result<(), Failed> {
    let corpus = std::fs::read_to_string(folder.join("conformance/templates.jsonl"))?;
    let mut groups = BTreeMap::<String, Group>::new();
    for line in corpus.lines() {
        let case: serde_json::Value = serde_json::from_str(line)?;
        let group = groups.entry(text(&case, "group")).or_default();
        match check(&case) {
            Ok(()) => group.passed += 1,
            Err(failure) => group.failures.push(failure),
        }
    }
    let failed: usize = groups.values().map(|group| group.failures.len()).sum();
    if failed == 0 { Ok(()) } else { Err(summary(&groups).into()) }
}

/// Checks that the case has the same result as in Go, or that an exception has another one.
fn check(case: &serde_json::Value) -> Result<(), String> {
    let name = text(case, "name");
    let difference = difference(case);
    match (difference, EXCEPTIONS.contains(&name.as_str())) {
        (None, false) | (Some(_), true) => Ok(()),
        (Some(difference), false) => Err(format!("{name}: {}\n{difference}", case["template"])),
        (None, true) => Err(format!("{name} passes: take it off the list of exceptions")),
    }
}

fn difference(case: &serde_json::Value) -> Option<String> {
    let expected = case.get("output").and_then(serde_json::Value::as_str);
    let rendered = Template::parse("template", &text(case, "template"))
        .and_then(|template| template.render_nested(&decode::decode(&case["data"]), &RenderLimits::default()));
    match (expected, rendered) {
        (Some(expected), Ok(output)) if output == expected.as_bytes() => None,
        (Some(expected), Ok(output)) => Some(format!("  expected {expected:?}\n  got    {:?}", shown(&output))),
        (Some(expected), Err(error)) => Some(format!("  expected {expected:?}\n  error  {error}")),
        (None, Err(_)) => None,
        (None, Ok(output)) => {
            Some(format!("  expected an error: {}\n  got    {:?}", case["error_text"], shown(&output)))
        }
    }
}

/// Checks that the output does not depend on the fields that [`gotemplate::Reads`] does not contain.
fn unread_fields_do_not_matter(folder: &Path) -> Result<(), Failed> {
    let corpus = std::fs::read_to_string(folder.join("conformance/templates.jsonl"))?;
    let mut changed_fields = 0;
    for line in corpus.lines() {
        let case: serde_json::Value = serde_json::from_str(line)?;
        let Ok(template) = Template::parse("template", &text(&case, "template")) else { continue };
        let Some(data) = case["data"].as_object() else { continue };
        let mut other = data.clone();
        for (_, value) in other.iter_mut().filter(|(name, _)| !template.reads().field(name)) {
            *value = serde_json::json!("nobody reads this");
            changed_fields += 1;
        }
        let render =
            |data| template.render(&decode::decode(&serde_json::Value::Object(data)), &RenderLimits::default());
        if render(data.clone()) != render(other) {
            return Err(format!("{} reads more than {:?}", text(&case, "name"), template.reads()).into());
        }
    }
    if changed_fields > 0 { Ok(()) } else { Err("no case has a field that its template does not read".into()) }
}

fn shown(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

fn text(case: &serde_json::Value, key: &str) -> String {
    case[key].as_str().unwrap_or_default().to_owned()
}

/// The failures, then a line for each group.
fn summary(groups: &BTreeMap<String, Group>) -> String {
    let failures = groups.values().flat_map(|group| &group.failures).map(|failure| format!("{failure}\n"));
    let lines = groups.iter().map(|(name, group)| {
        let all = group.passed + group.failures.len();
        format!("{name}: {} of {all}\n", group.passed)
    });
    failures.chain(lines).collect()
}
