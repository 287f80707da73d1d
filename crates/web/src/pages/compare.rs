//! The differences between two environments.

use std::borrow::Cow;

use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::compare::{Compared, ComparedSide, ComparedTarget};
use hub_api::filter::Filter;
use hub_api::page::Page;

use crate::list::{self, Head, List, Slice};
use crate::part::{Cell, Row, Share};
use crate::refusal::Refusal;
use crate::visit::Visit;

pub(crate) async fn page(visit: Visit) -> Response {
    let [Some(from), Some(to)] = ["from", "to"].map(|name| visit.address.get(name).map(str::to_owned)) else {
        return visit.refuse(Refusal::invalid("The address names no two environments: `/compare?from=stage&to=prod`."));
    };
    let differing = visit.address.get("differing").is_some();
    list::answer(visit, Comparison(Compared { from, to, map: None, differing })).await
}

/// The deployment targets of two environments.
struct Comparison(Compared);

impl List for Comparison {
    type Item = ComparedTarget;

    const HAS_PAST: bool = false;
    const FILTER: &'static [&'static str] = &["workspace", "workload", "target"];

    fn columns(&self) -> Vec<Cow<'static, str>> {
        let Compared { from, to, .. } = &self.0;
        let of = |name: &str, what: &str| Cow::Owned(format!("{what} in {name}"));
        let sides = [from, to].map(|name| [of(name, "Version"), of(name, "As desired")]);
        let names = list::columns(&["Workload", "Target"]).into_iter().chain(sides.into_iter().flatten());
        names.chain(list::columns(&["Configuration"])).collect()
    }

    async fn fetch(&self, visit: &Visit, page: &Page) -> Result<Slice<ComparedTarget>, ClientError> {
        let filter = Filter { environment: None, ..visit.filter() };
        let answer = visit.api.compare(&self.0, &filter, page).await?;
        Ok(Slice::new(answer.items, answer.next))
    }

    async fn head(&self, visit: &Visit, _: &Slice<ComparedTarget>) -> Result<Head, ClientError> {
        let Compared { from, to, differing, .. } = &self.0;
        let address = visit.address.clone().without("cursor");
        let link = if *differing {
            ("Also what is equal".to_owned(), address.without("differing").to_string())
        } else {
            ("Only what differs".to_owned(), address.with("differing", "true").to_string())
        };
        Ok(Head {
            title: format!("{from} and {to}"),
            about: "What is desired in each of the two environments, target by target.",
            empty: "The two environments have no deployment targets.",
            links: vec![link],
            share: None,
        })
    }

    fn row(&self, visit: &Visit, item: &ComparedTarget) -> Row {
        row(visit, item)
    }
}

fn row(visit: &Visit, one: &ComparedTarget) -> Row {
    let side = |side: &Option<ComparedSide>| match side {
        None => [Cell::Text("not there".to_owned()), Cell::Empty],
        Some(side) => {
            [Cell::code(side.version.as_deref().or(side.commit.as_deref())), Cell::Share(Share::new(side.counts, None))]
        }
    };
    let configuration = match one.config_differs.len() {
        0 => format!("equal for {} cluster types", one.config_same),
        differing => format!("differs for {differing} cluster types"),
    };
    let workload = Cell::link(&one.workload, &visit.to_workload(&one.workspace, &one.workload));
    let target = one.from.as_ref().or(one.to.as_ref()).map_or("", |side| side.target.as_str());
    let mut cells = vec![workload, Cell::Text(target.to_owned())];
    cells.extend(side(&one.from));
    cells.extend(side(&one.to));
    cells.push(Cell::Text(configuration));
    Row { key: format!("{}/{}/{target}", one.workspace, one.workload), cells }
}
