//! The changes since a position: desired content, reports, and reconcilers that became silent.
//!
//! Changes are read from their tables, in the order of their ids. A [`FeedPosition`] is the point up to which a client has read. [`settled`] returns a
//! position behind which all new changes will be. So a client that continues from a position misses no change and receives none twice, also after a
//! restart of the client or the hub, or after a lost connection.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use hub_api::deployments::TargetNames;
use hub_api::events::{DesiredChange, FleetChange, ReportChange, SilenceChange};
use hub_api::report::Status;
use hub_api::rollouts::RolloutVersion;
use hub_api::tokens::Reach;
use model::rollout::ReconcilerState;

use super::cursor::Cursor;
use super::place_folders::{Above, TARGETS_MAX};
use super::scope::Scope;
use super::{Question, QuestionError, conditions, facts, history, promotions, reconciler_state, released};
use crate::ingest::report_places::PLACE_ID;
use crate::limits::EVENTS_EXAMINED_MAX;
use crate::store::{
    ColumnError, Columns, Database, DatabaseError, Dialect, FromRow, Parameters, PlaceGroupId, TargetId, Transaction,
};

/// The point up to which a client has read: an id for each kind of change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeedPosition {
    /// The last revision of a place.
    desired: i64,
    /// The last report.
    reports: i64,
    /// The last time that a reconciler became silent, or reported again.
    silences: i64,
    /// The last event of a promotion.
    promotions: i64,
}

/// The name of this list in positions.
const LIST: &str = "events";

impl fmt::Display for FeedPosition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Cursor([self.desired, self.reports, self.silences, self.promotions]).write(LIST))
    }
}

impl FromStr for FeedPosition {
    type Err = QuestionError;

    fn from_str(text: &str) -> Result<Self, QuestionError> {
        // Earlier versions wrote positions without events of promotions, of which there were none.
        let former =
            || Cursor::read(text, LIST).map(|Cursor([desired, reports, silences])| [desired, reports, silences, 0]);
        let position = Cursor::read(text, LIST).map(|Cursor(position)| position).or_else(|_: QuestionError| former());
        let [desired, reports, silences, promotions] = position.map_err(|_| {
            let message = "is the `id` of no event: give that of the last one that came, or nothing, to begin now";
            QuestionError::Wrong { parameter: "after", message: message.to_owned() }
        })?;
        Ok(Self { desired, reports, silences, promotions })
    }
}

impl FeedPosition {
    /// Whether this position is at or behind the other one, for each kind of change.
    pub fn has_reached(&self, other: &Self) -> bool {
        self.desired >= other.desired
            && self.reports >= other.reports
            && self.silences >= other.silences
            && self.promotions >= other.promotions
    }
}

/// How long to wait before the next check whether the open transactions have ended.
const UNDER_WAY: Duration = Duration::from_millis(20);

/// The latest position up to which no further changes will appear.
///
/// SQLite has one writer, so that ids appear in their order. In PostgreSQL, transactions take ids in one order and are committed in another. A transaction
/// that takes the id of a row already has a transaction id, because it has locked rows. This function first reads the highest ids of rows. Then it waits
/// until all transactions that are open at that moment have ended. Then each row up to these ids exists, or never will. This takes as long as the longest
/// transaction that writes.
///
/// # Errors
/// The database can't answer.
pub async fn settled(database: &Database) -> Result<FeedPosition, DatabaseError> {
    let last = |table: &str| match database.dialect() {
        Dialect::Sqlite => format!("(select coalesce(max(id), 0) from {table})"),
        Dialect::Postgres => {
            format!("(select case when is_called then last_value else last_value - 1 end from {table}_id_seq)")
        }
    };
    let tables = ["place_revision", "deployment", "silence", "promotion_event"].map(last);
    let (desired, reports, silences, promotions) =
        database.one(&format!("select {}", tables.join(", ")), Vec::new()).await?;
    let position = FeedPosition { desired, reports, silences, promotions };
    if database.dialect() == Dialect::Postgres {
        // The id of this transaction is higher than the ids of all transactions that have begun to write. The `xmax` of a snapshot is not: it
        // is behind the last transaction that has ended.
        let now = number(database, "pg_current_xact_id()").await?;
        while number(database, "pg_snapshot_xmin(pg_current_snapshot())").await? < now {
            tokio::time::sleep(UNDER_WAY).await;
        }
    }
    Ok(position)
}

async fn number(database: &Database, expression: &str) -> Result<i64, DatabaseError> {
    database.one(&format!("select ({expression})::text::bigint"), Vec::new()).await
}

