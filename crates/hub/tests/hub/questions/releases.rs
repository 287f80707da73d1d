//! Releases in platform folders: random fleets, whose answers are compared with a count of their hosts one by one.

use std::collections::{BTreeMap, BTreeSet};

use hub::questions::{EarlierNames, Question, compare, deployments, history, rollout, rollout_hosts};
use hub::store::Database;
use hub::writer::Writer;
use hub_api::compare::Compared;
use hub_api::endpoint::Endpoint;
use hub_api::filter::Filter;
use hub_api::history::{Event, HistorySelection};
use hub_api::page::Page;
use hub_api::publication::{BranchContent, DesiredPlace, DesiredTarget, DesiredVersion, Role};
use hub_api::report::{Report, Status};
use hub_api::rollouts::Rollout;
use hub_api::timestamp::Timestamp;
use hub_api::tokens::Reach;
use model::rollout::ReconcilerState;
use simulator::random::Random;

use crate::sample;
use crate::twins::Ground;

twins![
    random_fleets_are_counted_as_their_hosts_one_by_one,
    a_release_with_several_keys_is_found_by_each_version,
    a_place_that_returns_to_earlier_content_has_its_release_again,
    a_pin_without_a_change_of_content_is_counted_apart,
    a_token_of_one_workspace_gets_no_messages_about_a_whole_cluster,
];

/// The number of fleets on SQLite, and on PostgreSQL, where a question takes ten times as long.
const FLEETS: [u64; 2] = [170, 30];
/// The time between two commits.
pub(super) const COMMITTED: i64 = 20_000;
/// When hosts report.
const REPORTED: [i64; 3] = [30_000, 90_000, 150_000];
/// The times of the questions about earlier times: before all reports, and between them.
const TIMES: [i64; 3] = [10_000, 35_000, 110_000];
pub(super) const REPOSITORY: &str = "https://git.example/acme/clinics";
const RELEASES: [&str; 4] = ["2.2.0", "2.3.0", "2.4.0", "v2.5.0@41c77fe5de0c8ae0d5ca2ae0d5ca2ae0d5ca2ae0"];
const TARGETS: [&str; 2] = ["portal-a", "portal-b"];

/// What a folder of an assignment has at a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Content {
    release: &'static str,
    config: u64,
    is_pinned: bool,
}

