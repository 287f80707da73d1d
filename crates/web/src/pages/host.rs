//! A host: what its reconcilers applied, and what is desired there.

use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::filter::Filter;

use super::deployments::{COLUMNS, row};
use super::list::ListPage;
use crate::visit::Visit;

pub(crate) async fn page(Path(host): Path<String>, visit: Visit) -> Response {
    let page = deployments_of(&visit, host).await;
    visit.answer(page)
}

async fn deployments_of(visit: &Visit, host: String) -> Result<ListPage<'_>, ClientError> {
    let filter = Filter { host: Some(host.clone()), ..visit.filter() };
    let answer = visit.api.deployments(&filter, &visit.page(), visit.at).await?;
    let mut page = ListPage::new(visit, host.clone(), &["status"]);
    page.about = "The reconcilers of this host: what each applied last, and whether that is what is desired.";
    page.empty = "Nothing was reported from this host.";
    page.links = vec![("History of this host".to_owned(), visit.to(["history"]).with("host", &host).to_string())];
    page.next = visit.next(answer.next.as_ref());
    page.table(&COLUMNS, answer.items.iter().map(|one| row(visit, one)).collect());
    Ok(page)
}
