//! The reconcilers that reports are about. A reconciler is registered by its first report.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hub_api::hosts::RegisteredBy;
use hub_api::report::{Status, WorkloadName};
use hub_api::timestamp::Timestamp;

use super::ids::Ids;
use super::submitted::Group;
use super::submitted::Submitted;
use crate::store::{
    ColumnError, ColumnType, Columns, DatabaseError, DeploymentId, Dialect, FromRow, HostId, PlaceId, ReconcilerId,
    RevisionId, Rows, SqlValue, TallyId, Transaction,
};

/// The stored data about a reconciler before its reports.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) reconciler_id: ReconcilerId,
    pub(super) place_id: Option<PlaceId>,
    /// Whether the reconciler or its host is retired. It then has a history, but no tally counts it.
    pub(super) is_retired: bool,
    /// The rows of the reconciler and its host; none if the reports have the stored profile, so that these rows need not be read.
    pub(super) own: Option<Own>,
    pub(super) state: State,
}

/// The data of the rows of a reconciler and its host.
#[derive(Clone, Debug)]
pub(super) struct Own {
    pub(super) host_id: HostId,
    pub(super) host_labels: Option<String>,
    pub(super) kind: String,
    pub(super) endpoint: Option<String>,
    pub(super) heartbeat_seconds: Option<i64>,
    /// The workload that its reports name.
    pub(super) workload: Option<WorkloadName>,
    /// Whether its place came from its own name or from its workload, and not from a report.
    pub(super) is_named: bool,
    /// Whether its reports identify the held content only by a version.
    pub(super) is_by_version: bool,
    /// Who registered it for its place.
    pub(super) registered_by: RegisteredBy,
    pub(super) place_id: Option<PlaceId>,
    is_retired: bool,
}

/// The row of a reconciler that each report updates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) deployment_id: Option<DeploymentId>,
    pub(crate) reported_on: Option<Timestamp>,
    pub(crate) seen_on: Option<Timestamp>,
    pub(crate) status: i64,
    pub(crate) digest: i64,
    pub(crate) held_revision_id: Option<RevisionId>,
    pub(crate) tally_id: Option<TallyId>,
    pub(crate) silent_after: Option<Timestamp>,
    pub(crate) is_silent: bool,
    /// Whether the configuration of the hub requires a heartbeat of it.
    pub(crate) is_awaited: bool,
    /// The profile of its reports ([`hub_api::report::Report::profile`]), if it is in service and at a place; none if its own rows have to be read.
    pub(crate) profile: Option<i64>,
    /// The place of the reconciler; set only together with the profile.
    pub(crate) place_id: Option<PlaceId>,
}

impl State {
    /// Whether a heartbeat is announced or required, so that the reconciler becomes silent when it stops.
    pub(crate) fn has_heartbeat(&self) -> bool {
        self.silent_after.is_some() || self.is_awaited
    }

    /// Removes the profile. The next report then reads the rows of the reconciler and its host.
    pub(crate) fn forget_profile(&mut self) {
        (self.profile, self.place_id) = (None, None);
    }

    /// The tally for which this reconciler is listed as one that needs attention; none if it needs none.
    fn attention(&self) -> Option<TallyId> {
        let is_well = self.status == Status::Success.number() && !self.is_silent && self.held_revision_id.is_some();
        self.tally_id.filter(|_| !is_well)
    }
}

