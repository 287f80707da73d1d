//! Branches that Kalypso writes: their commits, and pushes to them.

pub mod branch;
pub mod push;
