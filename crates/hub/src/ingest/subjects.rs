//! The reconcilers that reports speak of: found, or registered by their first report.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::moment::Moment;
use crate::report::Report;
use crate::store::{DatabaseError, Kind, Row, Rows, Transaction, Value};

/// Host and reconciler, by their names.
pub(super) type Name = (String, String);

/// What is known of a reconciler before its reports.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) reconciler_id: i64,
    pub(super) host_id: i64,
    pub(super) host_labels: Option<String>,
    pub(super) kind: String,
    pub(super) place_id: Option<i64>,
    pub(super) endpoint: Option<String>,
    pub(super) heartbeat_seconds: Option<i64>,
    /// It, or its host, is out of service: it has a history, and is in no total.
    pub(super) is_retired: bool,
    pub(super) state: State,
}

/// The row of a reconciler that every report changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) deployment_id: Option<i64>,
    pub(crate) reported_on: Option<Moment>,
    pub(crate) seen_on: Option<Moment>,
    pub(crate) status: i64,
    pub(crate) digest: i64,
    pub(crate) held_revision_id: Option<i64>,
    pub(crate) tally_id: Option<i64>,
    pub(crate) silent_after: Option<Moment>,
    pub(crate) is_silent: bool,
}

/// Finds the subjects of reports, registers those that are new, and keeps others from changing them until the transaction ends.
pub(super) async fn find(
    transaction: &mut Transaction,
    reports: &[&Report],
) -> Result<HashMap<Name, Subject>, DatabaseError> {
    let mut names: BTreeMap<Name, &Report> = BTreeMap::new();
    for report in reports {
        names.insert((report.host.clone(), report.reconciler.clone()), report);
    }
    let mut subjects = look_up(transaction, names.keys()).await?;
    let missing: Vec<_> = names.iter().filter(|(name, _)| !subjects.contains_key(*name)).collect();
    if !missing.is_empty() {
        register(transaction, missing.iter().map(|(_, report)| **report)).await?;
        subjects.extend(look_up(transaction, missing.into_iter().map(|(name, _)| name)).await?);
    }
    let ids = subjects.values().map(|subject| subject.reconciler_id).collect();
    let mut states = states(transaction, ids).await?;
    for subject in subjects.values_mut() {
        subject.state = states.remove(&subject.reconciler_id).unwrap_or_default();
    }
    Ok(subjects)
}

async fn look_up(
    transaction: &mut Transaction,
    names: impl Iterator<Item = &Name>,
) -> Result<HashMap<Name, Subject>, DatabaseError> {
    let mut rows = Rows::new(&[("host", Kind::Text), ("reconciler", Kind::Text)]);
    for (host, reconciler) in names {
        rows.push(vec![host.as_str().into(), reconciler.as_str().into()]);
    }
    let statement = "select h.name, r.name, r.id, h.id, h.labels, r.place_id, r.manifests_endpoint, r.heartbeat_seconds, \
        case when h.retired_on is null and r.retired_on is null then 0 else 1 end, r.reconciler_type \
        from source s join host h on h.name = s.host join reconciler r on r.host_id = h.id and r.name = s.reconciler";
    let found = transaction.with(rows, statement).await?;
    Ok(found.iter().map(|row| ((row.text(0), row.text(1)), subject(row))).collect())
}

fn subject(row: &Row) -> Subject {
    Subject {
        reconciler_id: row.int(2),
        host_id: row.int(3),
        host_labels: row.optional_text(4).map(str::to_owned),
        kind: row.text(9),
        place_id: row.optional_int(5),
        endpoint: row.optional_text(6).map(str::to_owned),
        heartbeat_seconds: row.optional_int(7),
        is_retired: row.is(8),
        state: State::default(),
    }
}

