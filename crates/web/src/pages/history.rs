//! The history: what became desired, what was reported, and what was decided.

use std::borrow::Cow;

use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::history::{Event, HistorySelection, Published, Reported};
use hub_api::page::Page;

use crate::list::{self, Head, List, Slice};
use crate::part::{Cell, Row};
use crate::text::short;
use crate::visit::Visit;

pub(crate) async fn page(visit: Visit) -> Response {
    match visit.parameters::<HistorySelection>() {
        Ok(selection) => {
            let until = visit.at.or(selection.until);
            list::answer(visit, Events(HistorySelection { until, ..selection })).await
        }
        Err(refusal) => visit.refuse(refusal),
    }
}

/// The events of the history.
struct Events(HistorySelection);

impl List for Events {
    type Item = Event;

    const FILTER: &'static [&'static str] =
        &["environment", "workspace", "workload", "target", "clusterType", "host", "kind", "by", "since"];

    fn columns(&self) -> Vec<Cow<'static, str>> {
        columns()
    }

    async fn fetch(&self, visit: &Visit, page: &Page) -> Result<Slice<Event>, ClientError> {
        let answer = visit.api.history(&visit.filter(), &self.0, page).await?;
        Ok(Slice::new(answer.items, answer.next))
    }

    async fn head(&self, _: &Visit, _: &Slice<Event>) -> Result<Head, ClientError> {
        Ok(Head {
            title: "History".to_owned(),
            about: "What became desired, what was reported, and what was decided, the newest first.",
            empty: "Nothing has happened yet.",
            ..Head::default()
        })
    }

    fn row(&self, visit: &Visit, item: &Event) -> Row {
        row(visit, item)
    }
}

/// The columns of [`row`].
pub(super) fn columns() -> Vec<Cow<'static, str>> {
    list::columns(&["When", "What", "Where", "By", "Message"])
}

/// The row of an event.
pub(super) fn row(visit: &Visit, event: &Event) -> Row {
    match event {
        Event::Published(published) => publication(visit, published),
        Event::Reported(reported) => report(visit, reported),
        Event::Promotion(change) => {
            let event = &change.event;
            let subject = event.subject.as_deref().unwrap_or("the platform");
            let cells = vec![
                Cell::time(Some(event.at), visit.now),
                Cell::Text(format!("decision about {subject}")),
                Cell::link(&event.environment, &visit.to(["environments", &event.environment])),
                Cell::text(event.by.as_deref()),
                Cell::Message(event.text.clone()),
            ];
            Row { key: format!("promotion {}", event.id), cells }
        }
    }
}

fn publication(visit: &Visit, one: &Published) -> Row {
    let what = match one.removed {
        0 => format!("{} places changed", one.places),
        removed => format!("{} places changed, {removed} of them removed", one.places),
    };
    let cells = vec![
        Cell::time(Some(one.at), visit.now),
        Cell::link(&format!("commit {}", short(&one.commit)), &visit.to(["rollouts", &one.commit])),
        Cell::Code(format!("{} {}", one.repository, one.branch)),
        Cell::Empty,
        Cell::Text(what),
    ];
    Row { key: format!("commit {} {}", one.commit, one.branch), cells }
}

fn report(visit: &Visit, one: &Reported) -> Row {
    let status = one.status.map_or("no status", hub_api::report::Status::as_str);
    let workload = one.target.as_ref().map_or(&one.reconciler, |target| &target.workload);
    let cells = vec![
        Cell::time(Some(one.at), visit.now),
        Cell::Text(format!("{workload}: {status}")),
        Cell::link(&one.host, &visit.to(["hosts", &one.host])),
        Cell::Code(one.reconciler.clone()),
        one.message.as_ref().map_or(Cell::Empty, |text| Cell::Message(text.clone())),
    ];
    Row { key: format!("report {} {} {}", one.host, one.reconciler, one.at), cells }
}
