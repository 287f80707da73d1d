//! `kalypso plan`: what would change in the GitOps branch, by assignment and by value.

pub(super) mod answer;
mod confirmation;
mod diff;
mod folding;
mod places;
pub(super) mod selection;
mod stats;
pub(super) mod summary;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::iter;
use std::sync::Arc;

use engine::compile::{Assignment, Compiled};
use engine::hold::{Held, HeldFolder};
use engine::output::{Destination, Folder, Layout, Output, assemble, assemble_held, destination_problems, layout};
use engine::place::Place;
use engine::plan::{Comparison, FileChange, Plan, PlannedId};
use model::diagnostic::{AssignmentId, Diagnostic};
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::object::environment::RepositoryPlace;
use model::progress::Progress;
use model::tree::{OpenError, Sealed, SealedBy, Tree};
use serde_json::json;

use self::diff::Diffs;
use self::selection::{Selection, View};

use crate::arguments::{self, Format};
use crate::attempt;
use crate::change::{self, Change};
use crate::compiling::{self, Known};
use crate::exit::{Exit, Failure};
use crate::holding::{self, Failing, HeldNow};
use crate::loading::{self, Branch, Loaded, folder_of};
use crate::progress::Watch;
use crate::report::{Batch, Fallback, Report};
use crate::{folder, paint, reporting, terminal};

pub(super) fn run(options: &arguments::Plan) -> anyhow::Result<Exit> {
    let selection = &Selection::of(options)?;
    let mut watch = Watch::start();
    let (source, environment) = (&options.source, options.environment.as_str());
    if let Some(text) = &options.commit {
        let change = change::of_commits(source, environment, text, &mut watch)?;
        return between((options, selection), &change, watch);
    }
    if let Some(file) = &options.patch {
        let change = change::of_patch(source, environment, file, &mut watch)?;
        return between((options, selection), &change, watch);
    }
    let loaded = read(options, &mut watch)?;
    let (compiled, mut known) = compiling::begin(&loaded, watch.progress());
    let mut report = Report::new();
    let mut answers = Vec::new();
    for destination in destinations(options, &loaded)? {
        let planned = Planned::new(&loaded, (&compiled, &mut known), destination, options.adopt)?;
        let diagnostics = all_diagnostics(&loaded, &compiled, &planned.output);
        let fallback = planned.fallback();
        let sensitive = Some(&planned.sensitive);
        loaded.report(&mut report, Batch { fallback, sensitive, ..reporting::batch(&diagnostics, &compiled) });
        answers.push(planned);
    }
    watch.end();
    let told = Told { selection, loaded: &loaded, compiled: &compiled, change: None, report: &report };
    told.tell(options, &answers)
}

/// Reads an environment as `publish` would, if its output goes to a branch.
fn read(options: &arguments::Plan, watch: &mut Watch) -> anyhow::Result<Loaded> {
    if options.source.from.is_some() || options.against.is_some() {
        return loading::environment(&options.source, &options.environment, watch);
    }
    attempt::begin(&options.source, &options.environment, options.gitops_repo.as_deref(), watch)
}

/// Two states of the control plane, both compiled from their sources.
fn between(
    (options, selection): (&arguments::Plan, &Selection),
    change: &Change,
    mut watch: Watch,
) -> anyhow::Result<Exit> {
    let loaded = &*change.new;
    let [earlier, compiled] = compiling::compile_both(&change.old, loaded, watch.progress());
    let old = Before { loaded: Arc::clone(&change.old), compiled: earlier };
    let (folder, new_layout) = laid_out(loaded)?;
    let promoted_commit = change.old.fleet.promoted_commit().cloned();
    let (_, old_layout) = laid_out(&change.old)?;
    let destination = Destination { folder: folder.clone(), layout: old_layout, promoted_commit, adopt: false };
    let previous = assemble(&old.compiled, &Tree::default(), &destination, &|sealed| old.compiled.open(sealed))?.tree;
    let branch = Branch::of_tree(change.from.clone(), previous);
    let target = Target { name: change.from.clone(), place: nowhere(), folder, layout: new_layout, branch };
    let planned = Planned::compared(loaded, &compiled, (target, Some(old), HeldNow::default()), false)?;
    let diagnostics = all_diagnostics(loaded, &compiled, &planned.output);
    let mut report = Report::new();
    let (fallback, sensitive) = (planned.fallback(), Some(&planned.sensitive));
    loaded.report(&mut report, Batch { fallback, sensitive, ..reporting::batch(&diagnostics, &compiled) });
    watch.end();
    let told = Told { selection, loaded, compiled: &compiled, change: Some(change), report: &report };
    told.tell(options, &[planned])
}

