//! The total number of reconcilers in each rollout state.

use model::rollout::{Counts, Liveness};

use super::groups::StateCount;
use super::reconciler_state::{self, LIVENESS};
use super::scope::Scope;
use super::{Question, QuestionError, conditions};
use crate::store::{Database, Parameters};

/// The number of reconcilers in each rollout state, of the reconcilers of places with desired content; and how many of them are silent, with any last status.
///
/// # Errors
/// The filter is invalid, or selects too many hosts to be counted one by one; the database can't answer.
pub async fn totals(database: &Database, question: impl Into<Question<'_>>) -> Result<(Counts, i64), QuestionError> {
    let question = question.into();
    let (mut transaction, scope) = Scope::of_totals(database, question).await?;
    let dialect = transaction.dialect();
    let mut parameters = Parameters::new(dialect);
    let tallies = scope.tallies(&mut parameters);
    let of_groups = conditions::and(scope.of_groups("t.place_group_id", &mut parameters));
    let sql = format!(
        "select {} as state, {LIVENESS}, {} from {tallies} t where t.desired_commit_id <> 0 and t.reconcilers > 0{} group by 1, 2",
        reconciler_state::expression(reconciler_state::HOLDS_DESIRED),
        dialect.int("sum(t.reconcilers)"),
        of_groups
    );
    let (mut counts, mut silent) = (Counts::default(), 0);
    for in_state in transaction.query::<StateCount>(&sql, parameters.into_values()).await? {
        in_state.add_to(&mut counts);
        silent += if in_state.liveness == Liveness::Silent { in_state.reconcilers } else { 0 };
    }
    Ok((counts, silent))
}
