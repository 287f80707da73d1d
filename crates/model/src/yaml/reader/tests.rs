//! Tests of reading texts with several documents.

use super::*;
use crate::yaml::Resolved;

/// Checks the numbers of documents, problems and fragments in a text.
fn check(text: &str, documents: usize, problems: usize, fragments: usize) -> Reading {
    let reading = read(text, &YamlOptions::OBJECTS);
    let found = (reading.documents.len(), reading.problems.len(), reading.fragments.len());
    assert_eq!(
        found,
        (documents, problems, fragments),
        "{:?} {:?}",
        &text[..text.len().min(80)],
        reading.problems.first()
    );
    reading
}

#[test]
fn empty_documents_are_left_out() {
    check("", 0, 0, 0);
    check("# only a comment\n", 0, 0, 0);
    check("---\n---\n# c\n---\na: 1\n---\n", 1, 0, 0);
    check("a: 1\n...\n...\n---\nb: 2\n", 2, 0, 0);
}

#[test]
fn directives_line_ends_and_json_are_accepted() {
    check("%YAML 1.1\n---\na: 1\n...\n", 1, 0, 0);
    check("a: 1\r\nb:\r\n  - x\r\n---\r\nc: 1\r\n", 2, 0, 0);
    check("{\n\t\"a\": 1,\n\t\"b\": [1, {\"c\": null}]\n}\n", 1, 0, 0);
    check("\u{feff}# c\n---\na: 1\n", 1, 0, 0);
    check("plain text\n--- 'quoted'\n", 2, 0, 0);
}

#[test]
fn a_broken_document_does_not_hide_its_neighbours() {
    for broken in ["b: 'open", "b: [1, 2", "b: c: d", "\tb: 1\n c", "b: *x", "b: {{ .x }}", "]", "%", "b: 1\n- c"] {
        let reading = read(&format!("a: 1\n---\n{broken}\n---\nc: 3\n"), &YamlOptions::OBJECTS);
        let keys: Vec<_> = reading.documents.iter().map(|document| document.root.clone()).collect();
        assert!(keys.iter().any(|root| root.get("a").is_some()), "{broken}");
        assert!(keys.iter().any(|root| root.get("c").is_some()), "{broken}");
        assert_eq!((reading.documents.len(), reading.problems.is_empty()), (2, false), "{broken}");
    }
}

#[test]
fn quoted_texts_may_continue_in_the_column_of_their_key() {
    let text =
        "a: 1\n---\nb: \"x\n\ny\"# c\nc: ['d'# e\n, \"it\\'s\"]\n---\nd: \"open\n---\ne: f: g\n---\nh: 'i\n j'\n";
    let reading = check(text, 3, 2, 2);
    let root = &reading.documents[1].root;
    let text_of = |node: Option<&Node>| node.and_then(Node::as_scalar).map(|scalar| scalar.text.to_string());
    assert_eq!(text_of(root.get("b")).as_deref(), Some("x\ny"));
    assert_eq!(text_of(root.get("c").and_then(|c| c.index(1))).as_deref(), Some("it's"));
    assert_eq!(&text[root.get("b").unwrap().span.range()], "\"x\n\ny\"");
}

#[test]
fn each_document_is_taken_once_although_some_are_read_twice() {
    let mut found = Vec::new();
    let text = "a: 1\n---\nb: !x 2\n---\nc: 'd\ne'\n---\nf: 3\n";
    let problems = read_each(text, &YamlOptions::OBJECTS, |document| found.push(document.root.key_span("a").is_some()));
    assert_eq!((found, problems.len()), (vec![true, false, false, false], 1));
}

#[test]
fn fragments_of_broken_documents_keep_readable_fields() {
    let reading = check("kind: ConfigMap\nmetadata:\n  name: app\n  labels: {a: b\ndata: x\n", 0, 1, 1);
    let name = reading.fragments[0].root.get("metadata").and_then(|metadata| metadata.get("name"));
    assert_eq!(name.and_then(Node::as_scalar).map(|scalar| &*scalar.text), Some("app"));
}

