//! The questions that the hub answers: one file for each.
//!
//! Totals come from the tallies, at the same cost for any size of the fleet. For a selection of hosts, the database counts the reconcilers. Lists come in
//! pages, and a page examines a limited number of rows.

mod below;
mod changes;
mod compare;
mod conditions;
mod counted;
mod counts;
mod cursor;
mod curve;
mod deployment_state;
mod deployments;
mod drift;
mod earlier;
mod earlier_names;
mod environments;
pub mod events;
pub mod export;
mod facts;
mod groups;
mod history;
mod host_kind;
mod labels;
mod manifests;
mod place_folders;
mod place_states;
mod promotions;
mod question;
mod reconciler_state;
mod released;
mod resolved;
mod rollout;
mod rollouts;
mod scope;
mod search;
mod similar_names;
mod subject;
mod tallies;
mod then;
mod totals;
mod walk;
mod within_reach;
mod workspaces;

pub use self::changes::{FeedPosition, FleetChanges, changes, settled};
pub use self::compare::compare;
pub use self::counts::counts;
pub use self::curve::rollout_curve;
pub use self::deployment_state::{DeploymentState, DeploymentStateRequest, Subscriber, deployment_state};
pub use self::deployments::deployments;
pub use self::drift::{drift, drift_hosts, drift_kind};
pub use self::environments::{environment_targets, environments};
pub use self::history::history;
pub(crate) use self::host_kind::HostKind;
pub(crate) use self::labels::labels_hint;
pub use self::place_states::place_states;
pub use self::promotions::promotion_events;
pub use self::question::{EarlierNames, Question};
pub use self::rollout::{rollout, rollout_hosts};
pub use self::rollouts::rollouts;
pub use self::search::search;
pub(crate) use self::similar_names::similar;
pub use self::totals::totals;
pub use self::workspaces::workspaces_of_workloads;
use crate::store::DatabaseError;

/// A question that can't be answered.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// A parameter is invalid.
    #[error("`{parameter}`: {message}")]
    Wrong {
        /// The parameter of the question.
        parameter: &'static str,
        /// Why it is invalid, and what is valid.
        message: String,
    },
    /// The hub has no object with this name; or the object is outside of the reach of the caller, which must not learn that it exists.
    #[error("there is no {what} `{name}`{}", did_you_mean(similar))]
    Unknown {
        /// The kind of the object.
        what: &'static str,
        /// Its name.
        name: String,
        /// Existing names that are similar.
        similar: Vec<String>,
    },
    /// The name belongs to several objects.
    #[error("`{name}` is ambiguous: {}", several(ways))]
    Ambiguous {
        /// The name.
        name: String,
        /// For each object, a name that belongs to no other.
        ways: Vec<String>,
    },
    /// The hub counts the hosts of other questions, and the wait for a permit took too long.
    #[error("the hub is busy with other queries that count hosts")]
    Busy,
    /// The database can't answer.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// The end of a message about an unknown name.
pub(crate) fn did_you_mean(similar: &[String]) -> String {
    match similar {
        [] => String::new(),
        names => format!("; did you mean `{}`?", names.join("`, `")),
    }
}

/// Maximum number of names that an error message shows.
const SHOWN_MAX: usize = 5;

fn several(ways: &[String]) -> String {
    let shown: Vec<_> = ways.iter().take(SHOWN_MAX).map(|way| format!("`{way}`")).collect();
    let more = ways.len().saturating_sub(SHOWN_MAX);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", shown.join(", "))
}

/// Parses all fields of a filter and a page that are not plain names: a part of the body of the fuzz target of requests.
#[cfg(feature = "fuzz")]
pub(crate) fn fuzz(filter: &hub_api::filter::Filter, page: &hub_api::page::Page) {
    let question = Question::from(filter);
    let _ = (question.host_labels(), question.target_labels(), question.refuse_hosts(), question::limit(page));
    if let Ok(Some(states)) = reconciler_state::parse_list(question.filter.status.as_deref()) {
        let text = states.iter().map(|state| state.as_str()).collect::<Vec<_>>().join(",");
        // The text of the states omits blanks around names and duplicate names.
        assert_eq!(reconciler_state::parse_list(Some(&text)).ok().flatten(), Some(states));
    }
    for text in [&page.cursor, &question.filter.host].into_iter().flatten() {
        if let Ok(cursor) = cursor::Cursor::<2>::read(text, "fuzz") {
            assert_eq!(cursor::Cursor::read(&cursor.write("fuzz"), "fuzz").ok(), Some(cursor));
        }
        assert!(resolved::readings(text).iter().all(|(name, _)| text.starts_with(name)));
    }
}
