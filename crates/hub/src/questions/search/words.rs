//! The words of a search, and how well names match them.

use hub_api::limits::{NAME_CHARACTERS_MAX, SEARCH_WORDS_MAX};

use super::super::QuestionError;

/// The words, in lower case and with `-` between segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words(Vec<String>);

/// How a name matches. The first is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    Beginning,
    Segment,
    Anywhere,
}

impl Words {
    /// Reads the words of a text.
    pub(super) fn parse(text: &str) -> Result<Self, QuestionError> {
        let wrong = |message: String| Err(QuestionError::Wrong { parameter: "q", message });
        if text.chars().count() > NAME_CHARACTERS_MAX {
            return wrong(format!("it has more than {NAME_CHARACTERS_MAX} characters"));
        }
        let words: Vec<_> = text.split_whitespace().map(normal).collect();
        match words.len() {
            0 => wrong("it has no word".to_owned()),
            1..=SEARCH_WORDS_MAX if !text.contains('\0') => Ok(Self(words)),
            1..=SEARCH_WORDS_MAX => wrong("it has a null character".to_owned()),
            many => wrong(format!("it has {many} words; at most {SEARCH_WORDS_MAX} are possible")),
        }
    }

    pub(super) fn all(&self) -> &[String] {
        &self.0
    }

    /// The longest word, which the fewest names match.
    pub(super) fn longest(&self) -> &str {
        self.0.iter().max_by_key(|word| word.len()).map_or("", String::as_str)
    }

    /// How a name matches. Each word must match it, or one of the names that it belongs to; and one must match it. The worst match counts.
    pub(super) fn matches(&self, name: &str, belongs_to: &[&str]) -> Option<Match> {
        let name = normal(name);
        let mut worst = None;
        for word in &self.0 {
            match match_of(&name, word) {
                None if belongs_to.iter().any(|other| normal(other).contains(word)) => {}
                None => return None,
                found => worst = worst.max(found),
            }
        }
        worst
    }
}

/// A text as it is compared: `Dialect::search_text` is the same in SQL.
fn normal(text: &str) -> String {
    text.to_ascii_lowercase().replace(['.', '_', '/'], "-")
}

fn match_of(name: &str, word: &str) -> Option<Match> {
    if name.starts_with(word) {
        Some(Match::Beginning)
    } else if name.contains(&format!("-{word}")) {
        Some(Match::Segment)
    } else {
        name.contains(word).then_some(Match::Anywhere)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &str, name: &str, expected: Option<Match>) {
        assert_eq!(Words::parse(words).unwrap().matches(name, &["Store-Team"]), expected, "{words} in {name}");
    }

    #[test]
    fn beginnings_are_better_than_segments_and_these_than_the_rest() {
        for (words, expected) in [
            ("CHECK", Some(Match::Beginning)),
            ("out", Some(Match::Segment)),
            ("ec", Some(Match::Anywhere)),
            ("check out.e", Some(Match::Segment)),
            ("check out-ec", None),
            ("check store", Some(Match::Beginning)),
            ("store", None),
            ("cart", None),
        ] {
            check(words, "Check_out.eu", expected);
        }
        // Only ASCII has no case.
        check("Ö", "öl", None);
    }

    #[test]
    fn texts_without_words_and_with_too_many_are_refused() {
        for wrong in ["", " \t", "a b c d e f g h i", "a\0b", &"x".repeat(300)] {
            assert!(Words::parse(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(Words::parse(" a  Bcd ").unwrap().longest(), "bcd");
    }
}
