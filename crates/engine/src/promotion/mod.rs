//! Promotion: decides when a change moves to the next environment, and to the next ring of an environment.
//!
//! [`step()`] decides about everything that is on its way into an environment, for all programs. It combines three state machines, all pure functions of a stored state,
//! evidence and the time: [`rings::step`] moves a workload through the rings of one environment, [`advance::step`] moves a commit or a release into the next
//! environment, and [`source::step`] lets in newer commits of all other sources. [`decision::apply`] applies the decisions of people to all of them.
//! [`proposal::objection`] says whether output that waits in a pull request may be merged.

mod absent_field;
pub mod advance;
pub mod answer;
pub mod command;
pub mod decision;
pub mod evidence;
pub mod gates;
pub mod graph;
pub mod in_force;
pub mod open_gates;
pub mod origin;
pub mod proposal;
mod queue;
pub mod release;
pub mod report;
pub mod revision;
pub mod rings;
pub mod source;
pub mod state;
pub mod step;
pub mod unguarded;
pub mod vector;

pub use step::step;
