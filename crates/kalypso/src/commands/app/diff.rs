//! `kalypso app diff`: what a deployment would change, object by object.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use application::deployment::DeployedBranch;
use application::difference::{ObjectChange, ObjectChangeKind, difference};
use application::manifests::ManifestObject;
use application::project::Project;
use application::render::{InputsId, PreparedTargets, RenderedTarget, Rendering, TargetState};
use application::settings::FILE_NAME;
use application::values::TargetPath;
use git::Commit;
use model::count::count;
use serde::Serialize;
use utoipa::ToSchema;

use super::known::AskedVersion;
use super::reading::{AskedEnvironment, Environment, Reading, Tools, render_failure, report};
use crate::arguments::{AppDiff, Format, PlanFormat};
use crate::exit::{Exit, Failure};
use crate::pull_request_comment::PullRequestComment;
use crate::{reporting, terminal};

/// What a deployment would change.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplicationDifference {
    /// The environment.
    environment: String,
    /// The version that is compared.
    version: String,
    /// What it is compared with: a commit of the source, or the GitOps branch.
    against: String,
    /// The targets with changes.
    targets: Vec<TargetDifference>,
    /// The number of targets without changes.
    unchanged: usize,
}

/// The changes of a target.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TargetDifference {
    /// The target.
    target: String,
    /// What happens to it. None: an error stops it.
    change: Option<ObjectChangeKind>,
    /// The changed objects.
    objects: Vec<ObjectChange>,
}

pub(super) fn run(options: &AppDiff) -> anyhow::Result<Exit> {
    let mut reading = Reading::new(&options.app)?.with_pinning(&options.pinning);
    let project = reading.project(&reading.state(options.release.commit.as_deref())?)?;
    let settings = super::reading::environment(&project, &options.environment)?;
    // Two commits of the source are compared without the GitOps repository.
    let deployed = options.against.is_none().then(|| reading.deployed(&project, settings)).transpose()?;
    let asked = deployed.as_ref().map(|(branch, _)| AskedVersion {
        project: &project,
        environment: settings,
        branch,
        options: &options.release,
    });
    let known = asked.map(|asked| asked.known(&reading)).transpose()?.flatten();
    let tools = Tools::new(&reading, &project)?;
    let environment = Environment::read(
        &reading,
        &project,
        AskedEnvironment {
            name: &options.environment,
            release: &options.release,
            known: known.as_ref(),
            tools: &tools,
        },
    )?;
    let comparing = Comparing { reading: &reading, project: &project, environment: &environment, tools: &tools };
    let (rendering, before, against) = match (&options.against, &deployed) {
        (None, Some((branch, head))) => comparing.with_branch(branch, head.as_ref())?,
        (revision, _) => comparing.with_commit(options, revision.as_deref().unwrap_or("HEAD"))?,
    };
    let report = report(&rendering.files, &rendering.diagnostics);
    reporting::to_stderr(&report)?;
    let (targets, unchanged) = differences(&before, &rendering.targets);
    let version = environment.provenance.version.to_string();
    let answer =
        ApplicationDifference { environment: options.environment.clone(), version, against, targets, unchanged };
    if let Some(number) = options.comment {
        comment(&mut reading, &project, (number, &answer))?;
    }
    match options.output {
        PlanFormat::Human => terminal::answer(&human(&answer))?,
        PlanFormat::Markdown => terminal::answer(&markdown(&answer))?,
        PlanFormat::Json => terminal::answer(&terminal::structured(&answer, Format::Json))?,
        PlanFormat::Yaml => terminal::answer(&terminal::structured(&answer, Format::Yaml))?,
    }
    Ok(Exit::Good.unless(report.has_problems(false)))
}

/// Writes the differences as a comment on a pull request of the source.
fn comment(
    reading: &mut Reading,
    project: &Project,
    (number, answer): (u64, &ApplicationDifference),
) -> anyhow::Result<()> {
    let names = project.source_names();
    let repository = if names.repo.is_empty() { reading.origin().unwrap_or_default() } else { names.repo };
    let hosts = reading.access.hosts(&repository)?.unwrap_or_default();
    let (workload, environment) = (&project.workload.name, &answer.environment);
    let comment = PullRequestComment {
        repository: &repository,
        number,
        about: &format!("the differences of {workload} in {environment}"),
        marker: &format!("kalypso app diff {workload} {environment}"),
        configuration: FILE_NAME,
    };
    comment.write(&hosts, &markdown(answer))
}

