//! Counts at earlier times: of few reconcilers exact, of many as the hub recorded them.

use hub::count_history::{delete_before, record, thin_out};
use hub::questions::{
    QuestionError, counts, drift, environment_targets, environments, rollout, rollout_curve, rollouts,
};
use hub::store::Database;
use hub::writer::Writer;
use hub_api::counts::{CountQuery, CountTable};
use hub_api::drift::Drift;
use hub_api::environments::{EnvironmentTargets, Environments};
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::report::{Report, Status};
use hub_api::rollouts::{Rollout, RolloutCurve, Rollouts};
use hub_api::timestamp::Timestamp;
use model::rollout::Counts;

use crate::questions::crowd::{self, load};
use crate::questions::fleet::{Fleet, WORKLOAD, hash, of_application};
use crate::twins::Ground;

twins![
    counts_of_many_are_those_that_were_recorded,
    counts_of_few_are_exact_whenever_reports_arrive,
    a_curve_has_the_progress_at_each_record,
    records_are_written_after_changes_only,
    expired_records_are_deleted,
];

/// All answers with counts.
#[derive(Clone, Debug, PartialEq)]
struct Answers {
    environments: Environments,
    targets: EnvironmentTargets,
    drift: Drift,
    rollouts: Rollouts,
    rollout: Rollout,
    counts: Vec<CountTable>,
}

impl Answers {
    async fn read(database: &Database, of: &str, at: Option<Timestamp>) -> Result<Self, QuestionError> {
        let (all, page) = (&Filter::default(), &Page::default());
        let mut answers = Self {
            environments: environments(database, all, at).await?,
            targets: environment_targets(database, all, page, at).await?,
            drift: drift(database, all, page, at).await?,
            rollouts: rollouts(database, all, page, at).await?,
            rollout: rollout(database, of, all, at).await?,
            counts: Vec::new(),
        };
        for dimension in ["environment", "clusterType", "workload", "version", "state"] {
            let query = CountQuery { at, ..CountQuery::by(dimension.parse().unwrap()) };
            answers.counts.push(counts(database, all, &query).await?);
        }
        // Reconcilers that need attention are not named for earlier times.
        answers.rollout.environments.iter_mut().for_each(|one| one.attention.clear());
        Ok(answers)
    }

    /// The answers as text, without what is not known of single reconcilers for earlier times: whether they had a heartbeat.
    fn comparable(&self) -> String {
        let text = format!("{self:#?}");
        text.lines().filter(|line| !line.contains("succeeded_without_heartbeat")).collect()
    }

    /// The same with the time of the record.
    fn recorded(mut self, on: Timestamp) -> Self {
        let on = Some(on);
        self.environments.recorded_on = on;
        self.targets.recorded_on = on;
        self.drift.recorded_on = on;
        self.rollouts.recorded_on = on;
        self.rollout.recorded_on = on;
        self.counts.iter_mut().for_each(|table| table.recorded_on = on);
        self
    }
}

fn second(number: i64) -> Timestamp {
    Timestamp::from_millis(number * 1_000)
}

async fn counts_of_many_are_those_that_were_recorded(ground: Ground) {
    let database = &ground.database;
    load(database, 3_000).await;
    let early = Answers::read(database, "w-7", Some(second(10))).await.unwrap_err();
    assert!(early.to_string().contains("not recorded yet"), "{early}");
    assert!(record(database, second(100)).await.unwrap());
    let before = Answers::read(database, "w-7", None).await.unwrap();
    let (ingest, _writer) = Writer::start(database.clone());
    // The second version is desired at all places of prod, and some hosts already have it.
    ingest.publish(crowd::second_version("prod", second(150))).await.unwrap();
    let reports = (1..=40).map(|number| crowd::second_report(number * 2, second(160)));
    ingest.submit(reports.collect()).await.unwrap();
    assert!(record(database, second(200)).await.unwrap());
    let after = Answers::read(database, "w-7", None).await.unwrap();
    assert_ne!(before.environments, after.environments);
    assert_ne!(before.rollout, after.rollout);
    for (at, expected) in [(100, &before), (149, &before), (199, &before), (200, &after), (9_999, &after)] {
        let recorded_on = second(if at < 200 { 100 } else { 200 });
        let mut found = Answers::read(database, "w-7", Some(second(at))).await.unwrap();
        let mut expected = expected.clone().recorded(recorded_on);
        if (150..200).contains(&at) {
            // The commit is listed from its time on; no record has it before the next one.
            found.rollouts.items.remove(0);
            found.rollout = expected.rollout.clone();
            found.targets = expected.targets.clone();
        }
        for row in &mut expected.rollouts.items {
            let same = found.rollouts.items.iter().find(|one| one.commit == row.commit && one.branch == row.branch);
            row.versions = same.map(|one| one.versions.clone()).unwrap_or_default();
        }
        assert_eq!(found, expected, "{at}");
    }
    let early = Answers::read(database, "w-7", Some(second(99))).await.unwrap_err();
    assert!(early.to_string().contains("are known since 1970-01-01T00:01:40"), "{early}");
    let by_hosts = CountQuery { at: Some(second(200)), ..CountQuery::by("hostLabel:tier".parse().unwrap()) };
    let refused = counts(database, &Filter::default(), &by_hosts).await.unwrap_err();
    assert!(refused.to_string().contains("at most 5000 reconcilers are counted by hosts"), "{refused}");
}

