//! The explanation of one value, for people and for programs.

use engine::answers::explain::{SchemaCheck, UnusedContainer, ValuePart, ValueReason, ValueSource};
use engine::compile::Prepared;
use model::diagnostic::{AssignmentId, Origin};
use model::locate::Locator;
use serde::Serialize;
use utoipa::ToSchema;
use workbench::listing::position::SourcePosition;

use super::context::ExplanationContext;
use crate::exit::Failure;
use crate::terminal;

/// The maximum number of `ConfigMap`s that are named if they have a value but do not match.
const NOT_USED_MAX: usize = 10;
/// The maximum number of shown parts of a value that several `ConfigMap`s define.
const PIECES_MAX: usize = 20;
/// The maximum number of similar keys that are named for an unknown key.
const NEAREST_MAX: usize = 3;

/// A key of an assignment without a meaning.
pub(super) struct UnknownKey<'a> {
    pub(super) environment: &'a str,
    pub(super) id: &'a AssignmentId,
    /// The key as it was typed.
    pub(super) key: &'a str,
    pub(super) reason: &'a ValueReason,
}

/// The error for a key that has no value and is in no `ConfigMap` and no schema. It names similar keys.
pub(super) fn unknown_key(unknown: &UnknownKey<'_>, prepared: &Prepared) -> Failure {
    let UnknownKey { environment, id, key, reason } = unknown;
    let known: Vec<_> = prepared.value_paths(id).iter().map(ToString::to_string).collect();
    let wanted = reason.path.to_string();
    // If the keys are too different, the whole list helps more than a suggestion.
    let distance = |known: &String| {
        let (wanted, known) = (wanted.to_lowercase(), known.to_lowercase());
        let distance = strsim::damerau_levenshtein(&wanted, &known);
        (distance * 2 <= wanted.chars().count()).then_some(distance)
    };
    let mut near: Vec<_> = known.iter().filter_map(|name| Some((distance(name)?, name))).collect();
    near.sort();
    let named = near.iter().take(NEAREST_MAX).map(|(_, name)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let all = format!("kalypso explain -e {environment} {id} lists all keys");
    let help = if named.is_empty() { all } else { format!("did you mean {named}? {all}") };
    let message =
        format!("{id} has no value `{key}` in {environment}, no ConfigMap has this key, and no schema requires it");
    Failure::refused(message).help(help)
}

pub(super) fn text(reason: &ValueReason, id: &AssignmentId, words: &mut ExplanationContext<'_, '_>) -> String {
    let environment = words.environment;
    let whose = format!("in {environment}, {}, target {}", words.place_text, id.target);
    let mut rows: Vec<[String; 2]> = Vec::new();
    let mut lines = match &reason.shown {
        Some(shown) => vec![format!("{} = {shown}      {whose}", reason.path), String::new()],
        None if reason.overrides.is_empty() => vec![
            format!("{} has no value      {whose}", reason.path),
            "no ConfigMap that matches sets it".to_owned(),
            String::new(),
        ],
        None => vec![
            format!("{} has no value      {whose}", reason.path),
            "a later ConfigMap replaces what it was in".to_owned(),
            String::new(),
        ],
    };
    if let Some(source) = &reason.set_by {
        rows.push(["set by".into(), source_text(source, false, words)]);
        rows.push([String::new(), matches_text(&source.matches)]);
    }
    rows.extend(pieces_rows(&reason.composed_of, words));
    rows.extend(reason.overrides.iter().map(|source| ["overrides".into(), source_text(source, true, words)]));
    let unused_containers = reason.unused_containers.iter().take(NOT_USED_MAX);
    rows.extend(unused_containers.map(|other| ["not used".into(), not_used_text(other, words)]));
    if let Some(more) = reason.unused_containers.len().checked_sub(NOT_USED_MAX).filter(|more| *more > 0) {
        rows.push(["not used".into(), format!("{}: -o json lists all", terminal::count(more, "more ConfigMap"))]);
    }
    rows.extend(reason.checks.iter().map(|check| {
        let object = match &check.origin {
            Origin::Field(field) => format!("{}'s schema", field.object),
            _ => "a schema".to_owned(),
        };
        ["checked by".into(), format!("{object}   {}   {}", words.place(&check.origin), check.requirements)]
    }));
    rows.extend(reason.rendered_lines.iter().map(|(file, line)| ["ends up in".into(), format!("{id}/{file}:{line}")]));
    lines.extend(rows.iter().map(|[name, text]| format!("  {name:<12}  {text}").trim_end().to_owned()));
    lines.join("\n") + "\n"
}

/// The parts of a value that several `ConfigMap`s define, in the order in which they are merged.
fn pieces_rows(pieces: &[ValuePart], words: &mut ExplanationContext<'_, '_>) -> Vec<[String; 2]> {
    let mut rows = Vec::new();
    for ValuePart { path, source } in pieces.iter().take(PIECES_MAX) {
        let value = format!("   {path} = {}", source.shown);
        rows.push(["composed of".into(), format!("{}{value}", source_text(source, false, words))]);
        rows.push([String::new(), matches_text(&source.matches)]);
    }
    if let Some(more) = pieces.len().checked_sub(PIECES_MAX).filter(|more| *more > 0) {
        rows.push(["composed of".into(), format!("{}: -o json lists all", terminal::count(more, "more part"))]);
    }
    rows
}

fn source_text(source: &ValueSource, with_value: bool, words: &mut ExplanationContext<'_, '_>) -> String {
    let value = if with_value { format!("   {}", source.shown) } else { String::new() };
    format!("ConfigMap {}   {}{value}", source.container, words.place(&source.origin))
}

fn matches_text(matches: &[String]) -> String {
    if matches.is_empty() {
        "it has no labels that narrow it: it matches everything".to_owned()
    } else {
        format!("it matches: {}", matches.join(", "))
    }
}

fn not_used_text(other: &UnusedContainer, words: &mut ExplanationContext<'_, '_>) -> String {
    format!("ConfigMap {}   {}   {}", other.container, words.place(&other.origin), other.unmet_conditions.join("; "))
}

/// The explanation of a value.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ValueFields {
    /// The path of the value.
    key: String,
    /// The value, in the form that may be shown; `null` if there is none.
    value: Option<String>,
    /// What set it; `null` if nothing did, or if several `ConfigMap`s gave parts of it.
    set_by: Option<SourceFields>,
    /// The parts of the value that several `ConfigMap`s gave, in the order of merging; none if `setBy` gave all of it.
    composed_of: Vec<PartFields>,
    /// What it overrides, the latest first.
    overrides: Vec<SourceFields>,
    not_used: Vec<UnusedFields>,
    checks: Vec<CheckFields>,
    ends_up_in: Vec<LineFields>,
}

