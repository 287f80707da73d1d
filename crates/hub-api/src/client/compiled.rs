//! Questions about compiled environments, one method for each.

use super::{Client, ClientError, Transport, parameters};
use crate::compiled::{
    AssignmentDifference, AssignmentFiles, AssignmentName, AssignmentQuery, CompiledAnswer, CompiledAssignments,
    CompiledFindings, CompiledValues, ContractFields, ContractQuery, DifferenceQuery, ExplainedAssignment, FilesQuery,
    FindingQuery, ValueQuery, WhyNotFields, WhyNotQuery,
};

impl<T: Transport> Client<T> {
    /// Explains an assignment. With a key, only the value with this key.
    ///
    /// # Errors
    /// If there is no such assignment or value, the hub can't be reached, or refuses the query.
    pub async fn explain(
        &self,
        environment: &str,
        name: &AssignmentName,
        key: Option<&str>,
    ) -> Result<CompiledAnswer<ExplainedAssignment>, ClientError> {
        let key: Vec<_> = key.map(|key| ("key".to_owned(), key.to_owned())).into_iter().collect();
        self.get(&["environments", environment, "assignments", &name.place, &name.target], &key).await
    }

    /// Lists assignments.
    ///
    /// # Errors
    /// If a name is unknown, the hub can't be reached, or refuses the query.
    pub async fn assignments(
        &self,
        environment: &str,
        query: &AssignmentQuery,
    ) -> Result<CompiledAnswer<CompiledAssignments>, ClientError> {
        self.get(&["environments", environment, "assignments"], &parameters(query)).await
    }

    /// The files of an assignment, as they are compiled now or as they were published.
    ///
    /// # Errors
    /// If there is no such assignment or publication, the hub can't be reached, or refuses the query.
    pub async fn files(
        &self,
        environment: &str,
        name: &AssignmentName,
        query: &FilesQuery,
    ) -> Result<CompiledAnswer<AssignmentFiles>, ClientError> {
        let path = ["environments", environment, "assignments", &name.place, &name.target, "files"];
        self.get(&path, &parameters(query)).await
    }

    /// The differences of the files of an assignment.
    ///
    /// # Errors
    /// If there is no such assignment or publication, the hub can't be reached, or refuses the query.
    pub async fn difference(
        &self,
        environment: &str,
        name: &AssignmentName,
        query: &DifferenceQuery,
    ) -> Result<CompiledAnswer<AssignmentDifference>, ClientError> {
        let path = ["environments", environment, "assignments", &name.place, &name.target, "difference"];
        self.get(&path, &parameters(query)).await
    }

    /// Finds values by their keys and texts.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn values(
        &self,
        environment: &str,
        query: &ValueQuery,
    ) -> Result<CompiledAnswer<CompiledValues>, ClientError> {
        self.get(&["environments", environment, "values"], &parameters(query)).await
    }

    /// Why an assignment does not exist, or why an object does not apply to it.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn why_not(
        &self,
        environment: &str,
        query: &WhyNotQuery,
    ) -> Result<CompiledAnswer<WhyNotFields>, ClientError> {
        self.get(&["environments", environment, "why-not"], &parameters(query)).await
    }

    /// The values that workloads ask for, and the values that the platform gives.
    ///
    /// # Errors
    /// If there is no such workload or place, the hub can't be reached, or refuses the query.
    pub async fn contract(
        &self,
        environment: &str,
        query: &ContractQuery,
    ) -> Result<CompiledAnswer<ContractFields>, ClientError> {
        self.get(&["environments", environment, "contract"], &parameters(query)).await
    }

    /// Lists what is wrong.
    ///
    /// # Errors
    /// If a name is unknown, the hub can't be reached, or refuses the query.
    pub async fn findings(
        &self,
        environment: &str,
        query: &FindingQuery,
    ) -> Result<CompiledAnswer<CompiledFindings>, ClientError> {
        self.get(&["environments", environment, "findings"], &parameters(query)).await
    }
}
