//! The configuration file of an application as it is written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::Spanned;
use utoipa::ToSchema;

/// `kalypso-app.toml`: what an application consists of, and where its manifests go.
///
/// In `branch` and `path` of values and of the GitOps repository, `{environment}` stands for the name of the environment.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ApplicationOptions {
    /// The file with the `Workload`, from the folder of this file.
    #[serde(default = "workload_file")]
    pub(super) workload: String,
    /// The workspace (the team) that the application belongs to.
    #[schema(value_type = String)]
    pub(super) workspace: Spanned<String>,
    /// The name of the application. Without it, the name of the workload.
    pub(super) application: Option<String>,
    /// Whether a `Promotion` of the platform moves versions from environment to environment. Then all environments share a branch of the GitOps repository.
    #[serde(default)]
    #[schema(value_type = bool)]
    pub(super) promoted: Option<Spanned<bool>>,
    /// What is rendered.
    #[schema(value_type = SourceOptions)]
    pub(super) source: Spanned<SourceOptions>,
    /// The sources of targets that are hosts without containers.
    #[serde(default)]
    #[schema(value_type = Vec<OtherSourceOptions>)]
    pub(super) sources: Vec<Spanned<OtherSourceOptions>>,
    /// Where the values are.
    #[serde(default)]
    pub(super) values: ValuesOptions,
    /// Where the manifests go.
    pub(super) gitops: GitOpsOptions,
    /// What the folders of the targets contain.
    #[serde(default)]
    pub(super) output: OutputOptions,
    /// How Helm renders the chart.
    #[serde(default)]
    pub(super) helm: HelmOptions,
    /// How manifests are compared with the schemas of their kinds.
    #[serde(default)]
    pub(super) kubernetes: KubernetesOptions,
    /// The images of the manifests.
    #[serde(default)]
    pub(super) images: ImagesOptions,
    /// The values of the platform.
    #[serde(default)]
    pub(super) platform: PlatformOptions,
    /// Variables for values and files: `${NAME}`. They may contain other variables.
    #[serde(default)]
    #[schema(value_type = BTreeMap<String, String>)]
    pub(super) variables: BTreeMap<String, Spanned<String>>,
    /// The environments, in the order of promotion.
    pub(super) environments: Vec<EnvironmentOptions>,
    /// Access to repositories, as in `kalypso.toml`: the program reads it.
    #[serde(rename = "git", default)]
    #[schema(value_type = Object)]
    pub(super) _git: toml::Table,
    /// The git host for pull requests, as in `kalypso.toml`: the program reads it.
    #[serde(rename = "host", default)]
    #[schema(value_type = serde_json::Value)]
    pub(super) _host: Option<toml::Value>,
}

/// The source: a chart, a folder for Kustomize, plain manifests, services, or files. Exactly one of the five.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct SourceOptions {
    /// The folder of a Helm chart.
    #[schema(value_type = Option<String>)]
    pub(super) chart: Option<Spanned<String>>,
    /// A folder for Kustomize.
    #[schema(value_type = Option<String>)]
    pub(super) kustomize: Option<Spanned<String>>,
    /// A folder with plain manifests.
    #[schema(value_type = Option<String>)]
    pub(super) manifests: Option<Spanned<String>>,
    /// A folder with a file for each service: a chart of a chart repository, with its version.
    #[schema(value_type = Option<String>)]
    pub(super) services: Option<Spanned<String>>,
    /// A folder with any files, such as a playbook, for hosts that are no clusters. They are copied, with variables replaced.
    #[schema(value_type = Option<String>)]
    pub(super) files: Option<Spanned<String>>,
    /// The folder inside `kustomize` that is built: `overlays/{environment}/{target}`. Without it, the folder itself.
    pub(super) overlay: Option<String>,
    /// The URL of the source repository, for descriptors. Without it, that of the remote `origin`.
    pub(super) repo: Option<String>,
    /// The branch of the source repository, for descriptors.
    #[serde(default = "main_branch")]
    pub(super) branch: String,
}

/// A source of some targets.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct OtherSourceOptions {
    /// The targets: the paths of their folders. `*` stands for one folder: `kiosks/*`.
    #[schema(value_type = Vec<String>)]
    pub(super) targets: Vec<Spanned<String>>,
    /// A folder with any files, such as a playbook. They are copied, with variables replaced, and with the files beside the values of the target.
    #[schema(value_type = String)]
    pub(super) files: Spanned<String>,
}

/// The values.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ValuesOptions {
    /// The repository with the values: a URL, or a path from the folder of this file. Without it, they are in this repository.
    pub(super) repo: Option<String>,
    /// The branch with the values of an environment. Without it: `{environment}` in another repository; in this repository, the commit that is rendered.
    pub(super) branch: Option<String>,
    /// The folder with the values of an environment. Without it: `values/{environment}` in this repository, the root of another one.
    pub(super) path: Option<String>,
}

