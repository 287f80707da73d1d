//! `kalypso app deploy`: writes the manifests of an application to the GitOps repository.

use application::deployment::{
    DeployedBranch, DeploymentPlan, DescriptorPlace, PlanOptions, PlanRequest, TargetAction, commit_message,
    pull_request_body, trailers,
};
use application::project::{Project, SourceState, repository_url};
use application::settings::{DeliveryMode, PatternNames};
use delivery::pull_requests::change_proposal::{self, ChangeProposal, ChangeProposalError};
use git::{Commit, NewCommit, Push, Pushed, Repositories, Revision, opener};
use model::count::count;
use model::diagnostic::Diagnostic;
use model::git_id::GitId;
use model::progress::Progress;
use model::tree::{Tree, closed};
use serde::Serialize;
use utoipa::ToSchema;
use workbench::branch::{ProposalResult, author, proposal_failure};

use super::reading::{AskedEnvironment, Environment, Reading, Tools, environment, failure, render_failure, report};
use crate::arguments::{AppDeploy, AppRelease, Format};
use crate::exit::{Exit, Failure};
use crate::{reporting, terminal};

/// How often a deployment starts again because another program pushed.
const ATTEMPTS: usize = 5;

/// How many commits back the deployed commit is searched.
const HISTORY_MAX: usize = 10_000;

/// A deployment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplicationDeployment {
    /// The environment.
    environment: String,
    /// The version.
    version: String,
    /// The commit of the source.
    commit: String,
    /// The targets, with what happens to them.
    targets: Vec<DeployedTargetFields>,
    /// The commit in the GitOps repository. None: nothing was pushed.
    pushed: Option<String>,
    /// The branch that it was pushed to.
    branch: Option<String>,
    /// The page of the pull request.
    pull_request: Option<String>,
}

/// A target of a deployment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DeployedTargetFields {
    /// The target.
    target: String,
    /// What happens to it: `new`, `changed`, `version`, `unchanged`, `removed` or `kept`.
    change: String,
    /// The version that was deployed before.
    before: Option<String>,
}

pub(super) fn run(options: &AppDeploy) -> anyhow::Result<Exit> {
    let mut reading = Reading::new(&options.app)?;
    for _ in 0..ATTEMPTS {
        if let Some(exit) = attempt(&mut reading, options)? {
            return Ok(exit);
        }
    }
    let message = "other programs pushed to the GitOps branch all the time, so nothing was deployed";
    Err(Failure::outside(message).help("try again").into())
}

/// What is deployed: a project at a commit, and its version.
struct Release {
    project: Project,
    version: String,
    branch: DeployedBranch,
    head: Option<Commit>,
}

impl Release {
    /// A new version from a commit, or what is deployed now with the newest values.
    fn read(reading: &Reading, options: &AppDeploy) -> anyhow::Result<Self> {
        let AppRelease { version, commit, .. } = &options.release;
        let newest = reading.project(&reading.state(Some(commit.as_deref().unwrap_or("HEAD")))?)?;
        let settings = environment(&newest, &options.environment)?;
        let (branch, head) = reading.deployed(&newest, settings)?;
        if let Some(version) = version {
            return Ok(Self { project: newest, version: version.clone(), branch, head });
        }
        if commit.is_some() {
            return Err(Failure::usage("--commit needs --version: the version of that commit").into());
        }
        let workload = newest.workload.name.as_str();
        let Some((version, commit)) = branch.release(workload, &settings.environment) else {
            let message = format!(
                "nothing of `{workload}` is deployed in `{}` yet, or its targets have different versions",
                settings.name
            );
            return Err(Failure::usage(message).help("give the version: --version 1.0.0").into());
        };
        let id = GitId::from_hex(&commit).ok_or_else(|| {
            Failure::refused(format!("the deployed commit `{commit}` is no commit"))
                .help("give the version: --version 1.0.0")
        })?;
        let state = SourceState::Commit(Revision::Commit { id, branch: None });
        let project = reading.project(&state)?.with_values_of(&newest);
        Ok(Self { project, version, branch, head })
    }
}

