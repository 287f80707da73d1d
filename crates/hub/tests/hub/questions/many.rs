//! Totals for many of many hosts: for so many, the hosts are not examined one by one.

use std::collections::BTreeMap;

use hub::questions;
use hub::rules::{Receiver, Rule, Threshold, WebhookSecret, evaluate, states};
use hub::store::Database;
use hub_api::counts::CountQuery;
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::rules::Condition;
use hub_api::timestamp::Timestamp;
use model::rollout::{Counts, ReconcilerState};

use crate::questions::crowd::{KINDS, Member, load};
use crate::twins::Ground;

twins![totals_equal_the_counts_of_single_hosts];

const HOSTS: i64 = 22_000;

/// The state of both reconcilers of a host.
fn state(member: Member) -> ReconcilerState {
    match (member.status(), member.is_silent()) {
        (2, _) => ReconcilerState::Succeeded,
        (3, _) => ReconcilerState::Failed,
        (_, true) => ReconcilerState::Silent,
        _ => ReconcilerState::InProgress,
    }
}

/// The expected totals of some hosts: reconcilers by state, and the number of silent ones. `reconcilers` is the number of counted reconcilers per host.
fn truth(is: impl Fn(Member) -> bool, reconcilers: i64) -> (BTreeMap<&'static str, i64>, i64) {
    let (mut truth, mut silent) = (BTreeMap::new(), 0);
    for member in (1..=HOSTS).map(Member).filter(|member| is(*member)) {
        *truth.entry(state(member).as_str()).or_default() += reconcilers;
        silent += if member.is_silent() { reconcilers } else { 0 };
    }
    (truth, silent)
}

fn parts(counts: &Counts) -> BTreeMap<&'static str, i64> {
    let Counts { expected, succeeded, failed, in_progress, silent, outdated, never_reported, .. } = *counts;
    let numbers = [succeeded, failed, in_progress, silent, outdated, never_reported];
    assert_eq!(numbers.iter().sum::<i64>(), expected);
    let named = ReconcilerState::ALL.map(ReconcilerState::as_str).into_iter().zip(numbers);
    named.filter(|(_, number)| *number > 0).collect()
}

fn filter(selector: &str) -> Filter {
    Filter { selector: Some(selector.to_owned()), ..Filter::default() }
}

/// All queries of totals give the same, expected result for a filter.
async fn check(database: &Database, filter: Filter, (is, reconcilers): (impl Fn(Member) -> bool, i64)) {
    let (expected, silent) = truth(&is, reconcilers);
    let (counts, of_these_silent) = questions::totals(database, &filter).await.unwrap();
    assert_eq!((parts(&counts), of_these_silent), (expected.clone(), silent), "{filter:?}");
    let mut sum = Counts::default();
    for environment in questions::environments(database, &filter, None).await.unwrap().items {
        add(&mut sum, &environment.counts);
    }
    assert_eq!(parts(&sum), expected, "{filter:?}");
    let mut page = Page { limit: Some(300), cursor: None };
    let mut sum = Counts::default();
    loop {
        let targets = questions::environment_targets(database, &filter, &page, None).await.unwrap();
        targets.items.iter().for_each(|target| add(&mut sum, target.counts.as_ref().unwrap()));
        page.cursor = targets.next;
        if page.cursor.is_none() {
            break;
        }
    }
    assert_eq!(parts(&sum), expected, "{filter:?}");
    for dimension in ["clusterType", "hostLabel:tier", "workload"] {
        let table = questions::counts(database, &filter, &CountQuery::by(dimension.parse().unwrap())).await.unwrap();
        assert_eq!(parts(&table.total), expected, "{filter:?} by {dimension}");
        // Each folder has one target.
        let mut sum = table.other_rows;
        table.rows.iter().for_each(|row| add(&mut sum, &row.counts));
        assert_eq!(parts(&sum), expected, "{filter:?} by {dimension}");
    }
    let drift = questions::drift(database, &filter, &Page::default(), None).await.unwrap();
    assert_eq!((parts(&drift.counts), drift.silent), (expected, silent), "{filter:?}");
}

fn add(sum: &mut Counts, counts: &Counts) {
    sum.expected += counts.expected;
    sum.succeeded += counts.succeeded;
    sum.failed += counts.failed;
    sum.in_progress += counts.in_progress;
    sum.silent += counts.silent;
    sum.outdated += counts.outdated;
    sum.never_reported += counts.never_reported;
}

