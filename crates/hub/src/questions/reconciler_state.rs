//! The rollout state of reconcilers: one table of rules, for values and for SQL.

use std::fmt::Write as _;

use hub_api::report::Status;
use model::rollout::{Liveness, ReconcilerState};

use super::QuestionError;
use crate::store::{FromColumn, SqlValue};

/// What a reconciler must hold for a rule to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// The desired content.
    Desired,
    /// The desired content, or content that the hub does not know: a failure or progress without a revision is about the desired content.
    DesiredOrUnknown,
    /// Any content.
    Any,
}

/// A rule: the facts that it needs, and the resulting state.
struct Rule {
    /// The reported status that the rule needs.
    reported: Reported,
    held: Held,
    /// Whether it applies to silent reconcilers only.
    is_silent: bool,
    state: ReconcilerState,
}

/// What a reconciler must have reported for a rule to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reported {
    Nothing,
    Status(Status),
    Any,
}

/// The rules, in their order: the first rule that applies gives the state. The last rule always applies.
const RULES: [Rule; 6] = [
    Rule::new(Reported::Nothing, Held::Any, ReconcilerState::NeverReported),
    Rule::new(Reported::Status(Status::Success), Held::Desired, ReconcilerState::Succeeded),
    Rule::new(Reported::Status(Status::Failure), Held::DesiredOrUnknown, ReconcilerState::Failed),
    Rule { is_silent: true, ..Rule::new(Reported::Any, Held::Any, ReconcilerState::Silent) },
    Rule::new(Reported::Status(Status::InProgress), Held::DesiredOrUnknown, ReconcilerState::InProgress),
    Rule::new(Reported::Any, Held::Any, ReconcilerState::Outdated),
];

impl Rule {
    const fn new(reported: Reported, held: Held, state: ReconcilerState) -> Self {
        Self { reported, held, is_silent: false, state }
    }

    fn applies(&self, facts: StateFacts) -> bool {
        let StateFacts { status, holds, is_unknown, is_silent } = facts;
        let is_reported = match self.reported {
            Reported::Nothing => status.is_none(),
            Reported::Status(needed) => status == Some(needed),
            Reported::Any => true,
        };
        let is_held = match self.held {
            Held::Desired => holds,
            Held::DesiredOrUnknown => holds || is_unknown,
            Held::Any => true,
        };
        is_reported && is_held && (is_silent || !self.is_silent)
    }

    /// The condition on a tally `t`; none if the rule always applies.
    fn condition(&self, holds: &str) -> Option<String> {
        let is_reported = match self.reported {
            Reported::Nothing => Some("t.status = 0".to_owned()),
            Reported::Status(status) => Some(format!("t.status = {}", status.number())),
            Reported::Any => None,
        };
        let is_held = match self.held {
            Held::Desired => Some(holds.to_owned()),
            Held::DesiredOrUnknown => Some(format!("({holds} or t.held_commit_id = 0)")),
            Held::Any => None,
        };
        let is_silent = self.is_silent.then(|| "t.is_silent = 1".to_owned());
        let parts: Vec<_> = [is_reported, is_held, is_silent].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" and "))
    }
}

/// The facts about a reconciler that determine its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StateFacts {
    pub(super) status: Option<Status>,
    /// Whether it holds the desired content.
    pub(super) holds: bool,
    /// Whether the hub does not know the content that it holds.
    pub(super) is_unknown: bool,
    pub(super) is_silent: bool,
}

impl StateFacts {
    /// The state of the reconciler. The same in SQL is [`expression`].
    pub(super) fn state(self) -> ReconcilerState {
        let rule = RULES.iter().find(|rule| rule.applies(self));
        rule.map_or(ReconcilerState::Outdated, |rule| rule.state)
    }
}

/// The state of the reconcilers of a tally `t`, as a number: `holds` is the condition that they hold the content in question.
pub(super) fn expression(holds: &str) -> String {
    let mut cases = String::from("case");
    for rule in &RULES {
        let number = number(rule.state);
        let _ = match rule.condition(holds) {
            Some(condition) => write!(cases, " when {condition} then {number}"),
            None => write!(cases, " else {number}"),
        };
    }
    cases + " end"
}

