//! Tests that the reference is equal to the behaviour of the reader, and that the pages are equal to the reference.

use std::fs;
use std::path::Path;

use clap::CommandFactory as _;
use model::diagnostic::Code;
use model::kind::Kind;
use model::source::{File, Files, Source};
use model::yaml;
use serde_json::Value;
use testkit::yaml_json::json;

use crate::arguments::Arguments;
use crate::object_schema::schema;

/// Whether an object is valid by the schema of all kinds, by the schema of `kind`, and by the reader.
fn verdicts(kind: Kind, object: &str) -> [bool; 3] {
    let reading = yaml::read(object, &yaml::YamlOptions::OBJECTS);
    let instance = json(&reading.documents[0].root);
    let by = |kind| jsonschema::validator_for(&schema(kind)).unwrap().is_valid(&instance);
    let mut files = Files::default();
    let content: std::sync::Arc<[u8]> = object.as_bytes().into();
    let id = model::git_id::GitId::of_blob(&content);
    let file = files.add(File { source: Source::directory().into(), path: "a.yaml".into(), id, content });
    [by(None), by(Some(kind)), model::read::read_file(file, "a.yaml", object.as_bytes()).diagnostics.is_empty()]
}

fn check_mistake(kind: Kind, right: &str, wrong: &str) {
    let object = kind.example().replacen(right, wrong, 1);
    assert_ne!(object, kind.example(), "{right:?} is not in the example of {kind}");
    assert_eq!(verdicts(kind, &object), [false; 3], "{object}");
}

#[test]
fn examples_are_valid() {
    for kind in Kind::ALL {
        assert_eq!(verdicts(*kind, kind.example()), [true; 3], "{kind}");
    }
}

