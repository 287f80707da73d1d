//! What the schemas of an assignment say about its values.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin, Part};
use model::field_path::{FieldPath, Step};

use crate::compose::Composition;
use crate::container::Container;
use crate::schema::{Finding, FindingKind, JsonData, Schema};
use crate::settings::MissingValues;
use crate::trace::{Trace, follow};

/// What the schemas of an assignment say.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Whether there may be values that nobody should see.
    pub(crate) has_sensitive: bool,
}

/// Checks values, which these containers were merged into, by schemas. Of the paths that are `sensitive`, nothing is shown.
pub(crate) fn check(
    composition: &Composition,
    containers: &[Arc<Container>],
    schemas: &[&Schema],
    sensitive: &BTreeSet<FieldPath>,
) -> Checked {
    let has_sensitive = sensitive.iter().any(|path| follow(&composition.data, path.steps()).is_some());
    let mut checked = Checked { diagnostics: Vec::new(), has_sensitive };
    if schemas.is_empty() {
        return checked;
    }
    let mut data = JsonData::of(composition);
    let trace = LazyCell::new(|| Trace::record(containers.to_vec()));
    for schema in schemas {
        let findings = schema.check(composition, &mut data, sensitive);
        checked.diagnostics.extend(findings.into_iter().map(|finding| explain(finding, schema.missing, &trace)));
    }
    checked
}

/// Of the paths that are sensitive somewhere, those that can be among the values of these containers: their first key is.
pub(crate) fn sensitive_in<'p>(
    containers: &[Arc<Container>],
    sensitive: &'p BTreeSet<FieldPath>,
) -> impl Iterator<Item = &'p FieldPath> {
    sensitive.iter().filter(|path| match path.steps().first() {
        Some(Step::Key(key)) => {
            containers.iter().flat_map(|container| &container.entries).any(|entry| entry.key == *key)
        }
        _ => true,
    })
}

/// A finding with the places of the value and of the schema.
fn explain(finding: Finding, missing: MissingValues, trace: &Trace) -> Diagnostic {
    let Finding { path, kind, message, schema, schema_path } = finding;
    let schema_origin = Origin::part(&schema.object, schema.path.clone(), Part::KeyInside(schema_path));
    let asked = format!("required by {}", schema.object);
    if kind == FindingKind::TooMuch {
        return Diagnostic::error(Code::CostlySchema, message)
            .at(Origin::field(&schema.object, schema.path), asked)
            .help("write fewer alternatives that refer to one another, and patterns that are shorter");
    }
    if kind == FindingKind::Missing {
        let make = if missing == MissingValues::Warn { Diagnostic::warning } else { Diagnostic::error };
        let help = format!("give `{path}` in a ConfigMap that matches the assignment");
        return make(Code::MissingValue, message).at(schema_origin, asked).help(help);
    }
    let mut diagnostic = Diagnostic::error(Code::WrongValue, message);
    if let Some(setting) = trace.settings(&path).into_iter().next() {
        diagnostic = diagnostic.at(setting.origin, "this value");
    }
    diagnostic.at(schema_origin, asked)
}
