//! How many calls of a host's API were made.

/// The calls of a host's API since the program started, by their results. Each attempt counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Calls that succeeded.
    pub answered: u64,
    /// Calls that the host refused.
    pub refused: u64,
    /// Calls that were too many for the host's rate limit.
    pub limited: u64,
    /// Calls without a usable answer: the host was not reached, or failed.
    pub failed: u64,
}
