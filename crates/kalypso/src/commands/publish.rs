//! `kalypso publish`: the environment's files, committed and pushed to the GitOps repository.

pub(super) mod telling;

use engine::compile::Compiled;
use engine::output::{OWNER_FILE, foreign_file};
use engine::plan::ChangeKind;
use git::publish::Heads;
use model::diagnostic::{Code, Diagnostic};
use model::git_id::GitId;
use model::kind::Kind;
use model::object::environment::RepositoryPlace;
use model::tree::{Child, Entry, Mode, Sealed};
use serde_json::{Value as Json, json};

use self::telling::Heard;
use super::plan::answer::LISTED_MAX;
use super::plan::selection::View;
use super::plan::{Planned, Target, targets};
use crate::arguments::{Format, Publish, SourceOptions};
use crate::asking::Hub;
use crate::attempt::{self, RACES_MAX};
use crate::compiling::{self, Known};
use crate::delivery::{self, Delivered, Delivery};
use crate::exit::{Exit, Failure};
use crate::loading::Loaded;
use crate::progress::Watch;
use crate::report::{Batch, Fallback, Report, Reuse};
use crate::{configuration, reporting, terminal};

pub(super) fn run(options: &Publish) -> anyhow::Result<Exit> {
    let source = SourceOptions { from: None, config: options.config.clone(), strict: options.strict };
    let hub = hub(options)?;
    let environments = match hub {
        Some(_) => configuration::read_environments(options.config.as_deref())?,
        None => Vec::new(),
    };
    Run { options, source, hub, environments, watch: Watch::start() }.attempt(Vec::new(), RACES_MAX)
}

/// What every attempt needs.
struct Run<'r> {
    options: &'r Publish,
    source: SourceOptions,
    hub: Option<Hub>,
    environments: Vec<String>,
    watch: Watch,
}

/// A place that is dealt with, and what it was decided by.
struct Done<'a> {
    loaded: &'a Loaded,
    compiled: &'a Compiled,
    outcome: Outcome<'a>,
}

impl Run<'_> {
    /// Publishes to all places that are not dealt with yet. Where somebody else pushed meanwhile, nothing of this attempt is used again: the heads of the branches
    /// and all sources are read anew.
    fn attempt(mut self, done: Vec<Done<'_>>, races_left: usize) -> anyhow::Result<Exit> {
        if races_left == 0 {
            if !done.is_empty() {
                self.finish(&done)?;
            }
            let message = "the GitOps branch moved again and again while this was pushed";
            return Err(Failure::outside(message).help("try again").into());
        }
        let only = self.options.gitops_repo.as_deref();
        let loaded = attempt::begin(&self.source, &self.options.environment, only, &mut self.watch)?;
        let (compiled, mut known) = compiling::begin(&loaded, self.watch.progress());
        let (mut dealt_with, mut has_lost) = (Vec::new(), false);
        for target in targets(&loaded, only)? {
            if done.iter().any(|done| done.outcome.planned.target.name == target.name) {
                continue;
            }
            let outcome = self.outcome(&loaded, (&compiled, &mut known), target)?;
            if matches!(outcome.delivered, Some(Delivered::LostRace)) {
                has_lost = true;
            } else {
                dealt_with.push(Done { loaded: &loaded, compiled: &compiled, outcome });
            }
        }
        if has_lost && dealt_with.is_empty() {
            // Nothing refers to it: two large fleets at once may be too many.
            drop(dealt_with);
            drop((known, compiled));
            drop(loaded);
            return self.attempt(done, races_left - 1);
        }
        let done = done.into_iter().chain(dealt_with).collect();
        if has_lost { self.attempt(done, races_left - 1) } else { self.finish(&done) }
    }

    /// What comes of one place, with what the hub says to it.
    fn outcome<'a>(
        &self,
        loaded: &'a Loaded,
        (compiled, known): (&'a Compiled, &mut Known),
        target: Target,
    ) -> anyhow::Result<Outcome<'a>> {
        let (options, environments) = (self.options, &*self.environments);
        match &self.hub {
            Some(hub) if options.telling.hub_only => {
                let planned = Planned::new(loaded, (compiled, known), target, options.adopt)?;
                let heard = Some(Ok(telling::whole((hub, environments), loaded, &planned)?));
                Ok(Outcome { planned, diagnostics: Vec::new(), delivered: None, heard })
            }
            hub => {
                let outcome = publish(options, loaded, (compiled, known), target)?;
                let heard = hub.as_ref().and_then(|hub| telling::change((hub, environments), loaded, &outcome));
                Ok(Outcome { heard, ..outcome })
            }
        }
    }

    /// Says what came of all places.
    fn finish(mut self, done: &[Done<'_>]) -> anyhow::Result<Exit> {
        let options = self.options;
        let mut report = Report::new();
        for Done { loaded, compiled, outcome } in done {
            let batch = reporting::batch(&outcome.diagnostics, compiled);
            let sensitive = Some(outcome.planned.sensitive());
            loaded.report(&mut report, Batch { fallback: outcome.fallback(), sensitive, ..batch });
        }
        self.watch.end();
        if let Some(failure) = done.iter().find_map(|done| done.outcome.heard.as_ref()?.as_ref().err()) {
            telling::warn(options, failure);
        }
        // The last attempt says how much had to be made anew.
        let reuse = compiling::reuse(done.last().map(|done| done.compiled));
        match options.output {
            Format::Human => {
                reporting::to_stderr(&report)?;
                let texts = done.iter().map(|done| done.outcome.text(options, done.loaded)).collect::<String>();
                terminal::answer(&format!("{texts}\n{reuse}\n"))?;
            }
            format => {
                let answers: Vec<_> = done.iter().map(|done| done.outcome.answer()).collect();
                let Reuse { recomputed, assignments } = reuse;
                let answer = json!({
                    "environment": options.environment,
                    "assignments": assignments,
                    "recomputed": recomputed,
                    "published": answers,
                    "report": reporting::json(&report),
                });
                terminal::answer(&terminal::structured(&answer, format))?;
            }
        }
        Ok(Exit::Good.unless(reporting::has_problems(&report, options.strict)))
    }
}

