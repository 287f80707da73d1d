//! Starts the tests with kills, races and server faults, with another seed, number of kills or duration than in the normal tests.

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use crate::workspace;

/// The selection of rounds.
#[derive(Args)]
pub(crate) struct Options {
    /// The number of rounds for each transport, of those with promotions, and of those with the service on each kind of git host. By default, enough rounds
    /// for 240 kills of runs, 40 of controllers of promotions and 5 of the service on GitHub, and 3 rounds on each other kind.
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
    /// The number of kills for each transport, of controllers of promotions, and of the service on each kind of git host. Runs as many rounds as needed.
    #[arg(long, value_name = "N", conflicts_with = "rounds")]
    kills: Option<u64>,
    /// The seed. It decides what happens in each round.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Run only this part.
    #[arg(long, value_name = "PART")]
    only: Option<Part>,
    /// Run the rounds with the service on this kind of git host only.
    #[arg(long, value_name = "KIND")]
    host: Option<Host>,
    /// How long the storm of webhooks lasts, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    storm: u64,
    /// The size of the history in the part `large`, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 64)]
    mib: u64,
}

impl Options {
    /// The part to run. A kind of git host selects the rounds with the service.
    fn part(&self) -> Option<Part> {
        self.only.or(self.host.map(|_| Part::Service))
    }
}

/// A transport to repositories, or a part about the service.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Local paths on the same machine.
    Local,
    /// HTTP, with git's HTTP backend.
    Http,
    /// ssh, if `sshd` is installed.
    Ssh,
    /// Several controllers of promotions, with a hub.
    Promotions,
    /// The service, with a git server and a git host of each kind.
    Service,
    /// The service in a storm of webhooks.
    Storm,
    /// The service with its cache on a full disk.
    Disk,
    /// The service with a git host that answers slowly.
    Slow,
    /// The service with a clock that jumps, if `faketime` is installed.
    Clock,
    /// The service with repositories that have a large history.
    Large,
}

/// A kind of git host.
#[derive(Clone, Copy, ValueEnum)]
enum Host {
    #[value(name = "github")]
    GitHub,
    #[value(name = "gitlab")]
    GitLab,
    Gitea,
    #[value(name = "azure-devops")]
    AzureDevOps,
}

impl Part {
    /// The names of its tests.
    fn tests(self, host: Option<Host>) -> Vec<&'static str> {
        match self {
            Self::Local => vec!["tests::local"],
            Self::Http => vec!["tests::http"],
            Self::Ssh => vec!["tests::ssh"],
            Self::Promotions => vec!["tests::promotions"],
            Self::Service => host.map_or_else(
                || Host::value_variants().iter().map(|host| host.test()).collect(),
                |host| vec![host.test()],
            ),
            Self::Storm => vec!["tests::service_in_a_storm_of_webhooks"],
            Self::Disk => vec!["tests::service_on_a_full_disk"],
            Self::Slow => vec!["tests::service_with_slow_answers"],
            Self::Clock => vec!["tests::service_with_a_jumping_clock"],
            Self::Large => vec!["tests::service_with_a_large_history"],
        }
    }
}

impl Host {
    /// The name of the test with the rounds on it.
    fn test(self) -> &'static str {
        match self {
            Self::GitHub => "tests::service_on_github",
            Self::GitLab => "tests::service_on_gitlab",
            Self::Gitea => "tests::service_on_gitea",
            Self::AzureDevOps => "tests::service_on_azure_devops",
        }
    }
}

/// Runs the rounds. Returns whether all passed.
///
/// # Errors
/// Returns an error if the options contradict each other, or cargo can't be started.
pub(crate) fn run(options: &Options) -> Result<bool> {
    if options.host.is_some() && options.only.is_some_and(|part| part != Part::Service) {
        bail!("--host selects rounds with the service: use it with --only service, or without --only");
    }
    let mut command = workspace::cargo();
    command.args(["test", "--package", "kalypso", "--test", "faults", "--locked", "--"]);
    if let Some(part) = options.part() {
        command.arg("--exact").args(part.tests(options.host));
    }
    command.arg("--nocapture").env("KALYPSO_FAULTS_SEED", options.seed.to_string());
    command.env("KALYPSO_FAULTS_STORM", options.storm.to_string());
    command.env("KALYPSO_FAULTS_MIB", options.mib.to_string());
    for (name, number) in [("KALYPSO_FAULTS_ROUNDS", options.rounds), ("KALYPSO_FAULTS_KILLS", options.kills)] {
        if let Some(number) = number {
            command.env(name, number.to_string());
        }
    }
    Ok(command.status()?.success())
}
