//! The settings of an application, from its configuration file.

mod kubernetes;
mod options;
mod pattern;
mod schema;

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::similar;
use model::source::FileId;
use model::yaml::Span;
use toml::Spanned;

pub use self::kubernetes::KubernetesSettings;
pub use self::options::{ApplicationOptions, DeliveryMode, Namespaces};
use self::options::{EnvironmentOptions, GitOpsOptions, HelmOptions, OtherSourceOptions, SourceOptions, ValuesOptions};
pub use self::pattern::{PatternNames, PlaceholderText};
pub use self::schema::schema;
use crate::files::normalized;
use crate::limits::PROGRAM_TIME_LIMIT;

/// The name of the configuration file.
pub const FILE_NAME: &str = "kalypso-app.toml";

/// The file with the descriptor of a target.
pub const DESCRIPTOR_FILE: &str = "descriptor.yaml";

/// The file that names the manifests of a target.
pub const KUSTOMIZATION_FILE: &str = "kustomization.yaml";

/// The longest time limit of a program, in seconds.
const TIMEOUT_SECONDS_MAX: u64 = 3_600;

/// The settings of an application.
#[derive(Clone, Debug)]
pub struct ApplicationSettings {
    /// The file with the `Workload`, from the folder of the configuration file.
    pub workload: String,
    /// The workspace that the application belongs to.
    pub workspace: String,
    /// The name of the application. None: the name of the workload.
    pub application: Option<String>,
    /// Whether a `Promotion` of the platform moves versions.
    pub is_promoted: bool,
    /// What is rendered.
    pub source: SourceSettings,
    /// The sources of other targets. The first one that has a target counts.
    pub others: Vec<OtherSource>,
    /// Where the values are.
    pub values: ValuesSettings,
    /// Where the manifests go.
    pub gitops: GitOpsSettings,
    /// What the folders of the targets contain.
    pub output: OutputSettings,
    /// How Helm renders the chart.
    pub helm: HelmSettings,
    /// How manifests are compared with the schemas of their kinds.
    pub kubernetes: KubernetesSettings,
    /// Whether images get their digests.
    pub pins_images: bool,
    /// The `ConfigMap` in which the platform gives its values.
    pub platform_config_map: String,
    /// The variables of all environments, with their places in the file.
    pub variables: BTreeMap<String, SettingText>,
    /// The environments, in the order of the file.
    pub environments: Vec<EnvironmentSettings>,
}

/// A text of the configuration file, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingText {
    /// The text.
    pub text: String,
    /// Its place in the file.
    pub span: Span,
}

/// What is rendered.
#[derive(Clone, Debug)]
pub struct SourceSettings {
    /// The folder, from the folder of the configuration file.
    pub folder: String,
    /// How it is rendered.
    pub kind: SourceKind,
    /// The URL of the source repository, for descriptors.
    pub repo: Option<String>,
    /// The branch of the source repository, for descriptors.
    pub branch: String,
}

/// How a source is rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// By `helm template`.
    Chart,
    /// By `helm template`, each service from its own chart. The folder contains the files of the services.
    Services,
    /// By `kustomize build` of this folder inside of the source's. None: the folder itself.
    Kustomize(Option<PlaceholderText>),
    /// Its manifests are copied.
    Manifests,
    /// Its files are copied, whatever they are: for hosts that are no clusters.
    Files,
}

/// A folder with files for some targets that are no clusters.
#[derive(Clone, Debug)]
pub struct OtherSource {
    /// The folder, from the folder of the configuration file.
    pub folder: String,
    /// The targets: their paths, in which `*` stands for one folder.
    pub targets: Vec<SettingText>,
}

impl OtherSource {
    /// The pattern that a target has. None: it has another source.
    pub fn pattern(&self, target: &str) -> Option<&SettingText> {
        let is_same = |(pattern, part): (&str, &str)| pattern == "*" || pattern == part;
        let has = |pattern: &&SettingText| {
            let pattern = pattern.text.split('/');
            pattern.clone().count() == target.split('/').count() && pattern.zip(target.split('/')).all(is_same)
        };
        self.targets.iter().find(has)
    }
}

impl SourceKind {
    /// Whether Helm renders it.
    pub fn is_helm(&self) -> bool {
        matches!(self, Self::Chart | Self::Services)
    }
}

