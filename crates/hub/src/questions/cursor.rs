//! Cursors: where the next page begins, as a text that means nothing to anybody else.
//!
//! They hold keys, not positions: what is added or removed meanwhile moves nothing.

use data_encoding::BASE64URL_NOPAD;

use super::QuestionError;

/// Where a page ended: the keys of its last row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cursor<const N: usize>(pub(super) [i64; N]);

impl<const N: usize> Cursor<N> {
    /// As clients get it. The word says which list it belongs to.
    pub(super) fn write(self, list: &str) -> String {
        let numbers: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        BASE64URL_NOPAD.encode(format!("{list} {}", numbers.join(" ")).as_bytes())
    }

    /// Reads what a client gives back.
    pub(super) fn read(text: &str, list: &str) -> Result<Self, QuestionError> {
        Self::parse(text, list).ok_or_else(|| {
            let message =
                "is no cursor of this list: give what the page before had as `next`, and nothing else".to_owned();
            QuestionError::Wrong { parameter: "cursor", message }
        })
    }

    fn parse(text: &str, list: &str) -> Option<Self> {
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        let mut words = std::str::from_utf8(&bytes).ok()?.split(' ');
        if words.next() != Some(list) {
            return None;
        }
        let numbers: Vec<i64> = words.map(str::parse).collect::<Result<_, _>>().ok()?;
        numbers.try_into().ok().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_as_it_was_written_and_only_there() {
        let text = Cursor([7, -1]).write("hosts");
        assert_eq!(Cursor::read(&text, "hosts").unwrap(), Cursor([7, -1]));
        assert!(Cursor::<2>::read(&text, "history").is_err());
        assert!(Cursor::<1>::read(&text, "hosts").is_err());
        for wrong in ["", "%", "aG9zdHM", "aG9zdHMgeCB5"] {
            assert!(Cursor::<2>::read(wrong, "hosts").is_err(), "{wrong}");
        }
    }
}
