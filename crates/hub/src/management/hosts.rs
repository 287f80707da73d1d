//! Hosts: register before they report, retire, restore, list.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::audit::Action;
use hub_api::endpoint::Endpoint;
use hub_api::hosts::{Host, Reconciler, RegisteredBy};
use hub_api::limits::{LABELS_MAX, NAME_CHARACTERS_MAX};
use hub_api::timestamp::Timestamp;
use serde_json::json;

use crate::ingest::places::{self, Contents};
use crate::ingest::retally::recount;
use crate::ingest::subjects::State;
use crate::ingest::{labels, naming, report_places};
use crate::management::audit::{self, AuditRecord};
use crate::questions::{did_you_mean, similar};
use crate::store::{
    ColumnError, Columns, Database, DatabaseError, FromRow, HostId, ReconcilerId, SqlValue, Transaction, Turn,
};

/// The registration of a host, or of another reconciler on it, before it reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The host's name.
    pub host: String,
    /// The kind of the host (`K8s-cluster`, `host`, …). Without it, the kind of a known host does not change, and a new host is a `K8s-cluster`.
    pub kind: Option<String>,
    /// Its labels, which replace all present labels. If empty, the present labels do not change.
    pub labels: BTreeMap<String, String>,
    /// A reconciler that will report.
    pub reconciler: Option<ReconcilerRegistration>,
}

/// The registration of a reconciler before it reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReconcilerRegistration {
    /// Its name, unique on its host.
    pub name: String,
    /// The kind of the reconciler (`flux`, `argocd`, …).
    pub kind: String,
    /// The folder that the reconciler will apply. From now on, it counts as expected there.
    pub place: Option<Endpoint>,
}

/// A host can't be registered, retired or restored.
#[derive(Debug, thiserror::Error)]
pub enum HostRegistrationError {
    /// A name or a label is invalid.
    #[error(
        "`{0}` can't be used: 1 to {NAME_CHARACTERS_MAX} characters that can be read, and at most {LABELS_MAX} labels"
    )]
    Text(String),
    /// The host, or its reconciler, is not known.
    #[error("`{name}` is not known{}", did_you_mean(similar))]
    Unknown {
        /// The host, or the host and its reconciler.
        name: String,
        /// Known hosts with similar names.
        similar: Vec<String>,
    },
    /// The database can't store the change.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// Registers a host, or updates a known host. The audit log names the actor. A retired host stays retired.
///
/// # Errors
/// A name or a label is invalid; the database can't store the change.
pub async fn register(
    database: &Database,
    registration: &Registration,
    actor: &str,
) -> Result<(), HostRegistrationError> {
    registration.check()?;
    let mut transaction = database.begin().await?;
    transaction.take(Turn::Reports).await?;
    let kind = registration.kind.as_deref();
    let sql = "insert into host (name, host_type) values ($1, coalesce($2, 'K8s-cluster')) \
        on conflict (name) do update set host_type = coalesce($2, host.host_type) returning id";
    let host_id = transaction.one(sql, vec![registration.host.as_str().into(), kind.into()]).await?;
    if !registration.labels.is_empty() {
        let text = labels::text(&registration.labels);
        labels::write(&mut transaction, host_id, &text, &registration.labels).await?;
    }
    if let Some(reconciler) = &registration.reconciler {
        let id = add_reconciler(&mut transaction, host_id, reconciler).await?;
        recount(&mut transaction, &mut Contents::default(), BTreeSet::from([id]), State::forget_profile).await?;
    }
    let reconciler = registration.reconciler.as_ref();
    let detail = json!({
        "labels": registration.labels,
        "reconciler": reconciler.map(|reconciler| &reconciler.name),
        "place": reconciler.and_then(|reconciler| reconciler.place.as_ref().map(ToString::to_string)),
    });
    let (action, subject) = (Action::HostRegister, registration.host.as_str());
    audit::note(&mut transaction, AuditRecord { actor, action, subject, detail: Some(detail) }).await?;
    Ok(transaction.commit().await?)
}

