//! Tests of edits of fields.

use super::*;

fn path(text: &str) -> FieldPath {
    text.split('.').map(|part| part.parse().map_or_else(|_| FieldStep::Key(part.into()), FieldStep::Index)).collect()
}

fn check(text: &str, change: &Change, expected: &str) {
    let result = edit(text.as_bytes(), ObjectPosition::default(), change);
    assert_eq!(result.map(|bytes| String::from_utf8(bytes).unwrap()), Ok(expected.to_owned()), "{text:?}");
}

fn set(field: &str, value: &str) -> Change {
    Change::Set(path(field), NewValue::text(value))
}

fn remove(field: &str) -> Change {
    Change::Remove(path(field))
}

fn append(field: &str, value: &str) -> Change {
    Change::Append(path(field), NewValue::text(value))
}

/// Checks that an addition gives this text, and that the removal of the same field gives the first text back.
fn check_both_ways(text: &str, (field, value): (&str, &str), expected: &str) {
    check(text, &set(field, value), expected);
    check(expected, &remove(field), text);
}

fn refused(text: &str, change: &Change) -> String {
    let error = edit(text.as_bytes(), ObjectPosition::default(), change).unwrap_err();
    let place = error.position(text.as_bytes()).map(|at| format!("{}:{}: ", at.line, at.column)).unwrap_or_default();
    format!("{place}{error}")
}

#[test]
fn changed_scalar_keeps_its_quotes_and_surroundings() {
    check("a: 1 # one\nb: 2\n", &set("a", "x"), "a: x # one\nb: 2\n");
    check("a: '1'\n", &set("a", "x"), "a: 'x'\n");
    check("a: \"1\"\r\nb:\tc\r\n", &set("a", "x"), "a: \"x\"\r\nb:\tc\r\n");
    check("a: x\n", &set("a", "on"), "a: \"on\"\n");
    check("{a: x, b: [1, 2]}", &set("b.1", "y, z"), "{a: x, b: [1, \"y, z\"]}");
    check("\u{feff}\"a\" : x", &set("a", "new"), "\u{feff}\"a\" : new");
    check("a: two\n  lines # c\nb: 1\n", &set("a", "x"), "a: x # c\nb: 1\n");
    check("a:\n  b: x\n", &set("a.b", "y\nz\n"), "a:\n  b: |\n    y\n    z\n");
}

#[test]
fn a_block_is_replaced_up_to_its_last_line() {
    check("a: |\n  x\n  y\n\n# c\nb: 1\n", &set("a", "z"), "a: z\n\n# c\nb: 1\n");
    check("a: |- # why\n  x\nb: 1\n", &set("a", "y\nz\n"), "a: | # why\n  y\n  z\nb: 1\n");
    check("a: >\n  x", &set("a", "new"), "a: new");
}

#[test]
fn text_after_a_block_is_not_part_of_the_new_value() {
    check("a: |\n    x\n    \nb: 1\n", &set("a", "y\nz\n"), "a: |\n  y\n  z\n\nb: 1\n");
    check("a: |\n    x\n  # c\nb: 1\n", &set("a", "y\nz\n"), "a: \"y\\nz\\n\"\n  # c\nb: 1\n");
}

#[test]
fn text_after_a_removed_field_does_not_join_the_block_above() {
    check("a: |\n  x\nb: 1\n    # about b\n\nc: 2\n", &remove("b"), "a: |\n  x\n\nc: 2\n");
    check("a: |+\n  x\nb: 1\n\n\nc: 2\n", &remove("b"), "a: |+\n  x\nc: 2\n");
    check("a:\n- |+\n  x\n- |\n  y\n  \n---\n", &remove("a.1"), "a:\n- |+\n  x\n---\n");
    check("k:\n  a: |+\n    x\n  b: 1\n\n # c\nl: 2\n", &remove("k.b"), "k:\n  a: |+\n    x\n # c\nl: 2\n");
    check("a: x\nb: 1\n    # c\n\nc: 2\n", &remove("b"), "a: x\n    # c\n\nc: 2\n");
}

#[test]
fn a_missing_value_is_written_behind_the_colon() {
    check("a:\nb: 1\n", &set("a", "x"), "a: x\nb: 1\n");
    check("a: # c\nb: 1\n", &set("a.d", "x"), "a: # c\n  d: x\nb: 1\n");
    check("{a: , b: 1}", &set("a", "x"), "{a: x , b: 1}");
}

