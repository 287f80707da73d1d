//! The command line of what is asked of the hub.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hub_api::history::HistoryKind;

use super::Format;

/// The hub, and the format of its answer.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct HubConnection {
    /// The hub [default: the variable `KALYPSO_HUB_URL`, else `hub.url` of kalypso.toml, else `http://127.0.0.1:8080`]
    #[arg(long, value_name = "URL")]
    pub(crate) hub: Option<String>,
    /// A file with the token for the hub [default: the variable `KALYPSO_HUB_TOKEN`]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The configuration file [default: kalypso.toml here or in a directory above, if there is one]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
    /// No token is shown: the hub of the demo knows none, whatever the variable holds.
    #[arg(skip)]
    pub(crate) is_open: bool,
}

/// The filter. All conditions must match.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct Filtering {
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: Option<String>,
    /// The workspace
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<String>,
    /// The application
    #[arg(long, value_name = "NAME")]
    pub(crate) application: Option<String>,
    /// The workload
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,
    /// The deployment target
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// The cluster type: its hosts, with all their deployments
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster_type: Option<String>,
    /// Labels of deployment targets, in the syntax of `kubectl -l`
    #[arg(long, value_name = "LABELS")]
    pub(crate) target_selector: Option<String>,
}

/// The filter of hosts.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct HostFiltering {
    /// The host
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,
    /// Labels of hosts, in the syntax of `kubectl -l`
    #[arg(short = 'l', long, value_name = "LABELS")]
    pub(crate) selector: Option<String>,
}

/// List the versions of workloads on each host, and since when they are there
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso deployments -e prod                          everything in prod
  kalypso deployments --host prod-chicago-edge-02      what one host has
  kalypso deployments -e stage --status failed,silent  where something is wrong
  kalypso deployments --workload checkout -l region=west --at 2026-11-21T08:00:00Z")]
pub(crate) struct Deployments {
    #[command(flatten)]
    pub(crate) filter: Filtering,
    #[command(flatten)]
    pub(crate) hosts: HostFiltering,
    /// The rollout state: `succeeded`, `failed`, `inProgress`, `silent`, `outdated`, `neverReported`; several with commas
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Option<String>,
    /// The state at that time: a timestamp, a date, or a time ago such as 2h
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    /// The maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = limit)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) connection: HubConnection,
}

/// Show the state of environments: the desired versions, and how many reconcilers have applied them
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso status             all environments
  kalypso status -e prod     the targets of one
  kalypso status -l region=west    of some hosts only
  kalypso status -e prod --at 2026-11-21T08:00:00Z    how it was then")]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) filter: Filtering,
    #[command(flatten)]
    pub(crate) hosts: HostFiltering,
    /// The state at that time: a timestamp, a date, or a time ago such as 2h
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    /// The maximum number of targets
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = limit)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) connection: HubConnection,
}

/// Show the progress of rollouts, or wait for one
#[derive(Args, Debug)]
pub(crate) struct Rollout {
    #[command(subcommand)]
    pub(crate) command: RolloutCommand,
}

/// The commands of rollouts.
#[derive(Debug, Subcommand)]
pub(crate) enum RolloutCommand {
    Status(RolloutStatus),
    Advance(super::RolloutAdvance),
    Restore(super::RolloutRestore),
    Wait(RolloutWait),
    List(RolloutList),
}

/// Show the progress of changes through environments and rings, or how many reconcilers have applied a workload, a version or a commit
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso rollout status                                     all environments in the order of promotion, and what each change waits for
  kalypso rollout status -e prod --watch                     one environment, again and again
  kalypso rollout status checkout                            its desired versions in all environments, and its rings
  kalypso rollout status checkout@2.4.0                      a version, wherever it is or was desired
  kalypso rollout status 41c77fe                             a commit, as a GitOps repository has it
  kalypso rollout status checkout@2.4.0 --status outdated    the reconcilers that do not have it yet
  kalypso rollout status checkout@2.4.0 --at 12h             how many had it then

If several workloads have this name, write WORKSPACE/APPLICATION/WORKLOAD")]
pub(crate) struct RolloutStatus {
    /// The workload with or without a version, the version alone if no other workload has it, or the commit [default: the promotions of all environments]
    #[arg(value_name = "WORKLOAD[@VERSION]|COMMIT")]
    pub(crate) of: Option<String>,
    /// Show it again whenever it changes, until it is interrupted
    #[arg(long, conflicts_with = "of")]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) filter: Filtering,
    #[command(flatten)]
    pub(crate) hosts: HostFiltering,
    /// List the reconcilers in these states: `succeeded`, `failed`, `inProgress`, `silent`, `outdated`, `neverReported`; several with commas
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Option<String>,
    /// The state at that time: a timestamp, a date, or a time ago such as 2h
    #[arg(long, value_name = "TIME", requires = "of", conflicts_with_all = ["status", "host", "selector"])]
    pub(crate) at: Option<String>,
    /// The maximum number of hosts in the list
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = limit)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) connection: HubConnection,
}

/// Wait until a rollout is done
#[derive(Args, Debug)]
#[command(after_help = "\
Exit status: 0 done · 1 a reconciler failed · 3 not done in time · 4 superseded: another version is now desired