async fn counts_of_few_are_exact_whenever_reports_arrive(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    for host in ["h-1", "h-2", "h-3"] {
        fleet.submit(of_application(host, 21, 11)).await;
    }
    fleet.publish_application("prod", 12, "2.0").await;
    fleet.submit(of_application("h-1", 31, 12)).await;
    let then = Answers::read(&fleet.database, WORKLOAD, None).await.unwrap();
    fleet.submit(of_application("h-2", 51, 12)).await;
    fleet.submit(Report { status: Status::Failure, ..of_application("h-3", 61, 12) }).await;
    let now = Answers::read(&fleet.database, WORKLOAD, None).await.unwrap();
    assert_ne!(then.comparable(), now.comparable());
    for (time, expected) in [(40, &then), (70, &now)] {
        let found = Answers::read(&fleet.database, WORKLOAD, Some(Timestamp::from_millis(time))).await.unwrap();
        assert_eq!(found.comparable(), expected.comparable(), "{time}");
    }
    // A report about an earlier time arrives late.
    fleet.submit(of_application("h-4", 35, 12)).await;
    let at = Some(Timestamp::from_millis(40));
    let found = environments(&fleet.database, &Filter::default(), at).await.unwrap();
    let Counts { expected, succeeded, .. } = found.items[0].applications;
    assert_eq!((expected, succeeded, found.recorded_on), (4, 2, None));
    // The commit of the second version was not there yet.
    let at = Some(Timestamp::from_millis(11));
    let listed = rollouts(&fleet.database, &Filter::default(), &Page::default(), at).await.unwrap();
    let commits: Vec<_> = listed.items.iter().map(|one| one.commit.clone()).collect();
    assert_eq!(commits, [hash(11), hash(1)]);
}

async fn a_curve_has_the_progress_at_each_record(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    let (database, all) = (&fleet.database, Filter::default());
    let mut expected = Vec::new();
    for host in ["h-1", "h-2", "h-3"] {
        fleet.submit(of_application(host, 21, 11)).await;
    }
    assert!(record(database, second(100)).await.unwrap());
    fleet.publish_application("prod", 12, "2.0").await;
    for (number, host) in ["h-1", "h-2", "h-3"].into_iter().enumerate() {
        let now = second(110 + 20 * number as i64);
        assert!(record(database, now).await.unwrap());
        expected.push((now, rollout(database, &hash(12), &all, None).await.unwrap().counts));
        fleet.submit(of_application(host, 31, 12)).await;
    }
    assert!(record(database, second(190)).await.unwrap());
    expected.push((second(190), rollout(database, &hash(12), &all, None).await.unwrap().counts));
    for of in [hash(12), format!("{WORKLOAD}@2.0"), WORKLOAD.to_owned()] {
        let RolloutCurve { points, since, .. } = rollout_curve(database, &of, &all).await.unwrap();
        let points: Vec<_> = points.into_iter().map(|point| (point.on, point.counts)).collect();
        assert!(points.ends_with(&expected), "{of}: {points:?}");
        assert!(since.is_some());
    }
    let error = rollout_curve(database, "3.0", &all).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no workload, version or commit `3.0`");
    let of_host = Filter { host: Some("h-1".into()), ..Filter::default() };
    assert!(rollout_curve(database, WORKLOAD, &of_host).await.is_err());
}

async fn records_are_written_after_changes_only(ground: Ground) {
    let database = &ground.database;
    assert!(!record(database, second(1)).await.unwrap());
    let fleet = Fleet::new(database).await;
    fleet.submit(of_application("h-1", 21, 11)).await;
    assert!(record(database, second(30)).await.unwrap());
    assert!(!record(database, second(60)).await.unwrap());
    fleet.submit(of_application("h-2", 22, 11)).await;
    // The latest record is too recent.
    assert!(!record(database, second(35)).await.unwrap());
    assert!(record(database, second(60)).await.unwrap());
    fleet.submit(of_application("h-3", 23, 11)).await;
    // The clock was set back.
    assert!(record(database, second(50)).await.unwrap());
    assert!(!record(database, second(70)).await.unwrap());
}

async fn expired_records_are_deleted(ground: Ground) {
    let fleet = Fleet::new(&ground.database).await;
    for number in 0..10 {
        fleet.submit(of_application(&format!("h-{number}"), 21, 11)).await;
        assert!(record(&fleet.database, second(600 * number + 1)).await.unwrap());
    }
    assert_eq!(thin_out(&fleet.database, second(5_401)).await.unwrap(), 0);
    // After some days, the last record of each hour remains.
    assert_eq!(thin_out(&fleet.database, second(200_000)).await.unwrap(), 8);
    fleet.submit(of_application("h-10", 21, 11)).await;
    assert!(record(&fleet.database, second(200_000)).await.unwrap());
    // The one that was in effect remains.
    assert_eq!(delete_before(&fleet.database, second(100_000)).await.unwrap(), 1);
    let sql = "select count(*) from recorded_tally where record_id not in (select id from count_record)";
    assert_eq!(fleet.database.one::<i64>(sql, Vec::new()).await.unwrap(), 0);
}
