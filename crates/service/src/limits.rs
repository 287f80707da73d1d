//! Limits of the service.

use std::time::Duration;

use retry::{Jitter, RetryLimit, RetryPolicy};

/// The number of repositories that are polled at the same time. A slow repository occupies one of these places only.
pub(crate) const POLLS_AT_ONCE: usize = 8;

/// The pauses after failed syncs and polls.
pub(crate) const RETRY: RetryPolicy = RetryPolicy {
    first: Duration::from_secs(5),
    factor: 2,
    longest: Duration::from_mins(5),
    jitter: Jitter::HALF,
    limit: RetryLimit::None,
};

/// The pause between two steps of promotions is this many times longer in an environment in which nothing moves: changes of its own branch, and of the environments
/// before it that this process leads, bring a step at once.
pub(crate) const REST_FACTOR: u32 = 4;

/// The maximum number of repositories that the log names because their webhooks have no effect.
pub(crate) const NAMED_REPOSITORIES_MAX: usize = 100;

/// The maximum number of problems that are kept for the API.
pub(crate) const PROBLEMS_MAX: usize = 200;

/// The maximum number of assignments that are named with a problem.
pub(crate) const PROBLEM_ASSIGNMENTS_MAX: usize = 20;

/// The maximum length of a plan that is kept for the API, in characters.
pub(crate) const PLAN_CHARACTERS_MAX: usize = 60_000;

/// The pause between two rounds that renew leases, at least. Each round is a transaction, and requests of other programs ask for rounds.
pub(crate) const ROUND_PAUSE_MIN: Duration = Duration::from_millis(200);
