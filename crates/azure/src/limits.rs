//! Every limit of polling, with its reason.

use std::time::Duration;

/// How long before its end a token of Azure is not used any more: it has to last for the requests of one poll.
pub const TOKEN_LEEWAY: Duration = Duration::from_mins(5);

/// How often one request to Azure is tried.
pub const ATTEMPTS: u32 = 5;

/// The longest that Azure may ask us to wait within a poll. Beyond it, the next poll tries again.
pub const WAIT_MAX: Duration = Duration::from_mins(2);

/// How long one answer of Azure may take.
pub const TIMEOUT: Duration = Duration::from_mins(1);

/// Bytes of one answer of Azure: a page of 1,000 Flux configurations with the statuses of all their objects has some megabytes.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Rows of one page. Resource Graph gives no more.
pub const PAGE_ROWS: u32 = 1_000;

/// Pages of one answer: a million rows. Beyond it, something goes round in circles.
pub const PAGES_MAX: usize = 1_000;

/// Requests for single resources in one poll of one subscription, where the graph does not have what is needed.
pub const DETAILS_MAX: usize = 1_000;

/// The longest pause between two polls of a source of which nothing can be had.
pub const PAUSE_MAX: Duration = Duration::from_hours(1);

/// Problems of one poll that are logged one by one.
pub const PROBLEMS_MAX: usize = 20;

/// Reports that are submitted at once: what one transaction of the hub stores, and far below the bytes that it takes in one request.
pub const SUBMITTED_REPORTS_MAX: usize = 4_000;
