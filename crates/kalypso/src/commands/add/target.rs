//! `kalypso add target`, `kalypso set target` and `kalypso remove target`, in a checkout of an application.

use std::path::Path;
use std::sync::Arc;

use authoring::branch_files::{BranchFiles, EditRefusal};
use authoring::file_edits::FileEdits;
use authoring::targets::{self, NewTarget, TargetChange, TargetKey};
use git::checkout::Committed;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;
use workbench::answers::branch_edit::{EditPlan, ProposalFields};
use workbench::branch::{EditComparison, NewProposal, ProposalResult, git_edits};
use workbench::source::environment_name;

use super::application::Application;
use super::labels;
use super::registered_application::RegisteredApplication;
use crate::arguments::{AddTarget, ApplicationOptions, Format, RemoveTarget, SetTarget};
use crate::commands::branch_edit::pair_changes::{label_changes, notes, nothing, pair_changes};
use crate::commands::branch_edit::{self, ProposalBody};
use crate::configuration;
use crate::exit::{Exit, Failure};
use crate::progress::Watch;
use crate::{compiling, terminal};

pub(super) fn run(options: &AddTarget) -> anyhow::Result<Exit> {
    let some = |pairs: authoring::objects::LabelList| (!pairs.is_empty()).then_some(pairs);
    let target = NewTarget {
        name: checked(&options.name)?.into(),
        environment: environment_name(&options.environment)?,
        labels: some(labels(&options.labels)?),
        manifests: some(manifests(&options.manifests)?),
    };
    let AddTarget { workload, name, environment, .. } = options;
    let what = What { verb: Verb::Add, workload, name, environment, notes: Vec::new() };
    edit(&options.application, &what, |files| targets::add(files, workload, &target))
}

pub(in crate::commands) fn set(options: &SetTarget) -> anyhow::Result<Exit> {
    let SetTarget { workload, name, environment, .. } = options;
    let of = environment_name(environment)?;
    let labels = label_changes(&options.labels)?;
    let manifests = pair_changes(options.manifests.iter().map(String::as_str), manifests)?;
    if labels.is_empty() && manifests.is_empty() {
        return Err(nothing().into());
    }
    let changes = notes(&manifests).chain(notes(&labels)).collect();
    let what = What { verb: Verb::Set, workload, name, environment, notes: changes };
    let key = TargetKey { workload, target: name, environment: &of };
    edit(&options.application, &what, |files| targets::set(files, key, labels, manifests))
}

pub(in crate::commands) fn remove(options: &RemoveTarget) -> anyhow::Result<Exit> {
    let RemoveTarget { workload, name, environment, .. } = options;
    let of = environment_name(environment)?;
    let what = What { verb: Verb::Remove, workload, name, environment, notes: Vec::new() };
    let key = TargetKey { workload, target: name, environment: &of };
    edit(&options.application, &what, |files| targets::remove(files, key))
}

/// What is done with the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Add,
    Set,
    Remove,
}

impl Verb {
    fn word(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Set => "set",
            Self::Remove => "remove",
        }
    }
}

/// An edit of a target for programs.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TargetEditFields {
    /// `add`, `set` or `remove`.
    action: &'static str,
    /// The workload.
    workload: String,
    /// The deployment target.
    target: String,
    /// The environment.
    environment: String,
    /// The path of each changed file.
    files: Vec<String>,
    /// Whether the files of the checkout are changed.
    is_written: bool,
    /// The id of the commit, with `--commit`.
    commit: Option<String>,
    /// What is proposed in the application's repository, with `--propose`; else `null`.
    proposal: Option<ProposalFields>,
    /// The fields of `plans[]` of `plan`; `null` if the workload is not registered.
    #[schema(value_type = Option<Object>)]
    plan: Option<EditPlan>,
}

/// The target on the command line.
struct What<'a> {
    verb: Verb,
    workload: &'a str,
    name: &'a str,
    environment: &'a str,
    /// The labels and keys that change.
    notes: Vec<String>,
}

impl What<'_> {
    /// The first line of a commit message: `Change target api of checkout for dev: tag=2.4.0`.
    fn title(&self) -> String {
        let Self { verb, workload, name, environment, notes } = self;
        let verb = match verb {
            Verb::Add => "Add",
            Verb::Set => "Change",
            Verb::Remove => "Remove",
        };
        let notes = if notes.is_empty() { String::new() } else { format!(": {}", notes.join(", ")) };
        format!("{verb} target {name} of {workload} for {environment}{notes}")
    }

    /// The name of the branch of a proposal.
    fn branch(&self) -> String {
        let Self { verb, workload, name, environment, .. } = self;
        let verb = match verb {
            Verb::Add => "add",
            Verb::Set => "change",
            Verb::Remove => "remove",
        };
        format!("{verb}/{environment}-target-{workload}-{name}")
    }
}

