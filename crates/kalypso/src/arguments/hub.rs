//! The command line of the hub.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::Format;

/// Run the hub: it stores the desired and the reported state, and answers over HTTP
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  kalypso hub                                                  on 127.0.0.1:8080, with kalypso.db in this folder
  kalypso hub --listen 0.0.0.0:8443 --tls-certificate hub.crt --tls-key hub.key
  KALYPSO_DATABASE_URL=postgres://hub:secret@db/hub kalypso hub run
  kalypso hub token create chicago --hosts 'chicago-*'         a token for the hosts of a site"
)]
pub(crate) struct Hub {
    #[command(subcommand)]
    pub(crate) command: Option<HubCommand>,
    #[command(flatten)]
    pub(crate) run: HubRun,
}

/// The commands of the hub.
#[derive(Debug, Subcommand)]
pub(crate) enum HubCommand {
    Run(HubRun),
    Token(HubToken),
    Host(HubHost),
    Rule(HubRule),
    Audit(HubAudit),
    Backup(HubBackup),
    Restore(HubRestore),
    Import(HubImport),
    Export(HubExport),
    GrantRead(HubGrantRead),
}

/// Where the hub's database is.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct HubDatabase {
    /// The database: `sqlite:FILE`, or `postgres://USER@HOST/DATABASE` without a password [default: `hub.database` of kalypso.toml, else sqlite:kalypso.db]
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,
    /// The configuration file [default: kalypso.toml here or in a directory above, if there is one]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Run the hub, as `kalypso hub` alone does
#[derive(Args, Debug, Clone)]
#[command(after_help = "\
Examples:
  kalypso hub run --listen 127.0.0.1:9090 --database sqlite:/var/lib/kalypso/hub.db
  kalypso hub run --log-format json --log debug")]
pub(crate) struct HubRun {
    /// The address and port to listen on [default: `hub.listen` of kalypso.toml, else 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    #[command(flatten)]
    pub(crate) database: HubDatabase,
    /// Speak TLS with this certificate chain, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// The private key of the certificate, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_key: Option<PathBuf>,
    /// The least important level that is logged to standard error
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t)]
    pub(crate) log: LogLevel,
    /// The format of the log
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) log_format: LogFormat,
}

/// Run the service: it keeps the GitOps branches of all environments up to date, and contains the hub
#[derive(Args, Debug, Clone)]
#[command(after_help = "\
Examples:
  kalypso serve                                       with kalypso.toml here or in a directory above
  kalypso serve --config /etc/kalypso/kalypso.toml --log-format json
  curl -X POST http://127.0.0.1:8080/api/v1/sync      sync all environments now
  curl http://127.0.0.1:8080/api/v1/syncs             what the service did last")]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) run: HubRun,
}

/// Confirm the removals of an environment, so that the service publishes them
#[derive(Args, Debug, Clone)]
#[command(after_help = "\
Examples:
  kalypso confirm prod 1f2e3d4c     exactly the removals that the pull request or the plan shows with this word")]
pub(crate) struct Confirm {
    /// The environment
    #[arg(value_name = "ENV")]
    pub(crate) environment: String,
    /// The word of the removals
    #[arg(value_name = "WORD")]
    pub(crate) word: String,
    #[command(flatten)]
    pub(crate) connection: super::HubConnection,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Errors and warnings
    Warn,
    /// Also the main events
    #[default]
    Info,
    /// Also every request
    Debug,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Text for people
    #[default]
    Human,
    /// A JSON object on each line
    Json,
}

/// Create, list, revoke and rotate the tokens of the hub's clients
#[derive(Args, Debug)]
pub(crate) struct HubToken {
    #[command(subcommand)]
    pub(crate) command: HubTokenCommand,
}

/// What to do with tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum HubTokenCommand {
    Create(HubTokenCreate),
    List(HubTokenList),
    Revoke(HubTokenRevoke),
    Rotate(HubTokenRotate),
}

