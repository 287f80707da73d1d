//! Names of files and folders as text. In git they are bytes, mostly UTF-8, and what belongs to others must stay as it is to the byte.
//!
//! A byte that is not part of UTF-8 stands in the text as U+0000 with two hexadecimal digits. No name in git holds a byte 0, so this text is that of one
//! name only, and no other name's.

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

/// The name that has this text.
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

/// Whether a name with this text is UTF-8. All names are that Kalypso gives.
pub fn is_utf8(text: &str) -> bool {
    !text.as_bytes().contains(&0)
}

/// A name, or a path of names, as it is shown: `caf\xe9`.
pub fn shown(text: &str) -> Cow<'_, str> {
    if is_utf8(text) { Cow::Borrowed(text) } else { Cow::Owned(text.replace('\0', "\\x")) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_is_not_utf8_is_written_otherwise() {
        assert_eq!(name_text(b"caf\xc3\xa9"), "café");
        assert_eq!(name_text(b"caf\xe9"), "caf\0e9");
        assert_eq!(shown(&name_text(b"\xff/caf\xe9")), "\\xff/caf\\xe9");
        assert!(is_utf8("café") && !is_utf8("caf\0e9"));
    }

    proptest! {
        #[test]
        fn every_name_comes_back(name in proptest::collection::vec(prop_oneof![1..=255u8, 0xc0..=0xffu8, b'0'..=b'9'], 0..12)) {
            let text = name_text(&name);
            prop_assert_eq!(&*name_bytes(&text), &*name);
            prop_assert_eq!(is_utf8(&text), str::from_utf8(&name).is_ok());
        }
    }
}
