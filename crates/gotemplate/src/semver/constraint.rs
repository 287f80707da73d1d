//! Constraints on versions, like `>=1.2, <2 || ^3.1`.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::Version;

/// A version in a constraint. Its numbers can be `x`, `X` or `*`.
const PATTERN: &str = r"v?([0-9|xX*]+)(\.[0-9|xX*]+)?(\.[0-9|xX*]+)?(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?";

static SINGLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(r"^[\t\n\f\r ]*(=|!=|>|<|>=|=>|<=|=<|~|~>|\^|)[\t\n\f\r ]*({PATTERN})[\t\n\f\r ]*$")).ok()
});

static RANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(r"[\t\n\f\r ]*({PATTERN})[\t\n\f\r ]+-[\t\n\f\r ]+({PATTERN})[\t\n\f\r ]*")).ok()
});

/// Alternatives. Each is a list of comparisons that must all be true.
#[derive(Debug)]
pub(crate) struct Constraint(Vec<Vec<Single>>);

/// One comparison.
#[derive(Debug)]
struct Single {
    operator: Operator,
    version: Version,
    /// Whether a part of the version is `x` or missing.
    dirty: bool,
    minor_dirty: bool,
    patch_dirty: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Tilde,
    Caret,
}

impl Constraint {
    /// Parses a constraint. None if the text is not a constraint.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let range = RANGE.as_ref()?;
        let text = range.replace_all(text, |found: &Captures<'_>| {
            let version = |group| found.get(group).map_or("", |version| version.as_str());
            format!(">= {}, <= {}", version(1), version(11))
        });
        let alternative = |text: &str| text.split(',').map(Single::parse).collect::<Option<Vec<_>>>();
        text.split("||").map(alternative).collect::<Option<Vec<_>>>().map(Self)
    }

    /// Whether the version fulfils the constraint.
    pub(crate) fn accepts(&self, version: &Version) -> bool {
        self.0.iter().any(|all| all.iter().all(|single| single.accepts(version)))
    }
}

impl Single {
    fn parse(text: &str) -> Option<Self> {
        let found = SINGLE.as_ref()?.captures(text)?;
        let group = |number| found.get(number).map_or("", |group| group.as_str());
        let is_x = |part: &str| matches!(part.strip_prefix('.').unwrap_or(part), "x" | "X" | "*");
        let (major, minor, patch, prerelease) = (group(3), group(4), group(5), group(6));
        let mut single = Self {
            operator: operator(group(1)),
            version: Version::parse("0")?,
            dirty: true,
            minor_dirty: false,
            patch_dirty: false,
        };
        if is_x(major) {
            return Some(single);
        }
        if minor.is_empty() || is_x(minor) {
            single.minor_dirty = true;
            single.version = Version::parse(&format!("{major}.0.0{prerelease}"))?;
        } else if is_x(patch) {
            single.patch_dirty = true;
            single.version = Version::parse(&format!("{major}{minor}.0{prerelease}"))?;
        } else {
            single.dirty = false;
            single.version = Version::parse(group(2))?;
        }
        Some(single)
    }

    fn accepts(&self, version: &Version) -> bool {
        // A prerelease fulfils only comparisons with a prerelease. The exception is `!=`.
        let is_unexpected_prerelease = !version.prerelease.is_empty() && self.version.prerelease.is_empty();
        if self.operator == Operator::NotEqual && !self.dirty {
            return version.compare(&self.version).is_ne();
        }
        if is_unexpected_prerelease {
            return false;
        }
        let order = version.compare(&self.version);
        match self.operator {
            Operator::Equal if self.dirty => self.accepts_tilde(version),
            Operator::Equal => order.is_eq(),
            Operator::NotEqual => {
                version.major != self.version.major || version.minor != self.version.minor && !self.minor_dirty
            }
            Operator::Greater => order.is_gt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::Less if !self.dirty => order.is_lt(),
            Operator::LessOrEqual if !self.dirty => order.is_le(),
            Operator::Less | Operator::LessOrEqual => {
                version.major <= self.version.major && (version.minor <= self.version.minor || self.minor_dirty)
            }
            Operator::Tilde => self.accepts_tilde(version),
            Operator::Caret => order.is_ge() && version.major == self.version.major,
        }
    }

    fn accepts_tilde(&self, version: &Version) -> bool {
        let required = &self.version;
        let anything =
            (required.major, required.minor, required.patch) == (0, 0, 0) && !self.minor_dirty && !self.patch_dirty;
        let same_line = version.major == required.major && (version.minor == required.minor || self.minor_dirty);
        version.compare(required).is_ge() && (anything || same_line)
    }
}

fn operator(text: &str) -> Operator {
    match text {
        "!=" => Operator::NotEqual,
        ">" => Operator::Greater,
        ">=" | "=>" => Operator::GreaterOrEqual,
        "<" => Operator::Less,
        "<=" | "=<" => Operator::LessOrEqual,
        "~" | "~>" => Operator::Tilde,
        "^" => Operator::Caret,
        _ => Operator::Equal,
    }
}
