//! Polls Azure Resource Graph: Flux configurations of Arc and AKS clusters, and solutions of Workload Orchestration, become reports.
//!
//! [`AzureOptions`] is a source as it stands in `kalypso.toml`, [`Source`] what it means. A [`Poller`] asks one source and makes reports; [`fn@run`] does so
//! for ever and submits them to a [`ReportSink`](hub_api::sink::ReportSink). What a poll does not find is not gone: it only stops being reported.
//!
//! The contracts: <https://learn.microsoft.com/rest/api/azureresourcegraph/resourcegraph/resources/resources>,
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
mod memory;
mod options;
mod orchestration;
mod poller;
mod problem;
mod resource;
mod row;
mod run;
mod secret;

pub use client::Pause;
#[cfg(feature = "fuzz")]
pub use fuzz::fuzz;
pub use hosts::HostNames;
pub use options::{AzureOptions, CredentialOptions, OptionsError, Source};
pub use poller::{Polled, Poller};
pub use problem::Problem;
pub use run::run;
