//! `kalypso plan`: the changes that a publication would make in the GitOps branch, by assignment and by value.

mod comment;
mod diff;
mod stats;
pub(super) mod summary;

use std::fmt::Write as _;
use std::sync::Arc;

use delivery::access::{RepositoryAccess, SharedRepositories};
use delivery::output::changes::markdown::{self, PlanText};
use delivery::output::compilation::{CompiledEnvironment, reuse};
use delivery::output::planned::{Earlier, GitOpsDestination, Planned, first_layout, planned_targets};
use delivery::output::selection::ChangeSelection;
use delivery::publication::enforcement::{self, NotAdmitted};
use delivery::sources::loaded::Loaded;
use engine::compile::Compiled;
use git::GitRepositories;
use model::diagnostic::Diagnostic;
use model::tree::{OpenError, Tree};
use workbench::EnvironmentSource;
use workbench::answers::all_environments::AllEnvironments;
use workbench::answers::plan::{EnvironmentPlans, PlanSelection, PlanView, PlannedEnvironment, plan_diagnostics};
use workbench::change::{self, EnvironmentChange, Side};
use workbench::diagnostics::{DiagnosticBatch, DiagnosticReport};
use workbench::source::check_complete;
use workbench::working_trees::WorkingTrees;

use crate::arguments::{self, Format, PlanFormat};
use crate::diagnostics::reuse_text;
use crate::exit::{Exit, Failure};
use crate::progress::Watch;
use crate::refused_commits;
use crate::states::PatchFile;
use crate::{compiling, configuration, folder, loading, not_admitted, paint, reporting, states, terminal};

/// The maximum length of all plans in Markdown: what the comments of all git hosts can have.
const MARKDOWN_CHARACTERS_MAX: usize = 60_000;

pub(super) fn run(options: &arguments::Plan) -> anyhow::Result<Exit> {
    let plans = Plans::open(options)?;
    if let Some(name) = &options.of.environment {
        let (exit, answer) = plans.one(name)?;
        if let (Some(answer), Some(format)) = (answer, format(options)) {
            terminal::answer(&terminal::structured(&answer, format))?;
        }
        return Ok(exit);
    }
    plans.all()
}

/// The format for programs. None for people.
fn format(options: &arguments::Plan) -> Option<Format> {
    match options.output {
        PlanFormat::Human | PlanFormat::Markdown => None,
        PlanFormat::Json => Some(Format::Json),
        PlanFormat::Yaml => Some(Format::Yaml),
    }
}

/// What the plans of all environments have in common.
struct Plans<'a> {
    options: &'a arguments::Plan,
    selection: PlanSelection,
    /// The working trees, and access to the control plane with their content.
    trees: Option<(WorkingTrees, Arc<RepositoryAccess>)>,
    /// The patch. It is read once, because standard input ends.
    patch: Option<PatchFile>,
}

impl<'a> Plans<'a> {
    fn open(options: &'a arguments::Plan) -> anyhow::Result<Self> {
        let selection = selection(options)?;
        let patch = options.patch.as_deref().map(PatchFile::read).transpose()?;
        let Some(folder) = &options.working_tree else { return Ok(Self { options, selection, trees: None, patch }) };
        let watch = Watch::start();
        let access = loading::access(options.source.config.as_deref(), watch.progress())?;
        let trees = states::working_trees(&access, folder.as_deref())?;
        let with_trees = trees.access(&access);
        Ok(Self { options, selection, trees: Some((trees, with_trees)), patch })
    }

