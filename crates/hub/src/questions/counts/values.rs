//! The values of reconcilers in the dimensions of a table of counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hub_api::counts::CountDimension;
use model::label::Labels;

use super::super::facts::{self, Versions};
use super::super::scope::{Scope, labels_of};
use super::super::{Question, QuestionError, conditions, labels, released};
use super::dimensions::{Dimensions, having};
use super::unit::{Found, Unit, Value};
use crate::store::{ColumnError, Columns, DatabaseError, FromRow, Parameters, PlaceGroupId, TargetId, Transaction};

/// What the values of reconcilers depend on.
pub(super) struct Values<'a> {
    dimensions: Dimensions<'a>,
    /// The selected targets of groups of places.
    members: BTreeMap<PlaceGroupId, Vec<TargetId>>,
    targets: BTreeMap<TargetId, TargetValues>,
    versions: Versions,
    /// The targets for which the releases of platform folders do not count.
    with_manifests: BTreeSet<TargetId>,
}

struct TargetValues {
    workspace: Arc<str>,
    workload: Arc<str>,
    name: Arc<str>,
    labels: Labels,
}

impl FromRow for TargetValues {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (workspace, workload, name) = columns.take::<(String, String, String)>()?;
        let labels = columns.take::<Option<String>>()?;
        let [workspace, workload, name] = [workspace, workload, name].map(Into::into);
        Ok(Self { workspace, workload, name, labels: labels_of(labels.as_deref()) })
    }
}

impl<'a> Values<'a> {
    /// Reads what the values of these reconcilers depend on.
    pub(super) async fn read(
        Found { transaction, scope, units, .. }: &mut Found,
        (question, dimensions): (Question<'_>, Dimensions<'a>),
    ) -> Result<Self, QuestionError> {
        let mut values = Self {
            dimensions,
            members: BTreeMap::new(),
            targets: BTreeMap::new(),
            versions: Versions::new(),
            with_manifests: BTreeSet::new(),
        };
        if !dimensions.are_of_targets() {
            return Ok(values);
        }
        let groups: BTreeSet<_> = units.iter().map(|unit| unit.group_id).collect();
        values.members = members(transaction, scope, groups).await?;
        let needs_labels = dimensions.target_labels().next().is_some();
        let all = values.members.values().flatten().copied().collect();
        values.targets = targets(transaction, all, needs_labels).await?;
        for key in dimensions.target_labels() {
            let selector = having(key)?;
            if values.targets.values().any(|target| target.labels.get(key).is_some()) {
                continue;
            }
            let within = labels_within(transaction, question).await?;
            if !within.iter().any(|target| selector.matches(target)) {
                labels::of_targets(&selector, &within).map_or(Ok(()), Err)?;
            }
        }
        if dimensions.has_version() {
            values.read_versions(transaction, units).await?;
        }
        Ok(values)
    }

    async fn read_versions(&mut self, transaction: &mut Transaction, units: &[Unit]) -> Result<(), DatabaseError> {
        let (mut keys, mut released) = (BTreeSet::new(), BTreeSet::new());
        for unit in units {
            let targets = self.members.get(&unit.group_id).map(Vec::as_slice).unwrap_or_default();
            if let Some(commit) = &unit.commit {
                keys.extend(targets.iter().map(|target| (*target, commit.clone())));
            }
            if unit.content.release.is_some() {
                released.extend(targets);
            }
        }
        self.versions = facts::versions(transaction, &keys).await?;
        self.with_manifests = released::with_manifests(transaction, released).await?;
        Ok(())
    }

    /// The pairs of a row and a column that reconcilers count in: one for each of their targets.
    pub(super) fn pairs(&self, unit: &Unit) -> BTreeSet<(Value, Value)> {
        let pair = |target| (self.value(0, unit, target), self.value(1, unit, target));
        match self.members.get(&unit.group_id) {
            Some(targets) => targets.iter().map(|target| pair(Some(*target))).collect(),
            None => BTreeSet::from([pair(None)]),
        }
    }

