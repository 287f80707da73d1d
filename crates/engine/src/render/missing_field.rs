//! Warns about missing values that a template prints, such as `<no value>`.

use gotemplate::MissingField;
use gotemplate::value::{Key, Value};
use model::diagnostic::{Code, Diagnostic, FieldPart, Origin};
use model::field_path::FieldPath;
use model::object::template::{MANIFESTS, MISSING_KEY};
use model::object_key::ObjectKey;
use model::similar;

use super::TemplateData;
use super::fields::TARGET_MANIFESTS;
use super::warning::OutputWarning;

/// The warning about a missing value that the manifest `index` of a template prints.
pub(super) fn warning(
    template: &ObjectKey,
    index: usize,
    missing: &MissingField,
    data: &TemplateData<'_>,
) -> OutputWarning {
    let MissingField { field, position } = missing;
    let name = &template.name;
    let path = FieldPath::from(MANIFESTS).index(index);
    let origin = match position {
        Some((line, column)) => Origin::part(template, path, FieldPart::Text { line: *line, column: *column }),
        None => Origin::field(template, path),
    };
    let place = if position.is_some() { "printed here" } else { "the output of this text is rendered again" };
    let message = format!("template `{name}` prints a value that is missing: `{field}`");
    let diagnostic = Diagnostic::warning(Code::MissingFieldPrinted, message).at(origin, place);
    let diagnostic = with_nearest(diagnostic, field, data)
        .help("read keys that may be missing with `with`, `default` or `index`")
        .help(format!("the annotation `{MISSING_KEY}: error` on the template makes this an error"))
        .about(template);
    OutputWarning { diagnostic, value_key: None }
}

/// The diagnostic about a missing `field`, such as `.Manifests.branch`, with the target that lacks it and the nearest key that exists.
pub(super) fn with_nearest(mut diagnostic: Diagnostic, field: &str, data: &TemplateData<'_>) -> Diagnostic {
    let segments: Vec<&str> = field.trim_start_matches('$').split('.').filter(|part| !part.is_empty()).collect();
    let (known, key) = keys_beside(data.dot(), &segments);
    if let [TARGET_MANIFESTS, key] = segments.as_slice() {
        let target = data.context.target;
        let (object, path) = &target.origin;
        let label = format!("the manifests of `{}` have no `{key}`", target.name);
        diagnostic = diagnostic.at(Origin::field(object, path.key("manifests")), label);
    }
    match key.and_then(|key| similar::nearest(key, known.iter().map(String::as_str))) {
        Some(nearest) => diagnostic.help(format!("the nearest key that exists is `{nearest}`")),
        None => diagnostic,
    }
}

/// The keys of the map that lacks a key of the path, and that key.
fn keys_beside<'s>(dot: &Value, path: &[&'s str]) -> (Vec<String>, Option<&'s str>) {
    let mut value = dot.clone();
    for segment in path {
        let next = match &value {
            Value::Struct(data) => data.fields.iter().find(|(name, _)| name == segment).map(|(_, value)| value.clone()),
            Value::Map(map) => {
                map.entries().iter().find(|(key, _)| is_named(key, segment)).map(|(_, value)| value.clone())
            }
            _ => None,
        };
        match next {
            Some(next) => value = next,
            None => return (keys_of(&value), Some(segment)),
        }
    }
    (Vec::new(), None)
}

fn is_named(key: &Key, name: &str) -> bool {
    matches!(key, Key::Text(text) if text.as_bytes() == name.as_bytes())
}

fn keys_of(value: &Value) -> Vec<String> {
    match value {
        Value::Struct(data) => data.fields.iter().map(|(name, _)| (*name).to_owned()).collect(),
        Value::Map(map) => {
            let text = |key: &Key| if let Key::Text(text) = key { Some(text.to_str().into_owned()) } else { None };
            map.entries().iter().filter_map(|(key, _)| text(key)).collect()
        }
        _ => Vec::new(),
    }
}