/// The hub that is told, if one is named.
fn hub(options: &Publish) -> anyhow::Result<Option<Hub>> {
    let hub = Hub::told(&options.telling, options.config.as_deref())?;
    if options.telling.hub_only && hub.is_none() {
        let help = "--hub or the variable KALYPSO_HUB_URL names one, or `hub.url` in kalypso.toml";
        return Err(Failure::usage("there is no hub to tell").help(help).into());
    }
    Ok(hub)
}

/// What came of one place.
pub(super) struct Outcome<'a> {
    planned: Planned<'a>,
    /// Everything that is wrong.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// None if it was not even tried.
    pub(super) delivered: Option<Delivered>,
    /// What came of telling the hub; none if there is none, or nothing to tell.
    heard: Option<Heard>,
}

impl Outcome<'_> {
    /// Where something was pushed, and the commit.
    pub(super) fn pushed(&self) -> Option<(&RepositoryPlace, GitId)> {
        match &self.delivered {
            Some(Delivered::Pushed { commit, .. }) => Some((&self.planned.target.place, *commit)),
            _ => None,
        }
    }
}

/// Publishes an environment to one place, if the branches there are where they were before the environment was read.
pub(super) fn publish<'a>(
    options: &Publish,
    loaded: &Loaded,
    (compiled, known): (&'a Compiled, &mut Known),
    target: Target,
) -> anyhow::Result<Outcome<'a>> {
    let mut planned = Planned::new(loaded, (compiled, known), target, options.adopt)?;
    let mut diagnostics = super::render::all_diagnostics(loaded, compiled, &planned.output);
    let refusals = refusals(options, loaded, &planned)?;
    if !refusals.is_empty() {
        diagnostics.extend(refusals);
        return Ok(Outcome { planned, diagnostics, delivered: None, heard: None });
    }
    if !planned.plan.is_empty() {
        let owner = planned.target.folder.join(OWNER_FILE);
        let text = Child::File(Entry::file(owner_text(loaded).into_bytes()));
        let mut tree = planned.output.tree.clone();
        tree.put(&owner, text, &|sealed| planned.open(sealed))?;
        planned.output.tree = tree;
    }
    let delivered = match planned.target.branch.leases(options.direct) {
        Some((heads, branch)) => deliver(options, loaded, &planned, (heads, branch))?,
        None => Delivered::LostRace,
    };
    Ok(Outcome { planned, diagnostics, delivered: Some(delivered), heard: None })
}