/// The GitOps repository.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct GitOpsOptions {
    /// The repository: a URL, or a path from the folder of this file.
    pub(super) repo: String,
    /// The branch that reconcilers pull.
    #[serde(default = "environment_branch")]
    pub(super) branch: String,
    /// The folder of the branch that the folders of the targets are in. Without it, the root.
    #[serde(default)]
    pub(super) path: String,
    /// The branch of a pull request: `{workload}`, `{environment}` and `{commit}` stand for their values.
    #[serde(default = "proposing_branch")]
    pub(super) proposing_branch: String,
}

/// What the folder of a target contains.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct OutputOptions {
    /// The file with the manifests.
    #[schema(value_type = String)]
    pub(super) file: Spanned<String>,
    /// Whether a `kustomization.yaml` names the file, so that reconcilers apply nothing else.
    pub(super) kustomization: bool,
    /// Whether the files with the deployed version are written to `.github/tracking`.
    pub(super) tracking: bool,
    /// What happens to namespaces that the chart writes.
    pub(super) namespaces: Namespaces,
}

/// What happens to namespaces in rendered manifests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Namespaces {
    /// They stay.
    #[default]
    Keep,
    /// They are removed: the reconciler sets the namespace.
    Remove,
}

/// Options of `helm template`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct HelmOptions {
    /// The name of the release: `{target}` is the last part of the target's path, `{service}` the name of the service. Without it, `{service}` for services, and
    /// `{target}` for a chart.
    pub(super) release: Option<String>,
    /// The namespace of the release. Without it, `default`. A service may have its own.
    pub(super) namespace: Option<String>,
    /// Whether the chart's custom resource definitions are rendered.
    pub(super) include_crds: bool,
    /// Whether the chart's tests are left out.
    pub(super) skip_tests: bool,
    /// The version of Kubernetes that the chart is rendered for. Without it, that of the program.
    pub(super) kube_version: Option<String>,
    /// API versions that the clusters have.
    pub(super) api_versions: Vec<String>,
    /// How long one target may take, in seconds.
    #[schema(value_type = Option<u64>)]
    pub(super) timeout_seconds: Option<Spanned<u64>>,
}

/// How manifests are compared with the schemas of their kinds. It changes no manifest.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct KubernetesOptions {
    /// Whether manifests are compared with schemas.
    pub(super) validate: bool,
    /// A folder with schemas of other kinds than those of Kubernetes, from the folder of this file: custom resource definitions in YAML, or JSON schemas with names
    /// such as `servicemonitor-monitoring-v1.json`.
    #[schema(value_type = Option<String>)]
    pub(super) schemas: Option<Spanned<String>>,
    /// Kinds that are not compared: `ServiceMonitor`, or `monitoring.coreos.com/ServiceMonitor`.
    pub(super) skip_kinds: Vec<String>,
}

/// The images of the manifests.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct ImagesOptions {
    /// Whether each image gets the digest that its registry has for its tag, if a version is rendered.
    pub(super) pin: bool,
}

/// The values of the platform.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(super) struct PlatformOptions {
    /// The `ConfigMap` in which the platform gives its values.
    pub(super) config_map: String,
}

/// An environment.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct EnvironmentOptions {
    /// The name: that of the branches or folders, such as `dev` or `prod-canary`.
    #[schema(value_type = String)]
    pub(super) name: Spanned<String>,
    /// The environment of the platform, if it has another name: `prod` for its ring `prod-canary`.
    pub(super) of: Option<String>,
    /// How a deployment reaches the branch.
    #[serde(default)]
    pub(super) delivery: DeliveryMode,
    /// Variables for this environment.
    #[serde(default)]
    #[schema(value_type = BTreeMap<String, String>)]
    pub(super) variables: BTreeMap<String, Spanned<String>>,
}

/// How a deployment reaches the branch that reconcilers pull.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryMode {
    /// By a pull request.
    #[default]
    PullRequest,
    /// By a commit in the branch.
    Push,
}

impl Default for OutputOptions {
    fn default() -> Self {
        Self {
            file: Spanned::new(0..0, "manifests.yaml".to_owned()),
            kustomization: true,
            tracking: true,
            namespaces: Namespaces::default(),
        }
    }
}

impl Default for KubernetesOptions {
    fn default() -> Self {
        Self { validate: true, schemas: None, skip_kinds: Vec::new() }
    }
}

impl Default for PlatformOptions {
    fn default() -> Self {
        Self { config_map: "platform-config".to_owned() }
    }
}

impl Default for HelmOptions {
    fn default() -> Self {
        Self {
            release: None,
            namespace: None,
            include_crds: false,
            skip_tests: true,
            kube_version: None,
            api_versions: Vec::new(),
            timeout_seconds: None,
        }
    }
}

fn workload_file() -> String {
    "workload/workload.yaml".to_owned()
}

fn main_branch() -> String {
    "main".to_owned()
}

fn environment_branch() -> String {
    "{environment}".to_owned()
}

fn proposing_branch() -> String {
    "deploy/{workload}/{environment}".to_owned()
}