    /// Plans all environments. An error of one of them does not affect the others.
    fn all(&self) -> anyhow::Result<Exit> {
        let options = self.options;
        let (mut all, mut is_pending, mut has_problems) = (AllEnvironments::default(), false, false);
        for (position, name) in self.names()?.iter().enumerate() {
            if position > 0 && format(options).is_none() {
                terminal::answer("\n")?;
            }
            match self.one(name) {
                Ok((exit, answer)) => {
                    is_pending |= exit == Exit::Pending;
                    has_problems |= exit == Exit::Problems;
                    all.add(name, answer, None);
                }
                Err(error) => {
                    reporting::reasons_to_stderr(&error)?;
                    terminal::warn(&format!("{name} could not be planned: {error}"));
                    all.add(name, None, Some(error.to_string()));
                }
            }
        }
        if let Some(format) = format(options) {
            terminal::answer(&terminal::structured(&all, format))?;
        }
        all.check("planned")?;
        let exit = if is_pending { Exit::Pending } else { Exit::Good };
        Ok(exit.unless(has_problems))
    }

    fn names(&self) -> anyhow::Result<Vec<String>> {
        let source = match &self.trees {
            Some((_, access)) => EnvironmentSource::ControlPlane(Arc::clone(access)),
            None => loading::source(&self.options.source, Watch::start().progress())?,
        };
        Ok(source.environment_names()?.iter().map(ToString::to_string).collect())
    }

    /// Plans one environment. Returns the answer for programs.
    fn one(&self, environment: &str) -> anyhow::Result<(Exit, Option<EnvironmentPlans>)> {
        let (options, watch) = (self.options, Watch::start());
        let source = &loading::source(&options.source, watch.progress())?;
        let side = if options.of.all { Side::Main } else { Side::Any };
        if let Some(text) = &options.commit {
            let change = change::of_commits(source, (environment, side), text)?;
            return self.between(&change, watch);
        }
        if let Some(patch) = &self.patch {
            let change = change::of_patch(source, (environment, side), patch.text())?;
            return self.between(&change, watch);
        }
        if let Some((trees, _)) = &self.trees
            && source.environment_names()?.iter().any(|name| name.as_str() == environment)
        {
            let change = change::of_working_trees(source, environment, trees)?;
            return self.between(&change, watch);
        }
        self.against_branches(self.read(source, environment)?, watch)
    }

    /// Compares an environment with its GitOps branches.
    fn against_branches(&self, loaded: Loaded, mut watch: Watch) -> anyhow::Result<(Exit, Option<EnvironmentPlans>)> {
        let options = self.options;
        let (compiled, mut known) = compiling::begin(&loaded, watch.progress());
        let compiled = Arc::new(compiled);
        let not_admitted = enforcement::not_admitted(&loaded);
        // With `--head`, gates do not count.
        let gates = if options.head.head { Vec::new() } else { refused_commits::diagnostics(&loaded) };
        let gates: Vec<_> = gates.into_iter().chain(not_admitted::diagnostics(&not_admitted)).collect();
        let mut report = self.report();
        let mut answers = Vec::new();
        let adopt = options.adopt.folders();
        for destination in destinations(options, &loaded)? {
            let environment = CompiledEnvironment { compiled: &compiled, known: &mut known };
            let planned = Planned::new(&loaded, environment, destination, &adopt)?;
            let diagnostics = plan_diagnostics(&loaded, &planned, &gates);
            report.add_problems(&loaded, DiagnosticBatch::of_plan(&diagnostics, &planned));
            answers.push(planned);
        }
        watch.end();
        let selection = &self.selection;
        let answer = PlanAnswer {
            selection,
            loaded: &loaded,
            compiled: &compiled,
            change: None,
            report: &report,
            gates: &gates,
            not_admitted: &not_admitted,
        };
        answer.show(options, &answers)
    }

    /// Reads an environment as `publish` does, if its output is pushed to a branch.
    fn read(&self, source: &EnvironmentSource, environment: &str) -> anyhow::Result<Loaded> {
        let options = self.options;
        if let Some((_, access)) = &self.trees {
            // The environment exists only in a working tree.
            return Ok(EnvironmentSource::ControlPlane(Arc::clone(access)).for_publication(environment, None)?);
        }
        if options.source.from.is_some() || options.against.is_some() || options.head.head {
            return Ok(source.environment(environment, options.head.at())?);
        }
        Ok(source.for_publication(environment, options.gitops_repo.as_deref())?)
    }

