//! Every limit of the hub, with its reason.

use std::time::Duration;

/// Characters of a name: of hosts, reconcilers and what else is named. What Kubernetes allows for objects.
pub const NAME_CHARACTERS_MAX: usize = 253;

/// Characters of an endpoint (`repository/branch/path`): URLs may be long, but not endless.
pub const ENDPOINT_CHARACTERS_MAX: usize = 2_048;

/// Characters of a status message that are kept; the rest is cut off. Flux and Argo CD put whole error chains into messages.
pub const MESSAGE_CHARACTERS_MAX: usize = 4_096;

/// Labels of one host.
pub const LABELS_MAX: usize = 64;

/// Bytes of one report. A Flux event has about one kilobyte.
pub const REPORT_BYTES_MAX: usize = 64 * 1024;

/// Bytes of a request with reports, after decompression.
pub const REQUEST_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Reports in one request.
pub const BATCH_REPORTS_MAX: usize = 10_000;

/// Parts of a request with log records: records, attributes, texts. Each takes some hundred bytes of memory, and may be two bytes long on the wire.
/// A collector's usual batch of 8,192 records has about 150,000.
pub const OTLP_PARTS_MAX: usize = 500_000;

/// Reports that wait to be stored. Beyond it, new ones are turned away with 429, so that memory is bounded and waiting stays short.
pub const QUEUE_REPORTS_MAX: usize = 30_000;

/// Reports that are stored in one transaction. More amortize the commit better, but keep the first one waiting for longer.
pub const TRANSACTION_REPORTS_MAX: usize = 4_000;

/// How far in the future a report may say that it was made: clocks differ.
pub const FUTURE_MAX: Duration = Duration::from_mins(10);

/// Commits of a branch that are read one after another. If there are more that the hub has not seen, it goes on with the last one.
pub const COMMITS_MAX: usize = 200;

/// Places of a branch that are stored in one transaction: reports wait as long as that takes.
pub const PUBLICATION_PLACES_MAX: usize = 5_000;

/// Bytes of a file that is looked through for deployment descriptors.
pub const DESCRIPTOR_BYTES_MAX: u64 = 1024 * 1024;

/// Files of a branch that are looked through for deployment descriptors.
pub const DESCRIPTOR_FILES_MAX: usize = 100_000;

/// Deployment descriptors of a branch.
pub const DESCRIPTORS_MAX: usize = 10_000;

/// Problems of a branch that are told; of the rest, how many there are.
pub const PROBLEMS_MAX: usize = 100;

/// Branches that are looked at, at the same time.
pub const LOOKS_AT_ONCE: usize = 8;

/// The longest pause between two looks at a branch that could not be read.
pub const LOOK_PAUSE_MAX: Duration = Duration::from_mins(10);

/// The shortest time between two heartbeats that a reconciler may promise.
pub const HEARTBEAT_MIN: Duration = Duration::from_secs(10);

/// The longest.
pub const HEARTBEAT_MAX: Duration = Duration::from_hours(24 * 31);

/// Rows of one page of an answer, if the question doesn't say how many.
pub const PAGE_DEFAULT: usize = 100;

/// Rows of one page at most: an answer stays below a megabyte.
pub const PAGE_MAX: usize = 1_000;

/// Reconcilers that one page looks at at most, whatever is selected: a page that finds few among many ends early, and the next one goes on.
pub const PAGE_EXAMINED_MAX: usize = 20_000;

/// Hosts that labels may select to be looked at one by one. Beyond it they are so many that looking at places finds them soon.
pub const SELECTED_HOSTS_MAX: usize = 5_000;
