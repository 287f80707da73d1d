//! Reads an application, and what its GitOps branch contains.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use application::deployment::{DeployedBranch, DeployedRelease, Provenance, ReleaseKeys};
use application::digest::ContentDigest;
use application::files::{FileSet, normalized};
use application::images::{ImageDigests, PinnedImages};
use application::programs::{Program, ProgramEnvironment, ProgramError, Programs, RealPrograms};
use application::project::{EnvironmentFiles, Project, ProjectError, SourceState, repository_url};
use application::render::{PreparedTarget, PreparedTargets, RenderError, RenderRequest, RenderSource};
use application::services::{ChartStore, Services};
use application::settings::{EnvironmentSettings, FILE_NAME, SourceKind};
use application::variables::Variables;
use application::version::ApplicationVersion;
use git::{Commit, GitRepositories, Repositories, RepositoryError, Revision};
use model::diagnostic::Diagnostic;
use model::git_id::GitId;
use model::locate::Locator;
use model::source::Files;
use workbench::diagnostics::{DiagnosticBatch, DiagnosticReport};

use super::registries::ImageAccess;
use crate::arguments::{AppOptions, AppPinning, AppRegistries, AppRelease};
use crate::configuration::{self, ApplicationAccess};
use crate::exit::Failure;
use crate::reporting;

/// The folder of the cache with the charts of services.
const CHARTS_FOLDER: &str = "charts";

/// The version of manifests that are only looked at.
const LOCAL_VERSION: &str = "0.0.0-local";

/// An application with the access to its repositories.
pub(super) struct Reading {
    pub(super) access: ApplicationAccess,
    pub(super) repositories: GitRepositories,
    images: ImageAccess,
    /// The root of the source repository.
    root: PathBuf,
    /// The path of the configuration file, from the root.
    settings: String,
}

impl Reading {
    pub(super) fn new(options: &AppOptions) -> anyhow::Result<Self> {
        let path = match &options.config {
            Some(path) => path.clone(),
            None => find()?,
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = std::fs::canonicalize(folder)
            .map_err(|error| Failure::usage(format!("the folder of `{}` can't be read: {error}", path.display())))?;
        let name = path.file_name().unwrap_or(FILE_NAME.as_ref());
        let own = folder.join(name);
        let access = configuration::read_application(options.access.as_deref().unwrap_or(&own), &folder)?;
        let root = git::checkout::repository_above(&folder).unwrap_or(&folder).to_owned();
        let below = own.strip_prefix(&root).unwrap_or(Path::new(name)).to_string_lossy().into_owned();
        let repositories = GitRepositories::new(access.git.clone());
        let images = ImageAccess::new(&AppRegistries::default());
        Ok(Self { access, repositories, images, root, settings: normalized(&below).unwrap_or_default() })
    }

    /// Manifests get the digests of their images, if these options or the settings of the application say so.
    pub(super) fn with_pinning(self, options: &AppPinning) -> Self {
        Self { images: ImageAccess::pinning(options), ..self }
    }

    /// Reads the application in a state of its source. Diagnostics of its files are printed.
    pub(super) fn project(&self, state: &SourceState) -> anyhow::Result<Project> {
        Project::open(&self.repositories, (&self.root, &self.settings), state).map_err(failure)
    }

    /// The state that a revision of the command line names. None: the working tree.
    pub(super) fn state(&self, revision: Option<&str>) -> anyhow::Result<SourceState> {
        Ok(match revision {
            None => SourceState::WorkingTree,
            Some(revision) => SourceState::Commit(self.commit(revision)?.revision),
        })
    }

    /// The commit that a text names: an id, a branch, a tag, or HEAD.
    pub(super) fn commit(&self, text: &str) -> anyhow::Result<Commit> {
        let url = repository_url(&self.root.to_string_lossy()).map_err(failure)?;
        let id = match text {
            "HEAD" => git::checkout::checkout_at(&self.root).ok().and_then(|checkout| checkout.commit()),
            _ => GitId::from_hex(text),
        };
        let revisions = match id {
            Some(id) => vec![Revision::Commit { id, branch: None }],
            None => vec![Revision::branch(text), Revision::Tag(text.into())],
        };
        let mut not_found = None;
        for revision in revisions {
            match self.repositories.resolve(&url, &revision) {
                Err(error @ RepositoryError::NoRevision { .. }) => not_found = Some(error),
                // Later reads get exactly this commit.
                resolved => {
                    let id = resolved.map_err(ProjectError::from).map_err(failure)?.id;
                    return Ok(Commit { url, revision: Revision::Commit { id, branch: None }, id });
                }
            }
        }
        let help = "name a branch, a tag, HEAD, or all 40 digits of a commit";
        let reason = not_found.map_or_else(String::new, |error| format!(": {error}"));
        Err(Failure::usage(format!("there is no commit `{text}`{reason}")).help(help).into())
    }

    /// The URL of the remote `origin` of the source repository, without a credential.
    pub(super) fn origin(&self) -> Option<String> {
        git::checkout::origin(&self.root).map(|url| git::without_credential(&url))
    }

    /// The head of the branch of the GitOps repository for an environment. None: it does not exist.
    pub(super) fn head(&self, project: &Project, environment: &EnvironmentSettings) -> anyhow::Result<Option<Commit>> {
        let gitops = &project.settings.gitops;
        let url = repository_url(&gitops.repo).map_err(failure)?;
        let branch = gitops.branch.text(project.names(environment));
        match self.repositories.resolve(&url, &Revision::branch(&branch)) {
            Err(RepositoryError::NoRevision { .. } | RepositoryError::Empty { .. }) => Ok(None),
            found => Ok(Some(found.map_err(ProjectError::from).map_err(failure)?)),
        }
    }

    /// Replaces a file of the source in the working tree.
    pub(super) fn write(&self, project: &Project, path: &str, content: &[u8]) -> anyhow::Result<()> {
        let path = self.root.join(project.source_folder()).join(path);
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(&self.root))?;
            file.write_all(content)?;
            file.as_file().set_permissions(std::fs::metadata(&path)?.permissions())?;
            file.persist(&path)?;
            std::io::Result::Ok(())
        };
        write().map_err(|error| Failure::outside(format!("`{}` can't be written: {error}", path.display())).into())
    }

    /// The branch of the GitOps repository for an environment, with its head. The head is none if the branch does not exist.
    pub(super) fn deployed(
        &self,
        project: &Project,
        environment: &EnvironmentSettings,
    ) -> anyhow::Result<(DeployedBranch, Option<Commit>)> {
        let gitops = &project.settings.gitops;
        let names = project.names(environment);
        let path = gitops.path.text(names);
        let path = normalized(&path)
            .ok_or_else(|| Failure::usage(format!("`{path}` of `[gitops]` leads out of the repository")))?;
        let head = self.head(project, environment)?;
        let branch = match &head {
            Some(head) => DeployedBranch::read(&self.repositories, head, &path)
                .map_err(|error| Failure::outside(error.to_string()))?,
            None => DeployedBranch::empty(&path),
        };
        Ok((branch, head))
    }
}