async fn add_reconciler(
    transaction: &mut Transaction,
    host_id: HostId,
    reconciler: &ReconcilerRegistration,
) -> Result<ReconcilerId, DatabaseError> {
    let endpoint = reconciler.place.as_ref().map(ToString::to_string);
    let places = places::by_endpoint(transaction, endpoint.iter().cloned().collect()).await?;
    let place_id = endpoint.as_ref().and_then(|endpoint| places.get(endpoint).copied());
    if let Some(endpoint) = &endpoint {
        let sql = "select id from reconciler where host_id = $1 and name = $2 and manifests_endpoint <> $3";
        let values = vec![host_id.into(), reconciler.name.as_str().into(), endpoint.as_str().into()];
        let moving = transaction.query(sql, values).await?;
        report_places::leave(transaction, moving.into_iter().collect()).await?;
    }
    let sql = "insert into reconciler (host_id, name, reconciler_type, manifests_endpoint, place_id, registered_by) values ($1, $2, $3, $4, $5, $6) \
        on conflict (host_id, name) do update set reconciler_type = excluded.reconciler_type, registered_by = excluded.registered_by, \
        manifests_endpoint = coalesce(excluded.manifests_endpoint, reconciler.manifests_endpoint), \
        place_id = case when excluded.manifests_endpoint is null then reconciler.place_id else excluded.place_id end \
        returning id";
    let (name, kind) = (reconciler.name.as_str(), reconciler.kind.as_str());
    let by = RegisteredBy::Operator.number();
    let values = vec![host_id.into(), name.into(), kind.into(), endpoint.into(), SqlValue::from(place_id), by.into()];
    let id: ReconcilerId = transaction.one(sql, values).await?;
    let sql = "insert into reconciler_state (reconciler_id, status, digest) values ($1, 0, 0) on conflict do nothing";
    transaction.execute(sql, vec![id.into()]).await?;
    let sql = "delete from apart_report where host = (select name from host where id = $1) and reconciler = $2";
    transaction.execute(sql, vec![host_id.into(), name.into()]).await?;
    if reconciler.place.is_none() {
        naming::send_home(transaction, id, name).await?;
    }
    Ok(id)
}

/// A host, or only one of its reconcilers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPart<'a> {
    /// The host's name.
    pub host: &'a str,
    /// The reconciler's name. None: the whole host.
    pub reconciler: Option<&'a str>,
}

/// Retires a host, or one of its reconcilers: it no longer counts in totals, but stays in the history. The audit log names the actor.
///
/// # Errors
/// The host or the reconciler is not known; the database can't store the change.
pub async fn retire(database: &Database, part: HostPart<'_>, actor: &str) -> Result<(), HostRegistrationError> {
    set_retired(database, part, Some(Timestamp::now()), actor).await
}

/// Restores a retired host, or one of its reconcilers. The audit log names the actor.
///
/// # Errors
/// The host or the reconciler is not known; the database can't store the change.
pub async fn restore(database: &Database, part: HostPart<'_>, actor: &str) -> Result<(), HostRegistrationError> {
    set_retired(database, part, None, actor).await
}

async fn set_retired(
    database: &Database,
    HostPart { host, reconciler }: HostPart<'_>,
    retired_on: Option<Timestamp>,
    actor: &str,
) -> Result<(), HostRegistrationError> {
    let mut transaction = database.begin().await?;
    // Without this lock, a reconciler that reports for the first time at the same time would be missed here, and would still count.
    transaction.take(Turn::Alone).await?;
    let instant = database.dialect().instant("$1");
    let found: Option<HostId> = match reconciler {
        None => {
            let sql = format!("update host set retired_on = {instant} where name = $2 returning id");
            transaction.first(&sql, vec![retired_on.into(), host.into()]).await?
        }
        Some(reconciler) => {
            let of_host = "host_id = (select id from host where name = $2)";
            let sql =
                format!("update reconciler set retired_on = {instant} where {of_host} and name = $3 returning host_id");
            transaction.first(&sql, vec![retired_on.into(), host.into(), reconciler.into()]).await?
        }
    };
    let Some(host_id) = found else {
        let name = reconciler.map_or(host.to_owned(), |reconciler| format!("{host}/{reconciler}"));
        let mut similar = similar(&mut transaction, ("host", "name"), host).await?;
        similar.retain(|known| known != host);
        return Err(HostRegistrationError::Unknown { name, similar });
    };
    let of_host = transaction.query("select id from reconciler where host_id = $1", vec![host_id.into()]).await?;
    let ids = of_host.into_iter().collect();
    recount(&mut transaction, &mut Contents::default(), ids, |_| ()).await?;
    let action = if retired_on.is_some() { Action::HostRetire } else { Action::HostRestore };
    let detail = reconciler.map(|name| json!({ "reconciler": name }));
    audit::note(&mut transaction, AuditRecord { actor, action, subject: host, detail }).await?;
    Ok(transaction.commit().await?)
}