/// Create a token and print it; the hub stores only its digest
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso hub token create berlin-1 --host berlin-1                    one host reports, for the `Cluster` berlin-1
  kalypso hub token create berlin-1 --host berlin-1 --place https://git.example/acme/gitops/prod/berlin
  kalypso hub token create chicago --hosts 'chicago-*' --label site=chicago    the hosts of a site report
  kalypso hub token create flux --hosts '*' --reconciler-type flux --signing   for Flux' provider generic-hmac
  kalypso hub token create grafana --role reader --expires 365d        read-only queries
  kalypso hub token create on-call --role operator --environment prod  a person moves changes into prod, and stops them
  kalypso hub token create web-team --role reader --workspace web-team --environment dev --environment stage
  kalypso hub token create ci --role publish                           `kalypso publish` sends the desired state")]
pub(crate) struct HubTokenCreate {
    /// Its name, unique among the tokens that are not revoked
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Report for this host
    #[arg(long, value_name = "HOST", conflicts_with_all = ["hosts", "role"], required_unless_present_any = ["hosts", "role"])]
    pub(crate) host: Option<String>,
    /// Report for all hosts whose name this pattern matches; `*` stands for any characters
    #[arg(long, value_name = "PATTERN", conflicts_with = "role")]
    pub(crate) hosts: Option<String>,
    /// The role: query (`reader`), approve changes (`approver`), move them (`operator`), publish the desired state (`publish`), manage tokens and hosts (`manage`), or
    /// everything (`admin`)
    #[arg(long, value_enum, value_name = "ROLE")]
    pub(crate) role: Option<TokenRole>,
    /// With --hosts: only reconcilers of this type may report; may be given several times
    #[arg(long, value_name = "TYPE", requires = "hosts")]
    pub(crate) reconciler_type: Vec<String>,
    /// With --host or --hosts: the places that are reported, by the beginning of their `repository/branch/path`; may be given several times [default: those of the `Cluster` with the host's name]
    #[arg(long, value_name = "PREFIX", conflicts_with = "role")]
    pub(crate) place: Vec<String>,
    /// With --hosts: a label that the hosts get; may be given several times
    #[arg(long, value_name = "KEY=VALUE", requires = "hosts")]
    pub(crate) label: Vec<String>,
    /// With --role reader, approver, operator or publish: only this workspace; may be given several times
    #[arg(long, value_name = "WORKSPACE", requires = "role")]
    pub(crate) workspace: Vec<String>,
    /// With --host, --hosts, --role reader, approver, operator or publish: only this environment; may be given several times
    #[arg(long, value_name = "ENV")]
    pub(crate) environment: Vec<String>,
    /// Also accept reports that are signed with its signing key, and print that key
    #[arg(long)]
    pub(crate) signing: bool,
    /// When it expires: a time from now such as 90d or 12h, or a date [default: never]
    #[arg(long, value_name = "TIME")]
    pub(crate) expires: Option<String>,
    #[command(flatten)]
    pub(crate) database: HubDatabase,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// The role of a token that does not report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TokenRole {
    /// Query
    #[value(name = "reader", alias = "read")]
    Read,
    /// Query, and approve changes where the account counts
    Approver,
    /// Query, approve, promote, hold, resume, retry, abort, roll back and sync
    Operator,
    /// Publish the desired state
    Publish,
    /// Manage tokens and hosts over the API, and read the audit log
    Manage,
    /// Everything
    Admin,
}

/// List all tokens, without their secrets
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso hub token list
  kalypso hub token list -o json")]
pub(crate) struct HubTokenList {
    #[command(flatten)]
    pub(crate) database: HubDatabase,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// Revoke a token: after at most five seconds, no replica accepts it
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso hub token revoke chicago")]
pub(crate) struct HubTokenRevoke {
    /// Its name or id
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) database: HubDatabase,
}

/// Give a token a new secret, and print it; the old one stays valid for some time
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso hub token rotate chicago                 both secrets are valid for a day
  kalypso hub token rotate chicago --grace 0s      the old one stops working at once")]