/// One attempt. None: another program pushed at the same time.
fn attempt(reading: &mut Reading, options: &AppDeploy) -> anyhow::Result<Option<Exit>> {
    let release = Release::read(reading, options)?;
    let project = &release.project;
    let hosts = reading.access.hosts(&project.settings.gitops.repo)?;
    let tools = Tools::new(project)?;
    let environment = Environment::read(
        reading,
        project,
        AskedEnvironment {
            name: &options.environment,
            release: &options.release,
            version: Some(&release.version),
            tools: &tools,
        },
    )?;
    check_age(reading, &release, (&environment, options))?;
    let known = |target: &application::render::PreparedTarget| {
        let deployed = release.branch.targets.get(&target.path);
        deployed.is_some_and(|deployed| deployed.edited.is_empty() && deployed.inputs == target.inputs)
    };
    let rendering = environment.prepared(project).render(&tools.programs, &known);
    let rendering = rendering.map_err(|error| render_failure(&error))?;
    let source = source(reading, project);
    let open: Box<model::tree::Open<'_>> = match &release.head {
        Some(head) => Box::new(opener(&reading.repositories, head)),
        None => Box::new(closed),
    };
    let request = PlanRequest {
        settings: &project.settings,
        settings_file: project.settings_file,
        environment: &environment.settings,
        workload: &project.workload,
        provenance: &environment.provenance,
        source: &source,
        targets: &rendering.targets,
        current: &release.branch,
        open: &*open,
        options: PlanOptions {
            adopt: options.permissions.adopt,
            overwrite: options.permissions.overwrite,
            confirm_removals: options.permissions.confirm_removals,
        },
    };
    let plan = DeploymentPlan::new(&request).map_err(|error| Failure::outside(error.to_string()))?;
    let diagnostics: Vec<Diagnostic> = rendering.diagnostics.iter().chain(&plan.problems).cloned().collect();
    let diagnostics = model::diagnostic::merged(diagnostics);
    let delivering =
        Delivering { reading, release: &release, environment: &environment, plan: &plan, hosts: hosts.as_ref() };
    let delivered = if options.dry_run || plan.edits.is_empty() { Delivered::Nothing } else { delivering.deliver()? };
    if matches!(delivered, Delivered::LostRace) {
        return Ok(None);
    }
    let report = report(&rendering.files, &diagnostics);
    reporting::to_stderr(&report)?;
    match options.output {
        Format::Human => terminal::answer(&delivering.text(&delivered, options.dry_run))?,
        format => terminal::answer(&terminal::structured(&delivering.answer(&delivered), format))?,
    }
    Ok(Some(Exit::Good.unless(report.has_problems(false))))
}

/// Refuses a commit that is older than the deployed one: two pipelines may run in any order.
fn check_age(
    reading: &Reading,
    release: &Release,
    (environment, options): (&Environment, &AppDeploy),
) -> anyhow::Result<()> {
    let own = environment.provenance.source;
    let workload = release.project.workload.name.as_str();
    let deployed = release.branch.release(workload, &environment.settings.environment);
    let Some(id) = deployed.and_then(|(_, commit)| GitId::from_hex(&commit)).filter(|id| *id != own && !options.older)
    else {
        return Ok(());
    };
    // A commit that is not there any more decides nothing.
    let Ok(deployed) = reading.commit(&id.to_string()) else { return Ok(()) };
    if !reading.repositories.is_ancestor(own, &deployed, HISTORY_MAX).unwrap_or(false) {
        return Ok(());
    }
    let message = format!(
        "commit {} is older than commit {}, which is deployed in `{}`",
        own.short(),
        id.short(),
        options.environment
    );
    Err(Failure::refused(message).help("another pipeline was faster; to go back, add --older").into())
}

/// The place of the source, as descriptors name it.
fn source(reading: &Reading, project: &Project) -> DescriptorPlace {
    let names = project.source_names();
    let repo = if names.repo.is_empty() { reading.origin().unwrap_or_default() } else { names.repo };
    DescriptorPlace { repo, branch: names.branch, path: format!("./{}", project.source_folder()) }
}

/// What was done.
enum Delivered {
    Nothing,
    /// A commit in the branch that reconcilers pull.
    Pushed(GitId, String),
    Proposed(Box<ProposalResult>),
    LostRace,
}

struct Delivering<'a> {
    reading: &'a Reading,
    release: &'a Release,
    environment: &'a Environment,
    plan: &'a DeploymentPlan,
    hosts: Option<&'a delivery::pull_requests::GitHosts>,
}

