//! Tests of mapping offsets in scalars back to the text.

use super::source_offset;
use crate::yaml::{YamlOptions, read};

/// Checks that `needle`, in the content of the only value of a mapping, maps to the place after the mark `^` in the text.
fn check(marked: &str, needle: &str) {
    let text = marked.replacen('^', "", 1);
    let reading = read(&text, &YamlOptions::OBJECTS);
    assert_eq!(reading.problems, []);
    let value = &reading.documents[0].root.as_mapping().unwrap()[0].1;
    let content = &value.as_scalar().unwrap().text;
    let offset = source_offset(&text, value, content.find(needle).expect("the content has the needle"));
    assert_eq!(offset, marked.find('^').unwrap(), "{text:?} {:?}", &text[offset..]);
}

#[test]
fn offsets_in_one_line_scalars_are_exact() {
    check("key: some ^text\n", "text");
    check("key: 'some ^text'\n", "text");
    check("key: 'it''s ^text'\n", "text");
    check("key: 'it^''s'\n", "'s");
    check("key: 'a   ^ b'\n", " b");
    check("key: \"a\\tb\\u00e9 \\x41\\\\ ^text\"\n", "text");
    check("key: \"it\\'s ^text\"\n", "text");
    check("key: \"\\U0001F681 ^é\"\n", "é");
}

#[test]
fn literal_blocks_are_exact() {
    check("key: |\n  one\n  two ^x\n", "x");
    check("key: |\n\n    one\n\n      ^x\n", "x");
    check("key: |2-\n     ^x\n", "x");
    check("key: |+ # comment | with a bar\n  one\n\n  ^x\n\n", "x");
    check("key: |# comment\n  one\n  ^x\n", "x");
    check("key: |\r\n  one\r\n  ^x\r\n", "x");
    check("key: # a | comment\n  |\n  ^x\n", "x");
}

#[test]
fn folded_texts_lead_to_the_right_word() {
    check("key: >\n  one\n  two\n\n  ^x\n", "x");
    check("key: >-\n\n  one\n    two\n  ^x\n", "x");
    check("key: one\n  two\n\n  ^x\n", "x");
    check("key: 'one\n  two ''\n\n  ^x'\n", "x");
    check("key: \"one\\\n  two \\\n  ^x\"\n", "x");
    check("key: \"one\ntwo\n\n^x\"\n", "x");
    check("key: 'one\ntwo\n^x'# comment\n", "x");
}

#[test]
fn the_place_of_a_block_begins_at_its_header() {
    for text in
        ["a: |\n  x\n", "a: >-\n  x\n\nb: 1\n", "a: |\nb: 1\n", "a: !!str |\n  x\n", "a: &b-c |  # d\n  x\n", "a: |"]
    {
        let reading = read(text, &YamlOptions::OBJECTS);
        let span = reading.documents[0].root.get("a").unwrap().span;
        assert_eq!(span.start as usize, text.rfind(" |").or(text.find(" >")).unwrap() + 1, "{text:?}");
        assert!(text.len() < 8 || span.end as usize <= text.find("b: 1").unwrap_or(text.len()));
    }
}

#[test]
fn out_of_range_offsets_are_clamped_to_the_node() {
    let text = "key: value\n";
    let reading = read(text, &YamlOptions::OBJECTS);
    let root = &reading.documents[0].root;
    assert_eq!(source_offset(text, root, 7), 0);
    assert_eq!(source_offset(text, root.get("key").unwrap(), 100), 10);
    assert_eq!(source_offset("k", root.get("key").unwrap(), 0), 1);
}
