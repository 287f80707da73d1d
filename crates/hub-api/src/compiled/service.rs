//! The seam to the program that compiles environments.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::assignment_name::AssignmentName;
use super::assignments::{AssignmentQuery, CompiledAssignments};
use super::contract::{ContractFields, ContractQuery};
use super::explain::ExplainedAssignment;
use super::files::{AssignmentDifference, AssignmentFiles, DifferenceQuery, FilesQuery};
use super::findings::{CompiledFindings, FindingQuery};
use super::values::{CompiledValues, ValueQuery};
use super::why_not::{WhyNotFields, WhyNotQuery};
use crate::syncs::SyncSource;
use crate::tokens::Reach;

/// The program that compiles environments, in the process of the hub. Its methods block: they may read repositories and compile.
///
/// With a reach, the answers contain nothing outside of it. An environment, a workload or an assignment outside of the reach is unknown.
pub trait CompiledEnvironments: std::fmt::Debug + Send + Sync {
    /// Explains an assignment. With a key, the only value of the answer is the one with this key, with the lines of the files that hold it.
    ///
    /// # Errors
    /// If there is no such assignment or value, or the environment can't be read.
    fn explain(
        &self,
        scope: CompiledScope<'_>,
        name: &AssignmentName,
        key: Option<&str>,
    ) -> Result<CompiledAnswer<ExplainedAssignment>, CompiledRefusal>;

    /// Lists assignments.
    ///
    /// # Errors
    /// If a name of the query is unknown, the query is wrong, or the environment can't be read.
    fn assignments(
        &self,
        scope: CompiledScope<'_>,
        query: &AssignmentQuery,
    ) -> Result<CompiledAnswer<CompiledAssignments>, CompiledRefusal>;

    /// The files of an assignment, as they are compiled now or as they were published.
    ///
    /// # Errors
    /// If there is no such assignment or publication, or the environment can't be read.
    fn files(
        &self,
        scope: CompiledScope<'_>,
        name: &AssignmentName,
        query: &FilesQuery,
    ) -> Result<CompiledAnswer<AssignmentFiles>, CompiledRefusal>;

    /// The differences of the files of an assignment.
    ///
    /// # Errors
    /// If there is no such assignment or publication, or the environment can't be read.
    fn difference(
        &self,
        scope: CompiledScope<'_>,
        name: &AssignmentName,
        query: &DifferenceQuery,
    ) -> Result<CompiledAnswer<AssignmentDifference>, CompiledRefusal>;

    /// Finds values by their keys and texts.
    ///
    /// # Errors
    /// If the query is wrong, or the environment can't be read.
    fn values(
        &self,
        scope: CompiledScope<'_>,
        query: &ValueQuery,
    ) -> Result<CompiledAnswer<CompiledValues>, CompiledRefusal>;

    /// Why an assignment does not exist, or why an object does not apply to it.
    ///
    /// # Errors
    /// If the query is wrong, its target is outside of the reach, or the environment can't be read.
    fn why_not(
        &self,
        scope: CompiledScope<'_>,
        query: &WhyNotQuery,
    ) -> Result<CompiledAnswer<WhyNotFields>, CompiledRefusal>;

    /// The values that workloads ask for, and the values that the platform gives.
    ///
    /// # Errors
    /// If there is no such workload or place, or the environment can't be read.
    fn contract(
        &self,
        scope: CompiledScope<'_>,
        query: &ContractQuery,
    ) -> Result<CompiledAnswer<ContractFields>, CompiledRefusal>;

    /// Lists what is wrong, also if not all of the environment can be read.
    ///
    /// # Errors
    /// If a name of the query is unknown, the query is wrong, or the environment can't be read at all.
    fn findings(
        &self,
        scope: CompiledScope<'_>,
        query: &FindingQuery,
    ) -> Result<CompiledAnswer<CompiledFindings>, CompiledRefusal>;
}

/// What a question is about, and what its caller may see.
#[derive(Clone, Copy, Debug)]
pub struct CompiledScope<'a> {
    /// The environment.
    pub environment: &'a str,
    /// The workspaces and environments that the caller may see.
    pub reach: &'a Reach,
}

/// An answer, with the commits that it was computed from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompiledAnswer<T> {
    /// The environment.
    pub environment: String,
    /// The commits that the answer was computed from. With a token for some workspaces, those of the platform and of the workspaces.
    pub sources: Vec<SyncSource>,
    /// What of the answer is not known, and why.
    pub notes: Vec<String>,
    /// The answer.
    pub answer: T,
}

/// The reason why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompiledRefusal {
    /// There is no environment of this name.
    #[error("there is no environment `{name}`")]
    UnknownEnvironment {
        /// The name.
        name: String,
        /// The most similar name.
        similar: Option<String>,
    },
    /// The environment has no such object.
    #[error("{environment} has no {what} `{name}`")]
    Unknown {
        /// The environment.
        environment: String,
        /// What is unknown: `assignment`, `workload`, `deployment target`.
        what: &'static str,
        /// Its name.
        name: String,
        /// What to do: the most similar name, or where the names are.
        hint: Option<String>,
    },
    /// The request is not possible in this form.
    #[error("{reason}")]
    Wrong {
        /// What is wrong.
        reason: String,
        /// What to do.
        hint: Option<String>,
    },
    /// The environment can't be read.
    #[error("{environment} can't be read: {reason}")]
    Unreadable {
        /// The environment.
        environment: String,
        /// The reason.
        reason: String,
    },
}