pub(crate) struct HubTokenRotate {
    /// Its name or id
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// How long the old secret stays valid, such as 7d, 12h or 0s
    #[arg(long, value_name = "TIME", default_value = "1d")]
    pub(crate) grace: String,
    #[command(flatten)]
    pub(crate) database: HubDatabase,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// Register, list, retire and restore hosts
#[derive(Args, Debug)]
pub(crate) struct HubHost {
    #[command(subcommand)]
    pub(crate) command: HubHostCommand,
}

/// What to do with hosts.
#[derive(Debug, Subcommand)]
pub(crate) enum HubHostCommand {
    Add(HubHostAdd),
    List(HubHostList),
    Apart(HubHostApart),
    Retire(HubHostRetire),
    Restore(HubHostRestore),
}

/// Register a host before it reports, or change its labels
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso hub host add berlin-1 --label site=berlin --label ring=1
  kalypso hub host add berlin-1 --reconciler checkout --reconciler-type flux \\
    --repository https://git.example/acme/platform-gitops --branch prod --path berlin/checkout")]
pub(crate) struct HubHostAdd {
    /// The host
    #[arg(value_name = "HOST")]
    pub(crate) host: String,
    /// The type of the host [default: K8s-cluster]
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// A label, which replaces all present labels; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) label: Vec<String>,
    /// A reconciler on the host that will report
    #[arg(long, value_name = "NAME")]
    pub(crate) reconciler: Option<String>,
    /// The type of the reconciler
    #[arg(long, value_name = "TYPE", default_value = "generic", requires = "reconciler")]
    pub(crate) reconciler_type: String,
    /// The repository that the reconciler applies: its reports are expected from now on
    #[arg(long, value_name = "URL", requires_all = ["reconciler", "branch"])]
    pub(crate) repository: Option<String>,
    /// The branch that it applies
    #[arg(long, value_name = "BRANCH", requires = "repository")]
    pub(crate) branch: Option<String>,
    /// The folder that it applies
    #[arg(long, value_name = "PATH", default_value = "", hide_default_value = true, requires = "repository")]
    pub(crate) path: String,
    #[command(flatten)]
    pub(crate) database: HubDatabase,
}

/// List hosts, with their reconcilers
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso hub host list
  kalypso hub host list --after chicago-0999 --limit 1000 -o json")]
pub(crate) struct HubHostList {
    /// Begin after the host with this name
    #[arg(long, value_name = "HOST")]
    pub(crate) after: Option<String>,
    /// The maximum number of hosts
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
    /// Also list retired hosts
    #[arg(long)]
    pub(crate) retired: bool,
    #[command(flatten)]
    pub(crate) database: HubDatabase,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// List reports that are kept apart: tokens of hosts sent them about places that the hosts are not registered for
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso hub host apart
  kalypso hub host apart --limit 1000 -o json")]
pub(crate) struct HubHostApart {
    /// The maximum number of entries, newest first
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) database: HubDatabase,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// Take a host, or one of its reconcilers, out of service: it leaves all totals, but not the history
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso hub host retire berlin-1
  kalypso hub host retire berlin-1 --reconciler checkout")]
pub(crate) struct HubHostRetire {
    /// The host
    #[arg(value_name = "HOST")]
    pub(crate) host: String,
    /// Only this reconciler of it
    #[arg(long, value_name = "NAME")]
    pub(crate) reconciler: Option<String>,
    #[command(flatten)]
    pub(crate) database: HubDatabase,
}

/// Bring a host, or one of its reconcilers, back into service
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso hub host restore berlin-1")]
pub(crate) struct HubHostRestore {
    /// The host
    #[arg(value_name = "HOST")]
    pub(crate) host: String,
    /// Only this reconciler of it
    #[arg(long, value_name = "NAME")]
    pub(crate) reconciler: Option<String>,
    #[command(flatten)]
    pub(crate) database: HubDatabase,
}

/// Write the whole database into a file that `hub restore` reads; the hub may run meanwhile
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso hub backup hub-2026-11-21.ndjson
  kalypso hub backup - | zstd > hub.ndjson.zst     through another program")]
pub(crate) struct HubBackup {
    /// The file, which only its owner may read; `-` for standard output
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) database: HubDatabase,
}

/// Restore a backup into an empty database of either kind, completely or not at all
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso hub restore hub-2026-11-21.ndjson --database sqlite:new.db
  KALYPSO_DATABASE_URL=postgres://hub:secret@db/hub kalypso hub restore hub-2026-11-21.ndjson    to another kind of database")]
pub(crate) struct HubRestore {
    /// The file; `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) database: HubDatabase,
}

/// Write a table to standard output, for other programs
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso hub export deployment --since 2026-11-01 --until 2026-12-01 > november.csv
  kalypso hub export host --format ndjson | jq -r .name")]
pub(crate) struct HubExport {
    /// The table; the error for an unknown name lists the valid names
    #[arg(value_name = "TABLE")]
    pub(crate) table: String,
    /// The format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: TableFormat,
    /// Only rows that were created, desired or reported since this time: a date, a timestamp, or a time ago such as 30d
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only rows from before this time
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) database: HubDatabase,
}

