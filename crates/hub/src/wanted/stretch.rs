//! Stretches of a branch of which somebody knows all folders, so that what he does not name is gone.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Publication;
use super::branch::Branch;
use crate::endpoint::{Endpoint, EndpointError};
use crate::store::{DatabaseError, Transaction, Value};

/// Paths of a branch, in the order of their bytes. Who tells of all that the platform has there says with it what is there no more; large branches are
/// told in several stretches, each for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stretch {
    /// Only paths in this folder; empty for the whole branch.
    #[serde(default)]
    pub below: String,
    /// Only paths behind this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Only paths up to this one, which belongs to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

impl Stretch {
    /// The paths that it names.
    pub(super) fn paths(&self) -> impl Iterator<Item = &String> {
        [Some(&self.below), self.after.as_ref(), self.until.as_ref()].into_iter().flatten()
    }

    /// Between which endpoints it is, neither of which belongs to it.
    fn ends(&self, publication: &Publication) -> Result<[String; 2], EndpointError> {
        let endpoint = |path: &str| {
            Endpoint::new(&publication.repository, &publication.branch, path).map(|endpoint| endpoint.to_string())
        };
        let folder = endpoint(&self.below)?;
        let after = self.after.as_deref().map(endpoint).transpose()?;
        let until = self.until.as_deref().map(endpoint).transpose()?;
        // Behind the slash comes the zero; between a path and the same with a control character, which no path has, is nothing.
        let end = until.map_or_else(|| format!("{folder}0"), |until| format!("{until}\u{1}"));
        Ok([after.unwrap_or_else(|| format!("{folder}/")), end])
    }
}

/// The places of a stretch at which something of the platform's is wanted, except these. None of them is gone if somebody else may have seen a later commit.
pub(super) async fn missing(
    transaction: &mut Transaction,
    branch: &Branch,
    (publication, stretch): (&Publication, &Stretch),
    except: &[Endpoint],
) -> Result<Vec<i64>, DatabaseError> {
    if !branch.is_latest(transaction, publication).await? {
        return Ok(Vec::new());
    }
    let [after, until] = stretch.ends(publication).map_err(|error| DatabaseError::Refused(error.to_string()))?;
    let endpoint = transaction.dialect().in_bytes("p.endpoint");
    let sql = format!(
        "select p.endpoint, p.id from place p join place_group g on g.id = p.place_group_id \
         join place_revision w on w.id = p.wanted_revision_id where {endpoint} > $1 and {endpoint} < $2 \
         and p.branch_id = $3 and g.role = 'platform' and w.tree is not null"
    );
    let rows = transaction.query(&sql, vec![after.into(), until.into(), Value::from(branch.id)]).await?;
    let except: BTreeSet<String> = except.iter().map(ToString::to_string).collect();
    Ok(rows.iter().filter(|row| !except.contains(&row.text(0))).map(|row| row.int(1)).collect())
}
