//! How much work there is, counted: it grows with what differs, not with the number of assignments.

use std::io::Result;

use engine::compile::{Prepared, Work};
use testkit::generator::{self, ENVIRONMENT, Size};

fn work(size: Size) -> Result<Work> {
    let files = generator::fleet(size, 1).into_iter().map(|(path, text)| (path, text.into_bytes()));
    let (fleet, _) = testkit::directory::fleet_of(files.collect(), ENVIRONMENT)?;
    Ok(Prepared::new(&fleet).compile().work)
}

/// Six maps: none is for a team or a workload, so that all targets on a cluster type have the same values.
const SIZE: Size = Size { cluster_types: 10, targets: 8, config_maps: 6, schemas: 2 };

#[test]
fn values_are_composed_and_checked_once_for_all_that_share_them() -> Result<()> {
    let one = work(SIZE)?;
    // Five of the six maps are for a region each, and the other five regions share the map that is for everybody.
    assert_eq!(one, Work { compositions: 6, checks: 12, renderings: 80 });
    assert_eq!(work(Size { targets: 80, ..SIZE })?, Work { renderings: 800, ..one });
    assert_eq!(work(Size { cluster_types: 100, ..SIZE })?, Work { renderings: 800, ..one });
    Ok(())
}

#[test]
fn each_further_schema_checks_each_composition_once() -> Result<()> {
    assert_eq!(work(Size { schemas: 5, ..SIZE })?, Work { compositions: 6, checks: 30, renderings: 80 });
    Ok(())
}