/// Finds the subject of each report, registers new reconcilers, and locks the subjects until the transaction ends. The reports are grouped by subject.
pub(super) async fn find(
    transaction: &mut Transaction,
    known: &Ids,
    groups: &[Group<'_>],
) -> Result<Vec<Option<Subject>>, DatabaseError> {
    let latest = groups.iter().filter_map(|group| Some(group.last()?.1));
    let reports: &[&Submitted] = &latest.collect::<Vec<_>>();
    let mut ids = known.get_all(reports.iter().map(|report| report.subject()));
    let found = look_up(transaction, reports, &ids).await?;
    known.remember(found.iter().map(|(number, id)| (reports[*number].subject(), *id)));
    found.into_iter().for_each(|(number, id)| ids[number] = Some(id));
    if ids.iter().any(Option::is_none) {
        let missing = reports.iter().zip(&ids).filter(|(_, id)| id.is_none()).map(|(report, _)| *report);
        register(transaction, missing).await?;
        // These ids are not cached, because the transaction may still fail.
        let registered = look_up(transaction, reports, &ids).await?;
        registered.into_iter().for_each(|(number, id)| ids[number] = Some(id));
    }
    let needed: BTreeSet<ReconcilerId> = ids.iter().copied().flatten().collect();
    let count = needed.len();
    let mut states = states(transaction, needed).await?;
    if states.len() < count {
        known.forget();
        return Err(DatabaseError::Conflict("reconcilers are not there any more".to_owned()));
    }
    let found: Vec<_> = ids.into_iter().map(|id| Some((id?, states.remove(&id?)?))).collect();
    let unsure = found.iter().zip(groups).filter_map(|(found, group)| {
        let (id, state) = found.as_ref()?;
        (!says_the_same(state, group)).then_some(*id)
    });
    let mut owns = owns(transaction, unsure.collect()).await?;
    let mut subject = |(id, state): (ReconcilerId, State)| Subject::new(id, state, owns.remove(&id));
    Ok(found.into_iter().map(|found| found.map(&mut subject)).collect())
}

/// Whether all reports have the stored profile. Late reports may be about another place.
fn says_the_same(state: &State, group: &Group<'_>) -> bool {
    state.profile.is_some() && group.iter().all(|(_, report)| report.profile == state.profile)
}

/// The ids of the reconcilers that are still missing, by the number of the report.
pub(super) async fn look_up(
    transaction: &mut Transaction,
    reports: &[&Submitted],
    ids: &[Option<ReconcilerId>],
) -> Result<Vec<(usize, ReconcilerId)>, DatabaseError> {
    let mut rows =
        Rows::new(&[("number", ColumnType::Int), ("host", ColumnType::Text), ("reconciler", ColumnType::Text)]);
    for (number, report) in reports.iter().enumerate().filter(|(number, _)| ids[*number].is_none()) {
        let (host, reconciler) = (report.host.as_str(), report.reconciler.as_str());
        rows.push(vec![SqlValue::from(number as i64), host.into(), reconciler.into()]);
    }
    // The query reads only columns of the indexes by name, and so does not read the rows themselves.
    let statement = "select s.number, r.id from source s join host h on h.name = s.host \
        join reconciler r on r.host_id = h.id and r.name = s.reconciler";
    transaction.with(rows, statement).await
}

/// Reads the rows of reconcilers and hosts. The lock on the state of a reconciler also protects these rows.
pub(super) async fn owns(
    transaction: &mut Transaction,
    ids: Vec<ReconcilerId>,
) -> Result<HashMap<ReconcilerId, Own>, DatabaseError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let sql = format!(
        "select r.id, r.host_id, h.labels, r.reconciler_type, r.manifests_endpoint, r.heartbeat_seconds, r.place_id, \
         case when h.retired_on is null and r.retired_on is null then 0 else 1 end, \
         r.workload_name, r.workload_environment, r.is_named, r.is_by_version, r.registered_by from reconciler r join host h on h.id = r.host_id where {}",
        transaction.dialect().any_int("r.id", "$1")
    );
    Ok(transaction.query(&sql, vec![ids.into()]).await?.into_iter().collect())
}

impl FromRow for Own {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        Ok(Self {
            host_id: columns.take()?,
            host_labels: columns.take()?,
            kind: columns.take()?,
            endpoint: columns.take()?,
            heartbeat_seconds: columns.take()?,
            place_id: columns.take()?,
            is_retired: columns.take()?,
            workload: match columns.take()? {
                (Some(name), environment) => Some(WorkloadName { name, environment }),
                (None, _) => None,
            },
            is_named: columns.take()?,
            is_by_version: columns.take()?,
            registered_by: RegisteredBy::from_number(columns.take()?),
        })
    }
}

