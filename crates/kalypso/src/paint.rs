//! Colours of output on a terminal. They are removed when the text is written if there is no terminal or `NO_COLOR` is set.

use std::fmt::Write as _;

const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const YELLOW: &str = "\u{1b}[33m";
const CYAN: &str = "\u{1b}[36m";
const BOLD: &str = "\u{1b}[1m";
const END: &str = "\u{1b}[0m";

/// The states of hosts, as they are written in tables and counts.
const STATES: [(&str, &str); 7] = [
    ("succeeded", GREEN),
    ("failed", RED),
    ("in progress", YELLOW),
    ("silent", YELLOW),
    ("outdated", YELLOW),
    ("never reported", YELLOW),
    ("not desired", YELLOW),
];
/// The names of rows in explanations.
const ROWS: [&str; 6] = ["set by", "composed of", "overrides", "not used", "checked by", "ends up in"];

/// Colours a plan: its signs, and the differences of files.
pub(crate) fn plan(text: &str) -> String {
    lines(text, |line| match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => in_colour(line, BOLD),
        [b'+', ..] => in_colour(line, GREEN),
        [b'-', ..] => in_colour(line, RED),
        [b'@', b'@', ..] => in_colour(line, CYAN),
        _ => signed(line),
    })
}

/// Colours an explanation: the value, and the names of its rows.
pub(crate) fn explanation(text: &str) -> String {
    let mut is_first = true;
    lines(text, |line| {
        if std::mem::take(&mut is_first) {
            return in_colour(line, BOLD);
        }
        let row = ROWS.iter().find(|row| line.strip_prefix("  ").is_some_and(|rest| rest.starts_with(**row)));
        row.map_or_else(|| line.to_owned(), |row| line.replacen(row, &in_colour(row, CYAN), 1))
    })
}

/// Colours a contract: values that are not given.
pub(crate) fn contract(text: &str) -> String {
    lines(text, |line| {
        let is_problem = line.starts_with("  `") && !line.starts_with("   ");
        if is_problem { in_colour(line, RED) } else { words(line, "not given", YELLOW) }
    })
}

/// Colours an explanation of what is missing: the first line, and the signs of conditions.
pub(crate) fn checks(text: &str) -> String {
    let mut is_first = true;
    lines(text, |line| {
        if std::mem::take(&mut is_first) {
            return in_colour(line, BOLD);
        }
        line.replace('✓', &in_colour("✓", GREEN)).replace('✗', &in_colour("✗", RED))
    })
}

/// Colours the states of hosts.
pub(crate) fn states(text: &str) -> String {
    lines(text, |line| {
        let bar: String = line.chars().filter(|character| *character == '█').collect();
        let mut line = if bar.is_empty() { line.to_owned() } else { line.replacen(&bar, &in_colour(&bar, GREEN), 1) };
        for (word, colour) in STATES {
            line = words(&line, word, colour);
        }
        line
    })
}

/// Colours a line with a sign before a count.
fn signed(line: &str) -> String {
    let colours = [("~", YELLOW), ("+", GREEN), ("-", RED), (">", CYAN), ("!", RED)];
    let found = colours.into_iter().filter_map(|(sign, colour)| {
        let at = line.find(&format!("  {sign} "))? + 2;
        let is_counted = line.get(at + 1..)?.trim_start().starts_with(|next: char| next.is_ascii_digit());
        is_counted.then_some((at, sign, colour))
    });
    let Some((at, sign, colour)) = found.min() else { return line.to_owned() };
    let (before, after) = line.split_at(at);
    format!("{before}{}{}", in_colour(sign, colour), after.strip_prefix(sign).unwrap_or(after))
}

/// Colours each occurrence of a whole word in a line.
fn words(line: &str, word: &str, colour: &str) -> String {
    let mut result = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(word) {
        let (before, found) = rest.split_at(at);
        let after = found.get(word.len()..).unwrap_or_default();
        let goes_on = |next: Option<char>| next.is_some_and(|next| next.is_alphanumeric() || matches!(next, '-' | '_'));
        let is_whole = !goes_on(before.chars().next_back()) && !goes_on(after.chars().next());
        let shown = if is_whole { in_colour(word, colour) } else { word.to_owned() };
        let _ = write!(result, "{before}{shown}");
        rest = after;
    }
    result + rest
}

fn in_colour(text: &str, colour: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{colour}{text}{END}") }
}

fn lines(text: &str, mut paint: impl FnMut(&str) -> String) -> String {
    text.split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n') {
            Some(line) => format!("{}\n", paint(line)),
            None => paint(line),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(painted: &str, expected: &str) {
        let shown = painted.replace(RED, "<r>").replace(GREEN, "<g>").replace(YELLOW, "<y>").replace(CYAN, "<c>");
        assert_eq!(shown.replace(BOLD, "<b>").replace(END, "</>"), expected);
    }

    #[test]
    fn signs_of_a_plan_and_differences_have_colours() {
        check(
            &plan("  ~ 4 assignments change\n  - 1 is removed\n"),
            "  <y>~</> 4 assignments change\n  <r>-</> 1 is removed\n",
        );
        check(&plan("  shop  + 12  policy a - 2"), "  shop  <g>+</> 12  policy a - 2");
        check(&plan("+++ a\n+b\n-c\n@@ -1 +1 @@\n d\n"), "<b>+++ a</>\n<g>+b</>\n<r>-c</>\n<c>@@ -1 +1 @@</>\n d\n");
        check(&plan("nothing - at all"), "nothing - at all");
    }

    #[test]
    fn only_whole_words_are_colored_as_states() {
        check(&states("dev ██░ 2 of 3   1 failed"), "dev <g>██</>░ 2 of 3   1 <r>failed</>");
        check(&states("failed-over unfailed failed"), "failed-over unfailed <r>failed</>");
    }

    #[test]
    fn signs_of_conditions_have_colours() {
        check(&checks("a ✓ is missing\n  ✓ b  ✗ c\n"), "<b>a ✓ is missing</>\n  <g>✓</> b  <r>✗</> c\n");
    }

    #[test]
    fn an_explanation_begins_with_the_value() {
        let text = "A = 1      in dev\n\n  set by        ConfigMap a\n";
        check(&explanation(text), "<b>A = 1      in dev</>\n\n  <c>set by</>        ConfigMap a\n");
    }
}
