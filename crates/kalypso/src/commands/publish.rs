//! `kalypso publish`: commits the environment's files and pushes them to the GitOps repository.

mod confirmed;
mod override_author;
mod pull_request;
mod stepping;

use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::branches::push::Delivered;
use delivery::output::compilation::reuse;
use delivery::promotion::controller::command::{OverrideRequest, override_gates};
use delivery::publication::enforcement;
use delivery::publication::hub_publication::HubReceiver;
use delivery::publication::publish::{
    DestinationFailure, End, PlaceOutcome, PublicationFailure, PublishOptions, Request,
};
use delivery::pull_requests::GitHosts;
use git::publish::ForeignCommits;
use model::name::EnvironmentName;
use workbench::Error;
use workbench::answers::all_environments::AllEnvironments;
use workbench::answers::publish::{EnvironmentPublication, publication_diagnostics};
use workbench::diagnostics::{DiagnosticBatch, DiagnosticReport};
use workbench::source::environment_name;

use self::override_author::{OverrideAuthor, override_author};
use self::stepping::Publication;
use super::plan::summary;
use crate::arguments::{Format, Overriding, Publish};
use crate::configuration::Settings;
use crate::diagnostics::reuse_text;
use crate::exit::{Exit, Failure, refusal};
use crate::hub_client::{Hub, publication_failure};
use crate::progress::Watch;
use crate::{loading, names, not_admitted, reporting, terminal};

pub(super) fn run(options: &Publish) -> anyhow::Result<Exit> {
    let hub = hub(options)?;
    let settings = Settings::read(options.config.as_deref())?;
    let hosts = hosts(options, &settings)?;
    let run = Run { options, settings: &settings, hub: hub.as_ref(), hosts: hosts.as_ref() };
    match &options.published.environment {
        Some(name) => {
            let environment = environment_name(name)?;
            let mut answer = run.publish(&environment)?;
            let shown = match options.output {
                Format::Human => terminal::answer(&answer.text),
                format => terminal::answer(&terminal::structured(&answer.fields, format)),
            };
            let exit = answer.exit()?;
            shown?;
            Ok(exit)
        }
        None => run.all(),
    }
}

/// What all environments have in common.
struct Run<'a> {
    options: &'a Publish,
    settings: &'a Settings,
    hub: Option<&'a Hub>,
    hosts: Option<&'a GitHosts>,
}

/// The answer for one environment.
struct Answer {
    text: String,
    fields: EnvironmentPublication,
    has_problems: bool,
    /// Whether a pull request is missing.
    is_incomplete: bool,
    /// The destinations that nothing was published to.
    failures: Vec<DestinationFailure>,
}

impl Answer {
    fn exit(&mut self) -> anyhow::Result<Exit> {
        if !self.failures.is_empty() {
            return Err(first(std::mem::take(&mut self.failures)));
        }
        if self.is_incomplete {
            return Err(Failure::outside("some pull requests could not be opened").into());
        }
        Ok(Exit::Good.unless(self.has_problems))
    }
}

