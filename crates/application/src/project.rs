//! An application with its repositories: what is read before anything is rendered.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use git::{Commit, EntryKind, FileContent, Repositories, RepositoryError, RepositoryUrl, Revision, UrlError};
use model::diagnostic::{Code, Diagnostic, Origin};
use model::git_id::GitId;
use model::kind::Kind;
use model::object::{AnyObject, Object, Workload};
use model::similar;
use model::source::{File, FileId, Files, Source};

use crate::deployment::Provenance;
use crate::files::{FileSet, FilesError, joined, normalized};
use crate::limits::FILES_BYTES_MAX;
use crate::render::RenderedTarget;
use crate::settings::{
    ApplicationSettings, EnvironmentSettings, FILE_NAME, OtherSource, PatternNames, SettingText, SourceKind,
};
use crate::variables::{PACKAGE_DIGEST, Variables};

/// The state of the source that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// The files of the working tree.
    WorkingTree,
    /// A commit of the source repository.
    Commit(Revision),
}

/// Where the files of an application are.
#[derive(Clone, Debug)]
enum Place {
    /// In a folder, which is the root of the repository.
    Folder(PathBuf),
    /// In a commit.
    Commit(Commit),
}

/// An application.
#[derive(Clone, Debug)]
pub struct Project {
    place: Place,
    /// Where the values are, if they are in the source's repository. It may be another commit than that of the source.
    values_place: Place,
    /// The folder of the configuration file, from the root of its repository.
    folder: String,
    /// The settings.
    pub settings: ApplicationSettings,
    /// The workload.
    pub workload: Arc<Object<Workload>>,
    /// The files that were read.
    pub files: Files,
    /// The configuration file.
    pub settings_file: FileId,
}

/// The files of an environment.
#[derive(Clone, Debug)]
pub struct EnvironmentFiles {
    /// The files of the source's folder.
    pub source: FileSet,
    /// The files of the other sources, in the order of the settings.
    pub others: Vec<FileSet>,
    /// The files of the folder with schemas. Empty: the configuration file names none.
    pub schemas: FileSet,
    /// The files with values.
    pub values: FileSet,
    /// The commit of the values. None: they are in the source's repository.
    pub values_commit: Option<GitId>,
}

/// The reason why an application can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// There is no configuration file.
    #[error("there is no {0} in {1}")]
    NoFile(String, String),
    /// Files are wrong.
    #[error("the application can't be read")]
    Wrong(Files, Vec<Diagnostic>),
    /// Files can't be read.
    #[error("{what} can't be read: {error}")]
    Files {
        /// What should be read.
        what: &'static str,
        /// The reason.
        error: FilesError,
    },
    /// The URL of a repository can't be used.
    #[error("`{0}` is not the address of a repository: {1}")]
    Url(String, UrlError),
    /// A repository can't be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
}

/// The repository with a URL or path of the configuration file.
///
/// # Errors
/// If it is not an address.
pub fn repository_url(text: &str) -> Result<RepositoryUrl, ProjectError> {
    RepositoryUrl::from_configuration(text).map_err(|error| ProjectError::Url(text.to_owned(), error))
}

impl Project {
    /// Reads the configuration file and the workload. `path` is the path of the configuration file in the repository `root`.
    ///
    /// # Errors
    /// If one of them can't be read, or is wrong.
    pub fn open(
        repositories: &dyn Repositories,
        (root, path): (&Path, &str),
        state: &SourceState,
    ) -> Result<Self, ProjectError> {
        let place = match state {
            SourceState::WorkingTree => Place::Folder(root.to_owned()),
            SourceState::Commit(revision) => {
                let url = repository_url(&root.to_string_lossy())?;
                Place::Commit(repositories.resolve(&url, revision)?)
            }
        };
        let mut files = Files::default();
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let file = place.file(repositories, path)?;
        let file = file.ok_or_else(|| ProjectError::NoFile(name.to_owned(), place.name()))?;
        let text = String::from_utf8_lossy(&file.content).into_owned();
        let settings_file = files.add(file);
        let settings = match ApplicationSettings::parse(&text, settings_file) {
            Ok(settings) => settings,
            Err(problems) => return Err(ProjectError::Wrong(files, problems)),
        };
        let path = normalized(&settings.workload).map(|path| joined(folder, &path));
        let file = path.as_deref().map(|path| place.file(repositories, path)).transpose()?.flatten();
        let workload = match file {
            Some(file) => {
                let id = files.add(file);
                workload((id, &files.get(id).content))
            }
            None => Err(vec![no_workload(&settings, settings_file)]),
        };
        match workload {
            Ok(workload) => Ok(Self {
                values_place: place.clone(),
                place,
                folder: folder.to_owned(),
                settings,
                workload,
                files,
                settings_file,
            }),
            Err(problems) => Err(ProjectError::Wrong(files, problems)),
        }
    }

