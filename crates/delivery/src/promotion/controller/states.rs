//! The stored states, as decisions need them.

use std::sync::Arc;

use engine::promotion::step::State;

use crate::access::renderer::SUBJECT;
use crate::states::rollout_store::{Advances, StoredStates};

/// The stored states, without those that can't be read.
pub(super) fn of_stored(stored: &StoredStates) -> State {
    let Advances { platform, mut releases, sources } = stored.known_advances().unwrap_or_default();
    let rollouts = stored.rollouts.iter();
    State {
        main: platform,
        renderer: releases.remove(SUBJECT),
        releases,
        sources: sources.into_iter().map(|(name, recorded)| (name, recorded.state)).collect(),
        rollouts: rollouts
            .filter_map(|(name, rollout)| Some((Arc::clone(name), rollout.as_ref().ok()?.state.clone())))
            .collect(),
        promotion: stored.admitted_promotion().cloned(),
    }
}
