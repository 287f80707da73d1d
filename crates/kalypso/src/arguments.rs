//! The command line.

mod add;
mod application;
mod audit;
mod bootstrap;
mod codeowners;
mod config;
mod contract;
mod get;
mod hub;
mod images;
mod init;
mod pin;
mod platform_edit;
mod promotion;
mod questions;
mod releases;
mod report;
mod set;
mod simulate;
mod states;
mod tasks;
mod why_not;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use engine::output::Adoption;

pub(crate) use self::add::*;
pub(crate) use self::application::*;
pub(crate) use self::audit::*;
pub(crate) use self::bootstrap::*;
pub(crate) use self::codeowners::*;
pub(crate) use self::config::*;
pub(crate) use self::contract::*;
pub(crate) use self::get::*;
pub(crate) use self::hub::*;
pub(crate) use self::images::*;
pub(crate) use self::init::*;
pub(crate) use self::pin::*;
pub(crate) use self::platform_edit::*;
pub(crate) use self::promotion::*;
pub(crate) use self::questions::*;
pub(crate) use self::releases::*;
pub(crate) use self::report::*;
pub(crate) use self::set::*;
pub(crate) use self::simulate::*;
pub(crate) use self::states::*;
pub(crate) use self::tasks::{TASKS, Task};
pub(crate) use self::why_not::*;

/// The maximum width of help, in columns.
const WIDTH_MAX: usize = 100;

/// Decides which workload runs where, with which configuration, and writes it to the GitOps repository that clusters pull.
#[derive(Debug, Parser)]
#[command(name = "kalypso", version, max_term_width = WIDTH_MAX, subcommand_required = true, arg_required_else_help = true)]
#[command(help_template = tasks::help_template(), before_help = tasks::commands_by_task())]
#[command(after_help = "\
Exit status: 0 good, or no change · 1 problems found · 2 changes pending (plan) · 3 not done in time (wait) · 64 wrong usage
             69 something outside could not be reached · 70 a bug of Kalypso · 130 interrupted

Start with `kalypso demo`.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(Demo),
    Init(Init),
    App(App),
    Check(Check),
    Render(Render),
    Plan(Plan),
    Publish(Publish),
    Get(Get),
    Describe(Describe),
    Explain(Explain),
    Bootstrap(Bootstrap),
    Contract(Contract),
    WhyNot(WhyNot),
    Add(Add),
    Set(Set),
    Remove(Remove),
    Rename(Rename),
    Config(Config),
    Pin(Pin),
    Unpin(Unpin),
    Releases(Releases),
    Status(Status),
    Deployments(Deployments),
    Rollout(Rollout),
    Promote(Promote),
    Approve(Approve),
    Hold(Hold),
    Resume(Resume),
    Abort(Abort),
    Retry(Retry),
    Skip(Skip),
    Rollback(Rollback),
    Compare(Compare),
    History(History),
    Audit(Audit),
    Drift(Drift),
    Events(Events),
    Hub(Hub),
    Serve(Serve),
    Codeowners(Codeowners),
    Confirm(Confirm),
    Report(Report),
    Simulate(Simulate),
    Schema(Schema),
    Completions(Completions),
    Man(Man),
}

/// The location of the input.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct SourceOptions {
    /// Read every YAML file under this directory as one environment, without git
    #[arg(long, value_name = "DIR", conflicts_with = "config")]
    pub(crate) from: Option<PathBuf>,
    /// The configuration file [default: kalypso.toml here or in a directory above]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) strict: bool,
}

/// The format of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people
    #[default]
    Human,
    /// JSON, stable
    Json,
    /// YAML, stable
    Yaml,
}

/// The format of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// Text for people
    #[default]
    Human,
    /// Markdown, for pull requests and summaries of CI jobs
    Markdown,
    /// JSON, stable
    Json,
    /// YAML, stable
    Yaml,
}

/// Create a small example company with git repositories on this machine, and run Kalypso for it
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso demo                 in ./kalypso-demo
  kalypso demo /tmp/acme       somewhere else; run it again and what was committed meanwhile is published
  kalypso serve                in that folder: pull requests to merge in a browser, and hosts that follow")]
