//! Reads scenarios from YAML. Every mistake is reported at its place.

mod claim;
mod event;
mod fields;
mod references;
mod tokens;
mod workloads;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use model::diagnostic::{Code, Diagnostic};
use model::git_id::GitId;
use model::kind::Kind;
use model::object::AnyObject;
use model::object::promotion::Promotion;
use model::similar::nearest;
use model::source::{File, Files, Source};
use model::yaml::{self, Node};

use self::fields::{Reader, listed, text};
pub(super) use self::references::remove_unknown;
use self::tokens::{Expected, Words};
use self::workloads::{default_workloads, release_of, workloads};
use super::definition::{
    ClusterGroup, EnvironmentDefinition, Happening, Pace, Scenario, ScenarioEvent, ScenarioExpectation, When,
    WorkloadDefinition,
};
use super::names::NamePattern;

/// The fields of a scenario.
const FIELDS: &[&str] = &["start", "seed", "pace", "environments", "workloads", "teams", "timeline", "expect"];
/// The largest number of hosts of a cluster.
const HOSTS_MAX: u32 = 100;
/// The time at which a scenario begins that names none: a Monday.
const START: &str = "2026-03-02T08:00:00Z";

/// The names that sentences can use.
pub(super) struct Names {
    environments: Vec<Arc<str>>,
    workloads: Vec<Arc<str>>,
    definitions: Vec<WorkloadDefinition>,
}

impl Names {
    /// The names of a scenario.
    pub(super) fn from_scenario(scenario: &Scenario) -> Self {
        Self::new(&scenario.environments, &scenario.workloads)
    }

    fn new(environments: &[EnvironmentDefinition], workloads: &[WorkloadDefinition]) -> Self {
        Self {
            environments: environments.iter().map(|environment| Arc::clone(&environment.name)).collect(),
            workloads: workloads.iter().map(|workload| Arc::clone(&workload.name)).collect(),
            definitions: workloads.to_vec(),
        }
    }

    /// A release of a workload. If its targets name their releases by keys, it has a version for each key.
    fn release(&self, workload: &str, text: &str) -> Result<Arc<str>, Expected> {
        let definition = self.definitions.iter().find(|definition| *definition.name == *workload);
        definition.map_or_else(|| Ok(text.into()), |definition| release_of(definition, text))
    }

    fn workload(&self, words: &mut Words<'_>) -> Result<Arc<str>, Expected> {
        let word = words.word("a workload")?;
        let found = self.workloads.iter().find(|name| ***name == *word);
        found.cloned().ok_or_else(|| format!("there is no workload `{word}`"))
    }
}

