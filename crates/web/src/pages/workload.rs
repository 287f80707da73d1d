//! A workload, for the team that owns it: which version and configuration is where, who does not have it, and what is desired.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::counts::{CountDimension, CountGroup};
use hub_api::environments::EnvironmentTarget;
use hub_api::filter::Filter;
use hub_api::page::Page;

use super::attention::Attention;
use super::presence::Presence;
use super::targets;
use crate::address::Address;
use crate::conditions::{Conditions, filtered};
use crate::grid::{Axis, Grid, GridQuery};
use crate::part::{Cell, Table};
use crate::visit::Visit;

pub(crate) async fn page(Path(workload): Path<String>, visit: Visit) -> Response {
    let filter = Filter { workload: Some(workload.clone()), status: None, ..visit.filter() };
    let query = match GridQuery::new(&visit, DEFAULT, filter.clone()) {
        Ok(query) => GridQuery { rows: DEFAULT.0, has_wide_links: true, ..query },
        Err(refusal) => return visit.refuse(refusal),
    };
    match visit.with_changes(&filter).await {
        Ok(visit) => visit.answer(shown(&visit, workload, query).await),
        Err(response) => response,
    }
}

/// The dimensions of the versions, unless the reader chooses other columns.
const DEFAULT: (CountDimension, CountDimension) = (CountDimension::Version, CountDimension::Environment);

/// The label of hosts that names their ring.
const RING: &str = "ring";

/// The number of rows of targets.
const TARGETS: usize = 50;

/// The page of a workload.
#[derive(Template)]
#[template(path = "workload.html")]
struct WorkloadPage<'a> {
    visit: &'a Visit,
    workload: String,
    query: GridQuery,
    /// The filter without the workload of the page.
    conditions: Conditions,
    /// The same versions by rings, or by environments again.
    regrouped: Option<(&'static str, String)>,
    versions: Grid,
    configurations: Grid,
    attention: Attention,
    environments: Table,
    more_environments: usize,
    targets: Table,
    has_more_targets: bool,
}

async fn shown(visit: &Visit, workload: String, query: GridQuery) -> Result<WorkloadPage<'_>, ClientError> {
    let filter = &query.filter;
    let to = |axis: Axis, group: &CountGroup| by_itself(visit, &query, (axis, group));
    let versions = query.read(visit, "version", to).await?;
    let of_configurations = GridQuery { rows: CountDimension::ConfigVersion, ..query.clone() };
    let to = |axis: Axis, group: &CountGroup| by_itself(visit, &of_configurations, (axis, group));
    let configurations = of_configurations.read(visit, "configuration", to).await?;
    let first = Page { cursor: None, limit: Some(TARGETS) };
    let desired = visit.api.targets(filter, &first, visit.at).await?;
    let presence = Presence::read(visit, filter).await?.with_targets(&desired.items);
    let conditions = Conditions::new(visit, &Filter { workload: None, ..filter.clone() });
    Ok(WorkloadPage {
        visit,
        regrouped: regrouped(visit, &query).await?,
        versions,
        configurations,
        attention: Attention::read(visit, filter, &presence.total).await?,
        environments: presence.table(visit, filter, |environment| pages(visit, filter, environment)),
        more_environments: presence.more,
        targets: table(visit, desired.items),
        has_more_targets: desired.next.is_some(),
        conditions,
        workload,
        query,
    })
}

/// A group by itself: the rollout of a version, the environment, or this page for the group only.
fn by_itself(visit: &Visit, query: &GridQuery, (axis, group): (Axis, &CountGroup)) -> Option<Address> {
    let workload = query.filter.workload.as_deref()?;
    let value = group.value.as_deref();
    let dimension = if axis == Axis::Rows { &query.rows } else { &query.columns };
    if *dimension == CountDimension::Version {
        let rollout = visit.to(["rollouts", &format!("{workload}@{}", value?)]);
        let workspace = query.filter.workspace.iter();
        return Some(workspace.fold(rollout, |address, workspace| address.with("workspace", workspace)));
    }
    let filter = query.narrowed(axis, group)?;
    Some(match dimension {
        CountDimension::State => filtered(visit.to(["deployments"]), &filter),
        CountDimension::Host => visit.to(["hosts", value?]),
        CountDimension::Environment => {
            let environment = visit.to(["environments", value?]).with("rows", &CountDimension::Target.to_string());
            filtered(environment, &Filter { environment: None, ..filter })
        }
        _ => filtered(visit.to(["workloads", workload]), &Filter { workload: None, ..filter.clone() }),
    })
}