impl Run<'_> {
    /// Publishes all environments. An error of one of them does not affect the others.
    fn all(&self) -> anyhow::Result<Exit> {
        let watch = Watch::start();
        let access = loading::access_with(self.settings, watch.progress())?;
        let names = delivery::reading::environment_names(&access)?;
        drop(watch);
        let (mut all, mut has_problems, mut unread) = (AllEnvironments::default(), false, None);
        for environment in &names {
            let (fields, result) = match self.publish(environment) {
                Ok(mut answer) => {
                    has_problems |= answer.has_problems;
                    // A reader that goes away must not keep the other environments from their publication.
                    if self.options.output == Format::Human && unread.is_none() {
                        unread = terminal::answer(&answer.text).err();
                    }
                    let result = answer.exit();
                    (Some(answer.fields), result)
                }
                Err(error) => (None, Err(error)),
            };
            if let Err(error) = &result {
                // If standard error is closed, there is no other place for this output.
                let _ = reporting::reasons_to_stderr(error);
                terminal::warn(&format!("{environment} could not be published: {error}"));
            }
            all.add(environment.as_str(), fields, result.err().map(|error| error.to_string()));
        }
        if self.options.output != Format::Human {
            unread = terminal::answer(&terminal::structured(&all, self.options.output)).err();
        }
        all.check("published")?;
        unread.map_or(Ok(Exit::Good.unless(has_problems)), |error| Err(error.into()))
    }

    fn publish(&self, environment: &EnvironmentName) -> anyhow::Result<Answer> {
        let options = self.options;
        let watch = Watch::start();
        let access = loading::access_with(self.settings, watch.progress())?;
        let reason = options.overriding.override_reason.as_deref();
        if reason.is_some_and(|reason| reason.trim().is_empty()) {
            return Err(Failure::usage("`--override` needs a reason")
                .help("it is kept in the commit, and shown")
                .into());
        }
        let overridden = self.overridden(&access, environment)?;
        let adopt = options.takeover.adopt.folders();
        let committed = PublishOptions {
            is_direct: options.direct,
            confirmed: &options.confirm,
            adopt: &adopt,
            committed_on: options.committed_on,
            foreign: if options.takeover.force { ForeignCommits::Replace } else { ForeignCommits::Keep },
            hosts: self.hosts,
            override_reason: overridden.as_ref().map(|overridden| &*overridden.text),
            overridden: overridden.as_ref().filter(|found| found.is_admitted).map(|found| &*found.text),
            waits: &[],
            problems: &[],
            lease: None,
        };
        let request = Request {
            environment,
            gitops_repo: options.gitops_repo.as_deref(),
            options: committed,
            hub: self.hub.map(|hub| HubReceiver { hub, environments: self.settings.environments() }),
            is_hub_only: options.publication_hub.hub_only,
        };
        let publish = || {
            let published = delivery::publication::publish::publish(&access, &request, &names::remember);
            let mut outcome = published.map_err(failure)?;
            if outcome.places.is_empty() && !outcome.failures.is_empty() {
                return Err(first(std::mem::take(&mut outcome.failures)));
            }
            Ok(outcome)
        };
        let mut publication = stepping::publish(self, (&access, environment), &publish)?;
        confirmed::note(&access, environment, (&publication.outcome, &options.confirm));
        let failures = std::mem::take(&mut publication.outcome.failures);
        Ok(Answer { failures, ..show((options, environment), publication, watch)? })
    }

    /// Admits what the branches name past its gates, if the user says so.
    fn overridden(
        &self,
        access: &Arc<RepositoryAccess>,
        environment: &EnvironmentName,
    ) -> anyhow::Result<Option<Overridden>> {
        let Overriding { override_reason, override_expires } = &self.options.overriding;
        let Some(reason) = override_reason else { return Ok(None) };
        let OverrideAuthor { account, author } = override_author(self.settings, access, self.hub)?;
        let request = OverrideRequest {
            by: &account,
            reason,
            at: jiff::Timestamp::now(),
            valid_for: *override_expires,
            author: &author,
            lease: None,
        };
        let admitted = override_gates(access, environment, &request).map_err(refusal)?;
        admitted.iter().for_each(|receipt| terminal::warn(&receipt.text));
        Ok(Some(Overridden { text: request.to_string(), is_admitted: !admitted.is_empty() }))
    }
}

/// A publication past its gates.
struct Overridden {
    /// The reason, who decided, and when it expires.
    text: String,
    /// Whether something was admitted by it.
    is_admitted: bool,
}

/// The hub that receives the publication. None if no hub is configured.
fn hub(options: &Publish) -> anyhow::Result<Option<Hub>> {
    let hub = Hub::for_publications(&options.publication_hub, options.config.as_deref())?;
    if options.publication_hub.hub_only && hub.is_none() {
        let help = "--hub or the variable KALYPSO_HUB_URL names one, or `hub.url` in kalypso.toml";
        return Err(Failure::usage("no hub is configured").help(help).into());
    }
    Ok(hub)
}

/// The git hosts on which pull requests are opened. None if none is configured, or none is wanted.
fn hosts(options: &Publish, settings: &Settings) -> anyhow::Result<Option<GitHosts>> {
    if options.pull_requests.no_pull_request || options.publication_hub.hub_only {
        return Ok(None);
    }
    if settings.demo()?.is_some_and(|demo| !demo.is_running()) {
        return without_host(options);
    }
    let hosts = settings.hosts()?.for_deliveries();
    if options.pull_requests.pull_request && hosts.is_none() {
        let help = "add the section [host] to kalypso.toml, with the variable or the file of its token";
        return Err(Failure::usage("no git host is configured").help(help).into());
    }
    Ok(hosts)
}

/// The first failure is the error; the others are warnings.
fn first(failures: Vec<DestinationFailure>) -> anyhow::Error {
    let mut failures = failures.into_iter();
    let first = failures.next();
    for DestinationFailure { gitops_repo, error } in failures {
        terminal::warn(&format!("nothing is published to {gitops_repo}: {error}"));
    }
    first.map_or_else(|| Failure::outside("nothing is published").into(), |failure| failure.error.into())
}

/// Publishes to a branch only, because the git host of the demo does not run.
fn without_host(options: &Publish) -> anyhow::Result<Option<GitHosts>> {
    if options.pull_requests.pull_request {
        let help = "start it with `kalypso serve`, in another terminal, in this folder";
        return Err(Failure::outside("the git host of the demo does not run").help(help).into());
    }
    if !options.direct {
        terminal::note(
            "note: without a pull request, because the git host of the demo does not run (`kalypso serve` starts it)",
        );
    }
    Ok(None)
}

/// The error for a publication that failed.
pub(super) fn failure(error: PublicationFailure) -> anyhow::Error {
    match error {
        PublicationFailure::Read(error) => error.into(),
        PublicationFailure::Destination(error) => error.into(),
        PublicationFailure::Hub(error) => publication_failure(&error).into(),
    }
}