/// Selects the hosts of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostFilter {
    /// Only hosts whose names come after this name.
    pub after: Option<String>,
    /// Also retired hosts.
    pub with_retired: bool,
    /// Maximum number of hosts.
    pub limit: usize,
}

/// Hosts with their reconcilers, sorted by name.
///
/// # Errors
/// The database can't answer.
pub async fn list(database: &Database, filter: &HostFilter) -> Result<Vec<Host>, DatabaseError> {
    let mut transaction = database.begin_reading().await?;
    let dialect = transaction.dialect();
    let sql = format!(
        "select id, name, host_type, labels, {}, {} from host where name > $1 and (retired_on is null or $2 <> 0) order by name limit $3",
        dialect.millis("created_on"),
        dialect.millis("retired_on"),
    );
    let after = filter.after.as_deref().unwrap_or_default();
    let limit = i64::try_from(filter.limit).unwrap_or(i64::MAX);
    let hosts: Vec<(HostId, Host)> =
        transaction.query(&sql, vec![after.into(), filter.with_retired.into(), limit.into()]).await?;
    let sql = format!(
        "select r.host_id, r.name, r.reconciler_type, r.manifests_endpoint, {}, {}, r.registered_by from reconciler r \
         left join reconciler_state s on s.reconciler_id = r.id where {} order by r.name",
        dialect.millis("s.reported_on"),
        dialect.millis("r.retired_on"),
        dialect.any_int("r.host_id", "$1"),
    );
    let ids: Vec<HostId> = hosts.iter().map(|(id, _)| *id).collect();
    let mut reconcilers: BTreeMap<HostId, Vec<Reconciler>> = BTreeMap::new();
    for (host_id, reconciler) in transaction.query(&sql, vec![ids.into()]).await? {
        reconcilers.entry(host_id).or_default().push(reconciler);
    }
    let with_reconcilers = |(id, host)| Host { reconcilers: reconcilers.remove(&id).unwrap_or_default(), ..host };
    Ok(hosts.into_iter().map(with_reconcilers).collect())
}

impl FromRow for Host {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (name, kind, labels) = columns.take::<(_, _, Option<String>)>()?;
        let labels = labels.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let (created_on, retired_on) = columns.take()?;
        Ok(Self { name, kind, labels, created_on, retired_on, reconcilers: Vec::new() })
    }
}

impl FromRow for Reconciler {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (name, kind, place, reported_on, retired_on) = columns.take()?;
        let registered_by = RegisteredBy::from_number(columns.take()?);
        Ok(Self { name, kind, place, reported_on, retired_on, registered_by })
    }
}

impl Registration {
    fn check(&self) -> Result<(), HostRegistrationError> {
        let reconciler = self.reconciler.iter().flat_map(|reconciler| [&reconciler.name, &reconciler.kind]);
        let names = [&self.host].into_iter().chain(&self.kind).chain(self.labels.keys()).chain(reconciler);
        let wrong = names.filter(|name| name.is_empty()).chain(self.texts().filter(|text| !is_readable(text))).next();
        match wrong {
            Some(text) => Err(HostRegistrationError::Text(text.chars().take(NAME_CHARACTERS_MAX).collect())),
            None if self.labels.len() > LABELS_MAX => Err(HostRegistrationError::Text("--label".to_owned())),
            None => Ok(()),
        }
    }

    fn texts(&self) -> impl Iterator<Item = &String> {
        let reconciler = self.reconciler.iter().flat_map(|reconciler| [&reconciler.name, &reconciler.kind]);
        let labels = self.labels.iter().flat_map(|(key, value)| [key, value]);
        [&self.host].into_iter().chain(&self.kind).chain(labels).chain(reconciler)
    }
}

fn is_readable(text: &str) -> bool {
    text.trim() == text && text.chars().count() <= NAME_CHARACTERS_MAX && !text.chars().any(char::is_control)
}
