//! Simulated hosts and reconcilers: they pull folders of GitOps repositories and report to a hub.

pub mod argocd;
pub mod random;
pub mod scenario;
pub mod simulation;
