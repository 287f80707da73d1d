//! The reconcilers that need attention, of a workload or of a cluster type: how many are in which state, and the first of them.

use hub_api::client::ClientError;
use hub_api::filter::Filter;
use hub_api::page::Page;
use model::rollout::{Counts, ReconcilerState};

use super::deployments;
use crate::conditions::filtered;
use crate::part::{Table, worst_first};
use crate::visit::Visit;

/// The number of reconcilers that a page lists.
const ROWS: usize = 8;

/// The reconcilers that need attention.
#[derive(Clone, Debug, Default)]
pub(super) struct Attention {
    /// How many there are in each state, with the list of them. The states that need attention first come first.
    pub(super) states: Vec<(String, String)>,
    /// The first of them.
    pub(super) table: Table,
    /// Whether there may be more than those.
    pub(super) has_more: bool,
    /// Whether a list can't show them: the states of earlier times are only counted.
    pub(super) is_past: bool,
}

impl Attention {
    /// What needs attention among the reconcilers that a filter selects, and that were counted.
    pub(super) async fn read(visit: &Visit, filter: &Filter, counts: &Counts) -> Result<Self, ClientError> {
        let mut found = Self {
            states: states(visit, filter, counts),
            table: Table { caption: "Needs attention".to_owned(), columns: deployments::columns(), rows: Vec::new() },
            has_more: false,
            is_past: visit.at.is_some(),
        };
        if found.is_past {
            return Ok(found);
        }
        // A list has its own order, so each state is a query.
        for state in worst_first().filter(|state| needs_attention(*state)) {
            let free = ROWS.saturating_sub(found.table.rows.len());
            if free == 0 {
                found.has_more = true;
                break;
            }
            let filter = Filter { status: Some(state.as_str().to_owned()), ..filter.clone() };
            let answer = visit.api.deployments(&filter, &Page { cursor: None, limit: Some(free) }, None).await?;
            found.has_more |= answer.next.is_some();
            let rows = answer.items.iter().take(free).map(|one| deployments::row(visit, one));
            found.table.rows.extend(rows);
        }
        Ok(found)
    }
}

/// Whether a reconciler in this state does not have what is desired, and is not on the way to it.
fn needs_attention(state: ReconcilerState) -> bool {
    !matches!(state, ReconcilerState::Succeeded | ReconcilerState::InProgress)
}

/// The states that occur, in words with their numbers, and the lists of the reconcilers in them.
fn states(visit: &Visit, filter: &Filter, counts: &Counts) -> Vec<(String, String)> {
    let link = |state: ReconcilerState| {
        let filter = Filter { status: Some(state.as_str().to_owned()), ..filter.clone() };
        let to = filtered(visit.to(["deployments"]), &filter).to_string();
        (format!("{} {}", counts.get(state), state.words()), to)
    };
    if visit.at.is_some() {
        return Vec::new();
    }
    worst_first().filter(|state| counts.get(*state) > 0).map(link).collect()
}
