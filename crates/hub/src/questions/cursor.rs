//! Cursors: the beginning of the next page, as an opaque text.
//!
//! A cursor contains the keys of a row, not its position in the list: rows that are added or removed between two pages do not move the next page.

use data_encoding::BASE64URL_NOPAD;

use super::QuestionError;

/// The end of a page: the keys of its last row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cursor<const N: usize>(pub(super) [i64; N]);

/// A part of a list: at most `limit` rows behind a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListPart {
    pub(super) after: Cursor<2>,
    pub(super) limit: usize,
}

impl<const N: usize> Cursor<N> {
    /// The text for clients. It contains the name of the list, so that a cursor works only for its own list.
    pub(super) fn write(self, list: &str) -> String {
        let numbers: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        BASE64URL_NOPAD.encode(format!("{list} {}", numbers.join(" ")).as_bytes())
    }

    /// Parses the text that a client sends back.
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
    fn cursors_round_trip_only_for_their_question() {
        let text = Cursor([7, -1]).write("hosts");
        assert_eq!(Cursor::read(&text, "hosts").unwrap(), Cursor([7, -1]));
        assert!(Cursor::<2>::read(&text, "history").is_err());
        assert!(Cursor::<1>::read(&text, "hosts").is_err());
        for wrong in ["", "%", "aG9zdHM", "aG9zdHMgeCB5"] {
            assert!(Cursor::<2>::read(wrong, "hosts").is_err(), "{wrong}");
        }
    }
}
