//! Finds names that may be meant by an unknown name.

use crate::store::{DatabaseError, Transaction};

/// Maximum number of names that are compared with an unknown name.
const NAMES_COMPARED: i64 = 2_000;
/// Minimum similarity of two names (0 to 1) for one to be suggested instead of the other.
const ALIKE: f64 = 0.8;

/// Whether a name may be meant by another one.
pub(super) fn alike(written: &str, known: &str) -> bool {
    strsim::jaro_winkler(written, known) >= ALIKE
}

/// Names in a column of a table that are similar to a name: at most three, the most similar first.
pub(crate) async fn similar(
    transaction: &mut Transaction,
    (table, column): (&'static str, &'static str),
    name: &str,
) -> Result<Vec<String>, DatabaseError> {
    // The neighbours of the name in the order of names: names with the same beginning are there, in a table of any size.
    let around = format!(
        "select name from (select distinct {column} as name from {table} where {column} >= $1 order by name limit $2) as later \
         union select name from (select distinct {column} as name from {table} where {column} < $1 order by name desc limit $2) as earlier"
    );
    let mut similar: Vec<String> = transaction.query(&around, vec![name.into(), NAMES_COMPARED.into()]).await?;
    let likeness = |known: &str| strsim::jaro_winkler(name, known);
    similar.retain(|known| alike(name, known));
    similar.sort_by(|one, other| likeness(other).total_cmp(&likeness(one)).then_with(|| one.cmp(other)));
    similar.truncate(3);
    Ok(similar)
}