/// Everything that is wrong: also why nothing of it would be published.
fn all_diagnostics(loaded: &Loaded, compiled: &Compiled, output: &Output) -> Vec<Diagnostic> {
    let mut diagnostics = super::render::all_diagnostics(loaded, compiled, output);
    diagnostics.extend(destination_problems(&loaded.fleet));
    diagnostics
}

/// What there is to tell, beside the plans.
struct Told<'a> {
    selection: &'a Selection,
    loaded: &'a Loaded,
    compiled: &'a Compiled,
    change: Option<&'a Change>,
    report: &'a Report<'a>,
}

impl Told<'_> {
    fn tell(&self, options: &arguments::Plan, answers: &[Planned<'_>]) -> anyhow::Result<Exit> {
        let diffs = |planned| options.diff.then(|| Diffs::new(planned));
        let views = answers.iter().map(|planned| self.selection.view(planned));
        match options.output {
            Format::Human => {
                reporting::to_stderr(self.report)?;
                let texts = views.map(|view| text(&view, self, diffs(view.planned).as_ref()));
                let mut texts = texts.collect::<Result<Vec<_>, _>>()?.join("\n");
                let _ = writeln!(texts, "\n  {}", compiling::reuse([self.compiled]));
                if options.stats {
                    texts.push_str(&stats::text(&self.compiled.last_update().work));
                }
                // The lines of differences are those of files.
                let answer = if options.diff { terminal::answer_painted } else { terminal::answer_fitted };
                answer(&texts, paint::plan)?;
            }
            format => {
                let plans = views.map(|view| view.answer(self.loaded, diffs(view.planned).as_ref()));
                let answer = json!({
                    "environment": options.environment,
                    "change": self.change.map(Change::answer),
                    "plans": plans.collect::<Result<Vec<_>, _>>()?,
                    "stats": stats::answer(self.compiled),
                    "report": reporting::json(self.report),
                });
                terminal::answer(&terminal::structured(&answer, format))?;
            }
        }
        let pending = answers.iter().any(|planned| !planned.plan.is_empty());
        let exit = if pending { Exit::Pending } else { Exit::Good };
        Ok(exit.unless(reporting::has_problems(self.report, options.source.strict)))
    }
}

/// The plan for one place, for reading.
fn text(view: &View<'_>, told: &Told<'_>, diffs: Option<&Diffs<'_>>) -> Result<String, OpenError> {
    let (planned, loaded) = (view.planned, told.loaded);
    let title = match told.change {
        Some(change) => change.title(),
        None => format!("{} → {}", loaded.title(), planned.target.branch.name),
    };
    let mut text = format!("{title}\n\n{}", view.summary(loaded));
    match diffs {
        Some(diffs) => {
            text.push('\n');
            text.push_str(&diffs.text(view)?);
        }
        None if planned.plan.is_empty() => {}
        None if view.is_long() => {
            text.push_str("\n  --workload, --cluster-type and --selector show a part, --diff every file\n");
        }
        None => text.push_str("\n  --diff shows every file\n"),
    }
    Ok(text)
}

/// One place that the environment's output goes to.
pub(super) struct Target {
    /// What it is called.
    pub(super) name: String,
    /// Where it is.
    pub(super) place: RepositoryPlace,
    /// The folder that output lives under.
    pub(super) folder: Folder,
    /// Where in it the folders of cluster types are.
    layout: Layout,
    /// What is there.
    pub(super) branch: Branch,
}

/// The places that the environment's output goes to.
pub(super) fn targets(loaded: &Loaded, only: Option<&str>) -> anyhow::Result<Vec<Target>> {
    let repos =
        loaded.fleet.gitops_repos.values().filter(|object| only.is_none_or(|name| object.name.as_str() == name));
    let mut found = Vec::new();
    for object in repos {
        let folder = folder_of(object)?;
        let branch = loaded.branch(object.name.as_str(), &object.spec.place)?;
        let place = object.spec.place.clone();
        found.push(Target { name: object.name.to_string(), place, folder, layout: layout(object), branch });
    }
    if found.is_empty() {
        let message = match only {
            Some(name) => format!("{} has no GitOpsRepo `{name}`", loaded.fleet.environment),
            None => format!("{} has no GitOpsRepo: its output has nowhere to go", loaded.fleet.environment),
        };
        return Err(Failure::refused(message)
            .help("add a `GitOpsRepo` to the environment; `kalypso schema GitOpsRepo` prints its fields")
            .into());
    }
    Ok(found)
}

