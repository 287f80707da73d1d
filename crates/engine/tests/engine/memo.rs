//! A memo of one run saves work in the next run, and does not change results.

use std::collections::BTreeSet;
use std::io::Result;
use std::sync::Arc;

use engine::compile::memo::Memo;
use engine::compile::{Assignment, CompileOptions, Compiled};
use model::fleet::Fleet;
use testkit::edits::FleetEdits;
use testkit::generator::ENVIRONMENT;

/// Fleets with all kinds of objects, each some edits after the previous one.
fn fleets() -> Result<Vec<Arc<Fleet>>> {
    let mut edits = FleetEdits::new(11);
    let fleet = |_| {
        edits.by_ref().nth(4);
        let files = edits.files().iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect();
        Ok(Arc::new(testkit::directory::fleet_of(files, ENVIRONMENT)?.0))
    };
    (0..12).map(fleet).collect()
}

fn with(fleet: &Arc<Fleet>, memo: Memo) -> Compiled {
    Compiled::with(fleet, CompileOptions { memo, ..CompileOptions::default() })
}

#[test]
fn a_saved_memo_has_all_results_except_failures() -> Result<()> {
    for fleet in fleets()? {
        let first = Compiled::new(&fleet);
        let again = with(&fleet, Memo::read(&first.save()).unwrap());
        let recomputed: BTreeSet<_> = again.last_update().recomputed(&again).collect();
        let good = again.assignments().filter(Assignment::is_rendered).filter_map(|good| good.id());
        assert_eq!(good.filter(|id| recomputed.contains(id)).collect::<Vec<_>>(), []);
        assert!(!again.has_new_results());
        assert_eq!((again.tree().id(), again.diagnostics()), (first.tree().id(), first.diagnostics()));
    }
    Ok(())
}

#[test]
fn memos_of_other_fleets_save_work_and_change_nothing() -> Result<()> {
    let mut memo = Memo::default();
    let mut saved = 0;
    for fleet in fleets()? {
        let mut compiled = with(&fleet, memo);
        let cold = Compiled::new(&fleet);
        assert_eq!((compiled.tree().id(), compiled.diagnostics()), (cold.tree().id(), cold.diagnostics()));
        saved += compiled.last_update().work.saved;
        memo = compiled.take_memo();
        memo.extend(compiled.results());
    }
    assert!(saved > 100, "{saved}");
    Ok(())
}
