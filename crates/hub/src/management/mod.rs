//! What people manage: hosts, the audit log, the retention of history, reports that are kept apart, and their views.

pub mod apart;
pub mod audit;
pub mod hosts;
pub mod retention;
pub mod views;
