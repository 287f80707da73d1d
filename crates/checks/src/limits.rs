//! Limits, each with its reason.

use std::time::Duration;

/// The time after which a check is measured again, unless the configuration says another one.
pub(crate) const INTERVAL: Duration = Duration::from_secs(30);

/// The shortest such time. Measurements must not become a load.
pub(crate) const INTERVAL_MIN: Duration = Duration::from_secs(1);

/// The time limit of a measurement, unless the configuration says another one.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

/// The longest time limit of a request: gates of other changes wait meanwhile.
pub(crate) const REQUEST_TIMEOUT_MAX: Duration = Duration::from_mins(1);

/// The longest time limit of a command, which may be a load test.
pub(crate) const COMMAND_TIMEOUT_MAX: Duration = Duration::from_mins(30);

/// The maximum size of an answer, in bytes. The results of a query for 1,000 series have 200 KiB.
pub(crate) const ANSWER_BYTES_MAX: usize = 1 << 20;

/// The number of measurements that run at the same time.
pub(crate) const CONCURRENT_MAX: usize = 8;

/// The maximum size of all measurements that are kept, in bytes.
pub(crate) const KEPT_BYTES_MAX: usize = 64 << 20;

/// The size of the end of a command's output that is kept, in bytes.
pub(crate) const OUTPUT_BYTES_MAX: usize = 8 << 10;

/// How long to wait for the end of the output of a command that ended. A process that left the group may hold it open.
pub(crate) const OUTPUT_LIMIT: Duration = Duration::from_secs(2);

/// The maximum length of a text that comes from outside, in characters.
pub(crate) const TEXT_CHARACTERS_MAX: usize = 200;
