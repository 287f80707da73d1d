//! Puts the names of a change into queries and addresses, so that they can't change the meaning of anything else.

use crate::subject::CheckSubject;

/// Replaces the placeholders. Each value is escaped before it is inserted, and no value is searched for placeholders.
fn replaced(text: &str, subject: &CheckSubject, escape: impl Fn(&str) -> String) -> String {
    let (placeholders, mut replaced, mut rest) = (subject.placeholders(), String::with_capacity(text.len()), text);
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        replaced.push_str(before);
        let found = placeholders.iter().find_map(|(name, value)| Some((from.strip_prefix(name)?, value)));
        if let Some((after, value)) = found {
            replaced.push_str(&escape(value));
            rest = after;
        } else {
            replaced.push('{');
            rest = from.get(1..).unwrap_or_default();
        }
    }
    replaced.push_str(rest);
    replaced
}

/// Whether a text has a placeholder.
pub(crate) fn has_any(text: &str) -> bool {
    CheckSubject::default().placeholders().iter().any(|(name, _)| text.contains(name))
}

/// A query with the names of a change in its strings.
pub(crate) fn in_query(query: &str, subject: &CheckSubject) -> String {
    replaced(query, subject, escaped_for_promql)
}

/// An address with the names of a change, each as one part.
pub(crate) fn in_url(url: &str, subject: &CheckSubject) -> String {
    replaced(url, subject, |value| {
        // Otherwise, a part of dots only would be the folder itself or the one above.
        let dot = if value.bytes().all(|byte| byte == b'.') { "%252E" } else { "." };
        let bytes = value.bytes().map(|byte| match byte {
            b'.' => dot.to_owned(),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        });
        bytes.collect()
    })
}

/// A value for a string of a query. The escapes have the same meaning in both kinds of quotes.
fn escaped_for_promql(value: &str) -> String {
    let characters = value.chars().map(|c| match c {
        '"' | '\'' | '\\' | '`' => format!("\\x{:02x}", c as u32),
        c if c.is_control() => format!("\\u{:04x}", c as u32),
        c => c.to_string(),
    });
    characters.collect()
}

/// The first placeholder of a query that is outside of a string, or in one between backticks, which knows no escapes.
pub(crate) fn outside_of_strings(query: &str) -> Option<&'static str> {
    let names = CheckSubject::default().placeholders().map(|(name, _)| name);
    let (mut quote, mut is_escaped) = (None, false);
    for (position, c) in query.char_indices() {
        if matches!(quote, None | Some('`'))
            && let Some(name) = names.into_iter().find(|name| query[position..].starts_with(name))
        {
            return Some(name);
        }
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (Some('"' | '\''), '\\') => is_escaped = true,
            (None, '"' | '\'' | '`') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn subject(revision: &str) -> CheckSubject {
        let (environment, revision) = (Arc::from("dev"), Arc::from(revision));
        CheckSubject { environment, revision, workload: Some("check.out".into()), ring: None }
    }

    #[test]
    fn names_are_put_into_the_strings_of_a_query() {
        let query = r#"sum(rate(errors{code=~"5..", env="{environment}", ring="{ring}", app='{workload}'}[5m]))"#;
        let expected = r#"sum(rate(errors{code=~"5..", env="dev", ring="", app='check.out'}[5m]))"#;
        assert_eq!(in_query(query, &subject("")), expected);
        let hostile = r#"a"} or vector(0) # \ ' {ring} `"#;
        let expected = r#"x{r="a\x22} or vector(0) # \x5c \x27 {ring} \x60"}"#;
        assert_eq!(in_query(r#"x{r="{revision}"}"#, &subject(hostile)), expected);
        assert_eq!(in_query("'{revision}'", &subject("a\nb")), r"'a\u000ab'");
    }

    #[test]
    fn a_placeholder_stands_in_a_string_with_escapes() {
        for good in [r#"x{a="{ring}"}"#, r"x{a='\'{ring}'}", "x{a='b'}", r#"x{a="`{ring}`"}"#] {
            assert_eq!(outside_of_strings(good), None, "{good}");
        }
        for wrong in ["{ring}", r#"x{a="b"} + {ring}"#, "x{a=`{ring}`}", r#"x{a="\\"} + {ring}"#] {
            assert_eq!(outside_of_strings(wrong), Some("{ring}"), "{wrong}");
        }
    }

    #[test]
    fn names_in_urls_are_encoded_as_one_part() {
        let url = in_url("https://smoke.example/{environment}/{revision}?w={workload}", &subject("../a?b=c#d&e"));
        assert_eq!(url, "https://smoke.example/dev/..%2Fa%3Fb%3Dc%23d%26e?w=check.out");
        let parsed: reqwest::Url = in_url("https://smoke.example/a/{revision}/b", &subject("..")).parse().unwrap();
        assert_eq!(parsed.path(), "/a/%252E%252E/b");
        assert!(has_any("{ring}") && !has_any("{rings"));
    }
}
