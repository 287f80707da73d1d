//! Polls Azure Resource Graph. Flux configurations of Arc and AKS clusters, and solutions of Workload Orchestration, become reports.
//!
//! [`AzureOptions`] is a source as written in `kalypso.toml`, and [`AzureSource`] is a checked one. A [`Poller`] polls one source and creates reports. [`fn@run`] polls
//! all sources again and again, and submits the reports to a [`ReportSink`](hub_api::sink::ReportSink). A resource that a poll does not find does not count as
//! deleted: it is only no longer reported.
//!
//! The REST APIs: <https://learn.microsoft.com/rest/api/azureresourcegraph/resourcegraph/resources/resources>,
//! <https://learn.microsoft.com/rest/api/kubernetesconfiguration/flux-configurations/get>.

mod client;
mod collect;
mod credential;
mod flux;
#[cfg(feature = "fuzz")]
mod fuzz;
mod graph;
mod hosts;
mod identity;
pub mod limits;
mod loopback;
mod options;
mod orchestration;
mod poller;
mod problem;
mod report_cache;
mod resource;
mod row;
mod run;
mod secret;

pub use client::Pause;
#[cfg(feature = "fuzz")]
pub use fuzz::fuzz;
pub use hosts::HostNames;
pub use options::{AzureOptions, AzureSource, CredentialOptions, OptionsError};
pub use poller::{Polled, Poller};
pub use problem::PollProblem;
pub use run::run;
