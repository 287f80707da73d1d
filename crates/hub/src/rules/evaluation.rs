//! Evaluates the rules: counts reconcilers, updates the states of rules and adds notifications.

use std::time::{Duration, Instant};

use hub_api::deployments::Deployment;
use hub_api::drift::DriftKind;
use hub_api::filter::Filter;
use hub_api::limits::PAGE_MAX;
use hub_api::page::Page;
use hub_api::rules::{Condition, Phase, RuleState};
use hub_api::timestamp::Timestamp;
use serde_json::{Value as Json, json};

use super::Rule;
use super::notifications::{self, New};
use super::state::{Publication, StoredState};
use crate::limits::{NOTIFICATION_EXAMPLES, NOTIFICATION_MESSAGE_CHARACTERS};
use crate::questions::{self, QuestionError};
use crate::store::{Database, DatabaseError, FromColumn, SqlValue, Transaction};

/// Evaluates each rule that no other replica has just evaluated. Returns the number of rules in each phase: `ok`, `pending`, `firing`.
///
/// # Errors
/// The database can't be reached, or returns an error. The rules before the failing one are evaluated.
pub async fn evaluate(database: &Database, rules: &[Rule], now: Timestamp) -> Result<[usize; 3], DatabaseError> {
    let mut phases = [0; 3];
    for rule in rules {
        let phase = match evaluate_rule(database, rule, now).await {
            Ok(phase) => phase,
            Err(QuestionError::Database(error)) => return Err(error),
            Err(error) => {
                tracing::warn!(rule = rule.name, %error, "a rule can't be evaluated");
                Phase::Ok
            }
        };
        phases[phase as usize] += 1;
    }
    Ok(phases)
}

async fn evaluate_rule(database: &Database, rule: &Rule, now: Timestamp) -> Result<Phase, QuestionError> {
    let before = state(database, rule, now).await?;
    if before.is_fresh(now) {
        return Ok(before.phase);
    }
    let started = Instant::now();
    let measured = match measure(database, rule, now).await {
        // The next evaluation tries again.
        Err(QuestionError::Busy) => return Ok(before.phase),
        Err(error @ QuestionError::Wrong { .. }) => {
            tracing::warn!(rule = rule.name, %error, "a rule can't be evaluated");
            return note_problem(database, rule, &error.to_string()).await.map(|()| before.phase);
        }
        measured => measured?,
    };
    let took = started.elapsed();
    let Measured { matching, expected } = measured;
    let (after, publication) = before.next(rule.above.is_exceeded(matching, expected), rule.lasting, now);
    let new = match publication {
        Some(publication) => {
            // The notification about the end has the time of the beginning.
            let since = if publication == Publication::Firing { after.since } else { before.since };
            let examples =
                if publication == Publication::Firing { examples(database, rule).await? } else { Vec::new() };
            let change = PhaseChange { publication, since, at: now };
            Some(New { kind: kind(publication), body: change.body(rule, measured, examples) })
        }
        None => None,
    };
    let mut transaction = database.begin().await?;
    if locked(&mut transaction, rule).await? != Some(before) {
        // Another replica evaluated the rule first.
        return Ok(before.phase);
    }
    let dialect = transaction.dialect();
    let sql = format!(
        "update rule_state set phase = $1, since_on = {}, evaluated_on = {}, matching = $4, expected = $5, problem = null, \
         took_ms = $6 where name = $7",
        dialect.instant("$2"),
        dialect.instant("$3")
    );
    let mut values = vec![SqlValue::from(after.phase.as_str()), after.since.into(), now.into()];
    values.extend([matching.into(), expected.into(), millis(took).into(), SqlValue::from(rule.name.as_str())]);
    transaction.execute(&sql, values).await?;
    if let Some(new) = &new {
        notifications::add(&mut transaction, &rule.name, new, now).await?;
    }
    transaction.commit().await?;
    if let Some(publication) = publication {
        tracing::info!(rule = rule.name, state = kind(publication), matching, expected, "a rule has changed its state");
    }
    Ok(after.phase)
}

