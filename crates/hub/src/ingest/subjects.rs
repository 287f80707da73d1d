//! The reconcilers that reports speak of: found, or registered by their first report.

use std::collections::{BTreeMap, BTreeSet};

use super::submitted::Submitted;
use crate::moment::Moment;
use crate::store::{DatabaseError, Dialect, Kind, Row, Rows, Transaction, Value};

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

/// Finds the subjects of reports, one for each of them, registers those that are new, and keeps others from changing them until the transaction ends.
pub(super) async fn find(
    transaction: &mut Transaction,
    reports: &[&Submitted],
) -> Result<Vec<Option<Subject>>, DatabaseError> {
    let mut subjects: Vec<Option<Subject>> = reports.iter().map(|_| None).collect();
    look_up(transaction, reports, &mut subjects).await?;
    let is_missing = |(_, subject): &(&&Submitted, &Option<Subject>)| subject.is_none();
    if subjects.iter().any(Option::is_none) {
        let missing: Vec<_> = reports.iter().zip(&subjects).filter(is_missing).map(|(report, _)| *report).collect();
        register(transaction, missing.iter().copied()).await?;
        look_up(transaction, reports, &mut subjects).await?;
    }
    if transaction.dialect() == Dialect::Postgres {
        lock(transaction, &mut subjects).await?;
        look_up(transaction, reports, &mut subjects).await?;
    }
    Ok(subjects)
}

/// Finds those that are still missing.
async fn look_up(
    transaction: &mut Transaction,
    reports: &[&Submitted],
    subjects: &mut [Option<Subject>],
) -> Result<(), DatabaseError> {
    if subjects.iter().all(Option::is_some) {
        return Ok(());
    }
    let mut rows = Rows::new(&[("number", Kind::Int), ("host", Kind::Text), ("reconciler", Kind::Text)]);
    for (number, report) in reports.iter().enumerate().filter(|(number, _)| subjects[*number].is_none()) {
        let (host, reconciler) = (report.host.as_str(), report.reconciler.as_str());
        rows.push(vec![Value::from(number as i64), host.into(), reconciler.into()]);
    }
    let labels = if reports.iter().any(|report| !report.labels.is_empty()) { "h.labels" } else { "null" };
    let statement = format!(
        "select s.number, r.id, h.id, r.reconciler_type, r.place_id, r.manifests_endpoint, r.heartbeat_seconds, \
         case when h.retired_on is null and r.retired_on is null then 0 else 1 end, {labels}, {} \
         from source s join host h on h.name = s.host join reconciler r on r.host_id = h.id and r.name = s.reconciler \
         join reconciler_state t on t.reconciler_id = r.id",
        state_columns(transaction.dialect())
    );
    for row in transaction.with(rows, &statement).await? {
        if let Some(subject) = usize::try_from(row.int(0)).ok().and_then(|number| subjects.get_mut(number)) {
            *subject = Some(Subject::of(&row));
        }
    }
    Ok(())
}

impl Subject {
    fn of(row: &Row) -> Self {
        Self {
            reconciler_id: row.int(1),
            host_id: row.int(2),
            kind: row.text(3),
            place_id: row.optional_int(4),
            endpoint: row.optional_text(5).map(str::to_owned),
            heartbeat_seconds: row.optional_int(6),
            is_retired: row.is(7),
            host_labels: row.optional_text(8).map(str::to_owned),
            state: State::of(row, 9),
        }
    }
}

/// Takes the locks of all of them, in the order of their ids, and forgets those that others changed since they were looked up: not only their states
/// may be different now, but also their places.
async fn lock(transaction: &mut Transaction, subjects: &mut [Option<Subject>]) -> Result<(), DatabaseError> {
    let ids = subjects.iter().flatten().map(|subject| subject.reconciler_id).collect();
    let states = states(transaction, ids).await?;
    for found in subjects {
        found.take_if(|subject| states.get(&subject.reconciler_id) != Some(&subject.state));
    }
    Ok(())
}

/// Adds hosts and reconcilers, in the order of their names. Another replica may do the same: the one that is later finds them.
async fn register<'a>(
    transaction: &mut Transaction,
    reports: impl Iterator<Item = &'a Submitted> + Clone,
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
        "select t.reconciler_id, {} from reconciler_state t where {} order by t.reconciler_id{}",
        state_columns(dialect),
        dialect.any_int("t.reconciler_id", "$1"),
        dialect.for_update("t"),
    );
    let rows = transaction.query(&sql, vec![ids.into_iter().collect::<Vec<_>>().into()]).await?;
    Ok(rows.iter().map(|row| (row.int(0), State::of(row, 1))).collect())
}

/// The columns of a state `t`.
fn state_columns(dialect: Dialect) -> String {
    format!(
        "t.deployment_id, {}, {}, t.status, t.digest, t.held_revision_id, t.tally_id, {}, t.is_silent",
        dialect.millis("t.reported_on"),
        dialect.millis("t.seen_on"),
        dialect.millis("t.silent_after"),
    )
}

impl State {
    /// The state in a row whose columns from that one on are [`state_columns`].
    fn of(row: &Row, first: usize) -> Self {
        Self {
            deployment_id: row.optional_int(first),
            reported_on: row.moment(first + 1),
            seen_on: row.moment(first + 2),
            status: row.int(first + 3),
            digest: row.int(first + 4),
            held_revision_id: row.optional_int(first + 5),
            tally_id: row.optional_int(first + 6),
            silent_after: row.moment(first + 7),
            is_silent: row.is(first + 8),
        }
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