/// Some changes, each with its position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetChanges {
    /// The changes, each with the position behind it.
    pub items: Vec<(FeedPosition, FleetChange)>,
    /// The position behind all of them, and behind those that are not selected.
    pub end: FeedPosition,
}

/// The next selected changes behind a position, up to another position, which is settled. Changes of desired content come first, then reports, then
/// reconcilers that became silent, then promotions; each kind in the order in which the hub received it. It examines a limited number of changes: there may be more.
///
/// # Errors
/// The filter is invalid; the database can't answer.
pub async fn changes(
    database: &Database,
    question: impl Into<Question<'_>>,
    after: FeedPosition,
    until: FeedPosition,
) -> Result<FleetChanges, QuestionError> {
    let question = question.into();
    let states = states(question)?;
    let mut transaction = database.begin_reading().await?;
    let is_of_hosts = question.filter.host.is_some() || question.filter.selector.is_some();
    let scope = Scope::read(&mut transaction, question).await?;
    let selection = Selection { scope, reach: question.reach, is_of_hosts, states };
    if after.desired < until.desired {
        let range = range(&mut transaction, "place_revision", (after.desired, until.desired)).await?;
        let found = selection.desired(&mut transaction, range).await?;
        let behind = |id| FeedPosition { desired: id, ..after };
        return Ok(FleetChanges { items: placed(found, behind), end: behind(range.1) });
    }
    if after.reports < until.reports {
        let range = range(&mut transaction, "deployment", (after.reports, until.reports)).await?;
        let found = selection.reports(&mut transaction, range).await?;
        let behind = |id| FeedPosition { reports: id, ..after };
        return Ok(FleetChanges { items: placed(found, behind), end: behind(range.1) });
    }
    if after.silences < until.silences {
        let range = range(&mut transaction, "silence", (after.silences, until.silences)).await?;
        let found = selection.silences(&mut transaction, range).await?;
        let behind = |id| FeedPosition { silences: id, ..after };
        return Ok(FleetChanges { items: placed(found, behind), end: behind(range.1) });
    }
    let range = range(&mut transaction, "promotion_event", (after.promotions, until.promotions)).await?;
    let found = promotions::changes(&mut transaction, question, range).await?;
    let behind = |id| FeedPosition { promotions: id, ..after };
    Ok(FleetChanges { items: placed(found, behind), end: behind(range.1) })
}

fn placed(found: Vec<(i64, FleetChange)>, behind: impl Fn(i64) -> FeedPosition) -> Vec<(FeedPosition, FleetChange)> {
    found.into_iter().map(|(id, change)| (behind(id), change)).collect()
}

/// The ids behind the first and up to the last one, at most as many as are examined at once.
async fn range(
    transaction: &mut Transaction,
    table: &str,
    (after, until): (i64, i64),
) -> Result<(i64, i64), DatabaseError> {
    let sql = format!(
        "select count(*), max(x.id) from (select id from {table} where id > $1 and id <= $2 order by id limit {EVENTS_EXAMINED_MAX}) as x"
    );
    let (count, last): (usize, Option<i64>) = transaction.one(&sql, vec![after.into(), until.into()]).await?;
    Ok((after, last.filter(|_| count == EVENTS_EXAMINED_MAX).unwrap_or(until).max(after)))
}

/// The rollout states of the filter; none if it has no `status`.
fn states(question: Question<'_>) -> Result<Option<Vec<ReconcilerState>>, QuestionError> {
    let states = reconciler_state::parse_list(question.filter.status.as_deref())?;
    let is_no_event =
        |state: &&ReconcilerState| matches!(state, ReconcilerState::Outdated | ReconcilerState::NeverReported);
    match states.iter().flatten().find(is_no_event) {
        Some(state) => {
            let message = format!(
                "no report has the status `{}`; succeeded, failed, inProgress and silent are possible",
                state.as_str()
            );
            Err(QuestionError::Wrong { parameter: "status", message })
        }
        None => Ok(states),
    }
}

/// The changes that the filter selects.
struct Selection<'a> {
    scope: Scope,
    reach: &'a Reach,
    /// Whether only some hosts are selected, other than by their cluster type.
    is_of_hosts: bool,
    states: Option<Vec<ReconcilerState>>,
}

const OF_PLACE: &str = "left join place p on p.id = r.place_id left join place_group g on g.id = p.place_group_id \
    left join environment e on e.id = g.environment_id";

