//! The annotations that mean something to Kalypso.

use super::config_map::{MERGE, PRIORITY};
use super::environment::{LONG_NAMES, MISSING_VALUES};
use super::gitops_repo::FAN_OUT;
use super::template::{EXTENSION, LITERAL, UNCHECKED};
use crate::expiry::Expiry;
use crate::kind::Kind;

/// What all of them end with, before the slash.
pub const DOMAIN: &str = "kalypso.io";

/// What annotations begin with that acknowledge a warning about the object that has them; the code of the warning follows.
pub const ACKNOWLEDGE: &str = "kalypso.io/acknowledge.";

/// What an acknowledgement says: until when it holds, and why. None if it gives no reason, or no right day.
///
/// The value is the reason; or `until <day>: <reason>`.
pub fn acknowledgement(value: &str) -> Option<(Option<Expiry>, &str)> {
    let value = value.trim();
    let dated = value.strip_prefix("until ").filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    let (until, reason) = match dated {
        None => (None, value),
        Some(dated) => {
            let (day, reason) = dated.split_once(": ")?;
            (Some(day.trim().parse().ok()?), reason.trim())
        }
    };
    (!reason.is_empty()).then_some((until, reason))
}

/// Their keys, with the kinds that may carry them.
pub const ALL: &[(&str, &[Kind])] = &[
    (PRIORITY, &[Kind::ConfigMap]),
    (MERGE, &[Kind::ConfigMap]),
    (MISSING_VALUES, &[Kind::Environment, Kind::ConfigSchema]),
    (LONG_NAMES, &[Kind::Environment]),
    (FAN_OUT, &[Kind::GitOpsRepo]),
    (LITERAL, &[Kind::Template]),
    (UNCHECKED, &[Kind::Template]),
    (EXTENSION, &[Kind::Template]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expected: Option<(Option<&str>, &str)>) {
        let found = acknowledgement(value);
        let found = found.map(|(until, reason)| (until.map(|until| until.to_string()), reason));
        assert_eq!(found, expected.map(|(until, reason)| (until.map(str::to_owned), reason)), "{value}");
    }

    #[test]
    fn an_acknowledgement_has_a_reason_and_may_have_an_end() {
        check(" The sale begins in November. ", Some((None, "The sale begins in November.")));
        check("until the sale: none", Some((None, "until the sale: none")));
        check("until 2026-12-01: the sale", Some((Some("2026-12-01"), "the sale")));
        check("until 2026-13-01: the sale", None);
        check("until 2026-12-01", None);
        check("until 2026-12-01: ", None);
        check(" ", None);
    }
}
