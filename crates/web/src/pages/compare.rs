//! The differences between two environments.

use std::borrow::Cow;

use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::compare::{Compared, ComparedSide, ComparedTarget};
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::timestamp::{Timestamp, TimestampError};

use crate::list::{self, Head, List, Slice};
use crate::part::{Cell, Row, Share};
use crate::refusal::Refusal;
use crate::text::utc;
use crate::visit::Visit;

pub(crate) async fn page(visit: Visit) -> Response {
    let [Some(from), Some(to)] = ["from", "to"].map(|name| visit.address.get(name).map(str::to_owned)) else {
        return visit.refuse(Refusal::invalid("The address names no two environments: `/compare?from=stage&to=prod`."));
    };
    let time = |name: &str| visit.address.get(name).filter(|text| !text.is_empty()).map(str::parse).transpose();
    let (from_at, to_at) = match (time("fromAt"), time("toAt")) {
        (Ok(from_at), Ok(to_at)) => (from_at.or(visit.at), to_at.or(visit.at)),
        (Err(error), _) | (_, Err(error)) => return visit.refuse(Refusal::invalid(&TimestampError::to_string(&error))),
    };
    let differing = visit.address.get("differing").is_some();
    list::answer(visit, Comparison(Compared { from, to, from_at, to_at, map: None, differing })).await
}

/// The deployment targets of two environments, or of one at two times.
struct Comparison(Compared);

impl Comparison {
    /// The names of both sides: with their times, if these differ.
    fn names(&self) -> [String; 2] {
        let Compared { from, to, from_at, to_at, .. } = &self.0;
        let at = |name: &str, at: Option<Timestamp>| match at {
            _ if from_at == to_at => name.to_owned(),
            Some(at) => format!("{name} at {}", utc(at)),
            None => format!("{name} now"),
        };
        [at(from, *from_at), at(to, *to_at)]
    }

    /// What the headings of columns say behind their names: for one environment, which time they are about.
    fn ends(&self) -> [String; 2] {
        let Compared { from, to, from_at, to_at, .. } = &self.0;
        match (from == to, from_at, to_at) {
            (true, Some(_), None) => ["then", "now"].map(str::to_owned),
            (true, None, Some(_)) => ["now", "then"].map(str::to_owned),
            (true, ..) => ["first", "second"].map(|number| format!("at the {number} time")),
            (false, ..) => [from, to].map(|name| format!("in {name}")),
        }
    }
}

impl List for Comparison {
    type Item = ComparedTarget;

    const FILTER: &'static [&'static str] = &["fromAt", "toAt", "workspace", "workload", "target"];

    fn columns(&self) -> Vec<Cow<'static, str>> {
        let of = |end: &str, what: &str| Cow::Owned(format!("{what} {end}"));
        let sides = self.ends().map(|end| [of(&end, "Version"), of(&end, "As desired")]);
        let names = list::columns(&["Workload", "Target"]).into_iter().chain(sides.into_iter().flatten());
        names.chain(list::columns(&["Configuration"])).collect()
    }

    async fn fetch(&self, visit: &Visit, page: &Page) -> Result<Slice<ComparedTarget>, ClientError> {
        let filter = Filter { environment: None, ..visit.filter() };
        let answer = visit.api.compare(&self.0, &filter, page).await?;
        let recorded_on = answer.from_recorded_on.or(answer.to_recorded_on);
        Ok(Slice::new(answer.items, answer.next).recorded(recorded_on))
    }

    async fn head(&self, visit: &Visit, _: &Slice<ComparedTarget>) -> Result<Head, ClientError> {
        let differing = self.0.differing;
        let [from, to] = self.names();
        let address = visit.address.clone().without("cursor");
        let link = if differing {
            ("Also what is equal".to_owned(), address.without("differing").to_string())
        } else {
            ("Only what differs".to_owned(), address.with("differing", "true").to_string())
        };
        Ok(Head {
            title: format!("{from} and {to}"),
            about: "What is desired on each of the two sides, and how many reconcilers hold it, target by target.",
            empty: "There are no deployment targets.",
            links: vec![link],
            share: None,
            curve: None,
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
