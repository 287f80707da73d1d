//! The layout of rings: which places each ring has, and the domains of its limits. A move refers to rings by their index, so its state has a meaning only with the
//! layout that it began with.

use std::fmt::Write as _;
use std::sync::Arc;

use model::object::promotion::{Ring, RingMembers};
use sha2::{Digest, Sha256};

use super::membership::labels;
use crate::promotion::state::{MoveStage, RolloutState};

/// The number of digits of a layout.
const DIGITS: usize = 16;

/// The digest of the names, members and labels for limits and time zones of all rings, in their order. Numbers of limits, gates, budgets and pauses do not count.
pub fn layout(rings: &[Ring]) -> Arc<str> {
    let mut text = String::new();
    for ring in rings {
        let Ring { name, members, .. } = ring;
        let members = match members {
            RingMembers::Labels(selector) => format!("labels {:?}", selector.requirements),
            RingMembers::Percent(share) => format!("percent {share}"),
            RingMembers::Names(names) => format!("names {names:?}"),
            RingMembers::Rest => "rest".to_owned(),
        };
        let per: Vec<_> = labels(ring).collect();
        let _ = writeln!(text, "{name} {members} per {per:?}");
    }
    let digits: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    digits.get(..DIGITS).unwrap_or(&digits).into()
}

impl RolloutState {
    /// Whether the state says which places of these rings are released. Otherwise, all places keep what they have until the next step.
    pub fn is_of(&self, layout: &str) -> bool {
        let current = self.current.as_ref();
        current
            .is_none_or(|current| *current.layout == *layout || matches!(current.phase, MoveStage::RollingBack { .. }))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::object::promotion::{Amount, DomainLimit, Share};

    use super::*;
    use crate::promotion::rings::membership::tests::ring;

    fn share(hundredths: u16) -> RingMembers {
        RingMembers::Percent(Share::of_hundredths(hundredths))
    }

    #[test]
    fn a_layout_changes_with_places_and_domains_only() {
        let rings = [ring("canary", share(100)), ring("rest", RingMembers::Rest)];
        let [canary, rest] = rings.clone();
        let per = vec![DomainLimit { label: "site".into(), at_once: 1 }];
        let others = [
            vec![rest.clone(), canary.clone()],
            vec![canary.clone()],
            vec![ring("canary", share(101)), rest.clone()],
            vec![ring("first", share(100)), rest.clone()],
            vec![Ring { per, ..canary.clone() }, rest.clone()],
        ];
        assert!(others.iter().all(|other| layout(other) != layout(&rings)));
        let pause = Duration::from_hours(1);
        assert_eq!(layout(&[Ring { at_once: Some(Amount::Count(1)), pause, ..canary }, rest]), layout(&rings));
    }
}
