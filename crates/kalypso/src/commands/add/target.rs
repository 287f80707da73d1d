//! `kalypso add target`, `kalypso set target` and `kalypso remove target`, in a checkout of an application.

use std::path::Path;
use std::sync::Arc;

use authoring::branch_files::{BranchFiles, EditRefusal};
use authoring::file_edits::FileEdits;
use authoring::targets::{self, NewTarget, TargetChange, TargetKey};
use git::checkout::Committed;
use workbench::answers::target_edit::{TargetEdit, TargetEditFields};
use workbench::branch::{EditComparison, EditResult, NewProposal, git_edits};
use workbench::source::environment_name;

use super::application::Application;
use super::labels;
use super::registered_application::RegisteredApplication;
use crate::arguments::{AddTarget, ApplicationOptions, Format, RemoveTarget, SetTarget};
use crate::commands::branch_edit::pair_changes::{label_changes, notes, nothing, pair_changes};
use crate::commands::branch_edit::{self, EditVerb, ProposalBody};
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
    let what = TargetEdit { verb: EditVerb::Add, workload, target: name, environment, notes: Vec::new() };
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
    let what = TargetEdit { verb: EditVerb::Change, workload, target: name, environment, notes: changes };
    let key = TargetKey { workload, target: name, environment: &of };
    edit(&options.application, &what, |files| targets::set(files, key, labels, manifests))
}

pub(in crate::commands) fn remove(options: &RemoveTarget) -> anyhow::Result<Exit> {
    let RemoveTarget { workload, name, environment, .. } = options;
    let of = environment_name(environment)?;
    let what = TargetEdit { verb: EditVerb::Remove, workload, target: name, environment, notes: Vec::new() };
    let key = TargetKey { workload, target: name, environment: &of };
    edit(&options.application, &what, |files| targets::remove(files, key))
}

/// The files of an application that are edited.
enum Place {
    /// In a checkout on this machine.
    Checkout(Application),
    /// At the head of the branch that is registered.
    Head(RegisteredApplication),
}

impl Place {
    fn open(options: &ApplicationOptions, what: &TargetEdit<'_>, watch: &Watch) -> anyhow::Result<Self> {
        if options.propose {
            return Ok(Self::Head(
                RegisteredApplication::find(what, (options.config.as_deref(), watch))??.with_files(what.workload)?,
            ));
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

fn edit(
    options: &ApplicationOptions,
    what: &TargetEdit<'_>,
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
        let TargetEdit { workload, target: name, environment, .. } = what;
        terminal::answer(&format!("Nothing to change: target {name} of {workload} for {environment} is so already\n"))?;
        return Ok(Exit::Good);
    }
    let is_checkout = matches!(place, Place::Checkout(_));
    let find = || RegisteredApplication::find(what, (options.config.as_deref(), &watch));
    let found = is_checkout.then(find).transpose()?.and_then(Result::ok);
    let registered = if let Place::Head(registered) = &place { Some(registered) } else { found.as_ref() };
    let change = registered.map(|registered| registered.change(&edits));
    let comparison = change.as_ref().map(|change| compiling::compare(change, &watch)).transpose()?;
    watch.end();
    if let Some(comparison) = comparison.as_ref().filter(|comparison| !comparison.new_errors().is_empty()) {
        return branch_edit::refuse_errors(std::slice::from_ref(comparison), options.output);
    }
    let outcome = Outcome { what, place: &place, registered, edits: &edits, comparison: comparison.as_ref() };
    let done = outcome.carry_out(options)?;
    outcome.show(options, &done)?;
    Ok(Exit::Good)
}

/// The edits of an application, and what they do.
struct Outcome<'a> {
    what: &'a TargetEdit<'a>,
    place: &'a Place,
    /// The application as it is registered. None: it is not known.
    registered: Option<&'a RegisteredApplication>,
    edits: &'a FileEdits,
    comparison: Option<&'a EditComparison<'a>>,
}

impl Outcome<'_> {
    /// Carries the edits out, and gives the branch of the commit.
    fn carry_out(&self, options: &ApplicationOptions) -> anyhow::Result<(EditResult, Option<Arc<str>>)> {
        let what = self.what;
        if options.dry_run || self.edits.is_empty() {
            return Ok((EditResult::Shown, None));
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
                return Ok((EditResult::Proposed(registered.propose(text)?), None));
            }
        };
        let checkout = options.commit.then(|| application.committable()).transpose()?;
        application.write(self.edits)?;
        let Some(checkout) = checkout else { return Ok((EditResult::Written, None)) };
        let own = configuration::settings_of_git();
        let settings = self.registered.map_or(&own, |registered| &registered.access.settings.git);
        let paths: Vec<_> = self.edits.iter().map(|(path, _)| &**path).collect();
        // With the user's identity, settings and hooks. Other staged changes stay staged.
        let committed = git::checkout::commit(settings, &checkout, &paths, &title);
        let committed = committed.map_err(|error| application.not_committed(&error))?;
        Ok((EditResult::Committed(committed), checkout.branch().map(Arc::from)))
    }

    fn show(
        &self,
        options: &ApplicationOptions,
        (done, branch): &(EditResult, Option<Arc<str>>),
    ) -> anyhow::Result<()> {
        if options.output != Format::Human {
            let paths = self.edits.iter().map(|(path, _)| match self.place {
                Place::Checkout(application) => application.shown(path),
                Place::Head(_) => path.to_string(),
            });
            let answer = TargetEditFields::new(self.what, paths.collect(), done, self.comparison)?;
            terminal::answer(&terminal::structured(&answer, options.output))?;
            return Ok(());
        }
        let TargetEdit { verb, workload, target: name, environment, .. } = self.what;
        let place = match verb {
            EditVerb::Add => "to",
            EditVerb::Remove => "from",
            EditVerb::Change | EditVerb::Rename => "in",
        };
        let verb = branch_edit::past(*verb, done);
        let paths: Vec<_> = self.edits.iter().map(|(path, _)| self.place.shown(path)).collect();
        let mut text = format!("{verb} target {name} of {workload} for {environment} {place} {}\n", paths.join(", "));
        match self.comparison {
            Some(comparison) => text.push_str(&branch_edit::plan_text(comparison)),
            None => text.push_str("\nno plan: no control plane with this workload is configured here\n"),
        }
        text.push_str(&self.next(done, branch.as_deref()));
        terminal::answer_fitted(&text, crate::paint::plan)?;
        Ok(())
    }

    /// What was done, and what to do next.
    fn next(&self, done: &EditResult, branch: Option<&str>) -> String {
        match done {
            EditResult::Nothing | EditResult::Shown => "\nNothing is written: this was a dry run\n".to_owned(),
            EditResult::Written => {
                "\nIt takes effect when it is committed and pushed to the branch that is registered\n".to_owned()
            }
            EditResult::Proposed(proposed) => format!("\n{}", proposed.text()),
            EditResult::Committed(Committed { id, messages }) => {
                let on = branch.map_or_else(String::new, |branch| format!(" to {branch}"));
                let registered = self.registered.map(RegisteredApplication::branch);
                let until = match registered.as_deref() {
                    Some(registered) if Some(registered) == branch => "pushed".to_owned(),
                    Some(registered) => format!("merged into {registered}, the branch that is registered, and pushed"),
                    None => "pushed to the branch that is registered".to_owned(),
                };
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
