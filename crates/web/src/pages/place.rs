//! A cluster type or a cluster in an environment: what it should run, and which of its hosts do.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::compiled::{AssignmentQuery, CompiledAssignment};
use hub_api::counts::{CountDimension, CountGroup};
use hub_api::deployments::TargetNames;
use hub_api::environments::EnvironmentTarget;
use hub_api::filter::Filter;
use hub_api::history::HistorySelection;
use hub_api::page::Page;

use super::attention::Attention;
use super::presence::Presence;
use super::{assignments, history, targets};
use crate::address::Address;
use crate::conditions::{Conditions, filtered};
use crate::grid::{Axis, Grid, GridQuery};
use crate::part::{Cell, Table};
use crate::visit::Visit;

pub(crate) async fn page(Path(place): Path<String>, visit: Visit) -> Response {
    let found = match Place::find(&visit, place).await {
        Ok(found) => found,
        Err(error) => return visit.refuse(error.into()),
    };
    let visit = match &found.filter {
        Some(filter) => visit.with_changes(filter).await,
        None => Ok(visit.of_the_present()),
    };
    match visit {
        Ok(visit) => visit.answer(shown(&visit, found).await),
        Err(response) => response,
    }
}

/// The number of rows of each table.
const ROWS: usize = 50;

/// The number of events of the history.
const EVENTS: usize = 5;

/// The number of environments that the place is compared with.
const COMPARED: usize = 5;

/// A cluster type or a cluster.
struct Place {
    name: String,
    /// The environment of the page. None: the page lists those in which the place is.
    environment: Option<String>,
    /// Where it is.
    presence: Presence,
    /// What selects its reconcilers in the environment. None: the hub knows nothing of the place, only the compiled environment does.
    filter: Option<Filter>,
}

impl Place {
    /// The cluster type with a name. Without one, the cluster: the host with this name, or what the compiled environment assigns to.
    async fn find(visit: &Visit, name: String) -> Result<Self, ClientError> {
        let given = visit.address.get("environment").map(str::to_owned);
        let own = Filter { environment: None, cluster_type: None, host: None, status: None, ..visit.filter() };
        let of_type = Filter { cluster_type: Some(name.clone()), ..own.clone() };
        let (presence, filter) = match Presence::read(visit, &of_type).await {
            Ok(presence) => (presence, of_type),
            Err(unknown) if is_unknown(&unknown) => {
                let of_host = Filter { host: Some(name.clone()), ..own };
                match Presence::read(visit, &of_host).await {
                    Ok(presence) => (presence, of_host),
                    Err(error) if is_unknown(&error) => {
                        return Self::compiled(visit, name, given).await?.ok_or(unknown);
                    }
                    Err(error) => return Err(error),
                }
            }
            Err(error) => return Err(error),
        };
        let desired = visit.api.targets(&filter, &Page { cursor: None, limit: Some(ROWS) }, visit.at).await?;
        let presence = presence.with_targets(&desired.items);
        let environment = given.or_else(|| presence.only().map(str::to_owned));
        let filter = Filter { environment: environment.clone(), ..filter };
        Ok(Self { name, environment, presence, filter: Some(filter) })
    }

    /// A place of which only the compiled environment knows. None: there is none.
    async fn compiled(visit: &Visit, name: String, environment: Option<String>) -> Result<Option<Self>, ClientError> {
        let Some(given) = &environment else { return Ok(None) };
        let is_there = assigned(visit, given, &name).await?.is_some_and(|found| !found.is_empty());
        let place = Self { name, environment, presence: Presence::default(), filter: None };
        Ok(is_there.then_some(place))
    }
}

fn is_unknown(error: &ClientError) -> bool {
    matches!(error, ClientError::Refused { status: 404, .. })
}

