//! The files and branches that an application must have.

use std::sync::Arc;

use authoring::scaffold::NewFile;
use authoring::style::Style;
use authoring::targets::{self, NewTarget};
use git::RepositoryUrl;
use model::diagnostic::Diagnostic;
use model::name::EnvironmentName;
use model::source::FileId;

use super::answers::{AnswerError, GivenAnswers, NewApplication, is_local};
use super::found::FoundApplication;
use crate::files::{joined, normalized};
use crate::settings::{ApplicationSettings, EnvironmentSettings, FILE_NAME, PatternNames};
use crate::values::VALUES_FILE;

/// The start of the URLs by which objects name repositories that are only on this machine. No host has this name.
const LOCAL_BASE: &str = "https://git.example/platform";

/// What there must be.
#[derive(Debug)]
pub struct ApplicationPlan {
    /// The settings.
    pub settings: ApplicationSettings,
    /// The name of the workload.
    pub workload: String,
    /// The files of the source's folder. The configuration file is the last one.
    pub files: Vec<NewFile>,
    /// What exists already, and stays as it is.
    pub existing: Vec<String>,
    /// The GitOps repository that the workload names, if it is another one.
    pub other_gitops: Option<String>,
    /// The files and folders that a first commit needs.
    pub committed: Vec<String>,
    /// The branches with values. None: they are files of the source's folder.
    pub configs: Option<RepositoryBranches>,
    /// The branches that reconcilers pull.
    pub gitops: RepositoryBranches,
}

/// Branches of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryBranches {
    /// The repository: a URL, or a path from the folder of the configuration file.
    pub repo: String,
    /// The branches, each once.
    pub branches: Vec<RequiredBranch>,
}

/// A branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredBranch {
    /// The name.
    pub name: String,
    /// The files that it must have.
    pub files: Vec<NewFile>,
    /// Whether files are added to a branch that exists.
    pub is_completed: bool,
}

/// The reason why nothing can be planned.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The answers can't be used.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// The settings that follow from the answers are wrong.
    #[error("the answers give no valid {FILE_NAME}: {}", .0.first().map(|problem| problem.message.as_str()).unwrap_or_default())]
    Settings(Vec<Diagnostic>),
}

impl ApplicationPlan {
    /// The plan for a folder with what was found in it.
    ///
    /// # Errors
    /// If the answers can't be used.
    pub fn new(given: &GivenAnswers, found: &FoundApplication) -> Result<Self, PlanError> {
        if let Some(settings) = &found.settings {
            let new = NewApplication::configured(given, settings, found)?;
            return Ok(Planning { new: &new, settings: settings.clone() }.plan(found, None));
        }
        let new = NewApplication::new(given, found)?;
        let text = new.configuration();
        let settings = ApplicationSettings::parse(&text, FileId::default()).map_err(PlanError::Settings)?;
        Ok(Planning { new: &new, settings }.plan(found, Some(text)))
    }
}

struct Planning<'a> {
    new: &'a NewApplication,
    settings: ApplicationSettings,
}

