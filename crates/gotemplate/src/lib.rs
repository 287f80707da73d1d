//! Go's text/template with sprig 2.22.0 for Rust: parse once, render many times, errors with positions, bounded.
//!
//! Knows nothing of Kalypso's kinds.

pub mod fuel;
pub mod function;
pub mod heap;
pub mod semver;
pub mod text;
pub mod time;
pub mod value;
