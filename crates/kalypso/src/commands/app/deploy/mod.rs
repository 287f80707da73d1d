//! `kalypso app deploy`: writes the manifests of an application to the GitOps repository.

mod answer;
mod delivering;
mod release;

use std::path::Path;

use application::deployment::{DeploymentPlan, PlanOptions, PlanRequest, commit_message, trailers};
use application::render::PreparedTarget;
use application::settings::EnvironmentSettings;
use git::trailer::with_trailers;
use git::{Commit, opener};
use model::diagnostic::Diagnostic;
use model::source::Files;
use model::tree::{Open, closed};
use workbench::diagnostics::DiagnosticReport;

pub(crate) use self::answer::ApplicationDeployment;
use self::delivering::{Delivered, deliver};
use self::release::{Release, check_age, source};
use super::reading::{AskedEnvironment, Environment, Reading, Tools, add, environment, render_failure};
use crate::arguments::{AppDeploy, AppOptions, AppPermissions, AppPinning, AppRelease, Format};
use crate::demo::FirstDeployment;
use crate::exit::{Exit, Failure};
use crate::{reporting, terminal};

/// How often a deployment starts again because another program pushed.
const ATTEMPTS: usize = 5;

pub(super) fn run(options: &AppDeploy) -> anyhow::Result<Exit> {
    let mut reading = Reading::new(&options.app)?.with_pinning(&options.pinning);
    for _ in 0..ATTEMPTS {
        if let Some(exit) = attempt(&mut reading, options)? {
            return Ok(exit);
        }
    }
    let message = "other programs pushed to the GitOps branch all the time, so nothing was deployed";
    Err(Failure::outside(message).help("try again").into())
}

/// The planned deployment of one environment.
struct PlannedEnvironment {
    release: Release,
    environment: Environment,
    plan: DeploymentPlan,
    files: Files,
    diagnostics: Vec<Diagnostic>,
}

/// One attempt. None: another program pushed at the same time.
fn attempt(reading: &mut Reading, options: &AppDeploy) -> anyhow::Result<Option<Exit>> {
    let newest = reading.project(&reading.state(Some(options.release.commit.as_deref().unwrap_or("HEAD")))?)?;
    let environments = environments(&newest, options)?;
    let hosts = reading.access.hosts(&newest.settings.gitops.repo)?;
    let tools = Tools::new(reading, &newest)?;
    let mut planned = Vec::new();
    let planning = Planning { reading, options, tools: &tools };
    for name in &environments {
        planned.push(planning.plan(name, Release::read(reading, &newest, (name, options))?)?);
    }
    let is_quiet = options.dry_run || planned.iter().all(|one| one.plan.edits.is_empty());
    let delivered = if is_quiet { Delivered::Nothing } else { deliver(reading, &planned, hosts.as_ref())? };
    if matches!(delivered, Delivered::LostRace) {
        return Ok(None);
    }
    let mut report = DiagnosticReport::new();
    planned.iter().for_each(|one| add(&mut report, &one.files, &one.diagnostics));
    reporting::to_stderr(&report)?;
    match options.output {
        Format::Human => terminal::answer(&answer::text(&planned, &delivered, options.dry_run))?,
        format => {
            let answer = ApplicationDeployment::new(&planned, &delivered);
            terminal::answer(&terminal::structured(&answer, format))?;
        }
    }
    Ok(Some(Exit::Good.unless(report.has_problems(false))))
}

