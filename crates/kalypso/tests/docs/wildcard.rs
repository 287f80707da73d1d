//! Compares the output in a page with the real output.

/// Whether the printed lines match the lines of the page.
pub(crate) fn matches(expected: &str, printed: &str) -> bool {
    // A page may leave out blank lines at the end of the output.
    let printed = printed.trim_end_matches('\n');
    let (expected, printed): (Vec<_>, Vec<_>) =
        (expected.trim_end_matches('\n').lines().collect(), printed.lines().collect());
    lines_match(&expected, &printed)
}

fn lines_match(expected: &[&str], printed: &[&str]) -> bool {
    match expected {
        [] => printed.is_empty(),
        [line, rest @ ..] if line.trim() == "…" => {
            (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..]))
        }
        [line, rest @ ..] => {
            printed.split_first().is_some_and(|(first, others)| line_matches(line, first) && lines_match(rest, others))
        }
    }
}

fn line_matches(expected: &str, printed: &str) -> bool {
    let (expected, mut left) = (stable(expected), stable(printed).replace('…', ""));
    let parts: Vec<_> = expected.split('…').collect();
    let [first, middle @ .., last] = parts.as_slice() else { return expected == left };
    let Some(rest) = left.strip_prefix(first) else { return false };
    left = rest.to_owned();
    for part in middle {
        let Some((_, rest)) = left.split_once(part) else { return false };
        left = rest.to_owned();
    }
    left.ends_with(last)
}

/// Removes the parts of a line that differ in each run: ids of commits, and durations.
fn stable(line: &str) -> String {
    let mut stable = String::new();
    let mut word = String::new();
    for letter in line.chars().chain([' ']) {
        if letter.is_ascii_alphanumeric() || letter == '.' {
            word.push(letter);
            continue;
        }
        let is_id = matches!(word.len(), 7 | 40)
            && word.chars().all(|letter| letter.is_ascii_digit() || ('a'..='f').contains(&letter));
        let is_time = stable.ends_with("in ") && word.starts_with(|letter: char| letter.is_ascii_digit());
        stable.push_str(if is_id {
            "(id)"
        } else if is_time {
            "(time)"
        } else {
            &word
        });
        stable.push(letter);
        word.clear();
    }
    stable.trim_end().replace("(time) s", "(time) ms")
}

#[test]
fn ellipses_match_any_text() {
    let check = |expected, printed, is_equal| assert_eq!(matches(expected, printed), is_equal, "{expected} {printed}");
    check("a … c\n", "a b c\n", true);
    check("a … c\n", "a b d\n", false);
    check("a\n…\nd\n", "a\nb\nc\nd\n", true);
    check("a\n…\n", "a\n", true);
    check("b\n…\n", "a\n", false);
    check("a\n", "a\nb\n", false);
    check("(a …)\n", "(a …)\n", true);
}

#[test]
fn ids_and_times_may_differ() {
    let check = |expected, printed, is_equal| assert_eq!(matches(expected, printed), is_equal, "{expected} {printed}");
    check("prod@77aa012 in 14 ms\n", "prod@90be4d1 in 1.2 s\n", true);
    check("prod@77aa012\n", "prod@main\n", false);
    check("in 14 ms\n", "in 1,204 files\n", false);
}
