//! The keys of a mapping: applies merge keys, and makes keys unique.

use std::borrow::Cow;
use std::collections::HashSet;
use std::collections::hash_map::{Entry as Slot, HashMap};

use super::problem::{Findings, shown};
use super::{Node, NodeValue, ProblemKind, Resolved, ScalarStyle, Span, Tag, YamlDialect, YamlProblem};

/// A key with its value.
pub(super) type Entry = (Node, Node);

/// The final entries of a mapping. `start` is the offset where it begins.
pub(super) fn settle(entries: Vec<Entry>, start: u32, dialect: YamlDialect, findings: &mut Findings) -> Vec<Entry> {
    report_complex_keys(&entries, start, findings);
    match dialect {
        YamlDialect::Objects => {
            report_duplicates(&entries, findings);
            if entries.iter().any(is_merge) { merged_below(&entries, findings) } else { entries }
        }
        YamlDialect::Values | YamlDialect::Json => {
            let entries = if entries.iter().any(is_merge) { merged_in_turn(entries, findings) } else { entries };
            last_of_each(entries)
        }
    }
}

/// The part of a key that makes two keys equal. In objects, which become JSON, it is the text. In values, which keep types, it is the resolved value.
#[derive(PartialEq, Eq, Hash)]
enum Identity<'n> {
    Null,
    Bool(bool),
    Int(i128),
    Float(u64),
    Text(Cow<'n, str>),
}

/// The identity of a key. None for a collection, which is never compared.
fn identity(key: &Node, dialect: YamlDialect) -> Option<Identity<'_>> {
    let scalar = key.as_scalar()?;
    if dialect == YamlDialect::Objects {
        return Some(Identity::Text(Cow::Borrowed(&scalar.text)));
    }
    Some(match scalar.resolve() {
        Resolved::Null => Identity::Null,
        Resolved::Bool(value) => Identity::Bool(value),
        Resolved::Int(value) => Identity::Int(value.into()),
        Resolved::Uint(value) => Identity::Int(value.into()),
        Resolved::Float(value) => Identity::Float(value.to_bits()),
        Resolved::Text(text) => Identity::Text(text),
    })
}

fn report_complex_keys(entries: &[Entry], start: u32, findings: &mut Findings) {
    for (key, _) in entries.iter().filter(|(key, _)| key.as_scalar().is_none()) {
        let doubled = key.span.start == start + 1 && matches!(key.value, NodeValue::Mapping(_));
        if doubled {
            let span = Span { start, end: start + 2 };
            let problem = YamlProblem::new(
                ProblemKind::ComplexKey,
                span,
                "`{{` begins a YAML mapping here, not a template expression",
            );
            findings.add(problem.hint("put the value in quotes"));
        } else {
            findings.add(YamlProblem::new(ProblemKind::ComplexKey, key.span, "a key cannot be a mapping or a list"));
        }
    }
}

fn report_duplicates(entries: &[Entry], findings: &mut Findings) {
    if entries.len() < 2 {
        return;
    }
    if entries.len() <= FEW && all_differ(entries) {
        return;
    }
    let mut places: HashMap<Identity<'_>, Span> = HashMap::with_capacity(entries.len());
    for (key, _) in entries {
        let Some(identity) = identity(key, YamlDialect::Objects) else { continue };
        match places.entry(identity) {
            Slot::Vacant(slot) => {
                slot.insert(key.span);
            }
            Slot::Occupied(first) => {
                let name = key.as_scalar().map(|scalar| shown(&scalar.text)).unwrap_or_default();
                let problem = YamlProblem::new(
                    ProblemKind::DuplicateKey,
                    key.span,
                    format!("the key {name} is twice in this mapping"),
                );
                findings.add(problem.related(*first.get(), "it is here already").hint("keep one of the two"));
            }
        }
    }
}

/// Up to this number of keys, comparing them with each other is faster than hashing.
const FEW: usize = 8;

