//! The deployments of the application teams, as `kalypso app deploy` makes them: manifests, and a descriptor with their version.

use std::path::Path;
use std::sync::Arc;

use git::{Edit, Edits};

use super::company::{CompanyFile, ENVIRONMENTS, FACTORY_TEAM, PLATFORM_TEAM, STORE_TEAM};
use super::hosts;
use super::program::{Signature, git};
use super::working_tree::{commit, init, write};

/// The first deployment of an environment.
pub(crate) struct FirstDeployment {
    /// What it writes into the branch.
    pub(crate) edits: Edits,
    /// The message of its commit.
    pub(crate) message: String,
}

/// Plans the first deployment of a version: with the file of an application, the environment, and the version.
pub(crate) type Deploy<'a> = &'a dyn Fn(&Path, &str, &str) -> anyhow::Result<FirstDeployment>;

/// The repository that a team deploys to.
struct Deployments {
    /// The repository with the manifests.
    repository: &'static str,
    team: Signature,
    /// The applications.
    applications: &'static [Application],
}

/// An application: a file that describes it, and its version in each environment.
struct Application {
    file: &'static str,
    versions: [&'static str; ENVIRONMENTS.len()],
}

const DEPLOYMENTS: [Deployments; 3] = [
    Deployments {
        repository: "checkout-manifests",
        team: STORE_TEAM,
        applications: &[Application { file: "checkout/kalypso-app.toml", versions: ["1.5.0", "1.4.2", "1.4.2"] }],
    },
    Deployments {
        repository: "line-monitor-manifests",
        team: FACTORY_TEAM,
        applications: &[Application { file: "line-monitor/kalypso-app.toml", versions: ["0.9.3", "0.9.3", "0.9.1"] }],
    },
    Deployments {
        repository: "platform-services-manifests",
        team: PLATFORM_TEAM,
        applications: &[
            Application { file: "platform-services/fluent-bit.toml", versions: ["3.1.9", "3.1.9", "3.1.9"] },
            Application { file: "platform-services/hello-world.toml", versions: ["2.0.1", "2.0.1", "2.0.0"] },
            Application { file: "platform-services/prometheus.toml", versions: ["2.54.1", "2.54.1", "2.54.1"] },
        ],
    },
];

/// Creates the repositories with manifests beside those of the applications. They have a branch for each environment, with a recent deployment.
pub(super) fn make(folder: &Path, now: i64, deploy: Deploy<'_>) -> anyhow::Result<()> {
    for Deployments { repository, team, applications } in &DEPLOYMENTS {
        let repository = folder.join(repository);
        init(&repository)?;
        for (index, environment) in ENVIRONMENTS.into_iter().enumerate() {
            git(&repository, &["switch", "--quiet", "--orphan", environment])?;
            let seconds = hosts::published_on(environment, (now, None), true);
            for Application { file, versions } in *applications {
                let deployment = deploy(&folder.join(file), environment, versions[index])?;
                write(&repository, &files(&deployment.edits))?;
                commit(&repository, &deployment.message, Signature { seconds, ..*team })?;
            }
        }
        git(&repository, &["switch", "--quiet", ENVIRONMENTS[0]])?;
    }
    Ok(())
}

/// The files that edits write. Nothing is removed from a new branch.
fn files(edits: &Edits) -> Vec<CompanyFile> {
    let file = |(path, edit): (&Arc<str>, &Edit)| match edit {
        Edit::Content(_, content) => Some(CompanyFile { path: path.to_string(), content: content.to_vec() }),
        _ => None,
    };
    edits.iter().filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_application_of_the_example_is_deployed() {
        let described = |file: &CompanyFile| Path::new(&file.path).extension().is_some_and(|name| name == "toml");
        let found: usize = ["checkout", "line-monitor", "platform-services"]
            .iter()
            .map(|repository| super::super::company::files(repository).iter().filter(|file| described(file)).count())
            .sum();
        assert_eq!(DEPLOYMENTS.iter().map(|team| team.applications.len()).sum::<usize>(), found);
    }
}
