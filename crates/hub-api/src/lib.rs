//! The API of the hub: the types of requests and answers, and a client over HTTP.
//!
//! This crate contains no database and no server. Programs that report, publish or query need only this crate. Times are in UTC, in milliseconds.

pub mod audit;
pub mod client;
pub mod compare;
pub mod compiled;
pub mod counts;
pub mod deployments;
pub mod drift;
pub mod endpoint;
pub mod environments;
pub mod events;
pub mod evidence;
pub mod filter;
pub mod history;
pub mod hosts;
pub mod leases;
pub mod limits;
pub mod page;
pub mod places;
pub mod problem;
pub mod promotions;
pub mod publication;
pub mod report;
pub mod revision;
pub mod rollouts;
pub mod rules;
pub mod search;
pub mod sessions;
pub mod sink;
pub mod syncs;
pub mod timestamp;
pub mod tls;
pub mod token;
pub mod tokens;
pub mod views;
pub mod watches;
