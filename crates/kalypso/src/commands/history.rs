//! `kalypso history`: the events of the past.

use std::collections::BTreeSet;

use hub_api::client::Client;
use hub_api::filter::Filter;
use hub_api::history::{Event, HistoryKind, HistorySelection, Reported};
use hub_api::page::Page;
use hub_api::promotions::PromotionEvent;
use hub_api::timestamp::Timestamp;
use model::similar;

use super::rollout::of_workloads;
use crate::arguments::{self, Format};
use crate::exit::{Exit, Failure};
use crate::hub_client::{self, Hub};
use crate::times::timestamp;
use crate::{table, terminal};

pub(super) fn run(options: &arguments::History) -> anyhow::Result<Exit> {
    let hub = Hub::from_connection(&options.connection)?;
    let filter = hub_client::filter(&options.filter, Some(&options.hosts), None);
    let since = options.since.as_deref().map(|since| timestamp("--since", since)).transpose()?;
    let until = options.until.as_deref().map(|until| timestamp("--until", until)).transpose()?;
    if since.zip(until).is_some_and(|(since, until)| since >= until) {
        return Err(Failure::usage("`--since` is not before `--until`").into());
    }
    let kind = HistoryKind::ALL.into_iter().find(|kind| options.kind.as_deref() == Some(kind.as_str()));
    let selection = HistorySelection { by: options.by.clone(), since, until, kind };
    let ask = async |client: &Client, page: &Page| client.history(&filter, &selection, page).await;
    let list = hub.list(options.limit, ask, |page| (page.items, page.next))?;
    match options.connection.output {
        Format::Human if list.items.is_empty() && selection != HistorySelection::default() => {
            let nearest = nearest_person(&hub, (&filter, &selection))?;
            let advice = nearest.map_or_else(String::new, |person| format!("; did you mean `--by {person}`?"));
            terminal::answer(&format!("nothing of this kind has happened{advice}\n"))?;
        }
        Format::Human if list.items.is_empty() => terminal::answer("nothing has happened yet\n")?,
        Format::Human => {
            let now = Timestamp::now();
            let mut text = table::table(list.items.iter().map(|event| cells(event, now)));
            if list.is_more {
                text.push_str("there are more: --limit shows them\n");
            }
            terminal::answer(&text)?;
        }
        format => terminal::answer(&terminal::structured(&list, format))?,
    }
    Ok(Exit::Good)
}

/// The name nearest to that of `--by`, of the people in the newest decisions. None: `--by` is not given, or no name is near.
fn nearest_person(hub: &Hub, (filter, selection): (&Filter, &HistorySelection)) -> Result<Option<String>, Failure> {
    let Some(named) = &selection.by else { return Ok(None) };
    let anybody = HistorySelection { by: None, ..selection.clone() };
    let ask = async |client: &Client, page: &Page| client.history(filter, &anybody, page).await;
    let events = hub.list(hub_api::limits::PAGE_MAX, ask, |page| (page.items, page.next))?.items;
    let by = |event: Event| if let Event::Promotion(change) = event { change.event.by } else { None };
    let people: BTreeSet<String> = events.into_iter().filter_map(by).collect();
    Ok(nearest_name(named, people.iter().map(String::as_str)).map(hub_client::plain))
}

/// The nearest name in texts about people: an account, or the name and the email address of a git user.
fn nearest_name<'p>(named: &str, people: impl Iterator<Item = &'p str>) -> Option<&'p str> {
    let names = people.flat_map(|person| person.split(['<', '>'])).map(str::trim);
    similar::nearest(named, names.filter(|name| !name.is_empty()))
}

/// The subject of a report: one or a few workloads, else the reconciler.
pub(super) fn about(reported: &Reported) -> String {
    const LISTED_MAX: usize = 3;
    if let Some(target) = &reported.target {
        return target.workload.clone();
    }
    let workloads: BTreeSet<&str> = reported.targets.iter().map(|target| target.workload.as_str()).collect();
    let first: Vec<_> = workloads.iter().take(LISTED_MAX).copied().collect();
    match workloads.len() {
        0 => reported.reconciler.clone(),
        count if count > LISTED_MAX => format!("{} and others", first.join(", ")),
        _ => first.join(", "),
    }
}

fn cells(event: &Event, now: Timestamp) -> [String; 5] {
    match event {
        Event::Published(published) => {
            let count = |places: i64| terminal::count(usize::try_from(places).unwrap_or(0), "place");
            let places = match (published.places, published.removed) {
                (0, removed) if removed > 0 => format!("nothing at {}", count(removed)),
                (places, _) => count(places),
            };
            let what = of_workloads(&published.versions);
            [
                hub_client::ago(Some(published.at), now),
                "desired".to_owned(),
                hub_client::plain(&published.branch),
                hub_client::short(Some(&published.commit)),
                hub_client::plain(&if what.is_empty() { places } else { format!("{places}: {what}") }),
            ]
        }
        Event::Reported(reported) => {
            let status = reported.status.map_or("reported", |status| status.state().words());
            let what = about(reported);
            let version = reported.version.as_deref().unwrap_or_default();
            let message = reported.message.as_deref().unwrap_or_default();
            [
                hub_client::ago(Some(reported.at), now),
                status.to_owned(),
                hub_client::plain(&reported.host),
                hub_client::short(reported.commit.as_deref()),
                hub_client::plain(format!("{what} {version} {message}").trim_end()),
            ]
        }
        Event::Promotion(change) => decision(&change.event, now),
    }
}

fn decision(event: &PromotionEvent, now: Timestamp) -> [String; 5] {
    let what = event.subject.as_deref().map_or_else(String::new, |subject| format!("{subject}: "));
    // Texts of decisions name the person, but for those of other programs.
    let by = event.by.as_deref().filter(|by| !event.text.contains(by));
    let by = by.map_or_else(String::new, |by| format!(" (by {by})"));
    [
        hub_client::ago(Some(event.at), now),
        hub_client::plain(&event.kind),
        hub_client::plain(&event.environment),
        hub_client::short(event.revision.as_deref()),
        hub_client::plain(&format!("{what}{}{by}", event.text)),
    ]
}

#[cfg(test)]
mod tests {
    use hub_api::deployments::TargetNames;

    use super::*;

    fn check(workloads: &[&str]) -> String {
        let target = |workload: &&str| TargetNames { workload: (*workload).to_owned(), ..TargetNames::default() };
        let targets = workloads.iter().map(target).collect();
        about(&Reported { reconciler: "edge".into(), targets, ..Reported::default() })
    }

    #[test]
    fn the_nearest_person_is_found_by_name_account_or_address() {
        let people = ["Olga Meier <olga@acme.example>", "bot"];
        let nearest = |named| nearest_name(named, people.into_iter());
        assert_eq!(nearest("olga@acme.exampel"), Some("olga@acme.example"));
        assert_eq!([nearest("Olga Maier"), nearest("bto"), nearest("ann")], [Some("Olga Meier"), Some("bot"), None]);
    }

    #[test]
    fn a_report_is_about_some_workloads_or_its_reconciler() {
        assert_eq!(check(&[]), "edge");
        assert_eq!(check(&["portal", "cart", "cart"]), "cart, portal");
        assert_eq!(check(&["a", "b", "c", "d"]), "a, b, c and others");
    }
}
