//! The answers that define a new application: what a person gives, what the folder contains, and defaults.

use authoring::scaffold::configuration::HostEntry;
use git::RepositoryUrl;
use model::name::{NameError, WorkloadName};
use model::object::{Object, Workload};

use super::found::{FoundApplication, WORKLOAD_FILES};
use super::source::{NewSource, NewSourceKind};
use crate::files::{joined, normalized};
use crate::settings::{ApplicationSettings, FILE_NAME, PatternNames, SourceKind, is_dns_label};

/// The environment of an application for which none is given.
const ENVIRONMENT: &str = "dev";

/// The file with the manifests of a target, as Microsoft's Kalypso names it.
pub(super) const MICROSOFT_FILE: &str = "gen_manifests.yaml";

/// What a person gives.
#[derive(Clone, Debug, Default)]
pub struct GivenAnswers {
    /// The name of the folder, for the names that are not given.
    pub folder_name: String,
    /// The name of the workload.
    pub workload: Option<String>,
    /// The team.
    pub workspace: Option<String>,
    /// The environments, in the order of promotion.
    pub environments: Vec<String>,
    /// The folders of the targets.
    pub targets: Vec<String>,
    /// How the source is rendered.
    pub source: Option<NewSourceKind>,
    /// The repository with the values: a URL, or a path from the folder.
    pub configs: Option<String>,
    /// The GitOps repository: a URL, or a path from the folder.
    pub gitops: Option<String>,
    /// Whether repositories, folders and output are those of Microsoft's Kalypso.
    pub is_like_microsoft: bool,
    /// The start of the URLs of repositories on the git host, without a slash at the end. None: they are on this machine.
    pub host_base: Option<String>,
    /// The git host for pull requests.
    pub host: Option<HostEntry>,
}

/// Where the manifests go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitOpsPlace {
    /// The repository: a URL, or a path from the folder.
    pub repo: String,
    /// The branch, if it is not named after the environment.
    pub branch: Option<String>,
    /// The folder of the branch, if it is not the root.
    pub path: String,
}

/// The targets of an environment, by their folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetsOfEnvironment {
    /// The name of the environment.
    pub environment: String,
    /// The folders.
    pub targets: Vec<String>,
}

/// A new application.
#[derive(Clone, Debug)]
pub struct NewApplication {
    /// The name of the workload.
    pub workload: WorkloadName,
    /// The file of the workload.
    pub workload_file: String,
    /// The team.
    pub workspace: String,
    /// What is rendered.
    pub source: NewSource,
    /// The repository with the values. None: they are in the source's.
    pub configs: Option<String>,
    /// Where the manifests go.
    pub gitops: GitOpsPlace,
    /// The environments with their targets.
    pub environments: Vec<TargetsOfEnvironment>,
    /// Whether repositories, folders and output are those of Microsoft's Kalypso.
    pub is_like_microsoft: bool,
    /// The git host for pull requests.
    pub host: Option<HostEntry>,
}

/// The reason why answers can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// There is no workspace.
    #[error("the workspace is not known")]
    NoWorkspace,
    /// A name can't be that of a workload.
    #[error("`{0}` can't be the name of a workload: {1}")]
    Workload(String, NameError),
    /// A name can't be that of an environment.
    #[error("`{0}` is not the name of an environment")]
    Environment(String),
    /// A name is given twice.
    #[error("`{0}` is given twice")]
    Twice(String),
    /// A text can't be the folder of a target.
    #[error("`{0}` can't be the folder of a target")]
    Target(String),
    /// The workload exists, with another name.
    #[error("the workload in `{file}` is `{found}`, not `{given}`")]
    OtherWorkload {
        /// The file.
        file: String,
        /// Its name.
        found: String,
        /// The given name.
        given: String,
    },
    /// The workload exists, and has no such target.
    #[error("workload `{workload}` has no deployment target {what}")]
    NoTarget {
        /// The workload.
        workload: String,
        /// Which target.
        what: String,
    },
    /// The configuration file exists, and says something else.
    #[error("{FILE_NAME} exists, and has another {what}: {found}")]
    Configured {
        /// What it says.
        what: &'static str,
        /// Its value.
        found: String,
    },
}

