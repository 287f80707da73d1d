//! Names with a range of numbers: `store-[001-300]`.

use std::sync::Arc;

/// The largest number of names of one pattern.
const NAMES_MAX: usize = 10_000_000;

/// A name, or names with a range of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern {
    before: Arc<str>,
    after: Arc<str>,
    /// The first number, the number of names, and the least number of digits. None: a single name.
    range: Option<(usize, usize, usize)>,
}

impl NamePattern {
    /// Parses a name. Numbers have as many digits as the first one of the range. None: the text is no name with at most one range.
    pub fn parse(text: &str) -> Option<Self> {
        let Some((before, rest)) = text.split_once('[') else {
            return (!text.is_empty() && !text.contains(']')).then(|| Self {
                before: text.into(),
                after: "".into(),
                range: None,
            });
        };
        let (range, after) = rest.split_once(']')?;
        let (first, last) = range.split_once('-')?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(first) || !is_number(last) || after.contains(['[', ']']) {
            return None;
        }
        let (from, to): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        let count = to.checked_sub(from)?.checked_add(1)?;
        (count <= NAMES_MAX).then(|| Self {
            before: before.into(),
            after: after.into(),
            range: Some((from, count, first.len())),
        })
    }

    /// A single name, for texts that are no names.
    pub(super) fn none() -> Self {
        Self { before: "none".into(), after: "".into(), range: None }
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.range.map_or(1, |(_, count, _)| count)
    }

    /// Whether there are no names. There is always one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name at this position.
    pub fn at(&self, position: usize) -> String {
        match self.range {
            Some((first, _, digits)) => format!("{}{:0digits$}{}", self.before, first + position, self.after),
            None => self.before.to_string(),
        }
    }

    /// The position of a name. None: it is not one of the names.
    pub fn position(&self, name: &str) -> Option<usize> {
        let Some((first, count, digits)) = self.range else { return (name == &*self.before).then_some(0) };
        let number = name.strip_prefix(&*self.before)?.strip_suffix(&*self.after)?;
        if number.len() < digits || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let position = number.parse::<usize>().ok()?.checked_sub(first)?;
        (position < count && self.at(position) == name).then_some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_for_names() {
        let pattern = NamePattern::parse("store-[008-011].eu").unwrap();
        assert_eq!((0..4).map(|at| pattern.at(at)).collect::<Vec<_>>()[..2], ["store-008.eu", "store-009.eu"]);
        assert_eq!(pattern.position("store-010.eu"), Some(2));
        for other in ["store-10.eu", "store-012.eu", "store-0010.eu", "store-010", "store-.eu"] {
            assert_eq!(pattern.position(other), None, "{other}");
        }
        assert_eq!(NamePattern::parse("hub").map(|name| (name.len(), name.at(0))), Some((1, "hub".to_owned())));
    }

    #[test]
    fn other_texts_are_no_patterns() {
        for wrong in ["", "a]", "a-[1", "a-[2-1]", "a-[x-3]", "a-[1-3]-[1-3]", "a-[0-99999999]"] {
            assert_eq!(NamePattern::parse(wrong), None, "{wrong}");
        }
    }
}