#[test]
fn an_entry_is_added_behind_the_last_one() {
    check_both_ways("a:\n  b: 1 # one\n\n# c\nd: 2\n", ("a.x", "new"), "a:\n  b: 1 # one\n  x: new\n\n# c\nd: 2\n");
    check_both_ways("a:\n    b: 1", ("a.x", "new"), "a:\n    b: 1\n    x: new");
    check_both_ways("a: 1\r\nb:\r\n  c: 2\r\n", ("b.x", "new"), "a: 1\r\nb:\r\n  c: 2\r\n  x: new\r\n");
    check_both_ways("a: {b: 1, c: 2}\n", ("a.x", "new"), "a: {b: 1, c: 2, x: new}\n");
    check_both_ways("a: { b: 1 }\n", ("a.x", "new"), "a: { b: 1, x: new }\n");
    check_both_ways("a: {b: 1, c: }\n", ("a.x", "new"), "a: {b: 1, c: , x: new }\n");
    check_both_ways("a: {\n  b: 1, # c\n}\n", ("a.x", "new"), "a: {\n  b: 1, x: new, # c\n}\n");
    check_both_ways("a:\n  b: |\n    text\n\n\nc: 1\n", ("a.x", "new"), "a:\n  b: |\n    text\n  x: new\n\n\nc: 1\n");
    check_both_ways("a:\n  b: |+\n    text\n\nc: 1\n", ("a.x", "new"), "a:\n  b: |+\n    text\n\n  x: new\nc: 1\n");
    check_both_ways("a:\n  b:\n", ("a.x", "new"), "a:\n  b:\n  x: new\n");
    check_both_ways("- a: 1\n  b: 2\n- c\n", ("0.x", "new"), "- a: 1\n  b: 2\n  x: new\n- c\n");
    check_both_ways("a: 1\n...\n---\nb: 2\n", ("x", "new"), "a: 1\nx: new\n...\n---\nb: 2\n");
    check_both_ways("k: &a {b: 1}\nm:\n  n: *a\n", ("m.x", "new"), "k: &a {b: 1}\nm:\n  n: *a\n  x: new\n");
    check_both_ways(
        "%YAML 1.1\n---\na:\n  # c\n  b: 1\t# d\n",
        ("a.x", "new"),
        "%YAML 1.1\n---\na:\n  # c\n  b: 1\t# d\n  x: new\n",
    );
}

#[test]
fn missing_mappings_are_added_with_the_entry() {
    check(
        "metadata:\n  name: a\nspec:\n  b: 1\n",
        &set("metadata.labels.x", "new"),
        "metadata:\n  name: a\n  labels:\n    x: new\nspec:\n  b: 1\n",
    );
    check("a: {}\n", &set("a.x", "new"), "a: {x: new}\n");
    check("{a: {}}\n", &set("a.b.x", "new"), "{a: {b: {x: new}}}\n");
}

#[test]
fn an_entry_is_removed_with_the_comment_above_it() {
    check("a:\n  b: 1\n  # two\n  # lines\n  c: 2\nd: 3\n", &remove("a.c"), "a:\n  b: 1\nd: 3\n");
    check("a:\n  # one\n  b: 1\n  c: 2\n", &remove("a.b"), "a:\n  c: 2\n");
    check("a: |\n  # text\nb: 1\n", &remove("b"), "a: |\n  # text\n");
    check("a:\n  b: 1\nc: 2\n", &remove("a.b"), "a: {}\nc: 2\n");
    check("a: 1\nb: 2", &remove("b"), "a: 1");
    check("a: 1\nb: 2", &remove("a"), "b: 2");
    check("- a: 1\n  b: 2\n", &remove("0.a"), "- b: 2\n");
    check("{a: 1, b: 2}", &remove("a"), "{b: 2}");
    check("{a: 1}", &remove("a"), "{}");
    check("a: &x 1\nb: *x # c\nc: 2\n", &remove("b"), "a: &x 1\nc: 2\n");
}