/// Where the values are.
#[derive(Clone, Debug)]
pub struct ValuesSettings {
    /// The repository. None: the one of the configuration file.
    pub repo: Option<String>,
    /// The branch. None: the commit or the working tree that is rendered.
    pub branch: Option<PlaceholderText>,
    /// The folder.
    pub path: PlaceholderText,
}

/// Where the manifests go.
#[derive(Clone, Debug)]
pub struct GitOpsSettings {
    /// The repository.
    pub repo: String,
    /// The branch that reconcilers pull.
    pub branch: PlaceholderText,
    /// The folder of the branch.
    pub path: PlaceholderText,
    /// The branch of a pull request.
    pub proposing_branch: PlaceholderText,
}

/// What the folder of a target contains.
#[derive(Clone, Debug)]
pub struct OutputSettings {
    /// The file with the manifests.
    pub file: String,
    /// Whether a `kustomization.yaml` names the file.
    pub kustomization: bool,
    /// Whether the tracking files are written.
    pub tracking: bool,
    /// What happens to namespaces.
    pub namespaces: Namespaces,
}

/// How Helm renders a chart.
#[derive(Clone, Debug)]
pub struct HelmSettings {
    /// The name of the release.
    pub release: PlaceholderText,
    /// The namespace of the release.
    pub namespace: Option<String>,
    /// Whether custom resource definitions are rendered.
    pub include_crds: bool,
    /// Whether tests are left out.
    pub skip_tests: bool,
    /// The version of Kubernetes.
    pub kube_version: Option<String>,
    /// API versions that the clusters have.
    pub api_versions: Vec<String>,
    /// How long one target may take.
    pub time_limit: Duration,
}

/// An environment.
#[derive(Clone, Debug)]
pub struct EnvironmentSettings {
    /// The name.
    pub name: String,
    /// The environment of the platform.
    pub environment: String,
    /// How a deployment reaches the branch.
    pub delivery: DeliveryMode,
    /// Its own variables.
    pub variables: BTreeMap<String, SettingText>,
}

impl ApplicationSettings {
    /// Parses the configuration file.
    ///
    /// # Errors
    /// All problems that can be found, at their places.
    pub fn parse(text: &str, file: FileId) -> Result<Self, Vec<Diagnostic>> {
        let options: ApplicationOptions = toml::from_str(text).map_err(|error| vec![invalid(file, &error)])?;
        Resolving { file, problems: Vec::new() }.resolve(options)
    }

    /// The environment with this name.
    ///
    /// # Errors
    /// The names that exist, with the nearest one.
    pub fn environment(&self, name: &str) -> Result<&EnvironmentSettings, UnconfiguredEnvironment> {
        self.environments.iter().find(|one| one.name == name).ok_or_else(|| {
            let known: Vec<_> = self.environments.iter().map(|one| one.name.clone()).collect();
            let nearest = similar::nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
            UnconfiguredEnvironment { name: name.to_owned(), nearest, known }
        })
    }
}

/// The configuration file has no environment with a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{FILE_NAME} has no environment `{name}`")]
pub struct UnconfiguredEnvironment {
    /// The name.
    pub name: String,
    /// The most similar name.
    pub nearest: Option<String>,
    /// All names.
    pub known: Vec<String>,
}

/// The error of a text that is not a configuration file.
fn invalid(file: FileId, error: &toml::de::Error) -> Diagnostic {
    let origin = error.span().map_or(Origin::File(file), |range| Origin::Span(file, span(&range)));
    Diagnostic::error(Code::ApplicationFile, error.message().trim().to_owned())
        .at(origin, "")
        .help("`kalypso schema kalypso-app` prints all fields")
}

/// Where the values are, if the file does not say it: in a folder of this repository, or in a branch of another one.
fn values_settings(values: ValuesOptions) -> ValuesSettings {
    let ValuesOptions { repo, branch, path } = values;
    let is_elsewhere = repo.is_some();
    let path = path.unwrap_or_else(|| if is_elsewhere { String::new() } else { "values/{environment}".to_owned() });
    let branch = branch.or_else(|| is_elsewhere.then(|| "{environment}".to_owned()));
    ValuesSettings { repo, branch: branch.map(PlaceholderText::new), path: PlaceholderText::new(path) }
}

fn span(range: &Range<usize>) -> Span {
    Span::new(range.start, range.end)
}

/// The resolution of options to settings.
struct Resolving {
    file: FileId,
    problems: Vec<Diagnostic>,
}

