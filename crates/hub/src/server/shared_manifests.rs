//! Warns of folders with manifests that deployment targets of several environments share.
//!
//! A report about such a folder does not name its environment.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::store::{Database, DatabaseError};

/// The pause between two checks.
const PERIOD: Duration = Duration::from_mins(1);

/// The most folders that are read at once.
const FOLDERS_MAX: usize = 1_000;

/// The most folders that are logged at once.
const LOGGED_MAX: usize = 20;

/// The most targets of a folder that are logged.
const TARGETS_MAX: usize = 10;

/// A folder with its targets, in the order of their environments and names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SharedManifests {
    /// The repository, the branch and the path.
    pub endpoint: String,
    /// The targets; of at least two environments.
    pub targets: Vec<SharingTarget>,
}

/// A deployment target of a folder that several environments share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SharingTarget {
    /// The environment.
    pub environment: String,
    /// The workload.
    pub workload: String,
    /// The name of the target in its workload.
    pub target: String,
}

/// The folders in which content is desired by targets of several environments, ordered by endpoint.
///
/// # Errors
/// The database can't answer.
pub async fn find(database: &Database) -> Result<Vec<SharedManifests>, DatabaseError> {
    let sql = format!(
        "select distinct p.endpoint, e.name, l.name, t.name from place p join place_group g on g.id = p.place_group_id and g.role = 'application' \
         join place_revision w on w.id = p.desired_revision_id and w.tree is not null \
         join place_group_target m on m.place_group_id = g.id join deployment_target t on t.id = m.deployment_target_id \
         join environment e on e.id = t.environment_id join workload l on l.id = t.workload_id \
         where g.id in (select q.place_group_id from place_group_target q join deployment_target u on u.id = q.deployment_target_id \
           group by q.place_group_id having count(distinct u.environment_id) > 1 order by 1 limit {FOLDERS_MAX}) \
         order by 1, 2, 3, 4"
    );
    let mut folders: BTreeMap<String, Vec<SharingTarget>> = BTreeMap::new();
    for (endpoint, environment, workload, target) in
        database.query::<(String, String, String, String)>(&sql, Vec::new()).await?
    {
        folders.entry(endpoint).or_default().push(SharingTarget { environment, workload, target });
    }
    Ok(folders.into_iter().map(|(endpoint, targets)| SharedManifests { endpoint, targets }).collect())
}

impl SharedManifests {
    /// The environments with their targets: ``dev: `portal-dev` of portal; prod: `portal-prod` of portal``.
    fn targets_text(&self) -> String {
        let mut environments: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for SharingTarget { environment, workload, target } in self.targets.iter().take(TARGETS_MAX) {
            environments.entry(environment).or_default().push(format!("`{target}` of {workload}"));
        }
        let texts = environments.iter().map(|(environment, targets)| format!("{environment}: {}", targets.join(", ")));
        let mut texts: Vec<_> = texts.collect();
        if let Some(more) = self.targets.len().checked_sub(TARGETS_MAX).filter(|more| *more > 0) {
            texts.push(format!("and {more} more"));
        }
        texts.join("; ")
    }
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
        targets = folder.targets_text(),
        "targets of several environments share a folder of manifests: a report about it does not name its environment. To make reports distinct, \
         give the targets of each environment a path or a branch of their own (`manifests` of the deployment target)"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_targets_of_each_environment_are_named() {
        let target = |environment: &str, number: usize| SharingTarget {
            environment: environment.to_owned(),
            workload: "portal".to_owned(),
            target: format!("web-{number}"),
        };
        let check = |targets: Vec<SharingTarget>, expected: &str| {
            assert_eq!(SharedManifests { endpoint: "e".to_owned(), targets }.targets_text(), expected);
        };
        check(vec![target("dev", 1), target("prod", 1)], "dev: `web-1` of portal; prod: `web-1` of portal");
        check(
            vec![target("dev", 1), target("dev", 2), target("prod", 1)],
            "dev: `web-1` of portal, `web-2` of portal; prod: `web-1` of portal",
        );
        let many: Vec<_> = std::iter::once(target("a", 0)).chain((1..12).map(|number| target("b", number))).collect();
        let shared = SharedManifests { endpoint: "e".to_owned(), targets: many };
        assert!(shared.targets_text().ends_with("`web-9` of portal; and 2 more"), "{}", shared.targets_text());
    }
}