/// The results for all places.
fn show(
    (options, environment): (&Publish, &EnvironmentName),
    publication: Publication,
    watch: Watch,
) -> anyhow::Result<Answer> {
    match &publication.outcome.end {
        End::Complete => finish((options, environment), publication, watch),
        End::Incomplete(loaded) => Err(Error::Incomplete(Arc::clone(loaded)).into()),
        End::LostRaces => {
            if !publication.outcome.places.is_empty() {
                // A reader that goes away must not hide the error.
                let _ = terminal::answer(&finish((options, environment), publication, watch)?.text);
            }
            let message = "the GitOps branch moved again and again while this was pushed";
            Err(Failure::outside(message).help("try again").into())
        }
    }
}

fn finish(
    (options, environment): (&Publish, &EnvironmentName),
    publication: Publication,
    mut watch: Watch,
) -> anyhow::Result<Answer> {
    let outcome = &publication.outcome;
    let places = &outcome.places;
    // The step of this publication may have stored more than what was known before.
    let loaded = places.last().map(|place| &*place.loaded).filter(|_| !options.publication_hub.hub_only);
    let not_admitted = loaded.map(enforcement::not_admitted).unwrap_or_default();
    let waits: Vec<_> = not_admitted::diagnostics(&not_admitted).collect();
    let found: Vec<_> = places.iter().map(|place| publication_diagnostics(place, &waits)).collect();
    let mut report = DiagnosticReport::new();
    for (place, diagnostics) in places.iter().zip(&found) {
        report.add_problems(&place.loaded, DiagnosticBatch::of_plan(diagnostics, &place.planned));
    }
    watch.end();
    publication.warnings.iter().for_each(|warning| terminal::warn(warning));
    if let Some(error) = places.iter().find_map(|place| place.hub.as_ref()?.as_ref().err()) {
        warn((options, environment), &publication_failure(error));
    }
    let is_incomplete = pull_request::warn(outcome);
    // The reuse of earlier results is taken from the last attempt.
    let reuse = reuse(places.last().map(|place| &*place.planned.compiled));
    let texts = publication.earlier.iter().map(|(text, _)| text.clone());
    let texts = texts.chain(places.iter().map(|place| text(place, options))).collect::<String>();
    if options.output == Format::Human {
        reporting::to_stderr(&report)?;
    }
    let fields = EnvironmentPublication::new((environment, outcome), &not_admitted, &report)
        .after(publication.earlier.into_iter().map(|(_, fields)| fields));
    let has_problems = publication.needs_person || report.has_problems(options.strict);
    let text = format!("{texts}{}\n{}\n", not_admitted::text(&not_admitted), reuse_text(reuse));
    Ok(Answer { text, fields, has_problems, is_incomplete, failures: Vec::new() })
}

/// Warns that the hub did not receive a publication, which is successful nevertheless, and how to send it later.
fn warn((options, environment): (&Publish, &EnvironmentName), failure: &Failure) {
    terminal::warn(&format!("the hub did not get the publication: {failure}"));
    if let Some(help) = &failure.help {
        terminal::note(&format!("  = help: {help}"));
    }
    let again = format!("kalypso publish -e {environment}");
    let later = if options.direct {
        format!("run `{again} --hub-only`")
    } else {
        format!("run `{again}` again; after the merge, run `{again} --hub-only`")
    };
    terminal::note(&format!("  = help: {later}"));
}

fn text(place: &PlaceOutcome, options: &Publish) -> String {
    let told = match &place.hub {
        Some(Ok(folders)) => format!("Sent {} to the hub\n", terminal::count(*folders, "folder")),
        _ => String::new(),
    };
    if options.publication_hub.hub_only {
        return told;
    }
    format!("{}{}{told}", delivered_text(place), pull_request::text(place))
}

fn delivered_text(place: &PlaceOutcome) -> String {
    let loaded = &place.loaded;
    let branch = &place.planned.target.branch.name;
    let environment = &loaded.fleet.environment;
    match &place.delivered {
        Some(Delivered::Pushed { branch: pushed, commit, .. }) => {
            let next = if **pushed == *place.planned.target.place.branch || place.pull_request.is_some() {
                String::new()
            } else {
                format!("\nMerge {pushed} into {branch} to let clusters pull it.\n")
            };
            format!(
                "Published {environment} to {pushed} ({})\n\n{}{next}",
                commit.short(),
                summary::whole(&place.planned, loaded)
            )
        }
        Some(Delivered::Proposed { branch: pushed }) => {
            format!(
                "Nothing to do: {pushed} proposes this for {branch} already\n\n{}",
                summary::whole(&place.planned, loaded)
            )
        }
        Some(Delivered::Withdrawn { branch: withdrawn, is_merged }) => {
            let because = if *is_merged { "was merged" } else { "proposed something else" };
            format!("Nothing to do: {branch} is up to date; {withdrawn}, which {because}, was removed\n")
        }
        Some(_) if place.planned.plan.is_failing() || place.planned.renderer.is_some() => {
            format!("Nothing to do: {branch} stays as it is\n\n{}", summary::whole(&place.planned, loaded))
        }
        Some(_) => format!(
            "Nothing to do: {branch} is up to date ({} assignments)\n",
            terminal::thousands(place.planned.plan.unchanged)
        ),
        None if matches!(place.pull_request, Some(Ok(_))) => String::new(),
        None => format!("Nothing was published to {branch}\n"),
    }
}
