//! Promotions: decisions of people, where changes stand, and steps without the service.

pub(super) mod commit_wait;
pub(crate) mod dry_run;
mod failed_hosts;
mod filters;
mod graph_text;
mod local;
mod subject;

use std::time::Duration;

use hub_api::promotions::{PromotionAction, PromotionCommand, PromotionReceipt, PromotionStatus, SubjectStatus};
use hub_api::timestamp::Timestamp;
use serde_json::json;

use self::failed_hosts::FailedHosts;
use self::local::LocalController;
use self::subject::Wanted;

use crate::arguments::{
    Abort, Decision, Format, Hold, HubConnection, Promote, PromotionSubject, ReasonedDecision, Resume, Retry, Rollback,
    RolloutAdvance, RolloutRestore, RolloutStatus, Skip,
};
use crate::exit::{Exit, Failure};
use crate::hub_client::{self, Hub};
use crate::terminal::{self, InPlace};

/// The interval between two questions of `--watch`.
const WATCH_INTERVAL: Duration = Duration::from_secs(2);

pub(super) fn hold(options: &Hold) -> anyhow::Result<Exit> {
    decide_with_reason(&options.decision, PromotionAction::Hold)
}

pub(super) fn resume(options: &Resume) -> anyhow::Result<Exit> {
    decide_plainly(&options.decision, PromotionAction::Resume)
}

pub(super) fn abort(options: &Abort) -> anyhow::Result<Exit> {
    decide_with_reason(&options.decision, PromotionAction::Abort)
}

pub(super) fn retry(options: &Retry) -> anyhow::Result<Exit> {
    decide_plainly(&options.decision, PromotionAction::Retry)
}

pub(super) fn skip(options: &Skip) -> anyhow::Result<Exit> {
    decide(&options.of, PromotionAction::Skip, |command| {
        command.gate = Some(options.gate.clone());
        command.revision.clone_from(&options.revision);
        command.reason = Some(options.reason.clone());
    })
}

pub(super) fn rollback(options: &Rollback) -> anyhow::Result<Exit> {
    decide(&options.decision.of, PromotionAction::Rollback, |command| {
        command.to.clone_from(&options.to);
        command.with_values = options.with_values;
        command.reason = Some(options.decision.reason.clone());
    })
}

pub(super) fn promote(options: &Promote) -> anyhow::Result<Exit> {
    let controller = LocalController::open(&options.connection);
    if let Ok(controller) = &controller {
        controller.names(Some(&options.to))?;
    }
    let status = || Ok(graph(&options.connection, Some(&options.to))?.0);
    let wanted = match (&controller, subject::plain(options)) {
        // The service finds out whether it has such a commit or workload.
        (Err(_), Some(plain)) if !options.dry_run && service(&options.connection)?.is_some() => vec![plain],
        (Ok(controller), _) => subject::wanted(&controller.access, options, status)?,
        (Err(_), _) => Vec::new(),
    };
    if options.dry_run || wanted.is_empty() {
        let controller = controller?;
        let steps = wanted.iter().map(|wanted| dry_run::steps(&controller, (wanted, &options.to)));
        let moves = steps.collect::<anyhow::Result<Vec<_>>>()?;
        match options.connection.output {
            Format::Human => terminal::answer(&dry_run::text(&moves))?,
            format => terminal::answer(&terminal::structured(&dry_run::PlannedMoves { moves }, format))?,
        }
        return Ok(Exit::Good);
    }
    let mut exit = Exit::Good;
    for Wanted { subject, revision } in wanted {
        let (environment, connection) = (options.to.clone(), options.connection.clone());
        let of = PromotionSubject { environment, subject, connection };
        exit = decide(&of, PromotionAction::Promote, |command| {
            command.revision = Some(revision);
            command.reason.clone_from(&options.reason);
        })?;
    }
    Ok(exit)
}

/// Sends a decision that may have a reason, and nothing else.
fn decide_plainly(decision: &Decision, action: PromotionAction) -> anyhow::Result<Exit> {
    decide(&decision.of, action, |command| command.reason.clone_from(&decision.reason))
}

