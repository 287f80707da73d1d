//! The command line of release pins.

use clap::Args;

use super::EditOptions;

/// Hold a workload at another release, in an environment or at some of its places
#[derive(Args, Debug)]
#[command(after_help = "\
VERSION is the value of the key of `manifests` that names the release: `tag`, `version`, `commit` and others, as the workload's targets have it.
--key names another one. Run again with another VERSION, it changes the pin.

Examples:
  kalypso pin checkout@2.3.1 -e prod --reason 'Tills can not read the new receipts.'
  kalypso pin checkout@2.3.1 -e prod --on region=central-us --expires 2027-01-31 --reason 'Firmware 8.' --propose
  kalypso pin checkout@release-2.3 -e prod --key branch --dry-run")]
pub(crate) struct Pin {
    /// The workload and the release
    #[arg(value_name = "WORKLOAD@VERSION")]
    pub(crate) release: String,
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// The labels of the cluster types and clusters [default: all]
    #[arg(long, value_name = "SELECTOR", default_value = "", hide_default_value = true)]
    pub(crate) on: String,
    /// More labels of the deployment targets [default: all targets of the workload]
    #[arg(long, value_name = "SELECTOR", default_value = "", hide_default_value = true)]
    pub(crate) targets: String,
    /// The key of `manifests` that names the release [default: the one that the workload's targets have]
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// The name of the pin [default: the workload, and the values of --on]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Why, for the readers of the pin
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// The day from which `kalypso check` warns about the pin
    #[arg(long, value_name = "DATE")]
    pub(crate) expires: Option<String>,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}

/// Remove release pins, so that their workload follows its own release again
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso unpin checkout -e prod                      the pin of this name, or the only pin of this workload
  kalypso unpin checkout-central-us -e prod --dry-run
  kalypso unpin checkout -e prod --all                all pins of this workload")]
pub(crate) struct Unpin {
    /// The name of a pin, or a workload
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// All pins of the workload
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) edit: EditOptions,
}
