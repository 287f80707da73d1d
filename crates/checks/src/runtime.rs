//! What checks take from the running program.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// The time, and whether the program is to end.
#[derive(Clone)]
pub struct Runtime {
    /// The time.
    pub now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// Whether the program is stopping: commands end early then.
    pub is_stopping: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl Default for Runtime {
    /// The time of the system. The program never stops.
    fn default() -> Self {
        Self { now: Arc::new(Timestamp::now), is_stopping: Arc::new(|| false) }
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Runtime")
    }
}