/// Sends a decision that has a reason, and nothing else.
fn decide_with_reason(decision: &ReasonedDecision, action: PromotionAction) -> anyhow::Result<Exit> {
    decide(&decision.of, action, |command| command.reason = Some(decision.reason.clone()))
}

/// Sends a decision to the service. Without one, stores it on the branch with the states.
pub(super) fn decide(
    of: &PromotionSubject,
    action: PromotionAction,
    complete: impl FnOnce(&mut PromotionCommand),
) -> anyhow::Result<Exit> {
    let subject = of.subject.clone();
    let mut command = PromotionCommand {
        subject,
        command: action,
        revision: None,
        to: None,
        with_values: false,
        gate: None,
        reason: None,
    };
    complete(&mut command);
    let service = service(&of.connection)?;
    let receipt = match &service {
        Some(hub) => hub.ask(hub.client.command_promotion(&of.environment, &command))?,
        None => LocalController::open(&of.connection)?.decide(&of.environment, &command)?,
    };
    confirm(&receipt, of.connection.output)
}

/// `kalypso rollout restore`: the repository is the only place of the states, so it never goes through the service.
pub(super) fn restore(options: &RolloutRestore) -> anyhow::Result<Exit> {
    let receipt = LocalController::open(&options.connection)?.restore(options)?;
    confirm(&receipt, options.connection.output)
}

fn confirm(receipt: &PromotionReceipt, format: Format) -> anyhow::Result<Exit> {
    match format {
        Format::Human => terminal::answer(&format!("{}\n", hub_client::plain(&receipt.text)))?,
        format => terminal::answer(&terminal::structured(&receipt, format))?,
    }
    Ok(Exit::Good)
}

/// The hub with the service. None if no hub is configured, or if its process is only a hub.
fn service(connection: &HubConnection) -> anyhow::Result<Option<Hub>> {
    let Some(hub) = Hub::configured(connection)? else { return Ok(None) };
    // Promotions may be empty for a moment after the start, but not the environments.
    let is_serving = !hub.ask(hub.client.syncs())?.is_empty();
    Ok(is_serving.then_some(hub))
}

/// `kalypso rollout status` without a subject: the graph, asked of the service, or computed here.
pub(super) fn status(options: &RolloutStatus) -> anyhow::Result<Exit> {
    filters::check(options)?;
    let (mut shown, mut screen) = (None, InPlace::default());
    loop {
        let (mut graph, exit) = graph(&options.connection, options.filter.environment.as_deref())?;
        if let Some(workload) = &options.filter.workload {
            graph = filters::of_workload(graph, workload)?;
        }
        if shown.as_ref() != Some(&graph) {
            match options.connection.output {
                Format::Human => screen.answer(&text(&options.connection, &graph)?)?,
                format => terminal::answer(&terminal::structured(&json!({"environments": graph}), format))?,
            }
            shown = Some(graph);
        }
        if !options.watch {
            return Ok(exit);
        }
        std::thread::sleep(WATCH_INTERVAL);
    }
}

/// A graph as text, with the hosts that failed as far as a hub knows them.
fn text(connection: &HubConnection, graph: &[PromotionStatus]) -> anyhow::Result<String> {
    let (hub, now) = (Hub::configured(connection)?, Timestamp::now());
    let failed = hub.map(|hub| FailedHosts::ask(&hub, graph, now)).unwrap_or_default();
    Ok(graph_text::text((graph, &failed), now))
}

/// Where a workload stands in its rings, and its release before environments, as text. Empty: nothing moves, and nothing is held or rejected.
pub(super) fn moves_of(hub: &Hub, workload: &str, environment: Option<&str>) -> Result<String, Failure> {
    let mut graph = hub.ask(hub.client.promotions())?;
    graph.retain(|one| environment.is_none_or(|name| name == one.environment));
    for one in &mut graph {
        // These are about the whole environment.
        (one.problem, one.waiting_for) = (None, Vec::new());
        one.subjects.retain(|subject| subject.is_of_workload(workload) && is_open(subject));
    }
    graph.retain(|one| !one.subjects.is_empty());
    let now = Timestamp::now();
    let failed = FailedHosts::ask(hub, &graph, now);
    Ok(if graph.is_empty() { String::new() } else { graph_text::text((&graph, &failed), now) })
}

