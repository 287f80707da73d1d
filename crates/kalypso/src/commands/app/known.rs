//! What is known of a version: what its deployments recorded, in any environment.

use application::deployment::{DeployedBranch, DeployedRelease, ReleaseKeys};
use application::project::Project;
use application::settings::EnvironmentSettings;
use application::version::ApplicationVersion;

use super::reading::Reading;
use crate::arguments::AppRelease;
use crate::terminal;

/// The version that is deployed, or compared.
#[derive(Clone, Copy)]
pub(super) struct AskedVersion<'a> {
    pub(super) project: &'a Project,
    pub(super) environment: &'a EnvironmentSettings,
    /// What the GitOps branch of the environment contains.
    pub(super) branch: &'a DeployedBranch,
    pub(super) options: &'a AppRelease,
}

impl AskedVersion<'_> {
    /// What is deployed of the version that options name: in the environment itself, or else in the nearest other one, those before it first. A version is one
    /// release, so it consists of the same everywhere. Without a version: what is deployed in the environment. None: nothing is.
    pub(super) fn known(self, reading: &Reading) -> anyhow::Result<Option<DeployedRelease>> {
        let Self { project, environment, branch, options } = self;
        let workload = project.workload.name.as_str();
        let Some(version) = &options.version else { return Ok(branch.release(workload, &environment.environment)) };
        // Another part of the command refuses what is no version.
        let Ok(version) = version.parse::<ApplicationVersion>() else { return Ok(None) };
        let version = version.to_string();
        let own = branch.release_of(&version, workload, &environment.environment);
        // A promotion deploys a version in all environments at once.
        if own.is_some() || project.settings.is_promoted {
            return Ok(own);
        }
        let environments = &project.settings.environments;
        let at = environments.iter().position(|one| one.name == environment.name).unwrap_or_default();
        for other in others(environments, at) {
            let (branch, _) = reading.deployed(project, other)?;
            if let Some(found) = branch.release_of(&version, workload, &other.environment) {
                if let Some(taken) = taken(&found, options) {
                    terminal::note(&format!("version {version} has {taken}, as in `{}`", other.name));
                }
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// The other ones of these environments: those before one of them, the nearest first, and then those after it.
fn others<E>(environments: &[E], at: usize) -> impl Iterator<Item = &E> {
    let (before, after) = environments.split_at(at);
    before.iter().rev().chain(after.iter().skip(1))
}

/// What is taken from another environment, in words. None: nothing that the options do not name, or that the version does not tell.
fn taken(found: &DeployedRelease, options: &AppRelease) -> Option<String> {
    let ReleaseKeys { image, image_tag, package_sha256 } = &found.keys;
    let image = image.as_ref().filter(|_| options.image.is_none()).map(|image| format!("image {image}"));
    let tag = image_tag.as_ref().filter(|_| options.image_tag.is_none()).map(|tag| format!("image tag {tag}"));
    let package = package_sha256.as_ref().filter(|_| options.package.is_none());
    let package = package.map(|digits| format!("package sha256:{digits}"));
    let images = (!found.images.0.is_empty()).then(|| "the digests of its images".to_owned());
    let taken: Vec<_> = [image, tag, package, images].into_iter().flatten().collect();
    (!taken.is_empty()).then(|| taken.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environments_before_are_nearest() {
        let all = ["dev", "test", "stage", "prod"];
        let names = |at| others(&all, at).copied().collect::<Vec<_>>();
        assert_eq!(names(2), ["test", "dev", "prod"]);
        assert_eq!(names(0), ["test", "stage", "prod"]);
    }
}
