//! The deployments of the application teams: the manifests of each deployment target, and a descriptor with their version.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use model::kind::Kind;
use model::object::{AnyObject, DeploymentTarget};
use model::source::FileId;

use super::company::{self, CompanyFile, ENVIRONMENTS, FACTORY_TEAM, PLATFORM_TEAM, STORE_TEAM};
use super::hosts;
use super::program::{Signature, git};
use super::working_tree::{commit, init, write};
use crate::exit::Failure;

/// The deployments of a team.
struct Application {
    /// The source repository, and the repository of its manifests.
    repositories: [&'static str; 2],
    /// The folder with the team's workloads.
    path: &'static str,
    workspace: &'static str,
    team: Signature,
}

const APPLICATIONS: [Application; 3] = [
    Application {
        repositories: ["checkout", "checkout-manifests"],
        path: "workload",
        workspace: "store-team",
        team: STORE_TEAM,
    },
    Application {
        repositories: ["line-monitor", "line-monitor-manifests"],
        path: "workload",
        workspace: "factory-team",
        team: FACTORY_TEAM,
    },
    Application {
        repositories: ["platform-services", "platform-services-manifests"],
        path: "workloads",
        workspace: "platform-team",
        team: PLATFORM_TEAM,
    },
];

/// The version of each workload, by environment.
const VERSIONS: [(&str, [&str; ENVIRONMENTS.len()]); 5] = [
    ("checkout", ["1.5.0", "1.4.2", "1.4.2"]),
    ("fluent-bit", ["3.1.9", "3.1.9", "3.1.9"]),
    ("hello-world", ["2.0.1", "2.0.1", "2.0.0"]),
    ("line-monitor", ["0.9.3", "0.9.3", "0.9.1"]),
    ("prometheus", ["2.54.1", "2.54.1", "2.54.1"]),
];

/// A deployment target as its team defines it.
struct Target {
    workload: Arc<str>,
    name: Arc<str>,
    spec: DeploymentTarget,
}

impl Target {
    fn version(&self) -> &'static str {
        let environment = ENVIRONMENTS.iter().position(|environment| *environment == &*self.spec.environment);
        let versions = VERSIONS.iter().find(|(name, _)| *name == &*self.workload);
        versions.zip(environment).map_or("1.0.0", |((_, versions), environment)| versions[environment])
    }

    fn manifests(&self, key: &str) -> &str {
        self.spec.manifests.get(key).map(|text| &**text).unwrap_or_default()
    }
}

/// Creates the repositories with manifests beside those of the applications. They have a branch for each environment, with a recent deployment.
pub(super) fn make(folder: &Path, now: i64) -> Result<(), Failure> {
    for application in &APPLICATIONS {
        let [source, manifests] = application.repositories;
        let built_from = git(&folder.join(source), &["rev-parse", "HEAD"])?;
        let targets = targets(application);
        let repository = folder.join(manifests);
        init(&repository)?;
        for environment in ENVIRONMENTS {
            git(&repository, &["switch", "--quiet", "--orphan", environment])?;
            let targets = || targets.iter().filter(|target| *target.spec.environment == *environment);
            let files: Vec<_> = targets().flat_map(|target| files(application, target, &built_from)).collect();
            write(&repository, &files)?;
            let versions: BTreeSet<_> =
                targets().map(|target| format!("{} {}", target.workload, target.version())).collect();
            let message = versions.into_iter().collect::<Vec<_>>().join(", ");
            let seconds = hosts::published_on(environment, (now, None), true);
            commit(&repository, &message, Signature { seconds, ..application.team })?;
        }
        git(&repository, &["switch", "--quiet", ENVIRONMENTS[0]])?;
    }
    Ok(())
}

fn targets(application: &Application) -> Vec<Target> {
    let [source, _] = application.repositories;
    let mut targets = Vec::new();
    for file in company::files(source).iter().filter(|file| file.path.starts_with(application.path)) {
        let read = model::read::read_kind(FileId::default(), &file.content, Kind::Workload);
        for object in &read.objects {
            let AnyObject::Workload(workload) = object else { continue };
            targets.extend(workload.spec.deployment_targets.iter().map(|target| Target {
                workload: Arc::clone(workload.name.as_ref()),
                name: Arc::clone(&target.name),
                spec: target.spec.clone(),
            }));
        }
    }
    targets
}

/// The files of a target.
fn files(application: &Application, target: &Target, built_from: &str) -> Vec<CompanyFile> {
    let path = target.manifests("path").trim_start_matches("./");
    let (name, content) = match target.spec.manifests.get("package") {
        Some(package) => ("package.env", format!("PACKAGE={package}\nVERSION={}\n", target.version())),
        None => ("deployment.yaml", deployment(target)),
    };
    let descriptor = descriptor(application, target, built_from);
    let file =
        |(name, content): (&str, String)| CompanyFile { path: format!("{path}/{name}"), content: content.into_bytes() };
    [(name, content), ("descriptor.yaml", descriptor)].map(file).into()
}

fn deployment(target: &Target) -> String {
    let (workload, name, version) = (&target.workload, &target.name, target.version());
    format!(
        "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {workload}
spec:
  selector:
    matchLabels: {{app: {workload}, target: {name}}}
  template:
    metadata:
      labels: {{app: {workload}, target: {name}}}
    spec:
      containers:
        - name: {workload}
          image: registry.acme.example/{workload}:{version}
          envFrom: [{{configMapRef: {{name: platform-config}}}}]
"
    )
}

fn descriptor(application: &Application, target: &Target, built_from: &str) -> String {
    let Application { repositories: [source, _], path, workspace, .. } = application;
    let (workload, name, version) = (&target.workload, &target.name, target.version());
    let environment = &target.spec.environment;
    format!(
        "\
# Which version the manifests beside it are: written with them, in the same commit.
apiVersion: hub.kalypso.io/v1alpha1
kind: DeploymentDescriptor
metadata:
  name: {workload}-{name}
spec:
  workload:
    name: {workload}
    source: {{repo: https://git.acme.example/acme/{source}, branch: main, path: ./{path}}}
    application: {{name: {source}, workspace: {{name: {workspace}}}}}
  deploymentTarget:
    name: {name}
    environment: {environment}
    manifests: {{repo: {repo}, branch: {branch}, path: {folder}}}
  workloadVersion:
    version: {version}
    commit: {built_from}
",
        repo = target.manifests("repo"),
        branch = target.manifests("branch"),
        folder = target.manifests("path"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_of_the_example_has_a_version_and_a_good_descriptor() {
        for application in &APPLICATIONS {
            let targets = targets(application);
            assert!(targets.len() > 3);
            for target in targets {
                assert!(VERSIONS.iter().any(|(name, _)| *name == &*target.workload), "{}", target.workload);
                let files = files(application, &target, "9f2c4e1d5b6a7f8091a2b3c4d5e6f708192a3b4c");
                assert!(files.iter().all(|file| !file.path.starts_with('/')));
                let read = model::read::read_kind(FileId::default(), &files[1].content, Kind::DeploymentDescriptor);
                assert!(read.is_good() && read.objects.len() == 1, "{:?}", read.diagnostics);
            }
        }
    }
}
