//! The command line of versions of the configuration.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{EditOptions, Format};

/// Show earlier versions of an assignment's configuration, and restore one
#[derive(Args, Debug)]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    History(ConfigHistory),
    Rollback(ConfigRollback),
}

/// List the versions of an assignment's configuration, with the commits that brought them
#[derive(Args, Debug)]
#[command(after_help = "\
Reads all branches with values: the environment's own branch, and the branches that its BaseRepos and Flux objects name without a commit.
Each commit is compiled with the other branches as they were then, and the applications as they are now.

Examples:
  kalypso config history chicago-edge/checkout-eu -e prod
  kalypso config history chicago-edge/checkout-eu -e prod --commits 100 -o json")]
pub(crate) struct ConfigHistory {
    /// The assignment
    #[arg(value_name = "PLACE/TARGET")]
    pub(crate) assignment: String,
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// The number of commits of these branches to look at
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) commits: usize,
    /// The configuration file [default: kalypso.toml here or in a directory above]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// Restore the values that a branch of an environment had at an earlier commit
#[derive(Args, Debug)]
#[command(after_help = "\
All ConfigMaps of the branch get the content of that commit, by a new commit: the history stays, and the change goes through the rings like any other.
If a version needs values of other branches, it is refused, and the branches are named with the commands that restore them.
Values of the main branch are restored there: leave out -e. Values of another repository are restored with --repo.

Examples:
  kalypso config rollback -e prod --to 77aa012 --dry-run
  kalypso config rollback -e prod --to 3f1c09aa51d24b7e --of chicago-edge/checkout-eu --propose
  kalypso config rollback --to HEAD~1
  kalypso config rollback -e prod --repo germany --to HEAD~1 --propose    values that the BaseRepo `germany` brings")]
pub(crate) struct ConfigRollback {
    /// The environment; without it, the main branch
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: Option<String>,
    /// Restore in another repository that the environment reads: the name of its `BaseRepo`, or its URL [default: the environment's own branch]
    #[arg(long, value_name = "REPOSITORY", requires = "environment")]
    pub(crate) repo: Option<String>,
    /// A commit of the branch; with --of, also a version from `config history`
    #[arg(long, value_name = "COMMIT|VERSION")]
    pub(crate) to: String,
    /// The assignment that had this version
    #[arg(long, value_name = "PLACE/TARGET", requires = "environment")]
    pub(crate) of: Option<String>,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}
