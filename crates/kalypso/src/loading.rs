//! Where input comes from: a directory, or git repositories.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::output::Folder;
use git::load::{BrokenFiles, ControlPlane, Directory, Moment, Read};
use git::publish::Heads;
use git::published::{KeptObject, Publication, Published, SourceName};
use git::{Commit, Edits, GitRepositories, Repositories as _, RepositoryError, RepositoryUrl, Revision};
use model::diagnostic::{Code, Diagnostic};
use model::fleet::Fleet;
use model::git_id::GitId;
use model::locate::Locator;
use model::name::EnvironmentName;
use model::object::environment::RepositoryPlace;
use model::object::{GitOpsRepo, Object};
use model::progress::Progress;
use model::tree::{OpenError, Sealed, Tree, closed};

use crate::acknowledgement::{self, Entry, Id};
use crate::arguments::SourceOptions;
use crate::attempt::Found;
use crate::configuration::{self, Configuration};
use crate::exit::Failure;
use crate::memo::MemoFile;
use crate::pinned::Pinned;
use crate::progress::Watch;
use crate::report::{Batch, Report};
use crate::shared;

/// How much of a file of the GitOps branch is looked at.
const CONTENT_BYTES_MAX: u64 = 8 << 20;

/// An environment that was read.
pub(crate) struct Loaded {
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Whether everything of the platform's is known.
    pub(crate) is_whole: bool,
    pub(crate) reads: Vec<Read>,
    /// Objects that are kept though the history of their source does not say so.
    pub(crate) kept: BTreeSet<(SourceName, KeptObject)>,
    /// Why it is not known what was published, where that matters: something can't be understood.
    pub(crate) unread: Option<Failure>,
    /// The plain directory that was read, if it was one.
    pub(crate) directory: Option<String>,
    /// What the configuration acknowledges.
    pub(crate) acknowledgements: Arc<[Entry]>,
    pub(crate) place: Option<Arc<Place>>,
    /// Where the branches that output goes to were before anything of this was read. Empty if nobody wanted to know.
    pub(crate) destinations: Vec<Found>,
}

/// The control plane and the repositories that it is read from.
pub(crate) struct Place {
    pub(crate) configuration: Configuration,
    pub(crate) repositories: GitRepositories,
    /// Where work is counted.
    pub(crate) progress: Progress,
    /// Which files are known to be broken.
    broken: BrokenFiles,
    /// How many of them were known before.
    broken_before: usize,
}

/// What a GitOps branch holds.
pub(crate) struct Branch {
    /// What it is called.
    pub(crate) name: String,
    /// Its files.
    pub(crate) tree: Tree,
    head: Option<(Commit, Arc<Place>)>,
    /// What was found when its head was read.
    pub(crate) found: Option<Found>,
}

/// Reads one environment, which must be there as a whole.
pub(crate) fn environment(options: &SourceOptions, name: &str, watch: &mut Watch) -> anyhow::Result<Loaded> {
    let mut loaded = environments(options, Some(name), watch.progress())?;
    let Some(loaded) = loaded.pop() else {
        return Err(Failure::refused(format!("there is no environment `{name}`")).into());
    };
    whole(loaded, watch)
}

/// What was read, if everything of the platform's is known; else that is said.
pub(crate) fn whole(loaded: Loaded, watch: &mut Watch) -> anyhow::Result<Loaded> {
    let name = &loaded.fleet.environment;
    if !loaded.is_whole {
        watch.end();
        let mut report = Report::new();
        loaded
            .report(&mut report, Batch { diagnostics: &loaded.diagnostics, assignments: Some(0), ..Batch::default() });
        crate::reporting::to_stderr(&report)?;
        let make = if loaded.is_unreachable() { Failure::outside } else { Failure::refused };
        return Err(make(format!("environment `{name}` could not be read")).into());
    }
    Ok(loaded)
}

