//! JSON as Go's encoding/json writes it. For a value that can't be written, the result is an empty text.

use std::collections::BTreeMap;
use std::io::Write as _;

use data_encoding::BASE64;

use super::arguments::{any, charge_text};
use super::{deep, function};
use crate::budget::Exhausted;
use crate::function::{Call, Function, FunctionError, Type};
use crate::runes::first_char;
use crate::text::Text;
use crate::value::{Key, List, ListKind, Map, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    deep(function("toJson", &[Type::Any], |call, args| encoded(call, any(args, 0), None))),
    deep(function("toPrettyJson", &[Type::Any], |call, args| encoded(call, any(args, 0), Some("  ")))),
];

/// The reason why no JSON was written.
enum JsonStop {
    /// The value cannot be written as JSON.
    Unsupported,
    /// The text is longer than any output can be: deep indentation makes long texts from small values.
    TooLong,
}

fn encoded(call: &mut Call<'_>, value: &Value, indent: Option<&'static str>) -> Result<Value, FunctionError> {
    let bytes_max = call.budget.limits().output_bytes;
    let mut writer = Writer { out: Vec::with_capacity(64), indent, level: 0, bytes_max };
    match writer.value(value) {
        Ok(()) => charge_text(call, writer.out.len())?,
        Err(JsonStop::TooLong) => return Err(Exhausted::OutputBytes(bytes_max).into()),
        Err(JsonStop::Unsupported) => writer.out.clear(),
    }
    Ok(Value::text(writer.out))
}

/// The text, while it is written.
struct Writer {
    out: Vec<u8>,
    /// The indentation of one level. `None` writes everything in one line.
    indent: Option<&'static str>,
    level: usize,
    bytes_max: u64,
}

impl Writer {
    /// The function is recursive. The depth of values is limited before.
    fn value(&mut self, value: &Value) -> Result<(), JsonStop> {
        match value {
            Value::Missing | Value::Nil => self.put("null"),
            Value::Bool(flag) => self.put(if *flag { "true" } else { "false" }),
            Value::Int(number, _) | Value::Duration(number) => self.shown(number),
            Value::Uint(number, _) => self.shown(number),
            Value::Float(number) if number.is_finite() => self.float(*number),
            Value::Float(_) | Value::Complex(..) => return Err(JsonStop::Unsupported),
            Value::Text(text) => self.text(text.as_bytes()),
            Value::List(list) if list.is_nil() => self.put("null"),
            Value::List(list) if list.kind == ListKind::Bytes => self.bytes(list),
            Value::List(list) => self.items([b'[', b']'], list.items().iter(), Self::value)?,
            Value::Map(map) if map.is_nil() => self.put("null"),
            Value::Map(map) => self.map(map)?,
            Value::Struct(fields) => {
                let fields = fields.fields.iter();
                self.items([b'{', b'}'], fields, |writer, (name, value)| writer.entry(name.as_bytes(), value))?;
            }
            Value::Time(time) => {
                if !(0..=9_999).contains(&time.year()) {
                    return Err(JsonStop::Unsupported);
                }
                self.text(time.to_rfc3339().as_bytes());
            }
            Value::Version(version) => self.text(version.to_string().as_bytes()),
            Value::Tainted(tainted) => self.value(&tainted.value)?,
        }
        Ok(())
    }

    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn shown(&mut self, number: impl std::fmt::Display) {
        // Writing to memory never fails.
        let _ = write!(self.out, "{number}");
    }

    /// Uses an exponent only for very small and very large numbers.
    fn float(&mut self, number: f64) {
        let size = number.abs();
        if size != 0.0 && !(1e-6..1e21).contains(&size) {
            let text = format!("{number:e}");
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let sign = if exponent.starts_with('-') { "" } else { "+" };
            return self.shown(format_args!("{mantissa}e{sign}{exponent}"));
        }
        self.shown(number);
    }

