//! The control plane of a new platform: the files of `main`, and the names of its environments.

use model::name::EnvironmentName;

pub use super::environment::MAIN;
use super::environment::{EnvironmentSetting, NewEnvironment};
use super::file::NewFile;
use super::packs::Pack;

/// The start of the names of the branches that `publish` proposes. No branch can have this name itself.
const PROPOSALS: &str = "kalypso";
/// The end of names that git does not allow for branches.
const LOCK: &str = ".lock";

/// A platform that does not exist yet.
#[derive(Clone, Debug)]
pub struct Platform {
    /// The environments in the order of promotion.
    pub environments: Vec<EnvironmentName>,
    /// The packs of the reconcilers.
    pub reconcilers: Vec<&'static Pack>,
    /// The URL of the control plane, as objects name it.
    pub control_plane: String,
    /// The URL of the GitOps repository, as objects name it.
    pub gitops: String,
}

/// Why environments can't have these names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentsError {
    /// There is no environment.
    #[error("a platform needs an environment")]
    None,
    /// A name occurs twice.
    #[error("the environment `{0}` is named twice")]
    Duplicate(EnvironmentName),
    /// The branch with this name has another purpose, or can't exist.
    #[error("no environment can be named `{0}`: {1}")]
    Reserved(EnvironmentName, &'static str),
}

/// Checks names of environments: each is also the name of a branch.
///
/// # Errors
/// The first problem.
pub fn check_environments(names: &[EnvironmentName]) -> Result<(), EnvironmentsError> {
    if names.is_empty() {
        return Err(EnvironmentsError::None);
    }
    for (position, name) in names.iter().enumerate() {
        check_environment(name)?;
        if names.iter().take(position).any(|earlier| earlier == name) {
            return Err(EnvironmentsError::Duplicate(name.clone()));
        }
    }
    Ok(())
}

/// Checks the name of one environment.
///
/// # Errors
/// If a branch can't have this name, or has another purpose.
pub fn check_environment(name: &EnvironmentName) -> Result<(), EnvironmentsError> {
    let reserved = |reason| Err(EnvironmentsError::Reserved(name.clone(), reason));
    match name.as_str() {
        MAIN => reserved("the branch `main` holds the objects for all environments"),
        PROPOSALS => reserved("the names of branches that `publish` proposes begin with `kalypso/`"),
        text if text.ends_with(LOCK) => reserved("git allows no branch that ends with `.lock`"),
        _ => Ok(()),
    }
}

impl Platform {
    /// The files of the control plane's main branch.
    pub fn main_branch(&self) -> Vec<NewFile> {
        let mut files = vec![
            NewFile::new("README.md", README),
            NewFile::new(".sourceignore", SOURCE_IGNORE),
            NewFile::new("configs/common.yaml", COMMON),
        ];
        let next = self.environments.iter().skip(1).map(Some).chain([None]);
        let settings = EnvironmentSetting::of_new_platform();
        let declared = self.environments.iter().zip(next);
        files.extend(declared.map(|(name, next)| self.environment(name).declaration(&settings, next)));
        files.extend(self.packs().iter().map(|pack| pack.file(None)));
        files.sort_by(|left, right| left.path.cmp(&right.path));
        files
    }

    /// The files of an environment's branch.
    pub fn environment_branch(&self, name: &EnvironmentName) -> Vec<NewFile> {
        self.environment(name).branch()
    }

    /// The packs of all reconcilers, each once.
    pub fn packs(&self) -> Vec<&'static Pack> {
        let mut packs: Vec<&'static Pack> = Vec::new();
        for pack in self.reconcilers.iter().flat_map(|pack| pack.with_others()) {
            if !packs.contains(&pack) {
                packs.push(pack);
            }
        }
        packs
    }

    fn environment<'a>(&'a self, name: &'a EnvironmentName) -> NewEnvironment<'a> {
        NewEnvironment { name, control_plane: &self.control_plane, gitops: &self.gitops, path: "." }
    }
}

const README: &str = "\
# Control plane

This repository defines which workload runs where, with which configuration. Kalypso compiles it, and writes the result to the GitOps repository that clusters pull.

`main` has the objects for all environments:

| folder | objects |
|---|---|
| `.environments/` | `Environment`: the environments, and the branch of each |
| `templates/` | `Template`: what Kalypso writes for each deployment target |
| `workloads/` | `WorkloadRegistration`: the repositories of application teams |
| `configs/` | `ConfigMap`: values for all environments |
| `schemas/` | `ConfigSchema`: which values are required, and of which type |

Each environment has a branch with its cluster types, scheduling policies and values. Kalypso reads all YAML files, so the folders are a habit, not a rule.

A change counts when it is committed:

    kalypso check           is everything right?
    kalypso plan -e ENV     what would this change in the GitOps repository?
    kalypso publish -e ENV  make it so
";

const SOURCE_IGNORE: &str = "\
# Environments are not built from these folders. Kalypso reads `.environments` itself.
.environments/
.github/
";

const COMMON: &str = "\
# Values for all environments. Values in the branch of an environment override them.
# Replace the example by your own values. `kalypso explain` shows where a value comes from.
apiVersion: v1
kind: ConfigMap
metadata:
  name: common
  labels:
    platform-config: \"true\"
  annotations:
    # Maps merge by priority, then by name; later maps win. The default is 0.
    config.kalypso.io/priority: \"-20\"
data:
  LOG_LEVEL: info
";

#[cfg(test)]
mod tests {
    use super::*;

    fn names(texts: &[&str]) -> Vec<EnvironmentName> {
        texts.iter().map(|text| EnvironmentName::new(*text).unwrap()).collect()
    }

    #[test]
    fn a_name_is_also_a_branch() {
        let check = |texts: &[&str]| check_environments(&names(texts)).err().map(|error| error.to_string());
        assert_eq!(check(&["dev", "prod"]), None);
        assert_eq!(check(&[]).unwrap(), "a platform needs an environment");
        assert_eq!(check(&["dev", "prod", "dev"]).unwrap(), "the environment `dev` is named twice");
        for reserved in ["main", "kalypso", "a.lock"] {
            assert!(check(&[reserved]).unwrap().starts_with("no environment can be named"), "{reserved}");
        }
    }

    #[test]
    fn the_order_of_promotion_is_in_the_declarations() {
        let platform = Platform {
            environments: names(&["dev", "prod"]),
            reconcilers: vec![Pack::find("flux").unwrap(), Pack::find("argocd").unwrap()],
            control_plane: "https://git.example/acme/control-plane".to_owned(),
            gitops: "https://git.example/acme/platform-gitops".to_owned(),
        };
        let files = platform.main_branch();
        let paths: Vec<_> = files.iter().map(|file| &*file.path).collect();
        let expected = [
            ".environments/dev.yaml",
            ".environments/prod.yaml",
            ".sourceignore",
            "README.md",
            "configs/common.yaml",
            "templates/argocd.yaml",
            "templates/configmap.yaml",
            "templates/flux.yaml",
            "templates/namespace.yaml",
        ];
        assert_eq!(paths, expected);
        assert!(files[0].text.contains("promotion.kalypso.io/next: prod"));
        assert!(!files[1].text.contains("promotion.kalypso.io/next"));
        for declaration in &files[..2] {
            assert!(declaration.text.contains("    config.kalypso.io/precedence: specificity\n"));
        }
    }
}
