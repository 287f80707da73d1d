//! Ranges of a branch for which a publication lists all platform folders: a folder that is not listed no longer exists.

use hub_api::endpoint::{Endpoint, EndpointError};
use hub_api::publication::{BranchContent, PathRange};

use super::branch::Branch;
use crate::store::{DatabaseError, PlaceId, SqlValue, Transaction};

/// The endpoints before and after a range; neither belongs to it.
fn ends(range: &PathRange, content: &BranchContent) -> Result<[String; 2], EndpointError> {
    let endpoint =
        |path: &str| Endpoint::new(&content.repository, &content.branch, path).map(|endpoint| endpoint.to_string());
    let folder = endpoint(&range.below)?;
    let after = range.after.as_deref().map(endpoint).transpose()?;
    let until = range.until.as_deref().map(endpoint).transpose()?;
    // In ASCII, `0` follows `/`. No path contains a control character, so no path is between a path and the same path followed by one.
    let end = until.map_or_else(|| format!("{folder}0"), |until| format!("{until}\u{1}"));
    Ok([after.unwrap_or_else(|| format!("{folder}/")), end])
}

/// The places in a range with desired platform content, with their endpoints. Returns none if the hub may have a later commit.
pub(super) async fn places(
    transaction: &mut Transaction,
    branch: &Branch,
    content: &BranchContent,
    range: &PathRange,
) -> Result<Vec<(String, PlaceId)>, DatabaseError> {
    if !branch.is_latest(transaction, content).await? {
        return Ok(Vec::new());
    }
    let [after, until] = ends(range, content).map_err(|error| DatabaseError::Refused(error.to_string()))?;
    let endpoint = transaction.dialect().in_bytes("p.endpoint");
    let sql = format!(
        "select p.endpoint, p.id from place p join place_group g on g.id = p.place_group_id \
         join place_revision w on w.id = p.desired_revision_id where {endpoint} > $1 and {endpoint} < $2 \
         and p.branch_id = $3 and g.role = 'platform' and w.tree is not null"
    );
    transaction.query(&sql, vec![after.into(), until.into(), SqlValue::from(branch.id)]).await
}