#[test]
fn values_that_are_left_out_are_null_behind_their_colon() {
    let text = "a:\nb: {c: , d}\ne: ~\n";
    let reading = check(text, 1, 0, 0);
    let root = &reading.documents[0].root;
    for (node, span) in [(root.get("a"), 2..2), (root.get("b").and_then(|b| b.get("c")), 9..9), (root.get("e"), 18..19)]
    {
        let node = node.unwrap();
        assert_eq!((node.span.range(), node.as_scalar().unwrap().resolve()), (span, Resolved::Null));
    }
}

#[test]
fn collections_span_from_their_first_to_their_last_character() {
    let text = "a:\n  - b: 1\n    c: [x, y ]\n\n# comment\nd: {}\n";
    let reading = check(text, 1, 0, 0);
    let root = &reading.documents[0].root;
    assert_eq!(&text[root.span.range()], text.trim_end());
    assert_eq!(&text[root.get("a").unwrap().span.range()], "- b: 1\n    c: [x, y ]");
    assert_eq!(&text[root.get("d").unwrap().span.range()], "{}");
}

#[test]
fn aliases_stand_for_their_definition() {
    let reading = check("a: &x {k: v}\nb: *x\nc: [*x, *x]\n", 1, 0, 0);
    let root = &reading.documents[0].root;
    assert_eq!(root.get("b"), root.get("a"));
    assert_eq!(root.get("c").and_then(|c| c.index(1)), root.get("a"));
}

#[test]
fn recursive_unknown_and_foreign_aliases_are_errors() {
    for text in ["a: &x {b: *x}\n", "a: *x\n", "a: &x 1\n---\nb: *x\n"] {
        assert_eq!(read(text, &YamlOptions::OBJECTS).problems[0].kind, ProblemKind::Alias);
    }
}

#[test]
fn nested_aliases_are_limited() {
    let tenfold = |level: usize| format!("a{}: &a{} [{}]\n", level + 1, level + 1, format!("*a{level}, ").repeat(10));
    let laughs: Vec<_> = (0..30).map(tenfold).collect();
    assert_eq!(check(&format!("a0: &a0 x\n{}", laughs.concat()), 0, 1, 1).problems[0].kind, ProblemKind::Alias);
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), "*a, ".repeat(10_000));
    assert_eq!(check(&long, 0, 1, 1).problems[0].kind, ProblemKind::Alias);
    let deep: Vec<_> = (0..1000).map(|level| format!("- &a{} [*a{level}]\n", level + 1)).collect();
    assert_eq!(check(&format!("- &a0 x\n{}", deep.concat()), 0, 1, 1).problems[0].kind, ProblemKind::Depth);
}

#[test]
fn too_large_texts_are_not_read() {
    let reading = check(&"a: b\n".repeat(10 << 20), 0, 1, 0);
    assert_eq!(reading.problems[0].message, "the text has 50 MB, the limit is 8 MB: it was not read");
    let limits = YamlLimits { documents: 3, nodes: 20, ..YamlLimits::DEFAULT };
    let options = YamlOptions { limits, ..YamlOptions::OBJECTS };
    for text in ["a: 1\n---\n".repeat(5), "- a\n".repeat(30)] {
        assert_eq!(read(&text, &options).problems[0].kind, ProblemKind::Limit);
    }
}

#[test]
fn thousands_of_documents_are_fine() {
    check(&"a: 1\n---\n".repeat(50_000), 50_000, 0, 0);
}

#[test]
fn first_problems_are_reported_and_the_rest_counted() {
    let reading = check(&"a: b: c\n---\n".repeat(1000), 0, 101, 1000);
    assert!(reading.problems.iter().any(|problem| problem.message == "there are 900 more problems in this text"));
    check(&format!("{}a: 1\n", "a: !x b\n---\n".repeat(200)), 201, 101, 0);
}

