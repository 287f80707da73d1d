//! Drift: the commits that are not applied everywhere, oldest first.

use axum::response::Response;
use hub_api::client::ClientError;

use super::list::ListPage;
use crate::part::{Cell, Row, Share};
use crate::visit::Visit;

pub(crate) async fn page(visit: Visit) -> Response {
    let page = drift(&visit).await;
    visit.answer(page)
}

async fn drift(visit: &Visit) -> Result<ListPage<'_>, ClientError> {
    let answer = visit.api.drift(&visit.filter(), &visit.page()).await?;
    let names = ["environment", "workspace", "workload", "target", "clusterType", "selector"];
    let mut page = ListPage::new(visit, "Drift", &names);
    page.about = "The commits that are not applied at all places where they are desired, the oldest first.";
    page.empty = "Every reconciler holds what is desired.";
    page.total = Some(Share::new(answer.counts, None));
    page.next = visit.next(answer.next.as_ref());
    let row = |one: &hub_api::drift::Drifting| {
        let to = visit.to(["rollouts", &one.commit]).with("environment", &one.environment);
        let cells = vec![
            Cell::Share(Share::new(one.counts, Some(&to))),
            Cell::link(&one.environment, &visit.to(["environments", &one.environment])),
            Cell::link(&one.commit.chars().take(10).collect::<String>(), &to),
            Cell::time(Some(one.desired_since), visit.now),
        ];
        Row { key: format!("{}@{}", one.commit, one.environment), cells }
    };
    page.table(&["As desired", "Environment", "Commit", "Desired since"], answer.items.iter().map(row).collect());
    Ok(page)
}
