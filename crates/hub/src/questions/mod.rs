//! The questions that the hub answers: one file each, with what it asks for and what it answers.
//!
//! Totals come from the tallies, whatever the size of the fleet, or are counted by the database where only some hosts are asked about; lists come in pages, and no page looks at more than a bounded number of rows.

mod above;
mod changes;
mod compare;
mod conditions;
mod counted;
mod cursor;
mod deployment_state;
mod deployments;
mod drift;
mod environments;
mod facts;
mod groups;
mod history;
mod host_kind;
mod question;
mod resolved;
mod rollout;
mod rollout_state;
mod rollouts;
mod scope;
mod subject;
mod totals;
mod walk;

pub use self::changes::{Changes, Position, changes, settled};
pub use self::compare::compare;
pub use self::deployment_state::{DeploymentState, DeploymentStateRequest, Subscriber, deployment_state};
pub use self::deployments::deployments;
pub use self::drift::{drift, drift_hosts, drift_kind};
pub use self::environments::{environment_targets, environments};
pub use self::history::history;
pub(crate) use self::host_kind::HostKind;
pub use self::question::Question;
pub use self::rollout::{rollout, rollout_hosts};
pub use self::rollouts::rollouts;
pub use self::totals::totals;
use crate::store::DatabaseError;

/// A question that can't be answered.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// A parameter is invalid.
    #[error("`{parameter}`: {message}")]
    Wrong {
        /// The parameter of the question.
        parameter: &'static str,
        /// What is wrong with it, and what would be right.
        message: String,
    },
    /// The hub has never heard of it.
    #[error("there is no {what} `{name}`{}", did_you_mean(similar))]
    Unknown {
        /// What kind of thing it would be.
        what: &'static str,
        /// Its name.
        name: String,
        /// Names that are nearly the same.
        similar: Vec<String>,
    },
    /// Who asks may not ask about it.
    #[error("this token is limited to {reach}: it may not ask about {what} `{name}`")]
    Outside {
        /// What kind of thing it is.
        what: &'static str,
        /// Its name, as it was asked for.
        name: String,
        /// What may be asked about.
        reach: String,
    },
    /// Several things are called so.
    #[error("`{name}` can mean several things: {}", several(ways))]
    Ambiguous {
        /// The name.
        name: String,
        /// What to say for each of them, so that it is meant and none of the others.
        ways: Vec<String>,
    },
    /// Others have many hosts counted, and it took too long to wait for them.
    #[error("the hub is counting the hosts of other questions")]
    Busy,
    /// The database can't answer.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

fn did_you_mean(similar: &[String]) -> String {
    match similar {
        [] => String::new(),
        names => format!("; did you mean `{}`?", names.join("`, `")),
    }
}

/// Things that are shown of many.
const SHOWN_MAX: usize = 5;

fn several(ways: &[String]) -> String {
    let shown: Vec<_> = ways.iter().take(SHOWN_MAX).map(|way| format!("`{way}`")).collect();
    let more = ways.len().saturating_sub(SHOWN_MAX);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", shown.join(", "))
}

/// Reads everything in a filter and a page that is more than a name: a part of the body of the fuzz target of requests.
#[cfg(feature = "fuzz")]
pub(crate) fn fuzz(filter: &hub_api::filter::Filter, page: &hub_api::page::Page) {
    let question = Question::from(filter);
    let _ = (question.host_labels(), question.target_labels(), question.refuse_hosts(), question::limit(page));
    if let Ok(Some(states)) = rollout_state::parse_list(question.filter.status.as_deref()) {
        let text = states.iter().map(|state| state.as_str()).collect::<Vec<_>>().join(",");
        // Blanks around a name, and names that are twice, need not come again.
        assert_eq!(rollout_state::parse_list(Some(&text)).ok().flatten(), Some(states));
    }
    for text in [&page.cursor, &question.filter.host].into_iter().flatten() {
        if let Ok(cursor) = cursor::Cursor::<2>::read(text, "fuzz") {
            assert_eq!(cursor::Cursor::read(&cursor.write("fuzz"), "fuzz").ok(), Some(cursor));
        }
        assert!(resolved::readings(text).iter().all(|(name, _)| text.starts_with(name)));
    }
}
