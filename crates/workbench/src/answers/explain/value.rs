//! The explanation of one value.

use engine::answers::explain::{SchemaCheck, UnusedContainer, ValuePart, ValueReason, ValueSource};
use hub_api::compiled::{
    ExplainedCheck, ExplainedLine, ExplainedPart, ExplainedSource, ExplainedUnused, ExplainedValue, SourcePosition,
};
use model::locate::Locator;

/// The explanation of a value, with positions in files.
pub fn explained_value(reason: &ValueReason, locator: &mut Locator<'_>) -> ExplainedValue {
    let part = |part: &ValuePart, locator: &mut Locator<'_>| ExplainedPart {
        source: source(&part.source, locator),
        key: part.path.to_string(),
    };
    let unused = |other: &UnusedContainer, locator: &mut Locator<'_>| ExplainedUnused {
        config_map: other.container.to_string(),
        place: SourcePosition::find(&other.origin, locator),
        because: other.unmet_conditions.clone(),
    };
    let check = |check: &SchemaCheck, locator: &mut Locator<'_>| ExplainedCheck {
        place: SourcePosition::find(&check.origin, locator),
        demands: check.requirements.clone(),
    };
    let lines = reason.rendered_lines.iter();
    ExplainedValue {
        key: reason.path.to_string(),
        value: reason.shown.clone(),
        set_by: reason.set_by.as_ref().map(|one| source(one, locator)),
        composed_of: reason.composed_of.iter().map(|one| part(one, locator)).collect(),
        overrides: reason.overrides.iter().map(|one| source(one, locator)).collect(),
        not_used: reason.unused_containers.iter().map(|other| unused(other, locator)).collect(),
        checks: reason.checks.iter().map(|one| check(one, locator)).collect(),
        ends_up_in: lines.map(|(file, line)| ExplainedLine { file: file.to_string(), line: *line }).collect(),
    }
}

fn source(source: &ValueSource, locator: &mut Locator<'_>) -> ExplainedSource {
    ExplainedSource {
        config_map: source.container.to_string(),
        place: SourcePosition::find(&source.origin, locator),
        value: source.shown.clone(),
        matches: source.matches.clone(),
    }
}
