//! The dimensions of a table of counts, and what they need to be read.

use hub_api::counts::CountDimension;
use model::selector::LabelSelector;

use super::super::{Question, QuestionError, labels};
use crate::store::Transaction;

/// The dimensions of the rows and of the columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dimensions<'a>([Option<&'a CountDimension>; 2]);

impl<'a> Dimensions<'a> {
    pub(super) fn new(rows: &'a CountDimension, columns: Option<&'a CountDimension>) -> Self {
        Self([Some(rows), columns])
    }

    /// The dimension of the rows, and that of the columns.
    pub(super) fn both(self) -> [Option<&'a CountDimension>; 2] {
        self.0
    }

    fn any(self, is: impl Fn(&CountDimension) -> bool) -> bool {
        self.0.into_iter().flatten().any(is)
    }

    pub(super) fn has(self, dimension: &CountDimension) -> bool {
        self.any(|one| one == dimension)
    }

    /// Whether one is different for the hosts at a place, so that the hosts have to be read.
    pub(super) fn are_of_hosts(self) -> bool {
        self.any(|one| matches!(one, CountDimension::Host | CountDimension::HostLabel(_)))
    }

    /// Whether one is different for the targets of a folder.
    pub(super) fn are_of_targets(self) -> bool {
        self.has_version()
            || self.any(|one| {
                let of_names = [CountDimension::Workspace, CountDimension::Workload, CountDimension::Target];
                of_names.contains(one) || matches!(one, CountDimension::TargetLabel(_))
            })
    }

    pub(super) fn has_version(self) -> bool {
        self.has(&CountDimension::Version)
    }

    /// Whether one is different for the content that reconcilers have.
    pub(super) fn are_of_content(self) -> bool {
        self.has_version() || self.has(&CountDimension::ConfigVersion)
    }

    /// The keys of labels of hosts.
    pub(super) fn host_labels(self) -> impl Iterator<Item = &'a str> {
        self.0.into_iter().flatten().filter_map(|one| match one {
            CountDimension::HostLabel(key) => Some(key.as_str()),
            _ => None,
        })
    }

    /// Checks that some host has each label of hosts.
    pub(super) async fn check_hosts(
        self,
        transaction: &mut Transaction,
        question: Question<'_>,
    ) -> Result<(), QuestionError> {
        for key in self.host_labels() {
            let checked = labels::check_hosts(transaction, &having(key)?).await;
            checked.map_err(|error| question.discreet(error))?;
        }
        Ok(())
    }

    /// The keys of labels of targets.
    pub(super) fn target_labels(self) -> impl Iterator<Item = &'a str> {
        self.0.into_iter().flatten().filter_map(|one| match one {
            CountDimension::TargetLabel(key) => Some(key.as_str()),
            _ => None,
        })
    }
}

/// The selector for objects that have a label with this key.
pub(super) fn having(key: &str) -> Result<LabelSelector, QuestionError> {
    let wrong = |message: String| QuestionError::Wrong { parameter: "rows", message };
    let selector = LabelSelector::parse(key).map_err(|error| wrong(format!("label `{key}`: {error}")))?;
    match selector.requirements.as_slice() {
        [only] if &*only.key == key => Ok(selector),
        _ => Err(wrong(format!("`{key}` is not the key of one label"))),
    }
}
