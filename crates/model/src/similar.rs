//! The word that was probably meant.

use crate::limits::SIMILAR_WORD_BYTES_MAX;

/// Letters that a word may differ from the one that was meant.
const LETTERS_MAX: usize = 2;
/// Bytes of words that are too short for so many: two other letters make another word.
const SHORT_BYTES: usize = 8;

/// The known word that is nearest to the one that is written, if it is near enough to be meant.
pub fn nearest<'k>(written: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if written.len() > SIMILAR_WORD_BYTES_MAX {
        return None;
    }
    let shape = Shape::of(written);
    let near = known.into_iter().filter_map(|known| {
        let most = if known.len() < SHORT_BYTES { 1 } else { LETTERS_MAX };
        let may_be_near = Shape::of(known).may_be_near(&shape, most);
        let distance = may_be_near.then(|| strsim::damerau_levenshtein(known, written))?;
        (distance <= most).then_some((distance, known))
    });
    near.min().map(|(_, known)| known)
}

/// What can be compared of two words without comparing them letter by letter. A repository can hold a million words that are like none of ours.
struct Shape {
    length: usize,
    /// A bit for each ASCII character that is in the word, and one for all others.
    letters: u128,
}

impl Shape {
    fn of(word: &str) -> Self {
        let bit = |letter: char| if letter.is_ascii() { 1_u128 << u32::from(letter) } else { 1 << 127 };
        let letters = word.chars().fold(0, |letters, letter| letters | bit(letter));
        Self { length: word.chars().count(), letters }
    }

    /// Whether `most` changes can make one word of the other: each changes the length by at most one, and which letters are there by at most two.
    fn may_be_near(&self, other: &Self, most: usize) -> bool {
        let letters = (self.letters ^ other.letters).count_ones() as usize;
        self.length.abs_diff(other.length) <= most && letters <= 2 * most
    }
}

/// Whether a word is another one in another spelling: in capitals, with `_` for `-`, or with few other letters for its length.
pub fn is_spelling_of(known: &str, written: &str) -> bool {
    const LETTERS_FOR_TWO: usize = 12;
    const LETTERS_FOR_ONE: usize = 8;
    // Most labels are like none of ours: that has to be cheap.
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
    fn a_word_is_near_by_its_letters() {
        let known = ["matchLabels", "matchExpressions", "path"];
        assert_eq!(nearest("matchLabel", known), Some("matchLabels"));
        assert_eq!(nearest("pth", known), Some("path"));
        assert_eq!(nearest("pt", known), None);
        assert_eq!(nearest("region", known), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), known), None);
    }

    proptest::proptest! {
        #[test]
        fn shapes_leave_out_no_near_word(word in "[a-e\u{e4}\u{df}]{0,9}", other in "[a-e\u{e4}\u{df}]{0,9}") {
            let distance = strsim::damerau_levenshtein(&word, &other);
            proptest::prop_assert!(Shape::of(&word).may_be_near(&Shape::of(&other), distance));
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