/// The same versions by the rings of hosts, if some of the workload's hosts have the label; or by environments again.
async fn regrouped(visit: &Visit, query: &GridQuery) -> Result<Option<(&'static str, String)>, ClientError> {
    let here = visit.address.clone();
    if query.columns != DEFAULT.1 {
        return Ok(Some(("By environment", here.without("columns").to_string())));
    }
    let own = query.filter.selector.as_deref().into_iter();
    let selector = Some(own.chain([RING]).collect::<Vec<_>>().join(","));
    let with_label = Filter { selector, ..query.filter.clone() };
    let by_ring = here.with("columns", &CountDimension::HostLabel(RING.to_owned()).to_string());
    match visit.api.deployments(&with_label, &Page { cursor: None, limit: Some(1) }, visit.at).await {
        Ok(found) if found.items.is_empty() && found.next.is_none() => Ok(None),
        Ok(_) => Ok(Some(("By ring", by_ring.to_string()))),
        // No host that the reader may see has the label.
        Err(ClientError::Refused { status: 400..=499, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The pages of the workload in an environment.
fn pages(visit: &Visit, filter: &Filter, environment: &str) -> Vec<(&'static str, Address)> {
    let elsewhere = Filter { environment: None, ..filter.clone() };
    let own = |page: &str| filtered(visit.to(["environments", environment, page]), &elsewhere);
    let of_all = |page: &str| filtered(visit.to([page]), filter).with("environment", environment);
    let here = filtered(visit.to(["environments", environment]).with("rows", "target"), &elsewhere);
    let mut pages = vec![
        ("Environment", here),
        ("Targets", own("targets")),
        ("Rollouts", of_all("rollouts")),
        ("Drift", of_all("drift")),
        ("History", of_all("history")),
    ];
    if visit.compiles {
        pages.extend([("Assignments", own("assignments")), ("Contract", own("contract"))]);
    }
    pages
}

/// The targets by environments, and by their names.
fn table(visit: &Visit, mut desired: Vec<EnvironmentTarget>) -> Table {
    let target = |one: &EnvironmentTarget| one.target.as_ref().map(|names| names.target.clone());
    desired.sort_by_cached_key(|one| (one.environment.clone(), target(one), one.cluster_type.clone()));
    let mut columns = targets::columns();
    columns.splice(targets::WORKLOAD..=targets::WORKLOAD, ["Environment".into()]);
    let row = |one: &EnvironmentTarget| {
        let mut row = targets::row(visit, one);
        let environment = Cell::link(&one.environment, &visit.to(["environments", &one.environment]));
        row.cells.splice(targets::WORKLOAD..=targets::WORKLOAD, [environment]);
        row.key = format!("{}/{}", one.environment, row.key);
        row
    };
    Table { caption: "Targets".to_owned(), columns, rows: desired.iter().map(row).collect() }
}

impl WorkloadPage<'_> {
    /// The dimensions of columns that a reader can choose from. Labels are written.
    fn dimensions() -> impl Iterator<Item = String> {
        let of_rows = [CountDimension::Workload, CountDimension::Version, CountDimension::ConfigVersion];
        CountDimension::NAMED.iter().filter(move |one| !of_rows.contains(one)).map(ToString::to_string)
    }

    /// The related pages.
    fn links(&self) -> Vec<(&'static str, String)> {
        let filter = &self.query.filter;
        let rollout = self.visit.to(["rollouts", &self.workload]);
        let rollout = filter.workspace.iter().fold(rollout, |address, name| address.with("workspace", name));
        let to = |page: &str| filtered(self.visit.to([page]), filter).to_string();
        vec![
            ("Rollout", rollout.to_string()),
            ("Hosts", to("deployments")),
            ("Commits", to("rollouts")),
            ("Drift", to("drift")),
            ("History", to("history")),
        ]
    }

    /// The parameters that the form for other columns does not change.
    fn kept(&self) -> impl Iterator<Item = (&str, &str)> {
        self.visit.address.parameters().filter(|(name, _)| *name != "columns")
    }
}
