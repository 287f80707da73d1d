//! From bodies of requests, in each format that reconcilers speak, to reports.
//!
//! One file per format, each a pure function of bytes: no clock, no database, no HTTP. A host may be missing in what comes out: who reports is known
//! from the token, and the caller fills it in (`Batch::and_then`).

pub mod argocd;
pub mod flux;
#[cfg(feature = "fuzz")]
mod fuzz;
pub mod otlp;

#[cfg(feature = "fuzz")]
pub use fuzz::fuzz;
