//! `shortName`: a name that fits where Kubernetes or Linux limits the length and the characters.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::function::{Call, Function, FunctionError, Type};
use crate::value::Value;

pub(super) const FUNCTION: Function = Function {
    name: "shortName",
    params: &[Type::Int, Type::Text],
    variadic: false,
    reads_deeply: false,
    body: short_name,
};

/// The number of digits of the hash at the end of a changed name.
const HASH_DIGITS: usize = 8;
/// The smallest limit: room for a letter before the hash.
const LENGTH_MIN: i64 = HASH_DIGITS as i64 + 2;

fn short_name(_: &mut Call<'_>, arguments: &[Value]) -> Result<Value, FunctionError> {
    let [Value::Int(limit, _), Value::Text(text)] = arguments else {
        return Err(FunctionError::error("it needs a number of characters and a text"));
    };
    let limit = usize::try_from(*limit).ok().filter(|_| *limit >= LENGTH_MIN);
    let limit = limit.ok_or_else(|| FunctionError::error(format!("the limit is {LENGTH_MIN} characters or more")))?;
    Ok(Value::text(short_name_of(&text.to_str(), limit)))
}

/// Returns a name of at most `limit` characters that can be the name of an object, a label, or a user of Linux. A text that is a DNS subdomain of this length
/// (lower case letters, digits, `-` and `.`), or empty, is not changed. Otherwise the result is that of [`short_label`].
fn short_name_of(text: &str, limit: usize) -> String {
    if text.is_empty() || text.len() <= limit && text.split('.').all(is_label) {
        return text.to_owned();
    }
    short_label(text, limit)
}

/// Returns a DNS label of at most `limit` characters: lower case letters, digits and `-`, with a letter or digit at both ends. A text that is one is not
/// changed. In other texts, each other character becomes `-`, and the first digits of the SHA-256 of the whole text are appended. So different texts
/// become different names.
pub fn short_label(text: &str, limit: usize) -> String {
    if text.len() <= limit && is_label(text) {
        return text.to_owned();
    }
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let start: String = text.chars().map(allowed).take(limit.saturating_sub(HASH_DIGITS + 1)).collect();
    let mut name = start.trim_matches('-').to_owned();
    if !name.is_empty() {
        name.push('-');
    }
    for byte in Sha256::digest(text.as_bytes()).iter().take(HASH_DIGITS / 2) {
        // Writing to a `String` can't fail.
        let _ = write!(name, "{byte:02x}");
    }
    name
}

fn is_label(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.bytes().all(is_allowed) && !text.starts_with('-') && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{short_label, short_name_of};
    use crate::template::Template;
    use crate::value::Value;

    #[test]
    fn a_name_that_fits_is_not_changed() {
        for name in ["a", "line-7", &"x".repeat(63)] {
            assert_eq!((&*short_name_of(name, 63), &*short_label(name, 63)), (name, name));
        }
        assert_eq!((short_name_of("k3s-1.28", 63), short_name_of("", 63)), ("k3s-1.28".to_owned(), String::new()));
    }

    #[test]
    fn other_texts_get_a_hash_of_the_whole_text() {
        assert_eq!(short_label("k3s-1.28", 63), "k3s-1-28-adee1bf9");
        assert_ne!(short_label("k3s-1.28", 63), short_label("k3s.1-28", 63));
        assert_ne!(short_name_of("a..b", 63), short_name_of("a-.b", 63));
        assert_eq!(short_name_of("Zürich", 12), "z-r-4251685e");
        let (one, other) = (format!("{}-a", "x".repeat(70)), format!("{}-b", "x".repeat(70)));
        assert_ne!(short_name_of(&one, 63), short_name_of(&other, 63));
        assert_eq!(short_name_of(&one, 63).len(), 63);
    }

    #[test]
    fn templates_can_call_short_name() {
        let render = |text: &str| {
            let dot = Value::dict([("name", Value::text("till7.chicago"))]);
            let limits = crate::RenderLimits::default();
            let rendered = Template::parse("t", text).unwrap().render(&dot, &limits);
            rendered.map(|bytes| String::from_utf8(bytes).unwrap()).map_err(|error| error.message)
        };
        assert_eq!(render("{{ shortName 32 .name }}"), Ok("till7.chicago".to_owned()));
        assert_eq!(render("{{ .name | shortName 12 }}"), Ok(short_label("till7.chicago", 12)));
        assert!(render("{{ shortName 9 .name }}").unwrap_err().contains("the limit is 10 characters or more"));
    }

    proptest! {
        #[test]
        fn short_names_fit_their_limit(text in "\\PC{0,80}", limit in 10_usize..80) {
            let name = short_label(&text, limit);
            let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            prop_assert!(!name.is_empty() && name.len() <= limit && name.chars().all(is_allowed), "{name}");
            prop_assert!(!name.starts_with('-') && !name.ends_with('-'), "{name}");
            prop_assert_eq!(short_name_of(&name, limit), name);
        }
    }
}
