//! Writes the patterns of schemas so that the validator gives them the meaning that Go's regular expressions have.
//!
//! Microsoft's Kalypso compiles patterns with Go's package `regexp`. The validator accepts the syntax of ECMAScript only, so `(?i)`, `(?P<x>…)`, `\A`,
//! `[[:alpha:]]` or a single `]` are written in another way. A pattern that Go refuses and the validator accepts, such as one with `\u00e9`, stays as it is.

use std::fmt::Write as _;

use gotemplate::go_regex;
use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

/// A pattern with the meaning that it has in Go, in a syntax that the validator accepts. The error is Go's message.
pub(super) fn translate(pattern: &str) -> Result<String, String> {
    let translated = go_regex::translate(pattern)?;
    if is_plain(pattern) {
        return Ok(pattern.to_owned());
    }
    let parsed = regex_syntax::parse(&translated.pattern);
    let hir = parsed.map_err(|error| error.to_string().lines().last().unwrap_or_default().to_owned())?;
    let mut out = String::new();
    write(&hir, &mut out);
    Ok(out)
}

/// Whether a pattern that Go accepts means the same in both syntaxes. Patterns without special syntax stay as they are: the validator compares them as
/// texts where it can.
fn is_plain(pattern: &str) -> bool {
    let is_common = |c: char| c.is_ascii_alphanumeric() || "^$.|()*+?_/,:@%# -=;<>\"'".contains(c);
    let brackets = pattern.replace("(?:", "");
    !brackets.contains("(?") && brackets.chars().all(is_common)
}

/// Writes a pattern. The recursion is at most as deep as the parser allows.
fn write(hir: &Hir, out: &mut String) {
    match hir.kind() {
        HirKind::Empty => out.push_str("(?:)"),
        HirKind::Literal(literal) => {
            String::from_utf8_lossy(&literal.0).chars().for_each(|character| push_char(character, out));
        }
        HirKind::Class(class) => write_class(class, out),
        HirKind::Look(look) => out.push_str(match look {
            Look::Start => "^",
            Look::End => "$",
            Look::StartLF | Look::StartCRLF => "(?m:^)",
            Look::EndLF | Look::EndCRLF => "(?m:$)",
            Look::WordAsciiNegate | Look::WordUnicodeNegate => r"\B",
            _ => r"\b",
        }),
        HirKind::Repetition(Repetition { min, max, sub, .. }) => {
            write_group(sub, out);
            let _ = match (min, max) {
                (0, None) => write!(out, "*"),
                (1, None) => write!(out, "+"),
                (0, Some(1)) => write!(out, "?"),
                (min, None) => write!(out, "{{{min},}}"),
                (min, Some(max)) => write!(out, "{{{min},{max}}}"),
            };
        }
        HirKind::Capture(capture) => write_group(&capture.sub, out),
        HirKind::Concat(parts) => parts.iter().for_each(|part| match part.kind() {
            HirKind::Alternation(_) => write_group(part, out),
            _ => write(part, out),
        }),
        HirKind::Alternation(parts) => {
            for (position, part) in parts.iter().enumerate() {
                if position > 0 {
                    out.push('|');
                }
                write(part, out);
            }
        }
    }
}

fn write_group(hir: &Hir, out: &mut String) {
    out.push_str("(?:");
    write(hir, out);
    out.push(')');
}

fn write_class(class: &Class, out: &mut String) {
    let Class::Unicode(class) = class else {
        // Only patterns without Unicode have classes of bytes, and Go's have none.
        out.push_str(NOTHING);
        return;
    };
    if class.ranges().is_empty() {
        out.push_str(NOTHING);
        return;
    }
    out.push('[');
    for range in class.ranges() {
        push_char(range.start(), out);
        if range.end() > range.start() {
            out.push('-');
            push_char(range.end(), out);
        }
    }
    out.push(']');
}

/// A class without characters.
const NOTHING: &str = r"[^\u{0}-\u{10FFFF}]";

fn push_char(character: char, out: &mut String) {
    if character.is_ascii_alphanumeric() {
        out.push(character);
    } else {
        let _ = write!(out, "\\u{{{:X}}}", u32::from(character));
    }
}

/// What a pattern contains that Go's regular expressions do not have, and what to write instead. `refusal` is Go's message.
pub(super) fn explain(pattern: &str, refusal: &str) -> (String, String) {
    let dialect = "Go's regular expressions (RE2), in which patterns are written,";
    let has = |parts: &[&str]| parts.iter().any(|part| unescaped(pattern, part));
    let not = |what: &str| format!("{dialect} have no {what}");
    if has(&["(?!"]) {
        let help = "say with `not` what must not match: `{\"not\": {\"pattern\": \"^admin\"}}` instead of `^(?!admin)`";
        return (not("lookahead `(?!…)`"), help.to_owned());
    }
    if has(&["(?="]) {
        let help =
            "write one pattern for each condition: `{\"allOf\": [{\"pattern\": \"[0-9]\"}, {\"pattern\": \"[a-z]\"}]}`";
        return (not("lookahead `(?=…)`"), help.to_owned());
    }
    if has(&["(?<!", "(?<="]) {
        let help = "write the text before as a part of the pattern, or say with `not` what must not match";
        return (not("lookbehind `(?<…)`"), help.to_owned());
    }
    let is_reference = |digit: u32| unescaped(pattern, &format!("\\{digit}"));
    if (1..=9).any(is_reference) || has(&["\\k<", "(?P="]) {
        return (not("backreferences such as `\\1`"), "list the allowed texts with `enum`, or check less".to_owned());
    }
    if has(&["(?>", "++", "*+", "?+", "}+"]) {
        return (
            not("atomic groups and possessive repetitions"),
            "write `(?:…)` and plain `*`, `+`, `?`: the meaning of a match is the same".to_owned(),
        );
    }
    if has(&["\\Z"]) {
        return (not("`\\Z`"), "write `$` or `\\z` for the end of the text".to_owned());
    }
    (format!("{dialect} do not accept it: {refusal}"), HELP.to_owned())
}