/// A file with the mistakes in it.
#[derive(Clone, Debug)]
pub struct Unreadable {
    /// The file.
    pub files: Files,
    /// The mistakes.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a scenario: one document with the scenario, and documents with `Promotion`s as in git.
///
/// # Errors
/// All mistakes in the file.
pub fn read(path: &str, content: &[u8]) -> Result<Scenario, Unreadable> {
    let mut files = Files::default();
    let id = files.add(File {
        source: Arc::new(Source::directory()),
        path: path.into(),
        id: GitId::of_blob(content),
        content: content.into(),
    });
    let promotions = model::read::read_kind(id, content, Kind::Promotion);
    let mut reader = Reader::new(id, content);
    reader.diagnostics = promotions.diagnostics;
    let mut documents = Vec::new();
    let problems =
        yaml::read_bytes_each(content, &yaml::YamlOptions::OBJECTS, |document| documents.push(document.root));
    if !problems.is_empty() {
        return Err(Unreadable { files, diagnostics: reader.diagnostics });
    }
    let (first, others) = documents.split_first().map_or((None, &[][..]), |(first, others)| (Some(first), others));
    for other in others.iter().filter(|root| *text_at(root, "kind") != *Kind::Promotion.name()) {
        reader.error(Code::UnknownKind, other.span, "a scenario is followed by documents of the kind `Promotion` only");
    }
    let scenario = match first {
        Some(root) => Some(scenario(root, &mut reader)),
        None if reader.diagnostics.is_empty() => {
            reader.error(Code::MissingField, model::yaml::Span::at(0), "the file has no scenario");
            None
        }
        None => None,
    };
    let is_good = !reader.diagnostics.iter().any(Diagnostic::is_error);
    match scenario.filter(|_| is_good) {
        Some(mut scenario) => {
            scenario.promotions = promotions.objects.into_iter().filter_map(promotion).collect();
            references::check(&scenario, &documents, &mut reader);
            let diagnostics = reader.diagnostics;
            if diagnostics.iter().any(Diagnostic::is_error) {
                Err(Unreadable { files, diagnostics })
            } else {
                Ok(scenario)
            }
        }
        None => Err(Unreadable { files, diagnostics: reader.diagnostics }),
    }
}

fn promotion(object: AnyObject) -> Option<(Arc<str>, Promotion)> {
    match object {
        AnyObject::Promotion(object) => Some((object.name.as_str().into(), object.spec.clone())),
        _ => None,
    }
}

fn text_at(node: &Node, key: &str) -> Arc<str> {
    node.get(key).map_or_else(|| "".into(), text)
}

fn scenario(root: &Node, reader: &mut Reader<'_>) -> Scenario {
    let _ = reader.fields(root, "a scenario", FIELDS);
    let at = |key: &str| root.get(key);
    if at("environments").is_none() {
        reader.error(Code::MissingField, root.span, "a scenario has `environments`");
    }
    let environments = at("environments").map_or_else(Vec::new, |node| environments(node, reader));
    let workloads = at("workloads").map_or_else(default_workloads, |node| workloads(node, reader));
    let names = Names::new(&environments, &workloads);
    let start = at("start").map_or_else(|| START.into(), text);
    let start = start.parse::<Timestamp>().unwrap_or_else(|error| {
        reader.error(
            Code::WrongType,
            at("start").unwrap_or(root).span,
            format!("`start` is a time such as `{START}`: {error}"),
        );
        Timestamp::UNIX_EPOCH
    });
    Scenario {
        start,
        seed: at("seed").map_or(1, |node| u64::from(reader.number(node, "`seed`", u32::MAX))),
        pace: at("pace").map_or_else(Pace::default, |node| pace(node, reader)),
        environments,
        workloads,
        promotions: Vec::new(),
        teams: at("teams").map_or_else(Vec::new, |node| teams(node, reader)),
        timeline: at("timeline").map_or_else(Vec::new, |node| timeline(node, &names, reader)),
        expectations: at("expect").map_or_else(Vec::new, |node| expectations(node, &names, reader)),
    }
}

fn pace(node: &Node, reader: &mut Reader<'_>) -> Pace {
    let mut pace = Pace::default();
    let known = ["pull", "apply", "heartbeat", "step", "publish", "merge", "check"];
    for (key, value) in reader.fields(node, "`pace`", &known) {
        let key = text(key);
        if &*key == "heartbeat" && *text(value) == *"none" {
            pace.heartbeat = None;
            continue;
        }
        let time = reader.duration(value, &key);
        match &*key {
            "pull" => pace.pull = time,
            "apply" => pace.apply = time,
            "heartbeat" => pace.heartbeat = Some(time),
            "step" => pace.step = time,
            "publish" => pace.publish = time,
            "merge" => pace.merge = time,
            "check" => pace.check = time,
            _ => {}
        }
    }
    let least = Duration::from_secs(1);
    for (name, time) in [("pull", &mut pace.pull), ("step", &mut pace.step), ("check", &mut pace.check)] {
        if *time < least {
            reader.error(Code::WrongType, node.span, format!("`{name}` is at least `1s`"));
            *time = least;
        }
    }
    pace
}

fn environments(node: &Node, reader: &mut Reader<'_>) -> Vec<EnvironmentDefinition> {
    let entries = reader.mapping(node, "`environments`").iter();
    entries
        .map(|(name, groups)| EnvironmentDefinition {
            name: reader.text(name, "the name of an environment"),
            clusters: reader
                .mapping(groups, "an environment")
                .iter()
                .map(|(names, options)| group(names, options, reader))
                .collect(),
        })
        .collect()
}

/// Clusters by the pattern of their names.
fn group(names: &Node, options: &Node, reader: &mut Reader<'_>) -> ClusterGroup {
    let written = text(names);
    let pattern = NamePattern::parse(&written).unwrap_or_else(|| {
        let message = format!("`{written}` is no name: write `store-17`, or `store-[001-300]` for 300 clusters");
        reader.error(Code::InvalidName, names.span, message);
        NamePattern::none()
    });
    let mut group = ClusterGroup { names: pattern, labels: Vec::new(), hosts: 1 };
    for (key, value) in reader.fields(options, "a group of clusters", &["labels", "hosts"]) {
        match &*text(key) {
            "labels" => {
                for (label, values) in reader.mapping(value, "`labels`") {
                    let values =
                        reader.texts(values, "the value of a label").iter().flat_map(|value| expanded(value)).collect();
                    group.labels.push((text(label), values));
                }
            }
            "hosts" => group.hosts = reader.number(value, "`hosts`", HOSTS_MAX),
            _ => {}
        }
    }
    group
}

fn expanded(value: &str) -> Vec<Arc<str>> {
    match NamePattern::parse(value) {
        Some(pattern) => (0..pattern.len()).map(|position| pattern.at(position).into()).collect(),
        None => vec![value.into()],
    }
}

fn teams(node: &Node, reader: &mut Reader<'_>) -> Vec<(Arc<str>, Vec<Arc<str>>)> {
    let entries = reader.mapping(node, "`teams`").iter();
    entries.map(|(name, members)| (text(name), reader.texts(members, "the account of a member"))).collect()
}

fn list<'n>(node: &'n Node, what: &str, reader: &mut Reader<'_>) -> &'n [Node] {
    if node.as_sequence().is_none() {
        reader.error(Code::WrongType, node.span, format!("{what} is a list"));
    }
    node.as_sequence().unwrap_or_default()
}

fn timeline(node: &Node, names: &Names, reader: &mut Reader<'_>) -> Vec<Happening> {
    let mut all = Vec::new();
    for item in list(node, "`timeline`", reader) {
        for (key, value) in reader.mapping(item, "an entry of `timeline`") {
            let written = text(key);
            let Some(at) = written.strip_prefix("at ").and_then(|time| model::duration::parse(time.trim()).ok()) else {
                let message = format!("`{written}` is no time: write `at 0h`, `at 1h30m` or `at 2d`");
                reader.error(Code::WrongType, key.span, message);
                continue;
            };
            for sentence in value.as_sequence().unwrap_or(std::slice::from_ref(value)) {
                let text = reader.text(sentence, "an event");
                match event::read(&text, names) {
                    Ok(event) => all.push(Happening { at, event, line: reader.line(sentence), text }),
                    Err(expected) => misread(sentence, (&text, expected), reader),
                }
            }
        }
    }
    all.sort_by_key(|happening| happening.at);
    all
}

/// Reports an event that can't be read, with the form of its verb.
fn misread(node: &Node, (written, expected): (&str, String), reader: &mut Reader<'_>) {
    let verb = written.split_whitespace().next().unwrap_or_default();
    let form = event::FORMS.iter().find(|(known, _)| *known == verb).map(|(_, form)| *form);
    let near = || nearest(verb, event::FORMS.iter().map(|(known, _)| *known));
    let help = match (form.or_else(|| form_of_second(written)), near()) {
        (Some("expect CLAIM"), _) => claim_help(),
        (Some(form), _) => format!("write `{form}`"),
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => {
            format!("events begin with {}", listed(&event::FORMS.iter().map(|(verb, _)| *verb).collect::<Vec<_>>()))
        }
    };
    let message = format!("the event `{written}` can't be read: {expected}");
    reader.diagnostics.push(reader.diagnostic(Code::WrongType, node.span, message).help(help));
}

/// The form of a verb that comes second: `store-17 fails`.
fn form_of_second(written: &str) -> Option<&'static str> {
    let verb = written.split_whitespace().nth(1)?;
    let is_verb = |known: &str| verb == known || verb.strip_suffix('s') == Some(known);
    event::FORMS.iter().find(|(known, _)| is_verb(known)).map(|(_, form)| *form)
}

