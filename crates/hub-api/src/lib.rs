//! The contract of the hub: what is sent to it, what it answers, and a client over HTTP.
//!
//! No database and no server: programs that report, publish or ask need this crate only. Times are UTC, in milliseconds.

pub mod client;
pub mod endpoint;
pub mod limits;
pub mod publication;
pub mod report;
pub mod revision;
pub mod timestamp;
pub mod tls;
pub mod token;