impl Resolving {
    fn resolve(mut self, options: ApplicationOptions) -> Result<ApplicationSettings, Vec<Diagnostic>> {
        let ApplicationOptions {
            workload,
            workspace,
            application,
            promoted,
            source,
            sources,
            values,
            gitops,
            output,
            helm,
            kubernetes,
            images,
            platform,
            variables,
            environments,
            ..
        } = options;
        let source = self.source(source);
        let others = self.others(sources, source.as_ref());
        let file = self.file_name(&output.file);
        let release = match source.as_ref().map(|source| &source.kind) {
            Some(SourceKind::Services) => "{service}",
            _ => "{target}",
        };
        let helm = self.helm(helm, release);
        let kubernetes = self.kubernetes(kubernetes);
        if workspace.get_ref().trim().is_empty() {
            self.problem(
                &workspace.span(),
                "the workspace is empty",
                "write the name of your team, as in the registration of the workload",
            );
        }
        let environments = self.environments(environments);
        let is_promoted = promoted.is_some_and(|promoted| self.is_promoted(&promoted, &gitops));
        let variables = self.variables(variables);
        let settings = source.map(|source| ApplicationSettings {
            workload,
            workspace: workspace.into_inner(),
            application,
            is_promoted,
            source,
            others,
            values: values_settings(values),
            gitops: GitOpsSettings {
                repo: gitops.repo,
                branch: PlaceholderText::new(gitops.branch),
                path: PlaceholderText::new(gitops.path),
                proposing_branch: PlaceholderText::new(gitops.proposing_branch),
            },
            output: OutputSettings {
                file,
                kustomization: output.kustomization,
                tracking: output.tracking,
                namespaces: output.namespaces,
            },
            helm,
            kubernetes,
            pins_images: images.pin,
            platform_config_map: platform.config_map,
            variables,
            environments,
        });
        settings.filter(|_| self.problems.is_empty()).ok_or(self.problems)
    }

    /// Whether a promotion moves versions. It needs a branch that all environments share.
    fn is_promoted(&mut self, promoted: &Spanned<bool>, gitops: &GitOpsOptions) -> bool {
        let is_shared = !gitops.branch.contains("{environment}") && gitops.path.contains("{environment}");
        if *promoted.get_ref() && !is_shared {
            self.problem(
                &promoted.span(),
                "a promotion can move versions only if all environments share a branch, and have folders of their own there",
                "set `branch = \"main\"` and `path = \"{environment}\"` in `[gitops]`, and name both in the deployment targets",
            );
        }
        *promoted.get_ref()
    }

    fn problem(&mut self, range: &Range<usize>, message: impl Into<String>, help: &str) {
        let origin = Origin::Span(self.file, span(range));
        self.problems.push(Diagnostic::error(Code::ApplicationFile, message).at(origin, "").help(help));
    }

    /// The source. None: it names not exactly one folder.
    fn source(&mut self, source: Spanned<SourceOptions>) -> Option<SourceSettings> {
        let range = source.span();
        let SourceOptions { chart, kustomize, manifests, services, files, overlay, repo, branch } = source.into_inner();
        let is_kustomize = kustomize.is_some();
        let folders = [
            (chart, SourceKind::Chart),
            (kustomize, SourceKind::Kustomize(overlay.clone().map(PlaceholderText::new))),
            (manifests, SourceKind::Manifests),
            (services, SourceKind::Services),
            (files, SourceKind::Files),
        ];
        let mut named = folders.into_iter().filter_map(|(folder, kind)| Some((folder?, kind)));
        let (Some((folder, kind)), None) = (named.next(), named.next()) else {
            self.problem(
                &range,
                "`source` must name exactly one of `chart`, `kustomize`, `manifests`, `services` and `files`",
                "name the folder of your chart: `chart = \"chart\"`",
            );
            return None;
        };
        if overlay.is_some() && !is_kustomize {
            self.problem(&range, "`overlay` is only for `kustomize`", "remove it");
        }
        Some(SourceSettings { folder: self.folder(&folder)?, kind, repo, branch })
    }

