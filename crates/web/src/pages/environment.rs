//! An environment: how many reconcilers hold what is desired, by two dimensions that the reader chooses.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use hub_api::client::ClientError;
use hub_api::counts::{CountDimension, CountGroup, CountOrder, CountQuery, CountTable};
use hub_api::filter::Filter;
use model::rollout::ReconcilerState;
use model::selector::LabelSelector;

use crate::address::Address;
use crate::part::{Cell, Share};
use crate::refusal::Refusal;
use crate::visit::Visit;

pub(crate) async fn page(Path(environment): Path<String>, visit: Visit) -> Response {
    let query = match query(&visit) {
        Ok(query) => query,
        Err(refusal) => return visit.refuse(refusal),
    };
    let filter = Filter { environment: Some(environment.clone()), ..visit.filter() };
    match visit.with_changes(&filter).await {
        Ok(visit) => visit.answer(grid(&visit, (environment, filter, query)).await),
        Err(response) => response,
    }
}

/// The dimensions of the page's rows and columns, unless the reader chooses others.
const DEFAULT: (CountDimension, CountDimension) = (CountDimension::Workload, CountDimension::ClusterType);

/// The largest number of rows. Browsers are slow with tables of many thousand cells.
const ROWS_MAX: usize = 40;

/// The largest number of columns.
const COLUMNS_MAX: usize = 30;

/// The page of an environment.
#[derive(Template)]
#[template(path = "environment.html")]
struct EnvironmentPage<'a> {
    visit: &'a Visit,
    environment: String,
    filter: Filter,
    query: CountQuery,
    columns: CountDimension,
    table: CountTable,
    total: Share,
}

fn query(visit: &Visit) -> Result<CountQuery, Refusal> {
    let dimension = |name: &str, otherwise: CountDimension| match visit.address.get(name) {
        None => Ok(otherwise),
        Some(text) => {
            text.parse().map_err(|error: hub_api::counts::UnknownDimension| Refusal::invalid(&error.to_string()))
        }
    };
    let sort = match visit.address.get("sort") {
        Some("name") => Some(CountOrder::Name),
        _ => None,
    };
    Ok(CountQuery {
        columns: Some(dimension("columns", DEFAULT.1)?),
        at: visit.at,
        sort,
        row_limit: Some(ROWS_MAX),
        column_limit: Some(COLUMNS_MAX),
        ..CountQuery::by(dimension("rows", DEFAULT.0)?)
    })
}

async fn grid(
    visit: &Visit,
    (environment, filter, query): (String, Filter, CountQuery),
) -> Result<EnvironmentPage<'_>, ClientError> {
    let table = visit.api.counts(&filter, &query).await?;
    let hosts = visit.to(["deployments"]).with("environment", &environment);
    let total = Share::new(table.total, Some(&filtered(hosts, &filter)));
    let columns = query.columns.clone().unwrap_or(DEFAULT.1);
    Ok(EnvironmentPage { visit, environment, filter, query, columns, table, total })
}

