//! The progress of one rollout: of a workload, of a version of it, or of a commit.

use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::rollouts::EnvironmentRollout;

use super::list::ListPage;
use crate::part::{Cell, Row, Share};
use crate::visit::Visit;

pub(crate) async fn page(Path(of): Path<String>, visit: Visit) -> Response {
    let page = rollout(&visit, of).await;
    visit.answer(page)
}

async fn rollout(visit: &Visit, of: String) -> Result<ListPage<'_>, ClientError> {
    let answer = visit.api.rollout(&of, &visit.filter(), visit.at).await?;
    let mut page = ListPage::new(visit, of.clone(), &["environment", "selector"]);
    page.about = "How far this rollout is in each environment, in the order of promotion.";
    page.empty = "No environment has it.";
    page.total = Some(Share::new(answer.counts, None));
    page.links = vec![("History".to_owned(), visit.to(["history"]).with("workload", &of).to_string())];
    let columns =
        ["As desired", "Environment", "Versions", "Other versions there", "Desired since", "First to look at"];
    page.table(&columns, answer.environments.iter().map(|one| row(visit, one)).collect());
    Ok(page)
}

fn row(visit: &Visit, one: &EnvironmentRollout) -> Row {
    let to = visit.to(["environments", &one.environment]);
    let attention = one.attention.first();
    let cells = vec![
        Cell::Share(Share::new(one.counts, Some(&to))),
        Cell::link(&one.environment, &to),
        Cell::code((!one.versions.is_empty()).then(|| one.versions.join(", "))),
        Cell::code((!one.instead.is_empty()).then(|| one.instead.join(", "))),
        Cell::time(one.desired_since, visit.now),
        attention.map_or(Cell::Empty, |first| Cell::link(&first.host, &visit.to(["hosts", &first.host]))),
    ];
    Row { key: one.environment.clone(), cells }
}
