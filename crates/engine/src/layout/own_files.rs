//! The names and the content of the files that Kalypso writes beside rendered files.

/// The text of the `README.md` that marks a folder as Kalypso's.
pub const MARKER: &str = "This folder contains deployment targets scheduled on the cluster type";
/// The file that names the promoted commit, at the root of the branch.
pub const TRACKING_FILE: &str = ".github/tracking/Promoted_Commit_Id";
/// The path of the owner file, in the output's folder. It names the environment and control plane of the output.
pub const OWNER_FILE: &str = ".kalypso/owner";