fn destinations(options: &arguments::Plan, loaded: &Loaded) -> anyhow::Result<Vec<Target>> {
    if let Some(against) = &options.against {
        if !against.is_dir() {
            return Err(Failure::usage(format!("`{}` is not a folder", against.display())).into());
        }
        let name = against.display().to_string();
        let branch = Branch::of_tree(name.clone(), folder::read(against)?);
        let (folder, layout) = laid_out(loaded)?;
        return Ok(vec![Target { name, place: nowhere(), folder, layout, branch }]);
    }
    if options.source.from.is_some() && loaded.fleet.gitops_repos.is_empty() {
        let branch = Branch::of_tree("nothing".to_owned(), Tree::default());
        let (folder, layout) = Default::default();
        return Ok(vec![Target { name: "nothing".to_owned(), place: nowhere(), folder, layout, branch }]);
    }
    targets(loaded, options.gitops_repo.as_deref())
}

/// Where the output of an environment is laid out, if nobody says which of its `GitOpsRepo`s is meant.
fn laid_out(loaded: &Loaded) -> Result<(Folder, Layout), Failure> {
    let Some(object) = loaded.fleet.gitops_repos.values().next() else { return Ok(Default::default()) };
    Ok((folder_of(object)?, layout(object)))
}

/// The place of what is in no repository.
fn nowhere() -> RepositoryPlace {
    RepositoryPlace { repo: "".into(), branch: "".into(), path: "".into() }
}

/// What changes in one place.
pub(super) struct Planned<'a> {
    compiled: &'a Compiled,
    pub(super) target: Target,
    pub(super) output: Output,
    pub(super) plan: Plan,
    old: Option<Before>,
    /// What is sensitive before or after: a mark is mostly set after the value, and one that is removed was about the old value.
    sensitive: BTreeSet<FieldPath>,
    /// What was held at the newest publication, with the publications that it was rendered from.
    held_before: BTreeMap<AssignmentId, GitId>,
}

/// What is compared with, compiled from its sources.
struct Before {
    loaded: Arc<Loaded>,
    compiled: Compiled,
}

