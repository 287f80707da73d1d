//! `kalypso audit`: who decided what, and what was published, as one file.

use delivery::promotion::audit::{AuditRow, IncompleteAudit, Period, rows};
use delivery::reading::ReadAt;
use hub_api::timestamp::Timestamp;
use serde_json::json;

use crate::arguments::{Audit, AuditCommand, AuditFormat, ExportAudit, Format, SourceOptions};
use crate::exit::{Exit, Failure};
use crate::progress::Watch;
use crate::times::timestamp;
use crate::{loading, terminal};
use workbench::visible::visible;

pub(super) fn run(options: &Audit) -> anyhow::Result<Exit> {
    let AuditCommand::Export(options) = &options.command;
    export(options)
}

fn export(options: &ExportAudit) -> anyhow::Result<Exit> {
    let from = timestamp("--from", &options.from)?;
    let until = options.to.as_deref().map_or_else(|| Ok(Timestamp::now()), |to| timestamp("--to", to))?;
    if until <= from {
        return Err(Failure::usage(format!("--to {until} is not after --from {from}")).into());
    }
    let instant = |at: Timestamp| jiff::Timestamp::from_millisecond(at.millis()).unwrap_or(jiff::Timestamp::MIN);
    let period = Period { from: instant(from), until: instant(until) };
    let mut watch = Watch::start();
    let source = SourceOptions { config: options.config.clone(), ..SourceOptions::default() };
    let loaded = loading::environment(&source, &options.environment, ReadAt::Heads, &watch)?;
    let rows = rows(&loaded, period).map_err(failure)?;
    watch.end();
    match options.output {
        AuditFormat::Csv => terminal::answer_part(&csv(&rows))?,
        AuditFormat::Json => {
            let environment = loaded.fleet.environment.as_str();
            let answer = json!({"environment": environment, "from": from, "to": until, "items": rows});
            terminal::answer(&terminal::structured(&answer, Format::Json))?;
        }
    }
    Ok(Exit::Good)
}

fn failure(error: IncompleteAudit) -> Failure {
    let text = error.to_string();
    match error {
        IncompleteAudit::TooLong { .. } => Failure::refused(text),
        IncompleteAudit::Event { .. } => {
            Failure::refused(text).help("use the version of Kalypso that wrote it, or a later one")
        }
        IncompleteAudit::Directory => Failure::usage(text),
        IncompleteAudit::States(_) => Failure::refused(text).help("`kalypso rollout restore` restores the branch"),
        IncompleteAudit::Repository(_) | IncompleteAudit::Pins(_) | IncompleteAudit::Destination(_) => {
            Failure::outside(text)
        }
    }
}

/// The columns.
const HEADING: [&str; 10] =
    ["at", "kind", "subject", "revision", "by", "text", "evidence", "repository", "branch", "commit"];

fn csv(rows: &[AuditRow]) -> String {
    let heading = HEADING.map(str::to_owned);
    let all = std::iter::once(heading).chain(rows.iter().map(cells));
    all.map(|cells| format!("{}\r\n", cells.map(|text| cell(&text)).join(","))).collect()
}

fn cells(row: &AuditRow) -> [String; 10] {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let evidence = row.evidence.as_ref().map(ToString::to_string);
    [
        format!("{:.3}", row.at),
        row.kind.clone(),
        text(&row.subject),
        text(&row.revision),
        text(&row.by),
        row.text.clone(),
        evidence.unwrap_or_default(),
        row.held_in.repository.clone(),
        row.held_in.branch.clone(),
        row.held_in.commit.clone(),
    ]
}

/// A cell, in quotes where RFC 4180 needs them. A text that a spreadsheet would run as a formula begins with an apostrophe: anybody who writes a commit chooses texts.
fn cell(text: &str) -> String {
    let mut shown = visible(text).into_owned();
    if shown.starts_with(['=', '+', '-', '@', '\t']) {
        shown.insert(0, '\'');
    }
    if shown.contains(['"', ',', '\n']) { format!("\"{}\"", shown.replace('"', "\"\"")) } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let check = |text: &str, expected: &str| assert_eq!(cell(text), expected);
        check("", "");
        check("an outage", "an outage");
        check("prod, stage", "\"prod, stage\"");
        check("the \"new\" one", "\"the \"\"new\"\" one\"");
        check("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\"");
        check("+1", "'+1");
    }
}
