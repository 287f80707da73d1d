//! Going on from what is known gives what compiling from the beginning gives, and recomputes only what has other inputs.

use testkit::incremental::{Counts, check, check_threads};

/// Edits of each seed: as many as take a few seconds. `cargo xtask bench` makes many more.
const EDITS: usize = 20;

#[test]
fn an_updated_fleet_is_as_one_compiled_from_the_beginning() -> Result<(), String> {
    let mut all = Counts::default();
    for seed in 0..2 {
        all += check(seed, EDITS)?;
    }
    assert!(all.recomputed > 0 && all.recomputed < all.assignments / 2, "{all:?}");
    assert!(all.changed > 0 && all.removed > 0 && all.saved > 0 && all.layout > 0, "{all:?}");
    Ok(())
}

#[test]
fn how_many_threads_update_does_not_matter() -> Result<(), String> {
    check_threads(1, EDITS)
}
