//! A scenario as values: a fleet, promotions, a timeline of events, and expectations.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use model::label::Labels;
use model::object::promotion::Promotion;
use model::object::release::Release;

use super::names::NamePattern;

/// The key and the value of a label.
pub(super) type LabelPair = (Arc<str>, Arc<str>);

/// A scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The time at which it begins.
    pub start: Timestamp,
    /// The seed of the random numbers.
    pub seed: u64,
    /// How long everything takes.
    pub pace: Pace,
    /// The environments.
    pub environments: Vec<EnvironmentDefinition>,
    /// The workloads.
    pub workloads: Vec<WorkloadDefinition>,
    /// The promotions, with their names. The first one into an environment is there from the beginning.
    pub promotions: Vec<(Arc<str>, Promotion)>,
    /// The members of the teams that gates name.
    pub teams: Vec<(Arc<str>, Vec<Arc<str>>)>,
    /// What happens, in the order of time.
    pub timeline: Vec<Happening>,
    /// What is expected.
    pub expectations: Vec<ScenarioExpectation>,
}

/// How long everything takes.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The time between two pulls of a host.
    pub pull: Duration,
    /// The time in which a host applies new content.
    pub apply: Duration,
    /// The time after which a host without reports is silent. None: no host announces a heartbeat, so none becomes silent.
    pub heartbeat: Option<Duration>,
    /// The time between two steps of the controller.
    pub step: Duration,
    /// The time between a decision and the new content of a GitOps branch.
    pub publish: Duration,
    /// The time in which people merge a pull request.
    pub merge: Duration,
    /// The time between two measurements of a check.
    pub check: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        Self {
            pull: minutes(5),
            apply: minutes(1),
            heartbeat: Some(minutes(30)),
            step: minutes(1),
            publish: Duration::from_secs(30),
            merge: minutes(10),
            check: minutes(1),
        }
    }
}

/// An environment with its clusters.
#[derive(Clone, Debug)]
pub struct EnvironmentDefinition {
    /// The name.
    pub name: Arc<str>,
    /// The clusters.
    pub clusters: Vec<ClusterGroup>,
}

/// Clusters of one kind.
#[derive(Clone, Debug)]
pub struct ClusterGroup {
    /// The names.
    pub names: NamePattern,
    /// The labels. A label with several values gives them to the clusters by turns.
    pub labels: Vec<(Arc<str>, Vec<Arc<str>>)>,
    /// The number of hosts of each cluster.
    pub hosts: u32,
}

impl ClusterGroup {
    /// The number of different sets of labels.
    pub fn classes(&self) -> usize {
        let count = self.labels.iter().map(|(_, values)| values.len().max(1)).fold(1, least_common_multiple);
        count.min(self.names.len())
    }

    /// The labels of the cluster at this position.
    pub fn labels_at(&self, position: usize) -> Labels {
        let value = |values: &[Arc<str>]| Arc::clone(&values[position % values.len()]);
        self.labels.iter().map(|(key, values)| (Arc::clone(key), value(values))).collect()
    }
}

fn least_common_multiple(one: usize, other: usize) -> usize {
    let (mut larger, mut smaller) = (one, other);
    while smaller != 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    one / larger * other
}

/// A workload.
#[derive(Clone, Debug)]
pub struct WorkloadDefinition {
    /// The name.
    pub name: Arc<str>,
    /// The labels of its registration.
    pub labels: Labels,
    /// The release that all environments have at the beginning. None: it is published for the first time during the scenario.
    pub release: Option<Arc<str>>,
    /// The keys by which its targets name their releases, each with the label of the target's clusters. Empty: one target has all clusters.
    pub keys: Vec<(Arc<str>, LabelPair)>,
}

impl WorkloadDefinition {
    /// The release with this text. None: it lacks a version for one of the keys.
    pub fn parse_release(&self, text: &str) -> Option<Release> {
        // Only the keys count.
        let targets: Vec<_> = self.keys.iter().map(|(key, _)| [(Arc::clone(key), "1".into())].into()).collect();
        Release::parse_like(text, &Release::of_targets(&targets)?)
    }

    /// The version that a release has on clusters with these labels.
    pub fn version_at(&self, release: &Arc<str>, labels: &Labels) -> Arc<str> {
        let key = self.keys.iter().find(|(_, (label, value))| labels.get(label) == Some(value));
        let set = self.parse_release(release);
        let version = key.zip(set.as_ref()).and_then(|((key, _), set)| set.manifests().get(key));
        version.unwrap_or(release).clone()
    }

