//! The command line of promotions.

use clap::Args;

use super::HubConnection;

/// What a decision is about.
#[derive(Args, Debug, Clone)]
pub(crate) struct PromotionSubject {
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// The workload, or `values`, `values/NAME`, `application/NAME` or `kalypso/renderer` [default: the commits of the main branch; of `hold` and `resume`, the
    /// whole environment; of `approve`, what waits for approvals]
    #[arg(value_name = "WORKLOAD")]
    pub(crate) subject: Option<String>,
    #[command(flatten)]
    pub(crate) connection: HubConnection,
}

/// A decision that may have a reason.
#[derive(Args, Debug)]
pub(crate) struct Decision {
    #[command(flatten)]
    pub(crate) of: PromotionSubject,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

/// A decision that needs a reason.
#[derive(Args, Debug)]
pub(crate) struct ReasonedDecision {
    #[command(flatten)]
    pub(crate) of: PromotionSubject,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
}

/// Stop all moves into an environment, until `resume`
#[derive(Args, Debug)]
#[command(after_help = "\
What was released before stays as it is.

Examples:
  kalypso hold -e prod --reason 'inventory days'              nothing moves into prod, or between its rings
  kalypso hold -e prod checkout --reason 'waits for team A'   no release of a workload, and no change of it in the rings
  kalypso hold -e prod values --reason 'numbers are checked'  the output stays at the present values of prod")]
pub(crate) struct Hold {
    #[command(flatten)]
    pub(crate) decision: ReasonedDecision,
}

/// End a hold
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso resume -e prod
  kalypso resume -e prod checkout")]
pub(crate) struct Resume {
    #[command(flatten)]
    pub(crate) decision: Decision,
}

/// End the move of a change: places keep what they have now
#[derive(Args, Debug)]
#[command(after_help = "\
The change does not start again by itself; `retry` or a newer change moves on.

Examples:
  kalypso abort -e prod --reason 'a fix follows'
  kalypso abort -e prod checkout --reason 'wrong version'")]
pub(crate) struct Abort {
    #[command(flatten)]
    pub(crate) decision: ReasonedDecision,
}

/// Move a change again that stopped, was rolled back or was aborted
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso retry -e prod
  kalypso retry -e prod checkout --reason 'the registry is up again'")]
pub(crate) struct Retry {
    #[command(flatten)]
    pub(crate) decision: Decision,
}

/// Let a change pass a gate that does not hold
#[derive(Args, Debug)]
#[command(after_help = "\
The name and the reason stay in the history. `kalypso rollout status` shows the names of gates. If a ring and the way into the environment have a gate of this name,
and both wait, the command ends with 1 until you name the revision.

Examples:
  kalypso skip -e prod --gate a-night-in-stage --reason 'security fix, agreed with the release managers'
  kalypso skip -e prod checkout --gate failures --revision 2.4.0 --reason 'known failures'
  kalypso skip -e prod values --gate night --reason 'the tax changes at midnight'
  kalypso skip -e prod application/checkout --gate owner --reason 'the owner is on holiday'")]
pub(crate) struct Skip {
    #[command(flatten)]
    pub(crate) of: PromotionSubject,
    /// The gate
    #[arg(long, value_name = "NAME")]
    pub(crate) gate: String,
    /// The revision that may pass it, or its first digits [default: the one that waits there]
    #[arg(long, value_name = "REVISION")]
    pub(crate) revision: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
}

/// Approve the change that waits for approvals
#[derive(Args, Debug)]
#[command(after_help = "\
The token identifies the person, and needs the role `approver`. `[promotion.accounts]` of kalypso.toml maps the token to the account of the git host
that counts.
An approval is for one gate of one change. If several wait, the command lists them, and ends with 1. It also ends with 1 if the approval does not count: because
its account is an author of the change or outside of the gate's team, or because the revision does not move any more. A review of the pull request counts too, without this command.

Examples:
  kalypso approve -e prod                                     the only change that waits
  kalypso approve -e prod --revision 41c77fe                  this commit of the main branch, if it still waits
  kalypso approve -e prod checkout --gate release-managers    a release of a workload, at this gate
  kalypso approve -e prod application/checkout")]
pub(crate) struct Approve {
    #[command(flatten)]
    pub(crate) of: PromotionSubject,
    /// The gate [default: the only one that waits for approvals, and at which yours counts]
    #[arg(long, value_name = "NAME")]
    pub(crate) gate: Option<String>,
    /// The revision that was reviewed, or its first digits [default: the one that moves now]
    #[arg(long, value_name = "REVISION")]
    pub(crate) revision: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

/// Return to a revision that was proved before: a new commit, never a rewritten history
#[derive(Args, Debug)]
#[command(after_help = "\
The present revision of the environment is rejected. Then nothing moves until `kalypso promote` or `kalypso retry`.

Examples:
  kalypso rollback -e prod --reason 'tills are slow'
  kalypso rollback -e prod --to 41c77fe --reason 'tills are slow'
  kalypso rollback -e prod checkout --reason 'wrong tax'
  kalypso rollback -e prod checkout --to 682f5b8 --reason 'wrong tax'
  kalypso rollback -e prod checkout --with-values --reason 'wrong tax since a new value'")]
pub(crate) struct Rollback {
    #[command(flatten)]
    pub(crate) decision: ReasonedDecision,