    /// Reads two states of the control plane. Both are compiled from their sources.
    fn between(
        &self,
        change: &EnvironmentChange,
        mut watch: Watch,
    ) -> anyhow::Result<(Exit, Option<EnvironmentPlans>)> {
        check_complete(&change.old)?;
        check_complete(&change.new)?;
        let loaded = &*change.new;
        let [earlier, compiled] = compiling::compile_both(&change.old, loaded, watch.progress());
        let compiled = Arc::new(compiled);
        let earlier = Earlier { loaded: Arc::clone(&change.old), compiled: earlier };
        let planned = Planned::between(earlier, (loaded, &compiled), &change.from)?;
        let gates = refused_commits::diagnostics(loaded);
        let diagnostics = plan_diagnostics(loaded, &planned, &gates);
        let mut report = self.report();
        report.add_problems(loaded, DiagnosticBatch::of_plan(&diagnostics, &planned));
        watch.end();
        let selection = &self.selection;
        let answer = PlanAnswer {
            selection,
            loaded,
            compiled: &compiled,
            change: Some(change),
            report: &report,
            gates: &gates,
            not_admitted: &[],
        };
        answer.show(self.options, &[planned])
    }

    fn report<'r>(&self) -> DiagnosticReport<'r> {
        DiagnosticReport::new().checked_out(self.trees.as_ref().map(|(trees, _)| trees.checkouts()).unwrap_or_default())
    }
}

/// The options that select changes.
fn selection(options: &arguments::Plan) -> Result<PlanSelection, Failure> {
    let selector = loading::selector("--selector", options.selector.as_deref().unwrap_or_default())?;
    let (workload, cluster_type) = (options.workload.clone(), options.cluster_type.clone());
    Ok(PlanSelection { selected: ChangeSelection { workload, cluster_type, selector }, limit: options.limit })
}

/// The output, except for the plans.
struct PlanAnswer<'a> {
    selection: &'a PlanSelection,
    loaded: &'a Loaded,
    compiled: &'a Compiled,
    change: Option<&'a EnvironmentChange>,
    report: &'a DiagnosticReport<'a>,
    /// What the gates before the environment refuse.
    gates: &'a [Diagnostic],
    /// What was not admitted into the environment, and is not in the plan.
    not_admitted: &'a [NotAdmitted],
}

