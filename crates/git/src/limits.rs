//! How much is taken from repositories: they belong to other teams.

use std::time::Duration;

/// Bytes of a file that is read as YAML; larger ones are reported, not loaded. It is also the most that the reader of YAML takes.
pub const FILE_BYTES_MAX: u64 = model::yaml::Limits::DEFAULT.text_bytes as u64;

/// What reading one place may cost: counted, so that the same commits give the same result on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceLimits {
    /// YAML files.
    pub files: u64,
    /// Bytes of all YAML files. A content that lies under several names counts for each.
    pub bytes: u64,
    /// Entries of folders that are looked at, long paths several times, with what the patterns of ignore files take for each.
    pub steps: u64,
    /// Bytes of one folder's tree, which is read as a whole.
    pub folder_bytes: u64,
    /// Objects.
    pub objects: u64,
    /// Deployment targets, of all environments, inside workloads.
    pub targets: u64,
    /// Bytes of earlier versions of broken files.
    pub earlier_bytes: u64,
    /// Entries of folders that are looked at for earlier versions of broken files.
    pub earlier_steps: u64,
}

/// A place of the platform's:
///
/// - 200,000 files: a control plane of a million clusters in one file each is beyond it; it has `List`s or several documents to a file.
/// - 2 GiB: ten times what so many objects take.
/// - 20,000,000 steps: a hundred entries for each file; 256 MiB for one folder: six million entries.
/// - 20,000,000 objects and targets: more than fit into so many bytes.
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

/// A place of an application's: it brings workloads and schemas, and other teams wait while it is read.
///
/// - 10,000 files and 32 MiB: charts and manifests may lie beside them; read in a few seconds, in some hundred MiB of memory.
/// - 1,000,000 steps: a hundred entries for each file; 16 MiB for one folder: some hundred thousand entries.
/// - 20,000 objects and 5,000 targets: each target may be for each of thousands of cluster types. A repository for a hundred workloads in ten environments
///   has a thousand.
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

/// Heads of one branch that a copy remembers in their order. Who publishes sees most of them; two that were 64 pushes apart are not compared.
pub const SEEN_MAX: usize = 64;

/// Bytes of the file in which a copy remembers them.
pub(crate) const JOURNAL_BYTES_MAX: u64 = 16 << 20;

/// How many generations of a GitOps branch are looked at for publications. People's commits between ours are few.
pub const PUBLICATIONS_REACH: usize = 20;

/// How many of them are looked at where an assignment that fails is to be held. It may have failed for weeks before it is pinned, and each generation costs
/// a commit and the folders of the places concerned.
pub const HELD_REACH: usize = 500;

/// Commits that an ancestry holds at most, however wide the history is.
pub const ANCESTRY_MAX: usize = 1_000;

/// Broken versions of files that are known from one run to the next.
pub(crate) const BROKEN_KEPT_MAX: usize = 10_000;

/// Bytes that one transfer from a repository may take on disk. A copy has one commit as a rule, so it is far beyond what a repository of YAML files holds;
/// without a limit, one team's repository fills the disk that all share.
pub const TRANSFER_BYTES_MAX: u64 = 2 << 30;

/// Commits on our own branch that are looked at before it is taken for somebody else's.
pub const OWN_COMMITS_MAX: usize = 100;

/// How far back the base branch is looked at for the commit that our branch began at.
pub const BASE_REACHES: [usize; 2] = [50, 5_000];

/// Bytes that are kept of what git writes to its standard output.
pub(crate) const OUTPUT_BYTES_MAX: u64 = 16 << 20;

/// Bytes that are kept of what git says.
pub(crate) const MESSAGE_BYTES_MAX: u64 = 64 << 10;

/// How long a server may think about where its branches are. It sends a few lines for each; whole repositories may take as long as the settings say.
pub(crate) const ASK_LIMIT: Duration = Duration::from_mins(1);

/// Packs in a copy before they are put together. Git itself begins at 50; to look into each of them takes time for every object.
pub(crate) const PACKS_MAX: usize = 20;
