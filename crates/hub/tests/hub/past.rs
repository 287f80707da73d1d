//! Answers about the past, compared with a model that keeps all reports. Reports arrive in any order, reconcilers move, and the branch is reset or
//! loses folders.

use std::collections::{BTreeMap, BTreeSet};

use hub::desired::DesiredUpdate;
use hub::questions::{deployments, history};
use hub::store::Database;
use hub::writer::Writer;
use hub_api::deployments::Deployment;
use hub_api::endpoint::Endpoint;
use hub_api::filter::Filter;
use hub_api::history::{Event, HistorySelection};
use hub_api::page::Page;
use hub_api::publication::{BranchContent, DesiredPlace, DesiredTarget, ReadProgress, Role};
use hub_api::report::{Report, Status};
use hub_api::timestamp::Timestamp;
use libtest_mimic::Trial;
use model::rollout::ReconcilerState;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::sample::{REPOSITORY, hash};
use crate::twins::{Ground, on_postgres, wait};

const BRANCH: &str = "dev";
const PLACES: [&str; 3] = ["cart", "portal", "depot"];
const HOSTS: [&str; 2] = ["berlin", "chicago"];
const COMMITS: i64 = 5;
/// The number of timestamps that reports may have. Commits are made between them.
const TIMES: usize = 14;
/// The milliseconds between two timestamps.
const STEP: i64 = 10;
const STATUSES: [Status; 3] = [Status::InProgress, Status::Success, Status::Failure];

/// A report: the numbers of the host, of the timestamp, of the status, and of the commit.
#[derive(Clone, Copy, Debug)]
struct Said {
    host: usize,
    time: usize,
    status: usize,
    commit: i64,
}

#[derive(Clone, Debug)]
enum Step {
    /// Reports that arrive together.
    Reports(Vec<Said>),
    /// The branch is observed at a commit.
    Branch(i64),
}

#[derive(Clone, Debug)]
struct Case {
    /// The place that each host names, by timestamp.
    named: Vec<Vec<Option<usize>>>,
    steps: Vec<Step>,
}

fn cases() -> impl Strategy<Value = Case> {
    let said = (0..HOSTS.len(), 0..TIMES, 0..STATUSES.len(), 1..=COMMITS);
    let said = said.prop_map(|(host, time, status, commit)| Said { host, time, status, commit });
    let step = prop_oneof![
        4 => prop::collection::vec(said, 1..4).prop_map(Step::Reports),
        1 => (1..=COMMITS).prop_map(Step::Branch),
    ];
    let named = prop::collection::vec(prop::option::weighted(0.6, 0..PLACES.len()), TIMES);
    let named = prop::collection::vec(named, HOSTS.len());
    (named, prop::collection::vec(step, 1..16)).prop_map(|(named, steps)| Case { named, steps })
}

fn millis(time: usize) -> i64 {
    (time as i64 + 1) * STEP
}

/// The time when a commit was made.
fn made(commit: i64) -> i64 {
    commit * 3 * STEP - STEP / 2
}

/// The tree of a folder at a commit; none if the folder does not exist there.
fn tree(commit: i64, place: usize) -> Option<i64> {
    let number = commit * 7 + place as i64 * 5;
    (number % 4 != 0).then_some(number % 3)
}

impl Case {
    fn report(&self, said: Said) -> Report {
        let place = self.named[said.host][said.time];
        Report {
            host: HOSTS[said.host].into(),
            reconciler: "one".into(),
            kind: "flux".into(),
            endpoint: place.and_then(|place| Endpoint::new(REPOSITORY, BRANCH, PLACES[place]).ok()),
            revision: format!("{BRANCH}@sha1:{}", hash(said.commit)),
            tree: None,
            version: None,
            workload: None,
            status: STATUSES[said.status],
            is_waiting: false,
            message: String::new(),
            observed_on: Timestamp::from_millis(millis(said.time)),
            heartbeat: None,
            labels: BTreeMap::new(),
        }
    }
}

