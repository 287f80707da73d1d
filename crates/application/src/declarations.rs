//! The deployment targets that a workload declares, and the targets that have values: each of the one belongs to one of the other.

use std::collections::BTreeSet;
use std::sync::Arc;

use git::RepositoryUrl;
use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::object::workload::WorkloadTarget;
use model::object::{Object, Workload};

use crate::files::{joined, normalized};
use crate::settings::{ApplicationSettings, EnvironmentSettings, PatternNames, is_yaml_name};
use crate::values::TargetPath;

/// The deployment targets of a workload for one environment.
pub struct TargetDeclarations<'a> {
    workload: &'a Object<Workload>,
    /// The environment of the platform.
    environment: &'a str,
    /// The GitOps repository.
    repo: &'a str,
    /// The folder of the GitOps branch that the folders of the targets are in.
    folder: String,
    /// The GitOps branch.
    branch: String,
    /// The branches of other environments of the application. A ring with its own branch belongs to the same environment of the platform.
    other_branches: BTreeSet<String>,
}

impl<'a> TargetDeclarations<'a> {
    /// The deployment targets for an environment.
    pub fn new(
        settings: &'a ApplicationSettings,
        environment: &'a EnvironmentSettings,
        workload: &'a Object<Workload>,
    ) -> Self {
        let names = |environment: &'a EnvironmentSettings| PatternNames {
            workload: workload.name.as_str(),
            environment: &environment.name,
            ..PatternNames::default()
        };
        let branch = |environment| settings.gitops.branch.text(names(environment));
        let own = branch(environment);
        let folder = settings.gitops.path.text(names(environment));
        Self {
            workload,
            environment: &environment.environment,
            repo: &settings.gitops.repo,
            folder: normalized(&folder).unwrap_or(folder),
            other_branches: settings.environments.iter().map(branch).filter(|branch| *branch != own).collect(),
            branch: own,
        }
    }

    /// The deployment target whose manifests are those of a target. None: the workload declares none.
    pub fn find(&self, target: &TargetPath) -> Option<&'a WorkloadTarget> {
        let path = joined(&self.folder, target.as_str());
        self.all().find(|declared| manifests_path(declared).is_some_and(|found| is_in(&found, &path)))
    }

    fn all(&self) -> impl Iterator<Item = &'a WorkloadTarget> + '_ {
        let is_elsewhere = |declared: &WorkloadTarget| {
            declared.spec.manifests.get("branch").is_some_and(|branch| self.other_branches.contains(&**branch))
        };
        let targets = self.workload.spec.deployment_targets.iter();
        targets.filter(move |declared| *declared.spec.environment == *self.environment && !is_elsewhere(declared))
    }

    /// The targets without a deployment target, and the other way round; and the deployment targets that no cluster finds, because of their branch.
    pub fn check(&self, targets: &[TargetPath]) -> Vec<Diagnostic> {
        let undeclared = targets.iter().filter(|target| self.find(target).is_none());
        let without_values = self.all().filter(|declared| self.is_here(declared)).filter(|declared| {
            let path = manifests_path(declared);
            let is_of = |path: &str, target: &TargetPath| is_in(path, &joined(&self.folder, target.as_str()));
            path.is_some_and(|path| !targets.iter().any(|target| is_of(&path, target)))
        });
        undeclared
            .map(|target| self.undeclared(target))
            .chain(without_values.map(|one| self.without_values(one)))
            .chain(self.all().filter_map(|declared| self.on_another_branch(declared)))
            .collect()
    }

    /// Whether the manifests of a deployment target are in the GitOps repository of the application.
    fn is_here(&self, declared: &WorkloadTarget) -> bool {
        let label = |text: &str| RepositoryUrl::from_configuration(text).ok().map(|url| url.label());
        let repo = declared.spec.manifests.get("repo").and_then(|repo| label(repo));
        repo.is_some() && repo == label(self.repo)
    }

    /// The diagnostic for a deployment target whose branch is none of the application. None: it has the branch of its environment.
    fn on_another_branch(&self, declared: &WorkloadTarget) -> Option<Diagnostic> {
        let branch = declared.spec.manifests.get("branch").filter(|branch| ***branch != *self.branch)?;
        if !self.is_here(declared) {
            return None;
        }
        let message = format!(
            "deployment target `{}` has the manifests of branch `{branch}`, but those of environment `{}` are deployed to branch `{}`",
            declared.name, self.environment, self.branch
        );
        let path = manifests_field(declared).key("branch");
        let found = Diagnostic::warning(Code::TargetNotDeclared, message);
        Some(found.at(Origin::At(self.workload.address, path), "").help(format!("write `branch: {}`", self.branch)))
    }

    fn undeclared(&self, target: &TargetPath) -> Diagnostic {
        let environment = self.environment;
        let path = joined(&self.folder, target.as_str());
        let message = format!(
            "no deployment target of environment `{environment}` has the manifests of `{target}`, so no cluster gets them"
        );
        let origin = Origin::At(self.workload.address, FieldPath::from(["spec", "deploymentTargets"]));
        Diagnostic::warning(Code::TargetNotDeclared, message)
            .at(origin, "")
            .help(format!("add a target with `environment: {environment}`, and `path: ./{path}` in its `manifests`"))
    }

    fn without_values(&self, declared: &WorkloadTarget) -> Diagnostic {
        let name: &Arc<str> = &declared.name;
        let message = format!(
            "deployment target `{name}` of environment `{}` has no values, so nothing is rendered for it",
            self.environment
        );
        let path = manifests_field(declared).key("path");
        Diagnostic::warning(Code::TargetNotDeclared, message)
            .at(Origin::At(self.workload.address, path), "")
            .help("make a folder with `values.yaml` for it in the values, or remove the deployment target")
    }
}

/// The field of a workload with the place of a deployment target's manifests.
fn manifests_field(declared: &WorkloadTarget) -> FieldPath {
    FieldPath::from(["spec", "deploymentTargets"]).index(declared.position).key("manifests")
}

/// Whether a deployment target with this path has the manifests of a folder. It names the folder, or a file in it: the playbook of a host.
fn is_in(path: &str, folder: &str) -> bool {
    let file = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
    path == folder || file.is_some_and(|file| is_yaml_name(file) && !file.contains('/'))
}

/// The folder of the manifests of a deployment target. None: it names none.
fn manifests_path(declared: &WorkloadTarget) -> Option<String> {
    declared.spec.manifests.get("path").and_then(|path| normalized(path))
}