/// Stores why a rule can't be evaluated. Its phase is unknown, and no notification is sent.
async fn note_problem(database: &Database, rule: &Rule, problem: &str) -> Result<(), QuestionError> {
    let mut transaction = database.begin().await?;
    let sql = "update rule_state set problem = $1 where name = $2";
    transaction.execute(sql, vec![problem.into(), rule.name.as_str().into()]).await?;
    Ok(transaction.commit().await?)
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn kind(publication: Publication) -> &'static str {
    match publication {
        Publication::Firing => "firing",
        Publication::Resolved => "resolved",
    }
}

/// Reads the state of a rule. A new rule is added in the phase `ok`.
async fn state(database: &Database, rule: &Rule, now: Timestamp) -> Result<StoredState, DatabaseError> {
    let mut transaction = database.begin_reading().await?;
    if let Some(state) = read(&mut transaction, rule, "").await? {
        return Ok(state);
    }
    drop(transaction);
    let mut transaction = database.begin().await?;
    let dialect = transaction.dialect();
    let sql = format!(
        "insert into rule_state (name, phase, since_on, evaluated_on) values ($1, 'ok', {}, {}) on conflict (name) do nothing",
        dialect.instant("$2"),
        dialect.instant("$3")
    );
    transaction.execute(&sql, vec![rule.name.as_str().into(), now.into(), Timestamp::MIN.into()]).await?;
    let state = read(&mut transaction, rule, "").await?;
    transaction.commit().await?;
    Ok(state.unwrap_or_default())
}

async fn locked(transaction: &mut Transaction, rule: &Rule) -> Result<Option<StoredState>, DatabaseError> {
    let lock = transaction.dialect().for_update("s");
    read(transaction, rule, &lock).await
}

impl FromColumn for Phase {
    const EXPECTED: &'static str = "the phase of a rule";

    fn from_value(value: SqlValue) -> Option<Self> {
        Self::parse(&String::from_value(value)?)
    }
}

async fn read(transaction: &mut Transaction, rule: &Rule, lock: &str) -> Result<Option<StoredState>, DatabaseError> {
    let dialect = transaction.dialect();
    let (since, evaluated) = (dialect.millis("s.since_on"), dialect.millis("s.evaluated_on"));
    let sql = format!("select s.phase, {since}, {evaluated}, s.took_ms from rule_state s where s.name = $1{lock}");
    let found: Option<(Phase, _, _, usize)> = transaction.first(&sql, vec![rule.name.as_str().into()]).await?;
    Ok(found.map(|(phase, since, evaluated_on, took_ms)| StoredState {
        phase,
        since,
        evaluated_on,
        took: Duration::from_millis(took_ms as u64),
    }))
}

/// What a rule measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Measured {
    /// The number of reconcilers that the rule counts.
    matching: i64,
    /// The number of all that are expected.
    expected: i64,
}

async fn measure(database: &Database, rule: &Rule, now: Timestamp) -> Result<Measured, QuestionError> {
    let counted = match rule.condition {
        Condition::Drifting => drifting(database, &rule.filter, now.before(rule.longer_than)).await,
        condition => {
            let totals = questions::totals(database, &rule.filter).await;
            totals.map(|(counts, silent)| Measured {
                matching: condition.count(&counts, silent),
                expected: counts.expected,
            })
        }
    };
    match counted {
        Ok(counted) => Ok(counted),
        // A rule can be configured before the objects in its filter exist.
        Err(QuestionError::Unknown { .. }) => Ok(Measured::default()),
        Err(error) => Err(error),
    }
}

/// How many reconcilers do not have content that was desired before `horizon`, and how many are expected.
async fn drifting(database: &Database, filter: &Filter, horizon: Timestamp) -> Result<Measured, QuestionError> {
    let mut page = Page { cursor: None, limit: Some(PAGE_MAX) };
    let mut matching = 0;
    loop {
        // The content that has been desired for the longest time comes first.
        let drift = questions::drift(database, filter, &page, None).await?;
        let old = drift.items.iter().take_while(|item| item.desired_since < horizon);
        matching += old.map(|item| item.counts.expected - item.counts.succeeded).sum::<i64>();
        let is_over = drift.items.last().is_none_or(|last| last.desired_since >= horizon);
        match drift.next {
            Some(next) if !is_over => page.cursor = Some(next),
            _ => return Ok(Measured { matching, expected: drift.counts.expected }),
        }
    }
}

