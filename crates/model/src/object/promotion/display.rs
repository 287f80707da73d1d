//! Gates and rings in words, for tables and messages.

use std::fmt;

use super::{Check, Expectation, GateKind, RingMembers, Silent};
use crate::duration;

/// Writes the condition: `compliant 98%`, `soak 12h`, `approval by 2 of release-managers`.
impl fmt::Display for GateKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compliant { share, silent } => {
                write!(f, "compliant {share}")?;
                match silent {
                    Silent::Wait => Ok(()),
                    Silent::Ignore => f.write_str(" without silent ones"),
                    Silent::Fail => f.write_str(" (silent ones failed)"),
                }
            }
            Self::Failures(amount) => write!(f, "at most {amount} failed"),
            Self::Soak(duration) => write!(f, "soak {}", duration::text(*duration)),
            Self::Check(Check { name, expect }) => match expect {
                Expectation::Http { .. } => write!(f, "HTTP check {name}"),
                Expectation::Prometheus { .. } => write!(f, "Prometheus check {name}"),
                Expectation::Command => write!(f, "command {name}"),
            },
            Self::Window(window) => window.fmt(f),
            Self::Approval(approval) => {
                write!(f, "approval by {}", approval.count)?;
                approval.team.as_ref().map_or(Ok(()), |team| write!(f, " of {team}"))
            }
            Self::Manual => f.write_str("manual"),
        }
    }
}

/// Writes the places: `region=west`, `5%`, `store-1, store-2`, `all others`.
impl fmt::Display for RingMembers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Labels(selector) if selector.requirements.is_empty() => f.write_str("all"),
            Self::Labels(selector) => {
                let requirements: Vec<_> = selector.requirements.iter().map(ToString::to_string).collect();
                f.write_str(&requirements.join(", "))
            }
            Self::Percent(share) => share.fmt(f),
            Self::Names(names) => f.write_str(&names.join(", ")),
            Self::Rest => f.write_str("all others"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Amount, Approval, Share};
    use super::*;

    #[test]
    fn gates_and_rings_have_readable_texts() {
        let compliant = |silent| GateKind::Compliant { share: Share::of_hundredths(9_800), silent };
        let check = |expect| GateKind::Check(Check { name: "load".into(), expect });
        for (gate, words) in [
            (compliant(Silent::Wait), "compliant 98%"),
            (compliant(Silent::Ignore), "compliant 98% without silent ones"),
            (GateKind::Failures(Amount::Count(2)), "at most 2 failed"),
            (GateKind::Soak(Duration::from_mins(90)), "soak 1h30m"),
            (check(Expectation::Command), "command load"),
            (check(Expectation::Http { status: None, json: None }), "HTTP check load"),
            (GateKind::Approval(Approval { count: 2, team: Some("ops".into()) }), "approval by 2 of ops"),
            (GateKind::Manual, "manual"),
        ] {
            assert_eq!(gate.to_string(), words);
        }
        assert_eq!(RingMembers::Rest.to_string(), "all others");
        assert_eq!(RingMembers::Names(vec!["a".into(), "b".into()]).to_string(), "a, b");
    }
}
