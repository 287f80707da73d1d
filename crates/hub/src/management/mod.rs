//! What people manage: hosts, the audit log, the retention of history, and reports that are kept apart.

pub mod apart;
pub mod audit;
pub mod hosts;
pub mod retention;
