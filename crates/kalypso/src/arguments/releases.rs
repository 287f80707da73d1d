//! The command line of named releases.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Format;

/// Make and show named releases: sets of versions that were proved together
#[derive(Args, Debug)]
#[command(after_help = "\
A release has the commit of the main branch, the version of each workload, and the versions of its configuration, as an environment has them. It never
changes. `kalypso promote RELEASE --to ENV` moves all of it.

Examples:
  kalypso releases create 2026-11 -e stage
  kalypso releases list
  kalypso releases show 2026-11
  kalypso releases diff 2026-10 2026-11
  kalypso releases diff 2026-11 -e prod       what prod has instead")]
pub(crate) struct Releases {
    #[command(subcommand)]
    pub(crate) command: ReleasesCommand,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum ReleasesCommand {
    /// Make a release of what an environment has now
    Create(CreateRelease),
    /// List the releases, the newest first
    List(ListReleases),
    /// Show a release
    Show(ShowRelease),
    /// Compare two releases, or a release with an environment
    Diff(DiffReleases),
}

/// The options of `releases create`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso releases create 2026-11 -e stage    what stage has now")]
pub(crate) struct CreateRelease {
    /// The name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The environment that proved it
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    #[command(flatten)]
    pub(crate) common: ReleaseOptions,
}

/// The options of `releases list`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso releases list
  kalypso releases list -o json")]
pub(crate) struct ListReleases {
    #[command(flatten)]
    pub(crate) common: ReleaseOptions,
}

/// The options of `releases show`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso releases show 2026-11")]
pub(crate) struct ShowRelease {
    /// The name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) common: ReleaseOptions,
}

/// The options of `releases diff`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso releases diff 2026-10 2026-11
  kalypso releases diff 2026-11 -e prod    what prod has instead")]
pub(crate) struct DiffReleases {
    /// A release
    #[arg(value_name = "RELEASE")]
    pub(crate) from: String,
    /// Another release
    #[arg(value_name = "OTHER", required_unless_present = "environment")]
    pub(crate) to: Option<String>,
    /// An environment as it is now, in place of another release
    #[arg(short, long = "env", value_name = "ENV", conflicts_with = "to")]
    pub(crate) environment: Option<String>,
    #[command(flatten)]
    pub(crate) common: ReleaseOptions,
}

/// The options of all these commands.
#[derive(Args, Debug)]
pub(crate) struct ReleaseOptions {
    /// The configuration file [default: kalypso.toml here or in a directory above]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}
