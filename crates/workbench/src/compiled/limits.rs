//! Limits of compiled environments that are kept, each with its reason.

use std::time::Duration;

/// The number of compiled environments that are kept. Most companies have fewer environments.
pub(super) const STATES_MAX: usize = 8;

/// The number of assignments in all kept environments together. A million of them take about a gigabyte.
pub(super) const ASSIGNMENTS_MAX: usize = 1_000_000;

/// An environment that was not asked about for this time is not kept. People read for some minutes, and then do something else.
pub(super) const UNUSED_MAX: Duration = Duration::from_mins(10);

/// The sources are not checked again within this time: a page asks several questions at once.
pub(super) const FRESH: Duration = Duration::from_secs(5);

/// The sources are read again after this time, also if no sync says that they changed. It is the usual time after which the service syncs an environment in any
/// case.
pub(super) const AGE_MAX: Duration = Duration::from_mins(5);

/// The number of affected assignments that are named with a finding. The list of assignments has all of them.
pub(super) const FINDING_ASSIGNMENTS_MAX: usize = 20;

/// The number of positions of a finding. The first ones say what is wrong; an object that exists many times has one for each.
pub(super) const FINDING_PLACES_MAX: usize = 10;

/// The number of files of an assignment that are listed. Templates make a few; more are the work of a mistake.
pub(super) const FILES_MAX: usize = 100;

/// The size of a file that is shown, in bytes. Longer ones are read in git.
pub(super) const FILE_BYTES_MAX: usize = 256 * 1024;

/// The size of all files of an answer together, in bytes.
pub(super) const FILES_BYTES_MAX: usize = 1024 * 1024;

/// The number of the newest publications in which the changes of a folder are searched. Each is one more read of the folders above it.
pub(super) const PUBLICATIONS_MAX: usize = 50;

/// The number of values that a search computes. Each is composed for all its assignments.
pub(super) const VALUES_SEARCHED_MAX: usize = 2_000;

/// The number of assignments that are named with a value.
pub(super) const VALUE_ASSIGNMENTS_MAX: usize = 10;