impl AnswerError {
    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            Self::NoWorkspace => {
                "name your team, as in the registration of the workload: --workspace store-team".to_owned()
            }
            Self::Workload(..) => {
                "name it: --workload NAME, with lower-case letters, digits, `-` and `.`, such as shop".to_owned()
            }
            Self::Environment(_) => "use lower-case letters, digits and `-`".to_owned(),
            Self::Twice(_) => "name each environment and each target once".to_owned(),
            Self::Target(_) => "use lower-case letters, digits and `-`, with `/` between folders: `eu/shop`".to_owned(),
            Self::OtherWorkload { .. } => "leave --workload out".to_owned(),
            Self::NoTarget { workload, .. } => {
                format!("`kalypso add target {workload} NAME -e ENV -m repo=URL -m branch=ENV -m path=./NAME` adds one")
            }
            Self::Configured { .. } => "edit the file, or leave the option out".to_owned(),
        }
    }
}

impl NewApplication {
    /// Completes what is given with what is found. Without a configuration file.
    ///
    /// # Errors
    /// If something is missing or wrong.
    pub fn new(given: &GivenAnswers, found: &FoundApplication) -> Result<Self, AnswerError> {
        let (workload, workload_file) = workload(given, found)?;
        let workspace = given.workspace.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let workspace = workspace.ok_or(AnswerError::NoWorkspace)?.to_owned();
        let existing = found.workload.as_ref().map(|(_, workload)| &**workload);
        let environments = environments(given, existing)?;
        let beside = |name: &str, local: &str| match &given.host_base {
            Some(base) => format!("{base}/{workload}-{name}"),
            None => format!("../{}-{local}", given.folder_name),
        };
        let configs = given.configs.clone();
        let configs = configs.or_else(|| given.is_like_microsoft.then(|| beside("configs", "configs")));
        let repo = given.gitops.clone().unwrap_or_else(|| beside("gitops", "gitops.git"));
        let mut gitops = GitOpsPlace { repo, branch: None, path: String::new() };
        if let Some(existing) = existing {
            gitops.take_from(existing, &environments);
        }
        let environments =
            TargetSearch { workload: &workload, existing, gitops: &gitops }.targets(given, &environments)?;
        Ok(Self {
            workload,
            workload_file,
            workspace,
            source: source(given, found),
            configs,
            gitops,
            environments,
            is_like_microsoft: given.is_like_microsoft,
            host: given.host.clone(),
        })
    }

    /// The application whose configuration file exists.
    ///
    /// # Errors
    /// If the answers contradict the file or the workload.
    pub fn configured(
        given: &GivenAnswers,
        settings: &ApplicationSettings,
        found: &FoundApplication,
    ) -> Result<Self, AnswerError> {
        let environments = configured_targets(given, settings, found)?;
        let (workload, workload_file) = workload(given, found)?;
        let (kind, overlay) = match &settings.source.kind {
            SourceKind::Chart => (NewSourceKind::Chart, None),
            SourceKind::Kustomize(overlay) => (NewSourceKind::Kustomize, overlay.as_ref()),
            SourceKind::Manifests => (NewSourceKind::Manifests, None),
            SourceKind::Services | SourceKind::Files => (NewSourceKind::Existing, None),
        };
        let folder = settings.source.folder.clone();
        let is_new = overlay.is_none() && kind != NewSourceKind::Existing && !found.has_folder(&folder);
        Ok(Self {
            workload,
            workload_file,
            workspace: settings.workspace.clone(),
            source: NewSource { kind, folder, overlay: overlay.map(|overlay| overlay.as_str().to_owned()), is_new },
            configs: settings.values.repo.clone(),
            gitops: GitOpsPlace {
                repo: settings.gitops.repo.clone(),
                branch: Some(settings.gitops.branch.as_str().to_owned()),
                path: settings.gitops.path.as_str().to_owned(),
            },
            environments,
            is_like_microsoft: given.is_like_microsoft || settings.output.file == MICROSOFT_FILE,
            host: None,
        })
    }
}