    /// The versions that are in a release, with its whole text.
    pub fn versions_of(&self, release: &Arc<str>) -> Vec<Arc<str>> {
        let set = self.parse_release(release);
        let parts = set.iter().flat_map(|set| set.manifests().values().cloned());
        parts.chain([Arc::clone(release)]).collect()
    }
}

/// An event at a time.
#[derive(Clone, Debug)]
pub struct Happening {
    /// The time since the start.
    pub at: Duration,
    /// The event.
    pub event: ScenarioEvent,
    /// The event as it is written.
    pub text: Arc<str>,
    /// The line in the scenario, from 1.
    pub line: usize,
}

/// Which folders a change affects. None: all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderScope {
    /// The workload.
    pub workload: Option<Arc<str>>,
    /// A label of the cluster.
    pub label: Option<LabelPair>,
}

/// What a commit of the main branch does with a promotion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromotionEdit {
    /// It writes the promotion with this name in the place of the one into the same environment.
    Write(Arc<str>),
    /// It deletes the promotion into the environment of the one with this name.
    Delete(Arc<str>),
}

impl PromotionEdit {
    /// The name of the promotion.
    pub fn name(&self) -> &Arc<str> {
        let (Self::Write(name) | Self::Delete(name)) = self;
        name
    }
}

/// Clusters of environments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// Which ones.
    pub members: MemberSelection,
    /// The environment. None: all environments.
    pub environment: Option<Arc<str>>,
    /// A label that they have.
    pub label: Option<LabelPair>,
}

/// Which clusters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberSelection {
    /// Those with this name.
    Named(NamePattern),
    /// The first ones, up to this number.
    Count(usize),
    /// The first ones, up to this share in percent.
    Percent(usize),
    /// All.
    All,
}

/// The behavior of a host that is not healthy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It fails to apply content: any content, also what it has now, or new content with this change or release.
    Failing(Option<Arc<str>>),
    /// It does not pull and does not report.
    Silent,
    /// It applies content, and reports failure and success by turns.
    Flapping(Duration),
    /// It reports success, but has not applied the content. Its report names the content that it has.
    Lying,
    /// It applies content later by this time.
    Slow(Duration),
}

/// What happens.
#[derive(Clone, Debug)]
pub enum ScenarioEvent {
    /// A commit on the main branch. It affects folders.
    Change {
        /// The name.
        name: Arc<str>,
        /// The folders that it affects.
        scope: FolderScope,
        /// The author's account. None: it is unknown.
        author: Option<Arc<str>>,
        /// The promotion that it writes or deletes.
        promotion: Option<PromotionEdit>,
    },
    /// A commit on the main branch that removes the effect of an earlier one.
    Revert(Arc<str>),
    /// A version of the program that renders is installed: a new one, or one that was there before.
    Install {
        /// The version.
        version: Arc<str>,
        /// The folders that a new one renders differently from the newest one before.
        scope: FolderScope,
    },
    /// The stored states of an environment are deleted.
    DeleteStates {
        /// The environment.
        environment: Arc<str>,
    },
    /// A person restores the states with which an environment was published last.
    RestoreStates {
        /// The environment.
        environment: Arc<str>,
    },
    /// A new release of a workload in the first environments.
    Release {
        /// The workload.
        workload: Arc<str>,
        /// The version.
        version: Arc<str>,
        /// The author's account. None: it is unknown.
        author: Option<Arc<str>>,
    },
    /// A commit on the branch of an environment.
    Configure {
        /// The environment.
        environment: Arc<str>,
        /// The name.
        name: Arc<str>,
        /// The folders that it affects.
        scope: FolderScope,
    },
    /// A commit on the branch of an environment that pins clusters to a release of a workload.
    Pin {
        /// The environment.
        environment: Arc<str>,
        /// The workload.
        workload: Arc<str>,
        /// The version.
        version: Arc<str>,
        /// A label of the clusters. None: all.
        label: Option<LabelPair>,
    },
    /// A commit of an application team that changes the target of a workload in an environment, but not its release.
    Retarget {
        /// The workload.
        workload: Arc<str>,
        /// The environment.
        environment: Arc<str>,
        /// The name.
        name: Arc<str>,
    },
    /// A person writes a commit of the main branch, or a release, into an environment.
    MoveByHand {
        /// The environment.
        environment: Arc<str>,
        /// The commit or the release.
        what: ChangeOrRelease,
    },
    /// A person merges the open pull request into an environment, whatever its gates say.
    MergeByHand {
        /// The environment.
        environment: Arc<str>,
        /// The workload whose release it brings. None: it brings a commit of the main branch.
        workload: Option<Arc<str>>,
    },
    /// Clusters begin to behave differently.
    Hosts {
        /// The clusters.
        who: Who,
        /// The behavior.
        fault: FaultKind,
        /// How long. None: until they are repaired.
        lasts: Option<Duration>,
    },
    /// The clusters are healthy again.
    Repair(Who),
    /// New clusters.
    Grow {
        /// The environment.
        environment: Arc<str>,
        /// The clusters.
        group: ClusterGroup,
    },
    /// Clusters are removed.
    Shrink(Who),
    /// A check has another outcome.
    Check {
        /// Its name.
        name: Arc<str>,
        /// The outcome: true for passed, false for failed, None if it can't be measured.
        outcome: Option<bool>,
        /// How long. None: from now on.
        lasts: Option<Duration>,
    },
    /// Something of the system is down.
    Down {
        /// What.
        part: SystemPart,
        /// How long.
        lasts: Duration,
    },
    /// The service is killed and started again before each step, from now on.
    KillAtEveryStep,
    /// The clock of the service is wrong by these seconds.
    Skew {
        /// The difference in seconds.
        seconds: i64,
        /// How long. None: from now on.
        lasts: Option<Duration>,
    },
    /// A person decides.
    Decide(DecisionEvent),
    /// A claim is checked.
    Expect(Claim),
}

