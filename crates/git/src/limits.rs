//! Limits for the data that is read from repositories. Other teams control their content.

use std::time::Duration;

/// Maximum size of a YAML file, in bytes. Larger files are reported, not loaded. The YAML reader has the same limit.
pub const FILE_BYTES_MAX: u64 = model::yaml::YamlLimits::DEFAULT.text_bytes as u64;

/// Limits for reading one place. They count work instead of time, so that the same commits give the same result on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceLimits {
    /// Number of YAML files.
    pub files: u64,
    /// Bytes of all YAML files. If several files have the same content, each of them counts.
    pub bytes: u64,
    /// Steps: one for each checked entry of a folder, more for long paths, and more for the patterns of ignore files that are matched against it.
    pub steps: u64,
    /// Bytes of the tree object of one folder. It is read as a whole.
    pub folder_bytes: u64,
    /// Number of objects.
    pub objects: u64,
    /// Number of deployment targets in workloads, for all environments.
    pub targets: u64,
    /// Bytes of earlier versions of broken files.
    pub earlier_bytes: u64,
    /// Steps of the search for earlier versions of broken files.
    pub earlier_steps: u64,
}

/// Limits of a place of the platform team:
///
/// - 200,000 files. A control plane with a million clusters, one file each, exceeds it; it must use `List`s or several documents per file.
/// - 2 GiB: ten times the size of so many objects.
/// - 20,000,000 steps: a hundred entries for each file. 256 MiB for one folder: six million entries.
/// - 20,000,000 objects and targets: more than 2 GiB can contain.
/// - 512 MiB and 20,000,000 steps for broken files: less than a minute.
pub const PLATFORM: PlaceLimits = PlaceLimits {
    files: 200_000,
    bytes: 2 << 30,
    steps: 20_000_000,
    folder_bytes: 256 << 20,
    objects: 20_000_000,
    targets: 20_000_000,
    earlier_bytes: 512 << 20,
    earlier_steps: 20_000_000,
};

/// Limits of a place of an application team. It contains workloads and schemas. All other teams wait until it is read.
///
/// - 10,000 files and 32 MiB. They leave room for charts and manifests in the same folder. Reading takes a few seconds and some hundred MiB of
///   memory.
/// - 1,000,000 steps: a hundred entries for each file. 16 MiB for one folder: some hundred thousand entries.
/// - 20,000 objects and 5,000 targets. Each target may run on thousands of cluster types. A repository with a hundred workloads in ten environments
///   has a thousand targets.
/// - 64 MiB and 2,000,000 steps for broken files: a few seconds more.
pub const APPLICATION: PlaceLimits = PlaceLimits {
    files: 10_000,
    bytes: 32 << 20,
    steps: 1_000_000,
    folder_bytes: 16 << 20,
    objects: 20_000,
    targets: 5_000,
    earlier_bytes: 64 << 20,
    earlier_steps: 2_000_000,
};

/// Maximum depth of nested folders. Git itself has no limit.
pub const FOLDER_DEPTH_MAX: usize = 64;

/// Maximum size of a `.sourceignore` file, in bytes. Its patterns are matched against every file.
pub const IGNORE_BYTES_MAX: u64 = 64 << 10;

/// Maximum length of a chain of base repositories. Without it, a `BaseRepo` that names an older commit of its own branch would lead through the whole
/// history.
pub const BASE_DEPTH_MAX: usize = 16;

/// Maximum number of places that one environment is read from.
pub const PLACES_MAX: usize = 10_000;

/// How many commits back the search for a good version of a broken file goes. It tries the first number, and then the second: the near search is
/// cheap, and mostly enough.
pub const HISTORY_REACHES: [usize; 2] = [50, 1_000];

/// How many generations back the search for a promoted commit goes in the history of the main branch, if an environment has limits. It tries one number
/// after the other. An environment that is further behind must promote a newer commit.
pub const MAIN_REACHES: [usize; 3] = [50, 1_000, 20_000];

/// Maximum number of versions of one broken file that are read.
pub const VERSIONS_MAX: usize = 200;

/// Maximum number of repositories that are fetched at the same time.
pub const FETCHES_AT_ONCE: usize = 8;

/// Maximum number of heads of one branch that the journal of a copy stores, in order. A run that publishes sees most heads. Two heads that are 64 or
/// more pushes apart can't be compared.
pub const SEEN_MAX: usize = 64;

/// Maximum size of this journal, in bytes.
pub(crate) const JOURNAL_BYTES_MAX: u64 = 16 << 20;

/// How many generations back the commit of the states that a publication names is searched from the head of their branch. It tries one number after the other. Mostly,
/// only a few commits were stored since the publication.
pub const STATES_REACHES: [usize; 3] = [50, 1_000, 20_000];

/// How many generations of a GitOps branch are searched for publications. People make few commits between those of Kalypso.
pub const PUBLICATIONS_REACH: usize = 20;

/// How many generations of a GitOps branch are searched for what was published with an earlier commit. With rings, one commit is many publications.
pub const EARLIER_PUBLICATIONS_REACH: usize = 1_000;

/// How many generations are searched for the last good output of a failing assignment that a release pin holds. The assignment may have failed for
/// weeks before it was pinned. Each generation costs the read of a commit and of the folders of the affected places.
pub const HELD_REACH: usize = 500;

/// Maximum number of commits in an ancestry, including merged branches.
pub const ANCESTRY_MAX: usize = 1_000;

/// Maximum number of broken file versions that are cached between runs.
pub(crate) const BROKEN_KEPT_MAX: usize = 10_000;

/// Maximum size of one transfer from a repository on disk, in bytes. A copy normally contains one commit, so the limit is far above the size of a
/// repository of YAML files. Without it, the repository of one team could fill the shared disk.
pub const TRANSFER_BYTES_MAX: u64 = 2 << 30;

/// Maximum number of commits on the proposing branch that are checked. If all are Kalypso's and none is in the base branch, the branch counts as
/// foreign.
pub const OWN_COMMITS_MAX: usize = 100;

/// How many commits back the base branch is searched for the commit at which the proposing branch begins. It tries the first number, and then the
/// second.
pub const BASE_REACHES: [usize; 2] = [50, 5_000];

/// Maximum size of the stored standard output of git, in bytes.
pub(crate) const OUTPUT_BYTES_MAX: u64 = 16 << 20;

/// Maximum size of the list of a working tree's files, in bytes: a million long paths.
pub(crate) const LISTING_BYTES_MAX: u64 = 256 << 20;

/// Maximum size of the stored standard error of git, in bytes.
pub(crate) const MESSAGE_BYTES_MAX: u64 = 64 << 10;

/// Time limit for a request for the heads of a server's branches. The answer has a few lines per branch. A transfer of a repository has the time
/// limit of the settings.
pub(crate) const REQUEST_LIMIT: Duration = Duration::from_mins(1);

/// How long a lock file of another git in a repository is waited for. Most are held for less than a second.
pub(crate) const LOCK_FILE_LIMIT: Duration = Duration::from_secs(10);

/// Maximum number of packs in a copy. More are repacked into fewer ones. Git itself repacks at 50; each lookup of an object searches all packs.
pub(crate) const PACKS_MAX: usize = 20;
