//! A host: what its reconcilers applied, and what is desired there.

use std::borrow::Cow;

use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::deployments::Deployment;
use hub_api::filter::Filter;
use hub_api::page::Page;

use super::deployments;
use crate::list::{self, Head, List, Slice};
use crate::part::Row;
use crate::visit::Visit;

pub(crate) async fn page(Path(host): Path<String>, visit: Visit) -> Response {
    list::answer(visit, HostDeployments { host }).await
}

/// The column of lists of deployments that says on which host they are.
const HOST: usize = 1;

/// The reconcilers of a host.
struct HostDeployments {
    host: String,
}

impl List for HostDeployments {
    type Item = Deployment;

    const FILTER: &'static [&'static str] = &["status"];

    fn filter(&self, visit: &Visit) -> Filter {
        Filter { host: Some(self.host.clone()), ..visit.filter() }
    }

    fn columns(&self) -> Vec<Cow<'static, str>> {
        let mut columns = deployments::columns();
        columns.remove(HOST);
        columns
    }

    async fn fetch(&self, visit: &Visit, page: &Page) -> Result<Slice<Deployment>, ClientError> {
        let answer = visit.api.deployments(&self.filter(visit), page, visit.at).await?;
        Ok(Slice::new(answer.items, answer.next))
    }

    async fn head(&self, visit: &Visit, _: &Slice<Deployment>) -> Result<Head, ClientError> {
        let history = visit.to(["history"]).with("host", &self.host);
        Ok(Head {
            title: self.host.clone(),
            about: "The reconcilers of this host: what each applied last, and whether that is what is desired.",
            empty: "Nothing was reported from this host.",
            links: vec![("History of this host".to_owned(), history.to_string())],
            ..Head::default()
        })
    }

    fn row(&self, visit: &Visit, item: &Deployment) -> Row {
        let mut row = deployments::row(visit, item);
        row.cells.remove(HOST);
        row
    }
}