    /// The value in the dimension of the rows (0) or of the columns (1).
    fn value(&self, number: usize, unit: &Unit, target: Option<TargetId>) -> Value {
        let of_target = || target.and_then(|id| self.targets.get(&id));
        match self.dimensions.both().get(number).copied().flatten()? {
            CountDimension::Environment => unit.environment.clone(),
            CountDimension::ClusterType => unit.cluster_type.clone(),
            CountDimension::State => Some(unit.state.as_str().into()),
            CountDimension::ConfigVersion => unit.content.config_version.clone(),
            CountDimension::Workspace => of_target().map(|target| target.workspace.clone()),
            CountDimension::Workload => of_target().map(|target| target.workload.clone()),
            CountDimension::Target => of_target().map(|target| target.name.clone()),
            CountDimension::TargetLabel(key) => of_target().and_then(|target| target.labels.get(key).cloned()),
            CountDimension::Version => target.and_then(|target| self.version(unit, target)),
            CountDimension::Host | CountDimension::HostLabel(_) => unit.hosts.get(number).cloned().flatten(),
        }
    }

    /// The version of a target that reconcilers have: that of its manifests, or else the release of its platform folder.
    fn version(&self, unit: &Unit, target: TargetId) -> Value {
        let of_commit = unit.commit.clone().and_then(|commit| self.versions.get(&(target, commit)));
        let released = || unit.content.release.clone().filter(|_| !self.with_manifests.contains(&target));
        of_commit.map(|version| version.as_str().into()).or_else(released)
    }
}

/// The selected targets of groups. Groups without such a target are left out.
async fn members(
    transaction: &mut Transaction,
    scope: &Scope,
    groups: BTreeSet<PlaceGroupId>,
) -> Result<BTreeMap<PlaceGroupId, Vec<TargetId>>, DatabaseError> {
    let mut parameters = Parameters::with(transaction.dialect(), vec![groups.into()]);
    let mut selected = vec![transaction.dialect().any_int("m.place_group_id", "$1")];
    selected.extend(scope.of_targets("t.id", &mut parameters));
    selected.extend(scope.of_environments("t.environment_id", &mut parameters));
    let sql = format!(
        "select m.place_group_id, t.id from place_group_target m join deployment_target t on t.id = m.deployment_target_id where {}",
        conditions::all(selected)
    );
    let mut members: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (group, target) in transaction.query::<(PlaceGroupId, TargetId)>(&sql, parameters.into_values()).await? {
        members.entry(group).or_default().push(target);
    }
    Ok(members)
}

async fn targets(
    transaction: &mut Transaction,
    ids: BTreeSet<TargetId>,
    with_labels: bool,
) -> Result<BTreeMap<TargetId, TargetValues>, DatabaseError> {
    let sql = format!(
        "select t.id, w.name, l.name, t.name, {} from deployment_target t join workload l on l.id = t.workload_id \
         join application a on a.id = l.application_id join workspace w on w.id = a.workspace_id where {}",
        if with_labels { "t.labels" } else { "cast(null as text)" },
        transaction.dialect().any_int("t.id", "$1")
    );
    Ok(transaction.query(&sql, vec![ids.into()]).await?.into_iter().collect())
}

/// The labels of all targets within the reach.
async fn labels_within(transaction: &mut Transaction, question: Question<'_>) -> Result<Vec<Labels>, DatabaseError> {
    let mut parameters = Parameters::new(transaction.dialect());
    let mut within = Vec::new();
    for (column, names) in [("w.name", &question.reach.workspaces), ("e.name", &question.reach.environments)] {
        within.extend((!names.is_empty()).then(|| parameters.any_text(column, names.clone())));
    }
    let sql = format!(
        "select t.labels from deployment_target t join environment e on e.id = t.environment_id join workload l on l.id = t.workload_id \
         join application a on a.id = l.application_id join workspace w on w.id = a.workspace_id where {}",
        conditions::all(within)
    );
    let found: Vec<Option<String>> = transaction.query(&sql, parameters.into_values()).await?;
    Ok(found.iter().map(|labels| labels_of(labels.as_deref())).collect())
}