/// Whether reconcilers of a tally `t` hold the desired content of their place.
pub(super) const HOLDS_DESIRED: &str = "t.is_current = 1";

/// The number of the liveness of the reconcilers of a tally `t`: its position among all, from 1.
pub(super) const LIVENESS: &str = "case when t.is_silent = 1 then 2 when t.has_heartbeat = 1 then 1 else 3 end";

/// A column with the number of a liveness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LivenessNumber(pub(super) Liveness);

impl FromColumn for LivenessNumber {
    const EXPECTED: &'static str = "the number of a liveness";

    fn from_value(value: SqlValue) -> Option<Self> {
        let number = i64::from_value(value)?;
        (1..).zip(Liveness::ALL).find(|(one, _)| *one == number).map(|(_, liveness)| Self(liveness))
    }
}

/// The number of a state in SQL: its position among all, from 1.
pub(super) fn number(state: ReconcilerState) -> i64 {
    (1..).zip(ReconcilerState::ALL).find(|(_, one)| *one == state).map_or(0, |(number, _)| number)
}

/// A column with the number of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StateNumber(pub(super) ReconcilerState);

impl FromColumn for StateNumber {
    const EXPECTED: &'static str = "the number of a rollout state";

    fn from_value(value: SqlValue) -> Option<Self> {
        let number = i64::from_value(value)?;
        (1..).zip(ReconcilerState::ALL).find(|(one, _)| *one == number).map(|(_, state)| Self(state))
    }
}

/// The states of a list with commas; none if no list is given.
pub(super) fn parse_list(text: Option<&str>) -> Result<Option<Vec<ReconcilerState>>, QuestionError> {
    let Some(text) = text else { return Ok(None) };
    text.split(',').map(|word| parse(word.trim())).collect::<Result<_, _>>().map(Some)
}

fn parse(word: &str) -> Result<ReconcilerState, QuestionError> {
    ReconcilerState::parse(word).ok_or_else(|| {
        let known = ReconcilerState::ALL.map(ReconcilerState::as_str).join(", ");
        QuestionError::Wrong { parameter: "status", message: format!("`{word}` is not one of {known}") }
    })
}

#[cfg(test)]
mod tests {
    use testkit::postgres::{PostgresServer, availability};

    use super::*;
    use crate::store::{Database, DatabaseUrl};

    #[tokio::test]
    async fn sql_and_values_have_the_same_state_for_all_facts_on_sqlite() {
        check_all_facts(&DatabaseUrl::Memory).await;
    }

    #[tokio::test]
    async fn sql_and_values_have_the_same_state_for_all_facts_on_postgresql() {
        if let Err(reason) = availability() {
            println!("skipped: {reason}");
            return;
        }
        let server = PostgresServer::start_private(&[]).unwrap();
        let database = server.create_database().unwrap();
        check_all_facts(&DatabaseUrl::Postgres(database.url())).await;
    }

    /// Compares each combination of facts, as SQL and as a value.
    async fn check_all_facts(url: &DatabaseUrl) {
        let database = Database::open(url).await.unwrap();
        let statuses = [None, Some(Status::InProgress), Some(Status::Success), Some(Status::Failure)];
        for status in statuses {
            for [holds, is_unknown, is_silent] in (0..8).map(|bits| [1, 2, 4].map(|bit| bits & bit != 0)) {
                let sql = format!(
                    "select {} from (select {} as status, {} as is_current, {} as held_commit_id, {} as is_silent) as t",
                    expression(HOLDS_DESIRED),
                    status.map_or(0, Status::number),
                    i64::from(holds),
                    i64::from(!is_unknown),
                    i64::from(is_silent),
                );
                let state = database.first(&sql, Vec::new()).await.unwrap();
                let expected = StateFacts { status, holds, is_unknown, is_silent }.state();
                assert_eq!(state, Some(StateNumber(expected)), "{sql}");
            }
        }
        database.close().await;
    }

    #[test]
    fn every_state_is_made_by_a_rule() {
        let mut states = RULES.map(|rule| rule.state);
        states.sort();
        assert_eq!(states, ReconcilerState::ALL);
    }
}
