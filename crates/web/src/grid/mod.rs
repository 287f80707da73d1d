//! Counts of reconcilers by two dimensions as a table, with links to what each number counts.

mod dimension;

use std::collections::BTreeMap;

use hub_api::client::ClientError;
use hub_api::counts::{CountDimension, CountGroup, CountOrder, CountQuery, CountTable, UnknownDimension};
use hub_api::filter::Filter;

pub(crate) use self::dimension::{finer, narrowed};
use crate::address::Address;
use crate::conditions::filtered;
use crate::part::{Cell, Moment, Share};
use crate::refusal::Refusal;
use crate::visit::Visit;

/// The largest number of rows. Browsers are slow with tables of many thousand cells.
const ROWS_MAX: usize = 40;

/// The largest number of columns.
const COLUMNS_MAX: usize = 30;

/// What is counted, by two dimensions.
#[derive(Clone, Debug)]
pub(crate) struct GridQuery {
    pub(crate) rows: CountDimension,
    pub(crate) columns: CountDimension,
    /// The order. None: what needs attention first.
    pub(crate) sort: Option<CountOrder>,
    pub(crate) filter: Filter,
    /// Whether a cell of a version leads to the hosts of its column. Lists of hosts can't be filtered by versions.
    pub(crate) has_wide_links: bool,
}

/// One of the two directions of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    Rows,
    Columns,
}

/// A table of counts.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// What the ids of its rows begin with. A page may have several tables.
    pub(crate) id: &'static str,
    /// What is counted by what: `workload by cluster type`.
    pub(crate) caption: String,
    /// The dimension of the rows.
    pub(crate) corner: String,
    pub(crate) columns: Vec<GridHead>,
    pub(crate) rows: Vec<GridRow>,
    /// How much the table has, and what it leaves out.
    pub(crate) extent: String,
    /// When the hub recorded the counts. None: they are exact.
    pub(crate) recorded: Option<Moment>,
    /// The counts of everything that the filter selects.
    pub(crate) total: Share,
}

/// The name of a row or a column.
#[derive(Clone, Debug)]
pub(crate) struct GridHead {
    pub(crate) name: String,
    /// The page of the group by itself.
    pub(crate) to: Option<String>,
}

/// A row: its name, its sum, and a cell for each column.
#[derive(Clone, Debug)]
pub(crate) struct GridRow {
    pub(crate) head: GridHead,
    pub(crate) share: Share,
    pub(crate) cells: Vec<Cell>,
}

impl GridQuery {
    /// The dimensions and the order that an address asks for, with its dimensions or these.
    pub(crate) fn new(
        visit: &Visit,
        (rows, columns): (CountDimension, CountDimension),
        filter: Filter,
    ) -> Result<Self, Refusal> {
        let dimension = |name: &str, otherwise: CountDimension| match visit.address.get(name) {
            None => Ok(otherwise),
            Some(text) => text.parse().map_err(|error: UnknownDimension| Refusal::invalid(&error.to_string())),
        };
        let sort = (visit.address.get("sort") == Some("name")).then_some(CountOrder::Name);
        let (rows, columns) = (dimension("rows", rows)?, dimension("columns", columns)?);
        Ok(Self { rows, columns, sort, filter, has_wide_links: false })
    }

    /// The same page in the other order, with the words for it.
    pub(crate) fn reordered(&self, visit: &Visit) -> (&'static str, String) {
        match self.sort {
            Some(CountOrder::Name) => ("Worst first", visit.address.clone().without("sort").to_string()),
            _ => ("By name", visit.address.clone().with("sort", "name").to_string()),
        }
    }

    /// The filter that selects a group. None: no filter says that.
    pub(crate) fn narrowed(&self, axis: Axis, group: &CountGroup) -> Option<Filter> {
        narrowed(&self.filter, self.dimension(axis), group.value.as_deref())
    }

    fn dimension(&self, axis: Axis) -> &CountDimension {
        match axis {
            Axis::Rows => &self.rows,
            Axis::Columns => &self.columns,
        }
    }

