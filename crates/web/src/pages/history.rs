//! The history: what became desired, what was reported, and what was decided.

use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::history::{Event, HistorySelection, Published, Reported};

use super::list::ListPage;
use crate::part::{Cell, Row};
use crate::visit::Visit;

pub(crate) async fn page(visit: Visit) -> Response {
    let page = history(&visit).await;
    visit.answer(page)
}

async fn history(visit: &Visit) -> Result<ListPage<'_>, ClientError> {
    let selection = HistorySelection { until: visit.at, ..HistorySelection::default() };
    let answer = visit.api.history(&visit.filter(), &selection, &visit.page()).await?;
    let names = ["environment", "workspace", "workload", "target", "clusterType", "host"];
    let mut page = ListPage::new(visit, "History", &names);
    page.about = "What became desired, what was reported, and what was decided, the newest first.";
    page.next = visit.next(answer.next.as_ref());
    page.table(&["When", "What", "Where", "By", "Message"], answer.items.iter().map(|one| row(visit, one)).collect());
    Ok(page)
}

fn row(visit: &Visit, event: &Event) -> Row {
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
    let commit: String = one.commit.chars().take(10).collect();
    let cells = vec![
        Cell::time(Some(one.at), visit.now),
        Cell::link(&format!("commit {commit}"), &visit.to(["rollouts", &one.commit])),
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