/// An environment that can be rendered.
#[derive(Clone)]
pub(super) struct Environment {
    pub(super) settings: EnvironmentSettings,
    pub(super) files: EnvironmentFiles,
    /// The files that diagnostics refer to.
    read: Files,
    /// The services. None: all targets are rendered from one folder.
    services: Option<Services>,
    pub(super) provenance: Provenance,
    variables: Variables,
    program_version: String,
    /// The digests that images get. None: images stay as they are.
    images: Option<Arc<ImageDigests>>,
}

/// The programs, and the version of the one that an application needs.
pub(super) struct Tools {
    pub(super) programs: RealPrograms,
    /// The charts of services.
    pub(super) charts: ChartStore,
    version: Option<String>,
}

impl Tools {
    pub(super) fn new(reading: &Reading, project: &Project) -> anyhow::Result<Self> {
        let environment = ProgramEnvironment {
            path: std::env::var_os("PATH").unwrap_or_default(),
            home: std::env::var_os("HOME"),
            variables: std::env::vars_os().collect(),
        };
        let programs = RealPrograms::new(environment)
            .map_err(|error| Failure::outside(format!("no temporary folder can be made: {error}")))?;
        let program = match project.settings.source.kind {
            SourceKind::Chart | SourceKind::Services => Some(Program::Helm),
            SourceKind::Kustomize(_) => Some(Program::Kustomize),
            SourceKind::Manifests | SourceKind::Files => None,
        };
        let version = program.map(|program| programs.version(program).map_err(|error| program_failure(&error)));
        let version = version.transpose()?.zip(program).map(|(version, program)| format!("{program} {version}"));
        let folder = reading.access.git.cache.join(CHARTS_FOLDER);
        let charts = ChartStore::new(folder, project.settings.helm.time_limit);
        Ok(Self { programs, charts, version })
    }

    /// The services with these files, and their charts. None: the application has none.
    fn services(&self, project: &Project, (source, files): (&FileSet, &mut Files)) -> anyhow::Result<Option<Services>> {
        if project.settings.source.kind != SourceKind::Services {
            return Ok(None);
        }
        let mut services = Services::read(source, files);
        services.fetch(&self.programs, &self.charts).map_err(|error| program_failure(&error))?;
        Ok(Some(services))
    }
}

