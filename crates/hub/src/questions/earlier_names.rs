//! The earlier names of renamed workloads and targets: publishers send them as labels of the targets.

use std::collections::BTreeSet;

use model::earlier_names::{RENAMED_FROM, RENAMED_TARGETS};

use super::question::EarlierNames;
use super::scope::labels_of;
use super::{Question, conditions};
use crate::store::{DatabaseError, Parameters, Transaction};

/// Maximum number of earlier names that a question also selects.
const NAMES_MAX: usize = 20;

/// The earlier names of what a question names, within its reach.
pub(super) async fn of(transaction: &mut Transaction, question: Question<'_>) -> Result<EarlierNames, DatabaseError> {
    let filter = question.filter;
    if filter.workload.is_none() && filter.target.is_none() {
        return Ok(EarlierNames::default());
    }
    let mut parameters = Parameters::new(transaction.dialect());
    let mut conditions = conditions::of_workloads(question, &mut parameters);
    conditions.extend(filter.target.as_deref().map(|name| parameters.equals("t.name", name)));
    let sql = format!(
        "select distinct t.labels from deployment_target t join workload l on l.id = t.workload_id \
         join application a on a.id = l.application_id join workspace w on w.id = a.workspace_id where {}",
        conditions::all(conditions)
    );
    let labels: Vec<Option<String>> = transaction.query(&sql, parameters.into_values()).await?;
    let names = |key: &str| {
        let values = labels.iter().filter_map(|text| labels_of(text.as_deref()).get(key).cloned());
        let names = values.flat_map(|value| split(&value)).collect::<BTreeSet<_>>();
        names.into_iter().take(NAMES_MAX).collect::<Vec<_>>()
    };
    // The target of another workload may have the name, so its earlier names are those with its workload only.
    let targets = if filter.target.is_some() { names(RENAMED_TARGETS) } else { Vec::new() };
    let workloads = if filter.workload.is_some() { names(RENAMED_FROM) } else { Vec::new() };
    Ok(EarlierNames { workloads, targets })
}

fn split(value: &str) -> Vec<String> {
    value.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}
