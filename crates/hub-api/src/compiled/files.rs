//! The rendered files of an assignment, as compiled and as published, and their differences.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::timestamp::Timestamp;

/// Which files of an assignment are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct FilesQuery {
    /// The publication: the full id of its commit in the GitOps repository. Without it: the files as they are compiled now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// Which files of an assignment are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct DifferenceQuery {
    /// The earlier publication: the full id of its commit in the GitOps repository. Without it: the newest one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The later publication. Without it: the files as they are compiled now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// The files of an assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentFiles {
    /// The publication; `null` for the files as they are compiled now.
    pub at: Option<FolderPublication>,
    /// The path of the folder in the GitOps repository; `null` if the environment has none.
    pub folder: Option<String>,
    /// The files, by path. None if the assignment has errors, or was not published there.
    pub files: Vec<AssignmentFile>,
    /// The number of further files, which are not listed.
    pub more: usize,
    /// The newest publications of the branch that changed the folder, newest first. A publication that is older than the last ones of the branch is not listed.
    pub publications: Vec<FolderPublication>,
}

/// A publication: a commit of a GitOps repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FolderPublication {
    /// The URL of the repository.
    pub repository: String,
    /// The branch.
    pub branch: String,
    /// The commit.
    pub commit: String,
    /// The time of the commit.
    pub committed_on: Option<Timestamp>,
}

/// A file of an assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentFile {
    /// The path in the folder.
    pub path: String,
    /// The size in bytes; `null` if the file is too large to be read.
    pub bytes: Option<u64>,
    /// The content, without hidden values; `null` if it is not shown.
    pub content: Option<String>,
    /// Why it is not shown; `null` if it is.
    pub not_shown: Option<NotShownReason>,
}

/// Why the content of a file is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum NotShownReason {
    /// It is not text.
    Binary,
    /// It is too large, alone or together with the files before it.
    TooLarge,
    /// What is sensitive in it is not known any more.
    Sensitive,
}

/// The differences of the files of an assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentDifference {
    /// The earlier publication; `null` if there is none.
    pub from: Option<FolderPublication>,
    /// The later publication; `null` for the files as they are compiled now.
    pub to: Option<FolderPublication>,
    /// The files that differ, by path.
    pub files: Vec<AssignmentFileChange>,
    /// The number of further files that differ, which are not listed.
    pub more: usize,
}

/// A file of an assignment that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentFileChange {
    /// The path in the folder.
    pub path: String,
    /// What happens to the file.
    pub change: FolderFileChange,
    /// The difference in the format of `diff -u`, without hidden values; `null` if it is not shown.
    pub difference: Option<String>,
    /// Why it is not shown; `null` if it is.
    pub not_shown: Option<NotShownReason>,
}

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum FolderFileChange {
    /// Only the later state has it.
    Added,
    /// Both have it, with different contents.
    Changed,
    /// Only the earlier state has it.
    Removed,
}

impl NotShownReason {
    /// The reason in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Binary => "it is not text",
            Self::TooLarge => "it is too large",
            Self::Sensitive => "what is sensitive in it is not known any more",
        }
    }
}
