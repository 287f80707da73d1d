//! The explanation of one value.

use engine::answers::explain::{SchemaCheck, UnusedContainer, ValuePart, ValueReason, ValueSource};
use model::locate::Locator;
use serde::Serialize;
use utoipa::ToSchema;

use crate::listing::position::SourcePosition;

/// The explanation of a value.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedValue {
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

impl ExplainedValue {
    /// The reason for a value, with positions in files.
    pub fn new(reason: &ValueReason, locator: &mut Locator<'_>) -> Self {
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
