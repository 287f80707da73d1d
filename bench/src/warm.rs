//! What a change costs when the fleet before it is known: in memory, or from a saved memo.

use testkit::generator::Size;
use testkit::generator::change::Change;

use crate::report::Row;

const NOTHING_IS_KEPT: &str = "the engine keeps nothing between two compilations";

/// Changes of a fleet of a million assignments, each with the milliseconds that it may take.
fn changes() -> [(Change, f64); 4] {
    [
        (Change::value_on_cluster_type(Size::MILLION), 100.0),
        (Change::value_of_assignment(Size::MILLION), 5.0),
        (Change::comment(), 1.0),
        (Change::label_of_cluster_type(Size::MILLION), 20.0),
    ]
}

/// From a change to the digest of the new tree, with the fleet before it in memory.
pub(crate) fn warm() -> Vec<Row> {
    let rows = changes().into_iter().flat_map(|(change, at_most_ms)| {
        let what = format!("warm: {} changes", change.what);
        let recomputed = Row::skipped("  assignments recomputed", "", NOTHING_IS_KEPT);
        [Row::skipped(what, "ms", NOTHING_IS_KEPT).at_most(at_most_ms), recomputed.exactly(change.reached as f64)]
    });
    rows.collect()
}

/// The same for a new process that finds a saved memo.
pub(crate) fn memo() -> Vec<Row> {
    let change = Change::value_on_cluster_type(Size::MILLION);
    let what = format!("new process with saved memo: {} changes", change.what);
    vec![Row::skipped(what, "s", NOTHING_IS_KEPT).at_most(5.0)]
}
