//! The files of a company, and the repositories that contain them, in memory or in a folder.

mod bare;
mod generated;
pub mod memory;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use model::git_id::GitId;

pub use self::bare::{BareRepositories, CommittedFile, git};
pub use self::generated::{BASE, MemoryCompany, PROPOSAL, generated_files};
pub use self::memory::{CONTROL_PLANE, GITOPS, PAGES};
pub use crate::objects::HOST;
use crate::objects::{self, workload_in};

/// The files of a branch: texts by path.
pub type BranchTexts = BTreeMap<String, String>;

/// The file of an environment's branch that names the main branch.
const BASE_FILE: &str = "base.yaml";

/// Repositories that a company is written to.
pub trait CompanyRepositories {
    /// Commits exactly these files to a branch of the repository with this name below [`HOST`], which is created if it does not exist.
    fn write(&self, repository: &str, branch: &str, files: &BranchTexts) -> GitId;
}

/// The files of a company: a control plane with environments, applications, and a branch of the GitOps repository for each environment.
#[derive(Clone, Debug, Default)]
pub struct CompanyFiles {
    /// The main branch of the control plane.
    pub main: BranchTexts,
    /// The branches of the environments. They follow the main branch.
    pub environments: BTreeMap<String, BranchTexts>,
    /// The environments that have the first commit of the main branch instead.
    pub pinned: BTreeSet<String>,
    /// The main branches of the applications' repositories.
    pub applications: BTreeMap<String, BranchTexts>,
}

impl CompanyFiles {
    /// Applications in repositories of their own, with a target in each environment. Environments have two cluster types, and values for all and for one region.
    pub fn with_applications(environments: &[&str], applications: &[&str]) -> Self {
        let mut files = Self::with_environments(environments, |name| {
            let mut files = environment_files(name, &[("east", "east-us"), ("west", "west-us")]);
            let policy = |name: &&str| (format!("policies/{name}.yaml"), objects::policy(name, name));
            files.extend(applications.iter().map(policy));
            files.extend(owned([
                ("configs/common.yaml", objects::config("common", "", "DATABASE: mysql://main/a\nLOG_LEVEL: info")),
                ("configs/west.yaml", objects::config("west", "region: west-us", "DATABASE: mysql://west/a")),
            ]));
            files
        });
        for name in applications {
            let registration = objects::registration(name, &format!("{HOST}{name}"));
            files.main.insert(format!("workloads/{name}.yaml"), registration);
            let workload = (format!("{name}.yaml"), workload_in(name, environments));
            files.applications.insert((*name).to_owned(), [workload].into());
        }
        files
    }

    /// The workload `shop` and a value in the main branch. Each environment has these cluster types, and the first commit of the main branch.
    pub fn with_places(places: &[(&str, &[&str])]) -> Self {
        let names: Vec<_> = places.iter().map(|(name, _)| *name).collect();
        let mut files = Self::with_environments(&names, |name| {
            let places = places.iter().filter(|(other, _)| *other == name).flat_map(|(_, places)| *places);
            place_files(name, &places.copied().collect::<Vec<_>>())
        });
        let shop = [("workloads/shop.yaml", workload_in("shop", &names)), ("common.yaml", common_value("first"))];
        files.main.extend(owned(shop));
        files.pinned = files.environments.keys().cloned().collect();
        files
    }

    fn with_environments(environments: &[&str], branch: impl Fn(&str) -> BranchTexts) -> Self {
        let declared =
            environments.iter().map(|name| (format!(".environments/{name}.yaml"), objects::environment(name)));
        Self {
            main: declared.chain(owned(objects::templates())).collect(),
            environments: environments.iter().map(|name| ((*name).to_owned(), branch(name))).collect(),
            pinned: BTreeSet::new(),
            applications: BTreeMap::new(),
        }
    }

    /// Adds a file to the main branch of the control plane, or replaces it.
    #[must_use]
    pub fn with(mut self, path: &str, text: impl Into<String>) -> Self {
        self.main.insert(path.to_owned(), text.into());
        self
    }

    /// Lets an environment follow the main branch.
    #[must_use]
    pub fn following(mut self, environment: &str) -> Self {
        self.pinned.remove(environment);
        self
    }

    /// Writes the repositories `control-plane`, `gitops`, and one for each application. Returns the commit of the main branch.
    pub fn write(&self, repositories: &impl CompanyRepositories) -> GitId {
        let first = repositories.write("control-plane", "main", &self.main);
        for (name, files) in &self.environments {
            if self.pinned.contains(name) {
                repositories.write("control-plane", name, &pinned(files.clone(), first));
            } else {
                repositories.write("control-plane", name, files);
            }
            let readme = format!("What clusters of {name} run.\n");
            repositories.write("gitops", name, &[("README.md".to_owned(), readme)].into());
        }
        for (name, files) in &self.applications {
            repositories.write(name, "main", files);
        }
        first
    }
}

/// The files of an environment's branch, with the workload `shop` at these cluster types. They follow the main branch.
pub fn place_files(environment: &str, places: &[&str]) -> BranchTexts {
    let places: Vec<_> = places.iter().map(|name| (*name, *name)).collect();
    let mut files = environment_files(environment, &places);
    files.insert("policies/shop.yaml".to_owned(), objects::policy("shop", "shop"));
    files
}

/// The files of an environment's branch with a commit of the main branch.
pub fn pinned(mut files: BranchTexts, commit: impl Display) -> BranchTexts {
    files.insert(BASE_FILE.to_owned(), objects::pinned_base(commit));
    files
}

/// A value of all assignments.
pub fn common_value(value: &str) -> String {
    objects::config("common", "", &format!("VALUE: {value}"))
}

/// The objects of each environment, with cluster types and their regions.
fn environment_files(name: &str, cluster_types: &[(&str, &str)]) -> BranchTexts {
    let cluster_type =
        |(name, region): &(&str, &str)| (format!("cluster-types/{name}.yaml"), objects::cluster_type(name, region));
    let fixed = [(BASE_FILE, objects::base()), ("gitops.yaml", objects::gitops(name, name, "."))];
    cluster_types.iter().map(cluster_type).chain(owned(fixed)).collect()
}

fn owned<const COUNT: usize>(files: [(&str, String); COUNT]) -> [(String, String); COUNT] {
    files.map(|(path, text)| (path.to_owned(), text))
}