/// The environments to deploy: the named one, or all, if a promotion moves versions.
fn environments(project: &application::project::Project, options: &AppDeploy) -> Result<Vec<String>, Failure> {
    let settings = &project.settings;
    let is_new_version = options.release.version.is_some();
    match &options.environment {
        Some(name) => {
            let found = environment(project, name)?;
            if settings.is_promoted && is_new_version {
                let message =
                    format!("a promotion moves versions to `{}`, so it gets no version by itself", found.name);
                return Err(Failure::refused(message).help(
                    "deploy the version without -e: it is rendered for all environments, and moves through their gates",
                ));
            }
            Ok(vec![found.name.clone()])
        }
        None if settings.is_promoted => {
            Ok(settings.environments.iter().map(|EnvironmentSettings { name, .. }| name.clone()).collect())
        }
        None => {
            let names: Vec<_> = settings.environments.iter().map(|one| one.name.as_str()).collect();
            Err(Failure::usage("name the environment: -e ENV")
                .help(format!("the environments are {}", names.join(", "))))
        }
    }
}

/// Plans the first deployment of an environment: that of the commit that is checked out.
pub(crate) fn first_deployment(config: &Path, environment: &str, version: &str) -> anyhow::Result<FirstDeployment> {
    let options = AppDeploy {
        environment: Some(environment.to_owned()),
        release: AppRelease { version: Some(version.to_owned()), ..AppRelease::default() },
        pinning: AppPinning::default(),
        dry_run: true,
        permissions: AppPermissions { adopt: false, overwrite: false, confirm_removals: false },
        older: false,
        app: AppOptions { config: Some(config.to_owned()), access: None },
        output: Format::Human,
    };
    let reading = Reading::new(&options.app)?;
    let project = reading.project(&reading.state(Some("HEAD"))?)?;
    let tools = Tools::new(&reading, &project)?;
    let release = Release::read(&reading, &project, (environment, &options))?;
    let planned = Planning { reading: &reading, options: &options, tools: &tools }.plan(environment, release)?;
    let error = planned.diagnostics.iter().find(|problem| problem.is_error());
    if planned.plan.edits.is_empty() || error.is_some() {
        let problem = error.map_or("it has no targets", |error| &error.message);
        return Err(Failure::refused(format!("`{}` can't be deployed: {problem}", config.display())).into());
    }
    let workload = project.workload.name.as_str();
    let plans = [(environment, &planned.plan)];
    let trailers = trailers(workload, &plans, &planned.environment.provenance);
    let trailers: Vec<_> = trailers.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let title = commit_message(workload, &plans, &planned.environment.provenance);
    Ok(FirstDeployment { edits: planned.plan.edits, message: with_trailers(&title, &trailers) })
}

/// What the plans of all environments have in common.
#[derive(Clone, Copy)]
struct Planning<'a> {
    reading: &'a Reading,
    options: &'a AppDeploy,
    tools: &'a Tools,
}

impl Planning<'_> {
    /// Renders an environment, and plans its deployment.
    fn plan(self, name: &str, release: Release) -> anyhow::Result<PlannedEnvironment> {
        let Self { reading, options, tools } = self;
        let project = &release.project;
        let asked = AskedEnvironment { name, release: &options.release, known: release.known.as_ref(), tools };
        let environment = Environment::read(reading, project, asked)?;
        check_age(reading, &release, (&environment, options))?;
        let known = |target: &PreparedTarget| {
            let deployed = release.branch.targets.get(&target.path);
            deployed.is_some_and(|deployed| deployed.edited.is_empty() && deployed.inputs == target.inputs)
        };
        let rendering = environment.prepared(project).render(&tools.programs, &known);
        let rendering = rendering.map_err(|error| render_failure(&error))?;
        let source = source(reading, project);
        let open = opened(reading, release.head.as_ref());
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
        let diagnostics = rendering.diagnostics.iter().chain(&plan.problems).cloned().collect();
        let diagnostics = model::diagnostic::merged(diagnostics);
        drop(open);
        Ok(PlannedEnvironment { release, environment, plan, files: rendering.files, diagnostics })
    }
}

fn opened<'a>(reading: &'a Reading, head: Option<&'a Commit>) -> Box<Open<'a>> {
    match head {
        Some(head) => Box::new(opener(&reading.repositories, head)),
        None => Box::new(closed),
    }
}
