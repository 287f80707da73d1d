//! Characters as in Go: code points of bytes that can be invalid UTF-8, with Go's simple case mappings.

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// One iteration of Go's `for _, r := range text`: a code point, or one invalid byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rune<'a> {
    /// The code point; U+FFFD for an invalid byte.
    pub(crate) char: char,
    /// The bytes of the code point in the text.
    pub(crate) bytes: &'a [u8],
}

/// The code points of `text`. As in Go, every invalid byte is one item.
pub(crate) fn runes(text: &[u8]) -> impl Iterator<Item = Rune<'_>> {
    text.utf8_chunks().flat_map(|chunk| {
        let valid = chunk.valid();
        let valid = valid.char_indices().map(|(at, char)| Rune { char, bytes: bytes_of(valid, at, char) });
        let invalid = chunk.invalid().chunks(1);
        valid.chain(invalid.map(|bytes| Rune { char: char::REPLACEMENT_CHARACTER, bytes }))
    })
}

/// The first character and its length in bytes. U+FFFD for a byte that is not UTF-8.
pub(crate) fn first_char(bytes: &[u8]) -> Option<(char, usize)> {
    let first = *bytes.first()?;
    if first.is_ascii() {
        return Some((char::from(first), 1));
    }
    let window = bytes.get(..bytes.len().min(4)).unwrap_or_default();
    let valid = match std::str::from_utf8(window) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(window.get(..error.valid_up_to()).unwrap_or_default()).unwrap_or_default(),
    };
    Some(valid.chars().next().map_or((char::REPLACEMENT_CHARACTER, 1), |character| (character, character.len_utf8())))
}

fn bytes_of(text: &str, at: usize, char: char) -> &[u8] {
    text.as_bytes().get(at..at + char.len_utf8()).unwrap_or_default()
}

/// `strings.Map`: replaces every code point by the result of `change`.
pub(crate) fn map(text: &[u8], change: impl Fn(char) -> char) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    runes(text).for_each(|rune| push(&mut out, change(rune.char)));
    out
}

/// Appends a code point as UTF-8.
pub(crate) fn push(out: &mut Vec<u8>, char: char) {
    out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
}

/// `unicode.ToUpper`: the upper case as one code point. Returns the code point itself if Unicode's upper case has several.
pub(crate) fn to_upper(char: char) -> char {
    let mut upper = char.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(single), None) => single,
        _ => iota_upper(char),
    }
}

/// Greek letters with iota subscript: Unicode has an upper case of one code point and one of two. Go uses the one code point.
fn iota_upper(char: char) -> char {
    let distance = match char as u32 {
        0x1F80..=0x1F87 | 0x1F90..=0x1F97 | 0x1FA0..=0x1FA7 => 8,
        0x1FB3 | 0x1FC3 | 0x1FF3 => 9,
        _ => 0,
    };
    char::from_u32(char as u32 + distance).unwrap_or(char)
}

/// `unicode.ToLower`
pub(crate) fn to_lower(char: char) -> char {
    char.to_lowercase().next().unwrap_or(char)
}

/// `unicode.ToTitle`
pub(crate) fn to_title(char: char) -> char {
    match char {
        'Ǆ'..='ǆ' => 'ǅ',
        'Ǉ'..='ǉ' => 'ǈ',
        'Ǌ'..='ǌ' => 'ǋ',
        'Ǳ'..='ǳ' => 'ǲ',
        // Georgian has no title case.
        '\u{10D0}'..='\u{10FF}' => char,
        other => to_upper(other),
    }
}

/// `unicode.IsUpper`
pub(crate) fn is_upper(char: char) -> bool {
    if char.is_ascii() { char.is_ascii_uppercase() } else { category(char) == GeneralCategory::UppercaseLetter }
}

/// `unicode.IsLower`
pub(crate) fn is_lower(char: char) -> bool {
    if char.is_ascii() { char.is_ascii_lowercase() } else { category(char) == GeneralCategory::LowercaseLetter }
}

/// `unicode.IsTitle`
pub(crate) fn is_title(char: char) -> bool {
    !char.is_ascii() && category(char) == GeneralCategory::TitlecaseLetter
}

/// `unicode.IsLetter`
pub(crate) fn is_letter(char: char) -> bool {
    char.general_category_group() == GeneralCategoryGroup::Letter
}

/// `unicode.IsDigit`
pub(crate) fn is_digit(char: char) -> bool {
    category(char) == GeneralCategory::DecimalNumber
}

/// `unicode.IsNumber`
pub(crate) fn is_number(char: char) -> bool {
    char.general_category_group() == GeneralCategoryGroup::Number
}

/// `unicode.IsPunct`
pub(crate) fn is_punct(char: char) -> bool {
    char.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// `unicode.IsSpace`
pub(crate) fn is_space(char: char) -> bool {
    char.is_whitespace()
}

/// `strings.TrimSpace`
pub(crate) fn trim_space(text: &[u8]) -> &[u8] {
    trim(text, is_space)
}

/// `strings.TrimFunc`
pub(crate) fn trim(text: &[u8], unwanted: impl Fn(char) -> bool) -> &[u8] {
    let (mut start, mut end, mut at) = (None, 0, 0);
    for rune in runes(text) {
        let begin = at;
        at += rune.bytes.len();
        if !unwanted(rune.char) {
            start.get_or_insert(begin);
            end = at;
        }
    }
    start.and_then(|start| text.get(start..end)).unwrap_or_default()
}

fn category(char: char) -> GeneralCategory {
    char.general_category()
}

#[cfg(test)]
mod tests {
    use super::{map, runes, to_lower, to_title, to_upper, trim_space};

    #[test]
    fn every_invalid_byte_is_a_rune_of_its_own() {
        let seen: Vec<_> = runes(b"a\xe6\x9c\xc3\xa9").map(|rune| (rune.char, rune.bytes.len())).collect();
        assert_eq!(seen, [('a', 1), ('\u{FFFD}', 1), ('\u{FFFD}', 1), ('é', 2)]);
    }

    #[test]
    fn case_mappings_are_one_to_one() {
        assert_eq!(map("straße ŉ ᾳ ﬁ".as_bytes(), to_upper), "STRAßE ŉ ᾼ ﬁ".as_bytes());
        assert_eq!(map("İ ÉA".as_bytes(), to_lower), "i éa".as_bytes());
        assert_eq!(map("ǆ é".as_bytes(), to_title), "ǅ É".as_bytes());
    }

    #[test]
    fn trims_all_unicode_white_space() {
        assert_eq!(trim_space("\u{85}\u{a0} a b\u{2003}\n".as_bytes()), b"a b");
        assert_eq!(trim_space(b" \t"), b"");
    }
}
