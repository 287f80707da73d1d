//! `kalypso publish`: commits the environment's files and pushes them to the GitOps repository.

use delivery::compilation::{Reuse, reuse};
use delivery::hub_publication::Receiver;
use delivery::publish::{End, Options, Outcome, PlaceOutcome, PublicationError, Request};
use delivery::push::Delivered;
use delivery::refusal::Refusal;
use engine::plan::ChangeKind;
use model::diagnostic::Diagnostic;
use serde_json::{Value as Json, json};

use super::plan::answer::LISTED_MAX;
use super::plan::confirmation::{confirmation, unconfirmed};
use super::plan::fallback;
use super::plan::selection::View;
use crate::arguments::{Format, Publish};
use crate::diagnostics::{Batch, Report, reuse_text};
use crate::exit::{Exit, Failure};
use crate::hub_client::{Hub, publication_failure};
use crate::progress::Watch;
use crate::{configuration, loading, names, reporting, terminal};

pub(super) fn run(options: &Publish) -> anyhow::Result<Exit> {
    let hub = hub(options)?;
    let environments = match hub {
        Some(_) => configuration::read_environments(options.config.as_deref())?,
        None => Vec::new(),
    };
    let watch = Watch::start();
    let environment = &loading::environment_name(&options.environment)?;
    let access = loading::access(options.config.as_deref(), watch.progress())?;
    let request = Request {
        environment,
        gitops_repo: options.gitops_repo.as_deref(),
        options: Options {
            is_direct: options.direct,
            confirmed: &options.confirm,
            adopt: options.adopt,
            committed_on: options.committed_on,
        },
        hub: hub.as_ref().map(|hub| Receiver { hub, environments: &environments }),
        is_hub_only: options.publication_hub.hub_only,
    };
    let outcome = delivery::publish::publish(&access, &request, &names::remember).map_err(failure)?;
    show(options, outcome, watch)
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

fn failure(error: PublicationError) -> anyhow::Error {
    match error {
        PublicationError::Read(error) => error.into(),
        PublicationError::Destination(error) => error.into(),
        PublicationError::Hub(error) => publication_failure(&error).into(),
    }
}

/// Shows the results for all places.
fn show(options: &Publish, outcome: Outcome, mut watch: Watch) -> anyhow::Result<Exit> {
    match outcome.end {
        End::Complete => finish(options, &outcome.places, watch),
        End::Incomplete(loaded) => Err(loading::incomplete(&loaded, &mut watch)),
        End::LostRaces => {
            if !outcome.places.is_empty() {
                finish(options, &outcome.places, watch)?;
            }
            let message = "the GitOps branch moved again and again while this was pushed";
            Err(Failure::outside(message).help("try again").into())
        }
    }
}

fn finish(options: &Publish, places: &[PlaceOutcome], mut watch: Watch) -> anyhow::Result<Exit> {
    let found: Vec<_> = places.iter().map(diagnostics).collect();
    let mut report = Report::new();
    for (place, diagnostics) in places.iter().zip(&found) {
        let batch = reporting::batch(diagnostics, &place.planned.compiled);
        let sensitive = Some(place.planned.sensitive());
        reporting::add(&mut report, &place.loaded, Batch { fallback: fallback(&place.planned), sensitive, ..batch });
    }
    watch.end();
    if let Some(error) = places.iter().find_map(|place| place.hub.as_ref()?.as_ref().err()) {
        warn(options, &publication_failure(error));
    }
    // The reuse of earlier results is taken from the last attempt.
    let reuse = reuse(places.last().map(|place| &*place.planned.compiled));
    match options.output {
        Format::Human => {
            reporting::to_stderr(&report)?;
            let texts = places.iter().map(|place| text(place, options)).collect::<String>();
            terminal::answer(&format!("{texts}\n{}\n", reuse_text(reuse)))?;
        }
        format => {
            let Reuse { recomputed, assignments } = reuse;
            let answer = json!({
                "environment": options.environment,
                "assignments": assignments,
                "recomputed": recomputed,
                "published": places.iter().map(answer).collect::<Vec<_>>(),
                "report": reporting::json(&report),
            });
            terminal::answer(&terminal::structured(&answer, format))?;
        }
    }
    Ok(Exit::Good.unless(reporting::has_problems(&report, options.strict)))
}

/// All diagnostics of a place, including the reasons why nothing was pushed.
pub(super) fn diagnostics(place: &PlaceOutcome) -> Vec<Diagnostic> {
    let refusals = place.refusals.iter().map(|refusal| match refusal {
        Refusal::Diagnostic(diagnostic) => diagnostic.clone(),
        Refusal::Unconfirmed { has_other_words } => unconfirmed(&place.planned, *has_other_words),
    });
    place.diagnostics.iter().cloned().chain(refusals).collect()
}

/// Warns that the hub did not receive a publication, which is successful nevertheless, and how to send it later.
fn warn(options: &Publish, failure: &Failure) {
    terminal::warn(&format!("the hub did not get the publication: {failure}"));
    if let Some(help) = &failure.help {
        terminal::note(&format!("  = help: {help}"));
    }
    let again = format!("kalypso publish -e {}", options.environment);
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
    if options.publication_hub.hub_only { told } else { format!("{}{told}", delivered_text(place, options)) }
}

fn delivered_text(place: &PlaceOutcome, options: &Publish) -> String {
    let loaded = &place.loaded;
    let branch = &place.planned.target.branch.name;
    let environment = &loaded.fleet.environment;
    match &place.delivered {
        Some(Delivered::Pushed { branch: pushed, commit, .. }) => {
            let next = if options.direct {
                String::new()
            } else {
                format!("\nMerge {pushed} into {branch} to let clusters pull it.\n")
            };
            format!(
                "Published {environment} to {pushed} ({})\n\n{}{next}",
                commit.short(),
                View::whole(&place.planned).summary(loaded)
            )
        }
        Some(Delivered::Proposed { branch: pushed }) => {
            format!(
                "Nothing to do: {pushed} proposes this for {branch} already\n\n{}",
                View::whole(&place.planned).summary(loaded)
            )
        }
        Some(Delivered::Withdrawn { branch: withdrawn, is_merged }) => {
            let because = if *is_merged { "was merged" } else { "proposed something else" };
            format!("Nothing to do: {branch} is as it should be; {withdrawn}, which {because}, was removed\n")
        }
        Some(_) if place.planned.plan.is_failing() => {
            format!("Nothing to do: {branch} stays as it is\n\n{}", View::whole(&place.planned).summary(loaded))
        }
        Some(_) => format!(
            "Nothing to do: {branch} is as it should be ({} assignments)\n",
            terminal::thousands(place.planned.plan.unchanged)
        ),
        None => format!("Nothing was published to {branch}\n"),
    }
}

fn answer(place: &PlaceOutcome) -> Json {
    let (result, branch, commit) = match &place.delivered {
        Some(Delivered::Pushed { branch, commit, .. }) => ("pushed", Some(branch.clone()), Some(commit.to_string())),
        Some(Delivered::Proposed { branch }) => ("proposed", Some(branch.clone()), None),
        Some(Delivered::UpToDate) => ("unchanged", None, None),
        Some(Delivered::Withdrawn { branch, .. }) => ("withdrawn", Some(branch.clone()), None),
        None if place.hub.is_some() => ("sent", None, None),
        Some(Delivered::LostRace) | None => ("refused", None, None),
    };
    let hub = place.hub.as_ref().map(|result| if result.is_ok() { "sent" } else { "failed" });
    let plan = &place.planned.plan;
    json!({
        "gitopsRepo": place.planned.target.name,
        "result": result,
        "branch": branch,
        "commit": commit,
        "hub": hub,
        "confirmation": confirmation(&place.planned, LISTED_MAX),
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
