//! How much work there is, counted: it grows with what differs, not with the number of assignments.

use std::io::Result;

use engine::compile::{Compiled, Work};
use testkit::generator::{self, ENVIRONMENT, Size};

/// How many sets of values are composed, how many checks that takes, and how many assignments are rendered.
fn work(size: Size) -> Result<[usize; 3]> {
    let files = generator::fleet(size, 1).into_iter().map(|(path, text)| (path, text.into_bytes()));
    let (fleet, _) = testkit::directory::fleet_of(files.collect(), ENVIRONMENT)?;
    let Work { compositions, checks, renderings, .. } = Compiled::new(&fleet.into()).last_update().work;
    Ok([compositions, checks, renderings])
}

/// Six maps: none is for a team or a workload, so that all targets on a cluster type have the same values.
const SIZE: Size = Size { cluster_types: 10, targets: 8, config_maps: 6, schemas: 2 };

#[test]
fn values_are_composed_and_checked_once_for_all_that_share_them() -> Result<()> {
    // Five of the six maps are for a region each, and the other five regions share the map that is for everybody.
    assert_eq!(work(SIZE)?, [6, 12, 80]);
    assert_eq!(work(Size { targets: 80, ..SIZE })?, [6, 12, 800]);
    assert_eq!(work(Size { cluster_types: 100, ..SIZE })?, [6, 12, 800]);
    Ok(())
}

#[test]
fn each_further_schema_checks_each_composition_once() -> Result<()> {
    assert_eq!(work(Size { schemas: 5, ..SIZE })?, [6, 30, 80]);
    Ok(())
}
