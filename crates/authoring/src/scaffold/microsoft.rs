//! The platform that the bootstrap of Microsoft's Kalypso makes: the same folders, names and output.

use model::name::EnvironmentName;

use super::environment::NewEnvironment;
use super::file::NewFile;
use super::quoting::yaml;

/// The only environment.
pub const ENVIRONMENT: &str = "dev";
/// The repository of the sample registration, below the URL of the platform's repositories.
pub const APPLICATION: &str = "app-src";

/// The platform, before it exists.
#[derive(Clone, Debug)]
pub struct MicrosoftPlatform {
    /// The environment `dev`.
    pub environment: EnvironmentName,
    /// The URL of the control plane, as objects name it.
    pub control_plane: String,
    /// The URL of the GitOps repository, as objects name it.
    pub gitops: String,
    /// The URL of the application repository of the sample registration.
    pub application: String,
}

impl MicrosoftPlatform {
    /// The files of the control plane's main branch.
    pub fn main_branch(&self) -> Vec<NewFile> {
        let new = NewEnvironment {
            name: &self.environment,
            control_plane: &self.control_plane,
            gitops: &self.gitops,
            path: ".",
        };
        vec![
            new.declaration(&[], None),
            NewFile::new(".sourceignore", SOURCE_IGNORE),
            NewFile::new("README.md", README),
            NewFile::new("templates/arc-flux.yaml", ARC_FLUX),
            NewFile::new("templates/argocd.yaml", ARGO_CD),
            NewFile::new("templates/configmap.yaml", CONFIG_MAP),
            NewFile::new("templates/namespace.yaml", NAMESPACE),
            NewFile::new("workloads/sample.yaml", self.registration()),
        ]
    }

    /// The files of the branch `dev`.
    pub fn environment_branch(&self) -> Vec<NewFile> {
        let name = &self.environment;
        let new = NewEnvironment { name, control_plane: &self.control_plane, gitops: &self.gitops, path: "." };
        let own = new.branch().into_iter().filter(|file| !file.path.starts_with("configs/"));
        let mut files: Vec<_> = own.collect();
        files.push(NewFile::new("cluster-types/dev/dev-cluster-type.yaml", CLUSTER_TYPE));
        files.push(NewFile::new("configs/dev-config.yaml", VALUES));
        files.push(NewFile::new("scheduling/dev-policy.yaml", POLICY));
        files
    }

    /// The files of the sample application's repository.
    pub fn application_branch(&self) -> Vec<NewFile> {
        let manifests = self.application.rsplit_once('/').map_or("", |(base, _)| base);
        let target = |name: &str| {
            format!(
                "    - name: {name}
      labels:
        purpose: {name}
      environment: {ENVIRONMENT}
      manifests:
        repo: {}
        branch: {ENVIRONMENT}
        path: ./{name}
",
                yaml(&format!("{manifests}/app-gitops"))
            )
        };
        let targets = [target("functional-test"), target("performance-test")].concat();
        let text = format!(
            "\
# What the application team deploys, and where its manifests are. It names environments, never clusters.
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata:
  name: hello-world-app
  labels:
    type: application
spec:
  deploymentTargets:
{targets}"
        );
        vec![NewFile::new("workload/workload.yaml", text)]
    }

    fn registration(&self) -> String {
        format!(
            "\
# The sample application: its repository has a Workload in the folder `workload`.
apiVersion: scheduler.kalypso.io/v1alpha1
kind: WorkloadRegistration
metadata:
  name: hello-world-app
  labels:
    type: application
spec:
  workload:
    repo: {}
    branch: main
    path: ./workload
  workspace: kaizen-app-team
",
            yaml(&self.application)
        )
    }
}

const SOURCE_IGNORE: &str = ".github/\n.environments/\n";

const README: &str = "\
# Control plane

Laid out as the bootstrap of Microsoft's Kalypso does it: `main` has templates and workload registrations, `dev` has a cluster type, a policy and values.

A change counts when it is committed. `kalypso plan -e dev` shows what it changes, `kalypso publish -e dev` writes it to the GitOps repository.
";

const ARC_FLUX: &str = r#"# Clusters with Flux, such as those of Azure Arc. The names of the objects have the form BRANCH.WORKLOAD.TARGET.
# The secret `platform-<branch>-auth` in namespace flux-system has the credentials of the repository.
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata:
  name: arc-flux
