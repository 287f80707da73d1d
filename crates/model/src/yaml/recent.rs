//! Shares the memory of texts that occur often.

use std::sync::Arc;

/// The most recent texts.
///
/// Each text has one slot, by a cheap hash. Another text with the same slot replaces it. So the size is constant, and no text can slow down others.
pub(super) struct Recent(Vec<Option<Arc<str>>>);

/// Longer texts rarely occur twice.
const LENGTH_MAX: usize = 64;

/// More slots have no effect: the texts that repeat are keys, kinds and values of labels.
const SLOTS_MAX: usize = 2048;

impl Recent {
    /// A cache for reading a text of this length. A short text needs few slots.
    pub(super) fn within(length: usize) -> Self {
        Self(vec![None; (length / 64).next_power_of_two().min(SLOTS_MAX)])
    }

    /// The text. If an equal text is in the cache, shares its memory.
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
    fn equal_texts_share_their_memory() {
        let mut recent = Recent::within(100_000);
        let kind = recent.share("kind");
        for text in ["", "name", "kinds", &"x".repeat(100)] {
            assert_eq!(&*recent.share(text), text);
        }
        assert!(Arc::ptr_eq(&kind, &recent.share("kind")));
        assert_eq!(&*Recent::within(0).share("a"), "a");
    }
}
