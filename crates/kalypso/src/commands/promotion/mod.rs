//! Decisions of people about promotions: `hold`, `resume`, `abort`, `retry`, `skip`, `approve`, `rollback` and `promote`.

pub(super) mod graph_text;

use hub_api::promotions::{PromotionAction, PromotionCommand, PromotionReceipt};
use serde_json::json;

use crate::arguments::{
    Abort, Approve, Format, Hold, HubConnection, Promote, PromotionSubject, Resume, Retry, Rollback, Skip,
};
use crate::exit::Exit;
use crate::hub_client::Hub;
use crate::terminal;

pub(super) fn hold(options: &Hold) -> anyhow::Result<Exit> {
    decide(&options.of, PromotionAction::Hold, |command| command.reason = Some(options.reason.clone()))
}

pub(super) fn resume(options: &Resume) -> anyhow::Result<Exit> {
    decide(&options.of, PromotionAction::Resume, |command| command.reason.clone_from(&options.reason))
}

pub(super) fn abort(options: &Abort) -> anyhow::Result<Exit> {
    decide(&options.of, PromotionAction::Abort, |command| command.reason = Some(options.reason.clone()))
}

pub(super) fn retry(options: &Retry) -> anyhow::Result<Exit> {
    decide(&options.of, PromotionAction::Retry, |command| command.reason.clone_from(&options.reason))
}

pub(super) fn skip(options: &Skip) -> anyhow::Result<Exit> {
    decide(&options.of, PromotionAction::Skip, |command| {
        command.gate = Some(options.gate.clone());
        command.reason = Some(options.reason.clone());
    })
}

pub(super) fn approve(options: &Approve) -> anyhow::Result<Exit> {
    decide(&options.of, PromotionAction::Approve, |command| {
        command.gate.clone_from(&options.gate);
        command.revision.clone_from(&options.revision);
        command.reason.clone_from(&options.reason);
    })
}

pub(super) fn rollback(options: &Rollback) -> anyhow::Result<Exit> {
    decide(&options.of, PromotionAction::Rollback, |command| command.reason = Some(options.reason.clone()))
}

pub(super) fn promote(options: &Promote) -> anyhow::Result<Exit> {
    let of = PromotionSubject {
        environment: options.to.clone(),
        subject: None,
        connection: options.connection.clone(),
    };
    decide(&of, PromotionAction::Promote, |command| {
        command.revision = Some(options.what.clone());
        command.reason.clone_from(&options.reason);
    })
}

fn decide(
    of: &PromotionSubject,
    action: PromotionAction,
    complete: impl FnOnce(&mut PromotionCommand),
) -> anyhow::Result<Exit> {
    let subject = of.subject.clone();
    let mut command = PromotionCommand { subject, command: action, revision: None, gate: None, reason: None };
    complete(&mut command);
    let receipt = by_service(&of.connection, &of.environment, &command)?;
    show(&receipt, of.connection.output)
}

fn by_service(
    connection: &HubConnection,
    environment: &str,
    command: &PromotionCommand,
) -> anyhow::Result<PromotionReceipt> {
    let hub = Hub::of(connection)?;
    Ok(hub.ask(hub.client.command_promotion(environment, command))?)
}

fn show(receipt: &PromotionReceipt, format: Format) -> anyhow::Result<Exit> {
    match format {
        Format::Human => terminal::answer(&format!("{}\n", receipt.text))?,
        format => terminal::answer(&terminal::structured(&json!(receipt), format))?,
    }
    Ok(Exit::Good)
}
