//! Former names of columns, for backups of earlier versions.

/// The earliest version whose backups can be restored. Migrations since then only renamed columns, added columns with defaults for
/// earlier rows, or made tables, which are empty after the restore of an earlier backup. Reconcilers of a backup before version 26 count as with a heartbeat until
/// their next report. A later migration with other changes must raise this version.
pub(super) const EARLIEST: i64 = 19;

/// A column that a migration renamed.
struct Renamed {
    /// The version of the migration.
    version: i64,
    table: &'static str,
    former: &'static str,
    name: &'static str,
}

const RENAMED: [Renamed; 4] = [
    Renamed { version: 20, table: "place", former: "wanted_revision_id", name: "desired_revision_id" },
    Renamed { version: 20, table: "place_revision", former: "wanted_on", name: "desired_on" },
    Renamed { version: 20, table: "rule_state", former: "looked_on", name: "evaluated_on" },
    Renamed { version: 20, table: "tally", former: "wanted_commit_id", name: "desired_commit_id" },
];

/// The present name of a column from a backup with the tables of `version`.
pub(super) fn present_name<'a>(version: i64, table: &str, column: &'a str) -> &'a str {
    let matches = |renamed: &&Renamed| version < renamed.version && renamed.table == table && renamed.former == column;
    RENAMED.iter().find(matches).map_or(column, |renamed| renamed.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_earlier_versions_have_their_present_names() {
        assert_eq!(present_name(19, "place_revision", "wanted_on"), "desired_on");
        assert_eq!(present_name(19, "place_revision", "tree"), "tree");
        assert_eq!(present_name(19, "place", "wanted_on"), "wanted_on");
        assert_eq!(present_name(20, "place_revision", "wanted_on"), "wanted_on");
    }
}
