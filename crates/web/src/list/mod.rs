//! Lists: one page with its filter, its totals, its rows and the ways on, or a file with everything that is filtered.

mod download;
mod page;

use std::borrow::Cow;
use std::future::Future;

use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::timestamp::Timestamp;
use serde::Serialize;

use self::page::ListPage;
use crate::curve::Curve;
use crate::part::{Moment, Row, Share, Table};
use crate::visit::Visit;

/// A list of one kind of items.
pub(crate) trait List: Send + Sync + 'static {
    /// An item, as the API answers it.
    type Item: Serialize + Send + Sync + 'static;

    /// Whether earlier states of the list are known.
    const HAS_PAST: bool = true;

    /// The number of rows on a page: with more, a page of hosts has thousands of elements.
    const ROWS: usize = 50;

    /// The parameters of the filter: names of parameters of the API.
    const FILTER: &'static [&'static str];

    /// What the list selects.
    fn filter(&self, visit: &Visit) -> Filter {
        visit.filter()
    }

    /// The columns of [`List::row`].
    fn columns(&self) -> Vec<Cow<'static, str>>;

    /// A page of the list.
    fn fetch(&self, visit: &Visit, page: &Page) -> impl Future<Output = Result<Slice<Self::Item>, ClientError>> + Send;

    /// What the page says above its rows.
    fn head(&self, visit: &Visit, slice: &Slice<Self::Item>) -> impl Future<Output = Result<Head, ClientError>> + Send;

    /// The row of an item.
    fn row(&self, visit: &Visit, item: &Self::Item) -> Row;
}

/// A page of a list.
#[derive(Clone, Debug)]
pub(crate) struct Slice<T> {
    pub(crate) items: Vec<T>,
    /// The cursor of the next page.
    pub(crate) next: Option<String>,
    /// The number of items on all pages. None: the API does not count them.
    pub(crate) total: Option<i64>,
    /// The rollout states of everything that is filtered. None: the list does not sum them up.
    pub(crate) share: Option<Share>,
    /// When the hub recorded the counts. None: they are exact.
    pub(crate) recorded_on: Option<Timestamp>,
}

impl<T> Slice<T> {
    /// A page with a cursor of the next one.
    pub(crate) fn new(items: Vec<T>, next: Option<String>) -> Self {
        Self { items, next, total: None, share: None, recorded_on: None }
    }

    /// A list that has one page only.
    pub(crate) fn all(items: Vec<T>) -> Self {
        let total = i64::try_from(items.len()).ok();
        Self { items, next: None, total, share: None, recorded_on: None }
    }

    /// Sets the rollout states of everything that is filtered.
    #[must_use]
    pub(crate) fn share(self, share: Share) -> Self {
        Self { share: Some(share), ..self }
    }

    /// Sets when the hub recorded the counts.
    #[must_use]
    pub(crate) fn recorded(self, recorded_on: Option<Timestamp>) -> Self {
        Self { recorded_on, ..self }
    }
}

/// What a page says above its rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    pub(crate) title: String,
    /// What the list contains, in a sentence.
    pub(crate) about: &'static str,
    /// What an empty list without a filter means.
    pub(crate) empty: &'static str,
    /// Links to related pages.
    pub(crate) links: Vec<(String, String)>,
    /// The rollout states of what the page is about.
    pub(crate) share: Option<Share>,
    /// The progress over time.
    pub(crate) curve: Option<Curve>,
}

/// Columns with names that do not depend on the address.
pub(crate) fn columns(names: &[&'static str]) -> Vec<Cow<'static, str>> {
    names.iter().map(|name| Cow::Borrowed(*name)).collect()
}

/// The answer to a request for a list: the page, or the file that the address asks for.
pub(crate) async fn answer<L: List>(visit: Visit, list: L) -> Response {
    let filter = list.filter(&visit);
    let visit = if L::HAS_PAST { visit.with_changes(&filter).await } else { Ok(visit.of_the_present()) };
    let visit = match visit {
        Ok(visit) => visit,
        Err(response) => return response,
    };
    match visit.address.get("format") {
        None => visit.answer(shown(&visit, &list).await),
        Some(format) => match format.parse() {
            Ok(format) => download::answer(visit, list, format).await,
            Err(refusal) => visit.refuse(refusal),
        },
    }
}

async fn shown<'a, L: List>(visit: &'a Visit, list: &L) -> Result<ListPage<'a>, ClientError> {
    let slice = list.fetch(visit, &visit.page(L::ROWS)).await?;
    let mut head = list.head(visit, &slice).await?;
    head.share = head.share.or_else(|| slice.share.clone());
    let rows = slice.items.iter().map(|item| list.row(visit, item)).collect();
    let table = Table { caption: head.title.clone(), columns: list.columns(), rows };
    let recorded = slice.recorded_on.map(|on| Moment::new(on, visit.now));
    let page = ListPage::new(visit, head, L::FILTER, table).recorded(recorded);
    Ok(page.counted(slice.total).next(slice.next.as_ref()))
}
