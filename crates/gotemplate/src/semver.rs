//! Versions, with the rules of github.com/Masterminds/semver 1.5.

mod constraint;

use std::cmp::Ordering;
use std::fmt;

pub(crate) use constraint::Constraint;

/// `semver.Version`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub(crate) major: i64,
    pub(crate) minor: i64,
    pub(crate) patch: i64,
    pub(crate) prerelease: String,
    pub(crate) metadata: String,
    /// The text that the version was parsed from.
    pub(crate) original: String,
}

impl Version {
    /// Parses up to three numbers, with an optional `v` before them, and a prerelease and build metadata after them. None if the text is not a version.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix('v').unwrap_or(text);
        let (rest, metadata) = split_suffix(rest, '+')?;
        let (numbers, prerelease) = split_suffix(rest, '-')?;
        let mut numbers = numbers.split('.').map(number);
        let (major, minor, patch) =
            (numbers.next()??, numbers.next().unwrap_or(Some(0))?, numbers.next().unwrap_or(Some(0))?);
        if numbers.next().is_some() {
            return None;
        }
        let (prerelease, metadata) = (prerelease.to_owned(), metadata.to_owned());
        Some(Self { major, minor, patch, prerelease, metadata, original: text.to_owned() })
    }

    /// The order of two versions. Build metadata does not count.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        let prereleases = || match (self.prerelease.is_empty(), other.prerelease.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => compare_prereleases(&self.prerelease, &other.prerelease),
        };
        numbers(self).cmp(&numbers(other)).then_with(prereleases)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

/// Splits a text at the first `mark`. The part after it consists of identifiers; without a mark it is empty. None if an identifier is invalid.
fn split_suffix(text: &str, mark: char) -> Option<(&str, &str)> {
    let Some((before, suffix)) = text.split_once(mark) else { return Some((text, "")) };
    let is_identifier =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    suffix.split('.').all(is_identifier).then_some((before, suffix))
}

fn number(digits: &str) -> Option<i64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Compares prereleases identifier by identifier. Numbers are compared by value and are smaller than texts. A missing identifier is the smallest.
fn compare_prereleases(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(left), Some(right)) => compare_identifiers(left, right),
        };
        if order.is_ne() {
            return order;
        }
    }
}

fn compare_identifiers(left: &str, right: &str) -> Ordering {
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
    match (number(left), number(right)) {
        _ if left == right => Ordering::Equal,
        // Equal numbers with different notations: as in Go, the left one is smaller.
        (Some(left), Some(right)) if left > right => Ordering::Greater,
        (Some(_), _) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.cmp(right),
    }
}

#[cfg(test)]
mod tests {
    use super::{Constraint, Version};

    fn check(constraint: &str, version: &str, expected: Option<bool>) {
        let fits = Constraint::parse(constraint)
            .zip(Version::parse(version))
            .map(|(constraint, version)| constraint.accepts(&version));
        assert_eq!(fits, expected, "{constraint} {version}");
    }

    #[test]
    fn reads_short_versions_and_refuses_others() {
        assert_eq!(Version::parse("v1.2-rc1+meta").unwrap().to_string(), "1.2.0-rc1+meta");
        for text in ["", "1.2.3.4", "1.2.3-", "1.2.3+", "a", "1.", "99999999999999999999", "1.2.3-a..b", "-1"] {
            assert!(Version::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn prereleases_are_ordered_by_identifier() {
        let order = ["1.0.0-1", "1.0.0-99", "1.0.0-103", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta", "1.0.0"];
        let versions: Vec<_> = order.iter().filter_map(|text| Version::parse(text)).collect();
        assert!(versions.windows(2).all(|pair| pair[0].compare(&pair[1]).is_lt()));
    }

    #[test]
    fn ranges_tildes_and_carets() {
        check(">=1.0, <1.2 || >3", "1.1.9", Some(true));
        check(">=1.0, <1.2 || >3", "1.4.0", Some(false));
        check("1.0 - 2.0", "1.5.0", Some(true));
        check("~1.2.0", "1.2.9", Some(true));
        check("~1", "2.0.0", Some(false));
        check("^0.0.3", "0.2.5", Some(true));
        check("1.x", "1.9.9", Some(true));
        check("!=1.2", "1.2.0", Some(false));
        check("", "1.0.0", None);
        check(">1.0 <2.0", "1.5.0", None);
    }

    #[test]
    fn releases_only_unless_the_constraint_names_a_prerelease() {
        check("*", "3.1.0-rc.1", Some(false));
        check(">1.2.3-alpha", "1.4.0-rc.1", Some(true));
    }
}
