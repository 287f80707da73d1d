//! Invariants of the reader that hold for every input, for tests with random inputs.

use super::plain::is_surely_good;
use super::{Node, NodeValue, ProblemKind, Reading, YamlOptions, read, read_bytes, source_offset, structure};

/// Reads `bytes` with all functions, and checks the invariants: places are in the text, trees are not too deep, and fast paths give the
/// same results as the parser.
///
/// # Errors
/// A sentence about the first invariant that does not hold.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    for options in [YamlOptions::OBJECTS, YamlOptions::VALUES] {
        check_reading(&read_bytes(bytes, &options), bytes, text, &options)?;
    }
    check_plain(text)?;
    check_structure(text)
}

fn check_plain(text: &str) -> Result<(), String> {
    let is_good = || read(text, &YamlOptions::OBJECTS).problems.is_empty();
    if !is_surely_good(text) || is_good() { Ok(()) } else { Err("a text is taken for good that is not".to_owned()) }
}

fn check_reading(reading: &Reading, bytes: &[u8], text: &str, options: &YamlOptions) -> Result<(), String> {
    for problem in &reading.problems {
        let inside = |start: u32, end: u32| start <= end && end as usize <= bytes.len();
        let fits = inside(problem.span.start, problem.span.end)
            && problem.related.as_ref().is_none_or(|(span, _)| inside(span.start, span.end));
        let on_characters = text.is_empty() || text.get(problem.span.range()).is_some();
        if !fits || !on_characters {
            return Err(format!("a problem is outside the text: {problem:?}"));
        }
    }
    let broken = reading.problems.iter().any(|problem| !problem.kind.is_warning());
    if !broken && !reading.fragments.is_empty() {
        return Err("there are fragments, but no errors".to_owned());
    }
    reading
        .documents
        .iter()
        .chain(&reading.fragments)
        .try_for_each(|document| check_node(&document.root, text, options.limits.depth))
}

fn check_node(node: &Node, text: &str, depth: usize) -> Result<(), String> {
    if text.get(node.span.range()).is_none() {
        return Err(format!("the place of a node is not in the text: {:?}", node.span));
    }
    let deeper = || depth.checked_sub(1).ok_or("a tree is too deep".to_owned());
    match &node.value {
        NodeValue::Scalar(scalar) => {
            scalar.resolve();
            for offset in [0, scalar.text.len() / 2, scalar.text.len()] {
                let source = source_offset(text, node, offset);
                if !node.span.range().contains(&source) && source != node.span.end as usize {
                    return Err(format!(
                        "byte {offset} of the content is said to be at {source}, outside {:?}",
                        node.span
                    ));
                }
            }
            Ok(())
        }
        NodeValue::Sequence(items) => items.iter().try_for_each(|item| check_node(item, text, deeper()?)),
        NodeValue::Mapping(entries) => entries.iter().try_for_each(|(key, value)| {
            check_node(key, text, deeper()?)?;
            check_node(value, text, deeper()?)
        }),
    }
}

/// The result for a value must be the same as that of parsing it as a whole.
fn check_structure(text: &str) -> Result<(), String> {
    let reading = super::read(text, &YamlOptions::VALUES);
    let whole =
        reading.problems.iter().all(|problem| problem.kind == ProblemKind::UnknownTag) && reading.documents.len() == 1;
    let parsed = whole.then(|| &reading.documents[0].root).filter(|root| root.as_scalar().is_none());
    match (parsed, structure(text)) {
        (Some(parsed), Some(found)) if *parsed != found => Err("a structure is read differently as a value".to_owned()),
        (Some(_), None) if !starts_with_empty_document(text) => {
            Err(format!("a structure is taken for a text: {text:?}"))
        }
        _ => Ok(()),
    }
}

fn starts_with_empty_document(text: &str) -> bool {
    text.contains("---") || text.contains("...")
}

#[cfg(test)]
mod tests {
    use super::check;

    const SEEDS: &[&str] = &[
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {b: c, \"d\": 'e'}\ndata:\n  x: |\n    one\n     two\n\n  y: >-\n    a\n    b\n",
        "- &a [1, 0o17, ~, yes]\n- *a\n- {<<: {x: 1}, y: !!str 2}\n--- # next\n? [k]\n: v\n...\n%YAML 1.1\n---\nz: \"\\u00e9\\t\\\n  q\"\n",
        "{\n\t\"json\": [true, null, 1.5e3, \"x\"],\n\t\"é\": {\"a\": \"\\ud83d\\ude81\"}\n}\n",
        "base: &b {x: 1}\nm:\n  <<: [*b, {y: 2}]\n  'it''s': @x\n\tz: {{ .a }}\r\nk: |2-\r\n    v\r\n",
        "mysql://host:3306/a",
        "a: b: c\n---\nx: 'open\n---\ny: [1, 2\n---\nfine: 1\n",
    ];
    const ALPHABET: &[u8] = b"ab01 \n\n\t\r:-?[]{},#&*!|>'\"%@`~<=.\\_+xu\xc3\xa9\xe2\x80\xa8\xff\0";

    /// A small generator of random numbers (xorshift). Every run generates the same texts.
    fn next(state: &mut u64) -> usize {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        usize::try_from(*state >> 33).unwrap()
    }

    fn mutated(seed: &[u8], state: &mut u64) -> Vec<u8> {
        let mut bytes = seed.to_vec();
        for _ in 0..=next(state) % 6 {
            let at = next(state) % (bytes.len() + 1);
            let end = (at + next(state) % 8).min(bytes.len());
            let letters: Vec<u8> = (0..next(state) % 5).map(|_| ALPHABET[next(state) % ALPHABET.len()]).collect();
            match next(state) % 4 {
                0 => drop(bytes.splice(at..end, letters)),
                1 => drop(bytes.splice(at..at, letters)),
                2 => bytes.truncate(at),
                _ => bytes.extend_from_within(at..end),
            }
        }
        bytes
    }

    #[test]
    fn mutated_texts_break_nothing() {
        let mut state = 0x9e37_79b9_7f4a_7c15;
        for round in 0..6000 {
            let bytes = mutated(SEEDS[round % SEEDS.len()].as_bytes(), &mut state);
            assert_eq!(check(&bytes), Ok(()), "{:?}", String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn short_random_texts_break_nothing() {
        let mut state = 0x2545_f491_4f6c_dd1d;
        for _ in 0..20_000 {
            let bytes: Vec<u8> =
                (0..next(&mut state) % 12).map(|_| ALPHABET[next(&mut state) % ALPHABET.len()]).collect();
            assert_eq!(check(&bytes), Ok(()), "{:?}", String::from_utf8_lossy(&bytes));
        }
    }
}