#[test]
fn mistakes_are_found_by_the_schema_and_the_reader() {
    check_mistake(Kind::ClusterType, "reconciler: ", "reconcilr: ");
    check_mistake(Kind::ClusterType, "  name: large", "  name: Large");
    check_mistake(Kind::ClusterType, "size: large", "size: 3");
    check_mistake(Kind::ClusterType, "configType: configmap", "configType:");
    check_mistake(Kind::ClusterType, "kind: ClusterType", "kind: ClusterTypes");
    check_mistake(Kind::Template, "type: config", "type: configmap");
    check_mistake(Kind::ConfigMap, "REGION: West US", "PORT: 8080");
    check_mistake(Kind::Workload, "purpose: functional-test", r#"purpose: "a\nb""#);
    check_mistake(Kind::Workload, "environment: dev", "environment: [dev]");
    check_mistake(Kind::SchedulingPolicy, "operator: In", "operators: In");
    check_mistake(Kind::Cluster, "clusterType: large", "clusterType: Large");
    check_mistake(Kind::Cluster, "kind: Cluster", "kind: Clusters");
    check_mistake(Kind::LabelMapping, "size: large", r#"size: "a\nb""#);
    check_mistake(Kind::ReleasePin, "expires: 2027-01-31", "expires: 31.1.2027");
    check_mistake(Kind::DeploymentDescriptor, "workloadVersion:", "version:");
    check_mistake(Kind::FluxGitRepository, "url: ", "uri: ");
}

#[test]
fn fields_may_be_empty_and_foreign_kinds_have_more() {
    let check =
        |kind: Kind, right, more| assert_eq!(verdicts(kind, &kind.example().replacen(right, more, 1)), [true; 3]);
    check(Kind::ClusterType, "  labels:", "  annotations:\n  namespace: x\n  labels:");
    check(Kind::WorkloadRegistration, "workspace: web-team", "workspace:");
    check(Kind::FluxKustomization, "path:", "interval: 5m\n  path:");
    check(Kind::FluxKustomization, "toolkit.fluxcd.io/v1", "toolkit.fluxcd.io/v1beta2");
}

#[test]
fn annotations_are_checked_where_they_mean_something() {
    let is_valid = |kind: Kind, annotation: &str| {
        let metadata = format!("metadata:\n  annotations: {{{annotation}}}");
        verdicts(kind, &kind.example().replacen("metadata:", &metadata, 1))[1]
    };
    assert!(is_valid(
        Kind::ConfigMap,
        "config.kalypso.io/priority: '-3', config.kalypso.io/merge: 'A=append, replace'"
    ));
    assert!(!is_valid(Kind::ConfigMap, "config.kalypso.io/priority: high"));
    assert!(!is_valid(Kind::ConfigMap, "config.kalypso.io/merge: A"));
    assert!(is_valid(Kind::ClusterType, "config.kalypso.io/priority: high"));
    assert!(!is_valid(Kind::Environment, "schema.kalypso.io/missing: ignore"));
    assert!(!is_valid(Kind::Template, "template.kalypso.io/extension: ../a"));
}

#[test]
fn every_code_is_on_the_page() {
    let page = super::diagnostics();
    for code in Code::ALL {
        assert_eq!(page.matches(&format!("\n### {code}\n")).count(), 1, "{code}");
    }
}

/// Compares a page with the generated text. `KALYPSO_BLESS=1 cargo test -p kalypso` writes the pages.
fn check_page(name: &str, made: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("KALYPSO_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, made).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == made, "docs/reference/{name} is out of date: run the tests with KALYPSO_BLESS=1");
}

#[test]
fn the_pages_are_up_to_date() {
    check_page("kinds.md", &super::kinds());
    check_page("diagnostics.md", &super::diagnostics());
    check_page("command-line.md", &super::command_line());
}

/// Splits a line of a shell into words. It supports the syntax that the pages use.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in line.chars() {
        match (letter, quote) {
            (letter, Some(end)) if letter == end => quote = None,
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (' ', None) => words.extend(word.take()),
            ('#', None) if word.is_none() => break,
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// The `kalypso` commands in the `sh` blocks of a page.
fn commands(page: &str) -> Vec<Vec<String>> {
    let blocks = page.split("\n```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let text: String = blocks.flat_map(|block| [block, "\n"]).collect::<String>().replace("\\\n", "");
    let lines: Vec<_> = text.lines().map(words).collect();
    let parts = lines.iter().flat_map(|words| words.split(|word| ["|", "&&"].contains(&word.as_str())));
    // Variables before the name of the program and a redirection of its output are removed.
    let parts = parts.map(|words| words.iter().skip_while(|word| word.contains('=')).take_while(|word| *word != ">"));
    parts
        .map(|words| words.cloned().collect::<Vec<_>>())
        .filter(|words| words.first().is_some_and(|word| word == "kalypso"))
        .collect()
}

#[test]
fn the_commands_of_the_pages_exist_with_their_options() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to");
    let pages = fs::read_dir(folder).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    let commands: Vec<_> = pages.flat_map(|page| commands(&page)).collect();
    assert!(commands.len() > 40, "{commands:?}");
    for command in commands {
        let parsed = Arguments::command().try_get_matches_from(&command);
        assert!(parsed.is_ok(), "{}", parsed.unwrap_err());
    }
}

#[test]
fn commands_are_found_in_pages() {
    let page = "a\n```sh\nA=b kalypso hub backup - | zstd > 'x y'   # all\nkalypso report \\\n  --message \"a b\"\necho\n```\n";
    assert_eq!(commands(page), [vec!["kalypso", "hub", "backup", "-"], vec!["kalypso", "report", "--message", "a b"]]);
}

#[test]
fn the_annotations_that_are_read_are_in_the_reference() {
    let described: Vec<_> =
        crate::object_settings::ANNOTATIONS.iter().map(|setting| (setting.key, setting.kinds)).collect();
    assert_eq!(described, model::object::annotation::ALL);
}

/// Names in payloads of other systems' formats, and names that are not JSON names, each with its position in the API description.
const FOREIGN_NAMES: [&str; 5] = [
    // Names of Microsoft's API.
    "schemas.DeploymentState.",
    "schemas.DeploymentStateRequest.",
    "schemas.Subscriber.",
    // Subjects and verbs of audit logs.
    "schemas.Action=",
    // An HTTP header.
    "header Last-Event-ID",
];

fn is_camel_case(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric())
}

/// The names of properties, enum values and parameters, each with its position.
fn names_in(description: &Value, place: &str, found: &mut Vec<(String, String)>) {
    match description {
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("properties", Value::Object(properties)) => {
                        for (name, property) in properties {
                            found.push((format!("{place}.{name}"), name.clone()));
                            names_in(property, &format!("{place}.{name}"), found);
                        }
                    }
                    ("enum", Value::Array(words)) => {
                        let words = words.iter().filter_map(Value::as_str);
                        found.extend(words.map(|word| (format!("{place}={word}"), word.to_owned())));
                    }
                    ("parameters", Value::Array(parameters)) => {
                        let named =
                            parameters.iter().map(|one| (one["in"].as_str().unwrap(), one["name"].as_str().unwrap()));
                        found.extend(named.map(|(kind, name)| (format!("{kind} {name}"), name.to_owned())));
                    }
                    ("schemas", Value::Object(schemas)) => {
                        schemas.iter().for_each(|(name, schema)| names_in(schema, &format!("schemas.{name}"), found));
                    }
                    _ => names_in(value, place, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names_in(item, place, found)),
        _ => {}
    }
}

#[test]
fn names_in_answers_of_the_hub_are_in_camel_case() {
    let mut found = Vec::new();
    names_in(&serde_json::from_str(hub::http::DESCRIPTION).unwrap(), "", &mut found);
    let is_foreign = |place: &str| FOREIGN_NAMES.iter().any(|foreign| place.starts_with(foreign));
    let wrong: Vec<_> = found.iter().filter(|(place, name)| !is_camel_case(name) && !is_foreign(place)).collect();
    assert!(found.len() > 150 && wrong.is_empty(), "{} names: {wrong:?}", found.len());
    let unused: Vec<_> =
        FOREIGN_NAMES.iter().filter(|foreign| !found.iter().any(|(place, _)| place.starts_with(**foreign))).collect();
    assert!(unused.is_empty(), "{unused:?} are exceptions of nothing");
}

#[test]
fn names_in_answers_of_commands_are_in_camel_case() {
    for (title, fields) in super::answers::answers() {
        for (field, _) in &fields {
            let mut names = field.split('.').map(|name| name.trim_end_matches("[]"));
            assert!(names.all(is_camel_case), "{title}: {field}");
        }
    }
}

#[test]
fn every_answer_is_in_the_section_of_its_commands() {
    let titles: Vec<_> = super::answers::answers().into_iter().map(|(title, _)| title).collect();
    let expected: usize = titles.iter().map(|title| title.split(", ").count()).sum();
    assert_eq!(super::command_line::command_line().matches(" prints:\n\n|").count(), expected, "{titles:?}");
}

#[test]
fn every_answer_of_the_hub_has_a_schema_with_descriptions() {
    for (title, fields) in super::answers::answers() {
        assert!(!fields.is_empty(), "{title}");
    }
    assert_eq!(super::answers::counts().len(), 9);
}