    /// The same application, with the values of another state of it: where they are, and what they contain.
    #[must_use]
    pub fn with_values_of(mut self, newer: &Self) -> Self {
        self.values_place = newer.values_place.clone();
        self.settings.values = newer.settings.values.clone();
        self
    }

    /// The commit that is read. None: a working tree.
    pub fn commit(&self) -> Option<&Commit> {
        match &self.place {
            Place::Folder(_) => None,
            Place::Commit(commit) => Some(commit),
        }
    }

    /// The names that patterns of the configuration file stand for.
    pub fn names<'a>(&'a self, environment: &'a EnvironmentSettings) -> PatternNames<'a> {
        PatternNames {
            workload: self.workload.name.as_str(),
            environment: &environment.name,
            ..PatternNames::default()
        }
    }

    /// The folder of the source, from the root of the repository.
    pub fn source_folder(&self) -> String {
        joined(&self.folder, &self.settings.source.folder)
    }

    /// Reads the files of the source's folder.
    ///
    /// # Errors
    /// If they can't be read.
    pub fn source(&self, repositories: &dyn Repositories) -> Result<FileSet, ProjectError> {
        self.folder_of_source(repositories, &self.settings.source.folder)
    }

    fn folder_of_source(&self, repositories: &dyn Repositories, folder: &str) -> Result<FileSet, ProjectError> {
        let source = self.place.set(repositories, &joined(&self.folder, folder));
        source.map_err(|error| ProjectError::Files { what: "the source", error })
    }

    /// Reads the files of the folder with schemas.
    fn schemas(&self, repositories: &dyn Repositories) -> Result<FileSet, ProjectError> {
        let Some(folder) = &self.settings.kubernetes.schemas else { return Ok(FileSet::default()) };
        let schemas = self.place.set(repositories, &joined(&self.folder, folder));
        schemas.map_err(|error| ProjectError::Files { what: "the schemas", error })
    }

    /// Reads the source and the values of an environment. `values_commit` pins the values. None: the newest ones.
    ///
    /// # Errors
    /// If they can't be read.
    pub fn read(
        &self,
        repositories: &dyn Repositories,
        environment: &EnvironmentSettings,
        values_commit: Option<GitId>,
    ) -> Result<EnvironmentFiles, ProjectError> {
        let source = self.source(repositories)?;
        let others = self.settings.others.iter().map(|other| self.folder_of_source(repositories, &other.folder));
        let others = others.collect::<Result<_, _>>()?;
        let schemas = self.schemas(repositories)?;
        let names = self.names(environment);
        let values = &self.settings.values;
        let path = values.path.text(names);
        let wrong = |error| ProjectError::Files { what: "the values", error };
        // A service needs no values.
        let may_miss = self.settings.source.kind == SourceKind::Services;
        let found = |set| match set {
            Err(FilesError::Missing(_)) if may_miss => Ok(FileSet::default()),
            set => set.map_err(wrong),
        };
        let path = normalized(&path).ok_or_else(|| wrong(FilesError::Missing(path)))?;
        let Some(branch) = values.branch.as_ref().map(|branch| branch.text(names)) else {
            let values = found(self.values_place.set(repositories, &joined(&self.folder, &path)))?;
            let values_commit = match (&self.place, &self.values_place) {
                (Place::Commit(source), Place::Commit(values)) if source.id != values.id => Some(values.id),
                _ => None,
            };
            return Ok(EnvironmentFiles { source, others, schemas, values, values_commit });
        };
        let url = match (&values.repo, &self.place) {
            (Some(repo), _) => repository_url(repo)?,
            (None, Place::Commit(commit)) => commit.url.clone(),
            (None, Place::Folder(root)) => repository_url(&root.to_string_lossy())?,
        };
        let revision = match values_commit {
            Some(id) => Revision::Commit { id, branch: Some(branch.into()) },
            None => Revision::branch(&branch),
        };
        let commit = repositories.resolve(&url, &revision)?;
        let values = found(FileSet::of_commit(repositories, &commit, &path))?;
        Ok(EnvironmentFiles { source, others, schemas, values, values_commit: Some(commit.id) })
    }

