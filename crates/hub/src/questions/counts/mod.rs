//! Counts of reconcilers by the values of one or two dimensions.
//!
//! The tallies answer most of them, at the same cost for any number of hosts.

mod dimensions;
mod earlier;
mod present;
mod table;
mod unit;
mod values;

use hub_api::counts::{CountQuery, CountTable};
use hub_api::limits::{COUNT_GROUPS_DEFAULT, COUNT_GROUPS_MAX};

use self::dimensions::Dimensions;
use self::table::{Cut, Table};
use self::values::Values;
use super::{Question, QuestionError};
use crate::store::Database;

/// The number of reconcilers in each rollout state by the values of one or two dimensions, now or at an earlier timestamp.
///
/// # Errors
/// The filter or the query is invalid, or selects too many reconcilers to be counted one by one; no host or target has the label; the hub counts for other
/// questions; the database can't answer.
pub async fn counts(
    database: &Database,
    question: impl Into<Question<'_>>,
    query: &CountQuery,
) -> Result<CountTable, QuestionError> {
    let question = question.into();
    let cut = Cut {
        order: query.sort.unwrap_or_default(),
        rows: limit("rowLimit", query.row_limit)?,
        columns: query.columns.as_ref().map(|_| limit("columnLimit", query.column_limit)).transpose()?,
    };
    let dimensions = Dimensions::new(&query.rows, query.columns.as_ref());
    let mut found = match query.at {
        None => present::units(database, (question, dimensions)).await?,
        Some(at) => earlier::units(database, (question, dimensions), at).await?,
    };
    if let Some(states) = &found.scope.states {
        found.units.retain(|unit| states.contains(&unit.state));
    }
    let values = Values::read(&mut found, (question, dimensions)).await;
    let values = values.map_err(|error| question.discreet(error))?;
    let mut table = Table::default();
    for unit in &found.units {
        table.add(&values.pairs(unit), &unit.counts());
    }
    Ok(CountTable { recorded_on: found.recorded_on, ..table.finish(cut) })
}

fn limit(parameter: &'static str, given: Option<usize>) -> Result<usize, QuestionError> {
    match given.unwrap_or(COUNT_GROUPS_DEFAULT) {
        limit @ 1..=COUNT_GROUPS_MAX => Ok(limit),
        limit => {
            Err(QuestionError::Wrong { parameter, message: format!("{limit}; 1 to {COUNT_GROUPS_MAX} are possible") })
        }
    }
}