impl Planning<'_> {
    fn plan(self, found: &FoundApplication, configuration: Option<String>) -> ApplicationPlan {
        let mut files = Vec::new();
        let mut committed = vec![self.new.workload_file.clone()];
        if found.workload.is_none() {
            files.push(NewFile { path: self.new.workload_file.clone(), text: self.workload() });
        }
        files.extend(self.new.source_files());
        committed.extend(Some(self.new.source.folder.clone()).filter(|folder| !folder.is_empty()));
        let configs = self.configs();
        if configs.is_none() {
            let values: Vec<_> = self.values().into_iter().flat_map(|(_, files)| files).collect();
            committed.extend(values.iter().map(|file| file.path.clone()));
            files.extend(values);
        }
        files.extend(configuration.map(|text| NewFile { path: FILE_NAME.to_owned(), text }));
        committed.push(FILE_NAME.to_owned());
        let (existing, other_gitops) = (self.existing(found), self.other_gitops(found));
        let (gitops, workload) = (self.gitops(), self.new.workload.to_string());
        ApplicationPlan { settings: self.settings, workload, files, existing, other_gitops, committed, configs, gitops }
    }

    fn existing(&self, found: &FoundApplication) -> Vec<String> {
        let workload = found.workload.as_ref().map(|(file, _)| file.clone());
        let source = Some(&self.new.source).filter(|source| !source.is_new);
        let source = source.map(|source| if source.folder.is_empty() { "." } else { &source.folder }.to_owned());
        let settings = found.settings.as_ref().map(|_| FILE_NAME.to_owned());
        workload.into_iter().chain(source).chain(settings).collect()
    }

    fn other_gitops(&self, found: &FoundApplication) -> Option<String> {
        let label = |text: &str| RepositoryUrl::from_configuration(text).ok().map(|url| url.label());
        let own = label(&self.settings.gitops.repo);
        let (_, workload) = found.workload.as_ref()?;
        let mut named = workload.spec.deployment_targets.iter().filter_map(|one| one.spec.manifests.get("repo"));
        named.find(|repo| label(repo) != own).map(ToString::to_string)
    }

    fn names<'n>(&'n self, environment: &'n EnvironmentSettings) -> PatternNames<'n> {
        PatternNames { workload: self.new.workload.as_str(), environment: &environment.name, ..PatternNames::default() }
    }

    fn workload(&self) -> String {
        let mut all = Vec::new();
        for (environment, own) in self.settings.environments.iter().zip(&self.new.environments) {
            let Ok(name) = EnvironmentName::new(environment.environment.as_str()) else { continue };
            let branch = self.settings.gitops.branch.text(self.names(environment));
            all.extend(own.targets.iter().map(|target| {
                let manifests = [
                    ("repo", object_url(&self.settings.gitops.repo)),
                    ("branch", branch.clone()),
                    ("path", self.new.gitops.manifests(target, &environment.name)),
                ];
                NewTarget {
                    name: target.replace('/', "-").into(),
                    environment: name.clone(),
                    labels: None,
                    manifests: Some(manifests.map(|(key, value)| (key.into(), value.into())).to_vec()),
                }
            }));
        }
        let labels = vec![(Arc::from("type"), Arc::from("application"))];
        let object = targets::workload(&self.new.workload, &all, labels);
        let mut comment = WORKLOAD_COMMENT.to_owned();
        if is_local(&self.settings.gitops.repo) {
            comment.push_str(LOCAL_COMMENT);
        }
        object.commented(&comment).write(&Style::default(), None)
    }

    /// The files with values of each environment, from the folder of the configuration file or from the root of the branch.
    fn values(&self) -> Vec<(&EnvironmentSettings, Vec<NewFile>)> {
        let own = self.settings.environments.iter().zip(&self.new.environments);
        let files = own.map(|(environment, own)| {
            let path = self.settings.values.path.text(self.names(environment));
            let folder = normalized(&path).unwrap_or_default();
            let file = |below: &str, text: String| NewFile { path: joined(&joined(&folder, below), VALUES_FILE), text };
            let mut files = Vec::new();
            // Microsoft's pipeline does not read this file.
            if !self.new.is_like_microsoft {
                files.push(file("", self.environment_values(environment)));
            }
            files.extend(own.targets.iter().map(|target| file(target, self.target_values(environment, target))));
            (environment, files)
        });
        files.collect()
    }

    fn environment_values(&self, environment: &EnvironmentSettings) -> String {
        let name = &environment.name;
        let value = if self.new.source.is_new { "replicas: 1\n" } else { "" };
        format!("# The values of all targets of {name}.\n{value}")
    }

    fn target_values(&self, environment: &EnvironmentSettings, target: &str) -> String {
        let name = &environment.name;
        if !self.new.is_like_microsoft {
            return format!("# The values of target {target} in {name}. They override those of the folders above.\n");
        }
        let value = if self.new.source.is_new { "replicas: 1\n" } else { "" };
        format!("# The values of target {target} in {name}.\n{value}")
    }

    fn configs(&self) -> Option<RepositoryBranches> {
        let values = &self.settings.values;
        let repo = values.repo.clone()?;
        let branch = values.branch.as_ref()?;
        let mut found = RepositoryBranches { repo, branches: Vec::new() };
        for (environment, files) in self.values() {
            found.add(branch.text(self.names(environment)), files, true);
        }
        Some(found)
    }

    fn gitops(&self) -> RepositoryBranches {
        let gitops = &self.settings.gitops;
        let mut found = RepositoryBranches { repo: gitops.repo.clone(), branches: Vec::new() };
        let workload = self.new.workload.as_str();
        for environment in &self.settings.environments {
            let name = gitops.branch.text(self.names(environment));
            let text = format!(
                "# {workload}: manifests in `{name}`\n\nReconcilers pull this branch. `kalypso app deploy` writes it: change the chart or the values instead.\n"
            );
            found.add(name, vec![NewFile { path: "README.md".to_owned(), text }], false);
        }
        found
    }
}

impl RepositoryBranches {
    fn add(&mut self, name: String, files: Vec<NewFile>, is_completed: bool) {
        match self.branches.iter_mut().find(|branch| branch.name == name) {
            Some(branch) if is_completed => branch.files.extend(files),
            Some(_) => {}
            None => self.branches.push(RequiredBranch { name, files, is_completed }),
        }
    }
}

/// The URL by which objects name a repository. Objects name no paths.
fn object_url(repo: &str) -> String {
    if RepositoryUrl::from_object(repo).is_ok() {
        return repo.to_owned();
    }
    let label = RepositoryUrl::from_configuration(repo).map(|url| url.label());
    format!("{LOCAL_BASE}/{}", label.as_deref().unwrap_or("gitops"))
}

const WORKLOAD_COMMENT: &str = "\
What this team deploys, and where the manifests of each deployment target are. It names environments, never clusters.
The folder in `path` is the target's folder in the values, too.
";

const LOCAL_COMMENT: &str = "\
The GitOps repository is on this machine only. When it is on a server, write its URL here.
";
