//! `ReleasePin`: another release at some places than the one that deployment targets name.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::scheduling_policy::{CLUSTER_TYPE_FIELD, TARGET_FIELD};
use super::shape::{optional, required};
use super::{Decoder, Field, Kind, SchedulingPolicy, Shape, Spec};
use crate::decode;
use crate::name::ReleasePinName;
use crate::yaml::Node;

/// What a `ReleasePin` says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReleasePin {
    /// Where it holds: of the assignments that there are, those that a policy with these selectors would make.
    pub selection: SchedulingPolicy,
    /// What is laid over the target's manifests, key by key.
    pub manifests: BTreeMap<Arc<str>, Arc<str>>,
    /// Why it is there, for people; may be empty.
    pub reason: Arc<str>,
    /// When somebody should look at it again. Nothing that is rendered depends on it.
    pub expires: Option<Expiry>,
}

/// The path of what is laid over the target's manifests.
pub const MANIFESTS: [&str; 2] = ["spec", "manifests"];
/// The path of the day or moment from which on the pin is reported.
pub const EXPIRES: [&str; 2] = ["spec", "expires"];

/// When something should be looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expiry {
    /// After the end of this day, UTC.
    Day(Date),
    /// From this moment on.
    Moment(Timestamp),
}

impl Expiry {
    /// Whether it is past at the moment `now`.
    pub fn is_past(self, now: Timestamp) -> bool {
        match self {
            Self::Day(day) => day < TimeZone::UTC.to_datetime(now).date(),
            Self::Moment(moment) => moment <= now,
        }
    }
}

/// `YYYY-MM-DD`, or a timestamp as RFC 3339 has it.
impl FromStr for Expiry {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        match text.len() {
            // jiff reads shorter and longer forms of dates as well, which JSON Schema and people's eyes don't.
            10 => text.parse().map(Self::Day),
            _ => text.parse().map(Self::Moment),
        }
    }
}

impl fmt::Display for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Day(day) => day.fmt(f),
            Self::Moment(moment) => moment.fmt(f),
        }
    }
}

impl Spec for ReleasePin {
    type Name = ReleasePinName;
    const KIND: Kind = Kind::ReleasePin;
    const FIELDS: &'static [Field] = &[required(
        "spec",
        Shape::Fields(&[
            TARGET_FIELD,
            CLUSTER_TYPE_FIELD,
            required("manifests", Shape::TextMap, "What is laid over the target's `manifests`, key by key."),
            optional("reason", Shape::Text, "Why the pin is there, for people."),
            optional(
                "expires",
                Shape::Moment,
                "From when on `kalypso check` warns that the pin is still there: after that day (UTC), or from that moment. What is rendered never depends on it.",
            ),
        ]),
        "The pin.",
    )];
    const DOC: &'static str = "Holds the deployment targets that it selects at another release, on the cluster types and clusters that it selects: its `manifests` are laid \
        over the target's, key by key. Two pins that set one key differently for one assignment stop it.";
    const EXAMPLE: &'static str = "\
apiVersion: fleet.kalypso.io/v1alpha1
kind: ReleasePin
metadata:
  name: hold-hello-world-in-chicago
spec:
  deploymentTargetSelector:
    labelSelector:
      matchLabels:
        workload: hello-world
  clusterTypeSelector:
    labelSelector:
      matchLabels:
        site: chicago
  manifests:
    branch: release-1.4
  reason: The scanners of line 7 can't read the new labels yet.
  expires: 2027-01-31
";

    fn decode(root: &Node, decoder: &mut Decoder<'_>) -> Self {
        Self {
            selection: SchedulingPolicy::decode(root, decoder),
            manifests: decode::text_map(root, &MANIFESTS),
            reason: decode::text(root, &["spec", "reason"]),
            expires: decode::text(root, &EXPIRES).parse().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expiry: &str, now: &str, is_past: bool) {
        let expiry: Expiry = expiry.parse().unwrap();
        assert_eq!(expiry.is_past(now.parse().unwrap()), is_past, "{expiry} at {now}");
    }

    #[test]
    fn a_day_is_past_when_it_is_over_in_utc() {
        check("2027-01-31", "2027-01-31T23:59:59Z", false);
        check("2027-01-31", "2027-02-01T00:00:00Z", true);
        check("2027-01-31", "2027-01-31T23:00:00-02:00", true);
    }

    #[test]
    fn a_moment_is_past_when_it_has_come() {
        check("2027-01-31T12:00:00+02:00", "2027-01-31T09:59:59Z", false);
        check("2027-01-31T12:00:00+02:00", "2027-01-31T10:00:00Z", true);
    }

    #[test]
    fn what_is_no_day_and_no_moment_is_refused() {
        for text in ["", "soon", "2027-02-29", "20270131", "2027-01", "2027-01-31T12:00:00"] {
            assert!(text.parse::<Expiry>().is_err(), "{text:?}");
        }
    }
}