/// The targets of an application whose configuration file exists.
fn configured_targets(
    given: &GivenAnswers,
    settings: &ApplicationSettings,
    found: &FoundApplication,
) -> Result<Vec<TargetsOfEnvironment>, AnswerError> {
    contradiction(given, settings)?;
    let (name, _) = workload(given, found)?;
    let existing = found.workload.as_ref().map(|(_, workload)| &**workload);
    let mut all = Vec::new();
    for environment in &settings.environments {
        let path = settings.gitops.path.text(PatternNames {
            workload: name.as_str(),
            environment: &environment.name,
            ..Default::default()
        });
        let gitops = GitOpsPlace { repo: settings.gitops.repo.clone(), branch: None, path };
        let own = [environment.environment.clone()];
        let found = TargetSearch { workload: &name, existing, gitops: &gitops }.targets(given, &own)?;
        let targets = found.into_iter().flat_map(|one| one.targets).collect();
        all.push(TargetsOfEnvironment { environment: environment.name.clone(), targets });
    }
    Ok(all)
}

/// The first answer that the configuration file contradicts.
fn contradiction(given: &GivenAnswers, settings: &ApplicationSettings) -> Result<(), AnswerError> {
    let differs = |what, given: Option<&String>, found: Option<&str>| match given {
        Some(given) if found != Some(given.as_str()) => {
            Err(AnswerError::Configured { what, found: found.unwrap_or("none").to_owned() })
        }
        _ => Ok(()),
    };
    differs("workspace", given.workspace.as_ref(), Some(&settings.workspace))?;
    differs("repository of values", given.configs.as_ref(), settings.values.repo.as_deref())?;
    differs("GitOps repository", given.gitops.as_ref(), Some(&settings.gitops.repo))?;
    let known: Vec<_> = settings.environments.iter().map(|one| one.name.as_str()).collect();
    match given.environments.iter().find(|name| !known.contains(&name.as_str())) {
        Some(_) => Err(AnswerError::Configured { what: "list of environments", found: known.join(", ") }),
        None => Ok(()),
    }
}

/// The name of the workload, and its file.
fn workload(given: &GivenAnswers, found: &FoundApplication) -> Result<(WorkloadName, String), AnswerError> {
    let valid = |name: &str| WorkloadName::new(name).map_err(|error| AnswerError::Workload(name.to_owned(), error));
    if let Some((file, workload)) = &found.workload {
        let name = workload.name.as_str();
        return match &given.workload {
            Some(given) if given != name => {
                Err(AnswerError::OtherWorkload { file: file.clone(), found: name.to_owned(), given: given.clone() })
            }
            _ => Ok((valid(name)?, file.clone())),
        };
    }
    let file = found.settings.as_ref().map_or(WORKLOAD_FILES[0], |settings| &settings.workload);
    Ok((valid(given.workload.as_deref().unwrap_or(&given.folder_name))?, file.to_owned()))
}

/// The environments: the given ones, those of the workload, or the default.
fn environments(given: &GivenAnswers, existing: Option<&Object<Workload>>) -> Result<Vec<String>, AnswerError> {
    let mut names = given.environments.clone();
    if let Some(existing) = existing.filter(|_| names.is_empty()) {
        for target in &existing.spec.deployment_targets {
            let name = target.spec.environment.to_string();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.is_empty() {
            return Err(AnswerError::NoTarget { workload: existing.name.to_string(), what: "at all".to_owned() });
        }
    }
    if names.is_empty() {
        names.push(ENVIRONMENT.to_owned());
    }
    if let Some(wrong) = names.iter().find(|name| !is_dns_label(name)) {
        return Err(AnswerError::Environment(wrong.clone()));
    }
    each_once(&names)?;
    Ok(names)
}

fn each_once(names: &[String]) -> Result<(), AnswerError> {
    let twice = names.iter().enumerate().find(|(at, name)| names.iter().take(*at).any(|other| other == *name));
    twice.map_or(Ok(()), |(_, name)| Err(AnswerError::Twice(name.clone())))
}

/// Where the targets of environments are searched.
struct TargetSearch<'a> {
    workload: &'a WorkloadName,
    /// The workload, if it exists.
    existing: Option<&'a Object<Workload>>,
    gitops: &'a GitOpsPlace,
}