/// The objects of each target before the change. None: those of a target whose manifests do not change.
pub(super) type Before = BTreeMap<TargetPath, Option<Vec<ManifestObject>>>;

struct Comparing<'a> {
    reading: &'a Reading,
    project: &'a Project,
    environment: &'a Environment,
    tools: &'a Tools,
}

impl Comparing<'_> {
    /// Renders what differs from another commit of the source. Only targets with other inputs are rendered, in both states.
    fn with_commit(&self, options: &AppDiff, revision: &str) -> anyhow::Result<(Rendering, Before, String)> {
        let commit = self.reading.commit(revision)?;
        let other = self.reading.project(&self.reading.state(Some(revision))?)?;
        // Both states have the version of the options.
        let asked =
            AskedEnvironment { name: &options.environment, release: &options.release, known: None, tools: self.tools };
        let environment = Environment::read(self.reading, &other, asked)?;
        let (before, after) = (environment.prepared(&other), self.environment.prepared(self.project));
        let (after, before) = rendered(before, after, self.tools)?;
        Ok((after, before, format!("{revision} ({})", commit.id.short())))
    }

    /// Renders what differs from the GitOps branch.
    fn with_branch(
        &self,
        branch: &DeployedBranch,
        head: Option<&Commit>,
    ) -> anyhow::Result<(Rendering, Before, String)> {
        let workload = self.project.workload.name.as_str();
        let deployed: BTreeMap<_, _> = branch.of(workload, &self.environment.settings.environment).collect();
        let prepared = self.environment.prepared(self.project);
        let is_same = |path: &TargetPath, inputs: Option<&InputsId>| {
            deployed.get(path).is_some_and(|target| target.edited.is_empty() && target.inputs.as_ref() == inputs)
        };
        let mut before = Before::new();
        for path in deployed.keys() {
            let target = prepared.targets().iter().find(|target| target.path == **path);
            let objects = match head {
                Some(head) if !target.is_some_and(|target| is_same(path, target.inputs.as_ref())) => {
                    let objects = branch.objects(&self.reading.repositories, head, path);
                    Some(objects.map_err(|error| Failure::outside(error.to_string()))?)
                }
                _ => None,
            };
            before.insert((*path).clone(), objects);
        }
        let rendering = prepared.render(&self.tools.programs, &|target| is_same(&target.path, target.inputs.as_ref()));
        let names = self.project.names(&self.environment.settings);
        let against = format!("branch {} of the GitOps repository", self.project.settings.gitops.branch.text(names));
        Ok((rendering.map_err(|error| render_failure(&error))?, before, against))
    }
}

/// Renders two states of an environment. Only targets with other inputs are rendered, in both states.
pub(super) fn rendered(
    before: PreparedTargets<'_>,
    after: PreparedTargets<'_>,
    tools: &Tools,
) -> anyhow::Result<(Rendering, Before)> {
    let inputs = |targets: &[application::render::PreparedTarget]| {
        targets
            .iter()
            .filter_map(|target| Some((target.path.clone(), target.inputs.clone()?)))
            .collect::<BTreeMap<_, InputsId>>()
    };
    let (old, new) = (inputs(before.targets()), inputs(after.targets()));
    let is_same = |path: &TargetPath| old.contains_key(path) && old.get(path) == new.get(path);
    let before = before.render(&tools.programs, &|target| is_same(&target.path));
    let after = after.render(&tools.programs, &|target| is_same(&target.path));
    let (before, after) =
        (before.map_err(|error| render_failure(&error))?, after.map_err(|error| render_failure(&error))?);
    let before = before.targets.into_iter().map(|target| match target.state {
        TargetState::Rendered(manifests) => (target.path, Some(manifests.objects)),
        TargetState::Known => (target.path, None),
        TargetState::Failed => (target.path, Some(Vec::new())),
    });
    let before = before.collect();
    Ok((after, before))
}