    /// The proved revision to return to, or its first digits; default: the one before the present revision
    #[arg(long, value_name = "REVISION")]
    pub(crate) to: Option<String>,
    /// Restore the values that were there, too; without it, values and applications stay as they are
    #[arg(long)]
    pub(crate) with_values: bool,
}

/// Move a change into an environment
#[derive(Args, Debug)]
#[command(after_help = "\
The gates before the environment still count; `skip` passes one. A change that was rolled back or aborted starts again.

Examples:
  kalypso promote 41c77fe --to stage              a commit of the main branch
  kalypso promote checkout@2.4.0 --to stage       a release of a workload
  kalypso promote checkout --to prod              the release that the environment before has
  kalypso promote 2026-11 --to prod               a named release: its commit and its workloads
  kalypso promote --all --to prod                 all that waits for prod
  kalypso promote 41c77fe --to prod --dry-run     each step with its rings and gates, and how many places it reaches")]
pub(crate) struct Promote {
    /// A commit of the main branch, a workload with or without a version, or a named release
    #[arg(value_name = "COMMIT|WORKLOAD[@VERSION]|RELEASE", required_unless_present = "all")]
    pub(crate) what: Option<String>,
    /// All that waits to move into the environment
    #[arg(long, conflicts_with = "what")]
    pub(crate) all: bool,
    /// The environment
    #[arg(long, value_name = "ENV")]
    pub(crate) to: String,
    /// Change nothing: show each step
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) connection: HubConnection,
}

/// Run one step of the promotions without the service
#[derive(Args, Debug)]
#[command(after_help = "\
For CI jobs of teams without `kalypso serve`: each call evaluates the gates once, and moves the changes whose gates allow it. The evidence comes from the hub.

Exit status: 0 nothing moves · 1 a move stopped, or can't be evaluated · 2 a move waits

Examples:
  kalypso rollout advance              all environments, in the order of promotion
  kalypso rollout advance -e prod      one of them")]
pub(crate) struct RolloutAdvance {
    /// The environment [default: all]
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: Option<String>,
    #[command(flatten)]
    pub(crate) connection: HubConnection,
}

/// Bring back the states of an environment after their branch was rewritten or deleted
#[derive(Args, Debug)]
#[command(after_help = "\
The branch `kalypso-rollouts/ENV` of the control plane records what was admitted, and holds, approvals and rollbacks. Each publication names its commit of that branch. If
the branch does not contain this commit any more, nothing is published and nothing moves.

The command writes to the repository itself, also if a service runs: you need push access to that branch. Your name and the reason stay in the history.

Examples:
  kalypso rollout restore -e prod --reason 'pushed over by mistake'                     the states that the newest publication names
  kalypso rollout restore -e prod --to 41c77fe5d0c3b2a1908f7e6d5c4b3a2918070605 --reason 'the last good states'
  kalypso rollout restore -e prod --baseline --reason 'the repository was lost'         admit the published output: earlier holds are lost")]
pub(crate) struct RolloutRestore {
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// The commit of the branch with the states to restore [default: the one that the newest publication names]
    #[arg(long, value_name = "COMMIT")]
    pub(crate) to: Option<String>,
    /// Start again from the published output, if the commit that the newest publication names is lost
    #[arg(long, conflicts_with = "to")]
    pub(crate) baseline: bool,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) connection: HubConnection,
}
