//! Warns about texts in structured values that become numbers or booleans in another form, where no schema asks for one.

use std::collections::BTreeSet;
use std::sync::Arc;

use gotemplate::value::Value;
use model::diagnostic::{Code, Diagnostic, FieldPart};
use model::field_path::{FieldPath, FieldStep};
use roaring::RoaringBitmap;

use crate::compose::Composition;
use crate::compose::container::{Container, Entry};
use crate::compose::record::key_text;
use crate::compose::value::retyped::{Retyped, RetypedKind};
use crate::prepare::Prepared;
use crate::schema::Schema;
use crate::sensitive::redaction;

/// The maximum number of warnings.
const WARNINGS_MAX: usize = 200;

/// Warnings about the containers that assignments use, by position: one for each value. `schemas_with` returns the ids of the schemas that assignments with
/// a container have.
pub(crate) fn diagnostics(
    prepared: &Prepared,
    used: &RoaringBitmap,
    schemas_with: &dyn Fn(u32) -> BTreeSet<u32>,
) -> Vec<Diagnostic> {
    let containers = used.iter().filter_map(|at| Some((at, prepared.containers.list.get(at as usize)?)));
    let has_retyped = |container: &Container| container.entries.iter().any(|entry| !entry.value.retyped.is_empty());
    let found = containers.filter(|(_, container)| container.problem.is_none() && has_retyped(container));
    let of_container = |(at, container): (u32, &Arc<Container>)| {
        let ids = schemas_with(at);
        let schemas: Vec<&Schema> = ids.into_iter().filter_map(|id| prepared.schemas.get(id)).collect();
        let of_entry = |entry: &Entry| of_entry(prepared, container, (entry, &schemas));
        container.entries.iter().filter_map(of_entry).collect::<Vec<_>>()
    };
    found.flat_map(of_container).take(WARNINGS_MAX).collect()
}

fn of_entry(prepared: &Prepared, container: &Container, (entry, schemas): (&Entry, &[&Schema])) -> Option<Diagnostic> {
    let sensitive = &prepared.schemas.sensitive_anywhere;
    let is_asked = |retyped: &Retyped| schemas.iter().any(|schema| asks(schema, (entry, retyped), sensitive));
    let mut found = entry.value.retyped.iter().filter(|retyped| retyped.is_key || !is_asked(retyped));
    let first = found.next()?;
    let path = full_path(entry, &first.written_path);
    let is_hidden = redaction::covers(sensitive, &full_path(entry, &first.path));
    let kind = match first.kind {
        RetypedKind::Number => "number",
        RetypedKind::Boolean => "boolean",
    };
    let Retyped { written, printed, .. } = first;
    let subject = if first.is_key { format!("the key `{path}`") } else { format!("`{path}`") };
    let (message, help) = if is_hidden {
        let message = format!("{subject} becomes a {kind}, which is printed in another form than it is written");
        (message, format!("put it in quotes if it is a text, or write the {kind} as it is printed"))
    } else {
        let message = format!("{subject} is written `{written}`, and becomes the {kind} `{printed}`");
        (message, format!("put it in quotes if it is a text, or write `{printed}` if it is a {kind}"))
    };
    let below = first.written_path.clone();
    let part = if first.is_key { FieldPart::KeyInside(below) } else { FieldPart::Inside(below) };
    let mut diagnostic = Diagnostic::warning(Code::RetypedValue, message)
        .at(container.origin(entry, part), "")
        .help(help)
        .about(&container.key());
    if let Some(next) = found.next() {
        let (count, next) = (1 + found.count(), full_path(entry, &next.written_path));
        let text = match count {
            1 => format!("`{next}` changes as well"),
            _ => format!("{count} more scalars of this value change as well, such as `{next}`"),
        };
        diagnostic = diagnostic.note(text);
    }
    Some(diagnostic)
}

fn full_path(entry: &Entry, below: &FieldPath) -> FieldPath {
    std::iter::once(FieldStep::Key(Arc::clone(&entry.key))).chain(below.steps().iter().cloned()).collect()
}

/// Whether a schema refuses the text that is written, and so asks for the number or boolean.
fn asks(schema: &Schema, (entry, retyped): (&Entry, &Retyped), sensitive: &BTreeSet<FieldPath>) -> bool {
    let Some(text) = with_text(&entry.value.value, retyped.path.steps(), &retyped.written) else { return false };
    let mut as_text = entry.clone();
    as_text.value.value = text;
    let findings = |entry: &Entry| schema.certain_findings(&entry.key, &Composition::of_key(&[entry]), sensitive);
    let before = findings(entry);
    let is_new = |found: &crate::schema::Finding| !before.iter().any(|known| known.path == found.path);
    findings(&as_text).iter().any(is_new)
}

