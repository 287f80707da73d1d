//! The answers for all environments. An error of one does not affect the others.

use model::count::count;
use serde::Serialize;

use crate::Failure;

/// The answers for all environments.
#[derive(Serialize)]
pub struct AllEnvironments<T> {
    environments: Vec<OneEnvironment<T>>,
    #[serde(skip)]
    failed: Vec<String>,
}

/// The answer for one of all environments.
#[derive(Serialize)]
struct OneEnvironment<T> {
    /// The environment, if there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<String>,
    #[serde(flatten)]
    answer: Option<T>,
    /// The reason why all or a part of it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl<T> Default for AllEnvironments<T> {
    fn default() -> Self {
        Self { environments: Vec::new(), failed: Vec::new() }
    }
}

impl<T> AllEnvironments<T> {
    /// Adds the answer for an environment, and its error.
    pub fn add(&mut self, environment: &str, answer: Option<T>, error: Option<String>) {
        self.failed.extend(error.as_ref().map(|_| environment.to_owned()));
        let environment = answer.is_none().then(|| environment.to_owned());
        self.environments.push(OneEnvironment { environment, answer, error });
    }

    /// Whether all environments could be `done`, such as "published".
    ///
    /// # Errors
    /// If some of them could not.
    pub fn check(&self, done: &str) -> Result<(), Failure> {
        if self.failed.is_empty() {
            return Ok(());
        }
        let all = count(self.environments.len(), "environment");
        Err(Failure::outside(format!("{} of {all} could not be {done}", self.failed.join(", "))))
    }
}
