//! Simulated hosts: they pull folders of GitOps repositories, take their time, sometimes fail, and report in the formats of their reconcilers.
//!
//! The simulation uses no clock and no network: the caller passes the time and sends the messages. The same options, commits and times give the same messages,
//! byte for byte. The simulation also has a log of all reports, to compare them with the answers of a hub.

mod formats;
mod host;
mod otlp;
#[cfg(test)]
mod tests;
mod transport;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use git::{Repositories, RepositoryError, RepositoryUrl, Revision};
use model::git_id::GitId;

use self::host::Host;
use self::transport::Transport;
pub use self::transport::{Message, Route};
use crate::random::Random;

/// The options of a simulation.
#[derive(Clone, Debug)]
pub struct SimulationOptions {
    /// The seed of the random numbers.
    pub seed: u64,
    /// The time at which the hosts start, in seconds since 1970.
    pub starts_on: i64,
    /// The behavior of the hosts.
    pub behavior: Behavior,
    /// The hosts.
    pub hosts: Vec<HostOptions>,
}

/// One host.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// Its name.
    pub name: String,
    /// The format of its reports.
    pub format: HostReportFormat,
    /// Its token for the hub. None for a hub that needs no token.
    pub token: Option<HubToken>,
    /// The folders that it pulls. Each has its own reconciler.
    pub pulls: Vec<Pull>,
}

/// The suffix of the names of reconcilers that apply Kalypso's output for an assignment. Other reconcilers apply manifests of applications.
pub const OF_PLATFORM: &str = "-config";

/// A folder that a reconciler of a host pulls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pull {
    /// The reconciler's name.
    pub reconciler: String,
    /// The repository.
    pub repository: RepositoryUrl,
    /// The branch.
    pub branch: String,
    /// The path of the folder.
    pub path: String,
}

/// A token of the hub, with its secrets.
#[derive(Clone, Debug)]
pub struct HubToken {
    /// The full text.
    pub text: String,
    /// The public part.
    pub id: String,
    /// The key for signatures.
    pub signing_key: String,
}

/// The format of a host's reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostReportFormat {
    /// A script that sends each report as JSON.
    Json,
    /// An agent that sends several reports in one request, one on each line.
    Lines,
    /// Flux' provider `generic`.
    Flux,
    /// Flux' provider `generic-hmac`.
    FluxSigned,
    /// Argo CD, with the template in `deploy/argocd`.
    ArgoCd,
    /// A collector of OpenTelemetry, over HTTP in protobuf.
    OtlpProtobuf,
    /// A collector of OpenTelemetry, over HTTP in JSON.
    OtlpJson,
    /// A collector of OpenTelemetry, over gRPC.
    OtlpGrpc,
    /// A site without a network connection. Its reports are transported in a signed file.
    File,
}

impl HostReportFormat {
    /// All formats.
    pub const ALL: [Self; 9] = [
        Self::Json,
        Self::Lines,
        Self::Flux,
        Self::FluxSigned,
        Self::ArgoCd,
        Self::OtlpProtobuf,
        Self::OtlpJson,
        Self::OtlpGrpc,
        Self::File,
    ];
}

/// The behavior of hosts. Shares are in percent, times in seconds.
#[derive(Clone, Debug)]
pub struct Behavior {
    /// The time between two pulls.
    pub interval: RangeInclusive<i64>,
    /// The time to apply pulled content.
    pub takes: RangeInclusive<i64>,
    /// The share of contents that can be applied only at the second or third attempt.
    pub faltering: u64,
    /// The share of contents that can never be applied.
    pub failing: u64,
    /// The share of pulls without new content after which the applied content is unhealthy until the next pull.
    pub relapsing: u64,
    /// The share of hosts that stay at the content of their first pull for a while.
    pub lagging: u64,
    /// The time for which they stay at it.
    pub lag: i64,
    /// The share of hosts that stop reporting.
    pub silent: u64,
    /// The time after their start at which they stop.
    pub silent_after: RangeInclusive<i64>,
    /// The share of hosts with the short heartbeat that continue to report. Hosts that stop reporting have the short heartbeat, too.
    pub prompt: u64,
    /// The short heartbeat. Reports of Argo CD have no heartbeat.
    pub short_heartbeat: i64,
    /// The heartbeat of all other hosts.
    pub heartbeat: i64,
    /// The share of messages that are late.
    pub late: u64,
    /// The delay of late messages.
    pub delay: RangeInclusive<i64>,
    /// The share of messages that arrive twice, the second time late.
    pub twice: u64,
    /// The delay of reports in signed files.
    pub carried_after: i64,
}

