//! Names with ranges of numbers: `store-[001-075]`.

/// The maximum number of names that ranges stand for.
const NAMES_MAX: usize = 1_000_000;

/// Why a text with ranges can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// A bracket is not closed.
    #[error("`{0}` has a `[` that is not closed: write `[001-075]`")]
    Open(String),
    /// The text between brackets is not a range.
    #[error("`[{0}]` is not a range of numbers: write `[001-075]`, the smaller number first")]
    NotARange(String),
    /// There are too many names.
    #[error("`{0}` stands for more than {NAMES_MAX} names")]
    TooMany(String),
}

/// All names that a text stands for. Numbers have as many digits as the first one of the range. A text without brackets is one name.
///
/// # Errors
/// The ranges can't be read, or there are too many names.
pub fn expand(text: &str) -> Result<Vec<String>, RangeError> {
    let Some((before, rest)) = text.split_once('[') else { return Ok(vec![text.to_owned()]) };
    let (range, after) = rest.split_once(']').ok_or_else(|| RangeError::Open(text.to_owned()))?;
    let (first, last, digits) = bounds(range).ok_or_else(|| RangeError::NotARange(range.to_owned()))?;
    let endings = expand(after)?;
    let count = (last - first).saturating_add(1).saturating_mul(endings.len());
    if count > NAMES_MAX {
        return Err(RangeError::TooMany(text.to_owned()));
    }
    let with = |number: usize| endings.iter().map(move |ending| format!("{before}{number:0digits$}{ending}"));
    Ok((first..=last).flat_map(with).collect())
}

/// The name for a group of such names: `store` for `store-[001-075]`.
pub fn common_name(text: &str) -> &str {
    text.split('[').next().unwrap_or_default().trim_end_matches(['-', '.'])
}

fn bounds(range: &str) -> Option<(usize, usize, usize)> {
    let (first, last) = range.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = (is_number(first) && is_number(last)).then(|| (first.parse().ok(), last.parse().ok()))?;
    let (from, to): (usize, usize) = (numbers.0?, numbers.1?);
    (from <= to).then_some((from, to, first.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(expand(text).unwrap(), expected);
    }

    #[test]
    fn ranges_stand_for_numbers_with_leading_zeros() {
        check("store", &["store"]);
        check("store-[008-011]", &["store-008", "store-009", "store-010", "store-011"]);
        check("r[1-2]-s[1-2]", &["r1-s1", "r1-s2", "r2-s1", "r2-s2"]);
        check("a[9-10]b", &["a9b", "a10b"]);
        assert_eq!((common_name("store-[1-2]"), common_name("[1-2]")), ("store", ""));
    }

    #[test]
    fn invalid_ranges_are_errors() {
        assert_eq!(expand("a[1-2"), Err(RangeError::Open("a[1-2".into())));
        assert_eq!(expand("a[2-1]"), Err(RangeError::NotARange("2-1".into())));
        assert_eq!(expand("a[x]"), Err(RangeError::NotARange("x".into())));
        assert_eq!(expand("a[0-9999999]"), Err(RangeError::TooMany("a[0-9999999]".into())));
    }
}