/// Reads all environments, or the one of this name.
pub(crate) fn environments(
    options: &SourceOptions,
    name: Option<&str>,
    progress: &Progress,
) -> anyhow::Result<Vec<Loaded>> {
    let name = name.map(environment_name).transpose()?;
    match &options.from {
        Some(path) => from_directory(Directory { path, edits: &Edits::default(), progress }, name),
        None => from_git(configuration::read(options.config.as_deref())?, name, progress),
    }
}

/// The name of an environment, as people give it.
pub(crate) fn environment_name(name: &str) -> Result<EnvironmentName, Failure> {
    let usage = |error| Failure::usage(format!("{name:?} is not the name of an environment: {error}"));
    EnvironmentName::new(name).map_err(usage)
}

fn from_directory(directory: Directory<'_>, name: Option<EnvironmentName>) -> anyhow::Result<Vec<Loaded>> {
    let reads = match name {
        Some(name) => vec![read_directory(directory, &name)?],
        None => environments_in(directory)?,
    };
    let shown = directory.path.display().to_string();
    let acknowledgements: Arc<[Entry]> = configuration::acknowledgements_in(directory.path)?.into();
    let load = |read| {
        let mut loaded = built(read, Some(shown.clone()), None);
        loaded.acknowledgements = Arc::clone(&acknowledgements);
        // Files that are all broken leave nothing, which needs no word of its own, least of all about a name that nobody gave.
        let is_empty = |diagnostic: &Diagnostic| diagnostic.code == Code::EmptyEnvironment;
        if loaded.diagnostics.iter().any(|diagnostic| diagnostic.is_error() && !is_empty(diagnostic)) {
            loaded.diagnostics.retain(|diagnostic| !is_empty(diagnostic));
        }
        loaded
    };
    Ok(reads.into_iter().map(load).collect())
}

fn read_directory(directory: Directory<'_>, name: &EnvironmentName) -> Result<git::load::Loaded, Failure> {
    git::load::read_directory(directory, name).map_err(|error| Failure::usage(error.to_string()))
}

/// What a plain directory holds of each environment that it is about. Its files are read once for all of them.
fn environments_in(directory: Directory<'_>) -> anyhow::Result<Vec<git::load::Loaded>> {
    let any = EnvironmentName::new("all")?;
    let read = read_directory(directory, &any)?;
    let names = names_in(directory, &read)?;
    if !read.is_whole {
        // What is said of an environment without objects names it.
        return Ok(names.iter().map(|name| read_directory(directory, name)).collect::<Result<_, _>>()?);
    }
    let of = |environment| {
        let mut read = read.clone();
        read.input.environment = environment;
        read
    };
    Ok(names.into_iter().map(of).collect())
}

/// The environments that a plain directory is about: those it declares, else those that its targets are for.
fn names_in(directory: Directory<'_>, read: &git::load::Loaded) -> anyhow::Result<BTreeSet<EnvironmentName>> {
    use model::object::AnyObject;
    let objects = || read.input.contents.iter().flat_map(|file| &file.objects.objects);
    let declared: BTreeSet<_> = objects()
        .filter_map(|object| match object {
            AnyObject::Environment(environment) => Some(environment.name.clone()),
            _ => None,
        })
        .collect();
    let meant = objects().flat_map(|object| match object {
        AnyObject::DeploymentTarget(target) => vec![Arc::clone(&target.spec.environment)],
        AnyObject::Workload(workload) => {
            workload.spec.deployment_targets.iter().map(|target| Arc::clone(&target.spec.environment)).collect()
        }
        _ => Vec::new(),
    });
    let meant = || meant.filter_map(|name| EnvironmentName::new(name).ok()).collect::<BTreeSet<_>>();
    let names = if declared.is_empty() { meant() } else { declared };
    if names.is_empty() && objects().next().is_none() && read.input.contents.iter().all(|file| file.objects.is_good()) {
        let message = format!("`{}` holds no objects of Kalypso", directory.path.display());
        return Err(Failure::refused(message)
            .help("is it the right folder? Only `*.yaml` and `*.yml` files are read")
            .into());
    }
    // Without any, what is wrong with the files is still worth saying.
    Ok(if names.is_empty() { BTreeSet::from([read.input.environment.clone()]) } else { names })
}

