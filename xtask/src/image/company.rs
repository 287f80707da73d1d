//! The repositories of a small company, for the run of the image: a control plane, a workload and a GitOps repository, as bare repositories.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::output;

/// The URLs of the repositories in their objects. The configuration replaces them by a folder.
const HOST: &str = "https://git.example/acme/";

const ENVIRONMENT: &str = "apiVersion: scheduler.kalypso.io/v1alpha1
kind: Environment
metadata: {name: dev}
spec:
  controlPlane: {repo: https://git.example/acme/control-plane, branch: dev, path: .}
";
const TEMPLATES: &str = "apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: flux}
spec:
  type: reconciler
  manifests: [\"kind: Kustomization\\nname: {{ .DeploymentTargetName }}\\nrepo: {{ .Manifests.repo }}\\n\"]
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: default}
spec:
  type: namespace
  manifests: [\"kind: Namespace\\nname: {{ .Namespace }}\\n\"]
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: configmap}
spec:
  type: config
  manifests: [\"kind: ConfigMap\\ndata:\\n{{ toYaml .ConfigData | indent 2 }}\\n\"]
";
const REGISTRATION: &str = "apiVersion: scheduler.kalypso.io/v1alpha1
kind: WorkloadRegistration
metadata: {name: shop}
spec:
  workload: {repo: https://git.example/acme/shop, branch: main, path: .}
  workspace: shop-team
";
const DEV: &str = "apiVersion: scheduler.kalypso.io/v1alpha1
kind: BaseRepo
metadata: {name: main}
spec: {repo: https://git.example/acme/control-plane, branch: main, path: .}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: GitOpsRepo
metadata: {name: dev}
spec: {repo: https://git.example/acme/gitops, branch: dev, path: .}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: east, labels: {region: east}}
spec: {reconciler: flux, namespaceService: default, configType: configmap}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata: {name: shop}
spec:
  deploymentTargetSelector: {labelSelector: {matchLabels: {purpose: shop}}}
  clusterTypeSelector: {labelSelector: {matchLabels: {region: east}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: common, labels: {platform-config: \"true\"}}
data: {LOG_LEVEL: info}
";
const SHOP: &str = "apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: shop}
spec:
  deploymentTargets:
    - name: test
      labels: {purpose: shop}
      environment: dev
      manifests: {repo: https://git.example/acme/shop-deploy, branch: dev, path: .}
";

/// The files of a commit: paths with texts.
type Files = &'static [(&'static str, &'static str)];

/// The commits: repository, branch, and the files.
const COMMITS: &[(&str, &str, Files)] = &[
    (
        "control-plane",
        "main",
        &[
            (".environments/dev.yaml", ENVIRONMENT),
            ("templates/all.yaml", TEMPLATES),
            ("workloads/shop.yaml", REGISTRATION),
        ],
    ),
    ("control-plane", "dev", &[("dev.yaml", DEV)]),
    ("shop", "main", &[("shop.yaml", SHOP)]),
    ("gitops", "dev", &[("README.md", "What the clusters run.\n")]),
];

/// Makes the repositories in a folder.
pub(super) fn create(folder: &Path) -> Result<()> {
    for (name, branch, files) in COMMITS {
        let repository = folder.join(format!("{name}.git"));
        if !repository.exists() {
            fs::create_dir_all(folder)?;
            output(Command::new("git").args(["init", "--quiet", "--bare", "--initial-branch=main"]).arg(&repository))?;
        }
        commit(&repository, branch, files)?;
    }
    Ok(())
}

fn commit(repository: &Path, branch: &str, files: Files) -> Result<()> {
    let head = format!("commit refs/heads/{branch}\ncommitter Ann <ann@example.com> 1700000000 +0000\ndata 1\n-\n");
    let file = |(path, text): &(&str, &str)| format!("M 644 inline {path}\ndata {}\n{text}\n", text.len());
    let files: String = files.iter().map(file).collect();
    let mut git = Command::new("git")
        .current_dir(repository)
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .context("cannot start git")?;
    git.stdin.take().context("git has no input")?.write_all((head + &files).as_bytes())?;
    let status = git.wait()?;
    ensure!(status.success(), "git fast-import: {status}");
    Ok(())
}

/// A `kalypso.toml` for these repositories in another folder.
pub(super) fn configuration(folder: &str) -> String {
    format!(
        "[control-plane]\nrepo = \"{HOST}control-plane\"\n\n[git]\nrewrite = [{{ from = \"{HOST}\", to = \"{folder}/\" }}]\n\n\
         [hub]\ndatabase = \"sqlite:/var/lib/kalypso/kalypso.db\"\n"
    )
}

/// The files of a branch of the GitOps repository that the service pushed. Empty if there is none.
pub(super) fn published(folder: &Path) -> Result<Vec<String>> {
    let git = |arguments: &[&str]| {
        // The repository belongs to another user.
        output(
            Command::new("git").args(["-c", "safe.directory=*", "-C"]).arg(folder.join("gitops.git")).args(arguments),
        )
    };
    let heads = git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/kalypso"])?;
    let Some(branch) = heads.lines().next() else { return Ok(Vec::new()) };
    Ok(git(&["ls-tree", "-r", "--name-only", branch])?.lines().map(str::to_owned).collect())
}
