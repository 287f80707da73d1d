//! Counts by dimensions: random fleets, whose answers are compared with a count of their reconcilers one by one.

mod expected;
mod fleet;

use hub::questions::{EarlierNames, Question, QuestionError, counts, totals};
use hub_api::counts::{CountDimension, CountOrder, CountQuery};
use hub_api::filter::Filter;
use hub_api::timestamp::Timestamp;
use hub_api::tokens::Reach;
use simulator::random::Random;

use self::fleet::{ENVIRONMENTS, Fleet, LAST, TARGETS};
use crate::twins::Ground;

twins![fleet_1, fleet_2, fleet_3, fleet_4, fleet_5, fleet_6];

/// The number of random questions about a fleet.
const QUESTIONS: usize = 120;

async fn fleet_1(ground: Ground) {
    check(ground, 1).await;
}

async fn fleet_2(ground: Ground) {
    check(ground, 2).await;
}

async fn fleet_3(ground: Ground) {
    check(ground, 3).await;
}

async fn fleet_4(ground: Ground) {
    check(ground, 4).await;
}

async fn fleet_5(ground: Ground) {
    check(ground, 5).await;
}

async fn fleet_6(ground: Ground) {
    check(ground, 6).await;
}

/// A question about a fleet.
#[derive(Debug)]
struct Asked {
    filter: Filter,
    reach: Reach,
    query: CountQuery,
}

impl Asked {
    fn question(&self) -> Question<'_> {
        Question { filter: &self.filter, reach: &self.reach, earlier: EarlierNames::NONE }
    }

    fn random(random: &mut Random) -> Self {
        let reach = reach(random);
        let at = random.percent(50).then(|| Timestamp::from_millis(random.within(&(0..=LAST))));
        let limit = |random: &mut Random| random.percent(30).then(|| random.within(&(1..=4)) as usize);
        let query = CountQuery {
            rows: dimension(random),
            columns: random.percent(70).then(|| dimension(random)),
            at,
            sort: [None, Some(CountOrder::Worst), Some(CountOrder::Name)][random.below(3) as usize],
            row_limit: limit(random),
            column_limit: limit(random),
        };
        Self { filter: filter(random, &reach), reach, query }
    }
}

fn dimension(random: &mut Random) -> CountDimension {
    match random.below(13) {
        9 | 10 => CountDimension::HostLabel("region".into()),
        11 | 12 => CountDimension::TargetLabel("ring".into()),
        number => CountDimension::NAMED[number as usize].clone(),
    }
}

fn reach(random: &mut Random) -> Reach {
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let (workspaces, environments): (&[&str], &[&str]) = match random.below(8) {
        0 => (&["web"], &[]),
        1 => (&["shop"], &[]),
        2 => (&[], &["dev"]),
        3 => (&["web"], &["prod"]),
        _ => (&[], &[]),
    };
    Reach { workspaces: names(workspaces), environments: names(environments) }
}

/// A filter by names within the reach.
fn filter(random: &mut Random, reach: &Reach) -> Filter {
    let mut filter = Filter::default();
    let text = |text: &str| Some(text.to_owned());
    let targets: Vec<_> = TARGETS.iter().filter(|target| reach.has_workspace(target.workspace)).collect();
    let target = targets[random.below(targets.len() as u64) as usize];
    match random.below(10) {
        0 => filter.workspace = text(target.workspace),
        1 => filter.workload = text(target.workload),
        2 => filter.target = text(target.name),
        3 => filter.target_selector = text("ring=early"),
        4 => (filter.workspace, filter.target) = (text(target.workspace), text(target.name)),
        _ => {}
    }
    let environment = random.pick(&ENVIRONMENTS);
    if random.percent(25) && reach.has_environment(environment) {
        filter.environment = text(environment);
    }
    match random.below(12) {
        0 => filter.selector = text("region=north"),
        1 => filter.selector = text("region!=north"),
        2 => filter.host = text("host-1"),
        3 => filter.cluster_type = text("plant"),
        4 => (filter.cluster_type, filter.selector) = (text("edge"), text("region")),
        _ => {}
    }
    if random.percent(20) {
        filter.status = text(random.pick(&["failed,outdated", "succeeded", "inProgress"]));
    }
    filter
}

async fn check(ground: Ground, seed: u64) {
    let mut random = Random::new(seed);
    let fleet = Fleet::random(&mut random);
    fleet.play(&ground.database).await;
    for _ in 0..QUESTIONS {
        let asked = Asked::random(&mut random);
        let answer = counts(&ground.database, asked.question(), &asked.query).await;
        if !expected::is_known(&fleet, &asked) {
            assert!(matches!(answer, Err(QuestionError::Unknown { .. })), "{answer:?}: {asked:?}");
            continue;
        }
        let answer = answer.unwrap_or_else(|error| panic!("{error}: {asked:?}"));
        assert_eq!(answer, expected::table(&fleet, &asked), "{asked:?}");
        if asked.query.at.is_none() && asked.filter.status.is_none() {
            assert_eq!(answer.total, totals(&ground.database, asked.question()).await.unwrap().0, "{asked:?}");
        }
    }
}
