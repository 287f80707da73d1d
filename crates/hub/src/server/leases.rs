//! Leases of environments: which replica of the service leads each one. All expiry is decided with the clock of the database.

use std::time::Duration;

use hub_api::leases::{LeaderAction, LeaderRequest, Lease, LeaseAnswer, LeaseRound, ReceivedRequest};

use crate::limits::SYNC_REQUESTS_MAX;
use crate::store::{ColumnType, Database, DatabaseError, Dialect, Rows, Transaction};

/// Words for the column `kind` of requests.
const SYNC: &str = "sync";
const WEBHOOK: &str = "webhook";
const CONFIRM: &str = "confirm";

/// A row of a lease: environment, holder and its name; term, rest in milliseconds, number of the state, state.
type FoundLease = ((String, String, String), (i64, i64, i64, Option<String>));
/// A row of a request: id, environment, kind, word, and who requested it.
type FoundRequest = (i64, String, String, String, String);

/// A replica of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Identifies the process: no other process has or had this id.
    pub id: String,
    /// The name for people.
    pub name: String,
}

/// The leases in the database, as one replica uses them.
#[derive(Clone, Debug)]
pub struct LeaseTable {
    /// The database.
    pub database: Database,
    /// The replica.
    pub holder: Holder,
    /// How long a lease lasts since it was granted or renewed.
    pub duration: Duration,
}

impl LeaseTable {
    /// Gives up, takes and renews leases, and passes on requests, in one transaction.
    ///
    /// # Errors
    /// The database can't be reached, or refuses.
    pub async fn exchange(&self, round: &LeaseRound) -> Result<LeaseAnswer, DatabaseError> {
        let mut transaction = self.database.begin().await?;
        self.give_up(&mut transaction, round).await?;
        self.claim(&mut transaction, round).await?;
        self.store_states(&mut transaction, round).await?;
        store_requests(&mut transaction, round).await?;
        let leases = self.read(&mut transaction, round).await?;
        let requests = self.receive(&mut transaction, round).await?;
        transaction.commit().await?;
        Ok(LeaseAnswer { leases, requests })
    }