impl Default for Behavior {
    /// A mixture of all behaviors.
    fn default() -> Self {
        Self {
            interval: 60..=180,
            takes: 15..=90,
            faltering: 15,
            failing: 5,
            relapsing: 0,
            lagging: 8,
            lag: 1_800,
            silent: 8,
            silent_after: 300..=1_500,
            prompt: 10,
            short_heartbeat: 300,
            heartbeat: 86_400,
            late: 0,
            delay: 60..=600,
            twice: 0,
            carried_after: 900,
        }
    }
}

/// The status in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SentStatus {
    /// The content is being applied.
    InProgress,
    /// The content was applied.
    Success,
    /// The content could not be applied.
    Failure,
}

impl SentStatus {
    /// The text in a generic report.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Success => "success",
            Self::Failure => "failure",
        }
    }
}

/// The content of a folder of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PulledContent {
    /// The commit.
    pub commit: GitId,
    /// The id of the folder's git tree.
    pub tree: GitId,
}

/// A report that a reconciler has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentReport {
    /// The pulled folder.
    pub pull: Pull,
    /// The time, in seconds since 1970.
    pub at: i64,
    /// The status.
    pub status: SentStatus,
    /// The content.
    pub content: PulledContent,
    /// The error message. Empty unless the status is a failure.
    pub message: String,
    /// The time until its next report, in seconds. None if the report has no heartbeat.
    pub heartbeat: Option<i64>,
}

/// The current content of all pulled folders.
type Contents = BTreeMap<PulledFolder, PulledContent>;

/// A folder of a branch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PulledFolder {
    repository: RepositoryUrl,
    branch: String,
    path: String,
}

impl Pull {
    fn folder(&self) -> PulledFolder {
        PulledFolder { repository: self.repository.clone(), branch: self.branch.clone(), path: self.path.clone() }
    }
}

/// Simulated hosts, with the content that they can pull and a log of their reports.
#[derive(Debug)]
pub struct Simulation {
    hosts: Vec<Host>,
    contents: Contents,
    transport: Transport,
    /// All reports, each with the number of its host, and whether it has arrived.
    log: Vec<(usize, SentReport, bool)>,
}

impl Simulation {
    /// Creates a simulation. The hosts have no content yet.
    pub fn new(options: SimulationOptions) -> Self {
        let SimulationOptions { seed, starts_on, behavior, hosts } = options;
        let hosts = hosts.into_iter().enumerate();
        let hosts = hosts.map(|(number, options)| {
            Host::new(options, &behavior, Random::with_number(seed, number as u64), starts_on)
        });
        let transport = Transport::new(&behavior, seed);
        Self { hosts: hosts.collect(), contents: Contents::new(), transport, log: Vec::new() }
    }

    /// Reads the current content of all pulled folders. Hosts pull it from now on.
    ///
    /// # Errors
    /// If a repository can't be read, or has no such branch.
    pub fn read_contents(&mut self, repositories: &dyn Repositories) -> Result<(), RepositoryError> {
        self.read_contents_at(repositories, |_, branch| Revision::branch(branch))
    }

    /// Same as [`Self::read_contents`], at other revisions: `revision` returns the revision to read for a branch.
    ///
    /// # Errors
    /// If a repository can't be read, or has no such revision.
    pub fn read_contents_at(
        &mut self,
        repositories: &dyn Repositories,
        revision: impl Fn(&RepositoryUrl, &str) -> Revision,
    ) -> Result<(), RepositoryError> {
        let folders: BTreeSet<PulledFolder> = self.hosts.iter().flat_map(Host::folders).collect();
        let mut branches: BTreeMap<(RepositoryUrl, String), Vec<PulledFolder>> = BTreeMap::new();
        for folder in folders {
            branches.entry((folder.repository.clone(), folder.branch.clone())).or_default().push(folder);
        }
        let mut contents = Contents::new();
        for ((repository, branch), folders) in branches {
            let commit = repositories.resolve(&repository, &revision(&repository, &branch))?;
            for folder in folders {
                let tree = self::tree(repositories, &commit, &folder.path)?;
                let content = tree.map(|tree| PulledContent { commit: commit.id, tree });
                contents.extend(content.map(|content| (folder, content)));
            }
        }
        self.contents = contents;
        Ok(())
    }

