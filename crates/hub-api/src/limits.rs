//! Limits that clients and the hub share.

use std::time::Duration;

/// The maximum length of a name, in characters. It is the limit of Kubernetes for names of objects.
pub const NAME_CHARACTERS_MAX: usize = 253;

/// The maximum length of an endpoint (`repository/branch/path`), in characters.
pub const ENDPOINT_CHARACTERS_MAX: usize = 2_048;

/// The maximum length of a stored status message, in characters. Flux and Argo CD put whole error chains into messages.
pub const MESSAGE_CHARACTERS_MAX: usize = 4_096;

/// The maximum number of labels of a host.
pub const LABELS_MAX: usize = 64;

/// The maximum number of earlier names of a place. The history of one name selects at most as many.
pub const EARLIER_NAMES_MAX: usize = 20;

/// The maximum size of one report, in bytes. A Flux event has about one kilobyte.
pub const REPORT_BYTES_MAX: usize = 64 * 1024;

/// The maximum number of reports in one request.
pub const BATCH_REPORTS_MAX: usize = 10_000;

/// The maximum time by which a report may be in the future, because clocks differ.
pub const FUTURE_MAX: Duration = Duration::from_mins(10);

/// The maximum number of events of promotions in one request.
pub const PROMOTION_EVENTS_MAX: usize = 1_000;

/// The maximum size of the evidence of one event of a promotion, in bytes of JSON. A gate has about 200 bytes.
pub const EVIDENCE_BYTES_MAX: usize = 16 * 1024;

/// The maximum number of environments in the order of promotion.
pub const ENVIRONMENTS_MAX: usize = 1_000;

/// The maximum number of places of a branch in one transaction. Reports wait during it.
pub const PUBLICATION_PLACES_MAX: usize = 5_000;

/// The shortest heartbeat that a reconciler may promise.
pub const HEARTBEAT_MIN: Duration = Duration::from_secs(10);

/// The longest heartbeat that a reconciler may promise.
pub const HEARTBEAT_MAX: Duration = Duration::from_hours(24 * 31);

/// The default number of rows of a page.
pub const PAGE_DEFAULT: usize = 100;

/// The maximum number of rows of a page. It keeps answers below a megabyte.
pub const PAGE_MAX: usize = 1_000;

/// The default number of rows, and of columns, of counts by dimensions. More do not fit on a screen.
pub const COUNT_GROUPS_DEFAULT: usize = 40;

/// The maximum number of rows, and of columns, of counts by dimensions. It keeps an answer with all cells at some megabytes.
pub const COUNT_GROUPS_MAX: usize = 100;

/// The default number of hits of each kind in the answer of a search.
pub const SEARCH_HITS_DEFAULT: usize = 8;

/// The maximum number of hits of each kind in the answer of a search.
pub const SEARCH_HITS_MAX: usize = 50;

/// The maximum number of words of a search.
pub const SEARCH_WORDS_MAX: usize = 8;

/// The default number of rows of a page of places.
pub const PLACES_PAGE_DEFAULT: usize = 1_000;

/// The maximum number of rows of a page of places. A row has about 600 bytes, and an environment may have a million places.
pub const PLACES_PAGE_MAX: usize = 10_000;

/// The maximum size of the last line of a signed file, in bytes. It contains two signatures and a number.
pub const SIGNED_END_BYTES_MAX: usize = 1_024;

/// The time after which a stream without events sends a keep-alive. Proxies close idle connections after a minute, and some after half a minute.
pub const EVENTS_KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The maximum size of a webhook of a git host, in bytes: what GitHub sends for a push with many commits is below.
pub const WEBHOOK_BYTES_MAX: usize = 5 << 20;

/// The maximum number of views that a person keeps. More do not fit into a list that people read.
pub const VIEWS_MAX: usize = 100;

/// The maximum length of the name of a view, in characters.
pub const VIEW_NAME_CHARACTERS_MAX: usize = 100;

/// The maximum length of the address of a view, in characters. Addresses of pages with all filters are shorter.
pub const VIEW_ADDRESS_CHARACTERS_MAX: usize = 2_000;
