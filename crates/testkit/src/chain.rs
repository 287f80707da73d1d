//! A control plane whose environments have commits of the main branch, one environment after another, in memory.

#![expect(clippy::expect_used, reason = "a control plane that can't be made in memory is a broken test")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use git::{MemoryRepositories, NewCommit, Person, Repositories, RepositoryUrl, Revision};
use git_host::HostKind;
use git_host::hosts::memory::MemoryHost;
use model::git_id::GitId;
use model::tree::{Tree, closed};

use crate::company::{CONTROL_PLANE, GITOPS, HostedBranches, delete};

/// The repository with the manifests of the workload.
const MANIFESTS: &str = "https://git.example/shop/shop-gitops";

/// A control plane with environments. Each has two cluster types and the workload `shop`, and a branch of the GitOps repository with its name.
pub struct MemoryChain {
    /// The repositories.
    pub repositories: Arc<MemoryRepositories>,
    main: BTreeMap<String, String>,
}

impl MemoryChain {
    /// A control plane with these environments. All have the first commit of the main branch, and nothing was published.
    pub fn new(environments: &[&str]) -> Self {
        let mut main: BTreeMap<_, _> = templates().into();
        let declared = environments.iter().map(|name| (format!(".environments/{name}.yaml"), declaration(name)));
        main.extend(declared);
        main.insert("workload.yaml".to_owned(), workload(environments));
        main.insert("common.yaml".to_owned(), common("first"));
        let chain = Self { repositories: Arc::default(), main };
        let first = chain.commit(CONTROL_PLANE, "main", &chain.main);
        for name in environments {
            chain.commit(CONTROL_PLANE, name, &environment(name, Some(first)));
            chain.commit(GITOPS, name, &[("README.md".to_owned(), "Of other people.\n".to_owned())].into());
        }
        chain
    }

    /// Writes a file of the main branch. Returns the commit.
    pub fn write_main(&mut self, path: &str, text: &str) -> GitId {
        self.main.insert(path.to_owned(), text.to_owned());
        self.commit(CONTROL_PLANE, "main", &self.main)
    }

    /// Writes a file of the main branch to another branch, to be merged from there. Returns the commit.
    pub fn propose_main(&mut self, branch: &str, path: &str, text: &str) -> GitId {
        self.main.insert(path.to_owned(), text.to_owned());
        self.commit(CONTROL_PLANE, branch, &self.main)
    }

    /// Removes a file of the main branch. Returns the commit.
    pub fn remove_main(&mut self, path: &str) -> GitId {
        self.main.remove(path);
        self.commit(CONTROL_PLANE, "main", &self.main)
    }

    /// Commits exactly these files to a branch of a repository, which is made if there is none.
    pub fn write(&self, repository: &str, branch: &str, files: &BTreeMap<String, String>) -> GitId {
        self.commit(repository, branch, files)
    }

    /// Changes a value that all assignments have. Returns the commit of the main branch.
    pub fn change_value(&mut self, value: &str) -> GitId {
        self.write_main("common.yaml", &common(value))
    }

    /// Commits exactly these files to a branch of an environment.
    pub fn write_environment(&self, name: &str, files: &BTreeMap<String, String>) -> GitId {
        self.commit(CONTROL_PLANE, name, files)
    }

    /// Deletes the branch of an environment.
    pub fn delete_environment(&self, name: &str) {
        delete(&self.repositories, (CONTROL_PLANE, name));
    }

    /// The head of a branch of the control plane.
    pub fn head(&self, branch: &str) -> Option<GitId> {
        self.repositories.head(&url(CONTROL_PLANE), branch)
    }

    /// The commit of the main branch that an environment's branch names.
    pub fn promoted(&self, environment: &str) -> Option<String> {
        let text = self.read(CONTROL_PLANE, environment, "base-repo.yaml")?;
        Some(text.split_once("commit: ")?.1.trim_end_matches(['}', '\n']).to_owned())
    }

    /// The text of a file of a branch. None if there is none.
    pub fn read(&self, repository: &str, branch: &str, path: &str) -> Option<String> {
        let head = self.repositories.resolve(&url(repository), &Revision::branch(branch)).ok()?;
        let tree = self.repositories.tree(&head).ok()?;
        let entry = tree.file(path, &git::opener(&*self.repositories, &head)).ok()??;
        match self.repositories.content(&head, entry.blob.id(), 1 << 20).ok()? {
            git::FileContent::Bytes(bytes) => String::from_utf8(bytes.to_vec()).ok(),
            git::FileContent::TooLarge(_) => None,
        }
    }

