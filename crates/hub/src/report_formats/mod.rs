//! Converts bodies of requests, in each format that reconcilers send, to reports.
//!
//! There is one file per format. Each is a pure function of bytes: no clock, no database, no HTTP. A report in the result may have no host: the caller
//! then adds the host of the token (`Batch::and_then`).

use std::time::Duration;

pub mod argocd;
pub mod flux;
#[cfg(feature = "fuzz")]
mod fuzz;
pub mod otlp;

#[cfg(feature = "fuzz")]
pub use fuzz::fuzz;

/// Is added to times in whole seconds. Earlier versions of the hub added it to those of final states only. With it, a report is not older than a stored one
/// with the same time.
const SECONDS_OFFSET: Duration = Duration::from_millis(1);

/// Whether reconcilers of this kind send their present state, and never an earlier one again. Argo CD renders each notification from the present Application,
/// and sends those of an Application one after another. So a state may return although no time in the Application changed.
pub(crate) fn sends_present_state(kind: &str) -> bool {
    kind == argocd::KIND
}