impl Subject {
    /// A subject whose own rows were read, or a subject in service at the place that its state stores.
    fn new(reconciler_id: ReconcilerId, state: State, own: Option<Own>) -> Self {
        let place_id = own.as_ref().map_or(state.place_id, |own| own.place_id);
        let is_retired = own.as_ref().is_some_and(|own| own.is_retired);
        Self { reconciler_id, place_id, is_retired, own, state }
    }
}

/// Adds hosts and reconcilers, ordered by name. If another replica adds the same ones, the later replica finds the existing rows.
async fn register<'a>(
    transaction: &mut Transaction,
    reports: impl Iterator<Item = &'a Submitted> + Clone,
) -> Result<(), DatabaseError> {
    let mut hosts = Rows::new(&[("name", ColumnType::Text), ("host_type", ColumnType::Text)]);
    let names: BTreeMap<_, _> = reports.clone().map(|report| (&report.host, &report.kind)).collect();
    for (name, kind) in names {
        hosts.push(vec![name.as_str().into(), host_type(kind).into()]);
    }
    let statement = "insert into host (name, host_type) select name, host_type from source where true on conflict (name) do nothing";
    transaction.execute_with(hosts, statement).await?;
    let mut reconcilers = Rows::new(&[
        ("host", ColumnType::Text),
        ("name", ColumnType::Text),
        ("kind", ColumnType::Text),
        ("registered_by", ColumnType::Int),
    ]);
    for report in reports {
        reconcilers.push(vec![
            report.host.as_str().into(),
            report.reconciler.as_str().into(),
            report.kind.as_str().into(),
            report.registered_by().number().into(),
        ]);
    }
    let statement = "insert into reconciler (host_id, name, reconciler_type, registered_by) \
        select h.id, s.name, s.kind, s.registered_by from source s join host h on h.name = s.host where true \
        on conflict (host_id, name) do nothing returning id";
    let added = transaction.with::<ReconcilerId>(reconcilers, statement).await?;
    let mut states = Rows::new(&[("id", ColumnType::Int)]);
    added.into_iter().for_each(|id| states.push(vec![id.into()]));
    let statement =
        "insert into reconciler_state (reconciler_id, status, digest) select id, 0, 0 from source where true";
    transaction.execute_with(states, statement).await
}

/// The kind of the host of such a reconciler, with the values of Microsoft's hub.
fn host_type(reconciler_type: &str) -> &'static str {
    match reconciler_type {
        "flux" | "argocd" | "arc" | "fleet" | "wo" => "K8s-cluster",
        _ => "host",
    }
}

/// Reads and locks the states of reconcilers. Other transactions wait for this one before they change them.
pub(crate) async fn states(
    transaction: &mut Transaction,
    ids: BTreeSet<ReconcilerId>,
) -> Result<BTreeMap<ReconcilerId, State>, DatabaseError> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let dialect = transaction.dialect();
    let sql = format!(
        "select t.reconciler_id, {} from reconciler_state t where {} order by t.reconciler_id{}",
        state_columns(dialect),
        dialect.any_int("t.reconciler_id", "$1"),
        dialect.for_update("t"),
    );
    Ok(transaction.query(&sql, vec![ids.into()]).await?.into_iter().collect())
}

/// The columns of a state `t`.
fn state_columns(dialect: Dialect) -> String {
    format!(
        "t.deployment_id, {}, {}, t.status, t.digest, t.held_revision_id, t.tally_id, {}, t.is_silent, t.is_awaited, t.profile, t.place_id",
        dialect.millis("t.reported_on"),
        dialect.millis("t.seen_on"),
        dialect.millis("t.silent_after"),
    )
}