#[test]
fn tags_decide_the_type_of_a_scalar() {
    let reading = check("[!!str 1, !!int '7', !!binary aGVsbG8=, ! 1, !!timestamp 2024-01-15]", 1, 0, 0);
    let values: Vec<_> = reading.documents[0]
        .root
        .as_sequence()
        .unwrap()
        .iter()
        .map(|node| node.as_scalar().unwrap().resolve())
        .collect();
    let text = |text: &'static str| Resolved::Text(text.into());
    assert_eq!(values, [text("1"), Resolved::Int(7), text("hello"), text("1"), text("2024-01-15")]);
}

#[test]
fn tags_that_do_not_fit_are_problems() {
    let kind = |text: &str| read(text, &YamlOptions::OBJECTS).problems[0].kind;
    assert_eq!(kind("a: !!int x\n"), ProblemKind::TagMismatch);
    assert_eq!(kind("a: !!binary '***'\n"), ProblemKind::TagMismatch);
    assert_eq!(kind("a: !!binary /w==\n"), ProblemKind::TagMismatch);
    let reading = check("a: !vault x\nb: !!set {x}\n", 1, 2, 0);
    assert_eq!(reading.problems[0].span.range(), 3..9);
    assert_eq!(reading.documents[0].root.get("a").unwrap().as_scalar().unwrap().resolve(), Resolved::Text("x".into()));
}

#[test]
fn hostile_texts_take_linear_time() {
    let texts = [
        format!("a: &{} |\n x\n", "|".repeat(300_000)),
        format!("a: {}|\n x\n", "# | >\n".repeat(50_000)),
        format!("{}{}", "'\n---\n".repeat(20_000), " ".repeat(500_000)),
        format!("{}x\"", "\"\\ud800\"\n---\n".repeat(20_000)),
        format!("a: [{}", "{}, ".repeat(100_000)),
        format!("a: {}b\n", " ".repeat(500_000)),
        "a: 'b\nc'\n".repeat(50_000),
        format!("a: [{}]", "'b'# c\n,".repeat(50_000)),
        format!("a: [{}]", "b\n\t,".repeat(50_000)),
        "a: \"\\'\"\n---\n".repeat(50_000),
        "\t\n".repeat(200_000),
    ];
    for text in texts {
        let reading = read(&text, &YamlOptions::OBJECTS);
        assert!(!reading.documents.is_empty() || !reading.problems.is_empty());
    }
}

#[test]
fn a_block_at_the_end_of_the_text_has_the_line_break_that_the_text_has() {
    let check = |text: &str, expected: &str| {
        let reading = check(text, 1, 0, 0);
        let scalar = reading.documents[0].root.get("a").and_then(Node::as_scalar).map(|scalar| &*scalar.text);
        assert_eq!(scalar, Some(expected), "{text:?}");
    };
    check("a: |\n  x\n", "x\n");
    check("a: |\n  x", "x");
    check("a: |\n  x\n  y", "x\ny");
    check("a: |+\n  x", "x");
    check("a: >\n  x", "x");
    check("a: |-\n  x", "x");
    check("a: |\n  x\n  ", "x\n");
    check("a: |\n  x\n# c", "x\n");
    check("a: |\n  x\n  # c", "x\n# c");
    check("a: |\n  x\nb: c", "x\n");
}

#[test]
fn two_tags_on_one_node_are_an_error() {
    let reading = check("!a ! b: c", 0, 2, 1);
    assert_eq!(reading.problems.iter().filter(|problem| !problem.kind.is_warning()).count(), 1);
}

#[test]
fn an_error_behind_many_warnings_is_listed() {
    let text = format!("{}---\na: [\n", "- !x y\n".repeat(150));
    let reading = read(&text, &YamlOptions::OBJECTS);
    assert!(
        reading.problems.iter().any(|problem| problem.kind == ProblemKind::Syntax),
        "{:?}",
        reading.problems.last()
    );
}
