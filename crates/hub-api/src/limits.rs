//! Limits that clients and the hub share, each with its reason.

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

/// Reports in one request.
pub const BATCH_REPORTS_MAX: usize = 10_000;

/// How far in the future a report may say that it was made: clocks differ.
pub const FUTURE_MAX: Duration = Duration::from_mins(10);

/// Environments whose order is told: companies have a handful.
pub const ENVIRONMENTS_MAX: usize = 1_000;

/// Places of a branch that are stored in one transaction: reports wait as long as that takes.
pub const PUBLICATION_PLACES_MAX: usize = 5_000;

/// The shortest time between two heartbeats that a reconciler may promise.
pub const HEARTBEAT_MIN: Duration = Duration::from_secs(10);

/// The longest.
pub const HEARTBEAT_MAX: Duration = Duration::from_hours(24 * 31);

/// Rows of one page of an answer, if the question doesn't say how many.
pub const PAGE_DEFAULT: usize = 100;

/// Rows of one page at most: an answer stays below a megabyte.
pub const PAGE_MAX: usize = 1_000;

/// Bytes of the last line of a signed file, which is two signatures and a number.
pub const SIGNED_END_BYTES_MAX: usize = 1_024;

/// After so long without an event a stream says that it is still there. Proxies close connections that are silent for a minute, some for half of it.
pub const EVENTS_KEEP_ALIVE: Duration = Duration::from_secs(15);