impl Selection<'_> {
    async fn desired(
        &self,
        transaction: &mut Transaction,
        (after, until): (i64, i64),
    ) -> Result<Vec<(i64, FleetChange)>, DatabaseError> {
        if self.states.is_some() {
            return Ok(Vec::new());
        }
        let dialect = transaction.dialect();
        let mut parameters = Parameters::with(dialect, vec![after.into(), until.into()]);
        // Content of a cluster type can be desired before the type has hosts.
        let of_places = conditions::and(self.scope.of_desired("p.place_group_id", &mut parameters));
        let of_hosts = self.is_of_hosts.then(|| {
            let is_one = conditions::and(self.scope.of_hosts("r.host_id", &mut parameters));
            format!("exists (select 1 from reconciler r where r.place_id = p.id and r.retired_on is null{is_one})")
        });
        let of_hosts = conditions::and(of_hosts);
        let sql = format!(
            "select v.id, {}, c.commit_id, p.endpoint, case when v.tree is null then 1 else 0 end, e.name, g.cluster_type, \
             p.cluster, v.config_version, g.id, n.version from place_revision v join gitops_commit c on c.id = v.gitops_commit_id \
             join place p on p.id = v.place_id join place_group g on g.id = p.place_group_id \
             left join environment e on e.id = g.environment_id left join workload_version n on n.id = v.workload_version_id \
             where v.id > $1 and v.id <= $2{of_places}{of_hosts} order by v.id",
            dialect.millis("v.desired_on")
        );
        let mut found = transaction.query(&sql, parameters.into_values()).await?;
        add_versions(transaction, &mut found).await?;
        Ok(found.into_iter().map(|(id, found)| (id, FleetChange::Desired(found.change))).collect())
    }

    async fn reports(
        &self,
        transaction: &mut Transaction,
        (after, until): (i64, i64),
    ) -> Result<Vec<(i64, FleetChange)>, DatabaseError> {
        let dialect = transaction.dialect();
        let mut parameters = Parameters::with(dialect, vec![after.into(), until.into()]);
        let mut conditions: Vec<_> = self.scope.of_hosts("r.host_id", &mut parameters).into_iter().collect();
        conditions.extend(Above::read(transaction, &self.scope).await?.condition(&self.scope, &mut parameters));
        if let Some(states) = &self.states {
            let words: Vec<String> = states.iter().filter_map(|one| reported(*one)).map(str::to_owned).collect();
            conditions.push(parameters.any_text("d.status", words));
        }
        let sql = format!(
            "select {}, b.status, p.endpoint, g.cluster_type, case when s.deployment_id = d.id then 0 else 1 end \
             from deployment d {} left join deployment b on b.id = d.previous_id \
             left join reconciler_state s on s.reconciler_id = r.id \
             where d.id > $1 and d.id <= $2{} order by d.id",
            history::columns(dialect),
            history::from(PLACE_ID),
            conditions::and(conditions),
        );
        let found = transaction.query::<(history::FoundReport, Beside)>(&sql, parameters.into_values()).await?;
        let (found, beside): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let found = history::with_versions(transaction, found, self.reach).await?;
        let change = |(found, (previous, place, cluster_type, is_superseded)): (history::FoundReport, Beside)| {
            let previous_status = previous.as_deref().and_then(Status::parse);
            let report = ReportChange { reported: found.reported, previous_status, place, cluster_type, is_superseded };
            (found.id.number(), FleetChange::Report(report))
        };
        Ok(found.into_iter().zip(beside).map(change).collect())
    }

    async fn silences(
        &self,
        transaction: &mut Transaction,
        (after, until): (i64, i64),
    ) -> Result<Vec<(i64, FleetChange)>, DatabaseError> {
        if self.states.as_ref().is_some_and(|states| !states.contains(&ReconcilerState::Silent)) {
            return Ok(Vec::new());
        }
        let dialect = transaction.dialect();
        let mut parameters = Parameters::with(dialect, vec![after.into(), until.into()]);
        let of_places = conditions::and(self.scope.of_groups("p.place_group_id", &mut parameters));
        let of_hosts = conditions::and(self.scope.of_hosts("r.host_id", &mut parameters));
        let is_silent = if self.states.is_some() { " and n.is_silent = 1" } else { "" };
        let sql = format!(
            "select n.id, n.is_silent, {}, {}, h.name, r.name, e.name, g.cluster_type, p.endpoint \
             from silence n join reconciler r on r.id = n.reconciler_id join host h on h.id = r.host_id {OF_PLACE} \
             where n.id > $1 and n.id <= $2 and r.retired_on is null and h.retired_on is null{is_silent}\
             {of_places}{of_hosts} order by n.id",
            dialect.millis("n.noticed_on"),
            dialect.millis("n.silent_after"),
        );
        let change = |(id, is_silent, silence)| {
            (id, if is_silent { FleetChange::Silent(silence) } else { FleetChange::Resumed(silence) })
        };
        Ok(transaction.query(&sql, parameters.into_values()).await?.into_iter().map(change).collect())
    }
}