/// Whether no two keys have the same text.
fn all_differ(entries: &[Entry]) -> bool {
    let differ = |(one, _): &Entry, (other, _): &Entry| match (one.as_scalar(), other.as_scalar()) {
        (Some(one), Some(other)) => one.text != other.text,
        _ => true,
    };
    entries.iter().enumerate().all(|(at, entry)| entries.iter().take(at).all(|other| differ(entry, other)))
}

/// As `yaml.v3`: merged entries have a lower precedence than all written keys, and than entries merged earlier.
fn merged_below(entries: &[Entry], findings: &mut Findings) -> Vec<Entry> {
    let written =
        entries.iter().filter(|entry| !is_merge(entry)).filter_map(|(key, _)| identity(key, YamlDialect::Objects));
    let mut seen: HashSet<Identity<'_>> = written.collect();
    let mut out = Vec::with_capacity(entries.len());
    for entry in entries {
        if !is_merge(entry) {
            out.push(entry.clone());
            continue;
        }
        for source in sources(&entry.1, findings) {
            out.extend(
                source
                    .iter()
                    .filter(|(key, _)| identity(key, YamlDialect::Objects).is_none_or(|name| seen.insert(name)))
                    .cloned(),
            );
        }
    }
    out
}

/// As `yaml.v2`: all entries, also merges, take effect in order. Of the mappings in a merged list, an earlier one takes precedence.
fn merged_in_turn(entries: Vec<Entry>, findings: &mut Findings) -> Vec<Entry> {
    let mut out = Vec::with_capacity(entries.len());
    for entry in entries {
        if is_merge(&entry) {
            out.extend(sources(&entry.1, findings).into_iter().rev().flat_map(|source| source.iter().cloned()));
        } else {
            out.push(entry);
        }
    }
    out
}

fn last_of_each(mut entries: Vec<Entry>) -> Vec<Entry> {
    if entries.len() < 2 {
        return entries;
    }
    let mut seen: HashSet<Identity<'_>> = HashSet::with_capacity(entries.len());
    let mut kept: Vec<bool> = entries
        .iter()
        .rev()
        .map(|(key, _)| identity(key, YamlDialect::Values).is_none_or(|name| seen.insert(name)))
        .collect();
    drop(seen);
    // The flags are in reverse order, so `pop` returns the flag of the first entry first.
    entries.retain(|_| kept.pop().unwrap_or(true));
    entries
}

fn is_merge((key, _): &Entry) -> bool {
    key.as_scalar().is_some_and(|scalar| {
        let tagged = scalar.tag == Some(Tag::Merge);
        &*scalar.text == "<<" && (tagged || (scalar.tag.is_none() && scalar.style == ScalarStyle::Plain))
    })
}

/// The mappings that a merge key merges, in order of precedence.
fn sources<'n>(value: &'n Node, findings: &mut Findings) -> Vec<&'n [Entry]> {
    let found: Option<Vec<_>> = match &value.value {
        NodeValue::Mapping(entries) => Some(vec![&**entries]),
        NodeValue::Sequence(items) => items.iter().map(Node::as_mapping).collect(),
        NodeValue::Scalar(_) => None,
    };
    found.unwrap_or_else(|| {
        findings.add(YamlProblem::new(
            ProblemKind::Merge,
            value.span,
            "`<<` merges a mapping or a list of mappings, and this is neither",
        ));
        Vec::new()
    })
}

#[cfg(test)]
mod tests {
    use crate::yaml::{Node, ProblemKind, Reading, YamlDialect, YamlOptions, read};

    fn check(text: &str, dialect: YamlDialect, expected: &[(&str, &str)]) {
        let reading = read(text, &YamlOptions { dialect, ..YamlOptions::OBJECTS });
        assert_eq!(reading.problems, []);
        let word = |node: &Node| node.as_scalar().map(|scalar| scalar.text.to_string()).unwrap_or_default();
        let last = reading.documents[0].root.as_mapping().unwrap().last().unwrap().1.clone();
        let mut entries: Vec<_> =
            last.as_mapping().unwrap().iter().map(|(key, value)| (word(key), word(value))).collect();
        entries.sort();
        let expected: Vec<_> = expected.iter().map(|(key, value)| ((*key).to_string(), (*value).to_string())).collect();
        assert_eq!(entries, expected);
    }