/// The format of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// With a header line; a text that a spreadsheet would take for a formula gets a ' before it
    #[default]
    Csv,
    /// A JSON object on each line
    Ndjson,
}

/// Let a role of PostgreSQL read the tables that can be exported, and nothing else
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso hub grant-read grafana
  kalypso hub grant-read grafana_microsoft --microsoft")]
pub(crate) struct HubGrantRead {
    /// The role, which must exist
    #[arg(value_name = "ROLE")]
    pub(crate) role: String,
    /// The tables of Microsoft's hub instead, as views in the schema `microsoft`: dashboards for Microsoft's hub show the same numbers
    #[arg(long)]
    pub(crate) microsoft: bool,
    #[command(flatten)]
    pub(crate) database: HubDatabase,
}

/// Import the reports of files that `kalypso report --out` signed; a second import changes nothing
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso hub import /media/usb/reports.signed
  kalypso hub import /media/usb/*.signed -o json")]
pub(crate) struct HubImport {
    /// The files, imported in this order; a file that was changed after signing is rejected as a whole
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) database: HubDatabase,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// Show the audit log: publications and changes of tokens and hosts, with their actors, the newest first
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso hub audit
  kalypso hub audit --action publish --since 7d
  kalypso hub audit --subject chicago -o json")]
pub(crate) struct HubAudit {
    /// Only by this actor: the name of a token, or of a signed-in user
    #[arg(long, value_name = "NAME")]
    pub(crate) actor: Option<String>,
    /// Only this action, such as `publish`, `token.create` or `host.retire`
    #[arg(long, value_name = "ACTION")]
    pub(crate) action: Option<String>,
    /// Only to this subject: a token, a host, or a repository and its branch
    #[arg(long, value_name = "SUBJECT")]
    pub(crate) subject: Option<String>,
    /// Only from this time on: a timestamp, a date, or a time ago such as 7d
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only before this time
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// The maximum number of entries
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) database: HubDatabase,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// List the rules of kalypso.toml, and send test notifications
#[derive(Args, Debug)]
pub(crate) struct HubRule {
    #[command(subcommand)]
    pub(crate) command: HubRuleCommand,
}

/// What to do with rules.
#[derive(Debug, Subcommand)]
pub(crate) enum HubRuleCommand {
    List(HubRuleList),
    Test(HubRuleTest),
}

/// List the rules, with the state and the last notification of each
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso hub rule list
  kalypso hub rule list -o json")]
pub(crate) struct HubRuleList {
    #[command(flatten)]
    pub(crate) database: HubDatabase,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// Send one test notification, in the format of the rule and to its URL
#[derive(Args, Debug)]
#[command(after_help = "\
Exit status: 0 accepted · 69 not accepted

Examples:
  kalypso hub rule test stage-failing")]
pub(crate) struct HubRuleTest {
    /// The rule
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) database: HubDatabase,
}
