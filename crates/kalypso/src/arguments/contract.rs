//! The command line of `contract`.

use clap::Args;

use super::{PlanFormat, SourceOptions};

/// Show which values workloads ask for, which ones the platform gives, and which are missing or wrong
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso contract                                   all workloads in all environments, counts first
  kalypso contract checkout                          for its team: what it asks for, what it gets, what is missing
  kalypso contract -e prod --cluster-type edge       for the platform team: what the workloads on it ask for
  kalypso contract -e prod checkout -o markdown      as a comment on a pull request

The status is 1 if a required value is missing or a value is wrong.")]
pub(crate) struct Contract {
    /// The workload [default: all, as counts]
    #[arg(value_name = "WORKLOAD", conflicts_with = "cluster_type")]
    pub(crate) workload: Option<String>,
    /// The cluster type with its clusters, or a cluster
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster_type: Option<String>,
    /// The environment [default: all]
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: Option<String>,
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: PlanFormat,
}
