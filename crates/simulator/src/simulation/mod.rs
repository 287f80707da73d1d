//! Simulated hosts: they pull folders of GitOps repositories, take their time, sometimes fail, and report in the formats of their reconcilers.
//!
//! Nothing here knows a clock or a network: the caller says how late it is and carries the messages. The same options, commits and moments give the same
//! messages, byte for byte. What the hosts said is known here as well, so that it can be compared with what a hub makes of it.

mod formats;
mod host;
mod otlp;
mod post;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use git::{Repositories, RepositoryError, RepositoryUrl, Revision};
use model::git_id::GitId;

use self::host::Host;
use self::post::Post;
pub use self::post::{Message, Route};

/// Hosts, what they pull, and how they behave.
#[derive(Clone, Debug)]
pub struct SimulationOptions {
    /// The source of all chance.
    pub seed: u64,
    /// When they are switched on, in seconds since 1970.
    pub starts_on: i64,
    /// How they behave.
    pub conduct: Conduct,
    /// The hosts.
    pub hosts: Vec<HostOptions>,
}

/// One host.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// Its name.
    pub name: String,
    /// How it reports.
    pub format: Format,
    /// What it shows to the hub; nothing to one that is open.
    pub token: Option<Token>,
    /// The folders that it pulls, each by a reconciler of its own.
    pub pulls: Vec<Pull>,
}

/// How the names of reconcilers end that apply what the platform made for an assignment; others apply manifests of applications.
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
    /// The folder in it.
    pub path: String,
}

/// A token of the hub, as its owner keeps it.
#[derive(Clone, Debug)]
pub struct Token {
    /// Its whole text.
    pub text: String,
    /// The public part.
    pub id: String,
    /// The key that signs.
    pub signing_key: String,
}

/// How a host reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// A script that sends each report as JSON.
    Json,
    /// An agent that sends several at once, one on each line.
    Lines,
    /// Flux' provider `generic`.
    Flux,
    /// Flux' provider `generic-hmac`.
    FluxSigned,
    /// Argo CD, with the template that is shipped.
    ArgoCd,
    /// A collector of OpenTelemetry, over HTTP in protobuf.
    OtlpProtobuf,
    /// The same in JSON.
    OtlpJson,
    /// The same over gRPC.
    OtlpGrpc,
    /// A site without a connection: somebody carries its reports in a signed file.
    File,
}

impl Format {
    /// All of them.
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

/// How hosts behave. Shares are of a hundred, times in seconds.
#[derive(Clone, Debug)]
pub struct Conduct {
    /// Between two pulls.
    pub interval: RangeInclusive<i64>,
    /// Until what was pulled is applied.
    pub takes: RangeInclusive<i64>,
    /// Of contents: they are applied at the second or third attempt only.
    pub faltering: u64,
    /// Of contents: they can't be applied at all.
    pub failing: u64,
    /// Of pulls that find nothing new: what was applied is not well any more, until the next one.
    pub relapsing: u64,
    /// Of hosts: they keep to the commit that they saw first.
    pub lagging: u64,
    /// For how long.
    pub lag: i64,
    /// Of hosts: they fall silent.
    pub silent: u64,
    /// How long after they were switched on.
    pub silent_after: RangeInclusive<i64>,
    /// Of hosts: they promise to report soon, and do. Those that fall silent had promised that, too.
    pub prompt: u64,
    /// Within which time they promise that; formats that can't promise anything don't.
    pub short_heartbeat: i64,
    /// What all others promise.
    pub heartbeat: i64,
    /// Of messages: they are on their way for a while.
    pub late: u64,
    /// For how long.
    pub delay: RangeInclusive<i64>,
    /// Of messages: they arrive twice, the second time late.
    pub twice: u64,
    /// For how long reports wait for somebody who carries them.
    pub carried_after: i64,
}

impl Default for Conduct {
    /// Some of everything.
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

/// How far a reconciler says that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It is at it.
    InProgress,
    /// It applied it.
    Success,
    /// It could not.
    Failure,
}

impl Status {
    /// As the generic report has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Success => "success",
            Self::Failure => "failure",
        }
    }
}

/// What a branch holds in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// The commit.
    pub commit: GitId,
    /// The git tree of the folder.
    pub tree: GitId,
}

/// What a reconciler said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Of what.
    pub pull: Pull,
    /// When, in seconds since 1970.
    pub at: i64,
    /// How far it is.
    pub status: Status,
    /// With what.
    pub content: Content,
    /// Why it could not; empty if it could.
    pub message: String,
    /// Within how many seconds it promised to report again.
    pub heartbeat: Option<i64>,
}

/// What there is to pull.
type World = BTreeMap<Pulled, Content>;

/// A folder of a branch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pulled {
    repository: RepositoryUrl,
    branch: String,
    path: String,
}

impl Pull {
    fn pulled(&self) -> Pulled {
        Pulled { repository: self.repository.clone(), branch: self.branch.clone(), path: self.path.clone() }
    }
}