impl TargetSearch<'_> {
    /// The targets of the environments: those of the workload, the given ones, or one with the name of the workload.
    fn targets(&self, given: &GivenAnswers, environments: &[String]) -> Result<Vec<TargetsOfEnvironment>, AnswerError> {
        if let Some(wrong) = given.targets.iter().find(|target| !is_target(target)) {
            return Err(AnswerError::Target(wrong.clone()));
        }
        each_once(&given.targets)?;
        let Some(existing) = self.existing else {
            let targets = match given.targets.as_slice() {
                [] => vec![self.workload.to_string()],
                targets => targets.to_vec(),
            };
            let of = |name: &String| TargetsOfEnvironment { environment: name.clone(), targets: targets.clone() };
            return Ok(environments.iter().map(of).collect());
        };
        let missing = |what: String| AnswerError::NoTarget { workload: self.workload.to_string(), what };
        let mut all = Vec::new();
        for name in environments {
            let own = existing.spec.deployment_targets.iter().filter(|one| *one.spec.environment == **name);
            let paths = own.filter_map(|one| normalized(one.spec.manifests.get("path")?));
            let targets: Vec<_> = paths.filter_map(|path| self.gitops.below(&path, name)).collect();
            if targets.is_empty() {
                return Err(missing(format!("with a `path` of its manifests in environment `{name}`")));
            }
            all.push(TargetsOfEnvironment { environment: name.clone(), targets });
        }
        let is_known = |target: &String| all.iter().any(|one| one.targets.contains(target));
        match given.targets.iter().find(|target| !is_known(target)) {
            Some(target) => Err(missing(format!("with the manifests of `{target}`"))),
            None => Ok(all),
        }
    }
}

/// Whether a text can be the folder of a target: its parts are also parts of names of objects.
fn is_target(text: &str) -> bool {
    text.split('/').all(is_dns_label)
}

/// What is rendered: what is found, or a new source.
fn source(given: &GivenAnswers, found: &FoundApplication) -> NewSource {
    if let Some(source) = found.source(given.source) {
        return source.clone();
    }
    let kind = given.source.unwrap_or(NewSourceKind::Chart);
    if let Some(folder) = found.manifests().filter(|_| kind == NewSourceKind::Manifests) {
        return NewSource { kind, folder, overlay: None, is_new: false };
    }
    let folder = match kind {
        NewSourceKind::Chart if given.is_like_microsoft => "helm",
        NewSourceKind::Chart => "chart",
        NewSourceKind::Kustomize => "kustomize",
        NewSourceKind::Manifests => "manifests",
        NewSourceKind::Existing => "services",
    };
    NewSource { kind, folder: folder.to_owned(), overlay: None, is_new: true }
}

impl GitOpsPlace {
    /// Takes the branch and the folder from the manifests of a workload, if its environments are folders of one branch.
    fn take_from(&mut self, workload: &Object<Workload>, environments: &[String]) {
        let targets = workload.spec.deployment_targets.iter();
        let targets: Vec<_> =
            targets.filter(|one| environments.iter().any(|name| *name.as_str() == *one.spec.environment)).collect();
        let field = |index: usize, key: &str| targets.get(index).and_then(|one| one.spec.manifests.get(key));
        let Some(branch) = field(0, "branch") else { return };
        let is_one = (0..targets.len()).all(|index| field(index, "branch") == Some(branch));
        let is_named_after = targets.iter().all(|one| **branch == *one.spec.environment);
        let is_below = |one: &&model::object::workload::WorkloadTarget| {
            let path = one.spec.manifests.get("path").and_then(|path| normalized(path));
            path.is_some_and(|path| path.starts_with(&format!("{}/", one.spec.environment)))
        };
        if is_one && !is_named_after && targets.iter().all(is_below) {
            self.branch = Some(branch.to_string());
            "{environment}".clone_into(&mut self.path);
        }
    }

    /// The folder of a target from the folder of the manifests. None: it is somewhere else.
    fn below(&self, path: &str, environment: &str) -> Option<String> {
        let folder = normalized(&self.path.replace("{environment}", environment))?;
        let rest = if folder.is_empty() { path } else { path.strip_prefix(&folder)?.strip_prefix('/')? };
        (!rest.is_empty()).then(|| rest.to_owned())
    }

    /// The path of the manifests of a target in the branch.
    pub(super) fn manifests(&self, target: &str, environment: &str) -> String {
        format!("./{}", joined(&self.path.replace("{environment}", environment), target))
    }

    /// Whether the repository is on this machine.
    pub(super) fn is_local(&self) -> bool {
        is_local(&self.repo)
    }
}

/// Whether a repository of a configuration file is a path on this machine.
pub fn is_local(repo: &str) -> bool {
    matches!(RepositoryUrl::from_object(repo), Err(git::UrlError::Local | git::UrlError::File))
}