/// The files of an application that are edited.
enum Place {
    /// In a checkout on this machine.
    Checkout(Application),
    /// At the head of the branch that is registered.
    Head(RegisteredApplication),
}

/// What was done with the edits.
enum Done {
    Shown,
    Written,
    Committed(Committed, Option<Arc<str>>),
    Proposed(ProposalResult),
}

impl Place {
    fn open(options: &ApplicationOptions, what: &What<'_>, watch: &Watch) -> anyhow::Result<Self> {
        if options.propose {
            return Ok(Self::Head(find(options, what, watch)??.with_files(what.workload)?));
        }
        let folder = options.checkout.as_deref().unwrap_or(Path::new("."));
        Ok(Self::Checkout(Application::read(folder)?))
    }

    fn files(&self) -> BranchFiles<'_> {
        match self {
            Self::Checkout(application) => application.files(),
            Self::Head(registered) => registered.files(),
        }
    }

    fn shown(&self, path: &str) -> String {
        match self {
            Self::Checkout(application) => application.shown(path),
            Self::Head(registered) => registered.shown(path),
        }
    }
}

fn find(
    options: &ApplicationOptions,
    what: &What<'_>,
    watch: &Watch,
) -> anyhow::Result<Result<RegisteredApplication, Failure>> {
    RegisteredApplication::find((what.environment, what.workload), (options.config.as_deref(), watch))
}

fn edit(
    options: &ApplicationOptions,
    what: &What<'_>,
    change: impl FnOnce(&BranchFiles<'_>) -> Result<TargetChange, EditRefusal>,
) -> anyhow::Result<Exit> {
    let mut watch = Watch::start();
    let place = Place::open(options, what, &watch)?;
    let edits = match change(&place.files()) {
        Ok(change) => change.edits,
        Err(refusal) => return branch_edit::refuse(watch, &refusal, options.output),
    };
    if edits.is_empty() && options.output == Format::Human {
        watch.end();
        let What { workload, name, environment, .. } = what;
        terminal::answer(&format!("Nothing to change: target {name} of {workload} for {environment} is so already\n"))?;
        return Ok(Exit::Good);
    }
    let found = match &place {
        Place::Checkout(_) => find(options, what, &watch)?.ok(),
        Place::Head(_) => None,
    };
    let registered = match &place {
        Place::Checkout(_) => found.as_ref(),
        Place::Head(registered) => Some(registered),
    };
    let change = registered.map(|registered| registered.change(&edits));
    let comparison = change.as_ref().map(|change| compiling::compare(change, &watch)).transpose()?;
    watch.end();
    if let Some(comparison) = comparison.as_ref().filter(|comparison| !comparison.new_errors().is_empty()) {
        return branch_edit::refuse_errors(std::slice::from_ref(comparison), options.output);
    }
    let outcome = Outcome { place: &place, registered, edits: &edits, comparison: comparison.as_ref() };
    let done = outcome.carry_out(options, what)?;
    outcome.show(options, what, &done)?;
    Ok(Exit::Good)
}

/// The edits of an application, and what they do.
struct Outcome<'a> {
    place: &'a Place,
    /// The application as it is registered. None: it is not known.
    registered: Option<&'a RegisteredApplication>,
    edits: &'a FileEdits,
    comparison: Option<&'a EditComparison<'a>>,
}