fn claim_help() -> String {
    format!("claims are {}", listed(claim::FORMS))
}

fn expectations(node: &Node, names: &Names, reader: &mut Reader<'_>) -> Vec<ScenarioExpectation> {
    let mut all = Vec::new();
    for item in list(node, "`expect`", reader) {
        let text = reader.text(item, "an expectation");
        match claim::expectation(&text, names) {
            Ok((claim, when)) => all.push(ScenarioExpectation { claim, when, line: reader.line(item), text }),
            Err(expected) => {
                let message = format!("the expectation `{text}` can't be read: {expected}");
                reader.diagnostics.push(reader.diagnostic(Code::WrongType, item.span, message).help(claim_help()));
            }
        }
    }
    all
}

/// Reads an event.
///
/// # Errors
/// What is expected instead.
pub(super) fn event(text: &str, names: &Names) -> Result<ScenarioEvent, String> {
    event::read(text, names)
}

/// The expectations of the timeline and the list.
pub(super) fn all_expectations(scenario: &Scenario) -> Vec<ScenarioExpectation> {
    let of_timeline = scenario.timeline.iter().filter_map(|happening| match &happening.event {
        ScenarioEvent::Expect(claim) => Some(ScenarioExpectation {
            claim: claim.clone(),
            when: When::At(happening.at),
            text: happening.text.strip_prefix("expect ").unwrap_or(&happening.text).into(),
            line: happening.line,
        }),
        _ => None,
    });
    let mut all: Vec<_> = of_timeline.chain(scenario.expectations.iter().cloned()).collect();
    all.sort_by_key(|expectation| expectation.line);
    all
}
