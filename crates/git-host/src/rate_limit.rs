//! The rate limit of a host's API.

use jiff::Timestamp;

/// The state of a rate limit, as the last answer described it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// The number of requests that are left in the current period.
    pub remaining: u64,
    /// The number of requests in each period.
    pub limit: u64,
    /// The end of the current period. None if the host does not name it.
    pub resets_at: Option<Timestamp>,
}