impl Outcome<'_> {
    fn carry_out(&self, options: &ApplicationOptions, what: &What<'_>) -> anyhow::Result<Done> {
        if options.dry_run || self.edits.is_empty() {
            return Ok(Done::Shown);
        }
        let title = options.message.clone().unwrap_or_else(|| what.title());
        let application = match self.place {
            Place::Checkout(application) => application,
            Place::Head(registered) => {
                let (of, branch) = (registered.description(), what.branch());
                let plans = self.comparison.map(std::slice::from_ref).unwrap_or_default();
                let title_of_body = what.title();
                let body = ProposalBody { title: &title_of_body, of: &of, files: self.edits, comparisons: plans };
                let body = |characters_max| body.text(characters_max);
                let edits = git_edits(self.edits);
                let text = NewProposal { edits: &edits, branch: &branch, title: &title, body: &body };
                return Ok(Done::Proposed(registered.propose(text)?));
            }
        };
        let checkout = options.commit.then(|| application.committable()).transpose()?;
        application.write(self.edits)?;
        let Some(checkout) = checkout else { return Ok(Done::Written) };
        let own = configuration::settings_of_git();
        let settings = self.registered.map_or(&own, RegisteredApplication::settings);
        let paths: Vec<_> = self.edits.iter().map(|(path, _)| &**path).collect();
        // With the user's identity, settings and hooks. Other staged changes stay staged.
        let committed = git::checkout::commit(settings, &checkout, &paths, &title);
        let committed = committed.map_err(|error| application.not_committed(&error))?;
        Ok(Done::Committed(committed, checkout.branch().map(Arc::from)))
    }

    fn show(&self, options: &ApplicationOptions, what: &What<'_>, done: &Done) -> anyhow::Result<()> {
        let What { verb, workload, name, environment, .. } = what;
        let is_written = matches!(done, Done::Written | Done::Committed(..));
        if options.output != Format::Human {
            let paths = self.edits.iter().map(|(path, _)| match self.place {
                Place::Checkout(application) => application.shown(path),
                Place::Head(_) => path.to_string(),
            });
            let (commit, proposal) = match done {
                Done::Committed(committed, _) => (Some(committed.id.to_string()), None),
                Done::Proposed(proposed) => (None, Some(ProposalFields::new(proposed))),
                Done::Shown | Done::Written => (None, None),
            };
            let answer = TargetEditFields {
                action: verb.word(),
                workload: (*workload).to_owned(),
                target: (*name).to_owned(),
                environment: (*environment).to_owned(),
                files: paths.collect(),
                is_written,
                commit,
                proposal,
                plan: self.comparison.map(EditPlan::new).transpose()?,
            };
            terminal::answer(&terminal::structured(&json!(answer), options.output))?;
            return Ok(());
        }
        let (verb, place) = match (verb, matches!(done, Done::Shown)) {
            (Verb::Add, false) => ("Added", "to"),
            (Verb::Add, true) => ("Would add", "to"),
            (Verb::Set, false) => ("Changed", "in"),
            (Verb::Set, true) => ("Would change", "in"),
            (Verb::Remove, false) => ("Removed", "from"),
            (Verb::Remove, true) => ("Would remove", "from"),
        };
        let paths: Vec<_> = self.edits.iter().map(|(path, _)| self.place.shown(path)).collect();
        let mut text = format!("{verb} target {name} of {workload} for {environment} {place} {}\n", paths.join(", "));
        match self.comparison {
            Some(comparison) => text.push_str(&branch_edit::plan_text(comparison)),
            None => text.push_str("\nno plan: no control plane with this workload is configured here\n"),
        }
        text.push_str(&self.next(done));
        terminal::answer_fitted(&text, crate::paint::plan)?;
        Ok(())
    }

    /// What was done, and what to do next.
    fn next(&self, done: &Done) -> String {
        match done {
            Done::Shown => "\nNothing is written: this was a dry run\n".to_owned(),
            Done::Written => {
                "\nIt takes effect when it is committed and pushed to the branch that is registered\n".to_owned()
            }
            Done::Proposed(proposed) => format!("\n{}", proposed.text()),
            Done::Committed(committed, branch) => {
                let on = branch.as_ref().map_or_else(String::new, |branch| format!(" to {branch}"));
                let registered = self.registered.map(RegisteredApplication::branch);
                let until = match &registered {
                    Some(registered) if Some(registered) == branch.as_ref() => "pushed".to_owned(),
                    Some(registered) => format!("merged into {registered}, the branch that is registered, and pushed"),
                    None => "pushed to the branch that is registered".to_owned(),
                };
                let Committed { id, messages } = committed;
                format!("\nCommitted{on} as {}: it takes effect when it is {until}\n{messages}", id.short())
            }
        }
    }
}

/// The name of a target on the command line.
pub(super) fn checked(name: &str) -> Result<&str, Failure> {
    let usage = |error| Failure::usage(format!("`{name}` is not the name of a deployment target: {error}"));
    model::name::check(name).map(|()| name).map_err(usage)
}

/// Pairs on the command line with any texts as values.
pub(super) fn manifests(options: &[String]) -> Result<authoring::objects::LabelList, Failure> {
    let pair = |text: &String| {
        let usage = || Failure::usage(format!("`{text}` is not a pair: write KEY=VALUE"));
        let (key, value) = text.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(usage)?;
        if let Some(second) = second_pair(value) {
            let failure = Failure::usage(format!("`{text}` is one value of `{key}`, with `{second}` in it"));
            return Err(failure.help(format!("name each key in an option of its own: -m … -m {second}")));
        }
        Ok((key.into(), value.into()))
    };
    options.iter().map(pair).collect()
}

/// The second pair in a value that is probably meant as several pairs, as in `main,path=./api`. The query of a URL may contain such text.
fn second_pair(value: &str) -> Option<&str> {
    let (first, second) = value.split_once(',')?;
    let (key, _) = second.split_once('=')?;
    let is_key = !key.is_empty() && key.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    (is_key && !first.contains(['?', '=', '{'])).then_some(second)
}