/// Reads the columns of [`state_columns`].
impl FromRow for State {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        Ok(Self {
            deployment_id: columns.take()?,
            reported_on: columns.take()?,
            seen_on: columns.take()?,
            status: columns.take()?,
            digest: columns.take()?,
            held_revision_id: columns.take()?,
            tally_id: columns.take()?,
            silent_after: columns.take()?,
            is_silent: columns.take()?,
            is_awaited: columns.take()?,
            profile: columns.take()?,
            place_id: columns.take()?,
        })
    }
}

/// A state that changed.
pub(crate) struct ReconcilerChange<'a> {
    pub(crate) reconciler_id: ReconcilerId,
    pub(crate) before: &'a State,
    pub(crate) after: State,
}

/// Writes the states of reconcilers, and the list of those that need attention.
pub(crate) async fn write_states<'a>(
    transaction: &mut Transaction,
    changes: impl IntoIterator<Item = ReconcilerChange<'a>>,
) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[
        ("id", ColumnType::Int),
        ("deployment_id", ColumnType::Int),
        ("reported_on", ColumnType::Timestamp),
        ("seen_on", ColumnType::Timestamp),
        ("status", ColumnType::Int),
        ("digest", ColumnType::Int),
        ("held_revision_id", ColumnType::Int),
        ("tally_id", ColumnType::Int),
        ("silent_after", ColumnType::Timestamp),
        ("is_silent", ColumnType::Int),
        ("is_awaited", ColumnType::Int),
        ("profile", ColumnType::Int),
        ("place_id", ColumnType::Int),
    ]);
    let mut attention = Attention::default();
    for ReconcilerChange { reconciler_id, before, after } in changes {
        attention.moves(reconciler_id, before.attention(), after.attention());
        rows.push(vec![
            SqlValue::from(reconciler_id),
            after.deployment_id.into(),
            after.reported_on.into(),
            after.seen_on.into(),
            after.status.into(),
            after.digest.into(),
            after.held_revision_id.into(),
            after.tally_id.into(),
            after.silent_after.into(),
            after.is_silent.into(),
            after.is_awaited.into(),
            after.profile.into(),
            after.place_id.into(),
        ]);
    }
    let statement = "update reconciler_state set deployment_id = s.deployment_id, reported_on = s.reported_on, \
        seen_on = s.seen_on, status = s.status, digest = s.digest, held_revision_id = s.held_revision_id, \
        tally_id = s.tally_id, silent_after = s.silent_after, is_silent = s.is_silent, is_awaited = s.is_awaited, \
        profile = s.profile, place_id = s.place_id from source s where reconciler_state.reconciler_id = s.id";
    transaction.execute_with(rows, statement).await?;
    attention.write(transaction).await
}

/// The reconcilers that begin and cease to need attention, with their tallies.
#[derive(Default)]
struct Attention {
    begins: Vec<(TallyId, ReconcilerId)>,
    ceases: Vec<(TallyId, ReconcilerId)>,
}

impl Attention {
    fn moves(&mut self, reconciler_id: ReconcilerId, from: Option<TallyId>, to: Option<TallyId>) {
        if from != to {
            self.ceases.extend(from.map(|tally_id| (tally_id, reconciler_id)));
            self.begins.extend(to.map(|tally_id| (tally_id, reconciler_id)));
        }
    }

    async fn write(self, transaction: &mut Transaction) -> Result<(), DatabaseError> {
        let rows = |pairs: Vec<(TallyId, ReconcilerId)>| {
            let mut rows = Rows::new(&[("tally_id", ColumnType::Int), ("reconciler_id", ColumnType::Int)]);
            pairs.into_iter().for_each(|(tally_id, id)| rows.push(vec![tally_id.into(), id.into()]));
            rows
        };
        let statement =
            "delete from attention where (tally_id, reconciler_id) in (select tally_id, reconciler_id from source)";
        transaction.execute_with(rows(self.ceases), statement).await?;
        let statement = "insert into attention (tally_id, reconciler_id) \
            select tally_id, reconciler_id from source where true on conflict do nothing";
        transaction.execute_with(rows(self.begins), statement).await
    }
}