fn from_git(
    configuration: Configuration,
    name: Option<EnvironmentName>,
    progress: &Progress,
) -> anyhow::Result<Vec<Loaded>> {
    let place = Arc::new(Place::new(configuration, progress.clone()));
    let moment = Moment::new(&place.repositories, place.control_plane());
    let names = if let Some(name) = name {
        vec![name]
    } else {
        let environments = moment.environments();
        if environments.names.is_empty() {
            return Err(no_environments(&environments, &place).into());
        }
        environments.names
    };
    let loaded = names.iter().map(|name| now_and_before(&moment, name, &place)).collect();
    place.keep_broken();
    Ok(loaded)
}

/// An environment with what was published of it before, where that matters.
fn now_and_before(moment: &Moment<'_>, name: &EnvironmentName, place: &Arc<Place>) -> Loaded {
    let part = moment.platform(name);
    let destinations: Vec<_> = part.gitops_repos().map(|object| object.spec.place.clone()).collect();
    let read = moment.complete(part, &|| Ok(Vec::new()));
    let (read, unread) = with_past((moment, name), read, || published((place, name), &destinations));
    Loaded { unread, ..built(read, None, Some(place)) }
}

/// What was read; where something in it can't be understood, what was published says what was there before. And why that is not known.
pub(crate) fn with_past(
    (moment, name): (&Moment<'_>, &EnvironmentName),
    read: git::load::Loaded,
    published: impl FnOnce() -> Result<Vec<Published>, RepositoryError>,
) -> (git::load::Loaded, Option<Failure>) {
    if read.is_understood || !read.is_whole {
        return (read, None);
    }
    match published() {
        Ok(published) if published.iter().all(|published| published.publications.is_empty()) => (read, None),
        Ok(published) => (moment.load_after(name, &published), None),
        Err(error) => (read, Some(publish_failure(&error.into()))),
    }
}

/// What was published on the branches of these places. A branch that does not exist has nothing, and a URL that is not allowed is reported by who uses it.
fn published(
    (place, environment): (&Arc<Place>, &EnvironmentName),
    destinations: &[RepositoryPlace],
) -> Result<Vec<Published>, RepositoryError> {
    let mut found = Vec::new();
    for destination in destinations {
        let Ok(url) = destination_url(Some(place), &destination.repo) else { continue };
        match place.repositories.resolve(&url, &Revision::branch(&destination.branch)) {
            Err(RepositoryError::NoRevision { .. } | RepositoryError::Empty { .. }) => {}
            head => found.push(Published::read(&place.repositories, &head?, environment)?),
        }
    }
    Ok(found)
}

fn no_environments(environments: &git::load::Environments, place: &Place) -> Failure {
    let url = place.configuration.repo.as_str();
    match environments.diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
        Some(first) => {
            let make = if first.code.is_outside() { Failure::outside } else { Failure::refused };
            Failure { help: first.help.first().cloned(), ..make(format!("[{}] {}", first.code, first.message)) }
        }
        None => Failure::refused(format!("`{url}` has no environments on branch `{}`", place.configuration.branch))
            .help("put `Environment` objects into the folder `.environments` of that branch"),
    }
}

pub(crate) fn built(read: git::load::Loaded, directory: Option<String>, place: Option<&Arc<Place>>) -> Loaded {
    let (fleet, found) = Fleet::build(read.input);
    let diagnostics = model::diagnostic::merged(read.diagnostics.into_iter().chain(found).collect());
    Loaded {
        fleet: Arc::new(fleet),
        diagnostics,
        is_whole: read.is_whole,
        reads: read.reads,
        kept: read.kept,
        unread: None,
        directory,
        acknowledgements: place.map(|place| Arc::clone(&place.configuration.acknowledgements)).unwrap_or_default(),
        place: place.cloned(),
        destinations: Vec::new(),
    }
}

