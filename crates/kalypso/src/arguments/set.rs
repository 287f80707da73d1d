//! Arguments of `set`.

use clap::{Args, Subcommand};

use super::{ApplicationOptions, EditOptions};

/// Change an object of the control plane or of an application, and show what it would change
#[derive(Args, Debug)]
#[command(after_help = "\
Files are edited in the working tree of the branch: all other bytes stay. What would be an error of `kalypso check` is refused, and
nothing is written. Values are changed with `kalypso add config`.")]
pub(crate) struct Set {
    #[command(subcommand)]
    pub(crate) kind: SetKind,
}

/// The kinds that can be changed.
#[derive(Debug, Subcommand)]
pub(crate) enum SetKind {
    ClusterType(SetClusterType),
    Cluster(SetCluster),
    Policy(SetPolicy),
    Target(SetTarget),
}

/// Change labels and templates of cluster types
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso set cluster-type large -e dev -l size=large,tier-           set a label, and remove one
  kalypso set cluster-type large small -e dev --reconciler argocd
  kalypso set cluster-type large -e dev -l region=west-us --propose   as a pull request")]
pub(crate) struct SetClusterType {
    /// The names
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// Labels to set, several with commas; `KEY-` removes a label
    #[arg(short = 'l', long = "labels", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<String>,
    /// The template of the reconciler's manifests
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) reconciler: Option<String>,
    /// The template of the namespace
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) namespace: Option<String>,
    /// The template of the configuration
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) config_type: Option<String>,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Change labels and the cluster type of clusters
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso set cluster store-017 -e prod -l region=west-us,pilot-      set a label, and remove one
  kalypso set cluster 'store-[001-075]' -e prod -l wave=2             75 clusters
  kalypso set cluster store-017 -e prod --cluster-type store-large --dry-run")]
pub(crate) struct SetCluster {
    /// The names; `[001-075]` stands for these numbers
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// Labels to set, several with commas; `KEY-` removes a label
    #[arg(short = 'l', long = "labels", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<String>,
    /// The cluster type, whose labels and templates the clusters inherit
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster_type: Option<String>,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Change what a policy selects
#[derive(Args, Debug)]
#[command(after_help = "\
A selector replaces the earlier one. Selectors are those of `kubectl -l`: a=b, a!=b, 'a in (b,c)', 'a notin (b,c)', a, '!a'

Examples:
  kalypso set policy checkout-edge -e prod --on 'region in (west-us,central-us)' --dry-run
  kalypso set policy checkout-edge -e prod --targets role=api --workspace store-team")]
pub(crate) struct SetPolicy {
    /// The name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// Only deployment targets of this workspace; '' of all
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<String>,
    /// The labels of the deployment targets; '' selects all
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) targets: Option<String>,
    /// The labels of the cluster types and clusters; '' selects all
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) on: Option<String>,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Change labels and manifests of a deployment target, such as its release, in the application's repository
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso set target checkout api -e dev -m tag=2.4.0                 a release, in the checkout of the current directory
  kalypso set target checkout api -e dev -m tag=2.4.0 -m branch-      set a key, and remove one
  kalypso set target checkout api -e prod -l role=api --checkout ../checkout --commit
  kalypso set target checkout api -e dev -m tag=2.4.0 --propose       as a pull request of the application, without a checkout")]
pub(crate) struct SetTarget {
    /// The workload
    #[arg(value_name = "WORKLOAD")]
    pub(crate) workload: String,
    /// The name of the target, without that of the workload
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// Labels to set, several with commas; `KEY-` removes a label
    #[arg(short = 'l', long = "labels", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<String>,
    /// A key of its manifests to set, such as `tag`; `KEY-` removes a key
    #[arg(short = 'm', long = "manifests", value_name = "KEY=VALUE")]
    pub(crate) manifests: Vec<String>,
    #[command(flatten)]
    pub(crate) application: ApplicationOptions,
}