/// The value with a text at a path. None if there is no such path.
fn with_text(value: &Value, path: &[FieldStep], text: &str) -> Option<Value> {
    let Some((step, below)) = path.split_first() else { return Some(Value::text(text)) };
    match (value, step) {
        (Value::Map(map), FieldStep::Key(name)) => {
            let (key, inner) = map.entries().iter().find(|(key, _)| key_text(key) == *name)?;
            let mut entries = map.entries().clone();
            entries.insert(key.clone(), with_text(inner, below, text)?);
            Some(Value::map(map.kind, entries))
        }
        (Value::List(list), FieldStep::Index(index)) => {
            let mut items = list.items().to_vec();
            let item = items.get_mut(*index)?;
            *item = with_text(item, below, text)?;
            Some(Value::list(items))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::compile::Compiled;

    const FLEET: &str = "\
{apiVersion: scheduler.kalypso.io/v1alpha1, kind: ClusterType, metadata: {name: large, labels: {size: large}}, spec: {reconciler: r, namespaceService: r, configType: r}}
---
{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Template, metadata: {name: r}, spec: {type: config, manifests: ['a: 1']}}
---
{apiVersion: scheduler.kalypso.io/v1alpha1, kind: SchedulingPolicy, metadata: {name: all}, spec: {deploymentTargetSelector: {labelSelector: {}}, clusterTypeSelector: {labelSelector: {}}}}
";

    fn workload(schema: &str) -> String {
        format!(
            "{{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Workload, metadata: {{name: shop}}, spec: {{deploymentTargets: [{{name: eu, environment: prod, manifests: {{repo: r}}}}], configSchemas: ['{schema}']}}}}"
        )
    }

    fn config(labels: &str, data: &str) -> String {
        format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a, labels: {{platform-config: 'true', {labels}}}}}, data: {{{data}}}}}"
        )
    }

    /// Compares the warnings.
    fn check(schema: &str, config: &str, expected: &[&str]) {
        let workload = workload(schema);
        let files = [FLEET, &workload, config].into_iter().enumerate();
        let files = files.map(|(index, text)| (format!("{index}.yaml"), text.as_bytes().to_vec()));
        let (fleet, found) = testkit::directory::fleet_of(files.collect(), "prod").unwrap();
        assert_eq!(found, []);
        let found = Compiled::new(&std::sync::Arc::new(fleet)).diagnostics();
        let found: Vec<_> = found.into_iter().filter(|found| found.code.id() == "K0320").collect();
        let shown: Vec<_> = found.iter().map(|found| found.message.clone()).collect();
        assert_eq!(shown, expected.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    }

    const SHARE: &str = "`DB.share` is written `1.10`, and becomes the number `1.1`";

    #[test]
    fn each_value_that_changes_its_form_is_reported_once() {
        let no = "`C[0]` is written `no`, and becomes the boolean `false`";
        check("{}", &config("", "DB: '{share: 1.10, id: 1234e56}', C: '[no, on]'"), &[no, SHARE]);
        check(
            "{}",
            &config("", "DB: '{x: 1, y: 2}'"),
            &["the key `DB.y` is written `y`, and becomes the boolean `true`"],
        );
        check("{}", &config("", "DB: \"{share: '1.10', size: 5}\", E: '1.10', F: 'on'"), &[]);
    }

    #[test]
    fn types_required_by_a_schema_are_not_reported() {
        let values = config("", "DB: '{share: 1.10}'");
        check("{\"properties\": {\"DB\": {\"properties\": {\"share\": {\"type\": \"number\"}}}}}", &values, &[]);
        check(
            "{\"properties\": {\"DB\": {\"additionalProperties\": {\"minimum\": 1, \"type\": [\"number\", \"boolean\"]}}}}",
            &values,
            &[],
        );
        check(
            "{\"properties\": {\"DB\": {\"properties\": {\"share\": {\"type\": [\"number\", \"string\"]}}}}}",
            &values,
            &[SHARE],
        );
        check("{\"properties\": {\"DB\": {\"properties\": {\"share\": {\"type\": \"string\"}}}}}", &values, &[SHARE]);
        let list = config("", "L: '[{size: 1.0}, {size: 2.50}]'");
        check(
            "{\"properties\": {\"L\": {\"items\": {\"properties\": {\"size\": {\"type\": \"number\"}}}}}}",
            &list,
            &[],
        );
        let flag = config("", "F: '{debug: on}'");
        check("{\"properties\": {\"F\": {\"properties\": {\"debug\": {\"type\": \"boolean\"}}}}}", &flag, &[]);
    }

    #[test]
    fn sensitive_values_are_not_shown() {
        let schema = "{\"properties\": {\"DB\": {\"properties\": {\"pin\": {\"writeOnly\": true}}}}}";
        let hidden = "`DB.pin` becomes a number, which is printed in another form than it is written";
        check(schema, &config("", "DB: '{pin: 0012}'"), &[hidden]);
    }

    #[test]
    fn values_that_no_assignment_gets_are_not_reported() {
        check("{}", &config("size: small", "DB: '{share: 1.10}'"), &[]);
    }
}