/// A person decides about a workload in an environment, about one of its sources, or about the commits of the main branch.
#[derive(Clone, Debug)]
pub struct DecisionEvent {
    /// The environment.
    pub environment: Arc<str>,
    /// The workload or the source. None: commits of the main branch.
    pub subject: Option<Arc<str>>,
    /// The person's account.
    pub by: Arc<str>,
    /// The decision.
    pub decision: DecisionKind,
    /// Why.
    pub reason: Arc<str>,
}

/// A part of the system that can be down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemPart {
    /// The service with the controller.
    Service,
    /// The API of the git host: no pull request can be created or read.
    HostApi,
    /// The hub: no report arrives, and no evidence can be read.
    Hub,
    /// The way of publications to the hub: it does not know what the GitOps branches have since then.
    Publications,
}

/// The name of the values of an environment in decisions and claims.
pub(in crate::scenario) const VALUES: &str = "values";
/// The name of the target of a workload in decisions and claims, before the name of the workload.
pub(super) const APPLICATION: &str = "application/";

/// The decision of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecisionKind {
    /// Approves the change that waits.
    Approve,
    /// Holds everything.
    Hold,
    /// Ends the hold.
    Resume,
    /// Ends the current move.
    Abort,
    /// Tries a stopped or rejected move again.
    Retry,
    /// Skips a gate, for this revision. None: whichever waits there.
    Skip(Arc<str>, Option<Arc<str>>),
    /// Admits the revision that waits past its gates.
    Override,
    /// Returns to the last proved release.
    RollBack,
    /// Moves a revision. None: the newest one.
    Promote(Option<Arc<str>>),
}

/// A claim with the time at which it is checked.
#[derive(Clone, Debug)]
pub struct ScenarioExpectation {
    /// The claim.
    pub claim: Claim,
    /// When.
    pub when: When,
    /// The text in the scenario.
    pub text: Arc<str>,
    /// The line in the scenario, from 1.
    pub line: usize,
}

/// When a claim is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At this time since the start.
    At(Duration),
    /// It must have been true at some time until then.
    By(Duration),
    /// At the end.
    End,
    /// At all times.
    Always,
}

/// A claim about the fleet or the moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// All these clusters have a change or a release in their folders.
    Has {
        /// The clusters.
        who: Who,
        /// The name of a change, or `WORKLOAD VERSION`.
        what: ChangeOrRelease,
    },
    /// None of these clusters has it.
    Lacks {
        /// The clusters.
        who: Who,
        /// What.
        what: ChangeOrRelease,
    },
    /// The move of a subject is in a state.
    State {
        /// The environment.
        environment: Arc<str>,
        /// The workload whose rollout or release it is. None: any.
        workload: Option<Arc<str>>,
        /// The state.
        state: MoveState,
    },
    /// At most this many of these clusters are changing at once.
    AtOnce {
        /// The number.
        limit: usize,
        /// The clusters.
        who: Who,
    },
    /// Nothing moves in all environments.
    Rest,
}

/// A change or a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeOrRelease {
    /// A change by its name.
    Change(Arc<str>),
    /// A release of a workload.
    Release(Arc<str>, Arc<str>),
}

/// The state of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveState {
    /// It waits for a gate whose name or text contains this. Empty: for any.
    Waits(Arc<str>),
    /// It stopped. The reason contains this.
    Stopped(Arc<str>),
    /// It rolls back.
    RollsBack,
    /// The last revision was rolled back or aborted.
    Rejected,
    /// A person holds it.
    Held,
    /// Nothing moves.
    Rests,
}
