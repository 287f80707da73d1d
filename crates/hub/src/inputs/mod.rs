//! Converts bodies of requests, in each format that reconcilers send, to reports.
//!
//! There is one file per format. Each is a pure function of bytes: no clock, no database, no HTTP. A report in the result may have no host: the caller
//! then adds the host of the token (`Batch::and_then`).

pub mod argocd;
pub mod flux;
#[cfg(feature = "fuzz")]
mod fuzz;
pub mod otlp;

#[cfg(feature = "fuzz")]
pub use fuzz::fuzz;
