//! The command line of lists and descriptions of objects.

use clap::{Args, ValueEnum};
use workbench::listing::filter::FilterOptions;

use super::{Format, SourceOptions};

/// The format of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// A table for people
    #[default]
    Human,
    /// The table with more columns
    Wide,
    /// JSON, stable
    Json,
    /// YAML, stable
    Yaml,
    /// Only names, as `KIND/NAME`; assignments as `CLUSTER_TYPE/TARGET`
    Name,
}

/// List objects: environments, cluster types, workloads, policies, values and more
#[derive(Args, Debug)]
#[command(after_help = "\
Kinds: environments, promotions, cluster-types, clusters, workloads, targets, policies, configs, schemas, templates,
       assignments, pins, mappings, registrations, base-repos, gitops-repos, and values

Examples:
  kalypso get cluster-types                          of all environments
  kalypso get clusters -e prod -l region=west        by labels; a cluster has the labels of its cluster type too
  kalypso get assignments -e prod --on store-042     what runs on a cluster, or on a cluster type with its clusters
  kalypso get assignments --of checkout -o name      where a workload, or one deployment target, runs
  kalypso get policies -e prod -o wide               with the file and line of each
  kalypso get values -e prod --key LOG_LEVEL         which assignments have which value, and the ConfigMap that sets it
  kalypso get values --key LOG_LEVEL --value debug   the assignments with one value
  kalypso get clusters --limit 20 --after store-042  the next page")]
pub(crate) struct Get {
    /// What to list (see below), then the names, if not all: `clusters store-042`, or `cluster/store-042`
    #[arg(value_name = "KIND", required = true, num_args = 1..)]
    pub(crate) objects: Vec<String>,
    /// The environment [default: all]
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: Option<String>,
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    #[command(flatten)]
    pub(crate) filter: ListFilter,
    #[command(flatten)]
    pub(crate) values: ValueFilter,
    /// How many are listed at most, of each environment [default: 100 for reading, all for programs]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Start after this name: the next page
    #[arg(long, value_name = "NAME")]
    pub(crate) after: Option<String>,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: ListFormat,
}

/// Which objects are listed. All conditions must match.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct ListFilter {
    /// Only objects with these labels, in the syntax of `kubectl -l`. An assignment has the labels of its target and of its place
    #[arg(short = 'l', long, value_name = "LABELS")]
    pub(crate) selector: Option<String>,
    /// Only objects on this cluster type (and its clusters), or on this cluster
    #[arg(long = "on", value_name = "PLACE")]
    pub(crate) cluster_type: Option<String>,
    /// Only objects of this workload, or of this deployment target
    #[arg(long = "of", value_name = "WORKLOAD")]
    pub(crate) of: Option<String>,
    /// Only what this scheduling policy assigns
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Option<String>,
}

impl From<ListFilter> for FilterOptions {
    fn from(ListFilter { selector, cluster_type, of, policy }: ListFilter) -> Self {
        Self { selector, cluster_type, of, policy }
    }
}

/// Which values are listed.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct ValueFilter {
    /// With `values`: the key, such as `LOG_LEVEL` or `database.pool.max`
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// With `values --key`: only this value
    #[arg(long, value_name = "VALUE", requires = "key")]
    pub(crate) value: Option<String>,
}

/// Describe an object: its fields, the assignments that it affects, the objects that affect it, and its problems
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso describe cluster-type/edge -e prod    one environment
  kalypso describe workload checkout            in all environments
  kalypso describe checkout                     the same, if only one kind has this name
  kalypso describe config/west-us -o json       for programs")]
pub(crate) struct Describe {
    /// `KIND/NAME`, `KIND NAME`, or a name that only one kind has
    #[arg(value_name = "OBJECT", required = true, num_args = 1..)]
    pub(crate) objects: Vec<String>,
    /// The environment [default: all in which it is]
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: Option<String>,
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}