    fn text(&mut self, text: &[u8]) {
        self.out.push(b'"');
        let mut rest = text;
        loop {
            let plain = rest.iter().position(|byte| !is_plain(*byte)).unwrap_or(rest.len());
            let (verbatim, after) = rest.split_at(plain);
            self.out.extend_from_slice(verbatim);
            let Some((char, length)) = first_char(after) else { break };
            let (bytes, behind) = after.split_at(length);
            self.character(char, bytes);
            rest = behind;
        }
        self.out.push(b'"');
    }

    /// Writes a character. `bytes` are its bytes in the text.
    fn character(&mut self, char: char, bytes: &[u8]) {
        match char {
            '"' => self.put("\\\""),
            '\\' => self.put("\\\\"),
            '\n' => self.put("\\n"),
            '\r' => self.put("\\r"),
            '\t' => self.put("\\t"),
            '\u{8}' => self.put("\\b"),
            '\u{c}' => self.put("\\f"),
            // The escapes make the JSON safe inside HTML and JavaScript.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                self.shown(format_args!("\\u{:04x}", char as u32));
            }
            char::REPLACEMENT_CHARACTER if bytes.len() == 1 => self.put("\\ufffd"),
            _ => self.out.extend_from_slice(bytes),
        }
    }

    fn bytes(&mut self, list: &List) {
        let byte = |item: &Value| if let Value::Uint(byte, _) = item { *byte as u8 } else { 0 };
        let bytes: Vec<u8> = list.items().iter().map(byte).collect();
        self.out.push(b'"');
        self.put(&BASE64.encode(&bytes));
        self.out.push(b'"');
    }

    /// Go's encoder returns an error for maps with untyped keys, and composed values are such maps. Here such keys are written as texts.
    fn map(&mut self, map: &Map) -> Result<(), JsonStop> {
        // In the order of keys, texts are last: if the first key is a text, all are.
        if matches!(map.entries().keys().next(), None | Some(Key::Text(_))) {
            return self.items([b'{', b'}'], map.entries().iter(), |writer, (key, value)| match key {
                Key::Text(text) => writer.entry(text.as_bytes(), value),
                other => writer.entry(key_text(other).as_bytes(), value),
            });
        }
        // For the same reason, an entry with the text `1` replaces the one with the number.
        let texts: BTreeMap<_, _> = map.entries().iter().map(|(key, value)| (key_text(key), value)).collect();
        self.items([b'{', b'}'], texts.iter(), |writer, (key, value)| writer.entry(key.as_bytes(), value))
    }

    fn entry(&mut self, key: &[u8], value: &Value) -> Result<(), JsonStop> {
        self.text(key);
        self.put(if self.indent.is_some() { ": " } else { ":" });
        self.value(value)
    }

    fn items<T>(
        &mut self,
        [open, close]: [u8; 2],
        items: impl ExactSizeIterator<Item = T>,
        write: impl Fn(&mut Self, T) -> Result<(), JsonStop>,
    ) -> Result<(), JsonStop> {
        let is_empty = items.len() == 0;
        self.out.push(open);
        self.level += 1;
        for (number, item) in items.enumerate() {
            if number > 0 {
                self.out.push(b',');
            }
            self.newline();
            if self.out.len() as u64 > self.bytes_max {
                return Err(JsonStop::TooLong);
            }
            write(self, item)?;
        }
        self.level -= 1;
        if !is_empty {
            self.newline();
        }
        self.out.push(close);
        Ok(())
    }

    fn newline(&mut self) {
        if let Some(indent) = self.indent {
            self.out.push(b'\n');
            (0..self.level).for_each(|_| self.put(indent));
        }
    }
}

/// The bytes that JSON contains unescaped, and that are one character each.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = b' ';
    while byte <= b'~' {
        plain[byte as usize] = !matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'&');
        byte += 1;
    }
    plain
};

fn is_plain(byte: u8) -> bool {
    PLAIN[usize::from(byte)]
}

fn key_text(key: &Key) -> Text {
    match key {
        Key::Nil => "null".into(),
        Key::Bool(flag) => flag.to_string().as_str().into(),
        Key::Int(number) => number.to_string().as_str().into(),
        Key::Uint(number) => number.to_string().as_str().into(),
        Key::Float(number) => number.0.to_string().as_str().into(),
        Key::Text(text) => text.clone(),
    }
}
