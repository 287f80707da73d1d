//! Compares the reader with the results of Go's library, in a table.

use super::{Node, NodeValue, Reading, Resolved, YamlOptions, is_surely_good, read};

const TABLE: &str = include_str!("go_readers.tsv");
const REFUSED: &str = "refused";

/// The documents of a text in the form of the table. Keys are sorted.
fn written(reading: &Reading) -> String {
    if reading.problems.iter().any(|problem| !problem.kind.is_warning()) {
        return REFUSED.to_owned();
    }
    let documents: Vec<_> = reading.documents.iter().map(|document| value(&document.root)).collect();
    documents.into_iter().filter(|document| document != "null").collect::<Vec<_>>().join(" | ")
}

fn value(node: &Node) -> String {
    match &node.value {
        NodeValue::Scalar(scalar) => match scalar.resolve() {
            Resolved::Null => "null".to_owned(),
            Resolved::Bool(value) => value.to_string(),
            Resolved::Int(number) => number.to_string(),
            Resolved::Uint(number) => number.to_string(),
            Resolved::Float(number) => format!("f{number}"),
            Resolved::Text(text) => serde_json::to_string(&*text).unwrap(),
        },
        NodeValue::Sequence(items) => format!("[{}]", items.iter().map(value).collect::<Vec<_>>().join(",")),
        NodeValue::Mapping(entries) => {
            let mut entries: Vec<_> =
                entries.iter().map(|(key, of_key)| format!("{}:{}", value(key), value(of_key))).collect();
            entries.sort();
            format!("{{{}}}", entries.join(","))
        }
    }
}

#[test]
fn texts_are_read_as_in_go() {
    let rows: Vec<Vec<&str>> =
        TABLE.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect()).collect();
    assert!(rows.len() > 200);
    for row in rows {
        let (text, go, own) = match row.as_slice() {
            [text, go] => (text, go, go),
            [text, go, own] => (text, go, own),
            _ => panic!("a row has two or three columns: {row:?}"),
        };
        let text: String = serde_json::from_str(text).unwrap();
        let found = written(&read(&text, &YamlOptions::VALUES));
        assert_eq!(found, *own, "{text:?}, which is {go} in Go");
        // In objects, keys that are twice are refused, too.
        let is_twice = |reading: &Reading| reading.problems.iter().any(|problem| problem.message.contains("is twice"));
        let objects = read(&text, &YamlOptions::OBJECTS);
        assert!(is_twice(&objects) || (written(&objects) == REFUSED) == (*own == REFUSED), "{text:?}");
        assert!(!is_surely_good(&text) || *go != REFUSED, "{text:?} is taken for good");
    }
}
