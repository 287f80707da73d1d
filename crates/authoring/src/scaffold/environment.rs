//! The files of a new environment: its declaration on `main`, and its branch.

use std::sync::Arc;

use model::name::EnvironmentName;
use model::object::environment::{NEXT, PRECEDENCE};

use super::file::NewFile;
use super::quoting::yaml;

/// The branch of the control plane with the objects for all environments.
pub const MAIN: &str = "main";

/// An annotation of an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentSetting {
    /// The line above it. May be empty.
    pub comment: &'static str,
    /// The key of the annotation.
    pub key: Arc<str>,
    /// The value of the annotation.
    pub value: Arc<str>,
}

impl EnvironmentSetting {
    /// The settings of the environments of a new platform.
    pub fn of_new_platform() -> Vec<Self> {
        vec![Self {
            comment: "If several ConfigMaps set a key, the most special one counts: for a cluster, for a cluster type, with more labels.",
            key: PRECEDENCE.into(),
            value: "specificity".into(),
        }]
    }

    fn lines(&self) -> String {
        let comment = if self.comment.is_empty() { String::new() } else { format!("    # {}\n", self.comment) };
        format!("{comment}    {}: {}\n", self.key, yaml(&self.value))
    }
}

/// An environment that does not exist yet.
#[derive(Clone, Copy, Debug)]
pub struct NewEnvironment<'a> {
    /// The name, also of its branches.
    pub name: &'a EnvironmentName,
    /// The URL of the control plane, as objects name it.
    pub control_plane: &'a str,
    /// The URL of the GitOps repository, as objects name it.
    pub gitops: &'a str,
    /// The path of its objects in its branch.
    pub path: &'a str,
}

impl NewEnvironment<'_> {
    /// The path of the declaration on `main`.
    pub fn declaration_path(name: &EnvironmentName) -> String {
        format!(".environments/{name}.yaml")
    }

    /// The `Environment` object on `main`. `settings` are its annotations; `next` is the environment that changes reach afterwards.
    pub fn declaration(&self, settings: &[EnvironmentSetting], next: Option<&EnvironmentName>) -> NewFile {
        let (name, url, path) = (yaml(self.name.as_str()), yaml(self.control_plane), yaml(self.path));
        let next = next.map(|next| EnvironmentSetting {
            comment: "The environment that changes reach next.",
            key: NEXT.into(),
            value: next.as_str().into(),
        });
        let lines = settings.iter().chain(&next).map(EnvironmentSetting::lines).collect::<String>();
        let annotations = if lines.is_empty() { String::new() } else { format!("  annotations:\n{lines}") };
        let text = format!(
            "\
# The environment {0}: its cluster types, policies and values are on the branch `{0}` of this repository.
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Environment
metadata:
  name: {name}
{annotations}spec:
  controlPlane:
    repo: {url}
    branch: {name}
    path: {path}
",
            self.name
        );
        NewFile::new(Self::declaration_path(self.name), text)
    }

    /// The files of the environment's branch.
    pub fn branch(&self) -> Vec<NewFile> {
        vec![
            readme(self.name),
            self.base(),
            NewFile::new(format!("configs/{}.yaml", self.name), self.values()),
            self.destination(),
        ]
    }

    /// The `BaseRepo`: the commit of main that the environment builds on.
    fn base(&self) -> NewFile {
        let text = format!(
            "\
# The environment builds on the head of `main`: a commit there counts here at once.
# To decide when a commit of `main` reaches this environment, name it: `commit: <40 digits>` below `path`.
# To promote is then to change this line.
apiVersion: scheduler.kalypso.io/v1alpha1
kind: BaseRepo
metadata:
  name: main
spec:
  repo: {}
  branch: {MAIN}
  path: .
",
            yaml(self.control_plane)
        );
        NewFile::new("base-repo.yaml", text)
    }

    /// The `GitOpsRepo`: where the output goes.
    fn destination(&self) -> NewFile {
        let (name, url) = (yaml(self.name.as_str()), yaml(self.gitops));
        let text = format!(
            "\
# Where the result goes: clusters of this environment pull their folders from this branch.
# The first `kalypso publish` creates the branch.
apiVersion: scheduler.kalypso.io/v1alpha1
kind: GitOpsRepo
metadata:
  name: {name}
spec:
  repo: {url}
  branch: {name}
  path: .
"
        );
        NewFile::new("gitops-repo.yaml", text)
    }

    fn values(&self) -> String {
        let name = yaml(self.name.as_str());
        format!(
            "\
# Values for all clusters of this environment. They override those of `main`.
# For some clusters only: another map with more labels, such as `region: west`.
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
  labels:
    platform-config: \"true\"
  annotations:
    # After the values of `main`, before maps with more labels.
    config.kalypso.io/priority: \"-10\"
data:
  ENVIRONMENT: {name}
"
        )
    }
}

/// The description of an environment's branch.
pub fn readme(name: &EnvironmentName) -> NewFile {
    NewFile::new("README.md", README.replace("ENV", name.as_str()))
}

const README: &str = "\
# The environment ENV

| file or folder | objects |
|---|---|
| `base-repo.yaml` | `BaseRepo`: the commit of `main` that ENV builds on |
| `gitops-repo.yaml` | `GitOpsRepo`: the branch that the clusters of ENV pull |
| `cluster-types/` | `ClusterType`: kinds of clusters, with their labels and templates |
| `clusters/` | `Cluster`: single clusters with their own values, workloads or releases |
| `scheduling/` | `SchedulingPolicy`: which targets run on which clusters |
| `configs/` | `ConfigMap`: values for clusters and targets with certain labels |

`kalypso plan -e ENV` shows what a commit changes. `kalypso publish -e ENV` writes it to the GitOps repository.
";

#[cfg(test)]
mod tests {
    use model::kind::Kind;
    use model::source::FileId;

    use super::*;

    #[test]
    fn every_object_is_read_back_with_its_names() {
        let name = EnvironmentName::new("no").unwrap();
        let new = NewEnvironment {
            name: &name,
            control_plane: "https://git.example/a",
            gitops: "git@git.example:b/c",
            path: ".",
        };
        let files =
            new.branch().into_iter().chain([new.declaration(&EnvironmentSetting::of_new_platform(), Some(&name))]);
        let mut found = Vec::new();
        for file in files.filter(|file| model::read::is_read(&file.path)) {
            let read = model::read::read_file(FileId::default(), &file.path, file.text.as_bytes());
            assert!(read.diagnostics.is_empty(), "{}: {:?}", file.path, read.diagnostics);
            found.extend(read.objects.iter().map(|object| (object.kind(), object.name().to_string())));
        }
        let expected =
            [(Kind::BaseRepo, "main"), (Kind::ConfigMap, "no"), (Kind::GitOpsRepo, "no"), (Kind::Environment, "no")];
        assert_eq!(found, expected.map(|(kind, name)| (kind, name.to_owned())));
    }
}