impl Place {
    /// The place of a configuration, with what earlier runs have found broken there.
    pub(crate) fn new(configuration: Configuration, progress: Progress) -> Self {
        let repositories = GitRepositories::new(configuration.git.clone());
        let broken = BrokenFiles::read(&broken_file(&configuration).load_bytes());
        Self { configuration, repositories, progress, broken_before: broken.len(), broken }
    }

    /// Lets later runs know what was found broken.
    pub(crate) fn keep_broken(&self) {
        if self.broken.len() > self.broken_before {
            broken_file(&self.configuration).save_bytes(&self.broken.write());
        }
    }

    pub(crate) fn control_plane(&self) -> ControlPlane<'_> {
        let Configuration { repo, branch, git, .. } = &self.configuration;
        ControlPlane {
            url: repo,
            branch,
            rewrite: &git.rewrite,
            promoted: None,
            progress: &self.progress,
            broken: &self.broken,
        }
    }
}

impl Loaded {
    /// Adds what is wrong to a report, but for what may be in effect in other environments, which were not read.
    pub(crate) fn report<'a>(&'a self, report: &mut Report<'a>, batch: Batch<'_>) {
        let diagnostics = shared::without_doubtful(self, batch.diagnostics);
        self.report_all(report, Batch { diagnostics: &diagnostics, ..batch });
    }

    /// Adds what is wrong to a report. Returns the acknowledgements that match something.
    pub(crate) fn report_all<'a>(&'a self, report: &mut Report<'a>, batch: Batch<'_>) -> BTreeSet<Id> {
        let divided = acknowledgement::divide(self, batch.diagnostics, jiff::Timestamp::now());
        let (diagnostics, acknowledged) = (&*divided.counting, &*divided.acknowledged);
        let batch = Batch { environment: Some(&self.fleet.environment), diagnostics, acknowledged, ..batch };
        report.add(batch, &mut Locator::new(&self.fleet));
        divided.used
    }

    /// Whether a part of the platform's is not known because a repository can't be reached.
    pub(crate) fn is_unreachable(&self) -> bool {
        !self.is_whole && self.diagnostics.iter().any(|diagnostic| diagnostic.code.is_outside())
    }

    /// The environment and what it was read from: `prod@77aa012 (main at 41c77fe)`.
    pub(crate) fn title(&self) -> String {
        let environment = &self.fleet.environment;
        if let Some(directory) = &self.directory {
            return format!("{environment} of {directory}");
        }
        let own = self.reads.iter().find(|read| read.role == git::load::ReadRole::Environment);
        let own = own.map_or_else(String::new, |read| format!("@{}", read.commit.short()));
        let promoted =
            self.fleet.promoted_commit().map(|commit| format!(" (main at {})", commit.get(..7).unwrap_or(commit)));
        format!("{environment}{own}{}", promoted.unwrap_or_default())
    }

    /// The GitOps branch at the place of a `GitOpsRepo`, as it was before this was read. Where nobody looked at it then: as it is now.
    pub(crate) fn branch(&self, gitops_repo: &str, place: &RepositoryPlace) -> anyhow::Result<Branch> {
        if let Some(failure) = &self.unread {
            return Err(failure.clone().into());
        }
        let url = self.url(&place.repo)?;
        let here = match &self.place {
            Some(here) => Arc::clone(here),
            // A plain directory may still say where its output goes.
            None => here_for(&url)?,
        };
        let found = self.destinations.iter().find(|found| found.name == gitops_repo && found.place == *place);
        let destination = git::publish::Destination {
            url: &url,
            base: &place.branch,
            branch: None,
            environment: &self.fleet.environment,
        };
        let heads = match found {
            Some(found) => found.heads.clone(),
            None => git::publish::heads(&here.repositories, &destination),
        };
        let base = heads.map_err(|error| publish_failure(&error))?.base;
        let tree = here.repositories.tree(&base).map_err(|error| publish_failure(&error.into()))?;
        let name = format!("{}@{}", url.label(), place.branch);
        Ok(Branch { name, tree, head: Some((base, here)), found: found.cloned() })
    }

    /// The URL of a GitOps repository.
    pub(crate) fn url(&self, text: &str) -> Result<RepositoryUrl, Failure> {
        destination_url(self.place.as_deref(), text)
    }
}

