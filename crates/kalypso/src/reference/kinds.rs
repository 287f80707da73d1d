//! The page of kinds.

use model::kind::Kind;
use model::shape::{Field, METADATA, Shape};

use crate::object_settings::{ANNOTATIONS, LABELS, Setting};

const INTRODUCTION: &str = "\
# Kinds

The objects that Kalypso reads, with all their fields. The page is generated from the tables of the reader. Fields that are not on this page are not read.

`kalypso schema` prints the same as JSON Schema, so that editors complete and check objects while they are written. With the YAML language server (in Visual
Studio Code, the extension \"YAML\"): `kalypso schema > .vscode/kalypso.json`, and in `.vscode/settings.json`:

```json
{ \"yaml.schemas\": { \".vscode/kalypso.json\": \"**/*.yaml\" } }
```

Files are `*.yaml` and `*.yml`, with any number of objects each, separated by `---` or as items of a `List`. Texts that YAML would read as a number, a
boolean or a date (`8080`, `on`, `1.10`) need quotes where a text is asked for. A field that may be left out may also be empty. An unknown field
is an error inside the `spec` of Kalypso's own kinds, and elsewhere ignored with a warning: [K0105](diagnostics.md#k0105).

";

const METADATA_INTRODUCTION: &str = "\
## Metadata

The `metadata` of every object. Other fields of it are ignored.

On any object, annotation `kalypso.io/acknowledge.K0202` acknowledges warnings of this code about it: its value is the reason, or
`until 2027-01-31: the reason`. See [Keep `check --strict` clean in CI](../how-to/keep-check-strict-clean.md).

";

/// The page of kinds, as Markdown: `docs/reference/kinds.md`.
pub fn kinds() -> String {
    let (own, foreign): (Vec<Kind>, Vec<Kind>) = Kind::ALL.iter().partition(|kind| kind.is_own());
    let links = [links("Kalypso's own", &own), links("Of Kubernetes and Flux", &foreign)].concat();
    let metadata = fields(METADATA);
    let sections: String = own.iter().chain(&foreign).map(|kind| section(*kind)).collect();
    format!("{INTRODUCTION}{links}{METADATA_INTRODUCTION}{metadata}{sections}")
}

fn links(whose: &str, kinds: &[Kind]) -> String {
    let links: Vec<_> = kinds.iter().map(|kind| format!("[`{kind}`](#{})", kind.name().to_lowercase())).collect();
    format!("{whose}: {}.\n\n", links.join(", "))
}

fn section(kind: Kind) -> String {
    let (doc, example, fields) = (kind.doc(), kind.example(), fields(kind.fields()));
    let open = if kind.is_open() { "\nOther fields are ignored.\n" } else { "" };
    let annotations = settings("annotation", ANNOTATIONS, kind);
    let labels = settings("label", LABELS, kind);
    format!("\n## {kind}\n\n{doc}\n\n```yaml\n{example}```\n\n{fields}{open}{annotations}{labels}")
}

fn fields(fields: &[Field]) -> String {
    format!("| field | value | meaning |\n|---|---|---|\n{}", rows(fields, ""))
}

/// The rows of fields. The rows of nested fields follow below each field.
fn rows(fields: &[Field], parent: &str) -> String {
    let row = |field: &Field| {
        let path = format!("{parent}{}", field.name);
        let required = if field.required { ", required" } else { "" };
        let below = match &field.shape {
            Shape::Fields(fields) => rows(fields, &format!("{path}.")),
            Shape::List(Shape::Fields(fields)) | Shape::Parts(Shape::Fields(fields)) => {
                rows(fields, &format!("{path}[]."))
            }
            _ => String::new(),
        };
        format!("| `{path}` | {}{required} | {} |\n{below}", value(&field.shape), field.doc)
    };
    fields.iter().map(row).collect()
}

fn value(shape: &Shape) -> String {
    match shape {
        Shape::Text => "text".to_owned(),
        Shape::Boolean => "`true` or `false`".to_owned(),
        Shape::Integer => "whole number".to_owned(),
        Shape::TextOrNumber => "text or number".to_owned(),
        Shape::OneOf(texts) => texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", "),
        Shape::Name => "name".to_owned(),
        Shape::Timestamp => "day (`YYYY-MM-DD`) or timestamp (RFC 3339)".to_owned(),
        Shape::TextMap => "mapping of texts".to_owned(),
        Shape::PlainTextMap => "mapping of texts without control characters".to_owned(),
        Shape::Fields(_) => "mapping".to_owned(),
        Shape::List(item) | Shape::Parts(item) => format!("list of {}s", value(item)),
        Shape::Any => "any".to_owned(),
    }
}

fn settings(what: &str, settings: &[Setting], kind: Kind) -> String {
    let settings: Vec<_> = settings.iter().filter(|setting| setting.kinds.contains(&kind)).collect();
    if settings.is_empty() {
        return String::new();
    }
    let row = |setting: &&Setting| {
        let Setting { key, values, doc, .. } = setting;
        let key = if key.contains(' ') { (*key).to_owned() } else { format!("`{key}`") };
        format!("| {key} | {values} | {doc} |\n")
    };
    let rows: String = settings.iter().map(row).collect();
    format!("\n| {what} | values | meaning |\n|---|---|---|\n{rows}")
}