    /// The message of the commit at the head of a branch. Empty if there is none.
    pub fn message(&self, repository: &str, branch: &str) -> String {
        let head = self.repositories.resolve(&url(repository), &Revision::branch(branch)).ok();
        let newest = head.and_then(|head| self.repositories.ancestry(&head, 1).ok()?.into_iter().next());
        newest.map(|(_, commit)| commit.message.clone()).unwrap_or_default()
    }

    /// A git host with the control plane, the GitOps repository and the manifests of the workload.
    pub fn host(&self, kind: HostKind) -> MemoryHost {
        let host = MemoryHost::new(kind);
        for url in [CONTROL_PLANE, GITOPS, MANIFESTS] {
            let branches = HostedBranches { repositories: Arc::clone(&self.repositories), url };
            host.add_repository(url.strip_prefix("https://git.example/").expect("it is in memory"), Box::new(branches));
        }
        host
    }

    fn commit(&self, to: &str, branch: &str, files: &BTreeMap<String, String>) -> GitId {
        let url = url(to);
        let mut tree = Tree::default();
        files.iter().for_each(|(path, text)| tree.write(path, text.as_bytes()));
        let parents: Vec<_> = self.repositories.head(&url, branch).into_iter().collect();
        let author = Person { name: "Ann".to_owned(), email: "ann@example.com".to_owned() };
        let commit = NewCommit {
            parents: &parents,
            tree: &tree,
            open: &closed,
            message: "A change",
            author: &author,
            seconds: 1_000,
            signer: None,
        };
        self.repositories.commit(&url, branch, &commit).expect("it is in memory")
    }
}

fn url(text: &str) -> RepositoryUrl {
    RepositoryUrl::from_object(text).expect("it is in memory")
}

fn object(kind: &str, name: &str, spec: &str) -> String {
    format!("apiVersion: scheduler.kalypso.io/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n")
}

fn declaration(name: &str) -> String {
    object("Environment", name, &format!("{{controlPlane: {{repo: {CONTROL_PLANE}, branch: {name}, path: .}}}}"))
}

/// The files of an environment's branch, with a commit of the main branch. None: it follows the head.
pub fn environment(name: &str, commit: Option<GitId>) -> BTreeMap<String, String> {
    let pin = commit.map_or_else(String::new, |commit| format!(", commit: {commit}"));
    let base = object("BaseRepo", "main", &format!("{{repo: {CONTROL_PLANE}, branch: main, path: .{pin}}}"));
    let gitops = object("GitOpsRepo", name, &format!("{{repo: {GITOPS}, branch: {name}, path: .}}"));
    let cluster_type = |name: &str| {
        let labels = format!("metadata: {{name: {name}, labels: {{region: {name}}}}}");
        object("ClusterType", name, "{reconciler: flux, namespaceService: default, configType: configmap}")
            .replace(&format!("metadata: {{name: {name}}}"), &labels)
    };
    let policy = "{deploymentTargetSelector: {labelSelector: {matchLabels: {purpose: shop}}}, \
                  clusterTypeSelector: {labelSelector: {matchExpressions: [{key: region, operator: Exists}]}}}";
    let files = [
        ("base-repo.yaml", base),
        ("gitops-repo.yaml", gitops),
        ("east.yaml", cluster_type("east")),
        ("west.yaml", cluster_type("west")),
        ("policy.yaml", object("SchedulingPolicy", "shop", policy)),
    ];
    files.map(|(path, text)| (path.to_owned(), text)).into()
}

fn workload(environments: &[&str]) -> String {
    let mut spec = "\n  deploymentTargets:\n".to_owned();
    for name in environments {
        let _ = writeln!(
            spec,
            "    - {{name: {name}, labels: {{purpose: shop}}, environment: {name}, \
             manifests: {{repo: {MANIFESTS}, branch: {name}, path: .}}}}"
        );
    }
    object("Workload", "shop", spec.trim_end())
}

fn common(value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: common, labels: {{platform-config: \"true\"}}}}\ndata: {{VALUE: \"{value}\"}}\n"
    )
}

fn templates() -> [(String, String); 3] {
    let template = |name: &str, kind: &str, manifest: &str| {
        (
            format!("templates/{name}.yaml"),
            object("Template", name, &format!("\n  type: {kind}\n  manifests:\n    - |\n{manifest}")),
        )
    };
    [
        template("flux", "reconciler", "      kind: Reconciler\n      name: {{ .DeploymentTargetName }}\n"),
        template("default", "namespace", "      kind: Namespace\n      name: {{ .Namespace }}\n"),
        template(
            "configmap",
            "config",
            "      kind: ConfigMap\n      data:\n      {{ toYaml .ConfigData | indent 2 }}\n",
        ),
    ]
}