impl<'a> Planned<'a> {
    pub(super) fn new(
        loaded: &Loaded,
        (compiled, known): (&'a Compiled, &mut Known),
        target: Target,
        adopt: bool,
    ) -> anyhow::Result<Self> {
        let old = target.branch.published_from(loaded).map(|(publication, old)| {
            let compiled = known.compile_earlier(&old, compiled);
            (publication, Before { loaded: Arc::new(old), compiled })
        });
        let ids = || compiled.failing().collect();
        let failing = Failing { prepared: compiled.prepared(), ids: &ids };
        let known = old.as_ref().map(|(publication, old)| (*publication, old.compiled.prepared()));
        let held = holding::on_branch(loaded, failing, (&target.branch, &target.folder), known)?;
        Ok(Self::compared(loaded, compiled, (target, old.map(|(_, old)| old), held), adopt)?)
    }

    /// Compares with what is in a place, and with what that was made of.
    fn compared(
        loaded: &Loaded,
        compiled: &'a Compiled,
        (target, old, HeldNow { held, before }): (Target, Option<Before>, HeldNow),
        adopt: bool,
    ) -> Result<Self, OpenError> {
        let promoted_commit = loaded.fleet.promoted_commit().cloned();
        let destination = Destination { folder: target.folder.clone(), layout: target.layout, promoted_commit, adopt };
        let open = |sealed: &Sealed| opened((compiled, old.as_ref()), &target, sealed);
        let previous = &target.branch.tree;
        let output = assemble_held((compiled, &held), previous, &destination, &open)?;
        let plan = engine::plan::plan(&Comparison {
            previous,
            output: &output,
            folder: &target.folder,
            new: compiled,
            old: old.as_ref().map(|old| &old.compiled),
            open: &open,
            content: &|id| target.branch.content(id),
        })?;
        let sides = [Some(compiled), old.as_ref().map(|old| &old.compiled)].into_iter().flatten();
        let mut sensitive: BTreeSet<_> = sides.flat_map(|side| side.prepared().sensitive()).cloned().collect();
        sensitive.extend(output.held.values().flat_map(|held| &held.sensitive).cloned());
        Ok(Self { compiled, target, output, plan, old, sensitive, held_before: before })
    }

    /// The assignments of the output that are rendered from earlier publications, for the next run.
    pub(super) fn to_remember(&self) -> Result<BTreeMap<AssignmentId, GitId>, OpenError> {
        let open = |sealed: &Sealed| self.open(sealed);
        let mut stays = BTreeSet::new();
        for id in self.held_before.keys() {
            // What is good is rendered from its own sources. What is not there may only be unknown.
            let is_good = self.compiled.get(id).is_some_and(|assignment| assignment.is_good());
            if !is_good && engine::hold::has_folder(&self.output.tree, &self.target.folder, id, &open)? {
                stays.insert(id.clone());
            }
        }
        Ok(Held::to_remember(&self.output, self.held_before.clone(), |id| stays.contains(id)))
    }

    /// The paths of what is sensitive before or after.
    pub(super) fn sensitive(&self) -> &BTreeSet<FieldPath> {
        &self.sensitive
    }

    /// The files of an assignment that change.
    fn files(&self, id: &PlannedId) -> Result<Vec<FileChange>, OpenError> {
        self.plan.files(id, &|sealed| self.open(sealed))
    }

    /// Opens a folder of what is or of what should be.
    pub(super) fn open(&self, sealed: &Sealed) -> Result<Tree, OpenError> {
        opened((self.compiled, self.old.as_ref()), &self.target, sealed)
    }

    /// The place of a name: of the new fleet, else of the one that was published.
    pub(super) fn place(&self, name: &str) -> Option<Place> {
        self.sides().find_map(|side| Place::find(side.fleet(), name))
    }

    /// The assignment of a name: of the fleet that makes this folder of it, if one does.
    pub(super) fn assignment(&self, id: &AssignmentId, folder: GitId) -> Option<Assignment<'_>> {
        let all = || self.sides().filter_map(|side| side.get(id));
        all().find(|assignment| assignment.folder() == Some(folder)).or_else(|| all().next())
    }

    /// An assignment that is held, by its names, if this is its folder.
    pub(super) fn held(&self, place: &str, target: Option<&Arc<str>>, folder: Option<GitId>) -> Option<&HeldFolder> {
        let id = PlannedId { place: place.into(), target: Arc::clone(target?) }.assignment()?;
        self.output.held.get(&id).map(|held| &**held).filter(|held| Some(held.tree.id()) == folder)
    }

    /// The new fleet, and the one that was published, if it is known.
    fn sides(&self) -> impl Iterator<Item = &Compiled> {
        iter::once(self.compiled).chain(self.old.as_ref().map(|old| &old.compiled))
    }

    /// How many places these are: `12 cluster types and 3 clusters`. What nobody knows any more counts as a cluster type.
    pub(super) fn places_text<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> String {
        let is_cluster = |name: &&str| self.sides().any(|side| side.fleet().clusters.contains_key(*name));
        let (clusters, cluster_types): (Vec<_>, Vec<_>) = names.into_iter().partition(is_cluster);
        super::places_text(cluster_types.len(), clusters.len())
    }

    /// Where work on it is counted.
    pub(super) fn progress(&self) -> &Progress {
        self.compiled.progress()
    }

    /// What becomes of the assignments that fail: of what was never published, nothing is kept.
    pub(super) fn fallback(&self) -> Fallback<'_> {
        Fallback::KeptExcept(&self.plan.missing, self.target.branch.commit())
    }
}

/// Opens a folder: one of the repository, or one that is made of either fleet.
fn opened((new, old): (&Compiled, Option<&Before>), target: &Target, sealed: &Sealed) -> Result<Tree, OpenError> {
    match sealed.by {
        SealedBy::Repository => target.branch.open(sealed),
        SealedBy::Maker(_) => {
            let made = new.open(sealed);
            made.or_else(|error| old.map_or(Err(error), |old| old.compiled.open(sealed)))
        }
    }
}
