//! The fuzz target for the YAML writer. The YAML reader must be able to read its output.

use gotemplate::value::{Key, MapKind, Value};
use gotemplate::yaml::to_yaml;
use model::yaml::{Node, NodeValue, Resolved, YamlOptions, read};

/// The maximum depth of the values. The reader refuses more than 100 levels.
const DEPTH_MAX: u32 = 20;

/// Checks that the value made from the bytes can be written, and that reading it gives the same value.
///
/// Excluded are texts that yaml.v3 writes incorrectly, or in a way that only YAML 1.1 readers understand: texts of several lines that begin with a
/// space, a tab or a line break, the line breaks that exist only in YAML 1.1, and the key `<<`.
pub fn yaml_writer(input: &[u8]) {
    let value = value(&mut Bytes { rest: input }, 0);
    let yaml = to_yaml(&value).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let yaml = yaml.unwrap_or_else(|failure| format!("{failure:?}"));
    let reading = read(&yaml, &YamlOptions::VALUES);
    assert!(reading.problems.is_empty(), "{:?}\n{yaml}", reading.problems);
    let [document] = &*reading.documents else { return assert_eq!(yaml, "null\n") };
    assert_read_back(&document.root, &value, &yaml);
}

fn assert_read_back(node: &Node, value: &Value, yaml: &str) {
    match (&node.value, value) {
        (NodeValue::Sequence(items), Value::List(list)) => {
            assert_eq!(items.len(), list.items().len(), "{yaml}");
            for (item, value) in items.iter().zip(list.items()) {
                assert_read_back(item, value, yaml);
            }
        }
        (NodeValue::Mapping(entries), Value::Map(map)) => {
            assert_eq!(entries.len(), map.entries().len(), "{yaml}");
            for (key, item) in entries.iter() {
                let key = key.as_scalar().map(|key| Key::Text((*key.text).into()));
                let value = key.as_ref().and_then(|key| map.entries().get(key));
                assert!(value.is_some(), "the key is missing: {key:?}\n{yaml}");
                assert_read_back(item, value.unwrap_or(&Value::Nil), yaml);
            }
        }
        (NodeValue::Scalar(scalar), value) => {
            let same = match (scalar.resolve(), value) {
                (Resolved::Null, Value::Nil) => true,
                (Resolved::Bool(read), Value::Bool(written)) => read == *written,
                (Resolved::Int(read), Value::Int(written, _)) => read == *written,
                (Resolved::Text(read), Value::Text(written)) => read.as_bytes() == written.as_bytes(),
                _ => false,
            };
            assert!(same, "{scalar:?} is not {value:?}\n{yaml}");
        }
        (read, written) => assert_eq!(format!("{read:?}"), format!("{written:?}"), "{yaml}"),
    }
}

/// Takes bytes one after another. After the end, every byte is zero.
struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        *first
    }

    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        taken
    }
}

fn value(bytes: &mut Bytes<'_>, depth: u32) -> Value {
    let tag = bytes.next();
    let length = usize::from(tag >> 3);
    match tag % 8 {
        0 => Value::Nil,
        1 => Value::Bool(length % 2 == 1),
        2 => Value::int(bytes.take(8).iter().fold(0, |number, byte| number << 8 | i64::from(*byte))),
        6 if depth < DEPTH_MAX => Value::list((0..length % 8).map(|_| value(bytes, depth + 1)).collect()),
        7 if depth < DEPTH_MAX => {
            let entries = (0..length % 8).map(|_| (Key::Text(key(bytes).into()), value(bytes, depth + 1)));
            Value::map(MapKind::TextToAny, entries.collect())
        }
        _ => Value::text(text(bytes, length)),
    }
}

fn key(bytes: &mut Bytes<'_>) -> String {
    let length = usize::from(bytes.next() % 32);
    let key = text(bytes, length);
    if key == "<<" { String::new() } else { key }
}

/// A text that the reader can read back.
fn text(bytes: &mut Bytes<'_>, length: usize) -> String {
    let text = String::from_utf8_lossy(bytes.take(length)).replace(['\u{85}', '\u{2028}', '\u{2029}'], "");
    if text.contains('\n') { text.trim_start_matches(['\n', ' ', '\t']).to_owned() } else { text }
}