/// The first assignments to a place. None: the environment is not compiled here.
async fn assigned(
    visit: &Visit,
    environment: &str,
    place: &str,
) -> Result<Option<Vec<CompiledAssignment>>, ClientError> {
    if !visit.compiles {
        return Ok(None);
    }
    let query = AssignmentQuery { place: Some(place.to_owned()), limit: Some(ROWS), ..AssignmentQuery::default() };
    match visit.api.assignments(environment, &query).await {
        Ok(found) => Ok(Some(found.answer.items)),
        Err(ClientError::Refused { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The page of a place.
#[derive(Template)]
#[template(path = "place.html")]
struct PlacePage<'a> {
    visit: &'a Visit,
    title: String,
    links: Vec<(String, String)>,
    /// The filter without the place and the environment of the page.
    conditions: Conditions,
    /// The environments of the place, if the page is about no single one.
    environments: Option<Table>,
    reported: Option<ReportedPlace>,
    /// What is compiled for it. None: the environment is not compiled here.
    assignments: Option<Table>,
}

/// What the hub knows of a place in an environment.
struct ReportedPlace {
    states: Grid,
    targets: Table,
    has_more_targets: bool,
    attention: Attention,
    history: Table,
}

async fn shown(visit: &Visit, place: Place) -> Result<PlacePage<'_>, ClientError> {
    let own = place.filter.clone().unwrap_or_default();
    let conditions = Filter { environment: None, cluster_type: None, host: None, ..own.clone() };
    let mut page = PlacePage {
        visit,
        title: place.name.clone(),
        links: links(visit, &place),
        conditions: Conditions::new(visit, &conditions),
        environments: None,
        reported: None,
        assignments: None,
    };
    let Some(environment) = &place.environment else {
        let pages = |environment: &str| pages(visit, &place, &own, environment);
        page.environments = Some(place.presence.table(visit, &own, pages));
        return Ok(page);
    };
    page.title = format!("{} in {environment}", place.name);
    let assigned = assigned(visit, environment, &place.name).await?;
    if let Some(filter) = place.filter.clone() {
        let to = |workload: Option<&str>, target: &str| {
            let one = only_of(assigned.as_deref().unwrap_or_default(), workload, target)?;
            Some(visit.to(["environments", environment, "assignments", &one.place, &one.target]))
        };
        page.reported = Some(reported(visit, filter, to).await?);
    }
    page.assignments = assigned.map(|found| Table {
        caption: "Assignments".to_owned(),
        columns: assignments::columns(),
        rows: found.iter().map(|one| assignments::row(visit, environment, one)).collect(),
    });
    Ok(page)
}

/// The only assignment of a target, by the target's own name, which targets of several workloads may have. The whole name begins with the workload.
fn only_of<'a>(
    assigned: &'a [CompiledAssignment],
    workload: Option<&str>,
    target: &str,
) -> Option<&'a CompiledAssignment> {
    let is_of = |one: &&CompiledAssignment| {
        workload.is_none_or(|workload| one.workload == workload) && one.target == format!("{}-{target}", one.workload)
    };
    let mut found = assigned.iter().filter(is_of);
    found.next().filter(|_| found.next().is_none())
}

/// What the hub knows of a place in an environment. `to` is the page of the assignment of a workload's target, or of a target's name alone.
async fn reported(
    visit: &Visit,
    filter: Filter,
    to: impl Fn(Option<&str>, &str) -> Option<Address>,
) -> Result<ReportedPlace, ClientError> {
    let query = GridQuery {
        rows: CountDimension::Target,
        columns: CountDimension::State,
        sort: None,
        filter,
        has_wide_links: false,
    };
    let group = |axis: Axis, group: &CountGroup| {
        let assignment = group.value.as_deref().filter(|_| axis == Axis::Rows).and_then(|target| to(None, target));
        assignment.or_else(|| Some(filtered(visit.to(["deployments"]), &query.narrowed(axis, group)?)))
    };
    let states = query.read(visit, "state", group).await?;
    let filter = &query.filter;
    let desired = visit.api.targets(filter, &Page { cursor: None, limit: Some(ROWS) }, visit.at).await?;
    let selection = HistorySelection { until: visit.at, ..HistorySelection::default() };
    let events = visit.api.history(filter, &selection, &Page { cursor: None, limit: Some(EVENTS) }).await?;
    let row = |one: &EnvironmentTarget| {
        let mut row = targets::row(visit, one);
        let of_target = |names: &TargetNames| Some((names.target.clone(), to(Some(&names.workload), &names.target)?));
        if let Some((name, to)) = one.target.as_ref().and_then(of_target) {
            row.cells.splice(targets::TARGET..=targets::TARGET, [Cell::link(&name, &to)]);
        }
        row
    };
    Ok(ReportedPlace {
        attention: Attention::read(visit, filter, &states.total.counts).await?,
        targets: Table {
            caption: "Targets".to_owned(),
            columns: targets::columns(),
            rows: desired.items.iter().map(row).collect(),
        },
        has_more_targets: desired.next.is_some(),
        history: Table {
            caption: "History".to_owned(),
            columns: history::columns(),
            rows: events.items.iter().map(|one| history::row(visit, one)).collect(),
        },
        states,
    })
}

