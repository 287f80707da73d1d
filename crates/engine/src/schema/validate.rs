//! Checks the values of an assignment against its schemas.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, FieldPart, Origin};
use model::field_path::{FieldPath, FieldStep};

use crate::compose::Composition;
use crate::compose::container::Container;
use crate::compose::trace::{Trace, follow};
use crate::schema::{Finding, FindingKind, JsonData, Schema};
use crate::settings::MissingValues;

/// The result of checking an assignment's values against its schemas.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Whether there may be sensitive values.
    pub(crate) has_sensitive: bool,
}

/// Checks composed values against schemas. `containers` are those that were merged into the values. Diagnostics show no value at a path of `sensitive`.
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
    let mut data = JsonData::from_composition(composition);
    let trace = LazyCell::new(|| Trace::record(containers.to_vec()));
    for schema in schemas {
        let findings = schema.check(composition, &mut data, sensitive);
        checked.diagnostics.extend(findings.into_iter().map(|finding| explain(finding, schema.missing, &trace)));
    }
    checked
}

/// Returns those of the `sensitive` paths that may have values in these containers: their first key is a key of a container.
pub(crate) fn sensitive_in<'p>(
    containers: &[Arc<Container>],
    sensitive: &'p BTreeSet<FieldPath>,
) -> impl Iterator<Item = &'p FieldPath> {
    sensitive.iter().filter(|path| match path.steps().first() {
        Some(FieldStep::Key(key)) => {
            containers.iter().flat_map(|container| &container.entries).any(|entry| entry.key == *key)
        }
        _ => true,
    })
}

/// Turns a finding into a diagnostic with the places of the value and of the schema.
fn explain(finding: Finding, missing: MissingValues, trace: &Trace) -> Diagnostic {
    let Finding { path, kind, message, schema, schema_path } = finding;
    let schema_origin = Origin::part(&schema.object, schema.path.clone(), FieldPart::KeyInside(schema_path));
    let requirement = format!("required by {}", schema.object);
    if kind == FindingKind::TooMuch {
        return Diagnostic::error(Code::CostlySchema, message)
            .at(Origin::field(&schema.object, schema.path), requirement)
            .help("write fewer alternatives that refer to one another, and shorter patterns");
    }
    if kind == FindingKind::Missing {
        let make = if missing == MissingValues::Warn { Diagnostic::warning } else { Diagnostic::error };
        let help = format!("give `{path}` in a ConfigMap that matches the assignment");
        return make(Code::MissingValue, message).at(schema_origin, requirement).help(help);
    }
    let mut diagnostic = Diagnostic::error(Code::WrongValue, message);
    if let Some(setting) = trace.settings(&path).into_iter().next() {
        diagnostic = diagnostic.at(setting.origin, "this value");
    }
    diagnostic.at(schema_origin, requirement)
}
