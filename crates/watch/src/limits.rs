//! Every limit of reading branches, with its reason.

use std::time::Duration;

/// Commits of a branch that are read one after another. If there are more that were not read, reading goes on with the last one.
pub const COMMITS_MAX: usize = 200;

/// Bytes of a file that is looked through for deployment descriptors.
pub const DESCRIPTOR_BYTES_MAX: u64 = 1024 * 1024;

/// Files of a branch that are looked through for deployment descriptors.
pub const DESCRIPTOR_FILES_MAX: usize = 100_000;

/// Deployment descriptors of a branch.
pub const DESCRIPTORS_MAX: usize = 10_000;

/// Problems of a branch that are listed; the rest is counted.
pub const PROBLEMS_MAX: usize = 100;

/// Branches that are polled at the same time.
pub const POLLS_AT_ONCE: usize = 8;

/// The longest pause between two polls of a branch that could not be read.
pub const PAUSE_MAX: Duration = Duration::from_mins(10);