    fn kinds(text: &str, options: &YamlOptions) -> Vec<ProblemKind> {
        let Reading { problems, .. } = read(text, options);
        problems.iter().map(|problem| problem.kind).collect()
    }

    #[test]
    fn written_keys_win_over_merged_ones_in_objects() {
        check("b: &b {x: 1, y: 2}\nm: {x: 9, <<: *b}", YamlDialect::Objects, &[("x", "9"), ("y", "2")]);
        check("b: &b {x: 1, y: 2}\nm: {<<: *b, x: 9}", YamlDialect::Objects, &[("x", "9"), ("y", "2")]);
    }

    #[test]
    fn values_merge_entries_in_order_like_yaml_v2() {
        check("b: &b {x: 1, y: 2}\nm: {<<: *b, x: 9}", YamlDialect::Values, &[("x", "9"), ("y", "2")]);
        check("b: &b {x: 1, y: 2}\nm: {x: 9, <<: *b}", YamlDialect::Values, &[("x", "1"), ("y", "2")]);
    }

    #[test]
    fn of_several_merged_mappings_the_earlier_wins() {
        for dialect in [YamlDialect::Objects, YamlDialect::Values] {
            check("a: &a {x: 1}\nb: &b {x: 2, y: 2}\nm: {<<: [*a, *b]}", dialect, &[("x", "1"), ("y", "2")]);
        }
    }

    #[test]
    fn a_quoted_merge_key_is_a_key() {
        check("m: {\"<<\": a}", YamlDialect::Objects, &[("<<", "a")]);
    }

    #[test]
    fn only_mappings_can_be_merged() {
        assert_eq!(kinds("{<<: 1}", &YamlOptions::OBJECTS), [ProblemKind::Merge]);
        assert_eq!(kinds("{<<: [{a: 1}, 2]}", &YamlOptions::VALUES), [ProblemKind::Merge]);
    }

    #[test]
    fn duplicate_keys_are_reported_with_both_places() {
        let text = "a: 1\n\"a\": 2\n";
        let reading = read(text, &YamlOptions::OBJECTS);
        let problem = &reading.problems[0];
        assert_eq!(problem.kind, ProblemKind::DuplicateKey);
        assert_eq!((problem.span.range(), problem.related.as_ref().map(|(span, _)| span.range())), (5..8, Some(0..1)));
        assert_eq!((reading.documents.len(), reading.fragments.len()), (0, 1));
    }

    #[test]
    fn the_last_of_equal_keys_wins_in_values() {
        check("m: {a: 1, b: 2, a: 3}", YamlDialect::Values, &[("a", "3"), ("b", "2")]);
        check(
            "m: {1: a, 0x1: b, \"1\": c, yes: d, on: e}",
            YamlDialect::Values,
            &[("0x1", "b"), ("1", "c"), ("on", "e")],
        );
    }

    #[test]
    fn keys_cannot_be_collections() {
        for options in [YamlOptions::OBJECTS, YamlOptions::VALUES] {
            assert_eq!(kinds("? [a]\n: b\n", &options), [ProblemKind::ComplexKey]);
            assert_eq!(kinds("{[a]: b}\n", &options), [ProblemKind::ComplexKey]);
        }
    }

    #[test]
    fn a_template_expression_without_quotes_is_recognized() {
        let reading = read("a: {{ .x }}\n", &YamlOptions::OBJECTS);
        assert_eq!(reading.problems[0].kind, ProblemKind::ComplexKey);
        assert_eq!(reading.problems[0].span.range(), 3..5);
    }
}