fn publication(commit: i64) -> BranchContent {
    let place = |(number, path): (usize, &&str)| {
        let target = DesiredTarget {
            workspace: "acme".into(),
            application: "shop".into(),
            workload: (*path).into(),
            name: "edge".into(),
            environment: BRANCH.into(),
            ..DesiredTarget::default()
        };
        Some(DesiredPlace {
            path: (*path).into(),
            tree: Some(hash(9_000 + tree(commit, number)?)),
            role: Role::Application,
            environment: Some(BRANCH.into()),
            cluster_type: None,
            cluster: None,
            earlier_names: Vec::new(),
            config_version: None,
            targets: vec![target],
        })
    };
    BranchContent {
        repository: REPOSITORY.into(),
        branch: BRANCH.into(),
        commit: hash(commit),
        committed_on: Timestamp::from_millis(made(commit)),
        places: PLACES.iter().enumerate().filter_map(place).collect(),
        is_complete: true,
    }
}

/// The expected history of a host: the digests and the reports, ordered by their timestamps and then by their arrival. Of each range of equal reports, only the
/// first and the last one are kept.
#[derive(Default)]
struct Host(Vec<(i64, Said)>);

/// A range of equal reports: the first timestamp, the report, and its place.
type Run = (usize, Said, Option<usize>);

impl Host {
    fn hear(&mut self, said: Said, report: &Report) {
        let digest = report.digest();
        if self.0.iter().any(|(known, at)| (*known, at.time) == (digest, said.time)) {
            return;
        }
        let index = self.0.partition_point(|(_, known)| known.time <= said.time);
        self.0.insert(index, (digest, said));
        let is_between = |three: &[(i64, Said)]| three.iter().all(|(digest, _)| *digest == three[0].0);
        if let Some(before) = self.0.windows(3).position(is_between) {
            self.0.remove(before + 1);
        }
    }

    fn runs(&self, named: &[Option<usize>]) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut digest = None;
        for (of, said) in &self.0 {
            if digest.replace(*of) != Some(*of) {
                runs.push((said.time, *said, None));
            }
        }
        let first = runs.iter().find_map(|(time, ..)| named[*time]);
        let mut place = first;
        for run in &mut runs {
            place = named[run.0].or(place);
            run.2 = place;
        }
        runs
    }
}

/// The expected state.
#[derive(Default)]
struct Model {
    hosts: [Host; HOSTS.len()],
    /// The commits of the branch in order, with the time since when each was the last one. A reset is observed now, after all timestamps.
    branch: Vec<(i64, i64)>,
}

impl Model {
    fn see(&mut self, commit: i64) {
        let last = self.branch.last().copied();
        if last.is_some_and(|(_, last)| last == commit) {
            return;
        }
        let is_known = self.branch.iter().any(|(_, known)| *known == commit);
        let before = last.map_or(0, |(since, _)| since);
        self.branch.push((if is_known { i64::MAX } else { before.max(made(commit)) }, commit));
    }

    /// Whether content was ever desired at the place.
    fn is_place(&self, place: usize) -> bool {
        self.branch.iter().any(|(_, commit)| tree(*commit, place).is_some())
    }

    fn knows(&self, commit: i64) -> bool {
        self.branch.iter().any(|(_, known)| *known == commit)
    }

    fn desired(&self, place: usize, at: i64) -> Option<i64> {
        let (_, commit) = self.branch.iter().rev().find(|(since, _)| *since <= at)?;
        tree(*commit, place)
    }

    /// The row of a host at a timestamp, in the format of [`Row::line`].
    fn row(&self, case: &Case, (host, at): (usize, i64)) -> Option<String> {
        let runs = self.hosts[host].runs(&case.named[host]);
        let (since, said, place) = *runs.iter().rev().find(|(time, ..)| millis(*time) <= at)?;
        let place = place.filter(|place| self.is_place(*place));
        let desired = place.and_then(|place| self.desired(place, at));
        let (held, status) = (place.and_then(|place| tree(said.commit, place)), STATUSES[said.status]);
        let state = state(status, (desired, held.filter(|_| self.knows(said.commit))));
        Some(Row { host: HOSTS[host], place, status, since: millis(since), desired, held, state }.line())
    }
}

/// The status of a host and its timestamp, the desired and the held content, and the resulting state of the host.
struct Row<'a> {
    host: &'a str,
    place: Option<usize>,
    status: Status,
    since: i64,
    desired: Option<i64>,
    held: Option<i64>,
    state: Option<ReconcilerState>,
}

impl Row<'_> {
    fn line(&self) -> String {
        let Self { host, place, status, since, desired, held, state } = self;
        let place = place.map_or("-", |place| PLACES[place]);
        let state = state.map_or("-", ReconcilerState::as_str);
        format!("{host} {place} {} since {since}: {desired:?} {held:?} {state}", status.as_str())
    }
}

