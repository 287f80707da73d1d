//! The change that a check is about.

use std::sync::Arc;

/// The subject of commits of the main branch, which are no workload.
const PLATFORM: &str = "platform";

/// The change that a check is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CheckSubject {
    /// The name of the environment that the gate is about.
    pub environment: Arc<str>,
    /// The workload. None: a commit of the main branch.
    pub workload: Option<Arc<str>>,
    /// The revision.
    pub revision: Arc<str>,
    /// The ring. None: the whole environment.
    pub ring: Option<Arc<str>>,
}

impl CheckSubject {
    /// The placeholders of queries and addresses, with their values.
    pub(crate) fn placeholders(&self) -> [(&'static str, &str); 4] {
        [
            ("{environment}", &self.environment),
            ("{workload}", self.workload.as_deref().unwrap_or_default()),
            ("{revision}", &self.revision),
            ("{ring}", self.ring.as_deref().unwrap_or_default()),
        ]
    }

    /// The variables that commands get.
    pub(crate) fn variables(&self) -> [(&'static str, &str); 4] {
        [
            ("KALYPSO_ENVIRONMENT", &self.environment),
            ("KALYPSO_SUBJECT", self.workload.as_deref().unwrap_or(PLATFORM)),
            ("KALYPSO_REVISION", &self.revision),
            ("KALYPSO_RING", self.ring.as_deref().unwrap_or_default()),
        ]
    }
}
