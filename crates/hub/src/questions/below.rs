//! What a reconciler of the folder of a cluster type or a cluster has of each assignment in it.
//!
//! It is the content that the folder of the assignment had at the commit that the reconciler holds.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::deployments::TargetNames;
use hub_api::timestamp::Timestamp;

use super::facts::Fact;
use crate::store::{
    ColumnError, ColumnType, Columns, DatabaseError, FromRow, ReconcilerId, Rows, TargetId, Transaction,
};

/// The folder of an assignment, as a reconciler of the folder around it has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AssignedBelow {
    pub(super) target_id: TargetId,
    pub(super) target: TargetNames,
    /// The desired tree, and the commit since which it is desired.
    pub(super) desired: Option<(String, String)>,
    /// The desired release.
    pub(super) desired_release: Option<String>,
    pub(super) is_pinned: bool,
    /// The tree that the reconciler holds, and the commit since which it was desired.
    pub(super) held: Option<(String, String)>,
    pub(super) config_version: Option<String>,
    pub(super) release: Option<String>,
}

impl FromRow for AssignedBelow {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (target_id, target) = columns.take()?;
        let (desired_tree, desired_commit): (Option<_>, Option<_>) = columns.take()?;
        let (tree, commit): (Option<_>, Option<_>) = columns.take()?;
        let (config_version, release, desired_release) = columns.take()?;
        let is_pinned = columns.take::<Option<bool>>()?.unwrap_or_default();
        let (desired, held) = (desired_tree.zip(desired_commit), tree.zip(commit));
        Ok(Self { target_id, target, desired, desired_release, is_pinned, held, config_version, release })
    }
}

/// The assignments in the folders of these reconcilers, by reconciler. Reconcilers of folders with targets of their own have none. `only`: of these targets.
pub(super) async fn assigned(
    transaction: &mut Transaction,
    facts: impl Iterator<Item = &Fact>,
    (only, at): (Option<&BTreeSet<TargetId>>, Option<Timestamp>),
) -> Result<BTreeMap<ReconcilerId, Vec<AssignedBelow>>, DatabaseError> {
    let mut rows = Rows::new(&[
        ("reconciler_id", ColumnType::Int),
        ("low", ColumnType::Text),
        ("high", ColumnType::Text),
        ("sequence", ColumnType::Int),
        ("at", ColumnType::Timestamp),
    ]);
    for fact in facts {
        let Some(place) = &fact.place else { continue };
        // No folder has content before the first commit: what is not known is not held.
        let sequence = fact.held.as_ref().map_or(-1, |held| held.sequence);
        // In ASCII, `0` follows `/`: this range has all endpoints in the folder.
        let (low, high) = (format!("{}/", place.endpoint), format!("{}0", place.endpoint));
        rows.push(vec![fact.id.into(), low.into(), high.into(), sequence.into(), at.unwrap_or(Timestamp::MAX).into()]);
    }
    let revision = |of: &str| {
        format!(
            "(select e.id from place_revision e join gitops_commit o on o.id = e.gitops_commit_id \
              where e.place_id = c.id and {of} order by o.sequence desc, e.id desc limit 1)"
        )
    };
    let desired = if at.is_some() { revision("e.desired_on <= s.at") } else { "c.desired_revision_id".to_owned() };
    let held = revision("o.sequence <= s.sequence");
    let endpoint = transaction.dialect().in_bytes("c.endpoint");
    // Cross joins prevent SQLite from beginning with all folders of a target.
    let statement = format!(
        "select s.reconciler_id, t.id, w.name, a.name, l.name, t.name, d.tree, dc.commit_id, v.tree, vc.commit_id, v.config_version, n.version, m.version, d.is_pinned \
         from source s cross join place c cross join place_group_target i join deployment_target t on t.id = i.deployment_target_id \
         join workload l on l.id = t.workload_id join application a on a.id = l.application_id join workspace w on w.id = a.workspace_id \
         left join place_revision d on d.id = {desired} left join gitops_commit dc on dc.id = d.gitops_commit_id \
         left join place_revision v on v.id = {held} left join gitops_commit vc on vc.id = v.gitops_commit_id \
         left join workload_version n on n.id = v.workload_version_id left join workload_version m on m.id = d.workload_version_id \
         where {endpoint} > s.low and {endpoint} < s.high and i.place_group_id = c.place_group_id \
         and (d.tree is not null or v.tree is not null) order by 1, 3, 4, 5, 6"
    );
    let mut assigned: BTreeMap<_, Vec<AssignedBelow>> = BTreeMap::new();
    for (reconciler, below) in transaction.with::<(ReconcilerId, AssignedBelow)>(rows, &statement).await? {
        if only.is_none_or(|only| only.contains(&below.target_id)) {
            assigned.entry(reconciler).or_default().push(below);
        }
    }
    Ok(assigned)
}
