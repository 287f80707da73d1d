//! Texts that come again and again share their memory.

use std::sync::Arc;

/// The texts that were met lately.
///
/// Each has one slot by a cheap hash, and is forgotten when another text takes it: no text can make others slow, and nothing grows.
pub(super) struct Recent(Vec<Option<Arc<str>>>);

/// Longer texts seldom come twice.
const LENGTH_MAX: usize = 64;

/// As many slots as have an effect: keys, kinds and the values of labels.
const SLOTS_MAX: usize = 2048;

impl Recent {
    /// For a text of this length, in which few short ones can be.
    pub(super) fn within(length: usize) -> Self {
        Self(vec![None; (length / 64).next_power_of_two().min(SLOTS_MAX)])
    }

    /// The text, shared with an equal one if that is remembered.
    pub(super) fn share(&mut self, text: &str) -> Arc<str> {
        let slots = self.0.len();
        match self.0.get_mut(slot_of(text.as_bytes()) as usize & (slots - 1)) {
            Some(Some(found)) if **found == *text => Arc::clone(found),
            Some(slot) if text.len() <= LENGTH_MAX => Arc::clone(slot.insert(text.into())),
            _ => text.into(),
        }
    }
}

fn slot_of(text: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let word = |chunk: &[u8]| chunk.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let head = text.get(..LENGTH_MAX).unwrap_or(text);
    let mixed =
        head.chunks(8).fold(text.len() as u64, |sum, chunk| (sum ^ word(chunk)).wrapping_mul(ODD).rotate_left(29));
    mixed ^ mixed >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_their_memory_and_others_are_themselves() {
        let mut recent = Recent::within(100_000);
        let kind = recent.share("kind");
        for text in ["", "name", "kinds", &"x".repeat(100)] {
            assert_eq!(&*recent.share(text), text);
        }
        assert!(Arc::ptr_eq(&kind, &recent.share("kind")));
        assert_eq!(&*Recent::within(0).share("a"), "a");
    }
}
