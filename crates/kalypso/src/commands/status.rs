//! `kalypso status`: the state of environments.

use hub_api::client::Client;
use hub_api::environments::{EnvironmentTarget, Environments};
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::timestamp::Timestamp;
use model::rollout::Counts;

use crate::arguments::{self, Format};
use crate::exit::{Exit, Failure};
use crate::hub_client::{self, Hub, List};
use crate::{paint, table, terminal};

/// The width of a bar in characters.
const BAR: i64 = 20;

pub(super) fn run(options: &arguments::Status) -> anyhow::Result<Exit> {
    let hub = Hub::from_connection(&options.connection)?;
    let filter = hub_client::filter(&options.filter, Some(&options.hosts), None);
    if options.filter.environment.is_none() && options.at.is_none() {
        let answer = hub.ask(hub.client.environments(&filter, None))?;
        let is_selected = options.hosts.selector.is_some() || options.filter.cluster_type.is_some();
        match options.connection.output {
            Format::Human if is_selected && is_empty(&answer) => {
                terminal::answer("no host matches the filter\n")?;
            }
            Format::Human => {
                let all: Vec<&Counts> = answer.items.iter().map(|environment| &environment.counts).collect();
                let text = environments(&answer) + &without_reports(&hub, &filter, &all)?;
                terminal::answer_painted(&text, paint::states)?;
            }
            format => terminal::answer(&terminal::structured(&answer, format))?,
        }
        return Ok(Exit::Good);
    }
    let at = hub_client::at(options.at.as_deref())?;
    let ask = async |client: &Client, page: &Page| client.targets(&filter, page, at).await;
    let list = hub.list(options.limit, ask, |page| (page.items, page.next))?;
    match options.connection.output {
        Format::Human => {
            let all: Vec<&Counts> = list.items.iter().filter_map(|row| row.counts.as_ref()).collect();
            let mut text = targets(&list, options.filter.environment.is_none(), Timestamp::now());
            if at.is_none() && !list.is_more {
                text.push_str(&without_reports(&hub, &filter, &all)?);
            }
            terminal::answer_painted(&text, paint::states)?;
        }
        format => terminal::answer(&terminal::structured(&list, format))?,
    }
    Ok(Exit::Good)
}

/// A line that says so if no reconciler has reported. Otherwise nothing. `counts`: the counts of the answer.
fn without_reports(hub: &Hub, filter: &Filter, counts: &[&Counts]) -> Result<String, Failure> {
    if counts.iter().any(|counts| counts.expected > counts.never_reported) {
        return Ok(String::new());
    }
    // Reports about other folders and contents are in no count of an environment.
    let drift = hub.ask(hub.client.drift(filter, &Page { cursor: None, limit: Some(1) }, None))?;
    let elsewhere = drift.unknown_place + drift.removed_place;
    Ok(match elsewhere {
        0 => "no reconciler has reported yet\n".to_owned(),
        _ => "no reconciler of these folders has reported yet; `kalypso drift` shows reports about others\n".to_owned(),
    })
}

/// Whether no reconciler is expected to have anything.
fn is_empty(answer: &Environments) -> bool {
    answer.items.iter().all(|environment| environment.counts.expected == 0)
}

/// Formats one line for each environment.
pub(super) fn environments(answer: &Environments) -> String {
    if answer.items.is_empty() {
        return "the hub has no environments yet\n".to_owned();
    }
    let row = |environment: &hub_api::environments::Environment| {
        let counts = &environment.counts;
        [hub_client::plain(&environment.name), bar(counts), succeeded(counts), others(counts)]
    };
    table::table(answer.items.iter().map(row))
}