    /// Rows with the keys of leases and the holder, in the order in which all replicas lock rows.
    fn rows<'a>(&self, round: &LeaseRound, environments: impl Iterator<Item = &'a str>) -> Rows {
        let names = ["control_plane", "environment", "holder", "holder_name"];
        let mut rows = Rows::new(&names.map(|name| (name, ColumnType::Text)));
        let mut environments: Vec<_> = environments.collect();
        environments.sort_unstable();
        environments.dedup();
        let Holder { id, name } = &self.holder;
        for environment in environments {
            rows.push(vec![
                round.control_plane.as_str().into(),
                environment.into(),
                id.as_str().into(),
                name.as_str().into(),
            ]);
        }
        rows
    }

    async fn give_up(&self, transaction: &mut Transaction, round: &LeaseRound) -> Result<(), DatabaseError> {
        let dialect = transaction.dialect();
        // PostgreSQL rounds to milliseconds, also up. A lease that was given up has ended for the next transaction.
        let ended = dialect.later(dialect.now(), -1);
        let sql = format!(
            "update lease set held_until = {ended} from source s where {OF_SOURCE} and lease.holder = s.holder"
        );
        transaction.execute_with(self.rows(round, round.given_up.iter().map(String::as_str)), &sql).await
    }

    /// Renews own leases, and takes leases that have ended or have no owner.
    async fn claim(&self, transaction: &mut Transaction, round: &LeaseRound) -> Result<(), DatabaseError> {
        let dialect = transaction.dialect();
        let (now, millis) = (dialect.now(), i64::try_from(self.duration.as_millis()).unwrap_or(i64::MAX));
        let until = dialect.later(now, millis);
        let sql = format!(
            "insert into lease (control_plane, environment, holder, holder_name, term, held_until, state_number) \
             select s.control_plane, s.environment, s.holder, s.holder_name, 1, {until}, 0 from source s where true \
             on conflict (control_plane, environment) do update set \
             term = lease.term + case when lease.holder = excluded.holder then 0 else 1 end, \
             holder = excluded.holder, holder_name = excluded.holder_name, held_until = excluded.held_until \
             where lease.holder = excluded.holder or lease.held_until <= {now}"
        );
        let wanted = round.wanted.iter().map(|wanted| wanted.environment.as_str());
        transaction.execute_with(self.rows(round, wanted), &sql).await
    }

    async fn store_states(&self, transaction: &mut Transaction, round: &LeaseRound) -> Result<(), DatabaseError> {
        let names = ["control_plane", "environment", "holder", "state"];
        let mut rows = Rows::new(&names.map(|name| (name, ColumnType::Text)));
        for wanted in &round.wanted {
            let state = wanted.state.as_ref().and_then(|state| serde_json::to_string(state).ok());
            let Some(state) = state else { continue };
            let keys = [&round.control_plane, &wanted.environment, &self.holder.id].map(|key| key.as_str().into());
            rows.push(keys.into_iter().chain([state.into()]).collect());
        }
        let sql = format!(
            "update lease set state = s.state, state_number = lease.state_number + 1 from source s \
             where {OF_SOURCE} and lease.holder = s.holder"
        );
        transaction.execute_with(rows, &sql).await
    }

    async fn read(&self, transaction: &mut Transaction, round: &LeaseRound) -> Result<Vec<Lease>, DatabaseError> {
        let keys = ["control_plane", "environment", "holder"].map(|name| (name, ColumnType::Text));
        let mut rows = Rows::new(&[keys.as_slice(), &[("known", ColumnType::Int)]].concat());
        for wanted in &round.wanted {
            let keys = [&round.control_plane, &wanted.environment, &self.holder.id].map(|key| key.as_str().into());
            rows.push(keys.into_iter().chain([wanted.known.into()]).collect());
        }
        let dialect = transaction.dialect();
        let rest = format!("{} - {}", dialect.millis("lease.held_until"), dialect.millis(dialect.now()));
        let sql = format!(
            "select lease.environment, lease.holder, lease.holder_name, lease.term, {rest}, lease.state_number, \
             case when lease.holder <> s.holder and lease.state_number <> s.known then lease.state end \
             from source s join lease on {OF_SOURCE} order by lease.environment"
        );
        let found: Vec<FoundLease> = transaction.with(rows, &sql).await?;
        let lease = |((environment, holder, name), (term, rest, number, state)): FoundLease| Lease {
            environment,
            is_own: holder == self.holder.id,
            holder: name,
            term,
            rest: Duration::from_millis(rest.try_into().unwrap_or_default()),
            number,
            // A state of another version of Kalypso may not be readable. Then it is not shown.
            state: state.and_then(|state| serde_json::from_str(&state).ok()),
        };
        Ok(found.into_iter().map(lease).collect())
    }

    /// Deletes the handled requests, and reads the others for the environments that this replica leads.
    async fn receive(
        &self,
        transaction: &mut Transaction,
        round: &LeaseRound,
    ) -> Result<Vec<ReceivedRequest>, DatabaseError> {
        let dialect = transaction.dialect();
        if !round.handled.is_empty() {
            let sql = format!("delete from sync_request where {}", dialect.any_int("id", "$1"));
            transaction.execute(&sql, vec![round.handled.clone().into()]).await?;
        }
        let sql = format!(
            "select r.id, r.environment, r.kind, r.word, r.requested_by from sync_request r join lease \
             on lease.control_plane = r.control_plane and lease.environment = r.environment \
             where lease.control_plane = $1 and lease.holder = $2 and lease.held_until > {} order by r.id limit {SYNC_REQUESTS_MAX}",
            dialect.now()
        );
        let parameters = vec![round.control_plane.as_str().into(), self.holder.id.as_str().into()];
        let found = transaction.query::<FoundRequest>(&sql, parameters).await?;
        let received = |(id, environment, kind, word, by): FoundRequest| {
            let action = match kind.as_str() {
                CONFIRM => LeaderAction::Confirm { word, by },
                WEBHOOK => LeaderAction::SyncAfterWebhook,
                // A later version may have other kinds. A sync does no harm.
                _ => LeaderAction::Sync,
            };
            ReceivedRequest { id, request: LeaderRequest { environment, action } }
        };
        Ok(found.into_iter().map(received).collect())
    }
}

/// The condition that a lease is that of a row of `source s`.
const OF_SOURCE: &str = "lease.control_plane = s.control_plane and lease.environment = s.environment";

async fn store_requests(transaction: &mut Transaction, round: &LeaseRound) -> Result<(), DatabaseError> {
    let names = ["control_plane", "environment", "kind", "word", "requested_by"];
    let mut rows = Rows::new(&names.map(|name| (name, ColumnType::Text)));
    for LeaderRequest { environment, action } in &round.requests {
        let (kind, word, by) = match action {
            LeaderAction::Sync => (SYNC, "", ""),
            LeaderAction::SyncAfterWebhook => (WEBHOOK, "", ""),
            LeaderAction::Confirm { word, by } => (CONFIRM, word.as_str(), by.as_str()),
        };
        rows.push([round.control_plane.as_str(), environment, kind, word, by].map(Into::into).into());
    }
    let sql = format!(
        "insert into sync_request ({}, requested_on) select {}, {} from source",
        names.join(", "),
        names.join(", "),
        Dialect::now(transaction.dialect())
    );
    transaction.execute_with(rows, &sql).await
}
