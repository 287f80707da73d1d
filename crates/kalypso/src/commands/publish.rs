//! `kalypso publish`: the environment's files, committed and pushed to the GitOps repository.

pub(super) mod telling;

use engine::compile::Compiled;
use engine::output::OWNER_FILE;
use engine::plan::ChangeKind;
use model::diagnostic::{Code, Diagnostic};
use model::tree::{Child, Entry, Sealed};
use serde_json::{Value as Json, json};

use self::telling::Heard;
use super::plan::selection::View;
use super::plan::summary::named;
use super::plan::{Planned, Target, targets};
use crate::arguments::{Format, Publish, SourceOptions};
use crate::asking::Hub;
use crate::compiling::{self, Known};
use crate::delivery::{self, Delivered, Delivery};
use crate::exit::{Exit, Failure};
use crate::loading::{self, Loaded};
use crate::progress::Watch;
use crate::report::{Batch, Fallback, Report, Reuse};
use crate::{configuration, reporting, terminal};

/// How often a publication starts over because somebody else pushed at the same moment.
const RACES_MAX: usize = 5;

pub(super) fn run(options: &Publish) -> anyhow::Result<Exit> {
    let source = SourceOptions { from: None, config: options.config.clone(), strict: options.strict };
    let hub = hub(options)?;
    let environments = match hub {
        Some(_) => configuration::read_environments(options.config.as_deref())?,
        None => Vec::new(),
    };
    let mut watch = Watch::start();
    let loaded = loading::environment(&source, &options.environment, &mut watch)?;
    let (compiled, mut known) = compiling::begin(&loaded, watch.progress());
    let mut report = Report::new();
    let mut outcomes = Vec::new();
    for target in targets(&loaded, options.gitops_repo.as_deref())? {
        let outcome = match &hub {
            Some(hub) if options.telling.hub_only => {
                let planned = Planned::new(&loaded, (&compiled, &mut known), target, options.adopt)?;
                let heard = Some(Ok(telling::whole((hub, &environments), &loaded, &planned)?));
                Outcome { planned, diagnostics: Vec::new(), delivered: None, heard }
            }
            hub => {
                let outcome = publish(options, &loaded, (&compiled, &mut known), target)?;
                let heard = hub.as_ref().and_then(|hub| telling::change((hub, &environments), &loaded, &outcome));
                Outcome { heard, ..outcome }
            }
        };
        let batch = reporting::batch(&outcome.diagnostics, compiled.len());
        loaded.report(&mut report, Batch { fallback: outcome.fallback(), ..batch });
        outcomes.push(outcome);
    }
    watch.end();
    if let Some(failure) = outcomes.iter().find_map(|outcome| outcome.heard.as_ref()?.as_ref().err()) {
        telling::warn(options, failure);
    }
    match options.output {
        Format::Human => {
            reporting::to_stderr(&report)?;
            let texts = outcomes.iter().map(|outcome| outcome.text(options, &loaded)).collect::<String>();
            terminal::answer(&format!("{texts}\n{}\n", compiling::reuse([&compiled])))?;
        }
        format => {
            let answers: Vec<_> = outcomes.iter().map(Outcome::answer).collect();
            let Reuse { recomputed, assignments } = compiling::reuse([&compiled]);
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

/// Publishes an environment to one place.
pub(super) fn publish<'a>(
    options: &Publish,
    loaded: &Loaded,
    (compiled, known): (&'a Compiled, &mut Known),
    first: Target,
) -> anyhow::Result<Outcome<'a>> {
    let mut target = first;
    for _ in 0..RACES_MAX {
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
        let branch = (!options.direct).then(|| our_branch(loaded, &planned.target.name));
        let message = message(loaded, &planned);
        let Planned { target: Target { place, branch: base, .. }, output, .. } = &planned;
        let open = |sealed: &Sealed| planned.open(sealed);
        let delivery = Delivery {
            place,
            branch: branch.as_deref(),
            base: base.commit(),
            tree: &output.tree,
            open: &open,
            message: &message,
            seconds: options.committed_on,
            folders: planned.plan.new_folders(),
            progress: compiled.progress(),
        };
        match delivery::deliver(loaded, &delivery)? {
            Delivered::LostRace => target = again(loaded, options, &planned.target.name)?,
            delivered => {
                return Ok(Outcome { planned, diagnostics, delivered: Some(delivered), heard: None });
            }
        }
    }
    Err(crate::exit::Failure::outside("the GitOps branch moved again and again while this was pushed: try again")
        .into())
}

/// The branch that changes are proposed on.
fn our_branch(loaded: &Loaded, gitops_repo: &str) -> String {
    let environment = &loaded.fleet.environment;
    if loaded.fleet.gitops_repos.len() == 1 {
        format!("kalypso/{environment}")
    } else {
        format!("kalypso/{environment}--{gitops_repo}")
    }
}

fn again(loaded: &Loaded, options: &Publish, name: &str) -> anyhow::Result<Target> {
    let all = targets(loaded, options.gitops_repo.as_deref())?;
    let found = all.into_iter().find(|target| target.name == name);
    found.ok_or_else(|| anyhow::anyhow!("the GitOpsRepo `{name}` is gone"))
}

/// Why nothing is published.
fn refusals(options: &Publish, loaded: &Loaded, planned: &Planned<'_>) -> anyhow::Result<Vec<Diagnostic>> {
    let mut refusals = Vec::new();
    let fatal = planned.output.diagnostics.iter().filter(|diagnostic| diagnostic.code == Code::PathMoved);
    refusals.extend(fatal.cloned());
    refusals.extend(engine::output::destination_problems(&loaded.fleet));
    let owner = planned.target.folder.join(OWNER_FILE);
    if let Some(entry) = planned.target.branch.tree.file(&owner, &|sealed| planned.target.branch.open(sealed))?
        && !engine::output::is_text(&entry.blob, &owner_text(loaded))
    {
        let whose = planned
            .target
            .branch
            .content(entry.blob.id())
            .map(|text| String::from_utf8_lossy(&text).trim().replace('\n', ", "));
        let diagnostic = Diagnostic::error(
            Code::OwnedByAnother,
            format!("branch {} belongs to somebody else", planned.target.branch.name),
        )
        .note(format!("{owner} says: {}", whose.unwrap_or_default()))
        .note(format!("this is: {}", owner_text(loaded).trim().replace('\n', ", ")))
        .help("give each environment a branch or path of its own; remove the file if the other one is gone for good");
        refusals.push(diagnostic);
    }
    if options.direct && !options.confirm && planned.plan.needs_confirmation() {
        let plan = &planned.plan;
        let names: Vec<_> = plan.gone.iter().map(|name| format!("`{name}`")).collect();
        let places = if names.is_empty() {
            String::new()
        } else {
            format!(", and {}: {}", planned.places_text(plan.gone.iter().map(|name| &**name)), named(&names))
        };
        let message = format!(
            "this would remove {} of {}{places}",
            terminal::thousands(plan.count(ChangeKind::Removed)),
            terminal::count(plan.before(), "assignment")
        );
        refusals.push(
            Diagnostic::error(Code::NeedsConfirmation, message)
                .help("look at `kalypso plan`, and say --confirm if that is meant"),
        );
    }
    Ok(refusals)
}

/// What the owner file says: whose output this is, the same on every machine.
fn owner_text(loaded: &Loaded) -> String {
    let control_plane = loaded.fleet.declaration.as_ref().map(|object| object.spec.control_plane.repo.to_string());
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
    pub(super) fn fallback(&self) -> Fallback {
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
            "counts": {
                "changed": plan.count(ChangeKind::Changed),
                "added": plan.count(ChangeKind::Added),
                "removed": plan.count(ChangeKind::Removed),
                "unchanged": plan.unchanged,
                "kept": plan.kept.len(),
            },
        })
    }
}