/// A change of the phase of a rule that receivers are notified of.
struct PhaseChange {
    publication: Publication,
    /// Since when the rule fires, or fired.
    since: Timestamp,
    at: Timestamp,
}

impl PhaseChange {
    /// The body of the notification. All attempts send the same body.
    fn body(&self, rule: &Rule, Measured { matching, expected }: Measured, examples: Vec<Json>) -> String {
        let share = if expected == 0 { 0.0 } else { (matching as f64 * 100_000.0 / expected as f64).round() / 1_000.0 };
        let mut data = json!({
            "rule": rule.name,
            "state": kind(self.publication),
            "condition": rule.condition,
            "above": rule.above.to_string(),
            "forSeconds": rule.lasting.as_secs(),
            "matching": matching,
            "expected": expected,
            "sharePercent": share,
            "since": self.since,
            "examples": examples,
        });
        if let (Some(data), Some(seconds)) = (data.as_object_mut(), rule.longer_than_seconds()) {
            data.insert("longerThanSeconds".to_owned(), seconds.into());
        }
        if let (Some(data), Ok(Json::Object(filter))) = (data.as_object_mut(), serde_json::to_value(&rule.filter)) {
            data.extend(filter);
        }
        json!({"type": format!("rule.{}", kind(self.publication)), "timestamp": self.at, "data": data}).to_string()
    }
}

/// Examples of the reconcilers that a rule counts.
async fn examples(database: &Database, rule: &Rule) -> Result<Vec<Json>, QuestionError> {
    let page = Page { cursor: None, limit: Some(NOTIFICATION_EXAMPLES) };
    let found = match rule.condition.statuses() {
        Some(statuses) => {
            let filter = Filter { status: Some(statuses.to_owned()), ..rule.filter.clone() };
            questions::deployments(database, &filter, &page, None).await?
        }
        None => questions::drift_hosts(database, DriftKind::Silent, &rule.filter, &page).await?,
    };
    Ok(found.items.iter().map(example).collect())
}

impl Rule {
    fn longer_than_seconds(&self) -> Option<u64> {
        (self.condition == Condition::Drifting).then_some(self.longer_than.as_secs())
    }
}

fn example(found: &Deployment) -> Json {
    let message = found.message.as_deref().unwrap_or_default();
    json!({
        "host": found.host,
        "reconciler": found.reconciler,
        "environment": found.environment,
        "workload": found.target.as_ref().map(|target| &target.workload),
        "version": found.version,
        "commit": found.commit,
        "since": found.since,
        "message": message.chars().take(NOTIFICATION_MESSAGE_CHARACTERS).collect::<String>(),
    })
}

/// The states of the rules, in the order of the rules.
///
/// # Errors
/// The database can't be reached, or returns an error.
pub async fn states(database: &Database, rules: &[Rule]) -> Result<Vec<RuleState>, DatabaseError> {
    let mut transaction = database.begin_reading().await?;
    let mut states = Vec::new();
    for rule in rules {
        let state = read(&mut transaction, rule, "").await?.filter(|state| state.evaluated_on > Timestamp::MIN);
        let sql = "select matching, expected, problem from rule_state where name = $1";
        let counted = transaction.first(sql, vec![rule.name.as_str().into()]).await?;
        let (matching, expected, problem) = counted.unwrap_or_default();
        states.push(RuleState {
            name: rule.name.clone(),
            filter: rule.filter.clone(),
            condition: rule.condition,
            above: rule.above.to_string(),
            for_seconds: rule.lasting.as_secs(),
            longer_than_seconds: rule.longer_than_seconds(),
            receiver: rule.receiver.host(),
            format: rule.receiver.format.as_str().to_owned(),
            phase: state.map(|state| state.phase),
            since: state.map(|state| state.since),
            evaluated_on: state.map(|state| state.evaluated_on),
            matching,
            expected,
            problem,
            notification: notifications::last(&mut transaction, &rule.name).await?,
        });
    }
    Ok(states)
}
