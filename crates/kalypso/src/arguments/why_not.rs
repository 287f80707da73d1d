//! The arguments of `kalypso why-not`.

use clap::Args;

use super::{Format, SourceOptions};

/// Explain why an assignment does not exist, or why a `ConfigMap` or a schema does not apply to it
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso why-not -e prod chicago-edge/checkout-eu                     which policies almost match, and the smallest change
  kalypso why-not -e prod checkout-eu chicago-edge                     the same
  kalypso why-not -e prod checkout-eu                                  a target that no policy assigns
  kalypso why-not -e prod chicago-edge                                 a cluster type or cluster without assignments
  kalypso why-not chicago-edge/checkout-eu                             in all environments
  kalypso why-not -e prod chicago-edge/checkout-us configmap/west-us   a ConfigMap that does not apply; or schema/NAME
  kalypso why-not -e prod chicago-edge/checkout-us configmap/common DATABASE_URL    one value that another ConfigMap sets

The exit status is 0 if the assignment exists and can be rendered, or if the object applies; else 1.")]
pub(crate) struct WhyNot {
    /// The environment [default: all]
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: Option<String>,
    /// `CLUSTER_TYPE/TARGET`, or one or both names; then `configmap/NAME` or `schema/NAME`; then a key of the `ConfigMap`
    #[arg(value_name = "NAME", required = true, num_args = 1..=4)]
    pub(crate) subject: Vec<String>,
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}
