//! The limits of polling.

use std::time::Duration;

/// The time before the expiry of a token at which it is no longer used. A token must stay valid for all requests of one poll.
pub const TOKEN_LEEWAY: Duration = Duration::from_mins(5);

/// The maximum number of attempts of one request to Azure.
pub const ATTEMPTS: u32 = 5;

/// The longest pause within a poll that Azure may request. After a longer one, the next poll tries again.
pub const WAIT_MAX: Duration = Duration::from_mins(2);

/// The time limit for one answer of Azure.
pub const TIMEOUT: Duration = Duration::from_mins(1);

/// The maximum size of one answer of Azure, in bytes. A page of 1,000 Flux configurations with the statuses of all their objects has some megabytes.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The number of rows of one page, which is the maximum of Resource Graph.
pub const PAGE_ROWS: u32 = 1_000;

/// The maximum number of pages of one answer: a million rows. More pages mean an endless loop.
pub const PAGES_MAX: usize = 1_000;

/// The maximum number of requests for single resources in one poll of one subscription, for data that is not in the graph.
pub const DETAILS_MAX: usize = 1_000;

/// The longest pause between two polls of a source that can't be read.
pub const PAUSE_MAX: Duration = Duration::from_hours(1);

/// The maximum number of problems of one poll that are logged. Further ones are only counted.
pub const PROBLEMS_MAX: usize = 20;

/// The number of reports that are submitted together. It is the size of one transaction of the hub, and far below the limit of one request.
pub const SUBMITTED_REPORTS_MAX: usize = 4_000;