/// The targets with changes, and the number of those without.
pub(super) fn differences(before: &Before, after: &[RenderedTarget]) -> (Vec<TargetDifference>, usize) {
    let after: BTreeMap<_, _> = after.iter().map(|target| (&target.path, &target.state)).collect();
    let paths: BTreeSet<_> = before.keys().chain(after.keys().copied()).collect();
    let count = paths.len();
    let changed = paths.into_iter().filter_map(|path| {
        let old = before.get(path);
        let objects = |change, objects: Vec<ObjectChange>| Some((Some(change), objects));
        let (change, objects) = match (old, after.get(path)) {
            (_, Some(TargetState::Failed)) => Some((None, Vec::new())),
            (Some(None), _) | (_, Some(TargetState::Known)) | (None, None) => None,
            (Some(Some(old)), None) => objects(ObjectChangeKind::Removed, difference(old, &[])),
            (None, Some(TargetState::Rendered(new))) => objects(ObjectChangeKind::Added, difference(&[], &new.objects)),
            (Some(Some(old)), Some(TargetState::Rendered(new))) => {
                objects(ObjectChangeKind::Changed, difference(old, &new.objects))
                    .filter(|(_, objects)| !objects.is_empty())
            }
        }?;
        Some(TargetDifference { target: path.to_string(), change, objects })
    });
    let changed: Vec<_> = changed.collect();
    let unchanged = count - changed.len();
    (changed, unchanged)
}

fn heading(answer: &ApplicationDifference) -> String {
    let ApplicationDifference { environment, version, against, targets, unchanged } = answer;
    format!("{version} in {environment}, compared with {against}: {}", counts(targets.len(), *unchanged))
}

/// How many targets change, in words.
pub(super) fn counts(changed: usize, unchanged: usize) -> String {
    let changed = match changed {
        0 => "nothing changes".to_owned(),
        1 => "1 target changes".to_owned(),
        more => format!("{more} targets change"),
    };
    format!("{changed}, {unchanged} unchanged")
}

fn human(answer: &ApplicationDifference) -> String {
    format!("{}\n{}", heading(answer), changes(&answer.targets))
}

/// The changes of targets, object by object and field by field.
pub(super) fn changes(targets: &[TargetDifference]) -> String {
    let mut text = String::new();
    for TargetDifference { target, change, objects } in targets {
        let sign = change.map_or('!', ObjectChangeKind::sign);
        let end = if change.is_none() { "   not rendered, because of an error" } else { "" };
        let _ = writeln!(text, "\n  {sign} {target}{end}");
        for object in objects {
            let _ = writeln!(text, "      {} {}", object.change.sign(), name(object));
            for field in &object.fields {
                let value = |value: &Option<String>| {
                    value.as_ref().map_or_else(|| "(none)".to_owned(), |value| value.escape_debug().to_string())
                };
                let _ = writeln!(text, "          {}  {} → {}", field.path, value(&field.before), value(&field.after));
            }
        }
    }
    text
}

fn name(object: &ObjectChange) -> String {
    let namespace = if object.namespace.is_empty() { String::new() } else { format!("{}/", object.namespace) };
    format!("{} {namespace}{}", object.kind, object.name)
}

fn markdown(answer: &ApplicationDifference) -> String {
    let mut text = format!("**{}**\n", heading(answer));
    for TargetDifference { target, change, objects } in &answer.targets {
        let word = match change {
            Some(ObjectChangeKind::Added) => "new",
            Some(ObjectChangeKind::Changed) => "changed",
            Some(ObjectChangeKind::Removed) => "removed",
            None => "not rendered, because of an error",
        };
        let _ = writeln!(
            text,
            "\n<details><summary>{target}: {word}, {}</summary>\n\n```diff",
            count(objects.len(), "object")
        );
        for object in objects {
            let sign = match object.change {
                ObjectChangeKind::Changed => ' ',
                other => other.sign(),
            };
            let _ = writeln!(text, "{sign} {}", name(object));
            for field in &object.fields {
                let line = |sign: char, value: &Option<String>| {
                    value.as_ref().map(|value| format!("{sign}   {}: {}\n", field.path, value.escape_debug()))
                };
                text.extend([line('-', &field.before), line('+', &field.after)].into_iter().flatten());
            }
        }
        text.push_str("```\n\n</details>\n");
    }
    text
}
