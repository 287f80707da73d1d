//! `kalypso compare`: the differences of two environments.

mod values;

use hub_api::client::Client;
use hub_api::compare::{Compared, ComparedSide, ComparedTarget};
use hub_api::filter::Filter;
use hub_api::page::Page;
use workbench::answers::compare::{EnvironmentComparison, target_text};

use crate::arguments::{self, Format};
use crate::exit::Exit;
use crate::hub_client::{self, Hub};
use crate::{paint, table, terminal};

pub(super) fn run(options: &arguments::Compare) -> anyhow::Result<Exit> {
    let hub = Hub::from_connection(&options.connection)?;
    let compared = Compared {
        from: options.from.clone(),
        to: options.to.clone(),
        from_at: None,
        to_at: None,
        map: options.map.clone(),
        differing: options.differing,
    };
    let filter = Filter { workload: options.workload.clone(), ..Filter::default() };
    let ask = async |client: &Client, page: &Page| client.compare(&compared, &filter, page).await;
    let list = hub.list(options.limit, ask, |page| (page.items, page.next))?;
    let values = values::differences(options, &list.items);
    let (from, to) = (options.from.clone(), options.to.clone());
    let answer = EnvironmentComparison { from, to, items: list.items, more: list.is_more, values };
    match options.connection.output {
        Format::Human => terminal::answer_fitted(&text(&answer), paint::states)?,
        format => terminal::answer(&terminal::structured(&answer, format))?,
    }
    Ok(Exit::Good)
}

fn text(EnvironmentComparison { from, to, items, more, values }: &EnvironmentComparison) -> String {
    if items.is_empty() {
        return format!("{from} and {to} do not differ\n");
    }
    let heading = ["", "TARGET", from, "", to, "", "CONFIGURATION"].map(str::to_owned);
    let rows = items.iter().map(|row| cells(row, values.is_some()));
    let mut text = table::table(std::iter::once(heading).chain(rows));
    if *more {
        text.push_str("there are more: --limit shows them\n");
    }
    text + &values::text(values.as_deref().unwrap_or_default(), [from, to])
}

/// The cells of a target. `has_values`: the values that differ are shown below.
fn cells(row: &ComparedTarget, has_values: bool) -> [String; 7] {
    let differs = !row.same_version || !row.config_differs.is_empty();
    let target = target_text(row);
    let [from, from_hosts] = side(row.from.as_ref());
    let [to, to_hosts] = side(row.to.as_ref());
    let config = match row.config_differs.as_slice() {
        [] => "same".to_owned(),
        differing if has_values && row.from.is_some() && row.to.is_some() => {
            let places = row.config_same + differing.len();
            format!(
                "differs on {} of {}",
                terminal::thousands(differing.len()),
                terminal::count(places, "cluster type")
            )
        }
        [one, others @ ..] => {
            let version = |version: &Option<String>, is_there| match version {
                Some(text) => text.chars().take(12).collect(),
                // The target may exist only on other cluster types, or its configuration has no version.
                None if is_there => "none known".to_owned(),
                None => "absent".to_owned(),
            };
            let (from, to) = (version(&one.from, row.from.is_some()), version(&one.to, row.to.is_some()));
            let first = format!("{} {from} → {to}", one.cluster_type);
            if others.is_empty() { first } else { format!("{first} and {} more", terminal::thousands(others.len())) }
        }
    };
    [
        if differs { "~" } else { " " }.to_owned(),
        hub_client::plain(&target),
        from,
        from_hosts,
        to,
        to_hosts,
        hub_client::plain(&config),
    ]
}

/// The desired version, and the number of reconcilers that report it.
fn side(side: Option<&ComparedSide>) -> [String; 2] {
    let Some(side) = side else { return ["absent".to_owned(), String::new()] };
    let version = match (&side.version, &side.commit) {
        (Some(version), _) => hub_client::plain(version),
        (None, Some(commit)) => hub_client::short(Some(commit)),
        // The version of the workload is not known: only its configuration is compared.
        (None, None) => return ["version unknown".to_owned(), String::new()],
    };
    let hosts = super::status::succeeded(&side.counts);
    [version, if side.counts.expected == 0 { hosts } else { format!("on {hosts}") }]
}
