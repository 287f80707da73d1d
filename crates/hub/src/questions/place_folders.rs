//! Folders of cluster types and clusters: one reconciler applies such a folder, and with it the folders of all assignments in it.
//!
//! A report of such a reconciler is about the assignments whose folders changed with the commit that it holds.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::deployments::TargetNames;

use super::scope::Scope;
use crate::store::{ColumnType, DatabaseError, Parameters, PlaceGroupId, Rows, Transaction};

/// Maximum number of folder names in a condition. The assignments of one workload have few.
const NAMES_MAX: usize = 100;

/// Maximum number of targets that an answer lists for one report or place.
pub(super) const TARGETS_MAX: usize = 20;

/// The folders that contain the folders of the selected targets.
#[derive(Clone, Debug, Default)]
pub(super) struct Above {
    /// The groups of these folders.
    groups: Vec<PlaceGroupId>,
    /// The names of the targets' folders in these folders.
    names: Vec<String>,
}

impl Above {
    /// The folders for a scope. Empty if the scope selects no targets: then the scope already contains these folders.
    pub(super) async fn read(transaction: &mut Transaction, scope: &Scope) -> Result<Self, DatabaseError> {
        let (Some(_), Some(groups)) = (&scope.targets, &scope.groups) else { return Ok(Self::default()) };
        let dialect = transaction.dialect();
        // The places of a group have the same name, each in its cluster's folder.
        let sql = format!(
            "select (select p.endpoint from place p where p.place_group_id = g.id limit 1) from place_group g \
             where {} and g.role = 'platform'",
            dialect.any_int("g.id", "$1")
        );
        let endpoints: Vec<Option<String>> = transaction.query(&sql, vec![groups.clone().into()]).await?;
        let split = |endpoint: &String| {
            let (above, name) = endpoint.rsplit_once('/')?;
            Some((above.to_owned(), name.to_owned()))
        };
        let (above, names): (BTreeSet<_>, BTreeSet<_>) = endpoints.iter().flatten().filter_map(split).unzip();
        if above.is_empty() || names.len() > NAMES_MAX {
            return Ok(Self::default());
        }
        let sql = format!(
            "select distinct p.place_group_id from place p join place_group g on g.id = p.place_group_id \
             where {} and g.role = 'platform'",
            dialect.any_text("p.endpoint", "$1")
        );
        let mut around = transaction.query(&sql, vec![above.into_iter().collect::<Vec<_>>().into()]).await?;
        around.retain(|group| !groups.contains(group));
        Ok(Self { groups: around, names: names.into_iter().collect() })
    }

    /// The groups of these folders.
    pub(super) fn groups(&self) -> &[PlaceGroupId] {
        &self.groups
    }

    /// The condition that a report `d` of a reconciler at a place `p` is about the selected targets; none if the scope selects everything.
    pub(super) fn condition(&self, scope: &Scope, parameters: &mut Parameters) -> Option<String> {
        let dialect = parameters.dialect();
        let selected = parameters.add(scope.groups.clone()?);
        let is_there = dialect.any_int("p.place_group_id", &selected);
        if self.groups.is_empty() {
            return Some(is_there);
        }
        let is_above = parameters.any_int("p.place_group_id", self.groups.clone());
        let endpoint = |name: &String| format!("p.endpoint || '/' || {}", parameters.add(name.as_str()));
        let endpoints: Vec<_> = self.names.iter().map(endpoint).collect();
        Some(format!(
            "({is_there} or {is_above} and exists (select 1 from place ac join place_revision av on av.place_id = ac.id \
             join gitops_commit ao on ao.id = av.gitops_commit_id where ac.endpoint in ({}) and ao.commit_id = d.gitops_commit_id \
             and {}))",
            endpoints.join(", "),
            dialect.any_int("ac.place_group_id", &selected),
        ))
    }
}

/// The targets whose folders changed in these folders with these commits, by endpoint and commit.
pub(super) async fn changed(
    transaction: &mut Transaction,
    folders: BTreeSet<(String, String)>,
) -> Result<BTreeMap<(String, String), Vec<TargetNames>>, DatabaseError> {
    let folders: Vec<_> = folders.into_iter().collect();
    let mut rows = Rows::new(&[
        ("number", ColumnType::Int),
        ("low", ColumnType::Text),
        ("high", ColumnType::Text),
        ("commit_id", ColumnType::Text),
    ]);
    for (number, (endpoint, commit)) in folders.iter().enumerate() {
        // In ASCII, `0` follows `/`: this range has all paths that begin with the endpoint and a slash.
        let (low, high) = (format!("{endpoint}/"), format!("{endpoint}0"));
        rows.push(vec![(number as i64).into(), low.into(), high.into(), commit.as_str().into()]);
    }
    let endpoint = transaction.dialect().in_bytes("c.endpoint");
    // Cross joins prevent SQLite from beginning with all folders that a commit changed.
    let statement = format!(
        "select distinct s.number, w.name, a.name, l.name, t.name from source s cross join place c cross join gitops_commit o \
         cross join place_revision v cross join place_group_target m join deployment_target t on t.id = m.deployment_target_id \
         join workload l on l.id = t.workload_id join application a on a.id = l.application_id \
         join workspace w on w.id = a.workspace_id where {endpoint} > s.low and {endpoint} < s.high \
         and o.branch_id = c.branch_id and o.commit_id = s.commit_id and v.place_id = c.id and v.gitops_commit_id = o.id \
         and m.place_group_id = c.place_group_id order by 1, 2, 3, 4, 5"
    );
    let mut changed: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (number, names) in transaction.with::<(usize, _)>(rows, &statement).await? {
        let Some(folder) = folders.get(number) else { continue };
        let targets = changed.entry(folder.clone()).or_default();
        if targets.len() < TARGETS_MAX {
            targets.push(names);
        }
    }
    Ok(changed)
}