/// The folders of the workload's targets at each place, by place and target.
type State = BTreeMap<(usize, &'static str), Content>;

/// A host: its place, the folder that its reconciler applies (none: that of the place), and what it reports, in the order of time.
struct Host {
    name: String,
    place: usize,
    target: Option<&'static str>,
    reports: Vec<Reported>,
}

/// What a host reported: when, and about which commit.
#[derive(Clone, Copy)]
struct Reported {
    at: i64,
    status: Status,
    commit: usize,
}

impl Host {
    /// Its last report, until now or until a timestamp.
    fn last(&self, at: Option<i64>) -> Option<Reported> {
        self.reports.iter().rfind(|report| at.is_none_or(|at| report.at <= at)).copied()
    }
}

struct Fleet {
    number: u64,
    /// Whether each place is a cluster, whose folder is counted together with those of other clusters.
    are_clusters: Vec<bool>,
    /// The states since each commit.
    states: Vec<State>,
    hosts: Vec<Host>,
}

impl Fleet {
    fn random(number: u64) -> Self {
        let mut random = Random::new(number);
        let are_clusters: Vec<bool> = (0..2 + random.below(6)).map(|_| random.percent(70)).collect();
        let mut state = State::new();
        for place in 0..are_clusters.len() {
            for target in TARGETS.into_iter().take(1 + random.below(2) as usize) {
                state.insert((place, target), Content { release: "2.2.0", config: 0, is_pinned: false });
            }
        }
        let mut states = vec![state.clone()];
        for _ in 0..=random.below(5) {
            let keys: Vec<_> = state.keys().copied().collect();
            for key in keys {
                let Some(content) = state.get_mut(&key) else { continue };
                match random.below(10) {
                    0..4 => content.release = random.pick(&RELEASES),
                    4 => content.config += 1,
                    5 => content.is_pinned = !content.is_pinned,
                    6 => drop(state.remove(&key)),
                    _ => {}
                }
            }
            states.push(state.clone());
        }
        let mut hosts = Vec::new();
        for place in 0..are_clusters.len() {
            for index in 0..random.below(4) {
                let target = random.percent(40).then(|| TARGETS[random.below(2) as usize]);
                let target = target.filter(|target| states[0].contains_key(&(place, *target)));
                let last = states.len() as u64;
                let mut report = |at: i64| {
                    let status = [Status::Success, Status::Success, Status::Failure, Status::InProgress];
                    let commit = if random.percent(50) { last - 1 } else { random.below(last) } as usize;
                    Reported { at, status: status[random.below(4) as usize], commit }
                };
                let mut reports: Vec<_> = REPORTED.map(&mut report).into();
                // The reconciler of a folder has reported a commit with the folder.
                let is_there =
                    |commit: usize| target.is_none_or(|target| states[commit].contains_key(&(place, target)));
                reports.retain(|report| is_there(report.commit));
                let name = format!("host-{number}-{place}-{index}");
                hosts.extend((!reports.is_empty()).then_some(Host { name, place, target, reports }));
            }
        }
        Self { number, are_clusters, states, hosts }
    }

    fn workload(&self) -> String {
        format!("portal-{}", self.number)
    }

    fn environment(&self) -> String {
        format!("prod-{}", self.number)
    }

    fn places(&self, state: &State) -> Vec<DesiredPlace> {
        let mut places = Vec::new();
        for place in 0..self.are_clusters.len() {
            let name = place_name(place);
            let folder = |path: String, tree: String, targets: Vec<DesiredTarget>| DesiredPlace {
                path,
                tree: Some(tree),
                role: Role::Platform,
                environment: Some(self.environment()),
                cluster_type: Some("clinic".into()),
                cluster: self.are_clusters[place].then(|| name.clone()),
                earlier_names: Vec::new(),
                config_version: None,
                targets,
            };
            let mut all = String::new();
            for target in TARGETS {
                let Some(content) = state.get(&(place, target)) else { continue };
                let tree = tree(&format!("{place} {target} {} {}", content.release, content.config));
                all.push_str(&tree);
                let version = DesiredVersion { pinned: content.is_pinned, ..DesiredVersion::named(content.release) };
                let targets = vec![DesiredTarget {
                    workspace: "acme".into(),
                    application: "clinics".into(),
                    workload: self.workload(),
                    name: target.into(),
                    environment: self.environment(),
                    version: Some(version),
                    ..DesiredTarget::default()
                }];
                places.push(folder(format!("{name}/{target}"), tree, targets));
            }
            places.push(folder(name.clone(), tree(&all), Vec::new()));
        }
        places
    }

    fn commit(&self, index: usize) -> String {
        sample::hash(self.number as i64 * 100 + index as i64 + 1)
    }

    async fn publish(&self, ingest: &Writer) {
        for (index, state) in self.states.iter().enumerate() {
            let publication = BranchContent {
                repository: REPOSITORY.into(),
                branch: self.environment(),
                commit: self.commit(index),
                committed_on: Timestamp::from_millis(COMMITTED * (index as i64 + 1)),
                places: self.places(state),
                is_complete: true,
            };
            ingest.publish(publication).await.unwrap();
        }
        let report = |(host, reported): (&Host, Reported)| {
            let place = place_name(host.place);
            let path = host.target.map_or_else(|| place.clone(), |target| format!("{place}/{target}"));
            Report {
                host: host.name.clone(),
                reconciler: "flux".into(),
                endpoint: Endpoint::new(REPOSITORY, &self.environment(), &path).ok(),
                revision: self.commit(reported.commit),
                status: reported.status,
                message: "portal/values.yaml".into(),
                ..sample::report("", "prod", "", sample::Applied { commit: 1, at: reported.at })
            }
        };
        let reports: Vec<_> = self
            .hosts
            .iter()
            .flat_map(|host| host.reports.iter().map(move |reported| (host, *reported)))
            .map(report)
            .collect();
        if !reports.is_empty() {
            ingest.submit(reports).await.unwrap();
        }
    }

    /// What was desired, now or at a timestamp. A pin that changes no content counts from the beginning of that content.
    fn desired(&self, at: Option<i64>) -> State {
        let published = at.map_or(self.states.len(), |at| (at / COMMITTED).try_into().unwrap()).min(self.states.len());
        let (before, after) = self.states.split_at(published);
        let mut state = before.last().cloned().unwrap_or_default();
        for (key, content) in &mut state {
            let later = after.iter().map_while(|state| state.get(key));
            let same = later.take_while(|later| (later.release, later.config) == (content.release, content.config));
            content.is_pinned = same.last().map_or(content.is_pinned, |last| last.is_pinned);
        }
        state
    }

    /// The state of each expected host, by name, and the numbers of the others: superseded, elsewhere, pinned. `release`: none for the desired content.
    fn count(&self, release: Option<&str>, at: Option<i64>) -> (BTreeMap<String, &'static str>, [i64; 3]) {
        let (mut expected, mut numbers) = (BTreeMap::new(), [0; 3]);
        let now = self.desired(at);
        for host in &self.hosts {
            let Some(Reported { status, commit, .. }) = host.last(at) else { continue };
            let mut folders = Vec::new();
            for target in TARGETS {
                let is_applied = host.target.is_none_or(|own| own == target);
                if let Some(desired) = now.get(&(host.place, target)).filter(|_| is_applied) {
                    folders.push((desired, self.states[commit].get(&(host.place, target))));
                }
            }
            if folders.is_empty() {
                continue;
            }
            let wants = |desired: &Content| release.is_none_or(|release| desired.release == release);
            let has = |(desired, held): &(&Content, Option<&Content>)| match (held, release) {
                (None, _) => false,
                (Some(held), Some(release)) => held.release == release,
                (Some(held), None) => (held.release, held.config) == (desired.release, desired.config),
            };
            let wanted: Vec<_> = folders.iter().filter(|(desired, _)| wants(desired)).collect();
            let is_pinned = folders.iter().all(|(desired, _)| desired.is_pinned);
            let holds = if wanted.is_empty() { folders.iter().any(has) } else { wanted.iter().all(|one| has(one)) };
            if wanted.is_empty() && (!holds || is_pinned) {
                numbers[if is_pinned { 2 } else { 1 }] += 1;
                continue;
            }
            numbers[0] += i64::from(wanted.is_empty());
            numbers[2] += i64::from(is_pinned && release.is_none());
            let state = match (status, holds) {
                (Status::Success, true) => "succeeded",
                (Status::Failure, true) => "failed",
                (Status::InProgress, true) => "inProgress",
                _ => "outdated",
            };
            expected.insert(host.name.clone(), state);
        }
        (expected, numbers)
    }

    async fn check(&self, database: &Database) {
        self.check_compared(database).await;
        let filter = Filter { workload: Some(self.workload()), ..Filter::default() };
        for at in [None].into_iter().chain(TIMES.map(Some)) {
            self.check_deployments(database, filter.clone(), at).await;
        }
        for at in [None].into_iter().chain(TIMES.map(Some)) {
            self.check_releases(database, at).await;
        }
        for host in self.hosts.iter().take(1) {
            let filter = Filter { host: Some(host.name.clone()), ..Filter::default() };
            self.check_deployments(database, filter, None).await;
        }
    }

    /// Each release, and the desired content, at a time.
    async fn check_releases(&self, database: &Database, at: Option<i64>) {
        let desired: BTreeSet<_> = self.desired(at).values().map(|content| content.release).collect();
        let known: BTreeSet<_> = self.states.iter().flat_map(State::values).map(|content| content.release).collect();
        for release in known.into_iter().map(Some).chain([None]) {
            let of = release.map_or_else(|| self.workload(), |release| format!("{}@{release}", self.workload()));
            let then = at.map(Timestamp::from_millis);
            let answer = rollout(database, &of, &Filter::default(), then).await.unwrap();
            let (hosts, [superseded, elsewhere, pinned]) = self.count(release, at);
            let row = answer.environments.first().cloned().unwrap_or_default();
            let count = |state: &str| hosts.values().filter(|one| **one == state).count() as i64;
            let counts = row.counts;
            assert_eq!(
                [counts.expected, counts.succeeded, counts.failed, counts.in_progress, counts.outdated],
                [hosts.len() as i64, count("succeeded"), count("failed"), count("inProgress"), count("outdated")],
                "{of} {at:?}"
            );
            assert_eq!([row.superseded, row.elsewhere, row.pinned], [superseded, elsewhere, pinned], "{of} {at:?}");
            let is_desired = release.map_or(!desired.is_empty(), |release| desired.contains(release));
            assert_eq!(row.desired, is_desired, "{of} {at:?}");
            let others: Vec<_> = desired.iter().copied().filter(|one| release.is_none_or(|own| own != *one)).collect();
            assert_eq!(if release.is_none() { &row.versions } else { &row.instead }, &others, "{of} {at:?}");
            let is_done = counts.succeeded == counts.expected && !(is_desired && elsewhere > 0);
            assert_eq!(answer.done, is_done, "{of} {at:?}");
            let failed: BTreeSet<_> = row.attention.iter().map(|row| row.host.clone()).collect();
            let expected = hosts.iter().filter(|(_, state)| **state == "failed").map(|(name, _)| name.clone());
            assert_eq!(failed, expected.collect(), "{of} {at:?}");
            if at.is_none() {
                self.check_list(database, (&of, &hosts)).await;
            }
        }
    }

    /// The release and the state of each folder that each host has, now or at a timestamp.
    async fn check_deployments(&self, database: &Database, filter: Filter, at: Option<i64>) {
        let page = Page { limit: Some(1_000), cursor: None };
        let answer = deployments(database, &filter, &page, at.map(Timestamp::from_millis)).await.unwrap();
        assert_eq!(answer.next, None);
        let mut found = BTreeMap::new();
        for row in answer.items {
            let Some(target) = row.target else { continue };
            let state = row.state.map_or("-", ReconcilerState::as_str);
            let before =
                found.insert((row.host, target.target), format!("{} {state}", row.version.unwrap_or_default()));
            assert!(before.is_none(), "a folder is listed twice");
        }
        let (mut expected, now) = (BTreeMap::new(), self.desired(at));
        for host in self.hosts.iter().filter(|host| filter.host.as_ref().is_none_or(|name| *name == host.name)) {
            let Some(Reported { status, commit, .. }) = host.last(at) else { continue };
            for target in TARGETS.into_iter().filter(|target| host.target.is_none_or(|own| own == *target)) {
                let key = (host.place, target);
                let (desired, held) = (now.get(&key), self.states[commit].get(&key));
                if desired.is_none() && held.is_none() {
                    continue;
                }
                let content = |side: Option<&Content>| side.map(|content| (content.release, content.config));
                let state = match (desired, status, content(desired) == content(held)) {
                    (None, ..) => "-",
                    (_, Status::Success, true) => "succeeded",
                    (_, Status::Failure, true) => "failed",
                    (_, Status::InProgress, true) => "inProgress",
                    _ => "outdated",
                };
                let release = held.map_or("", |content| content.release);
                expected.insert((host.name.clone(), target.to_owned()), format!("{release} {state}"));
            }
        }
        assert_eq!(found, expected, "{filter:?} {at:?}");
    }

    /// The list of a rollout's hosts, in pages.
    async fn check_list(&self, database: &Database, (of, hosts): (&str, &BTreeMap<String, &'static str>)) {
        let (mut listed, mut page) = (BTreeMap::new(), Page { limit: Some(3), cursor: None });
        loop {
            let answer = rollout_hosts(database, of, &Filter::default(), &page).await.unwrap();
            for row in answer.items {
                assert_eq!(row.target.map(|target| target.workload), Some(self.workload()), "{of}");
                let state = row.state.unwrap().as_str();
                // A host with several targets has a row for each.
                assert_eq!(*listed.entry(row.host).or_insert(state), state, "{of}");
            }
            page.cursor = answer.next;
            if page.cursor.is_none() {
                break;
            }
        }
        assert_eq!(&listed, hosts, "{of}");
    }

    /// The environment compared with another one, in which the workload is absent.
    async fn check_compared(&self, database: &Database) {
        let compared = Compared { from: self.environment(), to: "empty".into(), ..Compared::default() };
        let answer = compare(database, &compared, &Filter::default(), &Page::default()).await.unwrap();
        for row in answer.items {
            let side = row.from.unwrap();
            let now = self.states.last().unwrap();
            let of_target: BTreeMap<_, _> = now.iter().filter(|((_, target), _)| **target == *side.target).collect();
            let desired: BTreeSet<_> = of_target.values().map(|content| content.release).collect();
            let desired = desired.into_iter().collect::<Vec<_>>().join(", ");
            assert_eq!(side.version.unwrap_or_default(), desired, "{}", self.environment());
            let mut holding: BTreeMap<String, i64> = BTreeMap::new();
            for host in &self.hosts {
                let key = TARGETS.into_iter().find(|target| *target == side.target).map(|target| (host.place, target));
                let key = key.filter(|key| of_target.contains_key(key));
                let Some(key) = key.filter(|(_, target)| host.target.is_none_or(|own| own == *target)) else {
                    continue;
                };
                let held = host
                    .last(None)
                    .and_then(|report| self.states[report.commit].get(&key))
                    .map_or("", |content| content.release);
                *holding.entry(held.to_owned()).or_default() += 1;
            }
            let found = side.holding.into_iter().map(|held| (held.version.unwrap_or_default(), held.reconcilers));
            assert_eq!(found.collect::<BTreeMap<_, _>>(), holding, "{}: {}", self.environment(), side.target);
        }
    }
}

fn place_name(place: usize) -> String {
    format!("clinic-{place}")
}

/// A tree for a text: the same for the same text.
pub(super) fn tree(text: &str) -> String {
    let number = text.bytes().fold(7_u64, |number, byte| number.wrapping_mul(31).wrapping_add(u64::from(byte)));
    format!("{number:040x}")
}

async fn random_fleets_are_counted_as_their_hosts_one_by_one(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    let empty = Fleet { states: vec![State::new()], hosts: Vec::new(), ..Fleet::random(0) };
    let publication = BranchContent {
        repository: REPOSITORY.into(),
        branch: "empty".into(),
        commit: sample::hash(99),
        committed_on: Timestamp::from_millis(1),
        places: vec![DesiredPlace { environment: Some("empty".into()), ..empty.places(&State::new()).remove(0) }],
        is_complete: true,
    };
    ingest.publish(publication).await.unwrap();
    let [on_sqlite, on_postgres] = FLEETS;
    let numbers = if ground.postgres.is_some() { on_sqlite + 1..=on_sqlite + on_postgres } else { 1..=on_sqlite };
    let fleets: Vec<_> = numbers.map(Fleet::random).collect();
    let mut all = [0; 3];
    for fleet in &fleets {
        fleet.publish(&ingest).await;
        let numbers = fleet.count(Some("2.4.0"), None).1;
        all = [0, 1, 2].map(|index| all[index] + numbers[index]);
    }
    assert!(all.iter().all(|number| *number > 0), "superseded, elsewhere, pinned: {all:?}");
    for fleet in &fleets {
        fleet.check(&ground.database).await;
    }
}

/// One place with one target, and its content.
fn small(number: u64, releases: &[(&'static str, bool)]) -> Fleet {
    let state = |(release, is_pinned): &(&'static str, bool)| {
        let content = Content { release, config: 0, is_pinned: *is_pinned };
        State::from([((0, TARGETS[0]), content)])
    };
    Fleet { number, are_clusters: vec![true], states: releases.iter().map(state).collect(), hosts: Vec::new() }
}

fn host(name: &str, commit: usize) -> Host {
    failing(name, (Status::Success, commit))
}

fn failing(name: &str, (status, commit): (Status, usize)) -> Host {
    Host { name: name.into(), place: 0, target: None, reports: vec![Reported { at: 100_000, status, commit }] }
}

async fn a_release_with_several_keys_is_found_by_each_version(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    let fleet = small(1, &[("tag=2.4.0,version=2.4.0-1", false)]);
    Fleet { hosts: vec![host("berlin", 0)], ..fleet }.publish(&ingest).await;
    let ask = async |of: &str| {
        let answer: Result<Rollout, _> = rollout(&ground.database, of, &Filter::default(), None).await;
        answer.map_or_else(|error| error.to_string(), |answer| format!("{} there", answer.counts.succeeded))
    };
    for version in ["2.4.0", "2.4.0-1", "tag=2.4.0,version=2.4.0-1"] {
        assert_eq!(ask(&format!("portal-1@{version}")).await, "1 there");
    }
    let error = ask("portal-1@2.4").await;
    assert_eq!(
        error,
        "there is no workload, version or commit `portal-1@2.4`; did you mean `portal-1@tag=2.4.0,version=2.4.0-1`?"
    );
}

async fn a_place_that_returns_to_earlier_content_has_its_release_again(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    let fleet = small(1, &[("2.3.0", false), ("2.4.0", false), ("2.3.0", false)]);
    let mut unknown = fleet.places(&fleet.states[2]);
    unknown.iter_mut().flat_map(|place| &mut place.targets).for_each(|target| target.version = None);
    let hosts = vec![host("berlin", 2), host("chicago", 1)];
    let fleet = Fleet { states: fleet.states[..2].to_vec(), ..fleet };
    fleet.publish(&ingest).await;
    let publication = BranchContent {
        repository: REPOSITORY.into(),
        branch: fleet.environment(),
        commit: fleet.commit(2),
        committed_on: Timestamp::from_millis(3 * COMMITTED),
        places: unknown,
        is_complete: true,
    };
    ingest.publish(publication).await.unwrap();
    Fleet { states: Vec::new(), hosts, ..fleet }.publish(&ingest).await;
    let answer = rollout(&ground.database, "portal-1@2.3.0", &Filter::default(), None).await.unwrap();
    assert_eq!((answer.counts.succeeded, answer.counts.outdated, answer.done), (1, 1, false));
    let page = deployments(&ground.database, &Filter::default(), &Page::default(), None).await.unwrap();
    assert_eq!(page.items.len(), 2);
}

async fn a_token_of_one_workspace_gets_no_messages_about_a_whole_cluster(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    let fleet = small(1, &[("2.3.0", false)]);
    Fleet { hosts: vec![failing("berlin", (Status::Failure, 0))], ..fleet }.publish(&ingest).await;
    // A workload of another team is in the folder that the cluster reports.
    let messages = |items: Vec<Event>| {
        items.into_iter().filter_map(|item| match item {
            Event::Reported(reported) => Some((reported.host, reported.message)),
            _ => None,
        })
    };
    let filter = Filter::default();
    for (workspaces, message) in [(Vec::new(), Some("portal/values.yaml")), (vec!["acme".to_owned()], None)] {
        let reach = Reach { workspaces, ..Reach::ALL };
        let question = Question {
            filter: &Filter { workload: Some("portal-1".into()), ..filter.clone() },
            reach: &reach,
            earlier: EarlierNames::NONE,
        };
        let rows = deployments(&ground.database, question, &Page::default(), None).await.unwrap().items;
        let every = HistorySelection::default();
        let events = history(&ground.database, (question, &every), &Page::default()).await.unwrap().items;
        assert_eq!(messages(events).collect::<Vec<_>>(), [("berlin".to_owned(), message.map(str::to_owned))]);
        let of = "portal-1@2.3.0";
        let listed = rollout_hosts(&ground.database, of, question, &Page::default()).await.unwrap().items;
        let answer = rollout(&ground.database, of, question, None).await.unwrap();
        let attention = answer.environments.into_iter().flat_map(|one| one.attention);
        for row in rows.into_iter().chain(listed).chain(attention) {
            assert_eq!((row.host.as_str(), row.message.as_deref()), ("berlin", message));
        }
    }
}

async fn a_pin_without_a_change_of_content_is_counted_apart(ground: Ground) {
    let (ingest, _writer) = Writer::start(ground.database.clone());
    let fleet = small(1, &[("2.3.0", false), ("2.3.0", true)]);
    Fleet { hosts: vec![host("berlin", 0)], ..fleet }.publish(&ingest).await;
    let next = small(2, &[("2.4.0", false)]);
    Fleet { hosts: vec![host("chicago", 0)], ..next }.publish(&ingest).await;
    let answer = rollout(&ground.database, "portal-1", &Filter::default(), None).await.unwrap();
    let row = &answer.environments[0];
    assert_eq!((row.counts.succeeded, row.pinned, answer.done), (1, 1, true));
    let of_version = rollout(&ground.database, "portal-1@2.3.0", &Filter::default(), None).await.unwrap();
    assert_eq!((of_version.counts.succeeded, of_version.environments[0].pinned), (1, 0));
}
