//! Git hosts: pull requests, comments, issues, labels and commit statuses on GitHub, GitLab, Gitea, Forgejo and Azure DevOps.
//!
//! [`GitHost`] is the seam, with a trait for each topic. [`hosts::connect`] creates the real implementations, which send requests over HTTP, and [`hosts::memory::MemoryHost`] has the same
//! semantics in memory. All calls block. [`webhook`] verifies and parses the events that hosts send.
//!
//! This crate decides nothing: it contains no rule about which pull request is opened, updated or merged.

pub mod calls;
pub mod credential;
#[cfg(feature = "double")]
pub mod double;
pub mod error;
pub mod host;
pub mod hosts;
pub mod issue;
pub mod kind;
pub mod limits;
pub mod marker;
pub mod new_repository;
pub mod protection;
pub mod pull_request;
pub mod rate_limit;
pub mod repository;
pub mod review;
pub mod settings;
pub mod status;
pub mod sticky;
mod transport;
pub mod webhook;

pub use model::secret;

pub use self::error::HostError;
pub use self::host::GitHost;
pub use self::kind::HostKind;
pub use self::repository::HostRepository;
