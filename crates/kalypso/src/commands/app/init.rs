//! `kalypso app init`: the files and repositories of an application.

mod summary;

use std::path::{Component, Path, PathBuf};

use application::project::repository_url;
use application::scaffold::answers::GivenAnswers;
use application::scaffold::branches::{BranchAuthor, BranchCompletion, BranchError, complete};
use application::scaffold::found::FoundApplication;
use application::scaffold::plan::{ApplicationPlan, PlanError, RepositoryBranches};
use application::scaffold::source::NewSourceKind;
use application::settings::FILE_NAME;
use git::{GitRepositories, RepositoryUrl, UrlError};
use workbench::branch::author;
use workbench::platform::answers::HostAnswer;
use workbench::platform::application::ApplicationFolder;
use workbench::platform::{GitEnvironment, Hosted, Made};

use self::summary::MadeApplication;
use super::reading::failure;
use crate::arguments::{AppInit, AppLikeness, AppSource};
use crate::commands::init::hosting::{self, NewRepositories};
use crate::commands::init::init_options;
use crate::commands::init::questions::HostAnswers;
use crate::configuration;
use crate::exit::{Exit, Failure};
use crate::terminal;

pub(super) fn run(options: &AppInit) -> anyhow::Result<Exit> {
    let host = Host::new(options)?;
    let given = given(options, host.as_ref())?;
    let found = FoundApplication::read(&options.directory).map_err(failure)?;
    let plan = ApplicationPlan::new(&given, &found).map_err(|error| plan_failure(&error))?;
    let variables: Vec<_> = std::env::vars_os().map(|(name, _)| name).collect();
    let token = host.as_ref().and_then(|host| host.token.as_deref());
    let prefix = host.as_ref().map_or_else(String::new, |host| format!("{}/", host.base));
    let folder = ApplicationFolder::open(&options.directory, &prefix, GitEnvironment { variables: &variables, token })?;
    folder.check(&plan.files)?;
    let mut made = Made { kept: plan.existing.clone(), ..Made::default() };
    made.notes.extend(folder.note().map(str::to_owned));
    made.notes.extend(plan.other_gitops.iter().map(|other| {
        let own = &plan.settings.gitops.repo;
        format!("the Workload names the GitOps repository {other}, and {FILE_NAME} names {own}: clusters pull what the Workload names")
    }));
    let source = host.as_ref().map(|host| format!("{}/{}", host.base, plan.workload));
    if let Some(host) = host.as_ref().filter(|_| options.host.create) {
        made.new.extend(host.create(options, &plan, source.as_deref())?);
    }
    local_repositories(&folder, &plan, &mut made)?;
    folder.write(&plan.files, &mut made)?;
    let commit = folder.commit(&plan.committed, &mut made)?;
    if let Some(url) = &source {
        folder.push(url, &mut made)?;
    }
    complete_branches(&options.directory, &plan, &mut made)?;
    let made = MadeApplication { folder: &options.directory, plan: &plan, made: &made, commit };
    terminal::answer(&made.text())?;
    Ok(Exit::Good)
}

/// The git host of the options.
struct Host {
    answer: HostAnswer,
    token: Option<String>,
    /// The start of the URLs of its repositories.
    base: String,
}

impl Host {
    fn new(options: &AppInit) -> anyhow::Result<Option<Self>> {
        let Some(kind) = &options.host.kind else { return Ok(None) };
        let kind = init_options::host_kind(kind)?;
        let answer = init_options::host(kind, &options.host, &HostAnswers::default())?;
        let base = Hosted { kind, url: &answer.url, owner: &answer.owner }.base_url();
        Ok(Some(Self { token: init_options::token(&answer)?, answer, base }))
    }

    /// Creates the repositories that are on this host. Returns the URLs of the new ones.
    fn create(&self, options: &AppInit, plan: &ApplicationPlan, source: Option<&str>) -> anyhow::Result<Vec<String>> {
        let configs = plan.configs.as_ref().map(|configs| configs.repo.as_str());
        let all = [
            (source, "What an application team deploys"),
            (configs, "The values of its targets"),
            (Some(plan.gitops.repo.as_str()), "What clusters pull"),
        ];
        let prefix = format!("{}/", self.base);
        let own = all.into_iter().filter_map(|(url, text)| Some((url.filter(|url| url.starts_with(&prefix))?, text)));
        let (all, is_private) = (&*own.collect::<Vec<_>>(), !options.host.public);
        hosting::create(&self.answer, self.token.as_deref(), NewRepositories { all, is_private })
    }
}

