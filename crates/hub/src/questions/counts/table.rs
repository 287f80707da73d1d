//! A table of counts: adds reconcilers to its groups, orders these, and cuts the table to its limits.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use hub_api::counts::{CountCell, CountGroup, CountOrder, CountTable};
use model::rollout::Counts;

use super::unit::Value;

/// Counts by the values of rows and columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    total: Counts,
    rows: BTreeMap<Value, Counts>,
    columns: BTreeMap<Value, Counts>,
    cells: BTreeMap<(Value, Value), Counts>,
}

/// The order of a table, and the most rows and columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) order: CountOrder,
    pub(super) rows: usize,
    /// None: there are no columns.
    pub(super) columns: Option<usize>,
}

impl Table {
    /// Adds reconcilers to the rows and columns of these pairs of values. They count once in each row, column and cell.
    pub(super) fn add(&mut self, pairs: &BTreeSet<(Value, Value)>, reconcilers: &Counts) {
        let add = |counts: &mut Counts| counts.merge(reconcilers);
        add(&mut self.total);
        for row in pairs.iter().map(|(row, _)| row).collect::<BTreeSet<_>>() {
            add(self.rows.entry(row.clone()).or_default());
        }
        for column in pairs.iter().map(|(_, column)| column).collect::<BTreeSet<_>>() {
            add(self.columns.entry(column.clone()).or_default());
        }
        for pair in pairs {
            add(self.cells.entry(pair.clone()).or_default());
        }
    }

    /// The answer.
    pub(super) fn finish(self, cut: Cut) -> CountTable {
        let (row_count, column_count) = (self.rows.len(), self.columns.len());
        let (rows, other_rows) = self::cut(self.rows, cut.order, cut.rows);
        let mut table = CountTable { total: self.total, row_count, other_rows, ..CountTable::default() };
        if let Some(limit) = cut.columns {
            let (columns, other_columns) = self::cut(self.columns, cut.order, limit);
            let (row_of, column_of) = (positions(&rows), positions(&columns));
            let cell = |((row, column), counts): ((Value, Value), Counts)| {
                Some(CountCell { row: *row_of.get(&row)?, column: *column_of.get(&column)?, counts })
            };
            table.cells = self.cells.into_iter().filter_map(cell).collect();
            table.cells.sort_by_key(|cell| (cell.row, cell.column));
            (table.column_count, table.other_columns) = (column_count, other_columns);
            table.columns = groups(columns);
        }
        table.rows = groups(rows);
        table
    }
}

/// The first groups in this order, and the sum of the others.
fn cut(groups: BTreeMap<Value, Counts>, order: CountOrder, limit: usize) -> (Vec<(Value, Counts)>, Counts) {
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_cached_key(|(value, counts)| {
        let worst = match order {
            CountOrder::Worst => {
                [counts.failed, counts.silent, counts.never_reported + counts.outdated + counts.in_progress]
            }
            CountOrder::Name => [0; 3],
        };
        (worst.map(Reverse), value.is_none(), value.clone())
    });
    let mut others = Counts::default();
    groups.drain(limit.min(groups.len())..).for_each(|(_, counts)| others.merge(&counts));
    (groups, others)
}

fn positions(groups: &[(Value, Counts)]) -> BTreeMap<Value, usize> {
    groups.iter().enumerate().map(|(position, (value, _))| (value.clone(), position)).collect()
}

fn groups(groups: Vec<(Value, Counts)>) -> Vec<CountGroup> {
    let group = |(value, counts): (Value, Counts)| CountGroup { value: value.as_deref().map(str::to_owned), counts };
    groups.into_iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use model::rollout::{Liveness, ReconcilerState};

    use super::*;

    fn counts(state: ReconcilerState, number: i64) -> Counts {
        let mut counts = Counts::default();
        counts.add(state, Liveness::Alive, number);
        counts
    }

    /// Rows with a name and these numbers of failed, silent, outdated and succeeded reconcilers.
    fn check(order: CountOrder, limit: usize, expected: &[&str]) -> CountTable {
        let mut table = Table::default();
        let numbers =
            [("b", [1, 0, 0, 9]), ("d", [0, 2, 9, 0]), ("a", [0, 0, 0, 5]), ("c", [0, 0, 1, 0]), ("", [1, 0, 0, 9])];
        let states =
            [ReconcilerState::Failed, ReconcilerState::Silent, ReconcilerState::Outdated, ReconcilerState::Succeeded];
        for (name, numbers) in numbers {
            let pairs =
                BTreeSet::from([(Some(name).filter(|name| !name.is_empty()).map(Into::into), Some("x".into()))]);
            for (state, number) in states.into_iter().zip(numbers) {
                table.add(&pairs, &counts(state, number));
            }
        }
        let table = table.finish(Cut { order, rows: limit, columns: Some(limit) });
        let names: Vec<_> = table.rows.iter().map(|row| row.value.as_deref().unwrap_or("-")).collect();
        assert_eq!(names, expected);
        table
    }

    #[test]
    fn the_worst_comes_first_and_the_group_without_a_value_behind_its_equals() {
        check(CountOrder::Worst, 9, &["b", "-", "d", "c", "a"]);
        check(CountOrder::Name, 9, &["a", "b", "c", "d", "-"]);
    }

    #[test]
    fn groups_beyond_the_limit_are_added_up() {
        let table = check(CountOrder::Worst, 2, &["b", "-"]);
        assert_eq!((table.row_count, table.other_rows.expected, table.other_rows.silent), (5, 17, 2));
        assert_eq!((table.total.expected, table.column_count, table.other_columns.expected), (37, 1, 0));
        let cells: Vec<_> = table.cells.iter().map(|cell| (cell.row, cell.column, cell.counts.expected)).collect();
        assert_eq!(cells, [(0, 0, 10), (1, 0, 10)]);
    }

    #[test]
    fn reconcilers_with_several_values_count_once_in_each_group() {
        let pair = |row: &str, column: &str| (Some(row.into()), Some(column.into()));
        let pairs = BTreeSet::from([pair("a", "x"), pair("a", "y"), pair("b", "x")]);
        let mut table = Table::default();
        table.add(&pairs, &counts(ReconcilerState::Failed, 3));
        let table = table.finish(Cut { order: CountOrder::Name, rows: 9, columns: Some(9) });
        let rows: Vec<_> = table.rows.iter().map(|row| row.counts.failed).collect();
        assert_eq!((table.total.failed, rows, table.cells.len()), (3, vec![3, 3], 3));
    }
}
