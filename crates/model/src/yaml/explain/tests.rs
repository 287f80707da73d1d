//! Tests of the messages for text that does not parse.

use crate::yaml::{ProblemKind, YamlOptions, read};

/// Checks the message, the place and the advice of the only problem in the text.
fn check(text: &str, at: &str, message: &str, hint: &str) {
    let reading = read(text, &YamlOptions::OBJECTS);
    let [problem] = &*reading.problems else { panic!("{:?}", reading.problems) };
    assert_eq!(&text[problem.span.range()], at, "{problem:?}");
    assert!(problem.message.contains(message), "{problem:?}");
    assert!(problem.hint.as_deref().unwrap_or_default().contains(hint), "{problem:?}");
    assert_eq!(reading.documents, []);
}

#[test]
fn tabs_are_found_in_their_line() {
    check("a:\n\tb: 1\n", "\t", "tab", "spaces");
    check("a:\n  b:\n  \t- 1\n", "\t", "tab", "spaces");
    check("a: |\n  x\n\ty\n", "\t", "tab", "spaces");
    check("\ta: b\n", "\t", "tab", "spaces");
    check("---\n\ttext\n", "\t", "tab", "spaces");
    check("-\ta\n", "\t", "tab", "spaces");
    check("a: 1\n\t\nb: 2\n", "\t", "tab", "spaces");
    check("a: |\n  x\n\t\nb: 1\n", "\t", "tab", "spaces");
    check("a:\n  \t# c\n  b: 1\n", "\t", "tab", "spaces");
}

#[test]
fn a_tab_behind_a_text_is_found_in_its_own_line() {
    let check = |text: &str, line: usize, column: usize| {
        let reading = read(text, &YamlOptions::OBJECTS);
        let [problem] = &*reading.problems else { panic!("{text:?}: {:?}", reading.problems) };
        let before = &text[..problem.span.start as usize];
        let begin = before.rfind('\n').map_or(0, |at| at + 1);
        assert_eq!(
            (before.matches('\n').count() + 1, before.len() - begin + 1),
            (line, column),
            "{text:?}: {problem:?}"
        );
        assert!(problem.message.contains("tab"), "{problem:?}");
    };
    check("a: b\n\tc: d\n", 2, 1);
    check("a: b\t\n\tc: d\n", 2, 1);
    check("a:\n  b: c\n  \td: e\n", 3, 3);
    check("a:\n  b: c\n    more\n\td\n", 4, 1);
    check("a:\n  - x\n\t- y\n", 3, 1);
    check("a:\n  - x: y\n \t  z: w\n", 3, 2);
    check("a: b\n  \tc\n\td\n", 3, 1);
    check("a: |\n\tx\n", 2, 1);
    check("a:\n  b: |\n\t x\n", 3, 1);
    check("a:\n  b\n\tc\n", 3, 1);
}

#[test]
fn quoting_errors_are_explained() {
    check("a: 1\nb: \"x\nc: 2\n", "\"", "not closed", "close it");
    check("a: 'it's'\nb: 1\n", "s", "behind the closing quote", "''");
    check("a: \"C:\\Users\\q\"\n", "\\U", "not an escape", "single quotes");
    check("a: \"\\ud800\"\n", "\"", "stands for no character", "single quotes");
    check("a: \"x\\d\"\n", "\\d", "not an escape", "single quotes");
    check("a: 'x", "'", "not closed", "");
}