/// Adds hosts and reconcilers, in the order of their names. Another replica may do the same: the one that is later finds them.
async fn register(
    transaction: &mut Transaction,
    reports: impl Iterator<Item = &Report> + Clone,
) -> Result<(), DatabaseError> {
    let mut hosts = Rows::new(&[("name", Kind::Text), ("host_type", Kind::Text)]);
    let names: BTreeMap<_, _> = reports.clone().map(|report| (&report.host, &report.kind)).collect();
    for (name, kind) in names {
        hosts.push(vec![name.as_str().into(), host_type(kind).into()]);
    }
    let statement = "insert into host (name, host_type) select name, host_type from source where true on conflict (name) do nothing";
    transaction.with(hosts, statement).await?;
    let mut reconcilers = Rows::new(&[("host", Kind::Text), ("name", Kind::Text), ("kind", Kind::Text)]);
    for report in reports {
        reconcilers.push(vec![
            report.host.as_str().into(),
            report.reconciler.as_str().into(),
            report.kind.as_str().into(),
        ]);
    }
    let statement = "insert into reconciler (host_id, name, reconciler_type) \
        select h.id, s.name, s.kind from source s join host h on h.name = s.host where true \
        on conflict (host_id, name) do nothing returning id";
    let added = transaction.with(reconcilers, statement).await?;
    let mut states = Rows::new(&[("id", Kind::Int)]);
    added.iter().for_each(|row| states.push(vec![row.int(0).into()]));
    let statement =
        "insert into reconciler_state (reconciler_id, status, digest) select id, 0, 0 from source where true";
    transaction.with(states, statement).await.map(drop)
}

/// What kind of host has such a reconciler, in the words of Microsoft's hub.
fn host_type(reconciler_type: &str) -> &'static str {
    match reconciler_type {
        "flux" | "argocd" | "arc" | "fleet" | "wo" => "K8s-cluster",
        _ => "host",
    }
}

/// The states of reconcilers. Others wait for this transaction to change them.
pub(crate) async fn states(
    transaction: &mut Transaction,
    ids: BTreeSet<i64>,
) -> Result<BTreeMap<i64, State>, DatabaseError> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let dialect = transaction.dialect();
    let sql = format!(
        "select s.reconciler_id, s.deployment_id, {}, {}, s.status, s.digest, s.held_revision_id, s.tally_id, {}, s.is_silent \
         from reconciler_state s where {} order by s.reconciler_id{}",
        dialect.millis("s.reported_on"),
        dialect.millis("s.seen_on"),
        dialect.millis("s.silent_after"),
        dialect.any_int("s.reconciler_id", "$1"),
        dialect.for_update("s"),
    );
    let rows = transaction.query(&sql, vec![ids.into_iter().collect::<Vec<_>>().into()]).await?;
    Ok(rows.iter().map(|row| (row.int(0), state(row))).collect())
}

fn state(row: &Row) -> State {
    State {
        deployment_id: row.optional_int(1),
        reported_on: row.moment(2),
        seen_on: row.moment(3),
        status: row.int(4),
        digest: row.int(5),
        held_revision_id: row.optional_int(6),
        tally_id: row.optional_int(7),
        silent_after: row.moment(8),
        is_silent: row.is(9),
    }
}

/// Writes the states of reconcilers.
pub(crate) async fn write_states(
    transaction: &mut Transaction,
    states: impl IntoIterator<Item = (i64, State)>,
) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[
        ("id", Kind::Int),
        ("deployment_id", Kind::Int),
        ("reported_on", Kind::Moment),
        ("seen_on", Kind::Moment),
        ("status", Kind::Int),
        ("digest", Kind::Int),
        ("held_revision_id", Kind::Int),
        ("tally_id", Kind::Int),
        ("silent_after", Kind::Moment),
        ("is_silent", Kind::Int),
    ]);
    for (id, state) in states {
        rows.push(vec![
            Value::from(id),
            state.deployment_id.into(),
            state.reported_on.into(),
            state.seen_on.into(),
            state.status.into(),
            state.digest.into(),
            state.held_revision_id.into(),
            state.tally_id.into(),
            state.silent_after.into(),
            state.is_silent.into(),
        ]);
    }
    let statement = "update reconciler_state set deployment_id = s.deployment_id, reported_on = s.reported_on, \
        seen_on = s.seen_on, status = s.status, digest = s.digest, held_revision_id = s.held_revision_id, \
        tally_id = s.tally_id, silent_after = s.silent_after, is_silent = s.is_silent \
        from source s where reconciler_state.reconciler_id = s.id";
    transaction.with(rows, statement).await.map(drop)
}