#[test]
fn items_are_appended_and_removed() {
    check("a:\n  - b\nc: 1\n", &append("a", "x"), "a:\n  - b\n  - x\nc: 1\n");
    check("a:\n- b\nc: 1\n", &append("a", "x"), "a:\n- b\n- x\nc: 1\n");
    check("a: [b]\n", &append("a", "x"), "a: [b, x]\n");
    check("a: []\n", &append("a", "x"), "a: [x]\n");
    check("a:\n  b: 1\n", &append("a.c", "x"), "a:\n  b: 1\n  c:\n    - x\n");
    check("a:\n  - b\n  # c\n  - d: 1\n    e: 2\nf: 3\n", &remove("a.1"), "a:\n  - b\nf: 3\n");
    check("a:\n  - b\n  - c\n", &remove("a.0"), "a:\n  - c\n");
    check("a:\n  - b\n", &remove("a.0"), "a: []\n");
    check("a: [b, c]\n", &remove("a.0"), "a: [c]\n");
    let target = NewValue::mapping([
        ("name", NewValue::text("x")),
        ("labels", NewValue::mapping([("on", NewValue::text("1"))])),
    ]);
    let change = Change::Append(path("t"), target);
    check(
        "t:\n  - name: a\n    b: |\n      c\n",
        &change,
        "t:\n  - name: a\n    b: |\n      c\n  - name: x\n    labels:\n      \"on\": \"1\"\n",
    );
}

#[test]
fn an_object_in_a_list_is_edited_in_its_place() {
    let text = "kind: List\nitems:\n  - a: 1\n  - b: 2\n";
    let result = edit(text.as_bytes(), ObjectPosition { document: 0, item: Some(1) }, &set("b", "x")).unwrap();
    assert_eq!(String::from_utf8(result).unwrap(), "kind: List\nitems:\n  - a: 1\n  - b: x\n");
}

#[test]
fn anchored_values_are_not_edited() {
    let text = "a: &x\n  b: 1\nc: *x\nd:\n  <<: *x\n  e: 2\n";
    assert_eq!(
        refused(text, &set("a.b", "2")),
        "2:3: `a.b` has an anchor that other fields use, and they would change too: edit the file by hand"
    );
    assert_eq!(
        refused(text, &set("c.b", "2")),
        "2:3: `c.b` comes from an anchor or a merge key: edit it where the anchor is"
    );
    assert_eq!(
        refused(text, &set("d.b", "2")),
        "2:6: `d.b` comes from an anchor or a merge key: edit it where the anchor is"
    );
    check(text, &set("d.e", "3"), &text.replace("e: 2", "e: \"3\""));
}

#[test]
fn a_file_with_errors_is_not_edited() {
    assert!(refused("a: 1\n---\nb: [\n", &set("a", "2")).starts_with("3:4: the file can't be read: "));
    assert!(refused("a: 1\na: 2\n", &set("a", "2")).starts_with("2:1: the file can't be read: "));
    assert!(refused("a: 1\rb: 2\n", &set("a", "2")).starts_with("1:5: a line of the file ends with"));
    assert_eq!(
        refused("a: 1\n", &remove("b.c")),
        "`b.c` is not there, or is not what the edit expects: edit the file by hand"
    );
    assert_eq!(
        refused("a: 1\n", &set("a.c", "x")),
        "`a.c` is not there, or is not what the edit expects: edit the file by hand"
    );
}

fn rename_key(field: &str, key: &str) -> Change {
    Change::RenameKey(path(field), key.into())
}

#[test]
fn a_renamed_key_keeps_its_value_its_place_and_its_comments() {
    let key = |text: &str, (old, new): (&str, &str), expected: &str| {
        check(text, &Change::RenameKey(FieldPath::from(["data"]).key(old), new.into()), expected);
    };
    key("data:\n  # why\n  a.b.C: 1 # one\n  d: 2\n", ("a.b.C", "a.x.C"), "data:\n  # why\n  a.x.C: 1 # one\n  d: 2\n");
    key("data:\n  \"a\": |\n    x\n", ("a", "b"), "data:\n  \"b\": |\n    x\n");
    key("data: {a: 1, b: 2}\n", ("b", "c"), "data: {a: 1, c: 2}\n");
    key("data:\n  a: 1\n", ("a", "on"), "data:\n  \"on\": 1\n");
}

#[test]
fn a_key_is_not_renamed_to_one_that_exists() {
    assert!(
        refused("a: 1\nb: 2\n", &rename_key("a", "b")).contains("`a` is not there, or is not what the edit expects")
    );
    assert!(refused("a: 1\n", &rename_key("c", "b")).contains("`c` is not there"));
}