/// The facts of a change besides the report itself: the status before it, the place, the cluster type, and whether a later report counts instead.
type Beside = (Option<String>, Option<String>, Option<String>, bool);

impl FromRow for SilenceChange {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (at, due, host, reconciler) = columns.take()?;
        let (environment, cluster_type, place) = columns.take()?;
        Ok(Self { at, due, host, reconciler, environment, cluster_type, place })
    }
}

/// Content that became desired at a place of a group. Its versions and targets are read later.
struct FoundDesired {
    change: DesiredChange,
    group_id: PlaceGroupId,
    /// The release of a platform folder.
    release: Option<String>,
}

impl FromRow for FoundDesired {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (at, commit, place, is_removed) = columns.take()?;
        let (environment, cluster_type, cluster, config_version) = columns.take()?;
        let change = DesiredChange {
            at,
            commit,
            place,
            is_removed,
            environment,
            cluster_type,
            cluster,
            config_version,
            versions: Vec::new(),
            targets: Vec::new(),
        };
        let (group_id, release) = columns.take()?;
        Ok(Self { change, group_id, release })
    }
}

/// The status that a reconciler in this state has reported; none if the state does not come from a status.
fn reported(state: ReconcilerState) -> Option<&'static str> {
    match state {
        ReconcilerState::Succeeded => Some(Status::Success.as_str()),
        ReconcilerState::Failed => Some(Status::Failure.as_str()),
        ReconcilerState::InProgress => Some(Status::InProgress.as_str()),
        ReconcilerState::Silent | ReconcilerState::Outdated | ReconcilerState::NeverReported => None,
    }
}

/// Adds the versions that became desired with revisions of places. Without versions, adds the targets of the places.
async fn add_versions(transaction: &mut Transaction, found: &mut [(i64, FoundDesired)]) -> Result<(), DatabaseError> {
    let targets = facts::targets(transaction, found.iter().map(|(_, found)| found.group_id).collect()).await?;
    let asked = found.iter().flat_map(|(_, FoundDesired { change, group_id, .. })| {
        targets.get(group_id).into_iter().flatten().map(|(id, _)| (*id, change.commit.clone()))
    });
    let versions = facts::versions(transaction, &asked.collect()).await?;
    let all = targets.values().flat_map(BTreeMap::keys).copied().collect();
    let with_manifests = released::with_manifests(transaction, all).await?;
    for (_, FoundDesired { change, group_id, release }) in found {
        let of_place = || targets.get(group_id).into_iter().flatten();
        let environment = change.environment.clone().unwrap_or_default();
        let version = |(id, target): (&TargetId, &TargetNames)| {
            let version = versions.get(&(*id, change.commit.clone()));
            let version = version.or(release.as_ref().filter(|_| !with_manifests.contains(id)))?.clone();
            Some(RolloutVersion { target: target.clone(), environment: environment.clone(), version })
        };
        let named: Vec<_> = of_place().filter_map(version).collect();
        if named.is_empty() {
            change.targets = of_place().map(|(_, target)| target.clone()).take(TARGETS_MAX).collect();
        }
        change.versions = named;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_as_they_were_written() {
        let position = FeedPosition { desired: 1, reports: 2, silences: 3, promotions: 4 };
        assert_eq!(position.to_string().parse::<FeedPosition>().unwrap(), position);
        // `events 1 2 3`: an earlier version wrote it.
        let former = FeedPosition { promotions: 0, ..position };
        assert_eq!("ZXZlbnRzIDEgMiAz".parse::<FeedPosition>().unwrap(), former);
        let error = "aG9zdHMgMSAyIDM".parse::<FeedPosition>().unwrap_err().to_string();
        assert!(error.starts_with("`after`: is the `id` of no event"), "{error}");
    }

    #[test]
    fn a_position_has_reached_another_in_every_kind() {
        let check = |desired, reports| {
            let position = FeedPosition { desired, reports, ..FeedPosition::default() };
            position.has_reached(&FeedPosition { desired: 2, reports: 2, ..FeedPosition::default() })
        };
        assert_eq!([check(2, 2), check(3, 2), check(1, 9), check(9, 1)], [true, true, false, false]);
    }
}