/// The pages of a place in one of its environments.
fn pages(visit: &Visit, place: &Place, filter: &Filter, environment: &str) -> Vec<(&'static str, Address)> {
    let of_all = |page: &str| filtered(visit.to([page]), filter).with("environment", environment);
    let here = visit.address.clone().with("environment", environment);
    let mut pages = vec![("Environment", here), ("Hosts", of_all("deployments")), ("History", of_all("history"))];
    if visit.compiles {
        let all = visit.to(["environments", environment, "assignments"]);
        pages.push(("Assignments", all.with("place", &place.name)));
    }
    pages
}

/// The pages that are related to a place, in its environment or in all.
fn links(visit: &Visit, place: &Place) -> Vec<(String, String)> {
    let mut links = Vec::new();
    if let Some(filter) = &place.filter {
        let pages = [("Hosts", "deployments"), ("Drift", "drift"), ("History", "history")];
        let of_filter = |page: &str| filtered(visit.to([page]), filter);
        links.extend(pages.map(|(label, page)| (label.to_owned(), of_filter(page))));
    }
    let Some(environment) = &place.environment else { return texts(links) };
    links.push((environment.clone(), visit.to(["environments", environment])));
    if visit.compiles {
        let of_place = |page: &str| visit.to(["environments", environment, page]).with("place", &place.name);
        let pages =
            [("Assignments", "assignments"), ("Contract", "contract"), ("Why is something not here?", "why-not")];
        links.extend(pages.map(|(label, page)| (label.to_owned(), of_place(page))));
    }
    let others = place.presence.environments.iter().map(|(name, _)| name).filter(|name| *name != environment);
    links.extend(others.take(COMPARED).map(|other| {
        let compared = visit.to(["compare"]).with("from", other).with("to", environment);
        (format!("Compare with {other}"), compared)
    }));
    if place.presence.environments.len() > 1 {
        links.push(("All environments".to_owned(), visit.address.clone().without("environment")));
    }
    texts(links)
}

fn texts(links: Vec<(String, Address)>) -> Vec<(String, String)> {
    links.into_iter().map(|(label, to)| (label, to.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assignment(workload: &str, target: &str) -> CompiledAssignment {
        CompiledAssignment {
            place: "west-edge".into(),
            cluster_type: "west-edge".into(),
            cluster: None,
            target: format!("{workload}-{target}"),
            workload: workload.into(),
            workspace: "shop".into(),
            folder: None,
            config_version: None,
            release: None,
            is_failing: false,
            findings: 0,
            policies: Vec::new(),
            release_pins: Vec::new(),
        }
    }

    #[test]
    fn a_target_leads_to_its_assignment_if_it_has_one() {
        let assigned = [("till", "eu"), ("till", "us"), ("menu", "eu")].map(|(one, target)| assignment(one, target));
        let found = |workload, target| only_of(&assigned, workload, target).map(|one| one.target.as_str());
        assert_eq!(found(Some("menu"), "eu"), Some("menu-eu"));
        assert_eq!((found(None, "us"), found(Some("till"), "kiosk")), (Some("till-us"), None));
        // Two workloads have a target with this name.
        assert_eq!(found(None, "eu"), None);
    }
}
