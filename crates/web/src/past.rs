//! The changes before and after an earlier time, so that readers step from change to change.

use std::time::Duration;

use hub_api::client::{Client, ClientError};
use hub_api::filter::Filter;
use hub_api::history::{Event, HistorySelection};
use hub_api::limits::PAGE_MAX;
use hub_api::page::Page;
use hub_api::timestamp::Timestamp;

use crate::client::InProcess;

/// The times of the changes before and after the time of a page.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Around {
    pub(crate) previous: Option<Timestamp>,
    pub(crate) next: Option<Timestamp>,
}

/// The first time after `at` in which the next change is looked for. It grows until it contains one.
const WINDOW: Duration = Duration::from_mins(1);

/// How much larger the next window is.
const GROWTH: u32 = 8;

/// A window in which the order of changes does not matter.
const LEAST: Duration = Duration::from_millis(2);

impl Around {
    /// The changes before and after a time, of what a filter selects.
    pub(crate) async fn read(api: &Client<InProcess>, filter: &Filter, at: Timestamp) -> Result<Self, ClientError> {
        let before = HistorySelection { until: Some(at), ..HistorySelection::default() };
        let previous = api.history(filter, &before, &Page { cursor: None, limit: Some(1) }).await?;
        Ok(Self { previous: previous.items.first().map(time), next: next(api, filter, at).await? })
    }
}

/// The time of the first change after a time. The API lists the newest changes first, so the window in which it lists all of them is looked for.
async fn next(api: &Client<InProcess>, filter: &Filter, at: Timestamp) -> Result<Option<Timestamp>, ClientError> {
    let since = at.after(Duration::from_millis(1));
    let page = Page { cursor: None, limit: Some(PAGE_MAX) };
    // In the first of these times after `since`, there is no change. In the second one, there are more than one page has.
    let (mut calm, mut busy) = (Duration::ZERO, None);
    loop {
        let window = busy.map_or_else(|| WINDOW.max(calm * GROWTH), |busy| (calm + busy) / 2);
        let until = since.after(window);
        let selection = HistorySelection { since: Some(since), until: Some(until), ..HistorySelection::default() };
        let found = api.history(filter, &selection, &page).await?;
        match (found.items.last(), found.next) {
            (oldest, Some(_)) if window < LEAST => return Ok(oldest.map(time)),
            (_, Some(_)) => busy = Some(window),
            (Some(oldest), None) => return Ok(Some(time(oldest))),
            (None, None) if until > Timestamp::now() => return Ok(None),
            (None, None) => calm = window,
        }
    }
}

fn time(event: &Event) -> Timestamp {
    match event {
        Event::Published(event) => event.at,
        Event::Reported(event) => event.at,
        Event::Promotion(change) => change.event.at,
    }
}