spec:
  type: reconciler
  manifests:
    - |
      apiVersion: source.toolkit.fluxcd.io/v1beta2
      kind: GitRepository
      metadata:
        name: "{{ .Manifests.branch }}.{{ .Workload }}.{{ .DeploymentTargetName }}"
        namespace: flux-system
      spec:
        interval: 30s
        url: "{{ .Manifests.repo }}"
        ref:
          branch: "{{ .Manifests.branch }}"
          {{- if .Manifests.commit }}
          commit: "{{ .Manifests.commit }}"
          {{- else if .Manifests.tag }}
          tag: "{{ .Manifests.tag }}"
          {{- end }}
        secretRef:
          name: "platform-{{ .Manifests.branch }}-auth"
    - |
      apiVersion: kustomize.toolkit.fluxcd.io/v1beta2
      kind: Kustomization
      metadata:
        name: "{{ .Manifests.branch }}.{{ .Workload }}.{{ .DeploymentTargetName }}"
        namespace: flux-system
      spec:
        interval: 30s
        targetNamespace: "{{ .DeploymentTargetName }}"
        sourceRef:
          kind: GitRepository
          name: "{{ .Manifests.branch }}.{{ .Workload }}.{{ .DeploymentTargetName }}"
        path: "{{ .Manifests.path }}"
        prune: true
"#;

const ARGO_CD: &str = r#"# Clusters with Argo CD. The names of the objects have the form BRANCH.WORKLOAD.TARGET.
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata:
  name: argocd
spec:
  type: reconciler
  manifests:
    - |
      apiVersion: argoproj.io/v1alpha1
      kind: Application
      metadata:
        name: "{{ .Manifests.branch }}.{{ .Workload }}.{{ .DeploymentTargetName }}"
        namespace: argocd
      spec:
        destination:
          server: https://kubernetes.default.svc
          namespace: "{{ .DeploymentTargetName }}"
        project: default
        source:
          path: "{{ .Manifests.path }}"
          repoURL: "{{ .Manifests.repo }}"
          targetRevision: "{{ or .Manifests.commit .Manifests.tag .Manifests.branch }}"
          directory:
            recurse: true
            include: '*.yaml'
            exclude: 'kustomization.yaml'
        syncPolicy:
          automated:
            prune: true
            selfHeal: true
            allowEmpty: false
          syncOptions:
            - CreateNamespace=true
"#;

const CONFIG_MAP: &str = r"# The values of a deployment target, as a ConfigMap in its namespace.
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata:
  name: configmap
spec:
  type: config
  manifests:
    - |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: platform-config
        namespace: {{ .DeploymentTargetName }}
      data:
      {{ stringify .ConfigData | indent 2 }}
";

const NAMESPACE: &str = r#"# The namespace of a deployment target, named after the target, and a service account.
# With the value `imagePullSecrets`, the service account has these secrets.
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata:
  name: default
spec:
  type: namespace
  manifests:
    - |
      apiVersion: v1
      kind: Namespace
      metadata:
        name: "{{ .DeploymentTargetName }}"
        labels:
          environment: "{{ .Environment }}"
          workspace: "{{ .Workspace }}"
          workload: "{{ .Workload }}"
          deploymentTarget: "{{ .DeploymentTargetName }}"
    - |
      apiVersion: v1
      kind: ServiceAccount
      metadata:
        name: "{{ .Workload }}-sa"
        namespace: "{{ .DeploymentTargetName }}"
      {{ if .ConfigData.imagePullSecrets }}imagePullSecrets:
      {{ toYaml .ConfigData.imagePullSecrets }}{{ end }}
"#;

const CLUSTER_TYPE: &str = "\
# The only cluster type. Its clusters pull the folder `dev` of the GitOps branch `dev`.
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata:
  name: dev
  labels:
    type: dev
spec:
  reconciler: arc-flux
  namespaceService: default
  configType: configmap
";

const VALUES: &str = "\
# Values for all clusters of dev.
apiVersion: v1
kind: ConfigMap
metadata:
  name: dev-config
  labels:
    platform-config: \"true\"
data:
  ENVIRONMENT: Dev
  SOME_DEV_ENVIRONMENT_VARIABLE: \"true\"
";

const POLICY: &str = "\
# Assigns every deployment target of dev to every cluster type.
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata:
  name: dev-policy
spec:
  deploymentTargetSelector:
    labelSelector:
      matchLabels: {}
  clusterTypeSelector:
    labelSelector:
      matchLabels: {}
";
