//! The explanation of one value, as text.

use engine::answers::explain::{UnusedContainer, ValuePart, ValueReason, ValueSource};
use engine::compile::Prepared;
use model::diagnostic::{AssignmentId, Origin};

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