#[test]
fn syntax_of_other_parsers_is_explained() {
    check("a: \"b\\/c\"\n", "\\/", "do not know the escape", "without the backslash");
    check("a: \"\\ud83d\\ude81\"\n", "\\ud83d", "half a character", "itself");
    check("%YAML 1.2\n---\na: 1\n", "%YAML 1.2", "this version of YAML", "remove the line");
    check("a: &b.c d\n", "&b.c", "name of this anchor", "letters");
    check("a: [b?c]\n", "?", "inside brackets", "quotes");
    check("a: [:8080]\n", ":", "inside brackets", "quotes");
    check("{a:}\n", ":", "a part of the text", "space after");
    check("{a\n b: c}\n", "a\n b", "not on one line", "one line");
    check(": b\n", ":", "no key before", "quotes");
    check("a: |\n  \tx\n", "\t", "first line of a block", "after `|`");
    check("|\nx\n", "x", "not indented", "indent");
    let text = "a: 1\n...\nb: 2\n";
    let reading = read(text, &YamlOptions::OBJECTS);
    assert_eq!((reading.documents.len(), reading.fragments.len()), (1, 1));
    assert!(reading.problems[0].message.contains("without `---`"), "{:?}", reading.problems);
}

#[test]
fn colon_errors_are_distinguished() {
    check("a: b: c\n", ": ", "second `: `", "quotes");
    check("a: 1\nb:2\nc: 3\n", "b:2", "no space", "space");
    check("b:2\nc: 3\n", "b:2", "no space", "space");
    check("a: 1\nhello\nc: 3\n", "hello", "no `: `", "key: value");
}

#[test]
fn indentation_errors_are_reported_at_the_wrong_line() {
    check("a: 1\n  b: 2\n", "b: 2", "has a value already", "column");
    check("a:\n    b: 1\n  c: 2\n", "c: 2", "fits none", "column");
    check("a:\n  - x\n - y\n", "- y", "list item", "column");
    check("- a\nb: c\n", "b: c", "not an item", "- ");
    check("a:\n  - x\n  -y\n  - z\n", "-y", "no space after this dash", "space");
    check("a: - b\n", "-", "cannot begin on the line of its key", "next line");
}

#[test]
fn characters_that_need_quotes_are_named() {
    check("a: @x\n", "@", "cannot begin with `@`", "quotes");
    check("a: `x`\n", "`", "cannot begin with ``", "quotes");
    check("a: %x\n", "%", "cannot begin with `%`", "quotes");
    check("a: |x\n", "|", "begins on the next line", "quotes");
    check("host: *.example.com\n", "*.example.com", "anchor", "quotes");
}

#[test]
fn template_expressions_without_quotes_are_recognized() {
    check("a: {{ .x }}-b\n", "{{", "template expression", "quotes");
    check("a:\n  - {{ .x }}/{{ .y }}\n", "{{", "template expression", "quotes");
}

#[test]
fn bracket_errors_are_explained() {
    check("a: [1, 2\nb: 3\n", ":", "missing", "]");
    check("a: [x]]\n", "]", "no bracket is open", "");
    check("a: [x}\n", "}", "cannot close", "");
    check("a: [x] y\n", "y", "behind the closing bracket", "quotes");
    check("a: [1, 2\n", "[", "not closed", "]");
}

#[test]
fn too_deep_texts_are_refused_wherever_the_depth_comes_from() {
    for text in ["[".repeat(100_000), "- ".repeat(100_000), "{a: ".repeat(100_000), "? ".repeat(1000)] {
        let reading = read(&text, &YamlOptions::OBJECTS);
        assert_eq!(reading.problems[0].kind, ProblemKind::Depth);
    }
}

#[test]
fn tabs_that_do_not_indent_are_fine() {
    for text in [
        "a:\tb\n",
        "a: b\t# c\n",
        "{\n\t\"a\":\t1\n}\n",
        "a: b\n  \tc\n",
        "a: |\n  x\n  \ty\n",
        "a: |2\n  \tx\n",
        "a: 'x\n  \ty'\n",
        "- a\n \t\n- b\n",
        "--- \tx\n",
        "a: [b,\n\tc]\n",
        "a:\n  b: {\n\t\"c\": 1\n  }\n",
        "a: \"x\\\n\ty\"\n",
    ] {
        assert_eq!(read(text, &YamlOptions::OBJECTS).problems, [], "{text:?}");
    }
}
