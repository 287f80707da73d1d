//! The commits that changed desired content, the newest first.

use std::borrow::Cow;

use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::page::Page;
use hub_api::rollouts::ListedRollout;

use crate::list::{self, Head, List, Slice};
use crate::part::{Cell, Row, Share};
use crate::text::short;
use crate::visit::Visit;

pub(crate) async fn page(visit: Visit) -> Response {
    list::answer(visit, AllRollouts).await
}

/// The commits that changed desired content.
struct AllRollouts;

impl List for AllRollouts {
    type Item = ListedRollout;

    /// The hub adds up the places of each commit.
    const ROWS: usize = 20;
    const FILTER: &'static [&'static str] = &["environment", "workspace", "workload", "target"];

    fn columns(&self) -> Vec<Cow<'static, str>> {
        list::columns(&["As desired", "Commit", "Committed", "Versions", "Places", "Repository", "Branch"])
    }

    async fn fetch(&self, visit: &Visit, page: &Page) -> Result<Slice<ListedRollout>, ClientError> {
        let answer = visit.api.rollouts(&visit.filter(), page, visit.at).await?;
        Ok(Slice::new(answer.items, answer.next).recorded(answer.recorded_on))
    }

    async fn head(&self, _: &Visit, _: &Slice<ListedRollout>) -> Result<Head, ClientError> {
        Ok(Head {
            title: "Rollouts".to_owned(),
            about: "Each commit that changed what is desired, and how many reconcilers hold what it made desired.",
            empty: "Nothing was published yet.",
            ..Head::default()
        })
    }

    fn row(&self, visit: &Visit, item: &ListedRollout) -> Row {
        row(visit, item)
    }
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
        Cell::link(&short(&one.commit), &to),
        Cell::time(Some(one.committed_on), visit.now),
        Cell::Text(versions),
        Cell::Text(one.places.to_string()),
        Cell::Code(one.repository.clone()),
        Cell::Code(one.branch.clone()),
    ];
    Row { key: format!("{}@{}", one.commit, one.branch), cells }
}
