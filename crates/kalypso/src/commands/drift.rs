//! `kalypso drift`: differences between the reported and the desired state.

use std::fmt::Write as _;

use hub_api::client::Client;
use hub_api::drift::{Drift, DriftKind, Drifting};
use hub_api::page::Page;
use hub_api::timestamp::Timestamp;

use super::deployments;
use super::status::{others, succeeded};
use crate::arguments::{self, Format};
use crate::exit::Exit;
use crate::hub_client::{self, Hub};
use crate::{paint, table, terminal};

pub(super) fn run(options: &arguments::Drift) -> anyhow::Result<Exit> {
    let hub = Hub::from_connection(&options.connection)?;
    let filter = hub_client::filter(&options.filter, Some(&options.hosts), None);
    if let Some(kind) = options.kind.as_deref().and_then(DriftKind::parse) {
        let ask = async |client: &Client, page: &Page| client.drift_hosts(kind, &filter, page).await;
        let list = hub.list(options.limit, ask, deployments::taken)?;
        deployments::show(&list, options.connection.output)?;
        return Ok(Exit::Good);
    }
    let page = Page { cursor: None, limit: Some(options.limit) };
    let at = hub_client::at(options.at.as_deref())?;
    let drift = hub.ask(hub.client.drift(&filter, &page, at))?;
    match options.connection.output {
        Format::Human => {
            let text = text(&drift, at.unwrap_or_else(Timestamp::now)) + &hub_client::recorded(drift.recorded_on);
            terminal::answer_painted(&text, paint::states)?;
        }
        format => terminal::answer(&terminal::structured(&drift, format))?,
    }
    Ok(Exit::Good)
}

fn text(drift: &Drift, now: Timestamp) -> String {
    let all = others(&drift.counts);
    let mut text = if drift.counts.expected == 0 {
        "no reconciler is expected to have anything\n".to_owned()
    } else {
        format!("{} as desired{}{all}\n", succeeded(&drift.counts), if all.is_empty() { "" } else { " · " })
    };
    let row = |row: &Drifting| {
        [
            format!("  {}", hub_client::length(now.since(row.desired_since))),
            hub_client::plain(&row.environment),
            hub_client::short(Some(&row.commit)),
            succeeded(&row.counts),
            others(&row.counts),
        ]
    };
    text.push_str(&table::table(drift.items.iter().map(row)));
    if drift.next.is_some() {
        text.push_str("  there are more: --limit shows them\n");
    }
    let more = if drift.unknown_place_is_more { "more than " } else { "" };
    let others = [
        (drift.silent, "silent", "", "promised to report and did not"),
        (drift.unknown_content, "unknownContent", "", "report content that was never desired there"),
        (drift.removed_place, "removedPlace", "", "report of places at which nothing is desired any more"),
        (drift.unknown_place, "unknownPlace", more, "report from places that are not in the hub"),
    ];
    for (count, kind, more, what) in others.into_iter().filter(|(count, ..)| *count > 0) {
        let count = terminal::thousands(usize::try_from(count).unwrap_or(0));
        let _ = writeln!(text, "  {more}{count} {what}: kalypso drift {kind}");
    }
    text
}