/// The conditions of a filter: names of parameters of the API, and their values.
fn conditions(filter: &Filter) -> Vec<(String, String)> {
    // All fields are optional texts.
    let query = serde_urlencoded::to_string(filter).unwrap_or_default();
    form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

/// An address with the conditions of a filter.
fn filtered(address: Address, filter: &Filter) -> Address {
    conditions(filter).iter().fold(address, |address, (name, value)| address.with(name, value))
}

/// A filter with the condition that a dimension has a value. None: no filter says that.
fn narrowed(filter: &Filter, dimension: &CountDimension, value: Option<&str>) -> Option<Filter> {
    let own = value.map(str::to_owned);
    let filter = filter.clone();
    match dimension {
        CountDimension::HostLabel(key) => {
            Some(Filter { selector: Some(with_label(filter.selector.as_deref(), key, value)?), ..filter })
        }
        CountDimension::TargetLabel(key) => {
            Some(Filter { target_selector: Some(with_label(filter.target_selector.as_deref(), key, value)?), ..filter })
        }
        _ if own.is_none() => None,
        CountDimension::Environment => Some(Filter { environment: own, ..filter }),
        CountDimension::Workspace => Some(Filter { workspace: own, ..filter }),
        CountDimension::Workload => Some(Filter { workload: own, ..filter }),
        CountDimension::Target => Some(Filter { target: own, ..filter }),
        CountDimension::ClusterType => Some(Filter { cluster_type: own, ..filter }),
        CountDimension::State => Some(Filter { status: own, ..filter }),
        CountDimension::Host => Some(Filter { host: own, ..filter }),
        CountDimension::Version | CountDimension::ConfigVersion => None,
    }
}

/// A selector with the condition that a label has a value, or is missing. None: a selector can't say that of this value, which may be any text.
fn with_label(selector: Option<&str>, key: &str, value: Option<&str>) -> Option<String> {
    let condition = value.map_or_else(|| format!("!{key}"), |value| format!("{key}={value}"));
    let parsed = LabelSelector::parse(&condition).ok()?;
    let is_one = matches!(parsed.requirements.as_slice(), [one] if &*one.key == key);
    is_one.then(|| selector.into_iter().chain([condition.as_str()]).collect::<Vec<_>>().join(","))
}

/// The dimension that divides a group of another one further. None: it is the list of its reconcilers.
fn finer(dimension: &CountDimension) -> Option<CountDimension> {
    match dimension {
        CountDimension::Environment | CountDimension::Workspace => Some(CountDimension::Workload),
        CountDimension::Workload | CountDimension::TargetLabel(_) => Some(CountDimension::Target),
        CountDimension::HostLabel(_) | CountDimension::Version | CountDimension::ConfigVersion => {
            Some(CountDimension::ClusterType)
        }
        CountDimension::Target | CountDimension::ClusterType => Some(CountDimension::Host),
        CountDimension::Host | CountDimension::State => None,
    }
}

/// A dimension in words, for headings.
fn words(dimension: &CountDimension) -> String {
    match dimension {
        CountDimension::Environment => "environment".to_owned(),
        CountDimension::Workspace => "workspace".to_owned(),
        CountDimension::Workload => "workload".to_owned(),
        CountDimension::Target => "target".to_owned(),
        CountDimension::ClusterType => "cluster type".to_owned(),
        CountDimension::Version => "version".to_owned(),
        CountDimension::ConfigVersion => "configuration".to_owned(),
        CountDimension::State => "state".to_owned(),
        CountDimension::Host => "host".to_owned(),
        CountDimension::HostLabel(key) => format!("host label {key}"),
        CountDimension::TargetLabel(key) => format!("target label {key}"),
    }
}

/// The name of a group.
fn name(dimension: &CountDimension, group: &CountGroup) -> String {
    match (&group.value, dimension) {
        (Some(value), CountDimension::State) => {
            ReconcilerState::parse(value).map_or(value.as_str(), |state| state.words()).to_owned()
        }
        (Some(value), _) => value.clone(),
        (None, CountDimension::ClusterType) => "manifests of workloads".to_owned(),
        (None, CountDimension::Workspace | CountDimension::Workload | CountDimension::Target) => {
            "folders of whole clusters".to_owned()
        }
        (None, dimension) => format!("no {}", words(dimension)),
    }
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

    /// The conditions that the reader set: the filter without the environment of the page.
    fn own_conditions(&self) -> Vec<(String, String)> {
        conditions(&Filter { environment: None, ..self.filter.clone() })
    }

    /// The conditions of the filter in words, each with the address without it.
    fn chips(&self) -> Vec<(String, String)> {
        let chip = |(name, value): (String, String)| {
            (format!("{name}: {value}"), self.visit.address.clone().without(&name).to_string())
        };
        self.own_conditions().into_iter().map(chip).collect()
    }

    /// The parameters that the form for other dimensions does not change.
    fn kept(&self) -> impl Iterator<Item = (&str, &str)> {
        self.visit.address.parameters().filter(|(name, _)| !["rows", "columns"].contains(name))
    }

    fn unfiltered(&self) -> String {
        let conditions = self.own_conditions();
        conditions.iter().fold(self.visit.address.clone(), |address, (name, _)| address.without(name)).to_string()
    }

    /// The same page in the other order.
    fn reordered(&self) -> (&'static str, String) {
        match self.query.sort {
            Some(CountOrder::Name) => ("Worst first", self.visit.address.clone().without("sort").to_string()),
            _ => ("By name", self.visit.address.clone().with("sort", "name").to_string()),
        }
    }

    fn row_name(&self, group: &CountGroup) -> String {
        name(&self.query.rows, group)
    }

    fn column_name(&self, group: &CountGroup) -> String {
        name(&self.columns, group)
    }

    /// A group by itself: divided further, or the list of its reconcilers.
    fn group(&self, group: &CountGroup, is_row: bool) -> Option<String> {
        let dimension = if is_row { &self.query.rows } else { &self.columns };
        let filter = narrowed(&self.filter, dimension, group.value.as_deref())?;
        let (axis, other) = if is_row { ("rows", "columns") } else { ("columns", "rows") };
        let Some(finer) = finer(dimension).filter(|_| filter.status.is_none()) else {
            return Some(filtered(self.visit.to(["deployments"]), &filter).to_string());
        };
        let mut address = self.visit.to(["environments", &self.environment]).with(axis, &finer.to_string());
        if let Some(other_dimension) = self.visit.address.get(other) {
            address = address.with(other, other_dimension);
        }
        Some(filtered(address, &Filter { environment: None, ..filter }).to_string())
    }

    /// The numbers of a group.
    fn share(group: &CountGroup) -> Share {
        Share::new(group.counts, None)
    }

    /// The cells of a row: one for each column, empty where nothing is.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
    fn cells(&self, row: &usize) -> Vec<Cell> {
        let own = self.table.cells.iter().filter(|cell| cell.row == *row);
        let mut by_column: BTreeMap<usize, Share> = BTreeMap::new();
        for cell in own {
            by_column.insert(cell.column, Share::new(cell.counts, self.hosts(*row, cell.column).as_ref()));
        }
        let cell = |column| by_column.remove(&column).map_or(Cell::Empty, Cell::Share);
        (0..self.table.columns.len()).map(cell).collect()
    }

    /// The list of the reconcilers of a cell.
    fn hosts(&self, row: usize, column: usize) -> Option<Address> {
        let (row, column) = (self.table.rows.get(row)?, self.table.columns.get(column)?);
        let filter = narrowed(&self.filter, &self.query.rows, row.value.as_deref())?;
        let filter = narrowed(&filter, &self.columns, column.value.as_deref())?;
        Some(filtered(self.visit.to(["deployments"]), &filter))
    }

    /// What the table leaves out.
    fn more(&self) -> Option<String> {
        let more = |count: usize, shown: usize| count.saturating_sub(shown);
        let rows = more(self.table.row_count, self.table.rows.len());
        let columns = more(self.table.column_count, self.table.columns.len());
        let rows =
            (rows > 0).then(|| format!("{rows} more rows ({})", Share::new(self.table.other_rows, None).words()));
        let columns = (columns > 0)
            .then(|| format!("{columns} more columns ({})", Share::new(self.table.other_columns, None).words()));
        let parts: Vec<_> = rows.into_iter().chain(columns).collect();
        (!parts.is_empty()).then(|| parts.join(", and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_added_to_a_selector() {
        let filter = Filter { selector: Some("ring=1".into()), ..Filter::default() };
        let region = CountDimension::HostLabel("region".into());
        let check = |value: Option<&str>, expected: &str| {
            let narrowed = narrowed(&filter, &region, value).unwrap();
            assert_eq!(narrowed.selector.as_deref(), Some(expected));
        };
        check(Some("west"), "ring=1,region=west");
        check(None, "ring=1,!region");
        // A host may report any text as the value of a label.
        for value in ["a,b=c", "a b", "in (a)", "\""] {
            assert_eq!(narrowed(&filter, &region, Some(value)), None, "{value:?}");
        }
        assert_eq!(narrowed(&filter, &CountDimension::Workload, None), None);
        assert_eq!(narrowed(&filter, &CountDimension::Version, Some("1")), None);
    }

    #[test]
    fn all_conditions_of_a_filter_are_in_the_address() {
        let filter = Filter { host: Some("a&b".into()), status: Some("failed".into()), ..Filter::default() };
        assert_eq!(
            filtered(Address::of(["deployments"]), &filter).to_string(),
            "/deployments?host=a%26b&status=failed"
        );
    }

    #[test]
    fn drilling_ends_at_hosts() {
        for dimension in CountDimension::NAMED {
            let mut dimension = Some(dimension);
            for _ in 0..4 {
                dimension = dimension.as_ref().and_then(finer);
            }
            assert_eq!(dimension, None);
        }
    }
}
