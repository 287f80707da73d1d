//! Limits, each with its reason.

use std::time::Duration;

/// The maximum size of one answer, in bytes. A page of 100 pull requests with full bodies has 7 MB.
pub const ANSWER_BYTES_MAX: usize = 32 << 20;

/// The maximum size of all pages of one list together, in bytes.
pub const LIST_BYTES_MAX: usize = 4 * ANSWER_BYTES_MAX;

/// The maximum time for one answer. A host that answers in drops must not hold a thread.
pub const ANSWER_TIME_MAX: Duration = Duration::from_mins(1);

/// The time limit for a connection, and for each part of an answer.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum number of pages of a list. At 50 items each, these are 5,000 pull requests.
pub const PAGES_MAX: u32 = 100;

/// The number of items of a page. Gitea's largest page by default.
pub const PAGE_ITEMS: u32 = 50;

/// The maximum number of redirects within a host. A renamed repository needs one.
pub const REDIRECTS_MAX: u32 = 3;

/// The maximum number of characters of a host's message in an error.
pub const MESSAGE_CHARACTERS_MAX: usize = 300;

/// The maximum number of characters of the description of a commit status. GitHub refuses more than 140.
pub const STATUS_CHARACTERS_MAX: usize = 140;

/// The pause after a refusal for too many requests without any hint. GitHub requires at least a minute.
pub const LIMITED_PAUSE: Duration = Duration::from_mins(1);

/// The maximum number of looks for a result that a host computes in the background: whether a pull request can be merged, or the merge itself.
pub const LOOKS_MAX: u32 = 10;

/// The pause between two looks.
pub const LOOK_PAUSE: Duration = Duration::from_millis(500);

/// The time before a token's end at which it is replaced, so that it does not end during a request.
pub const TOKEN_REST_MIN: Duration = Duration::from_mins(5);

/// The time until the next look whether a GitHub App is installed for a repository, if it was not.
pub const MISSING_INSTALLATION_PAUSE: Duration = Duration::from_mins(10);

/// The maximum size of the body of a webhook, in bytes. GitHub sends at most 25 MB, but events of pushes and pull requests have less than 1 MB.
pub const WEBHOOK_BYTES_MAX: usize = 5 << 20;

/// The maximum length of a repository URL, in bytes.
pub const URL_BYTES_MAX: usize = 2_048;