    /// The variables that are the same for all targets of an environment, without those of the configuration file.
    pub fn variables(&self, environment: &EnvironmentSettings, provenance: &Provenance) -> Variables {
        let source = provenance.source.to_string();
        let values = provenance.values.map_or_else(|| source.clone(), |commit| commit.to_string());
        let SourceNames { repo, branch } = self.source_names();
        let all = [
            ("WORKLOAD", self.workload.name.as_str().to_owned()),
            ("ENVIRONMENT", environment.name.clone()),
            ("VERSION", provenance.version.to_string()),
            ("IMAGE_TAG", provenance.image_tag()),
            ("DEBIAN_VERSION", provenance.version.debian()),
            ("COMMIT", source.clone()),
            ("SRC_COMMIT", source),
            ("CONFIG_REVISION", values),
            ("SOURCE_REPO", repo),
            ("SOURCE_BRANCH", branch),
            ("GITOPS_REPO", self.settings.gitops.repo.clone()),
        ];
        let keys = &provenance.keys;
        let given = [("IMAGE", &keys.image), (PACKAGE_DIGEST, &keys.package_sha256)];
        let given = given.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
        all.into_iter().chain(given).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The targets of other sources that no environment has. `targets` are those of all environments.
    pub fn stray_patterns<'a>(&self, targets: impl Iterator<Item = &'a RenderedTarget>) -> Vec<Diagnostic> {
        let paths: BTreeSet<_> = targets.map(|target| target.path.as_str()).collect();
        let others = &self.settings.others;
        let has = |other: &OtherSource, pattern| paths.iter().any(|path| other.pattern(path) == Some(pattern));
        let stray = others.iter().flat_map(|other| other.targets.iter().filter(move |pattern| !has(other, pattern)));
        let diagnostic = |pattern: &SettingText| {
            let message = format!("no environment has a target `{}`", pattern.text);
            let nearest = similar::nearest(&pattern.text, paths.iter().copied());
            let help = nearest.map(|nearest| format!("did you mean `{nearest}`?"));
            Diagnostic::warning(Code::ValuesTree, message)
                .at(Origin::Span(self.settings_file, pattern.span), "")
                .help(help.unwrap_or_else(|| "remove it, or make a folder with values for it".to_owned()))
        };
        stray.map(diagnostic).collect()
    }

    /// How descriptors and variables name the source.
    pub fn source_names(&self) -> SourceNames {
        let repo = self.settings.source.repo.clone().unwrap_or_default();
        SourceNames { repo, branch: self.settings.source.branch.clone() }
    }
}

/// How descriptors and variables name the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceNames {
    /// The URL of the repository. Empty: the configuration file does not name it.
    pub repo: String,
    /// The branch.
    pub branch: String,
}

impl Place {
    fn name(&self) -> String {
        match self {
            Self::Folder(root) => root.display().to_string(),
            Self::Commit(commit) => format!("{} at {}", commit.url.label(), commit.id.short()),
        }
    }

    fn set(&self, repositories: &dyn Repositories, folder: &str) -> Result<FileSet, FilesError> {
        match self {
            Self::Folder(root) => FileSet::of_folder(root, folder, &Arc::new(Source::directory())),
            Self::Commit(commit) => FileSet::of_commit(repositories, commit, folder),
        }
    }

    /// A file. None if it does not exist.
    fn file(&self, repositories: &dyn Repositories, path: &str) -> Result<Option<File>, ProjectError> {
        match self {
            Self::Folder(root) => {
                let unreadable = |error| ProjectError::Files { what: "the configuration", error };
                let full = root.join(path);
                if !full.is_file() {
                    return Ok(None);
                }
                crate::files::read_one(&full, path).map(Some).map_err(unreadable)
            }
            Self::Commit(commit) => {
                let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
                let entries = repositories.folder(commit, folder)?.unwrap_or_default();
                let entry = entries.into_iter().find(|entry| entry.name == name && entry.kind == EntryKind::File);
                let Some(entry) = entry else { return Ok(None) };
                let FileContent::Bytes(content) = repositories.content(commit, entry.id, FILES_BYTES_MAX)? else {
                    return Ok(None);
                };
                Ok(Some(File {
                    source: Arc::new(crate::files::source_of(commit)),
                    path: path.into(),
                    id: entry.id,
                    content,
                }))
            }
        }
    }
}

fn no_workload(settings: &ApplicationSettings, file: FileId) -> Diagnostic {
    let message = format!("there is no file `{}` with the workload", settings.workload);
    Diagnostic::error(Code::ApplicationFile, message)
        .at(Origin::File(file), "")
        .help("name it: `workload = \"workload/workload.yaml\"`; `kalypso app init` writes one")
}

/// The workload in a file. There must be exactly one.
pub(crate) fn workload((id, content): (FileId, &[u8])) -> Result<Arc<Object<Workload>>, Vec<Diagnostic>> {
    let read = model::read::read_kind(id, content, Kind::Workload);
    let errors: Vec<_> = read.diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut workloads = read.objects.into_iter().filter_map(|object| match object {
        AnyObject::Workload(workload) => Some(workload),
        _ => None,
    });
    match (workloads.next(), workloads.next()) {
        (Some(workload), None) => Ok(workload),
        (None, _) => Err(vec![wrong_count("this file has no `Workload`", id)]),
        (Some(_), Some(_)) => Err(vec![wrong_count("this file has several workloads", id)]),
    }
}

fn wrong_count(message: &str, file: FileId) -> Diagnostic {
    let found = Diagnostic::error(Code::ApplicationFile, message).at(Origin::File(file), "");
    found.help(format!("an application has one workload; another one needs a {FILE_NAME} of its own"))
}
