//! The fuzz target for parsing and rendering of templates.

use std::sync::LazyLock;

use gotemplate::budget::RenderLimits;
use gotemplate::template::Template;
use gotemplate::value::{MapKind, Value};

/// Limits that are small enough to keep every input fast.
const LIMITS: RenderLimits = RenderLimits { steps: 20_000, output_bytes: 256 * 1024, depth: 100, passes: 4 };

/// A value that contains some data of each type that templates use.
static DOT: LazyLock<Value> = LazyLock::new(|| {
    let port = Value::dict([("name", Value::text("http")), ("port", Value::int(8080))]);
    let Value::Map(untyped) = Value::dict([("host", Value::text("db")), ("port", Value::int(5432))]) else {
        return Value::Nil;
    };
    Value::dict([
        ("Environment", Value::text("dev")),
        ("Labels", Value::text_map([("region", "west-us"), ("edge", "true")])),
        ("db", Value::map(MapKind::AnyToAny, untyped.entries().clone())),
        ("date", Value::text("2024-02-29")),
        ("nested", Value::text("{{ .Environment }}")),
        ("n", Value::int(3)),
        ("f", Value::Float(1.5)),
        ("t", Value::Bool(true)),
        ("nil", Value::Nil),
        ("l", Value::list(vec![Value::text("b"), Value::int(1), port])),
        ("cut", Value::text(&b"caf\xc3"[..])),
    ])
});

/// Checks that any text is either refused with a line inside the text, or rendered within the limits and always with the same result.
pub fn template(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let template = match Template::parse("fuzz", &text) {
        Ok(template) => template,
        Err(error) => {
            assert!(error.line <= text.split('\n').count(), "the line is after the end of the text: {error}");
            return;
        }
    };
    let rendered = template.render_nested(&DOT, &LIMITS);
    assert_eq!(rendered, template.render_nested(&DOT, &LIMITS), "the second rendering gives another result");
    if let Ok(output) = rendered {
        assert!(output.len() as u64 <= LIMITS.output_bytes, "{} bytes", output.len());
    }
}
