//! Deployments: what a branch of the GitOps repository contains, and the edits that bring the rendered targets into it.
//!
//! Each target has a folder with its manifests, a `kustomization.yaml` that names them, and a `DeploymentDescriptor`. The descriptor records the files that were
//! written with it. So a deployment knows which files are its own: it changes and removes only these, and it sees where a person edited them.

mod branch;
mod descriptor;
mod keys;
mod message;
mod plan;

pub use self::branch::{BranchError, DeployedBranch, DeployedRelease, DeployedTarget};
pub use self::descriptor::{DescribedDeployment, DescriptorPlace, RecordedFiles};
pub use self::keys::ReleaseKeys;
pub use self::message::{
    APPLICATION, ENVIRONMENT, SOURCE, TOOL, VALUES, VERSION, commit_is_of, commit_message, pull_request_body, trailers,
};
pub use self::plan::{DeploymentPlan, PlanOptions, PlanRequest, TargetAction, TargetDeployment};

/// The folder with the files that the workflows of Microsoft's Kalypso read.
pub const TRACKING_FOLDER: &str = ".github/tracking";

use model::git_id::GitId;

use crate::version::ApplicationVersion;

/// What is deployed, and what it was made from.
#[derive(Clone, Debug)]
pub struct Provenance {
    /// The version.
    pub version: ApplicationVersion,
    /// The commit of the source.
    pub source: GitId,
    /// The commit of the values. None: they are in the source's repository, at the same commit.
    pub values: Option<GitId>,
    /// What the version consists of.
    pub keys: ReleaseKeys,
    /// The programs that rendered, with their versions.
    pub tools: Vec<String>,
}

impl Provenance {
    /// The tag of the image.
    pub fn image_tag(&self) -> String {
        self.keys.image_tag(&self.version)
    }
}

#[cfg(test)]
mod tests;