/// An environment that a command looks at, with its application.
pub(super) struct OpenedEnvironment {
    pub(super) project: Project,
    pub(super) tools: Tools,
    pub(super) environment: Environment,
}

impl Reading {
    /// Reads the application and one of its environments, as the options name them.
    pub(super) fn open(&self, name: &str, release: &AppRelease) -> anyhow::Result<OpenedEnvironment> {
        let project = self.project(&self.state(release.commit.as_deref())?)?;
        let tools = Tools::new(self, &project)?;
        let asked = AskedEnvironment { name, release, known: None, tools: &tools };
        let environment = Environment::read(self, &project, asked)?;
        Ok(OpenedEnvironment { project, tools, environment })
    }
}

/// The environment that is read.
#[derive(Clone, Copy)]
pub(super) struct AskedEnvironment<'a> {
    pub(super) name: &'a str,
    pub(super) release: &'a AppRelease,
    /// What is known of the version. If the options name none, this is the version that is rendered; without it, one for this machine is.
    pub(super) known: Option<&'a DeployedRelease>,
    pub(super) tools: &'a Tools,
}

impl Environment {
    /// Reads an environment of an application.
    pub(super) fn read(reading: &Reading, project: &Project, asked: AskedEnvironment<'_>) -> anyhow::Result<Self> {
        let AskedEnvironment { name, release, known, tools } = asked;
        let settings = environment(project, name)?.clone();
        let has_version = release.version.is_some() || known.is_some();
        let version = release.version.as_deref().or(known.map(|known| known.version.as_str()));
        let version: ApplicationVersion =
            version.unwrap_or(LOCAL_VERSION).parse().map_err(|error: application::version::VersionError| {
                Failure::usage(error.to_string()).help("write three numbers, such as 2.4.0 or 2.4.0-rc.1+57")
            })?;
        let known = known.filter(|known| known.version == version.to_string());
        let (known, pinned) = match known {
            Some(known) => (known.keys.clone(), known.images.clone()),
            None if has_version => Default::default(),
            None => (ReleaseKeys::of_no_release(), PinnedImages::default()),
        };
        let images = reading.images.of_manifests(&project.settings, has_version.then_some(pinned));
        let keys = keys(release, known)?;
        let values = release.values_commit.as_deref().map(|text| {
            GitId::from_hex(text).ok_or_else(|| {
                Failure::usage(format!("`{text}` is not a commit")).help("write all 40 digits of its id")
            })
        });
        let files = project.read(&reading.repositories, &settings, values.transpose()?).map_err(failure)?;
        let source = project.commit().map(|commit| commit.id);
        let source = source.or_else(|| git::checkout::checkout_at(&reading.root).ok()?.commit());
        let provenance = Provenance {
            version,
            keys,
            source: source.unwrap_or_else(|| GitId::from_bytes([0; 20])),
            values: files.values_commit,
            tools: tools.version.iter().cloned().collect(),
        };
        let variables = project.variables(&settings, &provenance);
        let mut read = project.files.clone();
        let services = tools.services(project, (&files.source, &mut read))?;
        let program_version = tools.version.clone().unwrap_or_default();
        Ok(Self { settings, files, read, services, provenance, variables, program_version, images })
    }

    /// The same environment with other files of its source.
    pub(super) fn with_source(&self, project: &Project, source: FileSet, tools: &Tools) -> anyhow::Result<Self> {
        let mut other = self.clone();
        other.read = project.files.clone();
        other.services = tools.services(project, (&source, &mut other.read))?;
        other.files.source = source;
        Ok(other)
    }

    /// The targets, ready to be rendered.
    pub(super) fn prepared<'a>(&'a self, project: &'a Project) -> PreparedTargets<'a> {
        let request = RenderRequest {
            settings: &project.settings,
            settings_file: project.settings_file,
            environment: &self.settings,
            workload: &project.workload,
            source: match &self.services {
                Some(services) => RenderSource::Services(services),
                None => RenderSource::Folder(&self.files.source),
            },
            others: &self.files.others,
            schemas: &self.files.schemas,
            values: &self.files.values,
            variables: &self.variables,
            program_version: &self.program_version,
            images: self.images.as_deref(),
        };
        PreparedTargets::new(request, self.read.clone())
    }
}

