//! What a question is about: names and labels, and which page of the answer.

use hub_api::limits::{PAGE_DEFAULT, PAGE_MAX};
use model::selector::LabelSelector;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::QuestionError;
use crate::tokens::Reach;

/// Only what has all of these. Names are whole names, whatever characters are in them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams, ToSchema)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct Filter {
    /// The environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// The workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// The deployment target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The cluster type: hosts that apply what the platform made for it, with everything on them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_type: Option<String>,
    /// The host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// How far it got: `succeeded`, `failed`, `in_progress`, `silent`, `outdated` or `never_reported`; several with commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Labels of hosts, as `kubectl --selector` has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// Labels of deployment targets, as `kubectl --selector` has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_selector: Option<String>,
    /// What may be asked about at all, whatever is asked: no parameter, but what the token of who asks is limited to.
    #[serde(skip)]
    #[param(ignore)]
    #[schema(ignore)]
    pub within: Reach,
}

impl Filter {
    /// Refuses to ask about what is not within the reach.
    pub(super) fn check_reach(&self) -> Result<(), QuestionError> {
        let outside = |what, name: &str| {
            Err(QuestionError::Outside { what, name: name.to_owned(), reach: self.within.to_string() })
        };
        match (&self.environment, &self.workspace) {
            (Some(name), _) if !self.within.has_environment(name) => outside("environment", name),
            (_, Some(name)) if !self.within.has_workspace(name) => outside("workspace", name),
            _ => Ok(()),
        }
    }

    /// An error that names nothing that is not within the reach.
    pub(super) fn discreet(&self, error: QuestionError) -> QuestionError {
        match error {
            QuestionError::Unknown { what, name, .. } if !self.within.is_all() => {
                QuestionError::Unknown { what, name, similar: Vec::new() }
            }
            error => error,
        }
    }

    /// The labels that hosts must have.
    pub(super) fn host_labels(&self) -> Result<LabelSelector, QuestionError> {
        selector("selector", self.selector.as_deref())
    }

    /// The labels that targets must have.
    pub(super) fn target_labels(&self) -> Result<LabelSelector, QuestionError> {
        selector("targetSelector", self.target_selector.as_deref())
    }

    /// Refuses to select by hosts where all hosts of places are told.
    pub(super) fn refuse_hosts(&self) -> Result<(), QuestionError> {
        let named = [
            ("host", &self.host),
            ("selector", &self.selector),
            ("clusterType", &self.cluster_type),
            ("status", &self.status),
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

/// Which page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct Page {
    /// What the page before had as `next`; none for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// How many rows at most: 100 if it is not said, 1000 at most. A page may have fewer, or none, and yet a `next`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<usize>,
}

impl Page {
    /// How many rows are asked for.
    pub(super) fn limit(&self) -> Result<usize, QuestionError> {
        match self.limit.unwrap_or(PAGE_DEFAULT) {
            limit @ 1..=PAGE_MAX => Ok(limit),
            limit => Err(QuestionError::Wrong {
                parameter: "limit",
                message: format!("{limit}; 1 to {PAGE_MAX} are possible"),
            }),
        }
    }
}
