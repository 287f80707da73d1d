//! Finds the known word that an author probably meant.

use crate::limits::SIMILAR_WORD_BYTES_MAX;

/// The maximum number of letters in which a word may differ from the known word.
const LETTERS_MAX: usize = 2;
/// Known words with fewer bytes than this may differ in one letter only: with two other letters, a short word is a different word.
const SHORT_BYTES: usize = 8;

/// The known word nearest to the written one. None if no known word is near enough.
pub fn nearest<'k>(written: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if written.len() > SIMILAR_WORD_BYTES_MAX {
        return None;
    }
    let shape = Shape::new(written);
    let near = known.into_iter().filter_map(|known| {
        let most = if known.len() < SHORT_BYTES { 1 } else { LETTERS_MAX };
        let may_be_near = Shape::new(known).may_be_near(&shape, most);
        let distance = may_be_near.then(|| strsim::damerau_levenshtein(known, written))?;
        (distance <= most).then_some((distance, known))
    });
    near.min().map(|(_, known)| known)
}

/// A summary of a word for a fast comparison, without comparing letters one by one. A repository can contain a million words that are not similar to
/// any known word.
struct Shape {
    length: usize,
    /// One bit for each ASCII character in the word, and one bit for all other characters.
    letters: u128,
}

impl Shape {
    fn new(word: &str) -> Self {
        let bit = |letter: char| if letter.is_ascii() { 1_u128 << u32::from(letter) } else { 1 << 127 };
        let letters = word.chars().fold(0, |letters, letter| letters | bit(letter));
        Self { length: word.chars().count(), letters }
    }

    /// Whether `most` changes may turn one word into the other. Each change alters the length by at most one, and at most two bits of `letters`.
    fn may_be_near(&self, other: &Self, most: usize) -> bool {
        let letters = (self.letters ^ other.letters).count_ones() as usize;
        self.length.abs_diff(other.length) <= most && letters <= 2 * most
    }
}

/// Whether `written` is another spelling of `known`: with capitals, with `_` for `-`, or with a few other letters, depending on its length.
pub fn is_spelling_of(known: &str, written: &str) -> bool {
    const LETTERS_FOR_TWO: usize = 12;
    const LETTERS_FOR_ONE: usize = 8;
    // Most labels are not similar to any known one, so this case must be cheap.
    if known.len().abs_diff(written.len()) > LETTERS_MAX {
        return false;
    }
    let plain = |word: &str| word.to_ascii_lowercase().replace(['_', '.', ' '], "-");
    let (known, written) = (plain(known), plain(written));
    let most = match known.len() {
        LETTERS_FOR_TWO.. => 2,
        LETTERS_FOR_ONE.. => 1,
        _ => 0,
    };
    strsim::damerau_levenshtein(&known, &written) <= most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_word_is_found_by_edit_distance() {
        let known = ["matchLabels", "matchExpressions", "path"];
        assert_eq!(nearest("matchLabel", known), Some("matchLabels"));
        assert_eq!(nearest("pth", known), Some("path"));
        assert_eq!(nearest("pt", known), None);
        assert_eq!(nearest("region", known), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), known), None);
    }

    proptest::proptest! {
        #[test]
        fn shapes_exclude_no_near_word(word in "[a-e\u{e4}\u{df}]{0,9}", other in "[a-e\u{e4}\u{df}]{0,9}") {
            let distance = strsim::damerau_levenshtein(&word, &other);
            proptest::prop_assert!(Shape::new(&word).may_be_near(&Shape::new(&other), distance));
        }
    }

    #[test]
    fn short_words_have_fewer_spellings() {
        assert!(is_spelling_of("platform-config", "platform_config"));
        assert!(is_spelling_of("platform-config", "Platfrom-Config"));
        assert!(is_spelling_of("workload", "workloads"));
        assert!(is_spelling_of("cluster", "Cluster"));
        assert!(!is_spelling_of("cluster", "clusters"));
        assert!(!is_spelling_of("workload", "workspace"));
    }
}