pub(crate) struct Demo {
    /// Where to make it
    #[arg(value_name = "DIR", default_value = "kalypso-demo")]
    pub(crate) directory: PathBuf,
    /// Write into a directory that is not empty and was not made by `demo`
    #[arg(long)]
    pub(crate) force: bool,
    /// Without the hosts and the hub
    #[arg(long)]
    pub(crate) no_hub: bool,
}

/// Read everything and list all errors, with file, line and advice
#[derive(Args, Debug, Default)]
#[command(after_help = "\
Examples:
  kalypso check                              all environments of the control plane
  kalypso check -e prod --strict             one of them; warnings count as problems
  kalypso check --working-tree               with all uncommitted changes
  kalypso check --patch my.patch             with a patch of the main branch
  kalypso check --from . -e dev -o github    a checkout in CI, as annotations of the pull request")]
pub(crate) struct Check {
    /// The environment [default: all]
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: Option<String>,
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    #[command(flatten)]
    pub(crate) state: StateOptions,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: crate::diagnostics::ReportFormat,
}

/// Render an environment's files into a folder, or only print their digest
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso render -e dev --out rendered             what clusters of dev would get
  kalypso render --from . -e dev --out rendered    the same from a checkout, without git
  kalypso render -e prod --digest                  the git tree id of the result; nothing is written
  kalypso render --all --out rendered              each environment in a folder of its own
  kalypso render -e dev --working-tree --out x     with all uncommitted changes
  kalypso render -e prod --head --out x            as if everything that waits for its gates were admitted")]
pub(crate) struct Render {
    #[command(flatten)]
    pub(crate) of: EnvironmentOrAll,
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    #[command(flatten)]
    pub(crate) state: StateOptions,
    #[command(flatten)]
    pub(crate) head: HeadOption,
    /// The folder to write into: empty, or written by an earlier `render`; with --all, it gets a folder for each environment
    #[arg(long, value_name = "DIR", required_unless_present = "digest", conflicts_with = "digest")]
    pub(crate) out: Option<PathBuf>,
    /// Write nothing, and print the git tree id of the result
    #[arg(long)]
    pub(crate) digest: bool,
    /// Write into a folder that is not empty and was not made by `render`
    #[arg(long)]
    pub(crate) force: bool,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// Show what would change in the GitOps branch, by assignment and by value
#[derive(Args, Debug, Default)]
#[command(after_help = "\
Examples:
  kalypso plan -e prod                       compared with the environment's GitOps branch
  kalypso plan -e prod --diff                with the difference of every file
  kalypso plan -e prod --head                as if everything that waits for its gates were admitted
  kalypso plan -e prod --commit HEAD~1..     what the last commit of the environment's branch changed
  kalypso plan -e prod --commit main         what promoting the head of main would change
  kalypso plan -e prod --working-tree        what all uncommitted changes would do
  git diff | kalypso plan -e prod --patch -  what one of them would do
  kalypso plan --all                         all environments
  kalypso plan -e prod --adopt large         what `publish --adopt large` would replace in folder large
  kalypso plan -e prod -l region=west,!edge  only what changes where these labels are
  kalypso plan --from . -e dev --against DIR compared with a folder of rendered files
  kalypso plan -e prod --commit my-change --comment    in CI: a comment on the pull request of branch my-change")]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) of: EnvironmentOrAll,
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    /// Compare with the files in this folder instead of the GitOps branch
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    pub(crate) against: Option<PathBuf>,
    /// Show what all uncommitted changes in the working trees of the control plane would do; DIR is a folder in one of them
    #[arg(long, value_name = "DIR", num_args = 0..=1, conflicts_with_all = ["from", "against", "commit", "patch", "gitops_repo", "adopt"])]
    #[expect(clippy::option_option, reason = "so clap has an option whose value may be left out")]
    pub(crate) working_tree: Option<Option<PathBuf>>,
    /// Compare two commits of the control plane; with B alone, compare it with the current sources of the environment
    #[arg(long, value_name = "A..B", conflicts_with_all = ["from", "against", "patch", "gitops_repo", "adopt"])]
    pub(crate) commit: Option<String>,
    /// Show what a patch of the control plane would change: the output of `git diff`; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["against", "gitops_repo", "adopt"])]
    pub(crate) patch: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) head: HeadOption,
    /// Only the `GitOpsRepo` of this name
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub(crate) gitops_repo: Option<String>,
    /// Show the difference of every file
    #[arg(long)]
    pub(crate) diff: bool,
    /// Show only the changes of this workload
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,
    /// Show only the changes on this cluster type (and its clusters), or on this cluster
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster_type: Option<String>,
    /// Show only the changes of assignments whose target or cluster type has these labels, in the syntax of `kubectl -l`
    #[arg(short = 'l', long, value_name = "LABELS")]
    pub(crate) selector: Option<String>,
    /// How many changes are listed at most [default: 40 groups for reading, 1000 for programs]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Show how much work each stage of compiling was
    #[arg(long)]
    pub(crate) stats: bool,
    #[command(flatten)]
    pub(crate) adopt: Adopt,
    /// Write the plan as a comment on this pull request of the control plane [default: the one of the CI job]
    #[arg(long, value_name = "NUMBER", num_args = 0..=1, default_missing_value = "0")]
    pub(crate) comment: Option<u64>,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: PlanFormat,
}

