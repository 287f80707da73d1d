//! Warns of folders with manifests that deployment targets of several environments share.
//!
//! A report about such a folder does not say for which environment it is.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::store::{Database, DatabaseError};

/// The pause between two checks.
const PERIOD: Duration = Duration::from_mins(1);

/// The most folders that are read at once.
const FOLDERS_MAX: usize = 1_000;

/// The most folders that are logged at once.
const LOGGED_MAX: usize = 20;

/// A folder with the environments of its targets, in the order of their names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SharedManifests {
    /// The repository, the branch and the path.
    pub endpoint: String,
    /// The environments; at least two.
    pub environments: Vec<String>,
}

/// The folders in which content is desired by targets of several environments, ordered by endpoint.
///
/// # Errors
/// The database can't answer.
pub async fn find(database: &Database) -> Result<Vec<SharedManifests>, DatabaseError> {
    let sql = format!(
        "select distinct p.endpoint, e.name from place p join place_group g on g.id = p.place_group_id and g.role = 'application' \
         join place_revision w on w.id = p.desired_revision_id and w.tree is not null \
         join place_group_target m on m.place_group_id = g.id join deployment_target t on t.id = m.deployment_target_id \
         join environment e on e.id = t.environment_id \
         where g.id in (select q.place_group_id from place_group_target q join deployment_target u on u.id = q.deployment_target_id \
           group by q.place_group_id having count(distinct u.environment_id) > 1 order by 1 limit {FOLDERS_MAX}) \
         order by 1, 2"
    );
    let mut folders: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (endpoint, environment) in database.query::<(String, String)>(&sql, Vec::new()).await? {
        folders.entry(endpoint).or_default().push(environment);
    }
    Ok(folders.into_iter().map(|(endpoint, environments)| SharedManifests { endpoint, environments }).collect())
}

/// Logs each of these folders once, until the task is aborted.
pub(crate) async fn watch(database: Database) {
    let mut logged = BTreeSet::new();
    loop {
        match find(&database).await {
            Ok(found) => {
                let found: BTreeSet<SharedManifests> = found.into_iter().collect();
                let new: Vec<_> = found.difference(&logged).collect();
                new.iter().take(LOGGED_MAX).for_each(|folder| log(folder));
                if let Some(more) = new.len().checked_sub(LOGGED_MAX).filter(|more| *more > 0) {
                    tracing::warn!(more, "and more folders are shared by targets of several environments");
                }
                logged = found;
            }
            Err(error) => tracing::debug!(%error, "folders that environments share can't be read now"),
        }
        tokio::time::sleep(PERIOD).await;
    }
}

fn log(folder: &SharedManifests) {
    tracing::warn!(
        folder = folder.endpoint,
        environments = folder.environments.join(", "),
        "targets of several environments share a folder of manifests: a report about it does not say for which environment it is. To make it distinct, \
         give the targets of each environment a path or a branch of their own (`manifests` of the deployment target)"
    );
}
