//! `kalypso events`: a stream of changes.

use hub_api::client::StreamItem;
use hub_api::events::{DesiredChange, FleetChange, ReportChange, SilenceChange};
use hub_api::promotions::PromotionChange;
use hub_api::timestamp::Timestamp;
use serde_json::Value;

use super::history::about;
use crate::arguments::{self, Format};
use crate::exit::Exit;
use crate::hub_client::{self, Hub};
use crate::{table, terminal};

pub(super) fn run(options: &arguments::Events) -> anyhow::Result<Exit> {
    let hub = Hub::from_connection(&options.connection)?;
    let filter = hub_client::filter(&options.filter, Some(&options.hosts), options.status.as_ref());
    let (mut left, mut is_lost) = (options.limit.unwrap_or(usize::MAX), false);
    if left == 0 {
        return Ok(Exit::Good);
    }
    hub.follow(&filter, options.after.clone(), |followed| {
        match followed {
            StreamItem::FleetChange { id, change } => {
                is_lost = false;
                left -= 1;
                terminal::answer(&text(id, change, options.connection.output))?;
            }
            StreamItem::Lost(error) if !is_lost => {
                is_lost = true;
                terminal::warn(&format!("{error}; the stream continues when the hub is reachable again"));
            }
            StreamItem::Lost(_) => {}
        }
        Ok(left > 0)
    })?;
    Ok(Exit::Good)
}

/// Formats an event for programs, with its id: one JSON object per line, or one document per event.
fn text(id: String, mut change: Value, format: Format) -> String {
    if format == Format::Human {
        // A later version of the hub may send an event that has no text in this version.
        return serde_json::from_value(change)
            .map_or_else(|_| format!("something changed: {id}\n"), |change| line(&change));
    }
    if let Some(fields) = change.as_object_mut() {
        fields.insert("id".to_owned(), id.into());
    }
    match format {
        Format::Yaml => format!("---\n{}", terminal::structured(&change, format)),
        Format::Human | Format::Json => format!("{change}\n"),
    }
}

/// The width of the column for hosts. It is fixed, because lines are printed one by one before the longest host name is known.
const WHOM: usize = 20;

fn line(change: &FleetChange) -> String {
    let (at, what, whom, about) = match change {
        FleetChange::Desired(desired) => of_desired(desired),
        FleetChange::Report(report) => of_report(report),
        FleetChange::Silent(silence) => of_silence("silent", silence),
        FleetChange::Resumed(silence) => of_silence("resumed", silence),
        FleetChange::Promotion(promotion) => of_promotion(promotion),
    };
    let at = at.to_string();
    let at = at.split_once('.').map_or(at.as_str(), |(seconds, _)| seconds);
    let line =
        format!("{at}Z  {what:<11}  {}  {}", table::padded(&hub_client::plain(&whom), WHOM), hub_client::plain(&about));
    format!("{}\n", line.trim_end())
}

type Words = (Timestamp, &'static str, String, String);

fn of_desired(desired: &DesiredChange) -> Words {
    let versions = desired
        .versions
        .iter()
        .map(|one| format!("{}/{} {}", one.target.workload, one.target.target, hub_client::version(&one.version)));
    let targets = desired.targets.iter().map(|target| format!("{}/{}", target.workload, target.target));
    let versions: Vec<_> = versions.chain(targets).chain(desired.config_version.clone()).collect();
    let commit = hub_client::short(Some(&desired.commit));
    let what = if desired.is_removed { "nothing is desired there any more".to_owned() } else { versions.join(", ") };
    (desired.at, "desired", desired.place.clone(), format!("{commit}  {what}"))
}

fn of_report(ReportChange { reported, is_superseded, .. }: &ReportChange) -> Words {
    let status = match reported.status {
        Some(status) => status.state().words(),
        None => "reported",
    };
    let what = about(reported);
    let (version, message) =
        (reported.version.as_deref().unwrap_or_default(), reported.message.as_deref().unwrap_or_default());
    let late = if *is_superseded { "(was so then)" } else { "" };
    let words = [&hub_client::short(reported.commit.as_deref()), what.as_str(), version, late, message];
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    (reported.at, status, reported.host.clone(), words.join("  "))
}

fn of_silence(what: &'static str, silence: &SilenceChange) -> Words {
    (silence.at, what, silence.host.clone(), silence.reconciler.clone())
}

fn of_promotion(PromotionChange { event }: &PromotionChange) -> Words {
    let whom = event
        .subject
        .as_deref()
        .map_or_else(|| event.environment.clone(), |subject| format!("{}/{subject}", event.environment));
    let by = event.by.as_deref().map(|by| format!("(by {by})")).unwrap_or_default();
    let words = [
        event.kind.as_str(),
        &hub_client::short(event.revision.as_deref()),
        event.ring.as_deref().unwrap_or_default(),
        &event.text,
        &by,
    ];
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    (event.at, "promotion", whom, words.join("  "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(change: Value) -> String {
        text("x".to_owned(), change, Format::Human)
    }

    #[test]
    fn every_change_has_a_line() {
        let report = json!({"kind": "report", "at": "2026-11-21T13:44:01Z", "received": "2026-11-21T13:44:02Z", "host": "dallas-04",
            "reconciler": "checkout", "status": "inProgress", "commit": "6.7.2", "message": "pulling\u{1b}[31m", "isSuperseded": true});
        assert_eq!(
            check(report),
            "2026-11-21T13:44:01Z  in progress  dallas-04             6.7.2  checkout  (was so then)  pulling[31m\n"
        );
        let desired = json!({"kind": "desired", "at": "2026-11-21T13:44:01Z", "commit": "1.0", "place": "r/b/p", "isRemoved": true});
        assert_eq!(
            check(desired),
            "2026-11-21T13:44:01Z  desired      r/b/p                 1.0  nothing is desired there any more\n"
        );
        let silent = json!({"kind": "silent", "at": "2026-11-21T13:44:01Z", "host": "h", "reconciler": "r"});
        assert_eq!(check(silent), "2026-11-21T13:44:01Z  silent       h                     r\n");
        let promotion = json!({"kind": "promotion", "event": {"id": "e", "at": "2026-11-21T13:44:01Z", "environment": "prod",
            "subject": "checkout", "revision": "2.0", "kind": "held", "ring": "canary", "text": "an incident", "by": "ann"}});
        assert_eq!(
            check(promotion),
            "2026-11-21T13:44:01Z  promotion    prod/checkout         held  2.0  canary  an incident  (by ann)\n"
        );
        assert_eq!(check(json!({"kind": "later"})), "something changed: x\n");
    }

    #[test]
    fn programs_get_a_line_or_a_document() {
        assert_eq!(text("x".to_owned(), json!({"kind": "later"}), Format::Json), "{\"kind\":\"later\",\"id\":\"x\"}\n");
        assert!(text("x".to_owned(), json!({"kind": "later"}), Format::Yaml).starts_with("---\n"));
    }
}
