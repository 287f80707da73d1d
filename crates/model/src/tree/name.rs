//! The names of files and folders as text. In git, names are bytes, mostly UTF-8, and foreign names must not change by a single byte.
//!
//! In the text, a byte that is not part of valid UTF-8 is U+0000 and two hexadecimal digits. Names in git never contain a byte 0, so each text belongs to
//! exactly one name.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text of a name.
pub fn name_text(name: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(name) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(name.len() + 8);
    for chunk in name.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing into memory does not fail.
            let _ = write!(text, "\0{byte:02x}");
        }
    }
    Cow::Owned(text)
}

/// The name with this text.
pub fn name_bytes(text: &str) -> Cow<'_, [u8]> {
    if is_utf8(text) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut parts = text.split('\0');
    let mut name = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let byte = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        name.extend(byte);
        name.extend_from_slice(part.get(2..).unwrap_or_default().as_bytes());
    }
    Cow::Owned(name)
}

/// Whether the name with this text is UTF-8. All names that Kalypso writes are.
pub fn is_utf8(text: &str) -> bool {
    !text.as_bytes().contains(&0)
}

/// A name, or a path of names, for output: `caf\xe9`.
pub fn shown(text: &str) -> Cow<'_, str> {
    if is_utf8(text) { Cow::Borrowed(text) } else { Cow::Owned(text.replace('\0', "\\x")) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_non_utf8_bytes_are_escaped() {
        assert_eq!(name_text(b"caf\xc3\xa9"), "café");
        assert_eq!(name_text(b"caf\xe9"), "caf\0e9");
        assert_eq!(shown(&name_text(b"\xff/caf\xe9")), "\\xff/caf\\xe9");
        assert!(is_utf8("café") && !is_utf8("caf\0e9"));
    }

    proptest! {
        #[test]
        fn names_round_trip(name in proptest::collection::vec(prop_oneof![1..=255u8, 0xc0..=0xffu8, b'0'..=b'9'], 0..12)) {
            let text = name_text(&name);
            prop_assert_eq!(&*name_bytes(&text), &*name);
            prop_assert_eq!(is_utf8(&text), str::from_utf8(&name).is_ok());
        }
    }
}