/// A `ConfigMap` that sets a value.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SourceFields {
    /// The `ConfigMap`.
    config_map: String,
    /// Where it is written.
    place: Option<SourcePosition>,
    /// What is written there.
    value: String,
    /// Why that `ConfigMap` matches, in words.
    matches: Vec<String>,
}

/// A part of a value.
#[derive(Serialize, ToSchema)]
struct PartFields {
    #[serde(flatten)]
    source: SourceFields,
    /// A part of the value that one of several `ConfigMap`s gave.
    key: String,
}

/// A `ConfigMap` that has a value and does not match.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct UnusedFields {
    /// A `ConfigMap` that has the value too, and does not match.
    config_map: String,
    /// Where it is written.
    place: Option<SourcePosition>,
    /// Why it does not match, in words.
    because: Vec<String>,
}

/// A schema with a condition for a value.
#[derive(Serialize, ToSchema)]
struct CheckFields {
    /// A schema that has a condition for this value, with its location.
    place: Option<SourcePosition>,
    /// The condition, as text.
    demands: String,
}

/// A line of a file that holds a value.
#[derive(Serialize, ToSchema)]
struct LineFields {
    /// A file of the assignment that holds the value.
    file: String,
    /// The line.
    line: usize,
}

impl ValueFields {
    pub(super) fn new(reason: &ValueReason, locator: &mut Locator<'_>) -> Self {
        let part = |part: &ValuePart, locator: &mut Locator<'_>| PartFields {
            source: SourceFields::new(&part.source, locator),
            key: part.path.to_string(),
        };
        let unused = |other: &UnusedContainer, locator: &mut Locator<'_>| UnusedFields {
            config_map: other.container.to_string(),
            place: SourcePosition::find(&other.origin, locator),
            because: other.unmet_conditions.clone(),
        };
        let check = |check: &SchemaCheck, locator: &mut Locator<'_>| CheckFields {
            place: SourcePosition::find(&check.origin, locator),
            demands: check.requirements.clone(),
        };
        let lines = reason.rendered_lines.iter();
        Self {
            key: reason.path.to_string(),
            value: reason.shown.clone(),
            set_by: reason.set_by.as_ref().map(|source| SourceFields::new(source, locator)),
            composed_of: reason.composed_of.iter().map(|one| part(one, locator)).collect(),
            overrides: reason.overrides.iter().map(|source| SourceFields::new(source, locator)).collect(),
            not_used: reason.unused_containers.iter().map(|other| unused(other, locator)).collect(),
            checks: reason.checks.iter().map(|one| check(one, locator)).collect(),
            ends_up_in: lines.map(|(file, line)| LineFields { file: file.to_string(), line: *line }).collect(),
        }
    }
}

impl SourceFields {
    fn new(source: &ValueSource, locator: &mut Locator<'_>) -> Self {
        Self {
            config_map: source.container.to_string(),
            place: SourcePosition::find(&source.origin, locator),
            value: source.shown.clone(),
            matches: source.matches.clone(),
        }
    }
}