/// Write the environment's files to the GitOps repository: one commit, pushed
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso publish -e dev              onto branch kalypso/dev, with a pull request if kalypso.toml has a [host]
  kalypso publish --all               all environments; if one fails, the others are published
  kalypso publish -e dev --direct     straight onto the environment's branch
  kalypso publish -e dev --force      replace commits that a person pushed to kalypso/dev
  kalypso publish -e prod --override outage   past the gates, which count again if it is not merged within a day
  kalypso publish -e prod --no-step   only what was admitted before: decide nothing about promotions
  kalypso publish -e dev --adopt large   take over folder large, which is not marked as Kalypso's
  kalypso publish -e dev --hub-only   push nothing: only send the content of the branch to a hub")]
pub(crate) struct Publish {
    #[command(flatten)]
    pub(crate) published: PublishedEnvironments,
    /// The configuration file [default: kalypso.toml here or in a directory above]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Only the `GitOpsRepo` of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) gitops_repo: Option<String>,
    /// Push to the environment's branch itself instead of `kalypso/<environment>`
    #[arg(long)]
    pub(crate) direct: bool,
    /// Confirm the removals that `kalypso plan` shows with this word; once for each `GitOpsRepo`
    #[arg(long, value_name = "WORD", num_args = 0..=1, default_missing_value = "")]
    pub(crate) confirm: Vec<String>,
    #[command(flatten)]
    pub(crate) overriding: Overriding,
    /// Make no step of promotions: publish only what was admitted before. `--override`, `--gitops-repo` and `--hub-only` make none either
    #[arg(long)]
    pub(crate) no_step: bool,
    #[command(flatten)]
    pub(crate) takeover: Takeover,
    #[command(flatten)]
    pub(crate) pull_requests: PullRequests,
    /// The time of the commit, in seconds since 1970, if it is not now: the demo begins in the past.
    #[arg(skip)]
    pub(crate) committed_on: Option<i64>,
    #[command(flatten)]
    pub(crate) publication_hub: PublicationHub,
    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) strict: bool,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// The environments that are published.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct PublishedEnvironments {
    /// The environment
    #[arg(short, long = "env", value_name = "ENV", required_unless_present = "all")]
    pub(crate) environment: Option<String>,
    /// All environments of the control plane, one after the other
    #[arg(long, conflicts_with_all = ["environment", "gitops_repo", "confirm"])]
    pub(crate) all: bool,
}

/// A publication past its gates.
#[derive(Args, Debug, Clone)]
pub(crate) struct Overriding {
    /// Publish exactly what waits now although a gate of a `Promotion` refuses it. The reason is recorded, with your account
    #[arg(long = "override", value_name = "REASON", conflicts_with_all = ["all", "hub_only"])]
    pub(crate) override_reason: Option<String>,
    /// How long an override counts while its output waits, for example for the merge of a pull request
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = model::duration::parse)]
    pub(crate) override_expires: Duration,
}

