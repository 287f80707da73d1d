//! Properties of every fleet, tested with all cases of the suite.

use std::path::Path;

use model::tree::{Blob, closed};
use testkit::suite::{self, Case, CaseOutcome, run, run_with};

type RenderedFiles = Vec<(String, Vec<u8>)>;

fn cases() -> Vec<Case> {
    let cases = suite::all(Path::new(suite::FOLDER)).unwrap();
    assert!(cases.len() > 50, "only {} cases were found", cases.len());
    cases
}

/// Runs every case before and after `change` of its files, and compares the results of `extract`.
fn check<T: PartialEq + std::fmt::Debug>(change: impl Fn(&Case) -> RenderedFiles, extract: impl Fn(&CaseOutcome) -> T) {
    for case in cases() {
        let (before, after) = (run(&case).unwrap(), run_with(&case, &change(&case)).unwrap());
        assert_eq!(extract(&before), extract(&after), "{}", case.title);
    }
}

/// All results of a case, including the places in messages.
fn everything(outcome: &CaseOutcome) -> (String, String, Vec<(String, String)>) {
    (outcome.says.clone(), outcome.makes.clone(), contents(outcome))
}

/// The results of a case, without the places in messages.
fn without_places(outcome: &CaseOutcome) -> (Vec<String>, String, Vec<(String, String)>) {
    let messages =
        outcome.diagnostics.iter().map(|found| format!("{} {} {:?}", found.code, found.message, found.assignments));
    let mut messages: Vec<_> = messages.collect();
    messages.sort();
    (messages, outcome.makes.clone(), contents(outcome))
}

fn contents(outcome: &CaseOutcome) -> Vec<(String, String)> {
    let text = |blob: &Blob| String::from_utf8_lossy(blob.bytes().unwrap()).into_owned();
    let files = outcome.tree.files(&closed).map(Result::unwrap);
    files.map(|(path, entry)| (path, text(&entry.blob))).collect()
}

/// Changes the text of every file of a case.
fn with_texts(case: &Case, change: impl Fn(&str) -> String) -> RenderedFiles {
    case.input.iter().map(|(path, text)| (path.clone(), change(text).into_bytes())).collect()
}

/// Splits a document into parts that begin in the first column.
fn top_level_parts(document: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for line in document.split_inclusive('\n') {
        match parts.last_mut() {
            Some(part) if line.starts_with([' ', '\n', '-']) => part.push_str(line),
            _ => parts.push(line.to_owned()),
        }
    }
    parts
}

/// Changes each document of a text.
fn each_document(text: &str, change: impl Fn(&str) -> String) -> String {
    let documents = text.split("\n---\n").map(|document| change(&format!("{}\n", document.trim_end_matches('\n'))));
    documents.collect::<Vec<_>>().join("---\n")
}

#[test]
fn rendering_twice_gives_the_same_bytes() {
    check(Case::files, everything);
}

#[test]
fn the_order_of_files_does_not_matter() {
    check(|case| case.files().into_iter().rev().collect(), everything);
    check(
        |case| {
            let mut files = case.files();
            files.rotate_left(case.title.len() % case.input.len().max(1));
            files
        },
        everything,
    );
}

#[test]
fn comments_do_not_matter() {
    let commented = |document: &str| {
        let parts = top_level_parts(document);
        parts.into_iter().flat_map(|part| ["# why\n".to_owned(), part]).collect()
    };
    check(|case| with_texts(case, |text| each_document(text, commented)), without_places);
}

#[test]
fn the_order_of_keys_does_not_matter() {
    let reversed = |document: &str| top_level_parts(document).into_iter().rev().collect();
    // In a file with errors, the first one depends on the order.
    let is_good = |text: &str| model::yaml::read(text, &model::yaml::YamlOptions::OBJECTS).problems.is_empty();
    let change = |text: &str| if is_good(text) { each_document(text, reversed) } else { text.to_owned() };
    check(|case| with_texts(case, change), without_places);
}

#[test]
fn line_ends_do_not_matter() {
    check(|case| with_texts(case, |text| text.replace('\n', "\r\n")), without_places);
}

#[test]
fn how_many_threads_there_are_does_not_matter() {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let (one, many) = (pool(1), pool(8));
    for case in cases() {
        let with = |pool: &rayon::ThreadPool| everything(&pool.install(|| run(&case)).unwrap());
        assert_eq!(with(&one), with(&many), "{}", case.title);
    }
}

const BROKEN: &[&str] = &[
    "kind: ConfigMap\n  metadata:",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: broken}\ndata: {A: 1}\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: broken\n  labels: {platform-config: \"true\", cluster-type: nowhere}\n  \
     annotations: {config.kalypso.io/priority: high}\ndata: {REGION: broken}\n",
    "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Template\nmetadata: {name: broken}\nspec: {type: config, manifests: [\"{{ if\"]}\n",
    "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ConfigSchema\nmetadata: {name: broken, labels: {cluster-type: nowhere}}\n\
     spec: {schema: \"{\"}\n",
    "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: SchedulingPolicy\nmetadata: {name: broken}\nspec: {clusterTypeSelector: {}}\n",
    "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata: {name: broken}\n\
     spec: {deploymentTargets: [{name: a, environment: nowhere, manifests: {}}]}\n",
    "\0",
];

#[test]
fn a_broken_object_changes_nothing_that_does_not_depend_on_it() {
    let and_broken = |case: &Case| {
        let broken = BROKEN.iter().enumerate();
        let broken = broken.map(|(number, text)| (format!("broken-{number}.yaml"), text.as_bytes().to_vec()));
        case.files().into_iter().chain(broken).collect()
    };
    check(and_broken, contents);
}

const WORDS: &[&str] = &[
    "{{",
    "}}",
    "'",
    "\"",
    "- ",
    ": ",
    "\n",
    "\n---\n",
    "&a ",
    "*a",
    "|",
    "{",
    "}",
    "[",
    "]",
    "null",
    "true",
    "nan",
    "1e999",
    "\0",
    "\u{2028}",
    "drone",
    "hello",
    "web",
    "{{ .ConfigData.REGION }}",
    "{\"$ref\": \"#\"}",
    "platform-config: \"true\"",
    "name",
    "labels",
    "matchExpressions",
];

#[test]
fn no_input_makes_it_panic() {
    let inputs: Vec<_> = cases().iter().map(testkit::fuzz::fleet_input).collect();
    let inputs: Vec<_> = inputs.iter().map(Vec::as_slice).collect();
    let (name, body) = ("fleet", testkit::fuzz::fleet as fn(&[u8]));
    testkit::fuzz::FuzzTarget { name, body, seeds: &inputs, words: WORDS, count: 1_000 }
        .run(|name| std::env::var(name).ok());
}