fn deliver(
    options: &Publish,
    loaded: &Loaded,
    planned: &Planned<'_>,
    (heads, branch): (Heads, Option<&str>),
) -> anyhow::Result<Delivered> {
    let message = message(loaded, planned);
    let held = planned.to_remember()?;
    let open = |sealed: &Sealed| planned.open(sealed);
    let delivery = Delivery {
        place: &planned.target.place,
        branch,
        heads,
        tree: &planned.output.tree,
        open: &open,
        message: &message,
        seconds: options.committed_on,
        held: &held,
        folders: planned.plan.new_folders(),
        progress: planned.progress(),
    };
    delivery::deliver(loaded, &delivery)
}

/// Why nothing is published.
fn refusals(options: &Publish, loaded: &Loaded, planned: &Planned<'_>) -> anyhow::Result<Vec<Diagnostic>> {
    let mut refusals = Vec::new();
    let fatal = planned
        .output
        .diagnostics
        .iter()
        .filter(|diagnostic| matches!(diagnostic.code, Code::PathMoved | Code::ForeignFile));
    refusals.extend(fatal.cloned());
    refusals.extend(engine::output::destination_problems(&loaded.fleet));
    let is_of_target = |diagnostic: &&Diagnostic| {
        let object = diagnostic.object.as_ref();
        object.is_some_and(|object| object.kind == Kind::GitOpsRepo && *object.name == *planned.target.name)
    };
    let is_wrong =
        |diagnostic: &&Diagnostic| matches!(diagnostic.code, Code::SourceIsDestination | Code::ProposalIsDestination);
    refusals.extend(loaded.diagnostics.iter().filter(is_wrong).filter(is_of_target).cloned());
    refusals.extend(not_the_owner(loaded, planned)?);
    if options.direct {
        refusals.extend(planned.unconfirmed(&options.confirm));
    }
    Ok(refusals)
}

/// Why the branch is somebody else's: its owner file says so, or is not one that Kalypso wrote.
fn not_the_owner(loaded: &Loaded, planned: &Planned<'_>) -> anyhow::Result<Option<Diagnostic>> {
    let branch = &planned.target.branch;
    let owner = planned.target.folder.join(OWNER_FILE);
    let Some(entry) = branch.tree.file(&owner, &|sealed| branch.open(sealed))? else { return Ok(None) };
    let expected = owner_text(loaded);
    if !matches!(entry.mode, Mode::File | Mode::Executable) || engine::output::is_text(&entry.blob, &expected) {
        return Ok(None);
    }
    let text = branch.content(entry.blob.id()).and_then(|bytes| String::from_utf8(bytes.to_vec()).ok());
    let Some(whose) = text.as_deref().and_then(owner_words) else {
        return Ok(Some(foreign_file(&owner, "it does not say whose branch it is, as Kalypso writes it")));
    };
    Ok(Some(
        Diagnostic::error(Code::OwnedByAnother, format!("branch {} belongs to another control plane", branch.name))
            .note(format!("{owner} says: {}", model::credential::without(&whose)))
            .note(format!("this is: {}", owner_words(&expected).unwrap_or_default()))
            .help(
                "give each environment a branch or path of its own; remove the file if the other one is gone for good",
            ),
    ))
}

/// What an owner file says, in one line. None if Kalypso did not write it.
fn owner_words(text: &str) -> Option<String> {
    const CHARS_MAX: usize = 4_000;
    let mut lines = text.lines();
    let environment = lines.next()?.strip_prefix("environment: ")?;
    let control_plane = lines.next()?.strip_prefix("control-plane:")?.trim();
    let is_whole = lines.next().is_none() && text.chars().count() <= CHARS_MAX && !text.contains(is_unprintable);
    is_whole.then(|| format!("environment: {environment}, control-plane: {control_plane}"))
}

fn is_unprintable(c: char) -> bool {
    c.is_control() && c != '\n'
}

/// What the owner file says: whose output this is, the same on every machine.
fn owner_text(loaded: &Loaded) -> String {
    let declaration = loaded.fleet.declaration.as_ref();
    let control_plane = declaration.map(|object| git::without_credential(&object.spec.control_plane.repo));
    format!("environment: {}\ncontrol-plane: {}\n", loaded.fleet.environment, control_plane.unwrap_or_default())
}

