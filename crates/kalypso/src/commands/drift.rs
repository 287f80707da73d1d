//! `kalypso drift`: where what is reported is not what is wanted.

use std::fmt::Write as _;

use hub_api::drift::{Drift, Drifting};
use hub_api::timestamp::Timestamp;
use serde_json::json;

use super::deployments;
use super::status::{of, others};
use crate::arguments::{self, Format};
use crate::asking::{self, Hub};
use crate::exit::Exit;
use crate::{paint, table, terminal};

pub(super) fn run(options: &arguments::Drift) -> anyhow::Result<Exit> {
    let hub = Hub::of(&options.asking)?;
    let mut given = asking::filter(&options.filter, Some(&options.hosts), None);
    if let Some(kind) = &options.kind {
        let list = hub.list(&["drift", kind], (&given, options.limit), deployments::taken)?;
        deployments::tell(&list, options.asking.output)?;
        return Ok(Exit::Good);
    }
    given.push(("limit".to_owned(), options.limit.to_string()));
    let drift: Drift = hub.ask(&["drift"], &given)?;
    match options.asking.output {
        Format::Human => terminal::answer_painted(&text(&drift, Timestamp::now()), paint::standings)?,
        format => terminal::answer(&terminal::structured(&json!(drift), format))?,
    }
    Ok(Exit::Good)
}

fn text(drift: &Drift, now: Timestamp) -> String {
    let all = others(&drift.counts);
    let mut text = if drift.counts.expected == 0 {
        "no reconciler is expected to have anything\n".to_owned()
    } else {
        format!("{} as wanted{}{all}\n", of(&drift.counts), if all.is_empty() { "" } else { " · " })
    };
    let row = |row: &Drifting| {
        [
            format!("  {}", asking::length(now.since(row.wanted_since))),
            asking::plain(&row.environment),
            asking::short(Some(&row.commit)),
            of(&row.counts),
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
        (drift.unknown_content, "unknown_content", "", "report content that was never desired there"),
        (drift.unwanted, "unwanted", "", "report of places at which nothing is wanted any more"),
        (drift.unknown_place, "unknown_place", more, "report of places that the hub does not know"),
    ];
    for (count, kind, more, what) in others.into_iter().filter(|(count, ..)| *count > 0) {
        let count = terminal::thousands(usize::try_from(count).unwrap_or(0));
        let _ = writeln!(text, "  {more}{count} {what}: kalypso drift {kind}");
    }
    text
}
