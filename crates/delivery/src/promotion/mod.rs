//! Promotions between environments and through their rings.

pub mod audit;
pub mod controller;
pub mod expired_pins;
pub mod pin_changes;