fn state(status: Status, (desired, held): (Option<i64>, Option<i64>)) -> Option<ReconcilerState> {
    let is_or_may_be = held.is_none() || held == desired;
    desired.map(|_| match status {
        Status::Success if held == desired => ReconcilerState::Succeeded,
        Status::Failure if is_or_may_be => ReconcilerState::Failed,
        Status::InProgress if is_or_may_be => ReconcilerState::InProgress,
        _ => ReconcilerState::Outdated,
    })
}

/// A row in the format of [`Row::line`]. The desired and the held content are the trees of its commits.
fn shown(row: &Deployment) -> String {
    let path = row.target.as_ref().map(|target| target.workload.as_str());
    let place = PLACES.iter().position(|place| Some(*place) == path);
    let number = |commit: &String| i64::from_str_radix(commit, 16).ok();
    let of = |commit: &Option<String>| tree(number(commit.as_ref()?)?, place?);
    let (desired, held) = (of(&row.desired_commit), of(&row.commit));
    let (status, since) = (row.status.unwrap(), row.since.unwrap().millis());
    Row { host: &row.host, place, status, since, desired, held, state: row.state }.line()
}

async fn rows(database: &Database, filter: &Filter, at: Option<i64>) -> BTreeSet<String> {
    let page = Page { limit: Some(100), cursor: None };
    let found = deployments(database, filter, &page, at.map(Timestamp::from_millis)).await.unwrap();
    found.items.iter().map(shown).collect()
}

async fn play(case: &Case, database: &Database) -> Model {
    let (ingest, _writer) = Writer::start(database.clone());
    let mut model = Model::default();
    for step in &case.steps {
        match step {
            Step::Reports(reports) => {
                ingest.submit(reports.iter().map(|said| case.report(*said)).collect()).await.unwrap();
                // Reports that arrive together are sorted first.
                let mut ordered = reports.clone();
                ordered.sort_by_key(|said| said.time);
                ordered.into_iter().for_each(|said| model.hosts[said.host].hear(said, &case.report(said)));
            }
            Step::Branch(commit) => {
                let before = model.branch.last().map(|(_, commit)| hash(*commit));
                let seen = ReadProgress { before, is_last: true, ..ReadProgress::default() };
                ingest.update_desired(DesiredUpdate::Observed(publication(*commit), seen)).await.unwrap();
                model.see(*commit);
            }
        }
    }
    model
}

async fn check(case: &Case, database: &Database) {
    let model = play(case, database).await;
    let all = Filter::default();
    let expected =
        |at: i64| (0..HOSTS.len()).filter_map(|host| model.row(case, (host, at))).collect::<BTreeSet<String>>();
    let times = (0..=TIMES as i64).flat_map(|number| [number * STEP, number * STEP + STEP / 2]);
    for at in times {
        assert_eq!(rows(database, &all, Some(at)).await, expected(at), "at {at}");
        for place in PLACES.iter().enumerate().filter(|(place, _)| model.is_place(*place)).map(|(_, place)| *place) {
            let filter = Filter { workload: Some(place.into()), ..Filter::default() };
            let there = expected(at).into_iter().filter(|row| row.split(' ').nth(1) == Some(place));
            assert_eq!(rows(database, &filter, Some(at)).await, there.collect(), "at {at}, {place}");
        }
    }
    assert_eq!(rows(database, &all, None).await, expected(i64::MAX), "now");
    for number in (0..HOSTS.len()).filter(|number| !model.hosts[*number].0.is_empty()) {
        check_history(case, &model, number, database).await;
    }
}