impl Delivering<'_> {
    fn deliver(&self) -> anyhow::Result<Delivered> {
        let Self { release, environment, plan, .. } = self;
        let Some(base) = self.base()? else { return Ok(Delivered::LostRace) };
        let workload = release.project.workload.name.as_str();
        let provenance = &environment.provenance;
        let commit = provenance.source.to_string();
        let names = PatternNames { commit: &commit, ..release.project.names(&environment.settings) };
        let branch = release.project.settings.gitops.proposing_branch.text(names);
        let trailers = trailers(workload, provenance);
        let trailers: Vec<_> = trailers.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let title = commit_message(workload, &environment.settings.name, plan, provenance);
        let is_new = release
            .branch
            .release(workload, &environment.settings.environment)
            .is_none_or(|(version, _)| version != release.version);
        let is_promoted = is_new && release.project.settings.output.tracking;
        let proposal = ChangeProposal {
            base: &base,
            branch: &branch,
            edits: &plan.edits,
            trailers: &trailers,
            labels: if is_promoted { &["promoted"] } else { &[] },
            title: &title,
            body: &|max| pull_request_body(plan, provenance, max),
            author: &author(&self.reading.access.git),
            seconds: jiff::Timestamp::now().as_second(),
        };
        let repositories = &self.reading.repositories;
        let delivered = match environment.settings.delivery {
            DeliveryMode::Push => change_proposal::commit(repositories, &proposal)
                .map(|commit| Delivered::Pushed(commit, base.revision.name().to_string())),
            DeliveryMode::PullRequest => change_proposal::propose(repositories, self.hosts, &proposal).map(|change| {
                let base = base.revision.name().to_string();
                Delivered::Proposed(Box::new(ProposalResult { branch: branch.clone(), base, change }))
            }),
        };
        match delivered {
            Err(ChangeProposalError::LostRace(_)) => Ok(Delivered::LostRace),
            delivered => Ok(delivered.map_err(proposal_failure)?),
        }
    }

    /// The head of the branch that reconcilers pull. A branch that never existed is created. None: another program was faster.
    fn base(&self) -> anyhow::Result<Option<Commit>> {
        if let Some(head) = &self.release.head {
            return Ok(Some(head.clone()));
        }
        let gitops = &self.release.project.settings.gitops;
        let url = repository_url(&gitops.repo).map_err(failure)?;
        let name = gitops.branch.text(self.release.project.names(&self.environment.settings));
        let revision = Revision::branch(&name);
        if !self.reading.repositories.seen(&url, &revision).is_empty() {
            let message = format!("branch `{name}` of {} was deleted", url.label());
            return Err(Failure::refused(message)
                .help(format!("push it again: `git push origin COMMIT:refs/heads/{name}`"))
                .into());
        }
        let message = format!("{name}: begin the branch\n");
        let commit = NewCommit {
            parents: &[],
            tree: &Tree::default(),
            open: &closed,
            message: &message,
            author: &author(&self.reading.access.git),
            seconds: jiff::Timestamp::now().as_second(),
            signer: None,
        };
        let push = Push { branch: &name, expected: None, commit: Some(commit), progress: &Progress::default() };
        let pushed = self.reading.repositories.push(&url, &push).map_err(|error| failure(error.into()))?;
        Ok(match pushed {
            Pushed::Moved(id) => Some(Commit { url, revision, id }),
            Pushed::Removed | Pushed::LostRace => None,
        })
    }

    fn text(&self, delivered: &Delivered, is_dry_run: bool) -> String {
        let Self { release, environment, plan, .. } = self;
        let workload = release.project.workload.name.as_str();
        let shown = plan.targets.iter().filter(|target| target.action != TargetAction::Unchanged);
        let rows = shown.map(|target| {
            let sign = match target.action {
                TargetAction::Added => "+",
                TargetAction::Changed | TargetAction::Described => "~",
                TargetAction::Removed => "-",
                TargetAction::Kept | TargetAction::Unchanged => "!",
            };
            let before = target.before.as_ref().map_or_else(String::new, |before| format!("was {before}"));
            [format!("{sign} {}", target.path), target.action.text().to_owned(), before]
        });
        let table = crate::table::indented(rows, 2);
        let unchanged = count(plan.count(TargetAction::Unchanged), "target");
        let heading =
            format!("{workload} {} in {}: {unchanged} unchanged\n", release.version, environment.settings.name);
        let end = match delivered {
            Delivered::Proposed(result) => result.text(),
            Delivered::Pushed(commit, branch) => format!("Pushed {} to {branch}\n", commit.short()),
            Delivered::Nothing if plan.is_refused => "Nothing was deployed\n".to_owned(),
            Delivered::Nothing if plan.edits.is_empty() => "Nothing to deploy\n".to_owned(),
            Delivered::Nothing if is_dry_run => {
                format!("{} would be written\n", count(plan.edits.iter().count(), "file"))
            }
            Delivered::Nothing | Delivered::LostRace => String::new(),
        };
        format!("{heading}{table}{end}")
    }

    fn answer(&self, delivered: &Delivered) -> ApplicationDeployment {
        let Self { release, environment, plan, .. } = self;
        let (pushed, branch, pull_request) = match delivered {
            Delivered::Pushed(commit, branch) => (Some(commit.to_string()), Some(branch.clone()), None),
            Delivered::Proposed(result) => {
                let link = result.change.pull_request.as_ref().and_then(|found| found.as_ref().ok()?.open());
                (Some(result.change.commit.to_string()), Some(result.branch.clone()), link.map(|link| link.url.clone()))
            }
            Delivered::Nothing | Delivered::LostRace => (None, None, None),
        };
        let target = |target: &application::deployment::TargetDeployment| DeployedTargetFields {
            target: target.path.to_string(),
            change: target.action.word().to_owned(),
            before: target.before.clone(),
        };
        ApplicationDeployment {
            environment: environment.settings.name.clone(),
            version: release.version.clone(),
            commit: environment.provenance.source.to_string(),
            targets: plan.targets.iter().map(target).collect(),
            pushed,
            branch,
            pull_request,
        }
    }
}