/// The answers of the options.
fn given(options: &AppInit, host: Option<&Host>) -> anyhow::Result<GivenAnswers> {
    let folder = std::path::absolute(&options.directory)?;
    let folder = folder.canonicalize().unwrap_or(folder);
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let repository = |text: &Option<String>| text.as_deref().map(|text| from_folder(&folder, text)).transpose();
    Ok(GivenAnswers {
        folder_name: name,
        workload: options.workload.clone(),
        workspace: options.workspace.clone(),
        environments: options.environments.clone(),
        targets: options.targets.clone(),
        source: options.source.map(|source| match source {
            AppSource::Chart => NewSourceKind::Chart,
            AppSource::Kustomize => NewSourceKind::Kustomize,
            AppSource::Manifests => NewSourceKind::Manifests,
        }),
        configs: repository(&options.configs)?,
        gitops: repository(&options.gitops)?,
        is_like_microsoft: options.like == Some(AppLikeness::Microsoft),
        host_base: host.map(|host| host.base.clone()),
        host: host.map(|host| host.answer.entry(format!("{}/", host.base))),
    })
}

/// A repository as the configuration file names it: a path starts from its folder.
fn from_folder(folder: &Path, text: &str) -> anyhow::Result<String> {
    RepositoryUrl::from_configuration(text)
        .map_err(|error| Failure::usage(format!("`{text}` can't be used as a repository: {error}")))?;
    if !is_path(text) || Path::new(text).is_absolute() {
        return Ok(text.to_owned());
    }
    let path = std::path::absolute(text)?;
    let path = path.parent().and_then(|above| Some(above.canonicalize().ok()?.join(path.file_name()?))).unwrap_or(path);
    let shared = folder.components().zip(path.components()).take_while(|(left, right)| left == right).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    let relative: PathBuf = up.chain(path.components().skip(shared)).collect();
    let shown = relative.display().to_string();
    Ok(if shown.is_empty() { ".".to_owned() } else { shown })
}

/// Whether a repository is a path on this machine.
fn is_path(text: &str) -> bool {
    matches!(RepositoryUrl::from_object(text), Err(UrlError::Local))
}

fn plan_failure(error: &PlanError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match error {
        PlanError::Answer(error) => failure.help(error.help()),
        PlanError::Settings(problems) => match problems.first().and_then(|problem| problem.help.first()) {
            Some(help) => failure.help(help.clone()),
            None => failure,
        },
    }
}

/// Makes the repositories that are paths on this machine.
fn local_repositories(folder: &ApplicationFolder, plan: &ApplicationPlan, made: &mut Made) -> Result<(), Failure> {
    if let Some(configs) = plan.configs.as_ref().filter(|configs| is_path(&configs.repo)) {
        let first = configs.branches.first().map(|branch| branch.name.as_str());
        folder.repository(&configs.repo, first, made)?;
    }
    // A GitOps repository that is the source's is made with it.
    if is_path(&plan.gitops.repo) && plan.gitops.repo != "." {
        folder.repository(&plan.gitops.repo, None, made)?;
    }
    Ok(())
}

/// Makes the branches of the other repositories, or adds what they do not have.
fn complete_branches(folder: &Path, plan: &ApplicationPlan, made: &mut Made) -> anyhow::Result<()> {
    let folder = std::fs::canonicalize(folder)?;
    let mut access = configuration::read_application(&folder.join(FILE_NAME), &folder)?;
    for RepositoryBranches { repo, branches } in plan.configs.iter().chain([&plan.gitops]) {
        access.hosts(repo)?;
        let repositories = GitRepositories::new(access.git.clone());
        let person = author(&access.git);
        let author = BranchAuthor { person: &person, seconds: jiff::Timestamp::now().as_second() };
        let url = repository_url(repo).map_err(failure)?;
        for branch in branches {
            let done = complete(&repositories, &url, branch, author).map_err(branch_failure)?;
            let name = format!("{repo}: {}", branch.name);
            match done {
                BranchCompletion::New => made.add(name, true),
                BranchCompletion::Added(files) => made.add(format!("{name}: {}", files.join(", ")), true),
                BranchCompletion::Complete => made.add(name, false),
            }
        }
    }
    Ok(())
}

fn branch_failure(error: BranchError) -> anyhow::Error {
    let message = error.to_string();
    match error {
        BranchError::Repository(error) => failure(error.into()),
        BranchError::LostRace(_) | BranchError::Open(_) => Failure::outside(message).help("try again").into(),
        BranchError::InTheWay { .. } => {
            Failure::refused(message).help("move it away, then run `app init` again").into()
        }
    }
}