/// Checks the reports of a host, the newest first, and the time of its first report.
async fn check_history(case: &Case, model: &Model, number: usize, database: &Database) {
    let host = HOSTS[number];
    let (filter, page) =
        (Filter { host: Some(host.into()), ..Filter::default() }, Page { limit: Some(100), cursor: None });
    let happened = history(database, (&filter, &HistorySelection::default()), &page).await.unwrap();
    let reported = happened.items.iter().filter_map(|event| match event {
        Event::Reported(reported) => {
            let place = reported.target.as_ref().map_or("-", |target| target.workload.as_str());
            Some((reported.at.millis(), reported.status.unwrap(), place.to_owned()))
        }
        Event::Published(_) | Event::Promotion(_) => None,
    });
    let runs = model.hosts[number].runs(&case.named[number]);
    let expected = runs.iter().rev().map(|(time, said, place)| {
        let place = place.filter(|place| model.is_place(*place)).map_or("-", |place| PLACES[place]);
        (millis(*time), STATUSES[said.status], place.to_owned())
    });
    assert_eq!(reported.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{host}");
    let now = deployments(database, &filter, &page, None).await.unwrap().items;
    let last = model.hosts[number].0.last().map(|(_, said)| Timestamp::from_millis(millis(said.time)));
    assert_eq!(now.first().and_then(|row| row.last_report_on), last, "{host}");
}

/// Reports of the first host in order of arrival: the named place, the timestamp, the status and the commit of each.
type Arrival = &'static [&'static [(Option<usize>, usize, usize, i64)]];

/// Cases that failed in earlier versions: the commits of the branch, and then the reports.
const FOUND: [(&[i64], Arrival); 7] = [
    // A late report is the first that names a place: all reports before it are about that place.
    (&[2], &[&[(None, 0, 0, 2)], &[(None, 1, 1, 2), (Some(1), 13, 1, 2)], &[(Some(0), 9, 1, 2)]]),
    // The same, if it names the present place of the reconciler.
    (
        &[2],
        &[&[(None, 0, 0, 2)], &[(None, 1, 1, 2)], &[(Some(0), 9, 1, 2)], &[(Some(1), 11, 1, 2)], &[(Some(1), 5, 0, 2)]],
    ),
    // The first reports with a place arrive together.
    (&[2], &[&[(None, 0, 0, 2)], &[(None, 1, 1, 2)], &[(Some(0), 9, 1, 2), (Some(1), 11, 1, 2)]]),
    // At the place of an early report, its commit identifies another content than at the previous place.
    (&[5, 2], &[&[(None, 0, 0, 2), (Some(0), 8, 0, 1)], &[(Some(1), 6, 0, 1)]]),
    // A row that is written again gets the place, too.
    (&[5, 2], &[&[(None, 0, 0, 2), (None, 4, 0, 2), (Some(0), 8, 0, 1)], &[(Some(1), 2, 0, 1)]]),
    // Two reports with the same timestamp arrive together. The later one equals the stored report.
    (&[2], &[&[(None, 0, 0, 1), (None, 2, 2, 2)], &[(None, 9, 0, 1), (None, 9, 2, 2)]]),
    // A report with the timestamp of the first row equals the next row.
    (&[1], &[&[(None, 1, 2, 1)], &[(Some(0), 4, 0, 1)], &[(None, 0, 0, 1)], &[(None, 0, 2, 1)], &[(Some(1), 2, 0, 1)]]),
];

fn found((branch, arrival): (&[i64], Arrival)) -> Case {
    let mut named = vec![vec![None; TIMES]; HOSTS.len()];
    let mut steps: Vec<Step> = branch.iter().map(|commit| Step::Branch(*commit)).collect();
    for reports in arrival {
        let said = reports.iter().map(|&(place, time, status, commit)| {
            named[0][time] = place;
            Said { host: 0, time, status, commit }
        });
        steps.push(Step::Reports(said.collect()));
    }
    Case { named, steps }
}

async fn check_found(ground: impl AsyncFn() -> Ground) {
    for case in FOUND.map(found) {
        let ground = ground().await;
        check(&case, &ground.database).await;
    }
}

fn run(cases_count: u32, ground: impl AsyncFn() -> Ground) {
    let config = Config { cases: cases_count, failure_persistence: None, ..Config::default() };
    let result = TestRunner::new(config).run(&cases(), |case| {
        wait(async { check(&case, &ground().await.database).await });
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

/// The number of cases; `KALYPSO_PAST_CASES` overrides the default.
fn cases_count() -> u32 {
    std::env::var("KALYPSO_PAST_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(48)
}

pub(crate) fn trials() -> Vec<Trial> {
    let name = "past::the_past_is_what_was_reported::sqlite";
    let all = Trial::test(name, || {
        run(cases_count(), Ground::sqlite);
        Ok(())
    });
    let name = "past::what_once_went_wrong_is_right";
    let found = Trial::test(format!("{name}::sqlite"), || {
        wait(check_found(Ground::sqlite));
        Ok(())
    });
    vec![all, found, on_postgres(name, async || check_found(Ground::postgres).await)]
}