/// The URL of a GitOps repository: `http` only where the person who runs Kalypso has said what it means.
pub(crate) fn destination_url(place: Option<&Place>, text: &str) -> Result<RepositoryUrl, Failure> {
    let rewritten = place.is_some_and(|place| {
        let rules = &place.configuration.git.rewrite;
        rules.iter().any(|rule| !rule.from.is_empty() && text.starts_with(&rule.from))
    });
    let parse = if rewritten && text.starts_with("http://") {
        RepositoryUrl::from_configuration
    } else {
        RepositoryUrl::from_object
    };
    parse(text).map_err(|error| {
        Failure::refused(format!("the GitOps repository `{}` can't be used: {error}", git::without_credential(text)))
    })
}

/// The folder that a `GitOpsRepo`'s output lives under.
pub(crate) fn folder_of(object: &Object<GitOpsRepo>) -> Result<Folder, Failure> {
    let path = &object.spec.place.path;
    Folder::parse(path).ok_or_else(|| {
        Failure::refused(format!(
            "GitOpsRepo `{}` has the path `{path}`, which leads out of the repository",
            object.name
        ))
    })
}

/// Where is kept what of a control plane's repositories is broken.
fn broken_file(configuration: &Configuration) -> MemoFile {
    let git = &configuration.git;
    MemoFile::of_broken_files((&git.cache, git.key.clone()), &configuration.control_plane())
}

fn here_for(url: &RepositoryUrl) -> anyhow::Result<Arc<Place>> {
    let configuration = configuration::without_file(url)?;
    Ok(Arc::new(Place::new(configuration, Progress::default())))
}

/// A failure of publishing, with its code and advice.
pub(crate) fn publish_failure(error: &git::publish::PublishError) -> Failure {
    let diagnostic = error.diagnostic();
    let make = if diagnostic.code.is_outside() { Failure::outside } else { Failure::refused };
    let failure = make(format!("[{}] {}", diagnostic.code, diagnostic.message));
    Failure { help: diagnostic.help.into_iter().next(), ..failure }
}

impl Branch {
    /// A branch that is only a tree.
    pub(crate) fn of_tree(name: String, tree: Tree) -> Self {
        Self { name, tree, head: None, found: None }
    }

    /// The commit that it is at.
    pub(crate) fn commit(&self) -> Option<GitId> {
        self.head.as_ref().map(|(commit, _)| commit.id)
    }

    /// Where the branches must be for a push, and the branch that a change is proposed on, if it is not to go straight to this one. None if our own branch was
    /// not looked at.
    pub(crate) fn leases(&self, is_direct: bool) -> Option<(Heads, Option<&str>)> {
        let base = self.head.as_ref()?.0.clone();
        if is_direct {
            return Some((Heads { base, branch: None }, None));
        }
        let found = self.found.as_ref()?;
        Some((found.heads.clone().ok()?, Some(&found.our_branch)))
    }

    /// When that commit was made, in seconds since 1970.
    pub(crate) fn committed(&self) -> Option<i64> {
        let (commit, place) = self.head.as_ref()?;
        place.repositories.info(commit).ok().map(|info| info.seconds)
    }

