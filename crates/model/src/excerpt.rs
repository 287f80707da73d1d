//! Excerpts of texts that are too long to be shown.

/// The number of equal characters that are shown before a difference.
const CONTEXT_CHARS: usize = 12;

/// The first characters of a text, with an ellipsis if it is longer.
pub fn first(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    text.chars().take(chars_max.saturating_sub(1)).chain(['…']).collect()
}

/// External text on one line, without terminal control sequences.
pub fn plain(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().filter(|character| !character.is_control()).collect()
}

/// Two versions of a text, each of at most `chars_max` characters. If one is longer, both are the part around the first difference, with an ellipsis for what is
/// left out on each side: two long texts never look the same.
pub fn differing(before: &str, after: &str, chars_max: usize) -> (String, String) {
    let (before, after): (Vec<char>, Vec<char>) = (before.chars().collect(), after.chars().collect());
    let longest = before.len().max(after.len());
    if longest <= chars_max {
        return (before.into_iter().collect(), after.into_iter().collect());
    }
    let same = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    // With a difference near the end, there is space for more of what is before it.
    let start = same.saturating_sub(CONTEXT_CHARS).min((longest + 1).saturating_sub(chars_max));
    (part(&before, start, chars_max), part(&after, start, chars_max))
}

/// At most `chars_max` characters from a position on, with an ellipsis for what is left out on each side.
fn part(text: &[char], start: usize, chars_max: usize) -> String {
    let ellipsis = (start > 0).then_some('…');
    let rest: String = text.get(start..).unwrap_or_default().iter().collect();
    ellipsis.into_iter().chain(first(&rest, chars_max - usize::from(start > 0)).chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_whole() {
        assert_eq!(first("abc", 3), "abc");
        assert_eq!(first("abcd", 3), "ab…");
        assert_eq!(differing("abc", "abd", 3), ("abc".to_owned(), "abd".to_owned()));
    }

    #[test]
    fn long_texts_show_their_difference() {
        let check = |before: &str, after: &str, expected: [&str; 2]| {
            let (one, other) = differing(before, after, 30);
            assert_eq!([&*one, &*other], expected);
            assert!([one, other].iter().all(|text| text.chars().count() <= 30));
        };
        let url = |host: &str, end: &str| format!("mysql://user@{host}.database.example.com:3306/{end}");
        check(
            &url("west-1", "shop"),
            &url("west-22", "shop"),
            ["…//user@west-1.database.examp…", "…//user@west-22.database.exam…"],
        );
        check(&url("w", "a"), &url("w", "b"), ["…w.database.example.com:3306/a", "…w.database.example.com:3306/b"]);
        check(&url("w", "a"), "none", ["mysql://user@w.database.examp…", "none"]);
        check(&url("w", ""), &url("w", "shop"), ["…atabase.example.com:3306/", "…atabase.example.com:3306/shop"]);
    }
}
