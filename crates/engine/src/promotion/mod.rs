//! Promotion: decides when a change moves to the next environment, and to the next ring of an environment.
//!
//! Two state machines, both pure functions of a stored state, evidence and the time: [`rollout::step`] moves a workload through the rings of one
//! environment, and [`gates`] decides whether a ring, or an environment, has proved a change.

pub mod evidence;
pub mod gates;
pub mod membership;
pub mod report;
pub mod rollout;
pub mod state;