async fn totals_equal_the_counts_of_single_hosts(ground: Ground) {
    let database = &ground.database;
    load(database, HOSTS).await;
    check(database, filter("store"), (|_| true, 2)).await;
    check(database, filter("!absent"), (|_| true, 2)).await;
    check(database, filter("tier=gold"), (Member::is_gold, 2)).await;
    check(database, filter("tier!=gold"), (|member| !member.is_gold(), 2)).await;
    check(database, filter("tier in (gold,silver),!absent"), (|member| member.0 % 10 < 6, 2)).await;
    check(database, filter("tier notin (gold),store=store-8"), (|member| member.0 % 1000 == 8, 2)).await;
    let of_type = Filter { cluster_type: Some("type-0".into()), ..Filter::default() };
    check(database, of_type.clone(), (|member| member.kind() == 0, 2)).await;
    let gold_of_type = Filter { selector: Some("tier=gold".into()), ..of_type };
    check(database, gold_of_type, (|member| member.kind() == 0 && member.is_gold(), 2)).await;
    let in_prod = Filter { environment: Some("prod".into()), ..filter("tier=gold") };
    check(database, in_prod, (|member| member.is_gold() && member.environment() == "prod", 2)).await;
    let of_workload = Filter { workload: Some("w-7".into()), ..filter("store") };
    // The platform's folder is for the same target.
    check(database, of_workload, (|member| member.kind() == 7, 2)).await;
    lists_agree(database).await;
    rollouts_agree(database).await;
    rules_agree(database).await;
}

/// The lists have as many rows as the totals count.
async fn lists_agree(database: &Database) {
    let gold = filter("tier=gold");
    let mut listed: BTreeMap<&str, i64> = BTreeMap::new();
    for status in ["failed", "inProgress,silent"] {
        let filter = Filter { status: Some(status.into()), ..gold.clone() };
        let mut page = Page { limit: Some(1_000), cursor: None };
        loop {
            let found = questions::deployments(database, &filter, &page, None).await.unwrap();
            found.items.iter().for_each(|row| *listed.entry(row.state.unwrap().as_str()).or_default() += 1);
            page.cursor = found.next;
            if page.cursor.is_none() {
                break;
            }
        }
    }
    let (mut counted, _) = truth(Member::is_gold, 2);
    counted.remove("succeeded");
    assert_eq!(listed, counted);
}

async fn rollouts_agree(database: &Database) {
    let of_workload = |member: Member| member.is_gold() && member.kind() == 0;
    let rollout = questions::rollout(database, "w-0@1.0", &filter("tier=gold"), None).await.unwrap();
    assert_eq!(parts(&rollout.counts), truth(of_workload, 1).0);
    let prod = rollout.environments.iter().find(|environment| environment.environment == "prod").unwrap();
    assert!(prod.attention.len() == 20 && prod.attention.iter().all(|row| row.target.is_some()));
    let list = questions::rollouts(database, &filter("tier=gold"), &Page::default(), None).await.unwrap();
    let mut sum = Counts::default();
    list.items.iter().for_each(|rollout| add(&mut sum, &rollout.counts));
    assert_eq!(parts(&sum), truth(Member::is_gold, 2).0);
}

async fn rules_agree(database: &Database) {
    let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
    let rule = Rule {
        name: "type-0".into(),
        filter: Filter { cluster_type: Some("type-0".into()), ..Filter::default() },
        condition: Condition::Failed,
        above: Threshold::Count(i64::MAX),
        lasting: std::time::Duration::ZERO,
        longer_than: std::time::Duration::ZERO,
        receiver: Receiver::new("http://127.0.0.1:1", hub::rules::NotificationFormat::Signed(secret)).unwrap(),
    };
    let rules = [rule];
    evaluate(database, &rules, Timestamp::now()).await.unwrap();
    let state = states(database, &rules).await.unwrap().remove(0);
    let (expected, _) = truth(|member| member.kind() == 0, 2);
    assert_eq!((state.matching, state.expected), (expected["failed"], expected.values().sum()));
    assert!(state.expected > 2 * HOSTS / KINDS && state.problem.is_none());
}
