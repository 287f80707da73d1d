//! A question: the filter of a request, and the reach of its token.

use hub_api::filter::Filter;
use hub_api::limits::{PAGE_DEFAULT, PAGE_MAX};
use hub_api::page::Page;
use hub_api::tokens::Reach;
use model::selector::LabelSelector;

use super::QuestionError;

/// The filter of a request, limited by the reach of its token.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The filter of the request.
    pub filter: &'a Filter,
    /// The reach of the token: with any filter, an answer contains nothing outside of it.
    pub reach: &'a Reach,
    /// The earlier names of what the filter names, which it also selects.
    pub earlier: &'a EarlierNames,
}

/// The earlier names of a renamed workload and its targets, and of renamed places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlierNames {
    /// Those of the filter's workload.
    pub(super) workloads: Vec<String>,
    /// Those of the filter's target.
    pub(super) targets: Vec<String>,
    /// Those of the filter's cluster type.
    pub(super) cluster_types: Vec<String>,
    /// Those of the cluster that the filter's host is named like.
    pub(super) hosts: Vec<String>,
}

impl EarlierNames {
    /// No names.
    pub const NONE: &'static Self =
        &Self { workloads: Vec::new(), targets: Vec::new(), cluster_types: Vec::new(), hosts: Vec::new() };
}

/// The reach of the hub's own questions: it is not limited.
static EVERYTHING: Reach = Reach::ALL;

impl<'a> From<&'a Filter> for Question<'a> {
    fn from(filter: &'a Filter) -> Self {
        Self { filter, reach: &EVERYTHING, earlier: EarlierNames::NONE }
    }
}

impl Question<'_> {
    /// Refuses a filter that names something outside of the reach, in the same way as an unknown name.
    pub(super) fn check_reach(self) -> Result<(), QuestionError> {
        let outside =
            |what, name: &str| Err(QuestionError::Unknown { what, name: name.to_owned(), similar: Vec::new() });
        match (&self.filter.environment, &self.filter.workspace) {
            (Some(name), _) if !self.reach.has_environment(name) => outside("environment", name),
            (_, Some(name)) if !self.reach.has_workspace(name) => outside("workspace", name),
            _ => Ok(()),
        }
    }

    /// Removes the similar names from an error if the reach is limited: they could be outside of it.
    pub(super) fn discreet(self, error: QuestionError) -> QuestionError {
        match error {
            QuestionError::Unknown { what, name, .. } if !self.reach.is_all() => {
                QuestionError::Unknown { what, name, similar: Vec::new() }
            }
            error => error,
        }
    }

    /// The labels that hosts must have.
    pub(super) fn host_labels(self) -> Result<LabelSelector, QuestionError> {
        selector("selector", self.filter.selector.as_deref())
    }

    /// The labels that targets must have.
    pub(super) fn target_labels(self) -> Result<LabelSelector, QuestionError> {
        selector("targetSelector", self.filter.target_selector.as_deref())
    }

    /// Refuses filters on hosts for questions whose answers are about all hosts of places.
    pub(super) fn refuse_hosts(self) -> Result<(), QuestionError> {
        let named = [
            ("host", &self.filter.host),
            ("selector", &self.filter.selector),
            ("clusterType", &self.filter.cluster_type),
            ("status", &self.filter.status),
        ];
        match named.into_iter().find(|(_, given)| given.is_some()) {
            Some((parameter, _)) => {
                let message =
                    "environments can't be compared by it; ask for `deployments`, which can be selected by it";
                Err(QuestionError::Wrong { parameter, message: message.to_owned() })
            }
            None => Ok(()),
        }
    }
}

fn selector(parameter: &'static str, text: Option<&str>) -> Result<LabelSelector, QuestionError> {
    LabelSelector::parse(text.unwrap_or_default())
        .map_err(|error| QuestionError::Wrong { parameter, message: error.to_string() })
}

/// The number of rows of a page.
pub(super) fn limit(page: &Page) -> Result<usize, QuestionError> {
    match page.limit.unwrap_or(PAGE_DEFAULT) {
        limit @ 1..=PAGE_MAX => Ok(limit),
        limit => {
            Err(QuestionError::Wrong { parameter: "limit", message: format!("{limit}; 1 to {PAGE_MAX} are possible") })
        }
    }
}