    /// The list of the reconcilers of a cell.
    fn hosts(&self, visit: &Visit, (row, column): (&CountGroup, &CountGroup)) -> Option<Address> {
        let is_of_version = matches!(self.rows, CountDimension::Version | CountDimension::ConfigVersion);
        let filter =
            if self.has_wide_links && is_of_version { self.filter.clone() } else { self.narrowed(Axis::Rows, row)? };
        let filter = narrowed(&filter, &self.columns, column.value.as_deref())?;
        Some(filtered(visit.to(["deployments"]), &filter))
    }

    /// The table that the API answers. `to` is the page of a group by itself.
    pub(crate) async fn read(
        &self,
        visit: &Visit,
        id: &'static str,
        to: impl Fn(Axis, &CountGroup) -> Option<Address>,
    ) -> Result<Grid, ClientError> {
        let query = CountQuery {
            columns: Some(self.columns.clone()),
            at: visit.at,
            sort: self.sort,
            row_limit: Some(ROWS_MAX),
            column_limit: Some(COLUMNS_MAX),
            ..CountQuery::by(self.rows.clone())
        };
        let table = visit.api.counts(&self.filter, &query).await?;
        let head = |axis, group: &CountGroup| GridHead {
            name: dimension::name(self.dimension(axis), group),
            to: to(axis, group).map(|address| address.to_string()),
        };
        let row = |(number, group): (usize, &CountGroup)| GridRow {
            head: head(Axis::Rows, group),
            share: Share::new(group.counts, None),
            cells: self.cells(visit, &table, number),
        };
        Ok(Grid {
            id,
            caption: format!("{} by {}", dimension::words(&self.rows), dimension::words(&self.columns)),
            corner: dimension::words(&self.rows),
            columns: table.columns.iter().map(|group| head(Axis::Columns, group)).collect(),
            rows: table.rows.iter().enumerate().map(row).collect(),
            extent: extent(&table),
            recorded: table.recorded_on.map(|on| Moment::new(on, visit.now)),
            total: Share::new(table.total, Some(&filtered(visit.to(["deployments"]), &self.filter))),
        })
    }

    /// The cells of a row: one for each column, empty where nothing is.
    fn cells(&self, visit: &Visit, table: &CountTable, number: usize) -> Vec<Cell> {
        let mut by_column: BTreeMap<usize, Share> = BTreeMap::new();
        for cell in table.cells.iter().filter(|cell| cell.row == number) {
            let groups = table.rows.get(cell.row).zip(table.columns.get(cell.column));
            let to = groups.and_then(|groups| self.hosts(visit, groups));
            by_column.insert(cell.column, Share::new(cell.counts, to.as_ref()));
        }
        let cell = |column| by_column.remove(&column).map_or(Cell::Empty, Cell::Share);
        (0..table.columns.len()).map(cell).collect()
    }
}

/// How much of the counts a table has, and what it leaves out.
fn extent(table: &CountTable) -> String {
    let CountTable { rows, columns, row_count, column_count, other_rows, other_columns, .. } = table;
    let more = |(count, shown): (&usize, usize), (noun, counts)| {
        let more = count.saturating_sub(shown);
        (more > 0).then(|| format!("{more} more {noun} ({})", Share::new(counts, None).words()))
    };
    let rows_left = more((row_count, rows.len()), ("rows", *other_rows));
    let columns_left = more((column_count, columns.len()), ("columns", *other_columns));
    let left: Vec<_> = rows_left.into_iter().chain(columns_left).collect();
    let shown = format!("{} of {row_count} rows, {} of {column_count} columns.", rows.len(), columns.len());
    if left.is_empty() { shown } else { format!("{shown} And {}.", left.join(", and ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_table_leaves_out_is_said() {
        let group = CountGroup { value: None, counts: model::rollout::Counts::default() };
        let table = CountTable { rows: vec![group.clone()], row_count: 3, column_count: 1, ..CountTable::default() };
        let table = CountTable { columns: vec![group], ..table };
        assert_eq!(extent(&table), "1 of 3 rows, 1 of 1 columns. And 2 more rows (nothing is expected here).");
        assert_eq!(extent(&CountTable { row_count: 1, ..table }), "1 of 1 rows, 1 of 1 columns.");
    }
}
