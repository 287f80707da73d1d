//! Questions about compiled environments, one method for each.

use super::{Client, ClientError};
use crate::compiled::{AssignmentName, CompiledAnswer, ExplainedAssignment};

impl Client {
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
}