/// Formats one line for each target. `are_several`: with the environment.
fn targets(list: &List<EnvironmentTarget>, are_several: bool, now: Timestamp) -> String {
    if list.items.is_empty() {
        return "no deployment target matches the filter\n".to_owned();
    }
    let heading = ["ENVIRONMENT", "TARGET", "CLUSTER TYPE", "VERSION", "CONFIG", "COMMIT", "WANTED", "RECONCILERS", ""]
        .map(str::to_owned);
    let or_none = |text: Option<&str>| text.map_or_else(|| "-".to_owned(), hub_client::plain);
    let row = |row: &EnvironmentTarget| {
        let target = row.target.as_ref().map(|target| format!("{}/{}", target.workload, target.target));
        [
            hub_client::plain(&row.environment),
            or_none(target.as_deref()),
            or_none(row.cluster_type.as_deref()),
            row.version.as_deref().map_or_else(|| "-".to_owned(), hub_client::version),
            or_none(row.config_version.as_deref().map(|version| version.get(..12).unwrap_or(version))),
            hub_client::short(row.commit.as_deref()),
            hub_client::ago(row.desired_since, now),
            row.counts.as_ref().map_or_else(|| "-".to_owned(), succeeded),
            row.counts.as_ref().map(others).unwrap_or_default(),
        ]
    };
    let rows = std::iter::once(heading).chain(list.items.iter().map(row));
    let mut text = if are_several { table::table(rows) } else { table::table(rows.map(|[_, cells @ ..]| cells)) };
    if list.is_more {
        text.push_str("there are more: --limit shows them\n");
    }
    text
}

/// The share of reconcilers that succeeded, as a bar. The bar is full only if all of them succeeded.
pub(super) fn bar(counts: &Counts) -> String {
    let full = if counts.expected == 0 { 0 } else { counts.succeeded.saturating_mul(BAR) / counts.expected };
    (0..BAR).map(|position| if position < full { '█' } else { '░' }).collect()
}

/// The number of reconcilers that succeeded: `73 of 100`.
pub(super) fn succeeded(counts: &Counts) -> String {
    if counts.expected == 0 {
        return "no reconciler expected".to_owned();
    }
    let number = |number: i64| terminal::thousands(usize::try_from(number).unwrap_or(0));
    format!("{} of {}", number(counts.succeeded), number(counts.expected))
}

/// The counts of the other states: `25 in progress · 2 failed`.
pub(super) fn others(counts: &Counts) -> String {
    let parts = [
        (counts.in_progress, "in progress"),
        (counts.failed, "failed"),
        (counts.silent, "silent"),
        (counts.outdated, "outdated"),
        (counts.never_reported, "never reported"),
        (counts.succeeded_but_silent, "succeeded, but silent now"),
    ];
    let number = |number: i64| terminal::thousands(usize::try_from(number).unwrap_or(0));
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, what)| format!("{} {what}", number(count))).collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_is_full_only_if_all_succeeded() {
        let check = |succeeded, expected| {
            let bar = bar(&Counts { succeeded, expected, ..Counts::default() });
            bar.chars().filter(|character| *character == '█').count()
        };
        assert_eq!([check(0, 0), check(0, 3), check(73, 100), check(999, 1_000), check(12, 12)], [0, 0, 14, 19, 20]);
    }

    #[test]
    fn environment_column_is_shown_for_several_environments() {
        let row = EnvironmentTarget {
            environment: "prod".to_owned(),
            cluster_type: None,
            role: hub_api::publication::Role::Application,
            target: None,
            version: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
            config_version: None,
            commit: None,
            desired_since: None,
            counts: None,
        };
        let list = List { items: vec![row], is_more: false };
        let lines = |are_several| targets(&list, are_several, Timestamp::now());
        assert!(lines(true).starts_with("ENVIRONMENT") && lines(true).contains("\nprod "), "{}", lines(true));
        assert!(lines(false).starts_with("TARGET") && lines(false).contains("  0123456  "), "{}", lines(false));
    }

    #[test]
    fn counts_of_zero_are_not_shown() {
        let counts = Counts { expected: 1_100, succeeded: 73, in_progress: 25, failed: 1_002, ..Counts::default() };
        assert_eq!(succeeded(&counts), "73 of 1,100");
        assert_eq!(succeeded(&Counts::default()), "no reconciler expected");
        assert_eq!(others(&counts), "25 in progress · 1,002 failed");
    }
}
