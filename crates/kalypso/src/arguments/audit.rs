//! The command line of audits.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Export the decisions, with their authors, and the publications
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso audit export -e prod --from 2026-11-01 --to 2026-12-01 > prod-november.csv")]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) command: AuditCommand,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Write the audit of an environment
    Export(ExportAudit),
}

/// The options of `audit export`.
#[derive(Args, Debug)]
#[command(after_help = "\
It is read from git alone: the decisions of people and of Kalypso, the commits of the environment's branch with its release pins, and those of its GitOps
branches. Each row names the commit that holds it. The oldest row comes first.

Examples:
  kalypso audit export -e prod --from 2026-11-01 --to 2026-12-01 > prod-november.csv
  kalypso audit export -e prod --from 30d -o json            the last 30 days")]
pub(crate) struct ExportAudit {
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// The beginning: a date, a timestamp, or a time ago (30d)
    #[arg(long, value_name = "TIME")]
    pub(crate) from: String,
    /// The end, which is not in the audit [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<String>,
    /// The format of the file
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: AuditFormat,
    /// The configuration file [default: kalypso.toml here or in a directory above]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// The format of an audit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditFormat {
    /// Comma-separated values as in RFC 4180, with a header
    #[default]
    Csv,
    /// JSON
    Json,
}
