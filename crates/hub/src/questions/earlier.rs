//! The states of reconcilers at an earlier time.
//!
//! Of few reconcilers, each is examined with all reports that are about that time, also those that arrived later. When a reconciler was silent is not known then.
//! Of many, the counts are those that the hub recorded last before that time.

use std::collections::BTreeSet;

use hub_api::timestamp::Timestamp;

use super::counted::at_groups;
use super::facts::{self, Fact};
use super::scope::Scope;
use super::tallies::{Tallies, TalliesThen};
use super::walk::Walk;
use super::{Question, QuestionError};
use crate::limits::COUNTED_THEN_MAX;
use crate::store::{CountRecordId, Database, DatabaseError, Transaction};

/// What is known of the states at an earlier time.
#[derive(Debug)]
pub(super) enum StatesThen {
    /// Each reconciler.
    Exact(Vec<Fact>),
    /// The counts that the hub recorded.
    Recorded(CountRecord),
    /// Nothing: the error says why.
    Unknown(QuestionError),
}

/// The counts that the hub recorded at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CountRecord {
    pub(super) id: CountRecordId,
    pub(super) recorded_on: Timestamp,
}

/// The scope of a question about totals.
#[derive(Debug)]
pub(super) struct Totals {
    /// The transaction in which the scope was read.
    pub(super) transaction: Transaction,
    pub(super) scope: Scope,
    /// When the counts were recorded; none if they are exact.
    pub(super) recorded_on: Option<Timestamp>,
    /// Why the counts are not known. The scope then has none.
    unknown: Option<QuestionError>,
}

impl Totals {
    /// The totals now, or at an earlier time. It is an error if they are not known.
    pub(super) async fn read(
        database: &Database,
        question: Question<'_>,
        at: Option<Timestamp>,
    ) -> Result<Self, QuestionError> {
        let mut totals = Self::read_if_known(database, question, at).await?;
        match totals.unknown.take() {
            None => Ok(totals),
            Some(error) => Err(error),
        }
    }

    /// Whether the counts are known.
    pub(super) fn are_known(&self) -> bool {
        self.unknown.is_none()
    }

    /// The same for an answer that is of use without its counts.
    pub(super) async fn read_if_known(
        database: &Database,
        question: Question<'_>,
        at: Option<Timestamp>,
    ) -> Result<Self, QuestionError> {
        let Some(at) = at else {
            let (transaction, scope) = Scope::of_totals(database, question).await?;
            return Ok(Self { transaction, scope, recorded_on: None, unknown: None });
        };
        Scope::refuse_states(question)?;
        let mut transaction = database.begin_reading().await?;
        let mut scope = Scope::read(&mut transaction, question).await?;
        let (recorded_on, unknown) = match read_tallies(&mut transaction, &mut scope, at).await? {
            Ok(recorded_on) => (recorded_on, None),
            Err(error) => (None, Some(error)),
        };
        Ok(Self { transaction, scope, recorded_on, unknown })
    }
}

/// Reads the tallies of a scope at a timestamp. Returns when they were recorded, none if they are exact; or why they are not known.
pub(super) async fn read_tallies(
    transaction: &mut Transaction,
    scope: &mut Scope,
    at: Timestamp,
) -> Result<Result<Option<Timestamp>, QuestionError>, QuestionError> {
    match states(transaction, scope, at).await? {
        StatesThen::Exact(facts) => {
            let mut then = TalliesThen::default();
            facts.iter().for_each(|fact| then.add(fact));
            scope.tallies = Tallies::Then(then);
            Ok(Ok(None))
        }
        StatesThen::Recorded(record) => {
            scope.tallies = Tallies::Recorded(record.id);
            Ok(Ok(Some(record.recorded_on)))
        }
        StatesThen::Unknown(error) => Ok(Err(error)),
    }
}

/// The states of the reconcilers of a scope at a timestamp, whatever states the scope selects.
pub(super) async fn states(
    transaction: &mut Transaction,
    scope: &Scope,
    at: Timestamp,
) -> Result<StatesThen, QuestionError> {
    let is_of_all_hosts = scope.kind.is_any() && scope.hosts.is_none();
    let max = i64::try_from(COUNTED_THEN_MAX).unwrap_or(i64::MAX);
    if is_of_all_hosts && at_groups(transaction, scope.groups.as_deref()).await? > max {
        return recorded(transaction, at).await;
    }
    let mut in_any_state = scope.clone();
    in_any_state.states = None;
    let walk = Walk::of_scope(transaction, in_any_state, &[]).await?.with_past();
    let found = walk.page(transaction, None, COUNTED_THEN_MAX + 1).await?;
    match found.next {
        Some(_) if is_of_all_hosts => return recorded(transaction, at).await,
        Some(_) => return Ok(StatesThen::Unknown(too_many())),
        None => {}
    }
    // A reconciler is on the lane of each place where it was: it counts once.
    let reconcilers: Vec<_> = found.reconcilers.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let mut facts = facts::facts(transaction, &reconcilers, Some(at)).await?;
    facts.retain(|fact| {
        let group = fact.place.as_ref().map(|place| place.group_id);
        scope.groups.as_ref().is_none_or(|groups| group.is_some_and(|group| groups.contains(&group)))
    });
    Ok(StatesThen::Exact(facts))
}

/// The refusal to count reconcilers of some hosts, or by values of hosts.
pub(super) fn too_many() -> QuestionError {
    let message = format!(
        "for an earlier time, at most {COUNTED_THEN_MAX} reconcilers are counted by hosts; select fewer, for example by `workload` or `selector`"
    );
    QuestionError::Wrong { parameter: "at", message }
}

/// The last counts that were recorded up to a timestamp.
async fn recorded(transaction: &mut Transaction, at: Timestamp) -> Result<StatesThen, QuestionError> {
    if let Some(record) = last_until(transaction, at).await? {
        return Ok(StatesThen::Recorded(record));
    }
    let first = format!("select {} from count_record", transaction.dialect().millis("min(recorded_on)"));
    let message = match transaction.one::<Option<Timestamp>>(&first, Vec::new()).await? {
        Some(first) => format!("the counts of so many reconcilers are known since {first}; ask for a later time"),
        None => "the counts of so many reconcilers are not recorded yet; try again in a minute".to_owned(),
    };
    Ok(StatesThen::Unknown(QuestionError::Wrong { parameter: "at", message }))
}

async fn last_until(transaction: &mut Transaction, at: Timestamp) -> Result<Option<CountRecord>, DatabaseError> {
    let dialect = transaction.dialect();
    let sql = format!(
        "select id, {} from count_record where recorded_on <= {} order by recorded_on desc, id desc limit 1",
        dialect.millis("recorded_on"),
        dialect.instant("$1")
    );
    let found = transaction.first(&sql, vec![at.into()]).await?;
    Ok(found.map(|(id, recorded_on)| CountRecord { id, recorded_on }))
}
