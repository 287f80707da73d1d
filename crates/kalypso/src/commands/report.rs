//! `kalypso report`: reports the applied state to the hub, directly or in a signed file.

mod batches;
pub(crate) mod signed;

use std::fmt::Write as _;
use std::path::Path;

use hub_api::report::receipt::Receipt;
use hub_api::report::{Report as Said, generic};
use hub_api::timestamp::Timestamp;
use serde_json::{Value, json};

use self::batches::{Batch, batches};
use super::hub::{STANDARD_STREAM, labels};
use crate::arguments::{Format, Report};
use crate::exit::{Exit, Failure};
use crate::hub_client::{Hub, plain};
use crate::terminal;
use crate::times::{duration, timestamp};

pub(super) fn run(options: &Report) -> anyhow::Result<Exit> {
    let given = match &options.file {
        Some(file) => read(file)?,
        None => generic::write(&one(options)?).into_bytes(),
    };
    match &options.out {
        Some(file) => signed::keep(options, &given, file),
        None => send(options, &given),
    }
}

fn send(options: &Report, given: &[u8]) -> anyhow::Result<Exit> {
    let patience = duration("--retry-for", &options.retry_for)?;
    let hub = Hub::from_connection(&options.connection)?;
    let mut whole = Receipt::default();
    for Batch { body, lines, before } in batches(given) {
        let part = hub.report(body, lines.is_some(), patience).map_err(|error| {
            match lines.as_ref().and_then(|lines| lines.first()) {
                Some(line) if before > 0 => {
                    Failure { message: format!("{error}; the reports before line {line} have arrived"), ..error }
                }
                _ => error,
            }
        })?;
        whole.add(part, before, lines.as_deref());
    }
    let exit = Exit::Good.unless(!whole.refused.is_empty() || !whole.apart.is_empty());
    if options.connection.output == Format::Human {
        terminal::answer(&text(&whole))?;
    } else {
        terminal::answer(&terminal::structured(&whole, options.connection.output))?;
    }
    Ok(exit)
}

/// The result of sending reports, as text.
fn text(receipt: &Receipt) -> String {
    let counts = [
        (receipt.stored, "stored"),
        (receipt.confirmed, "confirmed: so it was already"),
        (receipt.repeated, "repeated: known already"),
        (receipt.apart.len(), "kept apart: not counted"),
        (receipt.refused.len(), "refused"),
    ];
    let line = |(count, what): &(usize, &str)| format!("{} {what}\n", terminal::count(*count, "report"));
    let mut text: String = counts.iter().filter(|(count, _)| *count > 0).map(line).collect();
    for refused in receipt.apart.iter().chain(&receipt.refused) {
        let place = refused.line.map_or_else(String::new, |line| format!("line {line}: "));
        let _ = writeln!(text, "  {place}{}: {}", plain(&refused.field), plain(&refused.message));
    }
    text
}

/// The report of the arguments.
fn one(options: &Report) -> Result<Said, Failure> {
    let heartbeat = options.heartbeat.as_deref().map(|text| duration("--heartbeat", text)).transpose()?;
    let observed = options.observed_at.as_deref().map(|text| timestamp("--observed-at", text)).transpose()?;
    let place = options
        .repository
        .as_ref()
        .map(|repository| json!({ "repository": repository, "branch": options.branch, "path": options.path }));
    let object: Value = json!({
        "host": options.host,
        "reconciler": options.reconciler,
        "type": options.kind,
        "place": place,
        "revision": options.commit,
        "tree": options.tree,
        "version": options.version,
        "workload": options.workload,
        "environment": options.environment,
        "status": options.status,
        "message": options.message,
        "heartbeatSeconds": heartbeat.map(|time| time.as_secs()),
        "labels": labels(&options.label)?,
    });
    let read = generic::read_one(object.to_string().as_bytes(), observed.unwrap_or_else(Timestamp::now));
    read.map_err(|error| Failure::usage(error.to_string()))
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = if file == Path::new(STANDARD_STREAM) {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    read.map_err(|error| Failure::outside(format!("`{}` can't be read: {error}", file.display())))
}