    /// The sources of other targets.
    fn others(
        &mut self,
        options: Vec<Spanned<OtherSourceOptions>>,
        source: Option<&SourceSettings>,
    ) -> Vec<OtherSource> {
        let mut others = Vec::new();
        for option in options {
            let (range, OtherSourceOptions { targets, files }) = (option.span(), option.into_inner());
            if targets.is_empty() {
                self.problem(&range, "this source has no targets", "name them: `targets = [\"kiosk\"]`");
            }
            if source.is_some_and(|source| source.kind == SourceKind::Services) {
                let help = "write a second configuration file, in another folder, for the other targets";
                self.problem(&range, "services can't have other sources beside them", help);
            }
            let text = |target: Spanned<String>| SettingText {
                span: span(&target.span()),
                text: target.into_inner().trim_matches('/').to_owned(),
            };
            let targets = targets.into_iter().map(text).collect();
            others.extend(self.folder(&files).map(|folder| OtherSource { folder, targets }));
        }
        others
    }

    /// A folder below that of the configuration file.
    fn folder(&mut self, folder: &Spanned<String>) -> Option<String> {
        let path = normalized(folder.get_ref());
        if path.is_none() {
            let message = format!("`{}` leads out of the folder of {FILE_NAME}", folder.get_ref());
            self.problem(&folder.span(), message, "name a folder below it");
        }
        path
    }

    fn file_name(&mut self, file: &Spanned<String>) -> String {
        let name = file.get_ref();
        let is_yaml = is_yaml_name(name);
        let is_reserved = [KUSTOMIZATION_FILE, "kustomization.yml", DESCRIPTOR_FILE].contains(&name.as_str());
        if !is_yaml || name.contains(['/', '\\']) || name.starts_with('.') || is_reserved {
            self.problem(
                &file.span(),
                format!("`{name}` can't be the file of the manifests"),
                "write the name of a YAML file without a folder: `manifests.yaml`",
            );
        }
        name.clone()
    }

    /// How Helm renders. The name of the release is `release_default`, unless the options have another one.
    fn helm(&mut self, options: HelmOptions, release_default: &str) -> HelmSettings {
        let HelmOptions { release, namespace, include_crds, skip_tests, kube_version, api_versions, timeout_seconds } =
            options;
        let time_limit = timeout_seconds.map_or(PROGRAM_TIME_LIMIT, |seconds| {
            if !(1..=TIMEOUT_SECONDS_MAX).contains(seconds.get_ref()) {
                self.problem(
                    &seconds.span(),
                    "a time limit is between 1 second and 1 hour",
                    "write seconds: `timeout-seconds = 60`",
                );
            }
            Duration::from_secs(*seconds.get_ref())
        });
        HelmSettings {
            release: PlaceholderText::new(release.as_deref().unwrap_or(release_default)),
            namespace,
            include_crds,
            skip_tests,
            kube_version,
            api_versions,
            time_limit,
        }
    }

    fn environments(&mut self, options: Vec<EnvironmentOptions>) -> Vec<EnvironmentSettings> {
        if options.is_empty() {
            self.problem(&(0..0), "there is no environment", "add one: `[[environments]]` with `name = \"dev\"`");
        }
        let mut environments: Vec<EnvironmentSettings> = Vec::new();
        for EnvironmentOptions { name, of, delivery, variables } in options {
            let (range, name) = (name.span(), name.into_inner());
            if !is_dns_label(&name) {
                self.problem(
                    &range,
                    format!("`{name}` is not the name of an environment"),
                    "use lower-case letters, digits and `-`",
                );
            }
            if environments.iter().any(|one| one.name == name) {
                self.problem(&range, format!("environment `{name}` is there twice"), "remove one of the two");
            }
            let environment = of.unwrap_or_else(|| name.clone());
            environments.push(EnvironmentSettings {
                name,
                environment,
                delivery,
                variables: self.variables(variables),
            });
        }
        environments
    }

    fn variables(&mut self, variables: BTreeMap<String, Spanned<String>>) -> BTreeMap<String, SettingText> {
        let mut found = BTreeMap::new();
        for (name, text) in variables {
            let range = text.span();
            if !crate::variables::is_name(&name) {
                self.problem(&range, format!("`{name}` is not the name of a variable"), "use letters, digits and `_`");
            }
            found.insert(name, SettingText { text: text.into_inner(), span: span(&range) });
        }
        found
    }
}

/// Whether a file is one that reconcilers read as YAML.
pub(crate) fn is_yaml_name(name: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// Whether a text is a name of an environment or a service: a label of DNS.
pub(crate) fn is_dns_label(name: &str) -> bool {
    let is_good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.len() <= 63 && name.chars().all(is_good) && !name.starts_with('-') && !name.ends_with('-')
}

#[cfg(test)]
mod tests;