    /// The content of a file of the branch. Of a branch that is only a tree, files have theirs with them.
    pub(crate) fn content(&self, id: GitId) -> Option<Arc<[u8]>> {
        let (commit, place) = self.head.as_ref()?;
        match place.repositories.content(commit, id, CONTENT_BYTES_MAX) {
            Ok(git::Content::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// What is in a folder of the branch.
    pub(crate) fn open(&self, sealed: &Sealed) -> Result<Tree, OpenError> {
        match &self.head {
            Some((commit, place)) => git::opener(&place.repositories, commit)(sealed),
            None => closed(sealed),
        }
    }

    /// The publication that is the newest on the branch, and its fleet, if its commits say what it was made of and that can still be read.
    pub(crate) fn published_from(&self, loaded: &Loaded) -> Option<(GitId, Loaded)> {
        let (head, place) = self.head.as_ref()?;
        loaded.place.as_ref()?;
        let environment = &loaded.fleet.environment;
        let published = Published::read(&place.repositories, head, environment).ok()?;
        let newest = published.newest()?;
        let pinned = Pinned::new(&place.repositories, newest.sources.clone());
        let read = Moment::new(&pinned, place.control_plane()).load(environment);
        let loaded = Some(built(read, None, Some(place))).filter(|loaded| loaded.is_whole)?;
        Some((newest.commit, loaded))
    }

    /// The commit that it is at, and where that is read.
    pub(crate) fn head(&self) -> Option<(&Commit, &Arc<Place>)> {
        self.head.as_ref().map(|(commit, place)| (commit, place))
    }

    /// A commit of its repository that the branch came from.
    fn earlier(&self, id: GitId) -> Option<Commit> {
        let (head, place) = self.head.as_ref()?;
        let branch = match &head.revision {
            Revision::Branch(branch) => Some(Arc::clone(branch)),
            _ => None,
        };
        place.repositories.resolve(&head.url, &Revision::Commit { id, branch }).ok()
    }

    /// The tree of an earlier commit.
    pub(crate) fn tree_at(&self, id: GitId) -> Result<Tree, OpenError> {
        let unreadable = |reason: String| OpenError::Unreadable { id, reason };
        let commit = self.earlier(id).ok_or_else(|| unreadable("it is not in the repository".to_owned()))?;
        let (_, place) = self.head.as_ref().ok_or_else(|| unreadable("there is no repository".to_owned()))?;
        place.repositories.tree(&commit).map_err(|error| unreadable(error.to_string()))
    }

    /// What a commit says it was made of, if it is a publication of the environment.
    pub(crate) fn publication(&self, loaded: &Loaded, id: GitId) -> Option<Publication> {
        let (_, place) = self.head.as_ref()?;
        let published = Published::read_back(&place.repositories, (&self.earlier(id)?, 1), &loaded.fleet.environment);
        published.ok()?.publications.into_iter().find(|publication| publication.commit == id)
    }

    /// The fleet that the first of these publications, newest first, was made of: of nothing but the commits that it names.
    ///
    /// # Errors
    /// Why that can't be had.
    pub(crate) fn made_of(&self, loaded: &Loaded, publications: Vec<Publication>) -> Result<Loaded, String> {
        let (Some((_, place)), Some(first)) = (self.head.as_ref(), publications.first()) else {
            return Err("it is not in the branch".to_owned());
        };
        let environment = &loaded.fleet.environment;
        let pinned = Pinned::strictly(&place.repositories, first.sources.clone());
        let moment = Moment::new(&pinned, place.control_plane());
        let read = moment.load(environment);
        let (read, unread) = with_past((&moment, environment), read, || Ok(vec![Published { publications }]));
        if let Some(failure) = unread {
            return Err(failure.to_string());
        }
        let found = built(read, None, Some(place));
        if found.is_whole {
            return Ok(found);
        }
        let first = found.diagnostics.iter().find(|diagnostic| diagnostic.is_error());
        Err(first
            .map_or_else(|| "not all of it is there".to_owned(), |found| format!("[{}] {}", found.code, found.message)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_directory_are_read_once_for_all_environments() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["dev", "prod"] {
            let text = format!(
                "{{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Environment, metadata: {{name: {name}}}, \
                 spec: {{controlPlane: {{repo: r, branch: {name}, path: .}}}}}}\n"
            );
            std::fs::write(folder.path().join(format!("{name}.yaml")), text).unwrap();
        }
        let progress = Progress::watched();
        let directory = Directory { path: folder.path(), edits: &Edits::default(), progress: &progress };
        let loaded = from_directory(directory, None).unwrap();
        assert_eq!(loaded.iter().map(|loaded| loaded.fleet.environment.as_str()).collect::<Vec<_>>(), ["dev", "prod"]);
        assert_eq!(progress.seen().map(|seen| (seen.done, seen.total)), Some((2, 2)));
    }
}
