//! Label selectors with the meaning that Kubernetes gives them.

mod parse;

use std::sync::Arc;

pub use self::parse::SelectorError;
use crate::label::Labels;

/// A label selector. All requirements must hold. A selector without requirements selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LabelSelector {
    /// The requirements: those of `matchLabels` by key, then those of `matchExpressions` as written.
    pub requirements: Vec<Requirement>,
}

/// One condition on one label.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirement {
    /// The label's key.
    pub key: Arc<str>,
    /// The condition on the label's value.
    pub operator: Operator,
}

/// The condition of a requirement on a label's value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// The label exists, with one of these values.
    In(Vec<Arc<str>>),
    /// The label does not exist, or has none of these values.
    NotIn(Vec<Arc<str>>),
    /// The label exists.
    Exists,
    /// The label does not exist.
    DoesNotExist,
}

impl LabelSelector {
    /// Whether every requirement holds for `labels`.
    pub fn matches(&self, labels: &Labels) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(labels))
    }

    /// Whether every requirement holds for the labels that `label` looks up by key.
    pub fn matches_by<'l>(&self, label: impl Fn(&str) -> Option<&'l Arc<str>>) -> bool {
        self.requirements.iter().all(|requirement| requirement.is_met_by(label(&requirement.key)))
    }
}

impl Requirement {
    /// Whether the requirement holds for `labels`.
    pub fn matches(&self, labels: &Labels) -> bool {
        self.is_met_by(labels.get(&self.key))
    }

    /// Whether the requirement holds for a label with this value, or without the label if `None`.
    fn is_met_by(&self, value: Option<&Arc<str>>) -> bool {
        match &self.operator {
            Operator::In(values) => value.is_some_and(|value| values.contains(value)),
            Operator::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }
}

impl std::fmt::Display for Requirement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.operator {
            Operator::In(values) if values.len() == 1 => write!(f, "{}={}", self.key, values[0]),
            Operator::In(values) => write!(f, "{} In ({})", self.key, values.join(", ")),
            Operator::NotIn(values) => write!(f, "{} NotIn ({})", self.key, values.join(", ")),
            Operator::Exists => write!(f, "{} Exists", self.key),
            Operator::DoesNotExist => write!(f, "{} DoesNotExist", self.key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(operator: Operator, on_east: bool, on_west: bool, on_none: bool) {
        let requirement = Requirement { key: "region".into(), operator };
        let labels = |value: &str| Labels::from_iter([("region", value)]);
        assert_eq!(requirement.matches(&labels("east")), on_east, "{requirement} on east");
        assert_eq!(requirement.matches(&labels("west")), on_west, "{requirement} on west");
        assert_eq!(requirement.matches(&Labels::default()), on_none, "{requirement} on none");
    }

    #[test]
    fn selector_operators_match_as_in_kubernetes() {
        check(Operator::In(vec!["east".into(), "north".into()]), true, false, false);
        check(Operator::NotIn(vec!["east".into()]), false, true, true);
        check(Operator::Exists, true, true, false);
        check(Operator::DoesNotExist, false, false, true);
    }

    #[test]
    fn an_empty_selector_selects_everything() {
        assert!(LabelSelector::default().matches(&Labels::default()));
    }
}
