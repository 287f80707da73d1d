//! The commits that changed desired content, the newest first.

use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::rollouts::ListedRollout;

use super::list::ListPage;
use crate::part::{Cell, Row, Share};
use crate::visit::Visit;

pub(crate) async fn page(visit: Visit) -> Response {
    let page = rollouts(&visit).await;
    visit.answer(page)
}

async fn rollouts(visit: &Visit) -> Result<ListPage<'_>, ClientError> {
    let answer = visit.api.rollouts(&visit.filter(), &visit.page()).await?;
    let mut page = ListPage::new(visit, "Rollouts", &["environment", "workspace", "workload", "target"]);
    page.about = "Each commit that changed what is desired, and how many reconcilers hold what it made desired.";
    page.empty = "Nothing was published yet.";
    page.next = visit.next(answer.next.as_ref());
    let columns = ["As desired", "Commit", "Committed", "Versions", "Places", "Repository", "Branch"];
    page.table(&columns, answer.items.iter().map(|one| row(visit, one)).collect());
    Ok(page)
}

/// The number of versions that a row names.
const VERSIONS_SHOWN: usize = 4;

fn row(visit: &Visit, one: &ListedRollout) -> Row {
    let to = visit.to(["rollouts", &one.commit]);
    let mut names: Vec<String> =
        one.versions.iter().map(|one| format!("{} {}", one.target.workload, one.version)).collect();
    names.sort();
    names.dedup();
    let more = names.len().saturating_sub(VERSIONS_SHOWN);
    names.truncate(VERSIONS_SHOWN);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    let versions = names.join(", ");
    let cells = vec![
        Cell::Share(Share::new(one.counts, Some(&to))),
        Cell::link(&one.commit.chars().take(10).collect::<String>(), &to),
        Cell::time(Some(one.committed_on), visit.now),
        Cell::Text(versions),
        Cell::Text(one.places.to_string()),
        Cell::Code(one.repository.clone()),
        Cell::Code(one.branch.clone()),
    ];
    Row { key: format!("{}@{}", one.commit, one.branch), cells }
}