fn message(loaded: &Loaded, planned: &Planned<'_>) -> String {
    let plan = &planned.plan;
    let parts = [(ChangeKind::Changed, "changed"), (ChangeKind::Added, "added"), (ChangeKind::Removed, "removed")];
    let counts = parts.into_iter().map(|(kind, word)| (plan.count(kind), word)).filter(|(count, _)| *count > 0);
    let counts: Vec<_> = counts.map(|(count, word)| format!("{count} {word}")).collect();
    let subject = if plan.moved > 0 && counts.is_empty() {
        format!("{} moved", terminal::count(plan.moved, "folder"))
    } else if counts.is_empty() {
        "files of cluster types changed".to_owned()
    } else {
        format!("assignments {}", counts.join(", "))
    };
    format!("{}: {subject}", loaded.fleet.environment)
}

impl Outcome<'_> {
    /// What failing assignments keep.
    pub(super) fn fallback(&self) -> Fallback<'_> {
        self.planned.fallback()
    }

    fn text(&self, options: &Publish, loaded: &Loaded) -> String {
        let told = match &self.heard {
            Some(Ok(folders)) => format!("Told the hub of {}\n", terminal::count(*folders, "folder")),
            _ => String::new(),
        };
        if options.telling.hub_only { told } else { format!("{}{told}", self.delivered_text(options, loaded)) }
    }

    fn delivered_text(&self, options: &Publish, loaded: &Loaded) -> String {
        let branch = &self.planned.target.branch.name;
        let environment = &loaded.fleet.environment;
        match &self.delivered {
            Some(Delivered::Pushed { branch: pushed, commit, .. }) => {
                let next = if options.direct {
                    String::new()
                } else {
                    format!("\nMerge {pushed} into {branch} to let clusters pull it.\n")
                };
                format!(
                    "Published {environment} to {pushed} ({})\n\n{}{next}",
                    commit.short(),
                    View::whole(&self.planned).summary(loaded)
                )
            }
            Some(Delivered::Proposed { branch: pushed }) => {
                format!(
                    "Nothing to do: {pushed} proposes this for {branch} already\n\n{}",
                    View::whole(&self.planned).summary(loaded)
                )
            }
            Some(Delivered::Withdrawn { branch: withdrawn, is_merged }) => {
                let because = if *is_merged { "was merged" } else { "proposed something else" };
                format!("Nothing to do: {branch} is as it should be; {withdrawn}, which {because}, was removed\n")
            }
            Some(_) if self.planned.plan.is_failing() => {
                format!("Nothing to do: {branch} stays as it is\n\n{}", View::whole(&self.planned).summary(loaded))
            }
            Some(_) => format!(
                "Nothing to do: {branch} is as it should be ({} assignments)\n",
                terminal::thousands(self.planned.plan.unchanged)
            ),
            None => format!("Nothing was published to {branch}\n"),
        }
    }

    fn answer(&self) -> Json {
        let (result, branch, commit) = match &self.delivered {
            Some(Delivered::Pushed { branch, commit, .. }) => {
                ("pushed", Some(branch.clone()), Some(commit.to_string()))
            }
            Some(Delivered::Proposed { branch }) => ("proposed", Some(branch.clone()), None),
            Some(Delivered::UpToDate) => ("unchanged", None, None),
            Some(Delivered::Withdrawn { branch, .. }) => ("withdrawn", Some(branch.clone()), None),
            None if self.heard.is_some() => ("told", None, None),
            Some(Delivered::LostRace) | None => ("refused", None, None),
        };
        let heard = self.heard.as_ref().map(|heard| if heard.is_ok() { "told" } else { "failed" });
        let plan = &self.planned.plan;
        json!({
            "gitopsRepo": self.planned.target.name,
            "result": result,
            "branch": branch,
            "commit": commit,
            "hub": heard,
            "confirmation": self.planned.confirmation(LISTED_MAX),
            "counts": {
                "changed": plan.count(ChangeKind::Changed),
                "added": plan.count(ChangeKind::Added),
                "removed": plan.count(ChangeKind::Removed),
                "unchanged": plan.unchanged,
                "kept": plan.kept.len(),
                "held": plan.held.len(),
            },
        })
    }
}