If the commit or version is not yet in the hub, the command waits for it. If it never appears, the status is 3.
A commit of the control plane's main branch is done when the environment has proved it, without -e all environments.

Examples:
  kalypso rollout wait 41c77fe -e stage --timeout 30m
  kalypso rollout wait checkout@2.4.0 -e stage --failures 2
  kalypso rollout wait $GITHUB_SHA -e prod --timeout 6h       a commit of the main branch, through its gates and rings")]
pub(crate) struct RolloutWait {
    /// The workload with or without a version, the version alone if no other workload has it, or the commit
    #[arg(value_name = "WORKLOAD[@VERSION]|COMMIT")]
    pub(crate) of: String,
    #[command(flatten)]
    pub(crate) filter: Filtering,
    /// How long to wait, such as 30m or 2h
    #[arg(long, value_name = "TIME", default_value = "30m")]
    pub(crate) timeout: String,
    /// How many reconcilers may fail
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) failures: i64,
    #[command(flatten)]
    pub(crate) connection: HubConnection,
}

/// List the commits that changed the desired state, the newest first
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso rollout list -e prod
  kalypso rollout list -e prod --at 12h    how far they were then")]
pub(crate) struct RolloutList {
    #[command(flatten)]
    pub(crate) filter: Filtering,
    /// The rollouts and their progress at that time: a timestamp, a date, or a time ago such as 2h
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    /// The maximum number of rollouts
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = limit)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) connection: HubConnection,
}

/// Compare two environments: versions and values, target by target
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso compare stage prod                  versions, and in a folder with kalypso.toml the values that differ
  kalypso compare stage prod --differing --map checkout/uat=production")]
pub(crate) struct Compare {
    /// The first environment
    #[arg(value_name = "ENV")]
    pub(crate) from: String,
    /// The second environment
    #[arg(value_name = "ENV")]
    pub(crate) to: String,
    /// Pairs of targets to compare although their names differ; several with commas
    #[arg(long, value_name = "[WORKLOAD/]NAME=NAME")]
    pub(crate) map: Option<String>,
    /// Only targets with differences
    #[arg(long)]
    pub(crate) differing: bool,
    /// The workload
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,
    /// The maximum number of targets
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = limit)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) connection: HubConnection,
}

/// Show the history: changes of the desired state, reports of hosts, and decisions about promotions
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso history --host prod-chicago-edge-02
  kalypso history -e prod --workload checkout --limit 20
  kalypso history -e prod --since 22:00 --until 06:00     what happened last night
  kalypso history -e prod --kind decision --since 12h     what people decided in the last 12 hours
  kalypso history --by olga --since 2026-11-01            all decisions of a person")]
pub(crate) struct History {
    #[command(flatten)]
    pub(crate) filter: Filtering,
    #[command(flatten)]
    pub(crate) hosts: HostFiltering,
    /// Only decisions of this person
    #[arg(long, value_name = "PERSON")]
    pub(crate) by: Option<String>,
    /// Only events since this time: a date, a timestamp, a local time (22:00 is the last one), or a time ago (12h)
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only events before this time
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Only events of this kind [default: all, without the reasons why promotions wait]
    #[arg(long, value_name = "KIND", value_parser = HistoryKind::ALL.map(HistoryKind::as_str))]
    pub(crate) kind: Option<String>,
    /// The maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = limit)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) connection: HubConnection,
}

/// Show differences between the reported and the desired state, since when, and silent reconcilers
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso drift                     desired content that some places do not have yet, the oldest first
  kalypso drift silent -e prod      the silent reconcilers; also unknownContent, removedPlace, unknownPlace")]
pub(crate) struct Drift {
    /// List silent reconcilers, or reports without a match
    #[arg(value_name = "KIND", value_parser = ["silent", "unknownContent", "removedPlace", "unknownPlace"])]
    pub(crate) kind: Option<String>,
    #[command(flatten)]
    pub(crate) filter: Filtering,
    #[command(flatten)]
    pub(crate) hosts: HostFiltering,
    /// The drift at that time: a timestamp, a date, or a time ago such as 2h
    #[arg(long, value_name = "TIME", conflicts_with = "kind")]
    pub(crate) at: Option<String>,
    /// The maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = limit)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) connection: HubConnection,
}

/// Follow changes: of the desired state, of reports, and reconcilers that become silent
#[derive(Args, Debug)]
#[command(after_help = "\
It ends when it is interrupted, or after --limit. After a lost connection, it continues where the connection broke.

Examples:
  kalypso events                                everything, from now on
  kalypso events -e prod --status failed        what fails in prod
  kalypso events --workload checkout -o json    an object on each line, for programs")]
pub(crate) struct Events {
    #[command(flatten)]
    pub(crate) filter: Filtering,
    #[command(flatten)]
    pub(crate) hosts: HostFiltering,
    /// The state: `succeeded`, `failed`, `inProgress`, `silent`; several with commas
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Option<String>,
    /// Continue after the event with this `id`, instead of now
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<String>,
    /// End after this number of events
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    #[command(flatten)]
    pub(crate) connection: HubConnection,
}

/// The maximum number of rows: at least one.
fn limit(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(limit @ 1..) => Ok(limit),
        _ => Err("it is a number of rows, from 1 on".to_owned()),
    }
}
