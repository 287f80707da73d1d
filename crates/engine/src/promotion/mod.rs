//! Promotion: decides when a change moves to the next environment, and to the next ring of an environment.
//!
//! Two state machines, both pure functions of a stored state, evidence and the time: [`state::RolloutState`] moves a workload through the rings of one
//! environment, [`state::AdvanceState`] moves a commit or a release into the next environment.

pub mod evidence;
pub mod membership;
pub mod state;