/// The folders that are taken over.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct Adopt {
    /// Take over the folders of these cluster types and clusters in the GitOps branch, which are not marked as Kalypso's; without a name, all
    #[arg(long, value_name = "NAME", num_args = 0.., value_delimiter = ',')]
    adopt: Option<Vec<String>>,
}

impl Adopt {
    pub(crate) fn folders(&self) -> Adoption {
        match self.adopt.as_deref() {
            None => Adoption::Nothing,
            Some([]) => Adoption::All,
            Some(names) => Adoption::Named(names.iter().map(|name| name.as_str().into()).collect()),
        }
    }
}

/// What is taken over of others.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct Takeover {
    #[command(flatten)]
    pub(crate) adopt: Adopt,
    /// Replace commits of others on `kalypso/<environment>`; without it they stay, and nothing is pushed
    #[arg(long, conflicts_with_all = ["direct", "hub_only"])]
    pub(crate) force: bool,
}

/// Whether pull requests are opened.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct PullRequests {
    /// Open or update a pull request; the default if kalypso.toml has a `[host]`
    #[arg(long, conflicts_with_all = ["direct", "hub_only"])]
    pub(crate) pull_request: bool,
    /// Push only branches: open no pull request, and report nothing to the git host
    #[arg(long, conflicts_with = "pull_request")]
    pub(crate) no_pull_request: bool,
}

/// The hub that gets a publication.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct PublicationHub {
    /// The hub that gets the publication [default: the variable `KALYPSO_HUB_URL`, else `hub.url` of kalypso.toml; else no hub]
    #[arg(long, value_name = "URL")]
    pub(crate) hub: Option<String>,
    /// A file with the token for it [default: the variable `KALYPSO_HUB_TOKEN`]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Push nothing: only send the content of the environment's branch to the hub
    #[arg(long, conflicts_with_all = ["direct", "confirm", "adopt"])]
    pub(crate) hub_only: bool,
}

/// Explain why an assignment exists, or where one of its values comes from; or show an overview of a cluster type, cluster, target or workload
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso explain -e prod chicago-edge/checkout-us                   the assignment
  kalypso explain -e prod chicago-edge/checkout-us DATABASE_URL      one value
  kalypso explain -e prod chicago-edge/checkout-us database.pool.max a nested one
  kalypso explain -e prod chicago-edge                               a cluster type or cluster: its labels and assignments
  kalypso explain -e prod checkout                                   a workload, or a deployment target
  kalypso explain -e prod workload/checkout                          only the workload of this name")]
pub(crate) struct Explain {
    /// The environment
    #[arg(short, long = "env", value_name = "ENV")]
    pub(crate) environment: String,
    /// The assignment; or the name of a cluster type, cluster, deployment target or workload, also as KIND/NAME
    #[arg(value_name = "CLUSTER_TYPE/TARGET")]
    pub(crate) assignment: String,
    /// The value
    #[arg(value_name = "KEY")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    #[command(flatten)]
    pub(crate) head: HeadOption,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) output: Format,
}

/// Print the JSON Schema of a kind, of all kinds, or of kalypso-app.toml, for editors
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso schema > kalypso.schema.json     all kinds
  kalypso schema SchedulingPolicy          one kind
  kalypso schema kalypso-app               the configuration file of an application")]
pub(crate) struct Schema {
    /// The kind, or kalypso-app [default: all kinds]
    #[arg(value_name = "KIND")]
    pub(crate) kind: Option<String>,
}

/// Print a completion script for a shell
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso completions bash > /etc/bash_completion.d/kalypso    for all users; again after each update
  source <(kalypso completions bash)                           in ~/.bashrc
  source <(kalypso completions zsh)                            in ~/.zshrc, after compinit
  kalypso completions fish | source                            in ~/.config/fish/config.fish")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

/// Write the manual pages into a folder, or print the main one
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  kalypso man | man -l -
  kalypso man --out /usr/local/share/man/man1")]
pub(crate) struct Man {
    /// The folder for the pages of all commands
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