/// Simulated hosts, with what they can pull and what they said.
#[derive(Debug)]
pub struct Simulation {
    hosts: Vec<Host>,
    world: World,
    post: Post,
    /// Everything that was said, with the number of its host, and whether the hub was told.
    log: Vec<(usize, Said, bool)>,
}

impl Simulation {
    /// Hosts that are switched off.
    pub fn new(options: SimulationOptions) -> Self {
        let SimulationOptions { seed, starts_on, conduct, hosts } = options;
        let hosts = hosts.into_iter().enumerate();
        let hosts = hosts.map(|(number, options)| Host::new(options, &conduct, (seed, number as u64, starts_on)));
        let post = Post::new(&conduct, seed);
        Self { hosts: hosts.collect(), world: World::new(), post, log: Vec::new() }
    }

    /// What branches hold now is what hosts can pull from now on.
    ///
    /// # Errors
    /// A repository can't be read, or has no such branch.
    pub fn look(&mut self, repositories: &dyn Repositories) -> Result<(), RepositoryError> {
        self.look_at(repositories, |_, branch| Revision::branch(branch))
    }

    /// The same, of branches as they were: `revision` says which commit of a branch is meant.
    ///
    /// # Errors
    /// A repository can't be read, or has no such commit.
    pub fn look_at(
        &mut self,
        repositories: &dyn Repositories,
        revision: impl Fn(&RepositoryUrl, &str) -> Revision,
    ) -> Result<(), RepositoryError> {
        let pulled: BTreeSet<Pulled> = self.hosts.iter().flat_map(Host::pulled).collect();
        let mut branches: BTreeMap<(RepositoryUrl, String), Vec<Pulled>> = BTreeMap::new();
        for pulled in pulled {
            branches.entry((pulled.repository.clone(), pulled.branch.clone())).or_default().push(pulled);
        }
        let mut world = World::new();
        for ((repository, branch), pulled) in branches {
            let commit = repositories.resolve(&repository, &revision(&repository, &branch))?;
            for pulled in pulled {
                let tree = self::tree(repositories, &commit, &pulled.path)?;
                let content = tree.map(|tree| Content { commit: commit.id, tree });
                world.extend(content.map(|content| (pulled, content)));
            }
        }
        self.world = world;
        Ok(())
    }

    /// What there is to pull now has been applied long ago, and nobody says so again.
    pub fn settle(&mut self) {
        for host in &mut self.hosts {
            host.settle(&self.world);
        }
    }

    /// Whether there is something to pull that a host has not applied.
    pub fn has_news(&self) -> bool {
        self.hosts.iter().any(|host| host.has_news(&self.world))
    }

    /// Lets the hosts go on until that moment, and gives what arrives at the hub by then, in the order of its arrival.
    ///
    /// # Panics
    /// If the template for Argo CD fails, which is a mistake of ours.
    pub fn advance(&mut self, now: i64) -> Vec<Message> {
        for (number, host) in self.hosts.iter_mut().enumerate() {
            let said = host.advance(now, &self.world);
            let first = self.log.len();
            let numbered: Vec<_> = said.iter().enumerate().map(|(index, said)| (first + index, said)).collect();
            for (at, message) in formats::messages(&host.options, &numbered) {
                self.post.send(message, at);
            }
            self.log.extend(said.into_iter().map(|said| (number, said, false)));
        }
        self.arrive(now)
    }

    /// What is still on its way arrives.
    pub fn rest(&mut self) -> Vec<Message> {
        self.arrive(i64::MAX)
    }

    fn arrive(&mut self, now: i64) -> Vec<Message> {
        let messages = self.post.arrived(now);
        for number in messages.iter().flat_map(|message| &message.said) {
            self.log[*number].2 = true;
        }
        messages
    }

    /// The names of the hosts.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().map(|host| host.options.name.as_str())
    }

    /// The last word of each reconciler, up to a moment in seconds since 1970, as far as it arrived: with the name of its host, in their order.
    pub fn last_words(&self, until: i64) -> BTreeMap<(&str, &str), &Said> {
        let mut last: BTreeMap<(&str, &str), &Said> = BTreeMap::new();
        for (host, said, _) in self.log.iter().filter(|(_, said, arrived)| *arrived && said.at <= until) {
            let key = (self.hosts[*host].options.name.as_str(), said.pull.reconciler.as_str());
            let known = last.entry(key).or_insert(said);
            if known.at <= said.at {
                *known = said;
            }
        }
        last
    }
}

/// The git tree of a folder in a commit.
fn tree(repositories: &dyn Repositories, commit: &git::Commit, path: &str) -> Result<Option<GitId>, RepositoryError> {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    let items = repositories.folder(commit, parent)?.unwrap_or_default();
    Ok(items.into_iter().find(|item| &*item.name == name).map(|item| item.id))
}
