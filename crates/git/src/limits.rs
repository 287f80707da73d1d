//! How much is taken from repositories: they belong to other teams.

/// Bytes of a file that is read as YAML; larger ones are reported, not loaded. It is also the most that the reader of YAML takes.
pub const FILE_BYTES_MAX: u64 = model::yaml::Limits::DEFAULT.text_bytes as u64;

/// YAML files below one path. A control plane of a million clusters in one file each is beyond it; it has `List`s or several documents to a file.
pub const FILES_MAX: usize = 200_000;

/// Bytes of all YAML files below one path.
pub const TOTAL_BYTES_MAX: u64 = 2 << 30;

/// Folders inside one another. Git itself has no limit; 64 are more than anybody can read.
pub const FOLDER_DEPTH_MAX: usize = 64;

/// Bytes of a `.sourceignore`. Its patterns are matched against every file.
pub const IGNORE_BYTES_MAX: u64 = 64 << 10;

/// Base repositories inside one another. Without a limit, a branch whose `BaseRepo` names an older commit of itself is followed through all its history.
pub const BASE_DEPTH_MAX: usize = 16;

/// Places that one environment may be read from.
pub const PLACES_MAX: usize = 10_000;

/// How far back, in commits, a good version of a broken file is looked for: first near, because that is mostly enough and costs little.
pub const HISTORY_REACHES: [usize; 2] = [50, 1_000];

/// How many versions of one broken file are tried.
pub const VERSIONS_MAX: usize = 200;

/// Repositories that are fetched at the same time.
pub const FETCHES_AT_ONCE: usize = 8;

/// Commits on our own branch that are looked at before it is taken for somebody else's.
pub const OWN_COMMITS_MAX: usize = 100;

/// How far back the base branch is looked at for the commit that our branch began at.
pub const BASE_REACHES: [usize; 2] = [50, 5_000];

/// Bytes that are kept of what git writes to its standard output.
pub(crate) const OUTPUT_BYTES_MAX: u64 = 16 << 20;

/// Bytes that are kept of what git says.
pub(crate) const MESSAGE_BYTES_MAX: u64 = 64 << 10;
