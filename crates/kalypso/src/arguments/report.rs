//! The command line of `report`.

use std::path::PathBuf;

use clap::Args;

use super::HubConnection;

/// Report the applied state to the hub, or sign reports and store them in a file for it
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso report --reconciler checkout --status success --commit 41c77fe0a2b3c4d5e6f708192a3b4c5d6e7f8091
  kalypso report --host kiosk-7 --reconciler checkout --type pull-script --status failed --message 'disk full' \\
    --repository https://git.example/acme/gitops --branch prod --path west-kiosk/checkout --heartbeat 1h
  kalypso report --file reports.ndjson            many at once, as they are
  kalypso report --reconciler checkout --status success --version 2.4.0 --out /media/usb/reports.signed")]
pub(crate) struct Report {
    /// The reconciler, unique on its host
    #[arg(long, value_name = "NAME", required_unless_present = "file", conflicts_with = "file")]
    pub(crate) reconciler: Option<String>,
    /// The status: `success`, `failure` or `in_progress`, or a word that CI systems have for these
    #[arg(long, value_name = "STATUS", required_unless_present = "file", conflicts_with = "file")]
    pub(crate) status: Option<String>,
    /// The host [default: the one of the token]
    #[arg(long, value_name = "HOST", conflicts_with = "file")]
    pub(crate) host: Option<String>,
    /// The type of the reconciler [default: generic]
    #[arg(long = "type", value_name = "TYPE", conflicts_with = "file")]
    pub(crate) kind: Option<String>,
    /// The repository that the reconciler applies [default: the place in the hub]
    #[arg(long, value_name = "URL", requires = "branch", conflicts_with = "file")]
    pub(crate) repository: Option<String>,
    /// The branch that the reconciler applies
    #[arg(long, value_name = "BRANCH", requires = "repository")]
    pub(crate) branch: Option<String>,
    /// The folder that the reconciler applies [default: the root]
    #[arg(long, value_name = "PATH", requires = "repository")]
    pub(crate) path: Option<String>,
    /// The applied commit; or a tag, a version, or a revision in Flux's format
    #[arg(long, alias = "revision", value_name = "COMMIT", conflicts_with = "file")]
    pub(crate) commit: Option<String>,
    /// The git tree of the applied folder
    #[arg(long, value_name = "ID", conflicts_with = "file")]
    pub(crate) tree: Option<String>,
    /// The version of the workload
    #[arg(long, value_name = "VERSION", conflicts_with = "file")]
    pub(crate) version: Option<String>,
    /// The workload of the report, if no folder is given: its name, or the name of a deployment target
    #[arg(long, value_name = "NAME", conflicts_with = "file")]
    pub(crate) workload: Option<String>,
    /// The environment of that workload, if the host does not show it
    #[arg(long, value_name = "NAME", requires = "workload")]
    pub(crate) environment: Option<String>,
    /// A message about the status
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    pub(crate) message: Option<String>,
    /// The time of the status: a timestamp, or a time ago such as 5m [default: now]
    #[arg(long, value_name = "TIME", conflicts_with = "file")]
    pub(crate) observed_at: Option<String>,
    /// The next report comes within this time, such as 5m or 1h; otherwise the reconciler is shown as silent
    #[arg(long, value_name = "TIME", conflicts_with = "file")]
    pub(crate) heartbeat: Option<String>,
    /// A label of the host; may be given several times; the labels replace all present labels
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "file")]
    pub(crate) label: Vec<String>,
    /// Reports as JSON: one on each line, a list, or a single one; `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Sign the reports with the token's key and add them to this file, for `kalypso hub import`, in place of sending them
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// How long to retry if the hub is busy or unreachable
    #[arg(long, value_name = "TIME", default_value = "1m")]
    pub(crate) retry_for: String,
    #[command(flatten)]
    pub(crate) connection: HubConnection,
}
