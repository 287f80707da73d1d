//! `kalypso deployments`: the versions of workloads on hosts.

use hub_api::client::Client;
use hub_api::deployments::{Deployment, Deployments};
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::timestamp::Timestamp;
use model::rollout::ReconcilerState;

use crate::arguments::{self, Format};
use crate::exit::Exit;
use crate::hub_client::{self, Hub, List};
use crate::{names, paint, table, terminal};

pub(super) fn run(options: &arguments::Deployments) -> anyhow::Result<Exit> {
    let hub = Hub::from_connection(&options.connection)?;
    let filter = hub_client::filter(&options.filter, Some(&options.hosts), options.status.as_ref());
    let at = hub_client::at(options.at.as_deref())?;
    let ask = async |client: &Client, page: &Page| client.deployments(&filter, page, at).await;
    let list = hub.list(options.limit, ask, taken)?;
    let is_unfiltered = filter == Filter::default() && at.is_none();
    if list.items.is_empty() && is_unfiltered && options.connection.output == Format::Human {
        terminal::answer("no reconciler has reported yet\n")?;
        return Ok(Exit::Good);
    }
    names::remember_hosts(options.connection.config.as_deref(), list.items.iter().map(|row| row.host.clone()));
    show(&list, options.connection.output)?;
    Ok(Exit::Good)
}

/// Splits a page into its rows and the cursor of the next page.
pub(super) fn taken(page: Deployments) -> (Vec<Deployment>, Option<String>) {
    (page.items, page.next)
}

/// Prints rows.
pub(super) fn show(list: &List<Deployment>, format: Format) -> std::io::Result<()> {
    match format {
        Format::Human => terminal::answer_painted(&text(list, Timestamp::now()), paint::states),
        format => terminal::answer(&terminal::structured(&list, format)),
    }
}

/// Formats rows for people.
pub(super) fn text(list: &List<Deployment>, now: Timestamp) -> String {
    if list.items.is_empty() {
        return "no host matches the filter\n".to_owned();
    }
    let heading = ["HOST", "ENV", "WORKLOAD", "TARGET", "VERSION", "CONFIG", "COMMIT", "STATUS", "SINCE", "MESSAGE"];
    let rows = list.items.iter().map(|row| cells(row, now));
    let mut text = table::table(std::iter::once(heading.map(str::to_owned)).chain(rows));
    if list.is_more {
        text.push_str("there are more: --limit shows them\n");
    }
    text
}

fn cells(row: &Deployment, now: Timestamp) -> [String; 10] {
    let or_none = |text: Option<&str>| text.map_or_else(|| "-".to_owned(), hub_client::plain);
    let target = row.target.as_ref();
    let status = row.state.map_or("not desired", ReconcilerState::words);
    let is_well = row.state == Some(ReconcilerState::Succeeded);
    let message = row.unplaced.as_deref().or(row.message.as_deref().filter(|_| !is_well));
    let message = message.map(hub_client::plain).unwrap_or_default();
    [
        hub_client::plain(&row.host),
        or_none(row.environment.as_deref()),
        or_none(target.map(|target| target.workload.as_str())),
        target.map_or_else(|| hub_client::plain(&row.reconciler), |target| hub_client::plain(&target.target)),
        row.version.as_deref().map_or_else(|| "-".to_owned(), hub_client::version),
        or_none(row.config_version.as_deref().map(|version| version.get(..12).unwrap_or(version))),
        hub_client::short(row.commit.as_deref()),
        if row.silent && row.state != Some(ReconcilerState::Silent) {
            format!("{status}, silent")
        } else {
            status.to_owned()
        },
        hub_client::ago(row.since, now),
        message,
    ]
}
