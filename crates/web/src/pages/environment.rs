//! An environment: how many reconcilers hold what is desired, by two dimensions that the reader chooses.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::counts::{CountDimension, CountGroup};
use hub_api::filter::Filter;

use crate::address::Address;
use crate::conditions::{Conditions, filtered};
use crate::grid::{Axis, Grid, GridQuery, finer};
use crate::visit::Visit;

pub(crate) async fn page(Path(environment): Path<String>, visit: Visit) -> Response {
    let filter = Filter { environment: Some(environment.clone()), ..visit.filter() };
    let query = match GridQuery::new(&visit, DEFAULT, filter.clone()) {
        Ok(query) => query,
        Err(refusal) => return visit.refuse(refusal),
    };
    match visit.with_changes(&filter).await {
        Ok(visit) => visit.answer(shown(&visit, environment, query).await),
        Err(response) => response,
    }
}

/// The dimensions of the page's rows and columns, unless the reader chooses others.
const DEFAULT: (CountDimension, CountDimension) = (CountDimension::Workload, CountDimension::ClusterType);

/// The page of an environment.
#[derive(Template)]
#[template(path = "environment.html")]
struct EnvironmentPage<'a> {
    visit: &'a Visit,
    environment: String,
    query: GridQuery,
    grid: Grid,
    /// The filter without the environment of the page.
    conditions: Conditions,
}

async fn shown(visit: &Visit, environment: String, query: GridQuery) -> Result<EnvironmentPage<'_>, ClientError> {
    let grid = query.read(visit, "row", |axis, group| by_itself(visit, &query, (axis, group))).await?;
    let conditions = Conditions::new(visit, &Filter { environment: None, ..query.filter.clone() });
    Ok(EnvironmentPage { visit, environment, query, grid, conditions })
}

/// A group by itself: divided further, or the list of its reconcilers.
fn by_itself(visit: &Visit, query: &GridQuery, (axis, group): (Axis, &CountGroup)) -> Option<Address> {
    let filter = query.narrowed(axis, group)?;
    let (dimension, own, other) = match axis {
        Axis::Rows => (&query.rows, "rows", "columns"),
        Axis::Columns => (&query.columns, "columns", "rows"),
    };
    let Some(finer) = finer(dimension).filter(|_| filter.status.is_none()) else {
        return Some(filtered(visit.to(["deployments"]), &filter));
    };
    let environment = filter.environment.clone()?;
    let mut address = visit.to(["environments", &environment]).with(own, &finer.to_string());
    if let Some(other_dimension) = visit.address.get(other) {
        address = address.with(other, other_dimension);
    }
    Some(filtered(address, &Filter { environment: None, ..filter }))
}

impl EnvironmentPage<'_> {
    /// The dimensions that a reader can choose from. Labels are written.
    fn dimensions() -> impl Iterator<Item = String> {
        CountDimension::NAMED.iter().filter(|one| **one != CountDimension::Environment).map(ToString::to_string)
    }

    /// The related pages.
    fn links(&self) -> Vec<(&'static str, String)> {
        let to = |page: &str| self.visit.to([page]).with("environment", &self.environment).to_string();
        let own = |page: &str| self.visit.to(["environments", &self.environment, page]).to_string();
        let mut links = vec![
            ("Targets", own("targets")),
            ("Hosts", to("deployments")),
            ("Rollouts", to("rollouts")),
            ("Drift", to("drift")),
            ("History", to("history")),
        ];
        if let Some(at) = self.visit.at {
            let compared = Address::of(["compare"]).with("from", &self.environment).with("to", &self.environment);
            links.push(("What changed since then", compared.with("fromAt", &at.to_string()).to_string()));
        }
        if self.visit.compiles {
            let compiled = [
                ("Assignments", "assignments"),
                ("Why not?", "why-not"),
                ("Findings", "findings"),
                ("Contract", "contract"),
            ];
            links.extend(compiled.map(|(label, page)| (label, own(page))));
        }
        links
    }

    /// The parameters that the form for other dimensions does not change.
    fn kept(&self) -> impl Iterator<Item = (&str, &str)> {
        self.visit.address.parameters().filter(|(name, _)| !["rows", "columns"].contains(name))
    }
}