fn is_open(subject: &SubjectStatus) -> bool {
    let SubjectStatus { moving, waiting_for, waiting_revisions, rejected, hold, .. } = subject;
    let is_answered = waiting_for.iter().any(|wait| wait.command.is_some());
    is_answered || moving.is_some() || !waiting_revisions.is_empty() || rejected.is_some() || hold.is_some()
}

/// The named environment, or all of them.
fn named(found: Vec<PromotionStatus>, environment: Option<&str>) -> Result<Vec<PromotionStatus>, Failure> {
    let Some(name) = environment else { return Ok(found) };
    let known: Vec<_> = found.iter().map(|one| one.environment.clone()).collect();
    let found: Vec<_> = found.into_iter().filter(|one| one.environment == name).collect();
    if found.is_empty() {
        let unknown = Failure::refused(format!("the service has no promotion into `{name}`"));
        let help = format!("it has promotions into {}", terminal::named(&known));
        return Err(unknown.did_you_mean(name, known.iter().map(String::as_str), help));
    }
    Ok(found)
}

/// Where changes stand, and whether all of it is known: asked of the service, or computed here.
fn graph(connection: &HubConnection, environment: Option<&str>) -> anyhow::Result<(Vec<PromotionStatus>, Exit)> {
    if let Some(hub) = Hub::configured(connection)? {
        let found = hub.ask(hub.client.promotions())?;
        if !found.is_empty() {
            return Ok((named(found, environment)?, Exit::Good));
        }
    }
    let controller = LocalController::open(connection)?;
    let (mut graph, mut exit) = (Vec::new(), Exit::Good);
    for environment in controller.environments(environment)? {
        let found = controller.look(&environment);
        exit = exit.and(found.unreachable());
        // When it is computed here, each call has another time.
        graph.extend(found.status.map(|status| PromotionStatus { evaluated_on: None, ..status }));
    }
    Ok((graph, exit))
}

/// `kalypso rollout advance`: one step of each environment. One that fails does not affect the others.
pub(super) fn advance(options: &RolloutAdvance) -> anyhow::Result<Exit> {
    let controller = LocalController::open(&options.connection)?;
    let (mut graph, mut exit) = (Vec::new(), Exit::Good);
    for environment in controller.environments(options.environment.as_deref())? {
        let done = controller.advance(&environment);
        done.warnings.iter().for_each(|warning| terminal::warn(&format!("{}: {warning}", environment.name)));
        exit = exit.and(done.exit);
        graph.extend(done.status);
    }
    match options.connection.output {
        Format::Human => terminal::answer(&text(&options.connection, &graph)?)?,
        format => terminal::answer(&terminal::structured(&json!({"environments": graph}), format))?,
    }
    Ok(exit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_environment_is_an_error_that_names_the_known_ones() {
        let status = |name: &str| PromotionStatus {
            environment: name.to_owned(),
            before: Vec::new(),
            after: Vec::new(),
            evaluated_on: None,
            problem: None,
            waiting_for: Vec::new(),
            subjects: Vec::new(),
        };
        let all = || vec![status("stage"), status("prod")];
        let of =
            |name| named(all(), name).map(|found| found.into_iter().map(|one| one.environment).collect::<Vec<_>>());
        assert_eq!(of(None).unwrap(), ["stage", "prod"]);
        assert_eq!(of(Some("prod")).unwrap(), ["prod"]);
        let unknown = |name| format!("{:?}", of(Some(name)).unwrap_err());
        assert!(unknown("prdo").contains("did you mean `prod`?"), "{}", unknown("prdo"));
        assert!(unknown("lab").contains("it has promotions into stage, prod"), "{}", unknown("lab"));
    }
}