/// The help for patterns that are refused without a rewrite.
pub(super) const HELP: &str = "the syntax is that of https://golang.org/s/re2syntax";

/// Whether a part of a pattern is not behind a backslash.
fn unescaped(pattern: &str, part: &str) -> bool {
    let backslashes = |at: usize| pattern[..at].bytes().rev().take_while(|byte| *byte == b'\\').count();
    pattern.match_indices(part).any(|(at, _)| backslashes(at) % 2 == 0)
}

#[cfg(test)]
mod tests {
    use jsonschema::Validator;
    use proptest::prelude::*;

    use super::*;

    fn validator(pattern: &str) -> Option<Validator> {
        let options = jsonschema::options().with_pattern_options(super::super::pattern_options());
        options.build(&serde_json::json!({ "pattern": pattern })).ok()
    }

    fn check(pattern: &str, matching: &[&str], others: &[&str]) {
        let translated = translate(pattern).unwrap();
        let validator = validator(&translated).unwrap_or_else(|| panic!("{pattern}: {translated}"));
        for (texts, expected) in [(matching, true), (others, false)] {
            for text in texts {
                assert_eq!(validator.is_valid(&(*text).into()), expected, "{pattern} as {translated}: {text:?}");
            }
        }
    }

    #[test]
    fn patterns_match_as_in_go() {
        check("(?i)^(debug|info)$", &["INFO", "Debug"], &["warn", "infos"]);
        check("^(?P<year>[0-9]{4})-(?P<month>[0-9]{2})$", &["2026-01"], &["26-01"]);
        check(r"\Aab\z", &["ab"], &["ab\n", "xab"]);
        check("^[[:alpha:]]+$", &["abC"], &["ab1", "é"]);
        check("^[[:^alpha:][:upper:]]+$", &["1A"], &["a"]);
        check(r"^[\w-_]+$", &["a_b-c"], &["a b"]);
        check("^a]b}$", &["a]b}"], &["ab"]);
        check("^a{,2}$", &["a{,2}"], &["aa"]);
        check(r"(?m)^b$", &["a\nb\nc"], &["ab"]);
        check("(?s)^a.b$", &["a\nb"], &["ab"]);
        check("^a.b$", &["axb"], &["a\nb"]);
        check(r"^\d\s\w$", &["1 a"], &["١ a", "1\u{a0}a", "1 é"]);
        check(r"^\Qa.b\E$", &["a.b"], &["axb"]);
        check(r"^\pL+$", &["éa"], &["1"]);
        check(r"^[^\x00-\x{10FFFF}]", &[], &["", "a"]);
        check(r"^(?:)*a|b$", &["a", "xb"], &["xa"]);
        check("^(?i:k)elvin$", &["Kelvin", "\u{212a}elvin"], &["KELVIN"]);
        check("^a[]\\-b]c$", &["a]c", "a-c"], &["ac"]);
    }

    #[test]
    fn plain_patterns_stay_as_they_are() {
        for pattern in ["^https://", "^(get|put)$", "a.b", "", "^(?:a|b)+$"] {
            assert_eq!(translate(pattern).as_deref(), Ok(pattern));
        }
    }

    #[test]
    fn unsupported_pattern_syntax_is_named() {
        let say = |pattern: &str| {
            let refusal = translate(pattern).unwrap_err();
            explain(pattern, &refusal).0
        };
        assert!(say("^(?!admin).*$").ends_with("have no lookahead `(?!…)`"));
        assert!(say("(?<=a)b").ends_with("have no lookbehind `(?<…)`"));
        assert!(say(r"(a)\1").ends_with("have no backreferences such as `\\1`"));
        assert!(say("a++").ends_with("have no atomic groups and possessive repetitions"));
        assert!(say(r"a\Z").ends_with("have no `\\Z`"));
        assert!(say("[b-a]").contains("do not accept it: invalid character class range"));
    }

    proptest! {
        /// The translated pattern and the regular expression that templates use match the same texts.
        #[test]
        fn translated_patterns_match_the_same_texts(
            pattern in r"(\(\?[ims]\))?(([a-c.^$-]|\\[dwsbBAz.]|\[\^?[a-c\]-][[:digit:]-]?\]|\(([a-c]|\|){1,3}\))[*+?]?){1,6}",
            texts in proptest::collection::vec("[a-cA-C0-1 \n.]{0,6}", 20),
        ) {
            if let (Ok(go), Ok(translated)) = (go_regex::translate(&pattern), translate(&pattern)) {
                let regex = regex::Regex::new(&go.pattern).map_err(|_| TestCaseError::reject("not parsed"))?;
                let expected: Vec<_> = texts.iter().map(|text| regex.is_match(text)).collect();
                let validator = validator(&translated);
                prop_assert!(validator.is_some(), "{pattern} as {translated}");
                let found: Vec<_> = texts.iter().map(|text| validator.as_ref().is_some_and(|v| v.is_valid(&text.as_str().into()))).collect();
                prop_assert_eq!(found, expected, "{} as {}", pattern, translated);
            }
        }
    }
}