    /// Marks all current content as applied, without reports.
    pub fn settle(&mut self) {
        for host in &mut self.hosts {
            host.settle(&self.contents);
        }
    }

    /// Restarts all reconcilers: each reports at its next pull that the applied content is healthy, also those that report only changes.
    pub fn restart(&mut self) {
        self.hosts.iter_mut().for_each(Host::restart);
    }

    /// Takes over what hosts of an earlier simulation have applied. Hosts are the same if their names are, and reconcilers if they pull the same.
    pub fn resume(&mut self, earlier: &Self) {
        let known: BTreeMap<_, _> = earlier.hosts.iter().map(|host| (host.options.name.as_str(), host)).collect();
        for host in &mut self.hosts {
            if let Some(earlier) = known.get(host.options.name.as_str()) {
                host.resume(earlier);
            }
        }
    }

    /// Sets which hosts can't apply new content from now on. All others can, as far as their behavior lets them.
    pub fn set_failing(&mut self, is_failing: impl Fn(&str) -> bool) {
        for host in &mut self.hosts {
            host.is_failing = is_failing(&host.options.name);
        }
    }

    /// Whether there is content that a host has not applied.
    pub fn is_outdated(&self) -> bool {
        self.hosts.iter().any(|host| host.is_outdated(&self.contents))
    }

    /// Simulates the hosts until this time, in seconds since 1970. Returns the messages that arrive at the hub by then, in the order of their arrival.
    ///
    /// # Panics
    /// If the template for Argo CD fails. That is a bug.
    pub fn advance(&mut self, now: i64) -> Vec<Message> {
        for (number, host) in self.hosts.iter_mut().enumerate() {
            let reports = host.advance(now, &self.contents);
            let first = self.log.len();
            let numbered: Vec<_> = reports.iter().enumerate().map(|(index, report)| (first + index, report)).collect();
            for (at, message) in formats::messages(&host.options, &numbered) {
                self.transport.send(message, at);
            }
            self.log.extend(reports.into_iter().map(|report| (number, report, false)));
        }
        self.arrive(now)
    }

    /// Returns all messages that have not arrived yet.
    pub fn remaining_messages(&mut self) -> Vec<Message> {
        self.arrive(i64::MAX)
    }

    fn arrive(&mut self, now: i64) -> Vec<Message> {
        let messages = self.transport.arrived(now);
        for number in messages.iter().flat_map(|message| &message.report_numbers) {
            self.log[*number].2 = true;
        }
        messages
    }

    /// The names of the hosts.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().map(|host| host.options.name.as_str())
    }

    /// The last report of each reconciler that was sent until this time, in seconds since 1970, and has arrived. By the names of the host and the reconciler.
    pub fn last_reports(&self, until: i64) -> BTreeMap<(&str, &str), &SentReport> {
        let mut last: BTreeMap<(&str, &str), &SentReport> = BTreeMap::new();
        for (host, report, _) in self.log.iter().filter(|(_, report, arrived)| *arrived && report.at <= until) {
            let key = (self.hosts[*host].options.name.as_str(), report.pull.reconciler.as_str());
            let newest = last.entry(key).or_insert(report);
            if newest.at <= report.at {
                *newest = report;
            }
        }
        last
    }
}

/// The id of a folder's git tree at a commit. None if the folder does not exist.
fn tree(repositories: &dyn Repositories, commit: &git::Commit, path: &str) -> Result<Option<GitId>, RepositoryError> {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    let entries = repositories.folder(commit, parent)?.unwrap_or_default();
    Ok(entries.into_iter().find(|entry| &*entry.name == name).map(|entry| entry.id))
}
