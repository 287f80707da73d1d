//! `kalypso history`: what happened when.

use hub::moment::Moment;
use hub::questions::{Event, History};
use serde_json::json;

use super::rollout::of_workloads;
use crate::arguments::{self, Format};
use crate::asking::{self, Hub};
use crate::exit::Exit;
use crate::{table, terminal};

pub(super) fn run(options: &arguments::History) -> anyhow::Result<Exit> {
    let hub = Hub::of(&options.asking)?;
    let given = asking::filter(&options.filter, Some(&options.hosts), None);
    let list = hub.list(&["history"], (&given, options.limit), |page: History| (page.items, page.next))?;
    match options.asking.output {
        Format::Human if list.items.is_empty() => terminal::answer("nothing has happened yet\n")?,
        Format::Human => {
            let now = Moment::now();
            let mut text = table::table(list.items.iter().map(|event| cells(event, now)));
            if list.is_more {
                text.push_str("there are more: --limit shows them\n");
            }
            terminal::answer(&text)?;
        }
        format => {
            terminal::answer(&terminal::structured(&json!({"items": list.items, "more": list.is_more}), format))?;
        }
    }
    Ok(Exit::Good)
}

fn cells(event: &Event, now: Moment) -> [String; 5] {
    match event {
        Event::Published(published) => {
            let places = terminal::count(usize::try_from(published.places).unwrap_or(0), "place");
            let what = of_workloads(&published.versions);
            [
                asking::ago(Some(published.at), now),
                "wanted".to_owned(),
                asking::plain(&published.branch),
                asking::short(Some(&published.commit)),
                asking::plain(&if what.is_empty() { places } else { format!("{places}: {what}") }),
            ]
        }
        Event::Reported(reported) => {
            let status = reported.status.map_or("reported", hub::report::Status::as_str).replace('_', " ");
            let what = reported.target.as_ref().map_or(reported.reconciler.as_str(), |target| target.workload.as_str());
            let version = reported.version.as_deref().unwrap_or_default();
            let message = reported.message.as_deref().unwrap_or_default();
            [
                asking::ago(Some(reported.at), now),
                status,
                asking::plain(&reported.host),
                asking::short(reported.commit.as_deref()),
                asking::plain(format!("{what} {version} {message}").trim_end()),
            ]
        }
    }
}
