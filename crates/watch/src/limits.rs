//! The limits of watching branches.

use std::time::Duration;

/// The maximum number of new commits of a branch that are read one by one. If there are more, only the newest one is read.
pub const COMMITS_MAX: usize = 200;

/// The maximum size of a file that is searched for deployment descriptors, in bytes.
pub const DESCRIPTOR_BYTES_MAX: u64 = 1024 * 1024;

/// The maximum number of files of a branch that are searched for deployment descriptors.
pub const DESCRIPTOR_FILES_MAX: usize = 100_000;

/// The maximum number of deployment descriptors of a branch.
pub const DESCRIPTORS_MAX: usize = 10_000;

/// The maximum number of listed problems of a branch. Further ones are only counted.
pub const PROBLEMS_MAX: usize = 100;

/// The maximum number of concurrent polls.
pub const POLLS_AT_ONCE: usize = 8;

/// The longest pause between two polls of a branch that could not be read.
pub const PAUSE_MAX: Duration = Duration::from_mins(10);
