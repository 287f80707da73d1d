//! Which gates of a promotion a change must pass, by its origin.

use model::object::Promotion;
use model::object::promotion::{ChangeOrigin, Gate};

/// The promotion with only the gates that are for changes of an origin.
#[must_use]
pub fn for_origin(promotion: &Promotion, origin: ChangeOrigin) -> Promotion {
    let mut promotion = promotion.clone();
    promotion.gates.retain(|gate| is_for(gate, origin));
    promotion
}

/// Whether a gate is for changes of an origin. The environments before have shown nothing about values and applications of this one, so gates that measure them
/// are not for these.
fn is_for(gate: &Gate, origin: ChangeOrigin) -> bool {
    let is_moved = matches!(origin, ChangeOrigin::Main | ChangeOrigin::Release);
    gate.applies_to.contains(&origin) && (is_moved || gate.kind.is_of_people_or_clock())
}