impl PlanAnswer<'_> {
    /// Prints the plans for people, or returns the answer for programs.
    fn show(&self, options: &arguments::Plan, answers: &[Planned]) -> anyhow::Result<(Exit, Option<EnvironmentPlans>)> {
        // Of all environments, only some may have it.
        let one = options.of.environment.as_deref().map(|environment| (environment, answers));
        if let Some(failure) = one.and_then(|answers| self.selection.unknown(answers)) {
            return Err(failure.into());
        }
        let views: Vec<_> = answers.iter().map(|planned| self.selection.view(planned)).collect();
        if let Some(number) = options.comment {
            comment::write(options, number, (self.loaded, &self.markdown(answers)))?;
        }
        let mut structured = None;
        match format(options) {
            None if options.output == PlanFormat::Markdown => terminal::answer(&self.markdown(answers))?,
            None => {
                reporting::to_stderr(self.report)?;
                let texts = views.iter().map(|view| text(view, self, options));
                let mut texts = texts.collect::<Result<Vec<_>, _>>()?.join("\n");
                texts.push_str(&self.waits());
                let _ = writeln!(texts, "\n  {}", reuse_text(reuse([self.compiled])));
                if options.stats {
                    texts.push_str(&stats::text(&self.compiled.last_update().work));
                }
                // Lines of differences are lines of files, so they are not wrapped.
                let answer = if options.diff { terminal::answer_painted } else { terminal::answer_fitted };
                answer(&texts, paint::plan)?;
            }
            Some(_) => {
                let of = PlannedEnvironment {
                    loaded: self.loaded,
                    compiled: self.compiled,
                    change: self.change,
                    not_admitted: self.not_admitted,
                };
                structured = Some(EnvironmentPlans::new(of, &views, options.diff, self.report)?);
            }
        }
        let pending = answers.iter().any(|planned| !planned.plan.is_empty());
        let exit = if pending { Exit::Pending } else { Exit::Good };
        Ok((exit.unless(self.report.has_problems(options.source.strict)), structured))
    }

    /// The plans as Markdown, with the titles of their places.
    fn markdown(&self, answers: &[Planned]) -> String {
        let each = answers.iter().map(|planned| {
            let view = self.selection.view(planned);
            let diagnostics = plan_diagnostics(self.loaded, planned, self.gates);
            let (loaded, changes) = (self.loaded, &*view.changes);
            let plan = PlanText { loaded, planned, changes, diagnostics: &diagnostics };
            format!(
                "## {}\n\n{}",
                markdown::code(&self.title(planned)),
                plan.markdown(MARKDOWN_CHARACTERS_MAX / answers.len().max(1))
            )
        });
        let mut text = each.collect::<Vec<_>>().join("\n");
        text.push_str(&not_admitted::markdown(self.not_admitted));
        if let Some(gates) = self.change.and_then(EnvironmentChange::gates) {
            let _ = writeln!(text, "\n{gates}");
        }
        text
    }

    /// What is not admitted; or the gates that the proposed change waits for when it is merged.
    fn waits(&self) -> String {
        let gates = self.change.and_then(EnvironmentChange::gates);
        gates.map_or_else(|| not_admitted::text(self.not_admitted), |gates| format!("\n  {gates}\n"))
    }

    fn title(&self, planned: &Planned) -> String {
        match self.change {
            Some(change) => change.title(),
            None => format!("{} → {}", self.loaded.title(), planned.target.branch.name),
        }
    }
}

/// The plan for one place, as text.
fn text(view: &PlanView<'_>, told: &PlanAnswer<'_>, options: &arguments::Plan) -> Result<String, OpenError> {
    let (planned, loaded) = (view.planned, told.loaded);
    let mut text = format!("{}\n\n{}", told.title(planned), summary::text(view, loaded, &filters(options)));
    if options.diff {
        text.push('\n');
        text.push_str(&diff::text(view)?);
    } else if summary::is_long(view) {
        text.push_str("\n  --workload, --cluster-type and --selector show a part, --diff every file\n");
    } else if !planned.plan.is_empty() {
        text.push_str("\n  --diff shows every file\n");
    }
    Ok(text)
}

/// The selecting options as they were typed. Empty if all changes are selected.
fn filters(options: &arguments::Plan) -> String {
    let arguments::Plan { workload, cluster_type, selector, .. } = options;
    let options = [("--workload", workload), ("--cluster-type", cluster_type), ("--selector", selector)];
    let words = options.iter().filter_map(|(option, value)| Some(format!("{option} {}", value.as_ref()?)));
    words.collect::<Vec<_>>().join(" ")
}

fn destinations(options: &arguments::Plan, loaded: &Loaded) -> anyhow::Result<Vec<GitOpsDestination>> {
    if let Some(against) = &options.against {
        if !against.is_dir() {
            return Err(Failure::usage(format!("`{}` is not a folder", against.display())).into());
        }
        let tree = folder::read(against)?;
        return Ok(vec![GitOpsDestination::of_tree(&against.display().to_string(), tree, first_layout(loaded)?)]);
    }
    let is_directory = options.source.from.is_some();
    if is_directory && loaded.fleet.gitops_repos.is_empty() {
        return Ok(vec![GitOpsDestination::of_tree("nothing", Tree::default(), Default::default())]);
    }
    let repositories = is_directory.then(repositories).transpose()?;
    Ok(planned_targets(loaded, options.gitops_repo.as_deref(), repositories.as_ref())?)
}

/// The repositories that a plain directory refers to, without a configuration file.
fn repositories() -> anyhow::Result<SharedRepositories> {
    Ok(Arc::new(GitRepositories::new(configuration::git_without_file()?)))
}
