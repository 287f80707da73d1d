//! The side of the application teams: from values and a chart to the manifests of each deployment target, and their deployment into a GitOps repository.
//!
//! The way of the data:
//!
//! ```text
//! kalypso-app.toml ─> Settings ─┐
//! values of an environment ─────┼─> Target ─> merged values ─> helm or kustomize ─> Rendered ─> Deployment ─> edits of the GitOps branch
//! chart or folder (FileSet) ────┘
//! files of services ─> charts ──┘
//! ```
//!
//! Everything is a pure function of [`FileSet`](files::FileSet)s, except three parts: [`files`] reads folders and commits, [`programs`] runs Helm and
//! Kustomize, and [`services::ChartStore`] keeps downloaded charts. Results carry all diagnostics, with their places in the files.

pub mod declarations;
pub mod deployment;
pub mod difference;
pub mod digest;
pub mod explain;
pub mod files;
pub mod images;
mod limits;
pub mod manifests;
mod platform_values;
pub mod programs;
pub mod project;
pub mod releases;
pub mod render;
pub mod scaffold;
pub mod schemas;
pub mod services;
pub mod settings;
pub mod values;
pub mod variables;
pub mod version;