/// The keys that the options name, and the known ones for the rest.
fn keys(release: &AppRelease, known: ReleaseKeys) -> Result<ReleaseKeys, Failure> {
    let package = release.package.as_deref().map(|package| match package.parse::<ContentDigest>() {
        Ok(digest) => Ok(digest),
        Err(()) => ContentDigest::of_file(Path::new(package)).map_err(|error| {
            Failure::usage(format!("the package `{package}` can't be read: {error}"))
                .help("name its file, or its digest: sha256: and 64 hexadecimal digits")
        }),
    });
    let package = package.transpose()?.map(|digest| digest.digits().to_owned());
    Ok(ReleaseKeys {
        image: release.image.clone().or(known.image),
        image_tag: release.image_tag.clone().or(known.image_tag),
        package_sha256: package.or(known.package_sha256),
    })
}

/// The target with a name: the path of its folder.
pub(super) fn target_named<'t>(
    prepared: &'t PreparedTargets<'_>,
    name: &str,
    environment: &str,
) -> Result<&'t PreparedTarget, Failure> {
    let name = name.trim_matches('/');
    let found = prepared.targets().iter().find(|target| target.path.as_str() == name);
    found.ok_or_else(|| {
        let known = prepared.targets().iter().map(|target| target.path.as_str());
        let message = format!("environment `{environment}` has no target `{name}`");
        Failure::usage(message).did_you_mean(name, known, "`kalypso app render` lists the targets")
    })
}

/// The environment with a name.
pub(super) fn environment<'p>(project: &'p Project, name: &str) -> Result<&'p EnvironmentSettings, Failure> {
    project.settings.environment(name).map_err(|error| {
        let known = format!("its environments are {}", error.known.join(", "));
        let nearest = error.nearest.as_ref().map(|nearest| format!("did you mean `{nearest}`?"));
        Failure::usage(error.to_string()).help(nearest.unwrap_or(known))
    })
}

/// The configuration file in the current directory or above.
fn find() -> anyhow::Result<PathBuf> {
    let start = std::env::current_dir()?;
    let found = start.ancestors().map(|folder| folder.join(FILE_NAME)).find(|path| path.is_file());
    match found {
        Some(path) if path.parent() != Some(&start) && git::trust::has_foreign_owner(&path) => {
            let message = format!("the configuration file `{}` belongs to another user", path.display());
            Err(Failure::usage(message).help("if it is the right one, name it with --config FILE").into())
        }
        Some(path) => Ok(path),
        None => {
            let message = format!("there is no {FILE_NAME} in {} or above it", start.display());
            Err(Failure::usage(message).help("name one with --config FILE; `kalypso app init` writes one").into())
        }
    }
}

/// Prints the diagnostics of files that stop everything, and returns the failure.
pub(super) fn failure(error: ProjectError) -> anyhow::Error {
    let message = error.to_string();
    match error {
        ProjectError::Wrong(files, diagnostics) => {
            let report = report(&files, &diagnostics);
            // The failure itself is printed in any case.
            let _ = reporting::to_stderr(&report);
            Failure::refused(message).into()
        }
        ProjectError::NoFile(..) => Failure::usage(message).help("is it committed there?").into(),
        ProjectError::Files { .. } => Failure::refused(message).into(),
        ProjectError::Url(..) => Failure::usage(message).into(),
        ProjectError::Repository(error) => {
            let diagnostic = git::publish::PublishError::from(error).diagnostic();
            let failure = Failure::outside(message);
            match diagnostic.help.first() {
                Some(help) => failure.help(help.clone()).into(),
                None => failure.into(),
            }
        }
    }
}

/// The failure for a program that is missing.
pub(super) fn program_failure(error: &ProgramError) -> Failure {
    let failure = Failure::outside(error.to_string());
    match error {
        ProgramError::Missing(program) => failure.help(program.advice()),
        _ => failure,
    }
}

/// The failure if nothing can be rendered.
pub(super) fn render_failure(error: &RenderError) -> Failure {
    match error {
        RenderError::Program(error) => program_failure(error),
        RenderError::Folder(_) => Failure::outside(error.to_string()),
    }
}

/// The report of diagnostics of an application.
pub(super) fn report<'f>(files: &'f Files, diagnostics: &[Diagnostic]) -> DiagnosticReport<'f> {
    let mut report = DiagnosticReport::new();
    add(&mut report, files, diagnostics);
    report
}

/// Adds diagnostics of an application. No value is sensitive by a schema: credentials are hidden where they are found.
pub(super) fn add<'f>(report: &mut DiagnosticReport<'f>, files: &'f Files, diagnostics: &[Diagnostic]) {
    let nothing = BTreeSet::new();
    let batch = DiagnosticBatch { diagnostics, sensitive: Some(&nothing), ..DiagnosticBatch::default() };
    report.add(batch, &mut Locator::of_files(files));
}
