//! Parsing and rendering of templates.

use std::sync::LazyLock;

use gotemplate::budget::Limits;
use gotemplate::template::Template;
use gotemplate::value::{MapKind, Value};

/// Small enough that no input takes long.
const LIMITS: Limits = Limits { steps: 20_000, output_bytes: 256 * 1024, depth: 100, passes: 4 };

/// A little of each type that templates meet.
static DOT: LazyLock<Value> = LazyLock::new(|| {
    let port = Value::dict([("name", Value::text("http")), ("port", Value::int(8080))]);
    let Value::Map(untyped) = Value::dict([("host", Value::text("db")), ("port", Value::int(5432))]) else {
        return Value::Nil;
    };
    Value::dict([
        ("Environment", Value::text("dev")),
        ("Labels", Value::text_map([("region", "west-us"), ("edge", "true")])),
        ("db", Value::map(MapKind::AnyToAny, untyped.entries.clone())),
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

/// Any text is either refused with a place inside it, or rendered within the limits, and always in the same way.
pub fn template(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let template = match Template::parse("fuzz", &text) {
        Ok(template) => template,
        Err(error) => {
            assert!(error.line <= text.split('\n').count(), "a line behind the end: {error}");
            return;
        }
    };
    let rendered = template.render_nested(&DOT, &LIMITS);
    assert_eq!(rendered, template.render_nested(&DOT, &LIMITS), "not the same when rendered again");
    if let Ok(output) = rendered {
        assert!(output.len() as u64 <= LIMITS.output_bytes, "{} bytes", output.len());
    }
}
